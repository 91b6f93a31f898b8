//! The time at which the server ends, as an operator has set it. `shutdown` decides what follows.

use ambit_proto::time::LocalTime;

use crate::sessions::server_bans::in_words;

/// When the server ends, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedEnd {
    pub(crate) at: LocalTime,
    /// For players; may be empty.
    pub(crate) reason: String,
}

impl PlannedEnd {
    /// What players read.
    pub(crate) fn text(&self, now: LocalTime) -> String {
        let left = self.at.since(now).as_millis().div_ceil(1_000) as i64;
        let when = if left == 0 { "now".to_owned() } else { format!("in {}", in_words(left)) };
        let reason = if self.reason.is_empty() { "" } else { ": " };
        format!("the server shuts down {when}{reason}{}", self.reason)
    }
}
