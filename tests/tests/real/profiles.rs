//! Profiles of players with real processes: rooms change, hosts and servers die, and each piece of
//! gold is there once.

use std::process::Command;

use ambit_tests::real::{
    Console, ScratchFolder, Server, binary, outlast_suspicion, run, server_signal, wait_until,
};
use anyhow::{Context, Result, ensure};
use serde_json::Value;

#[test]
fn gold_goes_from_room_to_room_and_survives_hosts_and_a_stop() -> Result<()> {
    let scratch = ScratchFolder::new("profiles");
    let flags = ["--hosts", "process:2"];
    let mut server = Server::start_with_test_games(&scratch, &flags)?;
    let (mut ann, mut bob) =
        (Miner::start(&server, "rooms", "ann")?, Miner::start(&server, "rooms", "bob")?);
    ann.begin("den")?;
    bob.console.run_command("join den", "started")?;
    ann.dig(10)?;
    ann.give(4)?;
    bob.expect(4)?;
    // Children with rooms are replaced; the room goes on at the other one.
    for (child, given) in server.children().into_iter().zip(5..) {
        outlast_suspicion();
        server_signal(child, "KILL")?;
        ann.give(1)?;
        bob.expect(given)?;
    }
    ann.expect(4)?;
    // Another room has the gold at once, though the first one goes on.
    bob.console.run_command("leave", "left")?;
    bob.begin("cave")?;
    bob.expect(6)?;
    bob.dig(2)?;
    bob.expect(8)?;
    // Nothing is written at this moment but by the end of the rooms.
    server_signal(server.id(), "TERM")?;
    server.wait()?;
    assert_eq!((ann.stored(&scratch)?, bob.stored(&scratch)?), (4, 8));
    server = Server::start_with_test_games(&scratch, &flags)?;
    let mut bob = bob.again(&server)?;
    bob.begin("cave")?;
    bob.expect(8)?;
    Ok(())
}

#[test]
fn no_gold_is_lost_or_doubled_when_the_server_dies_while_it_is_given() -> Result<()> {
    let scratch = ScratchFolder::new("profiles-killed");
    let flags = ["--hosts", "process:1"];
    let mut server = Server::start_with_test_games(&scratch, &flags)?;
    let (mut ann, mut bob) =
        (Miner::start(&server, "killed", "ann")?, Miner::start(&server, "killed", "bob")?);
    ann.begin("den")?;
    ann.dig(30)?;
    ann.expect(30)?;
    ann.console.run_command("leave", "left")?;
    for _ in 0..3 {
        ann.begin("den")?;
        ann.expect_more_than(0)?;
        bob.console.run_command("join den", "started")?;
        let before = ann.stored(&scratch)?;
        ann.give(5)?;
        // The leave of another player writes what has changed until then.
        let mut guest = Miner::start(&server, "killed", "guest")?;
        guest.console.run_command("join den", "started")?;
        guest.console.run_command("leave", "left")?;
        ann.give(5)?;
        wait_until("a write", || Ok((ann.stored(&scratch)? < before).then_some(())))?;
        server_signal(server.id(), "KILL")?;
        server.wait()?;
        let (of_ann, of_bob) = (ann.stored(&scratch)?, bob.stored(&scratch)?);
        ensure!(of_ann + of_bob == 30, "{of_ann} and {of_bob}");
        server = Server::start_with_test_games(&scratch, &flags)?;
        (ann, bob) = (ann.again(&server)?, bob.again(&server)?);
    }
    Ok(())
}

/// A player with an account of its own.
struct Miner {
    /// Where the account is kept.
    home: ScratchFolder,
    name: &'static str,
    console: Console,
    account: String,
}

impl Miner {
    fn start(server: &Server, test: &str, name: &'static str) -> Result<Self> {
        Self::start_in(ScratchFolder::new(&format!("{test}-{name}")), server, name)
    }

    fn start_in(home: ScratchFolder, server: &Server, name: &'static str) -> Result<Self> {
        let console = Console::start(&home, server.world, name, &[])?;
        let welcome = console.events.iter().find(|event| event["ev"] == "welcome");
        let account = welcome.and_then(|welcome| welcome["account"].as_str());
        let account = account.context("an account")?.to_owned();
        Ok(Self { home, name, console, account })
    }

    /// The same player at the next server.
    fn again(self, server: &Server) -> Result<Self> {
        let Self { home, name, console, account } = self;
        console.kill()?;
        let again = Self::start_in(home, server, name)?;
        ensure!(again.account == account, "another account");
        Ok(again)
    }

    /// In a room of its own.
    fn begin(&mut self, room: &str) -> Result<()> {
        self.console.run_command(&format!("create {room} game=wallet"), "created")?;
        self.console.run_command("start", "started")?;
        Ok(())
    }

    fn dig(&mut self, count: u32) -> Result<()> {
        (0..count).try_for_each(|_| self.console.type_in("dig"))
    }

    fn give(&mut self, count: u32) -> Result<()> {
        (0..count).try_for_each(|_| self.console.type_in("give"))
    }

    fn expect(&mut self, gold: u64) -> Result<()> {
        let mut seen = None;
        let found = wait_until("gold", || {
            seen = self.gold()?;
            Ok((seen == Some(gold)).then_some(()))
        });
        found.with_context(|| format!("{} expected {gold}, saw {seen:?}", self.name))
    }

    fn expect_more_than(&mut self, gold: u64) -> Result<()> {
        wait_until("gold", || Ok(self.gold()?.filter(|seen| *seen > gold).map(drop)))
    }

    /// As the game shows it; `None` before the player is in.
    fn gold(&mut self) -> Result<Option<u64>> {
        let shown = self.console.run_command("objects", "objects")?;
        let objects = shown["objects"].as_array().context("a list")?;
        let own = objects.iter().find(|object| object["own"] == true);
        Ok(own.and_then(|own| own["components"]["gold"].as_u64()))
    }

    /// As the store has it.
    fn stored(&self, server: &ScratchFolder) -> Result<u64> {
        let mut command = Command::new(binary("world-server"));
        command.args(["accounts", "export", &self.account, "--store"]);
        command.arg(server.path().join("data/ambit/ambit.db"));
        let exported: Value = serde_json::from_slice(&run(&mut command)?.stdout)?;
        Ok(exported["profiles"][0]["value"]["gold"].as_u64().unwrap_or_default())
    }
}
