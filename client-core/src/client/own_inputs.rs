//! The player's recent inputs and their effect times: the basis for predicting the player's own
//! avatar.
//!
//! Samples of the controls go in as they are sent, and the effect times that the host reports. The
//! inputs come out in order. Until the host has reported an effect time, it is estimated
//! ([`EffectEstimator`]). As on the host, an input that would press or release a control twice in
//! one tick moves to the next tick. [`PressedKeys`] gives the keys by ticks of the host.
//!
//! Invariant: sample times rise strictly, effect times never fall. Bounds: [`HISTORY`] and
//! `MAX_SAMPLES`; the state at the start of that time is kept.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::axes::Axes;
use ambit_proto::keymap::{ButtonEdges, KeySample, Keymap};
use ambit_proto::message::EffectTime;
use ambit_proto::time::GameTime;
use ambit_steering::ControlState;

/// How far back inputs are known. Effects lie ahead of room time, and no correction reaches back
/// this far.
pub const HISTORY: Duration = Duration::from_secs(2);
/// Maximum number of samples: 60 a second.
const MAX_SAMPLES: usize = 128;

/// The keys that the player held from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnInput {
    /// When the keys were sampled, in room time.
    pub at: GameTime,
    /// The keys held then, or pressed since the sample before.
    pub keys: Keymap,
    /// When the input takes effect, for all clients.
    pub effect: GameTime,
    /// Whether the host has reported the effect; else it is estimated.
    pub is_confirmed: bool,
}

/// Estimates effect times.
#[derive(Clone, Copy, Debug)]
pub struct EffectEstimator {
    /// From the client to the host.
    pub one_way_delay: Duration,
    /// The newest known tick of the host.
    pub newest_tick: GameTime,
    /// Time between two ticks.
    pub tick: Duration,
    /// The local lag.
    pub delay: Duration,
}

/// The recent inputs.
#[derive(Debug, Default)]
pub struct OwnInputHistory {
    samples: VecDeque<(KeySample, Option<GameTime>)>,
    /// The axes, each with the time from which samples had them.
    axes: VecDeque<(GameTime, Axes)>,
}

impl EffectEstimator {
    /// The horizon of the first tick that can receive a sample taken at `at`, among ticks that are
    /// not known yet.
    pub fn estimate_effect(&self, at: GameTime) -> GameTime {
        let late = (at + self.one_way_delay).since(self.newest_tick).as_micros();
        let ticks = late.div_ceil(self.tick.as_micros().max(1)).max(1);
        let tick = self.newest_tick + self.tick * u32::try_from(ticks).unwrap_or(u32::MAX);
        (tick + self.delay).whole_millis()
    }

    /// The same among all ticks, for what the host does not report.
    fn estimate_past_effect(&self, at: GameTime) -> GameTime {
        let arrival = at + self.one_way_delay;
        if arrival > self.newest_tick {
            return self.estimate_effect(at);
        }
        let early = self.newest_tick.since(arrival).as_micros();
        let ticks = early / self.tick.as_micros().max(1);
        let back = self.tick * u32::try_from(ticks).unwrap_or(u32::MAX);
        (self.newest_tick.saturating_sub(back) + self.delay).whole_millis()
    }
}

impl OwnInputHistory {
    /// The held keys have changed to this sample.
    pub fn add_sample(&mut self, sample: KeySample) {
        self.samples.push_back((sample, None));
        let old = |(next, _): &(KeySample, _)| sample.at.since(next.at) > HISTORY;
        while self.samples.len() > MAX_SAMPLES || self.samples.get(1).is_some_and(old) {
            self.samples.pop_front();
        }
    }

    /// Samples have these axes from a time on.
    pub fn add_axes(&mut self, at: GameTime, axes: Axes) {
        self.axes.push_back((at, axes));
        let old = |(next, _): &(GameTime, Axes)| at.since(*next) > HISTORY;
        while self.axes.len() > MAX_SAMPLES || self.axes.get(1).is_some_and(old) {
            self.axes.pop_front();
        }
    }

    /// The axes with their estimated effect times, oldest first: the host does not report these.
    pub fn axes(
        &self,
        estimator: EffectEstimator,
        upcoming: Option<(GameTime, Axes)>,
    ) -> impl Iterator<Item = (GameTime, Axes)> {
        let all = self.axes.iter().copied().chain(upcoming);
        all.map(move |(at, axes)| (estimator.estimate_past_effect(at), axes))
    }

    /// Effects reported by the host, newest first.
    pub fn handle_effects(&mut self, effects: &[EffectTime]) {
        for EffectTime { sampled_until: at, takes_effect_at: effect } in effects.iter().rev() {
            let untold = self.samples.iter_mut().take_while(|(sample, _)| sample.at <= *at);
            untold
                .filter(|(_, known)| known.is_none())
                .for_each(|(_, known)| *known = Some(*effect));
        }
    }

    /// The inputs, oldest first.
    pub fn iter(&self, estimator: EffectEstimator) -> impl Iterator<Item = OwnInput> {
        self.iter_with_upcoming(estimator, [])
    }

    /// The same, followed by samples that have not been sent yet.
    pub fn iter_with_upcoming<const UPCOMING: usize>(
        &self,
        estimator: EffectEstimator,
        upcoming: [Option<KeySample>; UPCOMING],
    ) -> impl Iterator<Item = OwnInput> {
        let upcoming = upcoming.into_iter().flatten().map(|sample| (sample, None));
        let mut latest = GameTime::ZERO;
        let mut edges = ButtonEdges::default();
        self.samples.iter().copied().chain(upcoming).map(
            move |(KeySample { at, keys, .. }, known)| {
                let mut effect = latest.max(known.unwrap_or_else(|| estimator.estimate_effect(at)));
                if effect == latest && known.is_none() && !edges.can_apply(keys) {
                    effect = (latest + estimator.tick).whole_millis();
                }
                if effect > latest {
                    edges.begin_tick();
                }
                edges.apply(keys);
                latest = effect;
                OwnInput { at, keys, effect, is_confirmed: known.is_some() }
            },
        )
    }
}

/// The pressed keys over time, as a tick of the host sees them: those held, and those pressed
/// during that tick, however briefly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PressedKeys {
    keys: Vec<(GameTime, Keymap)>,
    axes: Vec<(GameTime, Axes)>,
    confirmed_until: GameTime,
}

impl PressedKeys {
    /// From these inputs, oldest first, for a host whose ticks are `tick` apart.
    pub fn from_inputs(inputs: impl IntoIterator<Item = OwnInput>, tick: Duration) -> Self {
        let (mut held, mut edges): (Vec<(GameTime, Keymap)>, _) =
            (Vec::new(), ButtonEdges::default());
        let mut confirmed_until = GameTime::ZERO;
        for OwnInput { keys, effect, is_confirmed, .. } in inputs {
            if is_confirmed {
                confirmed_until = effect;
            }
            if held.last().is_some_and(|(last, _)| *last == effect) {
                held.pop();
            } else {
                // A mere tap ends at the next tick.
                if let Some((last, _)) = held.last().filter(|_| edges.pressed() != edges.held()) {
                    held.push((effect.min(*last + tick), edges.held()));
                }
                edges.begin_tick();
            }
            edges.apply(keys);
            held.push((effect, edges.pressed()));
        }
        if let Some((last, _)) = held.last().filter(|_| edges.pressed() != edges.held()) {
            held.push((*last + tick, edges.held()));
        }
        PressedKeys { keys: held, axes: Vec::new(), confirmed_until }
    }

    /// The same, with the axes and their effect times, oldest first.
    #[must_use]
    pub fn with_axes(self, axes: impl IntoIterator<Item = (GameTime, Axes)>) -> Self {
        Self { axes: axes.into_iter().collect(), ..self }
    }

    /// Up to which horizon the host has reported effects.
    pub fn confirmed_until(&self) -> GameTime {
        self.confirmed_until
    }

    /// The pressed keys at a horizon; none before the known inputs.
    pub fn at(&self, t: GameTime) -> Keymap {
        newest(&self.keys, t)
    }

    /// All that is held at a horizon.
    pub fn held_at(&self, t: GameTime) -> ControlState {
        ControlState { keys: self.at(t), axes: newest(&self.axes, t) }
    }
}

/// The last value that begins at or before a time.
fn newest<T: Copy + Default>(values: &[(GameTime, T)], t: GameTime) -> T {
    let newest = values.iter().rev().find(|(from, _)| *from <= t);
    newest.map_or_else(T::default, |(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_estimated_at_the_next_tick_until_confirmed() {
        let mut inputs = OwnInputHistory::default();
        for at in [1_010, 1_055, 1_090] {
            inputs.add_sample(sample(at));
        }
        // Ticks at 950, 1000, 1050 ...; 30 ms to the host.
        assert_eq!(
            recent(&inputs),
            [(1_010, 1_200, false), (1_055, 1_250, false), (1_090, 1_300, false)]
        );
        inputs.handle_effects(&[effect(1_055, 1_300), effect(1_010, 1_200)]);
        assert_eq!(
            recent(&inputs),
            [(1_010, 1_200, true), (1_055, 1_300, true), (1_090, 1_300, false)]
        );
        // A repeated report changes nothing.
        inputs.handle_effects(&[effect(1_090, 1_350), effect(1_055, 1_300)]);
        assert_eq!(
            recent(&inputs),
            [(1_010, 1_200, true), (1_055, 1_300, true), (1_090, 1_350, true)]
        );
    }

    #[test]
    fn the_state_at_the_start_of_the_history_is_kept() {
        let mut inputs = OwnInputHistory::default();
        for at in [1_000, 2_000, 3_000, 4_500] {
            inputs.add_sample(sample(at));
        }
        assert_eq!(
            recent(&inputs).iter().map(|recent| recent.0).collect::<Vec<_>>(),
            [2_000, 3_000, 4_500]
        );
        for ms in 0..500 {
            inputs.add_sample(sample(5_000 + ms));
        }
        assert_eq!(recent(&inputs).len(), MAX_SAMPLES);
    }

    #[test]
    fn a_second_tap_is_estimated_a_tick_later() {
        let mut inputs = OwnInputHistory::default();
        for (at, keys) in [(1_001, 1), (1_003, 0), (1_005, 1)] {
            inputs.add_sample(KeySample::new(GameTime::from_millis(at), Keymap(keys)));
        }
        assert_eq!(
            recent(&inputs),
            [(1_001, 1_200, false), (1_003, 1_200, false), (1_005, 1_250, false)]
        );
    }

    #[test]
    fn a_tap_lasts_one_tick_and_a_held_key_until_its_release() {
        let input = |effect, keys| {
            let effect = GameTime::from_millis(effect);
            OwnInput { at: effect, keys: Keymap(keys), effect, is_confirmed: true }
        };
        let inputs = [
            input(200, 2),
            input(300, 3),
            input(300, 2),
            input(350, 0),
            input(400, 4),
            input(400, 0),
        ];
        let held = PressedKeys::from_inputs(inputs, Duration::from_millis(50));
        let pressed = [199, 200, 299, 300, 349, 350, 399, 400, 449, 450, 900];
        let pressed = pressed.map(|ms| held.at(GameTime::from_millis(ms)).0);
        assert_eq!(pressed, [0, 2, 2, 3, 3, 0, 0, 4, 4, 0, 0]);
    }

    fn recent(inputs: &OwnInputHistory) -> Vec<(u64, u64, bool)> {
        inputs
            .iter(estimator())
            .map(|input| (input.at.millis(), input.effect.millis(), input.is_confirmed))
            .collect()
    }

    /// Ticks at 950, 1000, 1050 ...; 30 ms to the host.
    fn estimator() -> EffectEstimator {
        let ms = Duration::from_millis;
        EffectEstimator {
            one_way_delay: ms(30),
            newest_tick: GameTime::from_millis(950),
            tick: ms(50),
            delay: ms(150),
        }
    }

    fn sample(ms: u64) -> KeySample {
        KeySample::new(GameTime::from_millis(ms), Keymap(1))
    }

    fn effect(at: u64, effect: u64) -> EffectTime {
        EffectTime {
            sampled_until: GameTime::from_millis(at),
            takes_effect_at: GameTime::from_millis(effect),
        }
    }
}
