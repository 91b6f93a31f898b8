//! From what has changed in the world to what each client is to be told of it.
//!
//! The order within a tick: first what is where, then who follows what, then what is told to them,
//! then what is gone. So an event reaches those who follow its object at the end of the tick, be it
//! that the object goes with it.

use ambit_proto::ids::ObjectId;
use ambit_proto::message::{EventValue, Notice};
use ambit_proto::time::GameTime;

use super::audience::ViewerAccess;
use super::replication::object_slots::EnteringObject;
use super::viewer::Viewer;
use super::{GameVisibility, JoiningClient, Network, TickTimes, interest};
use crate::logic::world::{EventField, World, WorldChange};
use crate::stats::RoomStats;

impl Network {
    /// Takes over what has changed in the world at this tick, and lets newcomers see.
    pub fn apply(
        &mut self,
        moment: TickTimes,
        changes: &[WorldChange],
        arrivals: &[JoiningClient],
        eyes: &GameVisibility<'_>,
        stats: &mut RoomStats,
    ) {
        for change in changes {
            self.note_change(moment, change, eyes.world);
        }
        self.note_poses(moment, eyes.world);
        self.move_homes(eyes.world);
        self.add_viewers(arrivals);
        self.interest.settle(eyes, &mut self.changes);
        self.apply_interest_changes(moment.horizon, eyes.world, stats);
        for change in changes {
            self.dispatch_change(moment, change, eyes.world, stats);
        }
        for change in changes {
            if let WorldChange::Despawned { object, at } = *change {
                self.interest.remove_object(object, &mut self.changes);
                self.apply_interest_changes(at, eyes.world, stats);
            }
        }
    }

    /// What is where. Whatever came and went within the tick was never there for anybody.
    fn note_change(&mut self, moment: TickTimes, change: &WorldChange, world: &World) {
        match *change {
            WorldChange::Spawned { object, cell } if world.contains(object) => {
                let kind = world.kind(object);
                self.interest
                    .add_object(object, self.interest_classes[usize::from(kind)], cell);
                if world.has_pose(object) {
                    let (pose, place) = (world.pose(object), ground_position(world, object));
                    self.shared_state.pose_table.insert(
                        world.pose_slot(object),
                        kind,
                        stamp(moment),
                        pose,
                        place,
                    );
                }
            }
            WorldChange::ChangeCell { object, to, .. } if world.contains(object) => {
                self.interest.change_cell(object, to)
            }
            WorldChange::Visibility { object } if world.contains(object) => {
                self.interest.refresh(object)
            }
            WorldChange::Budget {
                player,
                bytes_per_s,
            } => self.set_budget(moment.now, player, bytes_per_s),
            _ => {}
        }
    }

    fn note_poses(&mut self, moment: TickTimes, world: &World) {
        for &object in world.active_objects() {
            let (slot, pose, place) = (
                world.pose_slot(object),
                world.pose(object),
                ground_position(world, object),
            );
            self.shared_state
                .pose_table
                .update(slot, stamp(moment), pose, place);
        }
    }

    fn add_viewers(&mut self, arrivals: &[JoiningClient]) {
        for &JoiningClient { client, avatar, .. } in arrivals {
            let home = self
                .viewers
                .get(client)
                .expect("who arrives was admitted")
                .home;
            self.interest.add_viewer(client, avatar, home);
            let number = self
                .interest
                .viewer_slot(client)
                .expect("it was just added");
            self.viewers.set_interest_slot(client, number);
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
            let home = grid.home_cell(viewer.home, world.position(viewer.avatar), *margin_m);
            if home != viewer.home {
                viewer.home = home;
                interest.move_home(viewer.client, home);
            }
        });
    }

    fn dispatch_change(
        &mut self,
        moment: TickTimes,
        change: &WorldChange,
        world: &World,
        stats: &mut RoomStats,
    ) {
        match *change {
            WorldChange::Components { object, mask } => {
                self.for_each_follower(object, |viewer| {
                    viewer.slots.mark_changed(object, mask, moment.horizon)
                });
            }
            WorldChange::BecameActive { object } => {
                self.for_each_follower(object, |viewer| viewer.slots.activate_pose(object))
            }
            WorldChange::EngagedObjects {
                viewer,
                object,
                until,
            } => {
                if let Some(viewer) = self.viewers.get_by_avatar_mut(viewer) {
                    viewer.slots.engage(object, until);
                }
            }
            WorldChange::Team { object } if world.contains(object) => {
                self.change_team(moment, object, world)
            }
            WorldChange::Event {
                kind,
                about,
                effect,
                ref fields,
            } => {
                self.for_each_follower(about, |viewer| {
                    // What happened to it before it came into sight is not for this client, be it a
                    // moment before.
                    if viewer
                        .slots
                        .visible_since(about)
                        .is_none_or(|since| since > effect)
                    {
                        return;
                    }
                    let mut notice = event_notice(kind, effect, fields, viewer);
                    if viewer.send_notice(moment.now, &mut notice) {
                        stats.events += 1;
                    } else {
                        stats.notices_dropped += 1;
                    }
                });
            }
            _ => {}
        }
    }

    fn for_each_follower(&mut self, object: ObjectId, mut tell: impl FnMut(&mut Viewer)) {
        for &number in self.interest.follower_slots(object) {
            tell(self.viewers.at_interest_slot_mut(number));
        }
    }

    /// An object belongs to another team: others may know it better, and if it is an avatar, its
    /// player knows others better.
    fn change_team(&mut self, moment: TickTimes, object: ObjectId, world: &World) {
        let schema = &self.shared_state.schema;
        for &number in self.interest.follower_slots(object) {
            let viewer = self.viewers.at_interest_slot_mut(number);
            let known = ViewerAccess::of(world, schema, object, viewer);
            viewer
                .slots
                .set_audience(object, known.components, known.is_ally, moment.horizon);
        }
        if let Some(viewer) = self.viewers.get_by_avatar_mut(object) {
            let followed: Vec<ObjectId> = viewer
                .slots
                .objects()
                .filter(|&object| world.contains(object))
                .collect();
            for other in followed {
                let known = ViewerAccess::of(world, schema, other, viewer);
                viewer
                    .slots
                    .set_audience(other, known.components, known.is_ally, moment.horizon);
            }
        }
    }

    /// Hands what `interest` said to the clients' slots.
    fn apply_interest_changes(&mut self, at: GameTime, world: &World, stats: &mut RoomStats) {
        for change in self.changes.drain(..) {
            match change {
                interest::InterestChange::ObjectEntered { viewer, object } => {
                    let viewer = self.viewers.get_mut(viewer).expect(FOLLOWER_IS_CLIENT);
                    let ViewerAccess {
                        components,
                        is_ally: close,
                    } = ViewerAccess::of(world, &self.shared_state.schema, object, viewer);
                    let (kind, own) = (world.kind(object), object == viewer.avatar);
                    let pose = world.has_pose(object).then(|| world.pose_slot(object));
                    viewer.slots.follow(
                        EnteringObject {
                            object,
                            kind,
                            is_own: own,
                            components,
                            pose_slot: pose,
                            is_ally: close,
                        },
                        at,
                    );
                    stats.enters += 1;
                }
                interest::InterestChange::Leave { viewer, object } => {
                    let viewer = self.viewers.get_mut(viewer).expect(FOLLOWER_IS_CLIENT);
                    viewer.slots.unfollow(object, at);
                    stats.leaves += 1;
                }
            }
        }
    }
}

const FOLLOWER_IS_CLIENT: &str = "a follower is a client of the room";

/// What the datagrams of a tick are stamped with.
fn stamp(moment: TickTimes) -> GameTime {
    moment.now.whole_millis()
}

fn ground_position(world: &World, object: ObjectId) -> [f32; 2] {
    let position = world.position(object);
    [position.x, position.y]
}

/// An event in the words of one client, who knows objects by its own aliases.
fn event_notice(kind: u8, effect: GameTime, fields: &[EventField], viewer: &Viewer) -> Notice {
    let fields = fields.iter().map(|field| match *field {
        EventField::Object(object) => EventValue::Object(viewer.slots.alias(object)),
        EventField::Position(position) => EventValue::Position(position),
        EventField::Number(number) => EventValue::Number(number),
    });
    Notice::Event {
        kind,
        effect,
        fields: fields.collect(),
    }
}
