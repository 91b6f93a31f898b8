//! The file with the secret of the player's account on this device.
//!
//! It is made at its first use, is one line of text, and stands for the account: who copies it to
//! another machine has the same account there. Only the user can read it. A file that holds
//! something else is left as it is.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use ambit_transport::account_proof::{DeviceAccount, SEED_BYTES};
use ambit_transport::random::system_random;
use data_encoding::HEXLOWER_PERMISSIVE;

use crate::resume_token::make_private_directory;
use crate::user_directory::{path_variable, user_directory};

/// Begins the line; the secret follows in hexadecimal.
const PREFIX: &str = "ambit-account-";
/// A longer file is none.
const MAX_BYTES: u64 = 1_024;

/// Why there is no account.
#[derive(Debug, thiserror::Error)]
pub enum AccountFileError {
    /// The file can't be read or written.
    #[error(
        "can't read or make the account in {}: {error}; AMBIT_ACCOUNT names another file",
        path.display()
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file has something else.
    #[error(
        "{} holds no account: expected one line, `{PREFIX}` and 64 hexadecimal digits; put a copy \
         of the account there, or move the file away to get a new account",
        path.display()
    )]
    Invalid {
        /// The file.
        path: PathBuf,
    },
    /// No variable says where the file is.
    #[error("no path for the account: set AMBIT_ACCOUNT to a file, or HOME to a directory")]
    NoPath,
}

/// The account in the file that `choice` names, else the user's: in the file that
/// `$AMBIT_ACCOUNT` names, else `$XDG_CONFIG_HOME/ambit/account`, else
/// `$HOME/.config/ambit/account`. `off` instead of a file stands for no account. `variable` looks
/// up an environment variable; an empty one counts as not set.
pub fn for_user(
    choice: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<DeviceAccount>, AccountFileError> {
    let path = user_path(choice, variable)?;
    path.map(|path| open(&path)).transpose()
}

fn user_path(
    choice: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<PathBuf>, AccountFileError> {
    let chosen = choice.map(Path::to_owned).or_else(|| path_variable(&variable, "AMBIT_ACCOUNT"));
    match chosen {
        Some(path) => Ok(Some(path).filter(|path| path != Path::new("off"))),
        None => user_directory(&variable, "XDG_CONFIG_HOME", ".config")
            .map(|directory| Some(directory.join("account")))
            .ok_or(AccountFileError::NoPath),
    }
}

/// The account in this file, which is made if it is missing or empty.
pub fn open(path: &Path) -> Result<DeviceAccount, AccountFileError> {
    let failed = |error| AccountFileError::Io { path: path.to_owned(), error };
    let mut file = open_locked(path).map_err(failed)?;
    let mut text = String::new();
    let read = (&mut file).take(MAX_BYTES).read_to_string(&mut text);
    match read {
        Ok(0) => {
            let seed = system_random().map_err(failed)?;
            write(&mut file, &seed).map_err(failed)?;
            Ok(DeviceAccount::from_seed(&seed))
        }
        Err(error) if error.kind() != io::ErrorKind::InvalidData => Err(failed(error)),
        _ => {
            let seed = parse(&text).ok_or(AccountFileError::Invalid { path: path.to_owned() })?;
            Ok(DeviceAccount::from_seed(&seed))
        }
    }
}

/// Two programs that start at once make one account.
fn open_locked(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        make_private_directory(directory)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // An account that is only to be read, such as a mounted secret.
    let file = options.open(path).or_else(|_| File::open(path))?;
    file.lock()?;
    Ok(file)
}

fn write(file: &mut File, seed: &[u8; SEED_BYTES]) -> io::Result<()> {
    file.write_all(format!("{PREFIX}{}\n", HEXLOWER_PERMISSIVE.encode(seed)).as_bytes())?;
    // What the account has earned by tomorrow is lost with it.
    file.sync_all()
}

fn parse(text: &str) -> Option<[u8; SEED_BYTES]> {
    let digits = text.trim().strip_prefix(PREFIX)?;
    HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::*;
    use crate::user_directory::tests::environment;

    #[test]
    fn an_account_is_made_once_and_moves_with_its_file() {
        let scratch = AccountFolder::new();
        let path = scratch.file("account");
        let makers: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                thread::spawn(move || open(&path).expect("an account").id())
            })
            .collect();
        let ids: Vec<_> = makers.into_iter().map(|maker| maker.join().expect("no panic")).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        let copy = scratch.file("copy");
        fs::copy(&path, &copy).expect("it can be copied");
        assert_eq!(open(&copy).expect("an account").id(), ids[0]);
        assert_ne!(open(&scratch.file("other")).expect("an account").id(), ids[0]);
    }

    #[test]
    fn what_is_no_account_is_left_as_it_is() {
        let scratch = AccountFolder::new();
        let path = scratch.file("account");
        let short = format!("{PREFIX}00");
        for bytes in [&b"secret"[..], short.as_bytes(), &[0xff, 0xfe], &[b'a'; 2_000]] {
            fs::write(&path, bytes).expect("it can be written");
            let error = open(&path).expect_err("it is none");
            assert!(matches!(error, AccountFileError::Invalid { .. }), "{error}");
            assert_eq!(fs::read(&path).expect("it is there"), bytes);
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_account() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = AccountFolder::new();
        let path = scratch.file("account");
        open(&path).expect("an account");
        let mode = fs::metadata(&path).expect("it exists").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_environment_sets_the_file() {
        let path = |choice: Option<&str>, variables: &[(&str, &str)]| {
            user_path(choice.map(Path::new), environment(variables)).ok().flatten()
        };
        let check = |found: Option<PathBuf>, expected: &str| {
            assert_eq!(found.as_deref(), Some(Path::new(expected)));
        };
        let all = [("AMBIT_ACCOUNT", "/a"), ("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")];
        check(path(Some("/c"), &all), "/c");
        check(path(None, &all), "/a");
        check(path(None, &all[1..]), "/x/ambit/account");
        check(path(None, &all[2..]), "/h/.config/ambit/account");
        assert_eq!(path(Some("off"), &all), None);
        assert_eq!(path(None, &[("AMBIT_ACCOUNT", "off"), ("HOME", "/h")]), None);
        let none = user_path(None, environment(&[]));
        assert!(matches!(none, Err(AccountFileError::NoPath)), "{none:?}");
    }

    /// A folder that is removed with this value.
    struct AccountFolder(PathBuf);

    impl AccountFolder {
        fn new() -> Self {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("ambit-account-{}-{number}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).expect("it can be made");
            AccountFolder(folder)
        }

        fn file(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }
    }

    impl Drop for AccountFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
