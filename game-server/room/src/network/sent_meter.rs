//! What clients are sent, by kind and, of one client, by object: while an operator looks.
//!
//! The room's counts go in, and of that client those of its datagrams; bytes of the last complete
//! second come out. It decides nothing, so a room runs alike with and without it.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use ambit_proto::ids::{ClientId, ObjectId};
use ambit_proto::time::GameTime;

use crate::stats::KindBits;

/// How long what is sent is counted together.
const METER_WINDOW: Duration = Duration::from_secs(1);
/// After this time without a look nothing is counted any more.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug)]
pub struct SentMeter {
    looked_at: GameTime,
    /// The one whose objects are counted: that which was looked at last.
    client: Option<ClientId>,
    began_at: GameTime,
    /// The room's counts at that time.
    began_with: Vec<KindBits>,
    present: SentCounts,
    /// Those of the last complete window; `None` if it has no neighbour.
    last: Option<SentCounts>,
    /// What that client was not sent at the last tick, for want of room; and how much more.
    waiting: BTreeSet<ObjectId>,
    also_waiting: usize,
}

/// Bits of one window.
#[derive(Clone, Debug, Default)]
struct SentCounts {
    by_kind: Vec<u64>,
    by_object: HashMap<ObjectId, u64>,
}

impl SentMeter {
    pub fn new(now: GameTime) -> Self {
        Self {
            looked_at: now,
            client: None,
            began_at: now,
            began_with: Vec::new(),
            present: SentCounts::default(),
            last: None,
            waiting: BTreeSet::new(),
            also_waiting: 0,
        }
    }

    /// An operator looks, at this client or at none.
    pub fn look(&mut self, now: GameTime, client: Option<ClientId>) {
        self.looked_at = now;
        if client.is_some() && client != self.client {
            self.client = client;
            self.waiting.clear();
            self.also_waiting = 0;
            self.present.by_object.clear();
            if let Some(last) = &mut self.last {
                last.by_object.clear();
            }
        }
    }

    /// Begins a tick. Returns whether anyone still looks.
    pub fn begin_tick(&mut self, now: GameTime, sent: &[KindBits]) -> bool {
        let elapsed = now.since(self.began_at);
        if elapsed >= METER_WINDOW || self.began_with.is_empty() {
            let mut present = std::mem::take(&mut self.present);
            let before =
                self.began_with.iter().copied().chain(std::iter::repeat(KindBits::default()));
            let all = |of: &KindBits| of.parts().iter().map(|(_, bits)| bits).sum::<u64>();
            present.by_kind =
                sent.iter().zip(before).map(|(now, before)| all(now) - all(&before)).collect();
            // After a pause the window says nothing about one second.
            let is_second = (METER_WINDOW..2 * METER_WINDOW).contains(&elapsed);
            self.last = is_second.then_some(present);
            (self.began_at, self.began_with) = (now, sent.to_vec());
        }
        now.since(self.looked_at) < FORGOTTEN_AFTER
    }

    /// Whether it is this client that is looked at.
    pub fn is_at(&self, client: ClientId) -> bool {
        self.client == Some(client)
    }

    /// A client was sent this many bits of an object.
    pub fn note(&mut self, client: ClientId, object: ObjectId, bits: u64) {
        if self.client == Some(client) {
            *self.present.by_object.entry(object).or_default() += bits;
        }
    }

    /// What a client was not sent at this tick, for want of room: these objects, and a number of
    /// others.
    pub fn note_waiting(
        &mut self,
        client: ClientId,
        objects: impl Iterator<Item = ObjectId>,
        more: usize,
    ) {
        if self.client == Some(client) {
            self.waiting.clear();
            self.waiting.extend(objects);
            self.also_waiting = more;
        }
    }

    /// Whether an object waited for room at the last tick.
    pub fn waits(&self, client: ClientId, object: ObjectId) -> bool {
        self.client == Some(client) && self.waiting.contains(&object)
    }

    /// How much waited for room at the last tick.
    pub fn waiting(&self, client: ClientId) -> u32 {
        let all = self.waiting.len() + self.also_waiting;
        if self.client == Some(client) { all as u32 } else { 0 }
    }

    /// Bytes a second, by kind; empty before the end of the first second.
    pub fn bytes_by_kind(&self, kinds: usize) -> Vec<u32> {
        let Some(last) = &self.last else {
            return Vec::new();
        };
        let bits = |kind| last.by_kind.get(kind).copied().unwrap_or_default();
        (0..kinds).map(|kind| to_bytes(bits(kind))).collect()
    }

    /// Bytes a second of an object that this client is sent.
    pub fn bytes_of(&self, client: ClientId, object: ObjectId) -> u32 {
        let last = self.last.as_ref().filter(|_| self.client == Some(client));
        to_bytes(last.and_then(|last| last.by_object.get(&object)).copied().unwrap_or_default())
    }
}

fn to_bytes(bits: u64) -> u32 {
    u32::try_from(bits.div_ceil(8)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_second_is_counted_until_no_one_looks() {
        let (ann, bob) = (ClientId(1), ClientId(2));
        let tree = ObjectId(7);
        let at = |ms| GameTime::from_millis(ms);
        let mut meter = SentMeter::new(at(0));
        meter.look(at(0), Some(ann));
        let mut sent = vec![KindBits { records: 1_000, poses: [0; 3] }; 3];
        for tick in 0..20 {
            assert!(meter.begin_tick(at(50 * tick), &sent));
            meter.note(ann, tree, 12);
            meter.note(bob, tree, 4);
            sent[2].poses[tick as usize % 3] += 16;
        }
        assert!(meter.bytes_by_kind(3).is_empty(), "the first second is not over");
        assert!(meter.begin_tick(at(1_000), &sent));
        assert_eq!(meter.bytes_by_kind(3), [0, 0, 40]);
        assert_eq!(meter.bytes_of(ann, tree), 30);
        assert_eq!(meter.bytes_of(bob, tree), 0, "one client is looked at");
        meter.note_waiting(ann, [tree].into_iter(), 3);
        meter.note_waiting(bob, [ObjectId(8)].into_iter(), 0);
        assert!(meter.waits(ann, tree) && !meter.waits(ann, ObjectId(8)));
        assert_eq!((meter.waiting(ann), meter.waiting(bob)), (4, 0));
        meter.look(at(1_000), Some(bob));
        assert_eq!(meter.waiting(bob), 0, "what was before is ann's");
        assert_eq!(meter.bytes_of(bob, tree), 0, "what was before is ann's");
        assert!(meter.begin_tick(at(5_999), &sent));
        assert!(meter.bytes_by_kind(3).is_empty(), "a pause is no second");
        assert!(!meter.begin_tick(at(6_000), &sent));
    }
}
