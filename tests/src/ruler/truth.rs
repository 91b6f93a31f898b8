//! What really happened: the scene, frame by frame.
//!
//! The game runs by itself, without clients or network: the same seed, and players who join at the
//! same frames, give the same scene as in a room, since they are driven by dice. [`Truth::holds`]
//! says whether a room's world is that scene. Frames count from the beginning of the room's
//! physics; between two of them lies the straight line.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_game_server::logic::registry::Registry;
use ambit_game_server::logic::world::World;
use ambit_game_server::record::Header;
use ambit_proto::games::cubes::{FORMAT, FRAMES_PER_S, frame_at, time_of};
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::pose::Pose;
use ambit_proto::time::GameTime;

/// Frames a second.
pub const HZ: u64 = FRAMES_PER_S;
/// What has moved so many frames before or after is in play.
const IN_PLAY_FRAMES: usize = 30;

/// Who joins when: the frame after whose step the player's cube is there.
pub type Joins = Vec<(u64, PlayerId)>;

/// See the module.
#[derive(Debug)]
pub struct Truth {
    first: u64,
    /// By object, in the order of birth.
    tracks: Vec<Track>,
}

#[derive(Debug)]
struct Track {
    id: ObjectId,
    /// The frame of its first pose, counted from the truth's.
    born: usize,
    poses: Vec<Pose>,
    /// By frame, how many frames up to it had another pose than the one before.
    changes: Vec<u32>,
}

impl Truth {
    /// The scene of these parameters, in the frames from `first` to `last`.
    pub fn of(
        seed: u64,
        parameters: &BTreeMap<String, String>,
        first: u64,
        joins: &Joins,
        last: u64,
    ) -> Self {
        let mut parameters = parameters.clone();
        parameters.insert("tick".into(), HZ.to_string());
        parameters.insert("sync".into(), "simulated".into());
        let header = Header {
            seed,
            game: "cubes".into(),
            parameters,
            capacity: 64,
            ..Header::default()
        };
        let (config, mut game) = Registry::standard()
            .prepare(&header)
            .expect("a room that can be made");
        let mut world = World::new(&config, game.schema());
        let mut truth = Truth {
            first,
            tracks: Vec::new(),
        };
        let mut joins = joins.iter().peekable();
        for frame in first..=last {
            world.begin_tick(time_of(frame));
            if frame == first {
                game.start(&mut world);
            }
            while let Some((_, player)) = joins.next_if(|join| join.0 <= frame) {
                let avatar = game.join(&mut world, *player, "player");
                world.set_owner(avatar, *player);
            }
            game.step(&mut world, Duration::from_secs(1) / HZ as u32);
            world.finish_tick();
            world.drain_changes(&mut Vec::new());
            truth.note(frame, &world);
        }
        truth
    }

    /// One that is noted frame by frame, from `first` on, of a room that ticks 60 times a second.
    pub fn watching(first: u64) -> Self {
        Truth {
            first,
            tracks: Vec::new(),
        }
    }

    /// The world is in this frame, the one after that which was noted last.
    pub fn note(&mut self, frame: u64, world: &World) {
        let now = (frame - self.first) as usize;
        assert!(
            self.tracks
                .first()
                .is_none_or(|track| track.poses.len() == now),
            "frame {frame} is not the next one"
        );
        let known = self.tracks.len();
        for id in world.objects().skip(known) {
            self.tracks.push(Track {
                id,
                born: now,
                poses: Vec::new(),
                changes: Vec::new(),
            });
        }
        for track in &mut self.tracks {
            let pose = world.pose(track.id);
            let changed = track.poses.last().is_some_and(|before| *before != pose);
            track
                .changes
                .push(track.changes.last().copied().unwrap_or(0) + u32::from(changed));
            track.poses.push(pose);
        }
    }

    /// The last frame that is known.
    pub fn last(&self) -> u64 {
        self.first
            + self
                .tracks
                .iter()
                .map(|track| track.born + track.poses.len())
                .max()
                .unwrap_or(1) as u64
            - 1
    }

    /// How many objects there ever are.
    pub fn objects(&self) -> usize {
        self.tracks.len()
    }

    /// The number of a room's object.
    pub fn index_of(&self, object: ObjectId) -> Option<usize> {
        self.tracks.iter().position(|track| track.id == object)
    }

    /// The pose in a frame, or the nearest that there is.
    pub fn pose(&self, object: usize, frame: u64) -> &Pose {
        let track = &self.tracks[object];
        &track.poses[track.index(frame.saturating_sub(self.first))]
    }

    /// Whether the object is there in a frame.
    pub fn is_there(&self, object: usize, frame: u64) -> bool {
        self.first + self.tracks[object].born as u64 <= frame
    }

    /// Where an object is.
    pub fn at(&self, object: usize, time: GameTime) -> [f32; 3] {
        let micros = time.micros() * HZ;
        let (frame, part) = (micros / 1_000_000, (micros % 1_000_000) as f32 / 1e6);
        let [a, b] = [frame, frame + 1].map(|frame| {
            let place = FORMAT.position(self.pose(object, frame));
            [place.x, place.y, place.z]
        });
        std::array::from_fn(|axis| a[axis] + (b[axis] - a[axis]) * part)
    }

    /// Whether it lies still.
    pub fn rests(&self, object: usize, time: GameTime) -> bool {
        self.pose(object, time.micros() * HZ / 1_000_000).flag
    }

    /// Whether it moves a little before or after.
    pub fn is_in_play(&self, object: usize, time: GameTime) -> bool {
        let track = &self.tracks[object];
        let index = track.index((time.micros() * HZ / 1_000_000).saturating_sub(self.first));
        let (before, after) = (
            index.saturating_sub(IN_PLAY_FRAMES),
            (index + IN_PLAY_FRAMES).min(track.changes.len() - 1),
        );
        track.changes[before] != track.changes[after]
    }

    /// Whether it has moved in so many frames before.
    pub fn has_moved(&self, object: usize, time: GameTime, frames: usize) -> bool {
        let track = &self.tracks[object];
        let index = track.index((time.micros() * HZ / 1_000_000).saturating_sub(self.first));
        track.changes[index.saturating_sub(frames)] != track.changes[index]
    }

    /// Whether a room's world is this scene, at its present horizon; if not, what differs first.
    pub fn holds(&self, world: &World) -> Result<(), String> {
        let frame = frame_at(world.now());
        for (index, track) in self
            .tracks
            .iter()
            .enumerate()
            .filter(|(index, _)| self.is_there(*index, frame))
        {
            let (truth, pose) = (self.pose(index, frame), world.pose(track.id));
            let format = world.pose_format(track.id);
            // Rooms that are interpolated tell the same scene on a coarser grid.
            let off = format.position(&pose).distance(FORMAT.position(truth));
            if (format == FORMAT && *truth != pose) || off > 1.0 / f32::from(format.per_metre) {
                return Err(format!(
                    "{:?} in frame {frame} is {pose:?}, and should be {truth:?}",
                    track.id
                ));
            }
        }
        Ok(())
    }
}

impl Track {
    fn index(&self, frame: u64) -> usize {
        (frame as usize)
            .saturating_sub(self.born)
            .min(self.poses.len() - 1)
    }
}
