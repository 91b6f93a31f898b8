//! The game `deus`, played by bots and a console.

use ambit_tests::real::{BotCrowd, Console, ScratchFolder, Server, wait_until};
use anyhow::{Context, Result};
use serde_json::Value;

const BOTS: usize = 8;

#[test]
fn bots_and_a_console_fight_two_waves_and_share_a_chest() -> Result<()> {
    let scratch = ScratchFolder::new("heroes");
    let server = Server::start(&scratch, &[])?;
    let game = ["--game", "deus", "--profile", "deus", "--param", "size=60x60"];
    let line = ["--impair", "loss=5,delay=40ms,jitter=10ms,seed=1", "--capacity", "12"];
    let flags = [&game[..], &line].concat();
    let mut bots = BotCrowd::start(&scratch, server.world, "cellar", BOTS, &flags)?;
    bots.wait_until_measuring()?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let listed = ann.run_command("rooms", "rooms")?;
    let id = listed["rooms"][0]["id"].clone();
    ann.run_command(&format!("join {id}"), "started")?;
    // Whoever comes later may still choose; a spell of another class is refused by name.
    ann.type_in("choose mage")?;
    wait_until("the own row", || {
        let own = rows(&mut ann, "score")?.into_iter().find(|row| row["own"] == true);
        Ok(own.filter(|row| row["components"]["class"] == "mage"))
    })?;
    let refused = ann.run_command("cast strike", "error")?;
    assert_eq!(refused["code"], "other_class", "{refused}");
    let loot = ann.wait_until("loot", |event| event["name"] == "loot")?;
    assert!(loot["item"].as_str().is_some_and(|item| !item.is_empty()), "{loot}");
    wait_until("the second wave", || {
        let course = rows(&mut ann, "course")?.into_iter().next().context("a course")?;
        Ok((course["components"]["wave"].as_i64() >= Some(2)).then_some(()))
    })?;
    let all = rows(&mut ann, "score")?;
    let sum =
        |key: &str| -> i64 { all.iter().filter_map(|row| row["components"][key].as_i64()).sum() };
    assert_eq!(all.len(), BOTS + 1);
    // Each kill is gold for each living hero.
    assert!(sum("kills") >= 4 && sum("gold") >= 3 * sum("kills"), "{all:?}");
    println!("{BOTS} bots: {}", bots.finish()?);
    Ok(())
}

fn rows(console: &mut Console, kind: &str) -> Result<Vec<Value>> {
    let table = console.run_command("table", "table")?;
    let rows = table["rows"].as_array().context("rows")?;
    Ok(rows.iter().filter(|row| row["kind"] == kind).cloned().collect())
}
