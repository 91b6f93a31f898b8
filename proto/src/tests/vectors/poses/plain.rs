//! Sections of the coding `plain`.

use super::objects::{
    BASE, FINE_YAW, FIXED, FIXED_MOVING, FLYING, FREE, FREE_MOVING, TURNED, WALKING, YAW, stopped,
};
use crate::ids::Alias;
use crate::message::{PlainPose, end_plain_poses, read_plain_poses};
use crate::pose::{MAX_AT, Motion, Pose, PoseFormat};
use crate::schema::{Codec, ComponentSpec, ObjectKind, Schema};
use crate::tests::vectors::json::{Json, object};
use crate::tests::vectors::test_vector::TestVector;
use crate::tests::vectors::values;
use crate::wire::Writer;

/// A kind for each, by index.
const FORMATS: [PoseFormat; 6] = [YAW, FINE_YAW, FREE, FIXED, FREE_MOVING, FIXED_MOVING];

pub(super) fn vectors() -> Vec<TestVector> {
    let one = |name, about, kind, pose| section(name, about, &[(kind, alias(1, 2), pose)]);
    let far = Pose {
        at: [-MAX_AT, MAX_AT, -1],
        turn: [4_095, 0, 0, 0],
        speed: i16::MIN,
        flag: true,
        ..BASE
    };
    vec![
        section("plain-empty", "The end alone, and its padding.", &[]),
        one("plain-yaw", "A walker: x, y, z, yaw, speed, flag.", 0, WALKING),
        one("plain-extremes", "The farthest positions, the fastest speed backwards.", 1, far),
        one("plain-free", "Turned freely: the largest component, then the others.", 2, TURNED),
        one("plain-fixed", "A format that does not turn.", 3, BASE),
        one("plain-motion", "Velocities, since the flag is 0.", 4, FLYING),
        one("plain-motion-at-rest", "No velocities, since the flag is 1.", 4, stopped()),
        after_jump(
            "plain-jumped",
            "It has been there since a jump, 150 ms before the stamp.",
            &[(0, alias(1, 2), WALKING)],
            Some(150),
        ),
        section(
            "plain-several-objects",
            "Of several kinds, and with slots of one to four groups.",
            &[
                (3, alias(0, 0), BASE),
                (0, alias(17, 255), WALKING),
                (4, alias(300, 1), FLYING),
                (
                    5,
                    alias(65_535, 3),
                    Pose { motion: Motion { linear: [-1, 0, 1], angular: [0; 3] }, ..BASE },
                ),
            ],
        ),
    ]
}

fn section(name: &'static str, about: &'static str, objects: &[(u8, Alias, Pose)]) -> TestVector {
    after_jump(name, about, objects, None)
}

/// How long ago all objects have jumped.
fn after_jump(
    name: &'static str,
    about: &'static str,
    objects: &[(u8, Alias, Pose)],
    jumped_ms: Option<u16>,
) -> TestVector {
    let schema = schema();
    let poses: Vec<PlainPose> = objects
        .iter()
        .map(|&(kind, alias, pose)| PlainPose { alias, kind, pose, jumped_ms })
        .collect();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    for pose in &poses {
        let format = &FORMATS[usize::from(pose.kind)];
        assert!(format.fits(&pose.pose), "{name}");
        pose.write(format, &mut writer);
    }
    end_plain_poses(writer);
    let mut read = Vec::new();
    let result = read_plain_poses(&bytes, &schema, &mut read);
    assert_eq!((result, &read), (Ok(()), &poses), "{name}");
    let values = read.iter().map(|read| {
        object! {
            alias: values::alias(read.alias),
            kind: read.kind,
            pose: values::pose(&FORMATS[usize::from(read.kind)], &read.pose),
            jumped_ms: read.jumped_ms,
        }
    });
    TestVector {
        name,
        about,
        context: object! {
            from: "server",
            part: "plain pose section",
            kinds: FORMATS.iter().map(values::pose_format).collect::<Json>(),
        },
        value: object! { poses: values.collect::<Json>() },
        bytes,
    }
}

fn schema() -> Schema {
    let kinds = FORMATS.iter().map(|format| ObjectKind {
        components: vec![ComponentSpec::public("pose", Codec::Pose(*format))],
        ..ObjectKind::default()
    });
    Schema { kinds: kinds.collect(), ..Schema::default() }
}

fn alias(slot: u16, epoch: u8) -> Alias {
    Alias { slot, epoch }
}
