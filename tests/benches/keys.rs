//! How long it takes from a key or a command to the first frame of a browser's client that shows
//! the own avatar elsewhere, in each game. Prints a table; stays on loopback and ends by itself.
//!
//! The client draws nothing, so that its frames come 60 times a second where no graphics card is. A
//! page draws what a frame shows within that frame. Without prediction, what is drawn has come from
//! the host.
//!
//! Usage: `cargo bench --bench keys -- [TRIALS]`; 40 by default.

use ambit_tests::real::{Browser, ScratchFolder, Server};
use anyhow::{Context as _, Result};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

/// Plays alone in a room of `args.game`, and acts `args.trials` times after a rest.
const PLAY: &str = r#"
    const { connect } = globalThis.ambit;
    const { game: name, trials, predict, delay, keys, walk, before, settings } = args;
    const client = await connect({
      name: "keys", wasm: "ambit.wasm", physics: { cubes: true }, render: "adaptive", predict,
      line: { delayMs: delay, jitterMs: 0, lossPercent: 0 },
    });
    const room = await client.createRoom(name, name, { parameters: settings });
    const game = await room.start();
    const nextFrame = () => new Promise(requestAnimationFrame);
    const draw = async () => {
      const time = await nextFrame();
      const frame = game.frame(time);
      client.events();
      game.events();
      return frame;
    };
    const rest = async milliseconds => {
      const until = performance.now() + milliseconds;
      while (performance.now() < until) await draw();
    };
    await rest(3_000);
    if (before) await game.send(...before);
    await rest(3_000);
    const place = frame =>
      [...frame.transforms.slice(frame.avatar * args.floats, frame.avatar * args.floats + 7)];
    const figures = { frames: [], ms: [], missed: 0 };
    for (let trial = 0; trial < trials; trial += 1) {
      await rest(200 + 400 * Math.random());
      const from = place(await draw());
      const side = trial % 2 === 0 ? 1 : -1;
      const began = performance.now();
      if (walk) void game.send("move", [from[0] + 4 * side, from[1]]).catch(() => {});
      else game.hold([keys[trial % 2]]);
      let frames = 0;
      for (;;) {
        const now = place(await draw());
        frames += 1;
        const moved = now.some((value, at) => Math.abs(value - from[at]) > (at < 3 ? 0.01 : 0.005));
        if (moved) break;
        if (frames > 120) {
          figures.missed += 1;
          break;
        }
      }
      if (frames <= 120) {
        figures.frames.push(frames);
        figures.ms.push(performance.now() - began);
      }
      await rest(100);
      if (!walk) game.hold([]);
      await rest(1_500);
    }
    await client.quit();
    return figures;
"#;

/// Floats of an object in a frame.
const TRANSFORM_FLOATS: u32 = 13;
const TRIALS: u32 = 40;
/// Each way, in milliseconds.
const DELAYS_MS: [u32; 2] = [0, 50];

fn main() -> Result<()> {
    let trials = std::env::args().skip(1).find_map(|it| it.parse().ok()).unwrap_or(TRIALS);
    println!(
        "| game | round trip | predicted | frames (p50) | frames (p95) | ms (p50) | ms (p95) |\n\
         | --- | --- | --- | --- | --- | --- | --- |"
    );
    let empty = json!({ "obstacles": 0, "npcs": 0, "wolves": 0 });
    let turns = ["turn-left", "turn-right"];
    let games = [
        json!({ "game": "field", "walk": true, "settings": empty }),
        json!({ "game": "deus", "walk": true, "before": ["choose", "mage"], "settings": {} }),
        json!({ "game": "shooter", "keys": turns, "settings": { "ships": 0 } }),
        json!({ "game": "cubes", "keys": ["left", "right"], "settings": {} }),
    ];
    for game in games {
        for delay in DELAYS_MS {
            for is_predicted in [false, true] {
                let figures = measure(&game, trials, delay, is_predicted)?;
                print_row(&game, delay, is_predicted, &figures)?;
            }
        }
    }
    Ok(())
}

fn measure(game: &Json, trials: u32, delay: u32, is_predicted: bool) -> Result<Json> {
    let scratch = ScratchFolder::new("bench-keys");
    let server = Server::start(&scratch, &[])?;
    let mut args = game.clone();
    let given = [
        ("trials", json!(trials)),
        ("delay", json!(delay)),
        ("predict", json!(is_predicted)),
        ("floats", json!(TRANSFORM_FLOATS)),
    ];
    for (name, value) in given {
        args[name] = value;
    }
    Runtime::new()?.block_on(async {
        let browser = Browser::start(&scratch).await?;
        browser.open(&format!("http://{}/", server.http)).await?;
        let ready = "while (!globalThis.ambit?.client) await new Promise(requestAnimationFrame);";
        browser.run(ready, json!({})).await?;
        let figures = browser.run(PLAY, args).await?;
        browser.close().await?;
        Ok(figures)
    })
}

fn print_row(game: &Json, delay: u32, is_predicted: bool, figures: &Json) -> Result<()> {
    let quantile = |name: &str, percent: usize| -> Result<f64> {
        let mut all: Vec<f64> = serde_json::from_value(figures[name].clone())?;
        all.sort_by(f64::total_cmp);
        let at = (all.len() * percent / 100).min(all.len().saturating_sub(1));
        all.get(at).copied().context("no key has moved the avatar")
    };
    let is_predicted = if is_predicted { "yes" } else { "no" };
    println!(
        "| {} | {} ms | {is_predicted} | {} | {} | {:.0} | {:.0} |",
        game["game"].as_str().unwrap_or_default(),
        2 * delay,
        quantile("frames", 50)?,
        quantile("frames", 95)?,
        quantile("ms", 50)?,
        quantile("ms", 95)?,
    );
    let missed = figures["missed"].as_u64().unwrap_or_default();
    if missed > 0 {
        println!("{missed} keys have not moved the avatar within 2 s");
    }
    Ok(())
}
