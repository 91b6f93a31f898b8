//! The tables, by version.
//!
//! Opening a store runs the versions that it does not have, in one transaction. What a version has
//! done is never changed: a later one changes it. `BYTES` stands for the type of columns with
//! bytes.

use crate::database::{Database, StoreError};

/// The statements of each version; the first is 1.
const VERSIONS: &[&[&str]] = &[
    &[
        // Accounts of players who sign in with a name and a password.
        "CREATE TABLE passwords (
        login TEXT PRIMARY KEY,
        shown TEXT NOT NULL,
        account BYTES NOT NULL UNIQUE,
        hash TEXT NOT NULL,
        made_at BIGINT NOT NULL
    )",
        // Names that only one account may use.
        "CREATE TABLE names (
        name TEXT PRIMARY KEY,
        account BYTES NOT NULL,
        made_at BIGINT NOT NULL
    )",
        "CREATE INDEX names_by_account ON names (account)",
        "CREATE TABLE bans (
        account BYTES PRIMARY KEY,
        reason TEXT NOT NULL,
        ends_at BIGINT,
        made_at BIGINT NOT NULL
    )",
        // How often names and bans have changed: servers read them again.
        "CREATE TABLE changes (
        what TEXT PRIMARY KEY,
        number BIGINT NOT NULL
    )",
        "INSERT INTO changes VALUES ('names and bans', 1)",
    ],
    &[
        // What games have stored; `account` is empty for a value of the game as a whole, `value`
        // for none. The request that has stored it last keeps earlier ones of its room away.
        "CREATE TABLE game_values (
        game TEXT NOT NULL,
        account BYTES NOT NULL,
        name TEXT NOT NULL,
        value BYTES NOT NULL,
        stored_at BIGINT NOT NULL,
        lineage BYTES NOT NULL,
        room BIGINT NOT NULL,
        incarnation BIGINT NOT NULL,
        number BIGINT NOT NULL,
        PRIMARY KEY (game, account, name)
    )",
        "CREATE INDEX game_values_by_account ON game_values (account)",
        // Requests of rooms that were carried out and that may come again. `lineage` is what the
        // ids of rooms are unique in.
        "CREATE TABLE carried_out (
        lineage BYTES NOT NULL,
        room BIGINT NOT NULL,
        incarnation BIGINT NOT NULL,
        number BIGINT NOT NULL,
        PRIMARY KEY (lineage, room, incarnation, number)
    )",
        "CREATE TABLE results (
        lineage BYTES NOT NULL,
        room BIGINT NOT NULL,
        incarnation BIGINT NOT NULL,
        number BIGINT NOT NULL,
        game TEXT NOT NULL,
        board TEXT NOT NULL,
        account BYTES NOT NULL,
        player TEXT NOT NULL,
        score BIGINT NOT NULL,
        added_at BIGINT NOT NULL,
        PRIMARY KEY (lineage, room, incarnation, number)
    )",
        "CREATE INDEX results_by_score ON results (game, board, score)",
        "CREATE INDEX results_by_account ON results (account)",
    ],
    &[
        // Profiles of players, by game. `claim` grows with each room that has claimed it, and
        // `version` with each value since then. The request that has claimed it is empty while no
        // room has it.
        "CREATE TABLE profiles (
        game TEXT NOT NULL,
        account BYTES NOT NULL,
        value BYTES NOT NULL,
        stored_at BIGINT NOT NULL,
        claim BIGINT NOT NULL,
        version BIGINT NOT NULL,
        lineage BYTES NOT NULL,
        room BIGINT NOT NULL,
        incarnation BIGINT NOT NULL,
        number BIGINT NOT NULL,
        PRIMARY KEY (game, account)
    )",
        "CREATE INDEX profiles_by_account ON profiles (account)",
        // When servers were last seen that share this store: what others claim is theirs meanwhile.
        "CREATE TABLE lineages (
        lineage BYTES PRIMARY KEY,
        seen_at BIGINT NOT NULL
    )",
    ],
    &[
        // The best results of a board, of all time (0), and of the day, week and month (1 to 3)
        // with this number. `who` is the account, or what is unique to the result of a player
        // without one.
        "CREATE TABLE top_lists (
        game TEXT NOT NULL,
        board TEXT NOT NULL,
        period BIGINT NOT NULL,
        number BIGINT NOT NULL,
        who BYTES NOT NULL,
        player TEXT NOT NULL,
        score BIGINT NOT NULL,
        added_at BIGINT NOT NULL,
        PRIMARY KEY (game, board, period, number, who)
    )",
        "CREATE INDEX top_lists_by_score ON top_lists (game, board, period, number, score)",
        "CREATE INDEX top_lists_by_who ON top_lists (who)",
        "INSERT INTO top_lists SELECT game, board, 0, 0, account, MIN(player), MAX(score), \
         MIN(added_at) FROM results WHERE LENGTH(account) > 0 GROUP BY game, board, account",
        "DROP INDEX results_by_score",
    ],
    &[
        // What the operator trusts accounts with: 1 look, 2 moderate, 3 operate.
        "CREATE TABLE roles (
        account BYTES PRIMARY KEY,
        role BIGINT NOT NULL,
        made_at BIGINT NOT NULL
    )",
    ],
    &[
        // Which room has written a profile last, and how often it had been given to a host when it
        // asked for that.
        "ALTER TABLE profiles ADD COLUMN saved_room BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE profiles ADD COLUMN saved_incarnation BIGINT NOT NULL DEFAULT 0",
    ],
    &[
        // Bans by account (kind 1), name (2) or network (3), from play (scope 1) or chat (2).
        "CREATE TABLE server_bans (
        kind BIGINT NOT NULL,
        who BYTES NOT NULL,
        scope BIGINT NOT NULL,
        reason TEXT NOT NULL,
        ends_at BIGINT,
        made_at BIGINT NOT NULL,
        PRIMARY KEY (kind, who, scope)
    )",
        "INSERT INTO server_bans SELECT 1, account, 1, reason, ends_at, made_at FROM bans",
        "DROP TABLE bans",
    ],
    &[
        // The operator who has made a ban, and the player's name then.
        "ALTER TABLE server_bans ADD COLUMN made_by TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE server_bans ADD COLUMN player TEXT NOT NULL DEFAULT ''",
    ],
];

/// The tables with data, in the order in which a copy is made; the newest version's.
pub(crate) const TABLES: &[&str] = &[
    "passwords",
    "names",
    "server_bans",
    "changes",
    "game_values",
    "carried_out",
    "results",
    "profiles",
    "lineages",
    "top_lists",
    "roles",
];

/// The newest version of the tables.
pub(crate) fn newest() -> i64 {
    VERSIONS.len() as i64
}

/// Brings the tables to the newest version. The caller has begun a transaction.
pub(crate) fn run(database: &mut dyn Database) -> Result<(), StoreError> {
    database.execute("CREATE TABLE IF NOT EXISTS version (number BIGINT NOT NULL)", &[])?;
    let found = database.query("SELECT number FROM version", &[])?;
    let found = found.first().map(|row| row.integer(0)).transpose()?.unwrap_or_default();
    if found > newest() {
        return Err(StoreError::Newer { found, known: newest() });
    }
    let bytes = database.bytes_type();
    for statements in &VERSIONS[usize::try_from(found).unwrap_or_default()..] {
        for statement in *statements {
            database.execute(&statement.replace("BYTES", bytes), &[])?;
        }
    }
    if found < newest() {
        database.execute("DELETE FROM version", &[])?;
        database.execute("INSERT INTO version VALUES ($1)", &[newest().into()])?;
    }
    Ok(())
}
