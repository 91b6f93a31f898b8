//! Games that treat avatars badly: no order of calls harms the room.

use ambit::Typed;
use ambit::prelude::*;
use ambit::test::{Line, TestRoom};
use ambit_proto::ids::ClientId;
use ambit_proto::pose::PoseCoding;
use ambit_proto::standing::Standing;
use ambit_room::config::RoomConfig;
use ambit_room::room::{Room, RoomInput, RoomOutput, TransferArrival, TransferId};

#[derive(Kind)]
struct Walker {
    path: Path,
    name: Text<24>,
}

#[derive(Command)]
enum Command {
    /// The game despawns the avatar, and goes on using it.
    Die,
}

/// What becomes of a player depends on the name.
#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker))]
struct Careless {
    first: Option<Id<Walker>>,
}

impl Game for Careless {
    const INFO: GameInfo = GameInfo::new("careless", "Loses avatars.");
    type Avatar = Walker;
    type Command = Command;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Walker> {
        let avatar =
            world.spawn(Walker { path: Path::at(world.centre()), name: newcomer.name.into() });
        match newcomer.name {
            "ghost" => assert!(world.despawn(avatar)),
            "twin" => {
                world.despawn(avatar);
                return self.first.expect("ann was first");
            }
            _ => self.first = Some(avatar),
        }
        avatar
    }

    fn leave(&mut self, world: &mut World<Self>, player: Player<'_, Self>, _: Left) {
        die(world, player);
    }

    fn rename(&mut self, world: &mut World<Self>, player: Player<'_, Self>) {
        die(world, player);
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        Command::Die: Command,
    ) -> Result<(), NoRefusal> {
        die(world, player);
        Ok(())
    }
}

fn die(world: &mut World<Careless>, player: Player<'_, Careless>) {
    let now = world.now();
    assert!(!world.despawn(player.avatar()));
    assert!(!world.despawn_at(player.avatar(), now));
    world.set_owner(player.avatar(), PlayerId(77));
    world.avatar(player).path().stop();
    world.avatar(player).name().set("dead");
}

#[test]
fn an_avatar_that_its_game_despawns_stays_and_its_player_goes_on() {
    let mut room = TestRoom::<Careless>::new();
    let ann = room.join("ann", Line::default());
    let bob = room.join("bob", Line::default());
    room.command(ann, "die");
    room.run(1.secs());
    assert_eq!(room.errors(ann), Vec::<String>::new());
    let name = room.avatar(ann).and_then(|ann| ann.text("name").map(str::to_owned));
    assert_eq!(name.as_deref(), Some("dead"));
    assert_eq!(room.sees(bob).len(), 2);
    room.leave(ann);
    room.run(1.secs());
    assert_eq!(room.sees(bob).len(), 1);
    assert_eq!(room.world().len(), 1);
}

#[test]
fn a_player_without_an_avatar_is_refused_and_the_room_goes_on() {
    let mut room = Room::new(RoomConfig::default(), Box::<Typed<Careless>>::default());
    assert_eq!(join(&mut room, 1, "ann"), []);
    for (number, name) in [(2, "ghost"), (3, "twin")] {
        let client = ClientId(number);
        let player = PlayerId(number.into());
        let refused = RoomOutput::WithoutAvatar { client, player };
        assert_eq!(join(&mut room, number, name), [refused]);
        assert_eq!(room.avatar(player), None);
        assert_eq!(room.world().account(player), None);
        // The player may try again, and so may others.
        let removal = RoomInput::Remove { player, why: Left::Quit };
        assert_eq!(tick(&mut room, vec![removal]), []);
    }
    assert_eq!(join(&mut room, 2, "ben"), []);
    assert_eq!(room.world().players().len(), 2);
    assert_eq!(room.world().len(), 2);
    // The player leaves with the avatar that another one would have shared.
    let player = PlayerId(1);
    tick(&mut room, vec![RoomInput::Remove { player, why: Left::Quit }]);
    assert_eq!(room.world().len(), 1);
}

#[test]
fn a_restored_room_refuses_the_same_players() {
    let new_game = Box::<Typed<Careless>>::default;
    let mut room = Room::new(RoomConfig::default(), new_game());
    tick(&mut room, Vec::new());
    let saved = room.save().expect("the game can be saved");
    join(&mut room, 1, "ann");
    join(&mut room, 2, "ghost");
    let mut restored =
        Room::restore(RoomConfig::default(), new_game(), &saved).expect("it was just saved");
    let now = room.last_tick().expect("it has ticked");
    let journal: Vec<_> =
        [(1, "ann"), (2, "ghost")].map(|(number, name)| joining(number, name)).into();
    restored.replay(now, &journal);
    assert_eq!(restored.world().players().len(), 1);
    assert_eq!(restored.avatar(PlayerId(2)), None);
}

#[test]
fn a_player_who_arrives_without_an_avatar_is_refused_at_the_join() {
    let mut room = Room::new(RoomConfig::default(), Box::<Typed<Careless>>::default());
    let player = PlayerId(2);
    let transfer = TransferId(7);
    let arrival = TransferArrival {
        player,
        transfer,
        account: Some(AccountId([3; 16])),
        standing: Standing::default(),
        name: "ghost".into(),
        at: room.world().middle(),
        carried: Vec::new(),
    };
    let outputs = tick(&mut room, vec![RoomInput::AdmitTransfer(arrival)]);
    assert_eq!(outputs, [RoomOutput::Arrived { player, transfer }]);
    assert_eq!(room.world().account(player), None);
    let client = ClientId(2);
    let refused = RoomOutput::WithoutAvatar { client, player };
    assert_eq!(join(&mut room, 2, "ghost"), [refused]);
}

#[test]
#[should_panic(expected = "`Game::join` of \"careless\" returned an object that does not exist")]
fn a_test_of_a_game_without_an_avatar_fails() {
    TestRoom::<Careless>::new().join("ghost", Line::default());
}

fn joining(number: u32, name: &str) -> RoomInput {
    RoomInput::Join {
        client: ClientId(number),
        player: PlayerId(number.into()),
        account: Some(AccountId([3; 16])),
        name: name.into(),
        coding: PoseCoding::Auto,
    }
}

fn join(room: &mut Room, number: u32, name: &str) -> Vec<RoomOutput> {
    tick(room, vec![joining(number, name)])
}

/// What a tick puts out, except for datagrams.
fn tick(room: &mut Room, mut inputs: Vec<RoomInput>) -> Vec<RoomOutput> {
    let now = room.last_tick().unwrap_or(GameTime::ZERO) + 50.millis();
    let mut outputs = Vec::new();
    room.tick(now, &mut inputs, &mut outputs);
    outputs.retain(|output| !matches!(output, RoomOutput::Datagram { .. }));
    outputs
}
