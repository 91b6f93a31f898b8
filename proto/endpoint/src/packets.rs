//! Packets that leave in one call of the system.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use quinn_proto::Transmit;

/// A packet that waits to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketTarget {
    /// Where its bytes are in the batch.
    pub bytes: Range<usize>,
    /// Where it goes to.
    pub to: SocketAddr,
    /// The own address that it comes from, if the peer has to see the one that it has sent to.
    pub from: Option<IpAddr>,
}

/// Packets in the order of sending. Kept for its memory.
#[derive(Debug, Default)]
pub struct Packets {
    bytes: Vec<u8>,
    targets: Vec<PacketTarget>,
    /// Empty between calls: `quinn-proto` writes each packet at the beginning of a buffer.
    written: Vec<u8>,
}

impl Packets {
    /// The number of packets.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Each packet with its bytes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&PacketTarget, &[u8])> {
        self.targets.iter().map(|target| (target, &self.bytes[target.bytes.clone()]))
    }

    /// Each packet.
    pub fn targets(&self) -> &[PacketTarget] {
        &self.targets
    }

    /// Empties the batch.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.targets.clear();
    }

    /// Adds a packet.
    pub fn put(&mut self, bytes: &[u8], to: SocketAddr, from: Option<IpAddr>) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.targets.push(PacketTarget { bytes: begin..self.bytes.len(), to, from });
    }

    /// Moves all packets of `other` to the end.
    pub(crate) fn append(&mut self, other: &mut Self) {
        let shift = self.bytes.len();
        self.bytes.append(&mut other.bytes);
        self.targets.extend(other.targets.drain(..).map(|target| {
            let bytes = target.bytes.start + shift..target.bytes.end + shift;
            PacketTarget { bytes, ..target }
        }));
    }

    /// Adds the packet that `write` puts into an empty buffer, if it writes one; returns its bytes.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Option<Transmit>,
    ) -> Option<usize> {
        self.written.clear();
        let transmit = write(&mut self.written)?;
        let written = std::mem::take(&mut self.written);
        // One packet: segmentation is not asked for.
        self.put(&written[..transmit.size], transmit.destination, transmit.src_ip);
        self.written = written;
        Some(transmit.size)
    }
}
