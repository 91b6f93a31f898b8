//! A program of an author's own is server, console, bots and replay at once.

use std::process::{Command, Output};

use ambit_tests::real::{self, Console, ScratchFolder, Server, binary};
use anyhow::{Context as _, Result};
use serde_json::{Value as Json, json};

#[test]
fn one_program_serves_plays_and_replays_its_own_game() -> Result<()> {
    let scratch = ScratchFolder::new("subcommands");
    let folder = scratch.path().to_str().context("a plain path")?;
    let server = Server::start_with_test_games(&scratch, &["--record", folder])?;
    let address = server.world.to_string();
    let script = scratch.path().join("script");
    std::fs::write(&script, "create den game=greeting\nstart\nwait-for enter 5s\nleave\n")?;
    let script = script.to_str().context("a plain path")?;
    let played =
        run(&scratch, &["console", "--server", &address, "--name", "ann", "--script", script])?;
    let lines = text(&played);
    assert!(lines.contains(r#""kind":"walker""#), "{lines}");
    let bots = ["bots", "--server", &address, "--game", "greeting", "--count", "2"];
    // By default they do what fits the game.
    let played = run(&scratch, &[&bots[..], &["--seconds", "1"]].concat())?;
    assert!(played.status.success(), "{}", text(&played));
    assert!(text(&played).contains("commands for reasons of the game"), "{}", text(&played));
    let crowd = run(&scratch, &[&bots[..], &["--seconds", "1", "--profile", "crowd"]].concat())?;
    assert!(text(&crowd).contains("no command to walk to a place"), "{}", text(&crowd));
    // The room says which game it is.
    let mut host = Console::start(&scratch, server.world, "bob", &[])?;
    host.run_command("create den game=greeting", "created")?;
    let misfit = ["bots", "--server", &address, "--room", "den", "--profile", "shooter"];
    let misfit = run(&scratch, &[&misfit[..], &["--count", "2", "--seconds", "1"]].concat())?;
    assert_eq!(misfit.status.code(), Some(2), "{}", text(&misfit));
    assert!(text(&misfit).contains("not for `greeting`"), "{}", text(&misfit));
    drop(host);
    assert_eq!(server.terminate()?, Some(0));

    let recordings = std::fs::read_dir(scratch.path())?.flatten().map(|entry| entry.path());
    let recording =
        recordings.into_iter().find(|path| path.extension().is_some_and(|e| e == "rec"));
    let recording = recording.context("a recording")?;
    let recording = recording.to_str().context("a plain path")?;
    let [first, second] = [(); 2].map(|()| run(&scratch, &["replay", recording]));
    let first = first?;
    let second = second?;
    assert!(text(&first).contains("game greeting") && text(&first).contains("ran until"));
    assert_eq!(text(&first), text(&second));

    // As it was written, or not at all.
    let bytes = std::fs::read(recording)?;
    let refuse = |bytes: &[u8], why: &str| {
        std::fs::write(recording, bytes)?;
        let refused = run(&scratch, &["replay", recording])?;
        assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
        assert!(text(&refused).contains(why), "{}", text(&refused));
        run(&scratch, &["replay", "--unfinished", recording])
    };
    let end = bytes.len() - 20;
    let killed = refuse(&bytes[..end], "its server was killed, or the file was cut, after")?;
    assert!(killed.status.success(), "{}", text(&killed));
    assert!(text(&killed).contains("unfinished       the recording has no end"));
    let hash = |output: &Output| {
        let lines = text(output);
        let hash = lines.lines().find(|line| line.starts_with("datagrams' hash"));
        hash.map(str::to_owned)
    };
    assert_eq!(hash(&killed), hash(&first));
    let cut = refuse(&bytes[..end - 1], "the recording ends within entry ")?;
    assert!(cut.status.success(), "{}", text(&cut));
    let mut changed = bytes.clone();
    changed[end / 2] ^= 1;
    let changed = refuse(&changed, " was changed: its checksum does not fit")?;
    assert_eq!(changed.status.code(), Some(1), "{}", text(&changed));

    let help = run(&scratch, &["--help"])?;
    for name in ["console", "bots", "replay FILE"] {
        assert!(text(&help).contains(name), "{}", text(&help));
    }
    let unknown = run(&scratch, &["replay", "/nowhere/room-1.rec"])?;
    assert_eq!(unknown.status.code(), Some(1), "{}", text(&unknown));
    Ok(())
}

#[test]
fn a_program_prints_what_its_games_declare_and_makes_a_new_game() -> Result<()> {
    let scratch = ScratchFolder::new("subcommands-new");
    let declared = run(&scratch, &["schema", "greeting"])?;
    let declared: Json = serde_json::from_slice(&declared.stdout)?;
    assert_eq!(
        (&declared["game"], &declared["kinds"][0]["name"]),
        (&json!("greeting"), &json!("walker"))
    );
    // It has several, so one has to be named.
    for wrong in [&["schema"][..], &["schema", "chess"], &["schema", "greeting", "more"]] {
        let refused = run(&scratch, wrong)?;
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused).contains("greeting"), "{}", text(&refused));
    }

    let folder = scratch.path().join("deep-wood");
    let new = folder.to_str().context("a plain path")?;
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let made = run(&scratch, &["new", new, "--ambit", repository])?;
    assert!(made.status.success(), "{}", text(&made));
    assert!(text(&made).contains("cargo run --release"), "{}", text(&made));
    let written = |file: &str| std::fs::read_to_string(folder.join(file));
    assert!(written("src/main.rs")?.contains("ambit::serve::<deep_wood::Gather>"));
    assert!(written("src/lib.rs")?.contains(r#"GameInfo::new("deep-wood","#));
    assert!(written("deep-wood.service")?.contains("ExecStart=/usr/local/bin/deep-wood "));
    assert!(written("Cargo.lock")?.contains("ambit"));
    // What is there is never replaced.
    std::fs::write(folder.join("src/lib.rs"), "mine")?;
    let again = run(&scratch, &["new", new])?;
    assert!(!again.status.success() && text(&again).contains("exists already"));
    assert_eq!(written("src/lib.rs")?, "mine");
    let nowhere = run(&scratch, &["new", &format!("{new}-2"), "--ambit", "/nowhere"])?;
    assert!(!nowhere.status.success() && text(&nowhere).contains("/nowhere"));
    assert!(!scratch.path().join("deep-wood-2").exists());
    Ok(())
}

fn run(scratch: &ScratchFolder, arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new(binary("test-server"));
    scratch.confine(&mut command);
    real::output(command.args(arguments))
}

fn text(output: &Output) -> String {
    let [out, errors] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    format!("{out}{errors}")
}
