//! The folder of recordings (`--record`), which stays within a bound.
//!
//! Each room locks its recording for as long as it writes it. So a file that can be locked is one
//! that no room of any process writes, and a process that was killed locks nothing. Several
//! processes may share a folder; each looks at all of it before a recording begins and before it
//! grows. A folder whose file system has no locks keeps all recordings: then new ones end at the
//! bound.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::PathBuf;
use std::time::SystemTime;

use ambit_room::recording::MAGIC;

use crate::record_bound::{FoundRecording, Pruning, RecordBound, is_recording_name};

/// A recording takes space for this many bytes at a time; less if the bound is small.
const STEP_BYTES: u64 = 4_000_000;
/// The part of the bound that a recording takes at most at a time.
const STEPS_OF_BOUND: u64 = 16;

/// Where recordings are made.
#[derive(Clone, Debug)]
pub struct RecordFolder {
    pub directory: PathBuf,
    pub bound: RecordBound,
}

impl RecordFolder {
    /// For how many bytes a recording takes space that needs `bytes`.
    pub(crate) fn step(&self, bytes: u64) -> u64 {
        let most = self.bound.bytes.map_or(STEP_BYTES, |most| most / STEPS_OF_BOUND);
        most.min(STEP_BYTES).max(bytes)
    }

    /// Deletes what the bound does not allow if `more` bytes come. Returns whether they fit in.
    pub(crate) fn make_space(&self, more: u64) -> io::Result<bool> {
        if self.bound == RecordBound::default() {
            return Ok(true);
        }
        let Pruning { deleted, mut left_bytes } = self.bound.prune(self.find()?, more);
        for FoundRecording { name, bytes, age, .. } in deleted {
            match fs::remove_file(self.directory.join(&name)) {
                Ok(()) => tracing::info!(
                    file = name,
                    bytes,
                    "an old recording was deleted; its age is {} h",
                    age.as_secs() / 3_600
                ),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    tracing::warn!(file = name, "an old recording can't be deleted: {error}");
                    left_bytes += bytes;
                }
            }
        }
        Ok(self.bound.allows(left_bytes, more))
    }

    fn find(&self) -> io::Result<Vec<FoundRecording>> {
        let now = now();
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // What another process has deleted meanwhile is no error.
            let Ok(metadata) = entry.metadata() else { continue };
            if !is_recording_name(&name) || !metadata.is_file() {
                continue;
            }
            let written = metadata.modified()?;
            found.push(FoundRecording {
                name,
                bytes: metadata.len(),
                age: now.duration_since(written).unwrap_or_default(),
                has_ended: File::open(entry.path()).is_ok_and(has_ended),
            });
        }
        Ok(found)
    }
}

/// Whether this is a recording that no room writes.
fn has_ended(mut file: File) -> bool {
    let mut magic = [0; MAGIC.len()];
    file.try_lock_shared().is_ok() && file.read_exact(&mut magic).is_ok() && magic == *MAGIC
}

#[expect(clippy::disallowed_methods, reason = "the age of files is measured here")]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_folder_stays_within_its_bound_and_keeps_what_is_written() {
        let directory =
            std::env::temp_dir().join(format!("ambit-record-folder-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let make = |name: &str, magic: &[u8], days: u64| {
            let mut file = File::create(directory.join(name)).unwrap();
            file.write_all(magic).unwrap();
            file.write_all(&[0; 92]).unwrap();
            file.set_modified(now() - Duration::from_hours(24 * days)).unwrap();
            file
        };
        let names = || {
            let names = fs::read_dir(&directory).unwrap();
            let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.collect::<std::collections::BTreeSet<_>>()
        };
        let running = make("room-1.rec", MAGIC, 9);
        running.lock().unwrap();
        for (name, days) in [("room-2.rec", 8), ("room-3.rec", 3), ("room-4.rec", 2)] {
            make(name, MAGIC, days);
        }
        make("room-5.rec", b"OTHERREC", 8);
        make("notes.rec", MAGIC, 8);
        let age = Some(Duration::from_hours(7 * 24));
        let folder = |bytes| RecordFolder {
            directory: directory.clone(),
            bound: RecordBound { bytes, age },
        };
        // By age.
        assert!(folder(None).make_space(u64::MAX).unwrap());
        let left = ["notes.rec", "room-1.rec", "room-3.rec", "room-4.rec", "room-5.rec"];
        assert_eq!(names(), left.map(str::to_owned).into());
        // By size: what has another beginning counts, and stays.
        assert!(folder(Some(400)).make_space(100).unwrap());
        let left = ["notes.rec", "room-1.rec", "room-4.rec", "room-5.rec"];
        assert_eq!(names(), left.map(str::to_owned).into());
        assert!(!folder(Some(100)).make_space(1).unwrap());
        assert_eq!(names(), ["notes.rec", "room-1.rec", "room-5.rec"].map(str::to_owned).into());
        // Its room has ended.
        drop(running);
        assert!(folder(Some(101)).make_space(1).unwrap());
        assert_eq!(names(), ["notes.rec", "room-5.rec"].map(str::to_owned).into());
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn space_is_taken_in_steps_of_a_part_of_the_bound() {
        let step = |bound, bytes| {
            let bound = RecordBound { bytes: bound, age: None };
            RecordFolder { directory: PathBuf::new(), bound }.step(bytes)
        };
        assert_eq!(step(None, 9), STEP_BYTES);
        assert_eq!(step(Some(1_000_000_000), 9), STEP_BYTES);
        assert_eq!(step(Some(16_000), 9), 1_000);
        assert_eq!(step(Some(16_000), 9_000), 9_000);
    }
}
