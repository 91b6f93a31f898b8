//! A running game in a page: what is seen, heard, written, and steered.

use ambit_tests::real::page::Page;
use ambit_tests::real::{Browser, Console, ScratchFolder, Server, server_signal};
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tokio::runtime::Runtime;

use super::start_den;

/// The keys and buttons are those that the game declares, and the table is shown.
#[test]
fn a_page_flies_a_ship_and_shows_the_table_from_round_to_round() -> Result<()> {
    let scratch = ScratchFolder::new("pages-shooter");
    let server = Server::start(&scratch, &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    let created = "create arena game=shooter goal=2 ships=6 asteroids=0 size=150x150";
    bob.run_command(created, "created")?;
    bob.run_command("start", "started")?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join arena").await?;
        ann.wait_for_avatar().await?;
        let offered = "return [...document.querySelectorAll('.controls button')]
            .map(button => button.dataset.name);";
        let declared = json!(["turn-left", "turn-right", "accelerate", "brake", "fire"]);
        assert_eq!(ann.run(offered, json!({})).await?, declared);
        let camera = "return document.querySelector('canvas.picture').dataset.camera;";
        assert_eq!(ann.run(camera, json!({})).await?, json!("above"), "as the game declares");

        // Counter-clockwise with the left key, clockwise with the right one. The ship still turns
        // for a while after the last key is up, and a hit gives it another heading at once. A ship
        // at rest is drawn with the rounding errors of the rotations that its heading comes from.
        for (key, sign) in [("ArrowLeft", 1.0), ("d", -1.0)] {
            let script = "
                const heading = () => (frame => frame.heading(frame.avatar))(ambit().game.frame());
                const press = type => dispatchEvent(new KeyboardEvent(type, { key: args.key }));
                let last = heading();
                let since = performance.now();
                await until(() => {
                    const now = heading();
                    if (Math.abs(now - last) > 1e-5) since = performance.now();
                    last = now;
                    return performance.now() - since > 500;
                });
                press('keydown');
                let turned = 0;
                await until(() => {
                    const now = heading();
                    const way = (now - last + 3 * Math.PI) % (2 * Math.PI) - Math.PI;
                    last = now;
                    if (Math.abs(way) < 0.5) turned += way;
                    return Math.abs(turned) > 0.4;
                });
                press('keyup');
                return turned;";
            let turned = ann.run(script, json!({ "key": key })).await?;
            let turned = turned.as_f64().context("an angle")?;
            ensure!(turned * sign > 0.0, "{key} has turned the ship by {turned}");
        }

        ann.press("All").await?;
        let names = "[...document.querySelectorAll('.score td')].map(cell => cell.textContent)";
        let all = format!("(names => names.includes('ann') && names.includes('bob'))({names})");
        ann.wait_for("the table", &all, json!({})).await?;
        let state = "Object.fromEntries([...document.querySelectorAll('.score dl > div')]
            .map(pair => [...pair.children].map(part => part.textContent)))";
        let won = format!("(state => state.Winner && state)({state})");
        let over = ann.wait_for("the end of a round", &won, json!({})).await?;
        let next = format!("(state => Number(state.Round) > Number(args.round))({state})");
        ann.wait_for("the next round", &next, json!({ "round": over["Round"] })).await?;
        ann.close().await
    })
}

/// Objects of a kind are one draw call, and so are all effects, all bars and all names. The script
/// time of a frame is printed: on this machine the processor draws, too.
#[test]
fn two_hundred_objects_in_sight_take_few_draw_calls() -> Result<()> {
    // Sky, land, ground, meadow, grid, border, two kinds and their shadows, names, effects.
    const MOST: u64 = 12;
    let scratch = ScratchFolder::new("pages-draw-calls");
    let server = Server::start(&scratch, &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    bob.run_command("create heap game=cubes cubes=200 round=0", "created")?;
    bob.run_command("start", "started")?;
    Runtime::new()?.block_on(async {
        let browser = Browser::start(&scratch).await?;
        // With shadows, as with a graphics card.
        browser.prepare("localStorage.setItem('ambit-graphics', 'full');").await?;
        let ann = Page::open_in(browser, &server, "ann").await?;
        ann.press("Join heap").await?;
        ann.wait_for_avatar().await?;
        let count = "(count => count > 200 && count)(ambit().game.frame().count)";
        let objects = ann.wait_for("200 objects", count, json!({})).await?;
        let forget = "delete document.querySelector('canvas.picture').dataset.drawCalls;";
        ann.run(forget, json!({})).await?;
        let drawn = "(({ drawCalls, frameMs }) => drawCalls && { drawCalls, frameMs })
            (document.querySelector('canvas.picture').dataset)";
        let drawn = ann.wait_for("measured frames", drawn, json!({})).await?;
        // Of the worker: what comes from the host, and the pictures for the page.
        let spent = "const spent = async () => {
                const { worker, datagrams_down } = await ambit().client.stats();
                return { ...worker, datagrams: datagrams_down, at: performance.now() };
            };
            const from = await spent();
            let frames = 0;
            while (performance.now() < from.at + args.for_ms) { await nextFrame(); frames += 1; }
            const to = await spent();
            const seconds = (to.at - from.at) / 1_000;
            return {
                frames_a_second: frames / seconds,
                decoding_ms_a_second: (to.decoding_ms - from.decoding_ms) / seconds,
                decoding_ms_a_datagram:
                    (to.decoding_ms - from.decoding_ms) / (to.datagrams - from.datagrams),
                drawing_ms_a_second: (to.drawing_ms - from.drawing_ms) / seconds,
            };";
        let worker = ann.run(spent, json!({ "for_ms": 4_000 })).await?;
        println!("{objects} objects in sight: {drawn}; in the worker: {worker}");
        let calls = drawn["drawCalls"].as_str().context("a number")?.parse::<u64>()?;
        ensure!(calls <= MOST, "{calls} draw calls");
        ann.close().await
    })
}

#[test]
fn chat_is_seen_in_the_game_and_a_problem_ends_with_its_cause() -> Result<()> {
    let scratch = ScratchFolder::new("pages-chat");
    let server = Server::start(&scratch, &[])?;
    let mut bob = start_den(&scratch, &server, "size=40x40")?;
    let mut carl = Console::start(&scratch, server.world, "carl", &[])?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        // By the one button, and by a link.
        let low = "return [...document.querySelectorAll('button, select, input')]
            .filter(it => isVisible(it) && !['checkbox', 'range'].includes(it.type))
            .filter(it => it.getBoundingClientRect().height < 44)
            .map(it => it.textContent);";
        let name = "const name = field('Your name'); name.focus();
            return [name.selectionStart, name.selectionEnd, name.value.length];";
        assert_eq!(ann.run(name, json!({})).await?, json!([0, 3, 3]), "all of it is selected");
        assert_eq!(ann.run(low, json!({})).await?, json!([]), "too low for a finger");
        ann.press("Play now").await?;
        ann.wait_for_avatar().await?;
        assert_eq!(ann.run(low, json!({})).await?, json!([]), "too low for a finger");
        let link = ann.run("return location.hash;", json!({})).await?;
        ann.press("Leave the room").await?;
        ann.wait_for("an address without a room", "location.hash === ''", json!({})).await?;
        ann.run("location.hash = args.link;", json!({ "link": link })).await?;
        ann.wait_for_avatar().await?;
        bob.type_in("say who goes there?")?;
        let unread = "[...document.querySelectorAll('.chat-lines p')]
            .some(line => line.textContent.includes('who goes there?'))
            && document.querySelector('.lobby-button').dataset.unread === '1'";
        ann.wait_for("the line over the picture", unread, json!({})).await?;
        // Enter writes to those one plays with.
        let enter = "document.querySelector('canvas.picture').dispatchEvent(
            new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
            return document.querySelector('.lobby-button').dataset.unread;";
        assert_eq!(ann.run(enter, json!({})).await?, json!(""), "it was read");
        let write = "const input = await until(() =>
                document.activeElement === document.querySelector('.chat-lines input')
                    && document.activeElement);
            input.value = args.text;
            input.form.requestSubmit();
            return [input.form.hidden, document.activeElement.className];";
        let written = ann.run(write, json!({ "text": "it is me" })).await?;
        assert_eq!(written, json!([true, "picture"]), "the game goes on");
        let said = bob.wait_until("ann's answer", |event| event["from"] == "ann")?;
        assert_eq!((&said["channel"], &said["text"]), (&json!("room"), &json!("it is me")));
        carl.type_in("say hello")?;
        let heard = carl.wait_for("chat")?;
        assert_eq!(heard["from"], "carl", "the room's chat is not for others");

        let only = "[...document.querySelectorAll('.problem')]
            .filter(problem => problem.offsetParent !== null).length === 1
            && !document.querySelector('.problem details')?.open";
        bob.type_in("kick ann")?;
        ann.wait_for("why she is out", only, json!({})).await?;
        ann.press("Create a room").await?;
        let gone = "document.querySelectorAll('#problems .problem').length === 0";
        ann.wait_for("no problem any more", gone, json!({})).await?;
        ann.press("Cancel").await?;

        // The server goes: one message, and no list of rooms that are not there any more.
        server_signal(server.id(), "TERM")?;
        let alone = "[...document.querySelectorAll('button')]
            .filter(button => button.textContent === 'Connect again').length === 1
            && document.querySelectorAll('.rooms li').length === 0
            && document.querySelector('.empty').textContent === 'Not connected.'";
        ann.wait_for("the end of the connection", alone, json!({})).await?;
        ann.wait_for("one message", only, json!({})).await?;
        ann.close().await
    })
}

#[test]
fn a_lever_and_a_pointer_of_a_page_reach_the_game() -> Result<()> {
    let scratch = ScratchFolder::new("pages-levers");
    let server = Server::start_with_test_games(&scratch, &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    bob.run_command("create desk game=levers size=40x40", "created")?;
    bob.run_command("start", "started")?;
    bob.type_in("watch on")?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join desk").await?;
        ann.wait_for_avatar().await?;
        let mut is = |component: &str, value: i64| {
            let what = format!("{component} {value}");
            bob.wait_until(&what, |event| {
                let got = event["components"][component].as_i64();
                // A diagonal of the screen is not quite one of the map, and in a low window the own
                // avatar is a little above the middle.
                event["ev"] == "update" && got.is_some_and(|got| (got - value).abs() <= 10)
            })
        };
        let lever = "const lever = await until(() => document.querySelector('input.lever'));";
        let moved = format!(
            "{lever}
            lever.value = args.value;
            lever.dispatchEvent(new Event('input', {{ bubbles: true }}));
            return lever.ariaLabel;"
        );
        assert_eq!(ann.run(&moved, json!({ "value": 0.5 })).await?, "Throttle");
        is("throttle", 50)?;
        ann.run(&moved, json!({ "value": -0.25 })).await?;
        is("throttle", -25)?;
        let released = format!("{lever} lever.dispatchEvent(new Event('change'));");
        ann.run(&released, json!({})).await?;
        is("throttle", 0)?;
        let key = "dispatchEvent(new KeyboardEvent(args.type, { key: 's' }));";
        ann.run(key, json!({ "type": "keydown" })).await?;
        is("throttle", -100)?;
        ann.run(key, json!({ "type": "keyup" })).await?;
        is("throttle", 0)?;

        // Up on the screen is north in the view from above.
        let pointed = "const canvas = document.querySelector('canvas.picture');
            const { left, top, width, height } = canvas.getBoundingClientRect();
            const options = {
                clientX: left + width / 2 + args.x * height / 4,
                clientY: top + height / 2 - args.y * height / 4,
                pointerId: 1,
                bubbles: true,
            };
            canvas.dispatchEvent(new PointerEvent('pointermove', options));";
        for (x, y, degrees) in [(0, 1, 90), (-1, 1, 135), (0, -1, -90), (1, 0, 0)] {
            ann.run(pointed, json!({ "x": x, "y": y })).await?;
            is("aim", degrees)?;
        }
        ann.close().await
    })
}

#[test]
fn a_page_chooses_a_class_and_fights_a_wave() -> Result<()> {
    let scratch = ScratchFolder::new("pages-deus");
    let server = Server::start(&scratch, &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    bob.run_command("create cellar game=deus size=40x40", "created")?;
    bob.run_command("start", "started")?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join cellar").await?;
        ann.wait_for_avatar().await?;
        // Four cards in the middle, which can be closed and opened again.
        let cards = "document.querySelectorAll('.choice-cards:not([hidden]) .card').length === 4";
        ann.wait_for("cards of the classes", cards, json!({})).await?;
        ann.press("Choose later").await?;
        ann.press("Choose…").await?;
        ann.press("Mage").await?;
        let closed = "document.querySelector('.choice-cards').hidden";
        ann.wait_for("closed cards", closed, json!({})).await?;
        bob.type_in("choose warrior")?;
        let fight = "[...document.querySelectorAll('.score dd')]\
            .some(cell => cell.textContent === 'Fight')";
        ann.wait_for("the first wave", fight, json!({})).await?;
        // She shoots at what comes near, until something falls.
        let shoot = "let at = 0;
            return until(async () => {
              const { objects } = shown();
              const monster = objects.find(object => object.kind === 'monster');
              if (monster && performance.now() > at) {
                at = performance.now() + 700;
                await ambit().game.send('cast', 'firebolt', [monster.x, monster.y]);
              }
              const frame = ambit().game.frame();
              return frame.rows('score').some(row => frame.value(row, 'kills') > 0);
            });";
        let fallen = ann.run(shoot, json!({})).await;
        fallen.context("the first kill")?;
        // Both stop: the end shows what each player has, and it is not shown as a problem.
        let over = "document.querySelector('dialog.result')?.innerText";
        let told = ann.wait_for("the end", over, json!({})).await?;
        let told = told.as_str().context("a text")?;
        ensure!(told.contains("ann") && told.contains("bob"), "{told}");
        let problems = "return document.querySelectorAll('#problems .problem').length;";
        assert_eq!(ann.run(problems, json!({})).await?, json!(0));
        ann.press("Play again").await?;
        // A new room like the old one, for players who want to play again.
        let again = "ambit().client.room !== undefined && !ambit().game";
        ann.wait_for("another room", again, json!({})).await?;
        let rooms = bob.run_command("rooms", "rooms")?["rooms"].clone();
        let made = rooms.as_array().and_then(|rooms| rooms.last()).cloned().unwrap_or_default();
        assert_eq!([&made["name"], &made["game"]], ["cellar", "deus"], "{made}");
        assert_eq!([&made["players"], &made["running"]], [&json!(1), &json!(false)], "{made}");
        ann.close().await
    })
}

/// What a player has to know without asking: how to play, that the avatar is hidden from others,
/// when a spell is ready again.
#[test]
fn a_newcomer_is_told_how_to_play_and_sees_what_holds() -> Result<()> {
    let scratch = ScratchFolder::new("pages-signs");
    let server = Server::start(&scratch, &[])?;
    let _bob = start_den(&scratch, &server, "size=60x60")?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        ann.press("Join den").await?;
        ann.wait_for_avatar().await?;
        let hint = "return document.querySelector('.first-hints').textContent;";
        let said = ann.run(hint, json!({})).await?;
        let said = said.as_str().context("a text")?;
        for part in ["Click or tap the ground", "1 bolt", "4 blink"] {
            ensure!(said.contains(part), "{said}");
        }
        let buttons = "return [...document.querySelectorAll('.commands button')]
            .map(button => [button.ariaLabel, button.title.split('.')[0]]);";
        let bolt = &ann.run(buttons, json!({})).await?[0];
        assert_eq!(*bolt, json!(["Bolt", "10 mana"]));

        // A spell that needs no place acts when its button is pressed.
        ann.press("Veil").await?;
        let sign = "[...document.querySelectorAll('.own-values .sign')]
            .find(isVisible)?.textContent === 'Hidden from others'";
        ann.wait_for("the sign of the veil", sign, json!({})).await?;

        // Keys of the game act where no text is written.
        let key = "document.querySelector('canvas.picture').dispatchEvent(
            new KeyboardEvent('keydown', { key: args.key, bubbles: true }));";
        let cooling = "document.querySelector('.commands .cooldown')";
        ann.run(key, json!({ "key": "4" })).await?;
        ann.wait_for("blink cools down", &format!("!!{cooling}"), json!({})).await?;

        ann.press("Help").await?;
        ann.press("Network").await?;
        let open = "['.help', '.overlay'].map(it => !document.querySelector(it).hidden)";
        let wait = |what: &'static str, wanted: &str| {
            let is = format!("JSON.stringify({open}) === '{wanted}'");
            let ann = &ann;
            async move { ann.wait_for(what, &is, json!({})).await }
        };
        wait("both panels", "[true,true]").await?;
        ann.run(key, json!({ "key": "Escape" })).await?;
        wait("one panel", "[false,true]").await?;
        ann.run(key, json!({ "key": "Escape" })).await?;
        wait("no panel", "[false,false]").await?;
        ann.wait_for("blink is ready", &format!("!{cooling}"), json!({})).await?;
        ann.close().await
    })
}
