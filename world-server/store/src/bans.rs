//! Bans of the whole server, as they are stored.

use crate::database::{Row, StoreError};
use crate::server_ban::{BanNote, BanScope, BanTarget, BanTerm, ServerBan};
use crate::tables::{StoreTables, account_in};

impl StoreTables<'_> {
    /// Bans, or changes a ban. Bans that have ended are removed.
    pub fn ban(&mut self, ban: &ServerBan, now: i64) -> Result<(), StoreError> {
        self.database.execute("DELETE FROM server_bans WHERE ends_at <= $1", &[now.into()])?;
        let sql = "INSERT INTO server_bans \
                   (kind, who, scope, reason, ends_at, made_at, made_by, player) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                   ON CONFLICT (kind, who, scope) DO UPDATE SET \
                   reason = excluded.reason, ends_at = excluded.ends_at, \
                   made_at = excluded.made_at, made_by = excluded.made_by, \
                   player = excluded.player";
        let ServerBan { target, scope, term: BanTerm { reason, ends_at }, note } = ban;
        let [kind, who] = target.key();
        let scope = scope.number().into();
        let (by, player) = (note.made_by.as_str().into(), note.player.as_str().into());
        let (reason, ends_at) = (reason.as_str().into(), (*ends_at).into());
        let values = [kind, who, scope, reason, ends_at, now.into(), by, player];
        self.database.execute(sql, &values)?;
        self.count_change()
    }

    /// Ends a ban. Returns whether there was one.
    pub fn unban(&mut self, target: &BanTarget, scope: BanScope) -> Result<bool, StoreError> {
        let sql = "DELETE FROM server_bans WHERE kind = $1 AND who = $2 AND scope = $3";
        let [kind, who] = target.key();
        let is_gone = self.database.execute(sql, &[kind, who, scope.number().into()])? > 0;
        if is_gone {
            self.count_change()?;
        }
        Ok(is_gone)
    }

    /// All bans, also those that have ended.
    pub(crate) fn bans(&mut self) -> Result<Vec<ServerBan>, StoreError> {
        let sql = "SELECT kind, who, scope, reason, ends_at, made_at, made_by, player \
                   FROM server_bans ORDER BY kind, who, scope";
        let rows = self.database.query(sql, &[])?;
        let mut bans = Vec::new();
        for row in &rows {
            let scope = row.integer(2)?;
            let scope = BanScope::ALL.into_iter().find(|known| known.number() == scope);
            // A newer build may have others.
            if let (Some(target), Some(scope)) = (target_in(row)?, scope) {
                let reason = row.text(3)?.to_owned();
                let term = BanTerm { reason, ends_at: row.optional_integer(4)? };
                let note = BanNote {
                    made_at: row.integer(5)?,
                    made_by: row.text(6)?.to_owned(),
                    player: row.text(7)?.to_owned(),
                };
                bans.push(ServerBan { target, scope, term, note });
            }
        }
        Ok(bans)
    }
}

/// `None` for a kind that this build does not know.
fn target_in(row: &Row) -> Result<Option<BanTarget>, StoreError> {
    let text = || row.bytes(1).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Ok(match row.integer(0)? {
        1 => Some(BanTarget::Account(account_in(row, 1)?)),
        2 => Some(BanTarget::Name(text()?)),
        3 => text()?.parse().ok().map(BanTarget::Network),
        _ => None,
    })
}
