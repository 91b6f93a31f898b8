//! Sessions that ask the lobby for as much as they may, and what others notice of it. Prints
//! figures and asserts nothing; stays on loopback and ends by itself.
//!
//! 1. `lists`: all sessions list the players 20 times a second each. Beside them run two child
//!    processes and four hosts on "other machines"; `/healthz` is asked ten times a second.
//! 2. `chat`: 400 sessions write 20 lines at once, and again whenever they may. Ten idle clients
//!    read.
//!
//! Usage: `cargo bench --bench flood -- [SESSIONS [SECONDS]]`; 2,000 sessions for 20 s by default.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ambit_proto::control::world::{
    ListPlayers, ListRooms, Say, client_to_world as ask, world_to_client::Body,
};
use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{Host, ScratchFolder, Server};
use ambit_transport::quic::ALPN_WORLD;
use anyhow::{Context, Result};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// Sessions that share a socket.
const SESSIONS_PER_SOCKET: usize = 100;
/// Interval between two requests of a session: its rate limit.
const PACE: Duration = Duration::from_millis(50);
/// Sessions of the chat flood, lines at once, and clients that only read.
const CHATTERS: usize = 400;
const LINES: usize = 20;
const READERS: usize = 10;

/// How often each answer came, by name.
type Counts = Arc<Mutex<BTreeMap<String, u64>>>;

fn main() -> Result<()> {
    let numbers: Vec<u64> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sessions = numbers.first().copied().unwrap_or(2_000) as usize;
    let seconds = Duration::from_secs(numbers.get(1).copied().unwrap_or(20));
    let runtime = tokio::runtime::Runtime::new()?;
    flood_with_lists(&runtime, sessions, seconds)?;
    flood_with_chat(&runtime, seconds)
}

fn flood_with_lists(
    runtime: &tokio::runtime::Runtime,
    sessions: usize,
    seconds: Duration,
) -> Result<()> {
    let scratch = ScratchFolder::new("flood-lists");
    let mut server = Server::start(&scratch, &["--hosts", "process:2", "--host-key", Host::KEY])?;
    let mut hosts = Vec::new();
    for _ in 0..4 {
        hosts.push(Host::start(&scratch, &server, &[], &[])?);
    }
    for host in &mut hosts {
        host.wait_for_address()?;
    }
    let children = server.children();
    let counts = Counts::default();
    let clients = runtime.block_on(connect(server.world, sessions))?;
    println!("lists: {sessions} sessions, {} s", seconds.as_secs());
    let flood = {
        let counts = Arc::clone(&counts);
        runtime.spawn(async move {
            let mut tasks = JoinSet::new();
            for client in clients {
                tasks.spawn(list_players(client, seconds, Arc::clone(&counts)));
            }
            tasks.join_all().await
        })
    };
    let mut healthy = 0;
    let mut unhealthy = 0;
    let mut slowest = Duration::ZERO;
    while !flood.is_finished() {
        let asked_at = now();
        match server.get("/healthz") {
            Ok((200, _)) => healthy += 1,
            _ => unhealthy += 1,
        }
        slowest = slowest.max(asked_at.elapsed());
        std::thread::sleep(Duration::from_millis(100));
    }
    runtime.block_on(flood)?;
    let metrics = server.metrics()?;
    let lost_hosts = server
        .take_log()
        .iter()
        .filter(|line| line.contains("host given up") || line.contains("host disconnected"))
        .count();
    println!("  answers: {:?}", counts.lock().expect("not poisoned"));
    println!("  /healthz: {healthy} ok, {unhealthy} not, slowest {} ms", slowest.as_millis());
    println!(
        "  hosts: {} of 6 ready, {lost_hosts} lost; children replaced: {}",
        metrics["ambit_hosts"],
        server.children() != children
    );
    print_drops(&metrics);
    Ok(())
}

async fn list_players(mut client: RawClient, time: Duration, counts: Counts) {
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let started_at = now();
    while started_at.elapsed() < time {
        pace.tick().await;
        let request = ask::Body::ListPlayers(ListPlayers { everybody: true });
        let answer = client.request_answer(request).await;
        let is_over = answer.is_err();
        count(&counts, answer.map(|answer| answer.body));
        if is_over {
            return;
        }
    }
}

fn flood_with_chat(runtime: &tokio::runtime::Runtime, seconds: Duration) -> Result<()> {
    let scratch = ScratchFolder::new("flood-chat");
    let server = Server::start(&scratch, &[])?;
    let counts = Counts::default();
    println!("chat: {CHATTERS} sessions, {LINES} lines at once, {} s", seconds.as_secs());
    let read = runtime.block_on(async {
        let mut readers = JoinSet::new();
        for reader in connect(server.world, READERS).await? {
            readers.spawn(read_chat(reader, seconds));
        }
        let mut writers = JoinSet::new();
        for writer in connect(server.world, CHATTERS).await? {
            writers.spawn(write_chat(writer, seconds, Arc::clone(&counts)));
        }
        writers.join_all().await;
        anyhow::Ok(readers.join_all().await)
    })?;
    println!("  answers: {:?}", counts.lock().expect("not poisoned"));
    let stayed = read.iter().filter(|reader| reader.stayed).count();
    println!("  idle clients that stayed: {stayed} of {READERS}");
    let least = read.iter().map(|reader| reader.lines).min().unwrap_or(0);
    let most = read.iter().map(|reader| reader.missed).max().unwrap_or(0);
    println!("  each read {least} lines at least and missed {most} at most");
    print_drops(&server.metrics()?);
    Ok(())
}

/// What an idle client has read.
struct IdleReader {
    stayed: bool,
    lines: u64,
    missed: u64,
}

async fn read_chat(mut client: RawClient, time: Duration) -> IdleReader {
    let mut reader = IdleReader { stayed: true, lines: 0, missed: 0 };
    let subscription = ask::Body::ListRooms(ListRooms { subscribe: true });
    let _ = client.send_request(subscription).await;
    let reading = async {
        loop {
            match client.next_world_message().await.map(|message| message.body) {
                Ok(Some(Body::Chat(_))) => reader.lines += 1,
                Ok(Some(Body::MissedNews(news))) => reader.missed += news.chats,
                Ok(_) => {}
                Err(_) => return reader.stayed = false,
            }
        }
    };
    let _ = tokio::time::timeout(time, reading).await;
    reader
}

async fn write_chat(mut client: RawClient, time: Duration, counts: Counts) {
    let line = || ask::Body::Say(Say { text: "x".into(), ..Say::default() });
    for _ in 0..LINES {
        if client.send_request(line()).await.is_err() {
            break;
        }
    }
    // Answers among the lines of all others; a further line for each line that was delivered.
    let mut pace = interval(PACE * 4);
    let started_at = now();
    while started_at.elapsed() < time {
        tokio::select! {
            message = client.next_world_message() => match message {
                Ok(message) if message.request != 0 => count(&counts, Ok(message.body)),
                Ok(_) => {}
                Err(error) => return count(&counts, Err(error)),
            },
            _ = pace.tick() => {
                let _ = client.send_request(line()).await;
            }
        }
    }
}

/// Opens sessions; a hundred share a socket.
async fn connect(server: SocketAddr, count: usize) -> Result<Vec<RawClient>> {
    let mut clients = Vec::new();
    let mut endpoint = None;
    for number in 0..count {
        if number % SESSIONS_PER_SOCKET == 0 {
            endpoint = Some(quinn::Endpoint::client("127.0.0.1:0".parse()?)?);
        }
        let endpoint = endpoint.clone().context("made before")?;
        let mut client = RawClient::connect_over(endpoint, server, ALPN_WORLD).await?;
        client.hello(&format!("flood-{number}")).await?;
        clients.push(client);
    }
    Ok(clients)
}

fn count(counts: &Counts, answer: Result<Option<Body>>) {
    let name = match answer {
        Ok(Some(Body::Error(error))) => error.name,
        Ok(Some(Body::PlayerList(_))) => "lists".to_owned(),
        Ok(Some(Body::Done(_))) => "done".to_owned(),
        Ok(_) => "other".to_owned(),
        Err(_) => "connections lost".to_owned(),
    };
    *counts.lock().expect("not poisoned").entry(name).or_default() += 1;
}

fn print_drops(metrics: &BTreeMap<String, f64>) {
    let drops = metrics
        .iter()
        .filter(|(name, count)| name.starts_with("ambit_drops_total") && **count > 0.0);
    for (name, count) in drops {
        println!("  {name} {count}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a program that measures")]
fn now() -> Instant {
    Instant::now()
}
