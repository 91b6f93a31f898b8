//! What the lobby says to a session that is open: answers, and news.
//!
//! A message's body goes in, events for views come out, and what the game part has to know.
//! Whatever the body is, it says the same as an answer or as news; the request's number goes along.
//! The server is free to answer a question with anything: each body is taken for what it says.

use ambit_proto::codes as protocol;
use ambit_proto::control::world as pb;
use ambit_proto::control::world::room_change::Change;
use ambit_proto::control::world::world_to_client::Body as Told;
use ambit_proto::ids::{PlayerId, RoomId};

use super::super::event::{ErrorSubject, ViewEvent, codes};
use super::super::model::{GameTicket, PlayerListing, RoomListing};
use super::super::pending_requests::LobbyQuestion;
use super::{LobbyOutput, LobbySession};

/// Members of a room that are kept, at most: as many as the largest room has.
const MAX_ROSTER: usize = 4_096;

impl LobbySession {
    pub(super) fn handle_body(&mut self, request: u64, body: Told) {
        let question = self.pending.take_answered(request);
        // An answer to a question of the client's own is news to the views.
        let request = if matches!(question, Some(LobbyQuestion::Player(_))) {
            request
        } else {
            0
        };
        match body {
            Told::Error(error) if question == Some(LobbyQuestion::Ticket) => {
                self.outputs.push_back(LobbyOutput::NoTicket(
                    protocol::name_of_error(&error),
                    error.message,
                ));
            }
            Told::Error(error) => {
                let about = if request == 0 {
                    ErrorSubject::Lobby
                } else {
                    ErrorSubject::Request(request)
                };
                self.emit_error(about, protocol::name_of_error(&error), error.message);
            }
            Told::RoomList(list) => {
                self.emit(ViewEvent::Rooms {
                    request,
                    rooms: list.rooms.into_iter().map(Into::into).collect(),
                });
            }
            Told::RoomChange(change) => self.handle_room_change(change.change),
            Told::RoomCreated(created) => self.handle_created(request, created.room),
            Told::RoomJoined(joined) => self.handle_joined(request, joined),
            Told::RoomLeft(left) => self.handle_left(request, left),
            Told::PlayerList(list) => {
                let room = Some(RoomId(list.room)).filter(|room| room.0 != 0);
                let players: Vec<_> = list.players.into_iter().map(PlayerListing::from).collect();
                if room.is_some() && room == self.room {
                    self.roster.clone_from(&players);
                }
                self.emit(ViewEvent::Players {
                    request,
                    room,
                    players,
                });
            }
            Told::PlayerChange(change) => self.handle_player_change(change),
            Told::Renamed(renamed) => self.handle_renamed(request, renamed),
            Told::Chat(chat) => self.emit(ViewEvent::Chat(chat.into())),
            Told::Done(_) => self.emit(ViewEvent::Done { request }),
            Told::Ticket(ticket) => self.handle_ticket(ticket),
            Told::Servers(servers) => self.note_servers(servers),
            // Met in `handle_message` when they mean something.
            Told::Welcome(_) | Told::Goodbye(_) => {}
        }
    }

    /// News of a kind that this build doesn't know are skipped; an answer of such a kind still ends
    /// its request.
    pub(super) fn handle_unknown(&mut self, request: u64) {
        match self.pending.take_answered(request) {
            Some(LobbyQuestion::Player(asked)) => {
                let message = format!(
                    "asked to {}, and the answer is of a kind that this client does not know",
                    asked.description()
                );
                self.emit_error(
                    ErrorSubject::Request(request),
                    codes::BAD_MESSAGE.to_owned(),
                    message,
                );
            }
            Some(LobbyQuestion::Ticket) => {
                let message =
                    "asked for a ticket, and the answer is of a kind that this client does not know".to_owned();
                self.outputs.push_back(LobbyOutput::NoTicket(
                    codes::BAD_MESSAGE.to_owned(),
                    message,
                ));
            }
            Some(LobbyQuestion::Subscription) | None => {}
        }
    }

    fn handle_room_change(&mut self, change: Option<Change>) {
        match change {
            Some(Change::Room(room)) => self.emit(ViewEvent::RoomChanged(room.into())),
            Some(Change::Gone(room)) => self.emit(ViewEvent::RoomGone(RoomId(room))),
            None => {}
        }
    }

    fn handle_created(&mut self, request: u64, room: Option<pb::Room>) {
        let room = RoomListing::from(room.unwrap_or_default());
        self.room = Some(room.id);
        self.roster.clear();
        self.emit(ViewEvent::Created { request, room });
    }

    fn handle_joined(&mut self, request: u64, joined: pb::RoomJoined) {
        let room = RoomListing::from(joined.room.unwrap_or_default());
        self.room = Some(room.id);
        let players: Vec<_> = joined
            .players
            .into_iter()
            .map(PlayerListing::from)
            .collect();
        self.roster.clone_from(&players);
        self.emit(ViewEvent::Joined {
            request,
            room,
            players,
        });
    }

    /// Views are told the whole list: they need not keep one.
    fn handle_player_change(&mut self, change: pb::PlayerChange) {
        let room = RoomId(change.room);
        if self.room != Some(room) {
            return;
        }
        self.roster
            .retain(|player| !change.gone.contains(&player.id.0));
        for player in change.players.into_iter().map(PlayerListing::from) {
            match self.roster.iter().position(|known| known.id == player.id) {
                Some(index) => self.roster[index] = player,
                None => self.roster.push(player),
            }
        }
        self.roster.truncate(MAX_ROSTER);
        self.emit(ViewEvent::Players {
            request: 0,
            room: Some(room),
            players: self.roster.clone(),
        });
    }

    fn handle_left(&mut self, request: u64, left: pb::RoomLeft) {
        let code = match left.reason() {
            pb::ErrorCode::ErrorUnspecified if left.reason == 0 => codes::LEFT.to_owned(),
            _ => protocol::name_of_number(left.reason),
        };
        self.room = None;
        self.emit_left(request, RoomId(left.room), code, left.message);
    }

    fn handle_renamed(&mut self, request: u64, renamed: pb::Renamed) {
        let player = PlayerId(renamed.player);
        if self.player == Some(player) {
            self.name.clone_from(&renamed.name);
        }
        self.emit(ViewEvent::Renamed {
            request,
            player,
            name: renamed.name,
        });
    }

    fn handle_ticket(&mut self, ticket: pb::Ticket) {
        match GameTicket::try_from(ticket) {
            // A ticket for a room that was left in the meantime leads nowhere.
            Ok(ticket) if self.room != Some(ticket.room) => {}
            Ok(ticket) => self.outputs.push_back(LobbyOutput::Ticket(ticket)),
            Err(bad) => self.outputs.push_back(LobbyOutput::NoTicket(
                codes::BAD_MESSAGE.to_owned(),
                bad.to_string(),
            )),
        }
    }
}
