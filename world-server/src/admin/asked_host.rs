//! The host that a request asks for.
//!
//! A browser lets a page talk to the server that it came from, which it knows by a name. The owner
//! of a name can let it lead to an address of a private network later (DNS rebinding): then a page
//! from elsewhere could read what a server there shows to all clients in its network. But the page
//! asks under its own name. So a request is answered if it asks for an IP address, as probes and
//! monitors do, for `localhost`, or for a name of `--http-host`. A request of HTTP/1.0 may lack the
//! name: browsers do not send such requests.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::config::HostName;

/// Answers requests for other hosts than these with 421.
pub(super) async fn refuse_others(
    State(known): State<Arc<[HostName]>>,
    request: Request,
    next: Next,
) -> Response {
    let in_target = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    let headers = request.headers().get_all(header::HOST).iter();
    let mut asked = in_target.into_iter().chain(headers.map(HeaderValue::as_bytes));
    let unknown = asked.find(|host| !is_known(host, &known));
    let Some(unknown) = unknown.map(|host| host.escape_ascii().to_string()) else {
        return next.run(request).await;
    };
    let problem = format!(
        "this server does not know the name \"{unknown}\": ask for its IP address or for \
         localhost, or start it with the name in `--http-host`\n"
    );
    (StatusCode::MISDIRECTED_REQUEST, problem).into_response()
}

fn is_known(host: &[u8], known: &[HostName]) -> bool {
    let Ok(authority) = Authority::try_from(host) else {
        return false;
    };
    let name = authority.host();
    // `host` reads as far as the bracket of `[::1].evil.example`, and past the `@` of a user.
    let port = authority.as_str().strip_prefix(name);
    if !port.is_some_and(is_port_or_nothing) {
        return false;
    }
    let in_brackets = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    match in_brackets {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None if name.parse::<Ipv4Addr>().is_ok() => true,
        None => {
            name.parse().is_ok_and(|name: HostName| name.is_localhost() || known.contains(&name))
        }
    }
}

/// Nothing, or a port behind a colon.
fn is_port_or_nothing(text: &str) -> bool {
    match text.strip_prefix(':') {
        Some(port) => {
            port.bytes().all(|byte| byte.is_ascii_digit())
                && (port.is_empty() || port.parse::<u16>().is_ok())
        }
        None => text.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_localhost_and_names_of_the_flag_are_known() {
        let known = ["world-1".parse().unwrap(), "Game.Example".parse().unwrap()];
        for host in [
            "127.0.0.1",
            "10.1.2.3:7780",
            "[::1]",
            "[2001:db8::7]:7780",
            "localhost",
            "LOCALHOST:7780",
            "localhost.:7780",
            "world-1:7780",
            "game.example",
            "GAME.example.:80",
        ] {
            assert!(is_known(host.as_bytes(), &known), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:7780",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.1@evil.example",
            "world-1.evil.example",
            "xgame.example",
            "[evil.example]",
            "[::1].evil",
            "[::1].evil:7780",
            "[::1]evil.example",
            "[::1]:7780.evil",
            "[::1",
            "evil@localhost",
            "localhost:x",
            "localhost:70000",
            "127.0.0.1:1:2",
            "a b",
            "\u{e9}",
        ] {
            assert!(!is_known(host.as_bytes(), &known), "{host}");
        }
    }
}
