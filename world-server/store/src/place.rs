//! Where a store is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a store is: `memory`, a file of SQLite, or the URL of a PostgreSQL database.
#[derive(Clone, PartialEq, Eq)]
pub enum StorePlace {
    /// Nothing outlives the process.
    Memory,
    /// A file; it is made if it does not exist.
    File(PathBuf),
    /// `postgresql://USER:PASSWORD@HOST/DATABASE`, as libpq understands it.
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
                let checked: Result<tokio_postgres::Config, _> = text.parse();
                // Its texts name the part that is wrong, and no values.
                checked.map_err(|error| InvalidPlace(format!(" ({error})")))?;
                Ok(Self::Postgres(text.to_owned()))
            }
            Some((scheme, _)) => Err(InvalidPlace(format!(", not a URL of `{scheme}`"))),
            None => Ok(Self::File(Path::new(text).to_owned())),
        }
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
}
