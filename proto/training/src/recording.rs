//! Recordings of moving objects, and what a receiver knows of one when the next frame is coded.
//!
//! The trainer and the benchmark `cubes-trace` share this, so that both follow the same rule: frame
//! n is coded from frames up to n - [`ACK_LAG_FRAMES`] only.

use ambit_proto::pose::fine::{AgedPose, KnownObject};
use ambit_proto::pose::{Pose, PoseFormat};

/// The newest frame that is known to have arrived is this many frames older than the coded one:
/// 100 ms at 60 frames a second.
pub const ACK_LAG_FRAMES: usize = 6;

/// Acknowledged frames that are used, at most.
const HISTORY: usize = 5;
/// Ages of these frames: the newest acknowledged one, and those that are a sixth, a third, a half
/// and the whole of its age older, which are the spans of the fine level.
const AGES: [usize; HISTORY] = [
    ACK_LAG_FRAMES,
    ACK_LAG_FRAMES + 1,
    ACK_LAG_FRAMES + 2,
    ACK_LAG_FRAMES + 3,
    2 * ACK_LAG_FRAMES,
];

/// The poses of a fixed set of objects, frame by frame. Object 0 is the reference: the one that the
/// player steers.
#[derive(Debug)]
pub struct PoseRecording {
    /// Of all objects.
    pub format: PoseFormat,
    /// Time between frames.
    pub frame_us: u32,
    /// Half the edge of each object, in metres; 0 if it is no cube.
    pub half_edges_m: Vec<f32>,
    /// All frames, one after the other.
    pub poses: Vec<Pose>,
}

impl PoseRecording {
    /// Objects in a frame.
    pub fn objects(&self) -> usize {
        self.half_edges_m.len()
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.poses.len() / self.objects()
    }

    /// All objects of a frame.
    pub fn frame(&self, index: usize) -> &[Pose] {
        &self.poses[index * self.objects()..][..self.objects()]
    }
}

/// The acknowledged frames when another one is coded, the newest first.
#[derive(Clone, Debug)]
pub struct KnownFrames<'f> {
    recording: &'f PoseRecording,
    frames: [&'f [Pose]; HISTORY],
    ages: [usize; HISTORY],
    count: usize,
}

impl<'f> KnownFrames<'f> {
    /// What is known when frame `number` is coded, which is at least [`ACK_LAG_FRAMES`]. Frames
    /// come from `frame`, so that a decoder can use those that it has decoded.
    pub fn of(
        recording: &'f PoseRecording,
        number: usize,
        frame: impl Fn(usize) -> &'f [Pose],
    ) -> Self {
        Self::with_ages(recording, &AGES, number, frame)
    }

    /// The same if only frames of these ages were acknowledged: one to five, none below
    /// [`ACK_LAG_FRAMES`].
    pub(super) fn with_ages(
        recording: &'f PoseRecording,
        ages: &[usize],
        number: usize,
        frame: impl Fn(usize) -> &'f [Pose],
    ) -> Self {
        let is_there = |age: &&usize| (ACK_LAG_FRAMES..=number).contains(*age);
        let count = ages.iter().filter(is_there).count();
        let ages = std::array::from_fn(|index| ages[index.min(count - 1)]);
        Self { recording, frames: ages.map(|age| frame(number - age)), ages, count }
    }

    /// The frame that changes are relative to.
    pub fn baseline(&self) -> &'f [Pose] {
        self.frames[0]
    }

    /// The acknowledged poses of an object, for [`KnownFrames::known`].
    pub fn history(&self, object: usize) -> [AgedPose; HISTORY] {
        std::array::from_fn(|index| AgedPose {
            age_us: self.ages[index] as u32 * self.recording.frame_us,
            pose: self.frames[index][object],
        })
    }

    /// An object as the coder wants it.
    pub fn known<'h>(&self, object: usize, history: &'h [AgedPose; HISTORY]) -> KnownObject<'h> {
        KnownObject {
            format: self.recording.format,
            half_edge_m: self.recording.half_edges_m[object],
            history: &history[..self.count],
        }
    }
}
