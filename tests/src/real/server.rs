//! A world-server in a process of its own.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::{OutputLines, ScratchFolder, WAIT_LIMIT, binary, wait_until};

/// Values of `/metrics` by series; the name includes the labels.
pub type Metrics = BTreeMap<String, f64>;

/// A running server; killed when dropped.
pub struct Server {
    child: Child,
    lines: OutputLines,
    log: OutputLines,
    /// Where clients connect.
    pub world: SocketAddr,
    /// Address of `/metrics` and `/healthz`.
    pub http: SocketAddr,
    /// Where hosts connect.
    pub peers: SocketAddr,
    /// The whole line `ready ...`.
    pub ready: String,
}

/// What the HTTP port has answered.
#[derive(Debug)]
pub struct HttpAnswer {
    pub status: u16,
    /// The lines before the body.
    pub head: String,
    pub body: Vec<u8>,
}

impl HttpAnswer {
    /// Asks the HTTP port at this address, with these header lines alone.
    pub fn ask(
        http: SocketAddr,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> Result<Self> {
        use std::io::{Read, Write};
        let mut stream =
            std::net::TcpStream::connect(http).context("the HTTP port does not answer")?;
        stream.set_read_timeout(Some(WAIT_LIMIT))?;
        let headers = format!("{headers}Connection: close\r\n");
        write!(stream, "{method} {path} HTTP/1.1\r\n{headers}\r\n{body}")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Self::parse(answer)
    }

    /// Of all bytes of an answer.
    pub fn parse(mut answer: Vec<u8>) -> Result<Self> {
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let body = answer.split_off(end.context("an answer without an end of its head")? + 4);
        let head = String::from_utf8(answer)?;
        let status =
            head.split_whitespace().nth(1).context("an answer without a status")?.parse()?;
        Ok(HttpAnswer { status, head, body })
    }

    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find_map(|(known, value)| known.eq_ignore_ascii_case(name).then_some(value))
    }
}

impl Server {
    /// Starts one on free ports and waits until it is ready.
    pub fn start(scratch: &ScratchFolder, arguments: &[&str]) -> Result<Self> {
        Self::start_with(scratch, arguments, &[])
    }

    /// Starts one that also offers test games.
    pub fn start_with_test_games(scratch: &ScratchFolder, arguments: &[&str]) -> Result<Self> {
        Self::start_program("test-server", scratch, arguments, &[])
    }

    /// The same, with environment variables.
    pub fn start_with(
        scratch: &ScratchFolder,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        Self::start_program("world-server", scratch, arguments, variables)
    }

    /// The same as [`Server::start`], with this standard input.
    pub fn start_at(
        scratch: &ScratchFolder,
        arguments: &[&str],
        input: impl Into<Stdio>,
    ) -> Result<Self> {
        Self::start_from("world-server", scratch, arguments, &[], input.into())
    }

    fn start_program(
        program: &str,
        scratch: &ScratchFolder,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        Self::start_from(program, scratch, arguments, variables, Stdio::null())
    }

    fn start_from(
        program: &str,
        scratch: &ScratchFolder,
        arguments: &[&str],
        variables: &[(&str, &str)],
        input: Stdio,
    ) -> Result<Self> {
        let mut command = Command::new(binary(program));
        scratch.confine(&mut command).envs(variables.iter().copied());
        command.args(arguments);
        for listener in ["--http", "--listen"] {
            if !arguments.contains(&listener) {
                command.args([listener, "127.0.0.1:0"]);
            }
        }
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("the world-server can't be started")?;
        let mut lines = OutputLines::read_from(child.stdout.take().expect("piped"));
        let mut log = OutputLines::read_from(child.stderr.take().expect("piped"));
        let ready = lines
            .find("the line `ready`", |line| line.starts_with("ready").then(|| line.to_owned()))
            .with_context(|| log.take_available().join("\n"))?;
        let address = |key: &str| -> Result<SocketAddr> {
            let value =
                ready.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            value
                .with_context(|| format!("no {key}= in '{ready}'"))?
                .parse()
                .with_context(|| format!("{key}= in '{ready}'"))
        };
        let world = address("world")?;
        Ok(Server {
            world,
            peers: address("peers").unwrap_or(world),
            http: address("http")?,
            child,
            lines,
            log,
            ready,
        })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The certificate in its ready line, as `--world-cert` takes it.
    pub fn certificate(&self) -> Result<&str> {
        let mut words = self.ready.split_whitespace();
        words.find_map(|word| word.strip_prefix("certificate=")).context("no certificate")
    }

    pub fn metrics(&self) -> Result<Metrics> {
        let text = self.get("/metrics")?.1;
        let series = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        Ok(series.collect())
    }

    /// Polls `/metrics` until `wanted` holds. Hosts report once a second.
    pub fn wait_for_metrics(
        &self,
        what: &str,
        wanted: impl Fn(&Metrics) -> bool,
    ) -> Result<Metrics> {
        let found = wait_until(what, || {
            let metrics = self.metrics()?;
            Ok(wanted(&metrics).then_some(metrics))
        });
        match found {
            Err(error) => Err(error.context(format!("/metrics now: {:#?}", self.metrics()?))),
            found => found,
        }
    }

    /// Waits until all that rooms and sessions are now is kept (`--keep`). A sync that runs now
    /// may have begun earlier; so the second one counts.
    pub fn wait_until_kept(&self) -> Result<Metrics> {
        let syncs = |metrics: &Metrics| metrics.get("ambit_kept_syncs_total").copied();
        let before = syncs(&self.metrics()?).context("the server keeps rooms")?;
        self.wait_for_metrics("two syncs", |now| syncs(now) >= Some(before + 2.0))
    }

    /// Waits until the WorldServer has checkpoints of the rooms that run. Hosts send one a second,
    /// and their ticks are reported later on the same link.
    pub fn wait_for_checkpoints(&self) -> Result<Metrics> {
        let ticks = |metrics: &Metrics| metrics.get("ambit_tick_seconds_count").copied();
        let rooms = |metrics: &Metrics| metrics.get("ambit_host_rooms").copied();
        let at_first = self.wait_for_metrics("a room", |now| rooms(now) >= Some(1.0))?;
        let before = ticks(&at_first);
        let rooms = rooms(&at_first);
        // A second of each room, and a little.
        let wanted = before.unwrap_or_default() + 25.0 * rooms.unwrap_or_default();
        self.wait_for_metrics("ticks", |now| ticks(now) >= Some(wanted))
    }

    /// Resident memory of the process (`VmRSS`).
    pub fn resident_kib(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()))?;
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        line.trim().trim_end_matches(" kB").parse().with_context(|| format!("VmRSS is '{line}'"))
    }

    /// Processor time of the process since its start, without its children.
    pub fn cpu_time(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id()))?;
        // After the name, which may have blanks: state, parent, ...; times in hundredths.
        let (_, rest) = stat.rsplit_once(')').context("no name in stat")?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = |index: usize| -> Result<u64> {
            Ok(fields.get(index).context("too few fields")?.parse()?)
        };
        Ok(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
    }

    /// Status and body of a text on the HTTP port.
    pub fn get(&self, path: &str) -> Result<(u16, String)> {
        let answer = self.request("GET", path, "")?;
        Ok((answer.status, String::from_utf8(answer.body)?))
    }

    /// Sends a request to the HTTP port, with further header lines.
    pub fn request(&self, method: &str, path: &str, headers: &str) -> Result<HttpAnswer> {
        self.request_as(method, path, &format!("Host: {}\r\n{headers}", self.http))
    }

    /// Sends a request with a body to the HTTP port.
    pub fn request_with(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> Result<HttpAnswer> {
        let (host, length) = (self.http, body.len());
        let headers = format!("Host: {host}\r\nContent-Length: {length}\r\n{headers}");
        self.send_request(method, path, &headers, body)
    }

    /// As [`Server::request`], with these header lines alone.
    pub fn request_as(&self, method: &str, path: &str, headers: &str) -> Result<HttpAnswer> {
        self.send_request(method, path, headers, "")
    }

    fn send_request(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> Result<HttpAnswer> {
        HttpAnswer::ask(self.http, method, path, headers, body)
    }

    /// Sends SIGTERM, waits for the end, and returns the exit status.
    pub fn terminate(self) -> Result<Option<i32>> {
        self.end_by("TERM")
    }

    /// The same with this signal.
    pub fn end_by(self, name: &str) -> Result<Option<i32>> {
        signal(self.id(), name)?;
        self.wait()
    }

    /// Waits for the end, and returns the exit status.
    pub fn wait(mut self) -> Result<Option<i32>> {
        Ok(wait_until("the end of the server", || Ok(self.child.try_wait()?))?.code())
    }

    /// Whether the process has ended, by itself or by a signal.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|ended| ended.is_some())
    }

    /// Takes the log lines since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.log.take_available()
    }

    /// Waits for a line of its log that contains `words`.
    pub fn wait_for_log(&mut self, words: &str) -> Result<()> {
        self.log.find(words, |line| line.contains(words).then_some(()))
    }

    /// Takes the lines on stdout since the last call.
    pub fn take_stdout(&mut self) -> Vec<String> {
        self.lines.take_available()
    }

    /// Ids of its child processes.
    pub fn children(&self) -> Vec<u32> {
        let path = format!("/proc/{0}/task/{0}/children", self.id());
        let direct = std::fs::read_to_string(path).unwrap_or_default();
        // Children started by another thread are in that thread's list.
        let tasks =
            std::fs::read_dir(format!("/proc/{}/task", self.id())).into_iter().flatten().flatten();
        let lists =
            tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        let mut children: Vec<u32> = lists
            .chain([direct])
            .flat_map(|list| {
                list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()
            })
            .collect();
        children.sort_unstable();
        children.dedup();
        children
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process that a test started.
pub fn signal(id: u32, name: &str) -> Result<()> {
    super::run(Command::new("kill").arg(format!("-{name}")).arg(id.to_string()))?;
    Ok(())
}

/// Whether a process still runs; a zombie does not.
pub fn is_alive(id: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z"))
}
