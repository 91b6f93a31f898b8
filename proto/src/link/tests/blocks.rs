//! Blocks beside the game, over impaired paths.

use super::harness::{End, Pair, ms, path};
use crate::impair::Impairment;
use crate::link::*;
use crate::wire::{Coder, Wire};

fn block(length: usize, seed: u64) -> Bytes {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..length).map(|_| rng.u8(..)).collect()
}

fn server(bytes_per_s: u32) -> LinkConfig {
    LinkConfig {
        budget: Some(BudgetConfig { bytes_per_s, ..BudgetConfig::default() }),
        ..LinkConfig::default()
    }
}

/// The first end sends blocks as fast as its budget allows; the second receives them. Both react at
/// once.
fn pair(bytes_per_s: u32, impairment: Impairment) -> Pair {
    Pair::new([End::new(server(bytes_per_s), 1), End::new(LinkConfig::client(), 1)], impairment)
}

impl Pair {
    fn send_block(&mut self, block: &Bytes) {
        let now = self.ends[0].local(self.now_ms);
        self.ends[0].link.send_block(now, block.clone()).expect("the queue has room");
    }

    /// Runs until `count` blocks have arrived in all; returns how many milliseconds that took.
    fn run_until_blocks(&mut self, count: usize, limit: Duration) -> u64 {
        let start = self.now_ms;
        while self.ends[1].blocks.len() < count {
            self.step();
            let state = (self.ends[0].link.stats(), self.ends[0].link.outgoing_block_progress());
            assert!(ms(self.now_ms - start) < limit, "blocks are stuck: {state:?}");
        }
        self.now_ms - start
    }
}

#[test]
fn blocks_of_any_length_arrive_once_and_in_order_on_a_bad_path() {
    for seed in 0..12 {
        let storm = Impairment {
            duplicate: 10.0,
            reorder: 10.0,
            jitter: ms(30),
            ..path([0.0, 20.0, 50.0][seed as usize % 3], 40, seed)
        };
        let mut pair = pair(500_000, storm);
        let mut rng = fastrand::Rng::with_seed(seed);
        let lengths = [1, 1_023, 1_024, 1_025, rng.usize(1..30_000), rng.usize(1..30_000)];
        let blocks: Vec<_> = lengths.into_iter().map(|length| block(length, seed)).collect();
        for block in &blocks {
            pair.send_block(block);
        }
        pair.run_until_blocks(blocks.len(), ms(60_000));
        let arrived: Vec<_> = pair.ends[1].blocks.iter().map(|(block, _)| block.clone()).collect();
        assert!(arrived == blocks, "seed {seed}");
        pair.run(ms(3_000));
        assert_eq!((pair.ends[0].blocks_sent, pair.ends[1].blocks.len()), (6, 6));
        assert!(pair.ends[0].link.sender.is_none());
    }
}

#[test]
fn a_long_block_travels_in_chunks_and_reports_progress() {
    let mut pair = pair(2_000_000, path(5.0, 20, 1));
    let blocks = [block((700 << 10) + 5, 1), block(300 << 10, 2)];
    for block in &blocks {
        pair.send_block(block);
    }
    assert_eq!(
        pair.ends[0].link.outgoing_block_progress(),
        Some(ChunkProgress { received: 0, total: 701 << 10 })
    );
    let mut before = 0;
    while pair.ends[1].blocks.is_empty() {
        pair.run(ms(10));
        if let Some(ChunkProgress { received, total }) = pair.ends[1].link.incoming_block_progress()
        {
            assert!(before <= received && received <= total);
            assert!(total <= 701 << 10 || !pair.ends[1].blocks.is_empty());
            before = if pair.ends[1].blocks.is_empty() { received } else { 0 };
        }
    }
    pair.run_until_blocks(2, ms(10_000));
    assert!(pair.ends[1].blocks.iter().map(|(block, _)| block).eq(&blocks));
    assert_eq!(pair.ends[1].link.incoming_block_progress(), None);
}

#[test]
fn the_queue_is_bounded() {
    let mut link = Link::new(LinkConfig::server());
    let now = LocalTime::from_millis(1_000);
    let megabyte = block(1 << 20, 1);
    (0..4).for_each(|_| {
        link.send_block(now, megabyte.clone()).expect("the queue has room");
    });
    assert_eq!(link.send_block(now, block(1, 1)), Err(QueueFull));
}

/// Mean time over the seeds, in seconds, for 256 KiB at a round trip of 100 ms.
fn mean_time(bytes_per_s: u32, loss: f32, seeds: u64) -> f64 {
    let total: u64 = (0..seeds)
        .map(|seed| {
            let mut pair = pair(bytes_per_s, path(loss, 50, seed));
            let block = block(256 << 10, seed);
            pair.send_block(&block);
            let time = pair.run_until_blocks(1, ms(60_000));
            assert!(pair.ends[1].blocks[0].0 == block);
            assert_eq!(pair.ends[0].link.stats().over_budget, 0);
            time
        })
        .sum();
    total as f64 / seeds as f64 / 1_000.0
}

/// The limits are those of an ideal selective repeat with 36 bytes of overhead a slice, plus 10 %.
/// This implementation has 53 bytes of UDP, IP and QUIC, and its own header.
#[test]
fn a_block_takes_at_most_a_tenth_longer_than_with_an_ideal_sender() {
    for (bytes_per_s, ideal, ideal_at_20) in
        [(32_000, 8.5, 10.7), (64_000, 4.3, 5.4), (125_000, 2.2, 2.9)]
    {
        let clear = mean_time(bytes_per_s, 0.0, 1);
        let lossy = mean_time(bytes_per_s, 20.0, 20);
        println!("{bytes_per_s}: {clear} {lossy}");
        assert!(clear <= 1.1 * ideal, "{bytes_per_s} bytes/s: {clear} s, ideally {ideal}");
        assert!(
            lossy <= 1.1 * ideal_at_20,
            "{bytes_per_s} bytes/s at 20 %: {lossy} s, ideally {ideal_at_20}"
        );
    }
}

#[test]
fn no_second_exceeds_the_budget_and_the_game_keeps_its_share() {
    for (loss, seed) in [(0.0, 1), (20.0, 2)] {
        let mut pair = pair(32_000, path(loss, 50, seed));
        pair.ends[0].tick_ms = 50;
        pair.ends[0].max_bodies = Some(700); // 14,000 bytes a second.
        pair.run(ms(1_000));
        pair.send_block(&block(256 << 10, seed));
        let start = pair.now_ms;
        let time = pair.run_until_blocks(1, ms(60_000));
        let sent = &pair.ends[0].sent;
        for (index, last) in sent.iter().enumerate() {
            let second =
                sent[..=index].iter().rev().take_while(|sent| sent.at_ms + 1_000 > last.at_ms);
            let bytes: usize = second.map(|sent| sent.bytes.len() + 53).sum();
            assert!(bytes <= 32_000, "{bytes} bytes in the second before {}", last.at_ms);
        }
        // Of 700 bytes a tick it gets 650 at least: the link's header and the overhead are part of
        // its share.
        let body_bytes: usize =
            sent.iter().filter(|sent| sent.at_ms > start).map(|sent| sent.body_bytes).sum();
        let ticks = time as usize / 50;
        assert!(body_bytes >= ticks * 650, "{body_bytes} bytes in {ticks} ticks");
        assert!(time < [22_000, 30_000][usize::from(loss > 0.0)], "{time} ms");
        let longest_gap = sent.windows(2).map(|pair| pair[1].at_ms - pair[0].at_ms).max();
        assert!(longest_gap <= Some(100), "{longest_gap:?}");
    }
}

#[test]
fn a_network_partition_only_delays_a_block() {
    let mut pair = pair(64_000, path(0.0, 50, 1));
    let block = block(256 << 10, 1);
    pair.send_block(&block);
    pair.run(ms(2_000));
    pair.set_path(path(100.0, 50, 1));
    pair.run(ms(3_000));
    pair.set_path(path(0.0, 50, 1));
    let rest = pair.run_until_blocks(1, ms(5_000));
    assert!(rest <= 3_400, "{rest} ms after the partition, {:?}", pair.ends[0].link.stats());
    assert!(pair.ends[1].blocks[0].0 == block);
    let again = pair.ends[0].link.stats().slices_resent;
    assert!(again < 200, "{again}");
}

#[test]
fn without_loss_no_slice_is_sent_twice() {
    for bytes_per_s in [32_000, 125_000] {
        let mut pair = pair(bytes_per_s, path(0.0, 50, 1));
        pair.send_block(&block(256 << 10, 1));
        pair.run_until_blocks(1, ms(20_000));
        let stats = pair.ends[0].link.stats();
        assert_eq!((stats.slices_sent, stats.slices_resent), (256, 0));
    }
}

#[test]
fn with_loss_only_lost_slices_and_the_tail_are_sent_again() {
    let mut pair = pair(125_000, path(20.0, 50, 7));
    pair.send_block(&block(256 << 10, 1));
    pair.run_until_blocks(1, ms(20_000));
    pair.run(ms(1_000));
    assert!(pair.ends[1].link.stats().slices_repeated <= 12, "{:?}", pair.ends[1].link.stats());
}

#[test]
fn a_first_burst_leaves_at_once_within_the_budget_of_a_second() {
    let chunks = ChunkConfig { first_burst_bytes: 64 << 10, ..ChunkConfig::default() };
    let ends =
        [End::new(LinkConfig { chunks, ..server(32_000) }, 1), End::new(LinkConfig::client(), 1)];
    let mut pair = Pair::new(ends, path(0.0, 50, 1));
    pair.run(ms(2_000));
    pair.send_block(&block(24 << 10, 1));
    let time = pair.run_until_blocks(1, ms(1_000));
    assert!(time < 80, "{time} ms");
    assert_eq!(pair.ends[0].link.stats().over_budget, 0);
}

#[test]
fn a_block_finds_the_bottleneck_and_keeps_its_queue_short() {
    let narrow = Impairment { rate: Some(128_000), ..path(0.0, 30, 1) };
    let mut pair = pair(32_000, narrow);
    pair.send_block(&block(1 << 20, 1));
    pair.run(ms(5_000));
    let lost = pair.ends[0].link.stats().lost;
    let mut queueing = 0.0;
    let mut rate = 0.0;
    let samples = 400;
    for _ in 0..samples {
        pair.run(ms(50));
        queueing += f64::from(pair.ends[0].link.stats().queueing_ms) / f64::from(samples);
        rate += f64::from(pair.ends[0].link.stats().budget_bytes_per_s) / f64::from(samples);
    }
    let stats = pair.ends[0].link.stats();
    println!("{rate} {queueing}");
    assert!((12_000.0..17_500.0).contains(&rate), "{rate}");
    assert!(queueing < 80.0, "{queueing} ms");
    assert!(stats.lost - lost <= 20, "{stats:?}");
    pair.set_path(path(0.0, 30, 1));
    pair.run(ms(20_000));
    assert_eq!(pair.ends[0].link.stats().budget_bytes_per_s, 32_000);
}

#[test]
fn without_a_budget_slices_in_flight_are_limited_by_acknowledgements() {
    let mut pair = Pair::new(
        [End::new(LinkConfig::default(), 1), End::new(LinkConfig::client(), 1)],
        path(5.0, 50, 1),
    );
    let block = block(256 << 10, 1);
    pair.send_block(&block);
    let time = pair.run_until_blocks(1, ms(10_000));
    assert!(pair.ends[1].blocks[0].0 == block && time < 3_000, "{time} ms");
}

#[test]
fn an_aligned_body_reads_back_with_and_without_a_slice_before_it() {
    let now = LocalTime::from_millis(1_000);
    for bits in [3, 17, 64, 700, 5_000] {
        let [mut left, mut right] = [LinkConfig::server(), LinkConfig::client()].map(Link::new);
        left.send_block(now, block(5_000, 1)).expect("the queue has room");
        let mut bytes = Vec::new();
        left.write_datagram(now, &mut bytes, |writer, _| {
            writer.append(&[0x5a; 700], bits);
            let padding = writer.bits_written().next_multiple_of(8) - writer.bits_written();
            writer.append(&[0], padding);
            writer.append(b"aligned", 56);
        });
        let mut body = right.handle_datagram(now, &bytes).expect("well formed").expect("fresh");
        assert_eq!(right.stats().slices_received, u64::from(bits < 800), "{bits}");
        body.skip(bits).expect("it was written");
        body.skip(body.position().next_multiple_of(8) - body.position()).expect("it was written");
        assert_eq!(bytes[body.position() / 8..], *b"aligned");
    }
}

#[test]
fn invalid_slices_are_refused() {
    let mut link = receiving_link(300 << 10);
    assert!(
        receive_slice(&mut link, 0, slice(1, 0, 9, 0, 1_024)).is_err(),
        "a chunk that is not expected yet"
    );
    assert!(
        receive_slice(&mut link, 0, slice(0, 0, 255, 50, 1_024)).is_err(),
        "longer than allowed"
    );
    assert!(receive_slice(&mut link, 0, slice(0, 0, 9, 0, 1_024)).is_ok());
    assert!(receive_slice(&mut link, 1, slice(0, 1, 8, 0, 1_024)).is_err(), "another count");
    assert!(receive_slice(&mut link, 1, slice(0, 0, 9, 0, 1_024)).is_ok(), "a copy");
    assert!(receive_slice(&mut link, 2, slice(0, 9, 9, 0, 5)).is_ok());
    assert!(receive_slice(&mut link, 3, slice(255, 3, 255, 7, 1_024)).is_ok(), "an old one");
    assert_eq!(
        (link.stats().slices_received, link.stats().slices_repeated, link.stats().malformed),
        (2, 2, 3)
    );
}

#[test]
fn a_set_for_an_end_that_has_sent_no_block_is_refused() {
    let mut link = Link::new(LinkConfig::server());
    let set = |chunk| ReceivedSet { chunk, ..ReceivedSet::default() };
    assert!(receive_set(&mut link, 0, set(0)).is_err());
    assert!(receive_set(&mut link, 0, set(1)).is_err());
    assert!(receive_set(&mut link, 0, set(255)).is_ok(), "an old one");
}

#[test]
fn a_link_that_accepts_no_blocks_refuses_slices() {
    let mut deaf = Link::new(LinkConfig::server());
    assert!(matches!(
        receive_slice(&mut deaf, 0, slice(0, 0, 0, 0, 1)),
        Err(WireError::TooLong { .. })
    ));
}

#[test]
fn random_slices_hold_bounded_memory() {
    for seed in 0..50 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut link = receiving_link(5_000);
        for number in 0..2_000 {
            let (last, chunk) =
                (rng.u8(..6), link.receiver.as_ref().map_or(0, |receiver| receiver.next_chunk()));
            let index = rng.u8(..=last);
            let length = if index < last { 1_024 } else { rng.usize(1..=1_024) };
            let _ = receive_slice(
                &mut link,
                number,
                slice(chunk.wrapping_sub(rng.u8(..2)), index, last, 0, length),
            );
            assert!(link.receiver.as_ref().is_none_or(|receiver| receiver.held_bytes() <= 5_000));
            while let Some(event) = link.poll_event() {
                assert!(!matches!(event, LinkEvent::Block(block) if block.len() > 5_000));
            }
        }
    }
}

fn receiving_link(largest_block: usize) -> Link {
    let chunks = ChunkConfig { largest_block, ..ChunkConfig::default() };
    Link::new(LinkConfig { chunks, ..LinkConfig::client() })
}

fn slice(chunk: u8, index: u8, last_index: u8, left: u16, length: usize) -> Slice {
    Slice { chunk, index, last_index, slices_after_chunk: left, bytes: vec![7; length] }
}

/// Gives `link` a datagram with an invented slice.
fn receive_slice(link: &mut Link, number: u64, slice: Slice) -> Result<(), WireError> {
    receive(link, number, None, Some(slice))
}

/// Gives `link` a datagram with an invented set.
fn receive_set(link: &mut Link, number: u64, set: ReceivedSet) -> Result<(), WireError> {
    receive(link, number, Some(set), None)
}

fn receive(
    link: &mut Link,
    number: u64,
    mut set: Option<ReceivedSet>,
    mut slice: Option<Slice>,
) -> Result<(), WireError> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    tests::header_with_extras(number).wire(&mut writer).expect("writing cannot fail");
    Messages::default().wire(&mut writer).expect("writing cannot fail");
    writer.option(&mut set).expect("a valid set");
    writer.option(&mut slice).expect("a valid slice");
    writer.finish();
    link.handle_datagram(LocalTime::from_millis(1_000), &bytes).map(|body| assert!(body.is_some()))
}

/// Slices in flight reuse existing storage.
#[test]
fn storage_does_not_grow_with_slices() {
    let mut pair = pair(125_000, path(10.0, 50, 1));
    pair.send_block(&block(1 << 20, 1));
    pair.run(ms(2_000));
    let capacities = |pair: &Pair| {
        let sender = pair.ends[0].link.sender.as_ref().expect("a block is under way");
        (sender.body.capacity(), pair.ends[1].link.slice.bytes.capacity())
    };
    let before = capacities(&pair);
    pair.run(ms(4_000));
    assert_eq!(capacities(&pair), before);
}
