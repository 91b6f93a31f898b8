//! View events as JSON objects, one a line.
//!
//! A contract: every object has `ev`. Everything in a game has `t`, the room time in milliseconds.
//! `enter` has `id`, `kind`, `x`, `y`, `z` and `components` by name (no `x`, `y`, `z` if it is
//! room-wide); `event` has `effect` (ms) and
//! `late`; its fields are beside them ([`field_key`]); `error` has a stable `code` and a `message`,
//! and so has `notice`, which is no error. Keys may be added; none changes its meaning. Positions
//! are metres, rounded to a millimetre; angles are radians.
//!
//! An event is written as the core does (serde), but what ends or breaks is an `error` here, and
//! what is no news for a script has no line.

use ambit_proto::ids::ClientObjectId;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use serde_json::{Value as Json, json};

pub use ambit_client_core::client::event::field_key;
use ambit_client_core::client::event::{
    ComponentValue, GameEvent, LobbyEvent, NamedValue, ObjectEntered, ViewEvent, codes,
};
use ambit_client_core::client::stats::{
    AgeByClass, Distribution, LengthDistribution, SimulationStats,
};

/// The values of `ev`: the events of a view, and what the console itself prints.
pub const KINDS: &[&str] = &[
    "welcome",
    "rooms",
    "created",
    "joined",
    "started",
    "enter",
    "update",
    "leave",
    "event",
    "chat",
    "players",
    "renamed",
    "objects",
    "table",
    "radar",
    "why",
    "stats",
    "left",
    "help",
    "error",
    "map",
    "notice",
    "game",
    "account_data",
    "account_saved",
    "account_erased",
    "password_set",
    "invited",
    "party",
];

/// The event's line; `None` for events that scripts do not need.
pub fn event(event: &ViewEvent) -> Option<Json> {
    match event {
        ViewEvent::Lobby(request, event) => lobby_event(*request, event),
        ViewEvent::Game(event) => game_event(event),
    }
}

/// Attempts to connect are not printed, only breaks and ends.
fn lobby_event(request: u64, event: &LobbyEvent) -> Option<Json> {
    let mut json = match event {
        LobbyEvent::Connecting { .. }
        | LobbyEvent::RoomChanged { .. }
        | LobbyEvent::RoomGone { .. }
        | LobbyEvent::Done
        | LobbyEvent::Missed { .. } => return None,
        LobbyEvent::Closed { code, .. } if code == codes::QUIT => return None,
        LobbyEvent::Closed { code, message } => error(code, message),
        LobbyEvent::Interrupted { reason, .. } => error(codes::CONNECTION_LOST, reason),
        LobbyEvent::AccountData { json } => {
            let data = serde_json::from_str::<Json>(json).unwrap_or_default();
            json!({ "ev": "account_data", "data": data })
        }
        event => json!(event),
    };
    match event {
        LobbyEvent::Error { .. } if request != 0 => json["request"] = json!(request),
        LobbyEvent::Welcome(welcome) => {
            json["games"] = welcome.games.iter().map(|game| &*game.name).collect();
        }
        _ => {}
    }
    Some(json)
}

fn game_event(event: &GameEvent) -> Option<Json> {
    let json = match event {
        GameEvent::Confirmed { .. } | GameEvent::MapProgress { .. } | GameEvent::Missed { .. } => {
            return None;
        }
        GameEvent::Ended { code, message } => error(code, message),
        GameEvent::Interrupted { reason, .. } => error("game_connection_lost", reason),
        GameEvent::Refused { command, code, message, what } => {
            let mut json = error(code, &format!("{message} ({what})"));
            json["command"] = json!(command);
            json
        }
        GameEvent::Silent { silence } => json!({
            "ev": "notice", "code": "silent", "silent_ms": silence.as_millis() as u64,
            "message": "the game's host does not answer: the line may be dead; what is shown is as \
                        old; the client dials anew after 3 s",
        }),
        GameEvent::Heard => json!({
            "ev": "notice", "code": "heard", "message": "the game's host is heard again",
        }),
        event => json!(event),
    };
    Some(json)
}

pub fn error(code: &str, message: &str) -> Json {
    json!({ "ev": "error", "code": code, "message": message })
}

/// An object at `t`, for lists; without a position if it is room-wide.
pub fn object(
    id: ClientObjectId,
    kind: &str,
    own: bool,
    position: Option<Position>,
    components: Vec<NamedValue<ComponentValue>>,
) -> Json {
    let t = GameTime::ZERO;
    let mut json = json!(ObjectEntered { id, kind: kind.into(), own, t, position, components });
    // The list has it once.
    json.as_object_mut().expect("an object").remove("t");
    json
}

/// Median and 99th percentile of the ages by class, in milliseconds; null without samples.
pub fn age_by_class(ages: &AgeByClass) -> Json {
    let of = |ages: &Distribution| {
        let p50 = ages.quantile_ms(0.5);
        let p99 = ages.quantile_ms(0.99);
        json!({ "p50": p50, "p99": p99 })
    };
    json!({ "engaged": of(&ages.engaged), "near": of(&ages.near), "far": of(&ages.far) })
}

/// Corrections of the client's own physics.
pub fn simulation(stats: &SimulationStats) -> Json {
    let of = |lengths: &LengthDistribution| {
        let p50 = lengths.quantile_cm(0.5);
        let p99 = lengths.quantile_cm(0.99);
        json!({ "count": lengths.count(), "cm_p50": p50, "cm_p99": p99 })
    };
    json!({
        "steps": stats.steps, "corrections": of(&stats.corrections), "late_poses": stats.late_poses,
        "restored": stats.restored, "reconciled": of(&stats.reconciled),
        "predicted": of(&stats.predicted),
    })
}

/// Milliseconds of room time.
pub fn ms(time: GameTime) -> u64 {
    time.millis()
}

#[cfg(test)]
mod tests;
