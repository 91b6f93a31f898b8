//! Chat in the lobby. Start it several times: `cargo run -p ambit-client --example chat -- ann`.

use std::env::args;

use ambit_client::LobbyEvent;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let name = args().nth(1).unwrap_or_default();
    let server = args().nth(2).unwrap_or("127.0.0.1:7777".to_owned());
    let client = ambit_client::connect(server).name(name).await?;
    for player in client.players().await? {
        println!("{} is here", player.name);
    }
    let mut lines = BufReader::new(stdin()).lines();
    loop {
        tokio::select! {
            line = lines.next_line() => {
                let Some(line) = line? else { break };
                if let Err(refused) = client.say(line).await {
                    println!("! {refused}");
                }
            }
            event = client.next_event() => match event {
                Some(LobbyEvent::Chat(chat)) => println!("{}: {}", chat.from_name, chat.text),
                Some(LobbyEvent::Renamed { player, name }) => println!("{player:?} is now {name}"),
                Some(LobbyEvent::Interrupted { reason, .. }) => println!("! {reason}"),
                Some(LobbyEvent::Closed { message, .. }) => anyhow::bail!(message),
                Some(_) => {}
                None => break,
            },
        }
    }
    client.quit().await;
    Ok(())
}
