//! GameNetwork: who is told what.
//!
//! The logic's changes go in ([`Network::apply`]), datagrams come out ([`Network::send`]). In
//! between: `interest` says who follows what, `replication` what each of them is still to be told,
//! and each viewer's link what arrived. Nothing reaches a client but through its own slots (objects
//! it follows, components of its audience) and the events of objects that it follows. Cost: what
//! changed, times who follows it; for each client a look at what stirs around it. What many are
//! told is encoded once (`commons`).

mod apply;
mod audience;
pub mod command_filter;
pub mod interest;
pub mod loads;
mod pacer;
mod pulse_schedule;
pub mod replication;
pub mod shared_state;
pub mod viewer;
mod viewers;

use std::time::Duration;

use ambit_proto::cell::Grid;
use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::message::{EffectTime, Notice};
use ambit_proto::schema::{InterestRadii, Schema};
use ambit_proto::time::GameTime;
use ambit_proto::wire::WireError;
use bytes::Bytes;

use crate::config::RoomConfig;
use crate::logic::game::Game;
use crate::logic::world::World;
use crate::stats::{EncodingReuse, RoomStats};
use command_filter::UplinkEvent;
use interest::{AreaOfInterest, Interest, Visibility};
use shared_state::{SendBuffers, SharedTickState, TickContext};
use viewer::Viewer;
use viewers::Viewers;

/// Clients are put in order of where they are once in so many ticks.
const SORT_INTERVAL_TICKS: u64 = 20;

/// The network half of a room.
pub struct Network {
    grid: Grid,
    margin_m: f32,
    tick: Duration,
    /// Class of interest of each kind.
    interest_classes: Vec<u8>,
    interest: Interest,
    viewers: Viewers,
    /// Bytes a second for who comes in.
    budget_bytes_per_s: u32,
    shared_state: SharedTickState,
    /// What `interest` said last; empty between calls.
    changes: Vec<interest::InterestChange>,
    buffers: SendBuffers,
}

/// When things happen: the room's clock, and when what is decided now takes effect.
#[derive(Clone, Copy, Debug)]
pub struct TickTimes {
    /// The room's clock.
    pub now: GameTime,
    /// `now` plus the local lag.
    pub horizon: GameTime,
}

/// A client that comes in at this tick.
#[derive(Clone, Copy, Debug)]
pub struct JoiningClient {
    /// The connection.
    pub client: ClientId,
    /// Who plays.
    pub player: PlayerId,
    /// The object through which the client is to see.
    pub avatar: ObjectId,
}

/// The game's say on who sees what.
pub struct GameVisibility<'a> {
    /// The rules.
    pub game: &'a dyn Game,
    /// What they apply to.
    pub world: &'a World,
}

impl Visibility for GameVisibility<'_> {
    fn can_see(&self, viewer: ObjectId, object: ObjectId) -> bool {
        self.world.contains(object)
            && (viewer == object || self.game.sees(self.world, viewer, object))
    }
}

impl Network {
    /// A network without clients for a world without objects.
    pub fn new(config: &RoomConfig, schema: Schema) -> Self {
        let grid = config.grid();
        let (classes, zones) = interest_classes(config, &schema);
        Network {
            interest: Interest::new(&grid, &zones),
            grid,
            margin_m: config.margin_m,
            tick: Duration::from_secs(1) / config.tick_hz,
            interest_classes: classes,
            viewers: Viewers::default(),
            budget_bytes_per_s: config.budget_bytes_per_s,
            shared_state: SharedTickState::new(config, schema),
            changes: Vec::new(),
            buffers: SendBuffers::default(),
        }
    }

    /// A client is in: what it says is heard from now on. It sees once its `Arrival` is applied.
    pub fn admit(&mut self, now: GameTime, arrival: JoiningClient, world: &World) {
        let JoiningClient {
            client,
            player,
            avatar,
        } = arrival;
        let home = self.grid.cell_at(world.position(avatar));
        self.viewers.insert(Viewer::new(
            client,
            player,
            avatar,
            home,
            now,
            self.budget_bytes_per_s,
        ));
    }

    /// The clients that have confirmed nothing for too long.
    pub fn unresponsive_clients(&self, now: GameTime) -> impl Iterator<Item = ClientId> {
        self.viewers
            .iter()
            .filter(move |viewer| viewer.is_unresponsive(now))
            .map(|viewer| viewer.client)
    }

    /// The client is gone.
    pub fn remove_viewer(&mut self, client: ClientId) {
        if self.viewers.remove(client) {
            self.interest.remove_viewer(client);
        }
    }

    /// A datagram of a client; what it said goes to `heard`. A client that is not there is ignored:
    /// its last datagrams may be under way when it leaves.
    pub fn handle_datagram(
        &mut self,
        client: ClientId,
        at: GameTime,
        bytes: &[u8],
        heard: &mut Vec<UplinkEvent>,
    ) -> Result<(), WireError> {
        match self.viewers.get_mut(client) {
            Some(viewer) => viewer.handle_datagram(at, bytes, heard),
            None => Ok(()),
        }
    }

    /// Tells a client that its command was refused.
    pub fn refuse_command(
        &mut self,
        now: GameTime,
        client: ClientId,
        command: u32,
        code: u16,
        stats: &mut RoomStats,
    ) {
        let Some(viewer) = self.viewers.get_mut(client) else {
            return;
        };
        if !viewer.send_notice(now, &mut Notice::Refused { command, code }) {
            stats.notices_dropped += 1;
        }
    }

    /// Tells a client when inputs of its take effect.
    pub fn queue_effect(&mut self, client: ClientId, effect: EffectTime) {
        if let Some(viewer) = self.viewers.get_mut(client) {
            viewer.queue_effect(effect);
        }
    }

    /// Hands out what is to be sent to each client now; neighbours are told one after the other.
    pub fn send(
        &mut self,
        now: GameTime,
        world: &World,
        stats: &mut RoomStats,
        send: impl FnMut(ClientId, Bytes),
    ) {
        self.send_to_all(now, world, stats, false, send);
    }

    /// After the last tick, at `now`: hands out the same for clients that heard nothing at that
    /// tick, so that they know all that there is.
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
        parting: bool,
        mut send: impl FnMut(ClientId, Bytes),
    ) {
        let Network {
            shared_state,
            buffers: scratch,
            viewers,
            tick,
            ..
        } = self;
        shared_state.records.clear();
        if stats.ticks.is_multiple_of(SORT_INTERVAL_TICKS) {
            viewers.sort_by_cell();
        }
        let clients = viewers.len();
        let mut tick = TickContext {
            now,
            next_tick_at: now + *tick,
            world,
            shared_state,
            buffers: scratch,
            stats,
            client_count: clients,
            is_final: parting,
        };
        viewers.for_each(|viewer| {
            tick.stats.late_events += viewer.lateness.take();
            let client = viewer.client;
            viewer.send(&mut tick, |datagram| send(client, datagram));
        });
        if let Some(viewer) = viewers.round_robin(tick.stats.ticks) {
            viewer.sample_ages(&mut tick);
        }
        add_sharing(&mut stats.records, self.shared_state.records.take_counts());
        add_sharing(
            &mut stats.pose_codes,
            self.shared_state.coded_poses.take_counts(),
        );
    }

    /// Sets what a player's clients are sent at most; all clients', those to come included, if it
    /// is nobody's.
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

    /// Sets what one client is sent at most.
    pub fn set_client_budget(&mut self, now: GameTime, client: ClientId, bytes_per_s: u32) {
        if let Some(viewer) = self.viewers.get_mut(client) {
            viewer.set_budget(now, bytes_per_s);
        }
    }

    /// What all clients together may be sent, in bytes a second, as their lines are now.
    pub fn total_budget_bytes_per_s(&self) -> u64 {
        self.viewers
            .iter()
            .map(|viewer| u64::from(viewer.link().stats().budget_bytes_per_s))
            .sum()
    }

    /// Who follows what: for checks from outside.
    pub fn interest(&self) -> &Interest {
        &self.interest
    }

    /// The clients, in the order of their ids.
    pub fn viewers(&self) -> impl Iterator<Item = &Viewer> {
        self.viewers.iter()
    }

    /// One client.
    pub fn viewer(&self, client: ClientId) -> Option<&Viewer> {
        self.viewers.get(client)
    }
}

fn add_sharing(sharing: &mut EncodingReuse, (made, used): (u64, u64)) {
    sharing.encoded += made;
    sharing.uses += used;
}

/// The class of interest of each kind, and the zones of each class; class 0 has the room's.
fn interest_classes(config: &RoomConfig, schema: &Schema) -> (Vec<u8>, Vec<AreaOfInterest>) {
    let mut sights = vec![InterestRadii {
        inner: config.inner,
        outer: config.outer,
    }];
    let mut classes = Vec::with_capacity(schema.kinds.len());
    for kind in &schema.kinds {
        let sight = kind.interest_radii.unwrap_or(sights[0]);
        let class = sights
            .iter()
            .position(|&known| known == sight)
            .unwrap_or_else(|| {
                sights.push(sight);
                sights.len() - 1
            });
        classes.push(class as u8);
    }
    (
        classes,
        sights
            .into_iter()
            .map(|InterestRadii { inner, outer }| AreaOfInterest { inner, outer })
            .collect(),
    )
}
