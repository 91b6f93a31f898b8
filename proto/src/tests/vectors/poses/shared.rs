//! Sections of the shared level.

use super::objects::{
    BASE, FINE_YAW, FIXED, FIXED_MOVING, FLYING, FREE, FREE_MOVING, SectionObject, TURNED, WALKING,
    YAW, modes, stopped, twelve,
};
use super::{ALL, NUMBER, section};
use crate::pose::{AckedSet, Level, MAX_ACKED_DISTANCE, Motion, Pose};
use crate::tests::vectors::test_vector::TestVector;

pub(super) fn vectors() -> Vec<TestVector> {
    let mut all = headers();
    all.extend(yaw());
    all.extend(yaw_and_old_baselines());
    all.extend(absolute());
    all.extend(fixed_and_free());
    all.extend(motion());
    all.extend(many_objects());
    all
}

/// The forms of the acknowledged set, with one object that has not moved.
fn headers() -> Vec<TestVector> {
    let of = |name, about, newest, mask| {
        let object = SectionObject::since(0, YAW, vec![(40, BASE)], BASE);
        let acked = Some(AckedSet { newest, mask });
        section(name, about, Level::Shared, acked, None, &[object])
    };
    vec![
        section(
            "empty",
            "No acknowledged set, and no object: the end alone, at the shared level.",
            Level::Shared,
            None,
            None,
            &[],
        ),
        of(
            "acked-all",
            "The newest acknowledged datagram is 20 back, and so are the 32 before it.",
            NUMBER - 20,
            u32::MAX,
        ),
        of(
            "acked-all-but-one",
            "Shape 0: the one with index 4 has not arrived.",
            NUMBER - 20,
            !(1 << 4),
        ),
        of(
            "acked-below-an-index",
            "Shape 1: those with an index below 20 have arrived.",
            NUMBER - 20,
            (1 << 20) - 1,
        ),
        of("acked-the-newest-alone", "Shape 1 with the index 0.", NUMBER - 40, 0),
        of("acked-mask", "Shape 2: a mask.", NUMBER - 20, 0x8018_0013),
        section(
            "acked-farthest",
            "The newest acknowledged datagram is as far back as it may be.",
            Level::Shared,
            Some(AckedSet { newest: NUMBER - MAX_ACKED_DISTANCE, mask: u32::MAX }),
            None,
            &[SectionObject::since(0, YAW, vec![(MAX_ACKED_DISTANCE, BASE)], BASE)],
        ),
    ]
}

fn yaw() -> Vec<TestVector> {
    let one = |name, about, object| section(name, about, Level::Shared, ALL, None, &[object]);
    let walking = |known: Pose, pose: Pose| SectionObject::window(0, YAW, known, pose);
    vec![
        section(
            "shared-yaw-absolute",
            "One object without a baseline, in a section without an acknowledged set.",
            Level::Shared,
            None,
            None,
            &[SectionObject::absolute(0, YAW, WALKING)],
        ),
        one(
            "shared-yaw-jumped",
            "It has jumped since its known pose, 50 ms before the stamp: without a baseline.",
            SectionObject::jumped(0, YAW, WALKING, BASE, 50),
        ),
        one("shared-yaw-unchanged", "Change 8: nothing at all.", walking(BASE, BASE)),
        one(
            "shared-yaw-straight",
            "It walks on at its speed for 100 ms: two steps of the tables. The buckets have one \
             unit: raw 0.",
            walking(WALKING, stepped(28, 28)),
        ),
        one(
            "shared-yaw-turning",
            "It has turned by -3 steps.",
            walking(WALKING, Pose { turn: [29, 0, 0, 0], ..stepped(29, 27) }),
        ),
        one(
            "shared-yaw-turned-around",
            "It has turned by more than an eighth: the yaw follows.",
            walking(WALKING, Pose { turn: [160, 0, 0, 0], ..stepped(10, 5) }),
        ),
        one(
            "shared-yaw-started",
            "The baseline has no speed; speed and flag change.",
            walking(BASE, Pose { speed: 400, flag: true, at: [5_012, 4_000, 100], ..BASE }),
        ),
        one(
            "shared-yaw-stopped-and-fallen",
            "Speed and height change: 1 + 4.",
            walking(WALKING, Pose { speed: 0, at: [5_003, 4_002, 60], ..WALKING }),
        ),
        one(
            "shared-yaw-teleported",
            "Beyond the buckets, on both sides of the mean.",
            walking(WALKING, stepped(90_000, -3_000)),
        ),
    ]
}

fn yaw_and_old_baselines() -> Vec<TestVector> {
    let one = |name, about, object| section(name, about, Level::Shared, ALL, None, &[object]);
    let old = |ago: u64, pose: Pose| SectionObject::since(0, YAW, vec![(ago, WALKING)], pose);
    vec![
        one(
            "shared-yaw-baseline-of-500-ms",
            "Ten steps, more than the tables have rows; the bucket has several units.",
            old(10, stepped(130, 150)),
        ),
        one(
            "shared-yaw-baseline-of-1000-ms",
            "More than 16 steps: the yaw is raw.",
            old(20, stepped(300, 260)),
        ),
        one(
            "shared-yaw-old",
            "Mode old: the newest pose from before the window, 3.5 s ago.",
            SectionObject::old(0, YAW, WALKING, stepped(900, 800)),
        ),
        one(
            "shared-yaw-fine-grid",
            "A yaw of 12 bits, across 0, and a grid of 1 mm.",
            SectionObject::window(
                0,
                FINE_YAW,
                Pose { turn: [4_090, 0, 0, 0], speed: 4_000, ..BASE },
                Pose { turn: [3, 0, 0, 0], speed: 4_100, at: [5_402, 3_998, 100], ..BASE },
            ),
        ),
    ]
}

fn absolute() -> Vec<TestVector> {
    let of = |name, about, format, pose| {
        let object = SectionObject::absolute(0, format, pose);
        section(name, about, Level::Shared, ALL, None, &[object])
    };
    vec![
        of(
            "shared-fixed-absolute",
            "Numbers of one bit (raw 0 after the sign), of none, and of more than 15 below the \
             highest.",
            FIXED,
            Pose { at: [1, 0, -100_000], ..Pose::default() },
        ),
        of("shared-free-absolute", "The whole turn, raw.", FREE, TURNED),
        of("shared-motion-absolute", "Velocities relative to 0.", FREE_MOVING, FLYING),
        of(
            "shared-motion-absolute-at-rest",
            "The flag is set: there are no velocities.",
            FREE_MOVING,
            stopped(),
        ),
    ]
}

fn fixed_and_free() -> Vec<TestVector> {
    let of = |name, about, format, known, pose| {
        let object = SectionObject::window(0, format, known, pose);
        section(name, about, Level::Shared, ALL, None, &[object])
    };
    vec![
        of("shared-fixed-unchanged", "Changes 0: one symbol.", FIXED, BASE, BASE),
        of(
            "shared-fixed-steps-of-one",
            "Steps of 1, 0 and -1: after the sign, raw 0 is a symbol as wide as the total. It \
             rounds the range.",
            FIXED,
            BASE,
            Pose { at: [5_001, 4_000, 99], ..BASE },
        ),
        of(
            "shared-free-turned",
            "Changes 2: the turn alone, with the same largest component.",
            FREE,
            TURNED,
            Pose { turn: [3, 256, 298, 200], ..TURNED },
        ),
        of(
            "shared-free-tipped",
            "Changes 7: position, turn and flag; another component is the largest.",
            FREE,
            TURNED,
            Pose { at: [5_010, 3_999, 100], turn: [2, 200, 300, 400], flag: true, ..BASE },
        ),
        section(
            "shared-free-old",
            "Mode old.",
            Level::Shared,
            ALL,
            None,
            &[SectionObject::old(0, FREE, TURNED, stopped())],
        ),
    ]
}

fn motion() -> Vec<TestVector> {
    let of = |name, about, format, known, pose| {
        let object = SectionObject::window(0, format, known, pose);
        section(name, about, Level::Shared, ALL, None, &[object])
    };
    vec![
        of(
            "shared-fixed-motion",
            "Position and velocities; the angular ones are predicted to be 0.",
            FIXED_MOVING,
            Pose { motion: FLYING.motion, ..BASE },
            Pose {
                at: [5_003, 3_998, 101],
                motion: Motion { linear: [260, -128, 0], angular: [0, 32, -16] },
                ..BASE
            },
        ),
        of(
            "shared-free-motion",
            "Position, turn and velocities.",
            FREE_MOVING,
            FLYING,
            Pose {
                at: [5_101, 3_950, 121],
                turn: [3, 255, 310, 196],
                motion: Motion { linear: [255, -127, -60], angular: [1, 30, -16] },
                ..BASE
            },
        ),
        of(
            "shared-motion-lands",
            "It comes to rest: position and flag change, and there are no velocities.",
            FREE_MOVING,
            FLYING,
            stopped(),
        ),
        of(
            "shared-motion-starts",
            "It was at rest; the flag changes, and velocities follow.",
            FREE_MOVING,
            stopped(),
            Pose { at: [5_092, 3_960, 105], ..FLYING },
        ),
        of(
            "shared-motion-at-rest",
            "It stays at rest: changes 0.",
            FREE_MOVING,
            stopped(),
            stopped(),
        ),
    ]
}

fn many_objects() -> Vec<TestVector> {
    vec![
        section(
            "shared-slots",
            "Gaps between slots: none before 0, 1 before 2 (no bits below the highest), 5 before \
             8, up to the highest slot.",
            Level::Shared,
            ALL,
            None,
            &[0, 2, 8, 9, 65_535].map(|slot| SectionObject::window(slot, YAW, BASE, BASE)),
        ),
        section(
            "shared-modes",
            "Each mode after each; the weights are those of the mode before.",
            Level::Shared,
            ALL,
            None,
            &modes(),
        ),
        section(
            "shared-twelve-objects",
            "Objects of each kind. Slots 4 to 7 have newer poses that the acknowledged set does \
             not name: they are no baselines.",
            Level::Shared,
            Some(AckedSet { newest: NUMBER - 2, mask: 0xffff_fff5 }),
            None,
            &twelve(),
        ),
    ]
}

/// The walking pose, moved by `x` and `y` units.
fn stepped(x: i32, y: i32) -> Pose {
    let [from_x, from_y, z] = WALKING.at;
    Pose { at: [from_x + x, from_y + y, z], ..WALKING }
}
