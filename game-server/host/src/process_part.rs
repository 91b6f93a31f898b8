//! Which part of its process a host is: all of it, or one core of several.
//!
//! A process that hosts rooms on several cores is several hosts. Each has its own port, threads,
//! clock and rooms, and its own link to the WorldServer; they share nothing that a packet or a tick
//! needs. They end together, and are known by the instance of the first one.

use std::thread::available_parallelism;

use ambit_transport::random::system_random;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct ProcessPart {
    /// Random bytes that no other host has.
    pub(crate) instance: [u8; 16],
    /// The instance of the first host of the process.
    pub(crate) process: [u8; 16],
    /// From 0.
    number: usize,
    count: usize,
}

impl ProcessPart {
    /// A host that is all of its process, or the only one in it.
    pub fn whole() -> std::io::Result<Self> {
        let instance = system_random()?;
        Ok(Self { instance, process: instance, number: 0, count: 1 })
    }

    /// The parts of a process that is several hosts.
    pub(crate) fn several(count: usize) -> std::io::Result<Vec<Self>> {
        let first = Self { count, ..Self::whole()? };
        let part = |number| {
            let instance = if number == 0 { first.instance } else { system_random()? };
            Ok(Self { instance, number, ..first })
        };
        (0..count).map(part).collect()
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.count == 1
    }

    /// How many threads of it can run at the same time, on this machine or by the quota of its
    /// container.
    pub(crate) fn cores(&self) -> u32 {
        (machine_cores() / self.count).max(1) as u32
    }

    /// For people.
    pub(crate) fn label(&self) -> String {
        let process = format!("process {}", std::process::id());
        if self.is_whole() { process } else { format!("{process}, core {}", self.number + 1) }
    }

    /// Its share of what the process has, such as rooms: the shares are equal but for one.
    pub(crate) fn share_of(&self, total: u32) -> u32 {
        let (count, number) = (self.count as u32, self.number as u32);
        total / count + u32::from(number < total % count)
    }
}

/// How many threads run at the same time, on this machine or by the quota of the container.
pub(crate) fn machine_cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_process_know_the_first_and_share_its_rooms() {
        let parts = ProcessPart::several(3).expect("random bytes");
        assert!(parts.iter().all(|part| part.process == parts[0].instance && !part.is_whole()));
        assert_ne!(parts[1].instance, parts[2].instance);
        assert_eq!([0, 1, 2].map(|number| parts[number].share_of(64)), [22, 21, 21]);
        assert!(parts[2].label().ends_with(", core 3"), "{}", parts[2].label());
        let whole = ProcessPart::whole().expect("random bytes");
        assert!(whole.is_whole() && whole.instance == whole.process);
        assert_eq!((whole.share_of(64), whole.cores() as usize), (64, machine_cores()));
    }
}
