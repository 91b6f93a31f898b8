//! The best results of a game, in the lobby of a real browser.

use std::thread;

use ambit_tests::real::page::Page;
use ambit_tests::real::{Console, HttpAnswer, ScratchFolder, Server, wait_until};
use anyhow::{Result, ensure};
use serde_json::json;
use tokio::runtime::Runtime;

const CUPS: &str = "[...document.querySelectorAll('.game-place .cup')].filter(cup => !cup.hidden)";
const ROWS: &str = "[...document.querySelectorAll('dialog.top-lists tbody tr')].map(row =>
    [...row.children].slice(0, 3).map(cell => cell.innerText.trim()))";

#[test]
fn the_page_shows_the_best_results_of_a_game() -> Result<()> {
    let scratch = ScratchFolder::new("pages-top-lists");
    let server = Server::start_with_test_games(&scratch, &["--hosts", "process:1"])?;
    // A name that is markup stays text.
    let mut eve = Console::start(&scratch, server.world, "<img src=x>", &[])?;
    eve.run_command("create den game=wallet", "created")?;
    eve.run_command("start", "started")?;
    for points in [7, 30, 12] {
        eve.type_in(&format!("win {points}"))?;
    }
    wait_until("the results", || {
        let list = server.get("/results.json?game=wallet&board=winners")?.1;
        Ok(list.contains("30").then_some(()))
    })?;
    // The store has a few requests at a time; the others wait for their turn.
    let http = server.http;
    let ask = move || {
        let headers = format!("Host: {http}\r\n");
        HttpAnswer::ask(http, "GET", "/results.json?game=wallet", &headers, "")
    };
    let asked: Vec<_> = (0..32).map(|_| thread::spawn(ask)).collect();
    for answer in asked {
        assert_eq!(answer.join().expect("no panic")?.status, 200);
    }
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        let cups = format!("{CUPS}.length === 1 || undefined");
        ann.wait_for("the cup of the game with results", &cups, json!({})).await?;
        ann.run(&format!("{CUPS}[0].click();"), json!({})).await?;
        let rows = ann.wait_for("a row", &format!("{ROWS}.length && {ROWS}"), json!({})).await?;
        assert_eq!(rows, json!([["1", "<img src=x>", "30"]]));
        let markup = ann.run("return document.querySelectorAll('dialog img').length;", json!({}));
        assert_eq!(markup.await?, json!(0));
        let week = "return document.querySelector('dialog.top-lists input[value=week]').checked;";
        ensure!(ann.run(week, json!({})).await? == json!(true), "this week comes first");
        ann.close().await
    })?;
    eve.quit()?;
    Ok(())
}
