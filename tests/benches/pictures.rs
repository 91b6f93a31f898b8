//! Draws the pictures in `docs/pictures`: the page in a real browser, with bots that play.
//!
//! Usage: `cargo bench --bench pictures -- [FOLDER]`; `target/pictures` by default. The screenshots
//! are PNG; `docs/measuring.md` says how they become the small ones in `docs/pictures`. Asserts
//! nothing but that the page gets there. Stays on loopback and ends by itself.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ambit_tests::real::page::Page;
use ambit_tests::real::relay::Relay;
use ambit_tests::real::{self, Browser, BrowserKind, ScratchFolder, Server, write_short_course};
use anyhow::{Context as _, Result};
use serde_json::json;
use tokio::runtime::Runtime;

/// How long the bots play at most.
const BOTS_S: &str = "300";
/// Until paths, bars and colours are there.
const SETTLE: Duration = Duration::from_secs(4);
/// An operator's.
const KEY: &str = "pictures-0123456789";
const LOBBY_SETTLE: Duration = Duration::from_secs(12);

fn main() -> Result<()> {
    let chosen = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let folder = chosen.map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/pictures"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder)?;
    let scratch = ScratchFolder::new("pictures");
    // A line that can be cut.
    let runtime = Runtime::new()?;
    let line = Relay::start(&runtime)?;
    let keys = scratch.path().join("keys");
    std::fs::write(&keys, format!("operate olga {KEY}\n"))?;
    let keys = keys.to_str().context("a plain path")?;
    let advertised = line.address.to_string();
    let flags = ["--advertise", &advertised, "--admin-key-file", keys];
    let server = Server::start(&scratch, &flags)?;
    line.lead_to(server.world);
    let mut bots = [
        start_bots(&scratch, &server, "meadow", "field", &["size=120x120", "npcs=40"])?,
        start_bots(&scratch, &server, "playground", "cubes", &[])?,
        start_bots(&scratch, &server, "arena", "shooter", &["ships=0", "goal=20"])?,
        start_bots(&scratch, &server, "village", "hamlet", &[])?,
    ];
    let drawn = runtime.block_on(async {
        draw_all(&scratch, &server, &line, &folder).await?;
        draw_for_operators(&scratch, &server, &folder).await
    });
    end(&mut bots)?;
    drawn?;
    drop(server);
    draw_a_party(&runtime, &scratch, &folder)
}

/// Ends bots.
fn end(bots: &mut [Child]) -> Result<()> {
    for bots in bots {
        bots.kill()?;
        bots.wait()?;
    }
    Ok(())
}

/// A short course of `deus`. Its monsters announce their blows early enough for a picture to show
/// one.
fn draw_a_party(runtime: &Runtime, scratch: &ScratchFolder, folder: &Path) -> Result<()> {
    let content = scratch.path().join("content");
    // A page comes later than bots, and in the middle of a wave it would only watch.
    let waves = [("gather_s", "20"), ("share_s", "14"), ("merchant_s", "40")];
    write_short_course(&content.join("short"), &waves, &[("windup_s", "2.5"), ("health", "150")])?;
    let variables = [("AMBIT_CONTENT", content.to_str().context("a plain path")?)];
    let server = Server::start_with(scratch, &[], &variables)?;
    let light = BrowserKind { is_large: true, ..BrowserKind::default() };
    let mara = runtime.block_on(open(scratch, &server, light, "mara"))?;
    let parameters = ["size=60x60", "content=short"];
    let mut bots = [start_bots(scratch, &server, "cellar", "deus", &parameters)?];
    let drawn = runtime.block_on(draw_an_evening(mara, folder));
    end(&mut bots)?;
    drawn
}

async fn draw_an_evening(mara: Page, folder: &Path) -> Result<()> {
    enter(&mara, "cellar").await?;
    draw(&mara, folder, "deus-classes").await?;
    mara.press("Mage").await?;
    let phase = async |phase: &str| {
        let text = "document.querySelector('.score').innerText.toLowerCase().includes(args.phase)";
        mara.wait_for(phase, text, json!({ "phase": phase })).await
    };
    phase("fight").await?;
    let to_a_monster = "const game = ambit().game, events = game.events.bind(game);
        let told = false;
        game.events = () => {
          const all = events();
          told ||= all.some(event => event.name === 'tell');
          return all;
        };
        const end = performance.now() + 20_000;
        let asked = 0;
        await until(() => {
          const rat = shown().objects.find(object => object.label === 'rat');
          if (rat && performance.now() > asked + 500) {
            void game.send('move', [rat.x, rat.y]).catch(() => {});
            asked = performance.now();
          }
          return told || performance.now() > end;
        });";
    mara.run(to_a_monster, json!({})).await?;
    draw_now(&mara, folder, "deus-tell").await?;
    draw(&mara, folder, "deus-fight").await?;
    phase("sharing").await?;
    draw(&mara, folder, "deus-chest").await?;
    phase("merchant").await?;
    mara.press("Buy…").await?;
    draw(&mara, folder, "deus-merchant").await?;
    mara.press("Learn…").await?;
    draw(&mara, folder, "deus-talents").await?;
    mara.press("Close").await?;
    mara.press("All").await?;
    draw(&mara, folder, "deus-scores").await?;
    mara.close().await
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
    draw_lobby(&ann, folder, "lobby").await?;
    ann.press("Create a room").await?;
    draw_lobby(&ann, folder, "create").await?;
    ann.press("Cancel").await?;
    let ben = open(scratch, server, light, "ben").await?;
    ann.press("Ask ben to play together").await?;
    draw(&ben, folder, "party-asks").await?;
    ben.press("Play together").await?;
    draw(&ann, folder, "party").await?;
    ben.close().await?;
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
    draw_lobby(&dora, folder, "lobby-dark").await?;
    enter(&dora, "meadow").await?;
    draw(&dora, folder, "field-dark").await?;
    dora.close().await?;

    let hans = open(scratch, server, light, "hans").await?;
    enter(&hans, "village").await?;
    draw(&hans, folder, "hamlet").await?;
    hans.close().await?;

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

    let phil = open(scratch, server, phone, "phil").await?;
    draw_lobby(&phil, folder, "lobby-phone").await?;
    enter(&phil, "meadow").await?;
    draw(&phil, folder, "field-phone").await?;
    phil.close().await
}

/// The page for operators.
async fn draw_for_operators(scratch: &ScratchFolder, server: &Server, folder: &Path) -> Result<()> {
    let light = BrowserKind { is_large: true, ..BrowserKind::default() };
    let dark = BrowserKind { is_dark: true, ..light };
    let phone = BrowserKind { is_phone: true, ..light };
    let through_a_player = "const answer = await fetch('/admin/v1/players', {
          headers: { authorization: `Bearer ${args.key}` },
        });
        const { players } = await answer.json();
        const maps = await (await fetch('/admin/v1/maps', {
          headers: { authorization: `Bearer ${args.key}` },
        })).json();
        const room = players.find(it => it.name === args.name).room;
        const map = maps.maps.find(it => it.room === room);
        location.hash = `#map=${map.id}&player=${players.find(it => it.name === args.name).id}`;";
    let views = [
        ("watch", light, "location.hash = '#overview'"),
        ("watch-players", dark, "location.hash = '#players'"),
        ("watch-map", light, through_a_player),
        ("watch-phone", phone, through_a_player),
    ];
    for (name, kind, show) in views {
        let browser = Browser::start_as(scratch, kind).await?;
        browser.open(&format!("http://{}/watch/style.css", server.http)).await?;
        let keep = "sessionStorage.setItem('ambit-operator-key', args.key);";
        browser.run(keep, json!({ "key": KEY })).await?;
        browser.open(&format!("http://{}/watch", server.http)).await?;
        browser.run(show, json!({ "key": KEY, "name": "bot-3" })).await?;
        tokio::time::sleep(SETTLE).await;
        save(&browser, folder, name).await?;
        browser.close().await?;
    }
    Ok(())
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

/// The pictures of games are drawn one after the other, when the page has nothing else to do.
async fn draw_lobby(page: &Page, folder: &Path, name: &str) -> Result<()> {
    tokio::time::sleep(LOBBY_SETTLE).await;
    draw(page, folder, name).await
}

async fn draw(page: &Page, folder: &Path, name: &str) -> Result<()> {
    tokio::time::sleep(SETTLE).await;
    draw_now(page, folder, name).await
}

async fn draw_now(page: &Page, folder: &Path, name: &str) -> Result<()> {
    save(&page.browser, folder, name).await
}

async fn save(browser: &Browser, folder: &Path, name: &str) -> Result<()> {
    let path = folder.join(format!("{name}.png"));
    std::fs::write(&path, browser.screenshot().await?)?;
    println!("{}", path.display());
    Ok(())
}
