//! The game of the chapter "A game that is steered by keys" (`docs/steered.md`), and its test.

use std::collections::BTreeMap;
use std::f32::consts::PI;

use ambit::contact::first_contact;
use ambit::message::TypedKind as _;
use ambit::prelude::*;
use ambit::statics::Obstacle;
use ambit::test::{Line, TestRoom};

const TOP_SPEED: f32 = 20.0;
const MISSILE_SPEED: f32 = 60.0;
const RANGE_M: f32 = 100.0;
const RADIUS_M: f32 = 1.5;
/// 200 m, and all that is not behind.
const SIGHT: Cone = Cone::new(200.0, 90.0).margins(10.0, 5.0);
const WALL: ObstacleLook = ObstacleLook::new('#', 0x60_7080);
/// The height of a ship that does not fly: below the ground.
const WAITING_Z: f32 = -2.0;

#[derive(Clone, Copy, Controls)]
enum Key {
    /// Turn to the left.
    #[key("a", "arrowleft")]
    TurnLeft,
    /// Turn to the right.
    #[key("d", "arrowright")]
    TurnRight,
    /// Fly faster, or brake.
    #[key("w", "s", "arrowup", "arrowdown")]
    #[control(axis)]
    Throttle,
    /// Fire missiles.
    #[key("space")]
    Fire,
}

#[derive(Kind)]
#[kind(steered)]
#[look(glyph = 'A', shape = arrow, size = 3.0, label = name)]
#[interest(inner = 21, outer = 22)]
struct Ship {
    /// Clients fly on from it, so its grid is fine: 4 mm, a tenth of a degree.
    pose: YawPose<256, 12>,
    name: Text<24>,
}

/// How a ship flies, at the server and in its player's client.
impl Steer for Ship {
    type SteeredBy = Key;

    fn steer(ship: &mut Movement, held: Held<Key>, terrain: Terrain<'_>, dt: f32) {
        if ship.at.z <= WAITING_Z {
            return ship.set_speed(0.0);
        }
        let push = held.axis(Key::Throttle) - 0.2;
        let speed = (ship.speed() + push * 15.0 * dt).clamp(0.0, TOP_SPEED);
        ship.yaw += held.between(Key::TurnLeft, Key::TurnRight) * 2.5 * dt;
        let to = terrain.end_on_map(ship.at, along(ship.at, ship.yaw, speed * dt));
        let way = ship.at.ground_distance(to);
        let free = terrain.statics.sweep(ship.at, to, RADIUS_M).min(way);
        ship.at = terrain.nearest_on_map(along(ship.at, ship.yaw, free));
        ship.set_speed(if free < way { 0.0 } else { speed });
    }

    /// Its player's client draws them at once.
    fn shots() -> Option<Shots<Key>> {
        Some(Shots {
            kind: Missile::NAME,
            by: Key::Fire,
            reload: 500.millis(),
            speed_m_per_s: MISSILE_SPEED,
            nose_m: 2.0,
            range_m: RANGE_M,
        })
    }
}

#[derive(Kind)]
#[look(glyph = '*', shape = point)]
#[interest(inner = 21, outer = 22)]
struct Missile {
    path: Path,
}

#[derive(Kind)]
#[kind(room_wide)]
struct Score {
    name: Text<24>,
    points: Number<-999, 999>,
}

#[derive(Event)]
struct Fired {
    ship: Id<Ship>,
}

#[derive(Sound)]
struct Bang;

#[derive(Serialize, Deserialize)]
enum Timer {
    Vanish(Id<Missile>),
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Ship, Missile, Score), events(Fired), sounds(Bang))]
#[declare(timer = Timer, controls = Key)]
struct Ships {
    crafts: BTreeMap<PlayerId, Craft>,
    missiles: BTreeMap<Id<Missile>, Shot>,
}

#[derive(Serialize, Deserialize)]
struct Craft {
    movement: Movement,
    /// When it can fire again.
    ready_at: GameTime,
}

/// A missile in flight.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Shot {
    by: PlayerId,
    /// How old the picture was that its player aimed at.
    behind: Duration,
}

impl Game for Ships {
    const INFO: GameInfo = GameInfo::new("ships", "Fly and shoot.");
    const SCENERY: Scenery =
        Scenery::new().camera(Camera::Above).ground(0x20_3850).obstacles(&[WALL]);
    const LAG_COMPENSATION: Duration = Duration::from_millis(200);
    type Avatar = Ship;
    no_commands!();
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        let wall = Obstacle::on_ground(180.0, 100.0, 1.0, 20.0, 4.0);
        world.statics_mut().add(wall.with_look(WALL));
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Ship> {
        let name: Text<24> = newcomer.name.into();
        world.spawn_row(newcomer.id, Score { name: name.clone(), points: 0.into() });
        let at = Position::on_ground(20.0 + 30.0 * newcomer.id.0 as f32, 100.0);
        let craft = Craft { movement: Movement::at_rest(at, 0.0), ready_at: world.now() };
        self.crafts.insert(newcomer.id, craft);
        world.spawn(Ship { pose: YawPose::at(at), name })
    }

    fn leave(&mut self, _: &mut World<Self>, player: Player<'_, Self>, _: Left) {
        self.crafts.remove(&player.id());
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        self.find_hits(world);
        let players: Vec<PlayerId> = world.players().map(Player::id).collect();
        for player in players {
            let Some(ship) = world.player(player).map(Player::avatar) else { continue };
            let Some(craft) = self.crafts.get_mut(&player) else { continue };
            let held = world.held(player);
            world.steer(ship, &mut craft.movement, held);
            if held.is_down(Key::Fire) {
                self.fire(world, player, ship);
            }
        }
    }

    fn timer(&mut self, world: &mut World<Self>, Timer::Vanish(missile): Timer, due: GameTime) {
        self.missiles.remove(&missile);
        world.despawn_at(missile, due);
    }

    fn sees(&self, world: &World<Self>, viewer: Id<Ship>, object: ObjectId, sight: Sight) -> bool {
        SIGHT.sees(world, viewer, object, sight)
    }

    fn sight_checks(&self) -> SightChecks {
        SightChecks::ON_DEMAND.every_ticks(4).on_turn(5.0)
    }
}

impl Ships {
    /// A missile flies straight on: its path is known when it is fired, and sent once.
    fn fire(&mut self, world: &mut World<Self>, player: PlayerId, ship: Id<Ship>) {
        let now = world.now();
        let Some((rule, craft)) = Ship::shots().zip(self.crafts.get_mut(&player)) else { return };
        if now < craft.ready_at {
            return;
        }
        craft.ready_at = now + rule.reload;
        let Some((nose, end)) = rule.way(&craft.movement, world.terrain()) else { return };
        let missile = world.spawn(Missile { path: Path::at(nose) });
        if let Some(mut editor) = world.edit(missile) {
            let arrival = editor.path().walk_to(end, rule.speed_m_per_s);
            world.at(arrival, Timer::Vanish(missile));
        }
        let behind = now.since(world.shown_to(player));
        self.missiles.insert(missile, Shot { by: player, behind });
        world.emit(Fired { ship }).heard::<Bang>(150.0);
    }

    /// A missile hits what it hits on the screen of the player who fired it.
    fn find_hits(&mut self, world: &mut World<Self>) {
        let span = (world.previous_now(), world.now());
        let reach_m = MISSILE_SPEED * span.1.since(span.0).as_secs_f32() + RADIUS_M;
        let mut near: Vec<Id<Ship>> = Vec::new();
        for (missile, shot) in self.missiles.clone() {
            let Some(at) = world.position(missile) else { continue };
            let seen = world.as_seen_by(shot.by, span.1.saturating_sub(shot.behind));
            seen.find_within(at, reach_m, &mut near);
            let contact = |ship: &Id<Ship>| {
                let target = world.owner(*ship).filter(|owner| *owner != shot.by)?;
                let one = world.motion(missile)?;
                let other = seen.motion(*ship)?;
                Some((first_contact(one, other, span, RADIUS_M)?, target))
            };
            let first = near.iter().filter_map(contact).min_by_key(|(time, _)| *time);
            let Some((time, target)) = first else { continue };
            self.missiles.remove(&missile);
            world.despawn_at(missile, time);
            if let Some(mut score) = world.edit_row::<Score>(shot.by) {
                score.points().add(2);
            }
            if let Some(mut score) = world.edit_row::<Score>(target) {
                score.points().add(-1);
            }
        }
    }
}

/// The point at a distance from a place, along a heading.
fn along(from: Position, yaw: f32, metres: f32) -> Position {
    let (sin, cos) = yaw.sin_cos();
    Position { x: from.x + cos * metres, y: from.y + sin * metres, ..from }
}

#[test]
fn a_shot_scores_and_who_looks_away_hears_it() {
    let mut room = TestRoom::<Ships>::new();
    // Both look to the east, and bob is before ann.
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    room.hold(ann, [Key::Fire]);
    room.run(200.millis());
    room.hold(ann, []);
    room.run(2.secs());
    let points = |client| {
        let row = room.world().row::<Score>(room.player(client)).expect("a row");
        row.points()
    };
    assert_eq!((points(ann), points(bob)), (2, -1));
    assert!(room.events(ann)[0].get::<Fired>().is_some());
    let heard = room.events(bob)[0].heard::<Bang>().expect("ann is behind bob");
    assert!((heard.direction - PI).abs() < 0.1, "from the west: {heard:?}");
    assert_eq!(room.sees(bob).len(), 1);
    assert_eq!(room.room_wide(bob).len(), 2);
}

#[test]
fn a_lever_that_is_half_way_pushes_half_as_much() {
    let mut room = TestRoom::<Ships>::new();
    let ann = room.join("ann", Line::default().delay(30.millis()).loss(20.0));
    room.set_axis(ann, Key::Throttle, 0.5);
    room.run(2.secs());
    let ship = room.world().player(room.player(ann)).expect("she plays").avatar();
    let speed = room.world().get(ship).expect("it is there").pose().speed();
    // 15 m/s^2 times 0.5 - 0.2, for about 2 s, on the grid of speeds.
    assert!((7.0..10.0).contains(&speed), "{speed}");
}

#[test]
fn a_wall_stops_a_ship_and_one_that_waits_does_not_move() {
    let mut room = TestRoom::<Ships>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    let waiting = room.player(bob);
    room.edit(|_, game| {
        game.crafts.get_mut(&waiting).expect("he has a ship").movement.at.z = WAITING_Z;
    });
    let before = room.avatar(bob).expect("he is in the game").position;
    for client in [ann, bob] {
        room.set_axis(client, Key::Throttle, 1.0);
    }
    room.run(15.secs());
    let at = room.avatar(ann).expect("she is in the game").position;
    assert!((at.x - (179.0 - RADIUS_M)).abs() < 0.1, "before the wall: {at:?}");
    let after = room.avatar(bob).expect("he is in the game").position;
    assert_eq!((after.x, after.y), (before.x, before.y));
}

#[test]
fn who_sees_an_object_gets_its_last_event_whenever_sight_is_checked() {
    for ticks in 0..4 {
        let mut room = TestRoom::<Ships>::new();
        let ann = room.join("ann", Line::default());
        let at = Position::on_ground(90.0, 100.0);
        let target =
            room.edit(|world, _| world.spawn(Ship { pose: YawPose::at(at), name: "".into() }));
        room.run(1.secs() + ticks * 50.millis());
        assert_eq!(room.sees(ann).len(), 2);
        room.edit(|world, _| {
            world.emit(Fired { ship: target }).heard::<Bang>(150.0);
            world.despawn(target);
        });
        room.run(1.secs());
        let [event] = room.events(ann) else { panic!("one event after {ticks} ticks") };
        assert!(event.get::<Fired>().is_some());
        assert_eq!(room.sees(ann).len(), 1);
    }
}

#[test]
fn a_way_ends_at_the_border_and_does_not_bend() {
    let room = TestRoom::<Ships>::new();
    let from = Position::on_ground(50.0, 10.0);
    let yaw = -60.0_f32.to_radians();
    let end = room.world().end_on_map(from, along(from, yaw, 100.0));
    assert!(end.y.abs() < 0.01 && (end.x - 55.77).abs() < 0.01, "{end:?}");
    let inside = along(from, 1.0, 20.0);
    assert_eq!(room.world().end_on_map(from, inside), inside);
}
