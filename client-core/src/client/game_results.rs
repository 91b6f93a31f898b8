//! What comes out of the game part: actions for the owner, counters, confirmed commands.

use std::collections::VecDeque;

use ambit_proto::control::game::ClientToGame;
use ambit_proto::time::LocalTime;
use bytes::Bytes;

use super::event::GameEvent;
use super::stats::ClientStats;

/// An action that the game part requests.
#[derive(Clone, Debug, PartialEq)]
pub enum GameOutput {
    /// Dial the host; then call `handle_connected` or `handle_closed`.
    Connect {
        /// `"127.0.0.1:7777"`; an unspecified IP address stands for the lobby server's.
        address: String,
        /// SHA-256 of the certificate that the host must present.
        certificate_sha256: [u8; 32],
        /// The certificates that the host shows to browsers, now or next: their SHA-256. Empty if
        /// browsers know the authority that has signed it.
        web_certificates_sha256: Vec<[u8; 32]>,
    },
    /// Send this on the control stream.
    Send(ClientToGame),
    /// Send this datagram.
    Datagram(Bytes),
    /// Close the connection after everything sent so far has left; do not call `handle_closed` for
    /// it.
    Close,
    /// Emit this event to the views.
    View(GameEvent),
    /// Request a ticket from the lobby.
    RequestTicket,
    /// The same; the lobby is dialled anew if it does not answer either.
    RequestTicketOrRedial,
}

/// Why a command was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// There is no game.
    #[error("not in a game")]
    NotPlaying,
    /// Too many commands are unconfirmed: the host does not answer.
    #[error("too many commands wait for the game host")]
    TooMany,
    /// The player is changing to another map.
    #[error("changing to another map; wait until the game has started there")]
    ChangingMap,
    /// The room is moving to another host, which knows the objects by other names.
    #[error("the game is moving to another host; try again when it has started there")]
    ChangingHost,
    /// The schema has no such command, or other fields.
    #[error("the game has no such command with such fields")]
    Undeclared,
    /// A position is not finite, or on no map.
    #[error("a position of the command is on no map")]
    BadPosition,
    /// An object is not in sight.
    #[error("an object of the command is not in sight")]
    NoSuchObject,
}

impl CommandError {
    /// A stable code, that of the host where it gives the same answer.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotPlaying | Self::ChangingMap => "not_in_game",
            Self::TooMany | Self::ChangingHost => "try_again",
            Self::Undeclared => "unknown_command",
            Self::BadPosition => "bad_position",
            Self::NoSuchObject => "no_such_object",
        }
    }
}

/// Results of the game part.
#[derive(Debug, Default)]
pub struct GameResults {
    /// Actions for the owner.
    pub outputs: VecDeque<GameOutput>,
    /// Counters, which continue over reconnects and later games.
    pub stats: ClientStats,
    /// When new data last arrived; kept over reconnects, which count as gaps.
    pub last_fresh_at: Option<LocalTime>,
    /// Whether the room is moving to another host, and no data has arrived from there yet.
    pub(super) is_moving: bool,
    /// Commands that the datagram being handled has confirmed; empty between calls.
    pub(super) confirmed: Vec<u32>,
}

impl GameResults {
    /// New data has arrived.
    pub fn note_fresh_data(&mut self, now: LocalTime) {
        let Some(before) = self.last_fresh_at.replace(now) else {
            return;
        };
        self.stats.gaps.add(now.since(before));
        if std::mem::take(&mut self.is_moving) {
            self.stats.move_gaps.add(now.since(before));
        }
    }

    /// The host has confirmed a command.
    pub fn note_confirmed(&mut self, number: u32) {
        self.stats.confirmed += 1;
        self.confirmed.push(number);
    }
}
