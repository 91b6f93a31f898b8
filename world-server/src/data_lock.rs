//! The lock on the directory of `--data-dir`.
//!
//! Its secrets are for one server alone: with the same secret of stateless resets, one server could
//! cut the connections of another. Only servers of clusters may share a directory, as several on
//! one machine do: their secrets follow from the key that they share, and they share the
//! certificates that are in the directory. The kernel frees the lock with the end of the process,
//! whatever ends it, so a server can be started again at once.

use std::fs::{self, File, OpenOptions, TryLockError};

use crate::config::{Config, HostingMode};

/// Locks the directory until the file is dropped. `None` if that is not possible there: whatever
/// needs the directory says what is wrong with it.
pub(crate) fn take(config: &Config) -> anyhow::Result<Option<File>> {
    let directory = config.data_dir();
    let mut options = OpenOptions::new();
    // Reading makes a FIFO no reason to wait.
    options.read(true).write(true).create(true).truncate(false);
    let path = directory.join("server.lock");
    let opened = fs::create_dir_all(&directory).and_then(|()| options.open(path));
    let Ok(file) = opened else {
        return Ok(None);
    };
    let taken = match config.hosts {
        HostingMode::Cluster => file.try_lock_shared(),
        HostingMode::Embedded | HostingMode::Process { .. } => file.try_lock(),
    };
    match taken {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => anyhow::bail!(
            "another server uses the directory {}, whose secrets are for one server alone: name \
             another one with `--data-dir DIR`, or wait until the other server has ended",
            directory.display()
        ),
        Err(TryLockError::Error(error)) => {
            tracing::warn!(
                directory = %directory.display(),
                %error,
                "cannot lock the data directory: make sure that no other server uses it"
            );
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_for_one_server_or_for_servers_of_a_cluster() {
        let directory = std::env::temp_dir().join(format!("ambit-data-{}", std::process::id()));
        let start = |more: &[&str]| {
            let arguments = ["world-server", "--data-dir", directory.to_str().unwrap()];
            take(&Config::from_arguments([&arguments, more].concat()).unwrap())
        };
        let cluster = ["--hosts", "cluster", "--nats", "nats://127.0.0.1:4222"];
        let cluster = [&cluster[..], &["--host-key", "0123456789abcdef"]].concat();
        let first = start(&[]).unwrap();
        assert!(first.is_some());
        for second in [&[][..], &["--hosts", "process:2"], &cluster] {
            let error = start(second).unwrap_err().to_string();
            assert!(error.contains(directory.to_str().unwrap()), "{error}");
            assert!(error.contains("`--data-dir DIR`"), "{error}");
        }
        drop(first);
        let members = [start(&cluster).unwrap(), start(&cluster).unwrap()];
        assert!(members.iter().all(Option::is_some));
        assert!(start(&[]).is_err());
        drop(members);
        assert!(start(&[]).unwrap().is_some());
        fs::remove_dir_all(&directory).unwrap();
    }
}
