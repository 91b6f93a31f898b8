//! What all players have, wherever they are: the state of a match, the rows of a table, and
//! announcements.

use ambit::prelude::*;
use ambit::test::{Line, Seen, TestClient, TestRoom};

#[derive(Kind)]
struct Runner {
    path: Path,
}

#[derive(Kind)]
#[kind(room_wide)]
struct Race {
    lap: Number<1, 99>,
    time_left: Gauge<300>,
}

#[derive(Kind)]
#[kind(room_wide)]
struct Standing {
    name: Text<24>,
    points: Number<-999, 999>,
    #[audience(owner)]
    stake: Number<0, 99>,
    #[audience(team)]
    plan: Number<0, 99>,
}

#[derive(Event)]
struct LapOver {
    leader: Text<24>,
}

#[derive(Event)]
struct Cheer {
    by: Id<Runner>,
}

#[derive(Command)]
enum Command {
    /// Take points.
    Score { points: i64 },
    /// Tell all.
    Finish,
    /// Tell the own team.
    Cheer,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Runner, Race, Standing), events(LapOver, Cheer))]
struct Running;

impl Game for Running {
    const INFO: GameInfo = GameInfo::new("running", "Run.");
    type Avatar = Runner;
    type Command = Command;
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        let time_left = Gauge::full().changing(-1.0);
        world.spawn(Race { lap: 1.into(), time_left });
    }

    /// Players start far from each other. Those with an even number are a team.
    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Runner> {
        let number = newcomer.id.0;
        let row = world.spawn_row(
            newcomer.id,
            Standing {
                name: newcomer.name.into(),
                points: 0.into(),
                stake: (10 * number as i64).into(),
                plan: (number as i64).into(),
            },
        );
        let at = Position::on_ground(5.0 + 60.0 * number as f32, 5.0);
        let runner = world.spawn(Runner { path: Path::at(at) });
        for object in [row.object(), runner.object()] {
            world.set_team(object, Some((number % 2) as u8));
        }
        runner
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        command: Command,
    ) -> Result<(), NoRefusal> {
        match command {
            Command::Score { points } => {
                if let Some(mut standing) = world.edit_row::<Standing>(player) {
                    standing.points().add(points);
                }
            }
            Command::Finish => {
                if let Some(mut race) = world.edit_state::<Race>() {
                    race.lap().add(1);
                }
                let leader = player.name().into();
                world.announce(LapOver { leader });
            }
            Command::Cheer => {
                let by = player.avatar();
                world.announce_to_team((player.id().0 % 2) as u8, Cheer { by });
            }
        }
        Ok(())
    }
}

/// The rows of the table that a client has: name and points, by name.
fn standings(room: &TestRoom<Running>, client: TestClient) -> Vec<(String, i64)> {
    let rows = of_kind(room, client, "standing");
    let mut rows: Vec<_> = rows
        .iter()
        .map(|row| (row.text("name").unwrap().to_owned(), row.number("points").unwrap()))
        .collect();
    rows.sort();
    rows
}

fn of_kind(room: &TestRoom<Running>, client: TestClient, kind: &str) -> Vec<Seen> {
    room.room_wide(client).into_iter().filter(|seen| seen.kind == kind).collect()
}

fn bad_line() -> Line {
    Line::default().delay(60.millis()).jitter(20.millis()).loss(20.0)
}

#[test]
fn all_players_have_the_table_whatever_is_in_sight() {
    let mut room = TestRoom::<Running>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, bad_line()));
    room.command(ann, "score 7");
    room.command(bob, "score -3");
    room.run(2.secs());
    let eve = room.join("eve", bad_line());
    room.run(2.secs());
    let expected = [("ann", 7), ("bob", -3), ("eve", 0)].map(|(name, n)| (name.to_owned(), n));
    for client in [ann, bob, eve] {
        assert_eq!(standings(&room, client), expected);
        assert_eq!(room.sees(client).len(), 1, "all others are too far away");
        let [race] = &of_kind(&room, client, "race")[..] else { panic!("one state") };
        let truth = room.world().state::<Race>().map(|race| race.time_left().value()).unwrap();
        let left = race.gauge("time_left").unwrap();
        assert!((left - truth).abs() < 0.5, "{left} at the client, {truth} in the world");
    }
    let own = |row: &&Seen| row.own;
    let rows = of_kind(&room, bob, "standing");
    assert_eq!(rows.iter().find(own).and_then(|row| row.text("name")), Some("bob"));

    room.leave(ann);
    room.run(2.secs());
    assert_eq!(standings(&room, bob), expected[1..]);
    assert!(room.world().row::<Standing>(room.player(ann)).is_none());
}

#[test]
fn a_player_has_one_row_of_a_kind_and_it_is_the_first_one() {
    let mut room = TestRoom::<Running>::new();
    let ann = room.join("ann", Line::default());
    let player = room.player(ann);
    room.edit(|world, _| {
        let mut rows: Vec<Id<Standing>> = Vec::new();
        world.find_all(&mut rows);
        let points = 50.into();
        let stake = 0.into();
        let plan = 0.into();
        let again = world.spawn_row(player, Standing { name: "again".into(), points, stake, plan });
        assert_eq!(rows, [again]);
        world.find_all(&mut rows);
        assert_eq!(rows.len(), 1, "no row that is never changed and never goes");
    });
    room.run(1.secs());
    assert_eq!(standings(&room, ann), [("ann".to_owned(), 0)]);
}

#[test]
fn columns_for_the_owner_or_the_team_reach_nobody_else() {
    let mut room = TestRoom::<Running>::new();
    let clients = ["ann", "bob", "eve"].map(|name| room.join(name, Line::default()));
    room.run(1.secs());
    for client in clients {
        let number = room.player(client).0;
        for row in of_kind(&room, client, "standing") {
            let other = row.number("plan").map(|plan| plan as u64);
            let is_own = row.own;
            assert_eq!(row.number("stake"), is_own.then_some(10 * number as i64), "{row:?}");
            let name = row.text("name").unwrap();
            let of_team = (number % 2 == 1) == ["ann", "eve"].contains(&name);
            assert_eq!(other.is_some(), of_team, "{row:?}");
        }
    }
}

#[test]
fn an_announcement_reaches_everybody_or_a_team() {
    let mut room = TestRoom::<Running>::new();
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|name| room.join(name, bad_line()));
    room.command(ann, "finish");
    room.run(1.secs());
    room.command(ann, "cheer");
    room.run(2.secs());
    let names =
        |client| room.events(client).iter().map(|event| event.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(ann), ["lap_over", "cheer"]);
    assert_eq!(names(bob), ["lap_over"]);
    assert_eq!(names(eve), ["lap_over", "cheer"]);
    let laps = [ann, bob, eve].map(|client| of_kind(&room, client, "race")[0].number("lap"));
    assert_eq!(laps, [Some(2); 3]);
}

#[test]
fn a_table_goes_on_at_another_host() {
    let mut room = TestRoom::<Running>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, bad_line()));
    room.command(ann, "score 7");
    room.run(2.secs());
    room.move_to_another_host();
    room.run(2.secs());
    room.command(bob, "score 4");
    room.command(ann, "finish");
    room.run(2.secs());
    let expected = [("ann", 7), ("bob", 4)].map(|(name, n)| (name.to_owned(), n));
    for client in [ann, bob] {
        assert_eq!(standings(&room, client), expected);
        assert_eq!(of_kind(&room, client, "race")[0].number("lap"), Some(2));
        let ping = room.world().ping(room.player(client)).expect("it was measured");
        assert!((100.millis()..400.millis()).contains(&ping), "{ping:?} over 2 x 60 ms");
    }
}

#[test]
fn what_has_no_place_is_found_nowhere() {
    let mut room = TestRoom::<Running>::new();
    room.join("ann", Line::default());
    let world = room.world();
    let mut found = Vec::new();
    world.find_any_within(Position::default(), 10_000.0, &mut found);
    assert_eq!(found.len(), 1, "the runner alone");
    let race = world.state::<Race>().expect("the match has begun").id();
    assert_eq!(world.position(race), None);
    assert!(world.motion(race).is_none());
}

#[test]
fn who_comes_while_another_leaves_has_the_rows_that_are_left() {
    let mut room = TestRoom::<Running>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    room.leave(ann);
    let eve = room.join("eve", Line::default());
    room.run(1.secs());
    for client in [bob, eve] {
        let names: Vec<_> = standings(&room, client).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["bob", "eve"]);
    }
}

#[test]
fn a_row_that_another_player_gets_is_that_player_s_own() {
    let mut room = TestRoom::<Running>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, bad_line()));
    let from = room.player(ann);
    let to = room.player(bob);
    room.edit(|world, _| {
        let row = world.row::<Standing>(from).expect("ann has a row").id();
        world.set_owner(row, to);
    });
    room.run(2.secs());
    let own = |client| {
        let rows = of_kind(&room, client, "standing");
        let named = |row: Seen| Some((row.own, row.text("name")?.to_owned(), row.number("stake")));
        rows.into_iter().filter_map(named).collect::<Vec<_>>()
    };
    for (is_own, _, stake) in own(ann) {
        assert!(!is_own && stake.is_none(), "{:?}", own(ann));
    }
    let mut of_bob = own(bob);
    of_bob.sort();
    let expected = [("ann", Some(10)), ("bob", Some(20))];
    assert_eq!(of_bob, expected.map(|(name, stake)| (true, name.to_owned(), stake)));
}

#[test]
fn a_row_of_a_player_who_is_not_there_is_removed() {
    let mut room = TestRoom::<Running>::new();
    let ann = room.join("ann", Line::default());
    room.edit(|world, _| {
        let points = 0.into();
        let stake = 0.into();
        let plan = 0.into();
        world.spawn_row(PlayerId(77), Standing { name: "ghost".into(), points, stake, plan });
    });
    room.run(1.secs());
    assert_eq!(standings(&room, ann), [("ann".to_owned(), 0)]);
}
