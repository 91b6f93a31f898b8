//! What operators want to know of what happens: each event is one line of the log, one entry of
//! what `/admin/v1/events` tells, and the same for programs. Names of events and fields are stable;
//! `docs/operating.md` lists them.
//!
//! Players get nothing of this: some events have addresses.

use serde::{Deserialize, Serialize};

/// Declares the events: whether `ALL` may know of them, guests among them, or `OPERATORS` alone;
/// their level and name in the log; their fields.
macro_rules! operator_events {
    ($(
        $(#[doc = $doc:literal])+
        $audience:ident $level:ident $event:literal $variant:ident {
            $($field:ident: $type:ty),* $(,)?
        }
    )+) => {
        /// What has happened.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "event")]
        pub enum OperatorEvent {
            $(
                $(#[doc = $doc])+
                #[serde(rename = $event)]
                $variant {
                    $(
                        #[allow(missing_docs, reason = "the event's own text names its fields")]
                        $field: $type
                    ),*
                },
            )+
        }

        /// The names of all events, their fields, and what they mean.
        pub const OPERATOR_EVENTS: &[(&str, &[&str], &str)] =
            &[$(($event, &[$(stringify!($field)),*], concat!($($doc),+))),+];

        /// Whether guests may know of an event with this name.
        pub fn is_for_guests(event: &str) -> bool {
            match event {
                $($event => stringify!($audience) == "ALL",)+
                _ => false,
            }
        }

        impl OperatorEvent {
            /// Writes the event's line.
            pub fn log(&self) {
                match self {
                    $(Self::$variant { $($field),* } => tracing::event!(
                        target: "events",
                        tracing::Level::$level,
                        $($field,)*
                        $event
                    ),)+
                }
            }
        }
    };
}

operator_events! {
    /// A player has signed in.
    ALL INFO "player_came" PlayerCame {
        player: u64, name: String, account: Option<String>, address: String,
    }
    /// A session goes on on another connection.
    ALL INFO "player_back" PlayerBack { player: u64, name: String, address: String }
    /// A connection has ended; the session waits for its player.
    ALL INFO "player_away" PlayerAway { player: u64, name: String }
    /// A session has ended; `why` is a code, `error_unspecified` for one who quits.
    ALL INFO "player_left" PlayerLeft { player: u64, name: String, why: String }
    /// A player has another name.
    ALL INFO "player_renamed" PlayerRenamed { player: u64, name: String, before: String }
    /// A room was made; no `player` has made a world of the operator's list.
    ALL INFO "room_made" RoomMade { room: u64, name: String, game: String, player: Option<u64> }
    /// A room's game runs.
    ALL INFO "room_started" RoomStarted { room: u64, name: String, game: String, host: u64 }
    /// A room that has lost its host, or was handed over, goes on at another one.
    ALL INFO "room_resumed" RoomResumed { room: u64, name: String, game: String, host: u64 }
    /// A room has ended; `why` is a code.
    ALL INFO "room_ended" RoomEnded { room: u64, name: String, why: String, message: String }
    /// A player has a seat in a room.
    ALL INFO "room_joined" RoomJoined { room: u64, player: u64, name: String }
    /// A player has left a room, or was put out; `why` is a code.
    ALL INFO "room_left" RoomLeft { room: u64, player: u64, name: String, why: String }
    /// The host of a room has put a player out.
    ALL INFO "room_kicked" RoomKicked { room: u64, player: u64, name: String, by: u64 }
    /// Requests or connections were refused; `times` since the last event with this `code`.
    OPERATORS WARN "refused" Refused {
        code: String, times: u64, address: Option<String>, message: String,
    }
    /// A client was put off for its fault; `code` says for which.
    OPERATORS WARN "client_fault" ClientFault { code: String, player: Option<u64>, address: String }
    /// A host is ready for rooms.
    ALL INFO "host_ready" HostReady { host: u64, label: String, address: String, build: String }
    /// A host is gone; its rooms resume elsewhere.
    ALL WARN "host_lost" HostLost { host: u64, rooms: u64, reason: String }
    /// Ticks of rooms of a host take too long, so that these rooms send less; or no longer, with
    /// `rooms` 0.
    ALL WARN "host_overrun" HostOverrun { host: u64, rooms: u64 }
    /// An operator has asked for something that is more than a look; `problem` if it was not done.
    OPERATORS INFO "operator" Operator {
        by: String, role: String, request: String, body: String, problem: Option<String>,
    }
    /// Keys of operators were wrong, or their roles too low; `times` since the last such event.
    OPERATORS WARN "operator_refused" OperatorRefused {
        address: String, request: String, why: String, times: u64,
    }
    /// What a player has said, if `--log-chat` is given.
    OPERATORS INFO "chat" Chat {
        player: u64, name: String, channel: String, room: Option<u64>, text: String,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;

    use super::*;

    const BEGIN: &str = "<!-- events: AMBIT_RENEW_EVENTS=1 cargo test -p ambit-lobby events -->\n";

    #[test]
    fn the_docs_list_all_events_with_their_fields() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operating.md");
        let page = fs::read_to_string(&file).expect("the page is there");
        let mut table = "| event | fields | |\n| --- | --- | --- |\n".to_owned();
        for (event, fields, about) in OPERATOR_EVENTS {
            let fields: Vec<_> = fields.iter().map(|field| format!("`{field}`")).collect();
            let _ = writeln!(table, "| `{event}` | {} |{about} |", fields.join(", "));
        }
        let (before, rest) = page.split_once(BEGIN).expect("the beginning of the table");
        let (_, after) = rest.split_once("<!-- end -->").expect("its end");
        let renewed = format!("{before}{BEGIN}{table}<!-- end -->{after}");
        if std::env::var_os("AMBIT_RENEW_EVENTS").is_some() {
            fs::write(&file, &renewed).expect("the page can be written");
        }
        assert!(page == renewed, "renew {} with AMBIT_RENEW_EVENTS=1", file.display());
    }
}
