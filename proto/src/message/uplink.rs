//! The body of a datagram from a client: what it says without waiting for an answer.
//!
//! The bits stand in [`super`]. Nothing here is repeated by the link: the next one says it anew.

use super::body::{STAMP_BITS, low_bits, nearest};
use crate::keymap::Keymap;
use crate::time::GameTime;
use crate::wire::{Coder, Reader, Wire, WireError};

/// The body of a client's datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uplink {
    /// How much came late, about once a second.
    pub report: Option<Report>,
    /// The controls that are held.
    pub input: Option<Input>,
    /// The low 16 bits of the number of the newest datagram whose poses could not be read, for want of a base. It is said in each
    /// datagram until a section names no acked set, or only datagrams that came after that one.
    pub lost_track: Option<u16>,
}

/// How much of what a client was told came after it took effect. Counts events and updates since the join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Events and updates that arrived.
    pub news: u64,
    /// Those of them that arrived after their effect time.
    pub late: u64,
}

/// The controls that a player holds at a moment. Of several, the newest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Held down then.
    pub keys: Keymap,
    /// The low 24 bits of the room's milliseconds, as the client estimates them.
    pub at: u32,
}

impl Input {
    /// These controls, held at `now`.
    pub fn new(keys: Keymap, now: GameTime) -> Self {
        Self { keys, at: low_bits(now) }
    }

    /// When they were held: of all moments that it may have been, the one nearest to `near`.
    pub fn at(&self, near: GameTime) -> GameTime {
        nearest(self.at, near)
    }
}

/// The number with these low 16 bits that is nearest to `near`: for [`Uplink::lost_track`].
pub fn nearest_number(low: u16, near: u64) -> u64 {
    let ahead = low.wrapping_sub(near as u16).cast_signed();
    near.saturating_add_signed(ahead.into())
}

impl Uplink {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it should be acknowledged: an input is out of date before it could be sent again.
    pub fn asks_for_ack(&self) -> bool {
        self.report.is_some() || self.lost_track.is_some()
    }
}

/// Reads what follows the link's part of a datagram; `None` if there is no body.
pub fn read_uplink(mut reader: Reader<'_>) -> Result<Option<Uplink>, WireError> {
    if reader.remaining_bits() < 8 {
        return Ok(None); // The padding of the datagram.
    }
    let mut uplink = Uplink::default();
    uplink.wire(&mut reader)?;
    reader.finish()?;
    Ok(Some(uplink))
}

impl Wire for Uplink {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.option(&mut self.report)?;
        coder.option(&mut self.input)?;
        wire_number(&mut self.lost_track, coder)
    }
}

impl Wire for Report {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.varint(&mut self.news)?;
        coder.varint(&mut self.late)
    }
}

impl Wire for Input {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.keys.wire(coder)?;
        let mut at = u64::from(self.at);
        coder.bits(&mut at, STAMP_BITS)?;
        self.at = at as u32;
        Ok(())
    }
}

fn wire_number<C: Coder>(number: &mut Option<u16>, coder: &mut C) -> Result<(), WireError> {
    let mut there = number.is_some();
    coder.flag(&mut there)?;
    if C::READS {
        *number = there.then_some(0);
    }
    number.as_mut().map_or(Ok(()), |number| coder.u16(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{encode, measure};

    #[test]
    fn an_input_takes_eight_bytes() {
        let input = Input::new(Keymap(7), GameTime::from_millis(123_456_789));
        let mut uplink = Uplink { input: Some(input), ..Uplink::default() };
        assert_eq!(measure(&mut uplink), 3 + 32 + 24);
        assert_eq!(encode(&mut uplink).len(), 8);
        assert!(!uplink.asks_for_ack() && !uplink.is_empty());
        assert_eq!(input.at(GameTime::from_millis(123_400_000)), GameTime::from_millis(123_456_789));
    }

    #[test]
    fn a_number_is_the_one_nearest_to_what_the_server_has_sent() {
        for (number, near) in [(5, 9), (65_530, 65_540), (65_540, 65_530), (1_000_000, 1_010_000), (0, 3)] {
            assert_eq!(nearest_number(number as u16, near), number);
        }
    }

    #[test]
    fn padding_says_nothing() {
        assert_eq!(read_uplink(Reader::new(&[])), Ok(None));
        assert_eq!(read_uplink(Reader::new(&[0])), Ok(Some(Uplink::default())));
        assert_eq!(read_uplink(Reader::new(&[0, 0])), Err(WireError::Trailing));
    }
}
