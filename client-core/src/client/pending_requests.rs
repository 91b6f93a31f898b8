//! Requests to the lobby that have no answer yet.
//!
//! Requests go in and get numbers. The messages to send come out, and the request that an answer
//! belongs to. Invariant: a request leaves this table exactly once: with its answer, with a break
//! that makes its outcome unknown, or with the end of the session. Bound: [`MAX_PENDING`] of the
//! player's, and one of each other kind.

use std::collections::BTreeMap;

use ambit_proto::control::world::client_to_world::Body;
use ambit_proto::control::world::{self as pb, ClientToWorld};

use super::request::LobbyRequest;

/// Maximum number of unanswered requests of the player. More are refused, since the server does not
/// answer.
pub(crate) const MAX_PENDING: usize = 64;

/// A request and its origin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LobbyQuestion {
    /// From the player.
    Player(LobbyRequest),
    /// From the game part: for a ticket.
    Ticket,
    /// From the session itself: to renew the subscription to the list of rooms.
    Subscription,
}

/// Requests by number.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    last: u64,
    questions: BTreeMap<u64, PendingQuestion>,
}

#[derive(Debug)]
struct PendingQuestion {
    question: LobbyQuestion,
    sent: bool,
}

impl PendingQuestion {
    fn unsent(question: LobbyQuestion) -> Self {
        Self { question, sent: false }
    }
}

impl PendingRequests {
    /// Returns the next number, for a message that is not stored here.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Whether another request of the player fits.
    pub(crate) fn has_room(&self) -> bool {
        self.questions.len() < MAX_PENDING
    }

    /// Adds a request to send.
    pub(crate) fn add(&mut self, question: LobbyQuestion) -> u64 {
        let number = self.next_number();
        self.questions.insert(number, PendingQuestion::unsent(question));
        number
    }

    /// Removes and returns the request that an answer belongs to.
    pub(crate) fn take_answered(&mut self, number: u64) -> Option<LobbyQuestion> {
        self.questions.remove(&number).map(|asked| asked.question)
    }

    /// Whether the game part waits for a ticket.
    pub(crate) fn has_ticket_question(&self) -> bool {
        self.questions.values().any(|asked| asked.question == LobbyQuestion::Ticket)
    }

    /// Whether a list of rooms is requested already.
    pub(crate) fn has_room_list_question(&self) -> bool {
        let lists = |asked: &PendingQuestion| {
            matches!(asked.question, LobbyQuestion::Player(LobbyRequest::ListRooms { .. }))
        };
        self.questions.values().any(lists)
    }

    /// The messages that have not been sent yet, in order.
    pub(crate) fn take_unsent(&mut self) -> Vec<ClientToWorld> {
        let unsent = self.questions.iter_mut().filter(|(_, asked)| !asked.sent);
        unsent
            .map(|(number, asked)| {
                asked.sent = true;
                message(*number, &asked.question)
            })
            .collect()
    }

    /// The connection broke: marks the requests that are safe to repeat as unsent. Returns the
    /// player's other requests, whose outcome is unknown.
    pub(crate) fn handle_connection_lost(&mut self) -> Vec<(u64, LobbyRequest)> {
        let mut unknown = Vec::new();
        for (number, PendingQuestion { question, sent }) in std::mem::take(&mut self.questions) {
            match question {
                // The session renews it.
                LobbyQuestion::Subscription => {}
                LobbyQuestion::Player(request) if sent && !request.may_repeat() => {
                    unknown.push((number, request));
                }
                question => {
                    self.questions.insert(number, PendingQuestion::unsent(question));
                }
            }
        }
        unknown
    }

    /// The session has ended.
    pub(crate) fn clear(&mut self) {
        self.questions.clear();
    }
}

fn message(request: u64, question: &LobbyQuestion) -> ClientToWorld {
    let body = match question {
        LobbyQuestion::Player(request) => request.to_body(),
        LobbyQuestion::Ticket => Body::RequestTicket(pb::RequestTicket {}),
        LobbyQuestion::Subscription => Body::ListRooms(pb::ListRooms { subscribe: true }),
    };
    ClientToWorld { request, body: Some(body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_sent_once_and_answered_once() {
        let mut pending = PendingRequests::default();
        let first = pending.add(LobbyQuestion::Player(LobbyRequest::StartRoom));
        let second = pending.add(LobbyQuestion::Ticket);
        assert_eq!(numbers(&pending.take_unsent()), [first, second]);
        assert!(pending.take_unsent().is_empty());
        assert_eq!(pending.take_answered(second), Some(LobbyQuestion::Ticket));
        assert_eq!(pending.take_answered(second), None);
    }

    #[test]
    fn after_a_break_only_repeatable_requests_are_sent_again() {
        let mut pending = PendingRequests::default();
        let ready = pending.add(LobbyQuestion::Player(LobbyRequest::SetReady(true)));
        let start = pending.add(LobbyQuestion::Player(LobbyRequest::StartRoom));
        let ticket = pending.add(LobbyQuestion::Ticket);
        pending.take_unsent();
        let kick = pending.add(LobbyQuestion::Player(LobbyRequest::LeaveRoom));
        assert_eq!(pending.handle_connection_lost(), [(start, LobbyRequest::StartRoom)]);
        // An unsent request had no effect, so it may be sent.
        assert_eq!(numbers(&pending.take_unsent()), [ready, ticket, kick]);
    }

    fn numbers(messages: &[ClientToWorld]) -> Vec<u64> {
        messages.iter().map(|message| message.request).collect()
    }
}
