//! Two links that communicate over impaired paths.

mod blocks;
mod harness;
pub(crate) mod vectors;

use std::collections::BTreeSet;

use self::harness::{End, Pair, message, ms, parts, path};
use super::format::{Ack, HeaderExtras, ShortNumber};
use super::*;
use crate::clock::ClockEstimate;
use crate::examples::Example;
use crate::impair::Impairment;
use crate::wire::{Coder, Wire, encode};

fn impaired(loss: f32, seed: u64) -> Impairment {
    Impairment { duplicate: 10.0, reorder: 10.0, jitter: ms(30), ..path(loss, 40, seed) }
}

fn numbers(end: &End) -> Vec<u64> {
    let mut numbers: Vec<_> = end.delivered.iter().map(|&(number, _)| number).collect();
    numbers.sort_unstable();
    numbers
}

fn first(count: u64) -> Vec<u64> {
    (0..count).collect()
}

/// Both ends just before all of their numbers wrap around.
fn about_to_wrap(impairment: Impairment) -> Pair {
    let config = |pings| LinkConfig {
        pings,
        first_seq: Seq(65_500),
        first_message: u32::MAX - 40,
        ..LinkConfig::default()
    };
    let mut server = End::new(config(None), 50);
    server.sends_bodies = true;
    Pair::new([End::new(config(Some(PingSchedule::default())), 1), server], impairment)
}

#[test]
fn messages_are_delivered_exactly_once_at_50_percent_loss() {
    for seed in 0..20 {
        let mut pair = about_to_wrap(impaired(50.0, seed));
        for number in 0..300 {
            let length = 8 + (number as usize * 37) % 300;
            pair.send(0, number, length, None);
            pair.send(1, number, length, None);
            pair.run(ms(20));
        }
        for from in 0..2 {
            pair.run_until_delivered(from, ms(20_000));
            assert_eq!(numbers(&pair.ends[1 - from]), first(300), "seed {seed}");
            assert_eq!(pair.ends[from].messages_acked, 300, "seed {seed}");
        }
    }
}

#[test]
fn every_datagram_is_reported_exactly_once() {
    // The harness checks "at most once" and "in time" in every step; this test checks that every
    // datagram has an outcome, and that most were acknowledged.
    for seed in 0..5 {
        let mut pair = about_to_wrap(impaired(20.0, seed));
        pair.run(ms(20_000));
        pair.ends[1].sends_bodies = false;
        pair.run(ms(5_000));
        for end in &pair.ends {
            let asked = end.sent.iter().filter(|sent| sent.asks_for_ack).count();
            let unsettled =
                end.sent.iter().filter(|sent| sent.asks_for_ack && sent.outcome.is_none()).count();
            // The last pings may be in flight.
            assert!(asked > 20 && unsettled <= 2, "{unsettled} of {asked}");
            assert!(end.acked() * 10 > end.sent.len() * 6, "{:?}", end.link.stats());
        }
    }
}

#[test]
fn a_peer_that_acknowledges_in_the_32_bit_form_alone_is_understood() {
    for loss in [0.0, 20.0] {
        let mut pair = Pair::client_and_server(impaired(loss, 7));
        pair.ends[0].acks_in_32_bits = true;
        for number in 0..200 {
            pair.send(0, number, 20, None);
            pair.send(1, number, 20, None);
            pair.run(ms(50));
        }
        for from in 0..2 {
            pair.run_until_delivered(from, ms(5_000));
            assert_eq!(numbers(&pair.ends[1 - from]), first(200));
        }
        let server = &pair.ends[1];
        let stats = server.link.stats();
        assert_eq!(stats.malformed, 0);
        assert!(server.acked() * 10 > server.sent.len() * (9 - loss as usize / 10), "{stats:?}");
    }
}

#[test]
fn few_messages_are_resent_needlessly() {
    let mut pair =
        Pair::client_and_server(Impairment { jitter: ms(10), reorder: 2.0, ..path(10.0, 50, 3) });
    for number in 0..1_000 {
        pair.send(0, number, 20, None);
        pair.run(ms(50));
    }
    let client = pair.ends[0].link.stats();
    let server = pair.ends[1].link.stats();
    assert!((80..200).contains(&client.resent), "{client:?}");
    assert!(server.messages_repeated * 10 <= client.resent, "{server:?}");
    assert!(
        client.acked_after_loss + server.acked_after_loss <= (client.sent + server.sent) / 50,
        "{client:?} {server:?}"
    );
}

#[test]
fn a_lost_message_is_resent_soon_and_delays_no_other() {
    for sends_bodies in [true, false] {
        let mut pair = Pair::client_and_server(path(0.0, 40, 1));
        pair.ends[1].sends_bodies = sends_bodies;
        pair.run(ms(3_000)); // The round trip is known: 80 ms, and up to 50 of the tick.
        pair.send(0, 1, 20, None);
        pair.set_path(path(100.0, 40, 1));
        pair.step();
        pair.set_path(path(0.0, 40, 1));
        let lost_at = pair.now_ms;
        pair.run(ms(5));
        pair.send(0, 2, 20, None);
        pair.run_until_delivered(0, ms(1_000));
        let arrived = |number| {
            let delivered = pair.ends[1].delivered.iter().find(|delivered| delivered.0 == number);
            delivered.expect("it was delivered").1 - lost_at
        };
        assert!(arrived(2) <= 50, "message 2 waited for the lost one: {}", arrived(2));
        assert!(arrived(1) <= 4 * 130, "{} ms", arrived(1));
        assert_eq!(pair.ends[0].link.stats().resent, 1);
    }
}

#[test]
fn a_path_that_becomes_slow_causes_no_flood_of_copies() {
    let mut pair = Pair::client_and_server(path(0.0, 10, 1));
    pair.run(ms(3_000));
    pair.set_path(path(0.0, 700, 1));
    for number in 0..200 {
        pair.send(0, number, 20, None);
        pair.run(ms(100));
    }
    pair.run_until_delivered(0, ms(5_000));
    let stats = pair.ends[0].link.stats();
    assert_eq!(numbers(&pair.ends[1]), first(200));
    assert!(stats.resent < 60, "{stats:?}");
    assert!(stats.rtt_ms > 1_300.0, "{stats:?}");
}

#[test]
fn an_expired_message_is_not_sent_again() {
    let mut pair = Pair::client_and_server(path(100.0, 40, 1));
    for number in 0..5 {
        pair.send(0, number, 20, Some(ms(300)));
    }
    pair.send(0, 5, 20, None);
    pair.run(ms(3_000));
    pair.set_path(path(0.0, 40, 1));
    pair.run_until_delivered(0, ms(3_000));
    assert_eq!(numbers(&pair.ends[1]), [5]);
    assert_eq!(pair.ends[0].link.stats().expired, 5);
    let start = pair.ends[0].sent[0].at_ms;
    let late = pair.ends[0].sent.iter().filter(|sent| sent.at_ms >= start + 300);
    assert!(late.flat_map(|sent| &sent.messages).all(|&number| number == 5));
}

#[test]
fn small_messages_leave_together_and_by_their_deadline() {
    let mut pair = Pair::client_and_server(path(0.0, 20, 1));
    pair.run(ms(2_000));
    let before = pair.ends[0].sent.len();
    for number in 0..100 {
        let now = pair.ends[0].local(pair.now_ms);
        let wait = (number % 3 > 0).then(|| now + ms(40));
        pair.ends[0]
            .link
            .send_reliable_with_deadline(now, message(number, 12), None, wait)
            .expect("the queue has room");
        pair.run(ms(10));
    }
    pair.run(ms(1_000));
    assert_eq!(numbers(&pair.ends[1]), first(100));
    let carriers =
        pair.ends[0].sent[before..].iter().filter(|sent| !sent.messages.is_empty()).count();
    assert_eq!(carriers, 34, "datagrams with due messages carry the delayed ones too");
    for (sent, late) in pair.ends[0].sent[before..]
        .iter()
        .flat_map(|sent| sent.messages.iter().map(move |&number| (sent, number)))
    {
        let queued_at = 12_000 + 10 * late;
        assert!(sent.at_ms <= queued_at + 41, "message {late} left at {}", sent.at_ms);
    }
}

#[test]
fn full_queues_recover_after_a_network_partition() {
    let mut pair = about_to_wrap(path(0.0, 30, 1));
    pair.run(ms(1_000));
    pair.set_path(path(100.0, 30, 1));
    for from in 0..2 {
        (0..256).for_each(|number| pair.send(from, number, 200, None));
        let now = pair.ends[from].local(pair.now_ms);
        assert_eq!(
            pair.ends[from].link.send_reliable(now, message(256, 200), None),
            Err(QueueFull)
        );
    }
    pair.run(ms(6_000));
    pair.set_path(path(10.0, 30, 1));
    for from in 0..2 {
        pair.run_until_delivered(from, ms(20_000));
        assert_eq!(numbers(&pair.ends[1 - from]), first(256));
    }
}

#[test]
fn bodies_without_an_ack_request_cause_no_answers() {
    let ends = [(); 2].map(|()| End::new(LinkConfig::default(), 50));
    let mut pair = Pair::new(ends, path(0.0, 30, 1));
    (pair.ends[0].sends_bodies, pair.ends[0].quiet) = (true, true);
    pair.run(ms(10_000));
    assert_eq!((pair.ends[0].sent.len(), pair.ends[1].sent.len()), (200, 0));
    pair.ends[1].sends_bodies = true; // Its datagrams acknowledge all that it has received.
    pair.run(ms(1_000));
    assert!((45..=55).contains(&pair.ends[0].acked()), "{}", pair.ends[0].acked());
}

#[test]
fn numbers_continue_where_the_numbers_on_the_wire_wrap() {
    let [mut left, mut right] = [(); 2].map(|()| Link::new(LinkConfig::default()));
    let mut now = LocalTime::from_millis(1_000);
    for number in 0..70_000 {
        now += ms(1);
        let mut there = Vec::new();
        let mut back = Vec::new();
        assert_eq!(left.next_number(), number);
        let seq = left.write_datagram(now, &mut there, |writer, _| writer.append(&[7], 8)).seq;
        assert_eq!(seq, Seq(number as u16));
        if number % 3 != 0 {
            right.handle_datagram(now, &there).expect("well formed");
            assert_eq!(right.last_received_number(), Some(number));
            assert!(right.is_ack_pending());
            right.write_datagram(now, &mut back, |_, _| ());
            assert!(!right.is_ack_pending());
            left.handle_datagram(now, &back).expect("well formed");
            let (newest, mask) = left.sent_packets.acked_set().expect("some were acknowledged");
            assert_eq!(newest, number);
            (0..32).filter(|back| number > *back).for_each(|back| {
                assert_eq!(
                    mask >> back & 1 == 1,
                    (number - 1 - back) % 3 != 0,
                    "{back} before {number}"
                );
            });
        }
        while left.poll_event().is_some() || right.poll_event().is_some() {}
    }
}

#[test]
fn an_idle_link_sends_only_pings() {
    let mut pair = Pair::client_and_server(path(0.0, 30, 1));
    pair.send(0, 1, 20, None);
    pair.send(1, 1, 20, None);
    pair.run(ms(2_000));
    pair.ends[1].sends_bodies = false;
    pair.run(ms(1_000));
    let sent = |pair: &Pair| pair.ends.each_ref().map(|end| end.sent.len());
    let before = sent(&pair);
    pair.run(ms(60_000));
    // A ping 1.7 s after each answer, and the answers.
    for (before, after) in before.into_iter().zip(sent(&pair)) {
        assert!((32..=36).contains(&(after - before)), "{}", after - before);
    }
}

#[test]
fn an_idle_link_without_pings_sends_nothing() {
    let ends = [(); 2].map(|()| End::new(LinkConfig::default(), 1));
    let mut pair = Pair::new(ends, path(30.0, 30, 1));
    (0..20).for_each(|number| pair.send(0, number, 20, None));
    pair.run_until_delivered(0, ms(10_000));
    pair.run(ms(1_000));
    let deadlines = pair.ends.each_ref().map(|end| end.link.next_deadline());
    assert_eq!(deadlines, [None, None]);
    assert!(pair.ends[0].sent.len() + pair.ends[1].sent.len() < 60);
}

#[test]
fn acknowledging_a_stream_costs_one_small_datagram_a_tick() {
    let mut pair = Pair::client_and_server(path(0.0, 30, 1));
    pair.run(ms(10_000));
    let client = &pair.ends[0];
    assert!((195..=235).contains(&client.sent.len()), "{}", client.sent.len());
    assert!(client.sent.iter().all(|sent| sent.bytes.len() <= 9));
}

#[test]
fn a_pong_measures_the_path_and_not_the_tick() {
    let mut pair = Pair::client_and_server(Impairment { jitter: ms(10), ..path(5.0, 30, 4) });
    pair.ends[1].clock_ahead = ms(777_777);
    let mut clock = ClockEstimate::new();
    pair.run(ms(10_000));
    for pong in std::mem::take(&mut pair.ends[0].pongs) {
        let LinkEvent::Pong { sent, received_by_peer, sent_by_peer, arrived } = pong else {
            continue;
        };
        clock.handle_pong(sent, received_by_peer, sent_by_peer, arrived);
    }
    assert!((ms(40)..=ms(62)).contains(&clock.rtt()), "{:?}", clock.rtt());
    let client = pair.ends[0].local(pair.now_ms);
    let server = pair.ends[1].local(pair.now_ms);
    let error = clock.room_time(client).micros().abs_diff(server.micros());
    assert!(Duration::from_micros(error) <= clock.uncertainty(), "{error} us");
    let stats = pair.ends[0].link.stats();
    let ping_ms = stats.ping_ms.expect("pings were answered");
    assert!((50.0..75.0).contains(&ping_ms) && stats.rtt_ms > ping_ms, "{stats:?}");
}

#[test]
fn duplicates_and_old_datagrams_are_counted_and_dropped() {
    let [mut left, mut right] = [(); 2].map(|()| Link::new(LinkConfig::default()));
    let now = LocalTime::from_millis(1_000);
    let mut datagrams = Vec::new();
    for _ in 0..40 {
        let mut bytes = Vec::new();
        left.write_datagram(now, &mut bytes, |writer, _| writer.append(&[7; 10], 80));
        datagrams.push(bytes);
    }
    assert!(right.handle_datagram(now, &datagrams[39]).expect("well formed").is_some());
    assert!(right.handle_datagram(now, &datagrams[39]).expect("well formed").is_none());
    assert!(right.handle_datagram(now, &datagrams[7]).expect("well formed").is_some());
    assert!(right.handle_datagram(now, &datagrams[7]).expect("well formed").is_none());
    assert!(right.handle_datagram(now, &datagrams[6]).expect("well formed").is_none());
    let stats = right.stats();
    assert_eq!((stats.received, stats.duplicates, stats.too_old, stats.malformed), (2, 2, 1, 0));
}

#[test]
fn a_refused_datagram_changes_nothing() {
    let [mut left, mut right] = [(); 2].map(|()| Link::new(LinkConfig::default()));
    let now = LocalTime::from_millis(1_000);
    let ack = Some(Ack { latest: ShortNumber::from_number(0), earlier: 0 });
    let mut invalid = encode(&mut DatagramHeader {
        number: ShortNumber::from_number(500),
        ack,
        ..DatagramHeader::default()
    });
    invalid.resize(100, 0);
    assert!(
        right.handle_datagram(now, &invalid).is_err(),
        "nothing was sent that it could acknowledge"
    );
    assert!(right.handle_datagram(now, &[0; MAX_DATAGRAM + 1]).is_err());
    assert!(right.handle_datagram(now, &[]).is_err());
    left.send_reliable(now, message(1, 100), None).expect("the queue has room");
    left.send_reliable(now, message(2, 100), None).expect("the queue has room");
    let mut bytes = Vec::new();
    left.write_datagram(now, &mut bytes, |_, _| ());
    assert!(right.handle_datagram(now, &bytes[..150]).is_err(), "the second message is cut");
    assert_eq!(right.poll_event(), None);
    assert_eq!(right.stats().malformed, 4);
    assert!(right.handle_datagram(now, &bytes).expect("well formed").is_some());
    assert_eq!(std::iter::from_fn(|| right.poll_event()).count(), 2);
}

#[test]
fn a_late_acknowledgement_still_confirms_the_messages() {
    let [mut left, mut right] = [(); 2].map(|()| Link::new(LinkConfig::default()));
    let mut there = Vec::new();
    let mut back = Vec::new();
    let id =
        left.send_reliable(LocalTime::ZERO, message(1, 100), None).expect("the queue has room");
    let seq = left.write_datagram(LocalTime::ZERO, &mut there, |_, _| ()).seq;
    let late = LocalTime::from_millis(3_000);
    left.handle_timeout(late);
    assert_eq!(left.poll_event(), Some(LinkEvent::Lost(seq, ())));
    assert!(left.wants_to_send(late));
    right.handle_datagram(late, &there).expect("well formed");
    right.write_datagram(late, &mut back, |_, _| ());
    left.handle_datagram(late, &back).expect("well formed");
    assert_eq!(left.poll_event(), Some(LinkEvent::MessageAcked(id)));
    assert_eq!(left.poll_event(), None);
    assert!(!left.wants_to_send(late));
    let stats = left.stats();
    assert_eq!((stats.lost, stats.acked_after_loss, stats.acked, stats.resent), (1, 1, 0, 0));
}

#[test]
fn bodies_of_any_length_arrive_whole_and_padding_is_not_a_body() {
    let now = LocalTime::from_millis(1_000);
    for bits in 0..40 {
        let [mut left, mut right] = [(); 2].map(|()| Link::new(LinkConfig::default()));
        let mut bytes = Vec::new();
        left.write_datagram(now, &mut bytes, |writer, _| writer.append(&[0xff; 5], bits));
        let mut body = right.handle_datagram(now, &bytes).expect("well formed").expect("fresh");
        for _ in 0..bits {
            let mut bit = false;
            body.flag(&mut bit).expect("it was written");
            assert!(bit);
        }
        assert!(body.remaining_bits() < 8 || bits < 8);
        assert_eq!(right.next_deadline().is_some(), bits > 0, "{bits} bits");
    }
}

#[test]
fn a_body_of_500_bytes_fits_beside_a_full_queue() {
    for length in [8, 20, 100, MAX_MESSAGE] {
        let mut link = Link::new(LinkConfig::client());
        let now = LocalTime::from_millis(1_000);
        (0..256).for_each(|number| {
            link.send_reliable(now, message(number, length), None).expect("the queue has room");
        });
        let budget = link.body_budget_bits(now);
        assert!(budget >= 8 * MIN_BODY_BYTES);
        let mut bytes = Vec::new();
        link.write_datagram(now, &mut bytes, |writer, _| {
            writer.append(&[1; MAX_DATAGRAM], budget);
        });
        assert_eq!(bytes.len(), MAX_DATAGRAM);
        assert!(!parts(&bytes).1.0.is_empty());
    }
}

/// Arbitrary bytes, and datagrams of a peer that knows the format and sends invalid values in every
/// field.
#[test]
fn any_input_keeps_state_bounded_and_reports_each_outcome_once() {
    for seed in 0..20 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut link = Link::new(LinkConfig { first_seq: Seq(65_000), ..LinkConfig::client() });
        let mut in_flight = BTreeSet::new();
        let mut next = Seq(65_000);
        for step in 0..3_000_u64 {
            let now = LocalTime::from_millis(step * 5);
            let bytes = if rng.bool() {
                invalid_datagram(&mut rng, next)
            } else {
                random_datagram(&mut rng)
            };
            let _ = link.handle_datagram(now, &bytes);
            if rng.bool() {
                let _ = link.send_reliable(now, message(step, 30), None);
                let mut out = Vec::new();
                let before = link.stats();
                let written =
                    link.write_datagram(now, &mut out, |writer, _| writer.append(&[1], 8));
                next = written.seq;
                let WrittenDatagram { header, messages, repeated_messages, .. } = written;
                let slices = written.slice + written.repeated_slice;
                let bits = header + messages + repeated_messages + slices;
                assert_eq!(bits + written.body + written.padding, 8 * out.len());
                let again = |stats: &LinkStats| stats.resent + stats.copied;
                let resent = again(&link.stats()) > again(&before);
                assert_eq!(repeated_messages > 0, resent, "{written:?}");
                let slice_resent = link.stats().slices_resent > before.slices_resent;
                assert_eq!(written.repeated_slice > 0, slice_resent, "{written:?}");
                assert!(in_flight.insert(next.0));
            }
            assert!(link.events.len() <= MAX_EVENTS && link.messages.0.is_empty());
            if step % 100 == 0 {
                let _ = link.send_block(now, message(step, 5_000));
            }
            while let Some(event) = link.poll_event() {
                if let LinkEvent::Acked(seq, ()) | LinkEvent::Lost(seq, ()) = event {
                    assert!(
                        in_flight.remove(&seq.0),
                        "seed {seed}: {event:?} is reported again, or was never sent"
                    );
                }
            }
            assert!(in_flight.len() < SENT_WINDOW, "seed {seed}");
        }
        let stats = link.stats();
        assert!(stats.malformed > 500 && stats.received > 100 && stats.acked > 100, "{stats:?}");
    }
}

pub(super) fn header_with_extras(number: u64) -> DatagramHeader {
    DatagramHeader {
        number: ShortNumber::from_number(number),
        extras: Some(HeaderExtras::default()),
        ..DatagramHeader::default()
    }
}

fn random_datagram(rng: &mut fastrand::Rng) -> Vec<u8> {
    let length = rng.usize(0..60);
    (0..length).map(|_| rng.u8(..)).collect()
}

fn invalid_datagram(rng: &mut fastrand::Rng, newest: Seq) -> Vec<u8> {
    let near = |rng: &mut fastrand::Rng| {
        ShortNumber::from_number(u64::from(newest.0.wrapping_sub(rng.u16(0..200)).wrapping_add(3)))
    };
    let mut header = DatagramHeader {
        number: ShortNumber::from_number(rng.u64(..)),
        asks_for_ack: rng.bool(),
        ..DatagramHeader::default()
    };
    let earlier = [u32::MAX, !(1 << rng.u32(..32)), rng.u32(..)][rng.usize(0..3)];
    header.ack = rng.bool().then(|| Ack { latest: near(rng), earlier });
    let pong = rng.bool().then(|| format::Pong {
        pinged: near(rng),
        received_us: rng.u64(..) >> 16,
        held_us: rng.u64(..) >> 40,
    });
    header.extras = Some(HeaderExtras { ping: rng.bool(), pong });
    let mut messages = Messages::default();
    let mut id = rng.u32(..);
    for _ in 0..rng.usize(0..5) {
        messages.0.push(format::Message { id, bytes: message(rng.u64(..), 8) });
        id = id.wrapping_add(rng.u32(1..MESSAGE_WINDOW));
    }
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    header.wire(&mut writer).expect("writing cannot fail");
    messages.wire(&mut writer).expect("writing cannot fail");
    writer.option(&mut rng.bool().then(|| ReceivedSet::example(rng))).expect("writing cannot fail");
    writer
        .option(&mut (rng.u32(..4) == 0).then(|| Slice::example(rng)))
        .expect("writing cannot fail");
    writer.finish();
    bytes
}

#[test]
fn an_owner_that_does_not_poll_loses_no_messages() {
    let [mut left, mut right] = [(); 2].map(|()| Link::new(LinkConfig::default()));
    let mut now = LocalTime::from_millis(1_000);
    for number in 0..3_000 {
        now += ms(1);
        let _ = left.send_reliable(now, message(number, 8), None);
        let mut there = Vec::new();
        let mut back = Vec::new();
        left.write_datagram(now, &mut there, |_, _| ());
        right.handle_datagram(now, &there).expect("well formed");
        right.write_datagram(now, &mut back, |_, _| ());
        left.handle_datagram(now, &back).expect("well formed");
        while left.poll_event().is_some() {}
    }
    assert!(right.stats().overrun > 0 && right.events.len() <= 2 * MAX_EVENTS);
    let is_message = |event: &&LinkEvent| matches!(event, LinkEvent::Message(_));
    assert_eq!(
        right.events.iter().filter(is_message).count() as u64,
        right.stats().messages_received
    );
}

#[test]
fn storage_does_not_grow_with_traffic() {
    let mut pair = Pair::client_and_server(impaired(20.0, 1));
    let capacities = |pair: &Pair| {
        pair.ends.each_ref().map(|end| (end.link.events.capacity(), end.link.messages.0.capacity()))
    };
    let mut number = 0;
    let mut exchange = |pair: &mut Pair| {
        for _ in 0..200 {
            pair.send(0, number, 20, None);
            number += 1;
            pair.run(ms(50));
        }
    };
    exchange(&mut pair);
    let before = capacities(&pair);
    exchange(&mut pair);
    exchange(&mut pair);
    for ((events, messages), (events_before, messages_before)) in
        capacities(&pair).into_iter().zip(before)
    {
        assert!(events <= 2 * events_before && messages <= 2 * messages_before.max(4));
    }
    assert!(size_of::<Link>() <= 1_080, "{}", size_of::<Link>());
}
