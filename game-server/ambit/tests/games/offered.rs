//! Mistakes that no derive sees: the game is not offered, and the message says why.

use ambit::prelude::*;

#[derive(Clone, Copy, Controls)]
enum Key {
    #[key("w", "s")]
    #[control(axis)]
    Throttle,
    #[key("space")]
    Fire,
    #[key("e")]
    Mine,
}

#[derive(Kind)]
struct Stone {
    pose: YawPose,
}

#[derive(Kind)]
struct Missile {
    path: Path,
}

/// A game with an avatar `Ship` that fires in this way.
macro_rules! game {
    (
        $game:ident, kind: $kind:expr, by: $by:expr $(, $($declared:tt)*)?
    ) => {
        game!($game, kind: $kind, by: $by; 60.0 $(, $($declared)*)?);
    };
    (
        $game:ident, kind: $kind:expr, by: $by:expr; $speed:expr $(, $($declared:tt)*)?
    ) => {
        #[derive(Kind)]
        #[kind(steered)]
        struct Ship {
            pose: YawPose<256, 12>,
        }

        impl Steer for Ship {
            type SteeredBy = Key;

            fn steer(_: &mut Movement, _: Held<Key>, _: Terrain<'_>, _: f32) {}

            fn shots() -> Option<Shots<Key>> {
                Some(Shots {
                    kind: $kind,
                    by: $by,
                    reload: 250.millis(),
                    speed_m_per_s: $speed,
                    nose_m: 2.0,
                    range_m: 100.0,
                })
            }
        }

        #[derive(Default, Serialize, Deserialize, Declare)]
        #[declare(kinds(Ship, Missile, Stone), controls = Key $(, $($declared)*)?)]
        struct $game;

        impl Game for $game {
            const INFO: GameInfo = GameInfo::new("duel", "Fly and shoot.");
            type Avatar = Ship;
            no_commands!();
            type Refusal = NoRefusal;

            fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Ship> {
                world.spawn(Ship { pose: YawPose::at(world.centre()) })
            }
        }
    };
}

#[test]
#[should_panic(
    expected = "has a speed of inf m/s, a nose of 2 m and a range of 100 m: none may be"
)]
fn shots_without_end_are_not_offered() {
    game!(Duel, kind: "missile", by: Key::Fire; f32::INFINITY);
    let _ = Games::new().with::<Duel>();
}

#[test]
fn shots_of_a_known_kind_by_a_key_are_offered() {
    game!(Duel, kind: "missile", by: Key::Fire);
    let _ = Games::new().with::<Duel>();
}

#[test]
#[should_panic(
    expected = "the game \"duel\" cannot be offered: `Steer::shots` of the kind \"ship\" names the \
                kind \"Missile\", and shots are of a kind with a `Path`, which are here: \
                \"missile\""
)]
fn shots_of_an_unknown_kind_are_not_offered() {
    game!(Duel, kind: "Missile", by: Key::Fire);
    let _ = Games::new().with::<Duel>();
}

#[test]
#[should_panic(expected = "names the kind \"stone\", and shots are of a kind with a `Path`")]
fn shots_without_a_path_are_not_offered() {
    game!(Duel, kind: "stone", by: Key::Mine);
    let _ = Games::new().with::<Duel>();
}

#[test]
#[should_panic(
    expected = "fires by \"throttle\", which is an axis: it takes a control that is held or \
                pressed: \"fire\", \"mine\""
)]
fn shots_by_an_axis_are_not_offered() {
    game!(Duel, kind: "missile", by: Key::Throttle);
    let _ = Games::new().with::<Duel>();
}

#[test]
#[should_panic(
    expected = "two of its events and sounds, which are one list for clients, have the name \
                \"boom\"; give one another name with `#[event(name = \"...\")]` or `#[sound(name"
)]
fn an_event_and_a_sound_of_one_name_are_not_offered() {
    #[derive(Event)]
    struct Boom {
        ship: Id<Ship>,
    }
    #[derive(Sound)]
    #[sound(name = "boom")]
    struct Bang;
    game!(Duel, kind: "missile", by: Key::Fire, events(Boom), sounds(Bang));
    let _ = Games::new().with::<Duel>();
}

#[test]
#[should_panic(
    expected = "its defaults of rooms, `#[room(...)]`, make no room: delay=500 is not possible: \
                it must be a whole number from 0 to 200"
)]
fn a_default_of_rooms_out_of_range_is_not_offered() {
    #[derive(Parameters)]
    #[room(delay = 500)]
    struct Settings {}
    game!(Duel, kind: "missile", by: Key::Fire, parameters = Settings);
    let _ = Games::new().with::<Duel>();
}

#[test]
#[should_panic(expected = "make no room: outer does not fit: outer=2 must be at least inner=5")]
fn defaults_of_rooms_that_do_not_fit_are_not_offered() {
    #[derive(Parameters)]
    #[room(inner = 5)]
    struct Settings {}
    game!(Duel, kind: "missile", by: Key::Fire, parameters = Settings);
    let _ = Games::new().with::<Duel>();
}

/// What a book has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Page;

impl Listing for Page {}

#[test]
fn a_list_may_be_as_long_as_a_parameter_says_by_default() {
    #[derive(Parameters)]
    struct Settings {
        /// Pages of a book.
        #[parameter(default = 3, range = 1..=64)]
        pages: u32,
    }

    #[derive(Kind)]
    struct Reader {
        path: Path,
    }

    #[derive(Command)]
    enum Command {
        /// Read.
        Read { page: Listed<Page> },
    }

    #[derive(Default, Serialize, Deserialize, Declare)]
    #[declare(kinds(Reader), parameters = Settings)]
    struct Library {
        pages: u32,
    }

    impl Game for Library {
        const INFO: GameInfo = GameInfo::new("library", "Read.");
        type Avatar = Reader;
        type Command = Command;
        type Refusal = NoRefusal;

        fn configure(&mut self, settings: Settings) -> Result<(), BadParameter> {
            self.pages = settings.pages;
            Ok(())
        }

        fn schema(&self, schema: &mut ambit::schema::Schema) {
            Page::name_in(schema, (0..self.pages).map(|page| format!("page-{page}")));
        }

        fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Reader> {
            world.spawn(Reader { path: Path::at(world.centre()) })
        }

        fn command(
            &mut self,
            _: &mut World<Self>,
            _: Player<'_, Self>,
            Command::Read { page }: Command,
        ) -> Result<(), NoRefusal> {
            let _ = page;
            Ok(())
        }
    }
    let _ = Games::new().with::<Library>();
}

/// A game whose commands have these hints for clients.
macro_rules! hinting_game {
    ($game:ident, [$($command:meta)?], $schema:expr) => {
        #[derive(Kind)]
        struct Monk {
            path: Path,
            awake: Flag,
            #[component(words("dawn", "dusk"))]
            hour: Text<12>,
            book: Counts<Page, 9>,
            mark: Text<12>,
            candles: Number<0, 9>,
            pace: Half,
        }

        #[derive(Command)]
        enum Command {
            /// Read in a book.
            $(#[$command])?
            Read { page: Listed<Page>, at: Option<Position> },
        }

        #[derive(Default, Serialize, Deserialize, Declare)]
        #[declare(kinds(Monk))]
        struct $game;

        impl Game for $game {
            const INFO: GameInfo = GameInfo::new("abbey", "Read.");
            type Avatar = Monk;
            type Command = Command;
            type Refusal = NoRefusal;

            fn schema(&self, schema: &mut ambit::schema::Schema) {
                let adjust: fn(&mut ambit::schema::Schema) = $schema;
                adjust(schema);
            }

            fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Monk> {
                world.spawn(Monk {
                    path: Path::at(world.centre()),
                    awake: Flag::on(),
                    hour: "dawn".into(),
                    book: Counts::default(),
                    mark: "".into(),
                    candles: Number::default(),
                    pace: Half::new(1.5),
                })
            }

            fn command(
                &mut self,
                _: &mut World<Self>,
                _: Player<'_, Self>,
                Command::Read { page, at }: Command,
            ) -> Result<(), NoRefusal> {
                let _ = (page, at);
                Ok(())
            }
        }
    };
}

/// Names what a book has.
fn pages(schema: &mut ambit::schema::Schema) {
    Page::name_in(schema, ["first", "last"]);
}

/// The same, and what players read about the field.
fn shown_pages(
    schema: &mut ambit::schema::Schema,
    adjust: impl Fn(&mut ambit::presentation::FieldPresentation),
) {
    pages(schema);
    adjust(&mut schema.presentation.commands[0].fields[0]);
}

#[test]
fn commands_for_a_flag_a_choice_or_a_word_of_a_text_are_offered() {
    {
        hinting_game!(Abbey, [command(only_for(awake))], pages);
        let _ = Games::new().with::<Abbey>();
    }
    {
        hinting_game!(Abbey, [command(only_for(hour = "dusk"))], pages);
        let _ = Games::new().with::<Abbey>();
    }
    hinting_game!(Abbey, [command(only_for(mark = "last"))], |schema| shown_pages(
        schema,
        |shown| {
            "book".clone_into(&mut shown.listed_in);
            "mark".clone_into(&mut shown.sets);
        }
    ));
    let _ = Games::new().with::<Abbey>();
}

#[test]
#[should_panic(
    expected = "the game \"abbey\" cannot be offered: its command \"read\" is only for \"awaek\", \
                and no flag has this name; they are: \"awake\""
)]
fn a_command_for_a_misspelt_flag_is_not_offered() {
    hinting_game!(Abbey, [command(only_for(awaek))], pages);
    let _ = Games::new().with::<Abbey>();
}

#[test]
#[should_panic(
    expected = "its command \"read\" is only for \"hour\" when it is \"noon\", which is none of \
                its words and no choice that sets it; name what the text may be: \
                `#[component(words(\"...\"))]`. Known are: \"dawn\", \"dusk\""
)]
fn a_command_for_a_misspelt_word_is_not_offered() {
    hinting_game!(Abbey, [command(only_for(hour = "noon"))], pages);
    let _ = Games::new().with::<Abbey>();
}

#[test]
#[should_panic(expected = "its command \"read\" is only for \"down\", and no flag has this name")]
fn a_choice_for_a_misspelt_flag_is_not_offered() {
    hinting_game!(Abbey, [], |schema| shown_pages(schema, |shown| {
        let only_for = Some(ambit::presentation::Condition::set("down"));
        shown.choices =
            vec![ambit::presentation::ChoicePresentation { only_for, ..Default::default() }];
    }));
    let _ = Games::new().with::<Abbey>();
}

#[test]
#[should_panic(
    expected = "a choice of its command \"read\" costs \"candels\", and no gauge or number has \
                this name; they are: \"candles\""
)]
fn a_choice_with_a_misspelt_cost_is_not_offered() {
    hinting_game!(Abbey, [], |schema| shown_pages(schema, |shown| {
        let cost = Some(ambit::presentation::Cost { of: "candels".into(), amount: 1 });
        shown.choices =
            vec![ambit::presentation::ChoicePresentation { cost, ..Default::default() }];
    }));
    let _ = Games::new().with::<Abbey>();
}

#[test]
#[should_panic(
    expected = "the choices of the field \"page\" of its command \"read\" are listed in \"boook\", \
                and no component of `Counts` has this name; they are: \"book\""
)]
fn a_list_in_misspelt_counts_is_not_offered() {
    hinting_game!(Abbey, [], |schema| shown_pages(schema, |shown| {
        "boook".clone_into(&mut shown.listed_in);
    }));
    let _ = Games::new().with::<Abbey>();
}

#[test]
#[should_panic(
    expected = "the choices of the field \"page\" of its command \"read\" are marked in \"boook\", \
                and no component of `Counts` has this name; they are: \"book\""
)]
fn a_list_that_is_marked_in_misspelt_counts_is_not_offered() {
    hinting_game!(Abbey, [], |schema| shown_pages(schema, |shown| {
        "boook".clone_into(&mut shown.marked_in);
    }));
    let _ = Games::new().with::<Abbey>();
}

#[test]
#[should_panic(
    expected = "the choices of the field \"page\" of its command \"read\" are chosen for \"mrak\", \
                and no text component has this name; they are: \"hour\", \"mark\""
)]
fn a_choice_for_a_misspelt_text_is_not_offered() {
    hinting_game!(Abbey, [], |schema| shown_pages(schema, |shown| {
        "mrak".clone_into(&mut shown.sets);
    }));
    let _ = Games::new().with::<Abbey>();
}

#[test]
#[should_panic(
    expected = "its command \"read\" walks with the speed in \"sped\", and no `Half` of an object \
                with a path has this name; there are: \"pace\""
)]
fn a_walk_with_a_misspelt_speed_is_not_offered() {
    hinting_game!(Abbey, [command(walk(speed_in = "sped", radius = 0.4))], pages);
    let _ = Games::new().with::<Abbey>();
}

#[test]
#[should_panic(expected = "field \"page\": its list has no names; give them in `Game::schema`: \
                `Listing::name_in(schema, [...])`")]
fn a_choice_without_names_is_not_offered() {
    hinting_game!(Abbey, [], |_| {});
    let _ = Games::new().with::<Abbey>();
}
