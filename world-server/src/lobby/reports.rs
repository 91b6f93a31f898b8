//! Reports to operators: where the lobby says what has happened.

use std::net::IpAddr;

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{Channel, world_to_client::Body};
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use crate::lobby::Lobby;
use crate::lobby::fleet::hosts::Host;
use crate::lobby::operator_event::OperatorEvent;
use crate::lobby::operator_orders::server_line;
use crate::lobby::output::{ConnId, HostId, LobbyAction};
use crate::lobby::refusal::LobbyRefusal;

impl Lobby {
    pub(in crate::lobby) fn report(&mut self, event: OperatorEvent) {
        self.outbox.push(LobbyAction::Report(event));
    }

    pub(in crate::lobby) fn report_player_came(&mut self, player: PlayerId, conn: ConnId) {
        let known = self.players.at(player);
        let (name, account) = (known.name().as_str().to_owned(), known.account);
        let account = account.map(|account: AccountId| account.to_string());
        let address = self.address_of(conn);
        self.report(OperatorEvent::PlayerCame { player: player.0, name, account, address });
    }

    pub(in crate::lobby) fn report_player_back(&mut self, player: PlayerId, conn: ConnId) {
        let (name, address) = (self.name_of(player), self.address_of(conn));
        self.report(OperatorEvent::PlayerBack { player: player.0, name, address });
    }

    pub(in crate::lobby) fn report_player_away(&mut self, player: PlayerId) {
        let name = self.name_of(player);
        self.report(OperatorEvent::PlayerAway { player: player.0, name });
    }

    pub(in crate::lobby) fn report_player_left(&mut self, player: PlayerId, why: ErrorCode) {
        let name = self.name_of(player);
        self.report(OperatorEvent::PlayerLeft { player: player.0, name, why: codes::name(why) });
    }

    /// Of a room that is a map of a world nothing is told: it is the world's.
    pub(in crate::lobby) fn report_room_made(&mut self, id: RoomId, player: Option<PlayerId>) {
        let room = self.rooms.at(id);
        let (name, game) = (room.name().as_str().to_owned(), room.game.clone());
        let player = player.map(|player| player.0);
        self.report(OperatorEvent::RoomMade { room: id.0, name, game, player });
    }

    pub(in crate::lobby) fn report_room_runs(&mut self, id: RoomId, host: HostId, resumes: bool) {
        let room = self.rooms.at(id);
        let (room, name) = (id.0, room.name().as_str().to_owned());
        let (game, host) = (self.rooms.at(id).game.clone(), host.0);
        self.report(if resumes {
            OperatorEvent::RoomResumed { room, name, game, host }
        } else {
            OperatorEvent::RoomStarted { room, name, game, host }
        });
    }

    pub(in crate::lobby) fn report_room_joined(&mut self, id: RoomId, player: PlayerId) {
        let name = self.name_of(player);
        self.report(OperatorEvent::RoomJoined { room: id.0, player: player.0, name });
    }

    pub(in crate::lobby) fn report_room_left(
        &mut self,
        id: RoomId,
        player: PlayerId,
        why: ErrorCode,
    ) {
        let (name, why) = (self.name_of(player), codes::name(why));
        self.report(OperatorEvent::RoomLeft { room: id.0, player: player.0, name, why });
    }

    pub(in crate::lobby) fn report_host_ready(&mut self, id: HostId) {
        let Some(Host { label, address, build, .. }) = self.fleet.host(id) else {
            return;
        };
        let (label, address, build) = (label.clone(), address.clone(), build.clone());
        self.report(OperatorEvent::HostReady { host: id.0, label, address, build });
    }

    pub(in crate::lobby) fn tell_that_chat_is_logged(&mut self, conn: ConnId) {
        let text = "what players say on this server is logged, for its operators".to_owned();
        let chat = server_line(Channel::Lobby, 0, text);
        self.outbox.notify(conn, Body::Chat(chat));
    }

    pub(in crate::lobby) fn report_chat(
        &mut self,
        player: PlayerId,
        channel: Channel,
        text: String,
    ) {
        let channel = channel.as_str_name().trim_start_matches("CHANNEL_").to_lowercase();
        let room = self.players.at(player).room.map(|room| room.0);
        let name = self.name_of(player);
        self.report(OperatorEvent::Chat { player: player.0, name, channel, room, text });
    }

    /// Counts a refusal; of those for a limit, and of wrong proofs, one a second is reported.
    pub(in crate::lobby) fn note_refused(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        refusal: &LobbyRefusal,
    ) {
        let address = self.connections.get(conn).map(|connection| connection.address);
        self.note_refused_at(now, address, refusal);
    }

    pub(in crate::lobby) fn note_refused_at(
        &mut self,
        now: LocalTime,
        address: Option<IpAddr>,
        refusal: &LobbyRefusal,
    ) {
        self.counters.count_refused(refusal.code);
        if !is_of_interest(refusal.code) {
            return;
        }
        if let Some(times) = self.counters.refusals_to_report(now, refusal.code) {
            self.report(OperatorEvent::Refused {
                code: codes::name(refusal.code),
                times,
                address: address.map(|address| address.to_string()),
                message: refusal.message.clone(),
            });
        }
    }

    /// A connection is closed with this code.
    pub(in crate::lobby) fn report_fault(
        &mut self,
        code: ErrorCode,
        player: Option<PlayerId>,
        address: IpAddr,
    ) {
        let is_fault = matches!(
            code,
            ErrorCode::Malformed
                | ErrorCode::MessageTooLarge
                | ErrorCode::SlowReader
                | ErrorCode::RateLimited
        );
        if is_fault {
            let (code, player) = (codes::name(code), player.map(|player| player.0));
            let address = address.to_string();
            self.report(OperatorEvent::ClientFault { code, player, address });
        }
    }

    fn name_of(&self, player: PlayerId) -> String {
        self.players.at(player).name().as_str().to_owned()
    }

    fn address_of(&self, conn: ConnId) -> String {
        let connection = self.connections.get(conn);
        connection.map_or_else(String::new, |connection| connection.address.to_string())
    }
}

/// Whether an operator wants to know of refusals with this code: of limits, and of attempts.
fn is_of_interest(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::RateLimited
            | ErrorCode::TooManyConnections
            | ErrorCode::TooManyFromAddress
            | ErrorCode::TooManyRooms
            | ErrorCode::NoHostAvailable
            | ErrorCode::WrongPassword
            | ErrorCode::BadAccount
            | ErrorCode::Banned
            | ErrorCode::VersionMismatch
    )
}
