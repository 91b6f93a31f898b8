//! What of one object is sent twice, since the line to the client loses datagrams.
//!
//! A record of changes that have a time of effect is *armed* when it leaves, and its copy leaves
//! with a later tick. A copy is derived again, as each record: it has the state of its own tick. It
//! tells no more than a record that is due then, and it is right whatever was lost: from
//! `as_before` on, the client has it from the copy, and what was before from a packet that it had
//! acknowledged when the first one left. A component whose copy left is known to the client as soon
//! as either packet is acknowledged, and due again only when both are lost.
//!
//! Cost: constant.

use ambit_proto::ids::Seq;
use ambit_proto::time::GameTime;

/// The copies of one object; see the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotCopies {
    /// Components to send again, as a mask.
    due: u16,
    /// Until then the client has their timelines as they are; zero if that is not known.
    as_before: GameTime,
    /// Components whose copy has left, with neither outcome known.
    sent: u16,
    /// The packet with these copies.
    carrier: Seq,
}

impl SlotCopies {
    /// Components to send again.
    pub(super) fn due(self) -> u16 {
        self.due
    }

    /// Until when the client has the timelines of what is to be sent again.
    pub(super) fn as_before(self) -> GameTime {
        self.as_before
    }

    /// A first record of these components leaves; those of `copied` are to leave again.
    pub(super) fn arm(&mut self, components: u16, copied: u16, as_before: GameTime) {
        *self = SlotCopies { due: copied, as_before, sent: self.sent & !components, ..*self };
    }

    /// Packet `seq` carries the copies that were due.
    pub(super) fn note_sent(&mut self, seq: Seq) {
        *self = SlotCopies { sent: self.due, carrier: seq, due: 0, ..*self };
    }

    /// The client may not know other components any more, or has no use for their copies.
    pub(super) fn retain(&mut self, components: u16) {
        self.due &= components;
    }

    /// Whether packet `seq` has the copy of this component.
    pub(super) fn is_copy(self, component: usize, seq: Seq) -> bool {
        self.sent >> component & 1 == 1 && self.carrier == seq
    }

    /// The client has the component: its copy is of no more use.
    pub(super) fn finish(&mut self, component: usize) {
        self.due &= !(1 << component);
        self.sent &= !(1 << component);
    }

    /// The first packet with this component is lost. The packet with its copy, if it has left.
    pub(super) fn replace_first(&mut self, component: usize) -> Option<Seq> {
        let has_left = self.sent >> component & 1 == 1;
        self.finish(component);
        has_left.then_some(self.carrier)
    }
}
