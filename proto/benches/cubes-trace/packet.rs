//! One packet: the pose section of a datagram, as a room sends it.
//!
//! A frame and what the other end has of the frames six and more before it go in, a packet comes
//! out, and back. The candidates are all cubes; those are in that differ from the frame six before.

use ambit_proto::entropy;
use ambit_proto::pose::fine::{Decoder, Encoder, Known, Order, Scene, Seen, Spent};
use ambit_proto::pose::{AckedSet, Level, Pose, SectionHeader};
use ambit_proto::wire::{Reader, Writer};
use anyhow::ensure;

use crate::trace::{CUBES, FORMAT, FRAME_US, half_edge_m};

/// The newest frame that the other end is known to have is this much older: 100 ms.
pub(crate) const LAG: usize = 6;
/// How old the frames are that are looked at: the newest known, and those that the coder's four
/// spans reach back to.
const BACK: [usize; HISTORY] = [LAG, LAG + 1, LAG + 2, LAG + 3, 2 * LAG];
const HISTORY: usize = 5;

/// The frames that are known when another one comes, the newest first.
pub(crate) struct Past<'f> {
    frames: [&'f [Pose]; HISTORY],
    back: [usize; HISTORY],
    count: usize,
}

impl<'f> Past<'f> {
    /// Of frame `number`, which is at least [`LAG`]: none newer than `number - LAG` is looked at.
    pub(crate) fn of(number: usize, frame: impl Fn(usize) -> &'f [Pose]) -> Self {
        Self::with(&BACK, number, frame)
    }

    /// The same if only those frames are known that are so much older: at least one, at most five,
    /// none less than [`LAG`].
    pub(crate) fn with(back: &[usize], number: usize, frame: impl Fn(usize) -> &'f [Pose]) -> Self {
        let count = back
            .iter()
            .filter(|back| (LAG..=number).contains(*back))
            .count();
        let back = std::array::from_fn(|index| back[index.min(count - 1)]);
        Self {
            frames: back.map(|back| frame(number - back)),
            back,
            count,
        }
    }

    /// The frame that changes are relative to.
    pub(crate) fn base(&self) -> &'f [Pose] {
        self.frames[0]
    }

    /// What is known of a cube.
    pub(crate) fn history(&self, cube: usize) -> [Seen; HISTORY] {
        std::array::from_fn(|index| Seen {
            age_us: self.back[index] as u32 * FRAME_US,
            pose: self.frames[index][cube],
        })
    }

    /// The same, for the coder.
    pub(crate) fn known<'h>(&self, cube: usize, history: &'h [Seen; HISTORY]) -> Known<'h> {
        Known {
            format: FORMAT,
            half_edge_m: half_edge_m(cube),
            history: &history[..self.count],
        }
    }
}

/// What is kept from one packet to the next: buffers only.
#[derive(Default)]
pub(crate) struct Buffers {
    scene: Scene,
    order: Order,
    changed: Vec<bool>,
}

fn header(number: usize) -> SectionHeader {
    let acked = AckedSet {
        newest: (number - LAG) as u64,
        mask: u32::MAX,
    };
    SectionHeader::new(Level::Fine, number as u64, Some(acked))
}

/// Appends the packet of frame `number` to `out`.
pub(crate) fn encode(
    number: usize,
    frame: &[Pose],
    past: &Past<'_>,
    buffers: &mut Buffers,
    out: &mut Vec<u8>,
) -> Spent {
    let mut writer = Writer::new(out);
    header(number)
        .wire(&mut writer)
        .expect("a writer refuses nothing");
    drop(writer);
    let Buffers {
        scene,
        order,
        changed,
    } = buffers;
    let base = past.base();
    changed.clear();
    changed.extend(frame.iter().zip(base).map(|(new, base)| new != base));
    let news = |cube: usize| changed[cube].then_some(&frame[cube]);
    let mut encoder = Encoder::new(entropy::Encoder::new(out), scene);
    let history = past.history(0);
    encoder.reference(&past.known(0, &history), news(0));
    order.sort(Some(&base[0]), base[1..].iter());
    for index in order.indices() {
        let cube = index + 1;
        let history = past.history(cube);
        encoder.object(&past.known(cube, &history), news(cube));
    }
    encoder.finish()
}

/// Puts the frame of a packet in the place of `frame`.
pub(crate) fn decode(
    number: usize,
    packet: &[u8],
    past: &Past<'_>,
    buffers: &mut Buffers,
    frame: &mut Vec<Pose>,
) -> anyhow::Result<()> {
    let mut reader = Reader::new(packet);
    let mut read = SectionHeader {
        number: number as u64,
        ..SectionHeader::default()
    };
    read.wire(&mut reader)?;
    ensure!(
        read == header(number),
        "the header is not the one that was written: {read:?}"
    );
    let Buffers { scene, order, .. } = buffers;
    let base = past.base();
    frame.clear();
    frame.extend_from_slice(base);
    let stream = &packet[reader.position().div_ceil(8)..];
    let mut decoder = Decoder::new(entropy::Decoder::new(stream), scene);
    let history = past.history(0);
    if let Some(pose) = decoder.reference(&past.known(0, &history))? {
        frame[0] = pose;
    }
    order.sort(Some(&base[0]), base[1..].iter());
    for index in order.indices() {
        let cube = index + 1;
        let history = past.history(cube);
        if let Some(pose) = decoder.object(&past.known(cube, &history))? {
            frame[cube] = pose;
        }
    }
    ensure!(decoder.newcomer()?.is_none(), "all {CUBES} cubes are known");
    decoder.finish()?;
    Ok(())
}
