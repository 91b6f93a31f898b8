//! Certificates for browsers. A browser accepts a server without a certificate authority only by
//! the SHA-256 of its certificate, and only if that is ECDSA and valid for at most 14 days. So a
//! server makes one for browsers beside the long-lived one that programs pin, and the next one in
//! time: pages get the fingerprints of both, so that a page that was loaded before a change still
//! works after it. A server may keep both in a file, so that a page works after a restart, too.
//!
//! `Schedule` decides by the wall clock when to do what; [`WebCertificates`] does it. Which
//! certificate is presented in a handshake depends on the protocol that the client offers.
//!
//! The file: for each certificate, the presented one first, a line `made SECONDS` (since 1970), the
//! certificate and its key (PEM). Several servers may have the same one: who has something to do
//! does it in the file.

use std::fmt::{self, Write as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ambit_transport::quic::{ALPN_WEB, Fingerprint};
use anyhow::Context as _;
use parking_lot::Mutex;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::data_files::{OWNER_ONLY, lock_directory, write_atomically};
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
/// Before the time at which a certificate in the file was made.
const MADE: &str = "made ";
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
    pinned: Mutex<Arc<CertifiedKey>>,
    /// `None` if an authority has signed the pinned one.
    own: Option<Mutex<OwnCertificates>>,
    /// Where they are kept.
    file: Option<PathBuf>,
    changes: watch::Sender<()>,
}

#[derive(Clone)]
struct OwnCertificates {
    current: OwnCertificate,
    next: Option<OwnCertificate>,
}

#[derive(Clone)]
struct OwnCertificate {
    /// In seconds since 1970.
    made: u64,
    key: Arc<CertifiedKey>,
    /// The certificate and its key.
    pem: String,
}

impl WebCertificates {
    /// Certificates for browsers beside the server's own, made now. If that comes with those of an
    /// authority, browsers get it, too.
    pub fn new(identity: &ServerIdentity) -> anyhow::Result<Self> {
        Self::with(identity, None)
    }

    /// The same, kept in a file. Without it, if that is not possible.
    pub fn kept(identity: &ServerIdentity, file: PathBuf) -> anyhow::Result<Self> {
        Self::with(identity, Some(file))
    }

    fn with(identity: &ServerIdentity, file: Option<PathBuf>) -> anyhow::Result<Self> {
        let pinned = Mutex::new(certified_key(identity)?);
        let own = match identity.chain.len() {
            1 => Some(Mutex::new(OwnCertificates::load_or_make(file.as_deref(), unix_time())?)),
            _ => None,
        };
        Ok(Self { pinned, own, file, changes: watch::Sender::new(()) })
    }

    /// Presents another certificate to programs from now on, and to browsers if an authority has
    /// signed it. Fails, and changes nothing, if that holds of only one of the two certificates:
    /// pages would need the fingerprints of others.
    pub fn replace(&self, identity: &ServerIdentity) -> anyhow::Result<()> {
        let newest = certified_key(identity)?;
        if (identity.chain.len() == 1) != self.own.is_some() {
            anyhow::bail!("an authority has signed only one of the old and the new certificate");
        }
        *self.pinned.lock() = newest;
        self.changes.send_replace(());
        Ok(())
    }

    /// SHA-256 of the certificate that programs get.
    pub fn pinned(&self) -> Fingerprint {
        Fingerprint::of(&self.pinned.lock().cert[0])
    }

    /// SHA-256 of the certificates that browsers may get: now, and later. Empty if an authority has
    /// signed the server's.
    pub fn fingerprints(&self) -> Vec<Fingerprint> {
        let Some(own) = &self.own else {
            return Vec::new();
        };
        let own = own.lock();
        own.all().map(|own| Fingerprint::of(&own.key.cert[0])).collect()
    }

    /// The host names in the server's certificate, if an authority has signed it: browsers know it
    /// by one of them. Without `*.example.com`, since such a host may be another server.
    pub fn names(&self) -> Vec<String> {
        let pinned = Arc::clone(&self.pinned.lock());
        let signed = self.own.is_none().then(|| &pinned.cert[0]);
        let parsed = signed.and_then(|signed| webpki::EndEntityCert::try_from(signed).ok());
        let names = parsed.iter().flat_map(|parsed| parsed.valid_dns_names());
        names.filter(|name| !name.starts_with("*.")).map(str::to_owned).collect()
    }

    /// The same as in messages.
    pub fn to_message(&self) -> Vec<Vec<u8>> {
        let fingerprints = self.fingerprints();
        fingerprints.iter().map(|sha256| sha256.0.to_vec()).collect()
    }

    /// Tells when the fingerprints have changed, that of the pinned certificate, too.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Makes the next certificate and presents it when it is time. Returns whether the fingerprints
    /// have changed.
    fn renew(&self) -> anyhow::Result<bool> {
        let Some(own) = &self.own else {
            return Ok(false);
        };
        let mut own = own.lock();
        let has_changed = own.renew(self.file.as_deref(), unix_time())?;
        drop(own);
        if has_changed {
            self.changes.send_replace(());
        }
        Ok(has_changed)
    }
}

impl OwnCertificates {
    fn new(now: u64) -> anyhow::Result<Self> {
        Ok(Self { current: OwnCertificate::make(now)?, next: None })
    }

    /// Those in the file, with what is due done; new ones, which are stored there, if it has none.
    fn load_or_make(file: Option<&Path>, now: u64) -> anyhow::Result<Self> {
        let Some(file) = file else {
            return Self::new(now);
        };
        match Self::renew_in(file, None, now) {
            Ok(own) => Ok(own),
            Err(error) => {
                tracing::warn!(
                    file = %file.display(),
                    "cannot keep the certificates for browsers: after a restart, pages that are \
                     open have to be loaded again: {error:#}"
                );
                Self::new(now)
            }
        }
    }

    /// Does what is due, also in the file. Returns whether something was.
    fn renew(&mut self, file: Option<&Path>, now: u64) -> anyhow::Result<bool> {
        if self.schedule().step(now).is_none() {
            return Ok(false);
        }
        match file.map(|file| Self::renew_in(file, Some(&*self), now)) {
            Some(Ok(renewed)) => *self = renewed,
            Some(Err(error)) => {
                tracing::error!("cannot keep the next certificate for browsers: {error:#}");
                self.step_on(now)?;
            }
            None => {
                self.step_on(now)?;
            }
        }
        Ok(true)
    }

    /// Does what is due with those in the file; with the known ones if it has none.
    fn renew_in(file: &Path, known: Option<&Self>, now: u64) -> anyhow::Result<Self> {
        let _turn = file.parent().map(lock_directory).transpose()?;
        let found = match std::fs::read_to_string(file) {
            Ok(text) => Self::parse(&text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        };
        let found = found.unwrap_or_else(|error| {
            tracing::warn!(
                file = %file.display(),
                "the certificates for browsers cannot be read, and are made anew: {error:#}"
            );
            None
        });
        let was_found = found.is_some();
        let mut own = match found.or_else(|| known.cloned()) {
            Some(own) => own,
            None => Self::new(now)?,
        };
        if own.step_on(now)? || !was_found {
            write_atomically(file, own.to_text().as_bytes(), OWNER_ONLY)?;
        }
        Ok(own)
    }

    /// Does what is due. Returns whether something was.
    fn step_on(&mut self, now: u64) -> anyhow::Result<bool> {
        let mut has_changed = false;
        while let Some(step) = self.schedule().step(now) {
            match step {
                Step::BeginAgain => *self = Self::new(now)?,
                Step::MakeNext => self.next = Some(OwnCertificate::make(now)?),
                Step::PresentNext => {
                    if let Some(next) = self.next.take() {
                        self.current = next;
                    }
                }
            }
            has_changed = true;
        }
        Ok(has_changed)
    }

    fn schedule(&self) -> Schedule {
        Schedule { current: self.current.made, next: self.next.as_ref().map(|next| next.made) }
    }

    /// The presented one first.
    fn all(&self) -> impl Iterator<Item = &OwnCertificate> {
        [Some(&self.current), self.next.as_ref()].into_iter().flatten()
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        for OwnCertificate { made, pem, .. } in self.all() {
            write!(text, "{MADE}{made}\n{pem}").expect("a string takes all");
        }
        text
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut all = text.split(MADE).skip(1).map(OwnCertificate::parse);
        let current = all.next().context("it has no certificate")??;
        let next = all.next().transpose()?;
        Ok(Self { current, next })
    }
}

impl OwnCertificate {
    fn make(now: u64) -> anyhow::Result<Self> {
        let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()])?;
        let at = |unix_s: u64| rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(unix_s);
        parameters.not_before = at(now.saturating_sub(BACKDATED));
        parameters.not_after = at(now + VALID);
        let key = rcgen::KeyPair::generate()?;
        let certificate = parameters.self_signed(&key)?;
        Self::from_pem(now, certificate.pem() + &key.serialize_pem())
    }

    /// Parses the seconds after `made `, and what follows.
    fn parse(text: &str) -> anyhow::Result<Self> {
        let (made, pem) = text.split_once('\n').context("it ends early")?;
        Self::from_pem(made.parse().context("it does not say when it was made")?, pem.to_owned())
    }

    fn from_pem(made: u64, pem: String) -> anyhow::Result<Self> {
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes())?;
        let key = signing_key(&PrivateKeyDer::from_pem_slice(pem.as_bytes())?)?;
        let key = CertifiedKey::new(vec![certificate], key);
        key.keys_match()?;
        Ok(Self { made, key: Arc::new(key), pem })
    }
}

impl ResolvesServerCert for WebCertificates {
    fn resolve(&self, client: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut protocols = client.alpn().into_iter().flatten();
        Some(match &self.own {
            Some(own) if protocols.any(|protocol| protocol == ALPN_WEB) => {
                let own = own.lock();
                Arc::clone(&own.current.key)
            }
            _ => Arc::clone(&self.pinned.lock()),
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

fn certified_key(identity: &ServerIdentity) -> anyhow::Result<Arc<CertifiedKey>> {
    let key = signing_key(&identity.key)?;
    let certified = CertifiedKey::new(identity.chain.clone(), key);
    certified.keys_match().context("the certificate and its key cannot be used")?;
    Ok(Arc::new(certified))
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
    fn another_certificate_is_presented_and_a_bad_one_changes_nothing() {
        let [first, second] = [0; 2].map(|_| ServerIdentity::generate().expect("a certificate"));
        let certificates = WebCertificates::new(&first).expect("a certificate");
        let mut changes = certificates.changes();
        changes.mark_unchanged();
        certificates.replace(&second).expect("a good one");
        assert_eq!(certificates.pinned(), second.fingerprint());
        assert!(changes.has_changed().expect("it lives"));
        let mixed = ServerIdentity { chain: first.chain.clone(), key: second.key.clone_key() };
        let chain = [first.chain.clone(), second.chain.clone()].concat();
        let signed = ServerIdentity { chain, key: first.key.clone_key() };
        for wrong in [mixed, signed] {
            assert!(certificates.replace(&wrong).is_err());
            assert_eq!(certificates.pinned(), second.fingerprint());
        }
    }

    #[test]
    fn browsers_accept_what_is_made() {
        const { assert!(BACKDATED + VALID <= 14 * DAY) };
        let mut own = OwnCertificates::new(1_800_000_000).expect("a certificate");
        let first = own.current.clone();
        assert!(!own.renew(None, 1_800_000_000).expect("nothing to do"));
        for days in 1..=9 {
            own.renew(None, 1_800_000_000 + days * DAY).expect("a certificate");
        }
        assert_ne!(own.current.key.cert, first.key.cert);
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

    #[test]
    fn a_server_is_known_by_the_names_that_an_authority_has_signed() {
        let names = ["play.example.com", "*.example.org", "192.0.2.1"].map(String::from);
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let identity = |count| ServerIdentity {
            chain: vec![made.cert.der().clone(); count],
            key: PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key"),
        };
        let names_of = |identity| WebCertificates::new(&identity).expect("certificates").names();
        assert_eq!(names_of(identity(2)), ["play.example.com"]);
        assert_eq!(names_of(identity(1)), [""; 0]);
    }

    #[test]
    fn a_server_that_starts_again_has_the_same_certificates_and_renews_them() {
        let directory = std::env::temp_dir().join(format!("ambit-browsers-{}", std::process::id()));
        let file = directory.join("data/browsers.pem");
        let start = |days: u64| {
            OwnCertificates::load_or_make(Some(&file), 20_000 * DAY + days * DAY).expect("some")
        };
        let pems = |own: &OwnCertificates| -> Vec<String> {
            own.all().map(|own| own.pem.clone()).collect()
        };
        let first = start(0);
        assert_eq!(pems(&start(3)), pems(&first));
        // A page that was loaded at any start works for four days.
        let mut known = pems(&first);
        for days in 4..40 {
            let own = start(days);
            assert!(known.contains(&own.current.pem), "day {days}");
            if days % 4 == 0 {
                known = pems(&own);
            }
            assert_eq!(pems(&start(days)), pems(&own));
        }
        // Two servers with one file renew what they have together.
        let mut one = start(40);
        let mut other = start(40);
        let later = 20_000 * DAY + 44 * DAY;
        assert!(one.renew(Some(&file), later).expect("a certificate"));
        assert!(other.renew(Some(&file), later).expect("a certificate"));
        assert_eq!(pems(&one), pems(&other));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, OWNER_ONLY);
        }
        // A file that is gone or damaged costs a running server nothing.
        for damage in [None, Some(""), Some("made 7\n"), Some("made x\n"), Some("nonsense")] {
            std::fs::remove_file(&file).expect("a file");
            if let Some(text) = damage {
                std::fs::write(&file, text).expect("written");
            }
            let mut running = one.clone();
            running.renew(Some(&file), later + 4 * DAY).expect("a certificate");
            assert_eq!(running.current.pem, pems(&one)[1], "{damage:?}");
            assert_eq!(pems(&start(48)), pems(&running));
        }
        std::fs::remove_dir_all(&directory).expect("removed");
    }

    #[test]
    fn a_server_that_cannot_keep_its_certificates_has_some_anyway() {
        let file = Path::new("/proc/none/browsers.pem");
        let own = OwnCertificates::load_or_make(Some(file), 20_000 * DAY).expect("some");
        let mut later = own.clone();
        assert!(later.renew(Some(file), 20_004 * DAY).expect("a certificate"));
        assert_eq!(later.current.pem, own.current.pem);
        assert!(later.next.is_some());
    }
}
