//! What avatars see: within a range, ahead of them, and not behind walls.

use ambit_proto::ids::ObjectId;
use ambit_proto::space::Position;
use ambit_room::logic::sight::cos_of_degrees;

pub use ambit_room::logic::sight::{HiddenBy, Sight, SightChecks};

use crate::world::World;

/// What an avatar sees: objects within a range, at most at an angle from where it faces, and with
/// no obstacle in between. For [`Game::sees`](crate::Game::sees):
///
/// ```
/// # use ambit::prelude::*;
/// # #[derive(Kind)]
/// # struct Ship { pose: YawPose }
/// # #[derive(Default, Serialize, Deserialize, Declare)]
/// # #[declare(kinds(Ship))]
/// # struct Ships;
/// /// 200 m, and all that is not behind.
/// const SIGHT: Cone = Cone::new(200.0, 90.0).margins(10.0, 5.0).blocked_by_walls(1.5);
///
/// impl Game for Ships {
///     # const INFO: GameInfo = GameInfo::new("ships", "Sail.");
///     # type Avatar = Ship;
///     # no_commands!();
///     # type Refusal = NoRefusal;
///     # fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Ship> {
///     #     world.spawn(Ship { pose: YawPose::default() })
///     # }
///     fn sees(
///         &self,
///         world: &World<Self>,
///         viewer: Id<Ship>,
///         object: ObjectId,
///         sight: Sight,
///     ) -> bool {
///         SIGHT.sees(world, viewer, object, sight)
///     }
///
///     /// Each ship four times a second at 20 Hz, and at once when it has turned.
///     fn sight_checks(&self) -> SightChecks {
///         SightChecks::ON_DEMAND.every_ticks(5).on_turn(5.0)
///     }
/// }
/// ```
///
/// An avatar faces along its heading, or along its x axis if it turns freely. One with a path sees
/// all around.
///
/// The zones of interest of a kind must reach at least as far as it is seen, whatever the place of
/// the avatar in its cell: `#[interest(inner = 21, outer = 22)]` for the above and cells of 10 m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    /// For what the viewer does not follow.
    new: Reach,
    /// For what it follows.
    kept: Reach,
    /// The height of lines of sight above the positions, if walls matter.
    eye_m: Option<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Reach {
    range_m: f32,
    half_angle_deg: f32,
    half_angle_cos: f32,
}

impl Reach {
    const fn new(range_m: f32, half_angle_deg: f32) -> Self {
        // What is no number sees nothing.
        let range_m = range_m.max(0.0);
        let half_angle_deg = half_angle_deg.max(0.0);
        Self { range_m, half_angle_deg, half_angle_cos: cos_of_degrees(half_angle_deg) }
    }
}

impl Cone {
    /// Up to `range_m`, and up to an angle on either side: 90 degrees see all that is not behind,
    /// 180 degrees all around. The angle is that on the map, heights do not count.
    pub const fn new(range_m: f32, half_angle_deg: f32) -> Self {
        let reach = Reach::new(range_m, half_angle_deg);
        Self { new: reach, kept: reach, eye_m: None }
    }

    /// What is in sight stays so up to this much farther away and this much farther to the side
    /// (hysteresis): so what is right at the edge does not come and go.
    #[must_use]
    pub const fn margins(self, range_m: f32, angle_deg: f32) -> Self {
        let Reach { range_m: new_m, half_angle_deg: new_deg, .. } = self.new;
        let range_m = range_m.max(0.0);
        let angle_deg = angle_deg.max(0.0);
        Self { kept: Reach::new(new_m + range_m, new_deg + angle_deg), ..self }
    }

    /// Nothing is seen through the static obstacles. Lines of sight begin and end `eye_m` above the
    /// positions.
    #[must_use]
    pub const fn blocked_by_walls(self, eye_m: f32) -> Self {
        Self { eye_m: Some(eye_m), ..self }
    }

    /// Whether a viewer sees an object. Cost: little beyond the range and behind; otherwise a
    /// search for a wall, logarithmic in their number.
    pub fn sees<G>(
        &self,
        world: &World<G>,
        viewer: impl Into<ObjectId>,
        object: impl Into<ObjectId>,
        sight: Sight,
    ) -> bool {
        let viewer = viewer.into();
        let Some((from, to)) = world.position(viewer).zip(world.position(object)) else {
            return false;
        };
        let Reach { range_m, half_angle_cos, .. } = match sight {
            Sight::New => self.new,
            Sight::Kept => self.kept,
        };
        let (x, y, z) = (to.x - from.x, to.y - from.y, to.z - from.z);
        let ground = x * x + y * y;
        let hide = |by| {
            world.room().hiding().set(by);
            false
        };
        if ground + z * z > range_m * range_m {
            return hide(HiddenBy::Range);
        }
        let is_beside =
            |[east, north]: [f32; 2]| east * x + north * y < half_angle_cos * ground.sqrt();
        if half_angle_cos > -1.0 && world.room().facing(viewer).is_some_and(is_beside) {
            return hide(HiddenBy::Angle);
        }
        let raised = |at: Position, eye_m| Position { z: at.z + eye_m, ..at };
        let is_behind = |eye_m| world.statics().is_between(raised(from, eye_m), raised(to, eye_m));
        if self.eye_m.is_some_and(is_behind) { hide(HiddenBy::Wall) } else { true }
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;

    use ambit_room::config::RoomConfig;
    use ambit_room::logic::statics::Obstacle;
    use ambit_room::logic::world::World as RoomWorld;

    use super::*;
    use crate::prelude::*;

    #[derive(Kind)]
    struct Ship {
        pose: YawPose,
    }

    #[derive(Kind)]
    struct Buoy {
        path: Path,
    }

    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Ship, Buoy))]
    struct Ships;

    const SIGHT: Cone = Cone::new(100.0, 60.0).margins(10.0, 10.0).blocked_by_walls(1.0);

    /// A ship at (500, 500) that faces north, on a map with a wall to the north-east.
    fn scene() -> (RoomWorld, Id<Ship>) {
        let schema = ambit_proto::schema::Schema {
            game: "ships".into(),
            kinds: Ships::kinds().into_iter().map(|declared| declared.kind).collect(),
            ..Default::default()
        };
        let config = RoomConfig { width: 1_000.0, height: 1_000.0, ..RoomConfig::default() };
        let mut room = RoomWorld::new(&config, schema);
        let world = World::<Ships>::of_room_mut(&mut room);
        world.statics_mut().add(Obstacle::on_ground(540.0, 540.0, 5.0, 5.0, 3.0));
        let pose = YawPose::at(Position::on_ground(500.0, 500.0)).facing(FRAC_PI_2);
        let ship = world.spawn(Ship { pose });
        (room, ship)
    }

    /// Whether the ship sees a buoy at a distance and an angle to the left: a new one, and one that
    /// it follows.
    fn sees(distance_m: f32, left_deg: f32, height_m: f32) -> [bool; 2] {
        let (mut room, ship) = scene();
        let world = World::<Ships>::of_room_mut(&mut room);
        let (sin, cos) = (left_deg + 90.0).to_radians().sin_cos();
        let at = Position::new(500.0 + distance_m * cos, 500.0 + distance_m * sin, height_m);
        let buoy = world.spawn(Buoy { path: Path::at(at) });
        [Sight::New, Sight::Kept].map(|sight| SIGHT.sees(world, ship, buoy, sight))
    }

    #[test]
    fn a_cone_of_nonsense_sees_nothing_and_keeps_what_it_sees() {
        let (mut room, ship) = scene();
        let world = World::<Ships>::of_room_mut(&mut room);
        let buoy = world.spawn(Buoy { path: Path::at(Position::on_ground(500.0, 510.0)) });
        let sees = |cone: Cone| [Sight::New, Sight::Kept].map(|s| cone.sees(world, ship, buoy, s));
        for range_m in [f32::NAN, -50.0] {
            assert_eq!(sees(Cone::new(range_m, 90.0)), [false, false]);
        }
        assert_eq!(sees(Cone::new(50.0, 60.0).margins(-45.0, f32::NAN)), [true, true]);
    }

    #[test]
    fn a_cone_ends_at_its_range_and_at_its_sides() {
        assert_eq!(sees(99.0, 0.0, 0.0), [true, true]);
        assert_eq!(sees(101.0, 0.0, 0.0), [false, true]);
        assert_eq!(sees(111.0, 0.0, 0.0), [false, false]);
        for side in [-1.0, 1.0] {
            assert_eq!(sees(50.0, side * 59.0, 0.0), [true, true]);
            assert_eq!(sees(50.0, side * 61.0, 0.0), [false, true]);
            assert_eq!(sees(50.0, side * 71.0, 0.0), [false, false]);
            assert_eq!(sees(50.0, side * 179.0, 0.0), [false, false]);
        }
        assert_eq!(sees(0.0, 0.0, 0.0), [true, true]);
        // The height counts for the range alone.
        assert_eq!(sees(20.0, 59.0, 99.0), [false, true]);
        assert_eq!(sees(20.0, 59.0, 90.0), [true, true]);
    }

    #[test]
    fn nothing_is_seen_behind_a_wall() {
        assert_eq!(sees(45.0, -45.0, 0.0), [true, true]); // Before it.
        assert_eq!(sees(80.0, -45.0, 0.0), [false, false]);
        assert_eq!(sees(80.0, -30.0, 0.0), [true, true]); // Beside it.
        assert_eq!(sees(80.0, -45.0, 30.0), [true, true]); // Over it.
    }

    #[test]
    fn who_asks_why_learns_what_hides_an_object() {
        let hidden_by = |distance_m: f32, left_deg: f32| {
            let (mut room, ship) = scene();
            let world = World::<Ships>::of_room_mut(&mut room);
            let angle = FRAC_PI_2 + left_deg.to_radians();
            let (x, y) = (distance_m * angle.cos(), distance_m * angle.sin());
            let place = Position::on_ground(500.0 + x, 500.0 + y);
            let buoy = world.spawn(Buoy { path: Path::at(place) });
            assert!(!SIGHT.sees(world, ship, buoy, Sight::New));
            world.room().hiding().get()
        };
        assert_eq!(hidden_by(120.0, 0.0), HiddenBy::Range);
        assert_eq!(hidden_by(50.0, 90.0), HiddenBy::Angle);
        assert_eq!(hidden_by(80.0, -45.0), HiddenBy::Wall);
    }

    #[test]
    fn turned_and_round_obstacles_hide_what_is_behind_them() {
        let (mut room, ship) = scene();
        let world = World::<Ships>::of_room_mut(&mut room);
        // To the north: a rock, and beside it a wall that shows its narrow side.
        world.statics_mut().add(Obstacle::round(500.0, 530.0, 2.0, 3.0));
        let wall = Obstacle::on_ground(485.0, 530.0, 10.0, 0.5, 3.0);
        world.statics_mut().add(wall.turned(FRAC_PI_2 + (0.5_f32).atan()));
        for (x, y, is_seen) in [
            (500.0, 550.0, false),
            (502.0, 550.0, false),
            (504.5, 550.0, true),
            // Along the wall's long side.
            (475.0, 550.0, false),
            (480.0, 560.0, true),
        ] {
            let buoy = world.spawn(Buoy { path: Path::at(Position::on_ground(x, y)) });
            assert_eq!(SIGHT.sees(world, ship, buoy, Sight::New), is_seen, "({x}, {y})");
        }
    }

    #[test]
    fn an_avatar_with_a_path_sees_all_around() {
        let (mut room, ship) = scene();
        let world = World::<Ships>::of_room_mut(&mut room);
        let buoy = world.spawn(Buoy { path: Path::at(Position::on_ground(500.0, 520.0)) });
        assert!(SIGHT.sees(world, buoy, ship, Sight::New));
        let gone = world.spawn(Buoy { path: Path::at(Position::on_ground(500.0, 510.0)) });
        world.despawn(gone);
        assert!(
            !SIGHT.sees(world, ship, gone, Sight::New)
                && !SIGHT.sees(world, gone, ship, Sight::New)
        );
    }
}
