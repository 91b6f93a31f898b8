//! Invariant 2 (hiding) of ARCHITECTURE.md: what a player must not see has no effect on the
//! datagrams that it receives.
//!
//! Tested by non-interference: the same seed is run twice, and the runs differ only in what a
//! veiled player does. Every datagram to any other player must be the same, byte by byte and tick
//! by tick.

use std::time::Duration;

use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_field::commands;
use ambit_proto::ids::RoomId;
use ambit_room::logic::sight::Sight;
use ambit_tests::sim::System;

use crate::script::{
    BLINK, BOLT, HEAL, VEIL, act_randomly, avatar_position, bad_network, good_network, room_of,
};

/// The actions of the veiled player: called with the system, the user and the number of quarters of
/// a second since the veil began.
type HiddenAction = fn(&mut System, usize, usize);

#[test]
fn actions_of_a_veiled_player_change_no_datagram_of_the_others() {
    let secrets: [(&str, HiddenAction); 3] =
        [("stands still", |_, _, _| {}), ("walks", walk_about), ("heals and walks", heal_and_walk)];
    for seed in 0..3 {
        let runs: Vec<_> = secrets.iter().map(|&(_, secret)| run(seed, secret)).collect();
        for (run, (what, _)) in runs.iter().zip(&secrets) {
            assert_same_datagrams(&run.others, &runs[0].others, &format!("{what}, seed {seed}"));
        }
        // The runs do differ for the veiled player itself.
        assert_ne!(runs[0].own, runs[1].own, "seed {seed}");
        assert!(
            runs[0].ended_at != runs[1].ended_at,
            "seed {seed}: the veiled player did not move"
        );
        assert!(
            runs[0].was_seen_before && !runs[0].was_seen_after,
            "seed {seed}: the veil did not hide the avatar"
        );
    }
}

#[test]
fn a_bolt_that_hits_a_veiled_player_flies_on() {
    let (mut system, room) =
        room_of(4, 3, &good_network(), &[("size", "60x60"), ("npcs", "0"), ("obstacles", "0")]);
    for (user, (x, y)) in [(20.0, 20.0), (10.0, 20.0), (12.0, 24.0)].into_iter().enumerate() {
        crate::script::walk_to(&mut system, room, user, x, y);
    }
    system.act(0, &commands::cast(VEIL, None));
    system.run_for(Duration::from_secs(1));
    let events_before: Vec<usize> = (0..3).map(|user| damage_events(&system, user)).collect();
    system.act(1, &commands::cast(BOLT, Some((40.0, 20.0))));
    system.run_for(Duration::from_secs(3));
    assert_eq!(
        damage_events(&system, 0),
        events_before[0] + 1,
        "the veiled player gets its damage event"
    );
    assert_eq!(damage_events(&system, 1), events_before[1], "the shooter gets no event");
    assert_eq!(damage_events(&system, 2), events_before[2], "a bystander gets no event");
    assert!(health(&system, room, 0) < 90.0);
}

/// A veil while walking: neither the end of the way nor what the veiled player does then shows.
#[test]
fn a_veil_under_way_hides_the_end_of_the_way_and_all_that_follows() {
    let stories = [
        Story::new("walks on", 56.0, |_, _| {}),
        Story::new("was to stop sooner", 40.0, |_, _| {}),
        Story::new("turns", 56.0, |system, quarter| {
            if quarter == 0 {
                system.act(0, &commands::walk(30.0, 50.0));
            }
        }),
        Story::new("blinks", 56.0, |system, quarter| {
            if quarter == 0 {
                system.act(0, &commands::cast(BLINK, Some((30.0, 40.0))));
            }
        }),
        Story::new("shoots", 56.0, |system, quarter| {
            if quarter.is_multiple_of(6) {
                system.act(0, &commands::cast(BOLT, Some((59.0, 50.0))));
            }
        }),
        Story::new("dies in the line of fire", 56.0, |system, quarter| {
            if quarter == 0 {
                system.act(0, &commands::walk(32.0, 36.0));
            }
        }),
        Story::new("goes through a gate", 56.0, |system, quarter| {
            if quarter == 0 {
                system.act(0, &commands::walk(59.5, 30.0));
            }
        }),
    ];
    let runs: Vec<_> = stories.iter().map(Story::run).collect();
    for (run, story) in runs.iter().zip(&stories) {
        assert_same_datagrams(&run.others, &runs[0].others, story.what);
    }
    let outcomes: Vec<_> = runs.iter().map(|run| &run.outcome).collect();
    assert!(outcomes[0].place.x > 55.9 && outcomes[1].place.x < 40.1);
    assert!(outcomes[2].place.y > 49.9 && outcomes[3].place.y > 39.9);
    assert!(outcomes[4].bolts > outcomes[0].bolts);
    assert!(outcomes[5].has_died && !outcomes[0].has_died);
    assert!(outcomes[6].is_on_next_map && !outcomes[0].is_on_next_map);
}

#[test]
fn a_player_who_walks_out_of_sight_does_not_show_where_to() {
    let ways = [56.0, 57.5].map(|end| {
        let mut story = Story::new("walks out of sight", end, |_, _| {});
        story.is_veiled = false;
        story
    });
    let [short, long] = ways.map(|story| story.run());
    assert_same_datagrams(&long.others, &short.others, "walks farther");
    assert!(long.outcome.place.x > short.outcome.place.x + 1.4);
}

/// A player walks east, may cast a veil on the way, and then does something. One player watches,
/// another shoots all the time.
struct Story {
    what: &'static str,
    /// The x of the end of the way; it begins at 20 and is walked at 5 m/s.
    end_x: f32,
    is_veiled: bool,
    /// With the number of quarters of a second since the veil.
    secret: fn(&mut System, usize),
}

struct StoryRun {
    /// Datagrams to each other player since before the walk.
    others: Vec<Vec<(u64, bytes::Bytes)>>,
    outcome: Outcome,
}

/// What has become of the walker.
struct Outcome {
    /// The avatar's place on the first map, as long as it was there.
    place: ambit_proto::space::Position,
    /// The bolts that the walker has seen.
    bolts: usize,
    has_died: bool,
    is_on_next_map: bool,
}

impl Story {
    fn new(what: &'static str, end_x: f32, secret: fn(&mut System, usize)) -> Self {
        Self { what, end_x, is_veiled: true, secret }
    }

    fn run(&self) -> StoryRun {
        const WALKER: usize = 0;
        const SHOOTER: usize = 2;
        let given = [("maps", "2"), ("size", "60x60"), ("npcs", "0"), ("obstacles", "0")];
        let (mut system, room) = room_of(7, 3, &good_network(), &given);
        for (user, (x, y)) in [(20.0, 30.0), (16.0, 24.0), (18.0, 36.0)].into_iter().enumerate() {
            crate::script::walk_to(&mut system, room, user, x, y);
        }
        system.run_for(Duration::from_secs(20)); // All mana is back.
        for user in 0..3 {
            system.user_mut(user).sent_datagrams = Some(Vec::new());
        }
        system.act(WALKER, &commands::walk(self.end_x, 30.0));
        system.run_for(Duration::from_secs(1));
        if self.is_veiled {
            system.act(WALKER, &commands::cast(VEIL, None));
        }
        let mut place = avatar_position(&system, room, WALKER);
        for quarter in 0..38 {
            system.run_for(Duration::from_millis(250));
            (self.secret)(&mut system, quarter);
            if quarter.is_multiple_of(3) {
                system.act(SHOOTER, &commands::cast(BOLT, Some((40.0, 36.0))));
            }
            let player = system.user(WALKER).client.player().expect("welcomed");
            let truth = system.room(room).expect("the room runs");
            if let Some(avatar) = truth.avatar(player).filter(|_| quarter < 36) {
                place = truth.world().position(avatar);
            }
        }
        let player = system.user(WALKER).client.player().expect("welcomed");
        let next_map = system.room(RoomId(room.0 + 1));
        let events = &system.user(WALKER).events;
        let outcome = Outcome {
            place,
            bolts: events
                .iter()
                .filter(|event| {
                    matches!(
                        event,
                        ViewEvent::Game(GameEvent::Enter(enter)) if &*enter.kind == "bolt"
                    )
                })
                .count(),
            has_died: events.iter().any(|event| {
                matches!(
                    event,
                    ViewEvent::Game(GameEvent::Event(event)) if &*event.name == "death"
                )
            }),
            is_on_next_map: next_map.is_some_and(|next| next.avatar(player).is_some()),
        };
        StoryRun { others: (1..3).map(|user| datagrams_to(&mut system, user)).collect(), outcome }
    }
}

/// Every datagram to each of the others is the same, and was sent at the same time.
fn assert_same_datagrams(
    these: &[Vec<(u64, bytes::Bytes)>],
    those: &[Vec<(u64, bytes::Bytes)>],
    what: &str,
) {
    for (user, (these, those)) in (1..).zip(these.iter().zip(those)) {
        let differs = these.iter().zip(those).position(|(a, b)| a != b);
        let context = format!("user {user} gets other datagrams when user 0 {what}");
        assert_eq!(differs, None, "{context}");
        assert_eq!(these.len(), those.len(), "{context}");
    }
}

/// What was sent to a user since the recording began; ends the recording.
fn datagrams_to(system: &mut System, user: usize) -> Vec<(u64, bytes::Bytes)> {
    let sent = system.user_mut(user).sent_datagrams.take().expect("recorded");
    sent.into_iter().map(|(at, bytes)| (at.micros(), bytes)).collect()
}

struct Run {
    /// Datagrams to each other player while the first one was veiled.
    others: Vec<Vec<(u64, bytes::Bytes)>>,
    own: Vec<(u64, bytes::Bytes)>,
    ended_at: ambit_proto::space::Position,
    was_seen_before: bool,
    was_seen_after: bool,
}

fn run(seed: u64, secret: HiddenAction) -> Run {
    const PLAYERS: usize = 6;
    let (mut system, room) = room_of(
        seed,
        PLAYERS,
        &bad_network(),
        &[("size", "70x70"), ("npcs", "15"), ("obstacles", "8")],
    );
    let mut rng = fastrand::Rng::with_seed(seed);
    others_act_randomly(&mut system, &mut rng, PLAYERS, 8);
    for user in 0..PLAYERS {
        system.user_mut(user).sent_datagrams = Some(Vec::new());
    }
    let was_seen_before = is_seen(&system, room);
    system.act(0, &commands::cast(VEIL, None));
    // On a bad network the command takes some time. The veil lasts ten seconds from here on.
    let is_veiled = |system: &System| {
        let truth = system.room(room).expect("the room runs");
        let avatar = truth
            .avatar(system.user(0).client.player().expect("welcomed"))
            .expect("the user is in the room");
        let other = truth
            .avatar(system.user(1).client.player().expect("welcomed"))
            .expect("the user is in the room");
        !truth.game().sees(truth.world(), other, avatar, Sight::Kept)
    };
    system.run_until("the veil", is_veiled);
    for quarter in 0..36 {
        secret(&mut system, 0, quarter);
        others_act_randomly(&mut system, &mut rng, PLAYERS, 1);
    }
    assert!(is_veiled(&system), "seed {seed}: the veil ended too early");
    let was_seen_after = is_seen(&system, room);
    let ended_at = avatar_position(&system, room, 0);
    let own = datagrams_to(&mut system, 0);
    Run {
        others: (1..PLAYERS).map(|user| datagrams_to(&mut system, user)).collect(),
        own,
        ended_at,
        was_seen_before,
        was_seen_after,
    }
}

/// The others walk and shoot as before; what they do depends only on the random numbers.
fn others_act_randomly(
    system: &mut System,
    rng: &mut fastrand::Rng,
    players: usize,
    rounds: usize,
) {
    for _ in 0..rounds {
        for user in 1..players {
            let action = crate::script::random_action(rng, 70.0);
            if rng.bool() {
                system.act(user, &action);
            }
        }
        act_randomly(system, rng, 0, 70.0, 1);
    }
}

fn walk_about(system: &mut System, user: usize, quarter: usize) {
    let (x, y) = [(5.0, 5.0), (65.0, 60.0), (10.0, 60.0)][quarter / 8 % 3];
    system.act(user, &commands::walk(x, y));
}

fn heal_and_walk(system: &mut System, user: usize, quarter: usize) {
    if quarter.is_multiple_of(5) {
        system.act(user, &commands::cast(HEAL, None));
    }
    system.act(user, &commands::walk(60.0 - quarter as f32, 8.0));
}

/// Whether any other player follows the first player's avatar.
fn is_seen(system: &System, room: RoomId) -> bool {
    let truth = system.room(room).expect("the room runs");
    let player = system.user(0).client.player().expect("welcomed");
    let avatar = truth.avatar(player).expect("the user is in the room");
    truth.network().viewers().any(|viewer| {
        viewer.player != player && truth.network().interest().follows(viewer.client, avatar)
    })
}

/// Damage events that a client received.
fn damage_events(system: &System, user: usize) -> usize {
    let is_damage = |event: &&ViewEvent| {
        matches!(
            event,
            ViewEvent::Game(GameEvent::Event(event)) if &*event.name == "damage"
        )
    };
    system.user(user).events.iter().filter(is_damage).count()
}

fn health(system: &System, room: RoomId, user: usize) -> f32 {
    let truth = system.room(room).expect("the room runs");
    let avatar = truth
        .avatar(system.user(user).client.player().expect("welcomed"))
        .expect("the user is in the room");
    let index = truth.world().schema().kinds[usize::from(truth.world().kind(avatar))]
        .component_index("health")
        .expect("avatars have health");
    truth.world().gauge(avatar, index).value
}
