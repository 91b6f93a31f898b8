//! The pose section of a client with the coding `plain`: whole poses, bit by bit.
//!
//! [`super`] describes the bits. A section is read with the schema alone: no baselines, no
//! acknowledged sets, and nothing that a lost datagram could make unreadable. A server writes it
//! pose by pose, as far as its budget allows; a client reads it whole.

use super::record::wire_kind;
use crate::ids::Alias;
use crate::pose::{MAX_JUMP_AGE_MS, Pose, PoseFormat};
use crate::schema::Schema;
use crate::wire::{Coder, Measure, Reader, WRITE_CANNOT_FAIL, Wire, WireError, Writer};

/// Width of the age of a jump.
const JUMP_AGE_BITS: u32 = 16 - MAX_JUMP_AGE_MS.leading_zeros();

/// A pose of a plain section, with the object that it is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainPose {
    /// The client's identifier for the object.
    pub alias: Alias,
    /// Index of the object's kind in the schema: it gives the length of the pose.
    pub kind: u8,
    /// On the grid of the kind.
    pub pose: Pose,
    /// The object has jumped since the poses that the client is known to have: the jump's time in
    /// milliseconds before the datagram's stamp; [`MAX_JUMP_AGE_MS`] at most.
    pub jumped_ms: Option<u16>,
}

impl PlainPose {
    /// Its length in a section, in bits.
    ///
    /// # Panics
    /// When the pose does not fit this format: a bug.
    pub fn bits(&self, format: &PoseFormat) -> usize {
        let mut measure = Measure::new();
        self.write(format, &mut measure);
        measure.bits()
    }

    /// How many of these bits are not the pose itself.
    pub fn head_bits(&self) -> usize {
        let mut measure = Measure::new();
        { *self }.wire_head(&mut measure).expect(WRITE_CANNOT_FAIL);
        1 + measure.bits()
    }

    /// Adds it to a section.
    ///
    /// # Panics
    /// When the pose does not fit this format: a bug.
    pub fn write(&self, format: &PoseFormat, coder: &mut impl Coder) {
        debug_assert!(format.fits(&self.pose), "{self:?} is of another format");
        coder
            .flag(&mut true)
            .and_then(|()| { *self }.wire(|_| Some(format), coder))
            .expect(WRITE_CANNOT_FAIL);
    }

    fn wire<'s, C: Coder>(
        &mut self,
        format: impl FnOnce(u8) -> Option<&'s PoseFormat>,
        coder: &mut C,
    ) -> Result<(), WireError> {
        self.wire_head(coder)?;
        let format = format(self.kind).ok_or_else(|| WireError::Unknown {
            what: "kind with poses",
            value: self.kind.into(),
        })?;
        format.wire(&mut self.pose, coder)?;
        let mut has_jumped = self.jumped_ms.is_some();
        coder.flag(&mut has_jumped)?;
        let mut age_ms = u64::from(self.jumped_ms.unwrap_or_default());
        if has_jumped {
            coder.bits(&mut age_ms, JUMP_AGE_BITS)?;
        }
        self.jumped_ms = has_jumped.then_some(age_ms as u16);
        Ok(())
    }

    fn wire_head(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.alias.wire(coder)?;
        wire_kind(&mut self.kind, coder)
    }
}

/// Ends a section, and with it the datagram.
pub fn end_plain_poses(mut writer: Writer<'_>) {
    writer.flag(&mut false).expect(WRITE_CANNOT_FAIL);
    writer.finish();
}

/// Reads a section and appends its poses to `out`. What was read before an error is in `out`, and
/// is valid.
pub fn read_plain_poses(
    bytes: &[u8],
    schema: &Schema,
    out: &mut Vec<PlainPose>,
) -> Result<(), WireError> {
    let mut reader = Reader::new(bytes);
    read_to_end(&mut reader, schema, out)?;
    reader.finish()
}

fn read_to_end(
    coder: &mut impl Coder,
    schema: &Schema,
    out: &mut Vec<PlainPose>,
) -> Result<(), WireError> {
    let mut more = true;
    loop {
        coder.flag(&mut more)?;
        if !more {
            return Ok(());
        }
        let mut pose = PlainPose::default();
        pose.wire(|kind| schema.kind(kind)?.pose_format(), coder)?;
        out.push(pose);
    }
}

/// Reads, writes or measures the poses of a section, and its end.
#[cfg(any(test, feature = "dev-tools"))]
pub(crate) fn wire_plain_poses<C: Coder>(
    poses: &mut Vec<PlainPose>,
    schema: &Schema,
    coder: &mut C,
) -> Result<(), WireError> {
    if C::READS {
        return read_to_end(coder, schema, poses);
    }
    for pose in poses {
        let format = schema.kind(pose.kind).and_then(|kind| kind.pose_format());
        pose.write(format.expect("a kind with poses"), coder);
    }
    coder.flag(&mut false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::messages::any_plain_poses;
    use crate::space::Position;

    #[test]
    fn the_writer_produces_the_documented_example() {
        let schema = Schema::example_with_poses();
        let mut pose =
            PlainPose { alias: Alias { slot: 1, epoch: 2 }, kind: 2, ..PlainPose::default() };
        let yaw = std::f32::consts::FRAC_PI_2;
        let speed_m_s = 4.0;
        pose.pose = pose_format(&schema, &pose).pose(Position::on_ground(5.0, 6.0), yaw, speed_m_s);
        let printed: Vec<String> =
            section(&schema, &[pose]).iter().map(|byte| format!("{byte:02x}")).collect();
        let documented = format!("`{}`", printed.join(" "));
        assert!(include_str!("../message.rs").contains(&documented), "{documented}");
    }

    #[test]
    fn a_section_reads_back_and_takes_the_announced_bits() {
        let schema = Schema::example_with_poses();
        for seed in 0..200 {
            let poses = any_plain_poses(&schema, &mut fastrand::Rng::with_seed(seed));
            let bits: usize = poses.iter().map(|pose| pose.bits(pose_format(&schema, pose))).sum();
            let bytes = section(&schema, &poses);
            assert_eq!(bytes.len(), (bits + 1).div_ceil(8), "seed {seed}");
            assert_eq!(read(&bytes, &schema), (poses.clone(), Ok(())));
            // Cut short, what comes out is right as far as it goes.
            for length in 0..bytes.len() {
                let (whole, result) = read(&bytes[..length], &schema);
                assert_eq!(whole[..], poses[..whole.len()], "seed {seed}");
                assert!(result.is_err(), "seed {seed}: {length} bytes");
            }
        }
    }

    #[test]
    fn what_is_read_from_faulty_bytes_are_poses_of_their_formats() {
        let schema = Schema::example_with_poses();
        for seed in 0..2_000 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut bytes = section(&schema, &any_plain_poses(&schema, &mut rng));
            let index = rng.usize(..bytes.len());
            bytes[index] ^= 1 << rng.u8(..8);
            for pose in read(&bytes, &schema).0 {
                assert!(pose_format(&schema, &pose).fits(&pose.pose), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_kind_without_poses_and_bits_behind_the_end_are_refused() {
        let schema = Schema::example_with_poses();
        let mut kinds = (0..).zip(&schema.kinds);
        let without = kinds.find(|(_, kind)| kind.pose_format().is_none());
        let mut pose =
            PlainPose { kind: without.expect("a kind with a path").0, ..PlainPose::default() };
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        writer.flag(&mut true).expect(WRITE_CANNOT_FAIL);
        pose.wire_head(&mut writer).expect(WRITE_CANNOT_FAIL);
        end_plain_poses(writer);
        let unknown = WireError::Unknown { what: "kind with poses", value: pose.kind.into() };
        assert_eq!(read(&bytes, &schema), (Vec::new(), Err(unknown)));
        for bytes in [[0b10].as_slice(), &[0, 0]] {
            let refused = Err(WireError::TrailingBits);
            assert_eq!(read(bytes, &schema), (Vec::new(), refused));
        }
    }

    fn section(schema: &Schema, poses: &[PlainPose]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        for pose in poses {
            pose.write(pose_format(schema, pose), &mut writer);
        }
        end_plain_poses(writer);
        bytes
    }

    fn pose_format<'s>(schema: &'s Schema, pose: &PlainPose) -> &'s PoseFormat {
        let kind = schema.kind(pose.kind);
        kind.and_then(|kind| kind.pose_format()).expect("a kind with poses")
    }

    fn read(bytes: &[u8], schema: &Schema) -> (Vec<PlainPose>, Result<(), WireError>) {
        let mut poses = Vec::new();
        let result = read_plain_poses(bytes, schema, &mut poses);
        (poses, result)
    }
}
