//! The best results of each board: of all time, of this day, week and month, in UTC.
//!
//! A list has each account once, with its best result; a player without an account has a row for
//! each result. It is kept up to date as results are added, so reading it costs its first rows and
//! not the board. Lists of earlier days, weeks and months are deleted, and so are rows beyond
//! [`MAX_ROWS`], from time to time: results stay where they are.

use std::str::FromStr;

use ambit_proto::ids::AccountId;

use crate::database::{Row, StoreError, Value};
use crate::games::{GameResult, RoomRequest};
use crate::tables::StoreTables;

/// Rows of a list that are kept.
const MAX_ROWS: i64 = 1_000;
/// Results between two looks at what is to be deleted.
const PRUNE_EVERY: u64 = 64;
const DAY_S: i64 = 86_400;

/// Which results count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// All since the store was made.
    All,
    /// Those since midnight.
    Day,
    /// Those since Monday.
    Week,
    /// Those since the first of the month.
    Month,
}

/// A row of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopResult {
    /// Counted from 1; equal scores have equal places.
    pub place: u32,
    /// What the player was called.
    pub player: String,
    /// More is better.
    pub score: i64,
    /// When it was added, in seconds since 1970.
    pub added_at: i64,
}

impl FromStr for Period {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|period| period.name() == name).ok_or(())
    }
}

impl Period {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    const ALL: [Self; 4] = [Self::All, Self::Day, Self::Week, Self::Month];

    /// The number of the period at this time: it grows from each to the next.
    fn number(self, now: i64) -> i64 {
        let day = now.div_euclid(DAY_S);
        match self {
            Self::All => 0,
            Self::Day => day,
            // The first day of 1970 was a Thursday.
            Self::Week => (day + 3).div_euclid(7),
            Self::Month => month_of(day),
        }
    }
}

/// Months since the year 0, in the Gregorian calendar. Source: H. Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms" (`civil_from_days`).
fn month_of(day: i64) -> i64 {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // Years begin with March here.
    let month = (5 * of_year + 2) / 153;
    (era * 400 + year) * 12 + month + 2
}

impl StoreTables<'_> {
    /// The first rows of a list, at most `count`.
    pub fn top_list(
        &mut self,
        (game, board): (&str, &str),
        period: Period,
        now: i64,
        count: u32,
    ) -> Result<Vec<TopResult>, StoreError> {
        let sql = "SELECT player, score, added_at FROM top_lists WHERE game = $1 AND board = $2 \
                   AND period = $3 AND number = $4 ORDER BY score DESC, added_at LIMIT $5";
        let values = [
            game.into(),
            board.into(),
            (period as i64).into(),
            period.number(now).into(),
            i64::from(count).into(),
        ];
        let rows = self.database.query(sql, &values)?;
        let mut list: Vec<TopResult> = Vec::new();
        for (row, number) in rows.iter().zip(1..) {
            let score = row.integer(1)?;
            let equal = list.last().filter(|last| last.score == score);
            let place = equal.map_or(number, |last| last.place);
            let (player, added_at) = (row.text(0)?.to_owned(), row.integer(2)?);
            list.push(TopResult { place, player, score, added_at });
        }
        Ok(list)
    }

    /// The boards of a game, in the order of their names.
    pub fn boards(&mut self, game: &str) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT board FROM top_lists WHERE game = $1 AND period = $2 \
                   ORDER BY board LIMIT 100";
        let rows = self.database.query(sql, &[game.into(), (Period::All as i64).into()])?;
        rows.iter().map(|row: &Row| row.text(0).map(str::to_owned)).collect()
    }

    /// A result is new.
    pub(crate) fn add_to_top_lists(
        &mut self,
        request: &RoomRequest,
        row: &GameResult,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO top_lists (game, board, period, number, who, player, score, \
                   added_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                   ON CONFLICT (game, board, period, number, who) DO UPDATE \
                   SET player = excluded.player, score = excluded.score, \
                   added_at = excluded.added_at WHERE excluded.score > top_lists.score";
        let who = who(request, row.account);
        for period in Period::ALL {
            let values = [
                row.game.as_str().into(),
                row.board.as_str().into(),
                (period as i64).into(),
                period.number(row.added_at).into(),
                who[..].into(),
                row.player.as_str().into(),
                row.score.into(),
                row.added_at.into(),
            ];
            self.database.execute(sql, &values)?;
            if request.number.1.is_multiple_of(PRUNE_EVERY) {
                self.prune(period, row)?;
            }
        }
        Ok(())
    }

    /// Deletes earlier lists of the period, and what is too far down.
    fn prune(&mut self, period: Period, row: &GameResult) -> Result<(), StoreError> {
        let [game, board]: [Value; 2] = [row.game.as_str().into(), row.board.as_str().into()];
        let number: Value = period.number(row.added_at).into();
        let period: Value = (period as i64).into();
        let sql = "DELETE FROM top_lists WHERE game = $1 AND board = $2 AND period = $3 \
                   AND number < $4";
        let values = [game.clone(), board.clone(), period.clone(), number.clone()];
        self.database.execute(sql, &values)?;
        let sql = "SELECT score FROM top_lists WHERE game = $1 AND board = $2 AND period = $3 \
                   AND number = $4 ORDER BY score DESC, added_at LIMIT 1 OFFSET $5";
        let values = [game.clone(), board.clone(), period.clone(), number.clone(), MAX_ROWS.into()];
        let beyond = self.database.query(sql, &values)?;
        let Some(beyond) = beyond.first().map(|row| row.integer(0)).transpose()? else {
            return Ok(());
        };
        let sql = "DELETE FROM top_lists WHERE game = $1 AND board = $2 AND period = $3 \
                   AND number = $4 AND score < $5";
        self.database.execute(sql, &[game, board, period, number, beyond.into()]).map(drop)
    }
}

/// The key of a player in a list: the account, or without one the request.
fn who(request: &RoomRequest, account: Option<AccountId>) -> Vec<u8> {
    if account.is_some() {
        return AccountId::to_bytes(account);
    }
    let (incarnation, number) = request.number;
    let parts = [&request.lineage[..], &request.room.to_be_bytes(), &incarnation.to_be_bytes()];
    [&parts.concat()[..], &number.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_begin_at_midnight_on_monday_and_on_the_first() {
        let at = |day: i64| day * DAY_S;
        // The 29th of November 2026 is a Sunday, and day 20,786.
        let (sunday, monday, december) = (at(20_786), at(20_787), at(20_788));
        let same = |period: Period, one, other| period.number(one) == period.number(other);
        assert!(
            same(Period::Day, sunday, sunday + DAY_S - 1) && !same(Period::Day, sunday, monday)
        );
        assert!(same(Period::Week, sunday, at(20_780)) && !same(Period::Week, sunday, monday));
        assert!(same(Period::Month, sunday, monday) && !same(Period::Month, monday, december));
        assert_eq!(Period::Month.number(december) - Period::Month.number(sunday), 1);
        // The 29th of February 2028 and the next day, the last of a year and the first.
        assert!(same(Period::Month, at(21_243), at(21_243) - DAY_S));
        assert_eq!(Period::Month.number(at(21_244)) - Period::Month.number(at(21_243)), 1);
        assert_eq!(Period::Month.number(at(20_819)) - Period::Month.number(at(20_818)), 1);
        assert_eq!(Period::Month.number(0), 1_970 * 12);
        assert!(same(Period::All, 0, december));
    }
}
