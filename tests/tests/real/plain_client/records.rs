//! The body of a datagram: stamp, records, poses.

use ambit_proto::control::game::component::Codec;
use ambit_proto::control::game::field::Type;
use ambit_proto::control::game::pose::Turn;
use ambit_proto::control::game::{Kind, Pose as PoseFormat, Rows, Schema};
use anyhow::{Context, Result, bail, ensure};

use super::bits::BitReader;

/// An object's identifier at this client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alias {
    pub(super) slot: u64,
    pub(super) epoch: u8,
}

/// A pose, in the units of its grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WholePose {
    pub(super) at: [i64; 3],
    pub(super) flag: bool,
}

/// What a body says about an object.
#[derive(Debug)]
pub(super) enum Notice {
    Enter { alias: Alias, kind: usize, is_own: bool, pose: Option<WholePose> },
    Leave(Alias),
    Pose { alias: Alias, kind: usize, pose: WholePose },
}

/// Reads bodies of a game with this schema.
pub(super) struct BodyReader<'s> {
    pub(super) schema: &'s Schema,
    pub(super) delay_ms: u64,
}

impl BodyReader<'_> {
    /// Appends what a body says to `out`, and returns its stamp. `now_ms` is the estimated room
    /// time.
    pub(super) fn read(
        &self,
        mut reader: BitReader<'_>,
        now_ms: u64,
        out: &mut Vec<Notice>,
    ) -> Result<u64> {
        let stamp = nearest_time(reader.bits(24)?, now_ms);
        while reader.flag()? {
            self.read_record(&mut reader, stamp, out)?;
        }
        reader.align()?;
        if reader.left() > 0 {
            self.read_poses(&mut reader, out)?;
        }
        Ok(stamp)
    }

    fn read_record(
        &self,
        reader: &mut BitReader<'_>,
        stamp: u64,
        out: &mut Vec<Notice>,
    ) -> Result<()> {
        let horizon = stamp + self.delay_ms;
        match reader.bits(2)? {
            0 => {
                let (alias, (kind, spec)) = (read_alias(reader)?, self.read_kind(reader)?);
                read_time(reader, horizon)?;
                let is_own = reader.flag()?;
                let pose = read_components(reader, spec, stamp)?;
                out.push(Notice::Enter { alias, kind, is_own, pose });
            }
            1 => {
                let (alias, (kind, spec)) = (read_alias(reader)?, self.read_kind(reader)?);
                read_time(reader, horizon)?;
                let pose = read_components(reader, spec, stamp)?;
                out.extend(pose.map(|pose| Notice::Pose { alias, kind, pose }));
            }
            2 => {
                out.push(Notice::Leave(read_alias(reader)?));
                read_time(reader, horizon)?;
            }
            _ => {
                // When inputs take effect: this client predicts nothing.
                let count = reader.bits(3)? + 1;
                read_time(reader, stamp)?;
                read_time(reader, horizon)?;
                for _ in 1..count {
                    reader.varint()?;
                    reader.varint()?;
                }
            }
        }
        Ok(())
    }

    /// A section of the coding `PLAIN`.
    fn read_poses(&self, reader: &mut BitReader<'_>, out: &mut Vec<Notice>) -> Result<()> {
        while reader.flag()? {
            let (alias, (kind, spec)) = (read_alias(reader)?, self.read_kind(reader)?);
            let format = pose_format(spec).context("a kind with poses")?;
            let pose = read_pose(reader, format)?;
            // Whether it has jumped, and how many milliseconds ago: this client draws no way.
            if reader.flag()? {
                reader.bits(12)?;
            }
            out.push(Notice::Pose { alias, kind, pose });
        }
        reader.align()?;
        ensure!(reader.left() == 0, "bytes follow the poses");
        Ok(())
    }

    fn read_kind(&self, reader: &mut BitReader<'_>) -> Result<(usize, &Kind)> {
        let index = reader.bits(6)? as usize;
        let kind = self.schema.kinds.get(index).context("a kind of the schema")?;
        Ok((index, kind))
    }
}

/// The format of a kind's poses.
pub(super) fn pose_format(kind: &Kind) -> Option<&PoseFormat> {
    match kind.components.first()?.codec.as_ref()? {
        Codec::Pose(format) => Some(format),
        _ => None,
    }
}

fn read_alias(reader: &mut BitReader<'_>) -> Result<Alias> {
    Ok(Alias { slot: reader.varint()?, epoch: reader.bits(8)? as u8 })
}

fn read_time(reader: &mut BitReader<'_>, base_ms: u64) -> Result<u64> {
    Ok(base_ms.saturating_add_signed(reader.signed()?))
}

/// Of the components this client needs only the pose.
fn read_components(
    reader: &mut BitReader<'_>,
    kind: &Kind,
    stamp: u64,
) -> Result<Option<WholePose>> {
    let mask = reader.bits(kind.components.len())?;
    let mut pose = None;
    for (index, component) in kind.components.iter().enumerate() {
        if mask >> index & 1 == 0 {
            continue;
        }
        match component.codec.as_ref().context("a codec")? {
            Codec::Path(_) => bail!("a kind with poses has no path"),
            Codec::Gauge(gauge) => read_points(reader, stamp, |reader| {
                reader.up_to((gauge.max * 16.0).floor() as u64)?;
                if reader.flag()? {
                    reader.up_to(65_534)?;
                }
                Ok(0)
            })?,
            Codec::Flag(_) => read_points(reader, stamp, |reader| reader.bits(1))?,
            Codec::Number(number) => {
                reader.up_to(number.max.abs_diff(number.min))?;
            }
            Codec::Half(_) => {
                reader.bits(16)?;
            }
            Codec::Angle(_) => {
                reader.bits(8)?;
            }
            Codec::Text(text) => {
                for _ in 0..reader.up_to(text.max_bytes.into())? {
                    reader.bits(8)?;
                }
            }
            Codec::Counts(counts) => {
                for _ in 0..reader.up_to(counts.names.into())? {
                    reader.up_to((counts.names - 1).into())?;
                    reader.up_to((counts.max - 1).into())?;
                }
            }
            Codec::Bytes(bytes) => {
                for _ in 0..reader.up_to(bytes.max_bytes.into())? {
                    reader.bits(8)?;
                }
            }
            Codec::Rows(rows) => read_rows(reader, rows)?,
            Codec::Pose(format) => pose = Some(read_pose(reader, format)?),
        }
    }
    Ok(pose)
}

/// Rows of fields that have no place.
fn read_rows(reader: &mut BitReader<'_>, rows: &Rows) -> Result<()> {
    for _ in 0..reader.up_to(rows.max.into())? {
        for field in &rows.fields {
            if field.optional && !reader.flag()? {
                continue;
            }
            match field.r#type.as_ref().context("a type")? {
                Type::Number(number) => {
                    reader.up_to(number.max.abs_diff(number.min))?;
                }
                Type::Choice(choice) => {
                    reader.up_to(choice.names.len() as u64 - 1)?;
                }
                Type::Half(_) => {
                    reader.bits(16)?;
                }
                Type::Angle(_) => {
                    reader.bits(8)?;
                }
                Type::Text(text) => {
                    for _ in 0..reader.up_to(text.max_bytes.into())? {
                        reader.bits(8)?;
                    }
                }
                Type::Position(_) | Type::Object(_) => bail!("a kind with poses has no path"),
            }
        }
    }
    Ok(())
}

fn read_points(
    reader: &mut BitReader<'_>,
    stamp: u64,
    point: impl Fn(&mut BitReader<'_>) -> Result<u64>,
) -> Result<()> {
    for index in 0..reader.bits(4)? {
        if index == 0 {
            read_time(reader, stamp)?;
        } else {
            reader.varint()?;
        }
        point(reader)?;
    }
    Ok(())
}

fn read_pose(reader: &mut BitReader<'_>, format: &PoseFormat) -> Result<WholePose> {
    let at = [reader.signed()?, reader.signed()?, reader.signed()?];
    match format.turn.as_ref().context("a way to turn")? {
        Turn::Fixed(_) => {}
        Turn::Yaw(yaw) => {
            reader.bits(yaw.bits as usize)?;
            reader.signed()?;
        }
        Turn::Free(free) => {
            reader.bits(2 + 3 * free.bits as usize)?;
        }
    }
    let flag = reader.flag()?;
    if format.motion.is_some() && !flag {
        for _ in 0..6 {
            reader.signed()?;
        }
    }
    Ok(WholePose { at, flag })
}

/// The moment with these low 24 bits that is nearest to another one.
fn nearest_time(low: u64, near_ms: u64) -> u64 {
    let period = 1 << 24;
    let candidate = near_ms - near_ms % period + low;
    [candidate.saturating_sub(period), candidate, candidate + period]
        .into_iter()
        .filter(|time| time % period == low)
        .min_by_key(|time| time.abs_diff(near_ms))
        .unwrap_or(candidate)
}
