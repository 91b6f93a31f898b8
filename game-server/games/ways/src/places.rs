//! The places around a creature, such as those of monsters around a hero.

use ambit::prelude::*;

/// The directions of the places around a creature, counter-clockwise from the east; each of length
/// 1.
pub const DIRECTIONS: [(f32, f32); 8] = [
    (1.0, 0.0),
    (0.707, 0.707),
    (0.0, 1.0),
    (-0.707, 0.707),
    (-1.0, 0.0),
    (-0.707, -0.707),
    (0.0, -1.0),
    (0.707, -0.707),
];

/// Who has each of the places around a creature. A holder keeps its place, so that it does not run
/// from place to place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacesAround {
    holders: [Option<ObjectId>; DIRECTIONS.len()],
}

impl PlacesAround {
    /// Frees the places of all but those that this holds for.
    pub fn retain(&mut self, keeps: impl Fn(ObjectId) -> bool) {
        for holder in &mut self.holders {
            *holder = holder.filter(|object| keeps(*object));
        }
    }

    /// The direction from `middle` of the place of `object`, which is at `at`: the one that it has;
    /// otherwise the free one nearest to it, if it `may_take` one. `None` without one.
    pub fn place_of(
        &mut self,
        object: impl Into<ObjectId>,
        (middle, at): (Position, Position),
        may_take: bool,
    ) -> Option<(f32, f32)> {
        let object = Some(object.into());
        let (x, y) = (at.x - middle.x, at.y - middle.y);
        let along = |index: &usize| x * DIRECTIONS[*index].0 + y * DIRECTIONS[*index].1;
        let own = self.holders.iter().position(|holder| *holder == object);
        let chosen = own.or_else(|| {
            let free = (0..DIRECTIONS.len()).filter(|index| self.holders[*index].is_none());
            let nearest = free.max_by(|one, other| along(one).total_cmp(&along(other)));
            nearest.filter(|_| may_take)
        })?;
        self.holders[chosen] = object;
        Some(DIRECTIONS[chosen])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_the_nearest_free_place_and_keeps_it() {
        let place = Position::on_ground;
        let middle = place(50.0, 50.0);
        let west = place(40.0, 50.0);
        let mut places = PlacesAround::default();
        let [one, two] = [1, 2].map(ObjectId);
        assert_eq!(places.place_of(one, (middle, west), false), None, "it is too far away");
        assert_eq!(places.place_of(one, (middle, west), true), Some((-1.0, 0.0)));
        let beside = places.place_of(two, (middle, place(40.0, 49.0)), true);
        assert_eq!(beside, Some((-0.707, -0.707)), "the nearest one is taken");
        let kept = places.place_of(one, (middle, place(60.0, 50.0)), false);
        assert_eq!(kept, Some((-1.0, 0.0)), "also on the other side, and far away");
        places.retain(|object| object == two);
        assert_eq!(places.place_of(one, (middle, place(60.0, 50.0)), true), Some((1.0, 0.0)));
    }

    #[test]
    fn there_are_as_many_places_as_directions() {
        let at = Position::on_ground(9.0, 9.0);
        let mut places = PlacesAround::default();
        let mut taken = Vec::new();
        for number in 1..=DIRECTIONS.len() as u64 {
            let object = ObjectId(number);
            taken.extend(places.place_of(object, (at, at), true));
        }
        taken.sort_by(|one, other| one.partial_cmp(other).expect("finite"));
        taken.dedup();
        assert_eq!(taken.len(), DIRECTIONS.len());
        let last = ObjectId(99);
        assert_eq!(places.place_of(last, (at, at), true), None);
    }
}
