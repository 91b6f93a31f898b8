//! What happens to the processes and their lines.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_tests::real::{self, ScratchFolder};
use anyhow::Result;

use crate::cluster::{BesiegedCluster, NATS_NODES};

/// Shorter than the silence after which a host is given up.
const SHORT: Duration = Duration::from_millis(500);

/// How often each fault was inflicted.
#[derive(Default)]
pub(crate) struct FaultCounts(BTreeMap<&'static str, u32>);

impl FaultCounts {
    pub(crate) fn note(&mut self, fault: &'static str) {
        *self.0.entry(fault).or_default() += 1;
    }

    pub(crate) fn print(&self) {
        for (fault, count) in &self.0 {
            println!("| {fault} | {count} |");
        }
    }
}

/// Inflicts a fault, and mends it: at its end all processes run.
pub(crate) fn inflict(
    rng: &mut fastrand::Rng,
    cluster: &mut BesiegedCluster,
    scratch: &ScratchFolder,
) -> Result<&'static str> {
    let host = rng.usize(..cluster.hosts.len());
    Ok(match rng.u8(..23) {
        0..=4 => {
            cluster.replace_host(host, scratch)?;
            "host killed"
        }
        5..=7 => {
            // No other process knows what it has done meanwhile.
            cluster.darken(host, SHORT)?;
            cluster.replace_host(host, scratch)?;
            "line of a host dark for 0.5 s, then the host killed"
        }
        8..=10 => {
            cluster.darken(host, SHORT)?;
            "line of a host dark for 0.5 s"
        }
        11..=13 => {
            pause(cluster.hosts[host].id(), SHORT)?;
            "host stopped for 0.5 s"
        }
        14..=16 => {
            pause(cluster.hosts[host].id(), Duration::from_millis(rng.u64(3_000..5_000)))?;
            "host stopped for 3 to 5 s"
        }
        20..=22 => {
            cluster.change_addresses();
            "all who are connected to WorldServers come from other addresses"
        }
        17..=18 => {
            let world = rng.usize(..cluster.worlds.len());
            cluster.restart_world(world, scratch)?;
            "WorldServer killed"
        }
        _ => {
            let node = rng.usize(..NATS_NODES);
            cluster.nats.kill(node)?;
            std::thread::sleep(Duration::from_secs(5));
            cluster.nats.start_node(node)?;
            "NATS node killed for 5 s"
        }
    })
}

fn pause(process: u32, length: Duration) -> Result<()> {
    real::server_signal(process, "STOP")?;
    std::thread::sleep(length);
    // A host that was given up meanwhile may have ended.
    let _ = real::server_signal(process, "CONT");
    Ok(())
}
