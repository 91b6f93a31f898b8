//! The own cube, drawn ahead: where it will be when what the player does now takes effect.
//!
//! What the player presses and the main simulation go in, a picture of the own cube comes out. A
//! second, small physics holds copies of the own cube and of what lies near it, and runs ahead of
//! the main one to the input horizon: room time, the way to the host and the local lag. When a word
//! of the host's about the own cube differs from what was foretold for its frame, when it rests
//! elsewhere or an input takes effect in another frame than was foretold, all copies are set to the
//! main simulation's state, and the frames since then are replayed (reconciliation): by the inputs
//! whose effect the host has told or is expected to, and by what it has said of frames that are yet
//! to be shown. The picture's jump is smoothed away. Copies are refreshed now and then in any case.
//!
//! What others do beyond the host's last word is not known: they go on holding what they held.
//!
//! Bound: [`MOST`] frames ahead, so as many steps a call, of bodies within [`NEAR_M`]. Units:
//! frames, metres. PoseSource: reference 000 (local prediction of one's own cube with
//! reconciliation), 004 (replay).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ambit_proto::games::cubes::{Arena, BodyId, PLAYER, POSE_FORMAT, Physics};
use ambit_proto::keymap::{Keymap, Keys};
use ambit_proto::pose::Pose;
use ambit_proto::time::GameTime;

use super::smoothing::SmoothedVisual;
use super::{SimulatedCube, frame_to_show, is_same_pose, metres_between, read_keys_at};
use crate::client::own_inputs::PressedKeys;
use crate::client::stats::SimulationStats;
use crate::replica::drawing::DrawnFrames;

/// Frames that the own cube is drawn ahead at most, half a second, and with it the steps of a call.
pub(super) const MAX_FRAMES_AHEAD: u64 = 30;
/// What lies within this distance of the own cube is copied: more than it reaches, and than it
/// rolls in the time.
const COPY_RADIUS_M: f32 = 4.0;
/// Copies are refreshed after so many frames.
const REFRESH_FRAMES: u64 = 15;

/// How far ahead the own cube is to be drawn, and by what.
#[derive(Clone, Copy, Debug)]
pub struct PredictionTarget<'a> {
    /// The input horizon.
    pub horizon: GameTime,
    /// What its player presses, as far as that is known or to be expected.
    pub presses: &'a PressedKeys,
}

/// The main simulation.
#[derive(Clone, Copy)]
pub(super) struct MainSimulation<'m> {
    pub(super) physics: &'m Physics,
    pub(super) cubes: &'m BTreeMap<u32, SimulatedCube>,
    /// The host's words about frames to come, by frame and id.
    pub(super) early_poses: &'m BTreeMap<(u64, u32), Pose>,
    pub(super) frame: u64,
}

/// The own cube after a frame's step, and what it was steered by.
#[derive(Clone, Copy, Debug)]
struct PredictedFrame {
    frame: u64,
    pose: Pose,
    keys: Keymap,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Prediction {
    own: u32,
    physics: Physics,
    /// Copies by id.
    bodies: BTreeMap<u32, BodyId>,
    /// The state is the one after the step of this frame; `Unchanged` before there is any.
    frame: Option<u64>,
    /// The frame from which it was reckoned last.
    restarted_at: u64,
    /// The frame of the last word that was compared.
    compared: u64,
    past: VecDeque<PredictedFrame>,
    visual: Option<SmoothedVisual>,
    ahead: Duration,
}

impl PredictionTarget<'_> {
    /// What moves the player's cube in the step to a frame.
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

    /// Goes on to the horizon, from the main simulation's state if that turned out otherwise than
    /// foretold.
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
        for frame in self.frame.expect("it has begun") + 1..=target {
            self.step(frame, ahead, keys);
            let pose = self.pose();
            let visual = self.visual.as_mut().expect("it has begun");
            visual.decay();
            visual.show(frame, &pose);
        }
    }

    pub(super) fn drawing(&self) -> DrawnFrames {
        let visual = self.visual.as_ref().expect("it has begun");
        DrawnFrames {
            ahead: self.ahead,
            ..visual.drawing(&self.pose())
        }
    }

    fn pose(&self) -> Pose {
        self.physics.pose(self.bodies[&self.own])
    }

    /// Whether what was foretold is of no more use.
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
        let (Some(body), Some((last_refusal_at, told))) = (own.body, newest.or(own.last_applied))
        else {
            return false;
        };
        let contradicts = |frame, told: &Pose| {
            self.past
                .iter()
                .any(|foretold| foretold.frame == frame && !is_same_pose(&foretold.pose, told))
        };
        let present = main.physics.pose(body);
        let is_news = std::mem::replace(&mut self.compared, last_refusal_at) != last_refusal_at;
        is_news && contradicts(last_refusal_at, &told)
            || present.flag && contradicts(main.frame, &present)
            || self
                .past
                .iter()
                .any(|past| past.frame > main.frame && past.keys != ahead.keys_in(past.frame))
    }

    /// Takes over the main simulation's state: that of the frame before first, since what touches
    /// what (and so, what one can jump off) is known from the last step alone.
    fn restart(
        &mut self,
        main: MainSimulation<'_>,
        ahead: &PredictionTarget<'_>,
        keys: &impl Fn(u32, GameTime) -> Keymap,
    ) {
        let body = main.cubes[&self.own].body.expect("the caller has looked");
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
            let body = near(id).expect("what is copied is near");
            self.physics.set_pose(copy, &main.physics.pose(body));
        }
        self.past.clear();
        (self.frame, self.restarted_at) = (Some(main.frame), main.frame);
        self.remember(main.frame, ahead.keys_in(main.frame));
    }

    /// What the host has said of a frame already needs no guess.
    fn apply_known_poses(&mut self, main: MainSimulation<'_>, frame: u64) {
        for ((_, id), pose) in main.early_poses.range((frame, 0)..=(frame, u32::MAX)) {
            if let Some(&copy) = self.bodies.get(id) {
                self.physics.set_pose(copy, pose);
            }
        }
        if let Some(foretold) = self.past.back_mut() {
            foretold.pose = self.physics.pose(self.bodies[&self.own]);
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

    /// The picture of the frame that was drawn last stays what it was, and comes to what is
    /// foretold now.
    fn correct(&mut self, drawn: Option<Pose>, stats: &mut SimulationStats) {
        let (frame, pose) = (self.frame.expect("it has begun"), self.pose());
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
