//! Lists of entries and bytes as components: what a client shows, what an edit does, what a release
//! makes of them.

use ambit::prelude::*;
use ambit::schema::Schema;
use ambit::test::{Line, TestRoom};

/// What can be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item;

impl Listing for Item {}

#[derive(Clone, Copy, Debug, PartialEq, Choice)]
enum Stage {
    Open,
    Done,
}

#[derive(Clone, Debug, PartialEq, Entry)]
struct Quest {
    title: Text<20>,
    stage: Stage,
    steps: Number<0, 9>,
    is_secret: bool,
    at: Option<Position>,
}

type Slot = (Listed<Item>, Number<1, 99>);

#[derive(Kind)]
struct Hero {
    path: Path,
}

#[derive(Kind)]
#[kind(room_wide)]
struct Belongings {
    name: Text<24>,
    #[audience(owner)]
    slots: List<Slot, 40>,
    #[audience(owner)]
    quests: List<Quest, 3>,
    drawing: Bytes<900>,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Hero, Belongings))]
struct Quests;

impl Game for Quests {
    const INFO: GameInfo = GameInfo::new("quests", "Carry things.");
    type Avatar = Hero;
    no_commands!();
    type Refusal = NoRefusal;

    fn schema(&self, schema: &mut Schema) {
        Item::name_in(schema, ["rope", "lamp", "oil"]);
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Hero> {
        world.spawn_row(
            newcomer.id,
            Belongings {
                name: newcomer.name.into(),
                slots: List::of([slot(0, 1), slot(2, 30)]),
                quests: List::default(),
                drawing: Bytes::new([1, 2, 255]),
            },
        );
        world.spawn(Hero { path: Path::at(world.centre()) })
    }
}

fn slot(item: u16, count: i64) -> Slot {
    (Listed::new(item), count.into())
}

fn quest(title: &str, steps: i64) -> Quest {
    let at = (steps > 3).then(|| Position::on_ground(5.0, 6.0));
    Quest { title: title.into(), stage: Stage::Done, steps: steps.into(), is_secret: false, at }
}

#[test]
fn the_owner_gets_the_entries_of_a_list_and_all_get_bytes() {
    let mut room = TestRoom::<Quests>::new();
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    let player = room.player(ann);
    room.edit(|world, _| {
        let mut row = world.edit_row::<Belongings>(player).expect("a row");
        row.quests().set([quest("find the well", 2), quest("dig", 4)]);
        row.drawing().set(&[7; 2_000]);
    });
    room.run(1.secs());
    let rows = room.room_wide(ann);
    let own = rows.iter().find(|row| row.own).and_then(|row| row.get::<Belongings>());
    let own = own.expect("ann's row");
    let slots = own.slots.expect("it is hers");
    assert_eq!(slots.iter().collect::<Vec<_>>(), [slot(0, 1), slot(2, 30)]);
    let quests = own.quests.expect("they are hers");
    assert_eq!((quests.len(), quests.get(1), quests.get(2)), (2, Some(quest("dig", 4)), None));
    assert_eq!(own.drawing, [7; 900]);
    let seen = room.room_wide(bob);
    let seen = seen.iter().find(|row| !row.own).and_then(|row| row.get::<Belongings>());
    let seen = seen.expect("ann's row in sight of bob");
    assert_eq!((seen.name, seen.drawing, seen.slots.is_none()), ("ann", &[7; 900][..], true));
}

#[test]
fn an_edit_changes_entries_within_the_limits_of_the_list() {
    let mut room = TestRoom::<Quests>::new();
    let ann = room.join("ann", Line::default());
    let player = room.player(ann);
    room.edit(|world, _| {
        let mut row = world.edit_row::<Belongings>(player).expect("a row");
        let mut quests = row.quests();
        let pushed = [1, 2, 3, 4].map(|steps| quests.push(quest("dig", steps)));
        assert_eq!(pushed, [true, true, true, false], "three are all that there may be");
        assert_eq!(quests.remove(0), Some(quest("dig", 1)));
        assert_eq!(quests.remove(2), None);
        assert!(quests.replace(1, quest("rest", 9)) && !quests.replace(2, quest("rest", 9)));
        let entries: Vec<_> = quests.get().iter().collect();
        assert_eq!(entries, [quest("dig", 2), quest("rest", 9)]);
        quests.set((0..9).map(|steps| quest("go", steps)));
        assert_eq!(quests.get().len(), 3);
        // A name beyond the list is none.
        let mut slots = row.slots();
        slots.set([slot(1, 5), slot(3, 5)]);
        assert_eq!(slots.get().iter().collect::<Vec<_>>(), [slot(1, 5)]);
    });
    room.move_to_another_host();
    room.run(1.secs());
    let row = room.world().row::<Belongings>(player).expect("it was saved");
    assert_eq!((row.quests().get(2), row.slots().len()), (Some(quest("go", 2)), 1));
    assert_eq!(room.errors(ann), Vec::<String>::new());
}

/// The next build: shorter lists, with other fields in another order.
mod next {
    use ambit::prelude::*;
    use ambit::schema::Schema;

    pub(super) use super::Hero;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Item;

    impl Listing for Item {}

    #[derive(Clone, Copy, Debug, PartialEq, Choice)]
    pub(super) enum Stage {
        Lost,
        Done,
    }

    #[derive(Debug, PartialEq, Entry)]
    pub(super) struct Quest {
        pub(super) reward: Number<1, 5>,
        pub(super) steps: Number<0, 3>,
        pub(super) stage: Stage,
        pub(super) title: Text<4>,
    }

    #[derive(Kind)]
    #[kind(room_wide)]
    pub(super) struct Belongings {
        pub(super) quests: List<Quest, 2>,
        pub(super) slots: List<(Listed<Item>, Number<1, 9>), 40>,
        pub(super) drawing: Bytes<2>,
    }

    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Hero, Belongings))]
    pub(super) struct Quests;

    impl Game for Quests {
        const INFO: GameInfo = GameInfo::new("quests", "Carry things.");
        type Avatar = Hero;
        no_commands!();
        type Refusal = NoRefusal;

        fn schema(&self, schema: &mut Schema) {
            Item::name_in(schema, ["oil", "sword"]);
        }

        fn join(&mut self, _: &mut World<Self>, _: Newcomer<'_>) -> Id<Hero> {
            unreachable!("no player comes")
        }
    }
}

#[test]
fn a_release_finds_fields_by_name_and_cuts_what_is_longer() {
    let mut room = TestRoom::<Quests>::new();
    let ann = room.join("ann", Line::default());
    let player = room.player(ann);
    room.edit(|world, _| {
        let mut row = world.edit_row::<Belongings>(player).expect("a row");
        let open = Quest { stage: Stage::Open, ..quest("a stage that is gone", 1) };
        row.quests().set([open, quest("dig a well", 9), quest("go", 1)]);
    });
    let mut room = room.release::<next::Quests>();
    room.run(1.secs());
    let quest = |title: &str, steps: i64| next::Quest {
        reward: 1.into(),
        steps: steps.into(),
        stage: next::Stage::Done,
        title: title.into(),
    };
    {
        let row = room.world().row::<next::Belongings>(player).expect("it was saved");
        assert_eq!(row.quests().iter().collect::<Vec<_>>(), [quest("dig ", 3), quest("go", 1)]);
        // There is no rope any more, and 30 of oil are 9.
        assert_eq!(row.slots().iter().collect::<Vec<_>>(), [(Listed::new(0), 9.into())]);
        assert_eq!(row.drawing(), [1, 2]);
    }
    let seen = &room.room_wide(ann)[0];
    let seen = seen.get::<next::Belongings>().expect("her client has the new schema");
    assert_eq!(seen.quests.get(1), Some(quest("go", 1)));
    assert_eq!(room.errors(ann), Vec::<String>::new());
}
