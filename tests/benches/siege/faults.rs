//! What happens to the processes.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_tests::real::{self, ScratchFolder};
use anyhow::Result;

use crate::cluster::{BesiegedCluster, NATS_NODES};

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
    Ok(match rng.u8(..20) {
        0..=7 => {
            // Dropping kills it.
            drop(cluster.hosts.remove(host));
            cluster.add_host(scratch)?;
            "host killed"
        }
        8..=13 => {
            // As a line that is dark for this long.
            pause(cluster.hosts[host].id(), Duration::from_millis(500))?;
            "host stopped for 0.5 s"
        }
        14..=16 => {
            pause(
                cluster.hosts[host].id(),
                Duration::from_millis(rng.u64(3_000..5_000)),
            )?;
            "host stopped for 3 to 5 s"
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
