//! A player with Firefox: the page needs nothing that only Chromium has.

use ambit_tests::real::page::Page;
use ambit_tests::real::{
    Browser, BrowserEngine, BrowserKind, Console, ScratchFolder, Server, server_signal,
};
use anyhow::{Context as _, Result};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use crate::pages::reload;
use crate::watch::{look_from_above, open_a_map_as_guest, watch_and_act};

const FIREFOX: BrowserKind<'static> = BrowserKind {
    engine: BrowserEngine::Firefox,
    variables: &[],
    is_large: false,
    is_dark: false,
    is_phone: false,
    name: None,
};

/// How many pixels of the picture differ from the most frequent colour: it is drawn if many do.
const DRAWN: &str = "
    const canvas = document.querySelector('canvas.picture');
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    await nextFrame();
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const counts = new Map();
    for (let at = 0; at < data.length; at += 4) {
      const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    return data.length / 4 - Math.max(...counts.values());";

#[test]
fn a_player_with_firefox_joins_walks_chats_reloads_and_leaves() -> Result<()> {
    let scratch = ScratchFolder::new("firefox");
    let server = Server::start(&scratch, &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    bob.run_command("create den game=field npcs=0 obstacles=0 size=60x60", "created")?;
    bob.run_command("start", "started")?;
    bob.type_in("move 30 30")?;
    Runtime::new()?.block_on(async {
        let browser = Browser::start_as(&scratch, FIREFOX).await?;
        let ann = Page::open_in(browser, &server, "ann").await?;
        let agent = ann.run("return navigator.userAgent;", json!({})).await?;
        println!("{agent}");
        ann.press("Join den").await?;
        ann.wait_for_avatar().await?;
        ann.send("move", json!([[30, 26]])).await?;
        let there = "(avatar => avatar && Math.hypot(avatar.x - 30, avatar.y - 26) < 0.2)\
            (shown().objects.find(object => object.own))";
        ann.wait_for("the walk", there, json!({})).await?;
        ann.wait_for_label("bob").await?;
        bob.wait_until("ann", |event| event["ev"] == "enter" && event["name"] == "ann")?;
        let drawn = ann.run(DRAWN, json!({})).await?;
        println!("{drawn} pixels are drawn");
        assert!(drawn.as_u64() > Some(1_000), "the picture is empty: {drawn}");

        chat(&mut bob, &ann).await?;

        reload(&ann, &mut bob, (30.0, 26.0)).await?;

        ann.press("Leave the room").await?;
        bob.wait_until("ann's leave", |event| event["ev"] == "leave")?;
        ann.wait_for("the lobby", "!!button('Play now')", json!({})).await?;
        // The code and the words by which a server ends a session reach the page.
        server_signal(server.id(), "TERM")?;
        let told = "document.body.innerText.includes('shut down for maintenance')";
        ann.wait_for("why the server is gone", told, json!({})).await?;
        ann.close().await
    })
}

#[test]
fn an_operator_watches_and_acts_with_firefox() -> Result<()> {
    watch_and_act(BrowserEngine::Firefox)
}

#[test]
fn an_operator_looks_at_a_map_through_a_player_with_firefox() -> Result<()> {
    look_from_above(BrowserEngine::Firefox)
}

#[test]
fn a_guest_who_opens_a_map_reads_that_it_needs_a_key_with_firefox() -> Result<()> {
    open_a_map_as_guest(BrowserEngine::Firefox)
}

/// Both ways, beside the game and in it.
async fn chat(bob: &mut Console, ann: &Page) -> Result<()> {
    bob.type_in("say who goes there?")?;
    let unread = "[...document.querySelectorAll('.chat-lines p')]
        .some(line => line.textContent.includes('who goes there?'))";
    ann.wait_for("the line over the picture", unread, json!({})).await?;
    ann.press("Lobby").await?;
    ann.fill("Message", "it is me").await?;
    ann.press("Send").await?;
    let said: Json = bob.wait_until("ann's answer", |event| event["from"] == "ann")?;
    assert_eq!((&said["channel"], &said["text"]), (&json!("room"), &json!("it is me")));
    ann.press("Back to the game").await.context("the way back")
}
