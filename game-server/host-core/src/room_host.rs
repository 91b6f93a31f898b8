//! One room at a host, with its clients' connections and what the WorldServer is sent of it.
//!
//! Clients, orders, datagrams and ticks go in; [`RoomHostOutput`]s come out, in the order in which
//! the shell has to carry them out. The shell knows the connections by the clients' numbers.
//!
//! Invariants:
//! 1. A tick's journal entry is put out before everything that follows from the tick.
//! 2. A client is sent nothing after its last message, and takes no part in the room then.
//! 3. No client receives the end of the game before the WorldServer has what has led to it:
//!    otherwise the room could go on at another host, for players who have seen its end.
//! 4. A ticket that was revoked admits no client, also if it was checked before.

mod clients;
mod saving;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::{Out, RoomLate, game_to_client};
use ambit_proto::ids::{ClientId, PlayerId, RoomId};
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::{GameTime, LocalTime};
use bytes::Bytes;

use self::clients::RoomClients;
use self::saving::RoomSaving;
use super::checkpoints::{CheckpointSender, member_changes};
use super::lateness::{Lateness, LatenessChanges};
use super::room_task::RoomTask;
use super::tick_loss::TickCount;
use ambit_host_protocol::MAX_TICK_INPUT_BYTES;
use ambit_host_protocol::messages::{HostMessage, RoomMember, RoomOrder};
use ambit_room::journal::JournalEntry;
use ambit_room::logic::game::Left;
use ambit_room::network::load_level::LoadLevel;
use ambit_room::questions::RoomQuestion;
use ambit_room::room::{Room, RoomInput, RoomOutput};
use ambit_room::token_bucket::TokenBucket;
use ambit_transport::ticket::Ticket;

/// A clock that is set by less than this is not worth an input.
const CALENDAR_STEP_MS: u64 = 1_000;

/// What operators may ask a room: an answer may take as long as a tick.
const QUESTIONS_PER_S: u32 = 20;

/// What the other maps of a world tell is taken up to this at a tick, in bytes.
const MAX_SHARED_BYTES_OF_TICK: usize = 262_144;

/// A client whose first message the host has checked.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmittedClient {
    /// It is used up.
    pub ticket: Ticket,
    /// How the client wants its poses to be coded.
    pub coding: PoseCoding,
}

/// What the shell is to do, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum RoomHostOutput {
    /// Send this to the WorldServer. The datagrams that follow leave after it.
    Journal(JournalEntry),
    /// Send this to a client, or drop it.
    Datagram { client: ClientId, bytes: Bytes },
    /// Send this on a client's control stream.
    Message { client: ClientId, body: game_to_client::Body },
    /// Send this on a client's control stream, and close the connection.
    LastMessage {
        client: ClientId,
        body: game_to_client::Body,
        /// The code to close with.
        code: ErrorCode,
    },
    /// Close a client's connection.
    Disconnect {
        client: ClientId,
        /// The code to close with.
        code: ErrorCode,
        /// The reason in words.
        reason: &'static str,
    },
    /// Send this to the WorldServer.
    World(HostMessage),
    /// The room is late and sends less from the next tick on, or it sends more again.
    LoadLevel(LoadLevel),
    /// The room begins to lose ticks, or loses none any more; with its last ticks.
    TickLoss { is_losing: bool, ticks: TickCount },
    /// The room needs no ticks until further notice, or needs them again.
    Sleep(bool),
    /// The room has ended: tick it no more.
    Ended,
    /// The room goes on at another host: tick it no more, and leave the connections as they are for
    /// a while. The clients are sent to the other host meanwhile.
    HandedOver,
}

pub struct RoomHost {
    id: RoomId,
    capacity: u32,
    room: Room,
    saving: RoomSaving,
    clients: RoomClients,
    lateness: Lateness,
    /// What operators may ask.
    questions: TokenBucket,
    /// For the next tick.
    inputs: Vec<RoomInput>,
    /// Empty between ticks; kept for its memory.
    room_outputs: Vec<RoomOutput>,
    outputs: VecDeque<RoomHostOutput>,
    is_asleep: bool,
    stage: RoomStage,
}

/// How far a room has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoomStage {
    /// It runs, and stays here.
    Here,
    /// It runs, and leaves for a host of another build after the next tick at which its game allows
    /// it.
    Leaving,
    /// The WorldServer was sent all of it. No tick runs: what comes now is for the next host. If
    /// another WorldServer asks for the room instead, it goes on here.
    HandedOver,
    /// The game is over; the room ends when the WorldServer has its last journal entry.
    Over,
    /// For its clients and the WorldServer there is no room here any more.
    Ended,
}

impl RoomHost {
    /// For a room that is about to tick here.
    pub fn new(
        id: RoomId,
        capacity: u32,
        room: Room,
        checkpoints: Option<CheckpointSender>,
    ) -> Self {
        Self {
            id,
            capacity,
            is_asleep: room.is_asleep(),
            room,
            saving: RoomSaving::new(checkpoints),
            clients: RoomClients::default(),
            lateness: Lateness::new(),
            questions: TokenBucket::new(QUESTIONS_PER_S, QUESTIONS_PER_S),
            inputs: Vec::new(),
            room_outputs: Vec::new(),
            outputs: VecDeque::new(),
            stage: RoomStage::Here,
        }
    }

    /// The room was given to a host for this time: its requests to the store count from there.
    pub(super) fn begin_incarnation(&mut self, incarnation: u32) {
        self.inputs.push(RoomInput::BeginIncarnation(incarnation));
    }

    /// Whether the room needs no ticks now.
    pub fn is_asleep(&self) -> bool {
        self.is_asleep
    }

    /// Something has come for the room: it needs ticks again.
    fn wake(&mut self) {
        if std::mem::take(&mut self.is_asleep) {
            self.outputs.push_back(RoomHostOutput::Sleep(false));
        }
    }

    /// Before a tick: what a calendar's clock shows then, in milliseconds since 1970. The room is
    /// told if that is another time than it knows.
    pub fn note_calendar(&mut self, now: GameTime, unix_ms: u64) {
        let known = self.room.world().calendar_ms().saturating_add_unsigned(now.millis());
        if known.unsigned_abs().abs_diff(unix_ms) >= CALENDAR_STEP_MS {
            self.inputs.push(RoomInput::Calendar { unix_ms });
        }
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<RoomHostOutput> {
        self.outputs.pop_front()
    }

    pub fn room(&self) -> &Room {
        &self.room
    }

    /// The number of seats.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Seats that are taken, those of players included who have come since the last tick.
    pub fn seats_taken(&self) -> u32 {
        let new = self.inputs.iter().filter_map(|input| match input {
            RoomInput::Join { player, .. } => Some(*player),
            _ => None,
        });
        let new: BTreeSet<PlayerId> = new.filter(|player| !self.room.has_place(*player)).collect();
        self.room.stats().players + new.len() as u32
    }

    /// The inputs that wait for the next tick.
    pub fn inputs(&self) -> &[RoomInput] {
        &self.inputs
    }

    /// A datagram of a client, which arrived at this time of the room. Of clients that are gone
    /// there may be some; the room ignores them.
    pub fn handle_datagram(&mut self, client: ClientId, at: GameTime, bytes: Bytes) {
        if self.stage == RoomStage::HandedOver {
            return;
        }
        self.inputs.push(RoomInput::Datagram { client, at, bytes });
    }

    /// A client has come, with a ticket that the host has checked.
    pub fn handle_join(&mut self, now: GameTime, client: ClientId, admitted: AdmittedClient) {
        let AdmittedClient { ticket, coding } = admitted;
        let Ticket { player, name, account, standing, wishes, serial, .. } = ticket;
        if self.stage == RoomStage::Ended {
            return self.refuse(client, ErrorCode::RoomClosed, "the room was closed");
        }
        // The player may have left while this was waiting for its turn.
        if self.clients.is_revoked(player, serial) {
            return self.refuse(client, ErrorCode::NotInRoom, "you have left this room");
        }
        if !self.room.has_place(player) && self.seats_taken() >= self.capacity {
            let message = format!("the room has {} seats", self.capacity);
            return self.refuse(client, ErrorCode::RoomFull, message);
        }
        self.wake();
        let joined = game_to_client::Body::Joined(self.room.joined(self.id, now, coding));
        self.outputs.push_back(RoomHostOutput::Message { client, body: joined });
        let late = self.lateness.told();
        self.outputs.extend(late.map(|late| late_message(client, late)));
        self.clients.add(client, player, serial);
        if standing != self.room.world().standing(player) {
            self.inputs.push(RoomInput::Standing { player, standing });
        }
        if !wishes.is_empty() && !self.room.has_place(player) {
            self.inputs.push(RoomInput::Wishes { player, wishes });
        }
        self.inputs.push(RoomInput::Join { client, player, name, account, coding });
    }

    /// A client's connection is gone.
    pub fn handle_closed(&mut self, client: ClientId) {
        if let Some(player) = self.clients.close(client) {
            self.inputs.push(RoomInput::Disconnect { client, player });
        }
    }

    /// A client's player leaves for good.
    pub fn handle_leave(&mut self, client: ClientId) {
        let Some(player) = self.clients.player_of(client) else {
            return;
        };
        let reason = ErrorCode::ErrorUnspecified;
        self.remove(player, (reason, Left::Quit), "you have left the game");
        self.send_player_out(player, reason, String::new());
    }

    /// What the WorldServer or the host wants of the room.
    pub fn handle_task(&mut self, now: GameTime, task: RoomTask) {
        if self.stage == RoomStage::Ended {
            return;
        }
        // A look changes nothing, and what other maps tell a room that sleeps can wait.
        let wakes =
            !matches!(task, RoomTask::Order(RoomOrder::Ask { .. } | RoomOrder::MapShare { .. }));
        if wakes {
            self.wake();
        }
        match task {
            RoomTask::Order(order) => self.handle_order(now, order),
            // This WorldServer is a new one, and learns from the room itself that it has ended.
            RoomTask::SendSnapshot if self.stage == RoomStage::Over => self.finish_game(),
            RoomTask::SendSnapshot => {
                self.stage = RoomStage::Here;
                self.saving.restart();
            }
            RoomTask::Close(reason) => {
                let id = self.id;
                let asked = self.room.last_requests().into_iter();
                let asked = asked.map(|asked| HostMessage::Store(id, asked));
                self.outputs.extend(asked.map(RoomHostOutput::World));
                self.close(reason, "the room was closed");
            }
            RoomTask::HandOver => self.hand_over(),
        }
    }

    fn handle_order(&mut self, now: GameTime, order: RoomOrder) {
        let input = match order {
            RoomOrder::RemovePlayer { player, reason, revoked_until } => {
                self.clients.revoke(now, player, revoked_until);
                if why_left(reason) == Left::ToMap {
                    self.clients.let_follow(now, player, revoked_until);
                }
                let why = (reason, why_left(reason));
                return self.remove_unless_back(player, why, revoked_until);
            }
            RoomOrder::SyncMembers { members, revoked_until } => {
                return self.sync_members(&members, revoked_until);
            }
            RoomOrder::Ask { number, question } => return self.answer(now, number, &question),
            RoomOrder::Move => return self.begin_departure(),
            RoomOrder::MapShare { map, share } => return self.take_share(map, share),
            RoomOrder::ExpectPlayers(players) => RoomInput::Expect { players },
            RoomOrder::RenamePlayer { player, name } => RoomInput::Rename { player, name },
            RoomOrder::ReleaseForTransfer { player, transfer } => {
                RoomInput::ReleaseForTransfer { player, transfer }
            }
            RoomOrder::RefuseTransfer(player) => RoomInput::RefuseTransfer { player },
            RoomOrder::AdmitTransfer(arrival) => RoomInput::AdmitTransfer(arrival),
            RoomOrder::Stored { number, answer } => RoomInput::Stored { number, answer },
        };
        self.inputs.push(input);
    }

    fn begin_departure(&mut self) {
        if self.stage == RoomStage::Here {
            self.stage = RoomStage::Leaving;
        }
    }

    /// A room that sleeps asks the other maps when it wakes, and what is too much for one tick is
    /// told again.
    fn take_share(&mut self, map: u32, share: Vec<u8>) {
        let shared = self.inputs.iter().map(|input| match input {
            RoomInput::MapShare { share, .. } => share.len(),
            _ => 0,
        });
        if !self.is_asleep && shared.sum::<usize>() <= MAX_SHARED_BYTES_OF_TICK {
            self.inputs.push(RoomInput::MapShare { map, share });
        }
    }

    /// Answers an operator, between two ticks. A question that this build does not know has no
    /// answer.
    fn answer(&mut self, now: GameTime, number: u64, question: &[u8]) {
        let Ok(question) = RoomQuestion::decode(question) else {
            return;
        };
        let may_ask = self.questions.take(now.into());
        let answer = may_ask.then(|| question.ask(&mut self.room).encode());
        let room = self.id;
        let answered = HostMessage::Answered { room, number, answer: answer.unwrap_or_default() };
        self.outputs.push_back(RoomHostOutput::World(answered));
    }

    /// Before each tick: the WorldServer has this host's journal entries up to `kept`. A host with
    /// a lease may lose later ones; if they are late, the room does not confirm them.
    pub fn note_kept(&mut self, now: LocalTime, kept: u64, has_lease: bool) {
        if self.saving.note_kept(now, kept, has_lease) && self.stage != RoomStage::Ended {
            self.inputs.push(RoomInput::ConfirmUntil(self.saving.limit()));
        }
    }

    /// The journal entry of the last tick leaves with this number.
    pub fn note_entry(&mut self, now: LocalTime, number: u64) {
        let at = self.room.last_tick().unwrap_or_default();
        self.saving.note_entry(now, at, number);
    }

    /// The journal entry that the datagrams of the last tick have to wait for; zero for none.
    pub fn release_after(&self) -> u64 {
        self.saving.release_after()
    }

    /// Whether the room confirms only what is acknowledged, since that is late.
    pub fn is_confirming_late(&self) -> bool {
        self.saving.limit().is_some()
    }

    /// Whether no tick runs: the game is over, or the room is handed over or has ended.
    pub fn is_over(&self) -> bool {
        !matches!(self.stage, RoomStage::Here | RoomStage::Leaving)
    }

    /// Ticks the room, with what has come in since the last time. The game's code may panic; then
    /// [`RoomHost::handle_panic`] has to follow.
    pub fn tick(&mut self, now: GameTime) {
        match self.stage {
            RoomStage::Here | RoomStage::Leaving => {}
            RoomStage::HandedOver | RoomStage::Ended => return,
            RoomStage::Over => return self.finish_once_kept(),
        }
        self.room.tick(now, &mut self.inputs, &mut self.room_outputs);
        let journal = self.saving.journal(&self.room, now);
        let mut is_saved = false;
        if let Some(entry) = journal {
            let bytes = entry.inputs.len();
            if bytes > MAX_TICK_INPUT_BYTES {
                tracing::error!(
                    room = self.id.0,
                    bytes,
                    "room closed: the inputs of one tick are too long to be kept, so nothing of \
                     the tick can be confirmed"
                );
                self.room_outputs.clear();
                return self.finish(
                    ErrorCode::ServerError,
                    "the room was sent more at once than the server can keep",
                );
            }
            self.outputs.push_back(RoomHostOutput::Journal(entry));
            is_saved = true;
        } else {
            self.saving.note_unsaved();
        }
        let mut room_outputs = std::mem::take(&mut self.room_outputs);
        // These follow the snapshot: the WorldServer then has what led to them.
        let mut for_world = Vec::new();
        let mut is_finished = false;
        for output in room_outputs.drain(..) {
            match output {
                RoomOutput::Datagram { client, bytes } => {
                    self.outputs.push_back(RoomHostOutput::Datagram { client, bytes });
                }
                // Of a client that a newer connection supersedes at this tick there may be some.
                RoomOutput::Report { client, error } if self.clients.contains(client) => {
                    let body = game_to_client::Body::Error(error);
                    self.outputs.push_back(RoomHostOutput::Message { client, body });
                }
                RoomOutput::Report { .. } => {}
                RoomOutput::Unresponsive { client } => self.put_out(
                    client,
                    ErrorCode::SlowReader,
                    "nothing was acknowledged for too long",
                ),
                RoomOutput::Superseded { client } => {
                    self.put_out(client, ErrorCode::TakenOver, "the player came in again");
                }
                RoomOutput::PlayerOut { player, reason } => {
                    self.send_player_out(player, reason, String::new());
                }
                RoomOutput::PutOut { player, why } => {
                    self.put_player_out(player, ErrorCode::PutOut, &why);
                    self.send_player_out(player, ErrorCode::PutOut, why);
                }
                RoomOutput::WithoutAvatar { client, player } => {
                    let code = ErrorCode::ServerError;
                    self.put_out(
                        client,
                        code,
                        "the game has no avatar for you; this is a fault of the game's code",
                    );
                    self.send_player_out(player, code, String::new());
                }
                RoomOutput::MovedAway { client } => self.clients.move_away(now, client),
                RoomOutput::Finished => is_finished = true,
                RoomOutput::AtGate { .. }
                | RoomOutput::Departed { .. }
                | RoomOutput::Arrived { .. }
                | RoomOutput::Store(_)
                | RoomOutput::Share(_) => for_world.push(output),
            }
        }
        self.room_outputs = room_outputs;
        let id = self.id;
        let snapshot = self.saving.snapshot(id, &self.room, now);
        let snapshot = snapshot.map(|snapshot| HostMessage::Snapshot(id, snapshot));
        let for_world = for_world.into_iter().filter_map(|it| message_of(id, it));
        self.outputs.extend(snapshot.into_iter().chain(for_world).map(RoomHostOutput::World));
        self.disconnect_moved_away(now);
        if self.room.is_asleep() && self.inputs.is_empty() && self.clients.is_empty() {
            self.is_asleep = true;
            self.outputs.push_back(RoomHostOutput::Sleep(true));
        }
        if is_finished && is_saved {
            self.stage = RoomStage::Over;
        } else if is_finished {
            self.finish_game();
        } else {
            self.consider_departure();
        }
    }

    /// The tick of `now` took `work`, and `skipped` ticks before it were skipped. If the room is
    /// late, it sends less from the next tick on.
    pub fn handle_work(&mut self, now: GameTime, work: Duration, skipped: u64) {
        if self.stage == RoomStage::Ended {
            return;
        }
        let LatenessChanges { level, loses_ticks, news } =
            self.lateness.note_tick(now, work, skipped);
        if let Some(level) = level {
            self.inputs.push(RoomInput::SetLoadLevel(level));
            self.outputs.push_back(RoomHostOutput::LoadLevel(level));
        }
        if let Some((is_losing, ticks)) = loses_ticks {
            let output = RoomHostOutput::TickLoss { is_losing, ticks };
            self.outputs.push_back(output);
        }
        if let Some(late) = news {
            let clients = self.clients.ids();
            self.outputs.extend(clients.map(|client| late_message(client, late)));
        }
    }

    /// The game's code has panicked: the room ends, and touches it no more.
    pub fn handle_panic(&mut self) {
        self.outputs.clear();
        self.finish(ErrorCode::RoomCrashed, "the room crashed; this is a fault of the game's code");
    }

    /// The game's code has panicked while the room was handed over: the WorldServer has the last
    /// snapshot and the journal since then.
    pub fn handle_panic_in_hand_over(&mut self) {
        self.stage = RoomStage::Ended;
        self.outputs.push_back(RoomHostOutput::HandedOver);
    }

    fn sync_members(&mut self, members: &[RoomMember], revoked_until: u64) {
        let seats: BTreeSet<PlayerId> = members.iter().map(|member| member.player).collect();
        let mut removed = BTreeSet::new();
        let mut renames = Vec::new();
        for change in member_changes(&self.room, members) {
            match change {
                RoomInput::Remove { player, .. } => drop(removed.insert(player)),
                rename => renames.push(rename),
            }
        }
        // Also those who have just come, and whom no tick has given a seat yet.
        removed.extend(self.clients.players().filter(|player| !seats.contains(player)));
        for player in removed {
            let why = (ErrorCode::ErrorUnspecified, Left::Removed);
            self.remove_unless_back(player, why, revoked_until);
        }
        self.inputs.extend(renames);
        self.clients.revoke_all_but(seats, revoked_until);
    }

    fn remove_unless_back(&mut self, player: PlayerId, why: (ErrorCode, Left), revoked_until: u64) {
        if !self.clients.is_back(player, revoked_until) {
            self.remove(player, why, "you are out of the room");
        }
    }

    /// The client is sent the code, and the game the reason.
    fn remove(&mut self, player: PlayerId, (code, why): (ErrorCode, Left), message: &str) {
        self.put_player_out(player, code, message);
        self.inputs.push(RoomInput::Remove { player, why });
    }

    fn put_player_out(&mut self, player: PlayerId, code: ErrorCode, message: &str) {
        while let Some(client) = self.clients.client_of(player) {
            self.put_out(client, code, message);
        }
    }

    /// The room leaves if it is to, and its game allows it after this tick.
    fn consider_departure(&mut self) {
        if self.stage != RoomStage::Leaving || !self.room.may_move() {
            return;
        }
        self.stage = if self.send_all() { RoomStage::HandedOver } else { RoomStage::Here };
    }

    fn hand_over(&mut self) {
        if self.stage != RoomStage::HandedOver {
            self.send_all();
        }
        self.stage = RoomStage::Ended;
        self.outputs.push_back(RoomHostOutput::HandedOver);
    }

    /// Sends all that the room is after its last tick. Returns whether that was possible.
    fn send_all(&mut self) -> bool {
        self.room.send_final_updates(&mut self.room_outputs);
        for output in self.room_outputs.drain(..) {
            if let RoomOutput::Datagram { client, bytes } = output {
                self.outputs.push_back(RoomHostOutput::Datagram { client, bytes });
            }
        }
        let Some(snapshot) = self.saving.last_snapshot(self.id, &self.room) else {
            return false;
        };
        let snapshot = HostMessage::Snapshot(self.id, snapshot);
        let is_all = HostMessage::RoomHandedOver(self.id);
        self.outputs.extend([snapshot, is_all].map(RoomHostOutput::World));
        true
    }

    fn finish_once_kept(&mut self) {
        // Nothing counts after the end.
        self.inputs.clear();
        if self.saving.are_all_kept() {
            self.finish_game();
        }
    }

    fn finish_game(&mut self) {
        self.finish(ErrorCode::GameOver, "the game is over");
    }

    /// The room ends by itself.
    fn finish(&mut self, reason: ErrorCode, message: &str) {
        self.outputs.push_back(RoomHostOutput::World(HostMessage::RoomClosed {
            room: self.id,
            reason,
            message: message.into(),
        }));
        self.close(reason, message);
    }

    fn close(&mut self, reason: ErrorCode, message: &str) {
        self.stage = RoomStage::Ended;
        for client in self.clients.ids().collect::<Vec<_>>() {
            self.put_out(client, reason, message);
        }
        self.clients.forget_moved_away();
        self.outputs.push_back(RoomHostOutput::Ended);
    }

    /// Sends a client its last message and removes it.
    fn put_out(&mut self, client: ClientId, code: ErrorCode, message: &str) {
        if self.clients.remove(client).is_some() {
            let body =
                game_to_client::Body::Out(Out { reason: code.into(), message: message.into() });
            self.outputs.push_back(RoomHostOutput::LastMessage { client, body, code });
        }
    }

    fn refuse(&mut self, client: ClientId, code: ErrorCode, message: impl Into<String>) {
        let body = game_to_client::Body::Error(codes::error(code, message));
        self.outputs.push_back(RoomHostOutput::LastMessage { client, body, code });
    }

    fn send_player_out(&mut self, player: PlayerId, reason: ErrorCode, message: String) {
        self.outputs.push_back(RoomHostOutput::World(HostMessage::PlayerOut {
            room: self.id,
            player,
            reason,
            message,
        }));
    }

    /// Clients that have not closed the connection by themselves.
    fn disconnect_moved_away(&mut self, now: GameTime) {
        let late = self.clients.take_late(now).into_iter();
        self.outputs.extend(late.map(|client| RoomHostOutput::Disconnect {
            client,
            code: ErrorCode::NotInRoom,
            reason: "the player has moved to another map, and the client did not follow",
        }));
    }
}

/// What the game receives for a player whom the WorldServer removes for this reason.
fn why_left(reason: ErrorCode) -> Left {
    match reason {
        ErrorCode::ErrorUnspecified => Left::Quit,
        ErrorCode::Idle => Left::Lost,
        ErrorCode::Kicked => Left::Kicked,
        // The player is on another map of the world.
        ErrorCode::NotInRoom => Left::ToMap,
        _ => Left::Removed,
    }
}

fn late_message(client: ClientId, late: RoomLate) -> RoomHostOutput {
    let body = game_to_client::Body::Late(late);
    RoomHostOutput::Message { client, body }
}

fn message_of(room: RoomId, output: RoomOutput) -> Option<HostMessage> {
    Some(match output {
        RoomOutput::AtGate { player, map, at, from } => {
            HostMessage::AtGate { room, player, map, at, from }
        }
        RoomOutput::Departed { player, transfer, carried } => {
            HostMessage::Departed { room, player, transfer, carried }
        }
        RoomOutput::Arrived { player, transfer } => HostMessage::Arrived { room, player, transfer },
        RoomOutput::Store(asked) => HostMessage::Store(room, asked),
        RoomOutput::Share(share) => HostMessage::Share(room, share),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
