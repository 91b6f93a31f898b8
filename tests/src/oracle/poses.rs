//! Compares what clients know and show of poses with the truth.
//!
//! After each tick the poses of a room go in, and some of its clients. The oracle reports forbidden
//! errors, and measures how fresh and how right the clients' poses are. It shares no code with the
//! coding, sending or storing of poses.
//!
//! Errors:
//! 1. a decoded pose differs, bit for bit, from the object's pose at the stamp that it came with: a
//!    wrong baseline;
//! 2. an object is shown that was never sent to the client, or was sent as another object:
//!    something hidden, or revived.
//!
//! Units: room time. A **stamp** is the room's clock at a tick; the poses of that tick are valid
//! from the stamp plus the local lag on. Bound: [`HISTORY`] of true poses.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::replica::VisibleObject;
use ambit_proto::ids::{Alias, ClientId, ClientObjectId, ObjectId};
use ambit_proto::pose::{self, Extrapolation, Pose};
use ambit_proto::time::GameTime;
use ambit_room::network::viewer::Viewer;
use ambit_room::room::Room;

/// How long true poses are kept: longer than any outage of a test.
pub const HISTORY: Duration = Duration::from_secs(6);

#[derive(Default)]
pub struct PoseOracle {
    delay: Duration,
    /// Oldest first.
    history: VecDeque<TickPoses>,
    clients: BTreeMap<ClientId, ClientRecord>,
    /// Poses compared bit for bit; shows that the check has seen enough.
    pub compared_poses: u64,
}

struct TickPoses {
    stamp: GameTime,
    /// By ascending object.
    poses: Vec<(ObjectId, Pose)>,
}

/// What one client was sent.
#[derive(Default)]
struct ClientRecord {
    aliases: BTreeMap<Alias, ObjectId>,
    /// Objects by the client's own ids.
    ids: BTreeMap<ClientObjectId, ObjectId>,
    /// By the client's id: the stamp up to which poses are compared.
    compared_until: BTreeMap<ClientObjectId, GameTime>,
}

/// Errors of what one client shows at one time.
#[derive(Debug, Default)]
pub struct ViewErrors {
    /// Distance from the truth in metres, of each object that is shown and should be; ascending.
    pub errors_m: Vec<f32>,
    /// Objects that the client follows and does not show.
    pub missing: usize,
}

impl PoseOracle {
    /// Records the poses after a tick of the room.
    pub fn record_tick(&mut self, room: &Room) {
        let world = room.world();
        self.delay = room.config().delay;
        let mut poses: Vec<_> = world
            .objects()
            .filter(|&id| world.has_pose(id))
            .map(|id| (id, world.pose(id)))
            .collect();
        poses.sort_unstable_by_key(|&(id, _)| id);
        self.history.push_back(TickPoses { stamp: world.now().saturating_sub(self.delay), poses });
        while self
            .history
            .front()
            .is_some_and(|tick| self.newest_stamp().since(tick.stamp) > HISTORY)
        {
            self.history.pop_front();
        }
        let present: BTreeSet<ClientId> =
            room.network().viewers().map(|viewer| viewer.client).collect();
        self.clients.retain(|client, _| present.contains(client));
    }

    /// Records which objects the room has sent to this client; to be called after each tick for
    /// every client that is ever checked.
    pub fn record_sent(&mut self, viewer: &Viewer) {
        let record = self.clients.entry(viewer.client).or_default();
        for object in viewer.slots.objects() {
            if let Some(alias) = viewer.slots.alias(object) {
                record.aliases.insert(alias, object);
            }
        }
    }

    /// The object behind a client's own id, if it has been checked.
    pub fn object_of(&self, viewer: ClientId, id: ClientObjectId) -> Option<ObjectId> {
        self.clients.get(&viewer)?.ids.get(&id).copied()
    }

    /// Checks all objects that a client shows.
    pub fn check(&mut self, viewer: ClientId, client: &Client) -> Result<(), String> {
        let Some(play) = client.running_game() else {
            return Ok(());
        };
        let record = self.clients.entry(viewer).or_default();
        for (&alias, &object) in &record.aliases {
            if let Some(id) = play.replica().resolve(alias) {
                let before = record.ids.insert(id, object);
                if before.is_some_and(|before| before != object) {
                    return Err(format!(
                        "{viewer:?} uses id {id} for {object:?} and for {before:?}"
                    ));
                }
            }
        }
        for seen in client.objects() {
            let Some(&object) = record.ids.get(&seen.id) else {
                return Err(format!(
                    "{viewer:?} shows object {}, which it was never sent",
                    seen.id
                ));
            };
            let Some(stamp) = seen.newest_pose_stamp() else {
                continue;
            };
            if record.compared_until.insert(seen.id, stamp) == Some(stamp) {
                continue;
            }
            let Some(tick) = find_tick(&self.history, stamp) else {
                continue;
            };
            let known = seen.pose(stamp + self.delay);
            let truth = tick.pose(object);
            if known != truth {
                return Err(format!(
                    "{viewer:?} has {known:?} for {object:?} at {stamp:?}; the truth is {truth:?}"
                ));
            }
            self.compared_poses += 1;
        }
        Ok(())
    }

    /// For how long the pose that a client would show has been more than `units` of the grid off,
    /// along any axis.
    pub fn age(
        &self,
        object: ObjectId,
        seen: Option<&VisibleObject<'_, ()>>,
        units: u32,
    ) -> Duration {
        let mut age = Duration::ZERO;
        for tick in self.history.iter().rev() {
            age = self.newest_stamp().since(tick.stamp);
            let Some(truth) = tick.pose(object) else {
                break;
            };
            let shown = seen.and_then(|seen| seen.pose(tick.stamp + self.delay));
            if shown.is_some_and(|shown| are_within(&shown, &truth, units)) {
                break;
            }
        }
        age
    }

    /// Whether an object's pose has changed within this time; a new object counts as changed.
    pub fn has_moved(&self, object: ObjectId, lately: Duration) -> bool {
        let mut ticks = self
            .history
            .iter()
            .rev()
            .take_while(|tick| self.newest_stamp().since(tick.stamp) <= lately);
        let newest = ticks.next().and_then(|tick| tick.pose(object));
        ticks.any(|tick| tick.pose(object) != newest)
    }

    /// Compares what a client shows at room time `t` with the truth at that time.
    pub fn view_errors(
        &self,
        room: &Room,
        viewer: ClientId,
        client: &Client,
        t: GameTime,
    ) -> ViewErrors {
        let mut picture = ViewErrors::default();
        let shown: BTreeMap<ObjectId, VisibleObject<'_, ()>> =
            self.shown_objects(viewer, client).collect();
        for object in room.network().interest().followed(viewer) {
            // The room has not decided the pose at `t` yet, so no client can show it.
            let Some(truth) = self.true_pose(room, object, t) else {
                continue;
            };
            match shown.get(&object).and_then(|seen| seen.position(t)) {
                Some(position) => {
                    let format = room.world().pose_format(object);
                    picture.errors_m.push(position.distance(format.position(&truth)));
                }
                None => picture.missing += 1,
            }
        }
        picture.errors_m.sort_unstable_by(f32::total_cmp);
        picture
    }

    /// The objects that a client shows.
    pub fn shown_objects<'c>(
        &self,
        viewer: ClientId,
        client: &'c Client,
    ) -> impl Iterator<Item = (ObjectId, VisibleObject<'c, ()>)> {
        let ids = self.clients.get(&viewer).map(|record| &record.ids);
        client.objects().filter_map(move |seen| Some((*ids?.get(&seen.id)?, seen)))
    }

    /// Where an object is at room time `t`.
    pub fn true_pose(&self, room: &Room, object: ObjectId, t: GameTime) -> Option<Pose> {
        let stamp = t.saturating_sub(self.delay);
        let after = self.history.partition_point(|tick| tick.stamp <= stamp);
        let from = self.history.get(after.checked_sub(1)?)?;
        let before = from.pose(object)?;
        let Some(to) =
            self.history.get(after).and_then(|tick| Some((tick.stamp, tick.pose(object)?)))
        else {
            return Some(before);
        };
        let format = room.world().pose_format(object);
        Some(pose::interpolate(
            &format,
            Extrapolation::First,
            (from.stamp, &before),
            (to.0, &to.1),
            stamp,
        ))
    }

    /// Stamp of the newest tick.
    fn newest_stamp(&self) -> GameTime {
        self.history.back().map_or(GameTime::ZERO, |tick| tick.stamp)
    }
}

impl TickPoses {
    fn pose(&self, object: ObjectId) -> Option<Pose> {
        let index = self.poses.binary_search_by_key(&object, |&(id, _)| id).ok()?;
        Some(self.poses[index].1)
    }
}

impl ViewErrors {
    /// The largest error, leaving out a share of the objects (0 to 1).
    pub fn max_error_without(&self, share: f64) -> f32 {
        let last = ((self.errors_m.len() as f64 * (1.0 - share)).ceil() as usize).saturating_sub(1);
        self.errors_m.get(last).copied().unwrap_or(0.0)
    }
}

fn find_tick(past: &VecDeque<TickPoses>, stamp: GameTime) -> Option<&TickPoses> {
    past.binary_search_by_key(&stamp, |tick| tick.stamp).ok().map(|index| &past[index])
}

fn are_within(a: &Pose, b: &Pose, units: u32) -> bool {
    a.at.iter().zip(b.at).all(|(a, b)| a.abs_diff(b) <= units)
}
