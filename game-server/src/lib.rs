//! The shipped games in one registry, and the program `game-server` that hosts rooms of them.

#![warn(missing_docs, reason = "authors of games import this crate")]

use ambit::Games;
use ambit_cubes::CubesGame;
use ambit_deus::Deus;
use ambit_field::FieldGame;
use ambit_hamlet::Hamlet;
use ambit_room::logic::registry::Registry;
use ambit_shooter::Shooter;

pub use ambit_deus::invalid_variable;

/// The games that come with Ambit.
pub fn standard() -> Registry {
    let games = Games::new().with::<FieldGame>().with::<CubesGame>().with::<Shooter>();
    games.with::<Deus>().with::<Hamlet>().into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use ambit_proto::codes::ErrorCode;
    use ambit_proto::ids::RoomId;
    use ambit_room::recording::Header;

    use super::*;

    #[test]
    fn the_error_for_an_unknown_game_lists_the_known_ones() {
        let error = standard().check("fjeld", &BTreeMap::new()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnknownGame);
        assert_eq!(
            error.to_string(),
            "there is no game \"fjeld\"; the known ones are field, cubes, shooter, deus, hamlet"
        );
    }

    #[test]
    fn a_game_s_parameters_are_checked_with_the_room_s() {
        let check = |key: &str, value: &str| {
            standard().check("field", &BTreeMap::from([(key.to_owned(), value.to_owned())]))
        };
        assert_eq!(check("npcs", "20000"), Ok(()));
        assert_eq!(check("delay", "100"), Ok(()));
        assert_eq!(check("maps", "2"), Ok(()));
        assert_eq!(check("pilots", "20"), Ok(()));
        for (key, value) in [("npcs", "20001"), ("pilots", "21"), ("pilots", "few")] {
            assert_eq!(check(key, value).unwrap_err().code(), ErrorCode::BadParameter);
        }
        let unknown = check("orcs", "1").unwrap_err().to_string();
        assert!(
            unknown.contains(
                "budget, cell, coding, copies, delay, grace, hold, inner, map-seats, maps, margin, \
                 npcs, obstacles, outer, pilots, quorum, seconds, seed, size, target, tick, \
                 wolves"
            ),
            "{unknown}"
        );
    }

    #[test]
    fn a_room_can_be_made_as_its_game_is_begun_alone() {
        for info in standard().games() {
            let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
            let given = info.quick_start.iter().map(owned).collect();
            assert_eq!(standard().check(info.name, &given), Ok(()), "{}", info.name);
        }
    }

    #[test]
    fn seats_of_a_map_are_for_worlds_of_several_maps() {
        let check = |given: &[(&str, &str)]| {
            let given =
                given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
            standard().check("field", &given)
        };
        assert_eq!(check(&[("maps", "2"), ("map-seats", "3")]), Ok(()));
        for given in [&[("map-seats", "3")][..], &[("maps", "1"), ("map-seats", "3")]] {
            let error = check(given).unwrap_err();
            assert_eq!(error.code(), ErrorCode::BadParameter);
            let error = error.to_string();
            assert!(error.contains("map-seats") && error.contains("maps=2 or more"), "{error}");
        }
    }

    #[test]
    fn a_header_creates_the_room_that_it_describes() {
        let header = Header {
            game: "field".into(),
            room: 7,
            seed: 9,
            capacity: 12,
            grace_ms: 4_000,
            parameters: BTreeMap::from([("size".into(), "60x50".into())]),
        };
        let (config, game) = standard().prepare(&header).expect("a good header");
        assert_eq!((config.room, config.seed, config.capacity), (RoomId(7), 9, 12));
        assert_eq!(
            (config.width, config.height, config.grace),
            (60.0, 50.0, Duration::from_secs(4))
        );
        assert_eq!(game.schema().game, "field");
    }

    #[test]
    #[should_panic(expected = "a game \"cubes\" is registered already")]
    fn registering_two_games_of_one_name_panics() {
        let _ = Games::new().with::<CubesGame>().with::<CubesGame>();
    }
}
