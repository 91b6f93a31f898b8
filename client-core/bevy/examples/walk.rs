//! Joins a game, walks about and prints what is seen, without a window:
//!
//!     cargo run --example walk -- 127.0.0.1:7777 field 10
//!
//! Without a room number it creates a room of the game and starts it; with one it joins that room.
//! `AMBIT_PRINT=json` prints a line of JSON each second; `AMBIT_IMPAIR=loss=5` makes the line bad.

use std::env;
use std::fmt::Write as _;
use std::num::ParseIntError;
use std::time::Duration;

use ambit_bevy::{
    AmbitClient, AmbitObject, AmbitPlugin, GameMessage, LobbyMessage, Own, SessionMessage,
    WorldAxes,
};
use ambit_client::{GameEvent, LobbyEvent, RoomId};
use bevy_app::{App, AppExit, ScheduleRunnerPlugin, Update};
use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;

/// Frames a second.
const RATE: u32 = 60;
/// To a place near, another one each time. The map may end there: the next leads back.
const WAYS: [[f32; 2]; 4] = [[6.0, 0.0], [0.0, 6.0], [-6.0, 0.0], [0.0, -6.0]];

/// What the program was called with.
#[derive(Resource)]
struct Task {
    game: String,
    room: Option<RoomId>,
    frames: u32,
    as_json: bool,
}

/// How far it is.
#[derive(Resource, Default)]
struct Progress {
    frame: u32,
    came: usize,
    went: usize,
}

fn main() -> anyhow::Result<AppExit> {
    let words: Vec<String> = env::args().collect();
    let [_, server, game, seconds, room @ ..] = &words[..] else {
        anyhow::bail!("usage: walk HOST:PORT GAME SECONDS [ROOM]");
    };
    let mut connect = ambit_client::connect(server).motion(ambit_shooter_kinds::STEERING);
    if let Ok(impair) = env::var("AMBIT_IMPAIR") {
        connect = connect.impairment(impair.parse()?);
    }
    let task = Task {
        game: game.clone(),
        room: room.first().map(|room| Ok::<_, ParseIntError>(RoomId(room.parse()?))).transpose()?,
        frames: RATE * seconds.parse::<u32>()?,
        as_json: env::var_os("AMBIT_PRINT").is_some(),
    };
    let exit = App::new()
        .add_plugins(ScheduleRunnerPlugin::run_loop(Duration::from_secs(1) / RATE))
        .add_plugins(AmbitPlugin::connect(connect).axes(WorldAxes::ZUp))
        .insert_resource(task)
        .init_resource::<Progress>()
        .add_systems(Update, (handle_messages, (count, each_second).chain()))
        .run();
    Ok(exit)
}

/// Enters the game; ends when it is over.
fn handle_messages(
    client: Res<AmbitClient>,
    task: Res<Task>,
    mut session: MessageReader<SessionMessage>,
    mut lobby: MessageReader<LobbyMessage>,
    mut game: MessageReader<GameMessage>,
    mut exit: MessageWriter<AppExit>,
) {
    for message in session.read() {
        match message {
            SessionMessage::Connected => {
                let (name, room) = (task.game.clone(), task.room);
                let entering = client.play(|lobby| async move {
                    match room {
                        Some(room) => lobby.join_room(room).await?.play().await,
                        None => lobby.create_room("from Bevy", name).await?.start().await,
                    }
                });
                entering.expect("the client is connected");
            }
            SessionMessage::Playing(_) => {}
            SessionMessage::NotConnected(_) | SessionMessage::NotPlaying(_) => {
                eprintln!("{message:?}");
                exit.write(AppExit::error());
            }
        }
    }
    for LobbyMessage(event) in lobby.read() {
        if let LobbyEvent::Closed { code, message } = event {
            eprintln!("{message} ({code})");
            exit.write(AppExit::error());
        }
    }
    for GameMessage(event) in game.read() {
        if let GameEvent::Error { code, message } | GameEvent::Ended { code, message } = event {
            eprintln!("{message} ({code})");
        }
    }
}

fn count(
    came: Query<&AmbitObject, (Added<AmbitObject>, With<Transform>)>,
    mut went: RemovedComponents<Transform>,
    mut progress: ResMut<Progress>,
) {
    progress.came += came.iter().count();
    progress.went += went.read().count();
}

/// Prints what is in sight, and walks to another place.
fn each_second(
    client: Res<AmbitClient>,
    task: Res<Task>,
    objects: Query<(&AmbitObject, &Transform, Has<Own>)>,
    own: Query<(&AmbitObject, &Transform), With<Own>>,
    mut progress: ResMut<Progress>,
    mut exit: MessageWriter<AppExit>,
) {
    let frame = progress.frame;
    progress.frame += 1;
    if progress.frame >= task.frames {
        exit.write(AppExit::Success);
    }
    let Some(time) = client.frame().and_then(ambit_client::Frame::time) else { return };
    let Some(game) = client.game().filter(|_| frame.is_multiple_of(RATE)) else { return };
    let own = own.single().ok();
    if task.as_json {
        let rows = objects.iter().map(|(object, at, _)| {
            let AmbitObject { id, kind } = object;
            format!("[{}, {kind}, {:.3}, {:.3}]", id.0, at.translation.x, at.translation.y)
        });
        let rows: Vec<String> = rows.collect();
        let own = own.map_or("null".to_owned(), |(object, at)| {
            format!("[{}, {:.3}, {:.3}]", object.id.0, at.translation.x, at.translation.y)
        });
        println!(
            "{{\"time_us\": {}, \"room\": {}, \"objects\": [{}], \"own\": {own}}}",
            time.micros(),
            game.room().0,
            rows.join(", ")
        );
    } else {
        let mut text = format!(
            "{:.1} s in room {}: {} in sight, {} came, {} went",
            time.micros() as f64 / 1e6,
            game.room().0,
            objects.iter().len(),
            progress.came,
            progress.went
        );
        for (AmbitObject { id, kind }, at, is_own) in &objects {
            let own = if is_own { " (own)" } else { "" };
            let place = at.translation;
            let _ = write!(text, "\n  #{} kind {kind} at {:.2} {:.2}{own}", id.0, place.x, place.y);
        }
        println!("{text}");
    }
    (progress.came, progress.went) = (0, 0);
    let step = (frame / RATE) as usize;
    // In a game of ships it flies, in a curve with each second call.
    let turn = (step % 2 == 1).then_some("turn-left");
    let _ = game.hold_named(["accelerate"].into_iter().chain(turn));
    if let Some((_, at)) = own {
        let [x, y] = WAYS[step % WAYS.len()];
        // Other games have no such command.
        let _ = game.send("move", [at.translation.x + x, at.translation.y + y]);
    }
}
