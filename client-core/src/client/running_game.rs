//! A running game: link, clock and replica of one game connection.
//!
//! Datagrams, commands and the time go in; datagrams and view events come out in `GameResults`.
//! No socket, no clock.
//!
//! A datagram is processed in the order pongs, records, poses, messages. So lateness is judged by
//! the newest clock, and a pose or an event finds an object of the same datagram. Datagrams leave
//! at least 16 ms apart.
//!
//! The link's block transfer carries the static map. An invalid map is counted and ignored.

mod incoming;
mod measurements;

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::axes::Axes;
use ambit_proto::axes::AxisKind;
use ambit_proto::clock::ClockEstimate;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::keymap::Keymap;
use ambit_proto::link::{Link, LinkConfig, QueueFull, SentPackets};
use ambit_proto::map::{StaticMap, StaticObstacle};
use ambit_proto::message::{Command, FieldValue, GameCommand};
use ambit_proto::presentation::{Condition, WalkSpec, WalkSpeed};
use ambit_proto::time::{GameTime, LocalTime};
use ambit_proto::wire::{self, Writer};
use ambit_steering::SharedMotion;
use bytes::Bytes;

use super::arrivals::Arrivals;
use super::config::InputRate;
use super::engaged_objects::EngagedObjects;
use super::event::{ComponentValue, GameEvent};
use super::game_results::{CommandError, GameOutput, GameResults};
use super::held_events::HeldEvents;
use super::input_sender::LinkActivity;
use super::own_inputs::{EffectEstimator, OwnInput, PressedKeys};
use super::own_walk::{DrawnWalker, OwnWalk, WalkOrder};
use super::rules::Rules;
use super::sent_commands::{SentCommand, SentCommands};
use super::silence::HostHeard;
use super::simulated::SimulatedObjects;
use super::simulation_clocks::SimulationClocks;
use super::stats::SimulationStats;
use super::uplink_builder::UplinkBuilder;
use crate::replica::factory::ViewFactory;
use crate::replica::jitter_buffer::{JitterBuffer, RenderTiming};
use crate::replica::{PoseDecoding, Replica};

/// Minimum time between two datagrams, so that inputs that change often (by mouse) cause at most 60
/// a second, and as many that repeat a change.
const MIN_SEND_INTERVAL: Duration = Duration::from_millis(16);
/// A line is taken to lose more for so long after a loss.
const LOSSY_FOR: Duration = Duration::from_secs(5);
/// Minimum time to the next deadline: a clock that is being slewed may reach a room time slightly
/// later than expected.
const MIN_DEADLINE: Duration = Duration::from_millis(1);
/// A command of which only the newest counts is given up after this: it is no longer what the
/// player wants.
const COMMAND_LIFETIME: Duration = Duration::from_secs(1);

/// Settings that do not depend on the game.
#[derive(Clone, Copy, Debug, Default)]
pub struct GameSettings {
    /// Whether poses are decoded.
    pub pose_decoding: PoseDecoding,
    /// When poses are shown.
    pub render: RenderTiming,
    /// How often held keys are sent.
    pub inputs: InputRate,
    /// What it shares with the game, if the client has it.
    pub motion: Option<SharedMotion>,
    /// Whether the player's own avatar is predicted; without a choice, if it is steered.
    pub predict: Option<bool>,
    /// Whether datagrams of a recording come, and nothing is sent.
    pub is_replay: bool,
    /// The last object id that was used; new ids begin after it.
    pub last_id: ClientObjectId,
}

/// The state of one game connection.
#[derive(Debug)]
pub struct RunningGame<V> {
    rules: Rules,
    link: Link,
    clock: ClockEstimate,
    replica: Replica<V>,
    jitter_buffer: JitterBuffer,
    simulated_objects: SimulatedObjects,
    /// Where the player's avatar is drawn, if it walks by commands; from the first frame on.
    own_walk: Option<OwnWalk>,
    /// Whether the player's own avatar is predicted; without a choice, in the game's way.
    predict: Option<bool>,
    held_events: HeldEvents,
    joined_at: LocalTime,
    last_received_at: LocalTime,
    /// How many datagrams to the host are known to be lost, and since when so many.
    uplink_losses: Option<(u64, LocalTime)>,
    arrivals: Arrivals,
    last_sent_at: Option<LocalTime>,
    /// Of the newest datagram: everything that happened in the room until then is known.
    newest_stamp: Option<GameTime>,
    /// Local time and room time of the last call; deadlines in room time are converted with it.
    last_call: (LocalTime, GameTime),
    /// Messages of the datagram being handled; empty between calls.
    messages: Vec<Bytes>,
    uplinks: UplinkBuilder,
    /// Whether nothing is sent.
    is_replay: bool,
    /// How many axes the game has.
    axes: usize,
    sent_commands: SentCommands,
    engaged_objects: EngagedObjects,
    /// The map that has arrived.
    own_map: Arc<StaticMap>,
    /// The obstacles that objects in sight have.
    placed: Vec<StaticObstacle>,
    /// Both, once there is one of them.
    map: Option<Arc<StaticMap>>,
    /// The last progress that was reported, in per cent.
    map_progress_reported: Option<usize>,
}

impl<V> RunningGame<V> {
    /// A game joined at `now` by a `Join` that was sent at `join_sent`.
    pub fn new(now: LocalTime, join_sent: LocalTime, rules: Rules, settings: GameSettings) -> Self {
        let mut clock = ClockEstimate::new();
        // The join serves as a ping: the host's clock showed `rules.now` at some time in between.
        clock.handle_pong(join_sent, rules.now.micros(), rules.now.micros(), now);
        let mut replica = Replica::new(
            rules.schema.clone(),
            rules.delay,
            rules.tick(),
            settings.last_id,
            settings.pose_decoding,
        );
        replica.set_coding(rules.coding);
        let simulated_objects =
            SimulatedObjects::new(&rules, settings.motion, settings.predict, &mut replica);
        RunningGame {
            own_walk: None,
            predict: settings.predict,
            link: Link::new(LinkConfig {
                is_replay: settings.is_replay,
                pings: LinkConfig::client().pings.filter(|_| !settings.is_replay),
                ..LinkConfig::client()
            }),
            is_replay: settings.is_replay,
            replica,
            simulated_objects,
            jitter_buffer: JitterBuffer::new(settings.render, rules.delay),
            held_events: HeldEvents::default(),
            joined_at: now,
            last_received_at: now,
            uplink_losses: None,
            arrivals: Arrivals::default(),
            last_sent_at: None,
            newest_stamp: None,
            last_call: (now, clock.room_time(now)),
            messages: Vec::new(),
            uplinks: UplinkBuilder::new(now, rules.tick_hz, settings.inputs),
            axes: rules.schema.axes().count(),
            sent_commands: SentCommands::default(),
            engaged_objects: EngagedObjects::default(),
            own_map: Arc::default(),
            placed: Vec::new(),
            map: None,
            map_progress_reported: None,
            clock,
            rules,
        }
    }

    /// Sends a command.
    pub fn command(
        &mut self,
        now: LocalTime,
        mut command: Command,
        out: &mut GameResults,
    ) -> Result<(), CommandError> {
        let kind = self.rules.schema.command(command.kind);
        let expires_at =
            kind.is_some_and(|kind| kind.newest_only).then_some(now + COMMAND_LIFETIME);
        let walk = self.walk_of(now, &command);
        let message = Bytes::from(wire::encode(&mut command));
        let message = self
            .link
            .send_reliable(now, message, expires_at)
            .map_err(|QueueFull| CommandError::TooMany)?;
        out.stats.commands += 1;
        let sent =
            SentCommand { message, command, expires_at: expires_at.unwrap_or(LocalTime::MAX) };
        self.sent_commands.note_sent(now, sent, &self.rules.schema);
        if let Some((own_walk, order)) = self.own_walk.as_mut().zip(walk) {
            own_walk.give(self.clock.room_time(now), order);
        }
        self.flush(now, out);
        Ok(())
    }

    /// How a command walks the player's avatar, if it does, and may be given now.
    fn walk_of(&self, now: LocalTime, command: &Command) -> Option<WalkOrder> {
        let own_walk = self.own_walk.as_ref()?;
        let shown = self.rules.schema.presentation.command(command.kind.into());
        let avatar = self.replica.own()?;
        let at = own_walk.effect_of(self.clock.room_time(now));
        let is_unset = |of: &Condition| {
            of.is.is_empty() && avatar.value(&of.of, at) == Some(ComponentValue::Flag(false))
        };
        let is_refused = shown.only_for.as_ref().is_some_and(is_unset);
        let WalkSpec { speed, radius_m } = shown.walk.as_ref().filter(|_| !is_refused)?;
        let m_per_s = match speed {
            WalkSpeed::Constant(m_per_s) => *m_per_s,
            WalkSpeed::Component(name) => avatar.value(name, at)?.as_decimal()?.value(),
        };
        let to = command.fields.iter().find_map(|field| field.as_position()).copied();
        let command = command.number;
        let radius_m = *radius_m;
        to.filter(|_| m_per_s > 0.0).map(|to| WalkOrder { command, to, m_per_s, radius_m })
    }

    /// Frames are drawn from now on. (A client without a picture, such as a bot, needs neither the
    /// obstacles nor what is ahead of the room.)
    pub(crate) fn begin_drawing(&mut self) {
        if self.own_walk.is_none() {
            self.own_walk = OwnWalk::of(&self.rules, self.predict, self.clock.uncertainty());
            if let Some((own_walk, map)) = self.own_walk.as_mut().zip(self.map.as_ref()) {
                own_walk.set_map(map);
            }
        }
    }

    /// Where to draw an object at `t`, if it is the player's avatar and walks by commands.
    pub(crate) fn drawn_walker(&self, t: GameTime, id: ClientObjectId) -> Option<DrawnWalker> {
        self.own_walk.as_ref()?.drawn(t, id)
    }

    /// Sends a message that need not be a command.
    pub fn send_unchecked(
        &mut self,
        now: LocalTime,
        message: Bytes,
        out: &mut GameResults,
    ) -> Result<(), CommandError> {
        self.link.send_reliable(now, message, None).map_err(|QueueFull| CommandError::TooMany)?;
        self.flush(now, out);
        Ok(())
    }

    /// A command as the host understands it.
    pub fn resolve(
        &self,
        number: u32,
        command: &GameCommand<ClientObjectId>,
    ) -> Result<Command, CommandError> {
        let kind = self.rules.schema.command(command.kind);
        if !kind.is_some_and(|kind| FieldValue::all_fit(&command.fields, &kind.fields)) {
            return Err(CommandError::Undeclared);
        }
        let resolve = |field: &FieldValue<ClientObjectId>| match field {
            FieldValue::Position(position) if !position.is_on_wire() => {
                Err(CommandError::BadPosition)
            }
            FieldValue::Position(position) => Ok(FieldValue::Position(position.quantised())),
            field => {
                field.rename_object(|&id| self.replica.alias(id)).ok_or(CommandError::NoSuchObject)
            }
        };
        Ok(Command {
            number,
            kind: command.kind,
            fields: command.fields.iter().map(resolve).collect::<Result<_, _>>()?,
        })
    }

    /// The commands that are neither confirmed nor expired, oldest first.
    pub fn unconfirmed(&self, now: LocalTime) -> Vec<Command> {
        self.sent_commands.unconfirmed(now).cloned().collect()
    }

    /// Simulates objects by this from now on, or draws them between the host's poses.
    pub fn set_motion(&mut self, motion: Option<SharedMotion>) {
        self.simulated_objects.set_motion(&self.rules, motion, &mut self.replica);
        if let Some(map) = &self.map {
            self.simulated_objects.set_map(map.clone());
        }
    }

    /// Sets the held keys and sends them.
    pub fn input(&mut self, now: LocalTime, keys: Keymap, out: &mut GameResults) {
        self.uplinks.inputs.hold(keys);
        self.flush(now, out);
    }

    /// Releases all keys; once the host knows, no more inputs are sent.
    pub fn release(&mut self, now: LocalTime, out: &mut GameResults) {
        self.uplinks.inputs.release();
        self.flush(now, out);
    }

    /// Sets the axes; they leave with the next datagram that is due.
    pub fn set_axes(&mut self, now: LocalTime, axes: Axes, out: &mut GameResults) {
        self.uplinks.inputs.set_axes(axes);
        self.flush(now, out);
    }

    /// A datagram of the host.
    pub fn handle_datagram(
        &mut self,
        now: LocalTime,
        datagram: &[u8],
        factory: &mut impl ViewFactory<View = V>,
        out: &mut GameResults,
    ) {
        self.last_received_at = now;
        out.stats.datagrams_down += 1;
        out.stats.bytes_down += datagram.len() as u64;
        let body = self.link.handle_datagram(now, datagram);
        self.poll_link(now, out);
        let room_now = self.clock.room_time(now);
        let is_readable = match body {
            Ok(None) => true,
            Ok(Some(body)) => self.handle_body(now, room_now, body, out).is_ok(),
            Err(_) => false,
        };
        if !is_readable {
            out.stats.malformed += 1;
        }
        self.advance(now, factory, out);
        for message in std::mem::take(&mut self.messages) {
            if self.handle_message(room_now, &message, out).is_err() {
                out.stats.malformed += 1;
            }
        }
        self.emit_due_events(room_now, out);
        self.flush(now, out);
    }

    /// Some deadline has passed.
    pub fn handle_timeout(
        &mut self,
        now: LocalTime,
        factory: &mut impl ViewFactory<View = V>,
        out: &mut GameResults,
    ) {
        self.link.handle_timeout(now);
        self.poll_link(now, out);
        self.advance(now, factory, out);
        self.emit_due_events(self.clock.room_time(now), out);
        self.flush(now, out);
    }

    /// When `handle_timeout` is to be called.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        let (now, room_now) = self.last_call;
        let earliest_send =
            self.last_sent_at.map_or(LocalTime::ZERO, |sent| sent + MIN_SEND_INTERVAL);
        let link = self
            .link
            .next_deadline()
            .into_iter()
            .chain(self.uplinks.next_deadline(self.link_activity()))
            .min();
        let link = link.map(|deadline| deadline.max(earliest_send));
        let link = link.into_iter().chain(self.uplinks.inputs.repeat_at()).min();
        let link = link.filter(|_| !self.is_replay);
        // In shown time, which lags behind room time.
        let simulated =
            self.simulated_objects.next_due().map(|shown| shown + self.replica.lag().at(room_now));
        let in_room_time = self
            .held_events
            .next_due()
            .into_iter()
            .chain(self.replica.next_due())
            .chain(simulated)
            .min();
        let in_room_time = in_room_time.map(|due| now + due.since(room_now));
        link.into_iter().chain(in_room_time).min().map(|deadline| deadline.max(now + MIN_DEADLINE))
    }

    /// Removes all objects from sight and adds up the counters. Returns the last object id that was
    /// used.
    pub fn close(&mut self, now: LocalTime, out: &mut GameResults) -> ClientObjectId {
        self.held_events.clear();
        self.engaged_objects.clear();
        self.replica.clear(self.clock.room_time(now));
        self.emit_replica_events(out);
        out.stats.datagrams_lost += self.arrivals.lost();
        out.stats.simulation.merge(&self.simulation_stats());
        self.replica.last_id()
    }

    /// When a datagram of the host last arrived, and whether the host was quiet then.
    pub(crate) fn host_heard(&self) -> HostHeard {
        HostHeard { at: self.last_received_at, is_quiet: self.link.is_peer_quiet() }
    }

    /// The estimated room time.
    pub fn room_time(&self, now: LocalTime) -> GameTime {
        self.clock.room_time(now)
    }

    /// The room time that objects with poses are shown at.
    pub fn shown_time(&self, now: LocalTime) -> GameTime {
        self.replica.lag().shown_time(self.room_time(now))
    }

    /// The obstacles, once there are any: of the static map, and those that objects in sight have.
    pub fn map(&self) -> Option<&Arc<StaticMap>> {
        self.map.as_ref()
    }

    /// The player's inputs of the last [`HISTORY`](super::own_inputs::HISTORY), oldest first, with
    /// their effect times. Before the first one, no key was held or its effect is long past.
    pub fn own_inputs(&self) -> impl Iterator<Item = OwnInput> {
        self.uplinks.inputs.own_inputs().iter(self.effect_estimator())
    }

    /// The pressed keys by ticks of the host, as far as known or estimated.
    fn pressed_keys(&self, now: LocalTime, room_now: GameTime) -> PressedKeys {
        let estimator = self.effect_estimator();
        // The room time at which the next datagram may leave.
        let next_send = room_now
            + self
                .last_sent_at
                .map_or(Duration::ZERO, |sent| (sent + MIN_SEND_INTERVAL).since(now));
        let upcoming =
            self.uplinks.inputs.upcoming_samples(next_send, next_send + MIN_SEND_INTERVAL);
        let own = self.uplinks.inputs.own_inputs();
        let axes = self.uplinks.inputs.unsampled_axes().map(|axes| (next_send, axes));
        PressedKeys::from_inputs(own.iter_with_upcoming(estimator, upcoming), estimator.tick)
            .with_axes(own.axes(estimator, axes))
    }

    fn effect_estimator(&self) -> EffectEstimator {
        EffectEstimator {
            one_way_delay: self.rtt().unwrap_or_else(|| self.clock.rtt()) / 2,
            newest_tick: self.newest_stamp.unwrap_or(self.rules.now),
            tick: self.rules.tick(),
            delay: self.rules.delay,
        }
    }

    /// What the client simulates by itself.
    pub(crate) fn simulated_objects(&self) -> &SimulatedObjects {
        &self.simulated_objects
    }

    /// Counters of the client's own physics.
    pub fn simulation_stats(&self) -> SimulationStats {
        self.simulated_objects.stats()
    }

    /// Number of bodies in the client's own physics.
    pub fn simulated_bodies(&self) -> usize {
        self.simulated_objects.bodies()
    }

    /// The kinds that the client should simulate, but has no physics for, by name.
    pub fn kinds_without_physics(&self) -> &[String] {
        self.simulated_objects.kinds_without_physics()
    }

    /// The contents of `Joined`.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The objects that the client follows.
    pub fn replica(&self) -> &Replica<V> {
        &self.replica
    }

    /// The same, mutable.
    pub fn replica_mut(&mut self) -> &mut Replica<V> {
        &mut self.replica
    }

    /// The link, for its statistics.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// When the game was joined.
    pub fn joined_at(&self) -> LocalTime {
        self.joined_at
    }

    /// When a datagram of the host last arrived.
    pub fn last_received_at(&self) -> LocalTime {
        self.last_received_at
    }

    /// Emits the refusal of a command that was sent.
    pub fn emit_refusal(&self, command: u32, code: String, text: &str, out: &mut GameResults) {
        out.stats.refused += 1;
        let what = self.sent_commands.description(command);
        let what = what.map_or_else(|| format!("command {command}"), str::to_owned);
        emit(out, GameEvent::Refused { command, code, message: text.to_owned(), what });
    }

    fn emit_due_events(&mut self, room_now: GameTime, out: &mut GameResults) {
        let engaged = &mut self.engaged_objects;
        let own = self.replica.own_id();
        self.held_events.release_due(room_now, &self.replica, |event| {
            emit_game_event(engaged, own, event, out);
        });
    }

    fn advance(
        &mut self,
        now: LocalTime,
        factory: &mut impl ViewFactory<View = V>,
        out: &mut GameResults,
    ) {
        let room_now = self.clock.room_time(now);
        self.last_call = (now, room_now);
        self.replica.set_lag(self.jitter_buffer.advance(room_now, self.clock.uncertainty()));
        self.replica.advance(room_now, factory);
        if let Some(placed) = self.replica.take_new_obstacles(room_now)
            && placed != self.placed
        {
            self.placed = placed;
            self.show_map(room_now, 0, out);
        }
        let clocks = SimulationClocks {
            now: room_now,
            one_way: self.clock.uncertainty(),
            rtt: self.rtt().unwrap_or_else(|| self.clock.rtt()),
            newest_stamp: self.newest_stamp.unwrap_or_default(),
        };
        let presses = self.simulated_objects.predicts().then(|| self.pressed_keys(now, room_now));
        self.simulated_objects.advance(clocks, presses.as_ref(), &mut self.replica);
        if let Some(own_walk) = &mut self.own_walk {
            own_walk.set_lead(room_now, self.rules.walk_lead(clocks.one_way));
            let avatar = self.replica.own();
            let path = avatar.as_ref().and_then(|avatar| Some((avatar.id, avatar.path()?)));
            own_walk.advance(room_now, clocks.rtt, path);
        }
        self.emit_replica_events(out);
    }

    fn emit_replica_events(&mut self, out: &mut GameResults) {
        while let Some(event) = self.replica.poll_event() {
            out.stats.enters += u64::from(matches!(event, GameEvent::Enter(_)));
            out.stats.leaves += u64::from(matches!(event, GameEvent::Leave { .. }));
            emit(out, event);
        }
    }

    fn link_activity(&self) -> LinkActivity {
        LinkActivity {
            owes_ack: self.link.is_ack_pending(),
            last_received_at: self.last_received_at,
            is_lossy: self
                .uplink_losses
                .is_some_and(|(_, at)| self.last_call.0.since(at) < LOSSY_FOR),
        }
    }

    fn flush(&mut self, now: LocalTime, out: &mut GameResults) {
        let room_now = self.clock.room_time(now);
        self.last_call = (now, room_now);
        let lost = self.link.stats().lost;
        if lost != self.uplink_losses.map_or(0, |(lost, _)| lost) {
            self.uplink_losses = Some((lost, now));
        }
        let may_send = self.last_sent_at.is_none_or(|sent| now >= sent + MIN_SEND_INTERVAL)
            || self.uplinks.inputs.repeat_at().is_some_and(|at| at <= now);
        let activity = self.link_activity();
        if self.is_replay
            || !may_send
            || !(self.link.wants_to_send(now) || self.uplinks.is_due(now, activity))
        {
            return;
        }
        if let Some(axis) = self.rules.schema.shown_behind() {
            let behind = room_now.since(self.replica.lag().shown_time(room_now));
            let step = AxisKind::ShownBehind.step_of(behind.as_secs_f32());
            self.uplinks.inputs.show_behind(axis, step);
        }
        let mut uplink = self.uplinks.next_uplink(now, room_now);
        let asks_for_ack = uplink.asks_for_ack() || self.uplinks.inputs.asks_for_ack();
        let axes = self.axes;
        let mut datagram = Vec::new();
        let body = |writer: &mut Writer<'_>, _: &SentPackets<()>| {
            if !uplink.is_empty() {
                uplink.wire_with_axes(axes, writer).expect("writing an uplink succeeds");
            }
        };
        let written = if asks_for_ack {
            self.link.write_datagram(now, &mut datagram, body)
        } else {
            self.link.write_datagram_without_ack_request(now, &mut datagram, body)
        };
        self.uplinks.note_sent(now, written.seq, &uplink, activity);
        self.last_sent_at = Some(now);
        out.stats.datagrams_up += 1;
        out.stats.bytes_up += datagram.len() as u64;
        out.outputs.push_back(GameOutput::Datagram(datagram.into()));
    }
}

fn emit(out: &mut GameResults, event: GameEvent) {
    out.outputs.push_back(GameOutput::View(event));
}

/// Emits a game event and notes the objects that it engages with the avatar.
fn emit_game_event(
    engaged: &mut EngagedObjects,
    own: Option<ClientObjectId>,
    event: GameEvent,
    out: &mut GameResults,
) {
    if let GameEvent::Event(game_event) = &event {
        engaged.handle_event(own, game_event);
    }
    emit(out, event);
}
