//! The page for operators, in real browsers.

use ambit_tests::real::{Browser, BrowserEngine, BrowserKind, Console, ScratchFolder, Server};
use anyhow::{Context as _, Result, bail};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use crate::operators::{LOOK, OPERATE, ask, start_with_keys};

/// For each script: waiting, buttons and links by their texts, fields by their labels. What is
/// waited for may be gone a moment later, so elements are looked for again and again.
const HELPERS: &str = r#"
    const until = async (test) => {
      for (;;) {
        const found = test();
        if (found) return found;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const place = () => document.querySelector("dialog[open]") ?? document.body;
    const named = (text) => [...place().querySelectorAll("button, a")]
      .find((it) => it.textContent.trim() === text && !it.disabled && it.getClientRects().length);
    const press = async (text) => (await until(() => named(text))).click();
    const fill = async (label, value) => {
      const found = await until(() => [...place().querySelectorAll("label")]
        .find((it) => it.textContent === label));
      document.getElementById(found.htmlFor).value = value;
    };
    const read = (text) => until(() => document.body.innerText.includes(text));
    const gone = (text) => until(() => !document.body.innerText.includes(text));
"#;

/// The page of an operator.
struct Operator(Browser);

impl Operator {
    async fn open(scratch: &ScratchFolder, server: &Server, engine: BrowserEngine) -> Result<Self> {
        Self::open_at(scratch, server, engine, "#players").await
    }

    async fn open_at(
        scratch: &ScratchFolder,
        server: &Server,
        engine: BrowserEngine,
        view: &str,
    ) -> Result<Self> {
        let kind = BrowserKind { engine, ..BrowserKind::default() };
        let browser = Browser::start_as(scratch, kind).await?;
        browser.open(&format!("http://{}/watch{view}", server.http)).await?;
        Ok(Self(browser))
    }

    /// Runs the body of an async function with the helpers.
    async fn does(&self, what: &str) -> Result<Json> {
        let done = self.0.run(&format!("{HELPERS}{what}"), json!(null)).await;
        done.with_context(|| what.to_owned())
    }
}

#[test]
fn an_operator_watches_and_acts_with_chromium() -> Result<()> {
    watch_and_act(BrowserEngine::Chromium)
}

/// Signs in, and does what operators do to players, with consoles as these.
pub(crate) fn watch_and_act(engine: BrowserEngine) -> Result<()> {
    let scratch = ScratchFolder::new(&format!("watch-{engine:?}"));
    let server = start_with_keys(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &["--account", "off"])?;
    Runtime::new()?.block_on(async {
        let page = Operator::open(&scratch, &server, engine).await?;
        page.does("await fill('Key', 'a wrong key'); await press('Sign in');").await?;
        page.does("await read('No operator of this server has this key.');").await?;
        let sign_in = format!("await fill('Key', '{OPERATE}'); await press('Sign in');");
        page.does(&sign_in).await?;

        page.does("await press('ann'); await press('Mute');").await?;
        let reason = "await fill('Reason, which the player reads',";
        page.does(&format!("{reason} 'caps'); await press('Mute ann');")).await?;
        page.does("await read('ann is muted.'); await read('End the mute');").await?;
        let told = ann.run_command("say hello", "error")?;
        assert!(told.to_string().contains("caps"), "{told}");
        let kick = format!("await press('Kick'); {reason} 'enough'); await press('Kick ann');");
        page.does(&kick).await?;
        let told = ann.wait_for("error")?;
        assert!(told.to_string().contains("an operator put you out: enough"), "{told}");
        page.does("await read('Not there any more.');").await?;

        // A player who comes while the page is open appears in it.
        let mut bob = Console::start(&scratch, server.world, "bob", &["--account", "off"])?;
        page.does("await press('bob'); await press('Ban'); await press('Ban bob');").await?;
        bob.wait_for("error")?;
        page.does("location.hash = '#bans'; await read('127.0.0.1'); await press('End');").await?;
        page.does("await press('End the ban'); await read('Nobody is banned.');").await?;

        page.does("location.hash = '#server'; await press('Shut down…');").await?;
        page.does("await press('Shut down'); await read('Shuts down in 9:');").await?;
        page.does("await press('Call off'); await press('Call off');").await?;
        page.does("await read('In service');").await?;
        // A chart has lines from its second sample on.
        page.does("location.hash = '#overview'; await read('Nothing needs attention.');").await?;
        page.does("await until(() => document.querySelector('.chart .line'));").await?;
        page.does("await press('Sign out'); await gone('In service');").await?;
        page.0.close().await
    })
}

#[test]
fn an_operator_looks_at_a_map_through_a_player_with_chromium() -> Result<()> {
    look_from_above(BrowserEngine::Chromium)
}

/// Looks at a map from above, through a player, at what it sees and why.
pub(crate) fn look_from_above(engine: BrowserEngine) -> Result<()> {
    let scratch = ScratchFolder::new(&format!("watch-map-{engine:?}"));
    let server = start_with_keys(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create den game=shooter", "created")?;
    ann.run_command("start", "started")?;
    ann.wait_for("enter")?;
    Runtime::new()?.block_on(async {
        let page = Operator::open(&scratch, &server, engine).await?;
        page.does(&format!("await fill('Key', '{LOOK}'); await press('Sign in');")).await?;
        page.does("await press('ann'); await press('What this player sees');").await?;
        page.does("await read('Objects in its sight'); await read('Its line may carry');").await?;
        // The own ship is in the middle of its cell or near it: a click there says why it is seen.
        let click = r#"
            const canvas = document.querySelector("canvas.above");
            await until(() => canvas.getAttribute("aria-label")?.endsWith("what ann has"));
            const box = canvas.getBoundingClientRect();
            const found = () => document.body.innerText.includes("own avatar");
            for (let y = box.top + 4; y < box.bottom && !found(); y += 12) {
              for (let x = box.left + 4; x < box.right && !found(); x += 12) {
                for (const name of ["pointerdown", "pointerup"]) {
                  const at = { pointerId: 1, clientX: x, clientY: y, bubbles: true };
                  canvas.dispatchEvent(new PointerEvent(name, at));
                }
                if (!document.body.innerText.includes("Chosen object")) continue;
                await new Promise((resolve) => setTimeout(resolve, 700));
              }
            }
            await read("it is the player's own avatar");
        "#;
        page.does(click).await?;
        page.does("await press('Load'); await press('Closer'); await press('Whole map');").await?;
        page.does("await press('all that is there'); await gone('Its line may carry');").await?;
        // A link may name a player who is not there.
        page.does("location.hash += '&player=999';").await?;
        page.does("await read('there is no player with the id 999');").await?;
        page.0.close().await
    })
}

#[test]
fn a_guest_who_opens_a_map_reads_that_it_needs_a_key_with_chromium() -> Result<()> {
    open_a_map_as_guest(BrowserEngine::Chromium)
}

/// Opens the link to a map without a key, then signs in.
pub(crate) fn open_a_map_as_guest(engine: BrowserEngine) -> Result<()> {
    let scratch = ScratchFolder::new(&format!("watch-map-guest-{engine:?}"));
    let server = start_with_keys(&scratch, &["--watch-guests"])?;
    Runtime::new()?.block_on(async {
        let page = Operator::open_at(&scratch, &server, engine, "#map=1").await?;
        page.does("await read('Maps are for those with a key'); await read('Guest');").await?;
        page.does("await press('Sign in');").await?;
        page.does(&format!("await fill('Key', '{LOOK}'); await press('Sign in');")).await?;
        page.does("await read('Map 1'); await gone('Maps are for those with a key');").await?;
        page.0.close().await
    })
}

#[test]
fn guests_see_games_but_no_addresses_and_change_nothing() -> Result<()> {
    let scratch = ScratchFolder::new("watch-guests");
    let server = start_with_keys(&scratch, &["--watch-guests"])?;
    let _ann = Console::start(&scratch, server.world, "ann", &[])?;
    let get = |path: &str| -> Result<Json> {
        let (status, text) = server.get(&format!("/admin/v1{path}"))?;
        if status != 200 {
            bail!("{path}: {status} {text}");
        }
        Ok(serde_json::from_str(&text)?)
    };
    let me = json!({ "name": "guest", "role": "look", "guest": true });
    assert_eq!(get("/whoami")?, me);
    let players = get("/players")?;
    let seen = &players["players"][0];
    assert_eq!(seen["name"], "ann");
    assert!(seen.get("address").is_none() && seen.get("account").is_none(), "{seen}");
    let (_, whole) = ask(&server, LOOK, "GET /players", &Json::Null)?;
    assert_eq!(whole["players"][0]["address"], "127.0.0.1");
    let history = get("/history")?;
    assert!(history["at"].as_array().is_some_and(|times| !times.is_empty()), "{history}");
    assert_eq!(get("/server")?["players"], 1);
    let id = &seen["id"];
    let answer = server.request_with("POST", &format!("/admin/v1/players/{id}/kick"), "", "{}")?;
    assert_eq!(answer.status, 401);
    let wrong = "Authorization: Bearer of-nobody-0123456789\r\n";
    assert_eq!(server.request_with("GET", "/admin/v1/players", wrong, "")?.status, 401);
    Ok(())
}
