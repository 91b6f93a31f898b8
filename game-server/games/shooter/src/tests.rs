//! The rules, with real clients on virtual time.

use ambit::Typed;
use ambit::message::TypedEvent;
use ambit::prelude::*;
use ambit::statics::{Obstacle, ObstacleShape};
use ambit::test::{Line, Seen, TestClient, TestRoom};

use crate::{
    A_SECOND_SHIP, ALL_PLAYERS, ASTEROID, Hit, Match, Missile, RoundOver, RoundWaits, Score, Ship,
    ShipControl, Shooter, ShooterWorld, TABLES, WALL, first_shield,
};

type Room = TestRoom<Shooter>;

/// Two players who are alone.
fn duel(parameters: &[(&str, &str)]) -> (Room, TestClient, TestClient) {
    let alone = [("ships", "0"), ("asteroids", "0")];
    let mut room = Room::with(&[&alone[..], parameters].concat());
    let ann = room.join("ann", Line::default());
    let bob = room.join("bob", Line::default());
    tap(&mut room, &[ann, bob]);
    // Both can be hit from here on.
    room.run(Duration::from_secs_f32(TABLES.ship.first_shield_s));
    (room, ann, bob)
}

/// Players press a key that changes nothing for a ship at rest.
fn tap(room: &mut Room, clients: &[TestClient]) {
    for held in [&[ShipControl::Brake][..], &[]] {
        for &client in clients {
            room.hold(client, held.iter().copied());
        }
        room.run(50.millis());
    }
}

/// Puts a player's ship somewhere, at rest.
fn put(room: &mut Room, client: TestClient, at: Position, yaw: f32) {
    let player = room.player(client);
    room.edit(|world, game| {
        let ship = world.player(player).expect("the player is in the room").avatar();
        let craft = game.crafts.get_mut(&ship).expect("each player has a ship");
        craft.movement = Movement::at_rest(at, yaw);
    });
    room.run(100.millis());
}

/// Two players, of whom the first one has hit the other, which has just come back.
fn hit_bob() -> (Room, TestClient, TestClient) {
    let (mut room, ann, bob) = duel(&[]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    put(&mut room, bob, Position::on_ground(70.0, 30.0), 0.0);
    room.hold(ann, [ShipControl::Fire]);
    for _ in 0..20 {
        room.run(50.millis());
        if score(&room, ann).0 > 0 {
            break;
        }
    }
    assert_eq!(score(&room, ann), (2, 1));
    room.hold(ann, []);
    room.run(Duration::from_secs_f32(TABLES.ship.back_after_s) + 50.millis());
    (room, ann, bob)
}

/// Where a player's ship is in the room, and whether it has a shield.
fn ship_of(room: &Room, client: TestClient) -> (Position, bool) {
    let player = room.player(client);
    let world = room.world();
    let ship = world.player(player).expect("the player is in the room").avatar();
    let is_shielded = world.get(ship).expect("each player has a ship").shielded().is_on();
    (world.position(ship).expect("a ship is somewhere"), is_shielded)
}

fn score(room: &Room, client: TestClient) -> (i64, i64) {
    let row = room.world().row::<Score>(room.player(client)).expect("each player has a row");
    (row.points(), row.hits())
}

/// Name, points, accuracy and team of each row that a client has.
fn rows(room: &Room, client: TestClient) -> Vec<(String, i64, i64, String)> {
    let read = |row: &Seen| {
        let row = row.get::<Score>()?;
        Some((row.name.to_owned(), row.points, row.accuracy, row.team.to_owned()))
    };
    room.room_wide(client).iter().filter_map(read).collect()
}

/// The round, and who has won it, as a client has it.
fn state(room: &Room, client: TestClient) -> (i64, String) {
    let room_wide = room.room_wide(client);
    let state = room_wide.iter().find_map(|seen| seen.get::<Match>()).expect("there is a match");
    (state.round, state.winner.to_owned())
}

fn events<E: TypedEvent>(room: &Room, client: TestClient) -> usize {
    room.events(client).iter().filter(|event| event.get::<E>().is_some()).count()
}

#[test]
fn the_tables_are_complete() {
    let tables = &TABLES;
    assert!(tables.missile.speed_m_per_s > 2.0 * tables.ship.top_speed_m_per_s);
    assert!(tables.walls.iter().all(|wall| wall.half_x > 0.0 && wall.half_y > 0.0));
    assert_eq!((tables.points.hit, tables.points.got_hit), (2, -1));
}

#[test]
fn who_is_alone_is_told_what_the_round_waits_for() {
    let mut room = Room::with(&[("ships", "0")]);
    let ann = room.join("ann", Line::default());
    let waits_for = |room: &Room, client| {
        let room_wide = room.room_wide(client);
        let state = room_wide.iter().find_map(|seen| seen.get::<Match>());
        state.expect("there is a match").waits_for.to_owned()
    };
    room.hold(ann, [ShipControl::Fire]);
    room.run(1.secs());
    assert_eq!((waits_for(&room, ann).as_str(), fired(&mut room, ann)), ("a second ship", 0));
    let bob = room.join("bob", Line::default());
    room.run(1.secs());
    for client in [ann, bob] {
        assert_eq!(waits_for(&room, client), "");
    }
    assert!(fired(&mut room, ann) > 0);
    // With pilots no player waits.
    let mut room = Room::new();
    let ann = room.join("ann", Line::default());
    room.run(1.secs());
    assert_eq!(waits_for(&room, ann), "");
}

#[test]
fn a_round_waits_again_when_the_second_ship_leaves() {
    let (mut room, ann, bob) = duel(&[("rounds", "2"), ("minutes", "1")]);
    let waits_for = |room: &Room| {
        room.world().state::<Match>().expect("there is a match").waits_for().to_owned()
    };
    assert_eq!((waits_for(&room).as_str(), events::<RoundWaits>(&room, ann)), ("", 0));
    room.leave(bob);
    room.run(300.millis());
    assert_eq!(waits_for(&room), "a second ship");
    assert_eq!(events::<RoundWaits>(&room, ann), 1, "it is announced");
    // A player who fires reads why nothing happens, once for each press.
    for _ in 0..2 {
        room.hold(ann, [ShipControl::Fire]);
        room.run(500.millis());
        room.hold(ann, []);
        room.run(300.millis());
    }
    assert_eq!(fired(&mut room, ann), 0);
    assert_eq!(events::<RoundWaits>(&room, ann), 3);
    // The time of the round that was broken off ends nothing.
    room.run(60.secs());
    assert_eq!(state(&room, ann), (1, String::new()));
    let carl = room.join("carl", Line::default());
    room.run(300.millis());
    assert_eq!((waits_for(&room).as_str(), state(&room, carl).0), ("", 2));
    room.run(62.secs());
    assert!(events::<RoundOver>(&room, carl) == 1 && !room.is_finished());
    // A break in which all but one leave is followed by no round.
    room.run(Duration::from_secs_f32(TABLES.round.break_s));
    assert!(room.is_finished(), "the second one was the last one");

    let (mut room, ann, bob) = duel(&[("minutes", "1")]);
    room.run(61.secs());
    assert_eq!(events::<RoundOver>(&room, ann), 1);
    room.leave(bob);
    room.run(Duration::from_secs_f32(TABLES.round.break_s) + 1.secs());
    assert_eq!((waits_for(&room).as_str(), state(&room, ann).0), ("a second ship", 1));
}

/// How many missiles a player has fired in this round.
fn fired(room: &mut Room, client: TestClient) -> i64 {
    let player = room.player(client);
    room.edit(|world, game| {
        let ship = world.player(player).expect("she is there").avatar();
        game.crafts[&ship].shots
    })
}

#[test]
fn a_ship_turns_flies_and_brakes_by_keys() {
    let (mut room, ann, _) = duel(&[]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    room.hold(ann, [ShipControl::Accelerate]);
    room.run(2.secs());
    let flown = room.avatar(ann).expect("the ship is in sight").position;
    assert!(flown.x > 55.0 && (flown.y - 30.0).abs() < 0.5, "{flown:?}");
    room.hold(ann, [ShipControl::TurnLeft, ShipControl::Brake]);
    room.run(2.secs());
    let player = room.player(ann);
    let world = room.world();
    let ship = world.get(world.player(player).expect("she is there").avatar()).expect("her ship");
    assert_eq!(ship.pose().speed(), 0.0);
    assert!(ship.pose().yaw() > 1.0, "{}", ship.pose().yaw());
}

#[test]
fn a_hit_gives_two_points_and_costs_nothing_who_has_none() {
    let (mut room, ann, bob) = duel(&[]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    put(&mut room, bob, Position::on_ground(70.0, 30.0), 0.0);
    room.hold(ann, [ShipControl::Fire]);
    room.run(1.secs());
    room.hold(ann, []);
    room.run(2.secs());
    assert_eq!((score(&room, ann), score(&room, bob)), ((2, 1), (0, 0)));
    // The others passed through the shield.
    for client in [ann, bob] {
        assert_eq!(events::<Hit>(&room, client), 1);
        let seen: Vec<_> =
            rows(&room, client).into_iter().map(|(name, points, ..)| (name, points)).collect();
        assert_eq!(seen, [("ann".to_owned(), 2), ("bob".to_owned(), 0)]);
    }
    let mut missiles: Vec<Id<Missile>> = Vec::new();
    room.world().find_all(&mut missiles);
    assert!(missiles.is_empty(), "missiles end");
    let accuracy = rows(&room, ann)[0].2;
    assert!((20..=50).contains(&accuracy), "1 of 3 or so: {accuracy}");
}

#[test]
fn a_ship_that_was_hit_is_a_wreck_for_as_long_as_its_player_reads_by_whom() {
    let (mut room, ann, bob) = duel(&[]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    put(&mut room, bob, Position::on_ground(70.0, 30.0), 0.0);
    let is_wrecked = |room: &Room| {
        let player = room.player(bob);
        let world = room.world();
        let ship = world.player(player).expect("he is there").avatar();
        world.get(ship).expect("his ship").wrecked().is_on()
    };
    room.hold(ann, [ShipControl::Fire]);
    let mut before = ship_of(&room, bob).0;
    while !is_wrecked(&room) {
        before = ship_of(&room, bob).0;
        room.run(50.millis());
    }
    room.hold(ann, []);
    // A wreck is where it was.
    room.run(700.millis());
    assert!(is_wrecked(&room) && ship_of(&room, bob).0.ground_distance(before) < 1.0);
    room.run(200.millis());
    assert!(!is_wrecked(&room) && ship_of(&room, bob).1);
    assert!(ship_of(&room, bob).0.ground_distance(before) > 20.0);
}

#[test]
fn to_be_hit_costs_a_point_if_there_is_one() {
    let (mut room, ann, bob) = hit_bob();
    let player = room.player(bob);
    room.edit(|world, _| {
        world.edit_row::<Score>(player).expect("he has a row").points().set(5);
    });
    // As long as the shield lasts.
    room.run(3_100.millis());
    put(&mut room, bob, Position::on_ground(70.0, 30.0), 0.0);
    room.hold(ann, [ShipControl::Fire]);
    room.run(1.secs());
    assert_eq!((score(&room, ann), score(&room, bob)), ((4, 2), (4, 0)));
}

#[test]
fn who_only_reads_the_first_hints_cannot_be_hit() {
    let (mut room, ann, _) = duel(&[]);
    let eve = room.join("eve", Line::default());
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    put(&mut room, eve, Position::on_ground(70.0, 30.0), 0.0);
    room.run(12.secs());
    room.hold(ann, [ShipControl::Fire]);
    room.run(2.secs());
    assert!(ship_of(&room, eve).1 && score(&room, ann) == (0, 0));
    // Then her ship is as any that has come back.
    room.hold(ann, []);
    tap(&mut room, &[eve]);
    room.run(2_500.millis());
    assert!(ship_of(&room, eve).1);
    room.run(1.secs());
    assert!(!ship_of(&room, eve).1);
    // The end of the wait changes nothing more.
    let player = room.player(eve);
    room.edit(|world, game| {
        let ship = world.player(player).expect("she is there").avatar();
        game.come_back(world, ship);
        world.edit(ship).expect("her ship").shielded().set(true);
    });
    room.run(2_500.millis());
    assert!(ship_of(&room, eve).1);
}

#[test]
fn the_first_shield_ends_by_itself_and_with_the_first_key() {
    let at = |seconds: f32| GameTime::ZERO + Duration::from_secs_f32(seconds);
    let shield = |seconds| first_shield(at(10.0), at(seconds));
    assert_eq!(shield(10.5), Some((at(14.0), at(14.0))), "time to look around");
    assert_eq!(shield(20.0), Some((at(23.0), at(20.5))), "as whoever comes back");
    assert_eq!(shield(30.0), None, "it has ended");
}

#[test]
fn a_wall_stops_missiles_and_ships() {
    let (mut room, ann, bob) = duel(&[("size", "300x300")]);
    // The middle of the map is a cross of walls.
    put(&mut room, ann, Position::on_ground(130.0, 170.0), 0.0);
    put(&mut room, bob, Position::on_ground(170.0, 170.0), 0.0);
    room.hold(ann, [ShipControl::Fire, ShipControl::Accelerate]);
    room.run(4.secs());
    assert_eq!(score(&room, ann), (0, 0));
    let at = room.avatar(ann).expect("the ship is in sight").position;
    assert!(at.x < 147.0, "{at:?}");
}

#[test]
fn an_asteroid_stops_missiles_and_ships() {
    let (mut room, ann, bob) = duel(&[("asteroids", "1")]);
    let is_round = |it: &&Obstacle| matches!(it.shape, ObstacleShape::Cylinder { .. });
    let statics = room.world().statics();
    let rock = *statics.obstacles().iter().find(is_round).expect("an asteroid");
    let [radius, ..] = rock.shape.half();
    let beside = |x: f32| Position::on_ground(rock.centre.x + x, rock.centre.y);
    put(&mut room, ann, beside(-radius - 15.0), 0.0);
    put(&mut room, bob, beside(radius + 10.0), 0.0);
    room.hold(ann, [ShipControl::Fire, ShipControl::Accelerate]);
    room.run(4.secs());
    assert_eq!(score(&room, ann), (0, 0));
    let player = room.player(ann);
    let world = room.world();
    let ship = world.player(player).expect("she is there").avatar();
    let at = world.position(ship).expect("her ship");
    let way = rock.centre.x - radius - TABLES.ship.radius_m - at.x;
    assert!((0.0..1.0).contains(&way), "{way} m before the asteroid");
}

#[test]
fn clients_have_the_declared_scenery_and_the_same_obstacles() {
    let scenery = Typed::<Shooter>::declared_schema().presentation.scenery;
    assert_eq!((scenery.camera, scenery.is_without_grid), (Camera::Above, false));
    assert_eq!(scenery.obstacles, [ASTEROID, WALL]);
    let (mut room, ann, _) = duel(&[("asteroids", "5")]);
    room.run(2.secs());
    let map = room.map(ann).expect("the map has arrived");
    let looks = map.obstacles.iter().map(|it| it.look.map(|look| scenery.obstacles[look as usize]));
    let seen: Vec<_> = map.obstacles.iter().map(|it| (it.centre, it.shape)).zip(looks).collect();
    let obstacles = room.world().statics().obstacles().iter();
    let placed: Vec<_> = obstacles.map(|it| ((it.centre, it.shape), it.look)).collect();
    assert_eq!(seen, placed);
    let count = |look| placed.iter().filter(|(_, other)| *other == Some(look)).count();
    assert_eq!((count(ASTEROID), count(WALL)), (5, TABLES.walls.len()));
}

#[test]
fn a_ship_that_flies_along_the_border_stays_on_the_map() {
    let (mut room, ann, _) = duel(&[]);
    for degrees in [-60.0_f32, -45.0, -30.0, -10.0, -90.0] {
        put(&mut room, ann, Position::on_ground(150.0, 6.0), degrees.to_radians());
        room.hold(ann, [ShipControl::Accelerate]);
        room.run(6.secs());
        let player = room.player(ann);
        let world = room.world();
        let ship = world.player(player).expect("she is there").avatar();
        let at = world.position(ship).expect("her ship");
        assert_eq!(world.nearest_on_map(at), at, "{degrees}");
    }
}

#[test]
fn who_reaches_the_goal_wins_and_the_next_round_begins() {
    let (mut room, ann, bob) = duel(&[("goal", "2")]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    put(&mut room, bob, Position::on_ground(70.0, 30.0), 0.0);
    room.hold(ann, [ShipControl::Fire]);
    room.run(1.secs());
    room.hold(ann, []);
    let eve = room.join("eve", Line::default());
    room.run(1.secs());
    for client in [ann, bob] {
        assert_eq!(events::<RoundOver>(&room, client), 1);
    }
    for client in [ann, bob, eve] {
        assert_eq!(state(&room, client).1, "ann");
        assert_eq!(rows(&room, client).len(), 3, "who comes late has the table");
    }
    room.run(10.secs());
    assert_eq!(state(&room, eve), (2, String::new()));
    assert_eq!((score(&room, ann), score(&room, bob)), ((0, 0), (0, 0)));
}

#[test]
fn after_the_last_round_all_are_back_in_the_room() {
    let (mut room, ann, bob) = duel(&[("goal", "2"), ("rounds", "1")]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    put(&mut room, bob, Position::on_ground(70.0, 30.0), 0.0);
    room.hold(ann, [ShipControl::Fire]);
    room.run(3.secs());
    assert!(!room.is_finished());
    room.run(10.secs());
    assert!(room.is_finished());
}

#[test]
fn a_round_ends_when_its_time_is_over() {
    let (mut room, ann, _) = duel(&[("minutes", "1")]);
    room.run(54.secs());
    assert_eq!(events::<RoundOver>(&room, ann), 0);
    room.run(4.secs());
    assert_eq!(events::<RoundOver>(&room, ann), 1);
}

#[test]
fn members_of_a_team_do_not_hit_each_other() {
    let (mut room, ann, bob) = duel(&[("teams", "2")]);
    let eve = room.join("eve", Line::default());
    room.run(1.secs());
    let teams: Vec<_> = rows(&room, ann).iter().map(|row| row.3.clone()).collect();
    assert_eq!(teams, ["Team 1", "Team 2", "Team 1"]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    put(&mut room, eve, Position::on_ground(60.0, 30.0), 0.0);
    put(&mut room, bob, Position::on_ground(80.0, 30.0), 0.0);
    room.hold(ann, [ShipControl::Fire]);
    room.run(3.secs());
    assert_eq!(score(&room, eve), (0, 0));
    assert!(score(&room, ann).0 >= 2 && events::<Hit>(&room, bob) > 0, "through the friend");
}

#[test]
fn pilots_fly_where_players_are_missing_and_make_room_for_them() {
    let mut room = Room::with(&[("ships", "3"), ("asteroids", "2")]);
    let count = |room: &Room| {
        let mut ships: Vec<Id<Ship>> = Vec::new();
        room.world().find_all(&mut ships);
        (ships.len(), room.world().players().len())
    };
    let clients = ["ann", "bob", "eve", "joe"].map(|name| {
        let client = room.join(name, Line::default());
        (client, count(&room))
    });
    assert_eq!(clients.map(|(_, count)| count), [(3, 1), (3, 2), (3, 3), (4, 4)]);
    for (client, _) in &clients[1..] {
        room.leave(*client);
    }
    room.run(1.secs());
    assert_eq!(count(&room), (3, 1));
    assert_eq!(rows(&room, clients[0].0).len(), 3);
}

#[test]
fn pilots_play_a_round_to_its_end_among_themselves() {
    let mut room = Room::with(&[("ships", "4"), ("goal", "10"), ("minutes", "60")]);
    let ann = room.join("ann", Line::default());
    for _ in 0..60 {
        room.run(10.secs());
        if events::<RoundOver>(&room, ann) > 0 {
            break;
        }
    }
    assert!(events::<RoundOver>(&room, ann) > 0, "nobody has won in ten minutes");
}

#[test]
fn a_match_goes_on_at_another_host() {
    let (mut room, ann, bob) = duel(&[]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    put(&mut room, bob, Position::on_ground(70.0, 30.0), 0.0);
    room.hold(ann, [ShipControl::Fire]);
    room.run(1.secs());
    room.hold(ann, []);
    room.run(1.secs());
    room.move_to_another_host();
    // As long as the shield lasts.
    room.run(3.secs());
    put(&mut room, bob, Position::on_ground(70.0, 30.0), 0.0);
    room.hold(ann, [ShipControl::Fire]);
    room.run(1.secs());
    room.hold(ann, []);
    room.run(1.secs());
    assert_eq!((score(&room, ann), score(&room, bob)), ((4, 2), (0, 0)));
}

#[test]
fn a_ship_that_was_hit_comes_back_far_from_others_with_a_shield() {
    let (mut room, ann, bob) = hit_bob();
    let [anns, bobs] = [ann, bob].map(|client| ship_of(&room, client));
    let apart = anns.0.distance(bobs.0);
    // The best of some places is three quarters of a map of 200 m away, at least.
    assert!(apart > 150.0, "{apart} m from whoever hit it");
    assert!(bobs.1, "it has a shield");
    room.run(2_200.millis());
    assert!(ship_of(&room, bob).1, "still");
    room.run(1.secs());
    assert!(!ship_of(&room, bob).1, "it lasts 3 s");
}

#[test]
fn whoever_was_hit_at_rest_sees_where_the_ship_is_now() {
    let (mut room, ann, bob) = hit_bob();
    room.run(1.secs());
    for client in [ann, bob] {
        let (place, _) = ship_of(&room, client);
        let seen = room.avatar(client).expect("its own ship").position;
        assert!(seen.distance(place) < 0.1, "it is at {place:?}, and seen at {seen:?}");
    }
}

#[test]
fn whoever_fires_gives_up_the_shield() {
    let (mut room, _, bob) = hit_bob();
    // A key that was held before the new place could be seen is no choice.
    room.hold(bob, [ShipControl::Fire]);
    room.run(200.millis());
    assert!(ship_of(&room, bob).1);
    room.run(700.millis());
    assert!(!ship_of(&room, bob).1);
    // The end of that shield does not end one of later.
    let player = room.player(bob);
    room.edit(|world, game| {
        let ship = world.player(player).expect("he is there").avatar();
        game.come_back(world, ship);
        world.edit(ship).expect("his ship").shielded().set(true);
    });
    room.hold(bob, []);
    room.run(2_400.millis());
    assert!(ship_of(&room, bob).1);
    room.run(800.millis());
    assert!(!ship_of(&room, bob).1);
}

#[test]
fn pilots_leave_whoever_has_a_shield_alone() {
    let mut room = Room::with(&[("ships", "2"), ("asteroids", "0")]);
    let ann = room.join("ann", Line::default());
    let player = room.player(ann);
    let shots_at = |room: &mut Room, is_shielded: bool| {
        let mut shots = 0;
        for _ in 0..40 {
            room.edit(|world, game| {
                let ship = world.player(player).expect("she is there").avatar();
                world.edit(ship).expect("her ship").shielded().set(is_shielded);
                // Out of the way of missiles, and before the pilot's nose.
                for (&other, craft) in &mut game.crafts {
                    let x = if other == ship { 80.0 } else { 40.0 };
                    craft.movement = Movement::at_rest(Position::on_ground(x, 30.0), 0.0);
                    shots = craft.shots.max(shots);
                }
            });
            room.run(50.millis());
        }
        shots
    };
    assert_eq!(shots_at(&mut room, true), 0);
    assert!(shots_at(&mut room, false) > 0);
}

#[test]
fn one_team_is_no_team() {
    let (mut room, ann, bob) = duel(&[("teams", "1")]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    put(&mut room, bob, Position::on_ground(70.0, 30.0), 0.0);
    room.hold(ann, [ShipControl::Fire]);
    room.run(1.secs());
    assert_eq!(score(&room, ann), (2, 1));
}

#[test]
fn who_presses_faster_fires_no_faster() {
    let (mut room, ann, _) = duel(&[]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    let player = room.player(ann);
    for _ in 0..120 {
        room.hold(ann, [ShipControl::Fire]);
        room.run(10.millis());
        room.hold(ann, []);
        room.run(15.millis());
    }
    let mut shots = 0;
    room.edit(|world, game| {
        let ship = world.player(player).expect("she is there").avatar();
        shots = game.crafts[&ship].shots;
    });
    // Three seconds, and a shot in 0.35 s, at ticks of 50 ms.
    assert!((5..=9).contains(&shots), "{shots}");
}

#[test]
fn the_past_is_asked_as_it_was_seen() {
    let (mut room, ann, bob) = duel(&[]);
    put(&mut room, ann, Position::on_ground(40.0, 30.0), 0.0);
    put(&mut room, bob, Position::on_ground(70.0, 20.0), std::f32::consts::FRAC_PI_2);
    room.hold(bob, [ShipControl::Accelerate]);
    room.run(900.millis());
    let ann = room.player(ann);
    let bob = room.player(bob);
    let ship_of = |world: &ShooterWorld, player| world.player(player).expect("a player").avatar();
    let mut then = (GameTime::ZERO, Position::default());
    room.edit(|world, _| {
        let bobs = ship_of(world, bob);
        then = (world.now(), world.position(bobs).expect("a ship"));
    });
    room.run(200.millis());
    room.edit(|world, _| {
        let anns = ship_of(world, ann);
        let bobs = ship_of(world, bob);
        let here = world.position(bobs).expect("a ship");
        assert!(here.distance(then.1) > 1.5, "{here:?}");
        let seen = world.as_seen_by(ann, then.0);
        assert_eq!(seen.time(), then.0);
        let was = seen.position(bobs).expect("a ship");
        assert!(was.distance(then.1) < 0.01, "{was:?} instead of {:?}", then.1);
        assert_eq!(seen.position(anns), world.position(anns), "the own ship is where it is");
        let mut found = Vec::new();
        seen.find_within(then.1, 0.5, &mut found);
        assert_eq!(found, [bobs]);
        seen.find_within(here, 0.5, &mut found);
        assert_eq!(found, []);
        // A ray at where it was hits it, and one at where it is does not.
        let from = world.position(anns).expect("a ship");
        let ray = |to: Position| {
            let beyond = from.lerp(to, 1.2);
            seen.sweep::<Ship>((from, beyond), 0.0, 0.5, |_| true).map(|(ship, _)| ship)
        };
        assert_eq!((ray(then.1), ray(here)), (Some(bobs), None));
        let metres = seen.sweep::<Ship>((from, then.1), 0.0, 0.5, |_| true).expect("a hit").1;
        assert!((metres - (from.distance(then.1) - 0.5)).abs() < 0.01, "{metres}");
        assert_eq!(seen.sweep::<Ship>((from, then.1), 0.0, 0.5, |ship| ship != bobs), None);
    });
    room.edit(|world, _| {
        let from = world.position(ship_of(world, ann)).expect("a ship");
        let middle = from.lerp(then.1, 0.5);
        world.statics_mut().add(Obstacle::round(middle.x, middle.y, 1.0, 4.0));
        let seen = world.as_seen_by(ann, then.0);
        assert_eq!(seen.sweep::<Ship>((from, then.1), 0.0, 0.5, |_| true), None, "a wall");
    });
}

#[test]
fn a_round_begins_when_all_who_were_in_the_room_are_here() {
    let mut room = Room::with(&[("ships", "3")]);
    room.expect(3);
    let waits_for = |room: &Room| {
        let state = room.world().state::<Match>().expect("there is one");
        state.waits_for().to_owned()
    };
    room.join("ann", Line::default());
    room.join("bob", Line::default());
    room.run(2.secs());
    assert_eq!(waits_for(&room), ALL_PLAYERS);
    room.join("cat", Line::default());
    room.run(1.secs());
    assert_eq!(waits_for(&room), "");
    // Who does not come is not waited for longer than 10 s.
    let mut room = Room::with(&[("ships", "0")]);
    room.expect(2);
    room.join("ann", Line::default());
    room.run(11.secs());
    assert_eq!(waits_for(&room), A_SECOND_SHIP);
}
