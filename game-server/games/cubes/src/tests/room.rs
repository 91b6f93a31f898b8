//! The game in a room: avatars while connections end and players return.

use ambit_proto::ids::ClientId;
use ambit_proto::link::{Link, LinkConfig};
use ambit_proto::message::{KeyInput, Uplink};
use ambit_proto::pose::PoseCoding;
use ambit_proto::wire::Wire;

use super::*;
use ambit_room::room::{Room, RoomInput};

#[test]
fn a_player_who_disconnects_keeps_the_cube_and_can_return() {
    let mut scene = RoomWithClient::new();
    scene.tick(Some(join(1)));
    scene.ticks(60);
    let avatar = scene.room.avatar(ANN).expect("ann is in the room");
    let before = scene.room.world().pose(avatar);
    scene.tick(Some(RoomInput::Disconnect { client: ClientId(1), player: ANN }));
    scene.ticks(100);
    assert_eq!(scene.room.world().pose(avatar), before);
    scene.tick(Some(join(2)));
    assert_eq!(scene.room.avatar(ANN), Some(avatar));
    assert_eq!(scene.room.world().pose(avatar), before);
}

#[test]
fn the_keys_of_a_disconnected_player_are_released() {
    let mut scene = RoomWithClient::new();
    scene.tick(Some(join(1)));
    scene.ticks(60);
    let avatar = scene.room.avatar(ANN).expect("ann is in the room");
    scene.hold(Keymap(0).with(control::RIGHT, true));
    scene.ticks(10);
    assert!(scene.room.world().flag(avatar, 2));
    scene.tick(Some(RoomInput::Disconnect { client: ClientId(1), player: ANN }));
    assert!(!scene.room.world().flag(avatar, 2));
    scene.ticks(100);
    let pose = scene.room.world().pose(avatar);
    assert!(pose.flag, "the avatar has rolled to a stop: {pose:?}");
}

#[test]
fn removing_a_player_removes_its_cube() {
    let mut scene = RoomWithClient::new();
    scene.tick(Some(join(1)));
    scene.ticks(20);
    let avatar = scene.room.avatar(ANN).expect("ann is in the room");
    scene.tick(Some(RoomInput::Remove { player: ANN, why: Left::Quit }));
    assert!(!scene.room.world().contains(avatar));
    scene.ticks(20);
    assert_eq!(scene.room.world().len(), 20);
}

fn join(client: u32) -> RoomInput {
    RoomInput::Join {
        client: ClientId(client),
        player: ANN,
        account: None,
        name: "ann".into(),
        coding: PoseCoding::Auto,
    }
}

/// A room and the link of its first client.
struct RoomWithClient {
    room: Room,
    ticks: u64,
    link: Link,
}

impl RoomWithClient {
    fn new() -> Self {
        let (config, game) =
            prepare(&[("cubes", "20"), ("spacing", "3")]).expect("valid parameters");
        let grace = Duration::from_secs(30);
        Self {
            room: Room::new(RoomConfig { grace, ..config }, game),
            ticks: 0,
            link: Link::new(LinkConfig::client()),
        }
    }

    /// Runs a tick with a datagram of the first client that holds these keys.
    fn hold(&mut self, keys: Keymap) {
        let at = GameTime::from_millis(50 * self.ticks);
        let input = Some(KeyInput::new(keys, at));
        let mut bytes = Vec::new();
        self.link.write_datagram(at.into(), &mut bytes, |writer, _| {
            Uplink { input, ..Uplink::default() }.wire(writer).expect("writing cannot fail");
        });
        self.tick(Some(RoomInput::Datagram { client: ClientId(1), at, bytes: bytes.into() }));
    }

    fn tick(&mut self, input: Option<RoomInput>) {
        let now = GameTime::from_millis(50 * self.ticks);
        self.ticks += 1;
        self.room.tick(now, &mut input.into_iter().collect(), &mut Vec::new());
    }

    fn ticks(&mut self, ticks: u32) {
        (0..ticks).for_each(|_| self.tick(None));
    }
}
