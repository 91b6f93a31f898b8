//! Takes a walk in the game `stroll` (`cargo run -p ambit --example stroll`), as `stroller` does,
//! with a command of the game's own type: `cargo run -p ambit-client --example typed_stroller`.
//! The type is a copy here; a game in a crate of its own is a dependency of its clients.

use ambit::prelude::*;

#[derive(Command)]
enum Command {
    WalkTo { to: Position },
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = ambit_client::connect("127.0.0.1:7777").name("bob").await?;
    let room = client.create_room("heath", "stroll").await?;
    let mut game = room.start().await?;
    let to = Position::on_ground(120.0, 90.0);
    game.command(Command::WalkTo { to })?;
    for _ in 0..100 {
        for object in game.frame_now().objects() {
            println!("{} is at {:?}", object.kind(), object.position());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    client.quit().await;
    Ok(())
}
