//! The TOML file. Its values become the defaults of the command line, so each setting has one type,
//! one name and one check for all sources.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Command;

use super::{ConfigError, FileKeys};

/// The setting that the file itself may not contain.
const CONFIG_ARGUMENT: &str = "config";

/// Returns the file that the command line or the environment names.
pub(super) fn find_path(command: &Command, arguments: &[OsString]) -> Option<PathBuf> {
    // The second pass, which knows the file's values, reports the errors.
    let matches = command.clone().ignore_errors(true).try_get_matches_from(arguments).ok()?;
    matches.get_one::<PathBuf>(CONFIG_ARGUMENT).cloned()
}

/// Returns `command` with the file's values as defaults, and the keys of the file.
pub(super) fn apply_file(
    command: Command,
    path: &Path,
) -> Result<(Command, FileKeys), ConfigError> {
    let problem = |problem: String| ConfigError::File { path: path.display().to_string(), problem };
    let text = std::fs::read_to_string(path)
        .map_err(|error| problem(format!("cannot read the file: {error}")))?;
    apply_text(command, &text).map_err(problem)
}

fn apply_text(mut command: Command, text: &str) -> Result<(Command, FileKeys), String> {
    let table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
    let keys = table.keys().cloned().collect();
    for (key, value) in table {
        let argument =
            find_argument(&command, &key).ok_or_else(|| unknown_key_problem(&command, &key))?;
        let value = to_flag_text(&key, value)?;
        check_value(&command, &key, &value)?;
        command = command.mut_arg(argument, |argument| argument.default_value(value));
    }
    Ok((command, keys))
}

/// Finds the argument of a key. Keys are spelled like the flags.
fn find_argument(command: &Command, key: &str) -> Option<clap::Id> {
    let is_key = |argument: &&clap::Arg| argument.get_long() == Some(key) && key != CONFIG_ARGUMENT;
    command.get_arguments().find(is_key).map(|argument| argument.get_id().clone())
}

fn unknown_key_problem(command: &Command, key: &str) -> String {
    let known: Vec<&str> = command
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .filter(|flag| *flag != CONFIG_ARGUMENT)
        .collect();
    format!("unknown key `{key}`; known are {}", known.join(", "))
}

fn to_flag_text(key: &str, value: toml::Value) -> Result<String, String> {
    match value {
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(_)
        | toml::Value::Datetime(_)
        | toml::Value::Array(_)
        | toml::Value::Table(_) => Err(format!("`{key}` takes a text or a number")),
    }
}

/// Checks one value by itself, so that the message names the file's key. The full parse checks what
/// concerns two flags together.
fn check_value(command: &Command, key: &str, value: &str) -> Result<(), String> {
    let alone = command.get_arguments().find(|argument| argument.get_long() == Some(key)).cloned();
    let alone = alone.expect("a known key").env(None::<&str>);
    let alone = Command::new("file").arg(without_requirements(alone));
    match alone.try_get_matches_from(["file".to_owned(), format!("--{key}={value}")]) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(super::first_lines(&error).replace(&format!("'--{key}"), &format!("'{key}")))
        }
    }
}

/// Returns the argument without its requirements on other arguments, which do not exist here.
fn without_requirements(argument: clap::Arg) -> clap::Arg {
    argument.requires(clap::builder::Resettable::Reset)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::{Config, HostingMode};
    use super::*;

    #[test]
    fn the_file_overrides_defaults_and_a_flag_overrides_the_file() {
        let file = "listen = \"127.0.0.1:1\"\nmax-rooms = 7\nhosts = \"process:3\"";
        let config = parse(file, &["world-server", "--max-rooms", "8"]).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:1");
        assert_eq!(config.hosts, HostingMode::Process { min: 3, max: 3 });
        assert_eq!(config.max_rooms, 8);
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_known_ones() {
        let error = parse("lissen = \"127.0.0.1:1\"", &["world-server"]).unwrap_err();
        assert!(
            error.contains("unknown key `lissen`")
                && error.contains("listen")
                && error.contains("max-rooms"),
            "{error}"
        );
        assert!(parse("config = \"other.toml\"", &["world-server"]).is_err());
        assert!(parse("max_rooms = 1", &["world-server"]).is_err());
    }

    #[test]
    fn a_bad_value_is_reported_with_its_key() {
        let error = parse("grace = 30", &["world-server"]).unwrap_err();
        assert!(error.contains("'30'") && error.contains("'grace"), "{error}");
        assert!(parse("max-rooms = -1", &["world-server"]).is_err());
        let error = parse("max-rooms = 0", &["world-server"]).unwrap_err();
        assert!(error.contains("'max-rooms"), "{error}");
        assert!(parse("hosts = [\"embedded\"]", &["world-server"]).is_err());
        assert!(parse("hosts = ", &["world-server"]).is_err());
    }

    #[test]
    fn optional_values_and_pairs_come_from_the_file_too() {
        let config =
            parse("cert = \"c.pem\"\nkey = \"k.pem\"\ntrace = \"t\"", &["world-server"]).unwrap();
        assert_eq!(config.trace, Some("t".into()));
        assert_eq!((config.cert, config.key), (Some("c.pem".into()), Some("k.pem".into())));
        assert!(parse("trace = \"t\"", &["world-server"]).unwrap().recordings.record.is_none());
    }

    #[test]
    fn a_key_of_another_way_of_hosting_is_refused_by_name() {
        let file = "spare-hosts = 1";
        let error = parse(file, &["world-server"]).unwrap_err();
        assert!(
            error.contains("the key `spare-hosts` of the configuration file")
                && error.contains("`--hosts embedded`"),
            "{error}"
        );
        let pool = ["world-server", "--hosts", "process:1..2"];
        assert!(parse(file, &pool).is_ok());
    }

    fn parse(file: &str, arguments: &[&str]) -> Result<Config, String> {
        let (command, keys) = apply_text(Config::command(), file)?;
        let matches = command.try_get_matches_from(arguments).map_err(|error| error.to_string())?;
        Config::from_matches(&matches, &keys).map_err(|error| error.to_string())
    }
}
