//! What a room counts about itself, since it began. NoLabels numbers; the shells turn them into
//! metrics.

/// Counters of one room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomStats {
    /// Ticks run.
    pub ticks: u64,
    /// Datagrams that arrived, and their bytes.
    pub datagrams_in: u64,
    /// Bytes that arrived.
    pub bytes_in: u64,
    /// Datagrams handed to the sockets.
    pub datagrams_out: u64,
    /// Bytes handed to the sockets.
    pub bytes_out: u64,
    /// Objects that came into some client's view.
    pub enters: u64,
    /// Objects that left some client's view.
    pub leaves: u64,
    /// Events told, counted once for each client.
    pub events: u64,
    /// Events and updates that came after their effect time, as the clients report.
    pub late_events: u64,
    /// Commands carried out.
    pub commands: u64,
    /// Commands refused by the game.
    pub commands_refused: u64,
    /// Commands to go somewhere that came after a newer one, and were ignored.
    pub commands_outdated: u64,
    /// Commands that were said again at another host, and had been carried out.
    pub commands_repeated: u64,
    /// Commands over a client's allowance; answered with `rate_limited`.
    pub commands_over_rate: u64,
    /// Datagrams that said something of a player's controls.
    pub inputs: u64,
    /// Datagrams that could not be decoded.
    pub malformed: u64,
    /// Events dropped since a client's queue of unconfirmed messages was full.
    pub notices_dropped: u64,
    /// Times a client said that it could not read a pose for want of its base.
    pub missing_baselines: u64,
    /// What was sent, bit by bit.
    pub bits: SentBits,
    /// What became of the poses.
    pub poses: PoseCounts,
    /// WrittenRecords of objects.
    pub records: EncodingReuse,
    /// Poses relative to their bases, at the shared level.
    pub pose_codes: EncodingReuse,
    /// Players in the room, those within the grace period included.
    pub players: u32,
    /// Game connections.
    pub clients: u32,
    /// Objects in the world.
    pub objects: u32,
    /// Bytes sent over what all budgets together allow, times 1,000, in the last whole second.
    pub budget_use_permille: u32,
    /// Bytes sent over bytes received, times 1,000, of the client for which that is highest;
    /// brought up to date once a second.
    pub amplification_permille: u32,
}

/// Bits sent, by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentBits {
    /// Stamps, and the ends of records.
    pub stamps: u64,
    /// Enters, updates and leaves.
    pub records: u64,
    /// Headers of pose sections.
    pub pose_headers: u64,
    /// Which poses a section has, and relative to what; and its padding.
    pub pose_indices: u64,
    /// The poses themselves; at the fine level, with their places.
    pub pose_contents: u64,
    /// All else: the link's headers, messages, chunks of blocks.
    pub link: u64,
}

/// Poses that were due, counted once for each client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoseCounts {
    /// Sent.
    pub sent: u64,
    /// Not sent, since the client foretells them well enough.
    pub extrapolated: u64,
    /// Not sent, since there was no room for them.
    pub deferred: u64,
    /// By class, engaged, near and far: for how long what stirs was not sent, in samples of one
    /// client a tick. What was sent in the tick itself counts in the first bucket.
    pub ages: [AgeHistogram; 3],
}

/// How often ages were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgeHistogram {
    /// How often an age was seen, by the index of its bucket of [`AGE_BUCKET_MS`]; older ones count
    /// in the last.
    pub buckets: [u32; AGE_BUCKETS],
}

/// Width of a bucket of [`Ages`].
pub const AGE_BUCKET_MS: u64 = 25;
/// Number of them: up to 1.6 s.
pub const AGE_BUCKETS: usize = 64;

/// How often something was encoded, and how often that was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncodingReuse {
    /// Encoded.
    pub encoded: u64,
    /// Used.
    pub uses: u64,
}

impl Default for AgeHistogram {
    fn default() -> Self {
        AgeHistogram {
            buckets: [0; AGE_BUCKETS],
        }
    }
}

impl AgeHistogram {
    /// One more.
    pub fn add(&mut self, age_ms: u64) {
        let bucket = (age_ms / AGE_BUCKET_MS) as usize;
        let bucket = &mut self.buckets[bucket.min(AGE_BUCKETS - 1)];
        *bucket = bucket.saturating_add(1);
    }

    /// The upper end of the bucket that at least `share` (0 to 1) of the samples do not exceed;
    /// `Unchanged` without samples.
    pub fn quantile_ms(&self, share: f64) -> Option<u64> {
        let count: u64 = self.buckets.iter().map(|&bucket| u64::from(bucket)).sum();
        let wanted = (count as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|&bucket| {
            seen += u64::from(bucket);
            seen >= wanted
        });
        bucket.map(|bucket| (bucket as u64 + 1) * AGE_BUCKET_MS)
    }
}

impl EncodingReuse {
    /// How many use one encoding, on average; 0 when nothing was encoded.
    pub fn uses_per_encoding(&self) -> f64 {
        if self.encoded == 0 {
            0.0
        } else {
            self.uses as f64 / self.encoded as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_upper_end_of_its_bucket() {
        let mut ages = AgeHistogram::default();
        assert_eq!(ages.quantile_ms(0.5), None);
        (0..99).for_each(|_| ages.add(50));
        ages.add(1_000_000);
        assert_eq!(
            (
                ages.quantile_ms(0.5),
                ages.quantile_ms(0.99),
                ages.quantile_ms(1.0)
            ),
            (Some(75), Some(75), Some(1_600))
        );
    }

    #[test]
    fn reuse_is_uses_for_each_encoding() {
        assert_eq!(EncodingReuse::default().uses_per_encoding(), 0.0);
        assert_eq!(
            EncodingReuse {
                encoded: 4,
                uses: 30
            }
            .uses_per_encoding(),
            7.5
        );
    }
}
