//! What clients print, held against what really happened (`--trace`), over real sockets.
//!
//! The trace says where every avatar was at each tick of room time; a dump says which avatars each
//! client followed, and when. The comparison leaves room for the way of the news (half a second)
//! and for the margin by which zones lag behind (one cell); inside of that it is strict, and it
//! shares nothing with the server but the two files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use ambit_tests::real::{self, ScratchFolder, Server};
use anyhow::{Context, Result};
use serde_json::Value;

/// Room time in milliseconds, x and y in metres.
type AvatarTrack = Vec<(f64, f64, f64)>;

/// How long news may be under way, in milliseconds.
const MAX_DELAY_MS: f64 = 500.0;
const CELL_M: f64 = 10.0;

#[test]
fn clients_follow_the_avatars_that_the_trace_puts_near_them() -> Result<()> {
    let scratch = ScratchFolder::new("truth");
    let (trace, dump) = (
        scratch.path().join("trace"),
        scratch.path().join("dump.jsonl"),
    );
    let server = Server::start(
        &scratch,
        &["--trace", trace.to_str().context("a plain path")?],
    )?;
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
    let (mut followed_ms, mut farthest) = (0.0, 0.0_f64);
    for (client, story) in read_followed(&dump)? {
        let own = truth
            .positions
            .get(&story.name)
            .with_context(|| format!("client {client} is not in the trace"))?;
        for (other, spans) in &story.followed {
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
        truth.check_complete(client, &story, own);
    }
    println!(
        "{:.0} s of following; the farthest avatar that was followed for long was {farthest:.1} m away",
        followed_ms / 1_000.0
    );
    assert!(followed_ms > 20_000.0, "hardly anybody met");
    // The outer zone is two cells wide; the zones lag by less than one; who moves on goes some
    // metres while the news travel.
    assert!(farthest <= 4.0 * CELL_M, "followed at {farthest} m");
    Ok(())
}

struct Trace {
    /// Where each player's avatar was.
    positions: BTreeMap<String, AvatarTrack>,
    /// When each was hidden from the others.
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
                    drop(names.insert(id, line["name"].as_str().context("a name")?.to_owned()))
                }
                Some("spawn" | "move") => {
                    let metres = |key: &str| line[key].as_f64().context("a coordinate");
                    places
                        .entry(id)
                        .or_default()
                        .push((t, metres("x")?, metres("y")?));
                }
                Some("hide") => hidden.entry(id).or_default().push((t, f64::INFINITY)),
                Some("reveal") => {
                    hidden
                        .entry(id)
                        .or_default()
                        .last_mut()
                        .context("it was hidden")?
                        .1 = t
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
        Ok(Trace {
            positions: tracks,
            hidden,
        })
    }

    /// Whoever stays within the inner zone, however it lies, and is visible, is followed.
    fn check_complete(&self, client: u64, story: &FollowedLog, own: &AvatarTrack) {
        for (other, track) in self
            .positions
            .iter()
            .filter(|(other, _)| **other != story.name)
        {
            let mut near_since = None;
            let mut t = story.began + MAX_DELAY_MS;
            while t < story.ended {
                let (a, b) = (position_at(own, t), position_at(track, t));
                // Nine metres along both axes is within the block of 3 x 3 less the margin,
                // wherever the borders are.
                let near = (a.0 - b.0).abs().max((a.1 - b.1).abs()) < CELL_M - 1.0;
                let hidden = self.hidden.get(other).is_some_and(|spans| {
                    spans
                        .iter()
                        .any(|span| t > span.0 - MAX_DELAY_MS && t < span.1 + MAX_DELAY_MS)
                });
                let there = track.first().is_some_and(|first| t > first.0);
                near_since = if near && there && !hidden {
                    near_since.or(Some(t))
                } else {
                    None
                };
                if near_since.is_some_and(|since| t - since > 2.0 * MAX_DELAY_MS) {
                    let spans = story.followed.get(other);
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

/// What one client was told, by the names of avatars.
struct FollowedLog {
    name: String,
    began: f64,
    ended: f64,
    followed: BTreeMap<String, Vec<(f64, f64)>>,
}

fn read_followed(dump: &Path) -> Result<BTreeMap<u64, FollowedLog>> {
    let mut stories: BTreeMap<u64, FollowedLog> = BTreeMap::new();
    let mut open: BTreeMap<(u64, u64), (String, f64)> = BTreeMap::new();
    for line in std::fs::read_to_string(dump)?.lines() {
        let event: Value = serde_json::from_str(line)?;
        let (Some(client), Some(t)) = (event["client"].as_u64(), event["t"].as_f64()) else {
            continue;
        };
        if let Some(story) = stories.get_mut(&client) {
            story.ended = story.ended.max(t);
        }
        let key = (client, event["id"].as_u64().unwrap_or_default());
        match (event["ev"].as_str(), event["name"].as_str()) {
            (Some("enter"), Some(name)) if event["own"] == true => {
                stories.insert(
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
                if let (Some((name, from)), Some(story)) =
                    (open.remove(&key), stories.get_mut(&client))
                {
                    story.followed.entry(name).or_default().push((from, t));
                }
            }
            _ => {}
        }
    }
    for ((client, _), (name, from)) in open {
        if let Some(story) = stories.get_mut(&client) {
            let ended = story.ended;
            story.followed.entry(name).or_default().push((from, ended));
        }
    }
    assert_eq!(stories.keys().copied().collect::<BTreeSet<_>>().len(), 12);
    Ok(stories)
}

/// How far two are apart, at each tick of a span.
fn distances(a: &AvatarTrack, b: &AvatarTrack, from: f64, until: f64) -> impl Iterator<Item = f64> {
    let ticks = ((until - from) / 50.0).max(0.0) as usize;
    (0..ticks).map(move |tick| {
        let t = from + 50.0 * tick as f64;
        let (a, b) = (position_at(a, t), position_at(b, t));
        (a.0 - b.0).abs().max((a.1 - b.1).abs())
    })
}

/// Where a track is at a time: the trace names only those who moved, so the last word before holds.
fn position_at(track: &AvatarTrack, t: f64) -> (f64, f64) {
    let place = track.partition_point(|&(time, _, _)| time <= t).max(1) - 1;
    (track[place].1, track[place].2)
}
