//! Where a store is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tokio_postgres::config::SslMode;

/// Where a store is: `memory`, a file of SQLite, or the URL of a PostgreSQL database.
#[derive(Clone, PartialEq, Eq)]
pub enum StorePlace {
    /// Nothing outlives the process.
    Memory,
    /// A file; it is made if it does not exist.
    File(PathBuf),
    /// `postgresql://USER:PASSWORD@HOST/DATABASE`, as libpq understands it; with
    /// `?sslrootcert=FILE` over TLS.
    Postgres(String),
}

/// Why a text names no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected `memory`, the path of a file, or a URL as postgresql://USER:PASSWORD@HOST/DATABASE\
     {0}"
)]
pub struct InvalidPlace(String);

impl FromStr for StorePlace {
    type Err = InvalidPlace;

    fn from_str(text: &str) -> Result<Self, InvalidPlace> {
        match text.split_once("://") {
            _ if text.is_empty() => Err(InvalidPlace(String::new())),
            _ if text == "memory" => Ok(Self::Memory),
            Some(("postgres" | "postgresql", _)) => {
                // The texts name the part that is wrong, and no values.
                let checked = DatabaseUrl::parse(text);
                checked.map_err(|problem| InvalidPlace(format!(" ({problem})")))?;
                Ok(Self::Postgres(text.to_owned()))
            }
            Some((scheme, _)) => Err(InvalidPlace(format!(", not a URL of `{scheme}`"))),
            None => Ok(Self::File(Path::new(text).to_owned())),
        }
    }
}

/// The parts of a URL of PostgreSQL.
pub(crate) struct DatabaseUrl {
    pub(crate) config: tokio_postgres::Config,
    /// The file with the certificates of the authorities that may vouch for the server. With it,
    /// the connection is encrypted, and the server's certificate has to name the host of the URL.
    pub(crate) authorities: Option<PathBuf>,
}

impl DatabaseUrl {
    /// The problem, in words without a value, if it makes no sense.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut authorities = None;
        let mut others = form_urlencoded::Serializer::new(String::new());
        let mut mode = None;
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*key {
                "sslrootcert" => authorities = Some(PathBuf::from(&*value)),
                "sslmode" => mode = Some(value.into_owned()),
                _ => drop(others.append_pair(&key, &value)),
            }
        }
        let is_encrypted = match mode.as_deref() {
            None => authorities.is_some(),
            Some("disable" | "allow" | "prefer") if authorities.is_none() => false,
            Some("require" | "verify-ca" | "verify-full") if authorities.is_some() => true,
            Some("require" | "verify-ca" | "verify-full") => {
                return Err("over TLS, name the authority's certificates: sslrootcert=FILE".into());
            }
            Some(_) => return Err("sslmode with sslrootcert is verify-full".into()),
        };
        let others = others.finish().replace('+', "%20");
        let plain = if others.is_empty() { base.to_owned() } else { format!("{base}?{others}") };
        let config: Result<tokio_postgres::Config, _> = plain.parse();
        let mut config = config.map_err(|error| error.to_string())?;
        config.ssl_mode(if is_encrypted { SslMode::Require } else { SslMode::Disable });
        Ok(Self { config, authorities })
    }
}

/// Without the password: this goes into logs.
impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(url) => {
                let (_, address) = url.split_once("://").unwrap_or_default();
                let address = address.split('?').next().unwrap_or_default();
                let shown = address.rsplit_once('@').map_or(address, |(_, host)| host);
                write!(f, "postgresql://{shown}")
            }
        }
    }
}

impl fmt::Debug for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_memory_a_file_or_a_database_and_shows_no_password() {
        let shown = |text: &str| text.parse::<StorePlace>().map(|place| format!("{place:?}"));
        assert_eq!(shown("memory").as_deref(), Ok("memory"));
        assert_eq!(shown("data/ambit.db").as_deref(), Ok("data/ambit.db"));
        for url in ["postgres://ann:se@cret@db:5432/ambit", "postgresql://db:5432/ambit?user=ann"] {
            assert_eq!(shown(url).as_deref(), Ok("postgresql://db:5432/ambit"));
        }
        for wrong in ["", "mysql://db/ambit", "postgres://db:port/ambit"] {
            let problem = shown(wrong).unwrap_err().to_string();
            assert!(problem.contains("postgresql://USER:PASSWORD@HOST/DATABASE"), "{problem}");
        }
    }

    #[test]
    fn tls_needs_an_authority_and_is_then_always_used() {
        let parsed = |url: &str| {
            let parsed = DatabaseUrl::parse(url);
            parsed.map(|it| (it.config.get_ssl_mode(), it.authorities))
        };
        let authority = Some(PathBuf::from("/etc/a b.pem"));
        for url in ["?sslrootcert=/etc/a%20b.pem", "?sslmode=verify-full&sslrootcert=/etc/a b.pem"]
        {
            let parsed = parsed(&format!("postgres://u@h/d{url}"));
            assert_eq!(parsed, Ok((SslMode::Require, authority.clone())));
        }
        for url in ["", "?sslmode=prefer", "?sslmode=disable&application_name=a%20b"] {
            let parsed = parsed(&format!("postgres://u@h/d{url}"));
            assert_eq!(parsed, Ok((SslMode::Disable, None)));
        }
        for (wrong, problem) in [
            ("?sslmode=require", "sslrootcert=FILE"),
            ("?sslmode=prefer&sslrootcert=x", "verify-full"),
            ("?sslmode=what", "verify-full"),
        ] {
            let said = parsed(&format!("postgres://u@h/d{wrong}")).unwrap_err();
            assert!(said.contains(problem), "{said}");
        }
    }
}
