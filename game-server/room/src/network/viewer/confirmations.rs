//! What of a client's commands may be confirmed to it.
//!
//! A host may still lose the newest ticks ([`RoomInput::ConfirmUntil`]). Then the link acknowledges
//! only what the ticks before them had received, and sends only the answers and events that these
//! ticks had queued; state goes on. In go the link's marks at the end of each tick, and the time
//! up to which ticks are safe; out comes the link's limit.
//!
//! Bound: [`MARKS`]. Without a limit the oldest mark gives way, so those of the last ticks are
//! known when a limit begins. With a limit the newest one does, so that the limit gets on, in
//! larger steps.
//!
//! [`RoomInput::ConfirmUntil`]: crate::room::RoomInput::ConfirmUntil

use std::collections::VecDeque;

use ambit_proto::link::{ConfirmationLimit, ConfirmationMark};
use ambit_proto::time::GameTime;

/// The ticks in 266 ms at 60 a second: a host sets a limit after a wait of 100 ms.
const MARKS: usize = 16;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Confirmations {
    /// At the end of these ticks, the oldest first; of equal ones the first.
    marks: VecDeque<(GameTime, ConfirmationMark)>,
    /// While there is a limit: the newest mark within it.
    confirmed: Option<ConfirmationMark>,
}

impl Confirmations {
    /// The limit of a tick that is about to be sent. `mark` is what the link knows after it.
    pub(super) fn end_tick(
        &mut self,
        now: GameTime,
        mark: ConfirmationMark,
        limit: Option<GameTime>,
    ) -> ConfirmationLimit {
        if self.marks.back().is_none_or(|(_, newest)| *newest != mark) {
            if self.marks.len() == MARKS {
                if limit.is_some() {
                    self.marks.pop_back();
                } else {
                    self.marks.pop_front();
                }
            }
            self.marks.push_back((now, mark));
        }
        let Some(limit) = limit else {
            self.confirmed = None;
            return ConfirmationLimit::Everything;
        };
        while let Some((_, mark)) = self.marks.pop_front_if(|(at, _)| *at <= limit) {
            self.confirmed = Some(mark);
        }
        self.confirmed.map_or(ConfirmationLimit::Nothing, ConfirmationLimit::UpTo)
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::link::{Link, LinkConfig};

    use super::*;

    #[test]
    fn a_limit_reaches_to_the_newest_tick_within_it() {
        let mut client = Client::new();
        let early = client.tick(50, None, true);
        let quiet = client.tick(100, None, false);
        let late = client.tick(150, None, true);
        assert_eq!([early, quiet, late], [ConfirmationLimit::Everything; 3]);
        let early = client.marks[0];
        assert_eq!(client.tick(200, Some(40), true), ConfirmationLimit::Nothing);
        for limit in [50, 149] {
            let limited = client.tick(250, Some(limit), false);
            assert_eq!(limited, ConfirmationLimit::UpTo(early));
        }
        let late = ConfirmationLimit::UpTo(client.marks[1]);
        assert_eq!(client.tick(300, Some(150), false), late);
        let everything = client.tick(350, None, true);
        assert_eq!(everything, ConfirmationLimit::Everything);
        assert_eq!(client.tick(400, Some(1), true), ConfirmationLimit::Nothing);
    }

    #[test]
    fn a_limit_gets_on_however_far_behind_it_is() {
        let mut client = Client::new();
        let mut confirmed = 0;
        for tick in 0..400 {
            let limit = (tick * 16_u64).saturating_sub(1_000);
            confirmed += u32::from(match client.tick(tick * 16, Some(limit), true) {
                ConfirmationLimit::UpTo(mark) => client.marks[tick as usize] != mark,
                _ => false,
            });
            assert!(client.confirmations.marks.len() <= MARKS);
        }
        assert!(confirmed > 300);
    }

    /// A client's link at the host, and the marks at the ends of its ticks.
    struct Client {
        confirmations: Confirmations,
        sender: Link,
        receiver: Link,
        marks: Vec<ConfirmationMark>,
    }

    impl Client {
        fn new() -> Self {
            Client {
                confirmations: Confirmations::default(),
                sender: Link::new(LinkConfig::client()),
                receiver: Link::new(LinkConfig::server()),
                marks: Vec::new(),
            }
        }

        fn tick(&mut self, ms: u64, limit: Option<u64>, receives: bool) -> ConfirmationLimit {
            let now = GameTime::from_millis(ms);
            let mut datagram = Vec::new();
            if receives {
                self.sender.write_datagram_without_ack_request(
                    now.into(),
                    &mut datagram,
                    |_, _| (),
                );
                let received = self.receiver.handle_datagram(now.into(), &datagram);
                assert!(received.is_ok());
            }
            let mark = self.receiver.confirmation_mark();
            if self.marks.last() != Some(&mark) {
                self.marks.push(mark);
            }
            let limit = limit.map(GameTime::from_millis);
            self.confirmations.end_tick(now, mark, limit)
        }
    }
}
