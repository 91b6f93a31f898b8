//! Messages of the lobby to an open session: answers and notifications.
//!
//! A message body goes in; events for views and data for the game part come out. A body means the
//! same as an answer and as a notification; only the request number differs. The server may answer
//! a request with any body: each one is handled for what it contains. If that is nothing that
//! answers a request, the request ends with an error.

use ambit_proto::codes as protocol;
use ambit_proto::control::world as pb;
use ambit_proto::control::world::room_change::Change;
use ambit_proto::control::world::world_to_client::Body as LobbyMessageBody;
use ambit_proto::ids::{PartyId, PlayerId, RoomId};

use super::super::config::SignIn;
use super::super::event::{LobbyEvent, codes};
use super::super::model::{GameTicket, PartyListing, PlayerListing, RoomListing};
use super::super::pending_requests::LobbyQuestion;
use super::super::request::LobbyRequest;
use super::{LobbyOutput, LobbySession};

/// Maximum number of room members that are kept: the capacity of the largest room.
const MAX_ROSTER: usize = 4_096;

const UNKNOWN_ANSWER: &str = "this client does not know that kind of answer";

impl LobbySession {
    pub(super) fn handle_body(&mut self, request: u64, body: LobbyMessageBody) {
        let question = self.pending.take_answered(request);
        let is_answer = can_answer(&body);
        // The answer to a question of the client itself is a notification to the views.
        let request = if matches!(question, Some(LobbyQuestion::Player(_))) { request } else { 0 };
        match body {
            LobbyMessageBody::Error(error) if question == Some(LobbyQuestion::Ticket) => {
                self.outputs.push_back(LobbyOutput::NoTicket(
                    protocol::name_of_error(&error),
                    error.message,
                ));
            }
            LobbyMessageBody::Error(error) => {
                let code = protocol::name_of_error(&error);
                self.answer(request, LobbyEvent::Error { code, message: error.message });
            }
            LobbyMessageBody::RoomList(list) => {
                let rooms = list.rooms.into_iter().map(Into::into).collect();
                self.answer(request, LobbyEvent::Rooms { rooms });
            }
            LobbyMessageBody::RoomChange(change) => self.handle_room_change(change.change),
            LobbyMessageBody::RoomCreated(created) => self.handle_created(request, created.room),
            LobbyMessageBody::RoomJoined(joined) => self.handle_joined(request, joined),
            LobbyMessageBody::RoomLeft(left) => self.handle_left(request, left),
            LobbyMessageBody::PlayerList(list) => {
                let room = Some(RoomId(list.room)).filter(|room| room.0 != 0);
                let players: Vec<_> = list.players.into_iter().map(PlayerListing::from).collect();
                if room.is_some() && room == self.room {
                    self.roster.clone_from(&players);
                }
                self.answer(request, LobbyEvent::Players { room, players });
            }
            LobbyMessageBody::GameDescription(description) => {
                self.answer(request, LobbyEvent::Game(description.into()));
            }
            LobbyMessageBody::AccountData(data) => {
                self.answer(request, LobbyEvent::AccountData { json: data.json });
            }
            LobbyMessageBody::PlayerChange(change) => self.handle_player_change(change),
            LobbyMessageBody::Renamed(renamed) => self.handle_renamed(request, renamed),
            LobbyMessageBody::Chat(chat) => self.emit(LobbyEvent::Chat(chat.into())),
            LobbyMessageBody::Invitation(invitation) => self.emit(LobbyEvent::Invited {
                party: PartyId(invitation.party),
                player: PlayerId(invitation.from),
                name: invitation.from_name,
            }),
            LobbyMessageBody::PartyChange(change) => {
                self.emit(LobbyEvent::Party { party: PartyListing::of(change) });
            }
            LobbyMessageBody::MissedNews(missed) => {
                self.emit(LobbyEvent::ChatMissed { count: missed.chats });
            }
            LobbyMessageBody::Done(_) => {
                if let Some(LobbyQuestion::Player(done)) = &question {
                    self.note_done(done);
                }
                self.answer(request, LobbyEvent::Done);
            }
            LobbyMessageBody::Ticket(ticket) => self.handle_ticket(ticket),
            LobbyMessageBody::Servers(servers) => self.note_servers(servers),
            // Handled in `handle_message` where they are expected.
            LobbyMessageBody::Welcome(_)
            | LobbyMessageBody::Challenge(_)
            | LobbyMessageBody::Goodbye(_) => {}
        }
        if let Some(LobbyQuestion::Player(asked)) = question
            && !is_answer
        {
            self.emit_no_answer(request, &asked, "the server's answer is none to that");
        }
    }

    /// Notifications of an unknown kind are skipped. An answer of an unknown kind still ends its
    /// request.
    pub(super) fn handle_unknown(&mut self, request: u64) {
        match self.pending.take_answered(request) {
            Some(LobbyQuestion::Player(asked)) => {
                self.emit_no_answer(request, &asked, UNKNOWN_ANSWER);
            }
            Some(LobbyQuestion::Ticket) => {
                let message = format!("asked for a ticket, but {UNKNOWN_ANSWER}");
                self.outputs
                    .push_back(LobbyOutput::NoTicket(codes::BAD_MESSAGE.to_owned(), message));
            }
            Some(LobbyQuestion::Subscription) | None => {}
        }
    }

    fn emit_no_answer(&mut self, request: u64, asked: &LobbyRequest, why: &str) {
        let message = format!("asked to {}, but {why}", asked.description());
        let code = codes::BAD_MESSAGE.to_owned();
        self.answer(request, LobbyEvent::Error { code, message });
    }

    /// A session after this one signs in with the password that the player has set.
    fn note_done(&mut self, request: &LobbyRequest) {
        if let (LobbyRequest::SetPassword { new_password, .. }, SignIn::Password { password, .. }) =
            (request, &mut self.sign_in)
        {
            password.clone_from(new_password);
        }
    }

    fn handle_room_change(&mut self, change: Option<Change>) {
        match change {
            Some(Change::Room(room)) => self.emit(LobbyEvent::RoomChanged { room: room.into() }),
            Some(Change::Gone(room)) => self.emit(LobbyEvent::RoomGone { room: RoomId(room) }),
            None => {}
        }
    }

    fn handle_created(&mut self, request: u64, room: Option<pb::Room>) {
        let room = RoomListing::from(room.unwrap_or_default());
        self.room = Some(room.id);
        self.roster.clear();
        self.answer(request, LobbyEvent::Created { room });
    }

    fn handle_joined(&mut self, request: u64, joined: pb::RoomJoined) {
        let room = RoomListing::from(joined.room.unwrap_or_default());
        self.room = Some(room.id);
        let players: Vec<_> = joined.players.into_iter().map(PlayerListing::from).collect();
        self.roster.clone_from(&players);
        self.answer(request, LobbyEvent::Joined { room, players });
    }

    /// Views get the whole list, so they need not keep one.
    fn handle_player_change(&mut self, change: pb::PlayerChange) {
        let room = RoomId(change.room);
        if self.room != Some(room) {
            return;
        }
        self.roster.retain(|player| !change.gone.contains(&player.id.0));
        for player in change.players.into_iter().map(PlayerListing::from) {
            match self.roster.iter().position(|known| known.id == player.id) {
                Some(index) => self.roster[index] = player,
                None => self.roster.push(player),
            }
        }
        self.roster.truncate(MAX_ROSTER);
        self.emit(LobbyEvent::Players { room: Some(room), players: self.roster.clone() });
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
        self.answer(request, LobbyEvent::Renamed { player, name: renamed.name });
    }

    fn handle_ticket(&mut self, ticket: pb::Ticket) {
        match GameTicket::try_from(ticket) {
            // Ignore a ticket for a room that the player has left meanwhile.
            Ok(ticket) if self.room != Some(ticket.room) => {}
            Ok(ticket) => self.outputs.push_back(LobbyOutput::Ticket(ticket)),
            Err(bad) => self
                .outputs
                .push_back(LobbyOutput::NoTicket(codes::BAD_MESSAGE.to_owned(), bad.to_string())),
        }
    }
}

/// Whether the event that a body causes names the request that it answers.
fn can_answer(body: &LobbyMessageBody) -> bool {
    match body {
        LobbyMessageBody::Error(_)
        | LobbyMessageBody::RoomList(_)
        | LobbyMessageBody::RoomCreated(_)
        | LobbyMessageBody::RoomJoined(_)
        | LobbyMessageBody::RoomLeft(_)
        | LobbyMessageBody::PlayerList(_)
        | LobbyMessageBody::GameDescription(_)
        | LobbyMessageBody::AccountData(_)
        | LobbyMessageBody::Renamed(_)
        | LobbyMessageBody::Done(_) => true,
        LobbyMessageBody::RoomChange(_)
        | LobbyMessageBody::PlayerChange(_)
        | LobbyMessageBody::Chat(_)
        | LobbyMessageBody::Invitation(_)
        | LobbyMessageBody::PartyChange(_)
        | LobbyMessageBody::MissedNews(_)
        | LobbyMessageBody::Ticket(_)
        | LobbyMessageBody::Servers(_)
        | LobbyMessageBody::Welcome(_)
        | LobbyMessageBody::Challenge(_)
        | LobbyMessageBody::Goodbye(_) => false,
    }
}
