//! A room from above: it shows what is there, and looking changes nothing.

use super::why::strait;
use super::*;
use crate::questions::{RoomAnswer, RoomQuestion};

const CLIENTS: u32 = 4;

#[test]
fn a_room_that_is_looked_at_sends_the_same_bytes() {
    let (mut seen, mut unseen) = (strait(1), strait(1));
    let (mut inputs, mut same) = (joins(1..=CLIENTS), joins(1..=CLIENTS));
    for tick in 1..100_u32 {
        let now = GameTime::ZERO + tick * TICK;
        let (mut outputs, mut expected) = (Vec::new(), Vec::new());
        seen.tick(now, &mut inputs, &mut outputs);
        unseen.tick(now, &mut same, &mut expected);
        assert_eq!(outputs, expected, "tick {tick}");
        seen.above(Some(PlayerId(u64::from(tick % (CLIENTS + 1)))));
    }
    assert_eq!(seen.stats(), unseen.stats());
}

#[test]
fn a_picture_has_all_objects_and_what_a_client_follows() {
    let mut room = strait(2);
    let mut inputs = joins(1..=CLIENTS);
    let bob = PlayerId(2);
    let mut metered = 0;
    for tick in 1..60_u32 {
        let before = room.stats().bits;
        room.tick(GameTime::ZERO + tick * TICK, &mut inputs, &mut Vec::new());
        let above = room.above(Some(bob));
        assert_eq!(above.left_out, 0);
        let world = room.world();
        for object in &above.objects {
            let at = world.position(object.object);
            assert_eq!(object.at, Some([at.x, at.y]));
        }
        let objects: Vec<ObjectId> = above.objects.iter().map(|object| object.object).collect();
        assert_eq!(objects, world.objects().collect::<Vec<_>>());
        assert_eq!(above.clients.len(), CLIENTS as usize);
        let view = above.view.as_ref().expect("bob is here");
        let mut followed: Vec<_> = view.objects.iter().map(|followed| followed.object).collect();
        followed.sort_unstable();
        let mut expected: Vec<_> = room.network().interest().followed(ClientId(2)).collect();
        expected.sort_unstable();
        assert_eq!(followed, expected, "tick {tick}");
        if (21..41).contains(&tick) {
            let bits = &room.stats().bits;
            metered += bits.records - before.records;
            metered += bits.pose_indices + bits.pose_contents;
            metered -= before.pose_indices + before.pose_contents;
        }
        if tick == 41 {
            let bytes: u32 = above.bytes_by_kind.iter().sum();
            // Poses are metered by what they are expected to take.
            let share = f64::from(8 * bytes) / metered as f64;
            assert!((0.7..1.3).contains(&share), "{bytes} bytes of {metered} bits");
            assert!(view.bytes_per_s > 0 && view.bytes_per_s < bytes, "{}", view.bytes_per_s);
        }
    }
    assert!(room.above(Some(PlayerId(9))).view.is_none(), "there is no such player");
}

#[test]
fn questions_and_answers_are_read_back_and_other_bytes_are_refused() {
    let mut room = strait(3);
    let mut inputs = joins(1..=CLIENTS);
    for tick in 1..5_u32 {
        room.tick(GameTime::ZERO + tick * TICK, &mut inputs, &mut Vec::new());
    }
    let player = PlayerId(1);
    for question in [
        RoomQuestion::Map,
        RoomQuestion::Above { player: None },
        RoomQuestion::Above { player: Some(player) },
        RoomQuestion::Why { player, object: ObjectId(3) },
    ] {
        assert_eq!(RoomQuestion::decode(&question.encode()), Ok(question));
        let answer = question.ask(&mut room);
        let bytes = answer.encode();
        assert_eq!(RoomAnswer::decode(&bytes).as_ref(), Ok(&answer));
        assert!(RoomAnswer::decode(&bytes[..bytes.len() - 1]).is_err());
    }
    assert!(RoomQuestion::decode(&[9]).is_err());
}
