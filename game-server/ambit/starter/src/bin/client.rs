//! A client that gathers by itself: it walks to the nearest mushroom that it sees, and rests when
//! it is tired.

use std::error::Error;
use std::time::Duration;

use ambit_client::{Frame, FrameObject, GameEvent, Position};
use gather::{Command, Mushroom, Picked, Walker};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7777".to_owned());
    if address.starts_with('-') {
        println!("usage: client [ADDRESS], the address of a lobby; by default 127.0.0.1:7777");
        return Ok(());
    }
    let client = ambit_client::connect(&address).name("robin").await?;
    let room = client.create_room("wood", "gather").await?;
    let mut game = room.start().await?;
    for _ in 0..30 {
        tokio::time::sleep(Duration::from_secs(2)).await;
        for event in game.events() {
            match event {
                GameEvent::Event(event) => {
                    if let Some(Picked { at, .. }) = event.get() {
                        println!("a mushroom is picked at {:.0} {:.0}", at.x, at.y);
                    }
                }
                GameEvent::Refused { message, .. } => println!("{message}"),
                _ => {}
            }
        }
        let frame = game.frame_now();
        let Some(me) = frame.avatar() else {
            continue;
        };
        let stamina = me.get::<Walker>().and_then(|walker| walker.stamina);
        let is_tired = stamina.is_some_and(|left| left.value < 25.0);
        let goal = nearest_mushroom(frame, &me);
        if is_tired {
            println!("resting");
            game.command(Command::Rest)?;
        } else if let Some(to) = goal {
            println!("walking to {:.0} {:.0}", to.x, to.y);
            game.command(Command::WalkTo { to })?;
        } else {
            println!("no mushroom in sight");
        }
    }
    client.quit().await;
    Ok(())
}

fn nearest_mushroom(frame: &Frame, me: &FrameObject<'_>) -> Option<Position> {
    let mushrooms = frame.objects().filter(|object| object.is::<Mushroom>());
    let places = mushrooms.map(|mushroom| mushroom.position());
    let distance = |place: &Position| place.distance(me.position());
    places.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}
