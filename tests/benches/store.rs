//! What the store can hold: the journals of 200 rooms, as `--keep` writes them, put into it tick by
//! tick, beside a file with one sync a second; profiles of 1,000 players that change every second;
//! and whether the time of a refused sign-in tells which accounts exist. Prints how long each write
//! waits for the disk. Takes two minutes; with `postgres`, for PostgreSQL instead of SQLite; with
//! `sign-ins`, the sign-ins alone.
//!
//! Usage: `cargo bench --bench store -- [postgres] [sign-ins]`.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ambit_store::{RoomRequest, Store, StorePlace, ValueKey};
use ambit_tests::real::{Postgres, ScratchFolder, Server, binary, run};
use anyhow::{Context as _, Result};
use tokio::sync::mpsc;

/// How long each load lasts.
const LENGTH: Duration = Duration::from_secs(20);
/// Inputs of a tick with a few players.
const TICK_BYTES: usize = 60;
const TICK: Duration = Duration::from_millis(50);
const PROFILE_BYTES: usize = 1_000;
const SIGN_INS: usize = 300;

fn main() -> Result<()> {
    let wants = |word: &str| std::env::args().any(|argument| argument == word);
    let wants_postgres = wants("postgres");
    let scratch = ScratchFolder::new("store-bench");
    let postgres = wants_postgres.then(|| Postgres::start("bench")).transpose()?;
    let place = match &postgres {
        Some(postgres) => postgres.url.parse()?,
        None => StorePlace::File(scratch.path().join("bench.db")),
    };
    println!("store: {}", if wants_postgres { "PostgreSQL" } else { "SQLite" });
    let runtime = tokio::runtime::Runtime::new()?;
    let url = postgres.as_ref().map(|postgres| postgres.url.as_str());
    if wants("sign-ins") {
        return compare_sign_ins(&runtime, &scratch, url);
    }
    runtime.block_on(async {
        for rooms in [1, 50, 200] {
            let waits = load(&place, rooms, TICK, TICK_BYTES).await?;
            print_waits(&format!("{rooms} rooms, a write each 50 ms"), waits);
        }
        let waits = load(&place, 1_000, Duration::from_secs(1), PROFILE_BYTES).await?;
        print_waits("1,000 profiles of 1 kB, each second", waits);
        anyhow::Ok(())
    })?;
    print_waits("a file, 200 rooms, one sync a second", sync_file(scratch.path())?);
    compare_sign_ins(&runtime, &scratch, url)
}

/// How long writes of so many writers wait. `None` stands for one that the store has refused.
async fn load(
    place: &StorePlace,
    writers: u64,
    every: Duration,
    bytes: usize,
) -> Result<Vec<Option<Duration>>> {
    let opening = place.clone();
    let store = tokio::task::spawn_blocking(move || Store::open(&opening)).await??;
    let before = store.stats().commits;
    let (waited, mut waits) = mpsc::channel(1 << 20);
    let began = now();
    let mut round = 0;
    while began.elapsed() < LENGTH {
        round += 1;
        for room in 0..writers {
            let (store, waited) = (store.clone(), waited.clone());
            tokio::spawn(async move {
                let number = (1, round);
                let request = RoomRequest { lineage: [1; 16], room, number, oldest: number };
                let key =
                    ValueKey { game: "bench".to_owned(), account: None, name: room.to_string() };
                let asked = now();
                let value = vec![round as u8; bytes];
                let done =
                    store.run(move |tables| tables.save_value(&request, &key, &value, 1)).await;
                let _ = waited.send(done.ok().map(|()| asked.elapsed())).await;
            });
        }
        tokio::time::sleep((every * round as u32).saturating_sub(began.elapsed())).await;
    }
    drop(waited);
    let mut all = Vec::new();
    while let Some(wait) = waits.recv().await {
        all.push(wait);
    }
    println!("{} commits", store.stats().commits - before);
    Ok(all)
}

/// How long the syncs of a file take that all rooms append to.
fn sync_file(directory: &Path) -> Result<Vec<Option<Duration>>> {
    let mut file = File::create(directory.join("journal"))?;
    let entry = vec![7; 200 * TICK_BYTES];
    let began = now();
    let mut waits = Vec::new();
    while began.elapsed() < LENGTH {
        for _ in 0..20 {
            file.write_all(&entry)?;
            std::thread::sleep(TICK);
        }
        let asked = now();
        file.sync_data()?;
        waits.push(Some(asked.elapsed()));
    }
    Ok(waits)
}

/// Times of refused sign-ins: with accounts that exist, that do not and that are banned, in turns,
/// each as often the first of its round.
fn compare_sign_ins(
    runtime: &tokio::runtime::Runtime,
    scratch: &ScratchFolder,
    store: Option<&str>,
) -> Result<()> {
    let mut flags = vec!["--accounts", "guest,password"];
    flags.extend(store.into_iter().flat_map(|url| ["--store", url]));
    let server = Server::start(scratch, &flags)?;
    let connect = || {
        let known_hosts = scratch.path().join("known_hosts");
        ambit_client::connect(server.world.to_string()).known_hosts(known_hosts)
    };
    runtime.block_on(async {
        let make = async || {
            let client = connect().new_account("ann", "correct horse").await?;
            let login = client.login().context("a login")?.to_owned();
            let account = client.account().context("an account")?.to_string();
            client.quit().await;
            anyhow::Ok((login, account))
        };
        let known = make().await?.0;
        let (banned, account) = make().await?;
        let place = scratch.path().join("data/ambit/ambit.db");
        let mut command = Command::new(binary("world-server"));
        command.args(["accounts", "ban", &account, "--store"]);
        run(match store {
            Some(url) => command.arg(url),
            None => command.arg(place),
        })?;
        let mut waits = [Vec::new(), Vec::new(), Vec::new()];
        for number in 0..SIGN_INS {
            let unknown = format!("ann#{:05}", (number * 37 + 11) % 100_000);
            let logins = [&known, &unknown, &banned];
            for turn in 0..logins.len() {
                let case = (number + turn) % logins.len();
                let asked = now();
                let refused = connect().password(logins[case], "wrong horse").await;
                assert!(refused.is_err(), "{}", logins[case]);
                waits[case].push(Some(asked.elapsed()));
            }
        }
        for (case, waits) in ["exists", "does not exist", "is banned"].into_iter().zip(waits) {
            print_waits(&format!("refused, the account {case}"), waits);
        }
        Ok(())
    })
}

fn print_waits(what: &str, waits: Vec<Option<Duration>>) {
    let count = waits.len();
    let mut done: Vec<Duration> = waits.into_iter().flatten().collect();
    done.sort();
    let at = |share: f64| {
        let index = (done.len() as f64 * share) as usize;
        done.get(index.min(done.len().saturating_sub(1))).map_or(0.0, Duration::as_secs_f64)
    };
    println!(
        "{what}: {count} samples, {} without an answer; ms: p10 {:.2}, median {:.2}, p99 {:.2}, \
         longest {:.2}",
        count - done.len(),
        1_000.0 * at(0.1),
        1_000.0 * at(0.5),
        1_000.0 * at(0.99),
        1_000.0 * at(1.0)
    );
}

#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn now() -> Instant {
    Instant::now()
}
