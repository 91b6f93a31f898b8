//! `/results.json`: the boards of a game, and the first rows of one.
//!
//! `?game=G` lists the boards. `?game=G&board=B` has the best results, with `&period=day`, `week`,
//! `month` or `all` (the default) and `&count=1` to `100` (20). All players may read it; accounts
//! are not in it.

use std::sync::Arc;
use std::time::Duration;

use ambit_store::{Period, TopResult};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::accounts::AccountDesk;

/// Requests that the store has at a time: it is there for rooms.
const AT_A_TIME: usize = 4;
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(2);
const COUNT: u32 = 20;
const MAX_COUNT: u32 = 100;

/// The way to the store.
#[derive(Clone, Debug)]
pub(crate) struct TopLists {
    accounts: AccountDesk,
    permits: Arc<Semaphore>,
}

/// What is asked.
#[derive(Debug, PartialEq, Eq)]
struct TopListQuery {
    game: String,
    board: Option<String>,
    period: Period,
    count: u32,
}

impl TopLists {
    pub(crate) fn new(accounts: AccountDesk) -> Self {
        Self { accounts, permits: Arc::new(Semaphore::new(AT_A_TIME)) }
    }

    /// The answer to a request with this query.
    pub(super) async fn answer(self, query: Option<&str>) -> Response {
        let asked = match TopListQuery::read(query.unwrap_or_default()) {
            Ok(asked) => asked,
            Err(problem) => return (StatusCode::BAD_REQUEST, problem).into_response(),
        };
        // A page asks about all games at once.
        let permit = tokio::time::timeout(PATIENCE, self.permits.acquire()).await;
        let Ok(Ok(_permit)) = permit else {
            return (StatusCode::SERVICE_UNAVAILABLE, "too many ask at once\n").into_response();
        };
        let TopListQuery { game, board, period, count } = asked;
        let found = match board {
            None => {
                let boards = self.accounts.boards(game.clone()).await;
                boards.map(|boards| json!({ "game": game, "boards": boards }))
            }
            Some(board) => {
                let rows = self.accounts.top_list(game.clone(), board.clone(), period, count);
                rows.await.map(|rows| {
                    let results: Vec<_> = rows.iter().map(row).collect();
                    let period = period.name();
                    json!({ "game": game, "board": board, "period": period, "results": results })
                })
            }
        };
        match found {
            Ok(json) => {
                ([(header::CONTENT_TYPE, "application/json")], json.to_string()).into_response()
            }
            Err(problem) => {
                tracing::debug!(%problem, "a top list cannot be read");
                let words = "the server's store does not work now; try again later\n";
                (StatusCode::SERVICE_UNAVAILABLE, words).into_response()
            }
        }
    }
}

fn row(row: &TopResult) -> serde_json::Value {
    let TopResult { place, player, score, added_at } = row;
    json!({ "place": place, "player": player, "score": score, "added_at": added_at })
}

impl TopListQuery {
    fn read(query: &str) -> Result<Self, String> {
        let mut asked =
            Self { game: String::new(), board: None, period: Period::All, count: COUNT };
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*key {
                "game" => asked.game = value.into_owned(),
                "board" => asked.board = Some(value.into_owned()),
                "period" => {
                    let period = value.parse();
                    asked.period = period
                        .map_err(|()| "period= is one of day, week, month, all\n".to_owned())?;
                }
                "count" => {
                    let count = value.parse().ok().filter(|count| (1..=MAX_COUNT).contains(count));
                    asked.count = count
                        .ok_or_else(|| format!("count= is a number from 1 to {MAX_COUNT}\n"))?;
                }
                _ => return Err("known are game=, board=, period= and count=\n".to_owned()),
            }
        }
        if asked.game.is_empty() {
            return Err("game= is missing: the name of a game\n".to_owned());
        }
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_a_game_and_has_defaults() {
        let asked = TopListQuery::read("game=deus&board=best%20heroes").expect("a query");
        let expected = TopListQuery {
            game: "deus".to_owned(),
            board: Some("best heroes".to_owned()),
            period: Period::All,
            count: 20,
        };
        assert_eq!(asked, expected);
        let asked = TopListQuery::read("game=deus&period=week&count=100").expect("a query");
        assert_eq!((asked.board, asked.period, asked.count), (None, Period::Week, 100));
        for wrong in
            ["", "board=b", "game=g&count=0", "game=g&count=101", "game=g&period=year", "x"]
        {
            let problem = TopListQuery::read(wrong).expect_err(wrong);
            assert!(problem.ends_with('\n') && problem.contains('='), "{problem}");
        }
    }
}
