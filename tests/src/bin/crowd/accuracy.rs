//! How far what clients show is from the truth.
//!
//! A room with its trace and a few bots that write down what they show; out come distances in
//! metres. What a client shows has no name that the trace knows: at its first sight an object is
//! taken for the nearest of the trace (others are metres away), and then keeps being that one.
//!
//! Truth between two ticks lies on the straight line between them. Where something has come in or
//! gone meanwhile there is none, and no sample.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::ambit_room::{CrowdRun, Motion, map_edge_m};
use crate::pinned_process::{ScratchFolder, WAIT_LIMIT};

/// A small room: the accuracy is no matter of numbers.
const CLIENTS: u32 = 100;
const WINDOW: Duration = Duration::from_secs(6);
/// Farther apart than this at first sight, and it is not the same thing.
const MAX_MATCH_M: f64 = 1.0;
/// Between two samples of the truth: a tick, and a little more.
const MAX_TRACE_GAP_MS: f64 = 60.0;

/// Distances between what was shown and what was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accuracy {
    pub(crate) samples: usize,
    /// Things shown that were nowhere near anything.
    pub(crate) unmatched: usize,
    pub(crate) p50_m: f64,
    pub(crate) p99_m: f64,
    pub(crate) max_m: f64,
}

/// Runs the room and compares.
pub(crate) fn measure(motion: Motion) -> anyhow::Result<Accuracy> {
    let scratch = ScratchFolder::new()?;
    let (trace, shown) = (scratch.0.join("trace"), scratch.0.join("shown"));
    let edge = map_edge_m(motion, CLIENTS);
    let room = [
        ("walk", motion.to_string()),
        ("size", format!("{edge:.1}x{edge:.1}")),
    ];
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let run = CrowdRun::start(
        &scratch.0,
        CLIENTS,
        WINDOW,
        &room,
        &["--shown".into(), path(&shown)],
        &["--trace".into(), path(&trace)],
    )?;
    run.bots.wait_for_line("measuring", WAIT_LIMIT)?;
    run.read_result()?;
    // The server writes what it has when it is asked to end; what the bots have seen is older.
    std::thread::sleep(Duration::from_secs(1));
    drop(run);
    let file = std::fs::read_dir(&trace)?
        .flatten()
        .next()
        .context("no trace")?
        .path();
    let truth = Trace::read(&std::fs::read_to_string(file)?);
    compare(&truth, &std::fs::read_to_string(&shown)?)
}

/// Where each object was, by its id and time in milliseconds.
#[derive(Debug, Default)]
struct Trace(BTreeMap<u64, Vec<(f64, [f64; 2])>>);

impl Trace {
    fn read(text: &str) -> Self {
        let mut truth = Self::default();
        // The last line may be cut.
        for line in text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        {
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

    fn nearest(&self, t: f64, place: [f64; 2]) -> Option<(u64, f64)> {
        let all = self
            .0
            .keys()
            .filter_map(|id| Some((*id, distance(self.position_at(*id, t)?, place))));
        all.min_by(|one, other| one.1.total_cmp(&other.1))
    }
}

fn compare(truth: &Trace, shown: &str) -> anyhow::Result<Accuracy> {
    let mut known = BTreeMap::new();
    let (mut distances, mut strangers) = (Vec::new(), 0);
    for line in shown.lines() {
        let fields: Vec<f64> = line
            .split(' ')
            .filter_map(|field| field.parse().ok())
            .collect();
        let &[client, t, id, x, y] = fields.as_slice() else {
            continue;
        };
        let who = *known.entry((client as u64, id as u64)).or_insert_with(|| {
            let found = truth.nearest(t, [x, y]);
            found
                .filter(|(_, distance)| *distance < MAX_MATCH_M)
                .map(|(id, _)| id)
        });
        match who {
            None => strangers += 1,
            Some(who) => distances.extend(
                truth
                    .position_at(who, t)
                    .map(|place| distance(place, [x, y])),
            ),
        }
    }
    ensure!(
        !distances.is_empty(),
        "the bots have shown nothing that the trace knows"
    );
    distances.sort_by(f64::total_cmp);
    let at = |share: f64| {
        distances[((distances.len() as f64 * share).ceil() as usize).clamp(1, distances.len()) - 1]
    };
    Ok(Accuracy {
        samples: distances.len(),
        unmatched: strangers,
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
    fn what_is_shown_is_compared_with_the_line_between_two_ticks() {
        let truth = Trace::read(
            "{\"ev\":\"room\"}\n{\"t\":0,\"ev\":\"spawn\",\"id\":7,\"x\":1.0,\"y\":0.0}\n\
             {\"t\":50,\"ev\":\"move\",\"id\":7,\"x\":1.2,\"y\":0.0}\n{\"t\":5",
        );
        assert_eq!(truth.position_at(7, 60.0), None);
        let found = compare(
            &truth,
            "3 25.0 900 1.10 0.02\n3 25.0 901 9.00 9.00\n4 25.0 900 1.10 0.00",
        )
        .unwrap();
        assert_eq!((found.samples, found.unmatched), (2, 1));
        assert!(
            (found.max_m - 0.02).abs() < 1e-9 && found.p50_m < 1e-9,
            "{found:?}"
        );
    }
}
