//! Stores a session's resume token, so that a program that died can resume the session.
//!
//! There is one file for each server and name. It holds the token while the program runs, and keeps
//! it if the program dies. The running program holds a lock on the file. A second one with the same
//! name would take over the session, so it runs without a token.
//!
//! The token is a secret: only the user can read the file. An error of the file is logged, and the
//! program runs without it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write as _};
use std::path::Path;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

/// The file with the token of one session; dropping it releases the lock.
#[derive(Debug, Default)]
pub struct TokenFile {
    file: Option<File>,
}

impl TokenFile {
    /// Maximum length of a token in bytes; a longer file is invalid.
    pub const MAX_BYTES: usize = 256;

    /// No file: for a player without a name.
    pub fn none() -> Self {
        TokenFile::default()
    }

    /// The file for `name` at `server`, unless another program holds it.
    pub fn open(directory: &Path, server: &str, name: &str) -> Self {
        let path = directory.join(file_name(server, name));
        match open_locked(directory, &path) {
            Ok(Some(file)) => TokenFile { file: Some(file) },
            Ok(None) => {
                tracing::info!("another program plays as {name}: this one starts a new session");
                TokenFile::none()
            }
            Err(error) => {
                tracing::warn!(
                    "can't store the session in {}, which can't be resumed later: {error}",
                    path.display()
                );
                TokenFile::none()
            }
        }
    }

    /// The token of a session that did not end; empty if there is none.
    pub fn token(&mut self) -> Vec<u8> {
        self.file.as_mut().and_then(|file| read(file).ok()).unwrap_or_default()
    }

    /// Replaces the token.
    pub fn store(&mut self, token: &[u8]) {
        if let Some(file) = &mut self.file
            && let Err(error) = write(file, token)
        {
            tracing::warn!("can't store the session, which can't be resumed later: {error}");
        }
    }

    /// Removes the token: the session has ended.
    pub fn clear(&mut self) {
        self.store(&[]);
    }
}

/// A hash, so that any server and name make a valid and unique file name.
fn file_name(server: &str, name: &str) -> String {
    let digest =
        ring::digest::digest(&ring::digest::SHA256, format!("{server}\n{name}").as_bytes());
    format!("session-{}", HEXLOWER.encode(&digest.as_ref()[..16]))
}

/// Makes a directory that only the user can look into, unless it is there.
pub(crate) fn make_private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Makes the directory and the file if they are missing; `None` if another program holds the lock.
fn open_locked(directory: &Path, path: &Path) -> io::Result<Option<File>> {
    make_private_directory(directory)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let mut text = String::new();
    file.rewind()?;
    // One character more than the longest token in hex: a longer file has an odd length, which
    // is refused.
    file.take(2 * TokenFile::MAX_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(HEXLOWER_PERMISSIVE.decode(text.trim().as_bytes()).unwrap_or_default())
}

fn write(file: &mut File, token: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    if !token.is_empty() {
        file.write_all(format!("{}\n", HEXLOWER.encode(token)).as_bytes())?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const NONE: [u8; 0] = [];

    #[test]
    fn a_stored_token_is_read_by_the_next_console() {
        let scratch = Scratch::new();
        scratch.open("ann").store(&[1, 2, 254]);
        assert_eq!(scratch.open("ann").token(), [1, 2, 254]);
        assert_eq!(scratch.open("bob").token(), NONE);
    }

    #[test]
    fn a_shorter_token_replaces_a_longer_one_and_clear_removes_it() {
        let scratch = Scratch::new();
        let mut file = scratch.open("ann");
        file.store(&[7; 32]);
        file.store(&[8; 16]);
        assert_eq!(file.token(), [8; 16]);
        file.clear();
        assert_eq!(file.token(), NONE);
    }

    #[test]
    fn a_second_console_of_the_same_name_does_not_change_the_token() {
        let scratch = Scratch::new();
        let mut first = scratch.open("ann");
        first.store(&[1; 16]);
        let mut second = scratch.open("ann");
        assert_eq!(second.token(), NONE);
        second.store(&[2; 16]);
        second.clear();
        assert_eq!(first.token(), [1; 16]);
    }

    #[test]
    fn an_invalid_file_holds_no_token() {
        let scratch = Scratch::new();
        let mut file = scratch.open("ann");
        for text in ["zz", "abc", "\u{e9}\u{e9}"] {
            fs::write(scratch.0.join(file_name("a:1", "ann")), text).expect("writable");
            assert_eq!(file.token(), NONE, "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_token() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new();
        scratch.open("ann").store(&[1; 16]);
        let mode =
            |path: &Path| fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
        assert_eq!(mode(&scratch.0.join(file_name("a:1", "ann"))), 0o600);
        assert_eq!(mode(&scratch.0), 0o700);
    }

    /// A directory that is removed with this value.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new() -> Self {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            Scratch(
                std::env::temp_dir().join(format!("ambit-token-{}-{number}", std::process::id())),
            )
        }

        fn open(&self, name: &str) -> TokenFile {
            TokenFile::open(&self.0, "a:1", name)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
