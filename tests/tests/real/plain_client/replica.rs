//! The objects that the client sees, with all poses that it received.

use std::collections::BTreeMap;

use ambit_proto::control::game::{Joined, Schema};
use anyhow::{Context, Result};

use super::bits::BitReader;
use super::records::{Alias, BodyReader, Notice, WholePose, pose_format};

/// What was received.
pub(super) struct PlainReplica {
    schema: Schema,
    delay_ms: u64,
    /// By slot.
    objects: BTreeMap<u64, SeenObject>,
}

/// The newest object of a slot.
pub(super) struct SeenObject {
    epoch: u8,
    kind: usize,
    has_left: bool,
    /// Whether it is the player's avatar.
    pub(super) is_own: bool,
    /// In the order of their times.
    pub(super) poses: Vec<SeenPose>,
}

/// A pose of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SeenPose {
    /// Room time in milliseconds from which it holds.
    pub(super) from_ms: f64,
    /// In metres.
    pub(super) at_m: [f64; 3],
    pub(super) at_rest: bool,
    /// Half a step of the grid, in metres.
    half_step_m: f64,
}

impl SeenPose {
    /// Whether the pose is at this position, as precisely as its grid has it.
    pub(super) fn is_near(&self, metres: [f64; 3]) -> bool {
        let off = (0..3).map(|axis| (self.at_m[axis] - metres[axis]).abs());
        off.fold(0.0, f64::max) <= 1.01 * self.half_step_m + 1e-5
    }
}

impl PlainReplica {
    pub(super) fn new(joined: &Joined) -> Self {
        PlainReplica {
            schema: joined.schema.clone().unwrap_or_default(),
            delay_ms: joined.delay_ms.into(),
            objects: BTreeMap::new(),
        }
    }

    /// The objects that are there.
    pub(super) fn objects(&self) -> impl Iterator<Item = &SeenObject> {
        self.objects.values().filter(|object| !object.has_left)
    }

    /// Reads the body of a datagram. Returns how many poses were new.
    pub(super) fn read(&mut self, body: BitReader<'_>, now_ms: u64) -> Result<usize> {
        let mut notices = Vec::new();
        let reader = BodyReader { schema: &self.schema, delay_ms: self.delay_ms };
        let stamp = reader.read(body, now_ms, &mut notices)?;
        let mut new = 0;
        for notice in notices {
            match notice {
                Notice::Enter { alias, kind, is_own, pose } => {
                    self.enter(alias, kind, is_own);
                    if let Some(pose) = pose {
                        new += self.add(alias, kind, stamp, pose)?;
                    }
                }
                Notice::Leave(alias) => self.leave(alias),
                Notice::Pose { alias, kind, pose } => new += self.add(alias, kind, stamp, pose)?,
            }
        }
        Ok(new)
    }

    fn enter(&mut self, alias: Alias, kind: usize, is_own: bool) {
        let known = self.objects.get(&alias.slot);
        if known.is_none_or(|known| is_newer(alias.epoch, known.epoch)) {
            let object =
                SeenObject { epoch: alias.epoch, kind, has_left: false, is_own, poses: Vec::new() };
            self.objects.insert(alias.slot, object);
        }
    }

    fn leave(&mut self, alias: Alias) {
        // An epoch whose `Enter` has not come must not appear later.
        self.enter(alias, usize::MAX, false);
        if let Some(object) = self.objects.get_mut(&alias.slot)
            && object.epoch == alias.epoch
        {
            object.has_left = true;
        }
    }

    /// Adds a pose of an object that the client knows.
    fn add(&mut self, alias: Alias, kind: usize, stamp: u64, pose: WholePose) -> Result<usize> {
        let Some(object) = self.objects.get_mut(&alias.slot) else {
            return Ok(0);
        };
        if object.epoch != alias.epoch || object.has_left || object.kind != kind {
            return Ok(0);
        }
        let format = pose_format(&self.schema.kinds[kind]).context("a kind with poses")?;
        let seen = SeenPose {
            from_ms: (stamp + self.delay_ms) as f64,
            at_m: pose.at.map(|units| units as f64 / f64::from(format.per_metre)),
            at_rest: pose.flag,
            half_step_m: 0.5 / f64::from(format.per_metre),
        };
        let is_after = |other: &SeenPose| other.from_ms <= seen.from_ms;
        let index = object.poses.partition_point(is_after);
        let is_known = index > 0 && object.poses[index - 1].from_ms == seen.from_ms;
        if is_known {
            return Ok(0);
        }
        object.poses.insert(index, seen);
        Ok(1)
    }
}

/// Whether an epoch comes after another one: by 1 to 127.
fn is_newer(epoch: u8, other: u8) -> bool {
    (1..128).contains(&epoch.wrapping_sub(other))
}
