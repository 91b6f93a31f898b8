//! The commands of the console, one a line.
//!
//! A line goes in, a [`ConsoleCommand`] or a [`UsageError`] comes out; nothing is executed here.
//! Empty lines and lines that begin with `#` are skipped. Commands of the running game are parsed
//! later, by its schema ([`ambit_client_core::command_words`]); the console's own words win, unless
//! `do` precedes them.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::axes::AxisKind;
use ambit_proto::ids::{ClientObjectId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::schema::Schema;

use ambit_client_core::client::model::ChatAudience;

#[derive(Clone, Debug, PartialEq)]
pub enum ConsoleCommand {
    Rooms,
    /// Print with what a room of this game can be created.
    Describe(String),
    Create {
        name: String,
        game: String,
        /// Seats; 0 for the server's default.
        capacity: u32,
        /// Empty for none.
        password: String,
        /// Parameters of the game and the room.
        parameters: BTreeMap<String, String>,
    },
    Join {
        /// By number, or by name if just one room has it.
        room: RoomReference,
        /// Empty for none.
        password: String,
    },
    /// Go into any room of a game.
    Quick {
        game: String,
        /// What the room was created with.
        parameters: BTreeMap<String, String>,
    },
    /// Invite a player, by name, to the party.
    Invite(String),
    /// Accept the newest invitation.
    JoinParty,
    /// Leave the party.
    LeaveParty,
    /// Set what the player wishes in rooms.
    Wish(BTreeMap<String, String>),
    Start,
    /// Set whether the player is ready.
    Ready(bool),
    /// Return to the lobby.
    Leave,
    Players,
    /// Change the player's name.
    Nick(String),
    /// Print what the server stores of the player's account.
    Account,
    /// Write that to a new file.
    SaveAccount(String),
    /// Delete the account; the player's name confirms it.
    EraseAccount(String),
    /// Set another password for the account; the next lines are the old one and the new one.
    SetPassword,
    /// Send a chat message; `None` for the room, or for the lobby outside of a room.
    Say(Option<ChatAudience>, String),
    /// Remove a player from the room, by name.
    Kick(String),
    /// Hold these controls of the game, by name, until changed.
    Keys(Vec<String>),
    /// Move an axis of the game, by name: -1 to 1, or radians.
    Axis(String, f32),
    /// A command of the game, if it has it: a line whose first word is none of the console's, or
    /// what follows `do`.
    Game(String),
    /// List the objects in sight.
    Objects,
    /// Show what is room-wide: the score, the state of the round.
    Table,
    /// Draw what lies around, with characters.
    Radar,
    /// Tell how well an object is seen.
    Why(ClientObjectId),
    /// Set whether updates are printed.
    Watch(bool),
    /// Print statistics of the connection.
    Stats,
    Wait(Duration),
    /// Pause until an event comes, or the time is over.
    WaitFor(String, Duration),
    Quit,
    /// Print the list of commands.
    Help,
}

/// How a command refers to a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoomReference {
    Id(RoomId),
    Name(String),
}

/// An invalid line; the text says what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(String);

/// The default time of `wait-for`.
pub const DEFAULT_WAIT_FOR: Duration = Duration::from_secs(5);

/// The list of commands, a line each.
pub const HELP: &[(&str, &str)] = &[
    ("rooms", "list the rooms"),
    ("describe GAME", "with what a room of a game can be created"),
    (
        "create NAME game=GAME [capacity=N] [password=TEXT] [key=value ...]",
        "make a room and go into it as its host; 'create \"MY ROOM\" ...' for a name with spaces",
    ),
    (
        "join ID [password=TEXT]",
        "go into a room, by its number or its name; 'join \"MY ROOM\"' if that has spaces",
    ),
    (
        "quick GAME [key=value ...]",
        "go into any room of a game with these parameters, or into a new one, which starts by \
         itself",
    ),
    (
        "wish [name=value ...]",
        "what you wish in rooms from now on, if their games know it: 'wish class=mage'",
    ),
    (
        "party invite NAME|join|leave",
        "ask a player into your party, who then comes into each room that you join; come into the \
         party to which you were invited last; leave yours",
    ),
    ("start", "start the room's game (its host only)"),
    ("ready on|off", "say that you are ready, or not"),
    ("leave", "go back to the lobby"),
    ("players", "who is in the room, or in the lobby"),
    ("nick NAME", "take another name"),
    (
        "account [save FILE|erase NAME]",
        "what the server stores of your account; write it to a file; delete it all, which your own \
         name confirms",
    ),
    ("password", "set another password for your account; it asks for both, and shows neither"),
    (
        "say TEXT",
        "talk to the room, or to the lobby; '@NAME TEXT' (or '@\"LONG NAME\" TEXT') whispers, \
         '!TEXT' goes to the lobby, '&TEXT' to your party",
    ),
    ("kick NAME", "remove a player from the room (its host only)"),
    ("keys NAME,...", "hold these controls of the game until changed; 'keys none' lets go"),
    ("axis NAME VALUE", "move an axis of the game: -1 to 1, or radians for an angle"),
    ("do NAME ...", "give a command of the game, also one that is called like one of these"),
    ("objects", "what lies around"),
    ("table", "what all players have: the score, the state of the round"),
    ("radar", "what lies around, as a picture: north is up, the arrow is you"),
    ("why #OBJECT", "since when and how well you see an object"),
    ("watch on|off", "print updates, or don't"),
    ("stats", "figures of the connection"),
    ("wait 500ms", "do nothing for a while"),
    (
        "wait-for EVENT [5s]",
        "go on when an event of that kind, or of that name in the game, has come since the last \
         wait-for",
    ),
    ("quit", "leave"),
    ("help", "this list"),
];

/// Parses a line; `None` if there is no command in it.
pub fn parse(line: &str) -> Result<Option<ConsoleCommand>, UsageError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if ["create", "join"].contains(&verb)
        && let Some((name, options)) = quoted_name(rest)?
    {
        let options: Vec<&str> = options.split_whitespace().collect();
        return match verb {
            "create" => create(name, &options),
            _ => join(RoomReference::Name(name.to_owned()), &options),
        }
        .map(Some);
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let parsed = match (verb, words.as_slice()) {
        ("rooms", []) => ConsoleCommand::Rooms,
        ("describe", [game]) => ConsoleCommand::Describe((*game).to_owned()),
        ("create", [name, options @ ..]) => create(name, options)?,
        ("join", [room, options @ ..]) => join(room_reference(room), options)?,
        ("quick", [game, options @ ..]) => {
            ConsoleCommand::Quick { game: (*game).to_owned(), parameters: options_of(options)? }
        }
        ("party", ["invite", _, ..]) => {
            ConsoleCommand::Invite(rest["invite".len()..].trim().to_owned())
        }
        ("party", ["join"]) => ConsoleCommand::JoinParty,
        ("party", ["leave"]) => ConsoleCommand::LeaveParty,
        ("wish", wishes) => ConsoleCommand::Wish(options_of(wishes)?),
        ("start", []) => ConsoleCommand::Start,
        ("ready", [] | ["on"]) => ConsoleCommand::Ready(true),
        ("ready", ["off"]) => ConsoleCommand::Ready(false),
        ("leave", []) => ConsoleCommand::Leave,
        ("players", []) => ConsoleCommand::Players,
        ("nick", [_, ..]) => ConsoleCommand::Nick(rest.to_owned()),
        ("account", []) => ConsoleCommand::Account,
        ("account", ["save", ..]) => ConsoleCommand::SaveAccount(account_argument(rest, "save")?),
        ("account", ["erase", ..]) => {
            ConsoleCommand::EraseAccount(account_argument(rest, "erase")?)
        }
        ("password", []) => ConsoleCommand::SetPassword,
        // The line may have one, which is not repeated.
        ("password", _) => {
            return Err(UsageError("expected password alone; it asks for both passwords".into()));
        }
        ("say", [_, ..]) => say(rest)?,
        ("kick", [_, ..]) => ConsoleCommand::Kick(rest.to_owned()),
        ("keys", [_, ..]) => ConsoleCommand::Keys(keys(rest)?),
        ("axis", [name, value]) => ConsoleCommand::Axis((*name).to_owned(), axis_value(value)?),
        ("do", [_, ..]) => ConsoleCommand::Game(rest.to_owned()),
        ("objects", []) => ConsoleCommand::Objects,
        ("table", []) => ConsoleCommand::Table,
        ("radar", []) => ConsoleCommand::Radar,
        ("why", [object]) => ConsoleCommand::Why(object_id(object)?),
        ("watch", ["on"]) => ConsoleCommand::Watch(true),
        ("watch", ["off"]) => ConsoleCommand::Watch(false),
        ("stats", []) => ConsoleCommand::Stats,
        ("wait", [time]) => ConsoleCommand::Wait(duration(time)?),
        ("wait-for", [event]) => ConsoleCommand::WaitFor((*event).to_owned(), DEFAULT_WAIT_FOR),
        ("wait-for", [event, time]) => {
            ConsoleCommand::WaitFor((*event).to_owned(), duration(time)?)
        }
        ("quit" | "exit", []) => ConsoleCommand::Quit,
        ("help", []) => ConsoleCommand::Help,
        _ => match help_of(verb) {
            Some((usage, _)) => {
                return Err(UsageError(format!("'{line}' is invalid; expected {usage}")));
            }
            None => ConsoleCommand::Game(line.to_owned()),
        },
    };
    Ok(Some(parsed))
}

/// What a person types for a command of the game: its form, after `do` if the console has a command
/// of that name.
pub fn game_usage(usage: &str) -> String {
    let name = usage.split_whitespace().next().unwrap_or_default();
    if is_own_word(name) { format!("do {usage}") } else { usage.to_owned() }
}

/// Whether a line that begins with this word is the console's own.
pub fn is_own_word(word: &str) -> bool {
    help_of(word).is_some() || word == "exit"
}

/// `#7`, as lines show it, or `7`.
fn object_id(text: &str) -> Result<ClientObjectId, UsageError> {
    let number = text.strip_prefix('#').unwrap_or(text);
    let id = number.parse().map(ClientObjectId);
    id.map_err(|_| UsageError(format!("'{text}' is not an object; expected one like #7")))
}

/// A time as users write it: `500ms`, `5s`, `1.5s`, `2m`; a bare number is in seconds.
pub fn duration(text: &str) -> Result<Duration, UsageError> {
    let bad =
        || UsageError(format!("'{text}' is not a time; expected something like 500ms, 5s or 2m"));
    let digits = text.trim_end_matches(char::is_alphabetic);
    let number: f64 = digits.parse().map_err(|_| bad())?;
    let seconds = match &text[digits.len()..] {
        "ms" => number / 1_000.0,
        "s" | "" => number,
        "m" | "min" => number * 60.0,
        _ => return Err(bad()),
    };
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| time.as_secs() <= 86_400)
        .ok_or_else(bad)
}

fn axis_value(text: &str) -> Result<f32, UsageError> {
    let value = text.parse().ok().filter(|value: &f32| value.is_finite());
    value.ok_or_else(|| {
        UsageError(format!(
            "'{text}' is no number; expected one from -1 to 1, or radians: axis throttle 0.5"
        ))
    })
}

fn create(name: &str, options: &[&str]) -> Result<ConsoleCommand, UsageError> {
    if name.chars().all(|c| ['"', '\''].contains(&c)) {
        return Err(UsageError(format!(
            "{name} is no name for a room; expected 1 character at least, without quotes: create \
             den game=field"
        )));
    }
    let mut parameters = options_of(options)?;
    let game = parameters.remove("game").ok_or_else(|| {
        let given = options.join(" ");
        let but = if given.is_empty() { String::new() } else { format!(", but '{given}'") };
        UsageError(format!(
            "no game given{but}; expected create NAME game=GAME, for example game=field"
        ))
    })?;
    let password = parameters.remove("password").unwrap_or_default();
    let capacity = match parameters.remove("capacity") {
        // In the request, 0 stands for the default.
        Some(text) => match text.parse() {
            Ok(seats @ 1..) if !text.starts_with('+') => seats,
            _ => {
                return Err(UsageError(format!(
                    "capacity={text} is not a number of seats; expected 1 or more, or no capacity \
                     for the default"
                )));
            }
        },
        None => 0,
    };
    Ok(ConsoleCommand::Create { name: name.to_owned(), game, capacity, password, parameters })
}

/// The name in quotes before the options, if there are quotes.
fn quoted_name(rest: &str) -> Result<Option<(&str, &str)>, UsageError> {
    let Some(quoted) = rest.strip_prefix('"') else { return Ok(None) };
    match quoted.split_once('"') {
        // A name that is only quotes is refused as before.
        Some(("", _)) => Ok(None),
        Some((name, options)) if options.is_empty() || options.starts_with(char::is_whitespace) => {
            Ok(Some((name, options)))
        }
        _ => Err(UsageError(format!(
            "'{rest}' has no name between two quotes; expected something like \"MY ROOM\""
        ))),
    }
}

fn room_reference(room: &str) -> RoomReference {
    room.parse()
        .map_or_else(|_| RoomReference::Name(room.to_owned()), |id| RoomReference::Id(RoomId(id)))
}

fn join(room: RoomReference, options: &[&str]) -> Result<ConsoleCommand, UsageError> {
    let mut options = options_of(options)?;
    let password = options.remove("password").unwrap_or_default();
    if let Some((key, _)) = options.first_key_value() {
        return Err(UsageError(format!(
            "join does not know '{key}'; expected join ID [password=TEXT]"
        )));
    }
    Ok(ConsoleCommand::Join { room, password })
}

fn options_of(words: &[&str]) -> Result<BTreeMap<String, String>, UsageError> {
    let mut options = BTreeMap::new();
    for word in words {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| UsageError(format!("'{word}' should be key=value")))?;
        if options.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(UsageError(format!("'{key}' is given twice")));
        }
    }
    Ok(options)
}

/// The file or the name after the word, also with spaces.
fn account_argument(rest: &str, word: &str) -> Result<String, UsageError> {
    let argument = rest[word.len()..].trim();
    if argument.is_empty() {
        return Err(UsageError("expected account save FILE, or account erase NAME".into()));
    }
    Ok(argument.to_owned())
}

fn say(text: &str) -> Result<ConsoleCommand, UsageError> {
    if let Some(whisper) = text.strip_prefix('@') {
        let expected = || UsageError("expected say @NAME TEXT, or say @\"LONG NAME\" TEXT".into());
        let (name, text) = addressee(whisper).ok_or_else(expected)?;
        return Ok(ConsoleCommand::Say(
            Some(ChatAudience::PlayerNamed(name.to_owned())),
            text.trim().to_owned(),
        ));
    }
    for (mark, audience) in [('!', ChatAudience::Lobby), ('&', ChatAudience::Party)] {
        if let Some(text) = text.strip_prefix(mark) {
            return Ok(ConsoleCommand::Say(Some(audience), text.trim().to_owned()));
        }
    }
    Ok(ConsoleCommand::Say(None, text.to_owned()))
}

/// The name before a whisper's text, in quotes if it contains spaces.
fn addressee(whisper: &str) -> Option<(&str, &str)> {
    match whisper.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"'),
        None => whisper.split_once(' '),
    }
}

/// `up,fire`, also with blanks.
fn keys(names: &str) -> Result<Vec<String>, UsageError> {
    if names.trim() == "none" {
        return Ok(Vec::new());
    }
    let given = names.split(|c: char| c == ',' || c.is_whitespace());
    let given: Vec<_> = given.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if given.is_empty() {
        return Err(UsageError(format!(
            "'keys {names}' names no control; expected keys NAME,... or keys none"
        )));
    }
    Ok(given)
}

/// The keymap in which these controls of the game are held; what is wrong otherwise.
pub fn keymap(schema: &Schema, names: &[String]) -> Result<Keymap, String> {
    schema.keymap(names.iter().map(String::as_str)).map_err(|unknown| {
        if axis_names(schema).any(|axis| axis == unknown) {
            return format!("'{unknown}' is an axis: axis {unknown} 0.5");
        }
        let known: Vec<&str> = key_names(schema).collect();
        if known.is_empty() {
            format!("the game {} has no controls, so there is no '{unknown}'", schema.game)
        } else {
            format!(
                "unknown control '{unknown}'; there are {}; 'none' alone lets go",
                known.join(", ")
            )
        }
    })
}

/// The place of the game's axis of this name among the controls, if it can have this value; what is
/// wrong otherwise.
pub fn axis(schema: &Schema, name: &str, value: f32) -> Result<u8, String> {
    let control = schema.control_index(name);
    let axis = control.and_then(|control| Some((control, schema.axis(control)?.1)));
    match axis {
        Some((_, AxisKind::Linear)) if !(-1.0..=1.0).contains(&value) => {
            Err(format!("'{name}' is from -1 to 1, and not {value}"))
        }
        Some((control, _)) => Ok(control),
        None if key_names(schema).any(|key| key == name) => {
            Err(format!("'{name}' is no axis, but held: keys {name}"))
        }
        None => {
            let known: Vec<&str> = axis_names(schema).collect();
            Err(if known.is_empty() {
                format!("the game {} has no axes, so there is no '{name}'", schema.game)
            } else {
                format!("unknown axis '{name}'; there are {}", known.join(", "))
            })
        }
    }
}

/// The names of the game's axes.
pub(crate) fn axis_names(schema: &Schema) -> impl Iterator<Item = &str> {
    let axes = schema.player_controls().filter(|(control, _)| control.axis.is_some());
    axes.map(|(control, _)| control.name.as_str())
}

/// The names of the game's controls that are held.
pub(crate) fn key_names(schema: &Schema) -> impl Iterator<Item = &str> {
    let keys = schema.controls.iter().filter(|control| control.axis.is_none());
    keys.map(|control| control.name.as_str())
}

/// The form and the meaning of a command of the console.
pub(crate) fn help_of(verb: &str) -> Option<(&'static str, &'static str)> {
    HELP.iter().copied().find(|(usage, _)| usage.split_whitespace().next() == Some(verb))
}

#[cfg(test)]
mod tests {
    use ambit_proto::schema::ControlSpec;

    use super::*;

    #[test]
    fn commands_are_parsed_as_documented() {
        check("rooms", ConsoleCommand::Rooms);
        check(
            "  join 3 ",
            ConsoleCommand::Join { room: RoomReference::Id(RoomId(3)), password: String::new() },
        );
        check(
            "join meadow",
            ConsoleCommand::Join {
                room: RoomReference::Name("meadow".into()),
                password: String::new(),
            },
        );
        let quoted = |name: &str, password: &str| ConsoleCommand::Join {
            room: RoomReference::Name(name.into()),
            password: password.into(),
        };
        check("join \"my room\"", quoted("my room", ""));
        check("join  \"my  room\" password=x", quoted("my  room", "x"));
        check("join \"3\"", quoted("3", ""));
        check("say hello there", ConsoleCommand::Say(None, "hello there".into()));
        check(
            "say @bob psst",
            ConsoleCommand::Say(Some(ChatAudience::PlayerNamed("bob".into())), "psst".into()),
        );
        check(
            "say @\"guest 7\" psst",
            ConsoleCommand::Say(Some(ChatAudience::PlayerNamed("guest 7".into())), "psst".into()),
        );
        check("account", ConsoleCommand::Account);
        check("account save my data.json", ConsoleCommand::SaveAccount("my data.json".into()));
        check("account erase guest 7", ConsoleCommand::EraseAccount("guest 7".into()));
        check("move 10 20.5", ConsoleCommand::Game("move 10 20.5".into()));
        check("keys up,fire", ConsoleCommand::Keys(vec!["up".to_owned(), "fire".to_owned()]));
        check("keys up, fire", ConsoleCommand::Keys(vec!["up".to_owned(), "fire".to_owned()]));
        check("keys none", ConsoleCommand::Keys(vec![]));
        for line in ["keys ,,,", "keys , ,", "create den game=field capacity=+2"] {
            let error = parse(line).expect_err(line).to_string();
            assert!(error.contains("expected"), "{error}");
        }
        check("axis throttle -0.5", ConsoleCommand::Axis("throttle".to_owned(), -0.5));
        check("wait 500ms", ConsoleCommand::Wait(Duration::from_millis(500)));
        check("wait-for started", ConsoleCommand::WaitFor("started".into(), DEFAULT_WAIT_FOR));
        check(
            "wait-for leave 1.5s",
            ConsoleCommand::WaitFor("leave".into(), Duration::from_millis(1_500)),
        );
        let parameters = [("npcs".to_owned(), "5".to_owned())].into();
        let name = "den".to_owned();
        let game = "field".to_owned();
        check(
            "create den game=field capacity=4 npcs=5",
            ConsoleCommand::Create { name, game, capacity: 4, password: String::new(), parameters },
        );
        let name = "my room".to_owned();
        let game = "field".to_owned();
        let password = String::new();
        let parameters = BTreeMap::new();
        check(
            "create \"my room\" game=field",
            ConsoleCommand::Create { name, game, capacity: 0, password, parameters },
        );
    }

    #[test]
    fn controls_are_those_of_the_game() {
        let held = |names| keymap(&Schema::example(), &keys(names).expect("names"));
        assert_eq!(held("left,jump"), Ok(Keymap(0b11)));
        assert_eq!(held("none"), Ok(Keymap(0)));
        let unknown = "unknown control 'up'; there are left, jump; 'none' alone lets go";
        assert_eq!(held("jump,up"), Err(unknown.to_owned()));
        assert!(held("jump,none").is_err());
        let none = Schema { game: "chess".to_owned(), ..Schema::default() };
        let refused = keymap(&none, &keys("up").expect("a name")).expect_err("it has none");
        assert_eq!(refused, "the game chess has no controls, so there is no 'up'");
    }

    #[test]
    fn axes_are_those_of_the_game() {
        let mut schema = Schema::example();
        let none = "the game example has no axes, so there is no 'roll'";
        assert_eq!(axis(&schema, "roll", 0.0), Err(none.to_owned()));
        for (name, kind) in [("aim", AxisKind::Angle), ("throttle", AxisKind::Linear)] {
            schema.controls.push(ControlSpec {
                name: name.to_owned(),
                axis: Some(kind),
                ..ControlSpec::default()
            });
        }
        assert_eq!(axis(&schema, "aim", 3.0), Ok(2));
        assert_eq!(axis(&schema, "throttle", -1.0), Ok(3));
        for (name, value, problem) in [
            ("throttle", 3.0, "'throttle' is from -1 to 1, and not 3"),
            ("left", 1.0, "'left' is no axis, but held: keys left"),
            ("roll", 1.0, "unknown axis 'roll'; there are aim, throttle"),
        ] {
            assert_eq!(axis(&schema, name, value), Err(problem.to_owned()));
        }
        let is_axis = "'throttle' is an axis: axis throttle 0.5";
        assert_eq!(
            keymap(&schema, &keys("left,throttle").expect("names")),
            Err(is_axis.to_owned())
        );
    }

    #[test]
    fn empty_lines_and_comments_are_skipped() {
        assert_eq!(parse("   "), Ok(None));
        assert_eq!(parse("# a comment"), Ok(None));
    }

    #[test]
    fn a_usage_error_names_the_expected_form() {
        for (line, hint) in [
            ("start now", "start"),
            ("create den", "game="),
            ("create den gme=field npcs=5", "no game given, but 'gme=field npcs=5'; expected"),
            ("create den game=field npcs", "key=value"),
            ("create den game=field capacity=0", "1 or more"),
            ("create den game=field capacity=many", "1 or more"),
            ("create \"\" game=field", "1 character at least"),
            ("create '' game=field", "1 character at least"),
            ("create \"my room game=field", "between two quotes"),
            ("create \"my room\"game=field", "between two quotes"),
            ("join \"my room", "between two quotes"),
            ("join \"my room\" now", "key=value"),
            ("wait long", "500ms"),
            ("wait -5s", "500ms"),
            ("axis throttle", "axis NAME VALUE"),
            ("account erase", "account erase NAME"),
            ("account delete", "account [save FILE|erase NAME]"),
            ("axis throttle fast", "from -1 to 1"),
            ("axis throttle inf", "from -1 to 1"),
        ] {
            let error = parse(line).expect_err(line).to_string();
            assert!(error.contains(hint), "{line}: {error}");
        }
    }

    /// A line for each entry of [`HELP`], in its order.
    const EXAMPLES: &[&str] = &[
        "rooms",
        "describe field",
        "create den game=field capacity=4 password=sesame npcs=5",
        "join 3 password=sesame",
        "quick field npcs=5",
        "wish class=mage",
        "party invite bob",
        "start",
        "ready off",
        "leave",
        "players",
        "nick ann",
        "account save my data.json",
        "password",
        "say @bob hello",
        "kick bob",
        "keys up,fire",
        "axis throttle 0.5",
        "do ready now",
        "objects",
        "table",
        "radar",
        "why #7",
        "watch on",
        "stats",
        "wait 500ms",
        "wait-for started 5s",
        "quit",
        "help",
    ];

    #[test]
    fn each_documented_command_is_known() {
        let verb = |line: &str| line.split_whitespace().next().map(str::to_owned);
        let documented = HELP.iter().map(|(usage, _)| verb(usage));
        assert!(documented.eq(EXAMPLES.iter().map(|line| verb(line))));
        for line in EXAMPLES {
            let parsed = parse(line).expect(line).expect(line);
            let is_game = matches!(parsed, ConsoleCommand::Game(_));
            assert_eq!(is_game, line.starts_with("do "), "{line}");
        }
    }

    #[test]
    fn a_password_in_a_line_is_not_repeated() {
        let error = parse("password sesame").expect_err("too much").to_string();
        assert!(error.contains("asks for both") && !error.contains("sesame"), "{error}");
    }

    #[test]
    fn do_gives_a_command_of_the_game_whatever_it_is_called() {
        for line in ["ready", "say  hello there", "do it", "move 1 2", "quit"] {
            check(&format!("do  {line} "), ConsoleCommand::Game(line.to_owned()));
        }
        assert!(parse("do").expect_err("no command").0.contains("do NAME"));
        for (usage, typed) in [
            ("ready", "do ready"),
            ("say TEXT", "do say TEXT"),
            ("do", "do do"),
            ("exit", "do exit"),
            ("move X Y", "move X Y"),
        ] {
            assert_eq!(game_usage(usage), typed);
        }
    }

    fn check(line: &str, expected: ConsoleCommand) {
        assert_eq!(parse(line), Ok(Some(expected)), "{line}");
    }
}
