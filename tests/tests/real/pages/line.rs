//! Pages on bad lines, and with servers and hosts that are lost.

use std::time::Duration;

use ambit_tests::real::page::Page;
use ambit_tests::real::relay::Relay;
use ambit_tests::real::{ScratchFolder, Server, outlast_suspicion, server_signal, wait_until};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use super::{entered, make_line_bad, reload, start_den, walk};

#[test]
fn a_page_that_is_loaded_anew_has_the_same_avatar_and_a_lost_host_too() -> Result<()> {
    let scratch = ScratchFolder::new("pages-resume");
    let server = Server::start(&scratch, &["--hosts", "process:2"])?;
    let mut bob = start_den(&scratch, &server, "size=60x60")?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join den").await?;
        ann.wait_for_avatar().await?;
        let enters = |event: &Json| entered(event).as_deref() == Some("ann");
        bob.type_in("move 30 30")?;
        walk(&ann, 30.0, 25.0).await?;
        bob.wait_until("ann", enters)?;
        let at_goal = "(avatar => avatar && Math.hypot(avatar.x - 30, avatar.y - 25) < 0.1)\
            (label('ann'))";
        reload(&ann, &mut bob, (30.0, 25.0)).await?;

        for (index, signal) in ["KILL", "TERM", "KILL", "TERM"].into_iter().enumerate() {
            if index == 2 {
                make_line_bad(&ann).await?;
            }
            outlast_suspicion();
            // The oldest one: after two signals the room was on each.
            let host = server.children()[0];
            server_signal(host, signal)?;
            wait_until("the end of the host", || {
                Ok((!server.children().contains(&host)).then_some(()))
            })?;
            server.wait_for_metrics("another host", |metrics| metrics["ambit_hosts"] == 2.0)?;
            ann.wait_for("the same place", at_goal, json!({})).await?;
            walk(&ann, 30.0, 27.0).await?;
            walk(&ann, 30.0, 25.0).await?;
        }
        assert!(server.metrics()?["ambit_rooms_moved_total"] >= 2.0);
        ann.close().await
    })
}

#[test]
fn a_page_that_the_browser_freezes_or_closes_has_its_seat_when_it_is_back() -> Result<()> {
    let scratch = ScratchFolder::new("pages-frozen");
    let server = Server::start(&scratch, &[])?;
    let _bob = start_den(&scratch, &server, "size=60x60")?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join den").await?;
        ann.wait_for_avatar().await?;
        walk(&ann, 30.0, 25.0).await?;
        let seat = "return [ambit().client.player, ambit().client.room?.id];";
        let before = ann.run(seat, json!({})).await?;
        let is_there = "(avatar => avatar && Math.hypot(avatar.x - 30, avatar.y - 25) < 0.2)\
            (label('ann'))";
        // Another tab, after this one was closed: what it kept is gone.
        ann.browser.open("about:blank").await?;
        ann.browser.open(&format!("http://{}/icon.svg", server.http)).await?;
        ann.run("sessionStorage.clear();", json!({})).await?;
        ann.browser.open(&format!("http://{}/", server.http)).await?;
        ann.wait_for("the same place", is_there, json!({})).await?;
        assert_eq!(ann.run(seat, json!({})).await?, before);

        // Chromium draws no frames of a page that it has frozen once: so this looks by a timer.
        let back = format!(
            "return new Promise(done => {{
              const look = () => {is_there} ? done(true) : setTimeout(look, 20);
              look();
            }});"
        );
        for _ in 0..2 {
            ann.browser.freeze(true).await?;
            server.wait_for_metrics("the loss", |metrics| metrics["ambit_connections"] == 1.0)?;
            ann.browser.freeze(false).await?;
            server.wait_for_metrics("the return", |metrics| metrics["ambit_connections"] == 2.0)?;
            ann.run(&back, json!({})).await.context("the same place")?;
            assert_eq!(ann.run(seat, json!({})).await?, before);
        }
        ann.close().await
    })
}

#[test]
fn a_page_goes_through_a_gate_and_outlives_a_dark_line() -> Result<()> {
    let scratch = ScratchFolder::new("pages-gate");
    let runtime = Runtime::new()?;
    let relay = Relay::start(&runtime)?;
    let server = Server::start(&scratch, &["--advertise", &relay.address.to_string()])?;
    relay.lead_to(server.world);
    let _bob = start_den(&scratch, &server, "size=60x60 maps=2")?;
    runtime.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join den").await?;
        ann.wait_for_avatar().await?;
        // The gate is in the middle of the eastern border; behind it, west is small again.
        ann.send("move", json!([[60, 30]])).await?;
        let beyond = "(avatar => avatar && avatar.x < 10 && Math.abs(avatar.y - 30) < 6)\
            (shown().objects.find(object => object.own))";
        ann.wait_for("the other map", beyond, json!({})).await?;

        relay.darken_for_all(true);
        ann.wait_for("the loss", "!ambit().client.isConnected", json!({})).await?;
        relay.darken_for_all(false);
        ann.wait_for("the lobby", "ambit().client.isConnected", json!({})).await?;
        let avatar = ann.wait_for_avatar().await?;
        walk(&ann, avatar.x + 8.0, 30.0).await?;

        // And back.
        make_line_bad(&ann).await?;
        ann.send("move", json!([[0, 30]])).await?;
        let before = "(avatar => avatar && avatar.x > 50 && Math.abs(avatar.y - 30) < 6)\
            (shown().objects.find(object => object.own))";
        ann.wait_for("the first map", before, json!({})).await?;
        ann.close().await
    })
}

#[test]
fn a_page_whose_address_changes_in_mid_game_plays_on() -> Result<()> {
    let scratch = ScratchFolder::new("pages-roam");
    let runtime = Runtime::new()?;
    let relay = Relay::start(&runtime)?;
    let server = Server::start(&scratch, &["--advertise", &relay.address.to_string()])?;
    relay.lead_to(server.world);
    let _bob = start_den(&scratch, &server, "size=60x60")?;
    runtime.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join den").await?;
        ann.wait_for_avatar().await?;
        walk(&ann, 30.0, 30.0).await?;
        let own = ann.wait_for_avatar().await?.id;
        for turn in 0..4_u8 {
            relay.change_addresses();
            walk(&ann, if turn % 2 == 0 { 34.0 } else { 30.0 }, 30.0).await?;
            assert_eq!(
                ann.run("return ambit().client.isConnected;", json!({})).await?,
                json!(true)
            );
        }
        // After another ticket, all objects would have new numbers.
        assert_eq!(ann.wait_for_avatar().await?.id, own);
        ann.close().await
    })
}

#[test]
fn a_dead_line_is_shown_before_it_breaks_and_the_game_goes_on_after_it() -> Result<()> {
    let scratch = ScratchFolder::new("pages-dark");
    let runtime = Runtime::new()?;
    let relay = Relay::start(&runtime)?;
    let server = Server::start(&scratch, &["--advertise", &relay.address.to_string()])?;
    relay.lead_to(server.world);
    let _bob = start_den(&scratch, &server, "size=60x60")?;
    runtime.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join den").await?;
        ann.wait_for_avatar().await?;
        let line = "document.querySelector('.line-mark')?.dataset.line";
        ann.wait_for("a good line", &format!("{line} === 'good'"), json!({})).await?;
        // A quiet room is not a dead one.
        ann.run("return new Promise(done => setTimeout(done, 4_000));", json!({})).await?;
        assert_eq!(ann.run(&format!("return {line};"), json!({})).await?, json!("good"));
        let clock = async || -> Result<f64> {
            let now = ann.run("return performance.now();", json!({})).await?;
            now.as_f64().context("milliseconds")
        };
        for seconds in [5, 15] {
            let since = clock().await?;
            relay.darken_for_all(true);
            // QUIC still takes the connection for open: the mark is earlier.
            let is_shown = format!(
                "{line} === 'silent' && ambit().client.isConnected &&\
                 document.querySelector('.game.dead-line') !== null"
            );
            ann.wait_for("a dead line", &is_shown, json!({})).await?;
            let shown_after = Duration::from_millis((clock().await? - since) as u64);
            println!("dark for {seconds} s: shown after {shown_after:?}");
            let left_ms =
                Duration::from_secs(seconds).saturating_sub(shown_after).as_millis() as u64;
            let wait = format!("return new Promise(done => setTimeout(done, {left_ms}));");
            ann.run(&wait, json!({})).await?;
            relay.darken_for_all(false);
            let since = clock().await?;
            let is_good = format!("{line} === 'good'");
            ann.wait_for("a good line again", &is_good, json!({})).await?;
            println!("dark for {seconds} s: good {:.0} ms later", clock().await? - since);
            let avatar = ann.wait_for_avatar().await?;
            walk(&ann, if avatar.x < 30.0 { 40.0 } else { 20.0 }, 30.0).await?;
            let text = "return document.querySelector('.dead-line, #problems .problem')\
                        ?.outerHTML ?? null;";
            assert_eq!(ann.run(text, json!({})).await?, json!(null));
        }
        ann.close().await
    })
}

#[test]
fn a_server_that_is_killed_and_started_again_has_its_players_back() -> Result<()> {
    let scratch = ScratchFolder::new("pages-restart");
    // A server at port 0 does not expect to be at the same address again.
    let world = std::net::UdpSocket::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let http = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let same_place = ["--listen", &*world, "--http", &*http];
    let server = Server::start(&scratch, &same_place)?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Play Field").await?;
        ann.wait_for_avatar().await?;
        server_signal(server.id(), "KILL")?;
        server.wait()?;
        let problem = "document.querySelector('.dead-line, #problems .problem') !== null";
        ann.wait_for("a word about it", problem, json!({})).await?;
        let _again = Server::start(&scratch, &same_place)?;
        // Its rooms are gone, and the page says so; one press leads into the next one.
        let back = "ambit().client.isConnected && !ambit().game && !ambit().client.room";
        ann.wait_for("the lobby", back, json!({})).await?;
        ann.press("Play Field").await?;
        ann.wait_for_avatar().await?;
        walk(&ann, 30.0, 25.0).await?;
        // A busy machine makes the line look dead for a moment.
        ann.wait_for("no word about it", &format!("!({problem})"), json!({})).await?;
        ann.close().await
    })
}

#[test]
fn the_round_trip_of_a_page_does_not_wait_for_its_frames() -> Result<()> {
    let scratch = ScratchFolder::new("pages-slow");
    let server = Server::start(&scratch, &[])?;
    let mut bob = start_den(&scratch, &server, "size=60x60")?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join den").await?;
        ann.wait_for_avatar().await?;
        // A page that needs its thread for 200 ms a frame.
        let measured = ann
            .run(
                "let frames = 0, isOver = false;
                 const beganAt = performance.now();
                 const draw = () => {
                   const end = performance.now() + args.frame_ms;
                   while (performance.now() < end);
                   frames += 1;
                   if (!isOver) requestAnimationFrame(draw);
                 };
                 requestAnimationFrame(draw);
                 await new Promise(done => setTimeout(done, args.for_ms));
                 const { rtt_ms, jitter_ms } = await ambit().client.stats();
                 isOver = true;
                 return { rtt_ms, jitter_ms, frame_ms: (performance.now() - beganAt) / frames };",
                json!({ "frame_ms": 200, "for_ms": 8_000 }),
            )
            .await?;
        let console = bob.run_command("stats", "stats")?;
        println!("round trip: page {measured}, console {} ms", console["rtt_ms"]);
        let [rtt, frame] = ["rtt_ms", "frame_ms"].map(|key| measured[key].as_f64());
        let rtt = rtt.context("a round trip")?;
        let frame = frame.context("the time of a frame")?;
        ensure!(frame > 190.0 && rtt < frame / 8.0, "{measured}");
        ann.close().await
    })
}
