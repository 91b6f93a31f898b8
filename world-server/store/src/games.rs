//! What rooms store: values of games and results.
//!
//! Each request has a number ([`RoomRequest`]) that is carried out once, however often it comes.

use ambit_proto::ids::AccountId;

use crate::database::{StoreError, Value};
use crate::tables::StoreTables;

/// The number of a request of a room, which no other request ever has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomRequest {
    /// What the room's id is unique in.
    pub lineage: [u8; 16],
    /// The room.
    pub room: u64,
    /// How often the room had been given to a host when its game asked, and a count.
    pub number: (u32, u64),
    /// The oldest request of the room that may come again.
    pub oldest: (u32, u64),
}

/// The key of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueKey {
    /// The game's name.
    pub game: String,
    /// Whose value it is; `None` for one of the game as a whole.
    pub account: Option<AccountId>,
    /// The game's name for it.
    pub name: String,
}

/// A row of a table of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameResult {
    /// The game's name.
    pub game: String,
    /// The table.
    pub board: String,
    /// `None` for a player without one.
    pub account: Option<AccountId>,
    /// What the player was called.
    pub player: String,
    /// More is better.
    pub score: i64,
    /// When it was added, in seconds since 1970.
    pub added_at: i64,
}

impl StoreTables<'_> {
    /// A value, if there is one with this key.
    pub fn load_value(&mut self, key: &ValueKey) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT value FROM game_values WHERE game = $1 AND account = $2 AND name = $3";
        let found = self.database.query(sql, &key_values(key))?;
        let value = found.first().map(|row| row.bytes(0).map(<[u8]>::to_vec)).transpose()?;
        Ok(value.filter(|value| !value.is_empty()))
    }

    /// Stores a value, unless this request was carried out before, or a later one of the room has
    /// stored with this key already; an empty one stands for none.
    pub fn save_value(
        &mut self,
        request: &RoomRequest,
        key: &ValueKey,
        value: &[u8],
        now: i64,
    ) -> Result<(), StoreError> {
        if !self.begin_request(request)? {
            return Ok(());
        }
        let sql = "INSERT INTO game_values (game, account, name, value, stored_at, lineage, room, \
                   incarnation, number) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
                   ON CONFLICT (game, account, name) DO UPDATE SET value = excluded.value, \
                   stored_at = excluded.stored_at, lineage = excluded.lineage, \
                   room = excluded.room, incarnation = excluded.incarnation, \
                   number = excluded.number \
                   WHERE NOT (game_values.lineage = excluded.lineage \
                   AND game_values.room = excluded.room \
                   AND (game_values.incarnation > excluded.incarnation \
                   OR game_values.incarnation = excluded.incarnation \
                   AND game_values.number > excluded.number))";
        let [game, account, name] = key_values(key);
        let [lineage, room] = room_values(request);
        let (incarnation, number) = request.number;
        let values = [
            game,
            account,
            name,
            value.into(),
            now.into(),
            lineage,
            room,
            i64::from(incarnation).into(),
            (number as i64).into(),
        ];
        self.database.execute(sql, &values).map(drop)
    }

    /// Adds a row to a table of results, unless this request was carried out before.
    pub fn add_result(
        &mut self,
        request: &RoomRequest,
        row: &GameResult,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO results (lineage, room, incarnation, number, game, board, account, \
                   player, score, added_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                   ON CONFLICT DO NOTHING";
        let [lineage, room] = room_values(request);
        let (incarnation, number) = request.number;
        let values = [
            lineage,
            room,
            i64::from(incarnation).into(),
            (number as i64).into(),
            row.game.as_str().into(),
            row.board.as_str().into(),
            Value::Bytes(AccountId::to_bytes(row.account)),
            row.player.as_str().into(),
            row.score.into(),
            row.added_at.into(),
        ];
        if self.database.execute(sql, &values)? > 0 {
            self.add_to_top_lists(request, row)?;
        }
        Ok(())
    }

    /// No request of this room comes again.
    pub fn forget_room(&mut self, lineage: [u8; 16], room: u64) -> Result<(), StoreError> {
        let sql = "DELETE FROM carried_out WHERE lineage = $1 AND room = $2";
        self.database.execute(sql, &[lineage[..].into(), (room as i64).into()]).map(drop)
    }

    /// Notes that a request is carried out. Returns whether it was not before.
    fn begin_request(&mut self, request: &RoomRequest) -> Result<bool, StoreError> {
        let [lineage, room] = room_values(request);
        let (incarnation, number) = request.oldest;
        let sql = "DELETE FROM carried_out WHERE lineage = $1 AND room = $2 \
                   AND (incarnation < $3 OR incarnation = $4 AND number < $5)";
        let oldest = i64::from(incarnation);
        let values =
            [lineage.clone(), room.clone(), oldest.into(), oldest.into(), (number as i64).into()];
        self.database.execute(sql, &values)?;
        let sql = "INSERT INTO carried_out (lineage, room, incarnation, number) \
                   VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
        let (incarnation, number) = request.number;
        let values = [lineage, room, i64::from(incarnation).into(), (number as i64).into()];
        Ok(self.database.execute(sql, &values)? > 0)
    }
}

fn key_values(key: &ValueKey) -> [Value; 3] {
    let account = Value::Bytes(AccountId::to_bytes(key.account));
    [key.game.as_str().into(), account, key.name.as_str().into()]
}

fn room_values(request: &RoomRequest) -> [Value; 2] {
    [request.lineage[..].into(), (request.room as i64).into()]
}
