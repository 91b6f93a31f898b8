//! The certificate of the WorldServer: from PEM files, or its own, created on the first run and
//! kept. Its certificates for browsers, and its secrets for the seeds of rooms and for stateless
//! resets, are kept in the same way.
//!
//! If the server's own certificate exists, its key exists too, even if the process or the machine
//! dies at any time: the certificate is written last and removed first. One file without the other
//! means that a first run was interrupted, and both are created again.

use std::fs;
use std::io;
use std::path::Path;

use ambit_host::cli::Advertise;
use ambit_host::data_files::{OWNER_ONLY, lock_directory, remove_if_present, write_atomically};
use ambit_host::identity::{IdentityPem, ServerIdentity};
use ambit_host::web_certificates::WebCertificates;
use ambit_lobby::ServerSecret;
use ambit_transport::quic::ResetSecret;
use ambit_transport::random::system_random;
use anyhow::Context as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::admin::operators::keys::AdminKeys;
use crate::config::{Config, HostingMode};

/// The file mode of the certificate, which is public.
const WORLD_READABLE: u32 = 0o644;
/// The length of each secret.
const SECRET_BYTES: usize = 32;

/// Loads the certificate that the configuration names, or the one in the data directory.
pub(crate) fn load(config: &Config) -> anyhow::Result<ServerIdentity> {
    match (&config.cert, &config.key) {
        (Some(certificate), Some(key)) => read_files(certificate, key),
        // `Config::check_complete` refuses one without the other.
        _ => load_or_create(&config.data_dir()),
    }
}

/// The certificates for browsers, in the data directory beside the server's own.
pub(crate) fn web_certificates(
    config: &Config,
    identity: &ServerIdentity,
) -> anyhow::Result<WebCertificates> {
    WebCertificates::kept(identity, config.data_dir().join("browsers.pem"))
}

/// The secret that is mixed into the seeds of rooms, and protects stored passwords: in a cluster it
/// follows from the key that the servers share, otherwise it is in the data directory. A server
/// that cannot keep one has another one after each start.
pub(crate) fn server_secret(config: &Config) -> anyhow::Result<ServerSecret> {
    if let (HostingMode::Cluster, Some(key)) = (config.hosts, &config.host_key) {
        return Ok(ServerSecret::from_shared_key(key.as_bytes()));
    }
    let secret = kept_secret(
        &config.data_dir().join("seeds.key"),
        "a room with the same `seed` is another one, and rooms of `--keep` that have a password \
         let nobody in",
    )?;
    Ok(ServerSecret::new(secret))
}

/// The secret of this server's stateless resets: in a cluster it follows from the shared key, the
/// certificate and the server's addresses, otherwise it is in the data directory. Each server has
/// another one.
pub(crate) fn reset_secret(
    config: &Config,
    identity: &ServerIdentity,
) -> anyhow::Result<ResetSecret> {
    if config.listen.port() == 0 {
        // It will not listen at the same address again.
        return Ok(ResetSecret::random()?);
    }
    if let (HostingMode::Cluster, Some(key)) = (config.hosts, &config.host_key) {
        // Behind a load balancer, only the address for peers differs.
        let server = format!(
            "{} {} {} {}",
            identity.fingerprint(),
            config.listen,
            Advertise::address(config.advertise, config.listen),
            config.peer_address.as_deref().unwrap_or_default()
        );
        return Ok(ResetSecret::from_shared_key(key.as_bytes(), &server));
    }
    let secret = kept_secret(
        &config.data_dir().join("resets.key"),
        "clients notice only by their time-out that the server was killed",
    )?;
    // The directory may be a copy of another server's.
    Ok(ResetSecret::new(secret).of_endpoint(&config.listen.to_string()))
}

/// The keys of operators: those of `--admin-key-file`, or the one in the data directory, which is
/// made at the first start and shown in the log then. Without either there are none.
pub(crate) fn admin_keys(config: &Config) -> anyhow::Result<AdminKeys> {
    let tagging = system_random()?;
    let read = |path: &Path| -> anyhow::Result<AdminKeys> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot read the keys of operators in {}", path.display()))?;
        let keys = AdminKeys::parse(&text, &tagging);
        keys.map_err(|problem| anyhow::anyhow!("{}, {problem}", path.display()))
    };
    if let Some(path) = &config.admin_key_file {
        let keys = read(path).context("`--admin-key-file`")?;
        if keys.is_empty() {
            anyhow::bail!("`--admin-key-file`: {} has no key", path.display());
        }
        return Ok(keys);
    }
    let path = config.data_dir().join("admin.keys");
    if !path.exists() {
        let secret: [u8; 16] = system_random()?;
        let key = format!("{:032x}", u128::from_be_bytes(secret));
        let text = format!("# role, name for the log, key\noperate operator {key}\n");
        if let Err(error) = write_atomically(&path, text.as_bytes(), OWNER_ONLY) {
            tracing::warn!(file = %path.display(), %error, "no key of operators can be kept");
            return Ok(AdminKeys::parse("", &tagging).expect("no line is wrong"));
        }
        tracing::info!(file = %path.display(), key, "made a key for `/admin/v1`, shown only now");
    }
    read(&path)
}

/// The secret in a file, created if there is none. A server that cannot keep one has another one
/// after each start, which `consequence` explains to the operator.
fn kept_secret(path: &Path, consequence: &str) -> anyhow::Result<[u8; SECRET_BYTES]> {
    let fresh = system_random()?;
    Ok(keep_secret(path, fresh).unwrap_or_else(|error| {
        tracing::warn!(
            file = %path.display(),
            %error,
            "cannot keep this secret: after a restart, {consequence}"
        );
        fresh
    }))
}

/// The secret in the file; `fresh`, which is stored there, if there is none.
fn keep_secret(path: &Path, fresh: [u8; SECRET_BYTES]) -> io::Result<[u8; SECRET_BYTES]> {
    let read = || fs::read(path).map(|bytes| bytes.try_into().ok());
    if let Ok(Some(secret)) = read() {
        return Ok(secret);
    }
    // Of several servers that start at once, one creates the file, and the others wait for it.
    let _turn = path.parent().map(lock_directory).transpose()?;
    match read() {
        Ok(Some(secret)) => Ok(secret),
        Ok(None) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{} does not have {SECRET_BYTES} bytes", path.display()),
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            write_atomically(path, &fresh, OWNER_ONLY)?;
            Ok(fresh)
        }
        Err(error) => Err(error),
    }
}

fn load_or_create(directory: &Path) -> anyhow::Result<ServerIdentity> {
    let certificate = directory.join("cert.pem");
    let key = directory.join("key.pem");
    let there = || certificate.exists() && key.exists();
    // Of several servers that start at once, one creates the files, and the others wait for it.
    let _turn = if there() {
        None
    } else {
        Some(lock_directory(directory).with_context(|| storage_problem(directory))?)
    };
    if !there() {
        if certificate.exists() || key.exists() {
            tracing::warn!(
                directory = %directory.display(),
                "certificate or key missing; both are created again, \
                 and clients have to trust the new certificate"
            );
        }
        create_files(&certificate, &key).with_context(|| storage_problem(directory))?;
        tracing::info!(
            directory = %directory.display(),
            "created a certificate; clients pin it, so keep the directory"
        );
    }
    read_files(&certificate, &key)
}

fn storage_problem(directory: &Path) -> String {
    format!(
        "cannot keep a certificate in {} (`--data-dir` chooses another directory)",
        directory.display()
    )
}

fn create_files(certificate: &Path, key: &Path) -> anyhow::Result<()> {
    let pem = IdentityPem::generate()?;
    remove_if_present(certificate)?;
    write_atomically(key, pem.key.as_bytes(), OWNER_ONLY)?;
    write_atomically(certificate, pem.certificate.as_bytes(), WORLD_READABLE)?;
    Ok(())
}

fn read_files(certificate: &Path, key: &Path) -> anyhow::Result<ServerIdentity> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot read the certificate {}", certificate.display()))?;
    anyhow::ensure!(
        !chain.is_empty(),
        "{} holds no certificate: a PEM file is expected",
        certificate.display()
    );
    let key = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("cannot read the key {}", key.display()))?;
    Ok(ServerIdentity { chain, key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_run_creates_a_certificate_and_later_runs_keep_it() {
        let directory = scratch("kept");
        let first = load_or_create(&directory).unwrap().fingerprint();
        let second = load_or_create(&directory).unwrap().fingerprint();
        assert_eq!(first, second);
        assert_secret(&directory.join("key.pem"));
        fs::write(directory.join("cert.pem"), "nonsense").unwrap();
        let error = load_or_create(&directory).unwrap_err().to_string();
        assert!(error.contains("cert.pem"), "{error}");
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn servers_that_start_together_keep_one_certificate() {
        let directory = scratch("together");
        let starts: Vec<_> = (0..16)
            .map(|_| {
                let directory = directory.clone();
                std::thread::spawn(move || load_or_create(&directory).unwrap())
            })
            .collect();
        let made: Vec<ServerIdentity> =
            starts.into_iter().map(|start| start.join().unwrap()).collect();
        assert!(made.iter().all(|identity| identity.chain == made[0].chain));
        made.into_iter().for_each(assert_fits);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn the_secret_of_seeds_is_kept_and_a_cluster_s_is_shared() {
        let directory = scratch("seeds");
        let secret = |directory: &Path, more: &[&str]| {
            let arguments = ["world-server", "--data-dir", directory.to_str().unwrap()];
            let config = Config::from_arguments([&arguments, more].concat()).unwrap();
            server_secret(&config).unwrap()
        };
        let first = secret(&directory, &[]);
        assert_eq!(secret(&directory, &[]), first);
        assert_secret(&directory.join("seeds.key"));
        let other = scratch("other-seeds");
        assert_ne!(secret(&other, &[]), first);

        let in_cluster = |directory: &Path, key: &str| {
            let nats = ["--nats", "nats://127.0.0.1:4222"];
            let cluster = ["--hosts", "cluster", "--host-key", key];
            secret(directory, &[cluster.as_slice(), &nats].concat())
        };
        let shared = in_cluster(&directory, "0123456789abcdef");
        assert_eq!(in_cluster(&other, "0123456789abcdef"), shared);
        assert_ne!(shared, first);
        assert_ne!(in_cluster(&directory, "0123456789abcdeg"), shared);

        // A damaged file is not overwritten, and no constant takes its place.
        fs::write(directory.join("seeds.key"), "short").unwrap();
        assert_ne!(secret(&directory, &[]), secret(&directory, &[]));
        assert_eq!(fs::read(directory.join("seeds.key")).unwrap(), b"short");
        fs::remove_dir_all(&directory).unwrap();
        fs::remove_dir_all(&other).unwrap();
    }

    #[test]
    fn the_secret_of_resets_is_kept_and_each_server_of_a_cluster_has_its_own() {
        let directory = scratch("resets");
        let identity = load_or_create(&directory).unwrap();
        let secret = |more: &[&str]| {
            let arguments = ["world-server", "--data-dir", directory.to_str().unwrap()];
            let config = Config::from_arguments([&arguments, more].concat()).unwrap();
            reset_secret(&config, &identity).unwrap()
        };
        assert_eq!(secret(&[]), secret(&[]));
        assert_secret(&directory.join("resets.key"));
        assert_ne!(secret(&[]), secret(&["--listen", "127.0.0.1:7778"]));
        let in_cluster = |address: &str, peer: &str| {
            let nats = ["--nats", "nats://127.0.0.1:4222", "--advertise", address];
            let cluster = ["--hosts", "cluster", "--host-key", "0123456789abcdef"];
            secret(&[cluster.as_slice(), &nats, &["--peer-address", peer]].concat())
        };
        let first = in_cluster("192.0.2.1", "10.0.0.1:7777");
        assert_eq!(first, in_cluster("192.0.2.1", "10.0.0.1:7777"));
        assert_ne!(first, in_cluster("192.0.2.2", "10.0.0.1:7777"));
        // Behind one load balancer all servers have the same address for players.
        assert_ne!(first, in_cluster("192.0.2.1", "10.0.0.2:7777"));
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn an_interrupted_first_run_is_repeated() {
        for lost in ["cert.pem", "key.pem"] {
            let directory = scratch(lost);
            let first = load_or_create(&directory).unwrap().fingerprint();
            fs::remove_file(directory.join(lost)).unwrap();
            fs::write(directory.join("key.pem.new"), "half a ke").unwrap();
            let second = load_or_create(&directory).unwrap();
            assert_ne!(first, second.fingerprint(), "{lost}");
            assert_fits(second);
            assert_secret(&directory.join("key.pem"));
            assert_eq!(fs::read_dir(&directory).unwrap().count(), 2);
            fs::remove_dir_all(&directory).unwrap();
        }
    }

    #[test]
    fn files_named_by_flags_are_never_created() {
        let directory = scratch("named");
        load_or_create(&directory).unwrap();
        let certificate = directory.join("cert.pem");
        let key = directory.join("key.pem");
        fs::remove_file(&key).unwrap();
        let arguments = [
            "world-server",
            "--cert",
            certificate.to_str().unwrap(),
            "--key",
            key.to_str().unwrap(),
        ];
        let error = load(&Config::from_arguments(arguments).unwrap()).unwrap_err().to_string();
        assert!(error.contains("key.pem"), "{error}");
        assert!(!key.exists() && certificate.exists());
        fs::remove_dir_all(&directory).unwrap();
    }

    /// Fails if the key does not belong to the certificate.
    fn assert_fits(ServerIdentity { chain, key }: ServerIdentity) {
        ambit_transport::quic::server_tls(chain, key, &[]).unwrap();
    }

    fn assert_secret(path: &Path) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    fn scratch(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("ambit-identity-{}-{name}", std::process::id()))
    }
}
