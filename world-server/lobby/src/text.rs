//! The rules for names and chat that people type.
//!
//! Text goes in as received; a valid value comes out, or a [`LobbyRefusal`] that names the broken
//! rule.
//!
//! Invariants of every text here: NFC; no white space at its ends; not empty; within its length in
//! characters; nothing that controls a terminal or changes the direction of the text around it; no
//! noncharacters; nothing invisible that could make two names look the same. Chat may contain
//! joining characters (emoji and Persian need them); names may not. Names have single spaces, few
//! marks on a letter, and nothing that ends a name in a line of chat. Source: Unicode Technical
//! Report 36 (security), Standard 39 (names that look the same), Annex 15 (normalisation).

use ambit_proto::codes::ErrorCode;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

use crate::refusal::LobbyRefusal;

const MAX_PLAYER_NAME: usize = 24;
const MAX_ROOM_NAME: usize = 32;
const MAX_CHAT: usize = 500;
const MAX_PASSWORD: usize = 64;
/// Maximum number of marks on one letter of a name. Languages need up to three; more reach into the
/// lines above and below.
const MAX_MARKS: usize = 3;
/// Colons and square brackets, and characters that look like them but have another skeleton: in
/// `[lobby] ann: hello` they are around the name, so a name with them could look like a line of its
/// own.
const AROUND_NAMES: &str = ":[]【】〔〕〖〗〘〙〚〛⟦⟧⁅⁆⦋⦌⦍⦎⦏⦐⎡⎣⎤⎦︰";

/// A player's name: 1 to 24 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlayerName(String);

/// The key of a name: equal for names that differ in case or in how they are encoded. NFKC, lower
/// case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameKey(String);

/// What a name looks like: equal for names of any scripts whose characters look the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameSkeleton(String);

/// Both keys of a name. People confuse two names if one of the keys is the same: `IAN` and `ian`
/// have the same key, `Ian` and `lan` the same skeleton.
#[derive(Clone, Debug)]
pub(super) struct NameKeys {
    pub(super) folded: NameKey,
    pub(super) skeleton: NameSkeleton,
}

/// A room's name: 1 to 32 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LobbyRoomName(String);

/// A line of chat: 1 to 500 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChatText(String);

/// A room's password: 1 to 64 characters. Never displayed.
#[derive(Clone, PartialEq, Eq, derive_more::Debug)]
#[debug("Password(..)")]
pub(super) struct Password(String);

/// Whether a player can have this name.
pub fn is_player_name(text: &str) -> bool {
    PlayerName::parse(text).is_ok()
}

/// Whether two names look alike, or differ in their case alone.
pub fn look_alike(one: &str, other: &str) -> bool {
    match [one, other].map(PlayerName::parse) {
        [Ok(one), Ok(other)] => {
            let (one, other) = (one.keys(), other.keys());
            one.folded == other.folded || one.skeleton == other.skeleton
        }
        _ => one == other,
    }
}

impl PlayerName {
    pub(super) fn parse(text: &str) -> Result<Self, LobbyRefusal> {
        parse_name("a player's name", text, MAX_PLAYER_NAME).map(Self)
    }

    /// The name of a player who chose none.
    pub(super) fn guest(number: u64) -> Self {
        Self(format!("guest-{number}"))
    }

    /// Returns this name with `-suffix`, shortened to the maximum length.
    pub(super) fn with_suffix(&self, suffix: &str) -> Self {
        let room = MAX_PLAYER_NAME - 1 - suffix.chars().count();
        let stem: String = self.0.chars().take(room).collect();
        Self(format!("{stem}-{suffix}"))
    }

    pub(super) fn keys(&self) -> NameKeys {
        NameKeys { folded: NameKey::of(&self.0), skeleton: NameSkeleton::of(&self.0) }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl NameKey {
    /// Returns the key of any text, valid name or not, for a search.
    pub(super) fn of(text: &str) -> Self {
        let text = collapse_spaces(text);
        let lower: String = text.nfkc().flat_map(char::to_lowercase).collect();
        // The lower case of a normalised text may not be normalised.
        Self(lower.nfkc().collect())
    }
}

impl NameSkeleton {
    fn of(name: &str) -> Self {
        let shown: String = name.nfkc().collect();
        Self(skeleton(&shown).flat_map(char::to_lowercase).collect())
    }
}

impl NameKeys {
    pub(super) fn are_confusable_with(&self, other: &Self) -> bool {
        self.folded == other.folded || self.skeleton == other.skeleton
    }
}

impl LobbyRoomName {
    pub(super) fn parse(text: &str) -> Result<Self, LobbyRefusal> {
        parse_name("a room's name", text, MAX_ROOM_NAME).map(Self)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl ChatText {
    pub(super) fn parse(text: &str) -> Result<Self, LobbyRefusal> {
        Self::parse_as(text, "a chat message")
    }

    /// What an operator says of a kick or a ban, by the same rules.
    pub(super) fn parse_reason(text: &str) -> Result<Self, LobbyRefusal> {
        Self::parse_as(text, "a reason")
    }

    fn parse_as(text: &str, what: &str) -> Result<Self, LobbyRefusal> {
        let may_show =
            |c| !is_control(c) && !changes_direction(c) && (is_joiner(c) || !is_invisible(c));
        normalise(text, MAX_CHAT, may_show)
            .map(Self)
            .map_err(|fault| fault.into_refusal(ErrorCode::BadText, what, MAX_CHAT))
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

impl Password {
    /// Returns `None` for the empty text: no password.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, LobbyRefusal> {
        if text.is_empty() {
            return Ok(None);
        }
        normalise(text, MAX_PASSWORD, |c| !is_control(c))
            .map(|text| Some(Self(text)))
            .map_err(|fault| fault.into_refusal(ErrorCode::BadText, "a password", MAX_PASSWORD))
    }

    /// Only to compute what is kept of it.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The rule that a text breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextFault {
    Empty,
    TooLong,
    Forbidden(char),
    /// Could end the name in a line of chat.
    AroundNames(char),
    TooManyMarks,
}

impl TextFault {
    fn into_refusal(self, code: ErrorCode, what: &str, max: usize) -> LobbyRefusal {
        let message = match self {
            Self::Empty => format!("{what} has 1 to {max} characters; this one is empty"),
            Self::TooLong => format!("{what} has 1 to {max} characters; this one has more"),
            Self::Forbidden(c) => format!("{what} may not hold the character U+{:04X}", c as u32),
            Self::AroundNames(c) => format!(
                "{what} may not hold the character U+{:04X}: colons and square brackets stand \
                 around names in chat",
                c as u32
            ),
            Self::TooManyMarks => format!(
                "{what} may hold up to {MAX_MARKS} combining marks on a letter, and none at its \
                 start"
            ),
        };
        LobbyRefusal::new(code, message)
    }
}

fn parse_name(what: &str, text: &str, max: usize) -> Result<String, LobbyRefusal> {
    // Spaces collapse after the check for controls: tabs and new lines are white space, too.
    let may_show = |c| c == ' ' || !is_control(c) && !changes_direction(c) && !is_invisible(c);
    let checked = match text.trim().chars().find(|c| !may_show(*c)) {
        Some(forbidden) => Err(TextFault::Forbidden(forbidden)),
        None => normalise(&collapse_spaces(text), max, may_show),
    };
    checked
        .and_then(|name| check_name(&name).map(|()| name))
        .map_err(|fault| fault.into_refusal(ErrorCode::BadName, what, max))
}

/// Checks what holds for names alone.
fn check_name(name: &str) -> Result<(), TextFault> {
    if let Some(c) = name.chars().find(|c| stands_around_names(*c)) {
        return Err(TextFault::AroundNames(c));
    }
    // A mark at the start is on what stands before the name.
    let mut marks = MAX_MARKS;
    for c in name.chars() {
        marks = if is_combining_mark(c) { marks + 1 } else { 0 };
        if marks > MAX_MARKS {
            return Err(TextFault::TooManyMarks);
        }
    }
    Ok(())
}

/// Whether the character is, or looks like, one of those around a name in a line of chat.
fn stands_around_names(c: char) -> bool {
    let shown: String = c.nfkc().collect();
    AROUND_NAMES.contains(c) || skeleton(&shown).any(|c| AROUND_NAMES.contains(c))
}

/// One plain space for each run of white space of any kind, and none at the ends.
fn collapse_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn normalise(text: &str, max: usize, allowed: impl Fn(char) -> bool) -> Result<String, TextFault> {
    let text: String = text.trim().nfc().collect();
    if text.is_empty() {
        return Err(TextFault::Empty);
    }
    if text.chars().count() > max {
        return Err(TextFault::TooLong);
    }
    match text.chars().find(|c| !allowed(*c)) {
        Some(forbidden) => Err(TextFault::Forbidden(forbidden)),
        None => Ok(text),
    }
}

/// Whether the character controls a terminal (moves the cursor, starts a line, rings the bell), or
/// is none at all: programs use noncharacters within themselves, and some refuse a text with one.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_noncharacter(c)
}

/// Whether Unicode never gives it a meaning: 32 in a row, and the last two of each plane.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || c as u32 & 0xfffe == 0xfffe
}

/// Whether the character embeds, overrides, isolates or marks a direction of writing.
fn changes_direction(c: char) -> bool {
    matches!(c,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

/// Whether the character takes no space, or shows nothing in its space. (White space is visible;
/// `NameKey` treats all kinds of it as equal.)
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether the character is invisible, but needed to write a language or an emoji.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_or_script_alone_look_alike() {
        for (one, other) in [("eve", "EVE"), ("eve", "\u{435}ve"), ("eve", "eve")] {
            assert!(look_alike(one, other), "{one} {other}");
        }
        for (one, other) in [("eve", "eva"), ("eve", ""), ("eve", "[eve]")] {
            assert!(!look_alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_name_is_trimmed_and_normalised() {
        assert_eq!(parsed("  ann "), Ok("ann".into()));
        assert_eq!(parsed("Zoe\u{308}"), Ok("Zoë".into()));
        assert_eq!(parsed("李 小龙"), Ok("李 小龙".into()));
    }

    #[test]
    fn a_name_has_1_to_24_characters_whatever_their_bytes() {
        assert_eq!(parsed(&"ü".repeat(24)), Ok("ü".repeat(24)));
        assert_eq!(parsed(&"u\u{308}".repeat(24)), Ok("ü".repeat(24)));
        for text in ["", "   ", "\u{3000}", &"x".repeat(25)] {
            assert_eq!(parsed(text), Err(ErrorCode::BadName), "{text:?}");
        }
    }

    #[test]
    fn a_name_has_no_invisible_characters() {
        for forbidden in [
            '\0',
            '\n',
            '\t',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{ad}',
            '\u{200b}',
            '\u{200d}',
            '\u{200e}',
            '\u{202e}',
            '\u{2028}',
            '\u{2066}',
            '\u{2800}',
            '\u{feff}',
            '\u{fe0f}',
            '\u{e0041}',
        ] {
            let refusal = PlayerName::parse(&format!("a{forbidden}b")).expect_err("a refusal");
            assert_eq!(refusal.code, ErrorCode::BadName);
            assert!(
                refusal.message.contains(&format!("U+{:04X}", forbidden as u32)),
                "{}",
                refusal.message
            );
        }
    }

    #[test]
    fn no_text_has_a_noncharacter() {
        let planes = (0..=16).flat_map(|plane| [plane << 16 | 0xfffe, plane << 16 | 0xffff]);
        let all: Vec<u32> = (0xfdd0..=0xfdef).chain(planes).collect();
        assert_eq!(all.len(), 66);
        for number in all {
            let text = format!("a{}b", char::from_u32(number).expect("a character of Rust"));
            let name = PlayerName::parse(&text).expect_err("a refusal");
            let room = LobbyRoomName::parse(&text).expect_err("a refusal");
            let chat = ChatText::parse(&text).expect_err("a refusal");
            let password = Password::parse(&text).expect_err("a refusal");
            for refusal in [name, room, chat, password] {
                let shown = format!("U+{number:04X}");
                assert!(refusal.message.contains(&shown), "{}", refusal.message);
            }
        }
        // Their neighbours are characters.
        for text in ["a\u{fdcf}b", "a\u{fdf0}b", "a\u{fffd}b", "a\u{1f600}b"] {
            assert!(ChatText::parse(text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn names_that_look_the_same_have_the_same_key() {
        for (one, other) in [
            ("Ann", "aNN"),
            ("ＡＮＮ", "ann"),
            ("ÄRGER", "a\u{308}rger"),
            ("a\u{a0}b", "A B"),
            ("ﬁn", "FIN"),
            ("a  b", "a b"),
        ] {
            assert_eq!(NameKey::of(one), NameKey::of(other), "{one} {other}");
        }
        assert_ne!(NameKey::of("ann"), NameKey::of("anna"));
    }

    #[test]
    fn names_that_people_confuse_are_found_across_scripts() {
        let confusable = |one: &str, other: &str| {
            let keys = |text| PlayerName::parse(text).expect("a name").keys();
            keys(one).are_confusable_with(&keys(other))
        };
        for (one, other) in [
            ("admin", "аdmin"), // Cyrillic а.
            ("ΑΝΝ", "ann"),     // Greek capitals.
            ("Ian", "lan"),
            ("IAN", "ian"),
            ("b0b", "BOB"),
            ("bot1", "botl"),
            ("нина", "НИНА"),
            ("modern", "modem"),
            ("scope", "ѕсоре"), // All Cyrillic.
        ] {
            assert!(confusable(one, other), "{one} {other}");
        }
        for (one, other) in [("ian", "lan"), ("ann", "anne"), ("李", "季"), ("e", "é")] {
            assert!(!confusable(one, other), "{one} {other}");
        }
    }

    #[test]
    fn spaces_within_a_name_collapse() {
        assert_eq!(parsed("a  \u{a0}\u{3000} b"), Ok("a b".into()));
        assert_eq!(LobbyRoomName::parse("the   den").map(|name| name.0), Ok("the den".to_owned()));
        assert_eq!(parsed("a\t b"), Err(ErrorCode::BadName));
    }

    #[test]
    fn a_name_cannot_look_like_a_line_of_chat() {
        for forbidden in [
            ':', '[', ']', '：', '［', '］', '꞉', '∶', 'ː', '˸', '։', '׃', '︰', '﹕', '⦋', '【',
            '⟧',
        ] {
            let text = format!("ann{forbidden} hello");
            let refusal = PlayerName::parse(&text).expect_err(&text);
            assert_eq!(refusal.code, ErrorCode::BadName);
            assert!(refusal.message.contains("chat"), "{}", refusal.message);
            assert!(LobbyRoomName::parse(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_stacks_at_most_three_marks_on_a_letter() {
        let stacked = |marks| format!("z{}y", "\u{30d}".repeat(marks));
        assert!(parsed(&stacked(3)).is_ok());
        assert_eq!(parsed(&stacked(4)), Err(ErrorCode::BadName));
        assert_eq!(parsed("\u{301}ann"), Err(ErrorCode::BadName));
        // Vietnamese, Hindi, Thai, and Hebrew with points.
        for name in ["Nguyễn", "हिन्दी", "ที่นี่", "שָׁלוֹם"] {
            assert!(parsed(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_suffix_shortens_the_stem_so_that_it_fits() {
        let name = PlayerName::parse(&"ü".repeat(24)).expect("a name");
        assert_eq!(name.with_suffix("17").as_str(), format!("{}-17", "ü".repeat(21)));
        assert_eq!(PlayerName::parse("ann").expect("a name").with_suffix("2").as_str(), "ann-2");
    }

    #[test]
    fn chat_allows_emoji_but_no_new_lines_or_direction_marks() {
        let family = "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}";
        assert_eq!(ChatText::parse(family).map(ChatText::into_string), Ok(family.to_owned()));
        assert!(ChatText::parse(&"x".repeat(500)).is_ok());
        for text in ["", " ", "a\nb", "\u{1b}[2J", "x\u{202e}y", "x\u{200b}y", &"x".repeat(501)] {
            assert_eq!(
                ChatText::parse(text).expect_err("a refusal").code,
                ErrorCode::BadText,
                "{text:?}"
            );
        }
    }

    #[test]
    fn chat_is_normalised() {
        assert_eq!(
            ChatText::parse(" cafe\u{301} ").map(ChatText::into_string),
            Ok("café".to_owned())
        );
    }

    #[test]
    fn a_room_name_has_1_to_32_visible_characters() {
        assert_eq!(
            LobbyRoomName::parse(" den u\u{308}ber alles ").map(|name| name.0),
            Ok("den über alles".to_owned())
        );
        assert!(LobbyRoomName::parse(&"ü".repeat(32)).is_ok());
        for text in ["", "  ", "a\nb", "a\u{202e}b", "a\u{200b}b", &"x".repeat(33)] {
            assert_eq!(
                LobbyRoomName::parse(text).expect_err("a refusal").code,
                ErrorCode::BadName,
                "{text:?}"
            );
        }
    }

    #[test]
    fn an_empty_password_is_none_and_debug_hides_passwords() {
        assert_eq!(Password::parse(""), Ok(None));
        let secret = Password::parse("sesame").expect("fine").expect("a password");
        assert_eq!(format!("{secret:?}"), "Password(..)");
        assert!(Password::parse(&"x".repeat(65)).is_err());
    }

    fn parsed(text: &str) -> Result<String, ErrorCode> {
        PlayerName::parse(text).map(|name| name.as_str().to_owned()).map_err(|refusal| refusal.code)
    }
}
