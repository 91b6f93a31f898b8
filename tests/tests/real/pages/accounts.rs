//! The account of a browser: the same tomorrow, in the game, and in other clients.

use ambit_client::AccountId;
use ambit_tests::real::page::Page;
use ambit_tests::real::{Browser, ScratchFolder, Server};
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tokio::runtime::Runtime;

/// The account that the game shows for the own avatar.
const IN_GAME: &str = "(frame => {
    for (let index = 0; index < (frame?.count ?? 0); index += 1)
      if (frame.isOwn(index)) return { account: frame.value(index, 'account') };
  })(ambit().game?.frame())";

/// The text of the file that the page saves. The browser has no place for downloads.
const SAVED: &str = "const read = new Promise(resolve => {
      const original = URL.createObjectURL;
      URL.createObjectURL = file => {
        resolve(file.text());
        return original.call(URL, file);
      };
    });
    (await until(() => button('Save a copy'))).click();
    return await read;";

#[test]
fn a_player_comes_back_with_the_same_account_and_takes_it_along() -> Result<()> {
    let scratch = ScratchFolder::new("pages-account");
    let server = Server::start_with_test_games(&scratch, &["--hosts", "process:1"])?;
    let copy = scratch.path().join("copy");
    let account = Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        let account = account_of(&ann).await?.context("an account")?;
        ensure!(account.len() == 32, "{account}");
        let create = "const room = await ambit().client.createRoom('den', 'greeting',
              { parameters: { size: '30x30' } });
            await room.start();";
        ann.run(create, json!({})).await?;
        let shown = ann.wait_for("the avatar", IN_GAME, json!({})).await?;
        assert_eq!(shown["account"], json!(account));

        // Loaded again, the page goes on with its session.
        let player = player_of(&ann).await?;
        reload(&ann).await?;
        assert_eq!(player_of(&ann).await?, player);
        assert_eq!(account_of(&ann).await?.as_ref(), Some(&account));
        // Tomorrow it is another session.
        ann.run("await ambit().client.quit();", json!({})).await?;
        reload(&ann).await?;
        ensure!(player_of(&ann).await? != player, "the session has ended");
        assert_eq!(account_of(&ann).await?.as_ref(), Some(&account));

        // Another browser has another account, until it gets a copy of this one.
        let other = Page::open_in(Browser::start(&scratch).await?, &server, "eve").await?;
        let others = account_of(&other).await?.context("an account")?;
        ensure!(others != account);
        open_dialog(&ann).await?;
        let text = ann.run(SAVED, json!({})).await?;
        let text = text.as_str().context("a text")?.to_owned();
        std::fs::write(&copy, &text)?;
        open_dialog(&other).await?;
        other.fill("Use another account", "no account").await?;
        other.press("Use it").await?;
        let refused = "document.querySelector('dialog.account .refusal:not([hidden])')?.innerText";
        let why = other.wait_for("a refusal", refused, json!({})).await?;
        ensure!(why.as_str().unwrap_or_default().contains("this is no account"), "{why}");
        other.fill("Use another account", &text).await?;
        other.press("Use it").await?;
        wait_for_account(&other, Some(&account)).await?;

        // Who wants none has none, also after the page is loaded again.
        open_dialog(&other).await?;
        other.run("(await until(() => field('Play with an account'))).click();", json!({})).await?;
        wait_for_account(&other, None).await?;
        other.wait_for("what the button says", "!!button('No account')", json!({})).await?;
        other.run("await ambit().client.quit();", json!({})).await?;
        reload(&other).await?;
        assert_eq!(account_of(&other).await?, None);
        ann.close().await?;
        other.close().await?;
        Ok::<_, anyhow::Error>(account)
    })?;

    // The file is the account of a program, too.
    let connect = ambit_client::connect(server.world.to_string())
        .known_hosts(scratch.path().join("known_hosts"))
        .account_file(copy);
    let runtime = Runtime::new()?;
    let client = runtime.block_on(async { connect.await })?;
    assert_eq!(client.account().map(|id: AccountId| id.to_string()), Some(account));
    runtime.block_on(client.quit());
    Ok(())
}

#[test]
fn a_browser_that_cannot_sign_plays_without_an_account_and_says_why() -> Result<()> {
    let scratch = ScratchFolder::new("pages-no-account");
    let server = Server::start(&scratch, &[])?;
    Runtime::new()?.block_on(async {
        let browser = Browser::start(&scratch).await?;
        let old = "crypto.subtle.importKey = () => Promise.reject(new Error('no such algorithm'));";
        browser.prepare(old).await?;
        let ann = Page::open_in(browser, &server, "ann").await?;
        assert_eq!(account_of(&ann).await?, None);
        open_dialog(&ann).await?;
        let why = "document.querySelector('dialog.account')?.innerText";
        let why = ann.wait_for("the dialog", why, json!({})).await?;
        let why = why.as_str().unwrap_or_default();
        ensure!(why.contains("this browser cannot sign with Ed25519: no such algorithm"), "{why}");
        ann.close().await
    })
}

async fn account_of(page: &Page) -> Result<Option<String>> {
    let account = page.run("return ambit().client.account ?? null;", json!({})).await?;
    Ok(account.as_str().map(str::to_owned))
}

async fn player_of(page: &Page) -> Result<serde_json::Value> {
    page.run("return ambit().client.player;", json!({})).await
}

/// The page loads itself again, and has this account then.
async fn wait_for_account(page: &Page, account: Option<&str>) -> Result<()> {
    let there = "globalThis.isOld === undefined && ambit().client?.isConnected
        && (ambit().client.account ?? null) === args.account";
    let script = format!(
        "const end = performance.now() + 1_000;
        while (performance.now() < end && !({there})) await nextFrame();
        return {there};"
    );
    for _ in 0..30 {
        // The script ends with the page.
        let waiting = page.run(&script, json!({ "account": account }));
        if waiting.await.is_ok_and(|is_there| is_there == json!(true)) {
            return Ok(());
        }
    }
    anyhow::bail!("the page has not come back with the account {account:?}")
}

async fn open_dialog(page: &Page) -> Result<()> {
    let press = "globalThis.isOld = true;
        (await until(() => document.querySelector('form.name button.account'))).click();";
    page.run(press, json!({})).await.map(drop)
}

async fn reload(page: &Page) -> Result<()> {
    page.reload().await?;
    page.wait_for("a connection", "ambit().client?.isConnected", json!({})).await.map(drop)
}
