//! What a frame of the plugin costs, beside one of the client alone, with many objects in sight:
//!
//!     cargo run --release --example crowd -- 127.0.0.1:7777 1000
//!
//! Both are players in one room, and take turns. Prints the medians, in microseconds; stays on the
//! server that it is given and ends by itself.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures wall time")]

use std::env;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ambit_bevy::{AmbitClient, AmbitPlugin};
use ambit_client::Game;
use anyhow::Result;
use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;

/// Frames of each.
const FRAMES: usize = 3_000;
/// Until all objects have come.
const SETTLE: Duration = Duration::from_secs(15);

/// Transforms that changed in the newest frame.
#[derive(Resource, Default)]
struct Changes(usize);

fn main() -> Result<()> {
    let mut words = env::args().skip(1);
    let server = words.next().unwrap_or("127.0.0.1:7777".to_owned());
    let objects: u32 = words.next().map_or(Ok(1_000), |word| word.parse())?;
    let runtime = tokio::runtime::Runtime::new()?;
    let mut game = runtime.block_on(async {
        let client = ambit_client::connect(&server).await?;
        let room = client.create_room("crowd", "field").parameter("npcs", objects);
        let room = room.parameter("size", "40x40").parameter("obstacles", 0).await?;
        anyhow::Ok(room.start().await?)
    })?;
    let mut app = App::new();
    app.add_plugins(AmbitPlugin::connect(ambit_client::connect(server)));
    while app.world().resource::<AmbitClient>().client().is_none() {
        app.update();
        sleep(Duration::from_millis(5));
    }
    let room = game.room();
    let joining = app.world().resource::<AmbitClient>();
    joining.play(|lobby| async move { lobby.join_room(room).await?.play().await })?;
    measure(&mut game, &mut app);
    Ok(())
}

fn count(changed: Query<(), Changed<Transform>>, mut changes: ResMut<Changes>) {
    changes.0 = changed.iter().count();
}

fn measure(game: &mut Game, app: &mut App) {
    app.init_resource::<Changes>().add_systems(Update, count);
    let began = Instant::now();
    let mut times = [Vec::new(), Vec::new()];
    let mut changes = 0;
    while times[0].len() < FRAMES {
        sleep(Duration::from_millis(5));
        game.events().for_each(drop);
        let before = Instant::now();
        game.frame_now();
        let between = Instant::now();
        app.update();
        let after = Instant::now();
        if began.elapsed() > SETTLE {
            times[0].push(between - before);
            times[1].push(after - between);
            changes += app.world().resource::<Changes>().0;
        }
    }
    let [alone, plugin] = times.map(|mut times| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e6
    });
    let entities = app.world_mut().query::<&Transform>().iter(app.world()).len();
    println!("{entities} objects in sight, {} transforms change in a frame", changes / FRAMES);
    println!("a frame: the client alone {alone:.1} us, with the plugin {plugin:.1} us");
}
