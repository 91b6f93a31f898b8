//! The memory of the processes over time.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_tests::real::Server;

use crate::cluster::{BesiegedCluster, HostProcess};

/// The largest resident size of each kind of process, in KiB, by time.
#[derive(Default)]
pub(crate) struct MemoryLog {
    samples: BTreeMap<&'static str, Vec<(Duration, u64)>>,
}

impl MemoryLog {
    pub(crate) fn note(&mut self, elapsed: Duration, cluster: &BesiegedCluster) {
        let worlds = cluster.worlds.iter().flatten().map(Server::id);
        let hosts = cluster.hosts.iter().map(HostProcess::id);
        for (kind, largest) in [
            ("WorldServer", worlds.filter_map(resident_kib).max()),
            ("host", hosts.filter_map(resident_kib).max()),
        ] {
            let samples = self.samples.entry(kind).or_default();
            samples.extend(largest.map(|kib| (elapsed, kib)));
        }
    }

    /// The mean of the second quarter of the time beside that of the last one: equal if nothing
    /// grows. (In the first quarter, everything still starts.)
    pub(crate) fn print(&self, time: Duration) {
        for (kind, samples) in &self.samples {
            let mean = |from: Duration, to: Duration| {
                let mut sum = 0;
                let mut count = 0;
                for (_, kib) in samples.iter().filter(|(at, _)| (from..to).contains(at)) {
                    sum += kib;
                    count += 1;
                }
                sum.checked_div(count).unwrap_or(0) / 1_024
            };
            let early = mean(time / 4, time / 2);
            let late = mean(time * 3 / 4, time);
            println!(
                "| memory of the largest {kind}, second and last quarter | {early} and {late} MiB |"
            );
        }
    }
}

fn resident_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
