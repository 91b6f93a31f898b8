//! Sections of the fine level.

use super::objects::{
    BASE, FIXED, FLYING, FREE, FREE_MOVING, SectionObject, TURNED, WALKING, YAW, modes, stopped,
    twelve,
};
use super::{ALL, NUMBER, section};
use crate::pose::{AckedSet, Level, Motion, Pose};
use crate::tests::vectors::test_vector::TestVector;

/// What follows a flying pose.
const FLOWN: Pose = Pose {
    at: [5_101, 3_950, 121],
    turn: [3, 255, 310, 196],
    motion: Motion { linear: [255, -127, -60], angular: [1, 30, -16] },
    ..BASE
};

pub(super) fn vectors() -> Vec<TestVector> {
    let mut all = absolute();
    all.extend(window());
    all.extend(many_objects());
    all
}

fn absolute() -> Vec<TestVector> {
    let one = |name, about, object| section(name, about, Level::Fine, ALL, None, &[object]);
    vec![
        section(
            "fine-empty",
            "No acknowledged set, no reference and no object: the ends alone.",
            Level::Fine,
            None,
            None,
            &[],
        ),
        section(
            "fine-yaw-absolute",
            "One object without a baseline, in a section without an acknowledged set.",
            Level::Fine,
            None,
            None,
            &[SectionObject::absolute(0, YAW, WALKING)],
        ),
        one("fine-fixed-absolute", "No turn.", SectionObject::absolute(0, FIXED, BASE)),
        one("fine-free-absolute", "The whole turn.", SectionObject::absolute(0, FREE, TURNED)),
        one(
            "fine-motion-absolute",
            "Velocities around 0.",
            SectionObject::absolute(0, FREE_MOVING, FLYING),
        ),
        one(
            "fine-motion-absolute-at-rest",
            "The flag is set: there are no velocities.",
            SectionObject::absolute(0, FREE_MOVING, landed()),
        ),
    ]
}

fn window() -> Vec<TestVector> {
    let one = |name, about, object| section(name, about, Level::Fine, ALL, None, &[object]);
    vec![
        one(
            "fine-yaw",
            "Two poses are known.",
            SectionObject::since(
                0,
                YAW,
                vec![(4, Pose { at: [4_972, 3_972, 100], ..WALKING }), (2, WALKING)],
                Pose { at: [5_028, 4_029, 100], turn: [33, 0, 0, 0], ..WALKING },
            ),
        ),
        one(
            "fine-fixed",
            "A step of one unit.",
            SectionObject::window(0, FIXED, BASE, Pose { at: [5_001, 4_000, 100], ..BASE }),
        ),
        one(
            "fine-free-unchanged",
            "Neither position nor turn differ from the baseline.",
            SectionObject::window(0, FREE, TURNED, TURNED),
        ),
        one(
            "fine-free-motion",
            "Position, turn and velocities, predicted from one pose.",
            SectionObject::window(0, FREE_MOVING, FLYING, FLOWN),
        ),
        one(
            "fine-motion-lands",
            "It comes to rest.",
            SectionObject::window(0, FREE_MOVING, FLYING, landed()),
        ),
        one(
            "fine-motion-at-rest",
            "It stays at rest.",
            SectionObject::window(0, FREE_MOVING, landed(), landed()),
        ),
        one(
            "fine-free-old",
            "Mode old: an object without an acknowledged pose in the window.",
            SectionObject::old(0, FREE, TURNED, stopped()),
        ),
    ]
}

fn many_objects() -> Vec<TestVector> {
    vec![
        section("fine-modes", "Each mode after each.", Level::Fine, ALL, None, &modes()),
        section(
            "fine-twelve-objects",
            "Objects of each kind; they predict each other.",
            Level::Fine,
            Some(AckedSet { newest: NUMBER - 2, mask: 0xffff_fff5 }),
            None,
            &twelve(),
        ),
        section(
            "fine-reference",
            "The object in slot 9 comes first, and is the reference of the others.",
            Level::Fine,
            ALL,
            Some(&SectionObject::window(9, FREE_MOVING, FLYING, FLOWN)),
            &[
                SectionObject::window(0, FREE_MOVING, FLYING, FLOWN),
                SectionObject::absolute(10, FREE_MOVING, landed()),
            ],
        ),
    ]
}

fn landed() -> Pose {
    Pose { flag: true, motion: Motion::default(), ..FLOWN }
}
