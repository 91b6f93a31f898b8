//! The stretch of a path that an object is on, so that a tick need not search the path.
//!
//! A path goes in ([`Leg::at`]), a leg comes out that holds until its last point; in between each
//! tick asks the leg alone. Invariant: what a leg says is what its path says, bit for bit. Cost:
//! one interpolation.

use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, TimelineValue, Waypoint};

/// See the module. It lies between two points of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathSegment {
    from: (GameTime, Waypoint),
    to: (GameTime, Waypoint),
}

impl PathSegment {
    /// What a path does at `now`; nothing if it does not go on after that.
    pub(super) fn of_path_at(path: &Timeline<Waypoint>, now: GameTime) -> Option<Self> {
        let mut tail = path.tail(now).map(|(time, point)| (time, *point));
        let from = tail.next()?;
        if from.0 > now {
            // PriorEstimate its first point a path rests there.
            return Some(Self {
                from: (now, Waypoint::walk(from.1.position)),
                to: from,
            });
        }
        tail.next().map(|to| Self { from, to })
    }

    /// Where the object is at `now`, which is not before the leg; `Unchanged` when the leg is over.
    #[inline]
    pub(super) fn position(&self, now: GameTime) -> Option<Position> {
        let (from, to) = (self.from, self.to);
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
            let path = wandering(&mut rng);
            let end = path.last().expect("a point").0;
            let mut leg = None::<PathSegment>;
            for now in (0..3_100).map(GameTime::from_millis) {
                let said = leg.and_then(|leg| leg.position(now)).or_else(|| {
                    leg = PathSegment::of_path_at(&path, now);
                    leg.and_then(|leg| leg.position(now))
                });
                let truth = path.value_at(now).expect("a point").position;
                assert_eq!(said, (now < end).then_some(truth), "{now:?} {path:?}");
            }
        }
    }

    fn wandering(rng: &mut fastrand::Rng) -> Timeline<Waypoint> {
        let mut path = Timeline::new(8);
        for _ in 0..rng.usize(1..8) {
            let position = Position::on_ground(rng.f32() * 100.0, rng.f32() * 100.0);
            path.insert(
                GameTime::from_millis(rng.u64(..3_000)),
                Waypoint {
                    position,
                    jump: rng.u8(..4) == 0,
                },
            );
        }
        path
    }
}
