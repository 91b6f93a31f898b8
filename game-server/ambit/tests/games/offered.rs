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
