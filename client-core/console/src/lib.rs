//! A player in a terminal, or in a script.
//!
//! On a terminal: a whole screen, or with `--plain` words under each other. Otherwise commands from
//! a file or standard input, one a line, and one JSON object a line on standard output.
//! `text::command` defines the commands, `text::json` the output.
//!
//! Exit status: 0 after `quit`, at the end of input or after a signal; 1 if the client could not
//! connect, the server refused it, or the connection is lost for good; 2 for invalid flags and
//! variables, or a script that can't be read.

mod event_words;
mod full_screen;
mod human;
mod input;
mod main_loop;
mod picture;
mod printable;
mod printed_lines;
mod radar;
mod report;
mod scene;
mod screen;
mod script;
mod terminal_modes;
mod ui;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ambit_client_core::account_file;
use ambit_client_core::client::config::{ClientConfig, SignIn};
use ambit_client_core::resume_token::TokenFile;
use ambit_client_core::shell::{ClientOptions, ServerTrust};
use ambit_client_core::user_directory::user_directory;
use ambit_client_text::{command, flags, json};
use ambit_steering::SharedMotion;
use ambit_transport::account_proof::DeviceAccount;
use ambit_transport::random::system_random;
use anyhow::Context as _;
use clap::{CommandFactory, FromArgMatches};

use crate::full_screen::FullScreen;
use crate::input::LineReceiver;
use crate::main_loop::LoopSetup;
use crate::screen::Screen;

/// Exit status for invalid flags and variables, and for a script that can't be read.
const USAGE_EXIT_STATUS: u8 = 2;
/// How long remaining tasks may take at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// A player in a terminal, or in a script.
///
/// On a terminal it shows the lobby and the game on the whole screen. Otherwise it reads commands
/// from the script or standard input, one a line, and prints one JSON object a line. A console that
/// was killed resumes its session, with its room and avatar, when it is started again with the same
/// server and name.
#[derive(Debug, clap::Parser)]
#[command(name = "console", version)]
struct ConsoleOptions {
    #[command(flatten)]
    target: flags::ConnectionFlags,

    #[command(flatten)]
    drawing: flags::DrawingFlags,

    /// The player's name, 1 to 24 characters; without one, the server chooses it.
    #[arg(long, env = "AMBIT_NAME", value_parser = player_name)]
    name: Option<String>,

    /// The file of the player's account, or off.
    ///
    /// It is made if it is missing. Without a choice it is the file that `AMBIT_ACCOUNT` names,
    /// else `$XDG_CONFIG_HOME/ambit/account`, else `~/.config/ambit/account`. A copy on another
    /// machine is the same account: keep it secret.
    #[arg(long, value_name = "FILE|off")]
    account: Option<PathBuf>,

    /// Sign in with a password: as `login` in the line `welcome` of the account's first session
    /// (ann#48213). The password is in a file (`--password-file`).
    #[arg(long, value_name = "NAME#NUMBER", requires = "password_file")]
    login: Option<String>,

    /// Make an account with this name and a password, of 8 to 128 characters.
    #[arg(long, value_name = "NAME", requires = "password_file", conflicts_with = "login")]
    new_account: Option<String>,

    /// The first line of this file is the password.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,

    /// Sign in with the token in this file, which the operator's service has signed.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["login", "new_account"])]
    token_file: Option<PathBuf>,

    /// Read commands from this file.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// On a terminal: words under each other and a plain prompt, without a screen of its own.
    ///
    /// So it is, too, if `TERM` is `dumb`. `NO_COLOR` keeps the screen, without colours.
    #[arg(long)]
    plain: bool,
}

/// The whole program, with its arguments (the first one is the program's name).
/// `motions` is what it shares with games.
pub fn run(arguments: impl IntoIterator<Item = OsString>, motions: Vec<SharedMotion>) -> ExitCode {
    let command = ConsoleOptions::command().after_long_help(command_list());
    let matches = command.get_matches_from(arguments);
    let args = ConsoleOptions::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let logging = flags::start_log().map_err(|error| error.to_string());
    let (lines, screen) =
        match logging.and_then(|()| input_and_output(args.script.as_deref(), args.plain)) {
            Ok(both) => both,
            Err(message) => {
                complain(&format!("error: {message}"));
                return ExitCode::from(USAGE_EXIT_STATUS);
            }
        };
    play(&args, motions, lines, screen).unwrap_or_else(|error| {
        complain(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

/// Standard error may be closed or full: there is no other place to say it.
fn complain(problem: &str) {
    let _ = writeln!(io::stderr(), "{problem}");
}

fn play(
    args: &ConsoleOptions,
    motions: Vec<SharedMotion>,
    lines: LineReceiver,
    mut screen: Screen,
) -> anyhow::Result<ExitCode> {
    let trust = match flags::trust() {
        Ok(trust) => trust,
        Err(error) => {
            screen.show(&json::error("known_hosts", &error.to_string()))?;
            return Err(error.into());
        }
    };
    let (account, sign_in) = match proof_of_player(args) {
        Ok(proof) => proof,
        Err(error) => {
            screen.show(&json::error("account", &format!("{error:#}")))?;
            return Err(error);
        }
    };
    let mut token = token_file(args);
    let resume_token = token.token();
    let options = options(args, motions, trust, (account, sign_in), resume_token);
    let setup = LoopSetup { options, lines, screen, token };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let exit = runtime.block_on(main_loop::run(setup, || {
        system_random().expect("the system has random numbers")
    }))?;
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    Ok(exit)
}

/// The account of this device, or what the player signs in with.
fn proof_of_player(args: &ConsoleOptions) -> anyhow::Result<(Option<Arc<DeviceAccount>>, SignIn)> {
    let first_line = |file: &Path| {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        anyhow::Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    };
    if let Some(file) = &args.token_file {
        return Ok((None, SignIn::Token(first_line(file)?)));
    }
    let is_new = args.new_account.is_some();
    let login = args.new_account.as_ref().or(args.login.as_ref());
    if let (Some(login), Some(file)) = (login, &args.password_file) {
        let (login, password) = (login.clone(), first_line(file)?);
        return Ok((None, SignIn::Password { login, password, is_new }));
    }
    let account = account_file::for_user(args.account.as_deref(), |name| std::env::var_os(name))?;
    Ok((account.map(Arc::new), SignIn::Guest))
}

fn options(
    args: &ConsoleOptions,
    motions: Vec<SharedMotion>,
    trust: ServerTrust,
    (account, sign_in): (Option<Arc<DeviceAccount>>, SignIn),
    resume_token: Vec<u8>,
) -> ClientOptions {
    let client = ClientConfig {
        name: args.name.clone().unwrap_or_default(),
        agent: concat!("console ", env!("CARGO_PKG_VERSION")).to_owned(),
        resume_token,
        sign_in,
        seed: u64::from_le_bytes(system_random().expect("the system has random numbers")),
        coding: args.target.coding,
        render: args.drawing.render,
        inputs: args.target.input_hz,
        motions,
        predict: args.drawing.predict(),
        ..ClientConfig::default()
    };
    ClientOptions {
        server: args.target.server.clone(),
        trust,
        impairment: args.target.impair,
        number: 0,
        account,
        client,
    }
}

/// The source of commands, and where their results are printed.
fn input_and_output(
    script: Option<&Path>,
    is_plain: bool,
) -> Result<(LineReceiver, Screen), String> {
    if let Some(path) = script {
        let script = open_script(path).map_err(|error| {
            format!(
                "can't read the script {}: {error}; expected a file with one command a line",
                path.display()
            )
        })?;
        return Ok((input::of_file(script), Screen::Json));
    }
    if !io::stdin().is_terminal() {
        return Ok((input::of_standard_input(), Screen::Json));
    }
    Ok(match (!is_plain).then(FullScreen::start).flatten() {
        Some((screen, lines)) => (lines, Screen::Full(Box::new(screen))),
        None => (input::of_standard_input(), Screen::words()),
    })
}

/// Opens a script. A directory can be opened, too; reading it fails.
fn open_script(path: &Path) -> io::Result<BufReader<File>> {
    let file = File::open(path)?;
    let kind = file.metadata()?.file_type();
    let mut script = BufReader::new(file);
    // A pipe may have nothing to read yet.
    if kind.is_file() || kind.is_dir() {
        script.fill_buf()?;
    }
    Ok(script)
}

/// The server checks the rest.
fn player_name(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() {
        Err("expected 1 to 24 characters; without this flag the server chooses a name")
    } else {
        Ok(text.to_owned())
    }
}

fn token_file(args: &ConsoleOptions) -> TokenFile {
    let environment = |name: &str| std::env::var_os(name);
    let directory = user_directory(environment, "XDG_STATE_HOME", ".local/state");
    match (directory, &args.name) {
        (Some(directory), Some(name)) => TokenFile::open(&directory, &args.target.server, name),
        _ => TokenFile::none(),
    }
}

fn command_list() -> String {
    let mut text = "Commands:\n".to_owned();
    for (usage, meaning) in command::HELP {
        let _ = write!(text, "  {usage}\n          {meaning}\n");
    }
    text.push_str(
        "\nOn a terminal, TAB completes commands and names, F1 shows what the keys do, and the \
         mouse works.\n\nLogs go to the standard error if AMBIT_LOG says which, for example \
         AMBIT_LOG=debug.",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_cannot_be_read_is_refused_with_a_reason() {
        for path in [std::env::temp_dir(), PathBuf::from("/nowhere/script")] {
            let message = input_and_output(Some(&path), false).err().expect("no script");
            assert!(
                message.contains(&path.display().to_string()) && message.contains("one command"),
                "{message}"
            );
        }
    }
}
