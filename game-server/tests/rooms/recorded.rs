//! A saved room is a recording of a snapshot and a journal.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use ambit::prelude::{
    Declare, Deserialize, Game, GameInfo, Games, Id, Kind, Newcomer, NoRefusal, Number, Path,
    Position, Serialize,
};
use ambit_field::FieldGame;
use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::link::{Link, LinkConfig};
use ambit_proto::message::{KeyInput, Uplink};
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::GameTime;
use ambit_proto::wire::Wire;
use ambit_room::digest::Digester;
use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};
use ambit_room::logic::registry::Registry;
use ambit_room::logic::world::World;
use ambit_room::recording::{
    self, Header, Recorder, Recording, ReplayStep, Replayed, recording_of, room,
    run_without_players,
};
use ambit_room::room::{RoomInput, RoomOutput};

use super::ANN;

#[test]
fn a_saved_room_is_a_recording_that_begins_with_a_snapshot() {
    let header = Header {
        game: "field".to_owned(),
        room: 3,
        seed: 4,
        capacity: 5,
        grace_ms: 6,
        parameters: BTreeMap::new(),
    };
    let registry = ambit_game_server::standard();
    let mut first = room(&header, &registry).expect("a room of the field");
    let mut join = vec![RoomInput::Join {
        client: ClientId(1),
        player: ANN,
        account: None,
        name: "ann".to_owned(),
        coding: PoseCoding::Auto,
    }];
    first.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
    let snapshot =
        RoomSnapshot { at: GameTime::ZERO, state: first.save().expect("the field can be saved") };
    first.tick(GameTime::from_millis(50), &mut join, &mut Vec::new());
    let saved = SavedRoom {
        snapshot,
        journal: vec![JournalEntry::new(GameTime::from_millis(50), first.journal())],
    };
    let recording = recording_of(&header, &saved);
    let mut replayed = replay(&recording, &registry).room;
    assert_eq!(replayed.last_tick(), first.last_tick());
    assert_eq!(replayed.avatar(ANN), first.avatar(ANN));
    run_without_players(&mut replayed, Duration::from_millis(120));
    assert_eq!(replayed.last_tick(), Some(GameTime::from_millis(150)));
}

#[test]
fn a_replay_codes_poses_as_each_client_asked() {
    let header = Header {
        game: "cubes".to_owned(),
        capacity: 5,
        parameters: [("cubes".to_owned(), "9".to_owned())].into(),
        ..Header::default()
    };
    let registry = ambit_game_server::standard();
    let run = |codings: [PoseCoding; 2]| {
        let mut original = room(&header, &registry).expect("a room of cubes");
        let mut links = [(); 2].map(|()| Link::new(LinkConfig::client()));
        let mut recorded = Vec::new();
        let mut sent = Vec::new();
        let mut recorder = Recorder::begin(&header, None, &mut recorded);
        let joins = (0..).zip(codings).map(|(client, coding)| RoomInput::Join {
            client: ClientId(client),
            player: PlayerId(client.into()),
            account: None,
            name: client.to_string(),
            coding,
        });
        let mut inputs: Vec<_> = joins.collect();
        for tick in 0..40 {
            let now = GameTime::from_millis(50 * tick);
            let entry = JournalEntry::new(now, &inputs);
            recorder.append(&entry, None, &mut recorded);
            let mut outputs = Vec::new();
            original.tick(now, &mut inputs, &mut outputs);
            inputs.clear();
            for output in &outputs {
                if let RoomOutput::Datagram { client, bytes } = output {
                    let link = &mut links[client.0 as usize];
                    link.handle_datagram(now.into(), bytes).expect("the room's own");
                    while link.poll_event().is_some() {}
                }
            }
            for (client, link) in (0..).zip(&mut links) {
                let mut bytes = Vec::new();
                // Each drives to the right.
                let mut uplink =
                    Uplink { input: Some(KeyInput::new(Keymap(2), now)), ..Uplink::default() };
                link.write_datagram_without_ack_request(now.into(), &mut bytes, |writer, _| {
                    uplink.wire(writer).expect("writing cannot fail");
                });
                inputs.push(RoomInput::Datagram {
                    client: ClientId(client),
                    at: now,
                    bytes: bytes.into(),
                });
            }
            sent.push((now, outputs));
        }
        assert!(original.stats().poses.sent > 40, "{:?}", original.stats().poses);
        recorder.end(&mut recorded);
        (recorded, sent)
    };
    let (recorded, sent) = run([PoseCoding::Plain, PoseCoding::Fine]);
    let mut replayed = Vec::new();
    let recording = Recording::read(&recorded).expect("a recording");
    recording::replay(recording, &registry, |step| {
        if let ReplayStep::Ends { at, outputs } = step {
            replayed.push((at, outputs.to_vec()));
        }
    })
    .expect("a recording");
    assert_eq!(replayed, sent);
    assert_ne!(run([PoseCoding::Shared, PoseCoding::Fine]).1, sent);
}

/// Plays a game for 4 s and records it. `meddles` may change the world after 2 s, as what is in no
/// recording does. Returns the recording, and its length without the digests.
fn play<G: Game>(meddles: impl Fn(&mut World)) -> (Registry, Vec<u8>, usize) {
    let registry = Registry::from(Games::new().with::<G>());
    let header =
        Header { game: G::INFO.name.to_owned(), capacity: 5, grace_ms: 1_000, ..Header::default() };
    let mut room = room(&header, &registry).expect("a room");
    let mut recorded = Vec::new();
    let mut recorder = Recorder::begin(&header, None, &mut recorded);
    let mut bare_recorder = recorder.clone();
    let mut without = recorded.len();
    let mut digester = Digester::default();
    let mut before = None;
    let mut inputs = vec![RoomInput::Join {
        client: ClientId(1),
        player: ANN,
        account: None,
        name: "ann".to_owned(),
        coding: PoseCoding::Auto,
    }];
    for tick in 1..=80 {
        let now = GameTime::from_millis(50 * tick);
        let entry = JournalEntry::new(now, &inputs);
        recorder.append(&entry, before.as_ref(), &mut recorded);
        let mut bare = Vec::new();
        bare_recorder.append(&entry, None, &mut bare);
        without += bare.len();
        room.tick(now, &mut inputs, &mut Vec::new());
        if tick == 41 {
            meddles(room.arrange().0);
        }
        before = Some(digester.digest(&room));
    }
    let before_end = recorded.len();
    recorder.end(&mut recorded);
    without += recorded.len() - before_end;
    (registry, recorded, without)
}

fn replay(bytes: &[u8], registry: &Registry) -> Replayed {
    let recording = Recording::read(bytes).expect("a recording");
    recording::replay(recording, registry, |_| {}).expect("a recording")
}

#[test]
fn a_replay_is_compared_with_what_was_played() {
    let (registry, recorded, without) = play::<FieldGame>(|_| {});
    let comparison = replay(&recorded, &registry).comparison;
    assert_eq!((comparison.compared, comparison.departure), (79, None));
    // Two hashes of the whole, and for each object that has turned its id and 16 bits.
    let each = (recorded.len() - without) / 4;
    assert!(each < 256, "{each} bytes a second");
}

#[test]
fn a_replay_says_when_and_in_which_object_it_departs() {
    let (registry, recorded, _) = play::<FieldGame>(|world| {
        let lowest = world.objects().min().expect("wanderers");
        world.teleport(lowest, Position::on_ground(3.0, 4.0));
    });
    let replayed = replay(&recorded, &registry);
    let strayed = replayed.room.world().objects().min();
    let departure = replayed.comparison.departure.expect("one was moved");
    assert_eq!(departure.same_until, Some(GameTime::from_millis(2_000)));
    assert_eq!((departure.at, departure.is_of_world), (GameTime::from_millis(2_050), true));
    assert_eq!(departure.named_at, Some(departure.at));
    let named: Vec<_> = departure.objects.iter().map(|&(id, _)| id).collect();
    assert_eq!(named, strayed.into_iter().collect::<Vec<_>>(), "and no other");
    let text = departure.to_string();
    assert!(text.contains("departs from what was played at its tick at 2.050 s, "), "{text}");
    let object = format!("these objects do: {} (npc)", named[0]);
    assert!(text.contains(&object), "{text}");
}

/// More objects than a digest lists: the one that strays is not among those of that tick.
#[test]
fn an_object_of_a_large_world_is_named_when_its_turn_comes() {
    let (registry, recorded, _) = play::<Flock>(|world| {
        world.teleport(hundredth(world), Position::on_ground(3.0, 4.0));
    });
    let replayed = replay(&recorded, &registry);
    let departure = replayed.comparison.departure.expect("one was moved");
    assert_eq!(departure.at, GameTime::from_millis(2_050));
    let named_at = departure.named_at.expect("all objects have had their turn");
    let late = named_at.since(departure.at);
    assert!((50..=200).contains(&late.as_millis()), "{late:?}");
    let strayed = hundredth(replayed.room.world());
    let named: Vec<_> = departure.objects.iter().map(|&(id, _)| id).collect();
    assert_eq!(named, [strayed], "and no other");
    assert!(departure.to_string().contains("of those listed at "), "{departure}");
}

fn hundredth(world: &World) -> ObjectId {
    let mut ids: Vec<_> = world.objects().collect();
    ids.sort_unstable();
    ids[100]
}

#[derive(Kind)]
struct Clock {
    path: Path,
    ticks: Number<0, 99>,
}

/// Has 200 objects of which each changes at each tick.
#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Clock))]
struct Flock {
    ticks: i64,
}

impl Game for Flock {
    const INFO: GameInfo = GameInfo::new("flock", "Changes all the time.");
    type Avatar = Clock;
    ambit::no_commands!();
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut ambit::World<Self>) {
        for _ in 0..200 {
            world.spawn(Clock::new(world));
        }
    }

    fn join(&mut self, world: &mut ambit::World<Self>, _: Newcomer<'_>) -> Id<Clock> {
        world.spawn(Clock::new(world))
    }

    fn step(&mut self, world: &mut ambit::World<Self>, _: Duration) {
        self.ticks += 1;
        let mut clocks = Vec::new();
        world.find_all::<Clock>(&mut clocks);
        for id in clocks {
            let mut clock = world.edit(id).expect("it was found");
            clock.ticks().set(self.ticks);
        }
    }
}

impl Clock {
    fn new(world: &ambit::World<Flock>) -> Self {
        Clock { path: Path::at(world.centre()), ticks: Number::new(0) }
    }
}

#[derive(Kind)]
struct Token {
    path: Path,
}

/// Keeps its state in an order that differs between runs.
#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Token))]
struct Unordered {
    numbers: HashMap<u32, u32>,
}

impl Game for Unordered {
    const INFO: GameInfo = GameInfo::new("unordered", "Has a HashMap.");
    type Avatar = Token;
    ambit::no_commands!();
    type Refusal = NoRefusal;

    fn start(&mut self, _: &mut ambit::World<Self>) {
        self.numbers = (0..64).map(|number| (number, number)).collect();
    }

    fn join(&mut self, world: &mut ambit::World<Self>, _: Newcomer<'_>) -> Id<Token> {
        world.spawn(Token { path: Path::at(world.centre()) })
    }
}

#[test]
fn a_game_whose_state_has_no_order_is_found() {
    let (registry, recorded, _) = play::<Unordered>(|_| {});
    let comparison = replay(&recorded, &registry).comparison;
    let departure = comparison.departure.expect("the order differs in each map");
    assert_eq!((departure.same_until, departure.at), (None, GameTime::from_millis(50)));
    assert_eq!((departure.is_of_game, departure.is_of_world), (true, false));
    assert!(departure.to_string().contains("such as a HashMap"), "{departure}");
}

#[test]
fn avatars_of_connected_clients_leave_after_a_replay() {
    let header =
        Header { game: "field".to_owned(), capacity: 5, grace_ms: 1_000, ..Header::default() };
    let join = RoomInput::Join {
        client: ClientId(1),
        player: ANN,
        account: None,
        name: "ann".to_owned(),
        coding: PoseCoding::Auto,
    };
    let mut bytes = Vec::new();
    let mut recorder = Recorder::begin(&header, None, &mut bytes);
    for (ms, inputs) in [(0, vec![]), (50, vec![join]), (100, vec![])] {
        let entry = JournalEntry::new(GameTime::from_millis(ms), &inputs);
        recorder.append(&entry, None, &mut bytes);
    }
    recorder.end(&mut bytes);
    let registry = ambit_game_server::standard();
    let mut replayed = replay(&bytes, &registry).room;
    assert_eq!(replayed.network().viewers().count(), 1);
    assert!(replayed.avatar(ANN).is_some());
    run_without_players(&mut replayed, Duration::from_secs(2));
    assert_eq!(replayed.network().viewers().count(), 0);
    assert_eq!((replayed.stats().clients, replayed.avatar(ANN)), (0, None));
}
