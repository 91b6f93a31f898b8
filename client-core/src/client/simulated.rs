//! Connects the replica with the client's own physics: received poses go to the simulation, and
//! drawn poses come back.
//!
//! Only kinds that the game's schema declares as simulated are simulated, and only by the physics
//! that the program has registered for the game. Other objects are drawn between their poses.
//!
//! Units: room time.

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::cell::Grid;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::keymap::Keymap;
use ambit_proto::map::StaticMap;
use ambit_proto::physics::{Arena, FRAMES_PER_S, SimulatedKind, frame_at, frame_time};
use ambit_proto::schema::{ObjectKind, PosePresentation, Predictors};
use ambit_proto::time::GameTime;
use ambit_steering::statics::Statics;
use ambit_steering::{
    ControlState, MotionModel, Movement, SharedMotion, ShotRule, Steering, Terrain,
};

use super::own_inputs::PressedKeys;
use super::rules::Rules;
use super::simulation_clocks::SimulationClocks;
use super::stats::SimulationStats;
use crate::perception::PerceptionFilter;
use crate::replica::Replica;
use crate::replica::jitter_buffer::RenderLag;
use crate::replica::simulation_events::{KindSet, SimulationEvent};
use crate::simulation::shots::{DrawnShot, PredictedShots};
use crate::simulation::{PredictionTarget, Simulation, SimulationTime, frame_to_show};

/// Maximum number of frames that wait for a caller while anything moves: fewer than the simulation
/// steps in one call.
const MAX_PENDING_FRAMES: u64 = 6;

/// The simulated objects; see the module.
#[derive(Debug, Default)]
pub(crate) struct SimulatedObjects {
    simulation: Option<Simulation>,
    kinds_without_physics: Vec<String>,
    predict: Option<bool>,
    delay: Duration,
    /// How far ahead of room time the player's own avatar is drawn.
    lead: Option<RenderLag>,
    /// Only the player's own avatar is simulated, by a function that steers it.
    is_steered: bool,
    /// What that avatar fires.
    shots: Option<PredictedShots>,
    statics: Statics,
    arena: Arena,
    tick: Duration,
    /// How long before its effect time an input acts.
    acts_before: Duration,
}

impl SimulatedObjects {
    /// Sets up the simulation of a game. `physics` is the one that the program has registered for
    /// it. `predict` says whether the player's own avatar is predicted; without a choice, if it is
    /// steered.
    pub(crate) fn new<V>(
        rules: &Rules,
        motion: Option<SharedMotion>,
        predict: Option<bool>,
        replica: &mut Replica<V>,
    ) -> Self {
        let mut simulated = SimulatedObjects { predict, delay: rules.delay, ..Self::default() };
        simulated.set_motion(rules, motion, replica);
        simulated
    }

    /// Simulates by this from now on; without it, objects are drawn between their poses. Tells the
    /// replica which kinds to report. The map is to be set anew.
    pub(crate) fn set_motion<V>(
        &mut self,
        rules: &Rules,
        motion: Option<SharedMotion>,
        replica: &mut Replica<V>,
    ) {
        let map = rules.map;
        let kinds = &rules.schema.kinds;
        // Don't trust the host: a map of invalid size has no floor.
        let is_floor = Grid::try_new(map.width_m, map.height_m, map.cell_m).is_some();
        let model = motion.filter(|_| is_floor).and_then(|motion| model_of(motion, kinds));
        // Without prediction, the own avatar is drawn as the others see it.
        let model = model.filter(|model| !model.is_steered() || self.predict != Some(false));
        let should_be = |kind: &ObjectKind| kind.presentation == PosePresentation::Simulated;
        let is_simulated = |(index, kind): (usize, &ObjectKind)| {
            let simulated = model.as_ref().and_then(|model| model.kind(index as u8));
            simulated.is_some_and(|simulated| kind.pose_format() == Some(&simulated.format))
                && kind.presentation != PosePresentation::Interpolated
        };
        let is_missing =
            |&(index, kind): &(usize, &ObjectKind)| should_be(kind) && !is_simulated((index, kind));
        let missing = kinds.iter().enumerate().filter(is_missing);
        self.kinds_without_physics = missing.map(|(_, kind)| kind.name.clone()).collect();
        let simulated: KindSet = kinds.iter().enumerate().map(is_simulated).collect();
        let arena = Arena { width_m: map.width_m, height_m: map.height_m };
        let tick_frames = (FRAMES_PER_S / u64::from(rules.tick_hz.max(1))).max(1);
        let is_any_simulated = replica.simulate(simulated);
        replica.set_predictors(match motion {
            Some(SharedMotion::Steering(Steering { kind, functions, .. })) => {
                vec![(kind, functions.reckon)]
            }
            _ => Predictors::new(),
        });
        let model = model.filter(|_| is_any_simulated);
        let rule = match motion {
            Some(SharedMotion::Steering(steering)) if model.is_some() => {
                (steering.functions.shots)()
            }
            _ => None,
        };
        let of_kind = |rule: ShotRule| Some((rule, kind_index(kinds, rule.kind)?));
        self.shots = rule.and_then(of_kind).map(|(rule, kind)| PredictedShots::new(rule, kind));
        (self.tick, self.arena) = (rules.tick(), arena);
        self.is_steered = model.as_ref().is_some_and(MotionModel::is_steered);
        self.acts_before = if self.is_steered { rules.tick() } else { Duration::ZERO };
        self.simulation = model.map(|model| Simulation::new(model, arena, tick_frames));
    }

    /// The kinds that should be simulated, but for which there is no physics, by name.
    pub(crate) fn kinds_without_physics(&self) -> &[String] {
        &self.kinds_without_physics
    }

    /// The obstacles are these from now on.
    pub(crate) fn set_map(&mut self, map: Arc<StaticMap>) {
        if self.shots.is_some() {
            self.statics = Statics::of_map(&map);
        }
        if let Some(simulation) = &mut self.simulation {
            simulation.set_map(map);
        }
    }

    /// Whether the player's own avatar is predicted from the pressed keys.
    pub(crate) fn predicts(&self) -> bool {
        self.simulation.is_some() && self.predict.unwrap_or(self.is_steered)
    }

    /// Simulates up to the shown time and writes the drawn poses to the replica; predicts the
    /// player's own avatar if `presses` are given.
    pub(crate) fn advance<V>(
        &mut self,
        clocks: SimulationClocks,
        presses: Option<&PressedKeys>,
        replica: &mut Replica<V>,
    ) {
        let Some(simulation) = &mut self.simulation else {
            return;
        };
        while let Some(event) = replica.poll_simulation_event() {
            match event {
                SimulationEvent::Enter { own: false, .. } if self.is_steered => {}
                SimulationEvent::Enter { id, kind, own } => simulation.enter(id, kind, own),
                SimulationEvent::Jump { id, stamp } => {
                    simulation.handle_jump(id, stamp + self.delay);
                }
                SimulationEvent::Pose { id, stamp, pose } => {
                    simulation.handle_pose(id, stamp + self.delay, &pose);
                }
                SimulationEvent::Leave { id } => simulation.leave(id),
            }
        }
        let now = clocks.now;
        let times = SimulationTime {
            shown: replica.lag().shown_time(now),
            received_until: clocks.newest_stamp + self.delay,
            rtt: clocks.rtt,
        };
        let lead = prediction_lead(&mut self.lead, now, clocks.one_way + self.delay);
        let horizon = now + lead;
        let acts_before = self.acts_before;
        let drawn_ahead = replica.drawn_ahead(now);
        let ahead =
            presses.map(|presses| PredictionTarget { horizon, presses, drawn_ahead, acts_before });
        let held = |id: ClientObjectId, kind: &SimulatedKind, t: GameTime| {
            if self.is_steered {
                return ahead.map_or_else(ControlState::default, |ahead| ahead.held_at(t));
            }
            let held = kind
                .held_controls
                .iter()
                .filter(|(index, _)| replica.is_set(id, usize::from(*index), t));
            held.fold(Keymap::default(), |keys, &(_, key)| keys.with(key, true)).into()
        };
        simulation.advance(times, ahead.as_ref(), &held);
        for (id, drawing) in simulation.changed() {
            replica.draw(id, drawing);
        }
        let Some((shots, format)) = self.shots.as_mut().zip(simulation.own_format()) else {
            return;
        };
        let terrain = Terrain { statics: &self.statics, arena: self.arena };
        let newest_tick = clocks.newest_stamp + self.delay;
        // What is held beyond the horizon is not known yet.
        let known = frame_to_show(horizon);
        let frames = simulation.predicted_frames().filter(|(frame, ..)| *frame <= known);
        for (frame, pose, held) in frames {
            let fires_at = tick_after(frame, newest_tick, self.tick);
            let avatar = Movement::of_pose(&format, &pose);
            shots.frame((frame_time(frame), fires_at), &avatar, held, terrain);
        }
        for (id, kind, place) in replica.known_after(shots.compared()) {
            shots.announce(id, kind, now + lead, place);
        }
        shots.forget(now, |id| replica.known(id).map(|object| object.leaves));
    }

    /// The kind of the player's own shots, if they are predicted.
    pub(crate) fn shot_kind(&self) -> Option<u8> {
        self.shots.as_ref().map(PredictedShots::kind)
    }

    /// The player's own shots, as they are drawn while the room's time is `t`.
    pub(crate) fn drawn_shots(
        &self,
        t: GameTime,
        filter: Option<&PerceptionFilter>,
    ) -> impl Iterator<Item = DrawnShot> {
        let ahead = self.lead.as_ref().map_or(Duration::ZERO, |lead| lead.at(t));
        self.shots.iter().flat_map(move |shots| shots.drawn(t + ahead, filter))
    }

    /// Whether an object is one of these, or the host's for one of these.
    pub(crate) fn is_own_shot(&self, id: ClientObjectId) -> bool {
        self.shots.as_ref().is_some_and(|shots| shots.has(id))
    }

    /// When the next simulation step is due if the view does not draw before; in shown time.
    pub(crate) fn next_due(&self) -> Option<GameTime> {
        let simulation = self.simulation.as_ref().filter(|simulation| simulation.is_busy())?;
        Some(frame_time(simulation.frame()? + MAX_PENDING_FRAMES))
    }

    /// Number of bodies.
    pub(crate) fn bodies(&self) -> usize {
        self.simulation.as_ref().map_or(0, Simulation::bodies)
    }

    /// What was counted so far.
    pub(crate) fn stats(&self) -> SimulationStats {
        self.simulation.as_ref().map(|simulation| simulation.stats().clone()).unwrap_or_default()
    }
}

/// What is simulated of a game with these kinds.
fn model_of(motion: SharedMotion, kinds: &[ObjectKind]) -> Option<MotionModel> {
    match motion {
        SharedMotion::Physics(physics) => Some(physics.into()),
        SharedMotion::Steering(Steering { kind: name, functions, .. }) => {
            let is_steered = |kind: &ObjectKind| {
                kind.name == name && kind.presentation == PosePresentation::Steered
            };
            let index = kinds.iter().position(is_steered)?;
            Some(MotionModel::steered(index as u8, *kinds[index].pose_format()?, functions.steer))
        }
    }
}

fn kind_index(kinds: &[ObjectKind], name: &str) -> Option<u8> {
    kinds.iter().position(|kind| kind.name == name).map(|index| index as u8)
}

/// The horizon of the tick whose way a frame is on, of a host whose ticks are `tick` apart, one of
/// them at `newest`.
fn tick_after(frame: u64, newest: GameTime, tick: Duration) -> GameTime {
    let [tick_us, newest_us, frame_us] =
        [tick.as_micros().max(1) as u64, newest.micros(), frame_time(frame).micros()]
            .map(u64::cast_signed);
    let before = (frame_us - newest_us).div_euclid(tick_us);
    let at = |ticks: i64| {
        let at_us = (newest_us + ticks * tick_us).max(0).cast_unsigned();
        GameTime::from_micros(at_us).whole_millis()
    };
    [before - 1, before, before + 1]
        .map(at)
        .into_iter()
        .find(|at| frame_at(*at) >= frame)
        .unwrap_or(at(before + 1))
}

/// How far ahead the player's own avatar is drawn at `now`; changes slowly towards `wanted`.
fn prediction_lead(lead: &mut Option<RenderLag>, now: GameTime, wanted: Duration) -> Duration {
    let lead = lead.get_or_insert(RenderLag::constant(wanted));
    lead.slew_to(now, wanted);
    lead.at(now)
}

#[cfg(test)]
mod tests;
