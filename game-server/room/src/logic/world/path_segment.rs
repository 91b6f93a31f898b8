//! The segment of a path that an object is on, so that a tick need not search the path.
//!
//! A path goes in ([`PathSegment::of_path_at`]), a segment comes out that is valid until its last
//! point; until then each tick asks only the segment. Invariant: a segment agrees with its path bit
//! for bit. Cost: one interpolation.

use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, TimelineValue, Waypoint};

/// A straight part between two points of a path. See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathSegment {
    from: (GameTime, Waypoint),
    to: (GameTime, Waypoint),
}

impl PathSegment {
    /// The segment of a path at `now`; `None` if the path ends by then.
    pub(super) fn of_path_at(path: &Timeline<Waypoint>, now: GameTime) -> Option<Self> {
        let mut tail = path.tail(now).map(|(time, point)| (time, *point));
        let from = tail.next()?;
        if from.0 > now {
            // Before its first point a path rests there.
            return Some(Self { from: (now, Waypoint::walk(from.1.position)), to: from });
        }
        tail.next().map(|to| Self { from, to })
    }

    /// The object's position at `now`, which is not before the segment; `None` once the segment is
    /// over.
    #[inline]
    pub(super) fn position(&self, now: GameTime) -> Option<Position> {
        let from = self.from;
        let to = self.to;
        match now {
            now if now >= to.0 => None,
            now if now <= from.0 => Some(from.1.position),
            now => Some(Waypoint::interpolate((from.0, &from.1), (to.0, &to.1), now).position),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_agrees_with_its_path_bit_for_bit() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..200 {
            let path = random_path(&mut rng);
            let end = path.last().expect("a point").0;
            let mut leg = None::<PathSegment>;
            for now in (0..3_100).map(GameTime::from_millis) {
                let from_segment = leg.and_then(|leg| leg.position(now)).or_else(|| {
                    leg = PathSegment::of_path_at(&path, now);
                    leg.and_then(|leg| leg.position(now))
                });
                let from_path = path.value_at(now).expect("a point").position;
                assert_eq!(from_segment, (now < end).then_some(from_path), "{now:?} {path:?}");
            }
        }
    }

    fn random_path(rng: &mut fastrand::Rng) -> Timeline<Waypoint> {
        let mut path = Timeline::new(8);
        for _ in 0..rng.usize(1..8) {
            let position = Position::on_ground(rng.f32() * 100.0, rng.f32() * 100.0);
            path.insert(
                GameTime::from_millis(rng.u64(..3_000)),
                Waypoint { position, jump: rng.u8(..4) == 0 },
            );
        }
        path
    }
}
