//! Where headings point: a table for each number of bits that the kinds of a schema have.
//!
//! Sight asks where its viewer faces for each object, and a sine and a cosine would be a tenth of
//! what that costs. Memory: 8 bytes for each heading, 2 KiB for 8 bits, 32 KiB for 12.

use ambit_proto::pose::{Pose, PoseFormat, Turning};
use ambit_proto::schema::Schema;

/// The most bits that a heading has.
const MAX_BITS: usize = 12;

/// Unit vectors on (x, y), by the bits of a heading and by the heading; see the module.
#[derive(Debug)]
pub(super) struct Headings([Vec<[f32; 2]>; MAX_BITS + 1]);

impl Headings {
    /// For all poses of a schema that is valid.
    pub(super) fn new(schema: &Schema) -> Self {
        let mut tables: [Vec<[f32; 2]>; MAX_BITS + 1] = Default::default();
        for format in schema.kinds.iter().filter_map(|kind| kind.pose_format()) {
            if let Turning::Yaw { bits } = format.turn {
                tables[usize::from(bits)] = (0..1 << bits).map(|yaw| unit(format, yaw)).collect();
            }
        }
        Self(tables)
    }

    /// Where a heading of a pose of the schema points.
    #[inline]
    pub(super) fn unit(&self, bits: u8, yaw: u16) -> [f32; 2] {
        self.0[usize::from(bits)][usize::from(yaw)]
    }
}

fn unit(format: &PoseFormat, yaw: u16) -> [f32; 2] {
    let (sin, cos) = format.yaw(&Pose { turn: [yaw, 0, 0, 0], ..Pose::default() }).sin_cos();
    [cos, sin]
}

#[cfg(test)]
mod tests {
    use ambit_proto::schema::{Codec, ComponentSpec, ObjectKind};

    use super::*;

    #[test]
    fn each_heading_of_a_schema_points_where_its_angle_says() {
        let format =
            |bits| PoseFormat { per_metre: 100, turn: Turning::Yaw { bits }, motion: None };
        let kind = |bits| ObjectKind {
            components: vec![ComponentSpec::public("pose", Codec::Pose(format(bits)))],
            ..ObjectKind::default()
        };
        let schema = Schema { kinds: vec![kind(4), kind(12)], ..Schema::default() };
        let headings = Headings::new(&schema);
        for (bits, last) in [(4, 15), (12, 4_095)] {
            for yaw in 0..=last {
                let pose = Pose { turn: [yaw, 0, 0, 0], ..Pose::default() };
                let (sin, cos) = format(bits).yaw(&pose).sin_cos();
                assert_eq!(headings.unit(bits, yaw), [cos, sin], "{yaw} of {bits} bits");
            }
        }
        assert_eq!(headings.unit(12, 0), [1.0, 0.0]);
    }
}
