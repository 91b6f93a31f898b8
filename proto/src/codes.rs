//! Error codes and their stable names.
//!
//! A code never changes its number or its name: scripts compare names, other clients compare
//! numbers. The name is the `.proto` constant in lower case (`room_full`). A number that this build
//! does not know comes from a newer peer; `Error.name` then contains its name. Where only the
//! number travels it is shown as `code_123`.

#![warn(missing_docs, reason = "authors of games and clients import it")]

pub use crate::control::world::{Error, ErrorCode};

/// The name of `code`: `"room_full"`.
pub fn name(code: ErrorCode) -> String {
    code.as_str_name().to_ascii_lowercase()
}

/// The code with this name, if this build knows it.
pub fn from_name(name: &str) -> Option<ErrorCode> {
    let code = ErrorCode::from_str_name(&name.to_ascii_uppercase())?;
    (self::name(code) == name).then_some(code)
}

/// The name for a number from the wire, whether this build knows it or not.
pub fn name_of_number(number: i32) -> String {
    ErrorCode::try_from(number).map_or_else(|_| format!("code_{number}"), name)
}

/// The message that reports `code` to a peer. `message` says what happened, what was expected and
/// what to do.
pub fn error(code: ErrorCode, message: impl Into<String>) -> Error {
    Error { code: code.into(), name: name(code), message: message.into() }
}

/// The name of an `Error` from the wire: its own name if it has one, otherwise the name of its
/// number.
pub fn name_of_error(error: &Error) -> String {
    if error.name.is_empty() { name_of_number(error.code) } else { error.name.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published numbers and names. A number is never used for something else: 65 to 68 and 70
    /// were used before games had refusals of their own.
    const PUBLISHED: [(i32, &str); 55] = [
        (0, "error_unspecified"),
        (1, "version_mismatch"),
        (2, "unknown_message"),
        (3, "malformed"),
        (4, "message_too_large"),
        (5, "out_of_state"),
        (6, "rate_limited"),
        (7, "too_many_connections"),
        (8, "too_many_from_address"),
        (9, "too_many_rooms"),
        (10, "bad_name"),
        (11, "name_taken"),
        (12, "bad_text"),
        (13, "unknown_game"),
        (14, "bad_parameter"),
        (15, "no_such_room"),
        (16, "room_full"),
        (17, "wrong_password"),
        (18, "already_in_room"),
        (19, "not_in_room"),
        (20, "not_host"),
        (21, "not_enough_players"),
        (22, "not_ready"),
        (23, "already_running"),
        (24, "no_such_player"),
        (25, "no_host_available"),
        (26, "draining"),
        (27, "taken_over"),
        (28, "idle"),
        (29, "kicked"),
        (30, "host_died"),
        (31, "room_crashed"),
        (32, "bad_ticket"),
        (33, "ticket_expired"),
        (34, "ticket_used"),
        (35, "room_closed"),
        (36, "slow_reader"),
        (37, "room_not_running"),
        (38, "server_error"),
        (39, "try_again"),
        (40, "unsupported"),
        (41, "outdated"),
        (42, "no_such_object"),
        (43, "game_over"),
        (44, "bad_account"),
        (45, "banned"),
        (46, "bad_profile"),
        (47, "put_out"),
        (48, "not_in_party"),
        (49, "not_invited"),
        (50, "party_full"),
        (51, "muted"),
        (52, "room_locked"),
        (64, "bad_position"),
        (69, "unknown_command"),
    ];

    #[test]
    fn published_numbers_keep_their_names() {
        for (number, published) in PUBLISHED {
            let code = ErrorCode::try_from(number).unwrap_or_else(|_| {
                panic!("no code has the published number {number} of {published}")
            });
            assert_eq!(name(code), published);
            assert_eq!(from_name(published), Some(code));
            assert_eq!(name_of_number(number), published);
        }
    }

    #[test]
    fn every_code_is_in_the_published_list() {
        let known = (0..=0xffff).filter(|number| ErrorCode::try_from(*number).is_ok());
        assert!(known.eq(PUBLISHED.map(|(number, _)| number)));
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in ["", "ROOM_FULL", "Room_Full", "room full", "room_full ", "roomfull"] {
            assert_eq!(from_name(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_unknown_code_is_still_readable() {
        assert_eq!(name_of_number(9_999), "code_9999");
        let newer = Error { code: 9_999, name: "newer_error".into(), message: String::new() };
        assert_eq!(name_of_error(&newer), "newer_error");
        assert_eq!(name_of_error(&Error { name: String::new(), ..newer }), "code_9999");
    }

    #[test]
    fn an_error_carries_number_and_name() {
        let error = error(ErrorCode::RoomFull, "the room has 4 seats");
        assert_eq!(
            (error.code, error.name.as_str(), error.message.as_str()),
            (16, "room_full", "the room has 4 seats")
        );
    }
}
