//! A real PostgreSQL server for one test.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::cluster::free_ports;
use super::{ScratchFolder, run, wait_until};

/// With a character that a URL has to escape.
const PASSWORD: &str = "se cret";

/// A server with an empty database; killed when dropped.
pub struct Postgres {
    data: PathBuf,
    port: u16,
    child: Option<Child>,
    /// It takes only connections over TLS.
    is_encrypted: bool,
    /// The value for `--store`.
    pub url: String,
}

impl Postgres {
    /// Makes its files and starts it.
    pub fn start(name: &str) -> Result<Self> {
        Self::start_with(name, None)
    }

    /// The same; it takes only connections over TLS. `certificate` and `key` are texts in PEM.
    pub fn start_with_tls(name: &str, certificate: &str, key: &str) -> Result<Self> {
        Self::start_with(name, Some((certificate, key)))
    }

    fn start_with(name: &str, tls: Option<(&str, &str)>) -> Result<Self> {
        // Beside the scratch folder, which its user could not enter.
        let data = std::env::temp_dir().join(format!("ambit-pg-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&data);
        let password_file = ScratchFolder::new(&format!("pg-password-{name}"));
        let file = password_file.path().join("password");
        std::fs::write(&file, PASSWORD)?;
        run(program("initdb")
            .args(["--auth=scram-sha-256", "--username=ambit", "--encoding=UTF8", "--no-sync"])
            .arg("--pwfile")
            .arg(&file)
            .arg("--pgdata")
            .arg(&data)
            .current_dir("/"))
        .context("PostgreSQL's files can't be made; `tests/run` installs it")?;
        let port = free_ports(1)?[0];
        let url = format!("postgresql://ambit:se%20cret@127.0.0.1:{port}/postgres");
        if let Some((certificate, key)) = tls {
            write_as_database_user(&data.join("server.crt"), certificate)?;
            write_as_database_user(&data.join("server.key"), key)?;
            let rule = "hostssl all all 127.0.0.1/32 scram-sha-256\n";
            write_as_database_user(&data.join("pg_hba.conf"), rule)?;
        }
        let mut postgres = Self { data, port, child: None, is_encrypted: tls.is_some(), url };
        postgres.resume()?;
        Ok(postgres)
    }

    /// Starts it again with the files that it has, and waits until it answers. While processes of
    /// a killed one still end, it does not start.
    pub fn resume(&mut self) -> Result<()> {
        wait_until("PostgreSQL", || {
            let has_ended = match &mut self.child {
                Some(child) => child.try_wait()?.is_some(),
                None => true,
            };
            if has_ended {
                self.child = Some(self.spawn()?);
            }
            let port = self.port.to_string();
            let asked = program("pg_isready").args(["-q", "-h", "127.0.0.1", "-p", &port]).status();
            Ok(asked?.success().then_some(()))
        })
    }

    fn spawn(&self) -> Result<Child> {
        let child = program("postgres")
            .args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="])
            // What survives here is the end of processes, not of the machine.
            .args(["-c", "fsync=off"])
            .args(["-c", if self.is_encrypted { "ssl=on" } else { "ssl=off" }])
            .args(["-p", &self.port.to_string(), "-D"])
            .arg(&self.data)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(child)
    }

    /// Like `kill -9`, of all its processes.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            // The others end when they see that the first one is gone.
            child.kill()?;
            child.wait()?;
            let lock = self.data.join("postmaster.pid");
            let _ = std::fs::remove_file(lock);
        }
        Ok(())
    }

    /// What `psql` prints for a statement.
    pub fn ask(&self, sql: &str) -> Result<String> {
        let output = run(Command::new("psql").args([&self.url, "-Atc", sql]))?;
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.kill();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

/// One of PostgreSQL's programs, which are not in the path on Debian.
fn program(name: &str) -> Command {
    let path = newest_version().map_or_else(|_| name.into(), |folder| folder.join(name));
    as_database_user(path.as_os_str())
}

/// PostgreSQL's programs refuse to run as root.
fn as_database_user(program: &OsStr) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

/// A file that the server takes for its own: no other user can read it.
fn write_as_database_user(path: &Path, text: &str) -> Result<()> {
    let mut command = as_database_user("sh".as_ref());
    command.args(["-c", "umask 077; cat >\"$0\""]).arg(path).current_dir("/");
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    child.stdin.take().context("a pipe")?.write_all(text.as_bytes())?;
    ensure!(child.wait()?.success(), "{} can't be written", path.display());
    Ok(())
}

fn newest_version() -> Result<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")?;
    let number = |path: &Path| path.file_name().and_then(OsStr::to_str)?.parse::<u32>().ok();
    let newest = versions.flatten().map(|entry| entry.path()).max_by_key(|path| number(path));
    let folder = newest.context("no version")?.join("bin");
    ensure!(folder.is_dir(), "{} is no folder", folder.display());
    Ok(folder)
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}
