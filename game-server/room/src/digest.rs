//! Digests of a room's state, by which a replay is compared with what was played.
//!
//! A room between two ticks goes in; some bytes come out, which are the same for the same state of
//! the same build: one hash of what the game saves, one of the world, and, as often as few bytes a
//! second come of it, the id of each object and 16 bits, in the order of their ids. A recording has
//! one a second. A game whose state has no fixed order, such as a `HashMap`, departs in the first
//! one: its saved bytes differ.
//!
//! Cost: all objects, as a snapshot.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use ambit_proto::ids::ObjectId;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use crate::room::Room;
use crate::saved;

/// The number of objects in the digests of a second, on average, each with its id and 16 bits: 8
/// bytes. If a room has more objects, only one digest in several lists them.
const OBJECTS_EACH_SECOND: usize = 128;
/// A report names at most this number of objects.
const MOST_NAMED: usize = 5;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateDigest {
    /// The time of the room's last tick.
    pub at: GameTime,
    /// Of what the game saves; 0 if it does not.
    game: u64,
    world: u64,
    /// Empty if this digest leaves them out.
    objects: Vec<(ObjectId, u16)>,
}

/// How a replay departs from what was played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Divergence {
    /// The last time at which both were the same; `None` if they never were.
    pub same_until: Option<GameTime>,
    /// The first time at which they were not.
    pub at: GameTime,
    /// Whether what the game saves differs.
    pub is_of_game: bool,
    /// Whether the world differs.
    pub is_of_world: bool,
    /// Objects that differ, with the names of their kinds, the lowest ids first; found at
    /// `named_at`.
    pub objects: Vec<(ObjectId, String)>,
    /// When the objects were compared; `None` if they never were since.
    pub named_at: Option<GameTime>,
}

/// Compares a replay, digest by digest, with what was played.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Digests that were compared.
    pub compared: u64,
    /// The first difference.
    pub departure: Option<Divergence>,
    same_until: Option<GameTime>,
}

impl StateDigest {
    /// Of a room between two ticks.
    pub fn of(room: &Room) -> Self {
        let world = room.world();
        let mut saved = Vec::new();
        world.save(&mut saved);
        let at = room.last_tick().unwrap_or_default();
        let every = world.len().div_ceil(OBJECTS_EACH_SECOND).max(1) as u64;
        let is_due = (at.millis() / 1_000).is_multiple_of(every);
        Self {
            at,
            game: room.game().save().map_or(0, |game| hash(&game)),
            world: hash(&saved),
            objects: if is_due { object_digests(room) } else { Vec::new() },
        }
    }
}

fn object_digests(room: &Room) -> Vec<(ObjectId, u16)> {
    let world = room.world();
    let digest = |id: ObjectId| {
        let state = (world.kind(id), world.owner(id), world.components(id));
        (id, hash(&saved::of(&state)) as u16)
    };
    let mut objects: Vec<_> = world.objects().map(digest).collect();
    objects.sort_unstable();
    objects
}

impl Comparison {
    /// Compares the replayed room with what was played.
    pub fn note(&mut self, played: &StateDigest, room: &Room) {
        self.compared += 1;
        let replayed = StateDigest::of(room);
        if self.departure.is_none() && *played == replayed {
            self.same_until = Some(played.at);
            return;
        }
        let same_until = self.same_until;
        let departure = self.departure.get_or_insert_with(|| Divergence {
            same_until,
            at: played.at,
            is_of_game: played.game != replayed.game,
            is_of_world: played.world != replayed.world,
            ..Divergence::default()
        });
        let are_compared = !played.objects.is_empty() || !replayed.objects.is_empty();
        if departure.named_at.is_none() && are_compared {
            departure.named_at = Some(played.at);
            departure.objects = differing(played, &replayed, room);
        }
    }
}

/// Objects that only one of both has, or that differ.
fn differing(played: &StateDigest, replayed: &StateDigest, room: &Room) -> Vec<(ObjectId, String)> {
    let one: BTreeMap<_, _> = played.objects.iter().copied().collect();
    let other: BTreeMap<_, _> = replayed.objects.iter().copied().collect();
    let mut ids: Vec<ObjectId> = one.keys().chain(other.keys()).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    let world = room.world();
    let name = |id: ObjectId| {
        let kind = world.find_kind(id).and_then(|kind| world.schema().kind(kind));
        (id, kind.map_or_else(|| "gone in the replay".to_owned(), |kind| kind.name.clone()))
    };
    let differ = ids.into_iter().filter(|id| one.get(id) != other.get(id));
    differ.take(MOST_NAMED).map(name).collect()
}

/// The same in each process of a build.
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// A time for people.
struct Seconds(GameTime);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.millis();
        write!(f, "{}.{:03} s", millis / 1_000, millis % 1_000)
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the replay departs from what was played ")?;
        match self.same_until {
            Some(same) => write!(f, "after {}, by {}: ", Seconds(same), Seconds(self.at))?,
            None => write!(f, "by {}, the first time that they are compared: ", Seconds(self.at))?,
        }
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
            write!(f, "; at {} these objects do:", Seconds(named_at))?;
            for (id, kind) in &self.objects {
                write!(f, " {id} ({kind})")?;
            }
        }
        Ok(())
    }
}
