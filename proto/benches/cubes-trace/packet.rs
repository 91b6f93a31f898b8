//! One packet: a pose section of the fine level in which all cubes are candidates.
//!
//! A frame and the acknowledged frames go in, a packet comes out, and back. Cubes that differ from
//! the newest acknowledged frame are in the section.

use ambit_pose_training::{ACK_LAG_FRAMES, CandidateOrder, KnownFrames};
use ambit_proto::entropy;
use ambit_proto::pose::fine::{FineDecoder, FineEncoder, FineState};
use ambit_proto::pose::{AckedSet, Level, Pose, SectionHeader};
use ambit_proto::wire::{Reader, Writer};
use anyhow::ensure;

/// Reused from one packet to the next; holds nothing of the packet before.
#[derive(Default)]
pub(crate) struct Buffers {
    state: FineState,
    order: CandidateOrder,
    changed: Vec<bool>,
}

fn header(number: usize) -> SectionHeader {
    let acked = AckedSet { newest: (number - ACK_LAG_FRAMES) as u64, mask: u32::MAX };
    SectionHeader::new(Level::Fine, number as u64, Some(acked))
}

/// Appends the packet of frame `number` to `out`.
pub(crate) fn encode(
    number: usize,
    frame: &[Pose],
    known: &KnownFrames<'_>,
    buffers: &mut Buffers,
    out: &mut Vec<u8>,
) {
    let mut writer = Writer::new(out);
    header(number).wire(&mut writer).expect("writing cannot fail");
    drop(writer);
    let Buffers { state, order, changed } = buffers;
    let baseline = known.baseline();
    changed.clear();
    changed.extend(frame.iter().zip(baseline).map(|(new, old)| new != old));
    let pose = |cube: usize| changed[cube].then_some(&frame[cube]);
    let mut encoder = FineEncoder::new(entropy::RangeEncoder::new(out), state);
    let history = known.history(0);
    encoder.write_reference(&known.known(0, &history), pose(0));
    order.sort(Some(&baseline[0]), baseline[1..].iter());
    for index in order.indices() {
        let cube = index + 1;
        let history = known.history(cube);
        encoder.write_object(&known.known(cube, &history), pose(cube));
    }
    encoder.finish();
}

/// Replaces `frame` by the frame of a packet.
pub(crate) fn decode(
    number: usize,
    packet: &[u8],
    known: &KnownFrames<'_>,
    buffers: &mut Buffers,
    frame: &mut Vec<Pose>,
) -> anyhow::Result<()> {
    let mut reader = Reader::new(packet);
    let mut read = SectionHeader { number: number as u64, ..SectionHeader::default() };
    read.wire(&mut reader)?;
    ensure!(read == header(number), "the header is not the one that was written: {read:?}");
    let Buffers { state, order, .. } = buffers;
    let baseline = known.baseline();
    frame.clear();
    frame.extend_from_slice(baseline);
    let stream = &packet[reader.position().div_ceil(8)..];
    let mut decoder = FineDecoder::new(entropy::RangeDecoder::new(stream), state);
    let history = known.history(0);
    if let Some(pose) = decoder.read_reference(&known.known(0, &history))? {
        frame[0] = pose;
    }
    order.sort(Some(&baseline[0]), baseline[1..].iter());
    for index in order.indices() {
        let cube = index + 1;
        let history = known.history(cube);
        if let Some(pose) = decoder.read_object(&known.known(cube, &history))? {
            frame[cube] = pose;
        }
    }
    decoder.finish()?;
    Ok(())
}
