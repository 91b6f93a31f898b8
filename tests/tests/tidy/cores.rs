//! Cores and shells: each file of the product decides, or it does I/O.
//!
//! Every file is a core, unless [`SHELLS`] names it. A shell that needs none of what cores must not
//! use is in the list by mistake.

use std::collections::BTreeSet;

use super::source::{APART, Source, files, members, product};

/// The shells of each crate: files below its `src/`.
const SHELLS: &[(&str, &str)] = &[
    (
        "proto/endpoint",
        "accept driver driver/commands driver/connection driver/handle driver/streams \
         driver/waiting player_connection udp web_transport",
    ),
    ("proto/training", "cubes lib main"),
    (
        "proto/transport",
        "acceptance_limits frame_reader key_proof quic quic/cid quic/congestion quic/reset \
         quic/timers quic/trust random",
    ),
    (
        "game-server/host",
        "agones agones/sidecar clock_thread data_files dial endpoint host host/connection \
         host/control_stream host/cpu host/inbox host/inlet host/measured_game host/outlet \
         host/owner host/parted_clients host/recent host/room_mailbox host/room_messages \
         host/room_shell host/room_start host/room_thread host/shared host_link hosting_core \
         logging process process_part process_watcher processor_time record_folder replay \
         room_files web_certificates",
    ),
    ("game-server", "main"),
    ("game-server/ambit", "serve serve/endings serve/new_project serve/own_page"),
    ("game-server/games/deus", "content/folders"),
    (
        "world-server",
        "accounts accounts/command actor actor/calls actor/questions admin admin/asked_host \
         admin/listener admin/operators admin/operators/command admin/operators/events \
         admin/operators/refused admin/operators/unknown \
         admin/page_files admin/replay_page admin/status admin/tls_stream \
         admin/top_lists \
         client_connection cluster cluster/follow cluster/kept_rooms cluster/lead cluster/nats \
         cluster/server_list cluster/store cluster/write_queue config config/file config/values \
         contended_places data_lock hosts hosts/embedded hosts/heard_hosts hosts/process \
         hosts/remote hosts/room_checkpoints identity keep/keeper operator_log outgoing peer_door \
         server \
         server/components server/connection_router server/hosts_start server/lobby_start \
         session",
    ),
    ("world-server/program", "main"),
    ("world-server/store", "copies postgres sqlite worker"),
    (
        "client-core",
        "account_file resume_token shell shell/clock shell/connection shell/impaired_socket \
         shell/shared shell/sockets shell/task shell/traffic shell/watched_socket trust",
    ),
    ("client-core/client", "client connect game inbox queue room session"),
    ("client-core/text", "flags"),
    ("client-core/console", "full_screen input lib main_loop screen"),
    ("client-core/console/program", "main"),
    ("client-core/bots", "bot bot_group dump lib"),
    ("client-core/bots/program", "main"),
    ("client-core/boundary", "motions"),
    ("client-core/ffi", "driver instance log registry steering"),
    ("client-core/bevy", "client network_thread"),
    ("client-core/draw", "main"),
];

/// Where pointers of other languages come in, the entry point that Godot calls, and nowhere else.
const UNSAFE: [&str; 6] = [
    "client-core/ffi/src/exports.rs",
    "client-core/ffi/src/memory.rs",
    "client-core/ffi/src/steering.rs",
    "client-core/ffi/tests/misuse.rs",
    "client-core/godot/src/extension.rs",
    "tests/tests/real/engines/c_client.rs",
];

#[test]
fn only_the_library_for_other_languages_uses_unsafe() {
    // The lint is denied, so a file that uses it says so.
    let lint = concat!("unsafe", "_code");
    let allowing = files(&[".rs"]).into_iter().filter(|source| source.text.contains(lint));
    let found: Vec<String> = allowing.map(|source| source.path).collect();
    assert_eq!(found, UNSAFE, "files that use `unsafe`");
}

/// What a core must not use: the network, a runtime, files, the environment, threads, locks, clocks
/// and random sources, standard streams.
const FORBIDDEN: [&str; 25] = [
    "quinn::",
    "tokio::",
    "actix::",
    "axum::",
    "async_nats::",
    "hyper::",
    "socket2::",
    "async fn",
    "UdpSocket",
    "TcpStream",
    "TcpListener",
    "std::env::",
    "std::fs",
    "std::thread",
    "Condvar",
    "Mutex",
    "RwLock",
    "Instant::now",
    "SystemTime",
    "SystemRandom",
    "system_random",
    "Rng::new()",
    "println!",
    "io::stdout",
    "io::stderr",
];

/// Cores that know the messages between a WorldServer and its hosts, and not their protobufs.
const WITHOUT_PROTOBUFS: [&str; 4] = [
    "game-server/host-core/src",
    "game-server/host-protocol/src/messages.rs",
    "game-server/host-protocol/src/stats.rs",
    "world-server/lobby/src",
];

#[test]
fn neither_lobby_nor_host_core_names_a_protobuf_of_the_host_protocol() {
    let is_core = |path: &str| WITHOUT_PROTOBUFS.iter().any(|core| path.starts_with(core));
    let mut cores = product();
    cores.retain(|source| is_core(&source.path));
    let known = cores.iter().filter(|source| source.text.contains("ambit_host_protocol::"));
    assert!(known.count() > 20, "the cores are elsewhere");
    let names = ["host_protocol::generated", "host_protocol::protobuf", "crate::generated"];
    let names_one = |source: &&Source| names.iter().any(|name| source.text.contains(name));
    let found = cores.iter().filter(names_one).map(|source| source.path.as_str());
    let found: Vec<&str> = found.collect();
    assert!(found.is_empty(), "shells convert: {found:?}");
}

/// Macros that panic if a standard stream is full or closed.
const PANICKING: [&str; 4] = ["println!(", "print!(", "eprintln!(", "eprint!("];
/// Examples, and a program for developers alone.
const MAY_PANIC: [&str; 2] = ["game-server/ambit/starter/", "proto/training/"];

#[test]
fn each_file_is_a_core_or_in_the_list_of_shells() {
    let apart = APART.map(str::to_owned);
    let crates = members().into_iter().chain(apart).filter(|folder| folder != "tests");
    let folders: Vec<String> = crates.map(|folder| format!("{folder}/src/")).collect();
    let mut files = product();
    files.retain(|source| folders.iter().any(|folder| source.path.starts_with(folder)));
    let faults = faults(&files, SHELLS);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_program_panics_because_its_output_is_full_or_closed() {
    let files = product();
    assert!(files.len() > 300, "{} files", files.len());
    let panics = |source: &&Source| PANICKING.iter().any(|name| source.text.contains(name));
    let found = files.iter().filter(panics).map(|source| source.path.as_str());
    let found = found.filter(|path| !MAY_PANIC.iter().any(|folder| path.starts_with(folder)));
    let found: Vec<&str> = found.collect();
    assert!(found.is_empty(), "write to `io::stdout()` or `io::stderr()` there: {found:?}");
}

fn faults(files: &[Source], shells: &[(&str, &str)]) -> Vec<String> {
    let of_crate = |(folder, names): &(&str, &str)| {
        let paths = names.split_whitespace().map(|name| format!("{folder}/src/{name}.rs"));
        paths.collect::<Vec<_>>()
    };
    let mut unseen: BTreeSet<String> = shells.iter().flat_map(of_crate).collect();
    let mut faults = Vec::new();
    for Source { path, text } in files {
        let used = FORBIDDEN.iter().find(|word| text.contains(**word));
        match (used, unseen.remove(path)) {
            (Some(word), false) => faults.push(format!("{path} is a core and must not use {word}")),
            (None, true) => faults.push(format!("{path} does no I/O: it is no shell")),
            _ => {}
        }
    }
    faults.extend(unseen.iter().map(|path| format!("{path} does not exist: it is no shell")));
    faults
}

#[test]
fn a_core_with_io_and_a_shell_without_it_are_found() {
    let file = |name: &str, text: &str| Source {
        path: format!("lobby/src/{name}.rs"),
        text: text.to_owned(),
    };
    let files = [
        file("rooms", "pub(crate) struct Rooms(BTreeMap<RoomId, Room>);\n"),
        file("seats", "use tokio::sync::mpsc;\n"),
        file("chat", "pub(crate) struct Chat;\n"),
        file("session", "pub(crate) async fn run() {}\n"),
    ];
    assert_eq!(
        faults(&files, &[("lobby", "session chat gone")]),
        [
            "lobby/src/seats.rs is a core and must not use tokio::",
            "lobby/src/chat.rs does no I/O: it is no shell",
            "lobby/src/gone.rs does not exist: it is no shell",
        ]
    );
}
