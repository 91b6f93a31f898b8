//! What a player of `shooter` sees of the ships of others: how far from the truth, how smooth, how
//! old, and for how many bytes.
//!
//! One player flies in curves among others, and sees a screen of 60 frames a second.
//! Deterministic: all chance comes from the seed.
//!
//! Units: metres, simulated time, bytes with all overhead.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::stats::Distribution;
use ambit_client_core::replica::PoseDecoding;
use ambit_proto::ids::{ObjectId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::schema::Controls as _;
use ambit_proto::space::Position;
use ambit_shooter_kinds::ShipControl;

use crate::measured_room::test_registry;
use crate::shooting::FRAME;
use crate::sim::{System, wire};

/// A ship that is shown within that much of where it is, in grid units of 1/256 m, is not old.
const NEAR_ENOUGH: u32 = 128;
/// A player changes its keys once in this number of frames, on average: it flies straight on, or
/// turns.
const DECIDES: u32 = 42;

/// What was seen.
#[derive(Debug, Default)]
pub struct ShipsSeen {
    /// From where a ship is drawn to where it was at the time that is shown, for each ship and
    /// frame.
    errors_m: Vec<f32>,
    flown_m: f64,
    /// By how much that changed from one frame to the next.
    jumps_m: Vec<f32>,
    /// For how long what would be shown has been more than half a metre off.
    pub ages: Distribution,
    /// To the player, in all.
    pub bytes_per_s: u64,
    /// Datagrams to the player.
    pub datagrams_per_s: u64,
    /// Poses to the player, in all.
    pub poses_per_s: u64,
    /// Ships of others in sight, on average.
    pub in_sight: f64,
    /// How far they fly in a second, on average.
    pub metres_per_s: f64,
}

impl ShipsSeen {
    /// Flies for some time, in a room with these parameters.
    pub fn watch(
        seed: u64,
        line: &str,
        (others, parameters): (usize, &[(&str, &str)]),
        seconds: u64,
    ) -> Self {
        let mut system = System::new(seed, &test_registry());
        let line = line.parse().expect("a valid impairment");
        let user = system.add_user("watcher", &line);
        let light = |number: usize| ClientConfig {
            name: format!("player{number}"),
            pose_decoding: PoseDecoding::Light,
            ..ClientConfig::default()
        };
        let others = (0..others).map(|number| system.add_user_with(light(number), &line));
        let users: Vec<usize> = std::iter::once(user).chain(others).collect();
        let room = system.start_room(&users, "shooter", parameters);
        system.run_for(Duration::from_secs(4));
        system.user_mut(user).sent_datagrams = Some(Vec::new());
        let poses = system.user(user).client.stats().poses;
        let mut seen = Self::default();
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut before: BTreeMap<ObjectId, [f32; 3]> = BTreeMap::new();
        let frames = seconds * 60;
        let mut ships = 0;
        for frame in 0..frames {
            for &user in &users {
                if rng.u32(..DECIDES) == 0 {
                    let turn = [ShipControl::TurnLeft, ShipControl::TurnRight][rng.usize(..2)];
                    let held = Keymap(0).with(ShipControl::Accelerate.index(), true);
                    system.hold_keys(user, held.with(turn.index(), rng.bool()));
                }
            }
            system.run_for(FRAME);
            let offsets = seen.look(&system, room, user, frame % 3 == 0);
            ships += offsets.len();
            for (object, offset) in &offsets {
                seen.errors_m.push(length(*offset));
                if let Some(earlier) = before.get(object) {
                    let change = std::array::from_fn(|axis| offset[axis] - earlier[axis]);
                    seen.jumps_m.push(length(change));
                }
            }
            before = offsets;
        }
        let user = system.user(user);
        let sent = user.sent_datagrams.as_ref().expect("recorded");
        seen.bytes_per_s = wire::bytes(sent) / seconds;
        seen.datagrams_per_s = sent.len() as u64 / seconds;
        seen.poses_per_s = (user.client.stats().poses - poses) / seconds;
        seen.metres_per_s = seen.flown_m * 60.0 / ships.max(1) as f64;
        seen.in_sight = ships as f64 / frames as f64;
        seen.errors_m.sort_by(f32::total_cmp);
        seen.jumps_m.sort_by(f32::total_cmp);
        seen
    }

    /// The error below which a share of all lies, in metres.
    pub fn error_m(&self, share: f64) -> f32 {
        quantile(&self.errors_m, share)
    }

    /// The change of the error from frame to frame below which a share of all lies, in metres.
    pub fn jump_m(&self, share: f64) -> f32 {
        quantile(&self.jumps_m, share)
    }

    /// From where each ship was at the time that is shown to where it is drawn.
    fn look(
        &mut self,
        system: &System,
        room: RoomId,
        user: usize,
        samples_ages: bool,
    ) -> BTreeMap<ObjectId, [f32; 3]> {
        let oracle = system.pose_oracle(room).expect("the room has ticked");
        let client = &system.user(user).client;
        let room = system.room(room).expect("the room runs");
        let viewer = room.network().viewers().next().map(|viewer| viewer.client);
        let (Some(viewer), Some(t)) = (viewer, client.room_time(system.local_time(user))) else {
            return BTreeMap::new();
        };
        let mut offsets = BTreeMap::new();
        for (object, ship) in oracle.shown_objects(viewer, client) {
            if ship.is_own() || &**ship.kind() != "ship" {
                continue;
            }
            if samples_ages {
                self.ages.add(oracle.age(object, Some(&ship), NEAR_ENOUGH));
            }
            let Some(drawn) = ship.drawn(t) else { continue };
            let [x, y, z] = drawn.linear;
            self.flown_m += f64::from(length([x, y, z]) * FRAME.as_secs_f32());
            let Some(pose) = oracle.true_pose(room, object, drawn.room_time) else { continue };
            let truth = room.world().pose_format(object).position(&pose);
            let Position { x, y, z } = drawn.position;
            offsets.insert(object, [x - truth.x, y - truth.y, z - truth.z]);
        }
        offsets
    }
}

fn length([x, y, z]: [f32; 3]) -> f32 {
    (x * x + y * y + z * z).sqrt()
}

fn quantile(sorted: &[f32], share: f64) -> f32 {
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((last * share).round() as usize).copied().unwrap_or_default()
}
