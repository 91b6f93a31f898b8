//! Shots: what a player hits on the screen is what the host says was hit.

use std::time::Duration;

use ambit_proto::ids::ClientObjectId;
use ambit_proto::space::Position;
use ambit_shooter_kinds::ShipControl;
use ambit_tests::shooting::{FRAME, Fairness, OwnSteps, Shooting};

const QUIET: [(&str, &str); 2] = [("asteroids", "0"), ("size", "300x300")];

#[test]
fn an_own_missile_is_drawn_in_the_next_frame_and_once() {
    for rtt in [0, 100, 300] {
        let mut duel = Shooting::new(5, 2, &format!("delay={}ms", rtt / 2), &QUIET);
        duel.run_for(Duration::from_secs(3));
        duel.hold(0, &[ShipControl::Fire]);
        duel.run_for(FRAME);
        assert_eq!(duel.screen(0).missiles().count(), 1, "round trip {rtt} ms");
        duel.hold(0, &[]);
        // The host's missile takes its place, and is no second one.
        for _ in 0..60 {
            duel.run_for(FRAME);
            let drawn: Vec<_> = duel.screen(0).missiles().collect();
            assert!(drawn.len() <= 1, "round trip {rtt} ms: {drawn:?}");
        }
        duel.run_for(Duration::from_secs(2));
        assert_eq!(duel.screen(0).missiles().count(), 0, "round trip {rtt} ms");
    }
}

#[test]
fn on_a_lossy_line_own_missiles_are_drawn_once_too() {
    for line in
        ["delay=50ms,loss=5", "delay=50ms,jitter=5ms,loss=13", "delay=100ms,jitter=5ms,loss=5"]
    {
        let room = [&QUIET[..], &[("tick", "60")]].concat();
        let mut fight = Shooting::new(5, 5, line, &room);
        fight.run_for(Duration::from_secs(3));
        for other in 1..5 {
            fight.hold(other, &[ShipControl::Fire]);
        }
        for _ in 0..60 {
            fight.hold(0, &[ShipControl::Fire]);
            fight.run_for(3 * FRAME);
            fight.hold(0, &[]);
            // The next one follows in 33 m.
            for _ in 0..30 {
                fight.run_for(FRAME);
                let drawn: Vec<_> = fight.screen(0).missiles().collect();
                let is_ahead = |(id, _): &(ClientObjectId, _)| id.0 >= 1 << 31;
                let beside = |(id, at): &(ClientObjectId, Position)| {
                    let near = |(other, there): &&(ClientObjectId, Position)| {
                        other != id && there.distance(*at) < 15.0
                    };
                    drawn.iter().find(near).copied()
                };
                let doubled = drawn.iter().filter(|shot| is_ahead(shot)).find_map(beside);
                assert_eq!(doubled, None, "{line}: {drawn:?}");
            }
        }
    }
}

#[test]
fn a_ship_that_comes_back_elsewhere_is_never_drawn_between_the_places() {
    for line in ["delay=50ms", "delay=50ms,jitter=5ms,loss=5", "delay=50ms,jitter=5ms,loss=13"] {
        let room = [("asteroids", "0"), ("size", "140x140")];
        let mut fight = Shooting::new(3, 4, line, &room);
        fight.fight_for(Duration::from_mins(1));
        let jumps: usize = (0..4).map(|player| fight.screen(player).jumps()).sum();
        assert!(jumps >= 20, "{line}: {jumps} jumps");
        for player in 0..4 {
            let slides = fight.screen(player).slides();
            assert_eq!(slides, [], "{line}: player {player}, of {jumps} jumps");
        }
    }
}

#[test]
fn what_is_hit_on_the_screen_is_hit_at_the_host() {
    let fights = [
        ((0, 0, 0), "filtered"),
        ((100, 5, 13), "filtered"),
        ((200, 5, 0), "filtered"),
        ((100, 5, 2), "rewound"),
    ];
    let mut unfair = Vec::new();
    for ((rtt, jitter, loss), shots) in fights {
        let line = format!("delay={}ms,jitter={jitter}ms,loss={loss}", rtt / 2);
        let room = [("tick", "60"), ("asteroids", "0"), ("size", "140x140"), ("shots", shots)];
        // One fight has so few hits that a single one is three per cent.
        let fights = [11, 12].map(|seed| {
            let mut fight = Shooting::new(seed, 4, &line, &room);
            fight.fight_for(Duration::from_mins(2));
            fight.fairness()
        });
        let fair = Fairness::of_all(fights.iter());
        println!(
            "{line}, {shots}: {} of {} hits, {} by the host",
            fair.confirmed, fair.drawn, fair.host
        );
        let is_fair = fair.drawn > 30 && fair.confirmed * 100 >= fair.drawn * 95;
        unfair.extend((!is_fair).then_some((line, shots)));
    }
    assert!(unfair.is_empty(), "{unfair:?}");
}

#[test]
fn the_own_ship_never_steps_back_and_is_corrected_little_by_little() {
    const BACK_M: f32 = 0.15;
    for line in ["delay=50ms", "delay=50ms,loss=5", "delay=50ms,jitter=5ms,loss=13"] {
        // A picture at any time may show what two frames are corrected by.
        for (is_unsteady, most_beyond_m) in [(false, BACK_M + 0.01), (true, 2.0 * BACK_M + 0.01)] {
            let room = [("asteroids", "12"), ("size", "140x140")];
            let fight = Shooting::new(3, 4, line, &room);
            let mut fight = if is_unsteady { fight.unsteady() } else { fight };
            fight.fight_for(Duration::from_mins(3));
            for player in 0..4 {
                let OwnSteps { frames, jumps, beyond_m, back_m } = fight.screen(player).own_steps();
                let large = |metres: &[f32]| metres.iter().filter(|m| **m > BACK_M).count();
                let [beyond, back] = [beyond_m, back_m].map(|metres| OwnSteps::largest_m(metres));
                println!(
                    "{line}, unsteady {is_unsteady}, player {player}: {frames} steps, {jumps} \
                     jumps; {} beyond, up to {beyond} m; {} back, up to {back} m",
                    large(beyond_m),
                    large(back_m)
                );
                // What came back elsewhere did so at once, and nothing else did.
                assert!(*frames > 10_000 && *jumps < 20, "{line}, player {player}");
                assert!(back <= BACK_M, "{line}, player {player}: {back} m back");
                assert!(beyond <= most_beyond_m, "{line}, player {player}: {beyond} m off its way");
            }
        }
    }
}
