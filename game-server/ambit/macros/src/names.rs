//! Names in the schema, from names in Rust.

use syn::Ident;
use syn::ext::IdentExt as _;

/// The longest name in a schema (`ambit_proto::schema::MAX_NAME_BYTES`).
const MAX_NAME_BYTES: usize = 32;

/// The keys without a letter or a digit, but for those from F1 on: as a browser's `KeyboardEvent`
/// names them, in lower case, and the space bar.
pub(crate) const KEYS: [&str; 20] = [
    "space",
    "arrowleft",
    "arrowright",
    "arrowup",
    "arrowdown",
    "shift",
    "control",
    "alt",
    "meta",
    "enter",
    "escape",
    "tab",
    "backspace",
    "insert",
    "delete",
    "home",
    "end",
    "pageup",
    "pagedown",
    "capslock",
];
/// The last one of the keys from F1 on.
const FUNCTION_KEYS: u32 = 12;

/// Whether keyboards have a key of this name.
pub(crate) fn is_key(name: &str) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_function_key = || (1..=FUNCTION_KEYS).any(|number| name == format!("f{number}"));
    matches!(name.as_bytes(), [byte] if is_plain(byte)) || KEYS.contains(&name) || is_function_key()
}

/// `WalkTo` as `walk-to`: names that players type.
pub(crate) fn kebab_case(name: &Ident) -> String {
    split_words(&name.unraw().to_string(), '-')
}

/// `TreasureChest` as `treasure_chest`: names that programs use.
pub(crate) fn snake_case(name: &Ident) -> String {
    split_words(&name.unraw().to_string(), '_')
}

/// The name of a field, as it is.
pub(crate) fn of_field(name: &Ident) -> String {
    name.unraw().to_string()
}

/// Why a name cannot be one of a schema.
pub(crate) fn find_problem(name: &str) -> Option<String> {
    let is_typeable =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        Some(format!(
            "the name {name:?} must have 1 to {MAX_NAME_BYTES} bytes: give a shorter one with \
             `name = \"...\"`"
        ))
    } else if !name.chars().all(is_typeable) {
        Some(format!(
            "the name {name:?} must consist of a-z, 0-9, `_` and `-`, so that it can be typed: \
             give another one with `name = \"...\"`"
        ))
    } else {
        None
    }
}

fn split_words(name: &str, separator: char) -> String {
    let mut out = String::new();
    let mut previous: Option<char> = None;
    for c in name.chars() {
        let starts_word = c.is_uppercase() && previous.is_some_and(|c| !c.is_uppercase());
        if starts_word && !out.ends_with(separator) {
            out.push(separator);
        }
        out.extend(c.to_lowercase());
        previous = Some(c);
    }
    if separator == '-' {
        out = out.replace('_', "-");
    }
    out
}

#[cfg(test)]
mod tests {
    use quote::format_ident;

    use super::*;

    #[test]
    fn words_of_a_name_are_separated() {
        assert_eq!(kebab_case(&format_ident!("WalkTo")), "walk-to");
        assert_eq!(snake_case(&format_ident!("TreasureChest")), "treasure_chest");
        assert_eq!(snake_case(&format_ident!("Npc")), "npc");
        assert_eq!(snake_case(&format_ident!("NPC")), "npc");
        assert_eq!(of_field(&format_ident!("r#type")), "type");
    }

    #[test]
    fn a_key_is_a_letter_a_digit_or_known() {
        for key in ["a", "z", "0", "space", "arrowleft", "f12"] {
            assert!(is_key(key), "{key}");
        }
        for bad in ["", "A", "ab", "Space", "spacebar", "left", "f13", " ", "ä"] {
            assert!(!is_key(bad), "{bad}");
        }
    }

    #[test]
    fn a_name_that_cannot_be_typed_has_a_problem() {
        assert_eq!(find_problem("walk-to_2"), None);
        for bad in ["", "Walk", "a b", "größe", &"x".repeat(33)] {
            assert!(find_problem(bad).is_some(), "{bad}");
        }
    }
}
