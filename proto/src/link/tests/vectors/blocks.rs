//! Test vectors of slices of blocks, and of the sets of received slices.

use super::{KnownNumbers, VectorBody, VectorDatagram, header};
use crate::link::chunk::SliceSet;
use crate::link::format::HeaderExtras;
use crate::link::{DatagramHeader, ReceivedSet, SLICE_BYTES, Slice};
use crate::tests::vectors::test_vector::TestVector;

pub(crate) fn blocks() -> Vec<TestVector> {
    let mut all = slices();
    all.extend(sets());
    all
}

fn slices() -> Vec<TestVector> {
    let of = |slice| VectorDatagram {
        header: DatagramHeader { extras: Some(HeaderExtras::default()), ..header() },
        slice: Some(slice),
        ..VectorDatagram::default()
    };
    let whole: Vec<u8> = (0..SLICE_BYTES).map(|index| (index / 4) as u8).collect();
    let with_body = VectorDatagram {
        body: VectorBody::Poses,
        ..of(Slice { chunk: 3, bytes: b"one slice".into(), ..Slice::default() })
    };
    vec![
        KnownNumbers::default().vector(
            "slice",
            "Not the last of its chunk: it has no length, and 1,024 bytes.",
            &of(Slice {
                chunk: 255,
                index: 7,
                last_index: 255,
                slices_after_chunk: 300,
                bytes: whole.clone(),
            }),
        ),
        KnownNumbers::default().vector(
            "slice-last-of-a-chunk",
            "300 slices follow in other chunks: it is whole, and its length is sent.",
            &of(Slice {
                chunk: 255,
                index: 255,
                last_index: 255,
                slices_after_chunk: 300,
                bytes: whole,
            }),
        ),
        KnownNumbers::default().vector(
            "slice-last-of-a-block",
            "The end of a block: no slices are left, and it may be short.",
            &of(Slice {
                chunk: 1,
                index: 43,
                last_index: 43,
                slices_after_chunk: 0,
                bytes: b"the end".into(),
            }),
        ),
        KnownNumbers::default().vector(
            "slice-and-body",
            "A block of one slice; a body with a pose section follows.",
            &with_body,
        ),
    ]
}

fn sets() -> Vec<TestVector> {
    let of = |last_index: u8, received: &dyn Fn(usize) -> bool| {
        let mut slices = SliceSet::default();
        (0..=usize::from(last_index))
            .filter(|index| received(*index))
            .for_each(|index| slices.insert(index));
        VectorDatagram {
            header: DatagramHeader { extras: Some(HeaderExtras::default()), ..header() },
            set: Some(ReceivedSet { chunk: 4, last_index, slices }),
            ..VectorDatagram::default()
        }
    };
    vec![
        KnownNumbers::default().vector(
            "set-of-all-slices",
            "Form 0: the chunk has arrived.",
            &of(255, &|_| true),
        ),
        KnownNumbers::default().vector(
            "set-of-runs",
            "Form 1: 100 received, 1 missing, 20 received, and 135 missing, whose number is not \
             sent.",
            &of(255, &|index| index <= 120 && index != 100),
        ),
        KnownNumbers::default().vector(
            "set-of-runs-without-the-first-slice",
            "Form 1: the first run, of received slices, has the length 0.",
            &of(63, &|index| index >= 2),
        ),
        KnownNumbers::default().vector(
            "set-of-bits",
            "Form 2: a bit for each slice.",
            &of(18, &|index| index % 3 == 0),
        ),
    ]
}
