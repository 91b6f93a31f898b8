//! A recorded room to look at (`replay FILE --watch`): the page for players as a spectator, and a
//! page with the room from above.
//!
//! It serves the pages, a list of the room's clients, what each of them was sent
//! ([`ambit_host::client_views`]), and pictures from above ([`ambit_host::recorded_frames`]), to
//! this machine alone. Nothing can be changed there, so no key
//! is asked for; who may open a port of this machine may look.

use std::future::IntoFuture as _;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use ambit_host::process::multi_thread_runtime;
use ambit_host::replay::ShownRecording;
use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::time::GameTime;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde_json::{Value as Json, json};
use tokio::signal::unix::{SignalKind, signal};

use super::listener::HttpListener;
use super::operators::room_answers;
use super::page_files::Page;
use super::{asked_host, finish, watch_page};
use crate::config::HostName;

/// The page with the room from above, beside the files of the page for operators.
const FILES: [(&str, &str, &str); 2] = [
    ("/above", "text/html; charset=utf-8", include_str!("replay/index.html")),
    ("/watch/replay.js", "text/javascript; charset=utf-8", include_str!("replay/replay.js")),
];

/// Serves the page until SIGINT or SIGTERM.
pub(crate) fn show(shown: ShownRecording, listener: TcpListener) -> anyhow::Result<()> {
    multi_thread_runtime().block_on(serve(shown, listener))
}

async fn serve(shown: ShownRecording, listener: TcpListener) -> anyhow::Result<()> {
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let folder = std::env::var_os("AMBIT_PAGE").map(PathBuf::from);
    let page = Page::load(folder.as_deref())?;
    let address = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    // An hour of a game takes a while over `ssh -L`.
    let listener = HttpListener::for_the_public(listener, Arc::default());
    let hosts: Arc<[HostName]> = Arc::from([]);
    let router = page
        .routes()
        .route("/replay/clients", get(list_clients))
        .route("/replay/clients/{client}", get(show_client))
        .route("/replay/frames", get(list_frames))
        .route("/replay/map", get(show_map))
        .route("/replay/above", get(show_above));
    // Not the page for operators itself.
    let files = watch_page::FILES.iter().skip(1).chain(&FILES);
    let router = files
        .fold(router, |router, &(path, kind, text)| {
            router.route(path, get(async move || ([(header::CONTENT_TYPE, kind)], text)))
        })
        .layer(from_fn_with_state(hosts, asked_host::refuse_others))
        .layer(map_response(finish))
        .with_state(Arc::new(shown));
    writeln!(std::io::stdout(), "watch            http://{address}/?replay")?;
    writeln!(std::io::stdout(), "from above       http://{address}/above")?;
    tokio::select! {
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
        ended = axum::serve(listener, router).into_future() => Ok(ended?),
    }
}

async fn list_clients(State(shown): State<Arc<ShownRecording>>) -> Response {
    let views = &shown.views;
    let header = views.header();
    let clients = views.views().map(|(client, view)| {
        json!({
            "id": client.0,
            "player": view.player.0,
            "name": view.name,
            "from_ms": view.from.millis(),
            "to_ms": view.to.millis(),
        })
    });
    let list = json!({
        "room": header.room,
        "game": header.game,
        "full_at_ms": views.full_at().map(GameTime::millis),
        "clients": clients.collect::<Vec<_>>(),
    });
    as_json(&list)
}

async fn show_client(
    State(shown): State<Arc<ShownRecording>>,
    Path(client): Path<u32>,
) -> Result<Response, StatusCode> {
    let views = &shown.views;
    let mut found = views.views().filter(|(id, _)| *id == ClientId(client));
    let (_, view) = found.next().ok_or(StatusCode::NOT_FOUND)?;
    let bytes = view.messages.clone();
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

async fn list_frames(State(shown): State<Arc<ShownRecording>>) -> Response {
    let (from, to) = shown.frames.span().unwrap_or_default();
    let header = shown.views.header();
    let about = json!({
        "room": header.room, "game": header.game, "full": shown.frames.is_full(),
        "from_ms": from.millis(), "to_ms": to.millis(),
    });
    as_json(&about)
}

async fn show_map(State(shown): State<Arc<ShownRecording>>) -> Response {
    shown.frames.map().map_or_else(no_frames, |map| as_json(&room_answers::map(map)))
}

async fn show_above(
    State(shown): State<Arc<ShownRecording>>,
    RawQuery(query): RawQuery,
) -> Response {
    let query = query.unwrap_or_default();
    let number = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(known, _)| *known == name)?.1.parse::<u64>().ok()
    };
    let at = GameTime::from_millis(number("at_ms").unwrap_or_default());
    let Some(above) = shown.frames.at(at, number("player").map(PlayerId)) else {
        return no_frames();
    };
    let mut above = room_answers::above(&above);
    if number("player").is_some() && above["view"].is_null() {
        above["no_view"] = "this player was not in the game at that time".into();
    }
    // These count from look to look, and a recording is looked at through all clients at once.
    if let Some(view) = above["view"].as_object_mut() {
        view.insert("bytes".to_owned(), Json::Null);
        view.insert("waiting".to_owned(), Json::Null);
    }
    as_json(&above)
}

fn as_json(json: &Json) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json.to_string()).into_response()
}

fn no_frames() -> Response {
    let problem = json!({ "error": "the recording has no tick" }).to_string();
    (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "application/json")], problem).into_response()
}
