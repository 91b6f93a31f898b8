//! A room: the logic (a game and its world) and the network, in step.
//!
//! `tick(now, inputs, outputs)` is the whole interface: the same configuration, seed and inputs
//! give the same outputs, bit by bit. No clock, socket, thread or lock. A shell that catches a
//! panic drops the room.
//!
//! The logic lives at the **horizon**, `now + delay`. What is commanded takes effect there, and
//! what is decided there is final, since nothing that arrives later can change it. So clients
//! receive most things `delay` before they show them (local lag: M. Mauve and others, "Local-lag
//! and timewarp", IEEE Transactions on Multimedia 6(1), 2004). That sum is computed here and
//! nowhere else.
//!
//! Invariants:
//! 1. A player has one avatar, from the join until `PlayerOut` or `Remove`. Connections come and go
//!    meanwhile. Each avatar is that of one player; a player for whom the game creates none is
//!    refused.
//! 2. A player has one connection at most; a newer one supersedes the older.
//! 3. A player who is not back within the grace period is out.
//! 4. A room that was restored from a snapshot and has replayed the journal since then
//!    ([`Room::journal`]) has the same state as the room that wrote them.

mod gates;
mod input;
mod output;
mod seat;
mod transfer;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{Alias, ClientId, ObjectId, PlayerId};
use ambit_proto::message::{Command, EffectTime, FieldValue, RefusalReason};
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::GameTime;

use self::gates::Gates;
pub use self::input::{REPLAY_CLIENT, RoomInput, TransferArrival, TransferId};
pub use self::output::RoomOutput;
use self::seat::{CommandRepeats, Presence, Seat};
use crate::config::RoomConfig;
use crate::logic::controls::SampleOutcome;
use crate::logic::game::{Game, GameCommand, Refusal};
use crate::logic::world::{AppliedInputs, TraceLine, World, WorldChange};
use crate::network::command_filter::CommandFault;
use crate::network::loads::LoadMap;
use crate::network::viewer::UplinkEvent;
use crate::network::{GameVisibility, JoiningClient, Network, TickTimes};
use crate::saved::{self, BadState};
use crate::stats::RoomStats;

pub struct Room {
    config: RoomConfig,
    game: Box<dyn Game>,
    world: World,
    network: Network,
    seats: BTreeMap<PlayerId, Seat>,
    players: BTreeMap<ClientId, PlayerId>,
    /// Names that players took since the room began, also of players who have not joined yet. One
    /// for each member at most.
    names: BTreeMap<PlayerId, String>,
    /// Clients that joined at this tick and have received nothing yet.
    arrivals: Vec<JoiningClient>,
    loads: LoadMap,
    gates: Gates,
    /// What came of players at gates since the tick began.
    gate_outputs: Vec<RoomOutput>,
    changes: Vec<WorldChange>,
    uplink_events: Vec<UplinkEvent>,
    applied_inputs: Vec<AppliedInputs>,
    journal: Vec<RoomInput>,
    trace: Vec<TraceLine>,
    stats: RoomStats,
    last: Option<GameTime>,
}

impl Room {
    /// A room without players; its first tick starts the game.
    pub fn new(config: RoomConfig, game: Box<dyn Game>) -> Self {
        let schema = game.schema();
        Room {
            world: World::new(&config, schema.clone()),
            network: Network::new(&config, schema),
            loads: LoadMap::new(config.grid()),
            config,
            game,
            seats: BTreeMap::new(),
            players: BTreeMap::new(),
            names: BTreeMap::new(),
            arrivals: Vec::new(),
            gates: Gates::default(),
            gate_outputs: Vec::new(),
            changes: Vec::new(),
            uplink_events: Vec::new(),
            applied_inputs: Vec::new(),
            journal: Vec::new(),
            trace: Vec::new(),
            stats: RoomStats::default(),
            last: None,
        }
    }

    /// Moves the room on to `now`, which is later than at the last tick. Empties `inputs` and
    /// appends to `outputs`.
    pub fn tick(
        &mut self,
        now: GameTime,
        inputs: &mut Vec<RoomInput>,
        outputs: &mut Vec<RoomOutput>,
    ) {
        let times = self.begin(now);
        for input in inputs.drain(..) {
            let _ = self.execute(now, input, outputs);
        }
        self.drop_unresponsive(now, outputs);
        self.finish(times, outputs);
        self.network
            .send(now, &self.world, &mut self.stats, |client, bytes| {
                outputs.push(RoomOutput::Datagram { client, bytes });
            });
        if self.game.is_finished() {
            outputs.push(RoomOutput::Finished);
        }
        self.count(now);
    }

    /// No tick follows at this host. A client that was sent nothing at the last tick is sent the
    /// room's time, so that it waits for the room no longer than until the next host sends.
    pub fn send_final_updates(&mut self, outputs: &mut Vec<RoomOutput>) {
        let Some(last) = self.last else { return };
        self.network
            .send_final(last, &self.world, &mut self.stats, |client, bytes| {
                outputs.push(RoomOutput::Datagram { client, bytes });
            });
    }

    /// What world and game were given at the last tick. The same inputs at the same ticks give the
    /// same world; so these, and a snapshot ([`Room::save`]), are all that another process needs to
    /// go on with the room.
    pub fn journal(&self) -> &[RoomInput] {
        &self.journal
    }

    /// A snapshot of the room between two ticks, without its configuration; `None` if its game does
    /// not support it. Cost: all objects.
    pub fn save(&self) -> Option<Vec<u8>> {
        let game = self.game.save()?;
        let mut out = Vec::with_capacity(game.len() + 64 * self.world.len());
        saved::put(
            &mut out,
            &(
                self.last,
                &self.seats,
                &self.names,
                self.gates.state(),
                &game,
            ),
        );
        self.world.save(&mut out);
        Some(out)
    }

    /// A room of the same configuration in the state of a snapshot; `game` has been made anew.
    /// [`Room::replay`] goes on from there, and [`Room::finish_replay`] ends it.
    pub fn restore(
        config: RoomConfig,
        game: Box<dyn Game>,
        mut saved: &[u8],
    ) -> Result<Self, BadState> {
        let mut room = Room::new(config, game);
        // Creates the statics.
        room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        let (game, gates): (Vec<u8>, _);
        (room.last, room.seats, room.names, gates, game) = saved::take(&mut saved)?;
        room.gates.restore(gates);
        room.world.restore(&mut saved)?;
        if !saved.is_empty()
            || !room
                .seats
                .values()
                .all(|seat| room.world.contains(seat.avatar))
        {
            return Err(BadState::Malformed);
        }
        let players = room.seats.iter();
        room.world.restore_players(
            players.map(|(&player, seat)| (player, seat.avatar, seat.name.as_str())),
        );
        room.game.restore(&mut room.world, &game)?;
        for seat in room.seats.values_mut() {
            if let Presence::Here(client) = &mut seat.presence {
                *client = REPLAY_CLIENT;
            }
        }
        room.network = Network::new(&room.config, room.game.schema());
        room.loads = LoadMap::new(room.config.grid());
        room.stats = RoomStats::default();
        Ok(room)
    }

    /// Repeats what the tick at `now` did to world and game, by its journal.
    pub fn replay(&mut self, now: GameTime, journal: &[RoomInput]) {
        let times = self.begin(now);
        let mut outputs = Vec::new();
        for input in journal {
            let _ = self.execute(now, input.clone(), &mut outputs);
        }
        self.finish(times, &mut outputs);
    }

    /// The journal ends here: the players who were connected count as disconnected since `now`, and
    /// have the grace period to come back.
    pub fn finish_replay(&mut self, now: GameTime) {
        // A recording contains datagrams, so its replay has clients; a journal has none.
        let clients: Vec<ClientId> = self.players.keys().copied().collect();
        for client in clients {
            self.remove_viewer(client);
        }
        for (&player, seat) in &mut self.seats {
            if let Presence::Here(_) = seat.presence {
                (seat.presence, seat.repeats) = (Presence::Away(now), CommandRepeats::AfterReturn);
                self.world.release_controls(player);
            }
        }
    }

    /// The players with an avatar, connected or not, and their names.
    pub fn seated(&self) -> impl Iterator<Item = (PlayerId, &str)> {
        self.seats
            .iter()
            .map(|(&player, seat)| (player, seat.name.as_str()))
    }

    /// `None` before the first tick.
    pub fn last_tick(&self) -> Option<GameTime> {
        self.last
    }

    /// The configuration that the room was made with.
    pub fn config(&self) -> &RoomConfig {
        &self.config
    }

    /// Counters since the room began.
    pub fn stats(&self) -> &RoomStats {
        &self.stats
    }

    /// The ground truth of the last tick; empty unless the configuration asks for it.
    pub fn trace(&self) -> &[TraceLine] {
        &self.trace
    }

    /// The ground truth, for checks from outside.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The viewers and what they know, for checks from outside.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// What each part of the map costs.
    pub fn loads(&self) -> &LoadMap {
        &self.loads
    }

    /// The rules, for checks from outside.
    pub fn game(&self) -> &dyn Game {
        &*self.game
    }

    /// World and game, for tools and tests that arrange a scene between two ticks. What is changed
    /// here is in no recording.
    pub fn arrange(&mut self) -> (&mut World, &mut dyn Game) {
        (&mut self.world, self.game.as_mut())
    }

    /// `None` if the player has no seat.
    pub fn avatar(&self, player: PlayerId) -> Option<ObjectId> {
        self.seats.get(&player).map(|seat| seat.avatar)
    }

    /// Moves everything to the horizon of `now`, before the inputs take effect.
    fn begin(&mut self, now: GameTime) -> TickTimes {
        // Whole milliseconds: that is what the wire carries, and both ends need the same value.
        let times = TickTimes {
            now,
            horizon: (now + self.config.delay).whole_millis(),
        };
        self.trace.clear();
        self.journal.clear();
        self.gate_outputs.clear();
        self.world.begin_tick(times.horizon);
        if self.last.is_none() {
            self.game.start(&mut self.world);
            self.gates.put_up(self.game.gates(&self.world));
        }
        while let Some(timer) = self.world.pop_due_timer() {
            self.game.timer(&mut self.world, &timer);
        }
        times
    }

    /// Lets the inputs take effect.
    fn finish(&mut self, times: TickTimes, outputs: &mut Vec<RoomOutput>) {
        let now = times.now;
        self.expire(now, outputs);
        self.take_inputs(times);
        self.game
            .step(&mut self.world, now.since(self.last.unwrap_or(now)));
        self.last = Some(now);
        self.watch_gates(now);
        outputs.append(&mut self.gate_outputs);
        self.world.finish_tick();
        self.publish(times);
    }

    /// Carries out one input and notes it in the journal if it has any effect. Returns what the
    /// game answers to a command.
    fn execute(
        &mut self,
        now: GameTime,
        mut input: RoomInput,
        outputs: &mut Vec<RoomOutput>,
    ) -> Result<(), Refusal> {
        let mut answer = Ok(());
        match &mut input {
            RoomInput::Datagram { client, at, bytes } => {
                self.receive(now, *client, *at, bytes, outputs);
                return Ok(());
            }
            RoomInput::SetLoadLevel(level) => {
                self.network.set_load_level(*level);
                return Ok(());
            }
            RoomInput::ConfirmUntil(until) => {
                self.network.set_confirm_until(*until);
                return Ok(());
            }
            RoomInput::Join { client, player, .. } if self.gates.departure(*player).is_some() => {
                // The ticket is older than the transfer; the next one leads to the other map.
                outputs.push(RoomOutput::Superseded { client: *client });
                return Ok(());
            }
            RoomInput::Join {
                client,
                player,
                name,
                coding,
            } => {
                self.join(now, (*client, *coding), *player, name, outputs);
                (*client, *coding) = (REPLAY_CLIENT, PoseCoding::Auto);
            }
            RoomInput::Disconnect { client, player } => {
                if !self.disconnect(now, *client, *player) {
                    return Ok(());
                }
                *client = REPLAY_CLIENT;
            }
            RoomInput::Remove { player } => self.remove(*player),
            RoomInput::Rename { player, name } => {
                self.rename(*player, name);
                self.names.insert(*player, name.clone());
            }
            RoomInput::Command {
                player,
                number,
                command,
            } => answer = self.command(*player, *number, command),
            RoomInput::Sample { player, at, sample } => {
                let outcome = self.world.receive_sample(*at, *player, *sample);
                self.stats.samples_over_rate += u64::from(outcome == SampleOutcome::OverRate);
                if outcome != SampleOutcome::Taken {
                    return Ok(());
                }
            }
            RoomInput::ReleaseForTransfer { player, transfer } => {
                self.release_for_transfer(*player, *transfer);
            }
            RoomInput::RefuseTransfer { player } => self.gates.refuse(*player),
            RoomInput::AdmitTransfer(arrival) => self.admit_transfer(now, arrival),
        }
        self.journal.push(input);
        answer
    }

    fn join(
        &mut self,
        now: GameTime,
        (client, coding): (ClientId, PoseCoding),
        player: PlayerId,
        name: &str,
        outputs: &mut Vec<RoomOutput>,
    ) {
        if let Some(Seat {
            presence: Presence::Here(older),
            ..
        }) = self.seats.get(&player)
        {
            let older = *older;
            self.remove_viewer(older);
            self.world.release_controls(player);
            outputs.push(RoomOutput::Superseded { client: older });
        }
        // The ticket may be older than the player's present name.
        let name = self
            .names
            .get(&player)
            .cloned()
            .unwrap_or_else(|| name.to_owned());
        if self.seats.contains_key(&player) {
            self.rename(player, &name);
        } else {
            let Some(avatar) = self.create_avatar(player, &name) else {
                return outputs.push(RoomOutput::WithoutAvatar { client, player });
            };
            self.seats.insert(player, Seat::new(avatar, name));
        }
        let seat = self.seats.get_mut(&player).expect("the player has a seat");
        seat.connect(now, client);
        if client != REPLAY_CLIENT {
            let arrival = JoiningClient {
                client,
                player,
                avatar: seat.avatar,
                coding,
            };
            self.players.insert(client, player);
            self.network.admit(now, arrival, &self.world);
            self.arrivals.push(arrival);
        }
    }

    /// Makes an avatar for a player who comes for the first time. `None` if the game returns an
    /// object that cannot be one: a bug of the game, of which the other players must not suffer.
    fn create_avatar(&mut self, player: PlayerId, name: &str) -> Option<ObjectId> {
        let avatar = self.game.join(&mut self.world, player, name);
        self.take_avatar(player, avatar, name)
    }

    fn take_avatar(&mut self, player: PlayerId, avatar: ObjectId, name: &str) -> Option<ObjectId> {
        if !self.world.is_free_avatar(avatar) {
            let game = &self.world.schema().game;
            let problem = if self.world.contains(avatar) {
                "is the avatar of another player"
            } else {
                "does not exist"
            };
            tracing::error!(
                player = player.0,
                "the game `{game}` gives a player the avatar {avatar}, which {problem}; \
                 the player is refused: `Game::join` has to spawn an object and to return its id"
            );
            return None;
        }
        self.world.add_player(player, avatar, name);
        self.world.trace_join(player, avatar, name);
        Some(avatar)
    }

    /// Whether that was the player's connection.
    fn disconnect(&mut self, now: GameTime, client: ClientId, player: PlayerId) -> bool {
        let is_present = |seat: &&mut Seat| seat.presence == Presence::Here(client);
        let Some(seat) = self.seats.get_mut(&player).filter(is_present) else {
            return false;
        };
        seat.presence = Presence::Away(now);
        self.remove_viewer(client);
        self.world.release_controls(player);
        true
    }

    fn remove(&mut self, player: PlayerId) {
        if let Some(Seat {
            presence: Presence::Here(client),
            ..
        }) = self.seats.get(&player)
        {
            self.remove_viewer(*client);
        }
        self.vacate(player);
    }

    /// Frees a player's seat and removes everything else that belongs to the player.
    fn vacate(&mut self, player: PlayerId) {
        self.names.remove(&player);
        self.gates.forget(player);
        let Some(seat) = self.seats.remove(&player) else {
            return;
        };
        self.world.trace_leave(player, seat.avatar);
        self.game.leave(&mut self.world, player);
        self.world.remove_player(player);
        self.world.remove_controls(player);
    }

    fn rename(&mut self, player: PlayerId, name: &str) {
        let Some(seat) = self.seats.get_mut(&player).filter(|seat| seat.name != name) else {
            return;
        };
        name.clone_into(&mut seat.name);
        self.world.rename_player(player, name);
        self.game.rename(&mut self.world, player, name);
    }

    fn remove_viewer(&mut self, client: ClientId) {
        self.players.remove(&client);
        self.arrivals.retain(|arrival| arrival.client != client);
        self.network.remove_viewer(client);
    }

    fn command(
        &mut self,
        player: PlayerId,
        number: u32,
        command: &GameCommand,
    ) -> Result<(), Refusal> {
        let newest_only = self.is_newest_only(command.kind);
        if let Some(seat) = self.seats.get_mut(&player) {
            seat.executed.insert(number);
            if newest_only {
                seat.newest.insert(command.kind, number);
            }
        }
        self.game.command(&mut self.world, player, command)
    }

    fn is_newest_only(&self, kind: u8) -> bool {
        let kind = self.world.schema().command(kind);
        kind.is_some_and(|kind| kind.newest_only)
    }

    fn receive(
        &mut self,
        now: GameTime,
        client: ClientId,
        at: GameTime,
        bytes: &[u8],
        outputs: &mut Vec<RoomOutput>,
    ) {
        let Some(&player) = self.players.get(&client) else {
            return;
        };
        self.stats.datagrams_in += 1;
        self.stats.bytes_in += bytes.len() as u64;
        let mut events = std::mem::take(&mut self.uplink_events);
        self.network.handle_datagram(client, at, bytes, &mut events);
        for item in events.drain(..) {
            match item {
                UplinkEvent::Command(command) => {
                    self.receive_command(now, client, player, command, outputs);
                }
                UplinkEvent::FaultyCommand(fault, report) => {
                    self.note_fault(now, client, fault, report);
                }
                UplinkEvent::MalformedCommand(code, report) => {
                    self.stats.commands_malformed += 1;
                    if let Some(number) = report {
                        self.refuse(now, client, number, Refusal::Code(code));
                    }
                }
                UplinkEvent::Malformed => self.stats.malformed += 1,
                UplinkEvent::Stale => self.stats.datagrams_stale += 1,
                UplinkEvent::Report(error) => outputs.push(RoomOutput::Report { client, error }),
                UplinkEvent::Input(input) => {
                    self.stats.inputs += 1;
                    for sample in input.samples(at) {
                        let input = RoomInput::Sample { player, at, sample };
                        let _ = self.execute(now, input, outputs);
                    }
                }
                UplinkEvent::LostTrack => self.stats.lost_tracks += 1,
            }
        }
        self.uplink_events = events;
    }

    fn receive_command(
        &mut self,
        now: GameTime,
        client: ClientId,
        player: PlayerId,
        command: Command,
        outputs: &mut Vec<RoomOutput>,
    ) {
        let Command {
            number,
            kind,
            fields,
        } = command;
        if let Some(seat) = self.seats.get(&player) {
            if seat.has_executed(now, number) {
                self.stats.commands_repeated += 1;
                return;
            }
            if self.is_newest_only(kind) && seat.has_newer(now, kind, number) {
                let fault = CommandFault::Outdated;
                let may_report = self.network.may_report(now, client, fault);
                return self.note_fault(now, client, fault, may_report.then_some(number));
            }
        }
        let answer = self.resolve_fields(client, &fields).and_then(|fields| {
            let input = RoomInput::Command {
                player,
                number,
                command: GameCommand { kind, fields },
            };
            self.execute(now, input, outputs)
        });
        match answer {
            Ok(()) => self.stats.commands += 1,
            Err(refusal) => {
                self.stats.commands_refused += 1;
                self.refuse(now, client, number, refusal);
            }
        }
    }

    /// The fields of a command, with the objects that the client means. A client gets the same
    /// answer for an object that it does not follow and for one that does not exist.
    fn resolve_fields(
        &self,
        client: ClientId,
        fields: &[FieldValue<Alias>],
    ) -> Result<Vec<FieldValue<ObjectId>>, Refusal> {
        // An object that the client follows may have been removed at this tick.
        let followed = |alias: &Alias| {
            let object = self.network.followed_object(client, *alias);
            object.filter(|&object| self.world.contains(object))
        };
        let resolve = |field: &FieldValue<Alias>| match field {
            FieldValue::Position(position) if !self.world.grid().contains(*position) => {
                Err(Refusal::Code(ErrorCode::BadPosition))
            }
            field => field
                .rename_object(followed)
                .ok_or(Refusal::Code(ErrorCode::NoSuchObject)),
        };
        fields.iter().map(resolve).collect()
    }

    /// Counts a command that the game does not get. `report` is its number if the client is to be
    /// notified.
    fn note_fault(
        &mut self,
        now: GameTime,
        client: ClientId,
        fault: CommandFault,
        report: Option<u32>,
    ) {
        match fault {
            CommandFault::OverRate => self.stats.commands_over_rate += 1,
            CommandFault::Outdated => self.stats.commands_outdated += 1,
        }
        if let Some(number) = report {
            self.refuse(now, client, number, Refusal::Code(fault.code()));
        }
    }

    /// Gives the game the keys that are pressed at this tick, and tells the clients which of their
    /// samples took effect.
    fn take_inputs(&mut self, times: TickTimes) {
        let mut applied = std::mem::take(&mut self.applied_inputs);
        self.world.apply_inputs(&mut applied);
        for AppliedInputs {
            player,
            applied_until,
            changed,
        } in applied.drain(..)
        {
            let Some(seat) = self.seats.get(&player) else {
                continue;
            };
            if let (Some(at), Presence::Here(client)) = (applied_until, seat.presence) {
                self.network.queue_effect(
                    client,
                    EffectTime {
                        sampled_until: at,
                        takes_effect_at: times.horizon,
                    },
                );
            }
            if changed {
                let pressed = self.world.button_edges(player).pressed();
                self.game.input(&mut self.world, player, pressed);
            }
        }
        self.applied_inputs = applied;
    }

    fn refuse(&mut self, now: GameTime, client: ClientId, command: u32, refusal: Refusal) {
        let reason = match refusal {
            Refusal::Code(code) => RefusalReason::Code(code as u16),
            Refusal::Game(index) => RefusalReason::Game(index),
        };
        self.network
            .refuse_command(now, client, command, reason, &mut self.stats);
    }

    fn drop_unresponsive(&mut self, now: GameTime, outputs: &mut Vec<RoomOutput>) {
        let unresponsive: Vec<ClientId> = self.network.unresponsive_clients(now).collect();
        for client in unresponsive {
            if let Some(&player) = self.players.get(&client) {
                let lost = RoomInput::Disconnect { client, player };
                let _ = self.execute(now, lost, outputs);
            }
            outputs.push(RoomOutput::Unresponsive { client });
        }
    }

    fn expire(&mut self, now: GameTime, outputs: &mut Vec<RoomOutput>) {
        let grace: Duration = self.config.grace;
        let over = |seat: &Seat| match seat.presence {
            Presence::Away(since) => now.since(since) >= grace,
            Presence::Here(_) => false,
        };
        while let Some((&player, _)) = self.seats.iter().find(|(_, seat)| over(seat)) {
            // Not in the journal: it follows from the time.
            self.vacate(player);
            outputs.push(RoomOutput::PlayerOut {
                player,
                reason: ErrorCode::Idle,
            });
        }
    }

    /// Gives the changes to the network, and the new clients their first view.
    fn publish(&mut self, times: TickTimes) {
        self.world.drain_changes(&mut self.changes);
        self.loads
            .note_changes(times.now, &self.changes, &self.world);
        let visibility = GameVisibility {
            game: &*self.game,
            world: &self.world,
        };
        self.network.apply(
            times,
            &self.changes,
            &self.arrivals,
            &visibility,
            &mut self.stats,
        );
        self.arrivals.clear();
        self.changes.clear();
        self.world.drain_trace(&mut self.trace);
    }

    fn count(&mut self, now: GameTime) {
        if self
            .stats
            .ticks
            .is_multiple_of(u64::from(self.config.tick_hz))
        {
            let shares = self
                .network
                .viewers()
                .filter_map(|viewer| viewer.amplification(now));
            self.stats.amplification_permille = (shares.fold(0.0, f64::max) * 1_000.0) as u32;
        }
        self.stats.ticks += 1;
        self.stats.players = self.seats.len() as u32;
        self.stats.clients = self.players.len() as u32;
        self.stats.objects = self.world.len() as u32;
    }
}

#[cfg(test)]
mod tests;
