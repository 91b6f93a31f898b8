//! The world without a game.

mod past;
mod poses;

use std::time::Duration;

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::message::FieldValue;
use ambit_proto::schema::{
    Codec, Component, ComponentSpec, EventKind, FieldSpec, FieldType, ObjectKind, Schema,
};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::Waypoint;

use super::{EventAudience, TraceEvent, TraceLine, World, WorldChange};
use crate::config::RoomConfig;
use crate::logic::sound::EventSound;

const ORC: u8 = 0;
const HEALTH: u8 = 1;
const AWAKE: u8 = 2;
const LEVEL: u8 = 3;
const NAME: u8 = 4;

#[test]
fn a_walk_over_a_border_changes_cell_once_at_the_right_tick() {
    let mut world = world();
    let orc = orc(&mut world, at(5.0, 5.0));
    world.walk_to(orc, at(25.0, 5.0), 5.0);
    changes(&mut world);
    let mut crossings = Vec::new();
    for tick in 1..=100 {
        world.begin_tick(ms(tick * 50));
        let cell = world.cell(orc);
        assert_eq!(
            cell,
            world.grid().cell_at(world.path(orc).value_at(world.now()).unwrap().position)
        );
        for change in changes(&mut world) {
            if matches!(change, WorldChange::PathAhead { .. }) {
                continue;
            }
            let WorldChange::ChangeCell { object, from, to } = change else { panic!("{change:?}") };
            assert_eq!((object, to), (orc, cell));
            crossings.push((tick, from.column, to.column));
        }
    }
    assert_eq!(crossings, [(20, 0, 1), (60, 1, 2)]);
}

#[test]
fn an_untold_end_or_turn_is_reported_when_the_horizon_reaches_it() {
    let mut world = world();
    let long = orc(&mut world, at(5.0, 5.0));
    let turning = orc(&mut world, at(5.0, 15.0));
    let short = orc(&mut world, at(5.0, 25.0));
    // 100 s straight on, a turn every 0.8 s, and a way of 2 s.
    world.walk_to(long, at(55.0, 5.0), 0.5);
    let turns = (0..=5).map(|n| (ms(n * 800), Waypoint::walk(at(5.0 + n as f32, 15.0))));
    world.replace_path(turning, GameTime::ZERO, turns);
    world.walk_to(short, at(9.0, 25.0), 2.0);
    changes(&mut world);
    let mut reported = Vec::new();
    for tick in 1..=2_100 {
        world.begin_tick(ms(tick * 50));
        let ahead = changes(&mut world).into_iter().filter_map(|change| match change {
            WorldChange::PathAhead { object } => Some((tick * 50, object)),
            _ => None,
        });
        reported.extend(ahead);
    }
    // The turns from 2.4 s on; the continuation of the long way, which would run out at 60 s, and
    // its end.
    let expected = [(2_400, turning), (58_000, long), (100_000, long)];
    assert_eq!(reported, expected);
}

#[test]
fn an_object_at_rest_is_not_processed() {
    let mut world = world();
    let orc = orc(&mut world, at(5.0, 5.0));
    world.walk_to(orc, at(6.0, 5.0), 5.0);
    world.begin_tick(ms(100));
    assert_eq!(world.moving, [orc]);
    world.begin_tick(ms(200)); // The orc has arrived.
    assert!(world.moving.is_empty());
    assert_eq!(world.position(orc), at(6.0, 5.0));
    world.walk_to(orc, at(7.0, 5.0), 5.0);
    world.walk_to(orc, at(5.0, 5.0), 5.0);
    assert_eq!(world.moving, [orc]);
}

#[test]
fn a_new_destination_starts_where_the_object_is_now() {
    let mut world = world();
    let orc = orc(&mut world, at(10.0, 10.0));
    assert_eq!(world.walk_to(orc, at(20.0, 10.0), 5.0), ms(2_000));
    world.begin_tick(ms(1_000));
    assert_eq!(world.walk_to(orc, at(15.0, 15.0), 5.0), ms(2_000));
    let points: Vec<_> =
        world.path(orc).points().map(|(time, point)| (time.millis(), point.position)).collect();
    assert_eq!(points, [(0, at(10.0, 10.0)), (1_000, at(15.0, 10.0)), (2_000, at(15.0, 15.0))]);
    assert_eq!(world.position_at(orc, ms(500)), at(12.5, 10.0));
    assert_eq!(world.position_at(orc, ms(9_000)), at(15.0, 15.0));
}

#[test]
fn a_walk_to_the_current_position_stays_at_rest() {
    let mut world = world();
    let orc = orc(&mut world, at(10.0, 10.0));
    world.begin_tick(ms(50));
    assert_eq!(world.walk_to(orc, at(10.0, 10.0), 5.0), ms(50));
    assert_eq!(world.position_at(orc, ms(60)), at(10.0, 10.0));
}

#[test]
fn a_teleport_takes_no_time_and_keeps_the_path_before_it() {
    let mut world = world();
    let orc = orc(&mut world, at(10.0, 10.0));
    world.walk_to(orc, at(60.0, 10.0), 5.0);
    world.begin_tick(ms(2_000));
    world.teleport(orc, at(50.0, 50.0));
    assert_eq!(world.position(orc), at(50.0, 50.0));
    assert_eq!(world.cell(orc), Cell::new(5, 5));
    assert!(world.position_at(orc, ms(1_000)).distance(at(15.0, 10.0)) < 0.002);
    assert!(world.position_at(orc, ms(1_999)).distance(at(20.0, 10.0)) < 0.01);
    assert_eq!(world.position_at(orc, ms(5_000)), at(50.0, 50.0));
    let last = changes(&mut world).pop().unwrap();
    assert_eq!(
        last,
        WorldChange::ChangeCell { object: orc, from: Cell::new(2, 1), to: Cell::new(5, 5) }
    );
}

#[test]
fn an_object_stopped_in_the_past_is_at_that_position_now() {
    let mut world = world();
    let orc = orc(&mut world, at(10.0, 10.0));
    world.walk_to(orc, at(60.0, 10.0), 5.0);
    world.begin_tick(ms(1_000));
    world.begin_tick(ms(1_050));
    world.stop(orc, ms(1_020));
    assert!(world.position(orc).distance(at(15.1, 10.0)) < 0.003);
    assert_eq!(world.position_at(orc, ms(9_000)), world.position(orc));
}

#[test]
fn all_stored_values_lie_on_the_grid_of_the_wire() {
    let mut world = world();
    let mut rng = fastrand::Rng::with_seed(1);
    let orc = orc(&mut world, at(33.333_33, 66.666_66));
    for tick in 1..200u64 {
        world.begin_tick(GameTime::from_micros(tick * 16_667));
        assert_eq!(world.now(), world.now().whole_millis());
        world.walk_to(orc, at(rng.f32() * 100.0, rng.f32() * 100.0), 5.0);
        world.set_gauge(orc, HEALTH, world.now(), rng.f32() * 120.0 - 10.0, rng.f32());
        for (time, point) in world.path(orc).points() {
            assert_eq!((time, point.position), (time.whole_millis(), point.position.quantised()));
        }
        let gauge = world.gauge(orc, HEALTH);
        assert_eq!(gauge, gauge.quantised());
        assert!((0.0..=100.0).contains(&gauge.value));
    }
}

#[test]
fn the_history_of_a_long_lived_object_is_bounded() {
    let mut world = world();
    let orc = orc(&mut world, at(10.0, 10.0));
    for tick in 1..500 {
        world.begin_tick(ms(tick * 50));
        world.walk_to(orc, at((tick % 90) as f32, 10.0), 5.0);
    }
    assert!(world.path(orc).len() <= 23, "{}", world.path(orc).len());
    assert!(world.path(orc).points().next().unwrap().0 >= ms(499 * 50 - 1_100));
}

#[test]
fn a_gauge_changes_at_its_rate_from_the_time_it_was_set() {
    let mut world = world();
    let orc = orc(&mut world, at(10.0, 10.0));
    world.set_gauge(orc, HEALTH, ms(1_000), 50.0, 10.0);
    assert_eq!(world.gauge_at(orc, HEALTH, ms(500)).value, 100.0);
    assert_eq!(world.gauge_at(orc, HEALTH, ms(3_000)).value, 70.0);
    assert_eq!(world.gauge_at(orc, HEALTH, ms(90_000)).value, 100.0);
}

#[test]
fn other_components_keep_values_within_their_range() {
    let mut world = world();
    let orc = orc(&mut world, at(10.0, 10.0));
    world.set_flag(orc, AWAKE, ms(100), false);
    assert_eq!((world.flag(orc, AWAKE), world.flag_at(orc, AWAKE, ms(100))), (true, false));
    world.set_number(orc, LEVEL, 1_000);
    assert_eq!(world.number(orc, LEVEL), 9);
    world.set_text(orc, NAME, "ööööö");
    assert_eq!(world.text(orc, NAME), "öööö");
}

#[test]
fn component_changes_come_once_per_object_and_tick_in_order_of_change() {
    let mut world = world();
    let (orc, elf) = (orc(&mut world, at(10.0, 10.0)), orc(&mut world, at(20.0, 10.0)));
    changes(&mut world);
    world.begin_tick(ms(50));
    world.set_number(elf, LEVEL, 2);
    world.set_gauge(orc, HEALTH, ms(50), 3.0, 1.0);
    world.set_text(elf, NAME, "x");
    assert!(changes(&mut world).is_empty());
    world.finish_tick();
    let expected = [(elf, 1 << LEVEL | 1 << NAME), (orc, 1 << HEALTH)];
    assert_eq!(
        changes(&mut world),
        expected.map(|(object, mask)| WorldChange::Components {
            object,
            mask,
            late: 0,
            path_as_before_until: GameTime::ZERO,
        })
    );
    world.begin_tick(ms(100));
    world.set_number(elf, LEVEL, 2);
    world.set_gauge(orc, HEALTH, ms(100), world.gauge(orc, HEALTH).value, 1.0);
    world.set_text(elf, NAME, "x");
    world.finish_tick();
    assert!(changes(&mut world).is_empty(), "all have these values already");
    world.begin_tick(ms(150));
    world.set_gauge(orc, HEALTH, ms(120), 1.0, 1.0);
    world.finish_tick();
    let late = changes(&mut world).into_iter().map(|change| match change {
        WorldChange::Components { late, .. } => late,
        other => panic!("{other:?}"),
    });
    assert_eq!(late.collect::<Vec<_>>(), [1 << HEALTH]);
}

#[test]
fn a_path_is_as_before_until_its_first_change_if_it_goes_on_from_there() {
    let mut world = world();
    let orc = orc(&mut world, at(10.0, 10.0));
    changes(&mut world);
    let mut as_before = |now: u64, edit: &dyn Fn(&mut World)| {
        world.begin_tick(ms(now));
        edit(&mut world);
        world.finish_tick();
        let until = changes(&mut world).into_iter().filter_map(|change| match change {
            WorldChange::Components { path_as_before_until, .. } => Some(path_as_before_until),
            _ => None,
        });
        until.collect::<Vec<_>>()
    };
    let walk = |time, x| (ms(time), Waypoint::walk(at(x, 10.0)));
    let unknown = GameTime::ZERO;
    assert_eq!(as_before(50, &|world| _ = world.walk_to(orc, at(20.0, 10.0), 5.0)), [ms(50)]);
    assert_eq!(as_before(100, &|world| world.stop(orc, ms(60))), [ms(60)]);
    let both = |world: &mut World| {
        world.walk_to(orc, at(30.0, 10.0), 5.0);
        world.stop(orc, ms(120));
    };
    assert_eq!(as_before(150, &both), [ms(120)], "the earlier of two changes");
    let elsewhere = |world: &mut World| world.replace_path(orc, ms(200), [walk(200, 40.0)]);
    assert_eq!(as_before(200, &elsewhere), [unknown], "it does not go on where it was");
    let later = |world: &mut World| world.replace_path(orc, ms(250), [walk(900, 50.0)]);
    assert_eq!(as_before(250, &later), [unknown], "the line begins before the change");
    let jump = |world: &mut World| world.teleport(orc, at(45.0, 10.0));
    assert_eq!(as_before(1_000, &jump), [ms(999)], "a jump is a point of its own");
}

#[test]
fn changes_too_large_for_one_record_repeat_until_all_are_reported() {
    let mut world = world();
    let orc = orc(&mut world, at(10.0, 10.0));
    let now = ms(10_000);
    world.begin_tick(now);
    changes(&mut world);
    let points =
        (0..20).map(|n| (now + Duration::from_millis(n * 100), Waypoint::walk(at(n as f32, 10.0))));
    world.replace_path(orc, now, points);
    let mut last_reported = 0;
    for tick in 1..100 {
        world.finish_tick();
        if changes(&mut world).iter().any(|change| matches!(change, WorldChange::Components { .. }))
        {
            last_reported = tick;
        }
        world.begin_tick(now + Duration::from_millis(tick * 50));
    }
    let clock = |tick: u64| world.position_at(orc, now + Duration::from_millis((tick - 1) * 50));
    // The change fits into one record once the clients' clock, three ticks behind, has passed all
    // but the last points.
    assert!((5..30).contains(&last_reported), "{last_reported} {:?}", clock(last_reported));
}

#[test]
fn a_search_finds_present_objects_in_order_of_creation() {
    let mut world = world();
    let mut rng = fastrand::Rng::with_seed(4);
    let mut all: Vec<ObjectId> = Vec::new();
    let mut found = Vec::new();
    for tick in 1..200 {
        world.begin_tick(ms(tick * 50));
        let random_position = |rng: &mut fastrand::Rng| at(rng.f32() * 100.0, rng.f32() * 100.0);
        if all.len() > 30 {
            world.despawn(all.swap_remove(rng.usize(..all.len())));
        }
        let new_orc = orc(&mut world, random_position(&mut rng));
        all.push(new_orc);
        let walker = all[rng.usize(..all.len())];
        world.walk_to(walker, random_position(&mut rng), 9.0);
        let jumper = all[rng.usize(..all.len())];
        world.teleport(jumper, random_position(&mut rng));
        let centre = random_position(&mut rng);
        let radius = rng.f32() * 40.0;
        world.find_within(centre, radius, &mut found);
        let near =
            |&object: &ObjectId| world.position_at(object, world.now()).distance(centre) <= radius;
        let mut expected: Vec<_> = all.iter().copied().filter(near).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "tick {tick}");
        assert_eq!(world.objects().len(), world.len());
    }
}

#[test]
fn spawns_and_despawns_are_reported_in_order() {
    let mut world = world();
    world.begin_tick(ms(50));
    let orc = orc(&mut world, at(25.0, 15.0));
    world.set_number(orc, LEVEL, 3);
    world.despawn_at(orc, ms(20));
    world.despawn(orc);
    assert!(!world.contains(orc));
    world.finish_tick();
    let spawned = WorldChange::Spawned { object: orc, cell: Some(Cell::new(2, 1)) };
    assert_eq!(changes(&mut world), [spawned, WorldChange::Despawned { object: orc, at: ms(20) }]);
    assert!(world.is_empty());
}

#[test]
fn random_numbers_of_one_domain_do_not_depend_on_another_domain() {
    let mut world = world();
    let draws = |mut rng: fastrand::Rng| [rng.u64(..), rng.u64(..)];
    let before = draws(world.rng_for(1, 2));
    let _ = world.rng().u64(..);
    assert_eq!(draws(world.rng_for(1, 2)), before);
    assert_ne!(draws(world.rng_for(2, 1)), before);
    assert_ne!(draws(world.rng_for(1, 3)), before);
    let other = World::new(&RoomConfig { seed: 1, ..RoomConfig::default() }, schema());
    assert_ne!(draws(other.rng_for(1, 2)), before);
}

#[test]
fn the_changes_of_some_objects_do_not_depend_on_others() {
    let reported = |with_ghost: bool| {
        let mut world = world();
        let mut rng = fastrand::Rng::with_seed(8);
        let mut ghost_rng = fastrand::Rng::with_seed(9);
        let ghost = with_ghost.then(|| orc(&mut world, at(50.0, 50.0)));
        let mut orcs: Vec<_> = (0..20).map(|n| orc(&mut world, at(n as f32 * 5.0, 50.0))).collect();
        let mut reported = Vec::new();
        for tick in 1..300 {
            world.begin_tick(ms(tick * 50));
            if let Some(ghost) = ghost {
                world.walk_to(ghost, at(ghost_rng.f32() * 100.0, ghost_rng.f32() * 100.0), 5.0);
            }
            let walker = rng.usize(..orcs.len());
            world.walk_to(orcs[walker], at(rng.f32() * 100.0, rng.f32() * 100.0), 5.0);
            if tick % 10 == 0 {
                world.despawn(orcs.remove(rng.usize(..orcs.len())));
                orcs.push(orc(&mut world, at(rng.f32() * 100.0, rng.f32() * 100.0)));
                // A hidden object takes an id and a slot and releases them.
                if with_ghost {
                    let trap = orc(&mut world, at(1.0, 1.0));
                    world.despawn(trap);
                }
            }
            world.finish_tick();
            let mut found = Vec::new();
            world.find_within(at(50.0, 50.0), 30.0, &mut found);
            // Ids differ between the runs; their order and the cells must not.
            let rank = |object: ObjectId| orcs.iter().filter(|&&other| other < object).count();
            let is_orc = |object: &ObjectId| orcs.contains(object);
            reported.push((
                tick,
                found.into_iter().filter(is_orc).map(rank).collect::<Vec<_>>(),
                String::new(),
            ));
            for change in changes(&mut world)
                .into_iter()
                .filter(|change| change.object().is_some_and(|object| is_orc(&object)))
            {
                let text = match change {
                    WorldChange::ChangeCell { from, to, .. } => format!("{from:?} {to:?}"),
                    WorldChange::Components { mask, .. } => format!("{mask}"),
                    ref other => format!("{:?}", std::mem::discriminant(other)),
                };
                reported.push((tick, change.object().into_iter().map(rank).collect(), text));
            }
        }
        reported
    };
    assert_eq!(reported(false), reported(true));
}

#[test]
fn the_same_seed_and_calls_give_the_same_changes() {
    let run = || {
        let mut world = world();
        let mut all = Vec::new();
        for tick in 1..100 {
            world.begin_tick(ms(tick * 50));
            let (x, y) = (world.rng().f32() * 100.0, world.rng().f32() * 100.0);
            let orc = orc(&mut world, at(x, y));
            world.walk_to(orc, at(y, x), 7.0);
            world.finish_tick();
            world.drain_changes(&mut all);
        }
        all
    };
    assert_eq!(run(), run());
}

#[test]
fn the_trace_records_all_changes_when_enabled() {
    let mut world = World::new(&RoomConfig { trace: true, ..config() }, schema());
    world.begin_tick(ms(50));
    let orc = orc(&mut world, at(5.0, 5.0));
    world.trace_join(PlayerId(3), orc, "ann");
    world.walk_to(orc, at(25.0, 5.0), 200.0);
    world.finish_tick();
    world.begin_tick(ms(100));
    world.teleport(orc, at(23.0, 12.0));
    world.finish_tick();
    world.begin_tick(ms(150));
    world.trace_leave(PlayerId(3), orc);
    world.despawn(orc);
    world.finish_tick();
    let mut lines = Vec::new();
    world.drain_trace(&mut lines);
    let expected = [
        (50, TraceEvent::Spawned { kind: ORC, place: Some((at(5.0, 5.0), 1)) }),
        (50, TraceEvent::Joined { player: PlayerId(3), name: "ann".into() }),
        (100, TraceEvent::Moved { position: at(23.0, 12.0), cell: 13 }),
        (150, TraceEvent::Left { player: PlayerId(3) }),
        (150, TraceEvent::Despawned),
    ];
    assert_eq!(lines, expected.map(|(at, event)| TraceLine { at: ms(at), object: orc, event }));
}

#[test]
fn the_trace_says_what_is_hidden_from_all_other_players() {
    let mut world = World::new(&RoomConfig { trace: true, ..config() }, schema());
    world.begin_tick(ms(50));
    let [elf, ghost, wall] = [1.0, 2.0, 3.0].map(|x| orc(&mut world, at(x, 5.0)));
    world.drain_trace(&mut Vec::new());
    world.ask_who_sees(ghost);
    world.add_player(PlayerId(1), ghost, "ann");
    world.trace_hiding(|_, _, _| panic!("there is nobody else"));
    world.add_player(PlayerId(2), elf, "bob");
    for is_seen in [true, false, false, true] {
        world.trace_hiding(|_, viewer, object| {
            assert_eq!((viewer, object), (elf, ghost), "the game has not asked about {wall}");
            is_seen
        });
    }
    world.despawn(ghost);
    world.trace_hiding(|_, _, _| panic!("the ghost is gone"));
    let mut lines = Vec::new();
    world.drain_trace(&mut lines);
    let expected = [TraceEvent::Hidden, TraceEvent::Revealed, TraceEvent::Despawned];
    assert_eq!(lines, expected.map(|event| TraceLine { at: ms(50), object: ghost, event }));
}

#[test]
fn an_object_with_a_pose_faces_along_its_heading_or_its_axis() {
    use ambit_proto::pose::{PoseFormat, Turning};
    let format = |turn| PoseFormat { per_metre: 100, turn, motion: None };
    let yaw = format(Turning::Yaw { bits: 8 });
    let free = format(Turning::Free { bits: 12 });
    let kind = |name: &str, codec| ObjectKind {
        name: name.into(),
        components: vec![ComponentSpec::public("place", codec)],
        ..ObjectKind::default()
    };
    let kinds = vec![
        kind("ship", Codec::Pose(yaw)),
        kind("drone", Codec::Pose(free)),
        kind("walker", Codec::Path),
    ];
    let schema = Schema { game: "facing".into(), kinds, ..Schema::default() };
    let mut world = World::new(&config(), schema);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let poses = [
        (0, yaw.pose(at(1.0, 1.0), std::f32::consts::FRAC_PI_2, 0.0), Some([0.0, 1.0])),
        (1, free.free(at(1.0, 1.0), [0.0, 0.0, 0.0, 1.0]), Some([1.0, 0.0])),
        (1, free.free(at(1.0, 1.0), [0.0, 0.0, half, half]), Some([0.0, 1.0])),
        (1, free.free(at(1.0, 1.0), [half, 0.0, 0.0, half]), Some([1.0, 0.0])), // On its side.
        (1, free.free(at(1.0, 1.0), [0.0, half, 0.0, half]), None),             // Straight down.
    ];
    for (kind, pose, expected) in poses {
        let object = world.spawn(kind, vec![Component::Pose(pose)]);
        let facing = world.facing(object);
        assert_eq!(facing.is_some(), expected.is_some(), "{pose:?}: {facing:?}");
        if let Some((facing, expected)) = facing.zip(expected) {
            assert!((facing[0] - expected[0]).hypot(facing[1] - expected[1]) < 0.01, "{facing:?}");
        }
    }
    let walker = world.spawn(2, vec![Component::at_rest(world.now(), at(1.0, 1.0))]);
    assert_eq!(world.facing(walker), None);
    world.despawn(walker);
    assert_eq!(world.facing(walker), None);
}

#[test]
fn a_disabled_trace_records_nothing() {
    let mut world = world();
    let orc = orc(&mut world, at(5.0, 5.0));
    world.teleport(orc, at(25.0, 5.0));
    world.finish_tick();
    let mut lines = Vec::new();
    world.drain_trace(&mut lines);
    assert!(lines.is_empty());
}

#[test]
fn an_event_is_passed_on_unchanged() {
    let mut world = world();
    let orc = orc(&mut world, at(5.0, 5.0));
    changes(&mut world);
    let audience = EventAudience::Followers(orc);
    world.emit(0, audience, ms(7), vec![FieldValue::Object(orc)]);
    let event = WorldChange::Event {
        kind: 0,
        audience,
        effect: ms(7),
        fields: vec![FieldValue::Object(orc)],
        sound: None,
    };
    assert_eq!(changes(&mut world), [event]);
}

#[test]
fn a_sound_belongs_to_the_last_event_and_comes_from_where_it_was() {
    let mut world = world();
    let orc = orc(&mut world, at(5.0, 5.0));
    changes(&mut world);
    assert!(!world.set_sound_of_last_event(1, 30.0), "there is no event");
    world.emit(0, EventAudience::Everyone, ms(7), vec![FieldValue::Object(orc)]);
    assert!(!world.set_sound_of_last_event(1, 30.0), "all get it, wherever they are");
    changes(&mut world);
    let audience = EventAudience::Followers(orc);
    world.emit(0, audience, ms(7), vec![FieldValue::Object(orc)]);
    assert!(world.set_sound_of_last_event(1, 30.0));
    world.set_effect_of_last_event(ms(8));
    world.teleport(orc, at(9.0, 9.0));
    let sound = changes(&mut world).into_iter().find_map(|change| match change {
        WorldChange::Event { effect, sound, .. } => Some((effect, sound)),
        _ => None,
    });
    let expected = EventSound { kind: 1, at: at(5.0, 5.0), radius_m: 30.0 };
    assert_eq!(sound, Some((ms(8), Some(expected))));
}

#[test]
#[should_panic(expected = "does not match the schema of orc's health")]
fn spawning_an_object_that_violates_the_schema_panics() {
    let mut world = world();
    let mut components = components(&world, at(0.0, 0.0));
    components[usize::from(HEALTH)] = Component::gauge(ms(0), 1.0, 1.0, 50.0);
    world.spawn(ORC, components);
}

fn schema() -> Schema {
    let components = vec![
        ComponentSpec::public("path", Codec::Path),
        ComponentSpec::public("health", Codec::Gauge { max: 100.0 }),
        ComponentSpec::public("awake", Codec::Flag),
        ComponentSpec::public("level", Codec::Number { min: 1, max: 9 }),
        ComponentSpec::public("name", Codec::Text { max_bytes: 9 }),
    ];
    Schema {
        game: "test".into(),
        kinds: vec![ObjectKind { name: "orc".into(), components, ..ObjectKind::default() }],
        events: vec![EventKind {
            name: "growl".into(),
            fields: vec![FieldSpec::new("who", FieldType::Object)],
        }],
        ..Schema::default()
    }
}

/// 100 x 100 m in cells of 10 m.
fn config() -> RoomConfig {
    RoomConfig { width: 100.0, height: 100.0, ..RoomConfig::default() }
}

fn world() -> World {
    World::new(&config(), schema())
}

fn components(world: &World, position: Position) -> Vec<Component> {
    let now = world.now();
    vec![
        Component::at_rest(now, position),
        Component::gauge(now, 100.0, 0.0, 100.0),
        Component::flag(now, true),
        Component::Number(1),
        Component::Text("orc".into()),
    ]
}

fn orc(world: &mut World, position: Position) -> ObjectId {
    let components = components(world, position);
    world.spawn(ORC, components)
}

fn changes(world: &mut World) -> Vec<WorldChange> {
    let mut changes = Vec::new();
    world.drain_changes(&mut changes);
    changes
}

fn at(x: f32, y: f32) -> Position {
    Position::on_ground(x, y)
}

fn ms(millis: u64) -> GameTime {
    GameTime::from_millis(millis)
}
