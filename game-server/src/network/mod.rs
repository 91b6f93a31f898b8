//! GameNetwork: who is told what.
//!
//! The logic's changes go in ([`Network::apply`]), datagrams come out ([`Network::send`]). In between: `interest` says who
//! follows what, `replication` what each of them is still to be told, and each viewer's link what arrived.
//! Nothing reaches a client but through its own slots (objects it follows, components of its audience) and the events
//! of objects that it follows. Cost: what changed, times who follows it; plus one look at each viewer a tick.

pub mod interest;
pub mod replication;
pub mod viewer;

use std::collections::BTreeMap;

use ambit_proto::cell::Grid;
use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::message::{Field, Notice};
use ambit_proto::schema::{Audience, Schema, Sight};
use ambit_proto::time::GameTime;
use ambit_proto::wire::WireError;
use bytes::Bytes;

use crate::config::RoomConfig;
use crate::logic::game::Game;
use crate::logic::world::{Change, EventField, World};
use crate::stats::RoomStats;
use interest::{Interest, Sees, Zone};
use replication::slots::Newcomer;
use viewer::{Heard, Scratch, Viewer};

/// The network half of a room.
pub struct Network {
    grid: Grid,
    margin_m: f32,
    schema: Schema,
    /// Class of interest of each kind.
    classes: Vec<u8>,
    interest: Interest,
    viewers: BTreeMap<ClientId, Viewer>,
    /// What `interest` said last; empty between calls.
    changes: Vec<interest::Change>,
    scratch: Scratch,
    datagrams: Vec<Bytes>,
}

/// When things happen: the room's clock, and when what is decided now takes effect.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The room's clock.
    pub now: GameTime,
    /// `now` plus the local lag.
    pub horizon: GameTime,
}

/// A client that comes in at this tick.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The connection.
    pub client: ClientId,
    /// Who plays.
    pub player: PlayerId,
    /// The object through which the client is to see.
    pub avatar: ObjectId,
}

/// The game's say on who sees what.
pub struct Eyes<'a> {
    /// The rules.
    pub game: &'a dyn Game,
    /// What they apply to.
    pub world: &'a World,
}

impl Sees for Eyes<'_> {
    fn sees(&self, viewer: ObjectId, object: ObjectId) -> bool {
        self.world.contains(object) && (viewer == object || self.game.sees(self.world, viewer, object))
    }
}

impl Network {
    /// A network without clients for a world without objects.
    pub fn new(config: &RoomConfig, schema: Schema) -> Self {
        let grid = config.grid();
        let (classes, zones) = classes(config, &schema);
        Network {
            interest: Interest::new(&grid, &zones),
            grid,
            margin_m: config.margin_m,
            schema,
            classes,
            viewers: BTreeMap::new(),
            changes: Vec::new(),
            scratch: Scratch::default(),
            datagrams: Vec::new(),
        }
    }

    /// A client is in: what it says is heard from now on. It sees once its `Arrival` is applied.
    pub fn admit(&mut self, now: GameTime, arrival: Arrival, world: &World) {
        let Arrival { client, player, avatar } = arrival;
        let home = self.grid.cell_at(world.position(avatar));
        self.viewers.insert(client, Viewer::new(client, player, avatar, home, now));
    }

    /// The clients that have confirmed nothing for too long.
    pub fn deaf(&self, now: GameTime) -> impl Iterator<Item = ClientId> {
        self.viewers.values().filter(move |viewer| viewer.is_deaf(now)).map(|viewer| viewer.client)
    }

    /// The client is gone.
    pub fn remove_viewer(&mut self, client: ClientId) {
        if self.viewers.remove(&client).is_some() {
            self.interest.remove_viewer(client);
        }
    }

    /// A datagram of a client; what it said goes to `heard`. A client that is not there is ignored: its last datagrams may
    /// be under way when it leaves.
    pub fn handle_datagram(
        &mut self,
        client: ClientId,
        at: GameTime,
        bytes: &[u8],
        heard: &mut Vec<Heard>,
    ) -> Result<(), WireError> {
        match self.viewers.get_mut(&client) {
            Some(viewer) => viewer.handle_datagram(at, bytes, heard),
            None => Ok(()),
        }
    }

    /// Tells a client that its command was refused.
    pub fn refuse(&mut self, now: GameTime, client: ClientId, command: u32, code: u16, stats: &mut RoomStats) {
        let Some(viewer) = self.viewers.get_mut(&client) else { return };
        if !viewer.notify(now, &mut Notice::Refused { command, code }) {
            stats.notices_dropped += 1;
        }
    }

    /// Takes over what has changed in the world at this tick, and lets newcomers see.
    ///
    /// First what is where, then who follows what, then what is told to them, then what is gone: so an event reaches those
    /// who follow its object at the end of the tick, be it that the object goes with it.
    pub fn apply(
        &mut self,
        moment: Moment,
        changes: &[Change],
        arrivals: &[Arrival],
        eyes: &Eyes<'_>,
        stats: &mut RoomStats,
    ) {
        for change in changes {
            self.note(change, eyes.world);
        }
        self.move_homes(eyes.world);
        self.add_viewers(arrivals);
        self.interest.settle(eyes, &mut self.changes);
        self.relay(moment.horizon, eyes.world, stats);
        for change in changes {
            self.tell(moment, change, stats);
        }
        for change in changes {
            if let Change::Despawned { object, at } = *change {
                self.interest.remove_object(object, &mut self.changes);
                self.relay(at, eyes.world, stats);
            }
        }
    }

    /// Appends what is to be sent to each client now.
    pub fn send(&mut self, now: GameTime, world: &World, stats: &mut RoomStats, mut send: impl FnMut(ClientId, Bytes)) {
        for viewer in self.viewers.values_mut() {
            stats.late_events += viewer.late.take();
            viewer.send(now, world, &self.schema, &mut self.scratch, &mut self.datagrams);
            for datagram in self.datagrams.drain(..) {
                stats.datagrams_out += 1;
                stats.bytes_out += datagram.len() as u64;
                send(viewer.client, datagram);
            }
        }
    }

    /// Who follows what: for checks from outside.
    pub fn interest(&self) -> &Interest {
        &self.interest
    }

    /// The clients, in the order of their ids.
    pub fn viewers(&self) -> impl Iterator<Item = &Viewer> {
        self.viewers.values()
    }

    /// One client.
    pub fn viewer(&self, client: ClientId) -> Option<&Viewer> {
        self.viewers.get(&client)
    }

    /// What is where. Whatever came and went within the tick was never there for anybody.
    fn note(&mut self, change: &Change, world: &World) {
        match *change {
            Change::Spawned { object, cell } if world.contains(object) => {
                self.interest.add_object(object, self.classes[usize::from(world.kind(object))], cell);
            }
            Change::ChangeCell { object, to, .. } if world.contains(object) => self.interest.change_cell(object, to),
            Change::Visibility { object } if world.contains(object) => self.interest.refresh(object),
            _ => {}
        }
    }

    fn add_viewers(&mut self, arrivals: &[Arrival]) {
        for &Arrival { client, avatar, .. } in arrivals {
            let viewer = &self.viewers[&client];
            self.interest.add_viewer(client, avatar, viewer.home);
        }
    }

    /// A viewer's zones follow its avatar, once it is a margin beyond its home cell.
    fn move_homes(&mut self, world: &World) {
        for viewer in self.viewers.values_mut() {
            let home = self.grid.home(viewer.home, world.position(viewer.avatar), self.margin_m);
            if home != viewer.home {
                viewer.home = home;
                self.interest.move_home(viewer.client, home);
            }
        }
    }

    fn tell(&mut self, moment: Moment, change: &Change, stats: &mut RoomStats) {
        match *change {
            Change::Components { object, mask } => {
                for client in self.interest.followers(object) {
                    follower(&mut self.viewers, client).slots.touch(object, mask, moment.horizon);
                }
            }
            Change::Event { kind, about, effect, ref fields } => {
                for client in self.interest.followers(about) {
                    let viewer = follower(&mut self.viewers, client);
                    // What happened to it before it came into sight is not for this client, be it a moment before.
                    if viewer.slots.since(about).is_none_or(|since| since > effect) {
                        continue;
                    }
                    let mut notice = notice(kind, effect, fields, viewer);
                    if viewer.notify(moment.now, &mut notice) {
                        stats.events += 1;
                    } else {
                        stats.notices_dropped += 1;
                    }
                }
            }
            _ => {}
        }
    }

    /// Hands what `interest` said to the clients' slots.
    fn relay(&mut self, at: GameTime, world: &World, stats: &mut RoomStats) {
        for change in self.changes.drain(..) {
            match change {
                interest::Change::Enter { viewer, object } => {
                    let viewer = follower(&mut self.viewers, viewer);
                    let owned = world.owner(object) == Some(viewer.player);
                    let kind = world.kind(object);
                    let components = audience(&self.schema, kind, owned);
                    viewer.slots.follow(Newcomer { object, kind, own: object == viewer.avatar, components }, at);
                    stats.enters += 1;
                }
                interest::Change::Leave { viewer, object } => {
                    let viewer = follower(&mut self.viewers, viewer);
                    viewer.slots.unfollow(object, at);
                    stats.leaves += 1;
                }
            }
        }
    }
}

fn follower(viewers: &mut BTreeMap<ClientId, Viewer>, client: ClientId) -> &mut Viewer {
    viewers.get_mut(&client).expect("a follower is a client of the room")
}

/// An event in the words of one client, who knows objects by its own aliases.
fn notice(kind: u8, effect: GameTime, fields: &[EventField], viewer: &Viewer) -> Notice {
    let fields = fields.iter().map(|field| match *field {
        EventField::Object(object) => Field::Object(viewer.slots.alias(object)),
        EventField::Position(position) => Field::Position(position),
        EventField::Number(number) => Field::Number(number),
    });
    Notice::Event { kind, effect, fields: fields.collect() }
}

/// The components of a kind that somebody may know, as a mask.
fn audience(schema: &Schema, kind: u8, owned: bool) -> u16 {
    let components = &schema.kinds[usize::from(kind)].components;
    let may_know = |audience: Audience| owned || audience == Audience::Public;
    components
        .iter()
        .enumerate()
        .filter(|(_, spec)| may_know(spec.audience))
        .fold(0, |mask, (index, _)| mask | 1 << index)
}

/// The class of interest of each kind, and the zones of each class; class 0 has the room's.
fn classes(config: &RoomConfig, schema: &Schema) -> (Vec<u8>, Vec<Zone>) {
    let mut sights = vec![Sight { inner: config.inner, outer: config.outer }];
    let mut classes = Vec::with_capacity(schema.kinds.len());
    for kind in &schema.kinds {
        let sight = kind.sight.unwrap_or(sights[0]);
        let class = sights.iter().position(|&known| known == sight).unwrap_or_else(|| {
            sights.push(sight);
            sights.len() - 1
        });
        classes.push(class as u8);
    }
    (classes, sights.into_iter().map(|Sight { inner, outer }| Zone { inner, outer }).collect())
}
