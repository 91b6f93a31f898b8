//! The rules for names and chat that people type.
//!
//! Text goes in as received; a valid value comes out, or a [`LobbyRefusal`] that names the broken
//! rule.
//!
//! Invariants of every text here: NFC; no white space at its ends; not empty; within its length in
//! characters; nothing that controls a terminal or changes the direction of the text around it;
//! nothing invisible that could make two names look the same. Chat may contain joining characters
//! (emoji and Persian need them); names may not. Source: Unicode Technical Report 36 (security),
//! Annex 15 (normalisation).

use std::fmt;

use ambit_proto::codes::ErrorCode;
use unicode_normalization::UnicodeNormalization;

use crate::lobby::refusal::LobbyRefusal;

const MAX_PLAYER_NAME: usize = 24;
const MAX_ROOM_NAME: usize = 32;
const MAX_CHAT: usize = 500;
const MAX_PASSWORD: usize = 64;

/// A player's name: 1 to 24 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlayerName(String);

/// The key of a name: equal for names that people would confuse. NFKC, lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameKey(String);

/// A room's name: 1 to 32 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LobbyRoomName(String);

/// A line of chat: 1 to 500 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChatText(String);

/// A room's password: 1 to 64 characters. Never displayed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Password(String);

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

    pub(super) fn key(&self) -> NameKey {
        NameKey::of(&self.0)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl NameKey {
    /// Returns the key of any text, valid name or not, for a search.
    pub(super) fn of(text: &str) -> Self {
        let lower: String = text.trim().nfkc().flat_map(char::to_lowercase).collect();
        // The lower case of a normalised text may not be normalised.
        Self(lower.nfkc().collect())
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
        let may_show =
            |c| !is_control(c) && !changes_direction(c) && (is_joiner(c) || !is_invisible(c));
        normalise(text, MAX_CHAT, may_show)
            .map(Self)
            .map_err(|fault| fault.into_refusal(ErrorCode::BadText, "a chat message", MAX_CHAT))
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

    /// Only for the directory.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

/// The rule that a text breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextFault {
    Empty,
    TooLong,
    Forbidden(char),
}

impl TextFault {
    fn into_refusal(self, code: ErrorCode, what: &str, max: usize) -> LobbyRefusal {
        let message = match self {
            Self::Empty => format!("{what} has 1 to {max} characters; this one is empty"),
            Self::TooLong => format!("{what} has 1 to {max} characters; this one has more"),
            Self::Forbidden(c) => format!("{what} may not hold the character U+{:04X}", c as u32),
        };
        LobbyRefusal::new(code, message)
    }
}

fn parse_name(what: &str, text: &str, max: usize) -> Result<String, LobbyRefusal> {
    normalise(text, max, |c| {
        !is_control(c) && !changes_direction(c) && !is_invisible(c)
    })
    .map_err(|fault| fault.into_refusal(ErrorCode::BadName, what, max))
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

/// Whether the character controls a terminal: moves the cursor, starts a line, rings the bell.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
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
                refusal
                    .message
                    .contains(&format!("U+{:04X}", forbidden as u32)),
                "{}",
                refusal.message
            );
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
        ] {
            assert_eq!(NameKey::of(one), NameKey::of(other), "{one} {other}");
        }
        assert_ne!(NameKey::of("ann"), NameKey::of("anna"));
    }

    #[test]
    fn a_suffix_shortens_the_stem_so_that_it_fits() {
        let name = PlayerName::parse(&"ü".repeat(24)).expect("a name");
        assert_eq!(
            name.with_suffix("17").as_str(),
            format!("{}-17", "ü".repeat(21))
        );
        assert_eq!(
            PlayerName::parse("ann")
                .expect("a name")
                .with_suffix("2")
                .as_str(),
            "ann-2"
        );
    }

    #[test]
    fn chat_allows_emoji_but_no_new_lines_or_direction_marks() {
        let family = "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}";
        assert_eq!(
            ChatText::parse(family).map(ChatText::into_string),
            Ok(family.to_owned())
        );
        assert!(ChatText::parse(&"x".repeat(500)).is_ok());
        for text in [
            "",
            " ",
            "a\nb",
            "\u{1b}[2J",
            "x\u{202e}y",
            "x\u{200b}y",
            &"x".repeat(501),
        ] {
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
        for text in [
            "",
            "  ",
            "a\nb",
            "a\u{202e}b",
            "a\u{200b}b",
            &"x".repeat(33),
        ] {
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
        let secret = Password::parse("sesame")
            .expect("fine")
            .expect("a password");
        assert_eq!(format!("{secret:?}"), "Password(..)");
        assert!(Password::parse(&"x".repeat(65)).is_err());
    }

    fn parsed(text: &str) -> Result<String, ErrorCode> {
        PlayerName::parse(text)
            .map(|name| name.as_str().to_owned())
            .map_err(|refusal| refusal.code)
    }
}
