//! How far what is around a player matters, and the zones of interest that contain it.
//!
//! A game's [`Surroundings`] and a room's configuration go in; the configuration comes out with
//! zones that contain them, or the parameter that prevents it. See [`RoomConfig::containing`].
//!
//! Invariants:
//! 1. Wherever an avatar is in its cell, the inner zone of a room that came out contains all that
//!    is nearer than the reach.
//! 2. A radius that the player has given is never changed.

use ambit_proto::schema::Schema;

use super::{BadParameter, Parameters, ROOM_PARAMETERS, RoomConfig};
use crate::config::parameter::Allowed;

/// How far what is around a player matters, in metres. A game declares it once: the zones of its
/// rooms contain it, and pages show no more than these zones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surroundings {
    reach_m: f32,
    view_m: f32,
}

impl Surroundings {
    /// Nothing is declared: the zones are what the room's parameters say.
    pub const NONE: Self = Self::new();

    /// Nothing is declared yet.
    pub const fn new() -> Self {
        Self { reach_m: 0.0, view_m: 0.0 }
    }

    /// What is no farther away may act on a player: strike it, shoot it, or touch it before the
    /// player's client has had time to show it. A room whose inner zone is smaller is refused.
    #[must_use]
    pub const fn reach_m(self, reach_m: f32) -> Self {
        Self { reach_m, ..self }
    }

    /// How far players should see. The default zones contain this distance. If players choose
    /// smaller zones, pages show less.
    #[must_use]
    pub const fn view_m(self, view_m: f32) -> Self {
        Self { view_m, ..self }
    }

    /// From how far away something may act on a player.
    pub const fn reach(self) -> f32 {
        self.reach_m
    }

    /// How far players should see.
    pub const fn view(self) -> f32 {
        self.view_m
    }
}

impl RoomConfig {
    /// The distance that a zone of this radius, in cells, contains wherever the avatar is in its
    /// cell, and however far beyond its border the margin allows it to be.
    pub fn guaranteed_m(&self, radius: u16) -> f32 {
        f32::from(radius) * self.cell - self.margin_m
    }

    /// The room with zones that contain these surroundings. What the player has not given grows as
    /// far as it may; what then is smaller than the reach is an error.
    pub fn containing(
        mut self,
        surroundings: Surroundings,
        parameters: &Parameters,
    ) -> Result<Self, BadParameter> {
        let Surroundings { reach_m, view_m } = surroundings;
        if !parameters.is_given("inner") {
            let needed = self.radius_for(reach_m.max(view_m)).min(largest("inner"));
            if needed > self.inner {
                self.inner = needed;
                if !parameters.is_given("outer") {
                    self.outer = self.outer.max(needed + 1);
                }
            }
        }
        if self.outer < self.inner {
            let inner = self.inner;
            let outer = self.outer;
            let problem = format!("outer={outer} must be at least inner={inner}");
            return Err(BadParameter::Conflict { key: "outer", problem });
        }
        let needed = self.radius_for(reach_m);
        if self.inner >= needed || self.inner >= self.radius_of_map() {
            return Ok(self);
        }
        let key = if parameters.is_given("inner") { "inner" } else { "cell" };
        Err(BadParameter::Conflict { key, problem: self.too_small(reach_m, needed) })
    }

    /// Checks the kinds that have zones of their own: what is of them may act on a player as well.
    pub fn check_kinds(
        &self,
        surroundings: Surroundings,
        schema: &Schema,
    ) -> Result<(), BadParameter> {
        let needed = self.radius_for(surroundings.reach_m);
        for kind in &schema.kinds {
            let Some(radii) = kind.interest_radii else { continue };
            if radii.inner < needed && radii.inner < self.radius_of_map() {
                let Self { cell, margin_m, .. } = self;
                let problem = format!(
                    "with cells of {cell} m and margin={margin_m} a {:?} is followed from {} m \
                     on, and what is {} m away may act on a player: its inner radius must be at \
                     least {needed}",
                    kind.name,
                    self.guaranteed_m(radii.inner).max(0.0),
                    surroundings.reach_m
                );
                return Err(BadParameter::Conflict { key: "cell", problem });
            }
        }
        Ok(())
    }

    fn too_small(&self, reach_m: f32, needed: u16) -> String {
        let Self { inner, cell, margin_m, .. } = self;
        let sure_m = self.guaranteed_m(*inner).max(0.0);
        let most = largest("inner");
        let remedy = if needed <= most {
            format!("inner must be at least {needed}")
        } else {
            format!("cells must be larger, as inner is at most {most}")
        };
        format!(
            "inner={inner} with cells of {cell} m and margin={margin_m} shows what is {sure_m} m \
             away, and what is {reach_m} m away may act on a player: {remedy}"
        )
    }

    /// The smallest radius, in cells, of a zone that contains this distance.
    fn radius_for(&self, metres: f32) -> u16 {
        if metres > 0.0 { ((metres + self.margin_m) / self.cell).ceil() as u16 } else { 0 }
    }

    /// The radius from which on a zone contains the whole map.
    fn radius_of_map(&self) -> u16 {
        let grid = self.grid();
        grid.columns().max(grid.rows()) - 1
    }
}

/// The largest value of a parameter of every room.
fn largest(key: &str) -> u16 {
    let declared = ROOM_PARAMETERS.iter().find(|parameter| parameter.key == key);
    match declared.map(|parameter| parameter.allowed) {
        Some(Allowed::Whole { max, .. }) => max as u16,
        _ => u16::MAX,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ambit_proto::ids::RoomId;
    use ambit_proto::schema::InterestRadii;

    use super::*;

    const FAR: Surroundings = Surroundings::new().reach_m(20.0).view_m(28.0);

    /// The room that a game with these surroundings gets.
    fn room(given: &[(&str, &str)], around: Surroundings) -> Result<RoomConfig, String> {
        let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
        let given = given.iter().map(owned).collect();
        let parameters = Parameters::parse(&given, &[ROOM_PARAMETERS]).expect("in range");
        let config = RoomConfig::new(RoomId(1), 5, 64, Duration::ZERO, &parameters);
        let config = config.and_then(|config| config.containing(around, &parameters));
        config.map_err(|error| error.to_string())
    }

    fn radii(given: &[(&str, &str)], around: Surroundings) -> (u16, u16) {
        let config = room(given, around).expect("possible");
        (config.inner, config.outer)
    }

    #[test]
    fn zones_grow_until_they_contain_reach_and_view() {
        assert_eq!(radii(&[], Surroundings::NONE), (1, 2));
        assert_eq!(radii(&[], Surroundings::new().reach_m(9.0)), (1, 2));
        assert_eq!(radii(&[], Surroundings::new().reach_m(9.1)), (2, 3));
        assert_eq!(radii(&[], Surroundings::new().view_m(19.0)), (2, 3));
        assert_eq!(radii(&[], FAR), (3, 4));
        assert_eq!(radii(&[("cell", "5")], FAR), (6, 7));
        assert_eq!(radii(&[("cell", "100")], FAR), (1, 2));
        assert_eq!(radii(&[("outer", "9")], FAR), (3, 9));
        assert_eq!(radii(&[("inner", "2"), ("margin", "0")], FAR), (2, 2));
    }

    /// From each place in a cell, and up to the margin beyond it, by brute force.
    #[test]
    fn zones_contain_the_reach_wherever_the_avatar_is() {
        for (cell, margin) in [("10", "1"), ("7", "1"), ("3.3", "0"), ("40", "20")] {
            let given = [("cell", cell), ("margin", margin)];
            let config = room(&given, Surroundings::new().reach_m(20.0)).expect("possible");
            let edge = config.cell;
            let margin = config.margin_m;
            let zone = (-f32::from(config.inner) * edge, f32::from(config.inner + 1) * edge);
            for step in 0_u8..=100 {
                let at = -margin + (edge + 2.0 * margin) * f32::from(step) / 100.0;
                let low = at - 20.0;
                let high = at + 20.0;
                assert!(zone.0 <= low + 1e-3 && high <= zone.1 + 1e-3, "{cell}, {margin}: {at}");
            }
            assert!(config.guaranteed_m(config.inner) >= 20.0);
        }
    }

    #[test]
    fn zones_that_are_smaller_than_the_reach_are_refused_by_name() {
        assert_eq!(
            room(&[("inner", "1")], FAR).expect_err("too small"),
            "inner does not fit: inner=1 with cells of 10 m and margin=1 shows what is 9 m away, \
             and what is 20 m away may act on a player: inner must be at least 3"
        );
        // The view alone is the player's choice.
        assert_eq!(radii(&[("inner", "1")], Surroundings::new().reach_m(9.0).view_m(28.0)), (1, 2));
        assert_eq!(
            room(&[("cell", "1")], FAR).expect_err("too small"),
            "cell does not fit: inner=20 with cells of 1 m and margin=0.5 shows what is 19.5 m \
             away, and what is 20 m away may act on a player: cells must be larger, as inner is \
             at most 20"
        );
        assert_eq!(
            room(&[("outer", "2")], FAR).expect_err("too small"),
            "outer does not fit: outer=2 must be at least inner=3"
        );
        // From anywhere on this map, all of it is in the zone.
        assert_eq!(radii(&[("inner", "1"), ("size", "20x20")], FAR), (1, 2));
    }

    #[test]
    fn kinds_with_zones_of_their_own_reach_as_far() {
        let mut schema = Schema::example();
        schema.kinds.truncate(1);
        let mut check = |inner, around| {
            schema.kinds[0].interest_radii = Some(InterestRadii { inner, outer: 9 });
            let config = room(&[], around).expect("possible");
            config.check_kinds(around, &schema).map_err(|error| error.to_string())
        };
        assert_eq!(check(0, Surroundings::NONE), Ok(()));
        assert_eq!(check(3, FAR), Ok(()));
        let refused = check(2, FAR).expect_err("too small");
        assert!(refused.contains("is followed from 19 m on"), "{refused}");
        assert!(refused.ends_with("its inner radius must be at least 3"), "{refused}");
    }
}
