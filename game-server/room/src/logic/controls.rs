//! The controls of one player, tick by tick.
//!
//! Samples go in as they arrive: in any order, perhaps more than once, each with the time at which
//! the client took it. At each tick the held controls, the press and release edges of that tick and
//! the values of the axes come out.
//!
//! Invariants, checked against a client's own samples over a lossy link:
//! 1. A sample that is not newer than the newest one received is ignored. So each change counts
//!    once, and in order.
//! 2. A tick applies everything that has arrived, except a second press or release of the same
//!    control: that change, and all later ones, wait for the next tick. No tap is too short to be
//!    seen, and two taps never merge.
//! 3. The axes of a tick are those of the newest sample that it applies. So an axis that was moved
//!    before a press, or with it, counts for that press, and one that was moved after a press that
//!    waits does, too. What lies in between is not kept.
//! 4. Sample times come from the client and only define an order. A time ahead of the server's
//!    clock counts as at most [`MAX_CLOCK_LEAD`] ahead, so it delays later samples by no more than
//!    that.
//! 5. The queue is bounded: at most [`MAX_WAITING`] changes wait. If there are more, the oldest are
//!    applied at once: a player who taps faster than the server ticks loses taps but gets no
//!    growing delay.
//! 6. Held keys end when no sample has come for the time that the room allows ([`InputTimeout`]): a
//!    client that holds one samples it 20 times a second. So a client that has died or hangs does
//!    not steer on until its connection is known to be lost. Its next sample counts again.
//! 7. The samples that are taken are bounded, too: [`SAMPLES_PER_TICK`], and [`SAMPLE_BURST`] at
//!    once. What is ignored changes nothing here. So a room whose journal has the taken samples
//!    alone is the same room, and a client that floods it makes no large journal.
//!
//! Source for dropping older samples: "Synchronisation par le reseau d'un monde virtuel sur Unity".
//! Units: milliseconds. Cost: proportional to the changes.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::axes::{Axes, MAX_AXES};
use ambit_proto::keymap::{ButtonEdges, KeySample, Keymap};
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

/// The largest lead of a client's clock that counts.
pub const MAX_CLOCK_LEAD: Duration = Duration::from_secs(1);
/// Changes that may wait for a tick of their own.
pub const MAX_WAITING: usize = 16;
/// Samples of a player that may be taken at once: twice as many as a datagram repeats after an
/// interruption.
pub const SAMPLE_BURST: u8 = 64;
/// Samples that may be taken for each tick in the long run: 80 a second at the slowest, and clients
/// take a sample 20 or 60 times a second.
pub const SAMPLES_PER_TICK: u8 = 8;

/// How long held keys count after the newest sample, unless a game sets another time: longer than a
/// burst of losses or the takeover by another host, and short enough that an avatar does not go on
/// without its player.
pub const DEFAULT_INPUT_TIMEOUT: Duration = Duration::from_millis(750);

/// When the controls of a silent client are released, and how.
#[derive(Clone, Copy, Debug)]
pub struct InputTimeout {
    /// How long keys are held after the newest sample.
    pub after: Duration,
    /// Which axes stay where they are; others go back to 0.
    pub stay: [bool; MAX_AXES],
}

/// What became of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleOutcome {
    /// It counts.
    Taken,
    /// It is not newer than the newest one: ignored.
    Known,
    /// The player sends too many: ignored.
    OverRate,
}

/// The controls of one player. See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct HeldControls {
    /// The time of the newest sample received: as it counts, and as the client sent it.
    newest_at: Option<(GameTime, GameTime)>,
    /// When it arrived, by the room's clock.
    arrived_at: GameTime,
    /// The keys of the newest sample. A command may have changed the held keys since.
    sampled_keys: Keymap,
    /// The axes of the newest sample that tells of them.
    sampled_axes: Axes,
    /// Changes that no tick has applied yet, the oldest first.
    waiting: VecDeque<QueuedChange>,
    /// How much of [`SAMPLE_BURST`] is used up.
    samples_used: u8,
    /// Edges of the current tick.
    edges: ButtonEdges,
    /// The axes at the current tick.
    axes: Axes,
    /// How long what acts at the current tick was on its way: by the client's time of the newest
    /// change that it applies, else of the newest sample.
    latency: Duration,
    /// The same of the newest sample.
    newest_latency: Duration,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct QueuedChange {
    /// The client's time, for a change of keys that comes from a sample.
    at: Option<GameTime>,
    /// `None` if only axes have changed.
    keys: Option<Keymap>,
    /// `None` if no axis has changed.
    axes: Option<Axes>,
}

impl HeldControls {
    /// Takes a sample that arrived at `now`.
    pub fn receive_sample(&mut self, now: GameTime, sample: KeySample) -> SampleOutcome {
        let at = sample.at.min(now + MAX_CLOCK_LEAD);
        // Samples too far ahead count as taken at the same time: the client's own times decide
        // which is newer.
        if self.newest_at.is_some_and(|newest| (at, sample.at) <= newest) {
            return SampleOutcome::Known;
        }
        if self.samples_used >= SAMPLE_BURST {
            return SampleOutcome::OverRate;
        }
        self.samples_used += 1;
        self.newest_at = Some((at, sample.at));
        self.newest_latency = now.since(at);
        self.arrived_at = now;
        let keys = (sample.keys != self.sampled_keys).then_some(sample.keys);
        let axes = sample.axes.filter(|axes| *axes != self.sampled_axes);
        self.sampled_keys = sample.keys;
        self.sampled_axes = axes.unwrap_or(self.sampled_axes);
        self.enqueue(QueuedChange { at: keys.map(|_| sample.at), keys, axes });
        SampleOutcome::Taken
    }

    /// Sets the held keys until the next change.
    pub fn hold(&mut self, keys: Keymap) {
        self.enqueue(QueuedChange { at: None, keys: Some(keys), axes: None });
    }

    /// The player has disconnected: releases all keys, sets the axes that do not `stay` to 0, and
    /// accepts any sample times afterwards.
    pub fn release_all(&mut self, stay: [bool; MAX_AXES]) {
        self.newest_at = None;
        self.release(stay);
    }

    fn release(&mut self, stay: [bool; MAX_AXES]) {
        let axes =
            std::array::from_fn(|axis| if stay[axis] { self.sampled_axes.0[axis] } else { 0 });
        let keys = Keymap::default();
        let axes = Axes(axes);
        (self.sampled_keys, self.sampled_axes) = (keys, axes);
        self.enqueue(QueuedChange { at: None, keys: Some(keys), axes: Some(axes) });
    }

    /// Begins a tick and applies what has arrived. Returns the client time up to which samples have
    /// taken effect with this tick, if any did.
    pub fn begin_tick(&mut self, now: GameTime, timeout: InputTimeout) -> Option<GameTime> {
        self.edges.begin_tick();
        let is_silent = now.since(self.arrived_at) > timeout.after;
        if is_silent && self.sampled_keys != Keymap::default() {
            self.release(timeout.stay);
        }
        self.latency = self.newest_latency;
        self.samples_used = self.samples_used.saturating_sub(SAMPLES_PER_TICK);
        let mut applied_until = None;
        while let Some(change) = self.waiting.front().copied() {
            let is_overdue = self.waiting.len() > MAX_WAITING;
            if let Some(keys) = change.keys {
                if !is_overdue && !self.edges.can_apply(keys) {
                    break;
                }
                self.edges.apply(keys);
            }
            self.axes = change.axes.unwrap_or(self.axes);
            applied_until = change.at.or(applied_until);
            self.waiting.pop_front();
        }
        if let Some(at) = applied_until {
            self.latency = now.since(at);
        }
        applied_until
    }

    /// When the client took the sample that acts at the current tick, which is at `now`.
    pub fn sampled_before(&self, now: GameTime) -> GameTime {
        now.saturating_sub(self.latency)
    }

    /// The held keys and the edges of this tick.
    pub fn edges(&self) -> &ButtonEdges {
        &self.edges
    }

    /// The axes at this tick.
    pub fn axes(&self) -> Axes {
        self.axes
    }

    /// The queue is larger than what may wait, since many changes can arrive between two ticks.
    fn enqueue(&mut self, change: QueuedChange) {
        const MOST: usize = 4 * MAX_WAITING;
        if change.keys.is_none() {
            // Axes never wait for a tick of their own: they join the last waiting change.
            if let Some(last) = self.waiting.back_mut() {
                last.axes = change.axes.or(last.axes);
                return;
            }
            if change.axes.is_none() {
                return;
            }
        }
        if self.waiting.len() >= MOST
            && let Some(oldest) = self.waiting.pop_front()
            && let Some(next) = self.waiting.front_mut()
        {
            next.axes = next.axes.or(oldest.axes);
        }
        self.waiting.push_back(change);
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::ids::Seq;
    use ambit_proto::message::KeyInput;

    use super::*;

    const TIMEOUT: InputTimeout =
        InputTimeout { after: DEFAULT_INPUT_TIMEOUT, stay: [false, true, false, true] };

    #[test]
    fn what_a_silent_client_holds_ends_and_begins_again_with_its_next_sample() {
        let mut controls = HeldControls::default();
        let held = |at| KeySample { axes: Some(axes(7)), ..KeySample::new(ms(at), Keymap(3)) };
        // It is heard 20 times a second, and then no more.
        for at in (1_000..2_000).step_by(50) {
            controls.receive_sample(ms(at + 30), held(at));
            controls.begin_tick(ms(at + 50), TIMEOUT);
            assert_eq!((pressed_and_edges(&controls).0, controls.axes()), (3, axes(7)));
        }
        let last = 1_950 + 30;
        controls.begin_tick(ms(last + 750), TIMEOUT);
        assert_eq!(pressed_and_edges(&controls), (3, 0, 0));
        controls.begin_tick(ms(last + 751), TIMEOUT);
        assert_eq!((pressed_and_edges(&controls), controls.axes()), ((0, 0, 3), axes(0)));
        // A sample that was on its way for long is older than the newest one: it presses nothing.
        controls.receive_sample(ms(last + 800), held(1_900));
        controls.begin_tick(ms(last + 850), TIMEOUT);
        assert_eq!(pressed_and_edges(&controls), (0, 0, 0));
        controls.receive_sample(ms(9_000), held(8_900));
        controls.begin_tick(ms(9_050), TIMEOUT);
        assert_eq!((pressed_and_edges(&controls), controls.axes()), ((3, 3, 0), axes(7)));
        // What a command holds has no samples, and stays.
        controls.hold(Keymap(4));
        controls.receive_sample(ms(9_100), KeySample::new(ms(9_060), Keymap(0)));
        controls.hold(Keymap(4));
        controls.begin_tick(ms(9_150), TIMEOUT);
        controls.begin_tick(ms(60_000), TIMEOUT);
        assert_eq!(pressed_and_edges(&controls).0, 4);
    }

    #[test]
    fn a_tap_within_a_tick_is_pressed_in_it() {
        let mut controls = HeldControls::default();
        assert_eq!(controls.begin_tick(GameTime::ZERO, TIMEOUT), None);
        receive(&mut controls, &[(10, 1), (30, 0)]);
        assert_eq!(controls.begin_tick(GameTime::ZERO, TIMEOUT), Some(ms(30)));
        assert_eq!(pressed_and_edges(&controls), (1, 1, 1));
        assert_eq!(controls.begin_tick(GameTime::ZERO, TIMEOUT), None);
        assert_eq!(pressed_and_edges(&controls), (0, 0, 0));
    }

    #[test]
    fn a_sample_that_is_not_newer_is_ignored() {
        let mut controls = HeldControls::default();
        receive(&mut controls, &[(30, 1), (30, 2), (10, 3), (20, 0)]);
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), pressed_and_edges(&controls)),
            (Some(ms(30)), (1, 1, 0))
        );
        receive(&mut controls, &[(30, 2), (40, 1)]);
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), pressed_and_edges(&controls)),
            (None, (1, 0, 0))
        );
    }

    #[test]
    fn a_second_tap_takes_a_tick_of_its_own_and_later_changes_wait() {
        let mut controls = HeldControls::default();
        receive(&mut controls, &[(10, 1), (20, 0), (30, 1), (40, 3)]);
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), pressed_and_edges(&controls)),
            (Some(ms(20)), (1, 1, 1))
        );
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), pressed_and_edges(&controls)),
            (Some(ms(40)), (3, 3, 0))
        );
    }

    #[test]
    fn a_sample_time_far_ahead_delays_later_samples_only_briefly() {
        let mut controls = HeldControls::default();
        controls.receive_sample(ms(1_000), KeySample::new(ms(9_000_000), Keymap(1)));
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        controls.receive_sample(ms(1_500), KeySample::new(ms(1_480), Keymap(0)));
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), pressed_and_edges(&controls)),
            (None, (1, 0, 0))
        );
        controls.receive_sample(ms(2_050), KeySample::new(ms(2_010), Keymap(0)));
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), pressed_and_edges(&controls)),
            (Some(ms(2_010)), (0, 0, 1))
        );
    }

    #[test]
    fn changes_too_far_ahead_are_each_applied() {
        let mut controls = HeldControls::default();
        for (at, keys) in [(9_000, 1), (9_001, 0), (9_000, 1)] {
            controls.receive_sample(ms(1_000), KeySample::new(ms(at), Keymap(keys)));
        }
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        assert_eq!(pressed_and_edges(&controls).0, 0, "a released control is not held");
    }

    #[test]
    fn a_command_holds_until_the_samples_change() {
        let mut controls = HeldControls::default();
        receive(&mut controls, &[(10, 1)]);
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        controls.hold(Keymap(6));
        receive(&mut controls, &[(20, 1)]);
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), pressed_and_edges(&controls)),
            (None, (6, 6, 1))
        );
        receive(&mut controls, &[(30, 3)]);
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), pressed_and_edges(&controls)),
            (Some(ms(30)), (3, 1, 4))
        );
    }

    #[test]
    fn of_several_values_of_an_axis_in_a_tick_the_newest_counts() {
        let mut controls = HeldControls::default();
        receive_axes(&mut controls, &[(10, 0, 5), (20, 0, 7), (15, 0, 6)]);
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), controls.axes()),
            (None, axes(7))
        );
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        assert_eq!(controls.axes(), axes(7), "an axis stays until it is moved");
        // A sample that does not tell changes none.
        receive(&mut controls, &[(30, 1)]);
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        assert_eq!((controls.axes(), pressed_and_edges(&controls)), (axes(7), (1, 1, 0)));
        assert!(controls.waiting.is_empty());
    }

    #[test]
    fn an_axis_counts_with_the_tap_that_it_was_moved_for() {
        let mut controls = HeldControls::default();
        receive_axes(&mut controls, &[(10, 1, 5), (20, 0, 5), (30, 1, 9), (40, 0, 9)]);
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), controls.axes()),
            (Some(ms(20)), axes(5))
        );
        assert_eq!(pressed_and_edges(&controls), (1, 1, 1));
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), controls.axes()),
            (Some(ms(40)), axes(9))
        );
        assert_eq!(pressed_and_edges(&controls), (1, 1, 1));
    }

    #[test]
    fn an_axis_does_not_undo_what_a_command_holds() {
        let mut controls = HeldControls::default();
        controls.hold(Keymap(6));
        receive_axes(&mut controls, &[(10, 0, 5)]);
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        receive_axes(&mut controls, &[(20, 0, 8)]);
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        assert_eq!((controls.axes(), pressed_and_edges(&controls)), (axes(8), (6, 0, 0)));
    }

    #[test]
    fn the_newest_axes_survive_a_flood() {
        let mut controls = HeldControls::default();
        for step in 0..1_000_u16 {
            controls.hold(Keymap(u32::from(step % 2)));
            let at = u64::from(step) + 1;
            receive_axes(&mut controls, &[(at, 0, (step % 100) as i8)]);
            if step % 50 == 0 {
                controls.begin_tick(GameTime::ZERO, TIMEOUT);
            }
        }
        let newest = controls.sampled_axes;
        for _ in 0..2 * MAX_WAITING {
            controls.begin_tick(GameTime::ZERO, TIMEOUT);
        }
        assert_eq!(controls.axes(), newest);
    }

    #[test]
    fn a_disconnected_player_s_levers_go_back_and_angles_stay() {
        let mut controls = HeldControls::default();
        let moved = Axes([100, -100, 50, -50]);
        let sample = |at| KeySample { axes: Some(moved), ..KeySample::new(ms(at), Keymap(1)) };
        controls.receive_sample(ms(10), sample(10));
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        controls.release_all([false, true, false, true]);
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        assert_eq!(controls.axes(), Axes([0, -100, 0, -50]));
        assert_eq!(pressed_and_edges(&controls), (0, 0, 1));
        controls.receive_sample(ms(20), sample(5));
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        assert_eq!(controls.axes(), moved);
    }

    #[test]
    fn a_disconnected_player_holds_nothing_and_may_restart_its_clock() {
        let mut controls = HeldControls::default();
        receive(&mut controls, &[(5_000, 1)]);
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        controls.release_all([false; MAX_AXES]);
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        assert_eq!(pressed_and_edges(&controls), (0, 0, 1));
        receive(&mut controls, &[(4_990, 2)]);
        assert_eq!(
            (controls.begin_tick(GameTime::ZERO, TIMEOUT), pressed_and_edges(&controls)),
            (Some(ms(4_990)), (2, 2, 0))
        );
    }

    #[test]
    fn the_queue_of_waiting_changes_is_bounded() {
        let mut controls = HeldControls::default();
        for step in 0..10_000 {
            receive(&mut controls, &[(step + 1, (step % 2) as u32)]);
            controls.hold(Keymap((step % 2) as u32));
        }
        assert!(controls.waiting.len() <= 4 * MAX_WAITING);
        controls.begin_tick(GameTime::ZERO, TIMEOUT);
        assert!(controls.waiting.len() <= MAX_WAITING);
    }

    #[test]
    fn a_flood_of_samples_is_taken_at_a_bounded_rate() {
        let mut controls = HeldControls::default();
        let mut taken = 0;
        for tick in 0..100_u64 {
            for step in 0..2_000 {
                let at = ms(1 + tick * 2_000 + step);
                let sample = KeySample::new(at, Keymap((step % 2) as u32));
                let outcome = controls.receive_sample(ms(1_000_000), sample);
                taken += u64::from(outcome == SampleOutcome::Taken);
                let again = controls.receive_sample(ms(1_000_000), sample);
                assert_ne!(again, SampleOutcome::Taken, "tick {tick}");
            }
            controls.begin_tick(GameTime::ZERO, TIMEOUT);
        }
        assert_eq!(taken, u64::from(SAMPLE_BURST) + 99 * u64::from(SAMPLES_PER_TICK));
    }

    /// A client samples and repeats over a link that loses, duplicates and reorders; the ticks
    /// report exactly the changes that the client sampled.
    #[test]
    fn each_press_and_release_counts_once_and_in_order_despite_loss() {
        for seed in 0..300 {
            let mut link = LossyInputLink::new(seed);
            for _ in 0..1_000 {
                link.step(true);
            }
            // Afterwards all unacknowledged changes arrive.
            for _ in 0..100 {
                link.step(false);
            }
            for control in 0..4 {
                assert_eq!(
                    link.reported[control], link.sampled[control],
                    "seed {seed}, control {control}"
                );
                assert!(link.sampled[control].len() > 5, "seed {seed}, control {control}");
            }
        }
    }

    /// A simple client that repeats all unacknowledged changes, and a server of 20 ticks a second;
    /// 10 ms a step.
    struct LossyInputLink {
        rng: fastrand::Rng,
        loss: f32,
        now: u64,
        keys: Keymap,
        /// Unacknowledged changes, with the first datagram that contained each.
        unconfirmed: Vec<(KeySample, Seq)>,
        /// The keys of the newest acknowledged change.
        acked_keys: Keymap,
        seq: Seq,
        in_flight: Vec<(u64, Seq, KeyInput)>,
        acks: Vec<(u64, Seq)>,
        controls: HeldControls,
        /// By control: the client's changes, and those that the ticks reported; true for a press.
        sampled: [Vec<bool>; 4],
        reported: [Vec<bool>; 4],
    }

    impl LossyInputLink {
        fn new(seed: u64) -> Self {
            let rng = fastrand::Rng::with_seed(seed);
            let loss = (seed % 60) as f32 / 100.0;
            let acked_keys = Keymap(0);
            let keys = Keymap(0);
            let controls = HeldControls::default();
            LossyInputLink {
                rng,
                loss,
                now: 1_000,
                keys,
                unconfirmed: Vec::new(),
                acked_keys,
                seq: Seq(9),
                in_flight: Vec::new(),
                acks: Vec::new(),
                controls,
                sampled: Default::default(),
                reported: Default::default(),
            }
        }

        fn step(&mut self, makes_changes: bool) {
            self.now += 10;
            if makes_changes && self.rng.u8(..) < 40 && self.unconfirmed.len() < 30 {
                self.change();
            }
            if self.now.is_multiple_of(50) || self.rng.u8(..) < 50 {
                self.send();
            }
            self.deliver();
            if self.now.is_multiple_of(50) {
                self.controls.begin_tick(GameTime::ZERO, TIMEOUT);
                self.record_edges();
            }
        }

        fn change(&mut self) {
            let control = self.rng.usize(..4);
            self.keys.0 ^= 1 << control;
            self.sampled[control].push(self.keys.0 >> control & 1 == 1);
            self.unconfirmed.push((KeySample::new(ms(self.now), self.keys), self.seq.next()));
        }

        fn send(&mut self) {
            self.seq = self.seq.next();
            let samples = self.unconfirmed.iter().map(|(sample, _)| *sample);
            let input = KeyInput::with_changes(ms(self.now), self.acked_keys, samples);
            for _ in 0..self.rng.usize(1..=2) {
                if self.rng.f32() >= self.loss {
                    self.in_flight.push((
                        self.now + self.rng.u64(10..200),
                        self.seq,
                        input.clone(),
                    ));
                }
            }
        }

        fn deliver(&mut self) {
            let now = self.now;
            let mut arrived: Vec<_> =
                self.in_flight.extract_if(.., |datagram| datagram.0 <= now).collect();
            self.rng.shuffle(&mut arrived);
            for (_, seq, input) in arrived {
                for sample in input.samples(ms(now)) {
                    self.controls.receive_sample(ms(now), sample);
                }
                if self.rng.f32() >= self.loss {
                    self.acks.push((now + self.rng.u64(10..200), seq));
                }
            }
            for (_, seq) in self.acks.extract_if(.., |ack| ack.0 <= now) {
                while let Some((sample, first)) = self.unconfirmed.first().copied()
                    && !first.newer_than(seq)
                {
                    self.acked_keys = sample.keys;
                    self.unconfirmed.remove(0);
                }
            }
        }

        /// If both edges occur in a tick, the state at its end shows which came first.
        fn record_edges(&mut self) {
            let edges = self.controls.edges();
            for control in 0..4_u8 {
                let reported = &mut self.reported[usize::from(control)];
                let (down, up) =
                    (edges.just_pressed().down(control), edges.just_released().down(control));
                let held = edges.held().down(control);
                if down && !held || up && held {
                    reported.push(!held);
                }
                if down || up {
                    reported.push(held);
                }
                assert!(edges.pressed().down(control) || !down);
            }
        }
    }

    fn receive(controls: &mut HeldControls, samples: &[(u64, u32)]) {
        for &(at, keys) in samples {
            controls.receive_sample(ms(at), KeySample::new(ms(at), Keymap(keys)));
        }
    }

    /// Samples of keys, and of the first axis.
    fn receive_axes(controls: &mut HeldControls, samples: &[(u64, u32, i8)]) {
        for &(at, keys, axis) in samples {
            let sample =
                KeySample { axes: Some(axes(axis)), ..KeySample::new(ms(at), Keymap(keys)) };
            controls.receive_sample(ms(at), sample);
        }
    }

    fn axes(first: i8) -> Axes {
        Axes([first, 0, 0, 0])
    }

    /// The pressed controls, and those pressed and released in this tick.
    fn pressed_and_edges(controls: &HeldControls) -> (u32, u32, u32) {
        let edges = controls.edges();
        (edges.pressed().0, edges.just_pressed().0, edges.just_released().0)
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }
}
