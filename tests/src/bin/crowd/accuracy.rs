//! Distance between what clients show and the server's trace.
//!
//! Runs a room with `--trace` and a few bots that log what they show; the result is a distribution
//! of distances in metres. A client's object ids are its own, so at its first sample an object is
//! matched with the nearest object of the trace (others are metres away) and keeps that match.
//!
//! Between two ticks the truth is interpolated linearly. Where an object was spawned or removed in
//! between, there is no truth and no sample.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::ambit_room::{CrowdRun, Motion, NEAR_ONLY, map_edge_m, walked_by_server};
use crate::pinned_process::{ScratchFolder, WAIT_LIMIT};

/// A small room: accuracy does not depend on the number of clients.
const CLIENTS: u32 = 100;
const WINDOW: Duration = Duration::from_secs(6);
/// A shown object farther than this from every traced object is unmatched.
const MAX_MATCH_M: f64 = 1.0;
/// Longest interval to interpolate over: a tick, and some slack.
const MAX_TRACE_GAP_MS: f64 = 60.0;

/// Distances between shown and true positions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accuracy {
    pub(crate) samples: usize,
    /// Samples of objects without a match in the trace.
    pub(crate) unmatched: usize,
    pub(crate) p50_m: f64,
    pub(crate) p99_m: f64,
    pub(crate) max_m: f64,
}

/// Runs the room and compares.
pub(crate) fn measure(motion: Motion) -> anyhow::Result<Accuracy> {
    let scratch = ScratchFolder::new()?;
    let trace = scratch.0.join("trace");
    let shown = scratch.0.join("shown");
    let edge = map_edge_m(motion, CLIENTS);
    let room = [("walk", motion.to_string()), ("size", format!("{edge:.1}x{edge:.1}"))];
    let near = NEAR_ONLY.map(|(key, value)| (key, value.to_owned()));
    let room = [&near[..], &room].concat();
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let run = CrowdRun::start(
        &scratch.0,
        CLIENTS,
        WINDOW,
        &room,
        &[walked_by_server(), vec!["--shown".into(), path(&shown)]].concat(),
        &["--trace".into(), path(&trace)],
    )?;
    run.bots.wait_for_line("measuring", WAIT_LIMIT)?;
    run.read_result()?;
    // The server flushes its trace when it ends; this pause lets it trace what the bots have
    // logged.
    std::thread::sleep(Duration::from_secs(1));
    drop(run);
    let file = std::fs::read_dir(&trace)?.flatten().next().context("no trace")?.path();
    let truth = Trace::read(&std::fs::read_to_string(file)?);
    compare(&truth, &std::fs::read_to_string(&shown)?)
}

/// Positions of each object by id, with times in milliseconds.
#[derive(Debug, Default)]
struct Trace(BTreeMap<u64, Vec<(f64, [f64; 2])>>);

impl Trace {
    fn read(text: &str) -> Self {
        let mut truth = Self::default();
        // The last line may be truncated.
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let number = |key: &str| line[key].as_f64();
            if let (Some(id), Some(t), Some(x), Some(y)) =
                (line["id"].as_u64(), number("t"), number("x"), number("y"))
            {
                truth.0.entry(id).or_default().push((t, [x, y]));
            }
        }
        truth
    }

    fn position_at(&self, id: u64, t: f64) -> Option<[f64; 2]> {
        let line = self.0.get(&id)?;
        let after = line.partition_point(|(time, _)| *time < t);
        let (t1, to) = *line.get(after)?;
        let (t0, from) = *line.get(after.checked_sub(1)?)?;
        let share = (t - t0) / (t1 - t0);
        (t1 - t0 <= MAX_TRACE_GAP_MS)
            .then(|| [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * share))
    }

    fn nearest(&self, t: f64, position: [f64; 2]) -> Option<(u64, f64)> {
        let all = self
            .0
            .keys()
            .filter_map(|id| Some((*id, distance(self.position_at(*id, t)?, position))));
        all.min_by(|one, other| one.1.total_cmp(&other.1))
    }
}

fn compare(truth: &Trace, shown: &str) -> anyhow::Result<Accuracy> {
    let mut known = BTreeMap::new();
    let mut distances = Vec::new();
    let mut unmatched = 0;
    for line in shown.lines() {
        let fields: Vec<f64> = line.split(' ').filter_map(|field| field.parse().ok()).collect();
        let &[client, t, id, x, y] = fields.as_slice() else {
            continue;
        };
        let traced = *known.entry((client as u64, id as u64)).or_insert_with(|| {
            let found = truth.nearest(t, [x, y]);
            found.filter(|(_, distance)| *distance < MAX_MATCH_M).map(|(id, _)| id)
        });
        match traced {
            None => unmatched += 1,
            Some(traced) => distances
                .extend(truth.position_at(traced, t).map(|position| distance(position, [x, y]))),
        }
    }
    ensure!(!distances.is_empty(), "no object that the bots have shown is in the trace");
    distances.sort_by(f64::total_cmp);
    let at = |share: f64| {
        distances[((distances.len() as f64 * share).ceil() as usize).clamp(1, distances.len()) - 1]
    };
    Ok(Accuracy {
        samples: distances.len(),
        unmatched,
        p50_m: at(0.5),
        p99_m: at(0.99),
        max_m: at(1.0),
    })
}

fn distance(one: [f64; 2], other: [f64; 2]) -> f64 {
    (one[0] - other[0]).hypot(one[1] - other[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_positions_are_compared_with_the_interpolated_trace() {
        let truth = Trace::read(
            "{\"ev\":\"room\"}\n{\"t\":0,\"ev\":\"spawn\",\"id\":7,\"x\":1.0,\"y\":0.0}\n\
             {\"t\":50,\"ev\":\"move\",\"id\":7,\"x\":1.2,\"y\":0.0}\n{\"t\":5",
        );
        assert_eq!(truth.position_at(7, 60.0), None);
        let found =
            compare(&truth, "3 25.0 900 1.10 0.02\n3 25.0 901 9.00 9.00\n4 25.0 900 1.10 0.00")
                .unwrap();
        assert_eq!((found.samples, found.unmatched), (2, 1));
        assert!((found.max_m - 0.02).abs() < 1e-9 && found.p50_m < 1e-9, "{found:?}");
    }
}
