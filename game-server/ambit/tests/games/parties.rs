//! What games need not write themselves: names that follow their players, components as they are
//! at first, journeys of a whole party, and whom something meets that flies straight.

use ambit::Typed;
use ambit::flight::StraightFlight;
use ambit::prelude::*;
use ambit::test::{Line, TestRoom};
use ambit_proto::ids::ClientId;
use ambit_proto::pose::PoseCoding;
use ambit_room::config::RoomConfig;
use ambit_room::room::{Room, RoomInput, RoomOutput};

#[derive(Kind, Default)]
struct Scout {
    path: Path,
    name: Text<24>,
    health: Gauge<50>,
    tired: Flag,
}

#[derive(Kind, Default)]
#[kind(room_wide)]
struct Tally {
    found: Number<0, 99>,
    name: Text<6>,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Scout, Tally))]
struct Party {
    goes_on: bool,
    /// How many were there when all were.
    began_with: Vec<usize>,
}

impl Game for Party {
    const INFO: GameInfo = GameInfo::new("party", "Goes on together.");
    type Avatar = Scout;
    no_commands!();
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        world.spawn(Tally { name: "all".into(), ..Tally::default() });
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Scout> {
        let name = newcomer.name.into();
        world.spawn_row(newcomer.id, Tally { name, ..Tally::default() });
        let path = Path::at(Position::on_ground(20.0 * newcomer.id.0 as f32, 10.0));
        world.spawn(Scout { path, name: newcomer.name.into(), ..Scout::default() })
    }

    fn all_here(&mut self, world: &mut World<Self>) {
        self.began_with.push(world.players().count());
    }

    fn departs(&self, world: &World<Self>, player: Player<'_, Self>) -> Option<(u32, Position)> {
        let is_leader = player.name() == "ann";
        self.goes_on.then(|| (if is_leader { 2 } else { 1 }, world.centre()))
    }
}

fn tick(room: &mut Room, mut inputs: Vec<RoomInput>) -> Vec<RoomOutput> {
    let now = room.last_tick().unwrap_or(GameTime::ZERO) + 50.millis();
    let mut outputs = Vec::new();
    room.tick(now, &mut inputs, &mut outputs);
    outputs.retain(|output| !matches!(output, RoomOutput::Datagram { .. }));
    outputs
}

fn joining(number: u32, name: &str) -> RoomInput {
    RoomInput::Join {
        client: ClientId(number),
        player: PlayerId(number.into()),
        account: None,
        name: name.into(),
        coding: PoseCoding::Auto,
    }
}

#[test]
fn a_new_name_is_shown_at_the_avatar_and_in_the_rows_of_its_player() {
    let mut room = Room::new(RoomConfig::default(), Box::<Typed<Party>>::default());
    tick(&mut room, vec![joining(1, "ann"), joining(2, "bob")]);
    let rename = RoomInput::Rename { player: PlayerId(1), name: "annabel".into() };
    tick(&mut room, vec![rename]);
    let world = World::<Party>::of_room(room.world());
    let names = |number: u64| {
        let player = world.player(PlayerId(number)).expect("in the room");
        let avatar = world.get(player.avatar()).expect("an avatar");
        let row = world.row::<Tally>(player).expect("a row");
        (avatar.name().to_owned(), row.name().to_owned())
    };
    assert_eq!(names(1), ("annabel".into(), "annabe".into()), "cut to what the component holds");
    assert_eq!(names(2), ("bob".into(), "bob".into()));
    assert_eq!(world.state::<Tally>().expect("of all").name(), "all");
}

#[test]
fn a_party_leaves_from_wherever_it_is_as_the_game_says() {
    let mut room = Room::new(RoomConfig::default(), Box::<Typed<Party>>::default());
    assert_eq!(tick(&mut room, vec![joining(1, "ann"), joining(2, "bob")]), []);
    let mut goes_on = Room::new(
        RoomConfig::default(),
        Box::new(Typed(Party { goes_on: true, ..Party::default() })),
    );
    let outputs = tick(&mut goes_on, vec![joining(1, "ann"), joining(2, "bob")]);
    let sent = outputs.iter().map(|output| match output {
        RoomOutput::AtGate { player, map, .. } => (player.0, *map),
        other => panic!("{other:?}"),
    });
    assert_eq!(sent.collect::<Vec<_>>(), [(1, 2), (2, 1)]);
    assert_eq!(tick(&mut goes_on, Vec::new()), [], "once");
}

#[test]
fn a_game_begins_when_all_have_come_who_were_in_the_room_at_its_start() {
    let began = |room: &mut TestRoom<Party>| room.edit(|_, game| game.began_with.clone());
    let mut room = TestRoom::<Party>::new();
    room.expect(2);
    let ann = room.join("ann", Line::default());
    room.run(2.secs());
    assert!(began(&mut room).is_empty(), "bob has not come");
    room.move_to_another_host();
    room.join("bob", Line::default());
    assert_eq!(began(&mut room), [2]);
    room.join("eve", Line::default());
    room.leave(ann);
    room.run(20.secs());
    assert_eq!(began(&mut room), [2], "once");

    // Who does not come is not waited for longer than 10 s.
    let mut room = TestRoom::<Party>::new();
    room.expect(2);
    room.join("ann", Line::default());
    room.run(9.secs());
    assert!(began(&mut room).is_empty());
    room.run(1.secs());
    assert_eq!(began(&mut room), [1]);

    // A world that is opened without players begins at once.
    let mut room = TestRoom::<Party>::new();
    room.run(100.millis());
    assert_eq!(began(&mut room), [0]);
}

#[test]
fn components_are_at_first_as_their_types_say() {
    let mut room = TestRoom::<Party>::new();
    let ann = room.join("ann", Line::default());
    let scout = room.avatar(ann).expect("an avatar");
    let health = scout.gauge("health");
    assert_eq!((health, scout.flag("tired")), (Some(50.0), Some(false)));
    let id = room.player(ann);
    assert_eq!(room.world().row::<Tally>(id).expect("a row").found(), 0);
}

#[test]
fn a_flight_meets_the_first_object_on_its_way_as_it_walks_on() {
    let mut room = TestRoom::<Party>::new();
    room.run(1.secs());
    room.edit(|world: &mut World<Party>, _: &mut Party| {
        let place = Position::on_ground;
        let stand = |world: &mut World<Party>, x: f32, y: f32| {
            world.spawn(Scout { path: Path::at(place(x, y)), ..Scout::default() })
        };
        let near = stand(world, 40.0, 30.0);
        let far = stand(world, 60.0, 30.0);
        let walker = stand(world, 50.0, 40.0);
        stand(world, 45.0, 32.0);
        // It crosses the way at the same time as the flight: 10 m in 1 s.
        world.edit(walker).expect("alive").path().walk_to(place(50.0, 20.0), 10.0);
        let now = world.now();
        let flight = StraightFlight::new(now, place(30.0, 30.0), place(70.0, 30.0), 20.0);
        assert_eq!(flight.ends_at(), now + 2.secs());
        let mut met = Vec::<(GameTime, Id<Scout>)>::new();
        let span = (GameTime::ZERO, GameTime::MAX);
        while let Some(next) = flight
            .first_met(world, span, (1.0, 10.0), |id| met.iter().all(|(_, known)| *known != id))
        {
            met.push(next);
        }
        let ids: Vec<_> = met.iter().map(|(_, id)| *id).collect();
        assert_eq!(ids, [near, walker, far]);
        let times = met.iter().map(|(time, _)| time.since(now).as_secs_f32());
        let places: Vec<_> = times.map(|seconds| (20.0 * seconds).round()).collect();
        assert_eq!(places, [9.0, 19.0, 29.0], "a metre before each");
        let soon = (now, now + 400.millis());
        assert_eq!(flight.first_met(world, soon, (1.0, 10.0), |_: Id<Scout>| true), None);
        let without = StraightFlight::new(now, place(30.0, 30.0), place(70.0, 30.0), 0.0);
        assert_eq!(without.ends_at(), now, "it is at its end at once");
    });
}

#[test]
fn what_is_near_is_listed_and_removed_at_once() {
    let mut room = TestRoom::<Party>::new();
    room.run(1.secs());
    room.edit(|world: &mut World<Party>, _: &mut Party| {
        let at =
            |x: f32| Scout { path: Path::at(Position::on_ground(x, 90.0)), ..Scout::default() };
        let [one, two, far] = [90.0, 92.0, 99.0].map(|x| world.spawn(at(x)));
        let near = world.all_within::<Scout>(Position::on_ground(91.0, 90.0), 3.0);
        assert_eq!(near, [one, two]);
        world.despawn_all(near);
        let mut last = Some(far);
        world.despawn_all(last.take());
        world.despawn_all(last);
        assert!([one, two, far].iter().all(|id| !world.contains(*id)));
    });
}
