//! The subcommand `admin`: what operators ask of a server, from a shell.
//!
//! Its commands are made from the list of requests ([`ENDPOINTS`]), so each request has one.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ambit_host::process::USAGE_EXIT_STATUS;
use anyhow::{Context as _, anyhow, bail};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value as Json};
use tokio::net::TcpStream;

use super::description::{AdminAction, AdminEndpoint, AdminMember, ENDPOINTS};
use super::table;
use crate::config::data_dir_or_default;

/// The name of the subcommand.
pub(crate) const SUBCOMMAND: &str = "admin";

/// How long a server may take for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait until a stream that has ended is asked for again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
const ABOUT: &str = "Asks a server that runs: who is there, and what is to be done. Each command \
    needs a key with a role; the server makes one at its first start.";

/// Runs the subcommand; the first argument is the program's name, the second one `admin`.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let matches = match commands().try_get_matches_from(arguments.into_iter().skip(1)) {
        Ok(matches) => matches,
        Err(help) => {
            let _ = help.print();
            let status = if help.use_stderr() { USAGE_EXIT_STATUS } else { 0 };
            return ExitCode::from(status);
        }
    };
    match carry_out(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "admin: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn commands() -> Command {
    let url = Arg::new("server").long("server").value_name("HOST:PORT").env("AMBIT_ADMIN_SERVER");
    let url = url.default_value("127.0.0.1:7780").help("The server's `--http`");
    let key = Arg::new("key").long("key").value_name("KEY").env("AMBIT_ADMIN_KEY");
    let key = key.hide_env_values(true).help(
        "The key; rather set the variable, since others see a command line. Without it the one in \
         `admin.keys` of the server's files is taken",
    );
    let data_dir = Arg::new("data_dir").long("data-dir").value_name("DIR").env("AMBIT_DATA_DIR");
    let data_dir = data_dir.value_parser(value_parser!(PathBuf)).help("The server's files");
    let json = Arg::new("json").long("json").action(ArgAction::SetTrue);
    let json = json.help("Prints the answer as it comes, as JSON");
    let all = Command::new(SUBCOMMAND).about(ABOUT).subcommand_required(true).max_term_width(110);
    let all =
        [url, key, data_dir, json].into_iter().fold(all, |all, arg| all.arg(arg.global(true)));
    ENDPOINTS.iter().fold(all, |all, endpoint| all.subcommand(command_of(endpoint)))
}

fn command_of(endpoint: &AdminEndpoint) -> Command {
    let mut command = Command::new(endpoint.action.command()).about(endpoint.about);
    if let Some(name) = endpoint.parameter() {
        command = command.arg(Arg::new("parameter").value_name(name).required(true));
    }
    for (member, kind, is_needed, about) in endpoint.members {
        let arg = Arg::new(*member).long(*member).required(*is_needed).help(*about);
        command = command.arg(match *kind {
            "integer" => arg.value_parser(value_parser!(u64)),
            _ => arg,
        });
    }
    if endpoint.action == AdminAction::Events {
        let follow = Arg::new("follow").long("follow").action(ArgAction::SetTrue);
        command = command.arg(follow.help("Goes on with each event as it happens"));
    }
    command
}

fn carry_out(matches: &ArgMatches) -> anyhow::Result<()> {
    let (name, given) = matches.subcommand().expect("clap has checked it");
    let endpoint = ENDPOINTS.iter().find(|endpoint| endpoint.action.command() == name);
    let endpoint = endpoint.expect("each command has a request");
    let call = AdminCall {
        server: given.get_one::<String>("server").expect("it has a default").clone(),
        key: key(given)?,
        method: endpoint.method.to_uppercase().parse().context("a method of HTTP")?,
        path: path(endpoint, given),
        body: body(endpoint, given),
        streams: follows(endpoint, given),
    };
    let as_json = given.get_flag("json");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        if call.streams {
            return follow(call, as_json).await;
        }
        let answer = call.answer().await?;
        let (json, text) = call.read(answer).await?;
        print(&if as_json { format!("{text}\n") } else { table::shown(&json) })
    })
}

/// `--key`, or the first key of the server's own file.
fn key(given: &ArgMatches) -> anyhow::Result<String> {
    if let Some(key) = given.get_one::<String>("key") {
        return Ok(key.clone());
    }
    let file = data_dir_or_default(given.get_one::<PathBuf>("data_dir").cloned());
    let file = file.join("admin.keys");
    let text = std::fs::read_to_string(&file).with_context(|| {
        let file = file.display();
        format!("no key is given (`--key`, AMBIT_ADMIN_KEY), and {file} cannot be read")
    })?;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let key = lines.find_map(|line| line.split_whitespace().nth(2));
    key.map(str::to_owned).with_context(|| format!("{} has no key", file.display()))
}

fn follows(endpoint: &AdminEndpoint, given: &ArgMatches) -> bool {
    endpoint.action == AdminAction::Events && given.get_flag("follow")
}

fn path(endpoint: &AdminEndpoint, given: &ArgMatches) -> String {
    let parameter = match endpoint.parameter() {
        Some(_) => given.get_one::<String>("parameter").expect("clap has checked it").as_str(),
        None => "",
    };
    let encoded = utf8_percent_encode(parameter, NON_ALPHANUMERIC).to_string();
    let mut path = format!("/admin/v1{}", endpoint.path_with(&encoded));
    for (index, (name, value)) in members(endpoint.query(), given).iter().enumerate() {
        let mark = if index == 0 { '?' } else { '&' };
        let _ = write!(path, "{mark}{name}={value}");
    }
    path
}

fn body(endpoint: &AdminEndpoint, given: &ArgMatches) -> String {
    let body = members(endpoint.body(), given);
    if body.is_empty() { String::new() } else { Json::Object(body).to_string() }
}

/// Those of the members that are given.
fn members(declared: &[AdminMember], given: &ArgMatches) -> Map<String, Json> {
    let mut members = Map::new();
    for (member, kind, _, _) in declared {
        let value = match *kind {
            "integer" => given.get_one::<u64>(member).map(|number| Json::from(*number)),
            _ => given.get_one::<String>(member).map(|text| Json::from(text.as_str())),
        };
        if let Some(value) = value {
            members.insert((*member).to_owned(), value);
        }
    }
    members
}

/// One request.
struct AdminCall {
    server: String,
    key: String,
    method: Method,
    path: String,
    body: String,
    streams: bool,
}

impl AdminCall {
    async fn answer(&self) -> anyhow::Result<Response<Incoming>> {
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, self.send()).await;
        let answer = answer.map_err(|_| anyhow!("{}: no answer within 5 s", self.server))?;
        answer.with_context(|| format!("cannot ask {}", self.server))
    }

    /// The answer as JSON, and as it came; what the server has refused is an error.
    async fn read(&self, answer: Response<Incoming>) -> anyhow::Result<(Json, String)> {
        let status = answer.status();
        let bytes = answer.into_body().collect().await?.to_bytes();
        let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        let json: Json = serde_json::from_str(&text).with_context(|| {
            format!("{} has answered {status} without JSON: is that its `--http`?", self.server)
        })?;
        match json.get("error").and_then(Json::as_str) {
            Some(problem) => bail!("{problem} ({status})"),
            None => Ok((json, text)),
        }
    }

    async fn send(&self) -> anyhow::Result<Response<Incoming>> {
        let stream = TcpStream::connect(&self.server).await?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // Ends with the answer.
        tokio::spawn(connection);
        let accept = if self.streams { "text/event-stream" } else { "application/json" };
        let request = Request::builder()
            .method(&self.method)
            .uri(&self.path)
            .header(header::HOST, &self.server)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.key))
            .header(header::ACCEPT, accept)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(self.body.clone())))?;
        Ok(sender.send_request(request).await?)
    }
}

/// Prints each event of a stream, and asks again when that has ended, until this process ends.
async fn follow(mut call: AdminCall, as_json: bool) -> anyhow::Result<()> {
    let mut answer = call.answer().await?;
    let path = call.path.split('?').next().unwrap_or_default().to_owned();
    loop {
        if answer.status() != StatusCode::OK {
            return call.read(answer).await.map(drop);
        }
        let mut last = None;
        let ended = print_events(answer, &mut last, as_json).await?;
        if let Some(last) = last {
            call.path = format!("{path}?after={last}");
        }
        let _ = writeln!(io::stderr(), "admin: {ended}; asking again");
        answer = loop {
            tokio::time::sleep(AGAIN_AFTER).await;
            if let Ok(answer) = call.answer().await {
                break answer;
            }
        };
    }
}

/// Returns why the stream has ended; the error is of standard output.
async fn print_events(
    answer: Response<Incoming>,
    last: &mut Option<u64>,
    as_json: bool,
) -> anyhow::Result<String> {
    let mut body = answer.into_body();
    let mut lines = Vec::new();
    while let Some(frame) = body.frame().await {
        let data = match frame {
            Ok(frame) => frame.into_data().unwrap_or_default(),
            Err(error) => return Ok(format!("the stream is cut off ({error})")),
        };
        lines.extend_from_slice(&data);
        while let Some(end) = lines.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = lines.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let Some(text) = line.strip_prefix("data:").map(str::trim) else { continue };
            let event: Json = serde_json::from_str(text).context("an event is JSON")?;
            *last = event["number"].as_u64().or(*last);
            let shown = if as_json { text.to_owned() } else { table::event(&event) };
            print(&format!("{shown}\n"))?;
        }
    }
    Ok("the server has ended the stream".to_owned())
}

fn print(text: &str) -> anyhow::Result<()> {
    io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> (String, String) {
        let arguments = [&["admin"], arguments].concat();
        let matches = commands().try_get_matches_from(arguments).expect("good arguments");
        let (name, given) = matches.subcommand().expect("a command");
        let endpoint = ENDPOINTS.iter().find(|endpoint| endpoint.action.command() == name);
        let endpoint = endpoint.expect("a request");
        (path(endpoint, given), body(endpoint, given))
    }

    #[test]
    fn each_request_has_a_command_with_another_name() {
        commands().debug_assert();
        let mut names: Vec<_> =
            ENDPOINTS.iter().map(|endpoint| endpoint.action.command()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ENDPOINTS.len());
    }

    #[test]
    fn a_command_becomes_its_request() {
        let kick = read(&["kick", "12", "--reason", "a \"word\""]);
        let body = r#"{"reason":"a \"word\""}"#;
        assert_eq!(kick, ("/admin/v1/players/12/kick".to_owned(), body.to_owned()));
        let unban = read(&["unban", "address:10.0.0.0/8"]);
        let path = "/admin/v1/bans/address%3A10%2E0%2E0%2E0%2F8";
        assert_eq!(unban, (path.to_owned(), String::new()));
        let say = read(&["--json", "say", "--text", "hello", "--room", "3"]);
        assert_eq!(say.1, r#"{"room":3,"text":"hello"}"#);
        assert_eq!(read(&["events", "--after", "7"]).0, "/admin/v1/events?after=7");
        let why = read(&["why", "3", "--player", "7", "--object", "12"]);
        let path = "/admin/v1/maps/3/why?object=12&player=7";
        assert_eq!(why, (path.to_owned(), String::new()));
        let unmuted = read(&["unban", "name:bob", "--only", "chat"]);
        assert_eq!(unmuted.1, r#"{"only":"chat"}"#);
        for wrong in [
            &["kick"][..],
            &["say"],
            &["say", "--text", "x", "--room", "y"],
            &["dance"],
            &["why", "3"],
        ] {
            let arguments = [&["admin"], wrong].concat();
            assert!(commands().try_get_matches_from(arguments).is_err(), "{wrong:?}");
        }
    }
}
