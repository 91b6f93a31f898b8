//! Trust on first use, as in ssh.
//!
//! A server's address and the fingerprint of its certificate go in; "known", "new and stored" or an
//! error with instructions comes out. The store is a text file with a line per server, `host:port
//! sha256-hex`; empty lines and lines that start with `#` are kept and skipped.
//!
//! Invariants:
//! 1. A server in the file is trusted with that fingerprint and no other one.
//! 2. The file is replaced as a whole (a temporary file, then a rename) under a lock. So clients
//!    that start together lose no line, and a crash leaves the old file or the new one.
//! 3. An invalid file is an error: to skip an invalid line would mean to trust any server.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ambit_transport::quic::Fingerprint;

use crate::user_directory::{path_variable, user_directory};

/// A known-hosts file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownHosts {
    path: PathBuf,
}

/// The stored certificate of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownCertificate {
    /// The fingerprint of the certificate that the server must present.
    pub fingerprint: Fingerprint,
    /// Its line in the file, from 1.
    pub line: usize,
}

/// Why a server is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustStatus {
    /// It presents the stored certificate.
    Known,
    /// It was not known; its certificate is stored now.
    New,
}

/// Why a server is not trusted.
#[expect(missing_docs, reason = "the messages explain the other fields")]
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// It presents another certificate than before.
    #[error(
        "the certificate of {server} has changed: \
         someone may be intercepting the connection, or the server was reinstalled.\n\
         known  {known}\n\
         shown  {shown}\n\
         If you are sure that it is the right server, remove line {line} of {} and connect again.",
        path.display()
    )]
    Changed {
        server: String,
        /// The stored fingerprint.
        known: Fingerprint,
        /// The presented fingerprint.
        shown: Fingerprint,
        path: PathBuf,
        /// The line of the file, from 1.
        line: usize,
    },
    /// A line of the file is invalid.
    #[error(
        "line {line} of {} is not \"host:port\" and 64 hexadecimal digits: correct or remove it",
        path.display()
    )]
    BadLine {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The file can't be read or written.
    #[error("can't {what} {}: {error}. AMBIT_KNOWN_HOSTS names another file", path.display())]
    Io {
        /// The operation that failed.
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    /// Neither variable that determines the file is set.
    #[error(
        "no path for the known-hosts file: set AMBIT_KNOWN_HOSTS to a file, or HOME to a directory"
    )]
    NoPath,
}

impl KnownHosts {
    /// The file at `path`; it need not exist yet.
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        KnownHosts { path: path.into() }
    }

    /// The user's file: `$AMBIT_KNOWN_HOSTS`, else `$XDG_CONFIG_HOME/ambit/known_hosts`, else
    /// `$HOME/.config/ambit/known_hosts`. `variable` looks up an environment variable; an empty one
    /// counts as not set.
    pub fn for_user(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, TrustError> {
        let path = path_variable(&variable, "AMBIT_KNOWN_HOSTS").or_else(|| {
            let directory = user_directory(&variable, "XDG_CONFIG_HOME", ".config")?;
            Some(directory.join("known_hosts"))
        });
        path.map(Self::from_path).ok_or(TrustError::NoPath)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The stored certificate of `server` (`"host:port"`).
    pub fn find_certificate(&self, server: &str) -> Result<Option<KnownCertificate>, TrustError> {
        self.find(&self.read()?, server)
    }

    /// Checks whether `server` may present `shown`, and stores the certificate of an unknown
    /// server.
    pub fn check(&self, server: &str, shown: Fingerprint) -> Result<TrustStatus, TrustError> {
        if let Some(pin) = self.find_certificate(server)? {
            return self.compare(server, pin, shown);
        }
        let _locked = self.lock()?;
        let text = self.read()?;
        // Another client may have stored it meanwhile.
        if let Some(pin) = self.find(&text, server)? {
            return self.compare(server, pin, shown);
        }
        self.replace(&append_line(text, server, shown))?;
        Ok(TrustStatus::New)
    }

    /// The error for a `server` that presents another certificate than the stored one.
    pub fn changed_error(
        &self,
        server: &str,
        pin: KnownCertificate,
        shown: Fingerprint,
    ) -> TrustError {
        let KnownCertificate { fingerprint: known, line } = pin;
        TrustError::Changed {
            server: server.to_owned(),
            known,
            shown,
            path: self.path.clone(),
            line,
        }
    }

    fn compare(
        &self,
        server: &str,
        pin: KnownCertificate,
        shown: Fingerprint,
    ) -> Result<TrustStatus, TrustError> {
        if pin.fingerprint == shown {
            Ok(TrustStatus::Known)
        } else {
            Err(self.changed_error(server, pin, shown))
        }
    }

    fn find(&self, text: &str, server: &str) -> Result<Option<KnownCertificate>, TrustError> {
        let mut found = None;
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let bad = || TrustError::BadLine { path: self.path.clone(), line: line_number };
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_whitespace();
            let (Some(name), Some(digits), None) = (words.next(), words.next(), words.next())
            else {
                return Err(bad());
            };
            let fingerprint = digits.parse().map_err(|_| bad())?;
            if name.eq_ignore_ascii_case(server) && found.is_none() {
                found = Some(KnownCertificate { fingerprint, line: line_number });
            }
        }
        Ok(found)
    }

    fn read(&self) -> Result<String, TrustError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(self.io("read", error)),
        }
    }

    /// The lock is held until the returned file is dropped.
    fn lock(&self) -> Result<File, TrustError> {
        if let Some(directory) =
            self.path.parent().filter(|directory| !directory.as_os_str().is_empty())
        {
            fs::create_dir_all(directory)
                .map_err(|error| self.io("make the directory of", error))?;
        }
        let file =
            File::create(self.sibling_path("lock")).map_err(|error| self.io("lock", error))?;
        file.lock().map_err(|error| self.io("lock", error))?;
        Ok(file)
    }

    fn replace(&self, text: &str) -> Result<(), TrustError> {
        let temporary = self.sibling_path("new");
        let write = || {
            let mut file = File::create(&temporary)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)
        };
        write().map_err(|error| self.io("write", error))
    }

    fn sibling_path(&self, extension: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".");
        path.push(extension);
        path.into()
    }

    fn io(&self, what: &'static str, error: io::Error) -> TrustError {
        TrustError::Io { what, path: self.path.clone(), error }
    }
}

fn append_line(mut text: String, server: &str, shown: Fingerprint) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + &format!("{server} {shown}\n")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::user_directory::tests::environment;

    const SERVER: &str = "127.0.0.1:7777";
    const ONE: Fingerprint = Fingerprint([1; 32]);
    const OTHER: Fingerprint = Fingerprint([2; 32]);

    #[test]
    fn the_first_contact_is_remembered_and_the_second_compared() {
        let hosts = Scratch::new();
        assert_eq!(hosts.check(SERVER, ONE).expect("new"), TrustStatus::New);
        assert_eq!(hosts.check(SERVER, ONE).expect("known"), TrustStatus::Known);
        assert_eq!(
            hosts.find_certificate(SERVER).expect("readable"),
            Some(KnownCertificate { fingerprint: ONE, line: 1 })
        );
        assert_eq!(hosts.find_certificate("127.0.0.1:7778").expect("readable"), None);
    }

    #[test]
    fn a_changed_certificate_is_refused_with_both_values_and_the_line() {
        let hosts = Scratch::new();
        fs::create_dir_all(hosts.path().parent().expect("a directory")).expect("writable");
        fs::write(hosts.path(), format!("# mine\n\n{SERVER} {ONE}\n")).expect("writable");
        let message = hosts.check(SERVER, OTHER).expect_err("changed").to_string();
        let path = hosts.path().display().to_string();
        for part in [SERVER, &ONE.to_string(), &OTHER.to_string(), "line 3", &path] {
            assert!(message.contains(part), "{part} is not in: {message}");
        }
        assert_eq!(
            hosts.find_certificate(SERVER).expect("readable").map(|pin| pin.fingerprint),
            Some(ONE)
        );
    }

    #[test]
    fn other_lines_survive_a_new_one_even_without_a_last_line_end() {
        let hosts = Scratch::new();
        fs::create_dir_all(hosts.path().parent().expect("a directory")).expect("writable");
        fs::write(hosts.path(), format!("# mine\nelsewhere:1 {OTHER}")).expect("writable");
        hosts.check(SERVER, ONE).expect("new");
        let text = fs::read_to_string(hosts.path()).expect("readable");
        assert_eq!(text, format!("# mine\nelsewhere:1 {OTHER}\n{SERVER} {ONE}\n"));
    }

    #[test]
    fn an_invalid_line_is_an_error() {
        for line in ["127.0.0.1:7777", "a b c", "127.0.0.1:7777 abcd"] {
            let hosts = Scratch::new();
            fs::create_dir_all(hosts.path().parent().expect("a directory")).expect("writable");
            fs::write(hosts.path(), format!("x:1 {ONE}\n{line}\n")).expect("writable");
            let error = hosts.check(SERVER, ONE).expect_err(line);
            assert!(matches!(error, TrustError::BadLine { line: 2, .. }), "{error}");
        }
    }

    #[test]
    fn clients_that_start_together_lose_no_line() {
        let hosts = Scratch::new();
        std::thread::scope(|scope| {
            for client in 0..8 {
                let hosts = &hosts;
                scope.spawn(move || {
                    for server in 0..8 {
                        hosts.check(&format!("host{client}-{server}:1"), ONE).expect("new");
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(hosts.path()).expect("readable").lines().count(), 64);
    }

    #[test]
    fn the_environment_sets_the_path_of_the_file() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let path = KnownHosts::for_user(environment(variables)).ok().map(|hosts| hosts.path);
            assert_eq!(path.as_deref(), expected.map(Path::new));
        };
        let all = [("AMBIT_KNOWN_HOSTS", "/k"), ("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")];
        check(&all, Some("/k"));
        check(&all[1..], Some("/x/ambit/known_hosts"));
        check(&all[2..], Some("/h/.config/ambit/known_hosts"));
        check(&[("AMBIT_KNOWN_HOSTS", ""), ("HOME", "/h")], Some("/h/.config/ambit/known_hosts"));
        check(&[], None);
    }

    /// A known-hosts file in its own directory, which is removed with this value.
    struct Scratch {
        hosts: KnownHosts,
        directory: PathBuf,
    }

    impl Scratch {
        fn new() -> Self {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let directory =
                std::env::temp_dir().join(format!("ambit-trust-{}-{number}", std::process::id()));
            Scratch { hosts: KnownHosts::from_path(directory.join("deep/known_hosts")), directory }
        }
    }

    impl std::ops::Deref for Scratch {
        type Target = KnownHosts;

        fn deref(&self) -> &KnownHosts {
            &self.hosts
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}
