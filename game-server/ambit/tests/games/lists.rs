//! Lists whose names are data.

use ambit::prelude::*;
use ambit::presentation::{ChoicePresentation, Outcome, TextRole};
use ambit::schema::{Codec, FieldType, Schema};
use ambit::test::{Line, TestRoom};

/// What is for sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ware;

/// What can be cooked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dish;

impl Listing for Ware {}
impl Listing for Dish {}

/// A game with two lists, which `Game::schema` names.
macro_rules! market {
    ($schema:expr) => {
        #[derive(Kind)]
        struct Cook {
            path: Path,
            bag: Counts<Ware, 9>,
            menu: Counts<Dish, 5>,
        }

        #[derive(Command)]
        enum Command {
            /// Buy something.
            Buy {
                #[field(listed_in = bag, marked_in = bag)]
                ware: Listed<Ware>,
            },
            /// Cook something.
            Cook { dish: Listed<Dish> },
        }

        #[derive(Event)]
        struct Served {
            dish: Listed<Dish>,
        }

        #[derive(Default, Serialize, Deserialize, Declare)]
        #[declare(kinds(Cook), events(Served))]
        struct Market;

        impl Game for Market {
            const INFO: GameInfo = GameInfo::new("market", "Cook what there is.");
            type Avatar = Cook;
            type Command = Command;
            type Refusal = NoRefusal;

            fn schema(&self, schema: &mut Schema) {
                let adjust: fn(&mut Schema) = $schema;
                adjust(schema);
            }

            fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Cook> {
                world.spawn(Cook {
                    path: Path::at(world.centre()),
                    bag: Counts::of([(Listed::new(1), 2)]),
                    menu: Counts::of([(Listed::new(2), 3)]),
                })
            }

            fn command(
                &mut self,
                _: &mut World<Self>,
                _: Player<'_, Self>,
                _: Command,
            ) -> Result<(), NoRefusal> {
                Ok(())
            }
        }
    };
}

fn name_both(schema: &mut Schema) {
    Ware::name_in(schema, ["salt", "rice"]);
    Dish::name_in(schema, ["soup", "stew", "cake"]);
}

/// What a herb does: a table of 300 rows.
struct Herb {
    name: &'static str,
    heals: u32,
}

/// `herb-0` to `herb-299`.
static NAMES: [[u8; 8]; 300] = {
    let mut names = [*b"herb-000"; 300];
    let mut index = 0;
    while index < 300 {
        names[index][5] = b'0' + (index / 100) as u8;
        names[index][6] = b'0' + (index / 10 % 10) as u8;
        names[index][7] = b'0' + (index % 10) as u8;
        index += 1;
    }
    names
};

impl Listing for Herb {
    const ROWS: &'static [Self] = &{
        let mut rows = [const { Herb { name: "", heals: 0 } }; 300];
        let mut index = 0;
        while index < 300 {
            let Ok(name) = std::str::from_utf8(&NAMES[index]) else { panic!() };
            rows[index] = Herb { name, heals: index as u32 };
            index += 1;
        }
        rows
    };

    fn name(&self) -> &str {
        self.name
    }

    fn presentation(&self) -> ChoicePresentation {
        ChoicePresentation { label: format!("Heals {}", self.heals), ..Default::default() }
    }
}

/// A game with a table, which nothing names in `Game::schema`.
mod garden {
    use ambit::prelude::*;

    use super::Herb;

    #[derive(Kind)]
    pub(super) struct Healer {
        path: Path,
        pub(super) bag: Counts<Herb, 3>,
        pub(super) last: List<(Listed<Herb>, Number<0, 9>), 5>,
    }

    #[derive(Command)]
    pub(super) enum Command {
        /// Pick a herb.
        Pick { herb: Listed<Herb> },
    }

    #[derive(Debug, PartialEq, Event)]
    pub(super) struct Picked {
        pub(super) herb: Listed<Herb>,
    }

    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Healer), events(Picked))]
    pub(super) struct Garden;

    impl Game for Garden {
        const INFO: GameInfo = GameInfo::new("garden", "Pick herbs.");
        type Avatar = Healer;
        type Command = Command;
        type Refusal = NoRefusal;

        fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Healer> {
            world.spawn(Healer {
                path: Path::at(world.centre()),
                bag: Counts::default(),
                last: List::default(),
            })
        }

        fn command(
            &mut self,
            world: &mut World<Self>,
            player: Player<'_, Self>,
            Command::Pick { herb }: Command,
        ) -> Result<(), NoRefusal> {
            let mut healer = world.avatar(player);
            healer.bag().set(&Counts::of([(herb, 2)]));
            healer.last().push((herb, 1.into()));
            world.announce(Picked { herb });
            Ok(())
        }
    }
}

#[test]
fn rows_of_a_table_are_picked_counted_listed_and_announced() {
    use garden::{Garden, Healer, Picked};
    let _ = Games::new().with::<Garden>();
    let mut room = TestRoom::<Garden>::new();
    let ann = room.join("ann", Line::default());
    let herb = Listed::<Herb>::named("herb-299").expect("the last one");
    assert_eq!(herb.row().map(|row| row.heals), Some(299));
    assert_eq!(
        (Listed::<Herb>::all().count(), Listed::<Herb>::new(300).row().is_none()),
        (300, true)
    );
    room.command(ann, "pick herb-299");
    room.run(Duration::from_secs(1));
    assert_eq!(room.errors(ann), Vec::<String>::new());
    let picked = room.events(ann).iter().find_map(|event| event.get::<Picked>().map(|it| it.herb));
    assert_eq!(picked, Some(herb));
    let seen = room.avatar(ann).expect("the healer");
    let seen = seen.get::<Healer>().expect("a healer");
    assert_eq!(seen.bag.iter().collect::<Vec<_>>(), [(herb, 2)]);
    assert_eq!(seen.last.get(0), Some((herb, 1.into())));
    let schema = ambit::Typed::<Garden>::declared_schema();
    let shown = &schema.presentation.commands[0].fields[0].choices;
    assert_eq!((shown.len(), shown[299].label.as_str()), (300, "Heals 299"));
}

#[test]
fn each_list_gives_its_names_to_its_own_fields_and_counts() {
    market!(|schema| {
        name_both(schema);
        let names = [vec!["salt", "rice"], vec!["soup", "stew", "cake"]].map(FieldType::choice);
        let fields = schema.commands.iter().map(|command| &command.fields[0].ty);
        assert!(fields.eq(&names));
        assert_eq!(schema.events[0].fields[0].ty, names[1]);
        let counts = &schema.kinds[0].components[1..];
        let counted = counts.iter().map(|component| match &component.codec {
            Codec::Counts(of) => FieldType::choice(schema.names_of(of).unwrap()),
            other => panic!("{other:?}"),
        });
        assert!(counted.eq(names));
    });
    let _ = Games::new().with::<Market>();
}

#[test]
#[should_panic(
    expected = "the game \"market\" cannot be offered: it names the list `games::lists::Ware` \
                twice, or no field of a command, an event or a row is a `Listed` of it"
)]
fn a_list_that_is_named_twice_is_not_offered() {
    market!(|schema| {
        name_both(schema);
        Ware::name_in(schema, ["salt"]);
    });
    let _ = Games::new().with::<Market>();
}

#[test]
#[should_panic(
    expected = "the game \"market\" cannot be offered: the field \"ware\" of its command \"buy\" \
                is listed in \"menu\", which counts another list; a field of type `Listed<LIST>` \
                is listed in a `Counts<LIST, MAX>`"
)]
fn a_field_in_the_counts_of_another_list_is_not_offered() {
    market!(|schema| {
        name_both(schema);
        "menu".clone_into(&mut schema.presentation.commands[0].fields[0].listed_in);
    });
    let _ = Games::new().with::<Market>();
}

#[test]
#[should_panic(
    expected = "the field \"ware\" of its command \"buy\" is marked in \"menu\", which counts \
                another list; a field of type `Listed<LIST>` is marked in a `Counts<LIST, MAX>`"
)]
fn a_field_that_is_marked_in_the_counts_of_another_list_is_not_offered() {
    market!(|schema| {
        name_both(schema);
        "menu".clone_into(&mut schema.presentation.commands[0].fields[0].marked_in);
    });
    let _ = Games::new().with::<Market>();
}

#[test]
#[should_panic(
    expected = "the game \"market\" cannot be offered: a choice of it has an outcome, and none of \
                its texts says one; declare a text with `#[component(words = CHOICE)]`"
)]
fn an_outcome_that_no_text_says_is_not_offered() {
    market!(|schema| {
        name_both(schema);
        let outcome = Some(Outcome::Won);
        let won = ChoicePresentation { outcome, ..ChoicePresentation::default() };
        schema.presentation.commands[1].fields[0].choices = vec![won];
    });
    let _ = Games::new().with::<Market>();
}

#[test]
#[should_panic(
    expected = "kind \"cook\", component \"bag\": only a text has a role and words, only a flag \
                has a sign"
)]
fn a_role_of_what_is_no_text_is_not_offered() {
    market!(|schema| {
        name_both(schema);
        schema.presentation.kinds[0].components[1].role = Some(TextRole::Winner);
    });
    let _ = Games::new().with::<Market>();
}

#[test]
fn an_event_with_a_name_beyond_its_list_is_not_sent() {
    market!(name_both);
    let mut room = TestRoom::<Market>::new();
    let client = room.join("ann", Line::default());
    let mut served = |dish| {
        room.edit(|world, _| {
            world.announce(Served { dish: Listed::new(dish) });
        });
        room.run(Duration::from_secs(1));
        room.events(client).len()
    };
    assert_eq!(served(3), 0);
    assert_eq!(served(2), 1);
}
