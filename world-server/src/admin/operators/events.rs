//! `/admin/v1/events`: the newest events as a list, or all as they happen (server-sent events).
//!
//! A stream waits for the newest number and reads what is kept, so a reader that is slow costs
//! nothing: what it has missed is forgotten, and it is told how much that is.

use std::convert::Infallible;

use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use futures_util::{StreamExt as _, stream};
use serde_json::json;

use crate::admin::listener::LastingAnswer;
use crate::operator_log::{EventsAfter, OperatorLog};

/// The type of a stream of events.
const STREAM: &str = "text/event-stream";
/// Where a reader goes on that was cut off.
const LAST_EVENT_ID: &str = "last-event-id";

/// Whether a stream is asked for.
pub(super) fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains(STREAM))
}

/// The number after which events are wanted: of the query `after=N`, or of a reader that was cut
/// off; 0 for all that are kept. The error says what is wrong.
pub(super) fn read_after(query: Option<&str>, headers: &HeaderMap) -> Result<u64, String> {
    let number = |text: &str, of: &str| {
        text.parse().map_err(|_| format!("{of}: expected the number of an event, not `{text}`"))
    };
    if let Some(query) = query.filter(|query| !query.is_empty()) {
        let after = query.strip_prefix("after=");
        let after = after.ok_or_else(|| format!("expected `?after=NUMBER`, not `?{query}`"))?;
        return number(after, "after");
    }
    match headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok()) {
        Some(text) => number(text, LAST_EVENT_ID),
        None => Ok(0),
    }
}

/// Events from now on, after those that are kept.
pub(super) fn stream(log: OperatorLog, after: u64, answer: &LastingAnswer) -> Response {
    answer.allow();
    let steps = stream::unfold((log, after), |(log, after)| async move {
        let EventsAfter { missed, newest, events } = log.wait_for(after).await?;
        let gap = (missed > 0).then(|| json!({ "missed": missed }));
        let gap = gap.map(|gap| Event::default().event("missed").data(gap.to_string()));
        let events = events.into_iter().filter_map(|event| {
            let id = event.number.to_string();
            let json = serde_json::to_string(&event).ok()?;
            Some(Event::default().id(id).data(json))
        });
        let step: Vec<Result<Event, Infallible>> = gap.into_iter().chain(events).map(Ok).collect();
        Some((stream::iter(step), (log, newest)))
    });
    Sse::new(steps.flatten()).keep_alive(KeepAlive::default()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_says_after_which_event_it_goes_on() {
        let mut headers = HeaderMap::new();
        assert_eq!(read_after(None, &headers), Ok(0));
        assert_eq!(read_after(Some("after=7"), &headers), Ok(7));
        for wrong in ["after=", "after=x", "since=7", "after=-1", "after=7&after=8"] {
            assert!(read_after(Some(wrong), &headers).is_err(), "{wrong}");
        }
        headers.insert(LAST_EVENT_ID, "9".parse().expect("a header's value"));
        assert_eq!(read_after(Some(""), &headers), Ok(9));
        assert_eq!(read_after(Some("after=7"), &headers), Ok(7), "the query is newer");
    }
}
