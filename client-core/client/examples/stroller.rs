//! Takes a walk in the game `stroll` (`cargo run -p ambit-game --example stroll`), and prints what
//! it sees: `cargo run -p ambit-client --example stroller`. It knows the game by its schema alone.

use std::time::Duration;

use ambit_client::GameEvent;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = ambit_client::connect("127.0.0.1:7777").name("ann").await?;
    let room = client.create_room("meadow", "stroll").await?;
    let mut game = room.start().await?;
    game.send("walk-to", [120.0, 90.0])?;
    for _ in 0..100 {
        for event in game.events() {
            if let GameEvent::Enter(entered) = event {
                println!("{} {} came into sight", entered.kind, entered.id);
            }
        }
        for object in game.frame_now().objects() {
            println!("{} is at {:?}", object.kind(), object.position());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    client.quit().await;
    Ok(())
}
