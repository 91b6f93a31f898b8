//! The certificate that the WorldServer shows: from PEM files, or its own, made on the first run and kept.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use ambit_game_server::identity::{Identity, IdentityPem};
use anyhow::Context as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::config::Config;

/// Loads what the configuration names, or what is kept in the data directory.
pub(crate) fn load(config: &Config) -> anyhow::Result<Identity> {
    match (&config.cert, &config.key) {
        (Some(certificate), Some(key)) => read(certificate, key),
        (None, None) => load_or_make(&config.data_dir()),
        _ => anyhow::bail!("`cert` and `key` go together"),
    }
}

fn load_or_make(directory: &Path) -> anyhow::Result<Identity> {
    let (certificate, key) = (directory.join("cert.pem"), directory.join("key.pem"));
    if !certificate.exists() && !key.exists() {
        make(directory, &certificate, &key).with_context(|| {
            format!("cannot keep a certificate in {} (`--data-dir` chooses another directory)", directory.display())
        })?;
        tracing::info!(directory = %directory.display(), "made a certificate; clients pin it, so keep the directory");
    }
    read(&certificate, &key)
}

fn make(directory: &Path, certificate: &Path, key: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory)?;
    let pem = IdentityPem::generate()?;
    // The key comes first: a certificate without a key would be taken for a broken pair at the next start.
    write_secret(key, &pem.key)?;
    fs::write(certificate, pem.certificate)?;
    Ok(())
}

fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

fn read(certificate: &Path, key: &Path) -> anyhow::Result<Identity> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot read the certificate {}", certificate.display()))?;
    anyhow::ensure!(!chain.is_empty(), "{} holds no certificate: a PEM file is expected", certificate.display());
    let key = PrivateKeyDer::from_pem_file(key).with_context(|| format!("cannot read the key {}", key.display()))?;
    Ok(Identity { chain, key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_run_makes_a_certificate_and_the_next_ones_keep_it() {
        let directory = std::env::temp_dir().join(format!("ambit-identity-{}", std::process::id()));
        let first = load_or_make(&directory).unwrap().fingerprint();
        let second = load_or_make(&directory).unwrap().fingerprint();
        assert_eq!(first, second);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(directory.join("key.pem")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(directory.join("cert.pem"), "nonsense").unwrap();
        let error = load_or_make(&directory).unwrap_err().to_string();
        assert!(error.contains("cert.pem"), "{error}");
        fs::remove_dir_all(&directory).unwrap();
    }
}
