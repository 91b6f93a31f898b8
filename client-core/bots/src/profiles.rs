//! The profiles of bots: what each decides to do in its game.

pub(crate) mod crowd;
pub(crate) mod cubes;
pub(crate) mod deus;
pub(crate) mod monkey;
pub(crate) mod shooter;

use ambit_proto::schema::Schema;
use clap::ValueEnum;

use self::crowd::walk_command;

/// The game of a created room, if nothing says which one.
const DEFAULT_GAME: &str = "field";

/// The games with a profile of their own, by name: those that come with Ambit.
pub const GAMES: [&str; 4] = [ambit_cubes_physics::GAME, deus::GAME, DEFAULT_GAME, shooter::GAME];

/// What bots do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// Walk between random points of the map, and sometimes cast a spell: for games with a command
    /// whose only field is a position.
    Crowd,
    /// Hold a key and nothing else: 20 or 60 inputs a second (`--input-hz`).
    Hold,
    /// Push a cube around, gather other cubes, throw them off, jump: for `--game cubes`.
    Cubes,
    /// Fly a ship, aim ahead of the nearest one, and dodge missiles: for `--game shooter`.
    Shooter,
    /// Choose a class, fight what comes near, and go to chests: for `--game deus`. Refusals are no
    /// faults.
    Deus,
    /// Play any game by its schema: valid, absurd and malformed commands, and random keys. Refusals
    /// are no faults.
    Monkey,
    /// Do nothing: to measure the cost of an idle client.
    Idle,
}

impl Profile {
    /// The game that it plays, if it plays only one; its own name is the same.
    pub(crate) fn game(self) -> Option<&'static str> {
        match self {
            Self::Cubes => Some(ambit_cubes_physics::GAME),
            Self::Shooter => Some(shooter::GAME),
            Self::Deus => Some(deus::GAME),
            Self::Crowd | Self::Hold | Self::Monkey | Self::Idle => None,
        }
    }

    /// The default profile of a game, as far as its name says it.
    fn for_name(game: &str) -> Option<Self> {
        match game {
            ambit_cubes_physics::GAME => Some(Self::Cubes),
            shooter::GAME => Some(Self::Shooter),
            deus::GAME => Some(Self::Deus),
            DEFAULT_GAME => Some(Self::Crowd),
            _ => None,
        }
    }

    /// The default profile of a game.
    pub(crate) fn for_game(schema: &Schema) -> Self {
        let can_walk = walk_command(schema).is_some();
        let by_commands = || if can_walk { Self::Crowd } else { Self::Monkey };
        Self::for_name(&schema.game).unwrap_or_else(by_commands)
    }
}

/// The game of a room that is created, and of which a server has these: that of the flag, or the
/// only one, or that of the profile.
pub(crate) fn game_to_create<'g>(
    given: Option<&'g str>,
    profile: Option<Profile>,
    offered: &[&'g str],
) -> Result<&'g str, String> {
    let by_default = match (given, offered) {
        (Some(given), _) => return Ok(given),
        (None, [only]) => return Ok(only),
        _ => profile.and_then(Profile::game).unwrap_or(DEFAULT_GAME),
    };
    if offered.is_empty() || offered.contains(&by_default) {
        return Ok(by_default);
    }
    let offered = offered.join(", ");
    Err(format!("the server does not offer `{by_default}`; expected --game, with one of {offered}"))
}

/// Why bots of a profile cannot play a game, as far as both are known.
pub(crate) fn misfit(profile: Option<Profile>, game: Option<&str>) -> Option<String> {
    let (played, game) = profile.and_then(Profile::game).zip(game)?;
    (played != game).then(|| {
        format!(
            "the profile `{played}` is for the game `{played}`, and not for `{game}`; expected \
             --game {played}, or --profile monkey, which plays any game"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_game_of_a_server_is_played_by_default() {
        let shipped = ["cubes", "field", "shooter"];
        let shooter = Some(Profile::Shooter);
        for (given, profile, offered, expected) in [
            (None, None, &["duel"][..], Ok("duel")),
            (None, shooter, &["duel"], Ok("duel")),
            (Some("chess"), None, &["duel"], Ok("chess")),
            (None, None, &shipped, Ok("field")),
            (None, shooter, &shipped, Ok("shooter")),
            (Some("cubes"), shooter, &shipped, Ok("cubes")),
            (None, None, &["duel", "chess"], Err("one of duel, chess")),
            (None, None, &[], Ok("field")),
        ] {
            match (game_to_create(given, profile, offered), expected) {
                (Ok(game), Ok(expected)) => assert_eq!(game, expected),
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{error}"),
                (result, _) => panic!("{result:?} of {offered:?}, not {expected:?}"),
            }
        }
    }

    #[test]
    fn the_default_profile_fits_the_commands_of_the_game() {
        use ambit_proto::schema::{CommandKind, FieldSpec, FieldType};
        let of = |game: &str, commands: Vec<CommandKind>| {
            Profile::for_game(&Schema { game: game.into(), commands, ..Schema::default() })
        };
        let to = FieldSpec::new("to", FieldType::Position);
        let walk = CommandKind { fields: vec![to], ..CommandKind::default() };
        assert_eq!(of("field", Vec::new()), Profile::Crowd);
        assert_eq!(of("cubes", Vec::new()), Profile::Cubes);
        assert_eq!(of("shooter", Vec::new()), Profile::Shooter);
        assert_eq!(of("stroll", vec![walk]), Profile::Crowd);
        assert_eq!(of("duel", Vec::new()), Profile::Monkey);
        assert_eq!(of("duel", vec![CommandKind::default()]), Profile::Monkey);
    }
}
