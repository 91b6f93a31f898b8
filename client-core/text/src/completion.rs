//! What a person at a terminal may type next: candidates for a word, and the form of a command.
//!
//! A line, the cursor and [`KnownNames`] go in; a [`Completion`] or a hint comes out. No I/O. Words
//! are split as [`command`] and [`command_words`] split them.
//!
//! Names come from the server and from other players. One is offered only if a person could type it
//! as it is: never with control or invisible characters, which could control the terminal.
//!
//! Bounds: [`MAX_CANDIDATES`], [`MAX_NAME_CHARS`] each, [`MAX_HINT_CHARS`], and [`MAX_KNOWN`]
//! rooms, players, games and objects; what comes beyond is left out.

use std::sync::Arc;

use ambit_client_core::client::event::{GameEvent, LobbyEvent, ViewEvent};
use ambit_client_core::client::model::RoomListing;
use ambit_client_core::command_words;
use ambit_proto::ids::{ClientObjectId, PlayerId};
use ambit_proto::presentation::CommandPresentation;
use ambit_proto::schema::{CommandKind, FieldSpec, FieldType, Schema};

use crate::command::{self, HELP};
use crate::json;

/// The most candidates for a word.
pub const MAX_CANDIDATES: usize = 64;
/// The longest candidate or label, in characters.
pub const MAX_NAME_CHARS: usize = 64;
/// The longest hint, in characters.
pub const MAX_HINT_CHARS: usize = 160;
/// The most rooms; the most players, games and objects.
pub const MAX_KNOWN: usize = 256;

/// What the client has learnt so far that a command can name.
#[derive(Clone, Debug, Default)]
pub struct KnownNames {
    games: Vec<String>,
    rooms: Vec<RoomListing>,
    players: Vec<(PlayerId, String)>,
    /// Of the running game.
    schema: Option<Arc<Schema>>,
    /// The objects in view.
    pub objects: Vec<ObjectName>,
}

/// An object in view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// The client's id of it.
    pub id: ClientObjectId,
    /// Its kind, and its name if it has one.
    pub label: String,
}

/// What can stand in place of the text from `start` to the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// In bytes of the line.
    pub start: usize,
    /// Possible texts; none if the line can't be completed.
    pub candidates: Vec<Candidate>,
}

/// A possible text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The text; it ends with a space if another word can follow.
    pub text: String,
    /// The text in a list of candidates.
    pub label: String,
    /// What a choice of the game does; may be empty.
    pub help: String,
}

impl KnownNames {
    /// Learns from an event.
    pub fn handle_event(&mut self, event: &ViewEvent) {
        match event {
            ViewEvent::Lobby(_, LobbyEvent::Welcome(welcome)) => {
                let games = welcome.games.iter().map(|game| game.name.clone());
                *self = KnownNames {
                    games: games.take(MAX_KNOWN).collect(),
                    schema: self.schema.take().filter(|_| welcome.room.is_some()),
                    ..KnownNames::default()
                };
            }
            ViewEvent::Lobby(_, LobbyEvent::Rooms { rooms, .. }) => {
                self.rooms = rooms.iter().take(MAX_KNOWN).cloned().collect();
            }
            ViewEvent::Lobby(
                _,
                LobbyEvent::Joined { players, .. } | LobbyEvent::Players { players, .. },
            ) => {
                let players = players.iter().map(|player| (player.id, player.name.clone()));
                self.players = players.take(MAX_KNOWN).collect();
            }
            ViewEvent::Lobby(_, LobbyEvent::Renamed { player, name, .. }) => {
                self.add_player(*player, name);
            }
            ViewEvent::Lobby(_, LobbyEvent::Chat(chat)) => {
                self.add_player(chat.from, &chat.from_name);
            }
            ViewEvent::Game(GameEvent::Started(started)) => {
                self.schema = Some(started.schema.clone());
            }
            ViewEvent::Lobby(_, LobbyEvent::Left { .. })
            | ViewEvent::Game(GameEvent::Ended { .. }) => {
                self.schema = None;
            }
            _ => {}
        }
    }

    fn add_player(&mut self, id: PlayerId, name: &str) {
        if let Some((_, known)) = self.players.iter_mut().find(|(known, _)| *known == id) {
            name.clone_into(known);
        } else if self.players.len() < MAX_KNOWN {
            self.players.push((id, name.to_owned()));
        }
    }

    fn game_command(&self, name: &str) -> Option<(&CommandKind, &CommandPresentation)> {
        let mut commands = command_words::with_presentations(self.schema.as_ref()?);
        commands.find(|(command, _)| command.name == name)
    }
}

/// The candidates for the word before the cursor, which is given in bytes.
pub fn complete(line: &str, cursor: usize, known: &KnownNames) -> Completion {
    let cursor = line.floor_char_boundary(cursor);
    let (typed, after) = line.split_at(cursor);
    if typed.trim_start().starts_with('#') {
        return Completion::default();
    }
    let word = typed.rsplit(char::is_whitespace).next().unwrap_or_default();
    let before = &typed[..typed.len() - word.len()];
    let words: Vec<&str> = before.split_whitespace().collect();
    let offers = match words.split_first() {
        None => commands(word, known),
        Some((&"do", [])) => game_commands(word, known),
        Some((&"do", [verb, arguments @ ..])) => game_arguments(verb, arguments, word, known),
        Some((&verb, arguments)) => {
            let rest = typed.trim_start()[verb.len()..].trim_start();
            console_arguments(verb, arguments, word, rest, known)
                .unwrap_or_else(|| game_arguments(verb, arguments, word, known))
        }
    };
    let mut candidates = offers.candidates;
    candidates.truncate(MAX_CANDIDATES);
    if after.starts_with(char::is_whitespace) {
        for candidate in &mut candidates {
            candidate.text.truncate(candidate.text.trim_end().len());
        }
    }
    Completion { start: cursor - offers.typed.len(), candidates }
}

/// The form of the command that a line begins with, and what it does. None for a line that names no
/// command, and while a text is typed that takes all further words.
pub fn hint(line: &str, known: &KnownNames) -> Option<String> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let of_game = (first == "do").then(|| words.next()).flatten();
    let verb = of_game.unwrap_or(first);
    let arguments: Vec<&str> = words.collect();
    let (usage, meaning) = if of_game.is_none()
        && let Some((usage, meaning)) = command::help_of(verb)
    {
        if ["say", "nick", "kick"].contains(&verb) && !arguments.is_empty() {
            return None;
        }
        (usage.to_owned(), meaning.to_owned())
    } else {
        let (command, shown) = known.game_command(verb)?;
        if let Some(next) = next_field(command, &arguments)
            && matches!(next.field.ty, FieldType::Text { .. })
            && !next.begins
        {
            return None;
        }
        (command_words::usage(command), command_words::meaning(command, shown))
    };
    let text = match meaning.as_str() {
        "" => usage,
        _ => format!("{usage}: {meaning}"),
    };
    Some(printable(&text, MAX_HINT_CHARS))
}

/// Candidates, and the text that they replace.
struct Offers<'l> {
    typed: &'l str,
    candidates: Vec<Candidate>,
}

impl<'l> Offers<'l> {
    fn none(word: &'l str) -> Self {
        Offers::words(word, [])
    }

    /// Of these words, those that begin with what was typed. A name is its own label.
    fn words<'n>(typed: &'l str, words: impl IntoIterator<Item = &'n str>) -> Self {
        let words = words.into_iter().filter(|word| word.starts_with(typed));
        let candidates = words.filter_map(|word| candidate(word, word)).collect();
        Offers { typed, candidates }
    }

    /// Another word can follow.
    fn and_more(mut self) -> Self {
        for candidate in &mut self.candidates {
            candidate.text.push(' ');
        }
        self
    }
}

fn commands<'l>(word: &'l str, known: &KnownNames) -> Offers<'l> {
    let of_game = commands_of_game(known).filter(|(name, _)| command::help_of(name).is_none());
    let of_console = HELP
        .iter()
        .map(|(usage, _)| usage.split_once(' ').map_or((*usage, false), |(verb, _)| (verb, true)));
    offer_commands(word, of_game.chain(of_console))
}

/// After `do`: all commands of the game.
fn game_commands<'l>(word: &'l str, known: &KnownNames) -> Offers<'l> {
    offer_commands(word, commands_of_game(known))
}

/// The names of the game's commands, and whether they have arguments.
fn commands_of_game(known: &KnownNames) -> impl Iterator<Item = (&str, bool)> {
    let game = known.schema.as_ref().map_or(&[][..], |game| &game.commands);
    let commands = game.iter().map(|command| (command.name.as_str(), !command.fields.is_empty()));
    commands.filter(|(name, _)| is_one_word(name))
}

fn offer_commands<'l, 'n>(
    word: &'l str,
    commands: impl Iterator<Item = (&'n str, bool)>,
) -> Offers<'l> {
    let candidates = commands.filter(|(name, _)| name.starts_with(word));
    let candidates = candidates.filter_map(|(name, has_arguments)| {
        let text = if has_arguments { format!("{name} ") } else { name.to_owned() };
        candidate(&text, name)
    });
    Offers { typed: word, candidates: candidates.collect() }
}

/// The candidates for an argument of a command of the console; `None` if it is none of those.
/// `rest` is everything after the command.
fn console_arguments<'l>(
    verb: &str,
    arguments: &[&str],
    word: &'l str,
    rest: &'l str,
    known: &KnownNames,
) -> Option<Offers<'l>> {
    command::help_of(verb)?;
    Some(match (verb, arguments) {
        ("create" | "join", _) if rest.starts_with('"') => match rest[1..].split_once('"') {
            Some((_, options)) if verb == "create" => {
                let given: Vec<&str> = options.split_whitespace().collect();
                create_options(&given, word, known)
            }
            Some(_) => Offers::words(word, ["password="]),
            None if verb == "join" => quoted_rooms(rest, known),
            None => Offers::none(word),
        },
        ("create", [_, options @ ..]) => create_options(options, word, known),
        ("quick", []) => {
            let games = known.games.iter().filter(|game| is_one_word(game));
            Offers::words(word, games.map(String::as_str))
        }
        ("join", []) => rooms(word, known),
        ("join", [_]) => Offers::words(word, ["password="]),
        ("account", []) => Offers::words(word, ["save", "erase"]).and_more(),
        ("ready" | "watch", []) => Offers::words(word, ["on", "off"]),
        ("keys", []) => controls(word, known),
        ("axis", []) => {
            let axes = known.schema.as_deref().into_iter().flat_map(command::axis_names);
            Offers::words(word, axes).and_more()
        }
        ("party", []) => Offers::words(word, ["invite", "join", "leave"]).and_more(),
        ("kick", _) => {
            let names = known.players.iter().map(|(_, name)| name.as_str());
            Offers::words(rest, names.filter(|name| name.trim() == *name))
        }
        ("say", _) => addressees(rest, known),
        ("wait-for", []) => {
            let of_game = known.schema.as_deref().into_iter().flat_map(|schema| &schema.events);
            let of_game = of_game.map(|event| event.name.as_str());
            Offers::words(word, json::KINDS.iter().copied().chain(of_game)).and_more()
        }
        _ => Offers::none(word),
    })
}

/// The keys of `create` that are not given yet, and the names of the games. The parameters of a
/// game are those that the known rooms of this game have.
fn create_options<'l>(given: &[&str], word: &'l str, known: &KnownNames) -> Offers<'l> {
    if word.starts_with("game=") {
        let games = known.games.iter().filter(|game| is_one_word(game));
        let games: Vec<String> = games.map(|game| format!("game={game}")).collect();
        return Offers::words(word, games.iter().map(String::as_str)).and_more();
    }
    let game = given.iter().find_map(|option| option.strip_prefix("game="));
    let rooms = known.rooms.iter().filter(|room| Some(room.game.as_str()) == game);
    let parameters = rooms.flat_map(|room| room.parameters.keys());
    let parameters = parameters.filter(|key| is_one_word(key) && !key.contains('='));
    let mut keys = ["game=", "capacity=", "password="].map(str::to_owned).to_vec();
    for key in parameters.map(|key| format!("{key}=")) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.retain(|key| !given.iter().any(|option| option.starts_with(key.as_str())));
    Offers::words(word, keys.iter().map(String::as_str))
}

/// The names of the rooms in quotes, as `join` takes all of them.
fn quoted_rooms<'l>(rest: &'l str, known: &KnownNames) -> Offers<'l> {
    let names = known.rooms.iter().map(|room| room.name.as_str());
    let names = names.filter(|name| !name.is_empty() && !name.contains('"'));
    let quoted = names.map(|name| (format!("\"{name}\""), name));
    let candidates = quoted
        .filter(|(text, _)| text.starts_with(rest))
        .filter_map(|(text, name)| candidate(&text, name));
    Offers { typed: rest, candidates: candidates.collect() }
}

/// The numbers of the rooms, and their names as far as `join` takes them without quotes: one word,
/// no number.
fn rooms<'l>(word: &'l str, known: &KnownNames) -> Offers<'l> {
    let is_name = |name: &str| is_one_word(name) && name.parse::<u64>().is_err();
    let candidates = known.rooms.iter().flat_map(|room| {
        let number = room.id.0.to_string();
        let name = is_name(&room.name).then(|| (room.name.clone(), room.name.clone()));
        let label = format!("{number} {}", room.name);
        [Some((number, label)), name].into_iter().flatten()
    });
    let candidates = candidates
        .filter(|(text, _)| text.starts_with(word))
        .filter_map(|(text, label)| candidate(&text, &label));
    Offers { typed: word, candidates: candidates.collect() }
}

/// The controls after the last comma that are not named yet.
fn controls<'l>(word: &'l str, known: &KnownNames) -> Offers<'l> {
    let (named, typed) = word.rsplit_once(',').unwrap_or(("", word));
    let named: Vec<&str> = named.split(',').collect();
    let none = (named == [""]).then_some("none");
    let controls = known.schema.as_deref().into_iter().flat_map(command::key_names);
    let controls = controls.filter(|name| !named.contains(name));
    Offers::words(typed, controls.chain(none))
}

/// The players to whom a whisper can go: `@NAME`, or `@"LONG NAME"`.
fn addressees<'l>(rest: &'l str, known: &KnownNames) -> Offers<'l> {
    let Some(whisper) = rest.strip_prefix('@') else {
        return Offers::none(rest);
    };
    let quoted = whisper.strip_prefix('"');
    let typed = quoted.unwrap_or(whisper);
    let is_text = typed.contains(if quoted.is_some() { '"' } else { ' ' });
    if is_text {
        return Offers::none(rest);
    }
    let names = known.players.iter().map(|(_, name)| name.as_str());
    let names = names.filter(|name| name.starts_with(typed) && !name.contains('"'));
    let candidates = names.filter_map(|name| {
        let name = if quoted.is_some() || !is_one_word(name) {
            format!("@\"{name}\"")
        } else {
            format!("@{name}")
        };
        candidate(&name, &name)
    });
    let offers = Offers { typed: rest, candidates: candidates.collect() };
    offers.and_more()
}

/// The candidates for a field of a command of the game.
fn game_arguments<'l>(
    verb: &str,
    arguments: &[&str],
    word: &'l str,
    known: &KnownNames,
) -> Offers<'l> {
    let Some((command, shown)) = known.game_command(verb) else {
        return Offers::none(word);
    };
    let Some(next) = next_field(command, arguments).filter(|next| next.begins) else {
        return Offers::none(word);
    };
    let mut offers = match &next.field.ty {
        FieldType::Choice(names) => {
            let one_word = names.iter().map(String::as_str).filter(|name| is_one_word(name));
            let mut offers = Offers::words(word, one_word);
            let about = shown.field(next.index);
            for candidate in &mut offers.candidates {
                if let Some(index) = names.iter().position(|name| *name == candidate.text) {
                    candidate.help = printable(&about.choice(index).help, MAX_HINT_CHARS);
                }
            }
            offers
        }
        FieldType::Object => objects(word, known),
        FieldType::Number { .. }
        | FieldType::Decimal(_)
        | FieldType::Position
        | FieldType::Text { .. } => Offers::none(word),
    };
    if next.field.optional && "-".starts_with(word) {
        offers.candidates.truncate(MAX_CANDIDATES - 1);
        offers.candidates.extend(candidate("-", "-"));
    }
    if next.is_last { offers } else { offers.and_more() }
}

fn objects<'l>(word: &'l str, known: &KnownNames) -> Offers<'l> {
    let digits = word.trim_start_matches('#');
    let objects = known.objects.iter().map(|object| {
        let text = format!("#{}", object.id);
        let label = format!("{text} {}", object.label);
        (text, label)
    });
    let candidates = objects
        .filter(|(text, _)| text[1..].starts_with(digits))
        .filter_map(|(text, label)| candidate(&text, &label));
    Offers { typed: word, candidates: candidates.collect() }
}

/// The field that the next word belongs to.
struct NextField<'s> {
    field: &'s FieldSpec,
    /// Among the fields of the command.
    index: usize,
    /// Whether the word is the field's first.
    begins: bool,
    is_last: bool,
}

/// The field after these words, by the rules of [`command_words`]; `None` after the last.
fn next_field<'s>(command: &'s CommandKind, mut words: &[&str]) -> Option<NextField<'s>> {
    for (index, field) in command.fields.iter().enumerate() {
        let is_last = index + 1 == command.fields.len();
        let next = |begins| NextField { field, index, begins, is_last };
        if words.is_empty() {
            return Some(next(true));
        }
        match words.split_at_checked(command_words::word_count(field, words, is_last)) {
            Some((_, after)) => words = after,
            None => return Some(next(false)),
        }
    }
    None
}

/// A candidate, unless it is too long or contains what nobody could type.
fn candidate(text: &str, label: &str) -> Option<Candidate> {
    let is_typable = text.chars().all(is_visible) && text.chars().count() <= MAX_NAME_CHARS;
    (is_typable && !text.is_empty()).then(|| Candidate {
        text: text.to_owned(),
        label: printable(label, MAX_NAME_CHARS),
        help: String::new(),
    })
}

fn is_one_word(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_whitespace)
}

/// The beginning of a text, with spaces in place of characters that are not visible.
fn printable(text: &str, max_chars: usize) -> String {
    let visible = |character| {
        if is_visible(character) { character } else { ' ' }
    };
    text.chars().take(max_chars).map(visible).collect()
}

/// Whether a character neither controls a terminal nor is invisible or changes the direction of a
/// text.
pub fn is_visible(character: char) -> bool {
    let is_format = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    !character.is_control() && !is_format
}

#[cfg(test)]
mod tests;
