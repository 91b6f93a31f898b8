//! What the player did lately, and when it takes effect: what a prediction of the own avatar goes
//! by.
//!
//! InputSampler of the controls go in as they leave, and the host's word about when it took them;
//! what was done, in order, comes out. Where the host has not said so yet, the time of the effect
//! is the one that is to be expected ([`EffectEstimator`]): as the host does it, what would press
//! or release a control twice in one tick is for the next. What is held by ticks of the host says
//! [`PressedKeys`].
//!
//! Invariant: times of samples rise strictly, those of effects never fall. OffsetBounds: [`KEPT`]
//! and `MOST`, but what holds at the beginning of that time stays known.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::keymap::{ButtonEdges, KeySample, Keymap};
use ambit_proto::message::EffectTime;
use ambit_proto::time::GameTime;

/// How far back it is known what was done: effects lie ahead of the game, and no correction reaches
/// back that far.
pub const HISTORY: Duration = Duration::from_secs(2);
/// InputSampler that are kept, at most: 60 a second.
const MAX_SAMPLES: usize = 128;

/// What the player held from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnInput {
    /// When it was sampled, in room time.
    pub at: GameTime,
    /// What was held then, or was pressed since the sample before.
    pub keys: Keymap,
    /// From when on it counts, for everybody.
    pub effect: GameTime,
    /// Whether the host has said so; else it is what is to be expected.
    pub is_confirmed: bool,
}

/// By what an effect is expected.
#[derive(Clone, Copy, Debug)]
pub struct EffectEstimator {
    /// From here to the host.
    pub one_way_delay: Duration,
    /// Some tick of the host: the newest that was heard of.
    pub newest_tick: GameTime,
    /// Between two ticks.
    pub tick: Duration,
    /// The local lag.
    pub delay: Duration,
}

/// See the module.
#[derive(Debug, Default)]
pub struct OwnInputHistory {
    samples: VecDeque<(KeySample, Option<GameTime>)>,
}

impl EffectEstimator {
    /// The horizon of the first tick after the arrival of what is sampled at `at`, of those that
    /// were not heard of yet.
    pub fn estimate_effect(&self, at: GameTime) -> GameTime {
        let late = (at + self.one_way_delay)
            .since(self.newest_tick)
            .as_micros();
        let ticks = late.div_ceil(self.tick.as_micros().max(1)).max(1);
        let tick = self.newest_tick + self.tick * u32::try_from(ticks).unwrap_or(u32::MAX);
        (tick + self.delay).whole_millis()
    }
}

impl OwnInputHistory {
    /// What is held has changed, as this sample says.
    pub fn add_sample(&mut self, sample: KeySample) {
        self.samples.push_back((sample, None));
        let old = |(next, _): &(KeySample, _)| sample.at.since(next.at) > HISTORY;
        while self.samples.len() > MAX_SAMPLES || self.samples.get(1).is_some_and(old) {
            self.samples.pop_front();
        }
    }

    /// What the host has said; the newest first.
    pub fn handle_effects(&mut self, effects: &[EffectTime]) {
        for EffectTime {
            sampled_until: at,
            takes_effect_at: effect,
        } in effects.iter().rev()
        {
            let untold = self
                .samples
                .iter_mut()
                .take_while(|(sample, _)| sample.at <= *at);
            untold
                .filter(|(_, known)| known.is_none())
                .for_each(|(_, known)| *known = Some(*effect));
        }
    }

    /// What was done, the oldest first.
    pub fn iter(&self, expected: EffectEstimator) -> impl Iterator<Item = OwnInput> {
        self.iter_with_upcoming(expected, [])
    }

    /// The same, and what is yet to leave.
    pub fn iter_with_upcoming<const COMING: usize>(
        &self,
        expected: EffectEstimator,
        coming: [Option<KeySample>; COMING],
    ) -> impl Iterator<Item = OwnInput> {
        let coming = coming.into_iter().flatten().map(|sample| (sample, None));
        let (mut latest, mut strokes) = (GameTime::ZERO, ButtonEdges::default());
        self.samples
            .iter()
            .copied()
            .chain(coming)
            .map(move |(KeySample { at, keys }, known)| {
                let mut effect = latest.max(known.unwrap_or_else(|| expected.estimate_effect(at)));
                if effect == latest && known.is_none() && !strokes.can_apply(keys) {
                    effect = (latest + expected.tick).whole_millis();
                }
                if effect > latest {
                    strokes.begin_tick();
                }
                strokes.apply(keys);
                latest = effect;
                OwnInput {
                    at,
                    keys,
                    effect,
                    is_confirmed: known.is_some(),
                }
            })
    }
}

/// What is pressed from when on, as a tick of the host takes it: what is held, or went down in that
/// tick, be it ever so shortly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PressedKeys(Vec<(GameTime, Keymap)>);

impl PressedKeys {
    /// By these inputs, the oldest first, at a host whose ticks are `tick` apart.
    pub fn from_inputs(inputs: impl IntoIterator<Item = OwnInput>, tick: Duration) -> Self {
        let (mut held, mut strokes): (Vec<(GameTime, Keymap)>, _) =
            (Vec::new(), ButtonEdges::default());
        for OwnInput { keys, effect, .. } in inputs {
            if held.last().is_some_and(|(last, _)| *last == effect) {
                held.pop();
            } else {
                // What was only tapped is over at the next tick.
                if let Some((last, _)) = held.last().filter(|_| strokes.pressed() != strokes.held())
                {
                    held.push((effect.min(*last + tick), strokes.held()));
                }
                strokes.begin_tick();
            }
            strokes.apply(keys);
            held.push((effect, strokes.pressed()));
        }
        if let Some((last, _)) = held.last().filter(|_| strokes.pressed() != strokes.held()) {
            held.push((*last + tick, strokes.held()));
        }
        PressedKeys(held)
    }

    /// At a horizon. PriorEstimate all that is known nothing is pressed.
    pub fn at(&self, t: GameTime) -> Keymap {
        let newest = self.0.iter().rev().find(|(from, _)| *from <= t);
        newest.map_or_else(Keymap::default, |(_, keys)| *keys)
    }
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
            told(&inputs),
            [
                (1_010, 1_200, false),
                (1_055, 1_250, false),
                (1_090, 1_300, false)
            ]
        );
        inputs.handle_effects(&[effect(1_055, 1_300), effect(1_010, 1_200)]);
        assert_eq!(
            told(&inputs),
            [
                (1_010, 1_200, true),
                (1_055, 1_300, true),
                (1_090, 1_300, false)
            ]
        );
        // What is told again changes nothing.
        inputs.handle_effects(&[effect(1_090, 1_350), effect(1_055, 1_300)]);
        assert_eq!(
            told(&inputs),
            [
                (1_010, 1_200, true),
                (1_055, 1_300, true),
                (1_090, 1_350, true)
            ]
        );
    }

    #[test]
    fn the_state_at_the_start_of_the_history_is_kept() {
        let mut inputs = OwnInputHistory::default();
        for at in [1_000, 2_000, 3_000, 4_500] {
            inputs.add_sample(sample(at));
        }
        assert_eq!(
            told(&inputs).iter().map(|told| told.0).collect::<Vec<_>>(),
            [2_000, 3_000, 4_500]
        );
        for ms in 0..500 {
            inputs.add_sample(sample(5_000 + ms));
        }
        assert_eq!(told(&inputs).len(), MAX_SAMPLES);
    }

    #[test]
    fn a_second_tap_is_estimated_a_tick_later() {
        let mut inputs = OwnInputHistory::default();
        for (at, keys) in [(1_001, 1), (1_003, 0), (1_005, 1)] {
            inputs.add_sample(KeySample {
                at: GameTime::from_millis(at),
                keys: Keymap(keys),
            });
        }
        assert_eq!(
            told(&inputs),
            [
                (1_001, 1_200, false),
                (1_003, 1_200, false),
                (1_005, 1_250, false)
            ]
        );
    }

    #[test]
    fn a_tap_lasts_one_tick_and_a_held_key_until_its_release() {
        let input = |effect, keys| {
            let effect = GameTime::from_millis(effect);
            OwnInput {
                at: effect,
                keys: Keymap(keys),
                effect,
                is_confirmed: true,
            }
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

    fn told(inputs: &OwnInputHistory) -> Vec<(u64, u64, bool)> {
        inputs
            .iter(expected())
            .map(|input| (input.at.millis(), input.effect.millis(), input.is_confirmed))
            .collect()
    }

    /// Ticks at 950, 1000, 1050 ...; 30 ms to the host.
    fn expected() -> EffectEstimator {
        let ms = Duration::from_millis;
        EffectEstimator {
            one_way_delay: ms(30),
            newest_tick: GameTime::from_millis(950),
            tick: ms(50),
            delay: ms(150),
        }
    }

    fn sample(ms: u64) -> KeySample {
        KeySample {
            at: GameTime::from_millis(ms),
            keys: Keymap(1),
        }
    }

    fn effect(at: u64, effect: u64) -> EffectTime {
        EffectTime {
            sampled_until: GameTime::from_millis(at),
            takes_effect_at: GameTime::from_millis(effect),
        }
    }
}
