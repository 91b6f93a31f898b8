//! Compares what clients follow with the server's trace (`--trace`), over real sockets.
//!
//! The trace has the position of every avatar at each tick of room time; a dump of the bots has
//! which avatars each client followed, and when. The comparison allows for network delay (half a
//! second) and for the hysteresis of the zones (one cell); otherwise it is strict. It shares
//! nothing with the server but the two files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use ambit_tests::real::{self, ScratchFolder, Server};
use anyhow::{Context, Result};
use serde_json::Value;

/// Room time in milliseconds, x and y in metres.
type AvatarTrack = Vec<(f64, f64, f64)>;

/// Longest delay of a message, in milliseconds.
const MAX_DELAY_MS: f64 = 500.0;
const CELL_M: f64 = 10.0;

#[test]
fn clients_follow_the_avatars_that_the_trace_puts_near_them() -> Result<()> {
    let scratch = ScratchFolder::new("truth");
    let trace = scratch.path().join("trace");
    let dump = scratch.path().join("dump.jsonl");
    let server = Server::start(&scratch, &["--trace", trace.to_str().context("a plain path")?])?;
    let mut command = Command::new(real::binary("bots"));
    scratch.confine(&mut command);
    command.args([
        "--count",
        "12",
        "--seconds",
        "12",
        "--json",
        "--server",
        &server.world.to_string(),
        "--param",
        "size=80x80",
        "--param",
        "npcs=0",
    ]);
    command.arg("--dump").arg(&dump);
    real::run(&mut command)?;
    drop(server);

    let truth = Trace::read(&trace.join("room-1.jsonl"))?;
    let mut followed_ms = 0.0;
    let mut farthest = 0.0_f64;
    for (client, log) in read_followed(&dump)? {
        let own = truth
            .positions
            .get(&log.name)
            .with_context(|| format!("client {client} is not in the trace"))?;
        for (other, spans) in &log.followed {
            let track = truth
                .positions
                .get(other)
                .with_context(|| format!("'{other}' is not in the trace"))?;
            for &(from, until) in spans {
                followed_ms += until - from;
                let distances = distances(own, track, from + MAX_DELAY_MS, until - MAX_DELAY_MS);
                farthest = distances.fold(farthest, f64::max);
            }
        }
        truth.check_complete(client, &log, own);
    }
    println!(
        "{:.0} s of following; \
         the farthest avatar that was followed for long was {farthest:.1} m away",
        followed_ms / 1_000.0
    );
    assert!(followed_ms > 20_000.0, "the avatars followed each other for too short a time");
    // The outer zone is two cells wide, hysteresis adds less than one cell, and an avatar walks
    // some metres while a message is delayed.
    assert!(farthest <= 4.0 * CELL_M, "an avatar was followed at a distance of {farthest} m");
    Ok(())
}

struct Trace {
    /// Positions by player's name.
    positions: BTreeMap<String, AvatarTrack>,
    /// Spans in which each was hidden from the others.
    hidden: BTreeMap<String, Vec<(f64, f64)>>,
}

impl Trace {
    fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let (mut names, mut places): (BTreeMap<u64, String>, BTreeMap<u64, AvatarTrack>) =
            Default::default();
        let mut hidden: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line)?;
            let (Some(id), Some(t)) = (line["id"].as_u64(), line["t"].as_f64()) else {
                continue;
            };
            match line["ev"].as_str() {
                Some("join") => {
                    drop(names.insert(id, line["name"].as_str().context("a name")?.to_owned()));
                }
                Some("spawn" | "move") => {
                    // What is room-wide has no place.
                    if let Some((x, y)) = line["x"].as_f64().zip(line["y"].as_f64()) {
                        places.entry(id).or_default().push((t, x, y));
                    }
                }
                Some("hide") => hidden.entry(id).or_default().push((t, f64::INFINITY)),
                Some("reveal") => {
                    hidden.entry(id).or_default().last_mut().context("it was hidden")?.1 = t;
                }
                _ => {}
            }
        }
        let named = |(id, name): (&u64, &String)| Some((name.clone(), places.get(id)?.clone()));
        let tracks = names.iter().filter_map(named).collect();
        let hidden = names
            .iter()
            .filter_map(|(id, name)| Some((name.clone(), hidden.get(id)?.clone())))
            .collect();
        Ok(Trace { positions: tracks, hidden })
    }

    /// A visible avatar that stays within the inner zone must be followed.
    fn check_complete(&self, client: u64, log: &FollowedLog, own: &AvatarTrack) {
        for (other, track) in self.positions.iter().filter(|(other, _)| **other != log.name) {
            let mut near_since = None;
            let mut t = log.began + MAX_DELAY_MS;
            while t < log.ended {
                let (a, b) = (position_at(own, t), position_at(track, t));
                // Nine metres along both axes is within the block of 3 x 3 cells less the margin,
                // wherever the borders are.
                let near = (a.0 - b.0).abs().max((a.1 - b.1).abs()) < CELL_M - 1.0;
                let hidden = self.hidden.get(other).is_some_and(|spans| {
                    spans.iter().any(|span| t > span.0 - MAX_DELAY_MS && t < span.1 + MAX_DELAY_MS)
                });
                let there = track.first().is_some_and(|first| t > first.0);
                near_since = if near && there && !hidden { near_since.or(Some(t)) } else { None };
                if near_since.is_some_and(|since| t - since > 2.0 * MAX_DELAY_MS) {
                    let spans = log.followed.get(other);
                    let followed = spans
                        .is_some_and(|spans| spans.iter().any(|span| span.0 <= t && t <= span.1));
                    assert!(
                        followed,
                        "client {client} does not follow '{other}' at {t} ms, {a:?} and {b:?}"
                    );
                }
                t += 50.0;
            }
        }
    }
}

/// What one client followed, by the names of avatars.
struct FollowedLog {
    name: String,
    began: f64,
    ended: f64,
    followed: BTreeMap<String, Vec<(f64, f64)>>,
}

fn read_followed(dump: &Path) -> Result<BTreeMap<u64, FollowedLog>> {
    let mut logs: BTreeMap<u64, FollowedLog> = BTreeMap::new();
    let mut open: BTreeMap<(u64, u64), (String, f64)> = BTreeMap::new();
    for line in std::fs::read_to_string(dump)?.lines() {
        let event: Value = serde_json::from_str(line)?;
        let (Some(client), Some(t)) = (event["client"].as_u64(), event["t"].as_f64()) else {
            continue;
        };
        if let Some(log) = logs.get_mut(&client) {
            log.ended = log.ended.max(t);
        }
        let key = (client, event["id"].as_u64().unwrap_or_default());
        match (event["ev"].as_str(), event["name"].as_str()) {
            (Some("enter"), Some(name)) if event["own"] == true => {
                logs.insert(
                    client,
                    FollowedLog {
                        name: name.to_owned(),
                        began: t,
                        ended: t,
                        followed: BTreeMap::new(),
                    },
                );
            }
            (Some("enter"), Some(name)) => drop(open.insert(key, (name.to_owned(), t))),
            (Some("leave"), _) => {
                if let (Some((name, from)), Some(log)) = (open.remove(&key), logs.get_mut(&client))
                {
                    log.followed.entry(name).or_default().push((from, t));
                }
            }
            _ => {}
        }
    }
    for ((client, _), (name, from)) in open {
        if let Some(log) = logs.get_mut(&client) {
            let ended = log.ended;
            log.followed.entry(name).or_default().push((from, ended));
        }
    }
    assert_eq!(logs.keys().copied().collect::<BTreeSet<_>>().len(), 12);
    Ok(logs)
}

/// Distances between two avatars, at each tick of a span.
fn distances(a: &AvatarTrack, b: &AvatarTrack, from: f64, until: f64) -> impl Iterator<Item = f64> {
    let ticks = ((until - from) / 50.0).max(0.0) as usize;
    (0..ticks).map(move |tick| {
        let t = from + 50.0 * tick as f64;
        let (a, b) = (position_at(a, t), position_at(b, t));
        (a.0 - b.0).abs().max((a.1 - b.1).abs())
    })
}

/// Position at a time. The trace has only avatars that moved, so the last entry before it is valid.
fn position_at(track: &AvatarTrack, t: f64) -> (f64, f64) {
    let place = track.partition_point(|&(time, _, _)| time <= t).max(1) - 1;
    (track[place].1, track[place].2)
}
