//! Agones' sidecar, over HTTP: a call goes in, its answer comes out.
//!
//! Paths and bodies are those of the HTTP gateway of its gRPC services (the `google.api.http`
//! options of `proto/sdk/sdk.proto` and `proto/sdk/beta/beta.proto`). There 64-bit integers are
//! strings, and names may be written with underscores or as `camelCase`. Each call has a connection
//! of its own: calls are rare, and none leaves the machine.

use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpStream;

use super::report::{CallError, CounterValue, SidecarAnswer, SidecarCall};

/// The variable in which Agones sets the port of its sidecar.
const PORT_VARIABLE: &str = "AGONES_SDK_HTTP_PORT";
const DEFAULT_PORT: u16 = 9358;

/// A call that changes something waits for Kubernetes.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// A `GameServer` with all its annotations is smaller than that.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// A client of the sidecar. See the module.
#[derive(Clone, Debug)]
pub(super) struct Sidecar {
    port: u16,
}

/// The answer to `GET /gameserver`, as far as it is used here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct GameServerResource {
    spec: GameServerSpec,
    status: GameServerStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GameServerSpec {
    health: Option<HealthSpec>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HealthSpec {
    disabled: bool,
    #[serde(alias = "periodSeconds")]
    period_seconds: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GameServerStatus {
    address: String,
    ports: Vec<StatusPort>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StatusPort {
    port: u16,
}

impl GameServerResource {
    /// Reads the body of an answer.
    pub fn parse(body: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(body)
    }

    /// The public address of this server: the node's address and the first port assigned to it.
    pub fn address(&self) -> Option<(&str, u16)> {
        let port = self.status.ports.first()?.port;
        (!self.status.address.is_empty() && port != 0)
            .then_some((self.status.address.as_str(), port))
    }

    /// How often Agones expects health calls; `None` if it disabled them. Without a period, the
    /// default of Agones, 5 s, applies.
    pub fn health_period(&self) -> Option<Duration> {
        let health = self.spec.health.as_ref();
        let period_s = health.map_or(0, |health| health.period_seconds);
        let period_s = if period_s == 0 { 5 } else { period_s };
        (!health.is_some_and(|health| health.disabled))
            .then(|| Duration::from_secs(period_s.into()))
    }
}

impl Sidecar {
    /// The sidecar that the environment names.
    pub(super) fn from_environment() -> anyhow::Result<Self> {
        let port = match std::env::var(PORT_VARIABLE) {
            Err(_) => DEFAULT_PORT,
            Ok(text) => text
                .parse()
                .with_context(|| format!("{PORT_VARIABLE}={text}: a port is expected"))?,
        };
        Ok(Self { port })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Makes a call whose answer has no content.
    pub(super) async fn send(&self, call: SidecarCall) -> Result<SidecarAnswer, CallError> {
        self.request(call).await.map(|_| SidecarAnswer::Done)
    }

    /// Fetches what Agones knows of this server.
    pub(super) async fn fetch_game_server(&self) -> Result<GameServerResource, CallError> {
        let text = self.request(SidecarCall::GetGameServer).await?;
        GameServerResource::parse(&text)
            .map_err(|error| CallError::Refused(format!("the answer is not a GameServer: {error}")))
    }

    async fn request(&self, call: SidecarCall) -> Result<Bytes, CallError> {
        match tokio::time::timeout(ANSWER_TIMEOUT, self.exchange(call)).await {
            Ok(result) => result,
            Err(_) => {
                Err(CallError::Refused(format!("no answer within {} s", ANSWER_TIMEOUT.as_secs())))
            }
        }
    }

    async fn exchange(&self, call: SidecarCall) -> Result<Bytes, CallError> {
        let stream = TcpStream::connect(("localhost", self.port)).await;
        let stream = stream.map_err(|error| CallError::Unreachable(error.to_string()))?;
        let (method, path, body) = request_parts(call);
        let what = format!("{method} {path}");
        send_request(stream, method, &path, body)
            .await
            .map_err(|error| CallError::Refused(format!("{what}: {error:#}")))
    }
}

/// Method, path and body.
fn request_parts(call: SidecarCall) -> (Method, String, String) {
    let post = |path: &str| (Method::POST, path.to_owned(), "{}".to_owned());
    match call {
        SidecarCall::GetGameServer => (Method::GET, "/gameserver".to_owned(), String::new()),
        SidecarCall::Ready => post("/ready"),
        SidecarCall::Health => post("/health"),
        SidecarCall::Shutdown => post("/shutdown"),
        SidecarCall::Count(counter, CounterValue { count, capacity }) => (
            Method::PATCH,
            format!("/v1beta1/counters/{}", counter.name()),
            format!(r#"{{"count":"{count}","capacity":"{capacity}"}}"#),
        ),
    }
}

/// Sends one request and returns the body of a successful answer.
async fn send_request(
    stream: TcpStream,
    method: Method,
    path: &str,
    body: String,
) -> anyhow::Result<Bytes> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // Ends with `sender`.
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "localhost")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))?;
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
    let body = body.map_err(|error| anyhow::anyhow!("{error}"))?.to_bytes();
    if head.status != StatusCode::OK {
        bail!("{}: {}", head.status, error_message(&body));
    }
    Ok(body)
}

/// The `message` of a JSON error; any other text as it is, shortened to a line.
fn error_message(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct ErrorBody {
        message: String,
    }
    let message = serde_json::from_slice(body).map(|ErrorBody { message }| message);
    let text = message.unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned());
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::super::report::FleetCounter;
    use super::*;

    #[test]
    fn game_server_fields_are_read_in_snake_case_and_camel_case() {
        for (text, period_s) in [
            (
                concat!(
                    r#"{"spec":{"health":{"period_seconds":7}},"#,
                    r#""status":{"address":"192.0.2.1","ports":[{"name":"game","port":7001}]}}"#
                ),
                7,
            ),
            (
                concat!(
                    r#"{"objectMeta":{"generation":"1"},"spec":{"health":{"periodSeconds":3}},"#,
                    r#""status":{"address":"192.0.2.1","ports":[{"port":7001}]}}"#
                ),
                3,
            ),
        ] {
            let server: GameServerResource = serde_json::from_str(text).unwrap();
            assert_eq!(server.address(), Some(("192.0.2.1", 7001)));
            assert_eq!(server.health_period(), Some(Duration::from_secs(period_s)));
        }
    }

    #[test]
    fn a_game_server_without_an_address_has_none() {
        for text in [
            "{}",
            r#"{"status":{"address":"","ports":[{"port":7001}]}}"#,
            r#"{"status":{"address":"192.0.2.1","ports":[]}}"#,
        ] {
            let server: GameServerResource = serde_json::from_str(text).unwrap();
            assert_eq!(
                (server.address(), server.health_period()),
                (None, Some(Duration::from_secs(5))),
                "{text}"
            );
        }
        let server: GameServerResource =
            serde_json::from_str(r#"{"spec":{"health":{"disabled":true}}}"#).unwrap();
        assert_eq!(server.health_period(), None);
    }

    #[test]
    fn counter_values_are_sent_as_json_strings() {
        let (method, path, body) = request_parts(SidecarCall::Count(
            FleetCounter::Rooms,
            CounterValue { count: 3, capacity: 8 },
        ));
        assert_eq!((method, path.as_str()), (Method::PATCH, "/v1beta1/counters/rooms"));
        assert_eq!(body, r#"{"count":"3","capacity":"8"}"#);
    }

    #[test]
    fn an_error_message_is_extracted_and_other_text_is_shortened() {
        assert_eq!(
            error_message(br#"{"code":2,"message":"counter not found: rooms"}"#),
            "counter not found: rooms"
        );
        assert_eq!(error_message("x".repeat(1_000).as_bytes()).len(), 200);
    }
}
