//! What players do in the lobby while their room runs: new names, and leaving the room.

use std::time::Duration;

use ambit_client_core::client::event::ComponentValue;
use ambit_client_core::client::request::LobbyRequest;

use crate::script::{good_network, room_of};

#[test]
fn a_new_name_shows_on_the_avatar() {
    let (mut system, _) =
        room_of(7, 2, &good_network(), &[("size", "50x50"), ("npcs", "0"), ("obstacles", "0")]);
    system.request(0, LobbyRequest::SetName("Zoë".into()));
    system.run_for(Duration::from_secs(1));
    let names = |system: &ambit_tests::sim::System| -> Vec<String> {
        let t =
            system.user(1).client.room_time(system.local_time(1)).expect("the user is in the room");
        let name = |value| {
            if let ComponentValue::Text(name) = value { Some(name) } else { None }
        };
        system
            .user(1)
            .client
            .objects()
            .filter_map(|object| object.value("name", t).and_then(name))
            .collect()
    };
    let mut shown = names(&system);
    shown.sort_unstable();
    assert_eq!(shown, ["Zoë", "player1"]);
}

#[test]
fn rooms_without_players_disappear_with_their_worlds() {
    let (mut system, room) = room_of(5, 3, &good_network(), &[("npcs", "0")]);
    for user in 0..3 {
        system.request(user, LobbyRequest::LeaveRoom);
    }
    system.run_for(Duration::from_secs(2));
    assert!(system.room(room).is_none());
    assert_eq!(system.lobby().stats().rooms, 0);
}
