//! Opens databases of all kinds, with tables of this build's version.

use crate::database::{Database, StoreError};
use crate::migrations;
use crate::place::StorePlace;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;

/// Opens a database with tables of this build's version.
pub(crate) fn open_database(place: &StorePlace) -> Result<Box<dyn Database>, StoreError> {
    let mut database: Box<dyn Database> = match place {
        StorePlace::Memory => Box::new(Sqlite::in_memory()?),
        StorePlace::File(path) => Box::new(Sqlite::open(path)?),
        StorePlace::Postgres(url) => Box::new(Postgres::connect(url)?),
    };
    database.begin_alone()?;
    migrations::run(&mut *database)?;
    database.execute("COMMIT", &[])?;
    Ok(database)
}
