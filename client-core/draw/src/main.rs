//! A window that draws what a player sees, and plays: any game that is drawn by its schema.
//!
//!     cargo run --release -- 127.0.0.1:7777 field
//!
//! Without a room number it creates a room of the game and starts it; with one it joins that room.
//! A click walks, held keys steer, enter begins and sends a line of chat, escape leaves.

mod canvas;
mod input;
mod map_view;

use std::collections::VecDeque;
use std::env;

use ambit_client::{Client, Game, GameEvent, LobbyEvent, Room, RoomId};
use anyhow::{Result, bail};
use minifb::{Key, Window, WindowOptions};
use tokio::runtime::Runtime;

use crate::canvas::Canvas;
use crate::input::Input;
use crate::map_view::{MapView, Scene};

/// Pixels.
const SIZE: [usize; 2] = [960, 600];
/// Frames a second.
const RATE: usize = 60;
/// Lines of chat that stay.
const LINES: usize = 6;

fn main() -> Result<()> {
    let words: Vec<String> = env::args().collect();
    let [_, server, game, room @ ..] = &words[..] else {
        bail!("usage: ambit-draw HOST:PORT GAME [ROOM]");
    };
    // Runs the connections; the window has the main thread.
    let network = Runtime::new()?;
    let (client, room, game) = network.block_on(async {
        let connect = ambit_client::connect(server).motion(ambit_shooter_kinds::STEERING);
        let client = connect.await?;
        let (room, game) = if let Some(number) = room.first() {
            let room = client.join_room(RoomId(number.parse()?)).await?;
            let game = room.play().await?;
            (room, game)
        } else {
            let room = client.create_room("drawn", game).await?;
            let game = room.start().await?;
            (room, game)
        };
        anyhow::Ok((client, room, game))
    })?;
    let result = run(&network, &client, &room, game);
    network.block_on(client.quit());
    result
}

/// Draws until the window is closed or the game is over.
fn run(network: &Runtime, client: &Client, room: &Room, mut game: Game) -> Result<()> {
    let mut window = Window::new("Ambit", SIZE[0], SIZE[1], WindowOptions::default())?;
    window.set_target_fps(RATE);
    let mut input = Input::new(&mut window);
    let mut canvas = Canvas::new(SIZE);
    let mut lines = VecDeque::new();
    while window.is_open() && !window.is_key_down(Key::Escape) && !game.is_over() {
        lines.extend(client.events().filter_map(|event| line_of_lobby(&event)));
        lines.extend(game.events().filter_map(|event| line_of_game(&event)));
        while lines.len() > LINES {
            lines.pop_front();
        }
        let map = game.map();
        let view = MapView::around(game.frame_now().avatar(), SIZE);
        if let Some(text) = input.act(&window, &game, &view) {
            let room = room.clone();
            // A line that is refused is not shown.
            network.spawn(async move { room.say(text).await });
        }
        let status = match client.stats().rtt {
            Some(rtt) => format!("{}   round trip {} ms", client.name(), rtt.as_millis()),
            None => client.name(),
        };
        let scene = Scene {
            frame: game.last_frame(),
            map: map.as_deref(),
            lines: &lines,
            typed: input.typed(),
            status: &status,
        };
        view.draw(&scene, &mut canvas);
        window.update_with_buffer(canvas.pixels(), SIZE[0], SIZE[1])?;
    }
    Ok(())
}

fn line_of_lobby(event: &LobbyEvent) -> Option<String> {
    match event {
        LobbyEvent::Chat(chat) => Some(format!("{}: {}", chat.from_name, chat.text)),
        LobbyEvent::Interrupted { reason, .. } => Some(format!("! {reason}")),
        _ => None,
    }
}

fn line_of_game(event: &GameEvent) -> Option<String> {
    match event {
        GameEvent::Refused { what, message, .. } => Some(format!("! {what}: {message}")),
        GameEvent::Interrupted { reason, .. } => Some(format!("! {reason}")),
        _ => None,
    }
}
