//! The keys of operators, each with a role.
//!
//! A file has a line for each: a role (`look`, `moderate` or `operate`), a name for the log, and
//! the key. What follows a `#` at the start of a line is a comment. A key is compared in a time
//! that does not depend on it.

use std::fmt;

use ambit_proto::standing::OperatorRole;
use ring::hmac;

/// Characters of a key at least: half of them of a random one are enough.
const MIN_KEY_CHARS: usize = 16;
/// Operators at most.
const MAX_KEYS: usize = 256;

/// Who has presented a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyHolder {
    /// For the log.
    pub(crate) name: String,
    pub(crate) role: OperatorRole,
    /// One without a key, where guests may look: gets less than others with the role `look`.
    pub(crate) is_guest: bool,
}

impl KeyHolder {
    /// One who has no key.
    pub(crate) fn guest() -> Self {
        Self { name: "guest".to_owned(), role: OperatorRole::Look, is_guest: true }
    }
}

/// All keys; none for a server that is not operated by HTTP.
pub(crate) struct AdminKeys {
    /// Tags are compared instead of keys, so all have one length.
    tagging: hmac::Key,
    holders: Vec<(hmac::Tag, KeyHolder)>,
}

impl AdminKeys {
    /// Those of a file, tagged with these random bytes. The error says which line is wrong.
    pub(crate) fn parse(text: &str, tagging: &[u8; 32]) -> Result<Self, String> {
        let tagging = hmac::Key::new(hmac::HMAC_SHA256, tagging);
        let mut holders: Vec<(hmac::Tag, KeyHolder)> = Vec::new();
        let lines = (1..).zip(text.lines().map(str::trim));
        for (number, line) in lines.filter(|(_, it)| !it.is_empty() && !it.starts_with('#')) {
            let wrong = |what: &str| format!("line {number}: {what}");
            let mut words = line.split_whitespace();
            let (Some(role), Some(name), Some(key), None) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                return Err(wrong("expected a role, a name and a key, with spaces between them"));
            };
            let role: OperatorRole = role.parse().map_err(|problem: String| wrong(&problem))?;
            if key.chars().count() < MIN_KEY_CHARS {
                return Err(wrong(&format!("a key has at least {MIN_KEY_CHARS} characters")));
            }
            if holders.iter().any(|(tag, _)| is_of(&tagging, key, tag)) {
                return Err(wrong("another line has the same key"));
            }
            if holders.len() == MAX_KEYS {
                return Err(wrong(&format!("at most {MAX_KEYS} keys are allowed")));
            }
            let tag = hmac::sign(&tagging, key.as_bytes());
            holders.push((tag, KeyHolder { name: name.to_owned(), role, is_guest: false }));
        }
        Ok(Self { tagging, holders })
    }

    /// Whose key this is. Cost: all keys.
    pub(crate) fn holder(&self, key: &str) -> Option<&KeyHolder> {
        let mut found = None;
        for (tag, holder) in &self.holders {
            if is_of(&self.tagging, key, tag) {
                found = Some(holder);
            }
        }
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }
}

impl fmt::Debug for AdminKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.holders.iter().map(|(_, holder)| holder)).finish()
    }
}

fn is_of(tagging: &hmac::Key, key: &str, tag: &hmac::Tag) -> bool {
    hmac::verify(tagging, key.as_bytes(), tag.as_ref()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGGING: [u8; 32] = [7; 32];

    #[test]
    fn a_key_is_its_holder_s_and_no_other_is_known() {
        let text = "# role name key\n\noperate ann 0123456789abcdef\n look bob  fedcba9876543210 ";
        let keys = AdminKeys::parse(text, &TAGGING).expect("a good file");
        let role = OperatorRole::Operate;
        let ann = KeyHolder { name: "ann".into(), role, is_guest: false };
        assert_eq!(keys.holder("0123456789abcdef"), Some(&ann));
        let role = |key: &str| keys.holder(key).map(|holder| holder.role);
        assert_eq!(role("fedcba9876543210"), Some(OperatorRole::Look));
        for wrong in ["", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "ann"] {
            assert_eq!(role(wrong), None, "{wrong:?}");
        }
        assert!(!format!("{keys:?}").contains("0123"));
        assert!(AdminKeys::parse("# none", &TAGGING).expect("an empty file").is_empty());
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_line() {
        let refused = |text: &str| AdminKeys::parse(text, &TAGGING).expect_err("refused");
        assert!(refused("\noperate ann").starts_with("line 2: expected a role"));
        assert!(refused("rule ann 0123456789abcdef").contains("`moderate`"));
        assert!(refused("look ann short").contains("16 characters"));
        let twice = "look ann 0123456789abcdef\noperate bob 0123456789abcdef";
        assert!(refused(twice).starts_with("line 2: another line"));
        let many: Vec<_> = (0..300).map(|n| format!("look n{n} 0123456789abcdef{n}")).collect();
        let many = many.join("\n");
        assert!(refused(&many).starts_with("line 257: at most 256"));
    }
}
