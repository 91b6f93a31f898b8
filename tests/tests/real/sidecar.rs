//! A mock of the Agones sidecar: the same paths, rules for counters and form of errors.
//!
//! Source: Agones, `pkg/sdkserver/sdkserver.go`, `proto/sdk/sdk.proto`,
//! `proto/sdk/beta/beta.proto`.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};

use ambit_tests::real::WAIT_LIMIT;
use anyhow::{Result, bail};
use axum::Router;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use serde_json::{Value, json};
use tokio::net::TcpSocket;
use tokio::sync::oneshot;

/// Requests that a test has not seen yet; notifications beyond that are dropped.
const REQUESTS: usize = 4_096;

/// A running sidecar; ends when dropped.
pub(crate) struct Sidecar {
    pub(crate) port: u16,
    /// One notification for each request.
    requests: Receiver<()>,
    state: Arc<Mutex<SidecarState>>,
    _stop: oneshot::Sender<()>,
}

/// How the sidecar answers, and what it has received.
#[derive(Debug)]
pub(crate) struct SidecarState {
    /// Whether it answers every request with an error.
    pub(crate) is_failing: bool,
    /// The answer to `GET /gameserver`.
    pub(crate) game_server: Value,
    /// The counters that the fleet declares, with count and capacity.
    pub(crate) counters: BTreeMap<String, (u64, u64)>,
    /// Accepted requests by path.
    pub(crate) accepted: BTreeMap<String, u32>,
}

impl SidecarState {
    /// Accepted requests at a path.
    pub(crate) fn accepted(&self, path: &str) -> u32 {
        self.accepted.get(path).copied().unwrap_or_default()
    }

    /// Count and capacity of a counter.
    pub(crate) fn counter(&self, name: &str) -> (u64, u64) {
        self.counters.get(name).copied().unwrap_or_default()
    }
}

impl Sidecar {
    /// Takes a port without listening yet, so that no other process gets it meanwhile.
    pub(crate) fn reserve() -> Result<TcpSocket> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        Ok(socket)
    }

    /// Starts one with the counters `rooms` and `players`, and a health period of one second.
    pub(crate) fn start(socket: TcpSocket) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(async { socket.listen(128) })?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(Mutex::new(SidecarState {
            is_failing: false,
            game_server: game_server("127.0.0.1", 7_000),
            counters: ["rooms", "players"].map(|name| (name.to_owned(), (0, 1))).into(),
            accepted: BTreeMap::new(),
        }));
        let (sender, requests) = sync_channel(REQUESTS);
        let (stop, stopped) = oneshot::channel();
        let router = Router::new().fallback(answer).with_state((Arc::clone(&state), sender));
        std::thread::spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    ended = axum::serve(listener, router) => ended.expect("serving does not end"),
                    _ = stopped => {}
                }
            });
        });
        Ok(Self { port, requests, state, _stop: stop })
    }

    /// The state, to read or to change.
    pub(crate) fn state(&self) -> MutexGuard<'_, SidecarState> {
        self.state.lock().expect("no holder panics")
    }

    /// Waits until `wanted` holds, checking after each request. A health request comes twice a
    /// second.
    pub(crate) fn wait(&self, what: &str, wanted: impl Fn(&SidecarState) -> bool) -> Result<()> {
        while self.requests.try_recv().is_ok() {}
        for _ in 0..5 * WAIT_LIMIT.as_secs() {
            if wanted(&self.state()) {
                return Ok(());
            }
            let _ = self.requests.recv_timeout(WAIT_LIMIT);
        }
        bail!("{what} did not come: {:#?}", self.state())
    }
}

/// A `GameServer` as the gateway writes it.
pub(crate) fn game_server(address: &str, port: u16) -> Value {
    let ports = if port == 0 { json!([]) } else { json!([{ "name": "game", "port": port }]) };
    json!({
        "object_meta": {
            "name": "hosts-abcde", "namespace": "default", "generation": "1", "labels": {},
        },
        "spec": {
            "health": {
                "disabled": false, "period_seconds": 1,
                "failure_threshold": 3, "initial_delay_seconds": 5,
            },
        },
        "status": { "state": "Scheduled", "address": address, "ports": ports },
    })
}

type Shared = (Arc<Mutex<SidecarState>>, SyncSender<()>);

async fn answer(
    State((state, sender)): State<Shared>,
    method: Method,
    uri: Uri,
    body: String,
) -> (StatusCode, String) {
    let path = uri.path().to_owned();
    let body = serde_json::from_str(&body).unwrap_or(Value::Null);
    let result =
        handle_request(&mut state.lock().expect("no holder panics"), &method, &path, &body);
    let answer = match result {
        Ok(value) => {
            *state.lock().expect("no holder panics").accepted.entry(path).or_default() += 1;
            (StatusCode::OK, value.to_string())
        }
        // The gateway turns an error without a gRPC status into code 2 (unknown) and HTTP 500.
        Err(message) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            json!({ "code": 2, "message": message, "details": [] }).to_string(),
        ),
    };
    let _ = sender.try_send(());
    answer
}

fn handle_request(
    state: &mut SidecarState,
    method: &Method,
    path: &str,
    body: &Value,
) -> Result<Value, String> {
    if state.is_failing {
        return Err("the API server does not answer".into());
    }
    match (method.as_str(), path) {
        ("GET", "/gameserver") => Ok(state.game_server.clone()),
        ("POST", "/ready" | "/health" | "/shutdown") if *body == json!({}) => Ok(json!({})),
        ("PATCH", path) => {
            let name = path.strip_prefix("/v1beta1/counters/").ok_or("Not Found")?;
            let counter =
                state.counters.get_mut(name).ok_or(format!("counter not found: {name}"))?;
            let capacity = number_field(body, "capacity").unwrap_or(counter.1);
            let count = number_field(body, "count").unwrap_or(counter.0);
            if count > capacity {
                return Err(format!(
                    "out of range. Count must be within range [0,Capacity]. \
                     Found Count: {count}, Capacity: {capacity}"
                ));
            }
            *counter = (count, capacity);
            Ok(json!({
                "name": name,
                "count": count.to_string(),
                "capacity": capacity.to_string(),
            }))
        }
        _ => Err(format!("{method} {path} is not known here")),
    }
}

/// 64-bit integers are strings in JSON.
fn number_field(body: &Value, name: &str) -> Option<u64> {
    body[name].as_str()?.parse().ok()
}
