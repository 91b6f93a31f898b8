//! What a job asks and writes.
//!
//! Times are seconds since 1970.

use std::collections::BTreeMap;

use ambit_proto::ids::AccountId;
use ambit_proto::standing::OperatorRole;
use serde_json::{Value as Json, json};

use crate::database::{Database, Row, StoreError, Value};
use crate::server_ban::ServerBan;

/// The tables of a store, in a transaction.
pub struct StoreTables<'a> {
    pub(crate) database: &'a mut dyn Database,
}

/// An account with a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordAccount {
    /// The account.
    pub account: AccountId,
    /// How it is written, with its number: `ann#48213`.
    pub login: String,
    /// The hash of the password, as Argon2 writes it.
    pub hash: String,
}

/// Whose a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameOwner(
    /// The account that alone may use the name.
    pub AccountId,
);

/// All reserved names, all bans and all roles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Changes with each change of them.
    pub number: i64,
    /// Reserved names, as they were given, with their accounts.
    pub reserved: BTreeMap<String, AccountId>,
    /// Who may not play, or not chat.
    pub bans: Vec<ServerBan>,
    /// What the operator trusts accounts with.
    pub roles: BTreeMap<AccountId, OperatorRole>,
}

const NAMES_AND_BANS: &str = "names and bans";

impl<'a> StoreTables<'a> {
    pub(crate) fn new(database: &'a mut dyn Database) -> Self {
        Self { database }
    }

    /// The account of a login, whose letters may be of either case.
    pub fn find_password(&mut self, login: &str) -> Result<Option<PasswordAccount>, StoreError> {
        let sql = "SELECT account, shown, hash FROM passwords WHERE login = $1";
        let found = self.database.query(sql, &[key_of(login).as_str().into()])?;
        let read = |row: &Row| {
            let (login, hash) = (row.text(1)?.to_owned(), row.text(2)?.to_owned());
            Ok(PasswordAccount { account: account_in(row, 0)?, login, hash })
        };
        found.first().map(read).transpose()
    }

    /// The hash of an account's password, if it has one.
    pub fn password_of(&mut self, account: AccountId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT hash FROM passwords WHERE account = $1";
        let found = self.database.query(sql, &[bytes_of(account)])?;
        found.first().map(|row| row.text(0).map(str::to_owned)).transpose()
    }

    /// Adds an account. Returns whether its login is free; otherwise nothing is changed.
    pub fn add_password(&mut self, new: &PasswordAccount, now: i64) -> Result<bool, StoreError> {
        let sql = "INSERT INTO passwords (login, shown, account, hash, made_at) \
                   VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
        let values = [
            key_of(&new.login).as_str().into(),
            new.login.as_str().into(),
            bytes_of(new.account),
            new.hash.as_str().into(),
            now.into(),
        ];
        Ok(self.database.execute(sql, &values)? > 0)
    }

    /// Sets another password. Returns whether there is such an account.
    pub fn set_password(&mut self, account: AccountId, hash: &str) -> Result<bool, StoreError> {
        let sql = "UPDATE passwords SET hash = $1 WHERE account = $2";
        Ok(self.database.execute(sql, &[hash.into(), bytes_of(account)])? > 0)
    }

    /// How often names and bans have changed; compare it with [`Names::number`].
    pub fn names_number(&mut self) -> Result<i64, StoreError> {
        let sql = "SELECT number FROM changes WHERE what = $1";
        let rows = self.database.query(sql, &[NAMES_AND_BANS.into()])?;
        rows.first().map_or(Ok(0), |row| row.integer(0))
    }

    /// All reserved names, bans and roles.
    pub fn names(&mut self) -> Result<Names, StoreError> {
        let number = self.names_number()?;
        let rows = self.database.query("SELECT name, account FROM names", &[])?;
        let reserved = rows
            .iter()
            .map(|row| Ok((row.text(0)?.to_owned(), account_in(row, 1)?)))
            .collect::<Result<_, _>>()?;
        let bans = self.bans()?;
        let rows = self.database.query("SELECT account, role FROM roles", &[])?;
        let roles = rows.iter().filter_map(|row| {
            // A newer build may have others.
            let role = row.integer(1).map(|number| OperatorRole::from_number(number as u32));
            let role = role.transpose()?;
            Some(role.and_then(|role| Ok((account_in(row, 0)?, role))))
        });
        let roles = roles.collect::<Result<_, _>>()?;
        Ok(Names { number, reserved, bans, roles })
    }

    /// Reserves a name. Returns the account that has it already, if it is another one.
    pub fn reserve(
        &mut self,
        name: &str,
        account: AccountId,
        now: i64,
    ) -> Result<Option<NameOwner>, StoreError> {
        let sql = "SELECT account FROM names WHERE name = $1";
        let found = self.database.query(sql, &[name.into()])?;
        let owner = found.first().map(|row| account_in(row, 0)).transpose()?;
        if let Some(owner) = owner {
            return Ok((owner != account).then_some(NameOwner(owner)));
        }
        let sql = "INSERT INTO names (name, account, made_at) VALUES ($1, $2, $3)";
        self.database.execute(sql, &[name.into(), bytes_of(account), now.into()])?;
        self.count_change()?;
        Ok(None)
    }

    /// Makes a name free. Returns whether it was reserved.
    pub fn release(&mut self, name: &str) -> Result<bool, StoreError> {
        let is_gone =
            self.database.execute("DELETE FROM names WHERE name = $1", &[name.into()])? > 0;
        if is_gone {
            self.count_change()?;
        }
        Ok(is_gone)
    }

    /// Trusts an account with a role, or with none.
    pub fn set_role(
        &mut self,
        account: AccountId,
        role: Option<OperatorRole>,
        now: i64,
    ) -> Result<(), StoreError> {
        self.database.execute("DELETE FROM roles WHERE account = $1", &[bytes_of(account)])?;
        if let Some(role) = role {
            let sql = "INSERT INTO roles (account, role, made_at) VALUES ($1, $2, $3)";
            let number = i64::from(role.number());
            self.database.execute(sql, &[bytes_of(account), number.into(), now.into()])?;
        }
        self.count_change()
    }

    /// All that is stored of an account, but the hash of its password: an object of JSON.
    pub fn export(&mut self, account: AccountId) -> Result<Json, StoreError> {
        let id = [bytes_of(account)];
        let sql = "SELECT shown, made_at FROM passwords WHERE account = $1";
        let logins = self.database.query(sql, &id)?;
        let login = logins
            .first()
            .map(|row| Ok(json!({ "login": row.text(0)?, "made_at": row.integer(1)? })))
            .transpose()?;
        let sql = "SELECT name, made_at FROM names WHERE account = $1 ORDER BY name";
        let names = self.database.query(sql, &id)?;
        let names = names
            .iter()
            .map(|row| Ok(json!({ "name": row.text(0)?, "made_at": row.integer(1)? })))
            .collect::<Result<Vec<_>, _>>()?;
        let sql = "SELECT reason, ends_at, made_at FROM server_bans \
                   WHERE kind = 1 AND who = $1 AND scope = $2";
        let mut ban_of = |scope: i64| {
            let bans = self.database.query(sql, &[bytes_of(account), scope.into()])?;
            let ban = bans.first().map(|row| {
                let (ends_at, made_at) = (row.optional_integer(1)?, row.integer(2)?);
                Ok(json!({ "reason": row.text(0)?, "ends_at": ends_at, "made_at": made_at }))
            });
            ban.transpose()
        };
        let (ban, mute) = (ban_of(1)?, ban_of(2)?);
        let roles = self.database.query("SELECT role FROM roles WHERE account = $1", &id)?;
        let role = roles.first().map(|row| row.integer(0)).transpose()?;
        let role = role.and_then(|number| OperatorRole::from_number(number as u32));
        let sql = "SELECT game, name, value, stored_at FROM game_values WHERE account = $1 \
                   AND LENGTH(value) > 0 ORDER BY game, name";
        let values = self.database.query(sql, &id)?;
        let values = values
            .iter()
            .map(|row| {
                let (game, name, stored_at) = (row.text(0)?, row.text(1)?, row.integer(3)?);
                let (form, value) = shown(row.bytes(2)?);
                Ok(json!({ "game": game, "name": name, form: value, "stored_at": stored_at }))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let sql = "SELECT game, value, stored_at FROM profiles WHERE account = $1 ORDER BY game";
        let profiles = self.database.query(sql, &id)?;
        let profiles = profiles
            .iter()
            .map(|row| {
                let (form, value) = shown(row.bytes(1)?);
                Ok(json!({ "game": row.text(0)?, form: value, "stored_at": row.integer(2)? }))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let sql = "SELECT game, board, player, score, added_at FROM results WHERE account = $1 \
                   ORDER BY added_at";
        let results = self.database.query(sql, &id)?;
        let results = results
            .iter()
            .map(|row| {
                let (game, board, player) = (row.text(0)?, row.text(1)?, row.text(2)?);
                let (score, added_at) = (row.integer(3)?, row.integer(4)?);
                Ok(json!({
                    "game": game,
                    "board": board,
                    "player": player,
                    "score": score,
                    "added_at": added_at,
                }))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(json!({
            "account": account.to_string(),
            "password": login,
            "reserved_names": names,
            "ban": ban,
            "mute": mute,
            "role": role.map(OperatorRole::name),
            "values": values,
            "profiles": profiles,
            "results": results,
        }))
    }

    /// Deletes all that is stored of an account, but bans: it would end them. Its results stay,
    /// without its name and its id. Returns the number of rows that have changed.
    pub fn erase(&mut self, account: AccountId) -> Result<u64, StoreError> {
        let id = [bytes_of(account)];
        let passwords = self.database.execute("DELETE FROM passwords WHERE account = $1", &id)?;
        let names = self.database.execute("DELETE FROM names WHERE account = $1", &id)?;
        let roles = self.database.execute("DELETE FROM roles WHERE account = $1", &id)?;
        if names + roles > 0 {
            self.count_change()?;
        }
        let values = self.database.execute("DELETE FROM game_values WHERE account = $1", &id)?;
        let profiles = self.database.execute("DELETE FROM profiles WHERE account = $1", &id)?;
        let sql = "UPDATE results SET account = $1, player = '' WHERE account = $2";
        self.database.execute("DELETE FROM top_lists WHERE who = $1", &id)?;
        let [account] = id;
        let results = self.database.execute(sql, &[Value::Bytes(Vec::new()), account])?;
        Ok(passwords + names + roles + values + profiles + results)
    }

    pub(crate) fn count_change(&mut self) -> Result<(), StoreError> {
        let sql = "UPDATE changes SET number = number + 1 WHERE what = $1";
        self.database.execute(sql, &[NAMES_AND_BANS.into()]).map(drop)
    }
}

/// A value that is JSON as that, any other one by its bytes.
fn shown(bytes: &[u8]) -> (&'static str, Json) {
    if let Ok(value) = serde_json::from_slice(bytes) {
        return ("value", value);
    }
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    ("hex", digits.collect::<String>().into())
}

fn key_of(login: &str) -> String {
    login.to_lowercase()
}

pub(crate) fn bytes_of(account: AccountId) -> Value {
    Value::Bytes(AccountId::to_bytes(Some(account)))
}

pub(crate) fn account_in(row: &Row, column: usize) -> Result<AccountId, StoreError> {
    let bytes = row.bytes(column)?;
    let problem = || StoreError::Damaged(format!("an account has 16 bytes, not {}", bytes.len()));
    AccountId::from_bytes(bytes).ok_or_else(problem)
}
