//! NATS with TLS and credentials: the flags that reach it, and what is said when they are wrong.

use std::fs;
use std::path::Path;
use std::process::Command;

use ambit_tests::real::{self, ScratchFolder, SecuredNats, Server};
use anyhow::Result;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

const CREDENTIALS: &str = "ambit:a password of tests";

#[test]
fn a_server_reaches_nats_with_tls_and_credentials() -> Result<()> {
    let scratch = ScratchFolder::new("nats-tls");
    make_files(scratch.path())?;
    let path = |name: &str| scratch.path().join(name).to_string_lossy().into_owned();
    // It accepts only clients with a certificate and this password.
    let nats = SecuredNats::start(
        &scratch,
        &[
            ["--user", "ambit"],
            ["--pass", "a password of tests"],
            ["--tlscert", &path("nats.pem")],
            ["--tlskey", &path("nats.key")],
            ["--tlscacert", &path("ca.pem")],
            ["--tls", "--tlsverify"],
        ]
        .concat(),
    )?;
    let (ca, other_ca) = (path("ca.pem"), path("other-ca.pem"));
    let right = path("right.txt");
    let wrong = path("wrong.txt");
    let certificate = path("world.pem");
    let key = path("world.key");
    let flags = |ca, credentials| {
        [
            ["--hosts", "cluster"],
            ["--host-key", "a key of a cluster of tests"],
            ["--nats", &nats.url],
            ["--nats-ca", ca],
            ["--nats-cert", &certificate],
            ["--nats-key", &key],
            ["--nats-credentials", credentials],
        ]
        .concat()
        .iter()
        .map(|word| (*word).to_owned())
        .collect::<Vec<String>>()
    };
    let words = flags(&ca, &right);
    let server = Server::start(&scratch, &words.iter().map(String::as_str).collect::<Vec<_>>())?;
    assert_eq!(server.get("/healthz")?.0, 200);
    for (flags, expected) in [
        (flags(&ca, &wrong), "check the user and password in the file of `--nats-credentials`"),
        (flags(&other_ca, &right), "name the certificate of that authority with `--nats-ca`"),
        (flags(&right, &right), "holds no certificate"),
        (flags(&ca, &path("half.txt")), "the user or the password is missing"),
        (flags(&ca, "/nowhere"), "cannot read the file /nowhere"),
    ] {
        let mut command = Command::new(real::binary("world-server"));
        scratch.confine(&mut command);
        command.args(["--listen", "127.0.0.1:0", "--http", "off"]).args(&flags);
        let output = real::output(&mut command)?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(expected), "{expected}: {said}");
        assert!(!said.contains("a password of tests"), "{said}");
    }
    Ok(())
}

/// Certificates of NATS and a WorldServer with their authority, another authority, and credentials.
fn make_files(folder: &Path) -> Result<()> {
    let write = |name: &str, text: String| fs::write(folder.join(name), text);
    let authority = |name: &str| -> Result<_> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Ok(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?)
    };
    let ca = authority("the authority of tests")?;
    write("ca.pem", ca.pem())?;
    write("other-ca.pem", authority("another authority")?.pem())?;
    for name in ["nats", "world"] {
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
        write(&format!("{name}.pem"), params.signed_by(&key, &ca)?.pem())?;
        write(&format!("{name}.key"), key.serialize_pem())?;
    }
    write("right.txt", format!("{CREDENTIALS}\n"))?;
    write("wrong.txt", "ambit:guessed\n".to_owned())?;
    write("half.txt", "ambit:\n".to_owned())?;
    Ok(())
}
