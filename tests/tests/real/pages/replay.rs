//! A recorded room in the page, as a spectator sees it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use ambit_tests::real::page::Page;
use ambit_tests::real::{Browser, Console, ScratchFolder, Server, binary, output};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

/// The time that the bar shows, and the one that the picture shows.
const TIMES: &str = "const times = () => ({
    bar: Number(document.querySelector('.replay-bar').dataset.at),
    frame: ambit().game?.frame().time ?? NaN,
});
const near = at => until(() => (({ bar, frame }) =>
    Math.abs(bar - at) < 400 && Math.abs(frame - at) < 400 && { bar, frame })(times()));
const choose = (name, value) => {
    const field = document.querySelector(`.replay-bar [aria-label=\"${name}\"]`);
    field.value = value;
    for (const type of ['input', 'change']) field.dispatchEvent(new Event(type));
};
const press = key => document.body.dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
";

/// In the page with the room from above: it plays, stands, goes back, and looks through a client.
const FROM_ABOVE: &str = r#"
    const until = async (test) => {
      while (!test()) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const label = () => document.querySelector("canvas.above")?.getAttribute("aria-label") ?? "";
    const slider = () => document.querySelector(".playback input");
    const named = (text) => [...document.querySelectorAll("button, a")]
      .find((it) => it.textContent.trim() === text);
    await until(() => label().includes("3 clients"));
    const from = Number(slider().value);
    await until(() => Number(slider().value) > from + 500);
    named("Pause").click();
    await until(() => named("Play"));
    named("eve").click();
    await until(() => label().endsWith("what eve has"));
    await until(() => document.body.innerText.includes("Objects in its sight"));
    slider().value = slider().min;
    slider().dispatchEvent(new Event("input"));
    await until(() => document.querySelector(".time").textContent.startsWith("0:00"));
"#;

#[test]
fn a_recorded_room_is_seen_through_each_of_its_clients() -> Result<()> {
    let scratch = ScratchFolder::new("pages-replay");
    let folder = scratch.path().join("recordings");
    let server = Server::start(&scratch, &["--record", folder.to_str().context("a path")?])?;
    let mut eve = Console::start(&scratch, server.world, "eve", &[])?;
    eve.run_command("create den game=field npcs=3 size=60x60", "created")?;
    eve.run_command("start", "started")?;
    let mut bots = Command::new(binary("bots"));
    scratch.confine(&mut bots).args(["--server", &server.world.to_string(), "--room", "den"]);
    let played = output(bots.args(["--count", "2", "--seconds", "8"]))?;
    ensure!(played.status.success(), "{played:?}");
    drop(eve);
    assert_eq!(server.terminate()?, Some(0));

    let recording = folder.join("room-1.rec");
    let mut watched = Command::new(binary("world-server"));
    scratch.confine(&mut watched).arg("replay").arg(&recording);
    watched.args(["--watch", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
    let mut watched = Watched(watched.spawn()?);
    let lines = BufReader::new(watched.0.stdout.take().context("a pipe")?).lines();
    let mut lines = lines.map_while(Result::ok);
    let mut address_of = |name: &str| {
        let address = |line: String| line.strip_prefix(name).map(|url| url.trim().to_owned());
        lines.find_map(address).with_context(|| format!("the line `{name}`"))
    };
    let (url, above) = (address_of("watch ")?, address_of("from above ")?);
    Runtime::new()?.block_on(async {
        let page = Page::open_replay(Browser::start(&scratch).await?, &url).await?;
        watch(&page).await?;
        page.close().await?;
        let browser = Browser::start(&scratch).await?;
        browser.open(&above).await?;
        browser.run(FROM_ABOVE, json!(null)).await?;
        browser.close().await
    })
}

async fn watch(page: &Page) -> Result<()> {
    let run = async |script: &str| {
        let done = page.run(&format!("{TIMES}{script}"), json!({})).await;
        done.with_context(|| script.to_owned())
    };
    let names = "return [...document.querySelectorAll('.replay-bar option')]
        .map(({ value, textContent }) => [value, textContent]);";
    page.wait_for("the game", "shown().objects.length > 1 && ambit().game", json!({})).await?;
    let own = page.wait_for_avatar().await?;
    assert_eq!(own.label, "eve");
    let options = run(names).await?;
    let bot = options
        .as_array()
        .context("a list")?
        .iter()
        .find(|option| option[1].as_str().is_some_and(|name| name.starts_with("bot")))
        .context("a bot")?;

    // It plays, and its pictures have the time of the bar. It may have come to its end meanwhile.
    let played = run("choose('Time', 500);
        await until(() => times().bar < 3_000 && times().frame < 3_000);
        const from = times();
        await until(() => times().bar > from.bar + 1_000);
        return [from, times()];");
    let played = played.await?;
    ensure!(played[1]["frame"].as_f64() > played[0]["frame"].as_f64(), "{played}");
    // Space, and it stands, as do all that it shows.
    let stood = run("press(' ');
        await until(() => button('Play'));
        for (let frames = 0; frames < 10; frames += 1) await nextFrame();
        const all = () => JSON.stringify(shown().objects.map(({ id, x, y }) =>
            [id, x.toFixed(2), y.toFixed(2)]));
        const [from, before] = [times(), all()];
        for (let frames = 0; frames < 30; frames += 1) await nextFrame();
        const to = times();
        return [to.bar - from.bar, to.frame - from.frame, before === all()];");
    assert_eq!(stood.await?, json!([0, 0, true]));

    // Ahead, and back: there it shows the same as before.
    let places = "const places = () => JSON.stringify(shown().objects
        .map(({ kind, label, x, y }) => [kind, label, x.toFixed(1), y.toFixed(1)]).sort());
        const settled = async at => {
            await near(at);
            for (let frames = 0; frames < 30; frames += 1) await nextFrame();
            return places();
        };";
    let again: Json = run(&format!(
        "{places}
        choose('Time', 4000);
        const first = await settled(4000);
        choose('Time', 6000);
        const later = await settled(6000);
        choose('Time', 4000);
        const again = await settled(4000);
        return {{ same: first === again, moved: first !== later, first, again }};"
    ))
    .await?;
    ensure!(again["same"] == true && again["moved"] == true, "{again}");
    let key = run("press('ArrowLeft'); await near(0); return true;");
    key.await.context("five seconds back")?;

    // Another client, when it is there, four times as fast.
    let script = format!(
        "{TIMES} choose('Time', 4000);
        await near(4000);
        choose('View of', args.client);
        const is = name => name.startsWith('bot');
        await until(() => is(shown().objects.find(({{ own }}) => own)?.label ?? ''));
        choose('Speed', '4');
        press(' ');
        const [from, since] = [times().bar, performance.now()];
        await until(() => times().bar > from + 3_000);
        return (times().bar - from) / (performance.now() - since);"
    );
    let speed = page.run(&script, json!({ "client": bot[0] })).await?;
    let speed = speed.as_f64().context("a speed")?;
    ensure!((3.0..5.0).contains(&speed), "{speed} times as fast");

    // Nothing gets in.
    let refused = run("return ambit().game.send('move', [1, 1]).catch(error => error.code);");
    assert_eq!(refused.await?, Json::from("not_playing"));
    let hidden = run("return !!button('Leave') || [...document.querySelectorAll(
        '.commands, .controls')].some(isVisible);");
    assert_eq!(hidden.await?, Json::from(false));
    ensure!(page.text().await?.contains("Replay: field, room 1"));
    Ok(())
}

/// A program that is ended with the test.
struct Watched(Child);

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
