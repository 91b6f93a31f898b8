//! Certificates for browsers. A browser accepts a server without a certificate authority only by
//! the SHA-256 of its certificate, and only if that is ECDSA and valid for at most 14 days. So a
//! server makes one for browsers beside the long-lived one that programs pin, and the next one in
//! time: pages get the fingerprints of both, so that a page that was loaded before a change still
//! works after it.
//!
//! `Schedule` decides by the wall clock when to do what; [`WebCertificates`] does it. Which
//! certificate is presented in a handshake depends on the protocol that the client offers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ambit_transport::quic::{ALPN_WEB, Fingerprint};
use anyhow::Context as _;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::identity::ServerIdentity;

const DAY: u64 = 24 * 60 * 60;
/// A certificate is valid from before it was made, for browsers whose clocks are late.
const BACKDATED: u64 = DAY;
/// After its making. With [`BACKDATED`] less than the 14 days that browsers allow.
const VALID: u64 = 12 * DAY;
/// The age of the newest certificate at which the next one is made.
const MAKE_NEXT_AT: u64 = 4 * DAY;
/// The age of a certificate at which the next one is presented instead.
const PRESENT_NEXT_AT: u64 = 8 * DAY;
/// How long the next one has to be known before it is presented, unless the other expires.
const KNOWN_FOR: u64 = MAKE_NEXT_AT;
/// The age at which a certificate is not presented any more, whatever the next one's age is.
const LAST_DAY_AT: u64 = VALID - DAY;
/// How often to look whether there is something to do.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// When the certificates were made, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Schedule {
    current: u64,
    next: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    MakeNext,
    PresentNext,
    /// The current certificate is not valid at this time: the clock was set.
    BeginAgain,
}

impl Schedule {
    /// What is to be done now; call again after it was done.
    fn step(self, now: u64) -> Option<Step> {
        let is_valid = |made: u64| now + BACKDATED > made && now < made + VALID;
        let age = now.saturating_sub(self.current);
        match self.next {
            _ if !is_valid(self.current) && !self.next.is_some_and(is_valid) => {
                Some(Step::BeginAgain)
            }
            None if age >= MAKE_NEXT_AT => Some(Step::MakeNext),
            Some(next)
                if age >= LAST_DAY_AT
                    || age >= PRESENT_NEXT_AT && now >= next.saturating_add(KNOWN_FOR) =>
            {
                Some(Step::PresentNext)
            }
            _ => None,
        }
    }
}

/// The certificates of a server: the one that programs pin, and those for browsers.
pub struct WebCertificates {
    /// For programs; also for browsers if an authority has signed it.
    pinned: Arc<CertifiedKey>,
    /// `None` if an authority has signed the pinned one.
    own: Option<Mutex<OwnCertificates>>,
    changes: watch::Sender<()>,
}

struct OwnCertificates {
    schedule: Schedule,
    current: Arc<CertifiedKey>,
    next: Option<Arc<CertifiedKey>>,
}

impl WebCertificates {
    /// Certificates for browsers beside the server's own. If that comes with those of an authority,
    /// browsers get it, too.
    pub fn new(identity: &ServerIdentity) -> anyhow::Result<Self> {
        let key = signing_key(&identity.key)?;
        let pinned = Arc::new(CertifiedKey::new(identity.chain.clone(), key));
        pinned.keys_match().context("the certificate and its key cannot be used")?;
        let own = match identity.chain.len() {
            1 => Some(Mutex::new(OwnCertificates::new(unix_time())?)),
            _ => None,
        };
        Ok(Self { pinned, own, changes: watch::Sender::new(()) })
    }

    /// SHA-256 of the certificates that browsers may get: now, and later. Empty if an authority has
    /// signed the server's.
    pub fn fingerprints(&self) -> Vec<Fingerprint> {
        let Some(own) = &self.own else {
            return Vec::new();
        };
        let own = own.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = [Some(&own.current), own.next.as_ref()];
        keys.into_iter().flatten().map(|key| Fingerprint::of(&key.cert[0])).collect()
    }

    /// The same as in messages.
    pub fn to_message(&self) -> Vec<Vec<u8>> {
        let fingerprints = self.fingerprints();
        fingerprints.iter().map(|sha256| sha256.0.to_vec()).collect()
    }

    /// Tells when the fingerprints have changed.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Makes the next certificate and presents it when it is time. Returns whether the fingerprints
    /// have changed.
    fn renew(&self) -> anyhow::Result<bool> {
        let Some(own) = &self.own else {
            return Ok(false);
        };
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        let has_changed = own.renew(unix_time())?;
        drop(own);
        if has_changed {
            self.changes.send_replace(());
        }
        Ok(has_changed)
    }
}

impl OwnCertificates {
    fn new(now: u64) -> anyhow::Result<Self> {
        Ok(Self {
            schedule: Schedule { current: now, next: None },
            current: make(now)?,
            next: None,
        })
    }

    fn renew(&mut self, now: u64) -> anyhow::Result<bool> {
        let mut has_changed = false;
        while let Some(step) = self.schedule.step(now) {
            match step {
                Step::BeginAgain => *self = Self::new(now)?,
                Step::MakeNext => {
                    self.next = Some(make(now)?);
                    self.schedule.next = Some(now);
                }
                Step::PresentNext => {
                    if let (Some(key), Some(made)) = (self.next.take(), self.schedule.next.take()) {
                        (self.current, self.schedule.current) = (key, made);
                    }
                }
            }
            has_changed = true;
        }
        Ok(has_changed)
    }
}

impl ResolvesServerCert for WebCertificates {
    fn resolve(&self, client: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut protocols = client.alpn().into_iter().flatten();
        Some(match &self.own {
            Some(own) if protocols.any(|protocol| protocol == ALPN_WEB) => {
                let own = own.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(&own.current)
            }
            _ => Arc::clone(&self.pinned),
        })
    }
}

impl fmt::Debug for WebCertificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebCertificates")
            .field("fingerprints", &self.fingerprints())
            .finish_non_exhaustive()
    }
}

/// Renews the certificates when it is time, for ever.
pub async fn keep_renewed(certificates: Arc<WebCertificates>) {
    let mut checks = tokio::time::interval(CHECK_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        checks.tick().await;
        match certificates.renew() {
            Ok(true) => tracing::info!("renewed the certificate for browsers"),
            Ok(false) => {}
            Err(error) => {
                tracing::error!("cannot renew the certificate for browsers: {error:#}");
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "certificates are valid by the wall clock")]
fn unix_time() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

fn make(now: u64) -> anyhow::Result<Arc<CertifiedKey>> {
    let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()])?;
    let at = |unix_s: u64| rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(unix_s);
    parameters.not_before = at(now.saturating_sub(BACKDATED));
    parameters.not_after = at(now + VALID);
    let key = rcgen::KeyPair::generate()?;
    let certificate = parameters.self_signed(&key)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let key = signing_key(&key)?;
    Ok(Arc::new(CertifiedKey::new(vec![certificate.der().clone()], key)))
}

fn signing_key(key: &PrivateKeyDer<'_>) -> anyhow::Result<Arc<dyn rustls::sign::SigningKey>> {
    rustls::crypto::ring::sign::any_supported_type(key)
        .context("the certificate's key cannot be used")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_certificate_is_known_for_four_days_before_it_is_presented() {
        let mut schedule = Schedule { current: 1_000 * DAY, next: None };
        let mut known_since = vec![(schedule.current, schedule.current)];
        for now in (1_000 * DAY..1_100 * DAY).step_by(600) {
            while let Some(step) = schedule.step(now) {
                match step {
                    Step::MakeNext => schedule.next = Some(now),
                    Step::PresentNext => {
                        let next = schedule.next.take().expect("made before");
                        assert!(now - next >= KNOWN_FOR);
                        known_since.push((next, now));
                        schedule.current = next;
                    }
                    Step::BeginAgain => panic!("it is valid all the time"),
                }
            }
            let age = now - schedule.current;
            assert!(age < VALID - 3 * DAY, "for clocks that are wrong: {age}");
        }
        assert_eq!(known_since.len(), 24, "a change every four days");
    }

    #[test]
    fn a_clock_that_is_set_leads_to_valid_certificates() {
        let made = 1_000 * DAY;
        for next in [None, Some(made + MAKE_NEXT_AT)] {
            let schedule = Schedule { current: made, next };
            let begin = Some(Step::BeginAgain);
            assert_eq!(schedule.step(made + 17 * DAY), begin);
            assert_eq!(schedule.step(made - 2 * DAY), begin);
            assert_eq!(schedule.step(made), None);
        }
        let late = Schedule { current: made, next: None };
        // A machine that slept.
        assert_eq!(late.step(made + 10 * DAY), Some(Step::MakeNext));
        let next = Some(made + 10 * DAY);
        let late = Schedule { next, ..late };
        assert_eq!(late.step(made + 10 * DAY), None, "nobody knows it yet");
        assert_eq!(late.step(made + LAST_DAY_AT), Some(Step::PresentNext));
        assert_eq!(late.step(made + 13 * DAY), Some(Step::PresentNext));
    }

    #[test]
    fn browsers_accept_what_is_made() {
        const { assert!(BACKDATED + VALID <= 14 * DAY) };
        let mut own = OwnCertificates::new(1_800_000_000).expect("a certificate");
        let first = Arc::clone(&own.current);
        assert!(!own.renew(1_800_000_000).expect("nothing to do"));
        for days in 1..=9 {
            own.renew(1_800_000_000 + days * DAY).expect("a certificate");
        }
        assert_ne!(own.current.cert, first.cert);
        assert!(own.next.is_some());
        let identity = ServerIdentity::generate().expect("an identity");
        let certificates = WebCertificates::new(&identity).expect("certificates");
        let [fingerprint] = certificates.fingerprints()[..] else {
            panic!("one certificate at first")
        };
        assert_ne!(fingerprint, identity.fingerprint());
        let chain = [&identity.chain[..], &identity.chain].concat();
        let signed = ServerIdentity { chain, ..identity };
        let certificates = WebCertificates::new(&signed).expect("certificates");
        assert_eq!(certificates.fingerprints(), []);
    }
}
