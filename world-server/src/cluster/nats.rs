//! The connection to NATS: TLS, credentials, and the message to the operator when they are refused.
//!
//! Settings that are wrong end the server at its start, with what to do. A broker that cannot be
//! reached does not: the client library goes on trying in the background. So does it when a broker
//! refuses the credentials later, which is logged.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use parking_lot::Mutex;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{AlertDescription, CertificateError};

use crate::config::Config;

/// How long the directory may take to answer a request.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// How to reach NATS.
#[derive(Clone)]
pub(crate) struct NatsSettings {
    servers: Vec<ServerAddr>,
    /// Certificate of the authority that is trusted. With it, there is no connection without TLS.
    ca: Option<PathBuf>,
    /// Certificate and key of this server.
    certificate: Option<(PathBuf, PathBuf)>,
    credentials: Option<Credentials>,
}

#[derive(Clone, PartialEq, Eq)]
enum Credentials {
    User { name: String, password: String },
    Token(String),
}

impl NatsSettings {
    /// Reads the files that the configuration names; an error says which one cannot be used.
    pub(crate) fn read(config: &Config) -> anyhow::Result<Self> {
        let servers = config.nats.iter().map(|url| url.parse());
        let settings = Self {
            servers: servers.collect::<Result<_, _>>().context("`--nats`")?,
            ca: config.nats_ca.clone(),
            // `Config::check_complete` refuses one without the other.
            certificate: config.nats_cert.clone().zip(config.nats_key.clone()),
            credentials: config
                .nats_credentials
                .as_deref()
                .map(read_credentials)
                .transpose()
                .context("`--nats-credentials`")?,
        };
        // The client library would report a bad file only as a "TLS error", again and again.
        if let Some(ca) = &settings.ca {
            check_certificates(ca).context("`--nats-ca`")?;
        }
        if let Some((certificate, key)) = &settings.certificate {
            check_certificates(certificate).context("`--nats-cert`")?;
            PrivateKeyDer::from_pem_file(key)
                .map_err(|error| anyhow::anyhow!("{} has no private key: {error}", key.display()))
                .context("`--nats-key`")?;
        }
        Ok(settings)
    }

    /// The number of brokers that are named.
    pub(super) fn server_count(&self) -> usize {
        self.servers.len()
    }

    /// The brokers' addresses for logs, without the credentials of their URLs.
    pub(super) fn addresses(&self) -> String {
        let servers = self.servers.iter();
        let places = servers.map(|server| format!("{}:{}", server.host(), server.port()));
        places.collect::<Vec<_>>().join(", ")
    }

    /// Connects. Fails if a broker refuses these settings or is not trusted; if none is reached,
    /// the client library goes on in the background, as it does after each loss.
    pub(super) async fn connect(&self) -> anyhow::Result<Client> {
        let error = match self.options().connect(&self.servers[..]).await {
            Ok(client) => {
                warn_of_old_version(&client);
                return Ok(client);
            }
            Err(error) => error,
        };
        let servers = self.addresses();
        let error_text = with_causes(&error);
        if let Some(advice) = explain(&error) {
            bail!("NATS at {servers}: {advice} ({error_text})");
        }
        tracing::info!("NATS at {servers} is not reached yet: {error_text}");
        let options = self.options().retry_on_initial_connect();
        options.connect(&self.servers[..]).await.context("`--nats`")
    }

    fn options(&self) -> ConnectOptions {
        let last = Mutex::new(String::new());
        let mut options = ConnectOptions::new()
            .name("ambit world-server")
            .connection_timeout(Duration::from_secs(1))
            .ping_interval(Duration::from_secs(1))
            .request_timeout(Some(REQUEST_TIMEOUT))
            .reconnect_delay_callback(|attempts| {
                Duration::from_millis((attempts as u64 * 20).min(500))
            })
            .event_callback(move |event| {
                // An unreachable broker repeats the same event.
                let text = event.to_string();
                let mut last = last.lock();
                if *last != text {
                    report(&event, &text);
                    *last = text;
                }
                std::future::ready(())
            });
        if let Some(ca) = &self.ca {
            // Brokers announce each other by addresses that need not be in their certificates.
            options = options
                .require_tls(true)
                .add_root_certificates(ca.clone())
                .ignore_discovered_servers();
        }
        if let Some((certificate, key)) = &self.certificate {
            options =
                options.require_tls(true).add_client_certificate(certificate.clone(), key.clone());
        }
        match self.credentials.clone() {
            Some(Credentials::User { name, password }) => options.user_and_password(name, password),
            Some(Credentials::Token(token)) => options.token(token),
            None => options,
        }
    }
}

const WRONG_CREDENTIALS: &str = "it refuses the credentials: check the user and password in the \
    file of `--nats-credentials` (or in the URL of `--nats`) against the configuration of NATS";

fn warn_of_old_version(client: &Client) {
    if !client.is_server_compatible(2, 10, 0) {
        tracing::warn!(
            version = client.server_info().version,
            "this version of NATS may lose what it has confirmed if several of its nodes are \
             killed within minutes; use 2.10 or newer"
        );
    }
}

fn report(event: &Event, text: &str) {
    if text.contains("authorization violation") {
        tracing::error!("NATS connection: {WRONG_CREDENTIALS}");
    } else if matches!(event, Event::ClientError(_)) && text.contains("TLS") {
        tracing::error!(
            "NATS connection: {text}; check `--nats-ca`, `--nats-cert` and `--nats-key`"
        );
    } else {
        tracing::info!("NATS connection: {text}");
    }
}

/// What to do, if another attempt with the same settings would fail as well.
fn explain(error: &ConnectError) -> Option<String> {
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            return Some(WRONG_CREDENTIALS.to_owned());
        }
        _ => {}
    }
    let advice = match tls_error(error)? {
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => {
            "its certificate is not from an authority that this server trusts: name the \
             certificate of that authority with `--nats-ca`"
        }
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => {
            "its certificate is for another name than the one in `--nats`: use a name that is in \
             the certificate, or a certificate with this name"
        }
        rustls::Error::InvalidCertificate(_) => {
            "its certificate is not valid: renew it, and check the clocks of both machines"
        }
        rustls::Error::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnknownCA,
        ) => {
            "it does not accept this server's certificate: name one that it trusts, and its key, \
             with `--nats-cert` and `--nats-key`"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

/// The error of TLS among the causes of an error.
fn tls_error(error: &ConnectError) -> Option<&rustls::Error> {
    let mut cause = error.source();
    while let Some(error) = cause {
        let within = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
            .and_then(|inner| inner.downcast_ref());
        if let Some(found) = error.downcast_ref().or(within) {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

/// The error with its causes.
fn with_causes(error: &ConnectError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let why = error.to_string();
        if !text.contains(&why) {
            text = format!("{text}: {why}");
        }
        cause = error.source();
    }
    text
}

fn check_certificates(path: &Path) -> anyhow::Result<()> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot read the certificate {}", path.display()))?;
    if certificates.is_empty() {
        bail!("{} holds no certificate: a PEM file is expected", path.display());
    }
    Ok(())
}

/// Reads `USER:PASSWORD`, or a token, which has no colon.
fn read_credentials(path: &Path) -> anyhow::Result<Credentials> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the file {}", path.display()))?;
    parse_credentials(&text).map_err(|problem| anyhow::anyhow!("{}: {problem}", path.display()))
}

fn parse_credentials(text: &str) -> Result<Credentials, &'static str> {
    if text.contains("-----BEGIN") {
        return Err(
            "credentials with a JWT or an nkey are not supported: give the server a user and a \
             password, or a certificate of its own (`--nats-cert`)",
        );
    }
    let text = text.trim_end_matches(['\r', '\n']);
    match text.split_once(':') {
        _ if text.is_empty() || text.contains('\n') => {
            Err("one line is expected: USER:PASSWORD, or a token without a colon")
        }
        Some((name, password)) if !name.is_empty() && !password.is_empty() => {
            Ok(Credentials::User { name: name.to_owned(), password: password.to_owned() })
        }
        Some(_) => Err("the user or the password is missing: USER:PASSWORD is expected"),
        None => Ok(Credentials::Token(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_a_user_and_a_password_or_a_token() {
        let user = |name: &str, password: &str| Credentials::User {
            name: name.to_owned(),
            password: password.to_owned(),
        };
        let parse = |text| parse_credentials(text).ok();
        assert!(parse("ambit:pass:word\n") == Some(user("ambit", "pass:word")));
        assert!(parse("s3cret\r\n") == Some(Credentials::Token("s3cret".to_owned())));
        for bad in ["", "\n", ":x", "x:", "a:b\nc:d\n", "-----BEGIN NATS USER JWT-----\n"] {
            assert!(parse(bad).is_none(), "{bad:?}");
        }
    }
}
