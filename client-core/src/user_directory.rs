//! Where Ambit keeps a user's files, by the XDG Base Directory Specification; on Windows in the
//! user's local application data.
//!
//! The environment goes in, a path comes out. No I/O.

use std::ffi::OsString;
use std::path::PathBuf;

/// `$VARIABLE/ambit`, else `%LOCALAPPDATA%/ambit`, which Windows sets, else `$HOME/in_home/ambit`:
/// for example of `XDG_STATE_HOME` and `.local/state`. `None` if no variable is set. `environment`
/// looks up a variable.
pub fn user_directory(
    environment: impl Fn(&str) -> Option<OsString>,
    variable: &str,
    in_home: &str,
) -> Option<PathBuf> {
    path_variable(&environment, variable)
        // Before HOME, which only some shells of Windows set: a player's files are those of all.
        .or_else(|| path_variable(&environment, "LOCALAPPDATA"))
        .or_else(|| Some(path_variable(&environment, "HOME")?.join(in_home)))
        .map(|parent| parent.join("ambit"))
}

/// The path in an environment variable; an empty one counts as not set.
pub(crate) fn path_variable(
    environment: impl Fn(&str) -> Option<OsString>,
    name: &str,
) -> Option<PathBuf> {
    environment(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_environment_sets_the_directory() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let directory =
                user_directory(environment(variables), "XDG_STATE_HOME", ".local/state");
            assert_eq!(directory.as_deref(), expected.map(Path::new));
        };
        check(&[("XDG_STATE_HOME", "/x"), ("HOME", "/h")], Some("/x/ambit"));
        check(&[("XDG_STATE_HOME", ""), ("HOME", "/h")], Some("/h/.local/state/ambit"));
        check(&[("LOCALAPPDATA", "/l"), ("HOME", "/h")], Some("/l/ambit"));
        check(&[("XDG_STATE_HOME", "/x"), ("LOCALAPPDATA", "/l")], Some("/x/ambit"));
        check(&[], None);
    }

    pub(crate) fn environment(variables: &[(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        move |name| {
            variables
                .iter()
                .find(|(variable, _)| *variable == name)
                .map(|(_, value)| OsString::from(value))
        }
    }
}
