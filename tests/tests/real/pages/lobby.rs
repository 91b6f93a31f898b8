//! The lobby of a page: a player who cannot play reads why, and rooms are made, found and left.

use ambit_tests::real::page::Page;
use ambit_tests::real::{
    Browser, BrowserKind, Console, ScratchFolder, Server, ShiftedClock, server_signal, wait_until,
};
use anyhow::{Result, ensure};
use serde_json::json;
use tokio::runtime::Runtime;

use super::start_den;

/// What a page says that cannot play, and where its link leads.
const PROBLEM: &str = "for (;;) {
    const problem = document.querySelector('#problems .problem');
    if (problem) return { text: problem.innerText, link: problem.querySelector('a')?.href ?? null };
    await new Promise(resolve => setTimeout(resolve, 50));
}";

#[test]
fn a_page_without_tls_says_why_it_cannot_play_and_where_one_can() -> Result<()> {
    const NAME: &str = "games.test";
    let scratch = ScratchFolder::new("pages-tls");
    let with_tls = ["--http-host", NAME, "--https", "127.0.0.1:0"];
    for arguments in [&with_tls[..2], &with_tls] {
        let server = Server::start(&scratch, arguments)?;
        Runtime::new()?.block_on(async {
            let kind = BrowserKind { name: Some(NAME), ..BrowserKind::default() };
            let browser = Browser::start_as(&scratch, kind).await?;
            browser.open(&format!("http://{NAME}:{}/#room=7", server.http.port())).await?;
            let problem = browser.run(PROBLEM, json!({})).await?;
            let text = problem["text"].as_str().unwrap_or_default();
            ensure!(text.contains("This page came over http://"), "{text}");
            let link = problem["link"].as_str().unwrap_or_default();
            if arguments.contains(&"--https") {
                ensure!(
                    link.starts_with("https://127.0.0.1:") && link.ends_with("/#room=7"),
                    "{link}"
                );
            } else {
                ensure!(link.is_empty() && text.contains("--https 0.0.0.0:7443"), "{text}");
            }
            browser.close().await
        })?;
    }
    Ok(())
}

#[test]
fn an_invitation_has_a_link_to_the_room_and_a_code_for_phones() -> Result<()> {
    let scratch = ScratchFolder::new("pages-invite");
    let server = Server::start(&scratch, &["--https", "127.0.0.1:0"])?;
    let _bob = start_den(&scratch, &server, "size=60x60")?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join den").await?;
        ann.wait_for_avatar().await?;
        ann.press("Lobby").await?;
        ann.run("button('Invite others').focus();", json!({})).await?;
        ann.press("Invite others").await?;
        let dialog = "document.querySelector('.invitation')";
        let code = format!("{dialog}?.querySelector('img')?.naturalWidth >= 240");
        ann.wait_for("the code", &code, json!({})).await?;
        let link = ann.run(&format!("return {dialog}.querySelector('a').href;"), json!({})).await?;
        let link = link.as_str().unwrap_or_default().to_owned();
        ensure!(link.starts_with("https://127.0.0.1:") && link.contains("/#room="), "{link}");
        ann.press("Close").await?;
        ann.wait_for("the end of the dialog", &format!("!{dialog}"), json!({})).await?;
        let focused = ann.run("return document.activeElement.textContent;", json!({})).await?;
        assert_eq!(focused, json!("Invite others"));
        ann.close().await
    })
}

#[test]
fn fifteen_days_later_old_players_are_there_and_new_ones_come() -> Result<()> {
    let scratch = ScratchFolder::new("pages-days");
    let clock = ShiftedClock::new(&scratch, 0)?;
    let server = Server::start_with(&scratch, &[], &clock.variables())?;
    let _bob = start_den(&scratch, &server, "size=60x60")?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join den").await?;
        ann.wait_for_avatar().await?;
        let before = server.get("/connect.json")?.1;
        clock.set_days(15)?;
        wait_until("other certificates", || {
            Ok((server.get("/connect.json")?.1 != before).then_some(()))
        })?;
        let browser = Browser::start_as(
            &scratch,
            BrowserKind { variables: &clock.variables(), ..BrowserKind::default() },
        )
        .await?;
        let eve = Page::open_in(browser, &server, "eve").await?;
        eve.press("Join den").await?;
        eve.wait_for_avatar().await?;
        for (page, y) in [(&ann, 30), (&eve, 26)] {
            page.send("move", json!([[30, y]])).await?;
            page.wait_for_label("bob").await?;
        }
        eve.wait_for_label("ann").await?;
        let interruptions = "return ambit().client.isConnected;";
        assert_eq!(ann.run(interruptions, json!({})).await?, json!(true));
        ann.close().await?;
        eve.close().await
    })
}

#[test]
fn a_page_says_why_it_cannot_connect() -> Result<()> {
    let scratch = ScratchFolder::new("pages-why");
    let three_weeks_ago = ShiftedClock::new(&scratch, -21)?;
    let other = scratch.path().join("other").display().to_string();
    let (server, expired) = (
        Server::start(&scratch, &[])?,
        Server::start_with(&scratch, &["--data-dir", &other], &three_weeks_ago.variables())?,
    );
    // It names the address of a server that has another certificate.
    let elsewhere = server.world.to_string();
    let third = scratch.path().join("third");
    let arguments = ["--advertise", &*elsewhere, "--data-dir", &*third.display().to_string()];
    let misleading = Server::start(&scratch, &arguments)?;
    let refused = "the server's certificate has expired or is another one";
    let cases = [
        (&server, "delete globalThis.WebTransport;", "it has no WebTransport"),
        (&misleading, "", refused),
        (&expired, "", refused),
    ];
    Runtime::new()?.block_on(async {
        for (server, script, expected) in cases {
            let browser = Browser::start(&scratch).await?;
            browser.prepare(script).await?;
            let page = Page::open_unconnected(browser, server, "ann").await?;
            let said = "document.body.innerText.includes(args.text)";
            page.wait_for(expected, said, json!({ "text": expected })).await?;
            page.close().await?;
        }
        Ok(())
    })
}

/// What the lobby shows of the room `den`: the words and the buttons of its card.
const DEN: &str = "(card => card && {
    text: card.innerText,
    pictures: card.querySelectorAll('canvas.game-art').length,
    buttons: [...card.querySelectorAll('button')].filter(isVisible).map(it => it.textContent),
})([...document.querySelectorAll('.room-card')]
    .find(it => isVisible(it) && it.innerText.includes('den')))";
/// The buttons that are the one thing to do.
const MAIN: &str = "[...document.querySelectorAll('.lobby button.main')]
    .filter(isVisible).map(it => it.textContent)";

#[test]
fn a_removed_player_is_not_led_back_and_a_banner_covers_no_form() -> Result<()> {
    let scratch = ScratchFolder::new("pages-lobby");
    let server = Server::start(&scratch, &[])?;
    Runtime::new()?.block_on(async {
        let kind = BrowserKind { is_phone: true, ..BrowserKind::default() };
        let phone = Browser::start_as(&scratch, kind).await?;
        let ann = Page::open_in(phone, &server, "ann").await?;
        ann.wait_for("one way in", &format!("{MAIN}.join() === 'Play Field'"), json!({})).await?;
        let mut bob = start_den(&scratch, &server, "size=40x40")?;
        ann.wait_for("another way in", &format!("{MAIN}.join() === 'Play now'"), json!({})).await?;
        let card = ann.run(&format!("return {DEN};"), json!({})).await?;
        assert_eq!(card["buttons"], json!(["Join"]));
        assert_eq!(card["pictures"], json!(1), "{card}");
        let text = card["text"].as_str().unwrap_or_default();
        ensure!(text.contains("1 of 64 players") && text.contains("Running"), "{text}");
        let link = format!("http://{}/#room=1", server.http);
        // A link that is opened in a new tab, as from a message.
        ann.browser.open("about:blank").await?;
        ann.browser.open(&link).await?;
        ann.wait_for_avatar().await?;

        bob.type_in("kick ann")?;
        let removed = format!("{DEN}?.text.includes('You were removed from this room')");
        ann.wait_for("that she was removed", &removed, json!({})).await?;
        let uncovered = "const box = it => document.querySelector(it).getBoundingClientRect();
            const [banner, form] = [box('#problems .problem'), box('form.name')];
            return [document.scrollingElement.scrollTop, banner.bottom <= form.top];";
        assert_eq!(ann.run(uncovered, json!({})).await?, json!([0, true]));
        let offered = format!("return [{DEN}.buttons, {MAIN}];");
        assert_eq!(ann.run(&offered, json!({})).await?, json!([[], ["Play Field"]]));
        ann.reload().await?;
        ann.wait_for("the same after a reload", &removed, json!({})).await?;
        assert_eq!(ann.run(&offered, json!({})).await?, json!([[], ["Play Field"]]));
        // A player who follows a link learns it from the server.
        ann.run("sessionStorage.removeItem('ambit-barred'); location.hash = 'room=1';", json!({}))
            .await?;
        ann.wait_for("the same from the server", &removed, json!({})).await?;

        // A room needs a server.
        let create = "[...document.querySelectorAll('button')]
            .find(it => it.textContent === 'Create a room')";
        let is_offered = format!("!{create}.disabled && {create}.title === ''");
        ann.wait_for("that it can be created", &is_offered, json!({})).await?;
        server_signal(server.id(), "KILL")?;
        let refused = format!("{create}.disabled && {create}.title.includes('connection')");
        ann.wait_for("that it cannot", &refused, json!({})).await?;
        ann.close().await
    })
}

#[test]
fn a_room_that_is_refused_keeps_its_form_and_says_why() -> Result<()> {
    let scratch = ScratchFolder::new("pages-create");
    let server = Server::start(&scratch, &["--room-limit", "objects=100"])?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Create a room").await?;
        ann.fill("Name of the room", "den").await?;
        let field = "(await until(() => document.querySelector('[name=game][value=field]')))
            .click();";
        ann.run(field, json!({})).await?;
        let open = "(await until(() => [...document.querySelectorAll('dialog summary')]
            .find(it => it.textContent === 'Settings of the game'))).click();";
        ann.run(open, json!({})).await?;
        // Each is within its range, and both together are too many.
        ann.fill("Wanderers", "90").await?;
        ann.fill("Wolves", "90").await?;
        ann.press("Create").await?;
        let refused = "document.querySelector('dialog .refusal')?.offsetParent !== null
            && document.querySelector('dialog .refusal').textContent";
        let why = ann.wait_for("why", refused, json!({})).await?;
        assert!(why.as_str().is_some_and(|why| why.contains("100")), "{why}");
        let kept = "return [field('Name of the room').value, field('Wanderers').value];";
        assert_eq!(ann.run(kept, json!({})).await?, json!(["den", "90"]));
        ann.fill("Wanderers", "10").await?;
        ann.fill("Wolves", "0").await?;
        ann.press("Create").await?;
        let made = "!document.querySelector('dialog')
            && document.body.innerText.includes('Players in this room')";
        ann.wait_for("the room", made, json!({})).await?;
        ann.close().await
    })
}

/// A wrong password is said where it was typed; the way back leads from a room to the lobby; a page
/// of one's own finds all types.
#[test]
fn a_locked_room_asks_again_and_the_way_back_leads_to_the_lobby() -> Result<()> {
    let scratch = ScratchFolder::new("pages-locked");
    let server = Server::start(&scratch, &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    let created = "create den game=field npcs=0 obstacles=0 size=40x40 password=sesame";
    bob.run_command(created, "created")?;
    bob.run_command("start", "started")?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join den").await?;
        ann.fill("Password", "mellon").await?;
        ann.press("OK").await?;
        let again = "document.querySelector('dialog .refusal')?.textContent.includes('wrong')";
        ann.wait_for("a word at the field", again, json!({})).await?;
        ann.fill("Password", "sesame").await?;
        ann.press("OK").await?;
        ann.wait_for_avatar().await?;
        ann.run("history.back();", json!({})).await?;
        let lobby = "!ambit().client.room && button('Join den')";
        ann.wait_for("the lobby", lobby, json!({})).await?;

        let types = "const seen = new Set(), left = ['index'];
            while (left.length > 0) {
              const name = left.pop();
              if (seen.has(name)) continue;
              seen.add(name);
              const answer = await fetch(`/client/${name}.d.ts`);
              if (!answer.ok) return `${name} is missing`;
              const text = await answer.text();
              for (const [, other] of text.matchAll(/from \"\\.\\/(\\w+)\\.js\"/g)) {
                left.push(other);
              }
            }
            return seen.size;";
        let found = ann.run(types, json!({})).await?;
        ensure!(found.as_u64() > Some(10), "{found}");
        ann.close().await
    })
}
