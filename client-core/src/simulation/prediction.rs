//! Prediction of the player's own avatar: drawn where it will be when the present inputs take
//! effect.
//!
//! The pressed keys and the main simulation go in; the drawing of the player's own avatar comes
//! out. A second, small physics world holds copies of the own avatar and of the bodies near it, and
//! runs ahead of the main one to the input horizon: room time plus the delay to the host plus the
//! local lag. If a pose of the own avatar from the host differs from the prediction for its frame,
//! if the avatar comes to rest elsewhere, or if an input takes effect in another frame than
//! predicted, all copies are reset to the state of the main simulation and the frames since then
//! are replayed (reconciliation). The replay uses the inputs at their reported or estimated effect
//! times, and the poses that the host has sent for frames to come. The visible jump is smoothed.
//! Copies are refreshed regularly in any case.
//!
//! Other players' inputs beyond the host's last report are unknown: they are assumed to hold the
//! same keys.
//!
//! Bound: [`MAX_FRAMES_AHEAD`] frames ahead, so as many steps a call, of bodies within
//! [`GamePhysics::reach_m`](ambit_proto::physics::GamePhysics::reach_m). Units: frames, metres.
//! Sources: "Synchronisation par le reseau d'un monde virtuel sur Unity" (local prediction with
//! reconciliation); "Optimisation des echanges de donnees", an article on action games (replay).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ambit_proto::ids::ClientObjectId;
use ambit_proto::keymap::Keys;
use ambit_proto::map::StaticMap;
use ambit_proto::physics::{BodyId, SharedPhysics, SimulatedKind};
use ambit_proto::pose::{Pose, PoseFormat};
use ambit_proto::time::GameTime;
use ambit_steering::ControlState;

use super::smoothing::SmoothedVisual;
use super::{
    HeldBy, SimulatedObject, first_key, frame_to_show, is_same_pose, metres_between, read_keys_at,
};
use crate::client::own_inputs::PressedKeys;
use crate::client::stats::SimulationStats;
use crate::replica::drawing::DrawnFrames;

/// Maximum number of frames that the own avatar is drawn ahead, half a second, and so of steps a
/// call.
pub(super) const MAX_FRAMES_AHEAD: u64 = 30;
/// Interval between refreshes of the copies, in frames.
const REFRESH_FRAMES: u64 = 15;

/// How far ahead the player's own avatar is drawn, and its inputs.
#[derive(Clone, Copy, Debug)]
pub struct PredictionTarget<'a> {
    /// The input horizon.
    pub horizon: GameTime,
    /// The pressed keys, as far as known or estimated.
    pub presses: &'a PressedKeys,
    /// How far beyond the present a view draws.
    pub drawn_ahead: Duration,
    /// How long before its effect time an input acts: steering acts on the way since the tick
    /// before.
    pub acts_before: Duration,
}

#[derive(Clone, Copy)]
pub(super) struct MainSimulation<'m> {
    pub(super) physics: &'m dyn SharedPhysics,
    pub(super) objects: &'m BTreeMap<ClientObjectId, SimulatedObject>,
    /// The host's poses of frames to come, by frame and id.
    pub(super) early_poses: &'m BTreeMap<(u64, ClientObjectId), Pose>,
    pub(super) frame: u64,
}

/// The own avatar after the step of a frame, and the controls that steered it.
#[derive(Clone, Copy, Debug)]
struct PredictedFrame {
    frame: u64,
    pose: Pose,
    held: ControlState,
}

/// Why a prediction restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Restart {
    /// The player holds something else.
    Input,
    /// The host has reported something else, or the copies are old.
    Host,
}

/// A copy of a body.
#[derive(Clone, Copy, Debug)]
struct BodyCopy {
    body: BodyId,
    kind: SimulatedKind,
}

/// The prediction; see the module.
#[derive(Debug)]
pub(super) struct Prediction {
    own: ClientObjectId,
    /// The grid of the own avatar's poses.
    format: PoseFormat,
    physics: Box<dyn SharedPhysics>,
    /// Bodies within this distance of the own avatar are copied.
    reach_m: f32,
    /// By id.
    copies: BTreeMap<ClientObjectId, BodyCopy>,
    /// The state is that after the step of this frame; `None` before the first.
    frame: Option<u64>,
    /// The frame of the last reset or refresh.
    restarted_at: u64,
    /// The frame of the last pose that was compared.
    compared: u64,
    past: VecDeque<PredictedFrame>,
    /// The frame of the avatar's newest jump that is drawn.
    jumped: Option<u64>,
    visual: Option<SmoothedVisual>,
    ahead: Duration,
}

impl PredictionTarget<'_> {
    /// The controls that steer the player's avatar in the step to a frame.
    fn held_in(&self, frame: u64) -> ControlState {
        self.held_at(read_keys_at(frame))
    }

    /// What the player holds at a time.
    pub fn held_at(&self, t: GameTime) -> ControlState {
        self.presses.held_at(t + self.acts_before)
    }

    /// Whether the host has reported what acts in the step to a frame.
    fn is_confirmed(&self, frame: u64) -> bool {
        read_keys_at(frame) + self.acts_before <= self.presses.confirmed_until()
    }
}

impl Prediction {
    /// For an avatar with poses in this format; the physics has no bodies yet.
    pub(super) fn new(
        own: ClientObjectId,
        format: PoseFormat,
        physics: Box<dyn SharedPhysics>,
        reach_m: f32,
    ) -> Self {
        Self {
            own,
            format,
            physics,
            reach_m,
            copies: BTreeMap::new(),
            frame: None,
            restarted_at: 0,
            compared: 0,
            past: VecDeque::new(),
            jumped: None,
            visual: None,
            ahead: Duration::ZERO,
        }
    }

    /// The obstacles are these from now on.
    pub(super) fn set_map(&mut self, map: &StaticMap) {
        self.physics.set_map(map);
    }

    /// Advances to the horizon; restarts from the main simulation's state if the prediction is
    /// outdated.
    pub(super) fn advance(
        &mut self,
        main: MainSimulation<'_>,
        shown: GameTime,
        ahead: &PredictionTarget<'_>,
        held: &impl HeldBy,
        stats: &mut SimulationStats,
    ) {
        self.ahead = ahead.horizon.since(shown);
        let drawn = self.frame.map(|frame| (frame, self.pose()));
        let target = frame_to_show(ahead.horizon + ahead.drawn_ahead)
            .min(main.frame + MAX_FRAMES_AHEAD)
            .max(drawn.map_or(0, |(frame, _)| frame));
        if let Some(restart) = self.find_restart(main, ahead, stats) {
            self.restart(main, ahead, held);
            let until = drawn.map_or(main.frame, |(frame, _)| frame);
            for frame in main.frame + 1..=until.min(main.frame + MAX_FRAMES_AHEAD) {
                self.step(frame, ahead, held);
                self.apply_known_poses(main, frame);
            }
            let jumped = main.objects[&self.own].jumped.filter(|jumped| *jumped <= until);
            let has_jumped = std::mem::replace(&mut self.jumped, jumped) < jumped;
            let moved_m = self.correct(drawn.map(|(_, pose)| pose), has_jumped);
            if let Some(moved_m) = moved_m.filter(|_| restart == Restart::Host) {
                stats.reconciled.add(moved_m);
            }
        }
        for frame in self.frame.expect("the prediction has started") + 1..=target {
            self.step(frame, ahead, held);
            let pose = self.pose();
            let visual = self.visual.as_mut().expect("the prediction has started");
            visual.decay();
            visual.show(frame, &pose);
        }
    }

    /// The frames with the poses after their steps, and what steered them.
    pub(super) fn frames(&self) -> impl Iterator<Item = (u64, Pose, ControlState)> {
        self.past.iter().map(|past| (past.frame, past.pose, past.held))
    }

    pub(super) fn drawing(&self) -> DrawnFrames {
        let visual = self.visual.as_ref().expect("the prediction has started");
        DrawnFrames { ahead: self.ahead, ..visual.drawing(&self.pose()) }
    }

    fn pose(&self) -> Pose {
        self.physics.pose(self.copies[&self.own].body)
    }

    /// Whether the prediction must be restarted, and why.
    fn find_restart(
        &mut self,
        main: MainSimulation<'_>,
        ahead: &PredictionTarget<'_>,
        stats: &mut SimulationStats,
    ) -> Option<Restart> {
        let Some(frame) = self.frame.filter(|frame| *frame >= main.frame) else {
            return Some(Restart::Host);
        };
        if main.objects[&self.own].is_held_back {
            return Some(Restart::Host);
        }
        // Copies of other bodies grow old; the own avatar alone is as good as its inputs.
        let is_old = self.reach_m > 0.0 && main.frame >= self.restarted_at + REFRESH_FRAMES;
        if is_old || frame > main.frame + MAX_FRAMES_AHEAD {
            return Some(Restart::Host);
        }
        let own = &main.objects[&self.own];
        let newest = own
            .newest_received
            .and_then(|(frame, _)| Some((frame, *main.early_poses.get(&(frame, self.own))?)));
        let (Some(body), Some((frame_of_pose, reported))) = (own.body, newest.or(own.last_applied))
        else {
            return None;
        };
        let contradicts = |frame, reported: &Pose| {
            self.past.iter().any(|predicted| {
                predicted.frame == frame && !is_same_pose(&self.format, &predicted.pose, reported)
            })
        };
        let present = main.physics.pose(body);
        // A pose of a frame that is not predicted yet is compared later: of an avatar at rest it
        // may be the only one.
        let is_news = frame_of_pose <= frame
            && std::mem::replace(&mut self.compared, frame_of_pose) != frame_of_pose;
        let predicted = self.past.iter().find(|past| past.frame == frame_of_pose);
        if let Some(predicted) = predicted.filter(|_| is_news) {
            let off_m = metres_between(&self.format, &predicted.pose, &reported);
            stats.predicted.add(off_m);
        }
        if is_news && contradicts(frame_of_pose, &reported)
            || present.flag && contradicts(main.frame, &present)
        {
            return Some(Restart::Host);
        }
        let differs = |past: &&PredictedFrame| {
            past.frame > main.frame && past.held != ahead.held_in(past.frame)
        };
        let first = self.past.iter().find(differs)?;
        Some(if ahead.is_confirmed(first.frame) { Restart::Host } else { Restart::Input })
    }

    /// Copies the main simulation's state. It starts with the frame before, since contacts (and so,
    /// whether the avatar can jump) are known only after a step.
    fn restart(
        &mut self,
        main: MainSimulation<'_>,
        ahead: &PredictionTarget<'_>,
        held: &impl HeldBy,
    ) {
        let body = main.objects[&self.own].body.expect("the caller has checked");
        let here = self.format.position(&main.physics.pose(body));
        let reach_m = self.reach_m;
        let near = |id: &ClientObjectId| {
            let object = main.objects.get(id)?;
            let body = object.body?;
            let format = &object.kind.format;
            let distance = format.position(&main.physics.pose(body)).distance(here);
            (distance <= reach_m).then_some(body)
        };
        for (_, copy) in self.copies.extract_if(.., |id, _| near(id).is_none()) {
            self.physics.remove(copy.body);
        }
        for (id, object) in main.objects {
            let Some(body) = near(id) else { continue };
            let before = object.past.iter().rev().find(|(frame, _)| *frame < main.frame);
            let pose = before.map_or_else(|| main.physics.pose(body), |(_, pose)| *pose);
            if let Some(copy) = self.copies.get(id) {
                self.physics.set_pose(copy.body, &pose);
            } else {
                let copy =
                    BodyCopy { body: self.physics.add(object.kind.kind, &pose), kind: object.kind };
                self.copies.insert(*id, copy);
            }
        }
        self.steer(main.frame, ahead, held);
        self.physics.step();
        for (id, copy) in &self.copies {
            let body = near(id).expect("a copied body is near");
            self.physics.set_pose(copy.body, &main.physics.pose(body));
        }
        self.past.clear();
        (self.frame, self.restarted_at) = (Some(main.frame), main.frame);
        self.remember(main.frame, ahead.held_in(main.frame));
    }

    /// Uses the host's poses of this frame.
    fn apply_known_poses(&mut self, main: MainSimulation<'_>, frame: u64) {
        for ((_, id), pose) in main.early_poses.range(first_key(frame)..first_key(frame + 1)) {
            if let Some(copy) = self.copies.get(id) {
                self.physics.set_pose(copy.body, pose);
            }
        }
        if let Some(predicted) = self.past.back_mut() {
            predicted.pose = self.physics.pose(self.copies[&self.own].body);
        }
    }

    fn step(&mut self, frame: u64, ahead: &PredictionTarget<'_>, held: &impl HeldBy) {
        self.steer(frame, ahead, held);
        self.physics.step();
        self.frame = Some(frame);
        self.remember(frame, ahead.held_in(frame));
    }

    /// For the step to a frame.
    fn steer(&mut self, frame: u64, ahead: &PredictionTarget<'_>, held: &impl HeldBy) {
        let own = self.own;
        let is_steered = |id, copy: &BodyCopy| id == own || !copy.kind.held_controls.is_empty();
        let steered = self.copies.iter().filter(|&(&id, copy)| is_steered(id, copy));
        for (&id, copy) in steered {
            let held = |frame| {
                if id == own {
                    ahead.held_in(frame)
                } else {
                    held(id, &copy.kind, read_keys_at(frame))
                }
            };
            let before = held(frame.saturating_sub(1));
            let now = held(frame);
            self.physics.set_keys(copy.body, Keys { previous: before.keys, current: now.keys });
            self.physics.set_axes(copy.body, now.axes);
        }
    }

    fn remember(&mut self, frame: u64, held: ControlState) {
        if self.past.len() > 2 * MAX_FRAMES_AHEAD as usize {
            self.past.pop_front();
        }
        self.past.push_back(PredictedFrame { frame, pose: self.pose(), held });
    }

    /// Keeps the drawing of the last drawn frame, and lets it decay to the new prediction. Returns
    /// how far that is away. A jump is drawn at once.
    fn correct(&mut self, drawn: Option<Pose>, has_jumped: bool) -> Option<f32> {
        let frame = self.frame.expect("the prediction has started");
        let pose = self.pose();
        let Some((visual, drawn)) = self.visual.as_mut().zip(drawn) else {
            let visual = SmoothedVisual::new(self.format, frame, &pose);
            // What nothing else pushes is corrected by little: it has nowhere to be in time.
            self.visual = Some(if self.reach_m == 0.0 { visual.gentle() } else { visual });
            return None;
        };
        if has_jumped {
            visual.jump(&pose);
            visual.show(frame, &pose);
            return None;
        }
        let is_moved = (drawn.at, drawn.turn) != (pose.at, pose.turn);
        if is_moved {
            visual.correct(&drawn, &pose);
        }
        visual.show(frame, &pose);
        is_moved.then(|| metres_between(&self.format, &drawn, &pose))
    }
}
