//! HTTP for operators: `/healthz`, `/metrics`, and a page for people.
//!
//! Each request asks the lobby's actor for a snapshot; a server whose lobby does not answer within
//! a second is not healthy. There is no login: the port is for a private network. Each connection
//! serves one request; see `listener` for its limits.

pub(crate) mod listener;
mod metrics;
mod page;
pub(crate) mod snapshot;

use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use ambit_host::endpoint;
use ambit_transport::accept::AcceptanceCounters;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::listener::{HttpCounters, HttpListener};
use self::snapshot::Snapshot;
use crate::actor::messages::TakeSnapshot;
use crate::cluster::ClusterRole;
use crate::peer_door::PeerDoorCounters;
use crate::session::CommonToSessions;

/// A lobby that does not answer within this time is stuck.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// The state shared by all handlers.
#[derive(Clone)]
pub(crate) struct AdminState {
    pub(crate) roles: watch::Receiver<ClusterRole>,
    pub(crate) acceptance: Arc<AcceptanceCounters>,
    pub(crate) sessions: Arc<CommonToSessions>,
    pub(crate) peers: Arc<PeerDoorCounters>,
    pub(crate) http: Arc<HttpCounters>,
}

/// Binds the listener. The returned address has the port that was chosen.
pub(crate) async fn bind(address: SocketAddr) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await;
    let listener = listener
        .map_err(|error| anyhow::anyhow!("`--http`: {}", endpoint::why_not(address, &error)))?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Serves HTTP until `stop` is cancelled.
pub(crate) async fn serve(admin: AdminState, listener: TcpListener, stop: CancellationToken) {
    let listener = HttpListener::new(listener, Arc::clone(&admin.http));
    let router = Router::new()
        .route("/", get(show_page))
        .route("/healthz", get(show_health))
        .route("/metrics", get(show_metrics))
        .layer(map_response(close_after))
        .with_state(admin);
    // Open connections are dropped at the end.
    tokio::select! {
        () = stop.cancelled() => {}
        ended = axum::serve(listener, router).into_future() => {
            if let Err(error) = ended {
                tracing::error!("HTTP server failed; `/metrics` and `/healthz` are not served any \
                    more: {error}");
            }
        }
    }
}

/// Ends the connection after its request.
async fn close_after(mut response: Response) -> Response {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

impl AdminState {
    async fn take_snapshot(&self) -> Result<Snapshot, Response> {
        let stuck = || {
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "the lobby does not answer\n",
            )
                .into_response()
        };
        let role = self.roles.borrow().clone();
        let mut snapshot = match &role {
            ClusterRole::Leading { world, .. } => {
                let answer = tokio::time::timeout(ANSWER_TIMEOUT, world.send(TakeSnapshot)).await;
                *answer.map_err(|_| stuck())?.map_err(|_| stuck())?
            }
            ClusterRole::Following { .. } | ClusterRole::Seeking => Snapshot::default(),
        };
        snapshot.role = match role {
            ClusterRole::Leading { epoch: 0, .. } => None,
            ClusterRole::Leading { epoch, .. } => Some((format!("leads, epoch {epoch}"), true)),
            ClusterRole::Following { address, .. } => Some((format!("follows {address}"), true)),
            ClusterRole::Seeking => Some(("looks for the server that leads".to_owned(), false)),
        };
        let counters = self.acceptance.drops().into_iter();
        let counters = counters.chain(self.http.drops()).chain(self.peers.drops());
        let counters = counters.map(|(name, count)| (name.to_owned(), count));
        snapshot.drops.extend(counters);
        snapshot.lobby.hosts_refused += self.peers.wrong_key.load(Relaxed);
        snapshot.drops.insert(
            "lobby_out/slow_reader".into(),
            self.sessions.slow_readers.load(Relaxed),
        );
        Ok(snapshot)
    }
}

async fn show_health(
    State(admin): State<AdminState>,
) -> Result<(StatusCode, &'static str), Response> {
    let snapshot = admin.take_snapshot().await?;
    Ok(match snapshot.role {
        _ if snapshot.draining => (StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
        Some((_, false)) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "no server of the cluster leads\n",
        ),
        _ => (StatusCode::OK, "ok\n"),
    })
}

async fn show_metrics(State(admin): State<AdminState>) -> Result<Response, Response> {
    let text = metrics::render(admin.take_snapshot().await?);
    let text = text.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())?;
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
}

async fn show_page(State(admin): State<AdminState>) -> Result<Html<String>, Response> {
    Ok(Html(page::render(&admin.take_snapshot().await?)))
}
