//! Why a request was refused.

use ambit_proto::codes::ErrorCode;

/// The error answer to a request. The client or the circumstances are the cause, never a bug of the
/// server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LobbyRefusal {
    /// A stable code for programs.
    pub(super) code: ErrorCode,
    /// A text for people: what happened, what was expected, what to do.
    pub(super) message: String,
}

impl LobbyRefusal {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Whether a refused hello ends the connection, since no other hello could succeed.
pub(super) fn ends_handshake(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::VersionMismatch
            | ErrorCode::TooManyConnections
            | ErrorCode::TooManyFromAddress
            | ErrorCode::BadAccount
            | ErrorCode::Banned
    )
}
