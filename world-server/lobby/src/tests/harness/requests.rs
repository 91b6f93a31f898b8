//! The requests of clients, as short functions.

use ambit_proto::control::world::{self, client_to_world as ask};

pub(in crate::tests) fn hello(name: &str, token: &[u8]) -> ask::Body {
    ask::Body::Hello(world::Hello {
        version: ambit_proto::control::WORLD_VERSION,
        name: name.to_owned(),
        resume_token: token.to_vec(),
        agent: "test".to_owned(),
        ..world::Hello::default()
    })
}

pub(in crate::tests) fn room(name: &str) -> world::CreateRoom {
    world::CreateRoom {
        name: name.to_owned(),
        game: "field".to_owned(),
        ..world::CreateRoom::default()
    }
}

pub(in crate::tests) fn create(room: world::CreateRoom) -> ask::Body {
    ask::Body::CreateRoom(room)
}

pub(in crate::tests) fn join(room: u64) -> ask::Body {
    join_with(room, "")
}

pub(in crate::tests) fn join_with(room: u64, password: &str) -> ask::Body {
    ask::Body::JoinRoom(world::JoinRoom { room, password: password.to_owned() })
}

pub(in crate::tests) fn leave() -> ask::Body {
    ask::Body::LeaveRoom(world::LeaveRoom {})
}

pub(in crate::tests) fn start() -> ask::Body {
    ask::Body::StartRoom(world::StartRoom {})
}

pub(in crate::tests) fn ready(ready: bool) -> ask::Body {
    ask::Body::SetReady(world::SetReady { ready })
}

pub(in crate::tests) fn kick(player: u64) -> ask::Body {
    ask::Body::Kick(world::Kick { player })
}

pub(in crate::tests) fn set_name(name: &str) -> ask::Body {
    ask::Body::SetName(world::SetName { name: name.to_owned() })
}

pub(in crate::tests) fn request_ticket() -> ask::Body {
    ask::Body::RequestTicket(world::RequestTicket {})
}

pub(in crate::tests) fn list_all_players() -> ask::Body {
    ask::Body::ListPlayers(world::ListPlayers { everybody: true })
}
