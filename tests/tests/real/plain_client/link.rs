//! The client's end of the link: numbers, acknowledgements, the clock.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::bits::{BitReader, BitWriter};

/// A ping goes out with one datagram in this number.
const PING_EVERY: u64 = 10;
const NUMBER_BITS: usize = 14;

/// The link; see the module.
pub(super) struct PlainLink {
    /// Number of the next datagram.
    next: u64,
    /// Whole numbers of the newest datagrams that were received.
    received: Vec<u64>,
    newest_acked: Option<u64>,
    /// The datagram with the newest ping of the host, and when it came.
    pinged: Option<(u64, Duration)>,
    /// When each ping left.
    pings: BTreeMap<u64, Duration>,
    /// Room time less local time, in microseconds, and the round trip that it comes from.
    offset_us: (i64, Duration),
    /// Slices of the chunk that is being received: its number, its last slice, which ones came.
    chunk: Option<(u64, u64, Vec<bool>)>,
}

impl PlainLink {
    /// `Joined.now_us` is the first estimate of room time.
    pub(super) fn new(now_us: u64) -> Self {
        PlainLink {
            next: 0,
            received: Vec::new(),
            newest_acked: None,
            pinged: None,
            pings: BTreeMap::new(),
            offset_us: (now_us as i64, Duration::MAX),
            chunk: None,
        }
    }

    /// The estimated room time.
    pub(super) fn room_ms(&self, now: Duration) -> u64 {
        (now.as_micros() as i64 + self.offset_us.0).max(0) as u64 / 1_000
    }

    /// Number of the newest datagram that the host has.
    pub(super) fn newest_acked(&self) -> Option<u64> {
        self.newest_acked
    }

    /// Reads a datagram up to its body; `None` for an old or repeated one, or without a body.
    pub(super) fn receive<'d>(
        &mut self,
        datagram: &'d [u8],
        now: Duration,
    ) -> Result<Option<BitReader<'d>>> {
        let mut reader = BitReader::new(datagram);
        let low = reader.bits(NUMBER_BITS)?;
        let newest = self.received.iter().max().copied();
        let number = newest.map_or(low, |newest| nearest(low, newest));
        let _asks = reader.flag()?; // Each datagram that leaves acknowledges.
        let acked = self.read_acknowledgement(&mut reader)?;
        let pong = if reader.flag()? { self.read_extras(&mut reader, number, now)? } else { None };
        if self.received.contains(&number) || newest.is_some_and(|newest| number + 32 < newest) {
            return Ok(None);
        }
        self.received.push(number);
        self.received.retain(|old| old + 64 > number);
        self.newest_acked = self.newest_acked.max(acked);
        if let Some((pinged, received_us, held)) = pong
            && let Some(left) = self.pings.remove(&nearest(pinged, self.next))
        {
            let round_trip = now.saturating_sub(left).saturating_sub(held);
            // The host's clock was at `received_us` half a round trip after the ping left.
            let offset = received_us as i64 - (left + round_trip / 2).as_micros() as i64;
            if round_trip <= self.offset_us.1 {
                self.offset_us = (offset, round_trip);
            }
        }
        Ok((reader.left() >= 8).then_some(reader))
    }

    /// A datagram with what `body` writes for its number and the room time.
    pub(super) fn write(
        &mut self,
        now: Duration,
        body: impl FnOnce(u64, u64, &mut BitWriter),
    ) -> Vec<u8> {
        let number = self.next;
        self.next += 1;
        let mut writer = BitWriter::default();
        writer.bits(number, NUMBER_BITS);
        writer.flag(true); // Asks for an acknowledgement: the body may have changes of controls.
        match self.received.iter().max() {
            Some(latest) => {
                writer.bits(0b100, 3);
                for back in 1..=32 {
                    let earlier = latest.checked_sub(back);
                    writer.flag(earlier.is_some_and(|number| self.received.contains(&number)));
                }
                writer.bits(*latest, NUMBER_BITS);
            }
            None => writer.bits(0, 3),
        }
        writer.flag(true); // Extras.
        let pings = number.is_multiple_of(PING_EVERY);
        if pings {
            self.pings.insert(number, now);
        }
        writer.flag(pings);
        writer.flag(self.pinged.is_some());
        if let Some((pinged, at)) = self.pinged.take() {
            writer.bits(pinged, NUMBER_BITS);
            writer.bits(at.as_micros() as u64, 48);
            writer.bits(now.saturating_sub(at).as_micros() as u64, 24);
        }
        writer.flag(false); // No messages.
        writer.flag(self.chunk.is_some());
        if let Some((chunk, last, slices)) = &self.chunk {
            writer.bits(*chunk, 8);
            writer.bits(*last, 8);
            writer.bits(2, 2);
            for received in slices {
                writer.flag(*received);
            }
        }
        writer.flag(false); // No slice.
        body(number, self.room_ms(now), &mut writer);
        writer.finish()
    }

    /// The newest datagram that the host has received.
    fn read_acknowledgement(&self, reader: &mut BitReader<'_>) -> Result<Option<u64>> {
        // Which earlier ones it has is of no use here: the host has the newest controls.
        let mut forms = [0, 5, 32].into_iter();
        let form_bits = loop {
            let Some(bits) = forms.next() else {
                return Ok(None);
            };
            if reader.flag()? {
                break bits;
            }
        };
        reader.bits(form_bits)?;
        let latest = nearest(reader.bits(NUMBER_BITS)?, self.next);
        ensure!(latest < self.next, "{latest} was never sent");
        Ok(Some(latest))
    }

    /// Returns the pong: the datagram with the ping, when that arrived, and how long it was held.
    fn read_extras(
        &mut self,
        reader: &mut BitReader<'_>,
        number: u64,
        now: Duration,
    ) -> Result<Option<(u64, u64, Duration)>> {
        if reader.flag()? {
            self.pinged = Some((number, now));
        }
        let mut pong = None;
        if reader.flag()? {
            let pinged = reader.bits(NUMBER_BITS)?;
            let received = reader.bits(48)?;
            pong = Some((pinged, received, Duration::from_micros(reader.bits(24)?)));
        }
        let mut is_first = true;
        while reader.flag()? {
            if std::mem::take(&mut is_first) {
                reader.bits(32)?;
            } else {
                reader.varint()?;
            }
            // `cubes` sends no events, and this client no commands.
            for _ in 0..reader.varint()? {
                reader.bits(8)?;
            }
        }
        ensure!(!reader.flag()?, "this client sends no blocks");
        if reader.flag()? {
            self.read_slice(reader)?;
        }
        Ok(pong)
    }

    /// The static map is of no use here, but the host repeats what is not acknowledged.
    fn read_slice(&mut self, reader: &mut BitReader<'_>) -> Result<()> {
        let [chunk, index, last] = [reader.bits(8)?, reader.bits(8)?, reader.bits(8)?];
        let _left = reader.bits(16)?;
        let bytes = if index == last { reader.bits(16)? } else { 1_024 };
        for _ in 0..bytes {
            reader.bits(8)?;
        }
        if self.chunk.as_ref().is_none_or(|(known, ..)| *known != chunk) {
            self.chunk = Some((chunk, last, vec![false; last as usize + 1]));
        }
        if let Some((_, _, slices)) = &mut self.chunk {
            slices[index as usize] = true;
        }
        Ok(())
    }
}

/// The number with these low bits that is nearest to another one.
fn nearest(low: u64, near: u64) -> u64 {
    let period = 1 << NUMBER_BITS;
    let candidate = near - near % period + low;
    [candidate.saturating_sub(period), candidate, candidate + period]
        .into_iter()
        .filter(|number| number % period == low)
        .min_by_key(|number| number.abs_diff(near))
        .unwrap_or(candidate)
}
