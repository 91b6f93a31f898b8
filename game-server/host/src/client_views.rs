//! What each client of a recorded room was sent, for a page that shows it again.
//!
//! The steps of a replay go in. Out come, for each client (a connection: a player who came back is
//! two), the messages of the host and its datagrams with their room times, and before them the
//! messages of a lobby that lead a client there. A client that hands them to its core at these
//! times sees what that client was sent; one that had lost a datagram has seen less.
//!
//! Bytes, for a page: of each message the room time in microseconds (64 bits), what it is (8 bits:
//! 0 of the lobby's stream, 1 of the game's stream, 2 a datagram), its length (32 bits), all
//! little-endian; then the message. The times never decrease. Bound: [`MOST_BYTES`] of all clients
//! together; nothing that comes later is kept, for none of them.

use std::collections::BTreeMap;

use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::game::{GameToClient, Out, game_to_client};
use ambit_proto::control::world::{self as pb, WorldToClient, world_to_client};
use ambit_proto::frame::encode_frame;
use ambit_proto::ids::{ClientId, PlayerId, RoomId};
use ambit_proto::time::GameTime;
use ambit_room::logic::registry::Header;
use ambit_room::recording::ReplayStep;
use ambit_room::room::{REPLAY_CLIENT, RoomInput, RoomOutput};

/// Of all clients together: an hour of a game of 16.
pub const MOST_BYTES: usize = 1_000_000_000;

const LOBBY: u8 = 0;
const GAME: u8 = 1;
const DATAGRAM: u8 = 2;

/// See the module.
#[derive(Debug)]
pub struct RecordedViews {
    header: Header,
    views: BTreeMap<ClientId, RecordedView>,
    bytes: usize,
    most_bytes: usize,
    full_at: Option<GameTime>,
}

/// What one client was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedView {
    pub player: PlayerId,
    pub name: String,
    /// When it joined.
    pub from: GameTime,
    /// The time of the last message.
    pub to: GameTime,
    /// As the module says.
    pub messages: Vec<u8>,
}

impl RecordedViews {
    /// Of a room that was made so.
    pub fn new(header: Header) -> Self {
        let views = BTreeMap::new();
        Self { header, views, bytes: 0, most_bytes: MOST_BYTES, full_at: None }
    }

    /// Each client, in the order in which they came.
    pub fn views(&self) -> impl Iterator<Item = (ClientId, &RecordedView)> {
        self.views.iter().map(|(&client, view)| (client, view))
    }

    /// How the room was made.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// From when on nothing is kept, if there was too much.
    pub fn full_at(&self) -> Option<GameTime> {
        self.full_at
    }

    /// The next step of the replay.
    pub fn note(&mut self, step: &ReplayStep<'_>) {
        match *step {
            ReplayStep::Begins { at, room, inputs } => {
                for input in inputs {
                    let RoomInput::Join { client, player, name, coding, .. } = input else {
                        continue;
                    };
                    if *client == REPLAY_CLIENT {
                        continue;
                    }
                    self.begin(at, *client, *player, name);
                    let joined = room.joined(RoomId(self.header.room), at, *coding);
                    self.put_message(at, *client, game_to_client::Body::Joined(joined));
                }
            }
            ReplayStep::Ends { at, outputs } => {
                for output in outputs {
                    self.note_output(at, output);
                }
            }
            ReplayStep::Rests { .. } => {}
        }
    }

    fn note_output(&mut self, at: GameTime, output: &RoomOutput) {
        match output {
            RoomOutput::Datagram { client, bytes } => self.put(at, *client, DATAGRAM, bytes),
            RoomOutput::Report { client, error } => {
                self.put_message(at, *client, game_to_client::Body::Error(error.clone()));
            }
            RoomOutput::PutOut { player, why } => {
                let code = ambit_proto::codes::ErrorCode::PutOut;
                let out = Out { reason: code.into(), message: why.clone() };
                let of_player = |(client, view): (&ClientId, &RecordedView)| {
                    (view.player == *player).then_some(*client)
                };
                let client = self.views.iter().filter_map(of_player).next_back();
                if let Some(client) = client {
                    self.put_message(at, client, game_to_client::Body::Out(out));
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, at: GameTime, client: ClientId, player: PlayerId, name: &str) {
        if self.full_at.is_some() {
            return;
        }
        let view =
            RecordedView { player, name: name.to_owned(), from: at, to: at, messages: Vec::new() };
        self.views.insert(client, view);
        let room = pb::Room {
            id: self.header.room,
            game: self.header.game.clone(),
            capacity: self.header.capacity,
            running: true,
            parameters: self.header.parameters.clone(),
            ..pb::Room::default()
        };
        let welcome = pb::Welcome {
            version: WORLD_VERSION,
            player: player.0,
            name: name.to_owned(),
            resume_token: vec![0; 16],
            ..pb::Welcome::default()
        };
        // A client of a replay dials no host.
        let ticket = pb::Ticket {
            room: self.header.room,
            address: "0.0.0.0:1".to_owned(),
            certificate_sha256: vec![0; 32],
            ticket: b"replay".to_vec(),
            ..pb::Ticket::default()
        };
        let joined = pb::RoomJoined { room: Some(room), players: Vec::new() };
        for body in [
            world_to_client::Body::Welcome(welcome),
            world_to_client::Body::RoomJoined(joined),
            world_to_client::Body::Ticket(ticket),
        ] {
            let message = WorldToClient { request: 0, body: Some(body) };
            self.put(at, client, LOBBY, &encode_frame(&message));
        }
    }

    fn put_message(&mut self, at: GameTime, client: ClientId, body: game_to_client::Body) {
        let message = GameToClient { body: Some(body) };
        self.put(at, client, GAME, &encode_frame(&message));
    }

    fn put(&mut self, at: GameTime, client: ClientId, what: u8, message: &[u8]) {
        let Some(view) = self.views.get_mut(&client).filter(|_| self.full_at.is_none()) else {
            return;
        };
        let before = view.messages.len();
        view.messages.extend_from_slice(&at.micros().to_le_bytes());
        view.messages.push(what);
        view.messages.extend_from_slice(&(message.len() as u32).to_le_bytes());
        view.messages.extend_from_slice(message);
        view.to = at;
        self.bytes += view.messages.len() - before;
        if self.bytes > self.most_bytes {
            self.full_at = Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: ClientId = ClientId(1);

    #[test]
    fn each_client_has_its_messages_with_their_times() {
        let mut views = RecordedViews::new(Header { room: 7, ..Header::default() });
        let at = GameTime::from_millis;
        views.begin(at(50), ANN, PlayerId(2), "ann");
        let outputs = [ANN, ClientId(9)]
            .map(|client| RoomOutput::Datagram { client, bytes: vec![1, 2, 3].into() });
        views.note(&ReplayStep::Ends { at: at(100), outputs: &outputs });
        let [(client, view)] = views.views().collect::<Vec<_>>()[..] else { panic!("{views:?}") };
        assert_eq!((client, &*view.name, view.from, view.to), (ANN, "ann", at(50), at(100)));
        let mut last = at(100).micros().to_le_bytes().to_vec();
        last.extend([DATAGRAM, 3, 0, 0, 0, 1, 2, 3]);
        assert!(view.messages.ends_with(&last));
        // A welcome, a room and a ticket lead there.
        assert_eq!(view.messages[..9], [0x50, 0xc3, 0, 0, 0, 0, 0, 0, LOBBY]);
    }

    #[test]
    fn beyond_the_bound_nothing_is_kept_of_any_client() {
        let mut views = RecordedViews::new(Header::default());
        views.most_bytes = 1_000;
        views.begin(GameTime::ZERO, ANN, PlayerId(2), "ann");
        for ms in 0..100 {
            views.put(GameTime::from_millis(ms), ANN, DATAGRAM, &[0; 100]);
        }
        let full_at = views.full_at().expect("it was too much");
        assert!(full_at > GameTime::ZERO && full_at < GameTime::from_millis(10));
        views.begin(GameTime::from_millis(100), ClientId(2), PlayerId(3), "bob");
        let [(_, view)] = views.views().collect::<Vec<_>>()[..] else { panic!("{views:?}") };
        assert!((1_000..1_200).contains(&view.messages.len()));
        assert_eq!(view.to, full_at);
    }
}
