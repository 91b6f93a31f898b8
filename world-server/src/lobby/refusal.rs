//! Why something asked for was not done.

use ambit_proto::codes::ErrorCode;

/// A request that is answered with an error. The peer's fault or its bad luck, never ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LobbyRefusal {
    /// Stable, for programs.
    pub(super) code: ErrorCode,
    /// For people: what happened, what was expected, what to do.
    pub(super) message: String,
}

impl LobbyRefusal {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}
