//! Draws the pictures in `docs/pictures`: the page in a real browser, with bots that play.
//!
//! Usage: `cargo bench --bench pictures -- [FOLDER]`; `docs/pictures` by default. Asserts nothing
//! but that the page gets there. Stays on loopback and ends by itself.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ambit_tests::real::page::Page;
use ambit_tests::real::relay::Relay;
use ambit_tests::real::{self, Browser, BrowserKind, ScratchFolder, Server};
use anyhow::Result;
use serde_json::json;

/// How long the bots play at most.
const BOTS_S: &str = "240";
/// Until paths, bars and colours are there.
const SETTLE: Duration = Duration::from_secs(4);

fn main() -> Result<()> {
    let chosen = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let folder = chosen.map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder)?;
    let scratch = ScratchFolder::new("pictures");
    // A line that can be cut.
    let runtime = tokio::runtime::Runtime::new()?;
    let line = Relay::start(&runtime)?;
    let server = Server::start(&scratch, &["--advertise", &line.address.to_string()])?;
    line.lead_to(server.world);
    let mut bots = [
        start_bots(&scratch, &server, "meadow", "field", &["size=120x120", "npcs=40"])?,
        start_bots(&scratch, &server, "playground", "cubes", &[])?,
        start_bots(&scratch, &server, "arena", "shooter", &["ships=0", "goal=20"])?,
        start_bots(&scratch, &server, "cellar", "deus", &["size=60x60"])?,
    ];
    let drawn = runtime.block_on(draw_all(&scratch, &server, &line, &folder));
    for bots in &mut bots {
        bots.kill()?;
        bots.wait()?;
    }
    drawn
}

fn start_bots(
    scratch: &ScratchFolder,
    server: &Server,
    room: &str,
    game: &str,
    parameters: &[&str],
) -> Result<Child> {
    let mut command = Command::new(real::binary("bots"));
    scratch.confine(&mut command);
    command.args(["--server", &server.world.to_string(), "--seconds", BOTS_S]);
    command.args(["--count", "12", "--room", room, "--game", game]);
    command.args(["--capacity", "32"]);
    for parameter in parameters {
        command.args(["--param", parameter]);
    }
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

async fn draw_all(
    scratch: &ScratchFolder,
    server: &Server,
    line: &Relay,
    folder: &Path,
) -> Result<()> {
    let light = BrowserKind { is_large: true, ..BrowserKind::default() };
    let dark = BrowserKind { is_dark: true, ..light };
    let phone = BrowserKind { is_phone: true, ..light };
    let ann = open(scratch, server, light, "ann").await?;
    ann.wait_for("the rooms", "button('Join playground')", json!({})).await?;
    ann.fill("Message", "Who walks with me?").await?;
    ann.press("Send").await?;
    draw(&ann, folder, "lobby").await?;
    ann.press("Create a room").await?;
    draw(&ann, folder, "create").await?;
    ann.press("Cancel").await?;
    enter(&ann, "meadow").await?;
    draw(&ann, folder, "field").await?;
    ann.press("Network").await?;
    ann.send("move", json!([[70, 60]])).await?;
    draw(&ann, folder, "field-overlay").await?;
    ann.press("Network").await?;
    let write = "document.querySelector('canvas.picture').dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));";
    ann.run(write, json!({})).await?;
    let say = "const input = await until(() => document.querySelector('.chat-lines input'));
        input.value = args.text;
        input.form.requestSubmit();";
    ann.run(say, json!({ "text": "Over here, by the wall!" })).await?;
    ann.run(write, json!({})).await?;
    draw(&ann, folder, "field-chat").await?;
    line.darken_for_all(true);
    ann.wait_for("a dead line", "document.querySelector('.dead-line')", json!({})).await?;
    draw(&ann, folder, "field-cut").await?;
    line.darken_for_all(false);
    ann.close().await?;

    let dora = open(scratch, server, dark, "dora").await?;
    draw(&dora, folder, "lobby-dark").await?;
    enter(&dora, "meadow").await?;
    draw(&dora, folder, "field-dark").await?;
    dora.close().await?;

    let cuno = open(scratch, server, light, "cuno").await?;
    enter(&cuno, "playground").await?;
    draw(&cuno, folder, "cubes").await?;
    cuno.close().await?;

    let rosa = open(scratch, server, dark, "rosa").await?;
    enter(&rosa, "arena").await?;
    for picture in 1..=4 {
        draw(&rosa, folder, &format!("shooter-{picture}")).await?;
    }
    rosa.close().await?;

    let mara = open(scratch, server, light, "mara").await?;
    enter(&mara, "cellar").await?;
    draw(&mara, folder, "deus-classes").await?;
    mara.press("Choose mage").await?;
    for picture in 1..=4 {
        draw(&mara, folder, &format!("deus-{picture}")).await?;
    }
    mara.close().await?;

    let phil = open(scratch, server, phone, "phil").await?;
    draw(&phil, folder, "lobby-phone").await?;
    enter(&phil, "meadow").await?;
    draw(&phil, folder, "field-phone").await?;
    phil.close().await
}

async fn open(
    scratch: &ScratchFolder,
    server: &Server,
    kind: BrowserKind<'_>,
    name: &str,
) -> Result<Page> {
    let browser = Browser::start_as(scratch, kind).await?;
    browser.open(&format!("http://{}/icon.svg", server.http)).await?;
    // As with a graphics card, and not for the first time.
    let choose = "localStorage.setItem('ambit-graphics', 'full');
                  localStorage.setItem('ambit-hints-seen', 'yes');
                  localStorage.setItem('ambit-played', 'field cubes shooter deus');";
    browser.run(choose, json!({})).await?;
    Page::open_in(browser, server, name).await
}

async fn enter(page: &Page, room: &str) -> Result<()> {
    page.press(&format!("Join {room}")).await?;
    page.wait_for_avatar().await?;
    Ok(())
}

async fn draw(page: &Page, folder: &Path, name: &str) -> Result<()> {
    tokio::time::sleep(SETTLE).await;
    let path = folder.join(format!("{name}.png"));
    std::fs::write(&path, page.browser.screenshot().await?)?;
    println!("{}", path.display());
    Ok(())
}
