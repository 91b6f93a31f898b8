//! The cost of saving a room and of restoring it: bytes and time.
//!
//! Workload: `field` with wanderers after 20 s, and `cubes` with cubes after 20 s of two randomly
//! driven players who roll among them. Saving takes place between two ticks and blocks the room;
//! restoring includes the start of the game. Units: bytes, microseconds, median and maximum of 50.
//! Machine: any. Run with `cargo bench -p ambit-game-server --bench checkpoint`.

use std::time::{Duration, Instant};

use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::GameTime;
use ambit_room::recording::Header;
use ambit_room::room::{Room, RoomInput};

const TICK: Duration = Duration::from_millis(50);

fn main() {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let (rounds, counts) = if is_test { (1, &[100][..]) } else { (50, &[100, 1_000, 10_000][..]) };
    println!(
        "| game | objects | bytes | save us p50, max | restore us p50, max |\n\
         | --- | --- | --- | --- | --- |"
    );
    for &count in counts {
        let side = format!("{0}x{0}", 40.0 + (count as f32).sqrt() * 4.0);
        let count = count.to_string();
        let field = [("npcs", count.as_str()), ("size", side.as_str()), ("obstacles", "100")];
        let cubes = [("cubes", count.as_str()), ("size", side.as_str()), ("drive", "dice")];
        for (game, parameters) in [("field", field), ("cubes", cubes)] {
            let (header, room) = played_room(game, &parameters);
            let saved = room.save().expect("the shipped games can be saved");
            let save = measure(rounds, || room.save());
            let restore = measure(rounds, || {
                let (config, game) =
                    ambit_game_server::standard().prepare(&header).expect("valid parameters");
                Room::restore(config, game, &saved).expect("a saved room")
            });
            let objects = room.world().len();
            let bytes = saved.len();
            println!(
                "| {game} | {objects} | {bytes} | {}, {} | {}, {} |",
                save.0, save.1, restore.0, restore.1
            );
        }
    }
}

/// A room that has run for 20 s.
fn played_room(game: &str, parameters: &[(&str, &str)]) -> (Header, Room) {
    let parameters =
        parameters.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let header =
        Header { game: game.into(), room: 1, seed: 1, capacity: 8, grace_ms: 30_000, parameters };
    let mut room = ambit_game_server::standard().create_room(&header).expect("valid parameters");
    let join = |player: u32| RoomInput::Join {
        client: ClientId(player),
        player: PlayerId(player.into()),
        account: None,
        name: "ann".into(),
        coding: PoseCoding::Auto,
    };
    let mut inputs = vec![join(1), join(2)];
    let mut now = GameTime::ZERO;
    for _ in 0..400 {
        room.tick(now, &mut inputs, &mut Vec::new());
        now += TICK;
    }
    (header, room)
}

/// Median and maximum, in microseconds.
#[expect(clippy::disallowed_methods, reason = "this measures time")]
fn measure<T>(rounds: usize, mut run: impl FnMut() -> T) -> (u128, u128) {
    let mut took: Vec<u128> = (0..rounds)
        .map(|_| {
            let began = Instant::now();
            std::hint::black_box(run());
            began.elapsed().as_micros()
        })
        .collect();
    took.sort_unstable();
    (took[took.len() / 2], took[took.len() - 1])
}
