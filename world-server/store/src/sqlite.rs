//! SQLite: one file, and beside it what it writes ahead (`-wal`, `-shm`).
//!
//! Each commit waits for the disk (`synchronous = FULL`). Other programs may read and write the
//! file meanwhile, as those of operators do.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};

use crate::database::{Database, Row, StoreError, Value};

/// How long a statement waits for another program.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct Sqlite(Connection);

impl Sqlite {
    pub(crate) fn in_memory() -> Result<Self, StoreError> {
        Connection::open_in_memory().map(Self).map_err(|error| from_sqlite(&error))
    }

    /// Opens a file, or makes it. Refuses a file that is damaged.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let in_context = |problem: String| format!("{}: {problem}", path.display());
        make_for_owner(path).map_err(|error| StoreError::Unavailable(in_context(error)))?;
        let opened = Self::open_existing(path);
        opened.map_err(|error| match error {
            StoreError::Unavailable(problem) => StoreError::Unavailable(in_context(problem)),
            StoreError::Damaged(problem) => StoreError::Damaged(in_context(problem)),
            other => other,
        })
    }

    fn open_existing(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|error| from_sqlite(&error))?;
        let mut opened = Self(connection);
        opened.0.busy_timeout(BUSY_TIMEOUT).map_err(|error| from_sqlite(&error))?;
        let problems = opened.query("PRAGMA quick_check(1)", &[])?;
        if let Some(problem) = problems.first().map(|row| row.text(0)).transpose()?
            && problem != "ok"
        {
            return Err(StoreError::Damaged(problem.to_owned()));
        }
        opened.query("PRAGMA journal_mode = WAL", &[])?;
        opened.execute("PRAGMA synchronous = FULL", &[])?;
        Ok(opened)
    }
}

/// The file has hashes of passwords.
fn make_for_owner(path: &Path) -> Result<(), String> {
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory).map_err(|error| error.to_string())?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => Err("it is no file".to_owned()),
        Ok(_) => Ok(()),
        Err(_) => options.open(path).map(drop).map_err(|error| error.to_string()),
    }
}

impl Database for Sqlite {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        let done = self.0.prepare_cached(sql).and_then(|mut statement| {
            // Statements with rows are fine, too: these are not read.
            let mut rows = statement.query(params_from_iter(values))?;
            while rows.next()?.is_some() {}
            Ok(())
        });
        done.map_err(|error| from_sqlite(&error))?;
        Ok(self.0.changes())
    }

    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        let read = self.0.prepare_cached(sql).and_then(|mut statement| {
            let columns = statement.column_count();
            let rows = statement.query_map(params_from_iter(values), |row| {
                let value = |column| Ok(from_column(row.get_ref(column)?));
                (0..columns).map(value).collect::<Result<_, _>>().map(Row)
            })?;
            rows.collect()
        });
        read.map_err(|error| from_sqlite(&error))
    }

    fn bytes_type(&self) -> &'static str {
        "BLOB"
    }

    fn recover(&mut self) -> Result<(), StoreError> {
        if !self.0.is_autocommit() {
            // A commit has failed.
            self.execute("ROLLBACK", &[])?;
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        let begun = self.0.execute_batch("BEGIN IMMEDIATE");
        // What can be written no longer can still be read.
        let is_read_only =
            |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::ReadOnly);
        match begun {
            Err(error) if is_read_only(&error) => self.0.execute_batch("BEGIN"),
            begun => begun,
        }
        .map_err(|error| from_sqlite(&error))
    }

    fn begin_alone(&mut self) -> Result<(), StoreError> {
        self.begin()
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn from_column(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_owned()),
        // No column is of this type.
        ValueRef::Null | ValueRef::Real(_) => Value::Null,
    }
}

fn from_sqlite(error: &rusqlite::Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(text),
        Some(ErrorCode::DiskFull) => {
            StoreError::Unavailable(format!("the disk is full: free some space ({text})"))
        }
        Some(ErrorCode::ReadOnly) => {
            StoreError::Unavailable(format!("the file or its disk is read-only ({text})"))
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Unavailable(format!("another program uses the file ({text})"))
        }
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::SystemIoFailure
            | ErrorCode::PermissionDenied
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::OutOfMemory,
        ) => StoreError::Unavailable(text),
        _ => StoreError::Refused(text),
    }
}
