//! Digests of a room's state, by which a replay is compared with what was played.
//!
//! A room between two ticks goes in; some bytes come out, which are the same for the same state of
//! the same build: a hash of what the game saves, one of the world, and 16 bits for each object
//! that has changed since it was listed last, at most 64 a tick, in turn. A recording
//! has a digest of each tick. A game whose state has no fixed order, such as a `HashMap`, departs
//! in the first one: its saved bytes differ.
//!
//! Cost: all objects at each tick, as a snapshot, for as long as a room is recorded or replayed.
//! Bytes: 8 a tick, and 4 or so for each object that is listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use ambit_proto::ids::ObjectId;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use crate::room::Room;
use crate::saved;

/// A digest lists at most this number of objects; the others follow in the next ones.
const MOST_LISTED: usize = 64;
/// A report names at most this number of objects.
const MOST_NAMED: usize = 5;
/// Stands for an object that is not there. The hash of an object is never 0.
const GONE: [u8; 2] = [0; 2];

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickDigest {
    /// Of what the game saves; 0 if it does not.
    game: [u8; 2],
    world: [u8; 4],
    /// Objects with their hashes, in the order of their ids from one of them on.
    objects: Vec<(ObjectId, [u8; 2])>,
}

/// Makes the digests of a room's ticks, one after the other.
#[derive(Debug, Default)]
pub struct Digester {
    /// Each object with the hash that was listed last.
    listed: BTreeMap<ObjectId, [u8; 2]>,
    /// Where the next digest begins.
    next: ObjectId,
    /// Reused.
    bytes: Vec<u8>,
}

/// How a replay departs from what was played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Divergence {
    /// The tick before, at which both were the same; `None` if they never were.
    pub same_until: Option<GameTime>,
    /// The first tick at which they were not.
    pub at: GameTime,
    /// Whether what the game saves differs.
    pub is_of_game: bool,
    /// Whether the world differs.
    pub is_of_world: bool,
    /// Objects that differ, with the names of their kinds, the lowest ids first; found at
    /// `named_at`.
    pub objects: Vec<(ObjectId, String)>,
    /// The tick at which the objects were found: `at`, unless more had changed than a digest lists.
    pub named_at: Option<GameTime>,
}

/// Compares a replay, tick by tick, with what was played.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Ticks that were compared.
    pub compared: u64,
    /// The first difference.
    pub departure: Option<Divergence>,
    same_until: Option<GameTime>,
    digester: Digester,
}

impl Digester {
    /// Of a room between two ticks.
    pub fn digest(&mut self, room: &Room) -> TickDigest {
        let world = room.world();
        self.bytes.clear();
        world.save(&mut self.bytes);
        let world = hash(&self.bytes).to_be_bytes();
        TickDigest {
            game: room.game().save().map_or(GONE, |game| short_hash(&game)),
            world: [world[0], world[1], world[2], world[3]],
            objects: self.list(room),
        }
    }

    /// What has changed since it was listed last.
    fn list(&mut self, room: &Room) -> Vec<(ObjectId, [u8; 2])> {
        let mut ids: BTreeSet<ObjectId> = self.listed.keys().copied().collect();
        ids.extend(room.world().objects());
        let in_turn = ids.range(self.next..).chain(ids.range(..self.next));
        let mut objects = Vec::new();
        for &id in in_turn {
            let hash = object_hash(room, id, &mut self.bytes);
            if self.listed.get(&id) == Some(&hash) {
                continue;
            }
            if objects.len() == MOST_LISTED {
                self.next = id;
                break;
            }
            objects.push((id, hash));
            if hash == GONE {
                self.listed.remove(&id);
            } else {
                self.listed.insert(id, hash);
            }
        }
        objects
    }
}

fn object_hash(room: &Room, id: ObjectId, bytes: &mut Vec<u8>) -> [u8; 2] {
    let world = room.world();
    if !world.contains(id) {
        return GONE;
    }
    bytes.clear();
    saved::put(bytes, &(world.kind(id), world.owner(id), world.components(id)));
    short_hash(bytes)
}

/// Never 0.
fn short_hash(bytes: &[u8]) -> [u8; 2] {
    (hash(bytes) as u16).max(1).to_be_bytes()
}

impl Comparison {
    /// Compares the replayed room with what was played.
    pub fn note(&mut self, played: &TickDigest, room: &Room) {
        self.compared += 1;
        let at = room.last_tick().unwrap_or_default();
        let replayed = self.digester.digest(room);
        if self.departure.is_none() && *played == replayed {
            self.same_until = Some(at);
            return;
        }
        let is_first = self.departure.is_none();
        let departure = self.departure.get_or_insert_with(|| Divergence {
            same_until: self.same_until,
            at,
            is_of_game: played.game != replayed.game,
            is_of_world: played.world != replayed.world,
            ..Divergence::default()
        });
        if departure.named_at.is_none() {
            let are_all = is_first && played.objects.len() < MOST_LISTED;
            let unplayed = if are_all { replayed.objects.as_slice() } else { &[] };
            departure.objects = differing(&played.objects, unplayed, room);
            departure.named_at = (!departure.objects.is_empty()).then_some(at);
        }
    }
}

/// Objects that differ from what was played, or are among those that only the replay has changed.
fn differing(
    played: &[(ObjectId, [u8; 2])],
    changed: &[(ObjectId, [u8; 2])],
    room: &Room,
) -> Vec<(ObjectId, String)> {
    let played: BTreeMap<_, _> = played.iter().copied().collect();
    let mut ids: BTreeSet<ObjectId> = played.keys().copied().collect();
    ids.extend(changed.iter().map(|&(id, _)| id));
    let world = room.world();
    let name = |id: ObjectId| {
        let kind = world.find_kind(id).and_then(|kind| world.schema().kind(kind));
        (id, kind.map_or_else(|| "gone in the replay".to_owned(), |kind| kind.name.clone()))
    };
    let mut bytes = Vec::new();
    let mut differs = |id: &ObjectId| played.get(id) != Some(&object_hash(room, *id, &mut bytes));
    ids.into_iter().filter(|id| differs(id)).take(MOST_NAMED).map(name).collect()
}

/// The same in each process of a build.
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// A room time for people: seconds with three decimals, and the unit.
pub struct Seconds(pub GameTime);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.millis();
        write!(f, "{}.{:03} s", millis / 1_000, millis % 1_000)
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the replay departs from what was played ")?;
        let first = if self.same_until.is_some() { "one that differs" } else { "that is compared" };
        write!(f, "at its tick at {}, the first {first}: ", Seconds(self.at))?;
        let parts = match (self.is_of_game, self.is_of_world) {
            (true, true) => "the game's own fields and the world differ",
            (true, false) => {
                "the game's own fields differ, and the world does not (does one of them have no \
                 fixed order, such as a HashMap?)"
            }
            _ => "the world differs",
        };
        f.write_str(parts)?;
        if let Some(named_at) = self.named_at.filter(|_| !self.objects.is_empty()) {
            if named_at == self.at {
                f.write_str("; these objects do:")?;
            } else {
                write!(f, "; of those listed at {}, these objects do:", Seconds(named_at))?;
            }
            for (id, kind) in &self.objects {
                write!(f, " {id} ({kind})")?;
            }
        }
        Ok(())
    }
}
