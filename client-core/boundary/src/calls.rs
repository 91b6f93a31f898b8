//! Commands by text, and what is wrong with a call.

use std::fmt;

use ambit_client_core::client::lobby::RequestError;
use ambit_client_core::client::{Client, CommandError};
use ambit_client_core::command_words::{self, CommandWordsError};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::time::LocalTime;
use serde_json::json;

/// The code of a setting or a request that cannot be read.
const BAD_OPTION: &str = "bad_option";

/// Why a call did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundaryError {
    /// Stable: a code of the protocol, `bad_option`, `closed`, `not_playing` or
    /// `too_many_requests`.
    pub code: String,
    /// What happened, what was expected, and what to do.
    pub message: String,
}

impl BoundaryError {
    /// A setting or a request cannot be read.
    pub fn bad_option(message: impl fmt::Display) -> Self {
        BoundaryError { code: BAD_OPTION.to_owned(), message: message.to_string() }
    }

    /// `{"code", "message"}`.
    pub fn to_json(&self) -> String {
        json!({ "code": self.code, "message": self.message }).to_string()
    }
}

impl From<RequestError> for BoundaryError {
    fn from(error: RequestError) -> Self {
        let code = match error {
            RequestError::Closed => "closed",
            RequestError::TooMany => "too_many_requests",
            RequestError::TooLong => "message_too_large",
        };
        BoundaryError { code: code.to_owned(), message: error.to_string() }
    }
}

impl From<CommandError> for BoundaryError {
    fn from(error: CommandError) -> Self {
        let code = match error {
            // The command was built for this schema, so the game is another one by now.
            CommandError::NotPlaying | CommandError::Undeclared => "not_playing".to_owned(),
            CommandError::TooMany | CommandError::ChangingMap | CommandError::ChangingHost => {
                codes::name(ErrorCode::TryAgain)
            }
            CommandError::BadPosition => codes::name(ErrorCode::BadPosition),
            CommandError::NoSuchObject => codes::name(ErrorCode::NoSuchObject),
        };
        BoundaryError { code, message: error.to_string() }
    }
}

impl From<CommandWordsError> for BoundaryError {
    fn from(error: CommandWordsError) -> Self {
        let code = match error {
            CommandWordsError::UnknownCommand(_) => ErrorCode::UnknownCommand,
            CommandWordsError::UnknownChoice { .. } | CommandWordsError::Usage { .. } => {
                ErrorCode::Malformed
            }
        };
        BoundaryError { code: codes::name(code), message: error.to_string() }
    }
}

/// Sends a command by its name; `values` is a JSON list of
/// [arguments](ambit_client_core::argument::Argument). Returns its number.
pub fn send(
    client: &mut Client,
    now: LocalTime,
    name: &str,
    values: &str,
) -> Result<u32, BoundaryError> {
    let schema = client.schema().cloned().ok_or(CommandError::NotPlaying)?;
    let values = serde_json::from_str(values).map_err(|problem| BoundaryError {
        code: codes::name(ErrorCode::Malformed),
        message: format!("not a list of values: {problem}"),
    })?;
    let command = command_words::from_arguments(&schema, name, values)?;
    Ok(client.act(now, &command)?)
}
