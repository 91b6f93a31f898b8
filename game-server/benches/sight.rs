//! What sight costs: 200 ships with walls between them, at 20 Hz.
//!
//! `cargo bench -p ambit-game-server --bench sight`. The map is 1,000 x 1,000 m with 150 walls. The
//! ships sail at 15 m/s and turn by up to 30 degrees a second; each sees 200 m far, 90 degrees to
//! each side, and not through walls. Measured is `Network::apply`: all of interest, without the
//! datagrams. "Never" asks only about what comes near; the difference to it is what the questions
//! cost.

use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

use ambit::Typed;
use ambit::prelude::*;
use ambit::statics::Obstacle;
use ambit_proto::ids::ClientId;
use ambit_proto::pose::PoseCoding;
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::Game as _;
use ambit_room::logic::world::World as RoomWorld;
use ambit_room::network::{GameVisibility, JoiningClient, Network, TickTimes};
use ambit_room::stats::RoomStats;

const SHIPS: u32 = 200;
const WALLS: u32 = 150;
const SIZE_M: f32 = 1_000.0;
const TICK_S: f32 = 0.05;
const SPEED_M_PER_S: f32 = 15.0;
const TURN_RAD_PER_S: f32 = 0.52;
const SIGHT: Cone = Cone::new(200.0, 90.0).margins(10.0, 10.0).blocked_by_walls(1.5);
/// The ticks of a run, and those before it.
const TICKS: u64 = 1_000;
const WARM_UP_TICKS: u64 = 200;

#[derive(Kind)]
struct Ship {
    pose: YawPose,
}

#[derive(Default, Declare)]
#[declare(kinds(Ship), unsaved)]
struct Sea {
    checks: SightChecks,
    ships: Vec<(Id<Ship>, fastrand::Rng)>,
    questions: Cell<u64>,
}

impl Game for Sea {
    const INFO: GameInfo = GameInfo::new("sea", "Sail.");
    type Avatar = Ship;
    no_commands!();
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..WALLS {
            let (x, y) = (rng.f32() * SIZE_M, rng.f32() * SIZE_M);
            let long = 2.0 + 10.0 * rng.f32();
            let thin = 0.5;
            let (half_x, half_y) = if rng.bool() { (long, thin) } else { (thin, long) };
            world.statics_mut().add(Obstacle::on_ground(x, y, half_x, half_y, 3.0));
        }
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Ship> {
        let mut rng = fastrand::Rng::with_seed(newcomer.id.0);
        let at = Position::on_ground(rng.f32() * SIZE_M, rng.f32() * SIZE_M);
        let ship =
            world.spawn(Ship { pose: YawPose::at(at).facing(rng.f32() * std::f32::consts::TAU) });
        self.ships.push((ship, rng));
        ship
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        for (ship, rng) in &mut self.ships {
            let Some(mut ship) = world.edit(*ship) else {
                continue;
            };
            let at = ship.position();
            // In whole steps of the heading, since smaller ones would be lost.
            let turn = if rng.bool() { 2.0 * TURN_RAD_PER_S * TICK_S } else { 0.0 };
            let yaw = ship.pose().get().yaw() + turn;
            let stride = SPEED_M_PER_S * TICK_S;
            let on = |at: f32, way: f32| (at + way).rem_euclid(SIZE_M);
            let there =
                Position::on_ground(on(at.x, stride * yaw.cos()), on(at.y, stride * yaw.sin()));
            ship.pose().set(there, yaw, SPEED_M_PER_S);
        }
    }

    fn sees(&self, world: &World<Self>, viewer: Id<Ship>, object: ObjectId, sight: Sight) -> bool {
        self.questions.set(self.questions.get() + 1);
        SIGHT.sees(world, viewer, object, sight)
    }

    fn sight_checks(&self) -> SightChecks {
        self.checks
    }
}

fn main() {
    println!(
        "{:>8} {:>26} {:>12} {:>18} {:>18}",
        "cells", "asked", "follows", "questions/ship/tick", "us/ship/tick"
    );
    let never = SightChecks::ON_DEMAND;
    let ways = [
        ("never", never),
        ("every 4 ticks, on 10 deg", never.every_ticks(4).on_turn(10.0)),
        ("every 2 ticks", never.every_ticks(2)),
        ("every tick", never.every_ticks(1)),
    ];
    for (cell_m, inner, outer) in [(10.0, 21, 22), (40.0, 6, 6)] {
        for (name, checks) in ways {
            measure(&format!("{cell_m} m"), name, checks, (cell_m, inner, outer));
        }
    }
}

/// The processor's time of this thread: other programs do not count.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn measure(cells: &str, name: &str, checks: SightChecks, (cell, inner, outer): (f32, u16, u16)) {
    let config = RoomConfig {
        width: SIZE_M,
        height: SIZE_M,
        cell,
        inner,
        outer,
        tick_hz: 20,
        ..RoomConfig::default()
    };
    let mut game = Typed(Sea { checks, ..Sea::default() });
    let schema = game.schema();
    let mut world = RoomWorld::new(&config, schema.clone());
    let mut network = Network::new(&config, &schema, &Vec::new());
    let mut stats = RoomStats::default();
    let mut changes = Vec::new();
    game.start(&mut world);
    let mut joining = Vec::new();
    for number in 0..SHIPS {
        let player = PlayerId(number.into());
        let avatar = game.join(&mut world, player, "");
        world.add_player(player, avatar, "");
        let client = ClientId(number);
        let new = JoiningClient { client, player, avatar, coding: PoseCoding::Auto };
        network.admit(GameTime::ZERO, new, &world);
        joining.push(new);
    }
    let mut took = Vec::new();
    for tick in 1..=WARM_UP_TICKS + TICKS {
        if tick == WARM_UP_TICKS {
            game.0.questions.set(0);
        }
        let now = GameTime::from_millis(tick * 50);
        let times = TickTimes { now, horizon: now + config.delay };
        world.begin_tick(times.horizon);
        game.step(&mut world, Duration::from_millis(50));
        world.finish_tick();
        world.drain_changes(&mut changes);
        let visibility = GameVisibility { game: &game, world: &world };
        let start = cpu_time();
        network.apply(times, black_box(&changes), &joining, &visibility, &mut stats);
        took.push(cpu_time().saturating_sub(start));
        stats.ticks += 1;
        joining.clear();
        changes.clear();
    }
    let measured = &mut took[WARM_UP_TICKS as usize..];
    let mean = measured.iter().sum::<Duration>() / TICKS as u32;
    measured.sort_unstable();
    let us_a_ship = |tick: Duration| tick.as_secs_f64() * 1e6 / f64::from(SHIPS);
    let followed: usize =
        (0..SHIPS).map(|client| network.interest().followed(ClientId(client)).count()).sum();
    println!(
        "{cells:>8} {name:>26} {:>12.1} {:>18.1} {:>11.2} ({:.2} median)",
        followed as f64 / f64::from(SHIPS),
        game.0.questions.get() as f64 / TICKS as f64 / f64::from(SHIPS),
        us_a_ship(mean),
        us_a_ship(measured[measured.len() / 2]),
    );
}
