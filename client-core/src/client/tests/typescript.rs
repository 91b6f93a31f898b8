//! The events for TypeScript.

use std::fs;
use std::path::Path;

use ambit_proto::examples::typescript::TypeFile;
use ts_rs::{Config, TS};

use crate::argument::Argument;
use crate::client::event::*;
use crate::client::model::*;
use crate::client::request::{LobbyRequest, NewRoom};

const FILE: &str = "web/ts/events.ts";

/// What an event says of an object beside its own keys; without a place if it is room-wide, or if
/// the place is not what has changed.
#[derive(TS)]
#[expect(dead_code, reason = "for the derive")]
struct ObjectState {
    /// In metres.
    #[ts(optional)]
    x: Option<f64>,
    /// In metres.
    #[ts(optional)]
    y: Option<f64>,
    /// In metres.
    #[ts(optional)]
    z: Option<f64>,
    /// The text of the component `name`.
    #[ts(optional)]
    name: Option<String>,
    /// Those that are known, or have changed.
    components: ComponentValues,
}

/// Components by their names.
#[derive(TS)]
#[ts(type = "Record<string, unknown>")]
struct ComponentValues;

/// What a player should know and is no error.
#[derive(TS)]
#[expect(dead_code, reason = "for the derive")]
struct NoticeEvent {
    /// The kind of all of them.
    #[ts(type = "\"notice\"")]
    ev: (),
    /// Of those about a game.
    #[ts(optional)]
    t: Option<f64>,
    /// `chat_missed`; of a game `physics_missing`, `room_late`, `room_overloaded`, `room_in_time`.
    code: String,
    /// In words.
    message: String,
    /// Of `chat_missed`.
    #[ts(optional)]
    count: Option<u32>,
    /// Of `physics_missing`.
    #[ts(optional)]
    game: Option<String>,
}

/// `AMBIT_RENEW_TYPES=1` writes the file.
#[test]
fn the_events_for_typescript_are_those_of_the_enums() {
    let mut file = TypeFile::new(concat!(
        "/**
 * Events: what happens in the lobby, and what happens in a game; `ev` is the kind. Times are room
 * time in milliseconds, positions metres. And requests, and the values of commands.
 * Made from `ambit_client_core::client` and `ambit_client_core::argument` by the test
",
        " * `the_events_for_typescript_are_those_of_the_enums`, with `AMBIT_RENEW_TYPES=1`.
 */
",
    ));
    add::<LobbyEvent>(&mut file);
    add::<GameEvent>(&mut file);
    add::<NoticeEvent>(&mut file);
    add::<Welcome>(&mut file);
    add::<GameListing>(&mut file);
    add::<GameDescription>(&mut file);
    add::<ParameterListing>(&mut file);
    add::<AllowedValues>(&mut file);
    add::<RoomListing>(&mut file);
    add::<PlayerListing>(&mut file);
    add::<PartyListing>(&mut file);
    add::<ChatMessage>(&mut file);
    add::<ChatChannel>(&mut file);
    add::<GameStarted>(&mut file);
    add::<ObjectEntered>(&mut file);
    add::<ObjectUpdated>(&mut file);
    add::<ObjectState>(&mut file);
    add::<ComponentValues>(&mut file);
    add::<SchemaEvent>(&mut file);
    add::<Argument>(&mut file);
    add::<LobbyRequest>(&mut file);
    add::<NewRoom>(&mut file);
    add::<ChatAudience>(&mut file);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os("AMBIT_RENEW_TYPES").is_some() {
        fs::write(&path, file.text()).expect("the file can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == file.text(), "{FILE} is stale; run this test with AMBIT_RENEW_TYPES=1");
}

fn add<T: TS + 'static>(file: &mut TypeFile) {
    let config = Config::new().with_large_int("number");
    file.add(&T::export_to_string(&config).expect("a type that can be exported"));
}
