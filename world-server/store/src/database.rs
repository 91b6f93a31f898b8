//! What SQLite and PostgreSQL have in common.
//!
//! Statements have parameters `$1`, `$2`, .. in the order of their values. Columns hold whole
//! numbers (64 bits), text, or bytes.

/// A database that the thread of a store uses alone.
pub(crate) trait Database: Send {
    /// Runs a statement. Returns the number of rows that it has changed.
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError>;

    /// Runs a statement. Returns its rows.
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, StoreError>;

    /// The type of columns with bytes.
    fn bytes_type(&self) -> &'static str;

    /// Connects again, if the connection is lost.
    fn recover(&mut self) -> Result<(), StoreError>;

    /// Begins a transaction that writes.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// As `begin`, for changes of the tables themselves: only one program at a time does that.
    fn begin_alone(&mut self) -> Result<(), StoreError>;
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_owned())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The columns of a row, in the order of the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn integer(&self, column: usize) -> Result<i64, StoreError> {
        match self.0.get(column) {
            Some(Value::Integer(number)) => Ok(*number),
            _ => Err(unexpected(column, "a number")),
        }
    }

    pub(crate) fn optional_integer(&self, column: usize) -> Result<Option<i64>, StoreError> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.integer(column).map(Some),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str, StoreError> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(unexpected(column, "a text")),
        }
    }

    pub(crate) fn bytes(&self, column: usize) -> Result<&[u8], StoreError> {
        match self.0.get(column) {
            Some(Value::Bytes(bytes)) => Ok(bytes),
            _ => Err(unexpected(column, "bytes")),
        }
    }
}

fn unexpected(column: usize, what: &str) -> StoreError {
    StoreError::Damaged(format!("column {column} of a row is not {what}"))
}

/// Why a job was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached or written now, or has too much to do: try again.
    #[error("the store does not work now: {0}")]
    Unavailable(String),
    /// What is stored is not what this build has written: an operator has to look at it.
    #[error("the store is damaged: {0}; restore a backup (`world-server restore`)")]
    Damaged(String),
    /// A newer build has changed the tables.
    #[error(
        "the store has tables of version {found}, and this build knows {known}: use the newer build"
    )]
    Newer {
        /// The version of the tables.
        found: i64,
        /// The newest version that this build knows.
        known: i64,
    },
    /// A statement is wrong, which is a bug.
    #[error("the database refuses a statement, which is a bug: {0}")]
    Refused(String),
}
