//! Axes: from datagrams to the game, in the journal, and after the end of a connection.

use std::f32::consts::PI;

use ambit_proto::axes::Axes;
use ambit_proto::message::{KeyInput, Uplink};

use super::*;
use crate::saved;

const THROTTLE: u8 = 0;
const AIM: u8 = 2;
/// Half a turn of an angle, and -1 of a linear axis.
const FARTHEST: i8 = -128;

#[test]
fn axes_of_a_journal_replay_to_the_same_values_at_each_tick() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    let mut copy = Scene::new().room;
    let mut rng = fastrand::Rng::with_seed(3);
    let mut seen = BTreeSet::new();
    for tick in 0..80 {
        for _ in 0..rng.usize(..3) {
            scene.send_input(ann, [rng.i8(..), rng.i8(..)]);
        }
        if tick == 60 {
            scene.inputs.push(RoomInput::Disconnect { client: ann, player: ANN });
        }
        scene.ticks(1);
        let bytes = saved::section(scene.room.journal());
        let journal: Vec<RoomInput> = saved::only_section(&bytes).expect("a journal");
        copy.replay(scene.now, &journal);
        let values = axes_of(&scene.room);
        assert_eq!(axes_of(&copy), values, "tick {tick}");
        seen.insert(values.map(f32::to_bits));
    }
    assert!(seen.len() > 30, "{}", seen.len());
    assert_eq!(axes_of(&scene.room)[0], 0.0, "the player is gone");
}

#[test]
fn a_connection_that_ends_lets_levers_go_and_leaves_angles() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    scene.ticks(1);
    assert_eq!(axes_of(&scene.room), [0.0, 0.0], "before the first sample");
    scene.send_input(ann, [FARTHEST, FARTHEST]);
    scene.ticks(1);
    assert_eq!(axes_of(&scene.room), [-1.0, -PI]);
    scene.join(ANN, "ann");
    scene.ticks(1);
    assert_eq!(axes_of(&scene.room), [0.0, -PI], "another connection took over");
}

#[test]
fn a_datagram_with_too_few_axes_is_malformed() {
    let mut scene = Scene::new();
    let ann = scene.join(ANN, "ann");
    scene.ticks(1);
    scene.send_uplink(ann, [0; 2], 0);
    scene.send_uplink(ann, [0; 2], 4);
    scene.ticks(1);
    assert_eq!((scene.room.stats().malformed, scene.room.stats().inputs), (2, 0));
}

#[test]
#[should_panic(expected = "\"fire\" is not declared as an axis")]
fn a_key_has_no_value() {
    let scene = Scene::new();
    scene.room.world().axis(ANN, 1);
}

fn axes_of(room: &Room) -> [f32; 2] {
    [THROTTLE, AIM].map(|control| room.world().axis(ANN, control))
}

impl Scene {
    fn send_input(&mut self, client: ClientId, axes: [i8; 2]) {
        self.send_uplink(client, axes, 2);
    }

    /// Sends a sample in which no key is held, in the form for `count` axes. It is a millisecond
    /// newer than the one before.
    fn send_uplink(&mut self, client: ClientId, axes: [i8; 2], count: usize) {
        let before = self.inputs.len() as u64;
        let at = self.now + Duration::from_millis(before);
        let axes = Axes([axes[0], axes[1], 0, 0]);
        let input = Some(KeyInput::new(Keymap(0), at).with_axes(Some(axes)));
        let mut uplink = Uplink { input, ..Uplink::default() };
        let mut bytes = Vec::new();
        let link = self.links.get_mut(&client).expect("a client of the scene");
        link.write_datagram(self.now.into(), &mut bytes, |writer, _| {
            uplink.wire_with_axes(count, writer).expect("writing cannot fail");
        });
        self.push_datagram(client, bytes);
    }
}
