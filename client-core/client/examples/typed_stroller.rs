//! Takes a walk in the game `stroll` (`cargo run -p ambit-game --example stroll`), as `stroller`
//! does, with the game's own types: `cargo run -p ambit-client --example typed_stroller`. They are
//! copies here; a game in a crate of its own is a dependency of its clients.

use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

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
    game.check_kind::<Walker>()?;
    game.command(Command::WalkTo { to })?;
    for _ in 0..100 {
        for walker in game.frame_now().objects().filter(|object| object.is::<Walker>()) {
            println!("a walker is at {:?}, {:?}", walker.position(), walker.velocity());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    client.quit().await;
    Ok(())
}
