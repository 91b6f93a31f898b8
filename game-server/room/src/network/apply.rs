//! Turns the changes of the world into what each client has to be sent.
//!
//! The order within a tick: first the positions, then who follows what, then the changes for the
//! followers, and the removed objects last. So an event reaches all clients that follow its object
//! at the end of the tick, even if the object is removed at that tick. A client that stops to
//! follow an object receives its path up to then, and no other change of the tick.

use std::collections::BTreeSet;

use ambit_proto::ids::{ClientId, ObjectId};
use ambit_proto::message::{FieldValue, Notice};
use ambit_proto::time::GameTime;

use super::audience::ViewerAccess;
use super::interest::Interest;
use super::replication::object_slots::EnteringObject;
use super::viewer::Viewer;
use super::viewers::Viewers;
use super::{GameVisibility, JoiningClient, Network, TickTimes, interest};
use crate::logic::sight::SightChecks;
use crate::logic::world::{EventAudience, World, WorldChange};
use crate::stats::RoomStats;

impl Network {
    /// Applies the world's changes of this tick and adds the clients that join.
    pub fn apply(
        &mut self,
        times: TickTimes,
        changes: &[WorldChange],
        joining: &[JoiningClient],
        visibility: &GameVisibility<'_>,
        stats: &mut RoomStats,
    ) {
        for change in changes {
            self.note_change(times, change, visibility.world);
        }
        self.note_poses(times, visibility.world);
        self.move_homes(visibility.world);
        self.add_viewers(joining, visibility.world);
        self.ask_viewers(stats.ticks, visibility);
        self.interest.settle(visibility, &mut self.changes);
        self.enter_room_wide(changes, joining, visibility.world);
        self.note_turns_of_leaving(times, changes);
        self.apply_interest_changes(times.horizon, visibility.world, stats);
        for change in changes {
            self.dispatch_change(times, change, visibility.world, stats);
        }
        self.send_sounds(times.now, stats);
        for change in changes {
            if let WorldChange::Despawned { object, at } = *change {
                self.interest.remove_object(object, &mut self.changes);
                self.leave_room_wide(object);
                self.apply_interest_changes(at, visibility.world, stats);
            }
        }
    }

    /// Adds the room-wide objects that are new for each client, new or not.
    fn enter_room_wide(
        &mut self,
        changes: &[WorldChange],
        joining: &[JoiningClient],
        world: &World,
    ) {
        let enter = |viewer, object| interest::InterestChange::Enter { viewer, object };
        let is_joining = |client: ClientId| joining.iter().any(|joining| joining.client == client);
        for change in changes {
            if let WorldChange::Spawned { object, cell: None } = *change
                && world.contains(object)
                && self.room_wide.insert(object)
            {
                let present = self.viewers.iter().filter(|viewer| !is_joining(viewer.client));
                self.changes.extend(present.map(|viewer| enter(viewer.client, object)));
            }
        }
        for &JoiningClient { client, .. } in joining {
            let all = self.room_wide.iter().filter(|&&object| world.contains(object));
            self.changes.extend(all.map(|&object| enter(client, object)));
        }
    }

    /// What leaves at this tick may have turned or stopped before it: the clients that it leaves
    /// show that part of its path, too. Cost: the paths that changed, and the objects that leave.
    fn note_turns_of_leaving(&mut self, times: TickTimes, changes: &[WorldChange]) {
        let leaves = |change: &interest::InterestChange| {
            matches!(change, interest::InterestChange::Leave { .. })
        };
        if !self.changes.iter().any(leaves) {
            return;
        }
        self.turned.extend(changes.iter().filter_map(|change| match *change {
            WorldChange::Components { object, mask, path_as_before_until, .. } if mask & 1 != 0 => {
                Some((object, path_as_before_until))
            }
            WorldChange::PathAhead { object } => Some((object, GameTime::ZERO)),
            _ => None,
        }));
        self.turned.sort_unstable();
        for change in &self.changes {
            let interest::InterestChange::Leave { viewer, object } = *change else { continue };
            let first = self.turned.partition_point(|(turned, _)| *turned < object);
            if let Some(&(turned, as_before)) = self.turned.get(first)
                && turned == object
                && let Some(viewer) = self.viewers.get_mut(viewer)
            {
                viewer.slots.mark_changed(object, 1, times.horizon, as_before.min(times.horizon));
            }
        }
        self.turned.clear();
    }

    fn leave_room_wide(&mut self, object: ObjectId) {
        if self.room_wide.remove(&object) {
            let leave =
                |viewer: &Viewer| interest::InterestChange::Leave { viewer: viewer.client, object };
            self.changes.extend(self.viewers.iter().map(leave));
        }
    }

    /// Notes positions, visibility and budgets. An object that is spawned and despawned within one
    /// tick is skipped: no client ever follows it.
    fn note_change(&mut self, times: TickTimes, change: &WorldChange, world: &World) {
        match *change {
            WorldChange::Spawned { object, cell: Some(cell) } if world.contains(object) => {
                let kind = world.kind(object);
                self.interest.add_object(object, self.interest_classes[usize::from(kind)], cell);
                if world.has_pose(object) {
                    let (pose, position_m) =
                        (world.pose(object), world.position(object).on_the_ground());
                    self.shared_state.pose_table.insert(
                        world.pose_slot(object),
                        kind,
                        stamp(times),
                        pose,
                        position_m,
                    );
                }
            }
            WorldChange::ChangeCell { object, to, .. } if world.contains(object) => {
                self.interest.change_cell(object, to);
            }
            WorldChange::AskWhoSees { object } if world.contains(object) => {
                self.interest.refresh(object);
            }
            WorldChange::AskWhatIsSeenBy { viewer } => self.interest.refresh_viewers_of(viewer),
            WorldChange::Avatar { from, to } => {
                if let Some(client) = self.viewers.change_avatar(from, to) {
                    self.interest.change_avatar(client, to);
                }
            }
            WorldChange::Budget { player, bytes_per_s } => {
                self.set_budget(times.now, player, bytes_per_s);
            }
            _ => {}
        }
    }

    fn note_poses(&mut self, times: TickTimes, world: &World) {
        for &object in world.active_objects() {
            let slot = world.pose_slot(object);
            let pose = world.pose(object);
            let position_m = world.position(object).on_the_ground();
            self.shared_state.pose_table.update(slot, stamp(times), pose, position_m);
            if world.has_jumped(object) {
                self.shared_state.pose_table.note_jump(slot, stamp(times));
            }
        }
    }

    /// A newcomer's home cell is where its avatar is at the end of the tick: the game may have
    /// moved it since it joined, or given the player another one.
    fn add_viewers(&mut self, joining: &[JoiningClient], world: &World) {
        for &JoiningClient { client, .. } in joining {
            let viewer = self.viewers.get_mut(client).expect("a joining client was admitted");
            let avatar = viewer.avatar;
            let home = self.grid.cell_at(world.position(avatar));
            viewer.home = home;
            self.interest.add_viewer(client, avatar, home);
            let slot = self.interest.viewer_slot(client).expect("it was just added");
            self.viewers.set_interest_slot(client, slot);
        }
    }

    /// Moves the home cells of the viewers whose avatars are beyond the margin around theirs
    /// (hysteresis).
    fn move_homes(&mut self, world: &World) {
        let Network { viewers, interest, grid, margin_m, .. } = self;
        viewers.for_each(|viewer| {
            let home = grid.home_cell(viewer.home, world.position(viewer.avatar), *margin_m);
            if home != viewer.home {
                viewer.home = home;
                interest.move_home(viewer.client, home);
            }
        });
    }

    /// Notes the viewers about which the room asks by itself at this tick.
    fn ask_viewers(&mut self, tick: u64, visibility: &GameVisibility<'_>) {
        let checks = visibility.game.sight_checks();
        if checks == SightChecks::ON_DEMAND {
            return;
        }
        let Network { viewers, interest, .. } = self;
        viewers.for_each(|viewer| {
            let facing = visibility.world.facing(viewer.avatar);
            if checks.are_due(tick, viewer.client, viewer.asked_facing, facing) {
                viewer.asked_facing = facing;
                interest.refresh_viewer(viewer.client);
            }
        });
    }

    fn dispatch_change(
        &mut self,
        times: TickTimes,
        change: &WorldChange,
        world: &World,
        stats: &mut RoomStats,
    ) {
        match *change {
            WorldChange::Components { object, mask, late, path_as_before_until } => {
                let horizon = times.horizon;
                let is_path = mask & 1 != 0;
                // What is planned for later is not sent before.
                let as_before = if is_path { path_as_before_until.min(horizon) } else { horizon };
                self.for_each_follower(object, |viewer| {
                    viewer.slots.mark_changed(object, mask & !late, horizon, as_before);
                    viewer.slots.mark_changed(object, mask & late, horizon, GameTime::ZERO);
                });
            }
            WorldChange::PathAhead { object } => {
                self.for_each_follower(object, |viewer| {
                    if viewer.avatar != object {
                        viewer.slots.mark_changed(object, 1, times.horizon, GameTime::ZERO);
                    }
                });
            }
            WorldChange::BecameActive { object } => {
                self.for_each_follower(object, |viewer| viewer.slots.activate_pose(object));
            }
            WorldChange::Engaged { viewer, object, until } => {
                if let Some(viewer) = self.viewers.get_by_avatar_mut(viewer) {
                    viewer.slots.engage(object, until);
                }
            }
            WorldChange::Team { object } if world.contains(object) => {
                self.change_team(times, object, world, stats);
            }
            WorldChange::Avatar { from, to } => {
                self.announce_owner_of(times, from, world, stats);
                self.announce_owner_of(times, to, world, stats);
            }
            WorldChange::Event { kind, audience, effect, ref fields, sound } => {
                let send = |viewer: &mut Viewer| {
                    let mut notice = event_notice(kind, effect, fields, viewer);
                    if viewer.send_notice(times.now, world.schema(), &mut notice) {
                        stats.events += 1;
                    } else {
                        stats.notices_dropped += 1;
                    }
                };
                self.for_each_in(audience, effect, world, send);
                if let (Some(sound), EventAudience::Followers(about)) = (sound, audience) {
                    self.note_sound(&sound, about, effect, world);
                }
            }
            _ => {}
        }
    }

    fn for_each_in(
        &mut self,
        audience: EventAudience,
        effect: GameTime,
        world: &World,
        mut apply: impl FnMut(&mut Viewer),
    ) {
        match audience {
            EventAudience::Followers(about) => self.for_each_follower(about, |viewer| {
                if gets_event(viewer, about, effect) {
                    apply(viewer);
                }
            }),
            EventAudience::Everyone => self.viewers.for_each(apply),
            EventAudience::Player(player) => {
                let avatar = world.player(player).map(|player| player.avatar);
                avatar.and_then(|avatar| self.viewers.get_by_avatar_mut(avatar)).map(apply);
            }
            EventAudience::Team(team) => self.viewers.for_each(|viewer| {
                if world.contains(viewer.avatar) && world.team(viewer.avatar) == Some(team) {
                    apply(viewer);
                }
            }),
        }
    }

    fn for_each_follower(&mut self, object: ObjectId, apply: impl FnMut(&mut Viewer)) {
        let Network { interest, room_wide, viewers, .. } = self;
        for_each_follower(interest, room_wide, viewers, object, apply);
    }

    /// Updates the audiences after an object has changed teams: other clients may know more or less
    /// of it, and if it is an avatar, its player may know more or less of other objects.
    fn change_team(
        &mut self,
        times: TickTimes,
        object: ObjectId,
        world: &World,
        stats: &mut RoomStats,
    ) {
        if self.room_wide.contains(&object) {
            self.announce_owner_of(times, object, world, stats);
        }
        let Network { interest, room_wide, viewers, shared_state, .. } = self;
        let schema = &shared_state.schema;
        for_each_follower(interest, room_wide, viewers, object, |viewer| {
            let access = ViewerAccess::of(world, schema, object, viewer);
            viewer.slots.set_audience(object, access.components, access.is_ally, times.horizon);
        });
        if let Some(viewer) = viewers.get_by_avatar_mut(object) {
            let followed: Vec<ObjectId> =
                viewer.slots.objects().filter(|&object| world.contains(object)).collect();
            for other in followed {
                let access = ViewerAccess::of(world, schema, other, viewer);
                viewer.slots.set_audience(other, access.components, access.is_ally, times.horizon);
            }
        }
    }

    /// A row or an avatar that has another owner now leaves and enters for the clients that lost or
    /// gained it: only an `Enter` says whose it is.
    fn announce_owner_of(
        &mut self,
        times: TickTimes,
        object: ObjectId,
        world: &World,
        stats: &mut RoomStats,
    ) {
        if !world.contains(object) {
            return;
        }
        let is_row = self.room_wide.contains(&object);
        let differs = |viewer: &&Viewer| {
            let is_own = is_own(viewer, object, is_row, world);
            viewer.slots.is_own(object).is_some_and(|was_own| was_own != is_own)
        };
        for viewer in self.viewers.iter().filter(differs).map(|viewer| viewer.client) {
            self.changes.push(interest::InterestChange::Leave { viewer, object });
            self.changes.push(interest::InterestChange::Enter { viewer, object });
        }
        self.apply_interest_changes(times.horizon, world, stats);
    }

    /// Applies the changes of `interest` to the clients' slots.
    fn apply_interest_changes(&mut self, at: GameTime, world: &World, stats: &mut RoomStats) {
        for change in self.changes.drain(..) {
            match change {
                interest::InterestChange::Enter { viewer, object } => {
                    let viewer = self.viewers.get_mut(viewer).expect(FOLLOWER_IS_CLIENT);
                    let ViewerAccess { components, is_ally } =
                        ViewerAccess::of(world, &self.shared_state.schema, object, viewer);
                    let kind = world.kind(object);
                    let is_own = is_own(viewer, object, self.room_wide.contains(&object), world);
                    let pose = world.has_pose(object).then(|| world.pose_slot(object));
                    let here = world.find_position(viewer.avatar);
                    let is_near =
                        here.zip(world.find_position(object)).is_some_and(|(here, place)| {
                            here.ground_distance(place) < self.appears_within_m
                        });
                    viewer.slots.follow(
                        EnteringObject {
                            object,
                            kind,
                            is_own,
                            components,
                            pose_slot: pose,
                            is_ally,
                            is_near,
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

/// Whether an object is a client's avatar, or its player's row.
fn is_own(viewer: &Viewer, object: ObjectId, is_row: bool, world: &World) -> bool {
    object == viewer.avatar || is_row && world.owner(object) == Some(viewer.player)
}

fn for_each_follower(
    interest: &Interest,
    room_wide: &BTreeSet<ObjectId>,
    viewers: &mut Viewers,
    object: ObjectId,
    mut apply: impl FnMut(&mut Viewer),
) {
    if room_wide.contains(&object) {
        return viewers.for_each(apply);
    }
    for &slot in interest.follower_slots(object) {
        apply(viewers.at_interest_slot_mut(slot));
    }
}

const FOLLOWER_IS_CLIENT: &str = "a follower is a client of the room";

/// Whether a client gets an event: not if it follows the object only from a later time on, since it
/// must not learn what happened before the object came into sight, not even a moment before.
pub(super) fn gets_event(viewer: &Viewer, about: ObjectId, effect: GameTime) -> bool {
    viewer.slots.visible_since(about).is_some_and(|since| since <= effect)
}

/// The stamp of the datagrams of this tick.
fn stamp(times: TickTimes) -> GameTime {
    times.now.whole_millis()
}

/// An event for one client, with the aliases under which that client knows the objects.
fn event_notice(
    kind: u8,
    effect: GameTime,
    fields: &[FieldValue<ObjectId>],
    viewer: &Viewer,
) -> Notice {
    let fields = fields
        .iter()
        .map(|field| field.rename_object(|&object| viewer.slots.alias(object)).unwrap_or_default());
    Notice::Event { kind, effect, fields: fields.collect() }
}
