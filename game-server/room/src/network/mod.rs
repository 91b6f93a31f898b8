//! The network half of a room: decides which client gets which state and events.
//!
//! The changes of the logic go in ([`Network::apply`]), datagrams come out ([`Network::send`]). In
//! between, `interest` decides which viewer follows which object, `replication` tracks what each
//! viewer has and what it still has to get, and the link of each viewer reports what arrived.
//!
//! Invariant: a client learns only of objects that it follows, and only of components whose
//! audience includes it. All that it gets comes from its own slots, from events of objects that it
//! follows, and from sounds (`sounds`).
//!
//! Cost: each change, times the number of its followers; for each client, a pass over the active
//! objects that it follows. What several clients need is encoded once (`shared_state`).

pub mod above;
mod apply;
mod audience;
pub mod command_filter;
pub mod interest;
pub mod load_level;
pub mod loads;
mod pacer;
mod pulse_schedule;
pub mod replication;
pub mod sent_meter;
pub mod shared_state;
mod sounds;
mod uplink_faults;
pub mod viewer;
mod viewers;
pub mod why;

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::cell::Grid;
use ambit_proto::ids::{Alias, ClientId, ObjectId, PlayerId};
use ambit_proto::link::{BudgetConfig, LinkConfig};
use ambit_proto::message::{EffectTime, Notice, RefusalReason};
use ambit_proto::pose::PoseCoding;
use ambit_proto::schema::{InterestRadii, Predictors, Schema};
use ambit_proto::time::GameTime;
use bytes::Bytes;

use crate::config::RoomConfig;
use crate::logic::game::Game;
use crate::logic::sight::Sight;
use crate::logic::world::World;
use crate::stats::{EncodingReuse, RoomStats};
use command_filter::CommandFault;
use interest::{AreaOfInterest, Interest, Visibility};
use load_level::LoadLevel;
use shared_state::{SendBuffers, SharedTickState, TickContext};
use sounds::HeardSound;
use viewer::{UplinkEvent, Viewer};
use viewers::Viewers;

/// Ticks between two sorts of the clients by their home cells.
const SORT_INTERVAL_TICKS: u64 = 20;

/// The network half of a room; see the module.
pub struct Network {
    grid: Grid,
    margin_m: f32,
    /// What comes into sight nearer than this has not walked in.
    appears_within_m: f32,
    tick: Duration,
    /// Class of interest, by kind: an index into the areas of interest.
    interest_classes: Vec<u8>,
    interest: Interest,
    /// The objects without a place, which every client follows.
    room_wide: BTreeSet<ObjectId>,
    viewers: Viewers,
    /// The budget of a client that joins.
    budget_bytes_per_s: u32,
    /// Whether what has a time of effect is sent twice on lines that lose packets.
    copies: bool,
    /// The coding of a client that does not ask for one.
    coding: PoseCoding,
    load_level: LoadLevel,
    confirm_until: Option<GameTime>,
    shared_state: SharedTickState,
    /// A buffer for what `interest` reports; empty between calls.
    changes: Vec<interest::InterestChange>,
    /// Objects whose paths have changed at a tick, and until when they are as before; empty between
    /// calls.
    turned: Vec<(ObjectId, GameTime)>,
    /// The sounds of a tick; empty between calls.
    sounds: Vec<HeardSound>,
    buffers: SendBuffers,
}

#[derive(Clone, Copy, Debug)]
pub struct TickTimes {
    /// The room's time.
    pub now: GameTime,
    /// When what is decided at this tick takes effect: `now` plus the local lag.
    pub horizon: GameTime,
}

/// A client that joins at this tick.
#[derive(Clone, Copy, Debug)]
pub struct JoiningClient {
    pub client: ClientId,
    /// The player behind the connection.
    pub player: PlayerId,
    /// The object through which the client sees the world.
    pub avatar: ObjectId,
    /// How the client wants its poses to be coded.
    pub coding: PoseCoding,
}

/// Visibility by the rules of the game.
pub struct GameVisibility<'a> {
    /// Decides which object is visible to which avatar.
    pub game: &'a dyn Game,
    /// The world that the objects are in.
    pub world: &'a World,
}

impl Visibility for GameVisibility<'_> {
    fn can_see(&self, viewer: ObjectId, object: ObjectId, sight: Sight) -> bool {
        self.world.contains(object)
            && (viewer == object || self.game.sees(self.world, viewer, object, sight))
    }

    fn is_removed(&self, object: ObjectId) -> bool {
        !self.world.contains(object)
    }
}

impl Network {
    /// A network without clients, for a world without objects. What no client gets is unknown to
    /// it.
    pub fn new(config: &RoomConfig, schema: &Schema, predictors: &Predictors) -> Self {
        let schema = schema.for_clients().into_owned();
        let grid = config.grid();
        let (classes, areas) = interest_classes(config, &schema);
        Network {
            interest: Interest::new(&grid, &areas),
            room_wide: BTreeSet::new(),
            grid,
            margin_m: config.margin_m,
            appears_within_m: f32::from(config.inner) * config.cell - config.margin_m,
            tick: Duration::from_secs(1) / config.tick_hz,
            interest_classes: classes,
            viewers: Viewers::default(),
            budget_bytes_per_s: config.budget_bytes_per_s,
            copies: config.copies,
            coding: config.coding,
            load_level: LoadLevel::NONE,
            confirm_until: None,
            shared_state: SharedTickState::new(config, schema, predictors),
            changes: Vec::new(),
            turned: Vec::new(),
            sounds: Vec::new(),
            buffers: SendBuffers::default(),
        }
    }

    /// Adds a client. Its datagrams are processed from now on; it gets the world once its
    /// [`JoiningClient`] is applied.
    pub fn admit(&mut self, now: GameTime, joining: JoiningClient, world: &World) {
        let JoiningClient { client, player, avatar, coding } = joining;
        let home = self.grid.cell_at(world.position(avatar));
        self.viewers.insert(Viewer::new(
            client,
            player,
            avatar,
            home,
            now,
            coding.or(self.coding),
            self.link_config(),
        ));
    }

    fn link_config(&self) -> LinkConfig {
        let budget =
            BudgetConfig { bytes_per_s: self.budget_bytes_per_s, ..BudgetConfig::default() };
        LinkConfig { budget: Some(budget), copies: self.copies, ..LinkConfig::server() }
    }

    /// The clients that have acknowledged nothing for too long.
    pub fn unresponsive_clients(&self, now: GameTime) -> impl Iterator<Item = ClientId> {
        self.viewers
            .iter()
            .filter(move |viewer| viewer.is_unresponsive(now))
            .map(|viewer| viewer.client)
    }

    /// Removes a client that has disconnected.
    pub fn remove_viewer(&mut self, client: ClientId) {
        if self.viewers.remove(client) {
            self.interest.remove_viewer(client);
        }
    }

    /// Processes a datagram from a client and appends what it contains to `events`. A datagram of
    /// an unknown client is ignored: its last datagrams may be under way when it leaves.
    pub fn handle_datagram(
        &mut self,
        client: ClientId,
        at: GameTime,
        bytes: &[u8],
        events: &mut Vec<UplinkEvent>,
    ) {
        if let Some(viewer) = self.viewers.get_mut(client) {
            viewer.handle_datagram(at, bytes, &self.shared_state.schema, events);
        }
    }

    /// Whether a client is to be notified that its command has this fault: at most once a second.
    pub fn may_report(&mut self, now: GameTime, client: ClientId, fault: CommandFault) -> bool {
        self.viewers.get_mut(client).is_some_and(|viewer| viewer.may_report(now, fault))
    }

    /// The object that a client knows by this alias; `None` if the client does not follow it.
    pub fn followed_object(&self, client: ClientId, alias: Alias) -> Option<ObjectId> {
        self.viewers.get(client)?.slots.object(alias)
    }

    /// Notifies a client that its command was refused.
    pub fn refuse_command(
        &mut self,
        now: GameTime,
        client: ClientId,
        command: u32,
        reason: RefusalReason,
        stats: &mut RoomStats,
    ) {
        let Some(viewer) = self.viewers.get_mut(client) else {
            return;
        };
        let schema = &self.shared_state.schema;
        if !viewer.send_notice(now, schema, &mut Notice::Refused { command, reason }) {
            stats.notices_dropped += 1;
        }
    }

    /// Queues a report to the client: when its inputs take effect.
    pub fn queue_effect(&mut self, client: ClientId, effect: EffectTime) {
        if let Some(viewer) = self.viewers.get_mut(client) {
            viewer.queue_effect(effect);
        }
    }

    /// Passes the datagrams of this tick to `send`. Neighbours come one after the other, so that
    /// what they share is still in the CPU's cache.
    pub fn send(
        &mut self,
        now: GameTime,
        world: &World,
        stats: &mut RoomStats,
        send: impl FnMut(ClientId, Bytes),
    ) {
        self.send_to_all(now, world, stats, false, send);
    }

    /// After the last tick, at `now`: sends the same to the clients that got no datagram at that
    /// tick, so that every client has the room's final state.
    pub fn send_final(
        &mut self,
        now: GameTime,
        world: &World,
        stats: &mut RoomStats,
        send: impl FnMut(ClientId, Bytes),
    ) {
        self.send_to_all(now, world, stats, true, send);
    }

    fn send_to_all(
        &mut self,
        now: GameTime,
        world: &World,
        stats: &mut RoomStats,
        is_final: bool,
        mut send: impl FnMut(ClientId, Bytes),
    ) {
        let Network { shared_state, buffers, viewers, tick, load_level, confirm_until, .. } = self;
        shared_state.records.clear();
        if let Some(meter) = &mut buffers.meter
            && !meter.begin_tick(now, &stats.kind_bits)
        {
            buffers.meter = None;
        }
        if stats.ticks.is_multiple_of(SORT_INTERVAL_TICKS) {
            viewers.sort_by_cell();
        }
        let client_count = viewers.len();
        let mut tick = TickContext {
            now,
            next_tick_at: now + *tick,
            world,
            shared_state,
            buffers,
            stats,
            client_count,
            load_level: *load_level,
            confirm_until: *confirm_until,
            is_final,
        };
        viewers.for_each(|viewer| {
            tick.stats.late_events += viewer.lateness.take();
            let client = viewer.client;
            viewer.send(&mut tick, |datagram| send(client, datagram));
        });
        add_sharing(&mut stats.records, self.shared_state.records.take_counts());
        add_sharing(&mut stats.pose_codes, self.shared_state.coded_poses.take_counts());
    }

    /// Sets the budget of a player's clients; without a player that of all clients, also of those
    /// that join later.
    pub fn set_budget(&mut self, now: GameTime, player: Option<PlayerId>, bytes_per_s: u32) {
        if player.is_none() {
            self.budget_bytes_per_s = bytes_per_s;
        }
        self.viewers.for_each(|viewer| {
            if player.is_none_or(|player| player == viewer.player) {
                viewer.set_budget(now, bytes_per_s);
            }
        });
    }

    /// How much less is sent from now on, because the room is late.
    pub fn set_load_level(&mut self, level: LoadLevel) {
        self.load_level = level;
    }

    /// From now on clients are confirmed only what ticks up to this one received; `None` for
    /// everything.
    pub fn set_confirm_until(&mut self, until: Option<GameTime>) {
        self.confirm_until = until;
    }

    /// Which client follows which object; for checks from outside.
    pub fn interest(&self) -> &Interest {
        &self.interest
    }

    /// The clients, in the order of their ids.
    pub fn viewers(&self) -> impl Iterator<Item = &Viewer> {
        self.viewers.iter()
    }

    pub fn viewer(&self, client: ClientId) -> Option<&Viewer> {
        self.viewers.get(client)
    }
}

fn add_sharing(reuse: &mut EncodingReuse, (encoded, used): (u64, u64)) {
    reuse.encoded += encoded;
    reuse.uses += used;
}

/// The class of interest of each kind, and the area of interest of each class. Class 0 has the
/// room's own area.
fn interest_classes(config: &RoomConfig, schema: &Schema) -> (Vec<u8>, Vec<AreaOfInterest>) {
    let mut radii = vec![InterestRadii { inner: config.inner, outer: config.outer }];
    let mut classes = Vec::with_capacity(schema.kinds.len());
    for kind in &schema.kinds {
        let kind_radii = kind.interest_radii.unwrap_or(radii[0]);
        let class = radii.iter().position(|&other| other == kind_radii).unwrap_or_else(|| {
            radii.push(kind_radii);
            radii.len() - 1
        });
        classes.push(class as u8);
    }
    (
        classes,
        radii
            .into_iter()
            .map(|InterestRadii { inner, outer }| AreaOfInterest { inner, outer })
            .collect(),
    )
}
