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
//! 4. A room that was restored from a snapshot of its build and has replayed the journal since then
//!    ([`Room::journal`]) has the same state as the room that wrote them.

mod gates;
mod gathering;
mod input;
mod joined;
mod members;
mod output;
mod profile_exchange;
mod profiles;
mod seat;
mod transfer;
mod uplink;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::message::EffectTime;
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::GameTime;

use self::gates::Gates;
use self::gathering::Gathering;
pub use self::input::{REPLAY_CLIENT, RoomInput, TransferArrival, TransferId};
pub use self::output::RoomOutput;
pub use self::profiles::PROFILE_INTERVAL;
use self::profiles::Profiles;
use self::seat::{CommandRepeats, Presence, Seat};
use crate::config::RoomConfig;
use crate::logic::controls::SampleOutcome;
use crate::logic::game::{Game, GameCommand, Left, Refusal};
use crate::logic::gate::Gate;
use crate::logic::sight::Sight;
use crate::logic::world::adaptation::{Adaptation, layout_of};
use crate::logic::world::{AppliedInputs, TraceLine, World, WorldChange};
use crate::network::above::{MapAbove, RoomAbove};
use crate::network::loads::LoadMap;
use crate::network::viewer::UplinkEvent;
use crate::network::why::Why;
use crate::network::{GameVisibility, JoiningClient, Network, TickTimes};
use crate::saved::{self, BadState};
use crate::stats::RoomStats;

/// The format of a snapshot: of its sections, which have no names.
const SAVED_FORMAT: u32 = 2;

/// A lasting room without players sleeps after this time.
const SLEEPS_AFTER: Duration = Duration::from_secs(5);

/// Timers of one tick: those of a room that has slept for long are due at once.
const MAX_TIMERS_OF_TICK: usize = 10_000;

pub struct Room {
    config: RoomConfig,
    /// Of the schema, for snapshots.
    layout: Vec<u8>,
    game: Box<dyn Game>,
    world: World,
    network: Network,
    seats: BTreeMap<PlayerId, Seat>,
    gathering: Gathering,
    profiles: Profiles,
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
    /// In a lasting room: since when there is no player.
    empty_since: Option<GameTime>,
    /// The first tick after which the game was over. A room that goes on elsewhere waits again.
    over_since: Option<GameTime>,
}

impl Room {
    /// A room without players; its first tick starts the game.
    pub fn new(config: RoomConfig, game: Box<dyn Game>) -> Self {
        let schema = game.schema();
        let mut world = World::new(&config, schema.clone());
        world.keep_past(game.lag_compensation());
        world.set_input_timeout(game.input_timeout());
        world.set_player_values(game.player_values());
        world.set_world_wide_kinds(game.world_wide_kinds());
        Room {
            layout: layout_of(&schema),
            world,
            network: Network::new(&config, &schema, &game.predictors()),
            loads: LoadMap::new(config.grid()),
            config,
            game,
            seats: BTreeMap::new(),
            gathering: Gathering::default(),
            profiles: Profiles::default(),
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
            empty_since: None,
            over_since: None,
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
        let (times, dt) = self.begin(now, inputs);
        for input in inputs.drain(..) {
            let _ = self.execute(now, input, outputs);
        }
        self.drop_unresponsive(now, outputs);
        self.note_pings(now, outputs);
        self.finish(times, dt, outputs);
        self.world.store_desk().put_out(now, |asked| outputs.push(RoomOutput::Store(asked)));
        outputs.extend(self.world.take_share().map(RoomOutput::Share));
        self.network.send(now, &self.world, &mut self.stats, |client, bytes| {
            outputs.push(RoomOutput::Datagram { client, bytes });
        });
        if self.game.is_finished() {
            // What the game has said last takes effect a local lag later: clients see it first.
            let since = *self.over_since.get_or_insert(now);
            self.release_profiles();
            if now >= since + self.config.delay && self.profiles.are_all_written() {
                outputs.push(RoomOutput::Finished);
            }
        }
        self.count(now);
    }

    /// No tick follows at this host. A client that was sent nothing at the last tick is sent the
    /// room's time, so that it waits for the room no longer than until the next host sends.
    pub fn send_final_updates(&mut self, outputs: &mut Vec<RoomOutput>) {
        let Some(last) = self.last else { return };
        self.network.send_final(last, &self.world, &mut self.stats, |client, bytes| {
            outputs.push(RoomOutput::Datagram { client, bytes });
        });
    }

    /// Whether the game lets the room move to a host of another build after its last tick.
    pub fn may_move(&self) -> bool {
        self.game.may_move(&self.world)
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
        let mut out = Vec::with_capacity(game.len() + self.layout.len() + 64 * self.world.len());
        saved::put(&mut out, &(SAVED_FORMAT, &self.layout));
        saved::put(&mut out, &(self.last, &self.seats, &self.names, self.gates.state(), &game));
        saved::put(&mut out, &(&self.profiles, self.empty_since, &self.gathering));
        self.world.save(&mut out);
        Some(out)
    }

    /// A room of the same configuration in the state of a snapshot; `game` has just been created.
    /// [`Room::replay`] goes on from there, and [`Room::finish_replay`] ends it.
    ///
    /// The snapshot may be of a build with another schema, and another type of the game
    /// ([`adaptation`](crate::logic::world)); a journal is of the same build alone.
    pub fn restore(
        config: RoomConfig,
        game: Box<dyn Game>,
        mut saved: &[u8],
    ) -> Result<Self, BadState> {
        let mut room = Room::new(config, game);
        // Creates the statics.
        room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        let (format, layout): (u32, Vec<u8>) = saved::take(&mut saved)?;
        if format != SAVED_FORMAT {
            return Err(BadState::Misfit(format!(
                "it was saved by a version of Ambit that writes rooms in the format {format}, and \
                 this one reads {SAVED_FORMAT}"
            )));
        }
        let adaptation = Adaptation::new(&layout, room.world.schema())?;
        let (game, gates): (Vec<u8>, _);
        (room.last, room.seats, room.names, gates, game) = saved::take(&mut saved)?;
        room.gates.restore(gates);
        (room.profiles, room.empty_since, room.gathering) = saved::take(&mut saved)?;
        room.profiles.forget_clients();
        room.world.restore(&mut saved, adaptation.as_ref())?;
        if !saved.is_empty() {
            return Err(BadState::Malformed);
        }
        if !room.seats.values().all(|seat| room.world.contains(seat.avatar)) {
            return Err(adaptation.map_or(BadState::Malformed, |adaptation| {
                let gone = adaptation.gone_kinds();
                BadState::Misfit(format!("avatars are of a kind that it does not have: {gone}"))
            }));
        }
        if let Some(adaptation) = &adaptation {
            for seat in room.seats.values_mut() {
                let newest = std::mem::take(&mut seat.newest).into_iter();
                let known = newest.filter_map(|(kind, n)| Some((adaptation.command(kind)?, n)));
                seat.newest = known.collect();
            }
        }
        let players = room.seats.iter();
        room.world.restore_players(
            players.map(|(&player, seat)| (player, seat.avatar, seat.name.as_str(), seat.ping_ms)),
        );
        for (&player, seat) in &room.seats {
            room.world.set_account(player, seat.account);
        }
        room.game.restore(&mut room.world, &game)?;
        for seat in room.seats.values_mut() {
            if let Presence::Here(client) = &mut seat.presence {
                *client = REPLAY_CLIENT;
            }
        }
        room.network = Network::new(&room.config, &room.game.schema(), &room.game.predictors());
        room.loads = LoadMap::new(room.config.grid());
        room.stats = RoomStats::default();
        Ok(room)
    }

    /// Repeats what the tick at `now` did to world and game, by its journal.
    pub fn replay(&mut self, now: GameTime, journal: &[RoomInput]) {
        let (times, dt) = self.begin(now, journal);
        let mut outputs = Vec::new();
        for input in journal {
            let _ = self.execute(now, input.clone(), &mut outputs);
        }
        self.finish(times, dt, &mut outputs);
    }

    /// The journal ends here: the players who were connected count as disconnected since `now`, and
    /// have the grace period to come back.
    pub fn finish_replay(&mut self, now: GameTime) {
        // A recording contains datagrams, so its replay has clients; a journal has none.
        let clients: Vec<ClientId> = self.players.keys().copied().collect();
        for client in clients {
            self.remove_viewer(client);
        }
        self.profiles.disconnect_all(now);
        for (&player, seat) in &mut self.seats {
            if let Presence::Here(_) = seat.presence {
                (seat.presence, seat.repeats) = (Presence::Away(now), CommandRepeats::AfterReturn);
                self.world.release_controls(player);
            }
        }
    }

    /// The trace begins with the next tick: it then says what all room-wide objects are.
    pub fn begin_trace(&mut self) {
        self.world.trace_all_states();
    }

    /// The players with an avatar, connected or not, and their names.
    pub fn seated(&self) -> impl Iterator<Item = (PlayerId, &str)> {
        self.seats.iter().map(|(&player, seat)| (player, seat.name.as_str()))
    }

    /// Whether a player has a place: with an avatar, or until the profile is here.
    pub fn has_place(&self, player: PlayerId) -> bool {
        self.seats.contains_key(&player) || self.profiles.is_waiting(player)
    }

    /// `None` before the first tick.
    pub fn last_tick(&self) -> Option<GameTime> {
        self.last
    }

    /// The configuration that the room was made with.
    pub fn config(&self) -> &RoomConfig {
        &self.config
    }

    /// Where this map leads to others.
    pub fn gates(&self) -> &[Gate] {
        self.gates.all()
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

    /// Whether the room needs no ticks: it is a lasting one, has had no player for some seconds,
    /// and asks nothing. The next tick, whenever that is, wakes it.
    pub fn is_asleep(&self) -> bool {
        let last = self.last.unwrap_or_default();
        self.empty_since.is_some_and(|since| last.since(since) >= SLEEPS_AFTER)
            && self.world.store_delay() == Duration::ZERO
    }

    /// Moves everything to the horizon of `now`, before the inputs take effect; but the calendar is
    /// right from the beginning, also of the game. Returns how long the tick is for the game.
    fn begin(&mut self, now: GameTime, inputs: &[RoomInput]) -> (TickTimes, Duration) {
        let calendar = inputs.iter().rev().find_map(|input| match input {
            RoomInput::Calendar { unix_ms } => Some(*unix_ms),
            _ => None,
        });
        if let Some(unix_ms) = calendar {
            self.world.set_calendar(now, unix_ms);
        }
        let since_last = now.since(self.last.unwrap_or(now));
        let period = Duration::from_secs(1) / self.config.tick_hz;
        let slept = Some(since_last).filter(|past| self.is_asleep() && *past > period);
        // Whole milliseconds: that is what the wire carries, and both ends need the same value.
        let times = TickTimes { now, horizon: (now + self.config.delay).whole_millis() };
        self.trace.clear();
        self.journal.clear();
        self.gate_outputs.clear();
        self.world.begin_tick(times.horizon);
        if let Some(slept) = slept {
            self.empty_since = None;
            self.world.wake(period);
            self.game.wake(&mut self.world, slept);
        }
        if self.last.is_none() {
            self.game.start(&mut self.world);
            self.gates.put_up(self.game.gates(&self.world));
        }
        // After a long sleep there may be more: they stay due.
        for _ in 0..MAX_TIMERS_OF_TICK {
            let Some(timer) = self.world.pop_due_timer() else { break };
            self.game.timer(&mut self.world, &timer);
        }
        (times, slept.map_or(since_last, |_| period))
    }

    /// Lets the inputs take effect.
    fn finish(&mut self, times: TickTimes, dt: Duration, outputs: &mut Vec<RoomOutput>) {
        let now = times.now;
        self.expire(now, outputs);
        self.take_inputs(times);
        if self.gathering.ends(now) {
            self.game.all_here(&mut self.world);
        }
        self.game.step(&mut self.world, dt);
        self.note_new_avatars();
        for (player, why) in self.world.take_put_out() {
            self.remove(player, Left::PutOut);
            outputs.push(RoomOutput::PutOut { player, why });
        }
        self.last = Some(now);
        let is_empty = self.config.lasting && self.seats.is_empty() && self.profiles.is_idle();
        self.empty_since = is_empty.then(|| self.empty_since.unwrap_or(now));
        self.watch_gates(now);
        self.save_profiles(now);
        outputs.append(&mut self.gate_outputs);
        if self.config.trace {
            let game = &self.game;
            self.world
                .trace_hiding(|world, viewer, object| game.sees(world, viewer, object, Sight::New));
        }
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
            RoomInput::Join { client, player, name, account, coding } => {
                self.join(now, (*client, *coding), *player, name, *account, outputs);
                (*client, *coding) = (REPLAY_CLIENT, PoseCoding::Auto);
            }
            RoomInput::Standing { player, standing } => {
                self.world.set_standing(*player, *standing);
            }
            RoomInput::Wishes { player, wishes } => {
                self.world.set_wishes(*player, wishes.clone());
            }
            RoomInput::Disconnect { client, player } => {
                if !self.disconnect(now, *client, *player) {
                    return Ok(());
                }
                *client = REPLAY_CLIENT;
            }
            RoomInput::Expect { players } => self.gathering.expect(now, players),
            RoomInput::Remove { player, why } => {
                self.gathering.forget(*player);
                self.remove(*player, *why);
            }
            RoomInput::Rename { player, name } => {
                self.rename(*player, name);
                self.names.insert(*player, name.clone());
            }
            RoomInput::Command { player, number, command } => {
                answer = self.command(*player, *number, command);
            }
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
            RoomInput::Ping { player, ping_ms } => {
                if let Some(seat) = self.seats.get_mut(player) {
                    seat.ping_ms = Some(*ping_ms);
                    self.world.set_ping(*player, *ping_ms);
                }
            }
            RoomInput::RefuseTransfer { player } => self.gates.refuse(*player),
            RoomInput::Stored { number, answer } => {
                // An answer to a repeated request may come twice.
                let Some(request) = self.world.store_desk().close(*number) else {
                    return Ok(());
                };
                if request.is_of_room() {
                    self.take_answer(now, (*number, &request), answer, outputs);
                } else {
                    self.game.stored(&mut self.world, *number, &request, answer);
                }
            }
            RoomInput::BeginIncarnation(incarnation) => {
                self.world.store_desk().begin_incarnation(*incarnation);
                self.world.restart_sharing();
            }
            RoomInput::MapShare { map, share } => self.world.take_share_of(*map, share),
            RoomInput::Calendar { unix_ms } => self.world.set_calendar(now, *unix_ms),
            RoomInput::AdmitTransfer(arrival) => self.admit_transfer(now, arrival),
        }
        self.note_new_avatars();
        self.journal.push(input);
        answer
    }

    /// The game may have given players other avatars, and taken the ones before out of the world.
    fn note_new_avatars(&mut self) {
        for (player, avatar) in self.world.take_new_avatars() {
            if let Some(seat) = self.seats.get_mut(&player) {
                seat.avatar = avatar;
            }
        }
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

    /// Gives the game the keys that are pressed at this tick, and tells the clients which of their
    /// samples took effect.
    fn take_inputs(&mut self, times: TickTimes) {
        let mut applied = std::mem::take(&mut self.applied_inputs);
        self.world.apply_inputs(&mut applied);
        for AppliedInputs { player, applied_until, changed } in applied.drain(..) {
            let Some(seat) = self.seats.get(&player) else {
                continue;
            };
            if let (Some(at), Presence::Here(client)) = (applied_until, seat.presence) {
                self.network.queue_effect(
                    client,
                    EffectTime { sampled_until: at, takes_effect_at: times.horizon },
                );
            }
            if changed {
                let pressed = self.world.button_edges(player).pressed();
                self.game.input(&mut self.world, player, pressed);
            }
        }
        self.applied_inputs = applied;
    }

    /// Gives the changes to the network, and the new clients their first view.
    fn publish(&mut self, times: TickTimes) {
        self.world.drain_changes(&mut self.changes);
        self.loads.note_changes(times.now, &self.changes, &self.world);
        let visibility = GameVisibility { game: &*self.game, world: &self.world };
        self.network.apply(times, &self.changes, &self.arrivals, &visibility, &mut self.stats);
        self.arrivals.clear();
        self.changes.clear();
        self.world.drain_trace(&mut self.trace);
    }

    /// Why the client of a player has an object, or has it not.
    pub fn why(&self, player: PlayerId, object: ObjectId) -> Why {
        let visibility = GameVisibility { game: &*self.game, world: &self.world };
        let presence = self.seats.get(&player).map(|seat| seat.presence);
        let client = match presence {
            Some(Presence::Here(client)) => client,
            _ => REPLAY_CLIENT,
        };
        self.network.why(self.last.unwrap_or_default(), client, object, &visibility)
    }

    /// What does not change while the room runs, for operators.
    pub fn map_above(&self) -> MapAbove {
        MapAbove::of(&self.world, &self.network)
    }

    /// Where all is and, beside that, what the client of a player has of it, for operators.
    pub fn above(&mut self, player: Option<PlayerId>) -> RoomAbove {
        let visibility = GameVisibility { game: &*self.game, world: &self.world };
        let name = |player| self.seats.get(&player).map_or_else(String::new, |it| it.name.clone());
        let at = self.last.unwrap_or_default();
        let above = self.network.above(at, player, &visibility, name);
        RoomAbove { regions: self.loads.regions(), ..above }
    }

    /// Once a second, gives the game the round trips to the clients, as far as they have changed.
    /// They are inputs, so that another host knows the same.
    fn note_pings(&mut self, now: GameTime, outputs: &mut Vec<RoomOutput>) {
        if !self.stats.ticks.is_multiple_of(u64::from(self.config.tick_hz)) {
            return;
        }
        let measured = self.network.viewers().filter_map(|viewer| {
            let player = viewer.player;
            let ping_ms = viewer.ping_ms()?;
            let known = self.seats.get(&player)?.ping_ms;
            (known != Some(ping_ms)).then_some(RoomInput::Ping { player, ping_ms })
        });
        for input in measured.collect::<Vec<_>>() {
            let _ = self.execute(now, input, outputs);
        }
    }

    fn count(&mut self, now: GameTime) {
        if self.stats.ticks.is_multiple_of(u64::from(self.config.tick_hz)) {
            let shares = self.network.viewers().filter_map(|viewer| viewer.amplification(now));
            self.stats.amplification_permille = (shares.fold(0.0, f64::max) * 1_000.0) as u32;
        }
        self.stats.ticks += 1;
        self.stats.players = (self.seats.len() + self.profiles.waiting_count()) as u32;
        self.stats.clients = self.players.len() as u32;
        self.stats.objects = self.world.len() as u32;
    }
}

#[cfg(test)]
mod tests;
