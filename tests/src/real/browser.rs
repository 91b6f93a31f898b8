//! A headless Chromium or Firefox that is driven over `WebDriver`.

use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value as Json, json};
use url::{ParseError, Url};
use web_transport_proto::http::Method;

use super::{OutputLines, ScratchFolder, WAIT_LIMIT, process_family, server_signal as signal};

const CHROMIUM_ARGUMENTS: [&str; 6] = [
    "--headless=new",
    // Containers have no sandbox of their own, and a small /dev/shm.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    // Draws without a graphics card.
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
];

/// Whose browser it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BrowserEngine {
    #[default]
    Chromium,
    Firefox,
}

/// How a browser is to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct BrowserKind<'a> {
    pub engine: BrowserEngine,
    /// Environment variables.
    pub variables: &'a [(&'a str, &'a str)],
    /// A large window, for pictures. Else it is one of 820 x 520, since each pixel is drawn by the
    /// processor.
    pub is_large: bool,
    /// The person prefers dark pages.
    pub is_dark: bool,
    /// The size and the touch screen of a phone.
    pub is_phone: bool,
    /// A name of this machine, whose pages are not of a secure context.
    pub name: Option<&'a str>,
}

/// A browser with one window.
pub struct Browser {
    driver: Child,
    /// Read all the time: Firefox's driver ends when its output is not read.
    _output: OutputLines,
    _screen: Option<Screen>,
    client: Client,
}

impl Browser {
    /// Starts one with an empty profile.
    pub async fn start(scratch: &ScratchFolder) -> Result<Self> {
        Self::start_as(scratch, BrowserKind::default()).await
    }

    /// Starts one of a kind.
    pub async fn start_as(scratch: &ScratchFolder, kind: BrowserKind<'_>) -> Result<Self> {
        let (program, name, key, options) = match kind.engine {
            BrowserEngine::Chromium => {
                ("chromedriver", "Chromium", "goog:chromeOptions", chromium_options(&kind))
            }
            BrowserEngine::Firefox => {
                ("geckodriver", "Firefox", "moz:firefoxOptions", firefox_options(&kind))
            }
        };
        let mut driver = Command::new(program);
        driver.arg("--port=0").stdin(Stdio::null()).stderr(Stdio::null());
        // Profiles and sockets of the browser go there.
        driver.env("TMPDIR", scratch.path()).stdout(Stdio::piped());
        driver.envs(kind.variables.iter().copied());
        let screen = match kind.engine {
            BrowserEngine::Chromium => None,
            BrowserEngine::Firefox => Some(Screen::start()?),
        };
        driver.envs(screen.iter().map(|screen| ("DISPLAY", &screen.display)));
        let mut driver = driver
            .spawn()
            .with_context(|| format!("{program} can't be started; `tests/run` installs it"))?;
        let output = driver.stdout.take().context("the driver's output")?;
        let mut output = OutputLines::read_from(output);
        let port = output.find("the driver's port", listening_port)?;
        let mut capabilities = serde_json::Map::new();
        capabilities.insert(key.into(), options);
        let limit = WAIT_LIMIT.as_millis() as u64;
        capabilities.insert("timeouts".into(), json!({ "script": limit, "pageLoad": limit }));
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await;
        match client {
            Ok(client) => Ok(Self { driver, _output: output, _screen: screen, client }),
            Err(error) => {
                let _ = driver.kill();
                let _ = driver.wait();
                let hint = format!("{name} can't be started; `tests/run` installs it");
                Err(error).context(hint)
            }
        }
    }

    /// Opens a page.
    pub async fn open(&self, url: &str) -> Result<()> {
        Ok(self.client.goto(url).await?)
    }

    /// Runs the body of an async function in the page, with `args`. Returns what it returns; an
    /// exception in it is an error.
    pub async fn run(&self, body: &str, args: Json) -> Result<Json> {
        let script = format!(
            "const [args, done] = arguments;
             (async () => {{ {body} }})().then(
               value => done({{ value: value ?? null }}),
               error => done({{ error: String(error) }}));"
        );
        let answer = self.client.execute_async(&script, vec![args]).await?;
        ensure!(answer["error"].is_null(), "in the page: {}", answer["error"]);
        Ok(answer["value"].clone())
    }

    /// Runs a script in each page that is opened from now on, before the page's own scripts. Only
    /// Chromium can do this.
    pub async fn prepare(&self, script: &str) -> Result<()> {
        let command = DevToolsCommand {
            name: "Page.addScriptToEvaluateOnNewDocument",
            parameters: json!({ "source": script }),
        };
        self.client.issue_cmd(command).await?;
        Ok(())
    }

    /// Freezes the page, as browsers do with tabs that were not looked at for long, or goes on with
    /// it. Only Chromium can do this.
    pub async fn freeze(&self, is_frozen: bool) -> Result<()> {
        let state = if is_frozen { "frozen" } else { "active" };
        let command = DevToolsCommand {
            name: "Page.setWebLifecycleState",
            parameters: json!({ "state": state }),
        };
        self.client.issue_cmd(command).await?;
        Ok(())
    }

    /// A picture of the page, as PNG.
    pub async fn screenshot(&self) -> Result<Vec<u8>> {
        Ok(self.client.screenshot().await?)
    }

    /// The process of the driver, whose descendants are the browser's.
    pub fn driver_id(&self) -> u32 {
        self.driver.id()
    }

    /// Ends it.
    pub async fn close(self) -> Result<()> {
        Ok(self.client.clone().close().await?)
    }
}

fn chromium_options(kind: &BrowserKind<'_>) -> Json {
    let mut arguments = CHROMIUM_ARGUMENTS.map(str::to_owned).to_vec();
    let (width, height) = window_size(kind);
    arguments.push(format!("--window-size={width},{height}"));
    let rules = kind.name.map(|name| format!("--host-resolver-rules=MAP {name} 127.0.0.1"));
    arguments.extend(rules);
    if kind.is_dark {
        arguments.push("--blink-settings=preferredColorScheme=0".into());
    }
    let mut options = json!({ "args": arguments });
    if kind.is_phone {
        options["mobileEmulation"] = json!({
            "deviceMetrics": { "width": 390, "height": 844, "pixelRatio": 2.0, "touch": true },
        });
    }
    options
}

/// All settings are as in a new profile. Pages are drawn in software.
fn firefox_options(kind: &BrowserKind<'_>) -> Json {
    assert!(kind.name.is_none() && !kind.is_dark && !kind.is_phone, "not made for Firefox yet");
    let (width, height) = window_size(kind);
    json!({ "args": [format!("--width={width}"), format!("--height={height}")] })
}

/// Pixels.
fn window_size(kind: &BrowserKind<'_>) -> (u32, u32) {
    if kind.is_large { (1280, 800) } else { (820, 520) }
}

/// The port in the line in which a driver says that it listens: "... was started successfully on
/// port 1234." or "... Listening on 127.0.0.1:1234".
fn listening_port(line: &str) -> Option<u16> {
    let (_, port) = line
        .split_once("successfully on port ")
        .or_else(|| line.split_once("Listening on 127.0.0.1:"))?;
    port.trim_end_matches('.').parse().ok()
}

/// A screen in memory. Without one, Firefox does not draw by WebGL in software.
struct Screen {
    server: Child,
    /// The value of `DISPLAY`.
    display: String,
}

impl Screen {
    fn start() -> Result<Self> {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "1280x1024x24"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server =
            command.spawn().context("Xvfb can't be started; `tests/run` installs it")?;
        let output = server.stdout.take().context("the screen's output")?;
        let mut screen = Self { server, display: String::new() };
        let number = OutputLines::read_from(output)
            .find("the screen's number", |line| line.trim().parse::<u32>().ok())?;
        screen.display = format!(":{number}");
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A command of Chromium's own protocol.
#[derive(Debug)]
struct DevToolsCommand {
    name: &'static str,
    parameters: Json,
}

impl WebDriverCompatibleCommand for DevToolsCommand {
    fn endpoint(&self, driver: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        let session = session.unwrap_or_default();
        driver.join(&format!("session/{session}/goog/cdp/execute"))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        let body = json!({ "cmd": self.name, "params": self.parameters });
        (Method::POST, Some(body.to_string()))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Not all processes of a browser end with its driver.
        for (process, _) in process_family(self.driver.id()).unwrap_or_default() {
            let _ = signal(process, "KILL");
        }
        let _ = self.driver.wait();
    }
}
