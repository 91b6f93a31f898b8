//! `/admin/v1`: what operators see and do by HTTP and JSON, on the private port.
//!
//! Each request has a key ([`keys`]) in its header `authorization: Bearer KEY`, which no page of
//! another origin can send. Wrong keys have pauses, by network. What is done is an event with the
//! name of the key's holder. [`description`] lists the requests.

mod answers;
pub(crate) mod command;
pub(super) mod description;
mod events;
mod guests;
pub(crate) mod keys;
mod refused;
pub(super) mod room_answers;
mod table;
mod unknown;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use actix::Context;
use ambit_host::logging::set_log_filter;
use ambit_host::web_certificates::WebCertificates;
use ambit_lobby::{
    GuessesByNetwork, HostId, OperatorAudience, OperatorEvent, OperatorOrder, OperatorProblem,
    ReportLimit, is_player_name, look_alike, read_reason,
};
use ambit_proto::ids::{ObjectId, PlayerId, RoomId};
use ambit_proto::standing::OperatorRole;
use ambit_proto::time::LocalTime;
use ambit_room::questions::{RoomAnswer, RoomQuestion};
use ambit_store::{BanNote, BanScope, BanTarget, BanTerm, InvalidBanTarget, ServerBan};
use ambit_transport::address::SourceNetwork;
use axum::Router;
use axum::extract::connect_info::Connected;
use axum::extract::rejection::BytesRejection;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::MethodFilter;
use axum::serve::IncomingStream;
use bytes::Bytes;
use data_encoding::BASE64;
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};
use tokio::sync::watch;

use self::description::{AdminAction, AdminEndpoint, ENDPOINTS};
use self::keys::{AdminKeys, KeyHolder};
use self::refused::{Refused, SAID_CHARS, respond};
use super::history::History;
use super::listener::{HttpListener, LastingAnswer};
use super::snapshot::Snapshot;
use super::tls_stream::TlsListener;
use crate::accounts::{AccountDesk, unix_time};
use crate::actor::calls::{ANSWER_TIMEOUT, Call, call};
use crate::actor::{LobbyClock, LobbyDesks, WorldServer};
use crate::cluster::ClusterRole;
use crate::config::{Config, HostingMode};
use crate::identity;
use crate::operator_log::OperatorLog;

/// Who asks, for the pauses after wrong keys, and the log; and how long the answer may last.
#[derive(Clone, Debug)]
pub(super) struct PeerAddress(IpAddr, LastingAnswer);

impl Connected<IncomingStream<'_, HttpListener>> for PeerAddress {
    fn connect_info(stream: IncomingStream<'_, HttpListener>) -> Self {
        Self(stream.remote_addr().ip(), stream.io().lasting().clone())
    }
}

impl Connected<IncomingStream<'_, TlsListener>> for PeerAddress {
    fn connect_info(stream: IncomingStream<'_, TlsListener>) -> Self {
        Self(stream.remote_addr().ip(), LastingAnswer::default())
    }
}

/// What requests of operators need beside the lobby; clones share everything.
#[derive(Clone)]
pub(crate) struct OperatorDesk {
    keys: Arc<Mutex<Arc<AdminKeys>>>,
    /// For what is read again.
    config: Arc<Config>,
    certificates: Arc<WebCertificates>,
    roles: watch::Receiver<ClusterRole>,
    accounts: AccountDesk,
    guesses: Arc<Mutex<GuessesByNetwork>>,
    refusals: Arc<Mutex<ReportLimit>>,
    clock: LobbyClock,
    log: OperatorLog,
    /// Whether metrics and the page with the state ask for a key, too.
    guards_status: bool,
    /// Whether those without a key may look.
    admits_guests: bool,
    history: Arc<Mutex<History>>,
}

/// A body is this long at most.
const MAX_BODY_BYTES: usize = 65_536;
/// Characters of a request's body that are in its event.
const LOGGED_CHARS: usize = 300;

/// The rest of a body is an error, so that a wrong name of a member is noticed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ReasonBody {
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageBody {
    text: String,
    room: Option<u64>,
    player: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TermBody {
    reason: String,
    hours: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct BanBody {
    account: Option<String>,
    name: Option<String>,
    address: Option<String>,
    only: Option<String>,
    reason: String,
    hours: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ReloadBody {
    log: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DrainBody {
    minutes: u32,
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EmptyBody {}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AboveQuery {
    player: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WhyQuery {
    player: u64,
    object: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct UnbanBody {
    only: Option<String>,
}

/// A request whose key is right.
struct AdminRequest {
    endpoint: &'static AdminEndpoint,
    by: KeyHolder,
    /// What stands in the place of the braces of the path.
    parameter: String,
    /// Behind the `?`.
    query: String,
    body: Bytes,
}

impl OperatorDesk {
    pub(crate) fn open(
        config: &Config,
        certificates: &Arc<WebCertificates>,
        roles: watch::Receiver<ClusterRole>,
        LobbyDesks { accounts, operator_log: log }: LobbyDesks,
    ) -> anyhow::Result<Self> {
        let keys = Arc::new(Mutex::new(Arc::new(identity::admin_keys(config)?)));
        let (config, certificates) = (Arc::new(config.clone()), Arc::clone(certificates));
        let clock = LobbyClock::start().0;
        let (guesses, refusals) = (Arc::default(), Arc::default());
        let guards_status = config.admin_key_file.is_some();
        let admits_guests = config.watch_guests;
        Ok(Self {
            keys,
            config,
            certificates,
            roles,
            accounts,
            guesses,
            refusals,
            clock,
            log,
            guards_status,
            admits_guests,
            history: Arc::default(),
        })
    }

    /// Adds a sample to the last hour's.
    pub(super) fn note(&self, snapshot: &Snapshot) {
        self.history.lock().note(unix_time().unsigned_abs(), snapshot);
    }

    /// Whose key this is.
    fn holder(&self, from: IpAddr, key: Option<&str>) -> Result<KeyHolder, Refused> {
        let keys = Arc::clone(&self.keys.lock());
        if keys.is_empty() {
            let problem = "this server has no keys of operators: see `--admin-key-file`";
            return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, problem.to_owned()));
        }
        let now = self.clock.now();
        let network = SourceNetwork::of(from);
        if let Some(pause) = self.guesses.lock().pause_left(now, &network) {
            let pause_s = pause.as_secs() + 1;
            let problem = format!("too many wrong keys: wait {pause_s} s");
            let refused = Refused::new(StatusCode::TOO_MANY_REQUESTS, problem);
            return Err(Refused { pause_s: Some(pause_s), ..refused });
        }
        let unknown = |problem: &str| Refused::new(StatusCode::UNAUTHORIZED, problem.to_owned());
        let key = key.ok_or_else(|| unknown("expected the header `authorization: Bearer KEY`"))?;
        keys.holder(key.trim()).cloned().ok_or_else(|| {
            self.guesses.lock().note_wrong(now, network);
            unknown("no operator of this server has this key")
        })
    }

    fn report_refused(&self, from: IpAddr, request: String, refused: &Refused) {
        if let Some(times) = self.refusals.lock().note(self.clock.now()) {
            let (address, why) = (from.to_string(), refused.problem.clone());
            self.log.report(OperatorEvent::OperatorRefused { address, request, why, times });
        }
    }
}

/// Lets a request for metrics or for the page with the state through if its key is one of an
/// operator's, of any role. A browser asks for a name and a password (RFC 7617): the key is the
/// password. These requests change nothing, so a page of another origin that causes one gains
/// nothing.
pub(super) async fn guard_status(
    State(desk): State<OperatorDesk>,
    ConnectInfo(PeerAddress(from, _)): ConnectInfo<PeerAddress>,
    request: Request,
    next: Next,
) -> Response {
    if !desk.guards_status {
        return next.run(request).await;
    }
    let path = request.uri().path().to_owned();
    let given = request.headers().get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok());
    let key = given.and_then(key_in);
    match desk.holder(from, key.as_deref()) {
        Ok(_) => next.run(request).await,
        Err(refused) => {
            desk.report_refused(from, format!("get {path}"), &refused);
            let is_unknown = refused.status == StatusCode::UNAUTHORIZED;
            let mut response = refused.into_response();
            if is_unknown {
                let scheme = HeaderValue::from_static("Basic realm=\"Ambit\", charset=\"UTF-8\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
            }
            response
        }
    }
}

/// What follows the scheme, in any case (RFC 9110).
fn credentials<'h>(authorization: &'h str, scheme: &str) -> Option<&'h str> {
    let (named, credentials) = authorization.split_once(' ')?;
    named.eq_ignore_ascii_case(scheme).then_some(credentials.trim())
}

/// The key, or the password with any name.
fn key_in(authorization: &str) -> Option<String> {
    if let Some(key) = credentials(authorization, "Bearer") {
        return Some(key.to_owned());
    }
    let pair = BASE64.decode(credentials(authorization, "Basic")?.as_bytes()).ok()?;
    let pair = String::from_utf8(pair).ok()?;
    pair.split_once(':').map(|(_, key)| key.to_owned())
}

/// What is read again without a restart.
impl OperatorDesk {
    /// Reads the keys of operators, the certificate, bans, reserved names and roles again, and sets
    /// the log filter. What is wrong is logged and returned; there the old state stays.
    pub(crate) async fn reload(&self, log: Option<&str>) -> Vec<String> {
        let keys = identity::admin_keys(&self.config).and_then(|keys| self.replace_keys(keys));
        let certificate = self.reload_certificate();
        let names = self.accounts.read_names().await.map_err(anyhow::Error::from);
        let log = log.map_or(Ok(()), set_log_filter).map_err(anyhow::Error::msg);
        let all = [
            ("the keys of operators", keys),
            ("the certificate", certificate),
            ("bans, names and roles", names),
            ("the log filter", log),
        ];
        let wrong = all.into_iter().filter_map(|(what, read)| {
            let problem = format!("{what}: nothing is changed: {:#}", read.err()?);
            tracing::error!("{problem}");
            Some(problem)
        });
        wrong.collect()
    }

    fn replace_keys(&self, keys: AdminKeys) -> anyhow::Result<()> {
        if keys.is_empty() && !self.keys.lock().is_empty() {
            anyhow::bail!("the file has no key");
        }
        *self.keys.lock() = Arc::new(keys);
        Ok(())
    }

    /// Only one that the operator has named changes.
    fn reload_certificate(&self) -> anyhow::Result<()> {
        if self.config.cert.is_none() {
            return Ok(());
        }
        let identity = identity::load(&self.config)?;
        if identity.fingerprint() == self.certificates.pinned() {
            return Ok(());
        }
        if self.config.hosts == HostingMode::Cluster {
            anyhow::bail!("the servers of a cluster are restarted for it, one after the other");
        }
        self.certificates.replace(&identity)
    }
}

/// The routes, as [`ENDPOINTS`] lists them.
pub(super) fn routes<S: Clone + Send + Sync + 'static>(desk: OperatorDesk) -> Router<S> {
    let add = |router: Router<OperatorDesk>, endpoint: &'static AdminEndpoint| {
        let method = match endpoint.method {
            "get" => MethodFilter::GET,
            "post" => MethodFilter::POST,
            _ => MethodFilter::DELETE,
        };
        let handle = async move |state: State<OperatorDesk>,
                                 from: ConnectInfo<PeerAddress>,
                                 parameter: Option<Path<String>>,
                                 query: RawQuery,
                                 headers: HeaderMap,
                                 body: Result<Bytes, BytesRejection>| {
            match body {
                Ok(body) => {
                    answer(endpoint, (state.0, from.0), (parameter, query), &headers, body).await
                }
                Err(problem) => Refused::new(problem.status(), problem.body_text()).into_response(),
            }
        };
        router.route(endpoint.path, axum::routing::on(method, handle))
    };
    let all = ENDPOINTS.iter().fold(Router::new(), add);
    let unknown = async |method: Method, uri: Uri| unknown::refusal(&method, uri.path());
    let all = all.fallback(unknown).method_not_allowed_fallback(unknown);
    // Which a nested router leaves out.
    let bare = axum::routing::any(async |method: Method| unknown::refusal(&method, "/"));
    let all = Router::new().nest("/admin/v1", all).route("/admin/v1/", bare);
    all.layer(DefaultBodyLimit::max(MAX_BODY_BYTES)).with_state(desk)
}

async fn answer(
    endpoint: &'static AdminEndpoint,
    (desk, PeerAddress(from, lasting)): (OperatorDesk, PeerAddress),
    (parameter, RawQuery(query)): (Option<Path<String>>, RawQuery),
    headers: &HeaderMap,
    body: Bytes,
) -> Response {
    let parameter = parameter.map_or_else(String::new, |Path(parameter)| parameter);
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = given.and_then(|value| credentials(value, "Bearer"));
    let is_open = endpoint.role == OperatorRole::Look && endpoint.action.is_for_guests();
    let is_guest = key.is_none() && desk.admits_guests && is_open;
    let holder = match desk.holder(from, key) {
        _ if is_guest => KeyHolder::guest(),
        Ok(holder) if holder.role >= endpoint.role => holder,
        refused => {
            let refused =
                refused.map_or_else(|refused| refused, |holder| too_low(endpoint, &holder));
            let request = format!("{} {}", endpoint.method, endpoint.path_with(&parameter));
            // The page asks so whether it needs a key.
            if key.is_some() || endpoint.action != AdminAction::Whoami {
                desk.report_refused(from, request, &refused);
            }
            return refused.into_response();
        }
    };
    if endpoint.action == AdminAction::Events {
        let after = match events::read_after(query.as_deref(), headers) {
            Ok(after) => after,
            Err(problem) => return bad(problem).into_response(),
        };
        let known = || json!(desk.log.after(after));
        return match events::wants_stream(headers) {
            // No stream: its events go to the reader as they are.
            _ if is_guest => respond(StatusCode::OK, &guests::without_secrets(known())),
            true => events::stream(desk.log, after, &lasting),
            false => respond(StatusCode::OK, &known()),
        };
    }
    let query = query.unwrap_or_default();
    let request = AdminRequest { endpoint, by: holder, parameter, query, body };
    let done = request.carry_out(&desk).await;
    if endpoint.method != "get" {
        desk.log.report(request.event(done.as_ref().err()));
    }
    match done {
        Ok(json) if is_guest => respond(StatusCode::OK, &guests::without_secrets(json)),
        Ok(json) => respond(StatusCode::OK, &json),
        Err(refused) => refused.into_response(),
    }
}

fn too_low(endpoint: &AdminEndpoint, holder: &KeyHolder) -> Refused {
    let problem = format!("this needs the role `{}`, not `{}`", endpoint.role, holder.role);
    Refused::new(StatusCode::FORBIDDEN, problem)
}

impl AdminRequest {
    fn event(&self, problem: Option<&Refused>) -> OperatorEvent {
        let body = String::from_utf8_lossy(&self.body);
        let path = self.endpoint.path_with(&self.parameter);
        OperatorEvent::Operator {
            by: self.by.name.clone(),
            role: self.by.role.to_string(),
            request: format!("{} {path}", self.endpoint.method),
            body: body.chars().take(LOGGED_CHARS).collect(),
            problem: problem.map(|refused| refused.problem.clone()),
        }
    }

    async fn carry_out(&self, desk: &OperatorDesk) -> Result<Json, Refused> {
        match self.endpoint.action {
            AdminAction::Describe => Ok(description::openapi()),
            // Answered before.
            AdminAction::Events => Ok(json!(desk.log.after(0))),
            AdminAction::Whoami => {
                let KeyHolder { name, role, is_guest } = &self.by;
                Ok(json!({ "name": name, "role": role.name(), "guest": is_guest }))
            }
            AdminAction::ShowServer => {
                let snapshot = in_actor(desk, call(|world, _| world.snapshot())).await?;
                Ok(answers::server(&snapshot, desk.clock.now().since(LocalTime::ZERO)))
            }
            AdminAction::ShowHistory => Ok(desk.history.lock().to_json()),
            AdminAction::ListPlayers => {
                let players = in_actor(desk, call(|world, _| world.operated_players())).await?;
                Ok(json!({ "players": list(&players, answers::player) }))
            }
            AdminAction::ListRooms => {
                let rooms = in_actor(desk, call(|world, _| world.operated_rooms())).await?;
                Ok(json!({ "rooms": list(&rooms, answers::room) }))
            }
            AdminAction::ListMaps => {
                let maps = in_actor(desk, call(|world, _| world.operated_maps())).await?;
                Ok(json!({ "maps": list(&maps, answers::map) }))
            }
            AdminAction::ListHosts => {
                let snapshot = in_actor(desk, call(|world, _| world.snapshot())).await?;
                Ok(json!({ "hosts": list(&snapshot.hosts, answers::host) }))
            }
            AdminAction::ListBans => {
                let names = desk.accounts.names();
                let bans = list(&names.borrow().bans, answers::ban);
                Ok(json!({ "bans": bans }))
            }
            AdminAction::ShowMap => match self.ask(desk, RoomQuestion::Map).await? {
                RoomAnswer::Map(map) => Ok(room_answers::map(&map)),
                RoomAnswer::Above(_) | RoomAnswer::Why(_) => Err(wrong_answer()),
            },
            AdminAction::ShowAbove => {
                let AboveQuery { player } = self.read_query()?;
                let player = player.map(PlayerId);
                let RoomAnswer::Above(above) =
                    self.ask(desk, RoomQuestion::Above { player }).await?
                else {
                    return Err(wrong_answer());
                };
                let mut answer = room_answers::above(&above);
                if let (Some(player), None) = (player, &above.view) {
                    answer["no_view"] = self.why_no_view(desk, player).await?.into();
                }
                Ok(answer)
            }
            AdminAction::Why => {
                let WhyQuery { player, object } = self.read_query()?;
                let (player, object) = (PlayerId(player), ObjectId(object));
                match self.ask(desk, RoomQuestion::Why { player, object }).await? {
                    RoomAnswer::Why(why) => Ok(room_answers::why(&why)),
                    RoomAnswer::Map(_) | RoomAnswer::Above(_) => Err(wrong_answer()),
                }
            }
            AdminAction::Ban => self.ban(desk).await,
            AdminAction::Unban => self.unban(desk).await,
            AdminAction::BanPlayer => self.ban_player(desk).await,
            AdminAction::Mute => self.mute(desk).await,
            AdminAction::Unmute => self.unmute(desk).await,
            AdminAction::Lock => self.set_lock(desk, true).await,
            AdminAction::Unlock => self.set_lock(desk, false).await,
            AdminAction::DrainHost => self.drain_host(desk, true).await,
            AdminAction::UndrainHost => self.drain_host(desk, false).await,
            AdminAction::Drain => {
                let DrainBody { minutes, reason } = self.read_body()?;
                self.order(desk, OperatorOrder::End { minutes, reason }).await
            }
            AdminAction::CallOffDrain => self.order(desk, OperatorOrder::CallOffEnd).await,
            AdminAction::Reload => self.reload(desk).await,
            AdminAction::Say => self.say(desk).await,
            AdminAction::Kick => {
                let ReasonBody { reason } = self.read_body()?;
                let player = PlayerId(self.number()?);
                self.order(desk, OperatorOrder::Kick { player, reason }).await
            }
            AdminAction::CloseRoom => {
                let ReasonBody { reason } = self.read_body()?;
                let room = RoomId(self.number()?);
                self.order(desk, OperatorOrder::CloseRoom { room, reason }).await
            }
        }
    }

    /// What the room of a map answers.
    async fn ask(
        &self,
        desk: &OperatorDesk,
        question: RoomQuestion,
    ) -> Result<RoomAnswer, Refused> {
        let map = RoomId(self.number()?);
        let answer = in_actor(desk, call(move |world, _| world.ask_room(map, question))).await??;
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, answer).await;
        let unavailable = |problem| Refused::new(StatusCode::SERVICE_UNAVAILABLE, problem);
        let Ok(Ok(answer)) = answer else {
            return Err(unavailable("the host of the map does not answer"));
        };
        if answer.is_empty() {
            return Err(unavailable("the map is asked too often: ask again"));
        }
        RoomAnswer::decode(&answer).map_err(|_| wrong_answer())
    }

    /// Why the room of a map has no client of this player.
    async fn why_no_view(&self, desk: &OperatorDesk, player: PlayerId) -> Result<String, Refused> {
        let known = call(move |world, _| (world.operated_player(player), world.operated_maps()));
        let (known, maps) = in_actor(desk, known).await?;
        Ok(match known {
            Ok(known) => answers::why_no_view(RoomId(self.number()?), &known, &maps),
            Err(problem) => problem.to_string(),
        })
    }

    async fn set_lock(&self, desk: &OperatorDesk, is_locked: bool) -> Result<Json, Refused> {
        let EmptyBody {} = self.read_body()?;
        let room = RoomId(self.number()?);
        self.order(desk, OperatorOrder::SetLock { room, is_locked }).await
    }

    async fn drain_host(&self, desk: &OperatorDesk, is_drained: bool) -> Result<Json, Refused> {
        let EmptyBody {} = self.read_body()?;
        let host = HostId(self.number()?);
        self.order(desk, OperatorOrder::DrainHost { host, is_drained }).await
    }

    async fn say(&self, desk: &OperatorDesk) -> Result<Json, Refused> {
        let body: MessageBody = self.read_body()?;
        let to = match (body.room, body.player) {
            (None, None) => OperatorAudience::All,
            (Some(room), None) => OperatorAudience::Room(RoomId(room)),
            (None, Some(player)) => OperatorAudience::Player(PlayerId(player)),
            (Some(_), Some(_)) => return Err(bad("a room or a player, not both")),
        };
        self.order(desk, OperatorOrder::Say { to, text: body.text }).await
    }

    async fn order(&self, desk: &OperatorDesk, order: OperatorOrder) -> Result<Json, Refused> {
        let done = in_actor(desk, call(move |world, ctx| world.carry_out(ctx, order))).await?;
        Ok(json!({ "reached": done? }))
    }

    async fn ban(&self, desk: &OperatorDesk) -> Result<Json, Refused> {
        let BanBody { account, name, address, only, reason, hours } = self.read_body()?;
        let target = match (account, name, address) {
            (Some(account), None, None) => format!("account:{account}").parse(),
            (None, Some(name), None) if !is_player_name(&name) => {
                return Err(bad("no player can have this name"));
            }
            (None, Some(name), None) => Ok(BanTarget::Name(name)),
            (None, None, Some(address)) => BanTarget::parse_network(&address),
            _ => return Err(bad("an account, a name or an address, and one of them")),
        };
        let target = target.map_err(|problem| bad(problem.to_string()))?;
        let scope = read_scope(only.as_deref())?.unwrap_or(BanScope::Play);
        let term = read_term(&reason, hours)?;
        self.store_bans(desk, vec![self.new_ban(target, scope, term, "")]).await
    }

    async fn ban_player(&self, desk: &OperatorDesk) -> Result<Json, Refused> {
        let TermBody { reason, hours } = self.read_body()?;
        let term = read_term(&reason, hours)?;
        let player = PlayerId(self.number()?);
        let known = in_actor(desk, call(move |world, _| world.operated_player(player))).await??;
        let targets = in_actor(desk, call(move |world, _| world.ban_targets(player))).await??;
        let ban = |target| self.new_ban(target, BanScope::Play, term.clone(), &known.name);
        self.store_bans(desk, targets.into_iter().map(ban).collect()).await
    }

    /// A ban by this operator; `player` is the name of whom it is for, if that is known.
    fn new_ban(
        &self,
        target: BanTarget,
        scope: BanScope,
        term: BanTerm,
        player: &str,
    ) -> ServerBan {
        let (made_by, player) = (self.by.name.clone(), player.to_owned());
        ServerBan { target, scope, term, note: BanNote { made_at: 0, made_by, player } }
    }

    async fn store_bans(&self, desk: &OperatorDesk, bans: Vec<ServerBan>) -> Result<Json, Refused> {
        let targets: Vec<String> = bans.iter().map(|ban| ban.target.to_string()).collect();
        let these = bans.clone();
        // Another server of the cluster may lead, and know the players.
        let reached = in_actor(desk, call(move |world, _| world.reached_by(these))).await.ok();
        desk.accounts.ban(bans).await.map_err(|problem| without_store(&problem))?;
        tell_lobby(desk).await;
        Ok(json!({ "targets": targets, "reached": reached }))
    }

    /// Of a name that looks like others, the bans of all these end: each of them bars it.
    async fn unban(&self, desk: &OperatorDesk) -> Result<Json, Refused> {
        let UnbanBody { only } = self.read_body()?;
        let scopes: &[BanScope] = match read_scope(only.as_deref())? {
            None => &BanScope::ALL,
            Some(BanScope::Play) => &[BanScope::Play],
            Some(BanScope::Chat) => &[BanScope::Chat],
        };
        let target: BanTarget =
            self.parameter.parse().map_err(|problem: InvalidBanTarget| bad(problem.to_string()))?;
        let mut targets = vec![target.clone()];
        if let BanTarget::Name(name) = &target {
            let names = desk.accounts.names();
            let known = names.borrow();
            let looks_so = |known: &&BanTarget| match known {
                BanTarget::Name(other) => other != name && look_alike(other, name),
                BanTarget::Account(_) | BanTarget::Network(_) => false,
            };
            targets.extend(known.bans.iter().map(|ban| &ban.target).filter(looks_so).cloned());
            targets.dedup();
        }
        let ended = desk.accounts.unban(targets, scopes).await;
        let ended = ended.map_err(|problem| without_store(&problem))?;
        tell_lobby(desk).await;
        if ended.is_empty() {
            return Err(Refused::new(StatusCode::NOT_FOUND, format!("{target} is not banned")));
        }
        Ok(json!({ "targets": list(&ended, |target| json!(target.to_string())) }))
    }

    /// An account is muted in the store: in its other sessions it is muted, too.
    async fn mute(&self, desk: &OperatorDesk) -> Result<Json, Refused> {
        let TermBody { reason, hours } = self.read_body()?;
        let term = read_term(&reason, hours)?;
        let player = PlayerId(self.number()?);
        let known = in_actor(desk, call(move |world, _| world.operated_player(player))).await??;
        if let Some(account) = known.account {
            let target = BanTarget::Account(account);
            let ban = self.new_ban(target, BanScope::Chat, term, &known.name);
            self.store_bans(desk, vec![ban]).await?;
            return Ok(json!({ "reached": 1 }));
        }
        self.order(desk, OperatorOrder::Mute { player, term }).await
    }

    async fn unmute(&self, desk: &OperatorDesk) -> Result<Json, Refused> {
        let player = PlayerId(self.number()?);
        let known = in_actor(desk, call(move |world, _| world.operated_player(player))).await??;
        let Some(account) = known.account else {
            return self.order(desk, OperatorOrder::Unmute { player }).await;
        };
        let muted = vec![BanTarget::Account(account)];
        let ended = desk.accounts.unban(muted, &[BanScope::Chat]).await;
        if ended.map_err(|problem| without_store(&problem))?.is_empty() {
            return Err(OperatorProblem::NotMuted(player).into());
        }
        tell_lobby(desk).await;
        Ok(json!({ "reached": 1 }))
    }

    async fn reload(&self, desk: &OperatorDesk) -> Result<Json, Refused> {
        let ReloadBody { log } = self.read_body()?;
        let wrong = desk.reload(log.as_deref()).await;
        if wrong.is_empty() {
            return Ok(json!({ "reloaded": true }));
        }
        Err(bad(wrong.join("; ")))
    }

    /// An empty body is an empty object.
    fn read_body<'b, T: Deserialize<'b>>(&'b self) -> Result<T, Refused> {
        let body = if self.body.is_empty() { b"{}" } else { &self.body[..] };
        serde_json::from_slice(body).map_err(|problem| bad(format!("the body: {problem}")))
    }

    /// The members of the query, which are numbers.
    fn read_query<T: DeserializeOwned>(&self) -> Result<T, Refused> {
        let mut members = Map::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let wrong = |expected: &str| {
                let said: String = pair.chars().take(SAID_CHARS).collect();
                bad(format!("the query: expected {expected}, not `{said}`"))
            };
            let number: u64 = value.parse().map_err(|_| wrong("`NAME=NUMBER`"))?;
            if members.insert(name.to_owned(), number.into()).is_some() {
                return Err(wrong("each member once"));
            }
        }
        serde_json::from_value(members.into())
            .map_err(|problem| bad(format!("the query: {problem}")))
    }

    fn number(&self) -> Result<u64, Refused> {
        self.parameter.parse().map_err(|_| bad("expected a number in the path"))
    }
}

fn bad(problem: impl Into<String>) -> Refused {
    Refused::new(StatusCode::BAD_REQUEST, problem.into())
}

/// Tells the lobby of bans that have changed: what an operator is told was done holds from then on.
/// The lobby of another server of the cluster reads it by itself.
async fn tell_lobby(desk: &OperatorDesk) {
    let newest = desk.accounts.names().borrow().clone();
    let told = call(move |world, ctx| world.learn_names(ctx, newest));
    let _ = in_actor(desk, told).await;
}

/// A room has answered another question than it was asked.
fn wrong_answer() -> Refused {
    let problem = "the host of the map is of a build whose answer this one cannot read";
    Refused::new(StatusCode::SERVICE_UNAVAILABLE, problem)
}

fn without_store(problem: &ambit_store::StoreError) -> Refused {
    Refused::new(StatusCode::SERVICE_UNAVAILABLE, format!("the store does not work: {problem}"))
}

/// What a ban bars from; `None` if nothing is said.
fn read_scope(only: Option<&str>) -> Result<Option<BanScope>, Refused> {
    let named = |name: &str| BanScope::ALL.into_iter().find(|scope| scope.name() == name);
    only.map(|name| named(name).ok_or_else(|| bad("`only` is `play` or `chat`"))).transpose()
}

fn read_term(reason: &str, hours: Option<u32>) -> Result<BanTerm, Refused> {
    if hours == Some(0) {
        return Err(bad("`hours`: 1 at least; without it there is no end"));
    }
    let length = hours.map(|hours| Duration::from_hours(hours.into()));
    Ok(BanTerm { reason: read_reason(reason)?, ends_at: length.map(unix_after) })
}

fn list<T>(items: &[T], of_one: fn(&T) -> Json) -> Vec<Json> {
    items.iter().map(of_one).collect()
}

fn unix_after(time: Duration) -> i64 {
    unix_time().saturating_add_unsigned(time.as_secs())
}

/// What the lobby's actor says; only the server that leads a cluster has one.
async fn in_actor<R, F>(desk: &OperatorDesk, ask: Call<F>) -> Result<R, Refused>
where
    R: Send + 'static,
    F: FnOnce(&mut WorldServer, &mut Context<WorldServer>) -> R + Send + 'static,
{
    let role = desk.roles.borrow().clone();
    let world = match role {
        ClusterRole::Leading { world, .. } => world,
        ClusterRole::Following { address, .. } => {
            let problem = format!("the server at {address} leads: ask that one");
            return Err(Refused::new(StatusCode::CONFLICT, problem));
        }
        ClusterRole::Seeking => {
            let problem = "no server of the cluster leads".to_owned();
            return Err(Refused::new(StatusCode::CONFLICT, problem));
        }
    };
    let answer = tokio::time::timeout(ANSWER_TIMEOUT, world.send(ask)).await;
    let answer = answer.ok().and_then(Result::ok);
    let stuck = || "the lobby does not answer".to_owned();
    answer.ok_or_else(|| Refused::new(StatusCode::SERVICE_UNAVAILABLE, stuck()))
}
