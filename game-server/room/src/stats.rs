//! Counters of a room since its start. Plain numbers; the shells turn them into metrics.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomStats {
    pub ticks: u64,
    /// Datagrams received.
    pub datagrams_in: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Datagrams sent to the sockets.
    pub datagrams_out: u64,
    /// Bytes sent to the sockets.
    pub bytes_out: u64,
    /// Objects that entered a client's area of interest.
    pub enters: u64,
    /// Objects that left a client's area of interest.
    pub leaves: u64,
    /// Events sent, counted once for each client.
    pub events: u64,
    /// Events and updates that arrived after their effect time, as reported by the clients.
    pub late_events: u64,
    /// Commands executed.
    pub commands: u64,
    /// Commands refused by the game, or by the room: a position off the map, an object that the
    /// client does not follow.
    pub commands_refused: u64,
    /// Commands that arrived after a newer one of a kind of which only the newest counts; answered
    /// with `outdated`.
    pub commands_outdated: u64,
    /// Commands that could not be decoded, or that the schema does not declare with such fields;
    /// answered with `malformed` or `unknown_command`.
    pub commands_malformed: u64,
    /// Commands that were sent again to another host and had been executed already.
    pub commands_repeated: u64,
    /// Commands over a client's rate limit; answered with `rate_limited`.
    pub commands_over_rate: u64,
    /// Datagrams with samples of a player's controls.
    pub inputs: u64,
    /// Samples of players' controls beyond what a player may send.
    pub samples_over_rate: u64,
    /// Datagrams that could not be decoded.
    pub malformed: u64,
    /// Datagrams that had been received before, or were too old to be known.
    pub datagrams_stale: u64,
    /// Events dropped because a client's queue of unacknowledged messages was full.
    pub notices_dropped: u64,
    /// Reports of clients that could not read poses, which lacked a baseline or were invalid.
    pub lost_tracks: u64,
    /// Bits sent, by purpose.
    pub bits: SentBits,
    /// Bits of objects, for each kind that the schema declares, as far as some were sent.
    pub kind_bits: Vec<KindBits>,
    /// Poses that were due, by outcome.
    pub poses: PoseCounts,
    /// Encodings of object records.
    pub records: EncodingReuse,
    /// Encodings of poses relative to their baselines, at the shared level.
    pub pose_codes: EncodingReuse,
    /// Players in the room, those within the grace period included.
    pub players: u32,
    /// Game connections.
    pub clients: u32,
    /// Objects in the world.
    pub objects: u32,
    /// Bytes sent over bytes received, times 1,000, of the client with the highest ratio; updated
    /// once a second.
    pub amplification_permille: u32,
}

/// Bits sent, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentBits {
    /// Time stamps, and the ends of records.
    pub stamps: u64,
    /// Enters, updates and leaves.
    pub records: u64,
    /// Headers of pose sections.
    pub pose_headers: u64,
    /// Which poses a section contains, their baselines, and its padding.
    pub pose_indices: u64,
    /// The poses themselves; at the fine level, with their indices.
    pub pose_contents: u64,
    /// Of the link: numbers, acknowledgements, pings.
    pub link_headers: u64,
    /// Reliable messages, sent for the first time.
    pub messages: u64,
    /// Sent again, since they were lost or the line loses datagrams.
    pub messages_repeated: u64,
    /// Slices of blocks (the static world), sent for the first time.
    pub slices: u64,
    pub slices_repeated: u64,
    /// What fills bodies and datagrams up.
    pub padding: u64,
}

/// Bits of the objects of a kind: of all kinds together the records and poses in [`SentBits`], but
/// the times of inputs and the heads of sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindBits {
    pub records: u64,
    /// Poses with their places, by the class in which the client had the object: engaged, near,
    /// far.
    pub poses: [u64; 3],
}

impl KindBits {
    /// Counts bits of a kind.
    pub fn of_kind(kinds: &mut Vec<Self>, kind: u8) -> &mut Self {
        let index = usize::from(kind);
        if kinds.len() <= index {
            kinds.resize(index + 1, Self::default());
        }
        &mut kinds[index]
    }

    /// The parts with their names.
    pub fn parts(&self) -> [(&'static str, u64); 4] {
        let [engaged, near, far] = self.poses;
        [("records", self.records), ("engaged", engaged), ("near", near), ("far", far)]
    }
}

/// Poses that were due, counted once for each client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoseCounts {
    pub sent: u64,
    /// Not sent, because the client extrapolates them well enough.
    pub extrapolated: u64,
    /// Not sent, because there was no room for them.
    pub deferred: u64,
}

/// How often something was encoded, and how often the encodings were used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncodingReuse {
    pub encoded: u64,
    pub uses: u64,
}

impl EncodingReuse {
    /// The mean number of uses of one encoding; 0 if nothing was encoded.
    pub fn uses_per_encoding(&self) -> f64 {
        if self.encoded == 0 { 0.0 } else { self.uses as f64 / self.encoded as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reuse_rate_is_uses_per_encoding() {
        assert_eq!(EncodingReuse::default().uses_per_encoding(), 0.0);
        assert_eq!(EncodingReuse { encoded: 4, uses: 30 }.uses_per_encoding(), 7.5);
    }
}
