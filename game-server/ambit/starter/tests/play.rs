//! Plays the game in virtual time, with clients on good and bad lines.

use ambit::prelude::*;
use ambit::test::{Line, TestRoom};
use gather::{Gather, Mushroom, Picked, Walker};

#[test]
fn who_walks_gets_tired_and_who_rests_recovers() {
    let mut room = TestRoom::<Gather>::new();
    let ann = room.join("ann", Line::default());
    for x in [101, 102, 103, 104, 105, 106] {
        room.command(ann, &format!("walk-to {x} 100"));
        room.run(100.millis());
    }
    room.run(1.secs());
    assert_eq!(room.errors(ann), ["tired"]);
    room.command(ann, "rest");
    room.run(10.secs());
    let ann = room.avatar(ann).expect("she is in the game");
    let stamina = ann.get::<Walker>().and_then(|walker| walker.stamina).expect("she knows it");
    assert!(stamina.value > 90.0, "{stamina:?}");
}

#[test]
fn bob_sees_ann_pick_a_mushroom_although_he_loses_every_fifth_datagram() {
    let mut room = TestRoom::<Gather>::with(&[("size", "30x30")]);
    let ann = room.join("ann", Line::default());
    let bob = room.join("bob", Line::default().delay(60.millis()).loss(20.0));
    let mut mushrooms = Vec::new();
    room.world().find_all::<Mushroom>(&mut mushrooms);
    let goal = room.world().position(mushrooms[0]).expect("it grows");
    room.command(ann, &format!("walk-to {} {}", goal.x, goal.y));
    room.run(10.secs());
    assert!(room.events(bob).iter().any(|event| event.get::<Picked>().is_some()));
    let seen = room.sees(bob);
    let mut walkers = seen.iter().filter_map(|object| object.get::<Walker>());
    let ann = walkers.find(|walker| walker.name == "ann").expect("bob sees ann");
    assert!(ann.picked >= 1);
}
