//! Joins a game, walks or flies about and prints what is seen, as the examples for other languages
//! do: `cargo run -p ambit-client --example walk -- 127.0.0.1:7777 field 10`.
//!
//! Without a room number it creates a room of the game and starts it; with one it joins that room.
//! `AMBIT_PRINT=json` prints a line of JSON each second; `AMBIT_IMPAIR=loss=5` makes the line bad.

use std::env::{args, var};
use std::time::Duration;

use ambit_client::{Frame, Game, GameTime, RoomId, SendError};
use anyhow::Context;
use tokio::time::{MissedTickBehavior, interval};

/// 60 frames a second.
const FRAME: Duration = Duration::from_micros(16_667);
/// The map may end there: the next leads back.
const WAYS: [[f32; 2]; 4] = [[6.0, 0.0], [0.0, 6.0], [-6.0, 0.0], [0.0, -6.0]];

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = args().collect();
    let [server, name, seconds] =
        words.get(1..4).context("usage: walk HOST:PORT GAME SECONDS [ROOM]")?
    else {
        unreachable!("three words")
    };
    let mut connect = ambit_client::connect(server).motion(ambit_shooter_kinds::STEERING);
    if let Ok(impair) = var("AMBIT_IMPAIR") {
        connect = connect.impairment(impair.parse()?);
    }
    let client = connect.await?;
    let mut game = match words.get(4) {
        Some(room) => client.join_room(RoomId(room.parse()?)).await?.play().await?,
        None => client.create_room("from Rust", name).await?.start().await?,
    };
    let is_json = var("AMBIT_PRINT").is_ok_and(|form| form == "json");
    let mut frames = interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Skip);
    for number in 0..60 * seconds.parse::<usize>()? {
        frames.tick().await;
        let frame = game.frame_now();
        if number % 60 == 0 && frame.time().is_some() {
            if is_json {
                print_json(frame);
            } else {
                print(frame);
            }
            walk(&game, number / 60)?;
        }
    }
    client.quit().await;
    Ok(())
}

/// Walks to a place near, another one with each call; in a game of ships it flies on, in a curve
/// with each second call.
fn walk(game: &Game, step: usize) -> Result<(), SendError> {
    let Some(schema) = game.schema() else { return Ok(()) };
    if schema.control_index("accelerate").is_some() {
        let turn = (step % 2 == 1).then_some("turn-left");
        game.hold_named(["accelerate"].into_iter().chain(turn))?;
    }
    let own = game.last_frame().avatar().map(|own| own.position());
    let (Some(at), true) = (own, schema.commands.iter().any(|command| command.name == "move"))
    else {
        return Ok(());
    };
    let [x, y] = WAYS[step % WAYS.len()];
    game.send("move", [at.x + x, at.y + y]).map(drop)
}

fn print(frame: &Frame) {
    println!("{:?}: {} in sight", frame.time(), frame.objects().len());
    for object in frame.objects() {
        let at = object.position();
        let own = if object.is_own() { " (own)" } else { "" };
        println!("  #{} {} at {:.2} {:.2}{own}", object.id(), object.kind(), at.x, at.y);
    }
}

fn print_json(frame: &Frame) {
    let time_us = frame.time().map_or(0, GameTime::micros);
    let objects: Vec<String> = frame
        .objects()
        .map(|it| {
            let at = it.position();
            format!("[{}, {}, {}, {}]", it.id().0, it.kind_index(), at.x, at.y)
        })
        .collect();
    let own = frame.avatar().map_or("null".to_owned(), |own| {
        let at = own.position();
        format!("[{}, {}, {}]", own.id().0, at.x, at.y)
    });
    println!("{{\"time_us\": {time_us}, \"objects\": [{}], \"own\": {own}}}", objects.join(", "));
}
