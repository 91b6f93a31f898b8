//! Positions in a schema, for errors, and the checks that all of its parts share.

use std::fmt;

use super::{MAX_LABEL_BYTES, MAX_NAME_BYTES, MAX_TEXT_BYTES, SchemaError, SchemaProblem};

/// A position in a schema, for errors.
#[derive(Clone, Debug)]
pub(crate) struct SchemaPath(String);

impl SchemaPath {
    pub(crate) fn root() -> Self {
        Self("schema".into())
    }

    pub(crate) fn child(&self, what: &str, name: impl fmt::Debug) -> Self {
        Self(format!("{}, {what} {name:?}", self.0))
    }

    pub(crate) fn error(&self, problem: SchemaProblem) -> SchemaError {
        SchemaError { place: self.0.clone(), problem }
    }

    /// What comes from a newer version, or is missing.
    pub(crate) fn unknown(&self, what: &'static str) -> SchemaError {
        self.error(SchemaProblem::Unknown { what })
    }

    pub(crate) fn ensure(
        &self,
        holds: bool,
        problem: impl FnOnce() -> SchemaProblem,
    ) -> Result<(), SchemaError> {
        if holds { Ok(()) } else { Err(self.error(problem())) }
    }

    pub(crate) fn check_count(
        &self,
        what: &'static str,
        count: usize,
        max: usize,
    ) -> Result<(), SchemaError> {
        self.ensure(count <= max, || SchemaProblem::TooMany { what, count, max })
    }

    pub(crate) fn check_names<'n>(
        &self,
        what: &str,
        names: impl IntoIterator<Item = &'n String>,
    ) -> Result<(), SchemaError> {
        let mut before: Vec<&str> = Vec::new();
        for name in names {
            let place = self.child(what, name);
            let good =
                (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control);
            place.ensure(good, || SchemaProblem::BadName)?;
            place.ensure(!before.contains(&name.as_str()), || SchemaProblem::NameTaken)?;
            before.push(name);
        }
        Ok(())
    }

    /// Names that users type.
    pub(crate) fn check_words<'n>(
        &self,
        what: &str,
        names: impl IntoIterator<Item = &'n String> + Clone,
    ) -> Result<(), SchemaError> {
        let is_word = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        for name in names.clone() {
            self.child(what, name).ensure(name.bytes().all(is_word), || SchemaProblem::BadWord)?;
        }
        self.check_names(what, names)
    }

    /// One line that is shown to users.
    pub(crate) fn check_user_text(&self, text: &str) -> Result<(), SchemaError> {
        let good = text.len() <= MAX_TEXT_BYTES as usize && !text.chars().any(char::is_control);
        self.ensure(good, || SchemaProblem::BadUserText)
    }

    /// What players read instead of a name.
    pub(crate) fn check_label(&self, label: &str) -> Result<(), SchemaError> {
        let good = label.len() <= MAX_LABEL_BYTES && !label.chars().any(char::is_control);
        self.ensure(good, || SchemaProblem::BadLabel)
    }
}
