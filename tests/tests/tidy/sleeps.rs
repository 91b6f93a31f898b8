//! Tests wait for what they wait for, and sleep for no fixed time.

use std::collections::BTreeMap;

use super::source::{Source, files, is_test, without_tests};

/// Where test code sleeps, and how often. Benches and the programs of the tests measure for a given
/// time.
const PLACES: [(&str, usize); 19] = [
    // Polls: the interval of a loop that ends with what it waits for.
    ("proto/endpoint/src/player_connection/tests.rs", 2),
    ("proto/transport/src/quic/reset.rs", 1),
    ("tests/tests/real/clients.rs", 2),
    ("world-server/src/keep/keeper.rs", 2),
    ("world-server/tests/sockets/game_connections.rs", 1),
    // The poll for all tests with processes; `outage`, and a rule of the lobby that counts time.
    ("tests/src/real/mod.rs", 3),
    // Paces what a client sends.
    ("tests/src/real/counting_players.rs", 1),
    // A fault or a request whose time is the subject.
    ("tests/src/real/raw_client.rs", 1),
    ("tests/src/slow_game.rs", 1),
    ("tests/tests/real/cluster.rs", 2),
    // A caller that forgets to poll.
    ("client-core/ffi/tests/misuse.rs", 2),
    // The poll for all of its tests: a picture comes after the other.
    ("client-core/bevy/tests/plugin.rs", 1),
    // A program plays for a while; a picture comes after the other.
    ("tests/tests/real/engines.rs", 1),
    ("tests/tests/real/engines/one_handle.rs", 6),
    ("tests/tests/real/engines/own_ship.rs", 2),
    // On virtual time.
    ("game-server/ambit/tests/games/sleepers.rs", 5),
    ("game-server/games/hamlet/src/tests.rs", 1),
    ("client-core/src/shell/connection.rs", 1),
    ("client-core/src/shell/impaired_socket/tests.rs", 2),
];

#[test]
fn tests_sleep_only_where_the_list_says_so() {
    let faults = faults(&files(&[".rs"]), &PLACES);
    assert!(faults.is_empty(), "wait for what must have happened:\n{}", faults.join("\n"));
}

fn faults(sources: &[Source], places: &[(&str, usize)]) -> Vec<String> {
    let mut listed: BTreeMap<&str, usize> = places.iter().copied().collect();
    let mut faults = Vec::new();
    for Source { path, text } in sources {
        let measures = path.split('/').any(|part| matches!(part, "benches" | "examples" | "bin"));
        if measures || path.starts_with("tests/tests/tidy/") {
            continue;
        }
        let of_product = if is_test(path) { 0 } else { sleeps(&without_tests(text)) };
        let found = sleeps(text) - of_product;
        let allowed = listed.remove(path.as_str()).unwrap_or_default();
        if found != allowed {
            faults.push(format!("{path} sleeps {found} times in tests, not {allowed}"));
        }
    }
    faults.extend(listed.keys().map(|path| format!("{path} does not exist")));
    faults
}

/// How often code sleeps; `outage` is the same for tests with processes.
fn sleeps(text: &str) -> usize {
    let code = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let of_line = |line: &str| {
        let calls = ["sleep(", "sleep_until(", "outage("].map(|name| {
            let before = line.match_indices(name).map(|(at, _)| &line[..at]);
            let is_call = |before: &&str| {
                !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
                    && !before.ends_with("fn ")
            };
            before.filter(is_call).count()
        });
        calls.iter().sum::<usize>()
    };
    code.map(of_line).sum()
}

#[test]
fn a_sleep_in_a_test_that_is_not_listed_is_found() {
    let file = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
    let files = [
        file("core/src/shell.rs", "async fn retry() {\n    sleep(PAUSE).await;\n}\n"),
        file(
            "core/src/clock.rs",
            "fn run() {\n    sleep(STEP);\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    \
             fn it_runs() {\n        std::thread::sleep(STEP);\n    }\n}\n",
        ),
        file("tests/tests/real/rooms.rs", "// sleep(LONG);\nfn asleep() {}\n"),
        file("tests/tests/real/hosts.rs", "fn kill() {\n    outage(LONG);\n}\n"),
        file("tests/benches/load.rs", "sleep(LONG);\n"),
        file("tests/src/real/poll.rs", "tokio::time::sleep(POLL).await;\n"),
    ];
    assert_eq!(
        faults(&files, &[("tests/src/real/poll.rs", 1), ("tests/src/real/gone.rs", 1)]),
        [
            "core/src/clock.rs sleeps 1 times in tests, not 0",
            "tests/tests/real/hosts.rs sleeps 1 times in tests, not 0",
            "tests/src/real/gone.rs does not exist",
        ]
    );
}
