//! The client's end: a [`SharedPhysics`] whose steps are made elsewhere.
//!
//! What the client calls becomes orders, which are sent with the next step. So are results that
//! are needed at once (the number of a new body). If the physics module fails, bodies move by the
//! host's poses alone until the owner gives the client another physics, or none.
//!
//! Bound: [`MAX_WAITING_WORDS`] of orders wait.

use std::fmt::Debug;

use ambit_proto::keymap::Keys;
use ambit_proto::map::StaticMap;
use ambit_proto::physics::{self, BodyId, SharedPhysics, SimulatedKind};
use ambit_proto::pose::Pose;

use crate::orders::{BODY_WORDS, ORDER_WORDS, POSE_WORDS, PhysicsOrder, WordReader};

/// More orders are sent before the next step: a client that does not draw for some time sets poses
/// and makes no steps.
const MAX_WAITING_WORDS: usize = 1 << 16;

/// The physics module does not work any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleFailed;

/// The way to a world of a [`PhysicsModule`](crate::PhysicsModule).
pub trait PhysicsLink: Debug + Send + Sync {
    /// Executes orders. Writes their results, as far as there is room, and returns their number.
    fn execute(&self, orders: &[u32], results: &mut [u32]) -> Result<usize, ModuleFailed>;
}

/// A world elsewhere; see the module.
#[derive(Debug)]
pub struct RemotePhysics<L> {
    link: L,
    has_failed: bool,
    /// Those that were not sent yet.
    orders: Vec<u32>,
    /// Kept for its storage.
    results: Vec<u32>,
    /// By slot.
    poses: Vec<Pose>,
    changed: Vec<BodyId>,
}

impl<L: PhysicsLink> RemotePhysics<L> {
    /// A world without bodies.
    pub const fn new(link: L) -> Self {
        Self {
            link,
            has_failed: false,
            orders: Vec::new(),
            results: Vec::new(),
            poses: Vec::new(),
            changed: Vec::new(),
        }
    }

    fn order(&mut self, order: &PhysicsOrder) {
        if self.has_failed {
            return;
        }
        order.write(&mut self.orders);
        if self.orders.len() > MAX_WAITING_WORDS {
            self.send(0);
        }
    }

    /// Sends the orders that wait, and reads at most this many words of results.
    fn send(&mut self, max_results: usize) {
        if self.results.len() < max_results {
            self.results.resize(max_results, 0);
        }
        if !self.has_failed {
            let results = &mut self.results[..max_results];
            self.has_failed = self.link.execute(&self.orders, results).is_err();
        }
        self.orders.clear();
    }

    /// The body that was added last; one with a slot of our own if the module has failed.
    fn added_body(&self) -> BodyId {
        let next = BodyId::new(self.poses.len() as u32, 0);
        let body = WordReader::new(&self.results).body();
        body.filter(|_| !self.has_failed).unwrap_or(next)
    }

    /// Notes the poses after a step. `None` if the results are incomplete.
    fn note_step(&mut self) -> Option<()> {
        let mut reader = WordReader::new(&self.results);
        for _ in 0..reader.word()? {
            let body = reader.body()?;
            let pose = reader.pose()?;
            *self.poses.get_mut(body.slot())? = pose;
            self.changed.push(body);
        }
        Some(())
    }
}

impl<L: PhysicsLink> SharedPhysics for RemotePhysics<L> {
    fn add(&mut self, kind: u8, pose: &Pose) -> BodyId {
        self.order(&PhysicsOrder::Add { kind, pose: *pose });
        self.send(BODY_WORDS);
        let body = self.added_body();
        if body.slot() >= self.poses.len() {
            self.poses.resize(body.slot() + 1, Pose::default());
        }
        self.poses[body.slot()] = *pose;
        body
    }

    fn remove(&mut self, body: BodyId) {
        self.order(&PhysicsOrder::Remove(body));
        self.changed.retain(|&other| other != body);
    }

    fn pose(&self, body: BodyId) -> Pose {
        self.poses[body.slot()]
    }

    fn set_pose(&mut self, body: BodyId, pose: &Pose) {
        let known = &mut self.poses[body.slot()];
        if known != pose {
            *known = *pose;
            self.order(&PhysicsOrder::SetPose(body, *pose));
        }
    }

    fn set_keys(&mut self, body: BodyId, keys: Keys) {
        self.order(&PhysicsOrder::SetKeys(body, keys));
    }

    fn step(&mut self) {
        self.order(&PhysicsOrder::Step);
        self.send(1 + self.poses.len() * (BODY_WORDS + POSE_WORDS));
        self.changed.clear();
        if !self.has_failed && self.note_step().is_none() {
            self.has_failed = true;
        }
    }

    fn changed_bodies(&self) -> &[BodyId] {
        &self.changed
    }

    fn set_map(&mut self, map: &StaticMap) {
        self.order(&PhysicsOrder::SetMap(map.clone()));
        self.send(0);
    }

    fn extrapolate(&self, kind: &SimulatedKind, pose: &Pose, frames: u64) -> Pose {
        let order = PhysicsOrder::Extrapolate {
            kind: kind.kind,
            frames: frames.try_into().unwrap_or(u32::MAX),
            pose: *pose,
        };
        let mut orders = FixedWords::default();
        let mut results = [0; POSE_WORDS];
        order.write(&mut orders);
        let sent = &orders.words[..orders.count];
        let executed = (!self.has_failed).then(|| self.link.execute(sent, &mut results));
        match executed {
            Some(Ok(_)) => WordReader::new(&results).pose(),
            _ => None,
        }
        .unwrap_or_else(|| physics::extrapolate(&kind.format, pose, frames))
    }
}

/// The words of one order, without allocating.
#[derive(Default)]
struct FixedWords {
    words: [u32; ORDER_WORDS],
    count: usize,
}

impl Extend<u32> for FixedWords {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, words: I) {
        for word in words {
            self.words[self.count] = word;
            self.count += 1;
        }
    }
}
