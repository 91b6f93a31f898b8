//! What an endpoint's packets are made of: an account that sums to the bytes on the wire.
//!
//! A packet with a datagram is split into what the datagram carries, the acknowledgement that rides
//! along, and the rest: QUIC's header, its tag and the heads of frames. Any other packet counts
//! whole, for the first of these that it has: a part of a handshake, a piece of a stream, an
//! acknowledgement. What a peer sends twice is counted twice.
//!
//! Exact: the sum of each direction, contents, handshakes, streams. An acknowledgement beside
//! datagrams is what their packet has more than it would have without one, with a packet number of
//! one byte; of a longer one the rest counts as acknowledgement.
//!
//! Cost: some nanoseconds a packet.

use quinn_proto::FrameStats;

/// Both directions, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireBytes {
    pub sent: PacketBytes,
    pub received: PacketBytes,
}

/// The packets of one direction, and their bytes (UDP's payload) by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketBytes {
    pub packets: u64,
    /// What datagrams carry.
    pub contents: u64,
    /// Around datagrams: QUIC's header, tag and heads of frames.
    pub heads: u64,
    /// Beside datagrams, or in packets of their own.
    pub acknowledgements: u64,
    /// Packets with pieces of streams.
    pub streams: u64,
    /// Packets of handshakes, and answers to peers that have no connection.
    pub handshakes: u64,
    /// Signs of life, probes for the path, closing, what no connection could read.
    pub others: u64,
}

impl WireBytes {
    /// All by its names: the direction, and the part of it or `packets`.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        [("out", self.sent), ("in", self.received)].into_iter().flat_map(|(direction, packets)| {
            let parts = packets.parts().into_iter().chain([("packets", packets.packets)]);
            parts.map(move |(part, count)| (direction, part, count))
        })
    }

    /// Adds what an endpoint has counted since `before`.
    pub(crate) fn advance(&mut self, before: &Self, now: &Self) {
        self.sent.advance(before.sent, now.sent);
        self.received.advance(before.received, now.received);
    }
}

impl PacketBytes {
    /// The parts with their names. They sum to the bytes on the wire.
    pub fn parts(&self) -> [(&'static str, u64); 6] {
        [
            ("contents", self.contents),
            ("heads", self.heads),
            ("acknowledgements", self.acknowledgements),
            ("streams", self.streams),
            ("handshakes", self.handshakes),
            ("others", self.others),
        ]
    }

    /// All bytes.
    pub fn bytes(&self) -> u64 {
        self.parts().iter().map(|(_, bytes)| bytes).sum()
    }

    fn advance(&mut self, before: Self, now: Self) {
        self.packets += now.packets - before.packets;
        self.contents += now.contents - before.contents;
        self.heads += now.heads - before.heads;
        self.acknowledgements += now.acknowledgements - before.acknowledgements;
        self.streams += now.streams - before.streams;
        self.handshakes += now.handshakes - before.handshakes;
        self.others += now.others - before.others;
    }

    /// Counts a packet of no connection.
    pub(crate) fn note_stray(&mut self, size: usize, is_answer: bool) {
        self.packets += 1;
        *(if is_answer { &mut self.handshakes } else { &mut self.others }) += size as u64;
    }

    /// Counts a packet of a connection that has one datagram and nothing else, if it is one:
    /// most are, and they are told by their length. `contents` is what the datagram carries.
    pub(crate) fn note_plain(
        &mut self,
        seen: &mut SeenFrames,
        size: usize,
        contents: usize,
    ) -> bool {
        let head = seen.head(contents, 1);
        let is_plain = contents > 0 && size == contents + head;
        if is_plain {
            self.packets += 1;
            self.contents += contents as u64;
            self.heads += head as u64;
            seen.counts.datagrams += 1;
        }
        is_plain
    }

    /// Counts any other packet of a connection, of which `contents` are what its datagrams carry;
    /// `frames` are all that the connection has sent or received.
    pub(crate) fn note(
        &mut self,
        seen: &mut SeenFrames,
        size: usize,
        contents: usize,
        frames: &FrameStats,
    ) {
        let around = size.saturating_sub(contents) as u64;
        let datagrams = seen.new_datagrams(frames);
        self.packets += 1;
        self.contents += contents as u64;
        let before = std::mem::replace(&mut seen.counts, FrameCounts::of(frames));
        let has = |of: fn(&FrameCounts) -> u64| of(&seen.counts) > of(&before);
        if contents == 0 || has(|frames| frames.crypto) || has(|frames| frames.streams) {
            let part = if has(|frames| frames.crypto) {
                &mut self.handshakes
            } else if has(|frames| frames.streams) {
                &mut self.streams
            } else if has(|frames| frames.acks) {
                &mut self.acknowledgements
            } else {
                &mut self.others
            };
            *part += around;
        } else if has(|frames| frames.acks) {
            let head = around.min(seen.head(contents, datagrams) as u64);
            self.heads += head;
            self.acknowledgements += around - head;
        } else {
            self.heads += around;
        }
    }
}

/// What a connection has sent or received before its next packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeenFrames {
    counts: FrameCounts,
    /// The length of the connection id in each packet.
    pub(crate) id_bytes: u8,
}

impl SeenFrames {
    /// Around datagrams that carry `contents` together: flags, connection id, number, tag, and
    /// before each a type and a length.
    fn head(&self, contents: usize, datagrams: usize) -> usize {
        let length_bytes = if contents < 64 { 1 } else { 2 };
        1 + usize::from(self.id_bytes) + 1 + 16 + datagrams * (1 + length_bytes)
    }

    /// The datagrams in the newest packet; `frames` as in [`PacketBytes::note`].
    pub(crate) fn new_datagrams(&self, frames: &FrameStats) -> usize {
        frames.datagram.saturating_sub(self.counts.datagrams) as usize
    }
}

/// The lengths of the connection ids in a packet of a handshake: that of who gets it, and of who
/// has sent it. `None` for a packet after the handshake, which does not say them. Source: RFC 9000,
/// section 17.2.
pub(crate) fn id_lengths(packet: &[u8]) -> Option<[u8; 2]> {
    let [flags, _, _, _, _, to, ids @ ..] = packet else {
        return None;
    };
    let from = ids.get(usize::from(*to))?;
    (flags & 0x80 != 0).then_some([*to, *from])
}

#[derive(Clone, Copy, Debug, Default)]
struct FrameCounts {
    acks: u64,
    crypto: u64,
    datagrams: u64,
    streams: u64,
}

impl FrameCounts {
    fn of(frames: &FrameStats) -> Self {
        Self {
            acks: frames.acks,
            crypto: frames.crypto,
            datagrams: frames.datagram,
            streams: frames.stream,
        }
    }
}
