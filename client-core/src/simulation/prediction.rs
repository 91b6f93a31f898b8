//! Prediction of the player's own cube: drawn where it will be when the present inputs take effect.
//!
//! The pressed keys and the main simulation go in; the drawing of the player's own cube comes out.
//! A second, small physics world holds copies of the own cube and of the bodies near it, and runs
//! ahead of the main one to the input horizon: room time plus the delay to the host plus the local
//! lag. If a pose of the own cube from the host differs from the prediction for its frame, if the
//! cube comes to rest elsewhere, or if an input takes effect in another frame than predicted, all
//! copies are reset to the state of the main simulation and the frames since then are replayed
//! (reconciliation). The replay uses the inputs at their reported or estimated effect times, and
//! the poses that the host has sent for frames to come. The visible jump is smoothed. Copies are
//! refreshed regularly in any case.
//!
//! Other players' inputs beyond the host's last report are unknown: they are assumed to hold the
//! same keys.
//!
//! Bound: [`MAX_FRAMES_AHEAD`] frames ahead, so as many steps a call, of bodies within
//! [`COPY_RADIUS_M`]. Units: frames, metres. Sources: "Synchronisation par le reseau d'un monde
//! virtuel sur Unity" (local prediction with reconciliation); "Optimisation des echanges de
//! donnees", an article on action games (replay).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ambit_cubes_physics::{Arena, BodyId, PLAYER, POSE_FORMAT, Physics};
use ambit_proto::keymap::{Keymap, Keys};
use ambit_proto::pose::Pose;
use ambit_proto::time::GameTime;

use super::smoothing::SmoothedVisual;
use super::{SimulatedCube, frame_to_show, is_same_pose, metres_between, read_keys_at};
use crate::client::own_inputs::PressedKeys;
use crate::client::stats::SimulationStats;
use crate::replica::drawing::DrawnFrames;

/// Maximum number of frames that the own cube is drawn ahead, half a second, and so of steps a
/// call.
pub(super) const MAX_FRAMES_AHEAD: u64 = 30;
/// Bodies within this distance of the own cube are copied: more than it can reach or roll in that
/// time.
const COPY_RADIUS_M: f32 = 4.0;
/// Interval between refreshes of the copies, in frames.
const REFRESH_FRAMES: u64 = 15;

/// How far ahead the player's own cube is drawn, and its inputs.
#[derive(Clone, Copy, Debug)]
pub struct PredictionTarget<'a> {
    /// The input horizon.
    pub horizon: GameTime,
    /// The pressed keys, as far as known or estimated.
    pub presses: &'a PressedKeys,
}

#[derive(Clone, Copy)]
pub(super) struct MainSimulation<'m> {
    pub(super) physics: &'m Physics,
    pub(super) cubes: &'m BTreeMap<u32, SimulatedCube>,
    /// The host's poses of frames to come, by frame and id.
    pub(super) early_poses: &'m BTreeMap<(u64, u32), Pose>,
    pub(super) frame: u64,
}

/// The own cube after the step of a frame, and the keys that steered it.
#[derive(Clone, Copy, Debug)]
struct PredictedFrame {
    frame: u64,
    pose: Pose,
    keys: Keymap,
}

/// The prediction; see the module.
#[derive(Debug)]
pub(super) struct Prediction {
    own: u32,
    physics: Physics,
    /// Copies by id.
    bodies: BTreeMap<u32, BodyId>,
    /// The state is that after the step of this frame; `None` before the first.
    frame: Option<u64>,
    /// The frame of the last reset or refresh.
    restarted_at: u64,
    /// The frame of the last pose that was compared.
    compared: u64,
    past: VecDeque<PredictedFrame>,
    visual: Option<SmoothedVisual>,
    ahead: Duration,
}

impl PredictionTarget<'_> {
    /// The keys that steer the player's cube in the step to a frame.
    fn keys_in(&self, frame: u64) -> Keymap {
        self.presses.at(read_keys_at(frame))
    }
}

impl Prediction {
    pub(super) fn new(arena: Arena, own: u32) -> Self {
        let (bodies, frame, since, compared, past, visual, ahead) = Default::default();
        Self {
            own,
            physics: Physics::new(arena),
            bodies,
            frame,
            restarted_at: since,
            compared,
            past,
            visual,
            ahead,
        }
    }

    /// Advances to the horizon; restarts from the main simulation's state if the prediction is
    /// outdated.
    pub(super) fn advance(
        &mut self,
        main: MainSimulation<'_>,
        shown: GameTime,
        ahead: &PredictionTarget<'_>,
        keys: &impl Fn(u32, GameTime) -> Keymap,
        stats: &mut SimulationStats,
    ) {
        self.ahead = ahead.horizon.since(shown);
        let drawn = self.frame.map(|frame| (frame, self.pose()));
        let target = frame_to_show(ahead.horizon)
            .min(main.frame + MAX_FRAMES_AHEAD)
            .max(drawn.map_or(0, |(frame, _)| frame));
        if self.is_outdated(main, ahead) {
            self.restart(main, ahead, keys);
            let until = drawn.map_or(main.frame, |(frame, _)| frame);
            for frame in main.frame + 1..=until.min(main.frame + MAX_FRAMES_AHEAD) {
                self.step(frame, ahead, keys);
                self.apply_known_poses(main, frame);
            }
            self.correct(drawn.map(|(_, pose)| pose), stats);
        }
        for frame in self.frame.expect("the prediction has started") + 1..=target {
            self.step(frame, ahead, keys);
            let pose = self.pose();
            let visual = self.visual.as_mut().expect("the prediction has started");
            visual.decay();
            visual.show(frame, &pose);
        }
    }

    pub(super) fn drawing(&self) -> DrawnFrames {
        let visual = self.visual.as_ref().expect("the prediction has started");
        DrawnFrames {
            ahead: self.ahead,
            ..visual.drawing(&self.pose())
        }
    }

    fn pose(&self) -> Pose {
        self.physics.pose(self.bodies[&self.own])
    }

    /// Whether the prediction must be restarted.
    fn is_outdated(&mut self, main: MainSimulation<'_>, ahead: &PredictionTarget<'_>) -> bool {
        let Some(frame) = self.frame.filter(|frame| *frame >= main.frame) else {
            return true;
        };
        if main.frame >= self.restarted_at + REFRESH_FRAMES || frame > main.frame + MAX_FRAMES_AHEAD
        {
            return true;
        }
        let own = &main.cubes[&self.own];
        let newest = own
            .newest_received
            .and_then(|(frame, _)| Some((frame, *main.early_poses.get(&(frame, self.own))?)));
        let (Some(body), Some((frame_of_pose, reported))) = (own.body, newest.or(own.last_applied))
        else {
            return false;
        };
        let contradicts = |frame, reported: &Pose| {
            self.past.iter().any(|predicted| {
                predicted.frame == frame && !is_same_pose(&predicted.pose, reported)
            })
        };
        let present = main.physics.pose(body);
        let is_news = std::mem::replace(&mut self.compared, frame_of_pose) != frame_of_pose;
        is_news && contradicts(frame_of_pose, &reported)
            || present.flag && contradicts(main.frame, &present)
            || self
                .past
                .iter()
                .any(|past| past.frame > main.frame && past.keys != ahead.keys_in(past.frame))
    }

    /// Copies the main simulation's state. It starts with the frame before, since contacts (and so,
    /// whether the cube can jump) are known only after a step.
    fn restart(
        &mut self,
        main: MainSimulation<'_>,
        ahead: &PredictionTarget<'_>,
        keys: &impl Fn(u32, GameTime) -> Keymap,
    ) {
        let body = main.cubes[&self.own].body.expect("the caller has checked");
        let here = POSE_FORMAT.position(&main.physics.pose(body));
        let is_near = |body: BodyId| {
            POSE_FORMAT
                .position(&main.physics.pose(body))
                .distance(here)
                <= COPY_RADIUS_M
        };
        let near = |id: &u32| {
            main.cubes
                .get(id)
                .and_then(|cube| cube.body)
                .filter(|body| is_near(*body))
        };
        for (_, body) in self.bodies.extract_if(.., |id, _| near(id).is_none()) {
            self.physics.remove(body);
        }
        for (id, cube) in main.cubes {
            let Some(body) = near(id) else { continue };
            let before = cube
                .past
                .iter()
                .rev()
                .find(|(frame, _)| *frame < main.frame);
            let pose = before.map_or_else(|| main.physics.pose(body), |(_, pose)| *pose);
            match self.bodies.get(id) {
                Some(&copy) => self.physics.set_pose(copy, &pose),
                None => _ = self.bodies.insert(*id, self.physics.add(cube.kind, &pose)),
            }
        }
        self.steer(main.frame, ahead, keys);
        self.physics.step();
        for (id, &copy) in &self.bodies {
            let body = near(id).expect("a copied body is near");
            self.physics.set_pose(copy, &main.physics.pose(body));
        }
        self.past.clear();
        (self.frame, self.restarted_at) = (Some(main.frame), main.frame);
        self.remember(main.frame, ahead.keys_in(main.frame));
    }

    /// Uses the host's poses of this frame.
    fn apply_known_poses(&mut self, main: MainSimulation<'_>, frame: u64) {
        for ((_, id), pose) in main.early_poses.range((frame, 0)..=(frame, u32::MAX)) {
            if let Some(&copy) = self.bodies.get(id) {
                self.physics.set_pose(copy, pose);
            }
        }
        if let Some(predicted) = self.past.back_mut() {
            predicted.pose = self.physics.pose(self.bodies[&self.own]);
        }
    }

    fn step(
        &mut self,
        frame: u64,
        ahead: &PredictionTarget<'_>,
        keys: &impl Fn(u32, GameTime) -> Keymap,
    ) {
        self.steer(frame, ahead, keys);
        self.physics.step();
        self.frame = Some(frame);
        self.remember(frame, ahead.keys_in(frame));
    }

    /// For the step to a frame.
    fn steer(
        &mut self,
        frame: u64,
        ahead: &PredictionTarget<'_>,
        keys: &impl Fn(u32, GameTime) -> Keymap,
    ) {
        for (&id, &body) in &self.bodies {
            if self.physics.kind(body) == PLAYER {
                let held = |frame| {
                    if id == self.own {
                        ahead.keys_in(frame)
                    } else {
                        keys(id, read_keys_at(frame))
                    }
                };
                self.physics.set_keys(
                    body,
                    Keys {
                        previous: held(frame.saturating_sub(1)),
                        current: held(frame),
                    },
                );
            }
        }
    }

    fn remember(&mut self, frame: u64, keys: Keymap) {
        if self.past.len() > 2 * MAX_FRAMES_AHEAD as usize {
            self.past.pop_front();
        }
        self.past.push_back(PredictedFrame {
            frame,
            pose: self.pose(),
            keys,
        });
    }

    /// Keeps the drawing of the last drawn frame, and lets it decay to the new prediction.
    fn correct(&mut self, drawn: Option<Pose>, stats: &mut SimulationStats) {
        let (frame, pose) = (self.frame.expect("the prediction has started"), self.pose());
        let Some((visual, drawn)) = self.visual.as_mut().zip(drawn) else {
            self.visual = Some(SmoothedVisual::new(frame, &pose));
            return;
        };
        if (drawn.at, drawn.turn) != (pose.at, pose.turn) {
            visual.correct(&drawn, &pose);
            stats.reconciled.add(metres_between(&drawn, &pose));
        }
        visual.show(frame, &pose);
    }
}
