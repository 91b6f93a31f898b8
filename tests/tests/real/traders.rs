//! A crowd that comes and goes, gives gold to each other and adds results, with PostgreSQL, while
//! hosts, the server and PostgreSQL are killed. Each piece of gold and each result is there once.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use ambit_client::{Client, Game, GameEvent};
use ambit_tests::real::{
    Postgres, ScratchFolder, Server, outlast_suspicion, server_signal, wait_until,
};
use ambit_tests::short_or_long;
use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Bots, in short and in long.
const BOTS: (usize, usize) = (30, 200);
/// In each, hosts, PostgreSQL and the server are killed.
const ROUNDS: (usize, usize) = (1, 5);
/// Pieces of gold that each bot finds at first.
const GOLD: usize = 5;
const WORLDS: [&str; 2] = ["den", "cave"];
/// The longest time for which a bot waits for one thing.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(200);
/// What was confirmed so shortly before the death of the server may be lost with it.
const FRESH: Duration = Duration::from_secs(3);

/// What bots do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trade {
    Digging,
    Giving,
    Over,
}

struct Trader {
    client: Client,
    rng: Rng,
    phases: watch::Receiver<Trade>,
    dug: usize,
    sent: i64,
    /// Results that were confirmed, and when.
    confirmed: Vec<(i64, Instant)>,
}

/// A server with its store, and the bots.
struct Market {
    scratch: ScratchFolder,
    keep: String,
    postgres: Postgres,
    server: Server,
    phases: watch::Sender<Trade>,
    gold: usize,
}

#[test]
fn a_crowd_loses_and_doubles_nothing_though_all_is_killed() -> Result<()> {
    let bots = short_or_long(BOTS.0, BOTS.1);
    let mut market = Market::open(bots * GOLD)?;
    let runtime = Runtime::new()?;
    let traders = market.admit(&runtime, bots)?;
    market.wait_for_gold()?;
    market.phases.send_replace(Trade::Giving);
    let mut kills = Vec::new();
    for _ in 0..short_or_long(ROUNDS.0, ROUNDS.1) {
        market.kill_hosts()?;
        market.kill_store()?;
        market = market.kill_server(&mut kills)?;
    }
    market.phases.send_replace(Trade::Over);
    let mut confirmed = Vec::new();
    for trader in traders {
        confirmed.push(runtime.block_on(trader)??);
    }
    market.wait_for_gold()?;
    let ask = |sql: &str| market.postgres.ask(sql);
    let moved = ask(&format!("SELECT COUNT(*) FROM profiles WHERE {IN_GOLD} <> {GOLD}"))?;
    let results = ask("SELECT account, score FROM results")?;
    let rows: BTreeSet<&str> = results.lines().collect();
    assert_eq!(rows.len(), results.lines().count(), "no result is there twice");
    let is_old = |at: Instant| kills.iter().all(|kill| at > *kill || *kill - at > FRESH);
    let mut lost = 0;
    let mut wanted = 0;
    for (account, (score, at)) in
        confirmed.iter().flat_map(|(account, wins)| wins.iter().map(move |win| (account, *win)))
    {
        wanted += usize::from(is_old(at));
        let is_there = rows.contains(&format!("\\x{account}|{score}")[..]);
        lost += usize::from(is_old(at) && !is_there);
    }
    println!(
        "{bots} bots: {} results, {wanted} of them confirmed for sure, {lost} lost; \
         {moved} bots have other gold than at first, {} in all",
        rows.len(),
        bots * GOLD
    );
    assert_eq!(lost, 0, "each result that was confirmed is there");
    ensure!(wanted > 2 * bots && moved.parse::<usize>()? > bots / 3, "too little has happened");
    Ok(())
}

/// The gold of a profile.
const IN_GOLD: &str = "(convert_from(value, 'UTF8')::json->>'gold')::int";

impl Market {
    fn open(gold: usize) -> Result<Self> {
        let scratch = ScratchFolder::new("traders");
        let postgres = Postgres::start("traders")?;
        let keep = scratch.path().join("kept");
        let keep = keep.to_str().context("a plain path")?.to_owned();
        let server = start_server(&scratch, &keep, &postgres, "127.0.0.1:0")?;
        let (phases, _) = watch::channel(Trade::Digging);
        Ok(Self { scratch, keep, postgres, server, phases, gold })
    }

    /// Connects the bots, each with an account of its own.
    fn admit(&self, runtime: &Runtime, bots: usize) -> Result<Vec<JoinHandle<Result<Wins>>>> {
        let known_hosts = self.scratch.path().join("known_hosts");
        let server = self.server.world.to_string();
        let mut traders = Vec::new();
        for bot in 0..bots {
            let account = self.scratch.path().join(format!("account-{bot}"));
            let client = runtime.block_on(connect(&server, &known_hosts, &account, bot))?;
            let rng = Rng::with_seed(bot as u64);
            let phases = self.phases.subscribe();
            let trader = Trader { client, rng, phases, dug: 0, sent: 0, confirmed: Vec::new() };
            traders.push(runtime.spawn(trader.trade()));
        }
        Ok(traders)
    }

    /// All profiles together.
    fn stored_gold(&self) -> Result<usize> {
        let sql = format!("SELECT COALESCE(SUM({IN_GOLD}), 0) FROM profiles WHERE value <> ''");
        Ok(self.postgres.ask(&sql)?.parse()?)
    }

    fn wait_for_gold(&self) -> Result<()> {
        let mut seen = 0;
        let found = wait_until("all gold", || {
            seen = self.stored_gold()?;
            ensure!(seen <= self.gold, "{seen} pieces of {}", self.gold);
            Ok((seen == self.gold).then_some(()))
        });
        found.with_context(|| format!("{seen} pieces of {}", self.gold))
    }

    /// What is written, is written of all who have exchanged something.
    fn check_gold(&self) -> Result<()> {
        let seen = self.stored_gold()?;
        ensure!(seen == self.gold, "{seen} pieces of {}", self.gold);
        Ok(())
    }

    fn kill_hosts(&self) -> Result<()> {
        for child in self.server.children() {
            outlast_suspicion();
            server_signal(child, "KILL")?;
            self.check_gold()?;
        }
        Ok(())
    }

    fn kill_store(&mut self) -> Result<()> {
        self.postgres.kill()?;
        outlast_suspicion();
        self.postgres.resume()?;
        self.check_gold()
    }

    /// The next one goes on at the same address.
    fn kill_server(self, kills: &mut Vec<Instant>) -> Result<Self> {
        let Self { scratch, keep, postgres, server, phases, gold } = self;
        let address = server.world.to_string();
        server_signal(server.id(), "KILL")?;
        kills.push(now());
        server.wait()?;
        let server = start_server(&scratch, &keep, &postgres, &address)?;
        let market = Self { scratch, keep, postgres, server, phases, gold };
        market.check_gold()?;
        outlast_suspicion();
        Ok(market)
    }
}

fn start_server(
    scratch: &ScratchFolder,
    keep: &str,
    postgres: &Postgres,
    address: &str,
) -> Result<Server> {
    let worlds = WORLDS.map(|name| format!("{name} game=wallet capacity=250"));
    let [den, cave] = &worlds;
    let flags = ["--hosts", "process:2", "--keep", keep, "--store", &postgres.url];
    let flags = [&flags[..], &["--listen", address, "--world", den, "--world", cave]].concat();
    Server::start_with_test_games(scratch, &flags)
}

async fn connect(server: &str, known: &Path, account: &Path, bot: usize) -> Result<Client> {
    let connecting = ambit_client::connect(server)
        .name(format!("trader{bot}"))
        .known_hosts(known)
        .account_file(account)
        .reconnect_for(Duration::from_mins(2))
        .configure(|config| config.confirmations = true);
    Ok(timeout(10 * PATIENCE, connecting).await??)
}

/// An account, as hexadecimal digits, and its results.
type Wins = (String, Vec<(i64, Instant)>);

impl Trader {
    async fn trade(mut self) -> Result<Wins> {
        while *self.phases.borrow() != Trade::Over {
            ensure!(!self.client.is_closed(), "the session of a bot has ended");
            let may_enter = *self.phases.borrow() == Trade::Giving || self.dug < GOLD;
            if let Some(game) = self.enter().await.filter(|_| may_enter) {
                self.visit(&game).await;
            }
            self.leave().await;
        }
        while self.client.room().is_some() {
            self.leave().await;
        }
        let account = self.client.account().context("an account")?;
        // So that the session does not end before its room has heard that the player is gone.
        self.pause().await;
        let digits = account.to_string();
        self.client.quit().await;
        Ok((digits, self.confirmed))
    }

    /// Enters one of the worlds; fails while something is dead.
    async fn enter(&mut self) -> Option<Game> {
        let wanted = WORLDS[self.rng.usize(..WORLDS.len())];
        let entering = async {
            let rooms = self.client.rooms().await.ok()?;
            let room = rooms.iter().find(|room| room.name == wanted)?.id;
            let room = self.client.join_room(room).await.ok()?;
            room.play().await.ok()
        };
        timeout(PATIENCE, entering).await.ok().flatten()
    }

    async fn leave(&self) {
        let leaving = async {
            if let Some(room) = self.client.room() {
                let _ = room.leave().await;
            }
        };
        let _ = timeout(PATIENCE, leaving).await;
        self.pause().await;
    }

    async fn pause(&self) {
        let _ = timeout(PAUSE, async { while self.client.next_event().await.is_some() {} }).await;
    }

    async fn visit(&mut self, game: &Game) {
        for _ in 0..self.rng.u8(3..9) {
            let phase = *self.phases.borrow();
            match phase {
                Trade::Digging if self.dug < GOLD => {
                    // Nothing dies yet: each one comes to be confirmed.
                    let number = game.send("dig", ()).ok();
                    self.dug += usize::from(confirmed(game, number, 10).await.is_some());
                }
                Trade::Giving => {
                    let _ = game.send("give", ());
                    self.sent += 1;
                    let number = game.send("win", self.sent).ok();
                    let win = confirmed(game, number, 1).await;
                    self.confirmed.extend(win.map(|at| (self.sent, at)));
                }
                Trade::Digging | Trade::Over => return,
            }
        }
    }
}

/// Waits until a command is confirmed, for a number of times [`PATIENCE`]. Returns when, or `None`
/// if it was not.
async fn confirmed(game: &Game, number: Option<u32>, times: u32) -> Option<Instant> {
    let number = number?;
    let confirming = async {
        while let Some(event) = game.next_event().await {
            match event {
                GameEvent::Confirmed { command, .. } if command == number => return Some(now()),
                GameEvent::Refused { command, .. } if command == number => return None,
                _ => {}
            }
        }
        None
    };
    timeout(times * PATIENCE, confirming).await.ok().flatten()
}

#[expect(clippy::disallowed_methods, reason = "tells what was confirmed right before a death")]
fn now() -> Instant {
    Instant::now()
}
