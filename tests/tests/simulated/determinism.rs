//! Invariant 7 (determinism) of ARCHITECTURE.md: the same seed and inputs give the same bytes.

use ambit_room::recording::{self, Recording, ReplayStep};

use crate::script::{act_randomly, bad_network, room_of};

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let run = |seed: u64| {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (mut system, _) =
            room_of(seed, 6, &bad_network(), &[("size", "80x80"), ("npcs", "10")]);
        act_randomly(&mut system, &mut rng, 6, 80.0, 40);
        system.traffic()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_recorded_room_can_be_replayed_bit_by_bit() {
    let mut rng = fastrand::Rng::with_seed(8);
    let (mut system, room) =
        room_of(8, 5, &bad_network(), &[("size", "80x80"), ("npcs", "10"), ("tick", "30")]);
    act_randomly(&mut system, &mut rng, 5, 80.0, 40);
    let (recording, outputs) = system.recording(room).expect("the room runs");
    let mut again = std::hash::DefaultHasher::new();
    let recording = Recording::read(&recording).expect("the room's own recording");
    let replayed = recording::replay(recording, &ambit_game_server::standard(), |step| {
        if let ReplayStep::Ends { at, outputs } = step {
            ambit_tests::sim::host::hash_datagrams(at, outputs, &mut again);
        }
    });
    let comparison = replayed.expect("the recording is complete").comparison;
    assert_eq!(comparison.departure, None);
    assert!(comparison.compared > 0);
    assert_eq!(std::hash::Hasher::finish(&again), outputs);
}
