//! The account of a browser: the same tomorrow, in the game, and in other clients.

use ambit_client::AccountId;
use ambit_tests::real::page::Page;
use ambit_tests::real::{Browser, ScratchFolder, Server};
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::sign_ins::{key_set, signed};

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
    (await until(() => button(args.button))).click();
    return await read;";

const PASSWORD: &str = "correct horse";
const NEW_PASSWORD: &str = "battery staple";
const WHAT_THE_DIALOG_SAYS: &str = "document.querySelector('dialog[open]')?.innerText";

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
        let text = ann.run(SAVED, json!({ "button": "Save a copy" })).await?;
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

#[test]
fn a_player_signs_in_with_a_password_changes_it_and_deletes_the_account() -> Result<()> {
    let scratch = ScratchFolder::new("pages-password");
    let server = Server::start(&scratch, &["--accounts", "guest,device,password"])?;
    let known_hosts = scratch.path().join("known_hosts");
    Runtime::new()?.block_on(async {
        let connect = async |login: &str, password: &str| {
            let connect = ambit_client::connect(server.world.to_string());
            connect.known_hosts(&known_hosts).password(login, password).await
        };
        let ann = Page::open(&scratch, &server, "ann").await?;
        let of_browser = account_of(&ann).await?.context("an account")?;

        // A new account.
        open_dialog(&ann).await?;
        ann.press("Sign in with a password").await?;
        choose(&ann, "Make a new account").await?;
        ann.fill("Your name", "ann").await?;
        ann.fill("Password", PASSWORD).await?;
        ann.press("Make the account").await?;
        let login = "document.querySelector('dialog .login code')?.innerText";
        let login = ann.wait_for("the login", login, json!({})).await?;
        let login = login.as_str().context("a text")?.to_owned();
        ensure!(login.starts_with("ann#"), "{login}");
        ann.press("OK").await?;
        let account = account_of(&ann).await?.context("an account")?;
        ensure!(account != of_browser);

        // What the server has of it, and another password.
        open_dialog(&ann).await?;
        let dialog = ann.wait_for("the dialog", WHAT_THE_DIALOG_SAYS, json!({})).await?;
        let said = dialog.as_str().unwrap_or_default();
        ensure!(said.contains(&login) && said.contains(&account), "{said}");
        unfold(&ann, "What the server stores about you").await?;
        let shown = "document.querySelector('dialog pre')?.innerText.includes(args.login)";
        ann.wait_for("the data", shown, json!({ "login": login })).await?;
        let text = ann.run(SAVED, json!({ "button": "Save it as a file" })).await?;
        let saved: serde_json::Value = serde_json::from_str(text.as_str().context("a text")?)?;
        assert_eq!(saved["password"]["login"], login.as_str());
        unfold(&ann, "Change the password").await?;
        for (old, said) in [("wrong horse", "is wrong"), (PASSWORD, "counts from now on")] {
            ann.fill("Password", old).await?;
            ann.fill("New password", NEW_PASSWORD).await?;
            ann.press("Change the password").await?;
            let shown = format!("{WHAT_THE_DIALOG_SAYS}.includes(args.said)");
            ann.wait_for(said, &shown, json!({ "said": said })).await?;
        }
        ensure!(connect(&login, PASSWORD).await.is_err(), "the old password");

        // Loaded again, the page goes on; tomorrow it asks for the password.
        let player = player_of(&ann).await?;
        reload(&ann).await?;
        assert_eq!(player_of(&ann).await?, player);
        ann.run("await ambit().client.quit();", json!({})).await?;
        ann.reload().await?;
        for password in [PASSWORD, NEW_PASSWORD] {
            ann.fill("Password", password).await?;
            ann.press("Sign in").await?;
            if password == PASSWORD {
                let refused = "document.querySelector('dialog .refusal:not([hidden])')?.innerText";
                ann.wait_for("a refusal", refused, json!({})).await?;
            }
        }
        ann.wait_for("a connection", "ambit().client?.isConnected", json!({})).await?;
        assert_eq!(account_of(&ann).await?.as_ref(), Some(&account));

        // Deleted, after the player's own name.
        open_dialog(&ann).await?;
        unfold(&ann, "What the server stores about you").await?;
        ann.press("Delete the account…").await?;
        ann.fill("The server deletes", "bob").await?;
        ann.press("OK").await?;
        let refused = format!("{WHAT_THE_DIALOG_SAYS}.includes('nothing is deleted')");
        ann.wait_for("a refusal", &refused, json!({})).await?;
        connect(&login, NEW_PASSWORD).await?.quit().await;
        ann.fill("The server deletes", "ann").await?;
        ann.press("OK").await?;
        wait_for_account(&ann, Some(&of_browser)).await?;
        ensure!(connect(&login, NEW_PASSWORD).await.is_err(), "it is deleted");
        ann.close().await
    })
}

#[test]
fn where_all_players_sign_in_the_page_begins_with_that() -> Result<()> {
    let scratch = ScratchFolder::new("pages-password-only");
    let server = Server::start(&scratch, &["--accounts", "password"])?;
    Runtime::new()?.block_on(async {
        let browser = Browser::start(&scratch).await?;
        let ann = Page::open_unconnected(browser, &server, "ann").await?;
        let said = ann.wait_for("the dialog", WHAT_THE_DIALOG_SAYS, json!({})).await?;
        let said = said.as_str().unwrap_or_default();
        ensure!(!said.contains("without signing in") && !said.contains("Token"), "{said}");
        choose(&ann, "Make a new account").await?;
        ann.fill("Your name", "ann").await?;
        ann.fill("Password", PASSWORD).await?;
        ann.press("Make the account").await?;
        ann.wait_for("a connection", "ambit().client?.isConnected", json!({})).await?;
        // Signed out, the page begins so again.
        ann.press("OK").await?;
        open_dialog(&ann).await?;
        ann.press("Sign out").await?;
        let again = "globalThis.isOld === undefined && !!button('Sign in')";
        wait_for_reload(&ann, again, json!({})).await?;
        ann.close().await
    })
}

/// Clicks on a checkbox.
async fn choose(page: &Page, label: &str) -> Result<()> {
    let script = "(await until(() => field(args.label))).click();";
    page.run(script, json!({ "label": label })).await.map(drop)
}

/// Opens what is folded under these words.
async fn unfold(page: &Page, summary: &str) -> Result<()> {
    let script = "(await until(() => [...document.querySelectorAll('summary')]
        .find(it => it.innerText === args.summary))).click();";
    page.run(script, json!({ "summary": summary })).await.map(drop)
}

#[test]
fn a_player_signs_in_with_a_token_of_the_operator_s_service() -> Result<()> {
    let scratch = ScratchFolder::new("pages-token");
    let keys = scratch.path().join("keys.json");
    std::fs::write(&keys, key_set(1).to_string())?;
    let keys = keys.to_str().context("a plain path")?;
    let flags = ["--accounts", "guest,token", "--token-keys", keys, "--token-audience", "here"];
    let server = Server::start(&scratch, &flags)?;
    Runtime::new()?.block_on(async {
        let ann = Page::open(&scratch, &server, "ann").await?;
        assert_eq!(account_of(&ann).await?, None);
        open_dialog(&ann).await?;
        ann.press("Sign in with a token").await?;
        for (token, is_taken) in
            [(signed(1, "ann", "elsewhere")?, false), (signed(1, "ann", "here")?, true)]
        {
            ann.fill("Token", &token).await?;
            ann.press("Sign in with the token").await?;
            if !is_taken {
                let refused = "document.querySelector('dialog .refusal:not([hidden])')?.innerText";
                let why = ann.wait_for("a refusal", refused, json!({})).await?;
                let why = why.as_str().unwrap_or_default();
                ensure!(why.contains("does not accept this token"), "{why}");
                assert_eq!(account_of(&ann).await?, None);
            }
        }
        wait_for_reload(&ann, "!!ambit().client?.account", json!({})).await?;
        let account = account_of(&ann).await?.context("an account")?;
        // The same at once in another browser, and the token is nowhere in the page's memory.
        let other = Page::open(&scratch, &server, "eve").await?;
        open_dialog(&other).await?;
        other.press("Sign in with a token").await?;
        other.fill("Token", &signed(1, "ann", "here")?).await?;
        other.press("Sign in with the token").await?;
        wait_for_reload(&other, "!!ambit().client?.account", json!({})).await?;
        assert_eq!(account_of(&other).await?, Some(account));
        let kept = "return JSON.stringify({ ...localStorage, ...sessionStorage });";
        let kept = other.run(kept, json!({})).await?;
        ensure!(!kept.as_str().unwrap_or_default().contains("eyJ"), "{kept}");
        ann.close().await?;
        other.close().await
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
    let waiting = wait_for_reload(page, there, json!({ "account": account })).await;
    waiting.with_context(|| format!("the account {account:?}"))
}

/// Waits until this is true in the page, which loads itself again meanwhile.
async fn wait_for_reload(page: &Page, there: &str, args: serde_json::Value) -> Result<()> {
    let script = format!(
        "const end = performance.now() + 1_000;
        while (performance.now() < end && !({there})) await nextFrame();
        return {there};"
    );
    for _ in 0..30 {
        // The script ends with the page.
        let waiting = page.run(&script, args.clone());
        if waiting.await.is_ok_and(|is_there| is_there == json!(true)) {
            return Ok(());
        }
    }
    anyhow::bail!("the page has not come back as expected")
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
