//! What a game says to one player, whom it puts out, and what it counts.

use ambit::prelude::*;
use ambit::test::{Line, TestClient, TestRoom};
use ambit_client_core::client::event::SchemaEvent;

#[derive(Kind)]
struct Guest {
    path: Path,
}

#[derive(Clone, Event)]
struct Whisper {
    number: i64,
}

#[derive(Command)]
enum Ask {
    /// The game answers this player.
    Answer {
        number: i64,
    },
    /// And these three.
    Party,
    /// The player with this number goes.
    Out {
        player: i64,
    },
    Buy,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Guest), events(Whisper))]
struct Inn {
    left: Vec<(PlayerId, Left)>,
    not_there: u32,
}

impl Game for Inn {
    const INFO: GameInfo = GameInfo::new("inn", "Talk.");
    type Avatar = Guest;
    type Command = Ask;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Guest> {
        world.spawn(Guest { path: Path::at(world.centre()) })
    }

    fn leave(&mut self, _: &mut World<Self>, player: Player<Self>, why: Left) {
        self.left.push((player.id(), why));
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<Self>,
        command: Ask,
    ) -> Result<(), NoRefusal> {
        match command {
            Ask::Answer { number } => drop(world.tell(player, Whisper { number })),
            Ask::Party => {
                world.tell_all([PlayerId(1), PlayerId(3), PlayerId(99)], &Whisper { number: 7 });
            }
            Ask::Out { player } => {
                let is_there = world.put_out(PlayerId(player as u64), "the inn closes");
                self.not_there += u32::from(!is_there);
            }
            Ask::Buy => {
                world.count("drinks", 2);
                world.count("No Word", 1);
            }
        }
        Ok(())
    }
}

#[test]
fn what_one_player_is_told_changes_no_byte_for_the_others() {
    let datagrams_of_bob = [("answer 5", vec![5]), ("buy", vec![])].map(|(words, told)| {
        let mut room = TestRoom::<Inn>::new();
        let (ann, bob) = (join(&mut room, "ann"), join(&mut room, "bob"));
        room.command(ann, words);
        room.run(2.secs());
        assert_eq!((numbers(&room, ann), numbers(&room, bob)), (told, vec![]));
        room.datagrams(bob).to_vec()
    });
    assert!(datagrams_of_bob[0].len() > 10);
    assert_eq!(datagrams_of_bob[0], datagrams_of_bob[1]);
}

#[test]
fn a_party_is_told_and_nobody_else() {
    let mut room = TestRoom::<Inn>::new();
    let all = ["ann", "bob", "cid"].map(|name| join(&mut room, name));
    room.command(all[1], "party");
    room.run(1.secs());
    assert_eq!(all.map(|client| numbers(&room, client)), [vec![7], vec![], vec![7]]);
}

#[test]
fn a_game_puts_a_player_out_and_hears_that_itself() {
    let mut room = TestRoom::<Inn>::new();
    let (ann, bob) = (join(&mut room, "ann"), join(&mut room, "bob"));
    room.command(ann, "out 2");
    room.command(ann, "out 9");
    room.run(1.secs());
    let (left, not_there) = room.edit(|_, inn| (inn.left.clone(), inn.not_there));
    assert_eq!((left, not_there), (vec![(PlayerId(2), Left::PutOut)], 1));
    assert_eq!(room.sees(ann).len(), 1, "its avatar is gone");
    let again = join(&mut room, "bob");
    assert_eq!(room.sees(again).len(), 2);
    assert_ne!(bob, again);
}

#[test]
fn a_game_counts_under_names_that_a_metric_can_have() {
    let mut room = TestRoom::<Inn>::new();
    let ann = join(&mut room, "ann");
    room.command(ann, "buy");
    room.command(ann, "buy");
    room.run(1.secs());
    assert_eq!(room.counts(), &[("drinks", 4)].into());
}

fn join(room: &mut TestRoom<Inn>, name: &str) -> TestClient {
    room.join(name, Line::default())
}

fn numbers(room: &TestRoom<Inn>, client: TestClient) -> Vec<i64> {
    let whispers = room.events(client).iter().filter_map(SchemaEvent::get::<Whisper>);
    whispers.map(|whisper| whisper.number).collect()
}
