//! The player's own shots: drawn from the frame in which the key goes down, ahead like the avatar
//! that fires them.
//!
//! The predicted frames of the avatar go in, and the shots that the host announces. Each shot of
//! the host takes over one that was predicted: the picture glides to the host's within
//! [`CONVERGENCE`], and ends when the host's shot ends. An input that was lost turns the nose a
//! tick later at the host than here; so a shot may fly another way there, and only that way hits. A
//! predicted shot that the host does not announce goes away once it would have come. What the host
//! announces alone is drawn as any object.
//!
//! Invariant: a shot of the host is drawn once. Bound: [`MAX_SHOTS`]; beyond it the oldest go.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::ids::ClientObjectId;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_steering::{ControlState, Movement, ShotRule, Terrain};

use crate::perception::PerceptionFilter;

/// More are not in the air at a time.
const MAX_SHOTS: usize = 64;
/// How long after its time in the room a shot may be announced.
const MAX_LATE: Duration = Duration::from_millis(300);
/// How far apart a predicted shot and the host's may be: what a shot of 60 m/s flies in two ticks
/// of 20 Hz, and a little.
const MATCH_M: f32 = 7.0;
/// How long the picture of a shot takes to come to the host's.
const CONVERGENCE: Duration = Duration::from_millis(100);
/// How much of a path the host sends ahead; the continuation after that may be wrong.
const TOLD_AHEAD: Duration = Duration::from_millis(1_900);
/// Between two looks at where a shot of the host flies.
const BASE: Duration = Duration::from_millis(100);
/// Ids of predicted shots begin here; those of the host's objects are always lower.
const FIRST_ID: u32 = 1 << 31;

/// The shots; see the module.
#[derive(Debug)]
pub(crate) struct PredictedShots {
    rule: ShotRule,
    /// The index of their kind in the schema.
    kind: u8,
    shots: VecDeque<PredictedShot>,
    ready_at: GameTime,
    /// The newest tick at which it fired.
    fired_until: GameTime,
    /// The newest object of the host that was compared.
    compared: ClientObjectId,
    numbers: u32,
}

/// A shot that was predicted.
#[derive(Clone, Copy, Debug)]
struct PredictedShot {
    id: ClientObjectId,
    /// From when on it is drawn.
    seen_at: GameTime,
    flight: Flight,
    /// The host's object, once it was announced.
    confirmed: Option<Confirmed>,
    /// When the host's object ends, once that is known. Drawn later than the room's time, the shot
    /// ends later on the screen.
    ends: Option<GameTime>,
    /// Whether the host's object has ended in the room's time.
    is_gone: bool,
}

/// What the host has announced for a shot.
#[derive(Clone, Copy, Debug)]
struct Confirmed {
    id: ClientObjectId,
    /// The time of the picture then.
    at: GameTime,
    flight: Flight,
}

/// How a shot flies.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// When it leaves the nose: the horizon of a tick.
    begins: GameTime,
    from: Position,
    to: Position,
}

/// A shot as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DrawnShot {
    /// The host's, or one of its own.
    pub(crate) id: ClientObjectId,
    pub(crate) position: Position,
    pub(crate) velocity: [f32; 3],
}

impl PredictedShots {
    pub(crate) fn new(rule: ShotRule, kind: u8) -> Self {
        Self {
            rule,
            kind,
            shots: VecDeque::new(),
            ready_at: GameTime::ZERO,
            fired_until: GameTime::ZERO,
            compared: ClientObjectId::default(),
            numbers: 0,
        }
    }

    /// The index of their kind.
    pub(crate) fn kind(&self) -> u8 {
        self.kind
    }

    /// The avatar has this movement after a frame, and the player holds this in it. The frame is on
    /// the way to the tick with the horizon `fires_at`, at which the host will fire: until then, a
    /// shot stays at the nose. Frames come in order, or again after a correction.
    pub(crate) fn frame(
        &mut self,
        (at, fires_at): (GameTime, GameTime),
        avatar: &Movement,
        held: ControlState,
        terrain: Terrain<'_>,
    ) {
        if !held.keys.down(self.rule.by) {
            return;
        }
        if let Some(shot) = self.shots.iter_mut().find(|shot| shot.flight.begins == fires_at) {
            // The nose moves on until the tick.
            if let Some((from, to)) = self.rule.way(avatar, terrain) {
                (shot.flight.from, shot.flight.to) = (from, to);
            }
            return;
        }
        if fires_at < self.ready_at || fires_at <= self.fired_until {
            return;
        }
        (self.fired_until, self.ready_at) = (fires_at, fires_at + self.rule.reload);
        let Some((from, to)) = self.rule.way(avatar, terrain) else { return };
        self.numbers = (self.numbers + 1) % FIRST_ID;
        let id = ClientObjectId(FIRST_ID + self.numbers);
        if self.shots.len() == MAX_SHOTS {
            self.shots.pop_front();
        }
        let flight = Flight { begins: fires_at, from, to };
        let confirmed = None;
        let ends = None;
        let is_gone = false;
        let shot = PredictedShot { id, seen_at: at, flight, confirmed, ends, is_gone };
        self.shots.push_back(shot);
    }

    /// The ids after which objects of the host are new.
    pub(crate) fn compared(&self) -> ClientObjectId {
        self.compared
    }

    /// The host has announced an object of this kind, which may be anybody's shot, while the time
    /// of the picture is `now`: `place` tells where it is at a time.
    pub(crate) fn announce(
        &mut self,
        id: ClientObjectId,
        kind: u8,
        now: GameTime,
        place: impl Fn(GameTime) -> Option<Position>,
    ) {
        self.compared = self.compared.max(id);
        if kind != self.kind {
            return;
        }
        let speed = self.rule.speed_m_per_s;
        // The beginning of a shot that is announced late is not known.
        let Some(from) = place(GameTime::ZERO) else { return };
        let apart = |shot: &PredictedShot| {
            let at = |then: GameTime| Some(place(then)?.distance(shot.flight.at(then, speed).0));
            let first_m = at(shot.flight.begins + 2 * BASE)?;
            let then_m = at(shot.flight.begins + 3 * BASE)?;
            (first_m <= MATCH_M && then_m <= MATCH_M).then_some(first_m + then_m)
        };
        let free = self.shots.iter_mut().filter(|shot| shot.confirmed.is_none());
        let nearest =
            free.filter_map(|shot| Some((apart(shot)?, shot))).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, shot)) = nearest else { return };
        let predicted = shot.flight;
        let whole = Duration::try_from_secs_f32(self.rule.range_m / speed).unwrap_or_default();
        let Some(mut to) = place(predicted.begins + whole + 2 * BASE) else { return };
        let way_m = from.distance(to);
        if whole > TOLD_AHEAD && way_m > 0.0 {
            // Where it ends, the client does not know yet.
            to = from.lerp(to, predicted.from.distance(predicted.to) / way_m);
        }
        // Where it is under way tells when it began.
        let times = (0..8).map(|step| predicted.begins + BASE * step);
        let begins =
            times.filter_map(|then| Some((then, place(then)?))).find_map(|(then, there)| {
                let flown = Duration::try_from_secs_f32(there.distance(from) / speed).ok()?;
                (there != from && there != to).then(|| then.saturating_sub(flown))
            });
        let flight = Flight { begins: begins.unwrap_or(predicted.begins), from, to };
        shot.confirmed = Some(Confirmed { id, at: now, flight });
    }

    /// Forgets shots that have ended: `end_of` says when an object of the host ends, as far as
    /// known, and is `None` for an object that does not exist; `now` is the room's time.
    pub(crate) fn forget(
        &mut self,
        now: GameTime,
        end_of: impl Fn(ClientObjectId) -> Option<Option<GameTime>>,
    ) {
        self.shots.retain_mut(|shot| {
            let Some(host) = shot.confirmed else {
                return now.since(shot.flight.begins) <= MAX_LATE;
            };
            if let Some(end) = end_of(host.id) {
                shot.ends = end;
                return true;
            }
            // Others may be drawn at an earlier time.
            shot.is_gone = true;
            now.since(*shot.ends.get_or_insert(now)) <= MAX_LATE
        });
    }

    /// Whether an object is one of these, or the host's for one of these.
    pub(crate) fn has(&self, id: ClientObjectId) -> bool {
        let is_it = |shot: &PredictedShot| {
            shot.id == id || shot.confirmed.is_some_and(|host| host.id == id)
        };
        self.shots.iter().any(is_it)
    }

    /// The shots in the air at a time, which is that of the avatar's picture; the oldest first. A
    /// filter says at which time each one is drawn.
    pub(crate) fn drawn(
        &self,
        now: GameTime,
        filter: Option<&PerceptionFilter>,
    ) -> impl Iterator<Item = DrawnShot> {
        let speed = self.rule.speed_m_per_s;
        let in_the_air = self.shots.iter().filter(move |shot| shot.seen_at <= now);
        in_the_air.filter_map(move |shot| {
            let place = |time| Some(shot.position(now, time, speed).0);
            let at = filter.map_or(now, |filter| filter.time_of(place));
            let is_over = match filter {
                Some(_) => shot.ends.is_some_and(|end| at >= end),
                None => shot.is_gone,
            };
            if is_over {
                return None;
            }
            let (position, velocity) = shot.position(now, at, speed);
            let (id, end) =
                shot.confirmed.map_or((shot.id, shot.flight.to), |host| (host.id, host.flight.to));
            (position != end).then_some(DrawnShot { id, position, velocity })
        })
    }
}

impl PredictedShot {
    /// Its position and its velocity at a time, on a picture of the time `now`.
    fn position(&self, now: GameTime, at: GameTime, speed_m_per_s: f32) -> (Position, [f32; 3]) {
        let predicted = self.flight.at(at, speed_m_per_s);
        let Some(host) = self.confirmed else { return predicted };
        let known = host.flight.at(at, speed_m_per_s);
        let share = now.since(host.at).div_duration_f32(CONVERGENCE);
        if share >= 1.0 {
            return known;
        }
        // A way that ends earlier than was predicted has its end at once.
        if known.0 == host.flight.to {
            return known;
        }
        (predicted.0.lerp(known.0, share), known.1)
    }
}

impl Flight {
    /// The position and the velocity at a time.
    fn at(&self, time: GameTime, speed_m_per_s: f32) -> (Position, [f32; 3]) {
        let whole_m = self.from.distance(self.to);
        let flown_m = time.since(self.begins).as_secs_f32() * speed_m_per_s;
        if whole_m <= flown_m || whole_m == 0.0 {
            return (self.to, [0.0; 3]);
        }
        let share = speed_m_per_s / whole_m;
        let from = self.from;
        let to = self.to;
        let velocity = [to.x - from.x, to.y - from.y, to.z - from.z].map(|way| way * share);
        (from.lerp(to, flown_m / whole_m), velocity)
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::keymap::Keymap;
    use ambit_proto::physics::Arena;
    use ambit_steering::statics::{Obstacle, Statics};

    use super::*;

    const RULE: ShotRule = ShotRule {
        kind: "missile",
        by: 4,
        reload: Duration::from_millis(300),
        speed_m_per_s: 60.0,
        nose_m: 2.0,
        range_m: 90.0,
    };
    const FIRE: Keymap = Keymap(1 << 4);

    /// Frames of 25 ms and ticks of 50 ms from 1 s on, with the key held in the first frames.
    fn fire(held: u64, frames: u64, statics: &Statics) -> PredictedShots {
        let mut shots = PredictedShots::new(RULE, 1);
        let arena = Arena { width_m: 200.0, height_m: 200.0 };
        let avatar = Movement::at_rest(Position::on_ground(50.0, 50.0), 0.0);
        for frame in 0..frames {
            let keys = if frame < held { FIRE } else { Keymap(0) };
            let at = ms(1_000 + 25 * frame);
            let fires_at = ms((1_000 + 25 * frame).next_multiple_of(50));
            let terrain = Terrain { statics, arena };
            shots.frame((at, fires_at), &avatar, keys.into(), terrain);
        }
        shots
    }

    fn drawn(shots: &PredictedShots, at: u64) -> Vec<(u32, f32)> {
        shots.drawn(ms(at), None).map(|shot| (shot.id.0, shot.position.x)).collect()
    }

    #[test]
    fn a_held_key_fires_as_often_as_the_reload_allows() {
        let shots = fire(26, 40, &Statics::default());
        let first = FIRST_ID + 1;
        assert_eq!(drawn(&shots, 999), []);
        assert_eq!(drawn(&shots, 1_000), [(first, 52.0)]);
        assert_eq!(drawn(&shots, 1_600), [(first, 88.0), (first + 1, 70.0), (first + 2, 52.0)]);
        // 90 m at 60 m/s.
        assert_eq!(drawn(&shots, 2_500).len(), 2);
    }

    #[test]
    fn a_shot_waits_at_the_nose_for_the_tick() {
        let mut shots = PredictedShots::new(RULE, 1);
        let arena = Arena { width_m: 200.0, height_m: 200.0 };
        let statics = Statics::default();
        for (at, x) in [(1_017, 10.0), (1_033, 10.4), (1_050, 10.8), (1_067, 11.2)] {
            let avatar = Movement::at_rest(Position::on_ground(x, 50.0), 0.0);
            let terrain = Terrain { statics: &statics, arena };
            let fires_at = ms(u64::next_multiple_of(at, 50));
            shots.frame((ms(at), fires_at), &avatar, FIRE.into(), terrain);
            let nose = x.min(10.8) + 2.0 + 0.06 * at.saturating_sub(1_050) as f32;
            let drawn = shots.drawn(ms(at), None).next().expect("it is drawn").position.x;
            assert!((drawn - nose).abs() < 1e-3, "{at}: {drawn}");
        }
        assert_eq!(shots.drawn(ms(1_067), None).count(), 1);
    }

    #[test]
    fn an_obstacle_ends_a_shot_and_before_the_nose_there_is_none() {
        let mut statics = Statics::default();
        statics.add(Obstacle::on_ground(80.0, 50.0, 1.0, 5.0, 4.0));
        let shots = fire(1, 3, &statics);
        assert_eq!(drawn(&shots, 1_440).len(), 1);
        assert_eq!(drawn(&shots, 1_460).len(), 0);
        let mut close = Statics::default();
        close.add(Obstacle::on_ground(52.0, 50.0, 1.0, 5.0, 4.0));
        assert_eq!(drawn(&fire(1, 3, &close), 1_000).len(), 0);
    }

    #[test]
    fn a_shot_of_the_host_takes_over_the_predicted_one_and_ends_it() {
        let mut shots = fire(1, 3, &Statics::default());
        // Another player's shot, far away; then ours, a tick later than predicted.
        let now = ms(1_100);
        shots.announce(ClientObjectId(7), 1, now, |_| Some(Position::on_ground(9.0, 9.0)));
        let ours = |t: GameTime| {
            let flown = (t.since(ms(1_050)).as_secs_f32() * 60.0).min(90.0);
            Some(Position::on_ground(52.0 + flown, 50.0))
        };
        shots.announce(ClientObjectId(8), 1, now, ours);
        assert_eq!(drawn(&shots, 1_100), [(8, 58.0)]);
        // It glides back to where it is at the host.
        assert_eq!(drawn(&shots, 1_150), [(8, 59.5)]);
        assert_eq!(drawn(&shots, 1_200), [(8, 61.0)]);
        assert!(shots.has(ClientObjectId(8)) && !shots.has(ClientObjectId(7)));
        // It hides the host's object as long as that exists, also after its own flight.
        shots.forget(ms(9_000), |_| Some(None));
        assert_eq!((drawn(&shots, 9_000).len(), shots.has(ClientObjectId(8))), (0, true));
        shots.forget(ms(1_200), |_| None);
        assert_eq!(drawn(&shots, 1_200), []);
    }

    #[test]
    fn a_shot_that_is_told_in_flight_takes_over_the_predicted_one() {
        for late_ms in [0, 110, 150, 250] {
            let mut shots = fire(1, 3, &Statics::default());
            let known_from = ms(1_000 + late_ms);
            let ours = |t: GameTime| {
                let flown = t.max(known_from).since(ms(1_000)).as_secs_f32() * 60.0;
                Some(Position::on_ground(52.0 + flown.min(90.0), 50.0))
            };
            shots.announce(ClientObjectId(8), 1, known_from, ours);
            assert!(shots.has(ClientObjectId(8)), "{late_ms} ms late");
            let drawn = drawn(&shots, 1_400);
            assert!((drawn[0].1 - 76.0).abs() < 0.1, "{late_ms} ms late: {drawn:?}");
        }
    }

    #[test]
    fn a_long_way_ends_where_it_was_predicted_to() {
        let rule = ShotRule { speed_m_per_s: 30.0, range_m: 120.0, ..RULE };
        let mut statics = Statics::default();
        statics.add(Obstacle::on_ground(130.0, 50.0, 1.0, 5.0, 4.0));
        let mut shots = PredictedShots::new(rule, 1);
        let arena = Arena { width_m: 300.0, height_m: 300.0 };
        let avatar = Movement::at_rest(Position::on_ground(50.0, 50.0), 0.0);
        let terrain = Terrain { statics: &statics, arena };
        shots.frame((ms(1_000), ms(1_000)), &avatar, FIRE.into(), terrain);
        // The announced path goes straight on.
        let told = |t: GameTime| {
            let flown = t.since(ms(1_000)).as_secs_f32() * 30.0;
            Some(Position::on_ground(52.0 + flown, 50.0))
        };
        shots.announce(ClientObjectId(8), 1, ms(1_100), told);
        assert_eq!((drawn(&shots, 3_500).len(), drawn(&shots, 3_600).len()), (1, 0));
    }

    #[test]
    fn a_shot_that_the_host_does_not_announce_goes_away() {
        let mut shots = fire(1, 3, &Statics::default());
        shots.forget(ms(1_300), |_| None);
        assert_eq!(drawn(&shots, 1_310).len(), 1);
        shots.forget(ms(1_301), |_| None);
        assert_eq!(drawn(&shots, 1_310).len(), 0);
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }
}
