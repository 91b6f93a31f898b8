//! Further scenes, which are only printed: a katamari among 900 cubes, snapshot sizes, a long run,
//! a wide floor.
//!
//! `cargo bench -p ambit-tests --bench cubes -- katamari` prints one of them alone. Errors, bytes
//! and counts are from simulated time and the same on every machine; durations depend on the
//! machine.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ambit_cubes_physics::{SNAPSHOT_POSE_FORMAT, frame_at, frame_time};
use ambit_proto::ids::PlayerId;
use ambit_proto::pose::Level;
use ambit_room::logic::world::World;
use ambit_room::recording::{Header, Recording};
use ambit_tests::cube_players::soak::Soak;
use ambit_tests::cube_players::{CubePlayers, wide_floor};
use ambit_tests::physics_sync::{katamari, snapshot_size};
use ambit_tests::sim::wire;
use ambit_transport::impair::Impairment;

const SEED: u64 = 5;

/// Prints the figures of a scene; `true` measures fewer seconds.
pub(crate) type PrintScene = fn(bool);

/// The scenes by name.
pub(crate) const ALL: [(&str, PrintScene); 4] = [
    ("katamari", print_katamari),
    ("snapshots", print_snapshots),
    ("soak", print_soak),
    ("wide", print_wide),
];

fn impairment(loss: u8) -> Impairment {
    format!("delay=50ms,loss={loss}").parse().expect("a valid impairment")
}

/// 900 small cubes and one player who rolls them up, at 60 ticks a second and 256 kbit/s.
fn print_katamari(quick: bool) {
    let seconds = if quick { 10 } else { 60 };
    println!(
        "\n## Katamari: 900 cubes and a player's, {seconds} s, \
         60 ticks a second, 256 kbit/s, 50 ms each way\n"
    );
    println!(
        "| loss % | interacting: e p50, p99 cm | at once | all in play: e p50, p99 cm | kB/s \
         | most in a second, kB |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for loss in if quick { vec![0] } else { vec![0, 5, 13] } {
        let run = katamari::run(
            SEED,
            &impairment(loss),
            &[("budget", "256")],
            Duration::from_secs(seconds),
        );
        println!(
            "| {loss} | {:.2}, {:.2} | {}, at most {} | {:.2}, {:.2} | {:.1} | {:.1} |",
            run.interacting.0 * 100.0,
            run.interacting.1 * 100.0,
            run.interacting_at_once.0,
            run.interacting_at_once.1,
            run.in_play.0 * 100.0,
            run.in_play.1 * 100.0,
            run.bytes_per_s as f32 / 1_000.0,
            run.max_bytes_in_a_second as f32 / 1_000.0,
        );
    }
}

/// 104 cubes, ten snapshots a second.
fn print_snapshots(_: bool) {
    println!(
        "\n## Snapshots of 104 cubes, 10 a second for 30 s (in the article: 1,005 bytes each)\n"
    );
    println!(
        "| grid of 512 a metre | level | absolute: bytes on average, at most \
         | delta: bytes on average, at most |"
    );
    println!("| --- | --- | --- | --- |");
    let truth = snapshot_size::simulate_scene(SEED, 30);
    for (name, format) in [
        ("positions", snapshot_size::NO_VELOCITY_FORMAT),
        ("with velocities", SNAPSHOT_POSE_FORMAT),
    ] {
        for level in [Level::Shared, Level::Fine] {
            let [absolute, delta] = [false, true].map(|with_baselines| {
                snapshot_size::measure(&truth, format, level, with_baselines)
            });
            println!(
                "| {name} | {level:?} | {:.0}, {} | {:.0}, {} |",
                absolute.mean, absolute.max, delta.mean, delta.max
            );
        }
    }
}

/// Ten minutes in rounds of two, 100 cubes and 4 players; run twice to compare the final states.
fn print_soak(quick: bool) {
    let (rounds, play) =
        if quick { (3, Duration::from_secs(20)) } else { (5, Duration::from_secs(110)) };
    println!(
        "\n## A long run: {rounds} rounds of {play:?} of play and a rest, \
         100 cubes, 4 players, 5 % loss\n"
    );
    println!("After each rest every client draws every cube at its true position.\n");
    let run = || {
        let mut soak = Soak::start(SEED, &impairment(5));
        let rounds: Vec<_> = (0..rounds)
            .map(|_| {
                let mut took = Duration::ZERO;
                let left = allocation_counter::measure(|| took = soak.run_round(play));
                (took, left.count_current, left.bytes_current)
            })
            .collect();
        (soak.state_hash(), rounds)
    };
    let (state, left) = run();
    for (round, (took, count, bytes)) in left.iter().enumerate() {
        println!(
            "- round {}: at rest within {took:?}; {count:+} allocations, {bytes:+} bytes",
            round + 1
        );
    }
    let grown: i64 = left[1..].iter().map(|(_, count, _)| count).sum();
    println!("- allocations at the end, more than after the first round: {grown:+}");
    println!("- state after all: {state:016x}, and a second time: {:016x}", run().0);
    for (name, cubes, size) in [("100 cubes", "100", "32x32"), ("900 cubes", "900", "32x32")] {
        println!(
            "- the game's step, {name}, 4 players with random drivers, for 10 minutes: {}",
            format_times(step_times(cubes, size))
        );
    }
}

/// 9,000 cubes, 4 players far apart.
fn print_wide(quick: bool) {
    println!(
        "\n## A wide floor: 9,000 cubes on 320 x 320 m, 4 players far apart, 20 ticks a second\n"
    );
    let seconds = if quick { 5 } else { 30 };
    for zones in [("1", "2"), ("3", "4")] {
        let started = now();
        let mut players = wide_floor::start(SEED, &impairment(0), zones);
        println!(
            "- inner={}, outer={}; in place after {:.1} s of this machine's time",
            zones.0,
            zones.1,
            elapsed_since(started).as_secs_f32()
        );
        for user in 0..4 {
            players.system.user_mut(user).sent_datagrams = Some(Vec::new());
        }
        players.clock = Some(now);
        wide_floor::drive_about(&mut players, SEED, Duration::from_secs(seconds));
        for (user, around) in wide_floor::client_loads(&players).into_iter().enumerate() {
            let bytes =
                wire::bytes(players.system.user(user).sent_datagrams.as_ref().expect("recorded"))
                    / seconds;
            println!("  - client {user}: {around:?}, {:.1} kB/s", bytes as f32 / 1_000.0);
        }
        println!(
            "  - a client's frame: {}",
            format_times(std::mem::take(&mut players.client_frame_times))
        );
        println!(
            "  - a tick of the room, physics and all four clients: {}",
            format_times(tick_times(&players))
        );
    }
}

/// Replays the room's recording and measures each tick except the first.
fn tick_times(players: &CubePlayers) -> Vec<Duration> {
    let (recording, _) = players.system.recording(players.room).expect("the room runs");
    let mut recording = Recording::read(&recording).expect("the room's own recording");
    let started = now();
    let mut room =
        recording.room(&ambit_game_server::standard()).expect("the header of a room that has run");
    println!("  - the room created within {:?}", elapsed_since(started));
    let mut times = Vec::new();
    let mut outputs = Vec::new();
    while let Some(mut tick) = recording.next_tick().expect("the room's own recording") {
        outputs.clear();
        let started = now();
        room.tick(tick.at, &mut tick.inputs, &mut outputs);
        times.push(elapsed_since(started));
    }
    // The first tick spawns all cubes; the second runs the first physics step on all of them.
    println!("  - its first tick: {:?}, its second: {:?}", times.remove(0), times.remove(0));
    times
}

/// Durations of the game's steps: physics, and the changes that it writes to the world.
fn step_times(cubes: &str, size: &str) -> Vec<Duration> {
    let parameters = [("cubes", cubes), ("size", size), ("tick", "60"), ("drive", "dice")];
    let parameters = parameters.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let header =
        Header { seed: SEED, game: "cubes".into(), parameters, capacity: 64, ..Header::default() };
    let (config, mut game) =
        ambit_game_server::standard().prepare(&header).expect("valid room parameters");
    let mut world = World::new(&config, game.schema());
    let mut times = Vec::new();
    let mut changes = Vec::new();
    for frame in 1..=600 * 60 {
        world.begin_tick(frame_time(frame));
        if frame == 1 {
            game.start(&mut world);
            for player in 1..=4 {
                let avatar = game.join(&mut world, PlayerId(player), "player");
                world.set_owner(avatar, PlayerId(player));
            }
        }
        let started = now();
        game.step(&mut world, Duration::from_secs(1) / 60);
        times.push(elapsed_since(started));
        world.finish_tick();
        changes.clear();
        world.drain_changes(&mut changes);
        assert_eq!(frame_at(world.now()), frame);
    }
    times
}

fn format_times(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let us = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6;
    format!(
        "p50 {:.0} us, p99 {:.0} us, at most {:.0} us of {}",
        us(50),
        us(99),
        us(100),
        times.len()
    )
}

/// Wall time since then.
fn elapsed_since(started: Duration) -> Duration {
    now().saturating_sub(started)
}

/// Wall time since the first call.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures wall time")]
fn now() -> Duration {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    BEGUN.get_or_init(Instant::now).elapsed()
}
