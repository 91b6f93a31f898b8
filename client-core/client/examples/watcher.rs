//! Watches a running room and prints what a viewer would draw, from the looks that the game
//! declares: `cargo run -p ambit-client --example watcher -- meadow`.

use std::env::args;
use std::time::Duration;

use ambit_client::{FrameObject, FrameValue};
use tokio::time::sleep;

/// Between two pictures.
const PAUSE: Duration = Duration::from_millis(500);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let wanted = args().nth(1);
    let server = args().nth(2).unwrap_or("127.0.0.1:7777".to_owned());
    let client = ambit_client::connect(server).name("watcher").await?;
    let rooms = client.rooms().await?;
    let mut rooms = rooms.iter().filter(|room| room.running);
    let room = rooms.find(|room| wanted.as_ref().is_none_or(|name| *name == room.name));
    let Some(room) = room else {
        anyhow::bail!("no such room runs");
    };
    let mut game = client.join_room(room.id).await?.play().await?;
    while !game.is_over() {
        let frame = game.frame_now();
        println!("{} objects in sight", frame.objects().len());
        for object in frame.objects() {
            println!("{}", picture(object));
        }
        sleep(PAUSE).await;
    }
    Ok(())
}

/// A line for an object: `@ ann  12.3  45.6 facing 90°, disc of 0.8 m, #3080ff [#######---]`.
fn picture(object: FrameObject<'_>) -> String {
    let look = object.look();
    let place = object.transform();
    let label = match object.label() {
        Some(name) => name.to_owned(),
        None => format!("{} {}", object.kind(), object.id()),
    };
    let bar = object.bar().map_or_else(String::new, |bar| {
        let full = (10.0 * bar.value / bar.max).round() as usize;
        format!(" [{}{}]", "#".repeat(full), "-".repeat(10 - full))
    });
    let others = object.values().filter_map(|(name, value)| match value {
        FrameValue::Flag(true) => Some(format!(" {name}")),
        FrameValue::Number(number) => Some(format!(" {name}={number}")),
        FrameValue::Decimal(decimal) => Some(format!(" {name}={decimal}")),
        _ => None,
    });
    format!(
        "{} {label:<16} {:7.1} {:7.1} facing {:4.0}°, {:?} of {} m, #{:06x}{bar}{}",
        look.glyph,
        place.position.x,
        place.position.y,
        place.heading().to_degrees(),
        look.shape,
        look.size_m,
        look.colour,
        others.collect::<String>()
    )
}
