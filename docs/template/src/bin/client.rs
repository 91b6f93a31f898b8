//! A client that gathers by itself: it walks to the nearest mushroom that it sees.

use std::error::Error;
use std::time::Duration;

use ambit_client::GameEvent;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = ambit_client::connect("127.0.0.1:7777").name("robin").await?;
    let room = client.create_room("wood", "gather").await?;
    let mut game = room.start().await?;
    for _ in 0..30 {
        for event in game.events() {
            match event {
                GameEvent::Event(event) => println!("{}", event.name),
                GameEvent::Refused { message, .. } => println!("{message}"),
                _ => {}
            }
        }
        let frame = game.frame_now();
        let nearest = frame.avatar().and_then(|me| {
            let mushrooms = frame.objects().filter(|object| object.kind() == "mushroom");
            let distance = |place| me.position().distance(place);
            let places = mushrooms.map(|mushroom| mushroom.position());
            places.min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
        });
        match nearest {
            Some(place) => game.send("walk-to", [place.x, place.y])?,
            None => game.send("rest", ())?,
        };
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    client.quit().await;
    Ok(())
}
