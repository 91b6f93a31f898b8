//! What can go wrong, as types.
//!
//! A code of the server is an [`ErrorCode`], to be matched; the message says in words what
//! happened and what to do.

use ambit_client_core::client::event::codes;
use ambit_client_core::client::lobby;
pub use ambit_client_core::typed_reads::ReadMismatch;
pub use ambit_proto::codes::ErrorCode;

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Nothing answered at the address, or the connection broke at once.
    #[error("{0}")]
    Unreachable(String),
    /// The server presents another certificate than before, or than the expected one.
    #[error("{0}")]
    CertificateChanged(String),
    /// The known-hosts file could not be read or written.
    #[error("{0}")]
    KnownHosts(String),
    /// The file of the account could not be read or written, or is none.
    #[error("{0}")]
    Account(String),
    /// The server refused the client: its name is taken, it is of another version, the server is
    /// full or about to end.
    #[error("{message}")]
    Refused {
        /// Why; [`ErrorCode::ErrorUnspecified`] for a code that this build does not know.
        code: ErrorCode,
        /// What happened, and what to do.
        message: String,
    },
}

/// Why a client that knows the game cannot read its kinds and events as types.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// This client was built with another version of the game. The message says what differs.
    #[error(transparent)]
    OtherVersion(#[from] ReadMismatch),
    /// There is no game: it is over, or its connection is being restored.
    #[error("not in a game")]
    NotPlaying,
}

/// Why a request to the lobby has no answer, or not the wanted one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The lobby refused it.
    #[error("{message}")]
    Refused {
        /// Why; [`ErrorCode::ErrorUnspecified`] for a code that this build does not know.
        code: ErrorCode,
        /// What happened, and what to do.
        message: String,
    },
    /// The connection broke before the answer came: the request was executed, or it was not.
    /// (Requests that are safe to repeat are repeated instead.)
    #[error("{0}")]
    ResultUnknown(String),
    /// The player is not in this room any more.
    #[error("the player is not in this room any more")]
    NotInThisRoom,
    /// Too many requests wait for an answer.
    #[error("too many requests wait for an answer already")]
    TooMany,
    /// The request is longer than a message may be.
    #[error("the request is too long")]
    TooLong,
    /// The server gave an answer that this client does not understand.
    #[error("{0}")]
    UnexpectedAnswer(String),
    /// The client has ended.
    #[error("the connection to the lobby is closed")]
    Closed,
}

/// Why the player is not in the game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The lobby refused to start it.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The player left the room, or was removed from it.
    #[error("{message}")]
    OutOfRoom {
        /// A stable code: `"left"`, `"kicked"`, `"room_closed"`...
        code: String,
        /// What happened.
        message: String,
    },
    /// The game's host can't be reached, or does not let the player in. The player is still in the
    /// room: leaving and joining it again is another attempt.
    #[error("{message}")]
    Unreachable {
        /// A stable code.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
}

impl RequestError {
    /// The lobby's code, if it refused the request.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            RequestError::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// The answer to a request is an error.
    pub(crate) fn from_answer(code: &str, message: String) -> Self {
        match code {
            codes::CONNECTION_LOST => RequestError::ResultUnknown(message),
            codes::BAD_MESSAGE => RequestError::UnexpectedAnswer(message),
            refused => RequestError::Refused { code: code_of(refused), message },
        }
    }

    pub(crate) fn unexpected(asked: &str) -> Self {
        RequestError::UnexpectedAnswer(format!("asked to {asked}, but got another answer"))
    }
}

impl From<lobby::RequestError> for RequestError {
    fn from(error: lobby::RequestError) -> Self {
        match error {
            lobby::RequestError::Closed => RequestError::Closed,
            lobby::RequestError::TooMany => RequestError::TooMany,
            lobby::RequestError::TooLong => RequestError::TooLong,
        }
    }
}

impl ConnectError {
    /// The client has ended before the lobby welcomed it.
    pub(crate) fn from_close(code: &str, message: String) -> Self {
        match code {
            codes::CERTIFICATE_CHANGED => ConnectError::CertificateChanged(message),
            codes::KNOWN_HOSTS => ConnectError::KnownHosts(message),
            codes::COULD_NOT_CONNECT
            | codes::CONNECTION_LOST
            | codes::NO_ANSWER
            | codes::BAD_MESSAGE
            | codes::QUIT => ConnectError::Unreachable(message),
            refused => ConnectError::Refused { code: code_of(refused), message },
        }
    }
}

fn code_of(name: &str) -> ErrorCode {
    ambit_proto::codes::from_name(name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_the_server_are_typed_and_unknown_ones_keep_their_message() {
        for (code, expected) in
            [("room_full", ErrorCode::RoomFull), ("of_the_future", ErrorCode::ErrorUnspecified)]
        {
            let error = RequestError::from_answer(code, "so it is".to_owned());
            assert_eq!(error.code(), Some(expected));
            assert_eq!(error.to_string(), "so it is");
        }
        assert!(matches!(
            ConnectError::from_close("name_taken", "so it is".to_owned()),
            ConnectError::Refused { code: ErrorCode::NameTaken, .. }
        ));
    }

    #[test]
    fn an_unanswered_request_is_not_a_refused_one() {
        let error = RequestError::from_answer(codes::CONNECTION_LOST, "so it is".to_owned());
        assert_eq!(error, RequestError::ResultUnknown("so it is".to_owned()));
        assert_eq!(error.code(), None);
    }
}
