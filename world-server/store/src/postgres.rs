//! PostgreSQL, for servers of a cluster.
//!
//! A call that takes longer than [`CALL_TIMEOUT`] ends the connection: a dark line is no reason to
//! wait. The next batch of jobs connects again.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio::runtime::Runtime;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Socket, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::{Database, Row, StoreError, Value};
use crate::place::DatabaseUrl;

/// How long a statement or a new connection may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a statement may take while the tables are made: other servers may do so as well.
const MAKING_TIMEOUT: Duration = Duration::from_mins(1);

/// The number of the lock for changes of the tables: any that no other program takes.
const MIGRATION_LOCK: i64 = 0x616d_6269_7400;

pub(crate) struct Postgres {
    /// Drives the connection while a statement waits.
    runtime: Runtime,
    config: Config,
    /// Over TLS, if it is wanted.
    tls: Option<MakeRustlsConnect>,
    connection: Option<Connection>,
    call_timeout: Duration,
}

struct Connection {
    client: Client,
    statements: HashMap<String, Statement>,
}

impl Postgres {
    pub(crate) fn connect(url: &str) -> Result<Self, StoreError> {
        let unavailable =
            |error: &dyn std::error::Error| StoreError::Unavailable(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let url = DatabaseUrl::parse(url).map_err(StoreError::Unavailable)?;
        let DatabaseUrl { mut config, authorities } = url;
        let tls = authorities.map(|file| encryption(&file)).transpose();
        let tls = tls.map_err(StoreError::Unavailable)?;
        config.connect_timeout(CALL_TIMEOUT).tcp_user_timeout(CALL_TIMEOUT);
        let runtime = runtime.map_err(|error| unavailable(&error))?;
        let call_timeout = CALL_TIMEOUT;
        let mut this = Self { runtime, config, tls, connection: None, call_timeout };
        this.recover()?;
        Ok(this)
    }

    /// Runs a statement on the connection, with its time limit.
    fn call<T>(
        &mut self,
        sql: &str,
        run: impl AsyncFnOnce(&Client, &Statement) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, StoreError> {
        let lost = || StoreError::Unavailable("the connection to PostgreSQL is lost".to_owned());
        let connection = self.connection.as_mut().ok_or_else(lost)?;
        let called = self.runtime.block_on(async {
            let prepare_and_run = async {
                let statement = match connection.statements.get(sql) {
                    Some(statement) => statement.clone(),
                    None => connection.client.prepare(sql).await?,
                };
                let answer = run(&connection.client, &statement).await?;
                connection.statements.entry(sql.to_owned()).or_insert(statement);
                Ok(answer)
            };
            tokio::time::timeout(self.call_timeout, prepare_and_run).await
        });
        let result: Result<T, tokio_postgres::Error> = called.map_err(|_| {
            self.connection = None;
            let seconds = self.call_timeout.as_secs();
            StoreError::Unavailable(format!("PostgreSQL did not answer within {seconds} s"))
        })?;
        result.map_err(|error| {
            let is_closed = self.connection.as_ref().is_none_or(|it| it.client.is_closed());
            if is_closed || error.is_closed() {
                self.connection = None;
                return lost();
            }
            from_postgres(&error)
        })
    }
}

/// Connects, and drives the connection in a task of its own. The problem in words if that fails.
async fn connect<T>(config: &Config, tls: T) -> Result<Client, String>
where
    T: MakeTlsConnect<Socket, Stream: Send + 'static>,
{
    let connected = tokio::time::timeout(CALL_TIMEOUT, config.connect(tls)).await;
    // The error's own text leaves out the cause.
    let cause = |error: tokio_postgres::Error| {
        std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string)
    };
    let (client, connection) =
        connected.map_err(|_| "it does not answer".to_owned())?.map_err(cause)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "the connection to PostgreSQL has ended");
        }
    });
    Ok(client)
}

/// TLS with a server for which one of the authorities in this file vouches.
fn encryption(file: &Path) -> Result<MakeRustlsConnect, String> {
    let in_context = |problem: String| format!("sslrootcert={}: {problem}", file.display());
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file);
    for certificate in certificates.map_err(|error| in_context(error.to_string()))? {
        let certificate = certificate.map_err(|error| in_context(error.to_string()))?;
        roots.add(certificate).map_err(|error| in_context(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(in_context("the file holds no certificate in PEM".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions();
    let config = config.map_err(|error| in_context(error.to_string()))?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

impl Database for Postgres {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        self.call(sql, async |client, statement| client.execute_raw(statement, values).await)
    }

    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        let parameters: Vec<&(dyn ToSql + Sync)> = values.iter().map(|it| it as _).collect();
        let rows =
            self.call(sql, async |client, statement| client.query(statement, &parameters).await)?;
        rows.iter().map(from_row).collect()
    }

    fn bytes_type(&self) -> &'static str {
        "BYTEA"
    }

    fn recover(&mut self) -> Result<(), StoreError> {
        if let Some(connection) = &self.connection
            && !connection.client.is_closed()
        {
            // Ends what a failed commit has left; only a warning otherwise.
            return self.execute("ROLLBACK", &[]).map(drop);
        }
        let config = &self.config;
        let connected = self.runtime.block_on(async {
            match &self.tls {
                Some(tls) => connect(config, tls.clone()).await,
                None => connect(config, NoTls).await,
            }
        });
        let client = connected.map_err(|problem: String| {
            StoreError::Unavailable(format!("cannot connect to PostgreSQL: {problem}"))
        })?;
        self.connection = Some(Connection { client, statements: HashMap::new() });
        Ok(())
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.call_timeout = CALL_TIMEOUT;
        self.execute("BEGIN", &[]).map(drop)
    }

    fn begin_alone(&mut self) -> Result<(), StoreError> {
        self.begin()?;
        self.call_timeout = MAKING_TIMEOUT;
        self.query("SELECT pg_advisory_xact_lock($1)::TEXT", &[MIGRATION_LOCK.into()]).map(drop)
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut tokio_postgres::types::private::BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql_checked(of, out),
            Self::Text(text) => text.to_sql_checked(of, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn from_row(row: &tokio_postgres::Row) -> Result<Row, StoreError> {
    let value = |column: usize| {
        let read = match *row.columns()[column].type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(column).map(Value::from),
            Type::BYTEA => row.try_get::<_, Option<&[u8]>>(column).map(Value::from),
            _ => row.try_get::<_, Option<&str>>(column).map(Value::from),
        };
        read.map_err(|error| StoreError::Damaged(error.to_string()))
    };
    (0..row.len()).map(value).collect::<Result<_, _>>().map(Row)
}

fn from_postgres(error: &tokio_postgres::Error) -> StoreError {
    let Some(refused) = error.as_db_error() else {
        return StoreError::Unavailable(error.to_string());
    };
    let text = format!("{} ({})", refused.message(), refused.code().code());
    match &refused.code().code()[..2] {
        // Connection, rolled back, resources (disk, memory, connections), operator, system.
        "08" | "25" | "40" | "53" | "55" | "57" | "58" => StoreError::Unavailable(text),
        "XX" => StoreError::Damaged(text),
        _ => StoreError::Refused(text),
    }
}
