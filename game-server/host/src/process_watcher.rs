//! Tells the WorldServer at once that the process of a host has ended, however it has ended.
//!
//! A host that dials its WorldServer starts a second process of the same program, its *watcher*,
//! and holds the only writing end of the watcher's standard input. It never closes that end: the
//! system does, when the last thread of the host is gone. Only then the watcher reports it, with
//! the host's instance ([`HostMessage::ProcessEnded`]) and a proof of the host's key. So the report
//! proves that nothing of that process serves players any more, whatever its lease says. A host
//! that ends regularly dismisses its watcher before. A watcher that dies with its host (with the
//! machine or the container) reports nothing, and the WorldServer notices the host's silence.
//!
//! Into the watcher go the WorldServers' addresses and certificates, as a variable of its
//! environment, and on its standard input the key behind its length, and one frame, the report; any
//! byte after it dismisses the watcher. Out comes the report, to the leader.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::process::{ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::frame::encode_frame;
use ambit_transport::key_proof::open_as_host;
use ambit_transport::quic::{Fingerprint, FingerprintVerifier};
use anyhow::Context as _;
use quinn::ConnectionError;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::dial::{WorldAddresses, connect, is};
use ambit_host_protocol::generated::HostToWorld;
use ambit_host_protocol::messages::HostMessage;

/// Set for a watcher: the WorldServers' addresses, a bar, their certificates; with commas.
const VARIABLE: &str = "AMBIT_HOST_WATCHER";
/// How long the watcher tries to report. After `--host-silence` the report is of no use.
const REPORT_WITHIN: Duration = Duration::from_secs(5);
/// A WorldServer that takes longer is asked again: some packets of the handshake may be lost.
const ATTEMPT_WITHIN: Duration = Duration::from_millis(300);
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// The watcher's standard input, which only the system closes: what is static is never dropped. It
/// is `None` if there is no watcher.
static INPUT: OnceLock<Option<ChildStdin>> = OnceLock::new();

/// The host's end.
pub(crate) struct ProcessWatcher {
    input: Option<&'static ChildStdin>,
}

impl ProcessWatcher {
    /// Starts a watcher that reports `ended` to these WorldServers, if this process has none yet.
    pub(crate) fn start(ended: HostMessage, worlds: &WorldAddresses) -> Self {
        let input = INPUT.get_or_init(|| {
            let input = start(ended, worlds).inspect_err(|error| {
                tracing::warn!(
                    "no process watches this one: if it is killed, the WorldServer notices that by \
                     its silence: {error:#}"
                );
            });
            input.ok()
        });
        Self { input: input.as_ref() }
    }

    /// This process is about to end regularly.
    pub(crate) fn dismiss(self) {
        if let Some(mut input) = self.input {
            // The watcher may have ended already.
            let _ = input.write_all(&[0]);
        }
    }
}

fn start(ended: HostMessage, worlds: &WorldAddresses) -> anyhow::Result<ChildStdin> {
    let program = std::env::current_exe()?;
    let mut watcher = Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(VARIABLE, to_variable(worlds))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = watcher.stdin.take().context("it has no standard input")?;
    let report = HostToWorld::from(ended);
    input.write_all(&to_input(&worlds.key, &report))?;
    Ok(input)
}

/// Runs as a watcher, if this process is one.
pub(crate) fn run_if_watcher() -> Option<ExitCode> {
    let worlds = std::env::var_os(VARIABLE)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let watched = runtime.map(|runtime| runtime.block_on(watch(&worlds)));
    Some(match watched {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    })
}

async fn watch(worlds: &OsStr) -> anyhow::Result<()> {
    // A terminal or a service manager signals the host and its watcher; the watcher ends after it.
    let _ignored = [
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
        signal(SignalKind::hangup())?,
    ];
    let mut worlds = from_variable(worlds).context("no addresses of WorldServers")?;
    let input = tokio::task::spawn_blocking(|| {
        let mut input = Vec::new();
        std::io::stdin().read_to_end(&mut input).map(|_| input)
    });
    let input = input.await??;
    let Some((key, report)) = read_input(&input) else {
        return Ok(());
    };
    worlds.key = key.to_vec();
    timeout(REPORT_WITHIN, send_report(report, &worlds)).await?;
    Ok(())
}

/// What the host writes to its watcher.
fn to_input(key: &[u8], report: &HostToWorld) -> Vec<u8> {
    let length = (key.len() as u32).to_be_bytes();
    [&length, key, &encode_frame(report)].concat()
}

/// The key and the frame of the report; `None` if the watcher is dismissed or the host never began.
fn read_input(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = input.split_first_chunk()?;
    let (key, report) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let (header, body) = report.split_first_chunk()?;
    (body.len() == u32::from_be_bytes(*header) as usize).then_some((key, report))
}

/// Asks all WorldServers until one has taken the report.
async fn send_report(report: &[u8], worlds: &WorldAddresses) {
    let trusted = worlds.fingerprints.clone();
    let verifier = FingerprintVerifier::with_policy(move |_: &str, shown: Fingerprint| {
        trusted.contains(&shown)
    });
    let mut attempts = JoinSet::new();
    for address in &worlds.addresses {
        let mut address = address.clone();
        let verifier = Arc::clone(&verifier);
        let first = address.clone();
        let report = report.to_vec();
        let key = worlds.key.clone();
        attempts.spawn(async move {
            loop {
                let asked = ask(&address, &verifier, &key, &report);
                let asked = timeout(ATTEMPT_WITHIN, asked).await;
                address = match asked {
                    Ok(Ok(Answer::Taken)) => return,
                    Ok(Ok(Answer::Follows(leader))) if !leader.is_empty() => leader,
                    _ => first.clone(),
                };
                sleep(RETRY_PAUSE).await;
            }
        });
    }
    attempts.join_next().await;
}

enum Answer {
    Taken,
    /// It follows this WorldServer; empty if it knows none.
    Follows(String),
}

async fn ask(
    address: &str,
    verifier: &Arc<FingerprintVerifier>,
    key: &[u8],
    report: &[u8],
) -> anyhow::Result<Answer> {
    let (_endpoint, connection) = connect(address, verifier).await?;
    let (mut output, _input) = open_as_host(&connection, key).await?;
    output.write_all(report).await?;
    match connection.closed().await {
        ConnectionError::ApplicationClosed(close) if is(&close, ErrorCode::TryAgain) => {
            Ok(Answer::Follows(String::from_utf8_lossy(&close.reason).into_owned()))
        }
        ConnectionError::ApplicationClosed(close) if is(&close, ErrorCode::ErrorUnspecified) => {
            Ok(Answer::Taken)
        }
        // It found no place, for example.
        error => Err(error.into()),
    }
}

fn to_variable(worlds: &WorldAddresses) -> String {
    let certificates: Vec<String> = worlds.fingerprints.iter().map(ToString::to_string).collect();
    format!("{}|{}", worlds.addresses.join(","), certificates.join(","))
}

fn from_variable(text: &OsStr) -> Option<WorldAddresses> {
    let (addresses, certificates) = text.to_str()?.split_once('|')?;
    let certificates = certificates.split(',').filter(|text| !text.is_empty());
    Some(WorldAddresses {
        addresses: addresses.split(',').map(str::to_owned).collect(),
        fingerprints: certificates.map(|text| text.parse().ok()).collect::<Option<_>>()?,
        key: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watcher_reports_unless_it_is_dismissed_or_has_no_whole_report() {
        let report = HostToWorld::from(HostMessage::ProcessEnded(vec![7; 16]));
        let input = to_input(b"secret", &report);
        let frame = encode_frame(&report);
        assert_eq!(read_input(&input), Some((&b"secret"[..], &frame[..])));
        assert_eq!(read_input(&[&input[..], &[0]].concat()), None);
        for length in 0..input.len() {
            assert_eq!(read_input(&input[..length]), None);
        }
    }

    #[test]
    fn addresses_and_certificates_reach_the_watcher() {
        let worlds = WorldAddresses {
            addresses: vec!["a.example:7770".into(), "[::1]:7770".into()],
            fingerprints: vec![Fingerprint([1; 32]), Fingerprint([255; 32])],
            key: Vec::new(),
        };
        let read = from_variable(OsStr::new(&to_variable(&worlds))).expect("its own text");
        assert_eq!(read.addresses, worlds.addresses);
        assert_eq!(read.fingerprints, worlds.fingerprints);
    }
}
