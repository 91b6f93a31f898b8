//! HTTP: for operators `/healthz`, `/metrics`, `/status`, `/admin/v1` ([`operators`]) and its page
//! `/watch`, for players the page, with all that browsers need to play.
//!
//! Requests of operators ask the lobby's actor for a snapshot; a server whose lobby does not answer
//! within a second is not healthy. `/admin/v1` asks for a key, and with `--admin-key-file` so do
//! `/metrics` and `/status`. The port of `--http` is for a private network, and answers only under
//! names that are its own (`asked_host`). That of `--https`
//! is public, and serves only what players may see. Each connection serves one request; see
//! `listener` for its limits.

mod asked_host;
mod history;
pub(crate) mod listener;
mod metrics;
pub(crate) mod operators;
pub(crate) mod page_code;
pub(crate) mod page_files;
pub(crate) mod replay_page;
pub(crate) mod snapshot;
pub(crate) mod status;
mod text_keys;
mod tls_stream;
pub(crate) mod top_lists;
mod watch_page;

use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use ambit_endpoint::accept::EndpointCounters;
use ambit_host::endpoint;
use ambit_host::web_certificates::WebCertificates;
use ambit_lobby::AccountWays;
use ambit_transport::quic;
use axum::Router;
use axum::extract::connect_info::Connected;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use axum::serve::{IncomingStream, Listener};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use self::listener::{HttpCounters, HttpListener};
use self::operators::{OperatorDesk, PeerAddress};
use self::page_files::Page;
use self::snapshot::Snapshot;
use self::status::{NewestStatus, StatusPage};
use self::tls_stream::TlsListener;
use self::top_lists::TopLists;
use crate::actor::calls::{ANSWER_TIMEOUT, call};
use crate::cluster::ClusterRole;
use crate::config::HostName;
use crate::peer_door::PeerDoorCounters;
use crate::session::CommonToSessions;

/// The protocol within TLS.
const ALPN_HTTP: &[u8] = b"http/1.1";

/// What every answer has, and so every page. Scripts, styles and pictures come from this server
/// alone, and none from within a text. `https:` is for WebTransport to hosts, which have other
/// ports and addresses.
const SECURITY: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
         connect-src 'self' https:; img-src 'self' data:; frame-ancestors 'none'; \
         base-uri 'none'; form-action 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// The state shared by all handlers.
#[derive(Clone)]
pub(crate) struct AdminState {
    pub(crate) roles: watch::Receiver<ClusterRole>,
    pub(crate) acceptance: Arc<EndpointCounters>,
    pub(crate) sessions: Arc<CommonToSessions>,
    pub(crate) peers: Arc<PeerDoorCounters>,
    pub(crate) http: Arc<HttpCounters>,
    pub(crate) status: NewestStatus,
    /// Where players connect.
    pub(crate) player_address: String,
    /// The page for players on other machines, if there is one.
    pub(crate) page_with_tls: Option<Arc<str>>,
    /// Names of the port of `--http`.
    pub(crate) http_hosts: Arc<[HostName]>,
    pub(crate) web_certificates: Arc<WebCertificates>,
    pub(crate) page: Page,
    /// How players may prove who they are.
    pub(crate) ways: AccountWays,
    pub(crate) top_lists: TopLists,
    pub(crate) operators: OperatorDesk,
}

/// Binds the listener. The returned address has the port that was chosen.
pub(crate) async fn bind(
    flag: &str,
    address: SocketAddr,
) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await;
    let listener = listener
        .map_err(|error| anyhow::anyhow!("`{flag}`: {}", endpoint::why_not(address, &error)))?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Serves operators and players without TLS until `stop` is cancelled.
pub(crate) async fn serve(admin: AdminState, listener: TcpListener, stop: CancellationToken) {
    let listener = HttpListener::new(listener, Arc::clone(&admin.http));
    let guarded = Router::new()
        .route("/metrics", get(show_metrics))
        .route("/status", get(show_status))
        .route("/status.json", get(show_status_json))
        .layer(from_fn_with_state(admin.operators.clone(), operators::guard_status));
    let router = for_players(&admin, get(show_connect))
        .route("/healthz", get(show_health))
        .merge(guarded)
        .route("/status.js", text_file("text/javascript", status::SCRIPT))
        .route("/status.css", text_file("text/css", status::STYLE))
        .merge(watch_page())
        .merge(operators::routes(admin.operators.clone()))
        .layer(from_fn_with_state(Arc::clone(&admin.http_hosts), asked_host::refuse_others));
    tokio::select! {
        () = serve_router(admin.clone(), listener, router, stop) => {}
        () = note_history(admin) => {}
    }
}

/// Takes samples for the last hour's charts. A lobby that does not answer leaves a gap.
async fn note_history(admin: AdminState) {
    let mut ticks = tokio::time::interval(history::STEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Ok(snapshot) = admin.take_snapshot().await {
            admin.operators.note(&snapshot);
        }
    }
}

/// The files of the page for operators. They have no secrets, so they need no key.
fn watch_page() -> Router<AdminState> {
    watch_page::FILES.iter().fold(Router::new(), |router, (path, content_type, text)| {
        router.route(path, text_file(content_type, text))
    })
}

/// Serves players with TLS until `stop` is cancelled, under any name: all of it is public, and a
/// browser compares the name with the certificate.
pub(crate) async fn serve_with_tls(
    admin: AdminState,
    listener: TcpListener,
    stop: CancellationToken,
) {
    let certificates = Arc::clone(&admin.web_certificates);
    let tls = quic::resolving_server_tls(certificates, &[ALPN_HTTP]);
    let listener = HttpListener::for_the_public(listener, Arc::clone(&admin.http));
    let listener = TlsListener::new(listener, tls);
    // It is public, so pages of other servers may read it.
    let connect = get(async |admin| {
        let anyone = [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
        (anyone, show_connect(admin).await)
    });
    let router = for_players(&admin, connect);
    serve_router(admin, listener, router, stop).await;
}

/// The public routes.
fn for_players(admin: &AdminState, connect: MethodRouter<AdminState>) -> Router<AdminState> {
    let routes = admin.page.clone().routes().route("/connect.json", connect);
    routes.route("/page.svg", get(show_page_code)).route("/results.json", get(show_results))
}

/// The address of the page with TLS as a QR code; with `?room=N` the link to that room.
async fn show_page_code(
    State(admin): State<AdminState>,
    RawQuery(query): RawQuery,
) -> Result<Response, StatusCode> {
    let page = admin.page_with_tls.ok_or(StatusCode::NOT_FOUND)?;
    let room = query.and_then(|query| query.strip_prefix("room=")?.parse::<u64>().ok());
    let link = room.map_or_else(|| page.to_string(), |room| format!("{page}#room={room}"));
    let picture = page_code::as_svg(&link).ok_or(StatusCode::NOT_FOUND)?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], picture).into_response())
}

async fn show_results(State(admin): State<AdminState>, RawQuery(query): RawQuery) -> Response {
    admin.top_lists.answer(query.as_deref()).await
}

fn text_file(content_type: &'static str, text: &'static str) -> MethodRouter<AdminState> {
    get(async move || ([(header::CONTENT_TYPE, content_type)], text))
}

async fn serve_router<L>(
    admin: AdminState,
    listener: L,
    router: Router<AdminState>,
    stop: CancellationToken,
) where
    L: Listener<Addr = SocketAddr>,
    PeerAddress: for<'a> Connected<IncomingStream<'a, L>>,
{
    let router = router.layer(map_response(finish)).with_state(admin);
    let router = router.into_make_service_with_connect_info::<PeerAddress>();
    // Open connections are dropped at the end.
    tokio::select! {
        () = stop.cancelled() => {}
        ended = axum::serve(listener, router).into_future() => {
            if let Err(error) = ended {
                tracing::error!("HTTP server failed; nothing is served there any more: {error}");
            }
        }
    }
}

/// Adds what all answers have, and ends the connection after its request.
async fn finish(mut response: Response) -> Response {
    let close = (header::CONNECTION, "close");
    for (name, value) in SECURITY.into_iter().chain([close]) {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

impl AdminState {
    async fn status_page(&self) -> Result<StatusPage, Response> {
        self.status.page(self.take_snapshot()).await
    }

    async fn take_snapshot(&self) -> Result<Snapshot, Response> {
        let stuck =
            || (StatusCode::SERVICE_UNAVAILABLE, "the lobby does not answer\n").into_response();
        let role = self.roles.borrow().clone();
        let mut snapshot = match &role {
            ClusterRole::Leading { world, .. } => {
                let snapshot = world.send(call(|world, _| world.snapshot()));
                let answer = tokio::time::timeout(ANSWER_TIMEOUT, snapshot).await;
                answer.map_err(|_| stuck())?.map_err(|_| stuck())?
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
        let wire = self.acceptance.wire();
        let named = wire.named().map(|(direction, part, n)| (format!("{direction}/{part}"), n));
        snapshot.wire.extend(named);
        snapshot.lobby.hosts_refused += self.peers.wrong_key.load(Relaxed);
        snapshot
            .drops
            .insert("lobby_out/slow_reader".into(), self.sessions.slow_readers.load(Relaxed));
        Ok(snapshot)
    }
}

async fn show_health(
    State(admin): State<AdminState>,
) -> Result<(StatusCode, &'static str), Response> {
    let snapshot = admin.take_snapshot().await?;
    Ok(match snapshot.role {
        _ if snapshot.draining => (StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
        Some((_, false)) => (StatusCode::SERVICE_UNAVAILABLE, "no server of the cluster leads\n"),
        _ => (StatusCode::OK, "ok\n"),
    })
}

/// What a browser needs to connect: the address for players, the SHA-256 of the certificates (DER)
/// that the server shows to browsers now or next, none if an authority has signed them, and how
/// players may sign in.
async fn show_connect(State(admin): State<AdminState>) -> Response {
    let fingerprints = admin.web_certificates.fingerprints();
    let fingerprints: Vec<_> = fingerprints.iter().map(ToString::to_string).collect();
    let connect = serde_json::json!({
        "address": admin.player_address,
        "certificates_sha256": fingerprints,
        "page": admin.page_with_tls.as_deref(),
        "accounts": admin.ways.names().collect::<Vec<_>>(),
    });
    ([(header::CONTENT_TYPE, "application/json")], connect.to_string()).into_response()
}

async fn show_metrics(State(admin): State<AdminState>) -> Result<Response, Response> {
    let text = metrics::render(admin.take_snapshot().await?);
    let text = text.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())?;
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
}

async fn show_status(State(admin): State<AdminState>) -> Result<Response, Response> {
    let html = admin.status_page().await?.html;
    Ok(([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response())
}

async fn show_status_json(State(admin): State<AdminState>) -> Result<Response, Response> {
    let json = admin.status_page().await?.json;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}
