//! The questions to the lobby that have no answer yet.
//!
//! Questions go in and get numbers; the messages to send come out, and with an answer's number
//! whose question it was. Invariant: a question leaves this table exactly once, by its answer, by a
//! break that makes its fate unknown, or by the end of the session. Bound: [`PENDING`] of the
//! player's, and one of each other kind.

use std::collections::BTreeMap;

use ambit_proto::control::world::client_to_world::Body;
use ambit_proto::control::world::{self as pb, ClientToWorld};

use super::request::LobbyRequest;

/// Requests of the player's without an answer, at most; more are refused, since a server that
/// answers nothing needs no more questions.
pub const MAX_PENDING: usize = 64;

/// A question, and who wants to know.
#[derive(Clone, Debug, PartialEq)]
pub enum LobbyQuestion {
    /// The player's.
    Player(LobbyRequest),
    /// The game part's: for a ticket.
    Ticket,
    /// The session's own: to take up the subscription to the list of rooms again.
    Subscription,
}

/// Questions by number.
#[derive(Debug, Default)]
pub struct PendingRequests {
    last: u64,
    questions: BTreeMap<u64, PendingQuestion>,
}

#[derive(Debug)]
struct PendingQuestion {
    question: LobbyQuestion,
    sent: bool,
}

impl PendingRequests {
    /// Gives the next number away, to a message that is not kept here.
    pub fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Whether there is room for a question of the player's.
    pub fn has_room(&self) -> bool {
        self.questions.len() < MAX_PENDING
    }

    /// Takes a question; it is to be sent.
    pub fn add(&mut self, question: LobbyQuestion) -> u64 {
        let number = self.next_number();
        self.questions.insert(
            number,
            PendingQuestion {
                question,
                sent: false,
            },
        );
        number
    }

    /// The question that an answer belongs to.
    pub fn take_answered(&mut self, number: u64) -> Option<LobbyQuestion> {
        self.questions.remove(&number).map(|asked| asked.question)
    }

    /// Whether the game part has asked for a ticket.
    pub fn has_ticket_question(&self) -> bool {
        self.questions
            .values()
            .any(|asked| asked.question == LobbyQuestion::Ticket)
    }

    /// Whether the list of rooms will come anyway.
    pub fn has_room_list_question(&self) -> bool {
        let lists = |asked: &PendingQuestion| {
            matches!(
                asked.question,
                LobbyQuestion::Player(LobbyRequest::ListRooms { .. })
            )
        };
        self.questions.values().any(lists)
    }

    /// The messages that have not been sent yet, in the order of the questions.
    pub fn take_unsent(&mut self) -> Vec<ClientToWorld> {
        let unsent = self.questions.iter_mut().filter(|(_, asked)| !asked.sent);
        unsent
            .map(|(number, asked)| {
                asked.sent = true;
                message(*number, &asked.question)
            })
            .collect()
    }

    /// The connection broke: what may be repeated is to be sent again. Returns the others of the
    /// player's, of which nobody knows whether they were carried out.
    pub fn handle_connection_lost(&mut self) -> Vec<(u64, LobbyRequest)> {
        let mut unknown = Vec::new();
        for (number, PendingQuestion { question, sent }) in std::mem::take(&mut self.questions) {
            match question {
                // Whoever asked will ask again.
                LobbyQuestion::Ticket | LobbyQuestion::Subscription => {}
                LobbyQuestion::Player(request) if sent && !request.may_repeat() => {
                    unknown.push((number, request))
                }
                question @ LobbyQuestion::Player(_) => {
                    self.questions.insert(
                        number,
                        PendingQuestion {
                            question,
                            sent: false,
                        },
                    );
                }
            }
        }
        unknown
    }

    /// The session is over.
    pub fn clear(&mut self) {
        self.questions.clear();
    }
}

fn message(request: u64, question: &LobbyQuestion) -> ClientToWorld {
    let body = match question {
        LobbyQuestion::Player(request) => request.to_body(),
        LobbyQuestion::Ticket => Body::RequestTicket(pb::RequestTicket {}),
        LobbyQuestion::Subscription => Body::ListRooms(pb::ListRooms { subscribe: true }),
    };
    ClientToWorld {
        request,
        body: Some(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_sent_once_and_answered_once() {
        let mut pending = PendingRequests::default();
        let (first, second) = (
            pending.add(LobbyQuestion::Player(LobbyRequest::StartRoom)),
            pending.add(LobbyQuestion::Ticket),
        );
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
        pending.add(LobbyQuestion::Ticket);
        pending.take_unsent();
        let kick = pending.add(LobbyQuestion::Player(LobbyRequest::LeaveRoom));
        assert_eq!(
            pending.handle_connection_lost(),
            [(start, LobbyRequest::StartRoom)]
        );
        // What had not been sent yet did nothing, so it may go.
        assert_eq!(numbers(&pending.take_unsent()), [ready, kick]);
    }

    fn numbers(messages: &[ClientToWorld]) -> Vec<u64> {
        messages.iter().map(|message| message.request).collect()
    }
}
