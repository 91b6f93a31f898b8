//! Backups: a copy of a store in a file of SQLite, whatever the store itself is.

use std::path::Path;

use crate::database::{Database, StoreError};
use crate::migrations::TABLES;
use crate::opened::open_database;
use crate::place::StorePlace;
use crate::sqlite::Sqlite;

/// A backup that was written or restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The number of rows in all tables.
    pub rows: u64,
}

/// Why a backup was not restored. Nothing is changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The store has something in it.
    #[error(
        "the store has {0} rows already, and a backup is restored into an empty one: name another \
         store, or move its file aside"
    )]
    NotEmpty(u64),
    /// The store does not work.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Backup {
    /// Copies all tables into a new file.
    pub(crate) fn write(from: &mut dyn Database, to: &Path) -> Result<Self, StoreError> {
        if to.exists() {
            let problem = format!("{} exists already: name a new file", to.display());
            return Err(StoreError::Unavailable(problem));
        }
        // A copy that is not whole must not look like one.
        let unfinished = to.with_extension("unfinished");
        let _ = std::fs::remove_file(&unfinished);
        let mut copy = open_database(&StorePlace::File(unfinished.clone()))?;
        let rows = copy_all(from, &mut *copy)?;
        copy.query("PRAGMA wal_checkpoint(TRUNCATE)", &[])?;
        drop(copy);
        let io = |error: std::io::Error| StoreError::Unavailable(error.to_string());
        std::fs::rename(&unfinished, to).map_err(io)?;
        Ok(Self { rows })
    }

    /// Fills an empty store from a file.
    pub(crate) fn read(from: &Path, to: &mut dyn Database) -> Result<Self, RestoreError> {
        if !from.is_file() {
            let problem = format!("{} is no file", from.display());
            return Err(StoreError::Unavailable(problem).into());
        }
        let found = count_rows(to)?;
        if found > 0 {
            return Err(RestoreError::NotEmpty(found));
        }
        let mut copy = Sqlite::open(from)?;
        Ok(Self { rows: copy_all(&mut copy, to)? })
    }
}

/// Rows that a user has written: the tables begin with those of `changes`.
fn count_rows(database: &mut dyn Database) -> Result<u64, StoreError> {
    let mut rows = 0;
    for table in TABLES.iter().filter(|table| **table != "changes") {
        let counted = database.query(&format!("SELECT COUNT(*) FROM {table}"), &[])?;
        rows += counted[0].integer(0)? as u64;
    }
    Ok(rows)
}

/// Copies all rows, as they are at one moment.
fn copy_all(from: &mut dyn Database, to: &mut dyn Database) -> Result<u64, StoreError> {
    from.begin()?;
    to.begin_alone()?;
    let mut copied = 0;
    for table in TABLES {
        to.execute(&format!("DELETE FROM {table}"), &[])?;
        let rows = from.query(&format!("SELECT * FROM {table}"), &[])?;
        for row in rows {
            let places: Vec<String> =
                (1..=row.0.len()).map(|number| format!("${number}")).collect();
            to.execute(&format!("INSERT INTO {table} VALUES ({})", places.join(", ")), &row.0)?;
            copied += 1;
        }
    }
    to.execute("COMMIT", &[])?;
    from.execute("ROLLBACK", &[])?;
    Ok(copied)
}
