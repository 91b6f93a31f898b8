//! The true scene, frame by frame.
//!
//! The game runs by itself, without clients or network: the same seed, and scripted players who
//! join at the same frames, give the same scene as in a room. [`GroundTruth::check_matches`]
//! checks that a room's world is that scene. Frames count from the beginning of the room's physics;
//! between two of them positions are interpolated linearly.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_cubes_physics::{FRAMES_PER_S, POSE_FORMAT, frame_at, frame_time};
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::pose::Pose;
use ambit_proto::time::GameTime;
use ambit_room::logic::world::World;
use ambit_room::recording::Header;

pub const FRAME_HZ: u64 = FRAMES_PER_S;
/// An object that has moved within this many frames before or after is in play.
const IN_PLAY_FRAMES: usize = 30;

/// Players with the frame after whose step their cube exists.
pub type PlayerJoins = Vec<(u64, PlayerId)>;

#[derive(Debug)]
pub struct GroundTruth {
    first_frame: u64,
    /// By object, in the order of creation.
    objects: Vec<ObjectTrack>,
}

#[derive(Debug)]
struct ObjectTrack {
    id: ObjectId,
    /// Index of its first pose, counted from the first frame of the scene.
    first_index: usize,
    poses: Vec<Pose>,
    /// By frame: the number of frames up to it in which the pose changed.
    changes: Vec<u32>,
}

impl GroundTruth {
    /// Simulates the scene of these parameters, from frame `first` to `last`.
    pub fn simulate(
        seed: u64,
        parameters: &BTreeMap<String, String>,
        first: u64,
        joins: &PlayerJoins,
        last: u64,
    ) -> Self {
        let mut parameters = parameters.clone();
        parameters.insert("tick".into(), FRAME_HZ.to_string());
        parameters.insert("sync".into(), "simulated".into());
        let header =
            Header { seed, game: "cubes".into(), parameters, capacity: 64, ..Header::default() };
        let (config, mut game) =
            ambit_game_server::standard().prepare(&header).expect("valid room parameters");
        let mut world = World::new(&config, game.schema());
        let mut truth = GroundTruth { first_frame: first, objects: Vec::new() };
        let mut joins = joins.iter().peekable();
        for frame in first..=last {
            world.begin_tick(frame_time(frame));
            if frame == first {
                game.start(&mut world);
            }
            while let Some((_, player)) = joins.next_if(|join| join.0 <= frame) {
                let avatar = game.join(&mut world, *player, "player");
                world.set_owner(avatar, *player);
            }
            game.step(&mut world, Duration::from_secs(1) / FRAME_HZ as u32);
            world.finish_tick();
            world.drain_changes(&mut Vec::new());
            truth.record_frame(frame, &world);
        }
        truth
    }

    /// An empty scene, to be recorded frame by frame from `first` on, of a room that ticks 60 times
    /// a second.
    pub fn starting_at(first: u64) -> Self {
        GroundTruth { first_frame: first, objects: Vec::new() }
    }

    /// Records the world in this frame, which must follow the last recorded one.
    pub fn record_frame(&mut self, frame: u64, world: &World) {
        let now = (frame - self.first_frame) as usize;
        assert!(
            self.objects.first().is_none_or(|track| track.poses.len() == now),
            "frame {frame} is not the next one"
        );
        let known = self.objects.len();
        for id in world.objects().skip(known) {
            self.objects.push(ObjectTrack {
                id,
                first_index: now,
                poses: Vec::new(),
                changes: Vec::new(),
            });
        }
        for track in &mut self.objects {
            let pose = world.pose(track.id);
            let changed = track.poses.last().is_some_and(|before| *before != pose);
            track.changes.push(track.changes.last().copied().unwrap_or(0) + u32::from(changed));
            track.poses.push(pose);
        }
    }

    pub fn last_frame(&self) -> u64 {
        self.first_frame
            + self
                .objects
                .iter()
                .map(|track| track.first_index + track.poses.len())
                .max()
                .unwrap_or(1) as u64
            - 1
    }

    /// Number of objects that ever existed.
    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// Index of a room's object.
    pub fn index_of(&self, object: ObjectId) -> Option<usize> {
        self.objects.iter().position(|track| track.id == object)
    }

    /// The pose in a frame, or the nearest one that exists.
    pub fn pose(&self, object: usize, frame: u64) -> &Pose {
        let track = &self.objects[object];
        &track.poses[track.pose_index(frame.saturating_sub(self.first_frame))]
    }

    /// Whether the object exists in a frame.
    pub fn exists(&self, object: usize, frame: u64) -> bool {
        self.first_frame + self.objects[object].first_index as u64 <= frame
    }

    /// True position at a time.
    pub fn position_at(&self, object: usize, time: GameTime) -> [f32; 3] {
        let micros = time.micros() * FRAME_HZ;
        let frame = micros / 1_000_000;
        let part = (micros % 1_000_000) as f32 / 1e6;
        let [a, b] = [frame, frame + 1].map(|frame| {
            let position = POSE_FORMAT.position(self.pose(object, frame));
            [position.x, position.y, position.z]
        });
        std::array::from_fn(|axis| a[axis] + (b[axis] - a[axis]) * part)
    }

    pub fn is_at_rest(&self, object: usize, time: GameTime) -> bool {
        self.pose(object, time.micros() * FRAME_HZ / 1_000_000).flag
    }

    /// Whether it moves within half a second before or after.
    pub fn is_in_play(&self, object: usize, time: GameTime) -> bool {
        let track = &self.objects[object];
        let index = track
            .pose_index((time.micros() * FRAME_HZ / 1_000_000).saturating_sub(self.first_frame));
        let before = index.saturating_sub(IN_PLAY_FRAMES);
        let after = (index + IN_PLAY_FRAMES).min(track.changes.len() - 1);
        track.changes[before] != track.changes[after]
    }

    /// Whether it has moved within this many frames before.
    pub fn has_moved(&self, object: usize, time: GameTime, frames: usize) -> bool {
        let track = &self.objects[object];
        let index = track
            .pose_index((time.micros() * FRAME_HZ / 1_000_000).saturating_sub(self.first_frame));
        track.changes[index.saturating_sub(frames)] != track.changes[index]
    }

    /// Checks that a room's world is this scene, at its current horizon; the error names the first
    /// difference.
    pub fn check_matches(&self, world: &World) -> Result<(), String> {
        let frame = frame_at(world.now());
        for (index, track) in
            self.objects.iter().enumerate().filter(|(index, _)| self.exists(*index, frame))
        {
            let truth = self.pose(index, frame);
            let pose = world.pose(track.id);
            let format = world.pose_format(track.id);
            // Interpolated rooms send the same scene on a coarser grid.
            let off = format.position(&pose).distance(POSE_FORMAT.position(truth));
            if (format == POSE_FORMAT && *truth != pose) || off > 1.0 / f32::from(format.per_metre)
            {
                return Err(format!(
                    "{:?} in frame {frame} is {pose:?}, and should be {truth:?}",
                    track.id
                ));
            }
        }
        Ok(())
    }
}

impl ObjectTrack {
    fn pose_index(&self, frame: u64) -> usize {
        (frame as usize).saturating_sub(self.first_index).min(self.poses.len() - 1)
    }
}
