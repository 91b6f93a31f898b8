//! Poses, from the world to clients that read them bit for bit: whatever the line does, what is
//! decoded is what was.

use super::super::*;
use super::herd::{FREE, Herd, YAW};
use super::mirror::{CLEAR, Line, Scene, herd_of, near};
use crate::config::PoseCoding;

const BAD: Line = Line {
    loss: 20,
    late: 15,
    twice: 5,
};

#[test]
fn each_decoded_pose_is_exact_despite_loss_and_reordering() {
    let lines = [CLEAR, BAD, Line { loss: 50, ..BAD }];
    for (seed, line) in (0..).zip(lines) {
        for (format, coding) in [
            (YAW, PoseCoding::Shared),
            (FREE, PoseCoding::Shared),
            (YAW, PoseCoding::Fine),
            (FREE, PoseCoding::Fine),
        ] {
            let herd = Herd {
                pauses: true,
                ..Herd::new(format)
            };
            let mut scene = herd_of(20, line, seed, RoomConfig { coding, ..near() }, herd);
            scene.ticks(300);
            let stats = scene.room.stats();
            assert!(stats.poses.sent > 10_000, "{:?}", stats.poses);
            let lost_tracks: u32 = scene
                .mirrors
                .values()
                .map(|mirror| mirror.lost_tracks)
                .sum();
            assert_eq!(
                (lost_tracks, stats.malformed),
                (0, 0),
                "{format:?}, {coding:?}, loss {}",
                line.loss
            );
        }
    }
}

#[test]
fn objects_at_rest_end_exact_despite_loss_and_then_cost_nothing() {
    for seed in 0..4 {
        for format in [YAW, FREE] {
            let herd = Herd {
                rest_from: 60,
                ..Herd::new(format)
            };
            let mut scene = herd_of(
                12,
                Line {
                    loss: 30,
                    late: 10,
                    twice: 5,
                },
                seed,
                near(),
                herd,
            );
            scene.ticks(60 + 80);
            for client in 0..12 {
                for other in 0..12 {
                    let object = scene.avatar(other);
                    let (_, known) = scene.known(client, object).expect("in sight");
                    assert_eq!(
                        known,
                        scene.room.world().pose(object),
                        "client {client}, seed {seed}"
                    );
                }
            }
            scene.ticks(60);
            let before = scene.room.stats().clone();
            scene.ticks(30);
            let after = scene.room.stats();
            assert_eq!(after.poses.sent, before.poses.sent, "seed {seed}");
        }
    }
}

#[test]
fn what_stirs_after_a_long_rest_is_told_from_where_it_lay() {
    let herd = Herd {
        pauses: true,
        ..Herd::new(YAW)
    };
    let mut scene = herd_of(4, CLEAR, 1, near(), herd);
    // Pauses take up to three seconds: more datagrams than a window holds.
    scene.ticks(1_000);
    let bits = scene.room.stats().bits;
    let a_pose = bits.pose_contents as f64 / scene.room.stats().poses.sent as f64;
    assert!(a_pose < 16.0, "{a_pose:.1} bits a pose");
}

#[test]
fn a_client_that_lost_track_says_so_and_is_told_everything_anew() {
    let mut scene = herd_of(10, BAD, 7, near(), Herd::new(YAW));
    scene.ticks(60);
    scene
        .mirrors
        .get_mut(&ClientId(3))
        .expect("it joined")
        .forget = true;
    scene.ticks(60);
    assert!(scene.mirrors[&ClientId(3)].lost_tracks >= 1);
    assert!(scene.room.stats().missing_baselines >= 1);
    let lost_tracks = scene.mirrors[&ClientId(3)].lost_tracks;
    scene.ticks(60);
    assert_eq!(
        scene.mirrors[&ClientId(3)].lost_tracks,
        lost_tracks,
        "it has recovered"
    );
    let stale = (0..10).filter(|&other| {
        let (stamp, _) = scene.known(3, scene.avatar(other)).expect("in sight");
        scene.now.since(stamp) > Duration::from_millis(500)
    });
    assert_eq!(stale.count(), 0);
}

#[test]
fn after_a_cut_line_the_picture_is_right_again_within_a_second() {
    let mut scene = herd_of(15, CLEAR, 3, near(), Herd::new(YAW));
    scene.ticks(60);
    scene.cut = true;
    scene.ticks(40);
    scene.cut = false;
    scene.ticks(20);
    for client in 0..15 {
        for other in 0..15 {
            let (stamp, _) = scene.known(client, scene.avatar(other)).expect("in sight");
            assert!(
                scene.now.since(stamp) <= Duration::from_millis(400),
                "{client}: {stamp:?} at {:?}",
                scene.now
            );
        }
    }
}

#[test]
fn extrapolated_poses_are_sent_at_the_rate_of_their_class() {
    let herd = Herd {
        straight: true,
        ..Herd::new(YAW)
    };
    let mut scene = herd_of(15, CLEAR, 5, near(), herd);
    scene.ticks(200);
    let counts = scene.room.stats().poses;
    assert!(counts.extrapolated > counts.sent, "{counts:?}");
    for client in 0..15 {
        for other in 0..15 {
            let object = scene.avatar(other);
            let (stamp, known) = scene.known(client, object).expect("in sight");
            let shown = ambit_proto::pose::extrapolate(
                &YAW,
                (stamp, &known),
                None,
                scene.now.whole_millis(),
            );
            let is = scene.room.world().pose(object);
            let off = shown
                .at
                .iter()
                .zip(is.at)
                .map(|(shown, is)| shown.abs_diff(is))
                .max()
                .expect("three axes");
            // One tick of news is under way: it may have turned at the edge.
            assert!(off <= 40, "{off} units off");
        }
    }
}

#[test]
fn what_a_hidden_object_does_changes_no_other_client_s_bytes() {
    for coding in [PoseCoding::Auto, PoseCoding::Shared, PoseCoding::Fine] {
        for format in [YAW, FREE] {
            let run = |secret| {
                let herd = Herd {
                    hidden: Some(PlayerId(0)),
                    secret,
                    pauses: true,
                    ..Herd::new(format)
                };
                let mut scene = herd_of(8, BAD, 11, RoomConfig { coding, ..near() }, herd);
                scene.keeps = true;
                scene.ticks(200);
                scene
            };
            let (idle, busy) = (run(false), run(true));
            let of_others = |scene: &Scene| -> Vec<_> {
                scene
                    .sent
                    .iter()
                    .filter(|(_, client, _)| client.0 != 0)
                    .cloned()
                    .collect()
            };
            assert_eq!(of_others(&idle), of_others(&busy), "{coding:?}, {format:?}");
            let ways = |scene: &Scene| scene.room.world().position(scene.avatar(0));
            assert_ne!(ways(&idle), ways(&busy), "it did nothing else");
        }
    }
}
