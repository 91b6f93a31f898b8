//! The client's own physics, corrected by poses from the host.
//!
//! The program registers what it shares with each game
//! ([`SharedMotion`](ambit_steering::SharedMotion)); this module runs it. Announced
//! objects, their poses in any order of arrival, and the room time to show go in; poses to draw
//! come out. Pure: the same calls give the same bits.
//!
//! The simulation steps frames (1/60 s) up to the time shown. A pose that arrives early waits for
//! its frame (jitter buffer) and is then applied to the body at once; the visible change is
//! smoothed (`smoothing`). So the host's poses are authoritative, and physics fills the time
//! between them.
//! - Between two received poses of an object nothing has to be guessed: its body follows the curve
//!   between them, and pushes others from there (`Simulation::lead_bodies`). So physics moves it
//!   only while no newer pose is known. Known motion is drawn exactly; only wrong guesses are
//!   smoothed.
//! - A late pose is compared with the simulated pose of its frame. If they agree, nothing changes;
//!   else the pose is extrapolated to the present frame (`extrapolation`). A pose older than the
//!   last applied one is ignored.
//! - The host sends nothing about unchanged objects. So an object that is reported at rest but was
//!   pushed by a wrongly simulated one is put back, once the host has sent data for some time
//!   ([`Simulation::restore_after_frames`]) without a pose of it. The host may be slow when its
//!   budget is tight, so that time grows with the interval between poses of moving objects.
//! - A moving object without new poses keeps its simulated motion: an old pose of a moving object
//!   is less accurate than the simulation that started from it. The host reports where the object
//!   comes to rest, and repeats that until it is acknowledged.
//! - The player's own avatar may be drawn ahead (`prediction`).
//!
//! Invariants:
//! 1. A body exists from the frame of its object's first pose until the object leaves; bodies of
//!    one frame are added by id.
//! 2. When all poses have arrived and everything is at rest on the host, everything is where the
//!    host reports it, bit for bit.
//! 3. A call steps at most [`MAX_STEPS_PER_CALL`] frames, and for the player's own avatar as many
//!    more as `prediction` states.
//!
//! Units: frames, metres. Cost: proportional to bodies that are awake, received poses and smoothed
//! objects; objects at rest cost nothing. Bounds: `MAX_PAST_FRAMES` poses an object; poses up to
//! `MAX_FRAMES_AHEAD` frames ahead. Sources: G. Fiedler, "State Synchronization"; "Synchronisation
//! par le reseau d'un monde virtuel sur Unity" (strategy 2).

mod prediction;
pub(crate) mod shots;
mod smoothing;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::ids::ClientObjectId;
use ambit_proto::keymap::{Keymap, Keys};
use ambit_proto::map::StaticMap;
use ambit_proto::physics::{
    Arena, BodyId, FRAMES_PER_S, SharedPhysics, SimulatedKind, frame_at, frame_time,
};
use ambit_proto::pose::{self, Extrapolation, Motion, Pose, PoseFormat, Turning};
use ambit_proto::time::GameTime;
use ambit_steering::{ControlState, MotionModel};

use crate::client::stats::SimulationStats;
use crate::replica::drawing::{DrawnFrames, velocities_of};
use crate::replica::error_smoothing::length;
use crate::rotation;
use prediction::Prediction;
pub use prediction::PredictionTarget;
use smoothing::SmoothedVisual;

/// Maximum number of frames stepped in one call; if more are missing, they are skipped, and bodies
/// are put at their last reported poses.
pub const MAX_STEPS_PER_CALL: u64 = 15;
/// Poses are kept for frames up to this far ahead: a view that does not draw for longer does not
/// need them.
const MAX_FRAMES_AHEAD: u64 = 10 * FRAMES_PER_S;
/// Length of each body's history in frames: a pose that is later than that is compared with
/// nothing.
const MAX_PAST_FRAMES: usize = 30;
/// How far a pose may differ from the simulated one of its frame and still count as the same.
const SAME_M: f32 = 0.005;
const SAME_M_PER_S: f32 = 0.25;
/// The same for the dot product of the orientations: two degrees.
const SAME_TURN: f32 = 0.999_85;
/// How long the host must have sent data, in addition to a round trip, without a pose of an object
/// at rest, before the object is put back.
const RESTORE_DELAY: Duration = Duration::from_millis(200);
/// Maximum number of frames between two poses for a body to follow the curve between them.
const MAX_LEAD_FRAMES: u64 = FRAMES_PER_S / 2;
/// Known motion is smoothed all the same if it differs from our guess by more than this plus what
/// the object moves in two ticks: then poses between were lost.
const MAX_UNSMOOTHED_M: f32 = 0.05;
/// So slow, an avatar that the host says nothing about is where it was; what the host may leave out
/// of its way is less than the distance.
const ALMOST_STILL_M_PER_S: f32 = 0.5;
const HELD_BACK_M: f32 = 0.5;
/// Half a frame, in whole milliseconds.
const HALF_FRAME: Duration = Duration::from_millis(8);
/// Weight of each new interval in the average interval between poses of moving objects.
const INTERVAL_SMOOTHING: f32 = 1.0 / 64.0;

/// The simulation; see the module.
#[derive(Debug)]
pub struct Simulation {
    model: MotionModel,
    arena: Arena,
    /// The static obstacles, once they are known.
    map: Option<Arc<StaticMap>>,
    physics: Box<dyn SharedPhysics>,
    /// The state is that after the step of this frame.
    frame: Option<u64>,
    objects: BTreeMap<ClientObjectId, SimulatedObject>,
    ids_by_body: BTreeMap<BodyId, ClientObjectId>,
    /// Poses that wait for their frame, by frame and id.
    early_poses: BTreeMap<(u64, ClientObjectId), Pose>,
    /// The host has sent everything up to this frame.
    heard_frame: u64,
    /// Ids of objects that are reported at rest but are elsewhere.
    disturbed: BTreeSet<ClientObjectId>,
    /// Ids of objects that are drawn with an offset.
    smoothed: BTreeSet<ClientObjectId>,
    /// Ids of objects that players steer.
    steered: BTreeSet<ClientObjectId>,
    /// Ids of objects whose drawing has changed since the last call.
    changed: Vec<ClientObjectId>,
    /// Frames from one tick of the host to the next.
    tick_frames: u64,
    /// Reused buffer.
    lead_buffer: Vec<(ClientObjectId, u64, Pose)>,
    /// Reused buffer.
    touched_buffer: Vec<ClientObjectId>,
    /// Average interval between poses of moving objects, in frames.
    pose_interval: f32,
    own: Option<ClientObjectId>,
    prediction: Option<Prediction>,
    stats: SimulationStats,
}

#[derive(Debug)]
struct SimulatedObject {
    kind: SimulatedKind,
    body: Option<BodyId>,
    /// The newest applied pose, and its frame.
    last_applied: Option<(u64, Pose)>,
    /// The newest received frame, and whether the object moved in it.
    newest_received: Option<(u64, bool)>,
    /// Poses after the steps of recent frames in which it moved.
    past: VecDeque<(u64, Pose)>,
    /// Whether the pose of the present frame comes from the host, and is not a guess.
    is_known: bool,
    /// The same for the frame before.
    was_known: bool,
    /// The frame of the newest known jump: nothing lies between the poses before it and since.
    jumped: Option<u64>,
    /// Since which frame the object is not where it was reported at rest.
    disturbed: Option<u64>,
    /// The host says by its silence that it hardly moves, and physics would move it away.
    is_held_back: bool,
    visual: SmoothedVisual,
    keys: Keymap,
}

/// What the player of an object holds at a time, by its id and kind.
pub trait HeldBy: Fn(ClientObjectId, &SimulatedKind, GameTime) -> ControlState {}

impl<F: Fn(ClientObjectId, &SimulatedKind, GameTime) -> ControlState> HeldBy for F {}

/// The times of a simulation step.
#[derive(Clone, Copy, Debug)]
pub struct SimulationTime {
    /// Room time to show.
    pub shown: GameTime,
    /// Room time up to which the host has sent everything: the newest stamp plus the local lag.
    pub received_until: GameTime,
    /// Round-trip time to the host.
    pub rtt: Duration,
}

impl SimulatedObject {
    /// Whether it jumps after one frame and until another.
    fn jumps_between(&self, after: u64, until: u64) -> bool {
        self.jumped.is_some_and(|jumped| after < jumped && jumped <= until)
    }
}

impl Simulation {
    /// The physics of a game without bodies, and a host whose ticks are this many frames apart.
    pub fn new(model: impl Into<MotionModel>, arena: Arena, tick_frames: u64) -> Self {
        let model = model.into();
        let physics = model.create(arena);
        Simulation {
            model,
            arena,
            map: None,
            physics,
            frame: None,
            objects: BTreeMap::new(),
            ids_by_body: BTreeMap::new(),
            early_poses: BTreeMap::new(),
            heard_frame: 0,
            disturbed: BTreeSet::new(),
            smoothed: BTreeSet::new(),
            steered: BTreeSet::new(),
            changed: Vec::new(),
            tick_frames,
            lead_buffer: Vec::new(),
            touched_buffer: Vec::new(),
            pose_interval: 0.0,
            own: None,
            prediction: None,
            stats: SimulationStats::default(),
        }
    }

    /// The obstacles are these from now on.
    pub fn set_map(&mut self, map: Arc<StaticMap>) {
        self.physics.set_map(&map);
        if let Some(prediction) = &mut self.prediction {
            prediction.set_map(&map);
        }
        self.map = Some(map);
    }

    /// Adds an object of a simulated kind; its pose follows. Ids ascend.
    pub fn enter(&mut self, id: ClientObjectId, kind: u8, own: bool) {
        let Some(kind) = self.model.kind(kind) else {
            return;
        };
        let visual = SmoothedVisual::new(kind.format, 0, &Pose::default());
        self.objects.insert(
            id,
            SimulatedObject {
                kind,
                body: None,
                last_applied: None,
                newest_received: None,
                past: VecDeque::new(),
                is_known: false,
                was_known: false,
                jumped: None,
                disturbed: None,
                is_held_back: false,
                visual,
                keys: Keymap::default(),
            },
        );
        if self.model.is_steered() || !kind.held_controls.is_empty() {
            self.steered.insert(id);
        }
        if own {
            (self.own, self.prediction) = (Some(id), None);
        }
    }

    /// Removes an object.
    pub fn leave(&mut self, id: ClientObjectId) {
        let Some(object) = self.objects.remove(&id) else {
            return;
        };
        for list in [&mut self.disturbed, &mut self.smoothed, &mut self.steered] {
            list.remove(&id);
        }
        if let Some(body) = object.body {
            self.ids_by_body.remove(&body);
            self.physics.remove(body);
        }
        if self.own == Some(id) {
            (self.own, self.prediction) = (None, None);
        }
    }

    /// The host reports that an object jumps at room time `at`; its poses follow.
    pub fn handle_jump(&mut self, id: ClientObjectId, at: GameTime) {
        if let Some(object) = self.objects.get_mut(&id) {
            object.jumped = object.jumped.max(Some(frame_at(at)));
        }
    }

    /// The host reports the pose at room time `at`.
    pub fn handle_pose(&mut self, id: ClientObjectId, at: GameTime, pose: &Pose) {
        let frame = frame_at(at);
        let Some(object) = self.objects.get_mut(&id) else {
            return;
        };
        if let Some((before, moved)) = object.newest_received.filter(|(before, _)| *before < frame)
            && moved
        {
            let gap = frame.saturating_sub(before).min(2 * FRAMES_PER_S) as f32;
            self.pose_interval += (gap - self.pose_interval) * INTERVAL_SMOOTHING;
        }
        if object.newest_received.is_none_or(|(before, _)| before <= frame) {
            object.newest_received = Some((frame, !pose.flag));
            object.is_held_back = false;
        }
        match self.frame {
            Some(present) if frame > present + MAX_FRAMES_AHEAD => {}
            Some(present) if frame <= present => self.apply_late(id, frame, present, pose),
            _ => _ = self.early_poses.insert((frame, id), *pose),
        }
    }

    /// Advances to the time to show. `held` returns what the player of an object holds at a time.
    pub fn advance(
        &mut self,
        times: SimulationTime,
        ahead: Option<&PredictionTarget<'_>>,
        held: &impl HeldBy,
    ) {
        self.changed.clear();
        self.heard_frame = self.heard_frame.max(frame_at(times.received_until));
        let target = frame_to_show(times.shown);
        match self.frame {
            Some(frame) if target <= frame + MAX_STEPS_PER_CALL => {
                for next in frame + 1..=target {
                    self.step(next, held);
                }
            }
            _ => self.skip_to(target),
        }
        self.restore(times.rtt);
        self.hold_back(times.rtt);
        self.predict_own_avatar(times.shown, ahead, held);
        self.changed.sort_unstable();
        self.changed.dedup();
    }

    /// Objects whose drawing has changed since the call before the last, with their frames.
    pub fn changed(&self) -> impl Iterator<Item = (ClientObjectId, DrawnFrames)> {
        self.changed.iter().filter_map(|&id| Some((id, self.drawing(id)?)))
    }

    /// What to draw of an object; `None` before its first pose has arrived.
    pub fn drawing(&self, id: ClientObjectId) -> Option<DrawnFrames> {
        let predicted = self.prediction.as_ref().filter(|_| self.own == Some(id));
        let object = self.objects.get(&id)?;
        let body = object.body?;
        Some(
            predicted.map_or_else(
                || object.visual.drawing(&self.physics.pose(body)),
                Prediction::drawing,
            ),
        )
    }

    /// The simulated pose of an object.
    pub fn pose(&self, id: ClientObjectId) -> Option<Pose> {
        Some(self.physics.pose(self.objects.get(&id)?.body?))
    }

    /// The format of the poses of the player's own avatar.
    pub(crate) fn own_format(&self) -> Option<PoseFormat> {
        Some(self.objects.get(&self.own?)?.kind.format)
    }

    /// The frames for which the player's own avatar is predicted, with its pose after the step and
    /// what the player holds in it.
    pub(crate) fn predicted_frames(&self) -> impl Iterator<Item = (u64, Pose, ControlState)> {
        self.prediction.iter().flat_map(Prediction::frames)
    }

    /// The present frame.
    pub fn frame(&self) -> Option<u64> {
        self.frame
    }

    /// Number of bodies.
    pub fn bodies(&self) -> usize {
        self.ids_by_body.len()
    }

    /// Whether anything moves, or waits for its frame.
    pub fn is_busy(&self) -> bool {
        !self.early_poses.is_empty()
            || !self.smoothed.is_empty()
            || !self.physics.changed_bodies().is_empty()
    }

    /// The counters since the start.
    pub fn stats(&self) -> &SimulationStats {
        &self.stats
    }

    /// For how many frames the host must have sent data without a pose of an object at rest, before
    /// the object is put back.
    pub fn restore_after_frames(&self, rtt: Duration) -> u64 {
        frame_at(GameTime::ZERO + RESTORE_DELAY + rtt) + (2.0 * self.pose_interval) as u64
    }

    fn step(&mut self, frame: u64, held: &impl HeldBy) {
        self.steer(frame, held);
        self.physics.step();
        self.frame = Some(frame);
        self.stats.steps += 1;
        self.mark_moved_as_guessed();
        let mut touched = std::mem::take(&mut self.touched_buffer);
        touched.clear();
        touched.extend(self.physics.changed_bodies().iter().map(|body| self.ids_by_body[body]));
        for &id in &self.smoothed {
            self.objects.get_mut(&id).expect("a smoothed object exists").visual.decay();
            touched.push(id);
        }
        while let Some((&(due, id), _)) =
            self.early_poses.first_key_value().filter(|((due, _), _)| *due <= frame)
        {
            let pose = self.early_poses.remove(&(due, id)).expect("the key was just read");
            if self.objects.contains_key(&id) {
                self.apply(id, due, &pose, &pose);
                touched.push(id);
            }
        }
        self.lead_bodies(frame, &mut touched);
        touched.sort_unstable();
        touched.dedup();
        for &id in &touched {
            self.show(id, frame);
        }
        self.touched_buffer = touched;
    }

    /// Marks moved bodies as guesses, unless a pose of this frame follows; `was_known` keeps the
    /// previous state.
    fn mark_moved_as_guessed(&mut self) {
        for body in self.physics.changed_bodies() {
            let object =
                self.objects.get_mut(&self.ids_by_body[body]).expect("a body belongs to an object");
            (object.was_known, object.is_known) = (object.is_known, false);
        }
    }

    /// Puts each body whose next pose has arrived on the curve between its poses.
    fn lead_bodies(&mut self, frame: u64, touched: &mut Vec<ClientObjectId>) {
        let mut leads = std::mem::take(&mut self.lead_buffer);
        leads.clear();
        leads.extend(
            self.early_poses
                .range(first_key(frame + 1)..first_key(frame + MAX_LEAD_FRAMES))
                .map(|(&(due, id), pose)| (id, due, *pose)),
        );
        // Keep only the next pose of each object.
        leads.sort_by_key(|&(id, due, _)| (id, due));
        leads.dedup_by_key(|&mut (id, ..)| id);
        for (id, due, next) in leads.drain(..) {
            let Some(object) = self.objects.get(&id) else {
                continue;
            };
            let Some((body, (since, reported))) = object.body.zip(object.last_applied) else {
                continue;
            };
            // An object at rest may have started to move at the previous tick.
            let since =
                if reported.flag { since.max(due.saturating_sub(self.tick_frames)) } else { since };
            if since >= frame
                || due - since > MAX_LEAD_FRAMES
                || reported.flag && next.flag
                || object.jumps_between(since, due)
            {
                continue;
            }
            let now = interpolate(&object.kind.format, (since, &reported), (due, &next), frame);
            self.set_body_pose(id, body, &now);
            touched.push(id);
        }
        self.lead_buffer = leads;
    }

    fn steer(&mut self, frame: u64, held: &impl HeldBy) {
        let at = read_keys_at(frame);
        for &id in &self.steered {
            let object = self.objects.get_mut(&id).expect("a steered object exists");
            let Some(body) = object.body else { continue };
            let ControlState { keys: current, axes } = held(id, &object.kind, at);
            if current != object.keys || current != Keymap::default() {
                self.physics.set_keys(body, Keys { previous: object.keys, current });
                object.keys = current;
            }
            self.physics.set_axes(body, axes);
        }
    }

    /// Too many frames are missing: puts everything at its last reported pose.
    fn skip_to(&mut self, frame: u64) {
        self.frame = Some(frame);
        let later = self.early_poses.split_off(&first_key(frame + 1));
        let due = std::mem::replace(&mut self.early_poses, later);
        let newest: BTreeMap<ClientObjectId, (u64, Pose)> =
            due.into_iter().map(|((due, id), pose)| (id, (due, pose))).collect();
        for (id, (due, pose)) in newest {
            let Some(kind) = self.objects.get(&id).map(|object| object.kind) else {
                continue;
            };
            let now = self.physics.extrapolate(&kind, &pose, frame - due);
            self.apply(id, due, &pose, &now);
        }
        let ids: Vec<ClientObjectId> = self.ids_by_body.values().copied().collect();
        for id in ids {
            self.show(id, frame);
            self.changed.push(id);
        }
        self.prediction = None;
    }

    /// Applies a pose of a frame that was drawn already.
    fn apply_late(&mut self, id: ClientObjectId, frame: u64, present: u64, pose: &Pose) {
        let object = self.objects.get_mut(&id).expect("the caller has checked");
        if object.last_applied.is_some_and(|(reported, before)| {
            reported > frame || reported == frame && before == *pose
        }) {
            return;
        }
        self.stats.late_poses += u64::from(frame < present);
        let was = object.past.iter().rev().find(|(then, _)| *then <= frame);
        if object.body.is_some()
            && was.is_some_and(|(_, was)| is_same_pose(&object.kind.format, was, pose))
        {
            object.last_applied = Some((frame, *pose));
            return self.check_rest(id, present);
        }
        let now = self.physics.extrapolate(&object.kind, pose, present - frame);
        self.apply(id, frame, pose, &now);
        self.show(id, present);
    }

    /// Applies the host's pose of `frame`; `now` is that pose in the present frame.
    fn apply(&mut self, id: ClientObjectId, frame: u64, reported: &Pose, now: &Pose) {
        let present = self.frame.expect("the simulation has a frame");
        let object = self.objects.get_mut(&id).expect("the caller has checked");
        if object.last_applied.is_some_and(|(before, _)| before > frame) {
            return;
        }
        let before = object.last_applied.replace((frame, *reported));
        if let Some(body) = object.body {
            if before.is_some_and(|(before, _)| object.jumps_between(before, frame)) {
                self.physics.set_pose(body, now);
                object.visual.jump(now);
                object.past.clear();
                object.is_known = true;
            } else {
                self.set_body_pose(id, body, now);
            }
        } else {
            let body = self.physics.add(object.kind.kind, now);
            object.body = Some(body);
            object.visual = SmoothedVisual::new(object.kind.format, present, now);
            object.is_known = true;
            self.ids_by_body.insert(body, id);
        }
    }

    /// Moves a body and smooths the visible change.
    fn set_body_pose(&mut self, id: ClientObjectId, body: BodyId, now: &Pose) {
        let was = self.physics.pose(body);
        let object = self.objects.get_mut(&id).expect("a body belongs to an object");
        // A pose at rest is also the pose of the previous frame.
        let was_known = std::mem::replace(&mut object.is_known, true) || object.was_known;
        if was == *now {
            return;
        }
        self.physics.set_pose(body, now);
        let format = &object.kind.format;
        let (linear, _) = format.velocities(now);
        let stride_m = 2.0 * length(linear) * self.tick_frames as f32 / FRAMES_PER_S as f32;
        let moved_m = metres_between(format, &was, now);
        let leaps = moved_m > MAX_UNSMOOTHED_M + stride_m;
        if (leaps || !was_known) && (was.at, was.turn) != (now.at, now.turn) {
            object.visual.correct(&was, now);
            self.smoothed.insert(id);
            self.stats.corrections.add(moved_m);
        }
    }

    /// Updates the drawing after the step of `frame`, and records the pose.
    fn show(&mut self, id: ClientObjectId, frame: u64) {
        let Some(object) = self.objects.get_mut(&id) else {
            return;
        };
        let Some(body) = object.body else { return };
        let pose = self.physics.pose(body);
        object.visual.show(frame, &pose);
        if !object.visual.is_smoothing() {
            self.smoothed.remove(&id);
        }
        if object.past.pop_back_if(|(then, _)| *then == frame).is_none()
            && object.past.len() == MAX_PAST_FRAMES
        {
            object.past.pop_front();
        }
        object.past.push_back((frame, pose));
        self.check_rest(id, frame);
        self.changed.push(id);
    }

    /// Notes whether an object that should be at rest is where it was reported.
    fn check_rest(&mut self, id: ClientObjectId, frame: u64) {
        let object = self.objects.get_mut(&id).expect("the caller has checked");
        let Some((body, (_, reported))) = object.body.zip(object.last_applied) else {
            return;
        };
        if reported.flag && self.physics.pose(body) != reported {
            object.disturbed.get_or_insert(frame);
            self.disturbed.insert(id);
        } else if object.disturbed.take().is_some() {
            self.disturbed.remove(&id);
        }
    }

    /// Puts back objects that have not moved according to the host's silence.
    fn restore(&mut self, rtt: Duration) {
        let (restore_after, received_until) =
            (self.restore_after_frames(rtt), self.heard_frame.min(self.frame.unwrap_or_default()));
        let is_wrong = |object: &SimulatedObject| {
            object.disturbed.is_some_and(|since| received_until >= since + restore_after)
        };
        let wrong: Vec<ClientObjectId> =
            self.disturbed.iter().copied().filter(|id| is_wrong(&self.objects[id])).collect();
        for id in wrong {
            let object = &self.objects[&id];
            let (body, (_, reported)) = object
                .body
                .zip(object.last_applied)
                .expect("a disturbed object has a pose and a body");
            self.set_body_pose(id, body, &reported);
            self.stats.restored += 1;
            self.show(id, self.frame.expect("the simulation has a frame"));
        }
    }

    /// Keeps a steered avatar where it was reported almost at rest if the host has sent data for
    /// some time and no pose of it. Whether an avatar slides along an obstacle or is stopped by it
    /// may depend on less than a step of the grid.
    fn hold_back(&mut self, rtt: Duration) {
        let restore_after = self.restore_after_frames(rtt);
        let Some((own, frame)) = self.own.filter(|_| self.model.is_steered()).zip(self.frame)
        else {
            return;
        };
        let object = self.objects.get_mut(&own).expect("the own avatar is an object");
        let Some((body, (since, reported))) = object.body.zip(object.last_applied) else {
            return;
        };
        let is_newest = object.newest_received.is_some_and(|(newest, _)| newest <= since);
        let is_silent = self.heard_frame.min(frame) >= since + restore_after;
        let format = object.kind.format;
        let (linear, _) = velocities_of(&format, &reported);
        if !is_newest || !is_silent || length(linear) > ALMOST_STILL_M_PER_S {
            return;
        }
        let off_m = metres_between(&format, &self.physics.pose(body), &reported);
        object.is_held_back |= off_m > HELD_BACK_M;
        if object.is_held_back {
            self.set_body_pose(own, body, &reported);
            self.show(own, frame);
        }
    }

    /// Updates the prediction of the player's own avatar.
    fn predict_own_avatar(
        &mut self,
        shown: GameTime,
        ahead: Option<&PredictionTarget<'_>>,
        held: &impl HeldBy,
    ) {
        let own = self.own.filter(|own| self.objects[own].body.is_some());
        let (Some(ahead), Some(own), Some(frame)) = (ahead, own, self.frame) else {
            self.prediction = None;
            return;
        };
        let mut prediction = self.prediction.take().unwrap_or_else(|| self.new_prediction(own));
        let main = prediction::MainSimulation {
            physics: &*self.physics,
            objects: &self.objects,
            early_poses: &self.early_poses,
            frame,
        };
        prediction.advance(main, shown, ahead, held, &mut self.stats);
        self.prediction = Some(prediction);
        self.changed.push(own);
    }

    fn new_prediction(&self, own: ClientObjectId) -> Prediction {
        let mut physics = self.model.create(self.arena);
        if let Some(map) = &self.map {
            physics.set_map(map);
        }
        let format = self.objects[&own].kind.format;
        Prediction::new(own, format, physics, self.model.reach_m())
    }
}

/// The lowest key of the early poses of a frame.
fn first_key(frame: u64) -> (u64, ClientObjectId) {
    (frame, ClientObjectId::default())
}

/// The first frame that is not before `shown`.
pub(crate) fn frame_to_show(shown: GameTime) -> u64 {
    let nearest = frame_at(shown);
    if frame_time(nearest) < shown { nearest + 1 } else { nearest }
}

/// The time at which the keys for the step to a frame are read. Keys act in the step after the
/// frame in which they change, so this is the last millisecond that belongs to the frame before.
fn read_keys_at(frame: u64) -> GameTime {
    frame_time(frame.saturating_sub(1)) + HALF_FRAME
}

/// Whether a simulated pose equals the host's. For a pose at rest, every bit counts.
fn is_same_pose(format: &PoseFormat, simulated: &Pose, reported: &Pose) -> bool {
    if reported.flag {
        return simulated == reported;
    }
    let same_units = (SAME_M * f32::from(format.per_metre)) as u32;
    if let Turning::Yaw { bits } = format.turn {
        // Both ends go on from what they have not rounded.
        let [a, b] = [simulated.turn[0], reported.turn[0]];
        let steps = a.abs_diff(b).min((1 << bits) - a.abs_diff(b));
        let same_speed = (SAME_M_PER_S * f32::from(format.per_metre)) as u16;
        let near =
            simulated.at.iter().zip(reported.at).all(|(a, b)| a.abs_diff(b) <= same_units.max(1));
        return near && steps <= 1 && simulated.speed.abs_diff(reported.speed) <= same_speed.max(1);
    }
    let near =
        simulated.at.iter().zip(reported.at).all(|(a, b)| a.abs_diff(b) <= same_units.max(1));
    let per_m_per_s = format.motion.map_or(0, |grid| grid.linear);
    let same_speed = (SAME_M_PER_S * f32::from(per_m_per_s)) as u16;
    let speeds = simulated.motion.linear.iter().zip(reported.motion.linear);
    let turns = [simulated, reported].map(|pose| format.quaternion(pose));
    near && speeds.into_iter().all(|(a, b)| a.abs_diff(b) <= same_speed.max(1))
        && rotation::dot(turns[0], turns[1]).abs() > SAME_TURN
}

fn metres_between(format: &PoseFormat, a: &Pose, b: &Pose) -> f32 {
    length(std::array::from_fn(|axis| {
        (a.at[axis] - b.at[axis]) as f32 / f32::from(format.per_metre)
    }))
}

/// The pose on the curve between two poses with their frames, with an interpolated velocity.
fn interpolate(format: &PoseFormat, from: (u64, &Pose), to: (u64, &Pose), frame: u64) -> Pose {
    let ((since, reported), (due, next)) = (from, to);
    let at = pose::interpolate(
        format,
        Extrapolation::First,
        (frame_time(since), reported),
        (frame_time(due), next),
        frame_time(frame),
    );
    let part = (frame - since) as i32;
    let whole = (due - since) as i32;
    let mix = |a: i16, b: i16| (i32::from(a) + (i32::from(b) - i32::from(a)) * part / whole) as i16;
    let mixed = |a: [i16; 3], b: [i16; 3]| std::array::from_fn(|axis| mix(a[axis], b[axis]));
    let motion = Motion {
        linear: mixed(reported.motion.linear, next.motion.linear),
        angular: mixed(reported.motion.angular, next.motion.angular),
    };
    Pose { flag: false, motion, ..at }
}
