//! The page for players, and the one for operators, as a server serves them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use ambit_tests::real::{Browser, Console, HttpAnswer, ScratchFolder, Server};
use ambit_transport::quic::{FingerprintVerifier, client_tls};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value as Json, json};

#[test]
fn the_page_is_in_the_server_itself_and_may_load_nothing_from_elsewhere() -> Result<()> {
    let scratch = ScratchFolder::new("page");
    let server = Server::start(&scratch, &[])?;
    let page = format!(" page=http://{}/", server.http);
    assert!(server.ready.ends_with(&page), "{}", server.ready);
    for (path, content_type) in [
        ("/", "text/html; charset=utf-8"),
        ("/style.css", "text/css; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
        ("/ambit.wasm", "application/wasm"),
        ("/ambit-glue.js", "text/javascript; charset=utf-8"),
        ("/ambit-cubes-physics.wasm", "application/wasm"),
    ] {
        let file = server.request("GET", path, "")?;
        assert_eq!(file.status, 200, "{path}");
        assert_eq!(file.header("content-type"), Some(content_type), "{path}");
        assert_eq!(file.header("content-encoding"), Some("gzip"), "{path}");
        assert!(file.body.starts_with(&[0x1f, 0x8b]), "{path}");
        let policy = file.header("content-security-policy").context("a policy")?;
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"));
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"));
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
        let tag = file.header("etag").context("a tag")?;
        let again = server.request("GET", path, &format!("If-None-Match: {tag}\r\n"))?;
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        let head = server.request("HEAD", path, "")?;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        let length = file.body.len().to_string();
        assert_eq!(head.header("content-length"), Some(&length[..]), "{path}");
    }
    let connect = server.request("GET", "/connect.json", "")?;
    assert_eq!(connect.header("access-control-allow-origin"), None);
    let offered: serde_json::Value = serde_json::from_slice(&connect.body)?;
    assert_eq!(offered["accounts"], serde_json::json!(["guest", "device"]));
    Ok(())
}

#[test]
fn the_page_for_operators_comes_with_the_same_strict_policy() -> Result<()> {
    let scratch = ScratchFolder::new("watch-files");
    let server = Server::start(&scratch, &[])?;
    for (path, content_type) in [
        ("/watch", "text/html; charset=utf-8"),
        ("/watch/style.css", "text/css; charset=utf-8"),
        ("/watch/app.js", "text/javascript; charset=utf-8"),
    ] {
        let file = server.request("GET", path, "")?;
        assert_eq!((file.status, file.header("content-type")), (200, Some(content_type)), "{path}");
        let policy = file.header("content-security-policy").context("a policy")?;
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"));
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline"));
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    }
    Ok(())
}

#[test]
fn the_public_port_serves_players_and_nothing_for_operators() -> Result<()> {
    let scratch = ScratchFolder::new("https");
    let server = Server::start(&scratch, &["--https", "127.0.0.1:0"])?;
    let page = secure_request(&server, "/")?;
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy").context("a policy")?;
    assert!(policy.starts_with("default-src 'none'; script-src 'self'"));
    // Larger than what the kernel and TLS take at once.
    let module = secure_request(&server, "/ambit.wasm")?;
    let length = module.body.len().to_string();
    assert_eq!(module.header("content-length"), Some(&length[..]));
    assert_eq!(module.body, server.request("GET", "/ambit.wasm", "")?.body);
    let connect = secure_request(&server, "/connect.json")?;
    assert_eq!(connect.status, 200);
    assert_eq!(connect.header("access-control-allow-origin"), Some("*"));
    for path in ["/watch", "/status", "/status.json", "/metrics", "/healthz"] {
        assert_eq!(secure_request(&server, path)?.status, 404, "{path}");
        assert_eq!(server.request("GET", path, "")?.status, 200, "{path}");
    }
    Ok(())
}

/// A page from elsewhere whose name leads to this machine now (DNS rebinding) has that name in its
/// requests.
#[test]
fn the_private_port_answers_under_its_own_names_alone() -> Result<()> {
    let scratch = ScratchFolder::new("names");
    let server = Server::start(&scratch, &["--http-host", "world-1,play.example"])?;
    let port = server.http.port();
    for path in ["/", "/connect.json", "/status.json", "/metrics", "/healthz", "/nowhere"] {
        let refused = server.request_as("GET", path, &format!("Host: evil.example:{port}\r\n"))?;
        assert_eq!(refused.status, 421, "{path}");
        let text = String::from_utf8(refused.body)?;
        assert!(text.contains("evil.example") && text.contains("--http-host"), "{text}");
        let two = "Host: localhost\r\nHost: evil.example\r\n";
        assert_ne!(server.request_as("GET", path, two)?.status, 200, "{path}");
        let whole = format!("http://evil.example{path}");
        assert_eq!(server.request_as("GET", &whole, "Host: localhost\r\n")?.status, 421);
    }
    for host in [
        &*format!("localhost:{port}"),
        &*format!("127.0.0.1:{port}"),
        "[::1]",
        // The address of a pod, by which Kubernetes probes and Prometheus ask.
        "10.1.2.3:7780",
        "world-1:7780",
        "Play.Example",
    ] {
        let answer = server.request_as("GET", "/healthz", &format!("Host: {host}\r\n"))?;
        assert_eq!(answer.status, 200, "{host}");
    }
    // Not from a browser.
    assert_eq!(server.request_as("GET", "/healthz", "")?.status, 200);
    Ok(())
}

/// Asks at `--https`, as one who trusts the server's own certificate.
fn secure_request(server: &Server, path: &str) -> Result<HttpAnswer> {
    let mut words = server.ready.split_whitespace();
    let address = words.find_map(|word| word.strip_prefix("https="));
    let address = address.context("no https=")?;
    let pin = server.certificate()?.trim_start_matches("sha256:").parse()?;
    let tls = client_tls(b"http/1.1", FingerprintVerifier::pinned(pin));
    let tls = rustls::ClientConnection::new(Arc::new(tls), "localhost".try_into()?)?;
    let mut stream = rustls::StreamOwned::new(tls, TcpStream::connect(address)?);
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    HttpAnswer::parse(answer)
}

#[test]
fn the_status_is_live_and_shows_names_as_text() -> Result<()> {
    let scratch = ScratchFolder::new("status");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let browser = Browser::start(&scratch).await?;
        browser.open(&format!("http://{}/status", server.http)).await?;
        // While the page is open.
        ann.run_command("create <b>bold</b> game=field", "created")?;
        let shown = browser.run(WAIT_FOR_A_ROOM, json!(null)).await?;
        assert_eq!(shown, "<b>bold</b>");
        browser.close().await
    })?;
    let status: Json = serde_json::from_str(&server.get("/status.json")?.1)?;
    ensure!(status["tables"][0][0][1] == "<b>bold</b>", "{status}");
    let (_, html) = server.get("/status")?;
    ensure!(html.contains("<td>&lt;b&gt;bold&lt;/b&gt;</td>"), "{html}");
    Ok(())
}

/// Returns the room's name as it is shown, once it is.
const WAIT_FOR_A_ROOM: &str = r#"
    for (;;) {
      const cells = [...document.querySelectorAll("tbody td")];
      const cell = cells.find(cell => cell.textContent.includes("bold"));
      if (cell && cell.childElementCount === 0) return cell.textContent;
      await new Promise(resolve => setTimeout(resolve, 50));
    }
"#;
