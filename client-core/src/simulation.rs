//! A client's own physics of the game `cubes`, which goes on from what the host tells.
//!
//! Which objects there are, their poses in whatever order these arrive, and the room time to be
//! shown go in; what is drawn comes out. Pure: the same calls give the same bits.
//!
//! A frame (1/60 s) after another is simulated up to the time shown. A pose that arrives ahead of
//! it is held until then (buffer against jitter) and applied hard to the body; what that changes of
//! the picture is smoothed away (`smoothing`). So what the host says stands, and between two words
//! of the host's about an object the physics goes on.
//!
//! - Between two words about an object that have both come in, there is nothing to guess: the body
//!   is led along the curve between them, and pushes others from there (`Simulation::lead`). So its
//!   physics has a say only while nothing newer is known. What is known in time is drawn as it is;
//!   only what was guessed wrong is smoothed.
//! - A pose that comes late says where our picture should have been. If it was there, all is well;
//!   else the pose is moved on to the present frame (`forward`). One older than what was applied
//!   says nothing.
//! - The host is silent about what has not changed. So an object that is told to be at rest and
//!   that our own picture of another one has pushed is put back, once the host has been heard for a
//!   while ([`Simulation::patience`]) without a word about it. The host may be slow to tell when
//!   its budget is tight; so that while grows with the time between its words about what moves.
//! - An object in motion about which nothing more is heard goes on as simulated: an old word about
//!   motion says less of where it is by now than the physics that went on from it. Where it comes
//!   to rest, the host says, and repeats until it is confirmed.
//! - The own cube may be drawn ahead (`prediction`).
//!
//! Invariants:
//! 1. A body is there from the frame of its object's first pose on, until its object leaves; those
//!    of one frame are added by id.
//! 2. When all words have come in and everything is at rest there, everything is where the host
//!    says, bit for bit.
//! 3. At most [`MAX_STEPS_PER_CALL`] frames are stepped in a call, and as many again for the own
//!    cube as `prediction` says.
//!
//! Units: frames, metres. Cost: what is awake, what is told and what is smoothed; nothing for what
//! rests. OffsetBounds: `PAST` poses an object; poses up to `FARTHEST` frames ahead. PoseSource:
//! reference 002 (state synchronisation), 000 (strategy 2).

mod extrapolation;
mod prediction;
mod smoothing;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use ambit_proto::games::cubes::{
    Arena, BodyId, FRAMES_PER_S, PLAYER, POSE_FORMAT, Physics, frame_at, frame_time,
};
use ambit_proto::keymap::{Keymap, Keys};
use ambit_proto::pose::{self, Motion, Pose};
use ambit_proto::time::GameTime;

use crate::client::stats::SimulationStats;
use crate::replica::drawing::DrawnFrames;
use crate::replica::error_smoothing::length;
use crate::rotation;
use extrapolation::extrapolate;
use prediction::Prediction;
pub use prediction::PredictionTarget;
use smoothing::SmoothedVisual;

/// Frames stepped in one call at most; if more are missing, they are skipped, and bodies put where
/// they were last said to be.
pub const MAX_STEPS_PER_CALL: u64 = 15;
/// Poses are held for frames up to so many ahead: who does not draw for longer need not know them.
const MAX_FRAMES_AHEAD: u64 = 10 * FRAMES_PER_S;
/// Frames that each body's past goes back: a pose that comes later than that is compared with
/// nothing.
const MAX_PAST_FRAMES: usize = 30;
/// What a pose may differ from our own of the same frame without being news: half a centimetre, and
/// a quarter of a metre a second.
const SAME_UNITS: u32 = 20;
const SAME_SPEED_UNITS: u16 = 32;
/// And as the dot product of the orientations: two degrees.
const SAME_TURN: f32 = 0.999_85;
/// How long the host must have been heard, beside a round trip, without a word about what rests,
/// before its last word stands.
const RESTORE_DELAY: Duration = Duration::from_millis(200);
/// Frames between two words about an object, at most, for it to be led from one to the other.
const MAX_LEAD_FRAMES: u64 = FRAMES_PER_S / 2;
/// What is known in time is smoothed all the same where it differs from our guess by that and by
/// what it moves in two ticks: words between are lost.
const MAX_UNSMOOTHED_M: f32 = 0.05;
/// Half a frame, in whole milliseconds.
const HALF_FRAME: Duration = Duration::from_millis(8);
/// By how much each word about what moves counts in the usual time between two of them.
const INTERVAL_SMOOTHING: f32 = 1.0 / 64.0;

/// See the module.
#[derive(Debug)]
pub struct Simulation {
    arena: Arena,
    physics: Physics,
    /// The state is the one after the step of this frame.
    frame: Option<u64>,
    cubes: BTreeMap<u32, SimulatedCube>,
    /// Ids by body.
    ids_by_body: BTreeMap<BodyId, u32>,
    /// Poses ahead of the simulation, by frame and id.
    early_poses: BTreeMap<(u64, u32), Pose>,
    /// Up to this frame the host has told what it had to.
    heard_frame: u64,
    /// Ids of what is told to rest and is not where it is told to be.
    disturbed: BTreeSet<u32>,
    /// Ids of what is drawn elsewhere than it is simulated.
    smoothed: BTreeSet<u32>,
    /// Ids of players' cubes.
    players: BTreeSet<u32>,
    /// Ids of what is drawn differently since the last call.
    changed: Vec<u32>,
    /// Frames from one tick of the host to the next.
    tick_frames: u64,
    /// Reused.
    lead_buffer: Vec<(u32, u64, Pose)>,
    /// Reused.
    touched_buffer: Vec<u32>,
    /// The usual time between two words about what moves, in frames.
    pose_interval: f32,
    own: Option<u32>,
    prediction: Option<Prediction>,
    stats: SimulationStats,
}

#[derive(Debug)]
struct SimulatedCube {
    kind: u8,
    body: Option<BodyId>,
    /// The newest word that was applied, and its frame.
    last_applied: Option<(u64, Pose)>,
    /// The newest frame that was heard of, and whether it moved in it.
    newest_received: Option<(u64, bool)>,
    /// Poses after the steps of recent frames in which it moved.
    past: VecDeque<(u64, Pose)>,
    /// Whether the pose of the present frame is what the host's words say, and not our own guess.
    is_confirmed: bool,
    /// The same of the frame before.
    was_known: bool,
    /// The frame in which it was found elsewhere than told, while that is so.
    disturbed: Option<u64>,
    visual: SmoothedVisual,
    keys: Keymap,
}

/// When it is.
#[derive(Clone, Copy, Debug)]
pub struct SimulationTime {
    /// Room time that is to be shown.
    pub shown: GameTime,
    /// Up to which room time the host has told what there is to tell: the newest stamp and the
    /// local lag.
    pub heard: GameTime,
    /// Round trip to the host.
    pub rtt: Duration,
}

impl Simulation {
    /// An empty floor, and a host whose ticks are so many frames apart.
    pub fn new(arena: Arena, tick_frames: u64) -> Self {
        let physics = Physics::new(arena);
        let (frame, cubes, names, held, heard, disturbed, smoothed, players) = Default::default();
        let (changed, stirred, rhythm, own, prediction, stats) = Default::default();
        Simulation {
            arena,
            physics,
            frame,
            cubes,
            ids_by_body: names,
            early_poses: held,
            heard_frame: heard,
            disturbed,
            smoothed,
            players,
            changed,
            tick_frames,
            lead_buffer: Vec::new(),
            touched_buffer: stirred,
            pose_interval: rhythm,
            own,
            prediction,
            stats,
        }
    }

    /// An object is followed from now on; where it is will be told. Ids ascend.
    pub fn enter(&mut self, id: u32, kind: u8, own: bool) {
        let visual = SmoothedVisual::new(0, &Pose::default());
        let (body, told, newest, past, disturbed, keys) = Default::default();
        self.cubes.insert(
            id,
            SimulatedCube {
                kind,
                body,
                last_applied: told,
                newest_received: newest,
                past,
                is_confirmed: false,
                was_known: false,
                disturbed,
                visual,
                keys,
            },
        );
        if kind == PLAYER {
            self.players.insert(id);
        }
        if own {
            (self.own, self.prediction) = (Some(id), None);
        }
    }

    /// An object is not followed any more.
    pub fn leave(&mut self, id: u32) {
        let Some(cube) = self.cubes.remove(&id) else {
            return;
        };
        for list in [&mut self.disturbed, &mut self.smoothed, &mut self.players] {
            list.remove(&id);
        }
        if let Some(body) = cube.body {
            self.ids_by_body.remove(&body);
            self.physics.remove(body);
        }
        if self.own == Some(id) {
            (self.own, self.prediction) = (None, None);
        }
    }

    /// The host says: at the room time `at`, this was the pose.
    pub fn handle_pose(&mut self, id: u32, at: GameTime, pose: &Pose) {
        let frame = frame_at(at);
        let Some(cube) = self.cubes.get_mut(&id) else {
            return;
        };
        if let Some((before, moved)) = cube.newest_received.filter(|(before, _)| *before < frame)
            && moved
        {
            let gap = frame.saturating_sub(before).min(2 * FRAMES_PER_S) as f32;
            self.pose_interval += (gap - self.pose_interval) * INTERVAL_SMOOTHING;
        }
        if cube
            .newest_received
            .is_none_or(|(before, _)| before <= frame)
        {
            cube.newest_received = Some((frame, !pose.flag));
        }
        match self.frame {
            Some(present) if frame > present + MAX_FRAMES_AHEAD => {}
            Some(present) if frame <= present => self.apply_late(id, frame, present, pose),
            _ => _ = self.early_poses.insert((frame, id), *pose),
        }
    }

    /// Goes on to the time that is to be shown. `keys` says what the player of a cube holds at a
    /// time.
    pub fn advance(
        &mut self,
        moment: SimulationTime,
        ahead: Option<&PredictionTarget<'_>>,
        keys: &impl Fn(u32, GameTime) -> Keymap,
    ) {
        self.changed.clear();
        self.heard_frame = self.heard_frame.max(frame_at(moment.heard));
        let target = frame_to_show(moment.shown);
        match self.frame {
            Some(frame) if target <= frame + MAX_STEPS_PER_CALL => {
                for next in frame + 1..=target {
                    self.step(next, keys);
                }
            }
            _ => self.skip_to(target),
        }
        self.restore(moment.rtt);
        self.predict_own_cube(moment.shown, ahead, keys);
        self.changed.sort_unstable();
        self.changed.dedup();
    }

    /// What is drawn differently since the call before the last.
    pub fn changed(&self) -> impl Iterator<Item = (u32, DrawnFrames)> {
        self.changed
            .iter()
            .filter_map(|&id| Some((id, self.drawing(id)?)))
    }

    /// What is drawn of an object; `Unchanged` before its first pose has come.
    pub fn drawing(&self, id: u32) -> Option<DrawnFrames> {
        let foretold = self.prediction.as_ref().filter(|_| self.own == Some(id));
        let cube = self.cubes.get(&id)?;
        let body = cube.body?;
        Some(foretold.map_or_else(
            || cube.visual.drawing(&self.physics.pose(body)),
            Prediction::drawing,
        ))
    }

    /// What is simulated of an object.
    pub fn pose(&self, id: u32) -> Option<Pose> {
        Some(self.physics.pose(self.cubes.get(&id)?.body?))
    }

    /// The frame that is simulated.
    pub fn frame(&self) -> Option<u64> {
        self.frame
    }

    /// Bodies that there are.
    pub fn bodies(&self) -> usize {
        self.ids_by_body.len()
    }

    /// Whether anything moves, or waits for its frame.
    pub fn is_busy(&self) -> bool {
        !self.early_poses.is_empty()
            || !self.smoothed.is_empty()
            || self.physics.changed_bodies().len() > 0
    }

    /// What was counted so far.
    pub fn stats(&self) -> &SimulationStats {
        &self.stats
    }

    /// How many frames the host must have been heard without a word about what rests, before its
    /// last word stands.
    pub fn restore_after_frames(&self, rtt: Duration) -> u64 {
        frame_at(GameTime::ZERO + RESTORE_DELAY + rtt) + (2.0 * self.pose_interval) as u64
    }

    fn step(&mut self, frame: u64, keys: &impl Fn(u32, GameTime) -> Keymap) {
        self.steer(frame, keys);
        self.physics.step();
        self.frame = Some(frame);
        self.stats.steps += 1;
        self.mark_moved_as_guessed();
        let mut stirred = std::mem::take(&mut self.touched_buffer);
        stirred.clear();
        stirred.extend(
            self.physics
                .changed_bodies()
                .map(|body| self.ids_by_body[&body]),
        );
        for &id in &self.smoothed {
            self.cubes
                .get_mut(&id)
                .expect("what is smoothed is there")
                .visual
                .decay();
            stirred.push(id);
        }
        while let Some((&(due, id), _)) = self
            .early_poses
            .first_key_value()
            .filter(|((due, _), _)| *due <= frame)
        {
            let pose = self
                .early_poses
                .remove(&(due, id))
                .expect("it is the first");
            if self.cubes.contains_key(&id) {
                self.apply(id, due, &pose, &pose);
                stirred.push(id);
            }
        }
        self.lead_bodies(frame, &mut stirred);
        stirred.sort_unstable();
        stirred.dedup();
        for &id in &stirred {
            self.show(id, frame);
        }
        self.touched_buffer = stirred;
    }

    /// What moved by our own physics is a guess, unless a word about this frame follows;
    /// `was_known` has what it was before.
    fn mark_moved_as_guessed(&mut self) {
        for body in self.physics.changed_bodies() {
            let cube = self
                .cubes
                .get_mut(&self.ids_by_body[&body])
                .expect("a body has a cube");
            (cube.was_known, cube.is_confirmed) = (cube.is_confirmed, false);
        }
    }

    /// Puts each body of which the host's next word has come in, too, on the curve between its
    /// words.
    fn lead_bodies(&mut self, frame: u64, stirred: &mut Vec<u32>) {
        let mut led = std::mem::take(&mut self.lead_buffer);
        led.clear();
        led.extend(
            self.early_poses
                .range((frame + 1, 0)..(frame + MAX_LEAD_FRAMES, 0))
                .map(|(&(due, id), pose)| (id, due, *pose)),
        );
        // Of each object the next one only.
        led.sort_by_key(|&(id, due, _)| (id, due));
        led.dedup_by_key(|&mut (id, ..)| id);
        for (id, due, next) in led.drain(..) {
            let Some(cube) = self.cubes.get(&id) else {
                continue;
            };
            let Some((body, (since, told))) = cube.body.zip(cube.last_applied) else {
                continue;
            };
            // What rested may have begun to move at the tick before.
            let since = if told.flag {
                since.max(due.saturating_sub(self.tick_frames))
            } else {
                since
            };
            if since >= frame || due - since > MAX_LEAD_FRAMES || told.flag && next.flag {
                continue;
            }
            let now = interpolate(&told, since, &next, due, frame);
            self.set_body_pose(id, body, &now);
            stirred.push(id);
        }
        self.lead_buffer = led;
    }

    fn steer(&mut self, frame: u64, keys: &impl Fn(u32, GameTime) -> Keymap) {
        let at = read_keys_at(frame);
        for &id in &self.players {
            let cube = self.cubes.get_mut(&id).expect("a player's cube is a cube");
            let Some(body) = cube.body else { continue };
            let current = keys(id, at);
            if current != cube.keys || current != Keymap::default() {
                self.physics.set_keys(
                    body,
                    Keys {
                        previous: cube.keys,
                        current,
                    },
                );
                cube.keys = current;
            }
        }
    }

    /// Too much is missing: everything is put where it was last said to be by then.
    fn skip_to(&mut self, frame: u64) {
        self.frame = Some(frame);
        let later = self.early_poses.split_off(&(frame + 1, 0));
        let due = std::mem::replace(&mut self.early_poses, later);
        let newest: BTreeMap<u32, (u64, Pose)> = due
            .into_iter()
            .map(|((due, id), pose)| (id, (due, pose)))
            .collect();
        for (id, (due, pose)) in newest {
            let Some(kind) = self.cubes.get(&id).map(|cube| cube.kind) else {
                continue;
            };
            self.apply(id, due, &pose, &extrapolate(kind, &pose, frame - due));
        }
        let ids: Vec<u32> = self.ids_by_body.values().copied().collect();
        for id in ids {
            self.show(id, frame);
            self.changed.push(id);
        }
        self.prediction = None;
    }

    /// A pose of a frame that has been drawn.
    fn apply_late(&mut self, id: u32, frame: u64, present: u64, pose: &Pose) {
        let cube = self.cubes.get_mut(&id).expect("the caller has looked");
        if cube
            .last_applied
            .is_some_and(|(told, before)| told > frame || told == frame && before == *pose)
        {
            return;
        }
        self.stats.late_poses += u64::from(frame < present);
        let was = cube.past.iter().rev().find(|(then, _)| *then <= frame);
        if cube.body.is_some() && was.is_some_and(|(_, was)| is_same_pose(was, pose)) {
            cube.last_applied = Some((frame, *pose));
            return self.check_rest(id, present);
        }
        let now = extrapolate(cube.kind, pose, present - frame);
        self.apply(id, frame, pose, &now);
        self.show(id, present);
    }

    /// The host's word about `frame`, as it is now: what is simulated becomes that.
    fn apply(&mut self, id: u32, frame: u64, told: &Pose, now: &Pose) {
        let present = self.frame.expect("poses are applied to a frame");
        let cube = self.cubes.get_mut(&id).expect("the caller has looked");
        if cube.last_applied.is_some_and(|(before, _)| before > frame) {
            return;
        }
        cube.last_applied = Some((frame, *told));
        if let Some(body) = cube.body {
            self.set_body_pose(id, body, now);
        } else {
            let body = self.physics.add(cube.kind, now);
            cube.body = Some(body);
            cube.visual = SmoothedVisual::new(present, now);
            cube.is_confirmed = true;
            self.ids_by_body.insert(body, id);
        }
    }

    /// Puts a body elsewhere, and smoothes that away.
    fn set_body_pose(&mut self, id: u32, body: BodyId, now: &Pose) {
        let was = self.physics.pose(body);
        let cube = self.cubes.get_mut(&id).expect("a body has a cube");
        // What is told of rest says where it was in the frame before as well.
        let was_known = std::mem::replace(&mut cube.is_confirmed, true) || cube.was_known;
        if was == *now {
            return;
        }
        self.physics.set_pose(body, now);
        let [speed_x, speed_y, speed_z] = POSE_FORMAT.velocities(now).0;
        let stride_m = 2.0 * length([speed_x, speed_y, speed_z]) * self.tick_frames as f32
            / FRAMES_PER_S as f32;
        let leaps = metres_between(&was, now) > MAX_UNSMOOTHED_M + stride_m;
        if (leaps || !was_known) && (was.at, was.turn) != (now.at, now.turn) {
            let cube = self.cubes.get_mut(&id).expect("a body has a cube");
            cube.visual.correct(&was, now);
            self.smoothed.insert(id);
            self.stats.corrections.add(metres_between(&was, now));
        }
    }

    /// Takes a picture after the step of `frame`, and remembers the pose.
    fn show(&mut self, id: u32, frame: u64) {
        let Some(cube) = self.cubes.get_mut(&id) else {
            return;
        };
        let Some(body) = cube.body else { return };
        let pose = self.physics.pose(body);
        cube.visual.show(frame, &pose);
        if !cube.visual.is_smoothing() {
            self.smoothed.remove(&id);
        }
        if cube.past.pop_back_if(|(then, _)| *then == frame).is_none()
            && cube.past.len() == MAX_PAST_FRAMES
        {
            cube.past.pop_front();
        }
        cube.past.push_back((frame, pose));
        self.check_rest(id, frame);
        self.changed.push(id);
    }

    /// Takes note of whether an object that should rest does.
    fn check_rest(&mut self, id: u32, frame: u64) {
        let cube = self.cubes.get_mut(&id).expect("the caller has looked");
        let Some((body, (_, told))) = cube.body.zip(cube.last_applied) else {
            return;
        };
        if told.flag && self.physics.pose(body) != told {
            cube.disturbed.get_or_insert(frame);
            self.disturbed.insert(id);
        } else if cube.disturbed.take().is_some() {
            self.disturbed.remove(&id);
        }
    }

    /// Puts back what the host's silence says has not moved.
    fn restore(&mut self, rtt: Duration) {
        let (patience, heard) = (
            self.restore_after_frames(rtt),
            self.heard_frame.min(self.frame.unwrap_or_default()),
        );
        let is_wrong = |cube: &SimulatedCube| {
            cube.disturbed
                .is_some_and(|since| heard >= since + patience)
        };
        let wrong: Vec<u32> = self
            .disturbed
            .iter()
            .copied()
            .filter(|id| is_wrong(&self.cubes[id]))
            .collect();
        for id in wrong {
            let cube = &self.cubes[&id];
            let (body, (_, told)) = cube
                .body
                .zip(cube.last_applied)
                .expect("it was told, and has a body");
            self.set_body_pose(id, body, &told);
            self.stats.restored += 1;
            self.show(id, self.frame.expect("something was simulated"));
        }
    }

    /// The own cube's picture, ahead of all else.
    fn predict_own_cube(
        &mut self,
        shown: GameTime,
        ahead: Option<&PredictionTarget<'_>>,
        keys: &impl Fn(u32, GameTime) -> Keymap,
    ) {
        let own = self.own.filter(|own| self.cubes[own].body.is_some());
        let (Some(ahead), Some(own), Some(frame)) = (ahead, own, self.frame) else {
            self.prediction = None;
            return;
        };
        let mut prediction = self
            .prediction
            .take()
            .unwrap_or_else(|| Prediction::new(self.arena, own));
        let main = prediction::MainSimulation {
            physics: &self.physics,
            cubes: &self.cubes,
            early_poses: &self.early_poses,
            frame,
        };
        prediction.advance(main, shown, ahead, keys, &mut self.stats);
        self.prediction = Some(prediction);
        self.changed.push(own);
    }
}

/// The first frame that is not before `shown`.
fn frame_to_show(shown: GameTime) -> u64 {
    let nearest = frame_at(shown);
    if frame_time(nearest) < shown {
        nearest + 1
    } else {
        nearest
    }
}

/// At which time the keys are read that act in the step to a frame: keys act in the steps after the
/// frame in which they change, so at the last moment, to the millisecond, that belongs to the frame
/// before.
fn read_keys_at(frame: u64) -> GameTime {
    frame_time(frame.saturating_sub(1)) + HALF_FRAME
}

/// Whether what was simulated is what the host says. Of rest, every bit counts.
fn is_same_pose(simulated: &Pose, told: &Pose) -> bool {
    if told.flag {
        return simulated == told;
    }
    let near = simulated
        .at
        .iter()
        .zip(told.at)
        .all(|(a, b)| a.abs_diff(b) <= SAME_UNITS);
    let speeds = simulated.motion.linear.iter().zip(told.motion.linear);
    let turns = [simulated, told].map(|pose| POSE_FORMAT.quaternion(pose));
    near && speeds
        .into_iter()
        .all(|(a, b)| a.abs_diff(b) <= SAME_SPEED_UNITS)
        && rotation::dot(turns[0], turns[1]).abs() > SAME_TURN
}

fn metres_between(a: &Pose, b: &Pose) -> f32 {
    length(std::array::from_fn(|axis| {
        (a.at[axis] - b.at[axis]) as f32 / f32::from(POSE_FORMAT.per_metre)
    }))
}

/// The pose on the curve between two words, with a velocity between theirs.
fn interpolate(told: &Pose, since: u64, next: &Pose, due: u64, frame: u64) -> Pose {
    let at = pose::between(
        &POSE_FORMAT,
        (frame_time(since), told),
        (frame_time(due), next),
        frame_time(frame),
    );
    let (part, whole) = ((frame - since) as i32, (due - since) as i32);
    let mix = |a: i16, b: i16| (i32::from(a) + (i32::from(b) - i32::from(a)) * part / whole) as i16;
    let mixed = |a: [i16; 3], b: [i16; 3]| std::array::from_fn(|axis| mix(a[axis], b[axis]));
    let motion = Motion {
        linear: mixed(told.motion.linear, next.motion.linear),
        angular: mixed(told.motion.angular, next.motion.angular),
    };
    Pose {
        flag: false,
        motion,
        ..at
    }
}
