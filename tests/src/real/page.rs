//! A player in a browser: the page that the server serves, driven as a person would, and read
//! through its handle for developers, `globalThis.ambit`.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Browser, ScratchFolder, Server};

/// A page with a connected player.
pub struct Page {
    pub browser: Browser,
    url: String,
}

/// An object as the page shows it.
#[derive(Clone, Debug, Deserialize)]
pub struct ShownObject {
    pub id: u32,
    pub kind: String,
    /// The text beside it; empty if it has none.
    pub label: String,
    pub own: bool,
    /// Metres.
    pub x: f64,
    pub y: f64,
}

/// What the page shows at a time.
#[derive(Clone, Debug, Deserialize)]
pub struct ShownFrame {
    /// Room time in milliseconds.
    pub t: f64,
    pub objects: Vec<ShownObject>,
}

impl ShownFrame {
    /// The object with this text beside it.
    pub fn find(&self, label: &str) -> Option<&ShownObject> {
        self.objects.iter().find(|object| object.label == label)
    }
}

/// Functions for the scripts below.
const HELPERS: &str = r#"
    const ambit = () => globalThis.ambit ?? {};
    const shown = time => {
      const frame = ambit().game?.frame(time);
      if (!frame || frame.count === 0) return { t: 0, objects: [] };
      const objects = Array.from({ length: frame.count }, (_, index) => ({
        id: frame.id(index),
        kind: frame.kind(index).name,
        label: frame.label(index) ?? "",
        own: frame.isOwn(index),
        x: frame.x(index),
        y: frame.y(index),
      }));
      return { t: frame.time, objects };
    };
    const label = name => shown().objects.find(object => object.label === name);
    const isVisible = element => element.offsetParent !== null && !element.disabled;
    const button = name => [...document.querySelectorAll("button")].find(element =>
      isVisible(element) && [element.textContent.trim(), element.ariaLabel].includes(name));
    const field = name => [...document.querySelectorAll("label")]
      .map(label => label.control ?? label.querySelector("input, select"))
      .find(input => input && isVisible(input)
        && [...input.labels].some(label => label.textContent.trim().startsWith(name)));
    const nextFrame = () => new Promise(resolve => requestAnimationFrame(resolve));
    const until = async wanted => {
      for (;;) {
        const value = await wanted();
        if (value) return value;
        await nextFrame();
      }
    };
"#;

impl Page {
    /// Opens the page in a browser of its own and waits until it is connected. The page knows the
    /// name from an earlier visit.
    pub async fn open(scratch: &ScratchFolder, server: &Server, name: &str) -> Result<Self> {
        Self::open_in(Browser::start(scratch).await?, server, name).await
    }

    /// The same, in this browser.
    pub async fn open_in(browser: Browser, server: &Server, name: &str) -> Result<Self> {
        let page = Self::open_unconnected(browser, server, name).await?;
        page.wait_for("a connection", "ambit().client?.isConnected", json!({})).await?;
        Ok(page)
    }

    /// The same, and does not wait for a connection.
    pub async fn open_unconnected(browser: Browser, server: &Server, name: &str) -> Result<Self> {
        let url = format!("http://{}/", server.http);
        // A page of the same origin, which does not connect.
        browser.open(&format!("{url}icon.svg")).await?;
        browser
            .run("localStorage.setItem('ambit-name', args.name)", json!({ "name": name }))
            .await?;
        browser.open(&url).await?;
        Ok(Self { browser, url })
    }

    /// Opens the page of a replay, at the address that its program has printed.
    pub async fn open_replay(browser: Browser, url: &str) -> Result<Self> {
        browser.open(url).await?;
        Ok(Self { browser, url: url.to_owned() })
    }

    /// Runs the body of an async function, with `args` and the functions above.
    pub async fn run(&self, body: &str, args: Json) -> Result<Json> {
        self.browser.run(&format!("{HELPERS}{body}"), args).await
    }

    /// Waits until an expression is true; looks at each frame that the page draws.
    pub async fn wait_for(&self, what: &str, expression: &str, args: Json) -> Result<Json> {
        let script = format!("return until(() => {expression});");
        let waiting = self.run(&script, args);
        waiting.await.with_context(|| format!("waiting for {what}"))
    }

    /// Presses a button as soon as it exists, by its text or its label.
    pub async fn press(&self, name: &str) -> Result<()> {
        let script = "(await until(() => button(args.name))).click();";
        let pressed = self.run(script, json!({ "name": name })).await;
        pressed.map(drop).with_context(|| format!("the button '{name}'"))
    }

    /// Types a text into the input of a label, or sets a slider.
    pub async fn fill(&self, name: &str, text: &str) -> Result<()> {
        let script = "const input = await until(() => field(args.name));
            input.value = args.text;
            input.dispatchEvent(new Event('input', { bubbles: true }));
            input.dispatchEvent(new Event('change', { bubbles: true }));";
        let args = json!({ "name": name, "text": text });
        let filled = self.run(script, args).await;
        filled.map(drop).with_context(|| format!("the input '{name}'"))
    }

    /// Waits until the player's avatar is shown.
    pub async fn wait_for_avatar(&self) -> Result<ShownObject> {
        let own = "shown().objects.find(object => object.own)";
        Ok(serde_json::from_value(self.wait_for("the avatar", own, json!({})).await?)?)
    }

    /// Waits until an object with this text is shown.
    pub async fn wait_for_label(&self, name: &str) -> Result<ShownObject> {
        let object = self.wait_for(name, "label(args.name)", json!({ "name": name }));
        Ok(serde_json::from_value(object.await?)?)
    }

    /// Waits until no object has this text.
    pub async fn wait_until_gone(&self, name: &str) -> Result<()> {
        let gone = "ambit().game && !label(args.name)";
        self.wait_for(name, gone, json!({ "name": name })).await?;
        Ok(())
    }

    /// Gives a command; returns its number.
    pub async fn send(&self, name: &str, values: Json) -> Result<Json> {
        let script = "return ambit().game.send(args.name, ...args.values);";
        let args = json!({ "name": name, "values": values });
        self.run(script, args).await
    }

    /// What the frames of the next seconds show.
    pub async fn watch(&self, seconds: u32) -> Result<Vec<ShownFrame>> {
        let script = "const frames = [];
            const end = performance.now() + args.seconds * 1_000;
            while (performance.now() < end) frames.push(shown(await nextFrame()));
            return frames;";
        let frames = self.run(script, json!({ "seconds": seconds })).await?;
        Ok(serde_json::from_value(frames)?)
    }

    /// All that can be read on the page.
    pub async fn text(&self) -> Result<String> {
        let text = self.run("return document.body.innerText;", json!({})).await;
        Ok(text?.as_str().unwrap_or_default().to_owned())
    }

    /// Loads the page again.
    pub async fn reload(&self) -> Result<()> {
        self.browser.open(&self.url).await
    }

    /// Ends the browser.
    pub async fn close(self) -> Result<()> {
        self.browser.close().await
    }
}
