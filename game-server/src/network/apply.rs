//! From what has changed in the world to what each client is to be told of it.
//!
//! The order within a tick: first what is where, then who follows what, then what is told to them,
//! then what is gone. So an event reaches those who follow its object at the end of the tick, be it
//! that the object goes with it.

use ambit_proto::ids::ObjectId;
use ambit_proto::message::{Field, Notice};
use ambit_proto::time::GameTime;

use super::audience::Known;
use super::replication::slots::Newcomer;
use super::viewer::Viewer;
use super::{Arrival, Eyes, Moment, Network, interest};
use crate::logic::world::{Change, EventField, World};
use crate::stats::RoomStats;

impl Network {
    /// Takes over what has changed in the world at this tick, and lets newcomers see.
    pub fn apply(
        &mut self,
        moment: Moment,
        changes: &[Change],
        arrivals: &[Arrival],
        eyes: &Eyes<'_>,
        stats: &mut RoomStats,
    ) {
        for change in changes {
            self.note(moment, change, eyes.world);
        }
        self.note_poses(moment, eyes.world);
        self.move_homes(eyes.world);
        self.add_viewers(arrivals);
        self.interest.settle(eyes, &mut self.changes);
        self.relay(moment.horizon, eyes.world, stats);
        for change in changes {
            self.tell(moment, change, eyes.world, stats);
        }
        for change in changes {
            if let Change::Despawned { object, at } = *change {
                self.interest.remove_object(object, &mut self.changes);
                self.relay(at, eyes.world, stats);
            }
        }
    }

    /// What is where. Whatever came and went within the tick was never there for anybody.
    fn note(&mut self, moment: Moment, change: &Change, world: &World) {
        match *change {
            Change::Spawned { object, cell } if world.contains(object) => {
                let kind = world.kind(object);
                self.interest
                    .add_object(object, self.classes[usize::from(kind)], cell);
                if world.has_pose(object) {
                    let (pose, place) = (world.pose(object), place(world, object));
                    self.commons.book.begin(
                        world.pose_slot(object),
                        kind,
                        stamp(moment),
                        pose,
                        place,
                    );
                }
            }
            Change::ChangeCell { object, to, .. } if world.contains(object) => {
                self.interest.change_cell(object, to)
            }
            Change::Visibility { object } if world.contains(object) => {
                self.interest.refresh(object)
            }
            Change::Budget {
                player,
                bytes_per_s,
            } => self.set_budget(moment.now, player, bytes_per_s),
            _ => {}
        }
    }

    fn note_poses(&mut self, moment: Moment, world: &World) {
        for &object in world.posed() {
            let (slot, pose, place) = (
                world.pose_slot(object),
                world.pose(object),
                place(world, object),
            );
            self.commons.book.note(slot, stamp(moment), pose, place);
        }
    }

    fn add_viewers(&mut self, arrivals: &[Arrival]) {
        for &Arrival { client, avatar, .. } in arrivals {
            let home = self
                .viewers
                .get(client)
                .expect("who arrives was admitted")
                .home;
            self.interest.add_viewer(client, avatar, home);
            let number = self
                .interest
                .viewer_number(client)
                .expect("it was just added");
            self.viewers.set_number(client, number);
        }
    }

    /// A viewer's zones follow its avatar, once it is a margin beyond its home cell.
    fn move_homes(&mut self, world: &World) {
        let Network {
            viewers,
            interest,
            grid,
            margin_m,
            ..
        } = self;
        viewers.for_each(|viewer| {
            let home = grid.home(viewer.home, world.position(viewer.avatar), *margin_m);
            if home != viewer.home {
                viewer.home = home;
                interest.move_home(viewer.client, home);
            }
        });
    }

    fn tell(&mut self, moment: Moment, change: &Change, world: &World, stats: &mut RoomStats) {
        match *change {
            Change::Components { object, mask } => {
                self.tell_followers(object, |viewer| {
                    viewer.slots.touch(object, mask, moment.horizon)
                });
            }
            Change::Stirred { object } => {
                self.tell_followers(object, |viewer| viewer.slots.stir(object))
            }
            Change::Engaged {
                viewer,
                object,
                until,
            } => {
                if let Some(viewer) = self.viewers.behind(viewer) {
                    viewer.slots.engage(object, until);
                }
            }
            Change::Team { object } if world.contains(object) => {
                self.change_team(moment, object, world)
            }
            Change::Event {
                kind,
                about,
                effect,
                ref fields,
            } => {
                self.tell_followers(about, |viewer| {
                    // What happened to it before it came into sight is not for this client, be it a
                    // moment before.
                    if viewer.slots.since(about).is_none_or(|since| since > effect) {
                        return;
                    }
                    let mut notice = notice(kind, effect, fields, viewer);
                    if viewer.notify(moment.now, &mut notice) {
                        stats.events += 1;
                    } else {
                        stats.notices_dropped += 1;
                    }
                });
            }
            _ => {}
        }
    }

    fn tell_followers(&mut self, object: ObjectId, mut tell: impl FnMut(&mut Viewer)) {
        for &number in self.interest.follower_numbers(object) {
            tell(self.viewers.numbered(number));
        }
    }

    /// An object belongs to another team: others may know it better, and if it is an avatar, its
    /// player knows others better.
    fn change_team(&mut self, moment: Moment, object: ObjectId, world: &World) {
        let schema = &self.commons.schema;
        for &number in self.interest.follower_numbers(object) {
            let viewer = self.viewers.numbered(number);
            let known = Known::of(world, schema, object, viewer);
            viewer
                .slots
                .set_audience(object, known.components, known.close, moment.horizon);
        }
        if let Some(viewer) = self.viewers.behind(object) {
            let followed: Vec<ObjectId> = viewer
                .slots
                .objects()
                .filter(|&object| world.contains(object))
                .collect();
            for other in followed {
                let known = Known::of(world, schema, other, viewer);
                viewer
                    .slots
                    .set_audience(other, known.components, known.close, moment.horizon);
            }
        }
    }

    /// Hands what `interest` said to the clients' slots.
    fn relay(&mut self, at: GameTime, world: &World, stats: &mut RoomStats) {
        for change in self.changes.drain(..) {
            match change {
                interest::Change::Enter { viewer, object } => {
                    let viewer = self.viewers.get_mut(viewer).expect(FOLLOWS);
                    let Known { components, close } =
                        Known::of(world, &self.commons.schema, object, viewer);
                    let (kind, own) = (world.kind(object), object == viewer.avatar);
                    let pose = world.has_pose(object).then(|| world.pose_slot(object));
                    viewer.slots.follow(
                        Newcomer {
                            object,
                            kind,
                            own,
                            components,
                            pose,
                            close,
                        },
                        at,
                    );
                    stats.enters += 1;
                }
                interest::Change::Leave { viewer, object } => {
                    let viewer = self.viewers.get_mut(viewer).expect(FOLLOWS);
                    viewer.slots.unfollow(object, at);
                    stats.leaves += 1;
                }
            }
        }
    }
}

const FOLLOWS: &str = "a follower is a client of the room";

/// What the datagrams of a tick are stamped with.
fn stamp(moment: Moment) -> GameTime {
    moment.now.whole_millis()
}

fn place(world: &World, object: ObjectId) -> [f32; 2] {
    let position = world.position(object);
    [position.x, position.y]
}

/// An event in the words of one client, who knows objects by its own aliases.
fn notice(kind: u8, effect: GameTime, fields: &[EventField], viewer: &Viewer) -> Notice {
    let fields = fields.iter().map(|field| match *field {
        EventField::Object(object) => Field::Object(viewer.slots.alias(object)),
        EventField::Position(position) => Field::Position(position),
        EventField::Number(number) => Field::Number(number),
    });
    Notice::Event {
        kind,
        effect,
        fields: fields.collect(),
    }
}
