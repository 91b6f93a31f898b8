//! Settings from flags, variables and files, and what is refused.

use super::*;

#[test]
fn the_command_line_is_consistent() {
    Config::command().debug_assert();
}

#[test]
fn every_setting_has_a_flag_a_variable_and_a_help_text() {
    for argument in Config::command().get_arguments() {
        let flag = argument.get_long().expect("a flag");
        let variable = format!("AMBIT_{}", flag.replace('-', "_").to_uppercase());
        assert_eq!(argument.get_env().and_then(|name| name.to_str()), Some(variable.as_str()));
        assert!(argument.get_help().is_some(), "{flag}");
    }
}

#[test]
fn defaults_are_the_documented_ones() {
    let config = Config::from_arguments(["world-server"]).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:7777");
    assert_eq!(config.http, HttpListen(Some("127.0.0.1:7780".parse().unwrap())));
    assert_eq!(config.hosts, HostingMode::Embedded);
    assert_eq!(config.lobby(Duration::ZERO), LobbyConfig::default());
}

#[test]
fn names_of_the_http_port_have_no_port() {
    let config = Config::from_arguments(["world-server", "--http-host", "World-1,play.example."]);
    let names = ["world-1", "play.example"].map(|name| name.parse().unwrap());
    assert_eq!(config.unwrap().http_host, names);
    for wrong in ["", "world-1:7780", "http://world-1", "a b", "."] {
        let error = error_of(&["--http-host", wrong]);
        assert!(error.contains("--http-host"), "{error}");
    }
    assert!(error_of(&["--http-host", "world-1", "--http", "off"]).contains("which is off"));
}

#[test]
fn durations_have_a_unit() {
    assert_eq!(parse_duration("30s"), Ok(Duration::from_secs(30)));
    assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1_500)));
    assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
    assert_eq!(parse_duration("2m"), Ok(Duration::from_mins(2)));
    for text in ["", "30", "s", "-1s", "1e99s", "25h", "1 s", "nans", "ä"] {
        assert!(parse_duration(text).is_err(), "{text:?}");
    }
}

#[test]
fn hosts_are_embedded_or_a_number_of_processes() {
    assert_eq!("embedded".parse(), Ok(HostingMode::Embedded));
    assert_eq!("process:2".parse(), Ok(HostingMode::Process { min: 2, max: 2 }));
    assert_eq!("process:2..5".parse(), Ok(HostingMode::Process { min: 2, max: 5 }));
    assert_eq!(HostingMode::Process { min: 2, max: 5 }.to_string(), "process:2..5");
    assert_eq!(HostingMode::Process { min: 2, max: 2 }.to_string(), "process:2");
    assert_eq!("cluster".parse(), Ok(HostingMode::Cluster));
    for text in [
        "",
        "process",
        "process:0",
        "process:257",
        "process:x",
        "process:3..2",
        "process:0..2",
        "process:2..",
        "thread:1",
    ] {
        assert!(text.parse::<HostingMode>().is_err(), "{text:?}");
    }
}

#[test]
fn a_maximum_of_0_is_refused_with_a_reason() {
    for flag in ["--max-connections", "--max-connections-per-address", "--max-rooms"] {
        let error = error_of(&[flag, "0"]);
        assert!(error.contains(flag) && error.contains("all of them would be refused"), "{error}");
        assert!(error_of(&[flag, "-1"]).contains(flag));
        assert!(Config::from_arguments(["world-server", flag, "1"]).is_ok());
    }
}

#[test]
fn a_value_that_begins_with_a_hyphen_is_reported_with_its_flag() {
    for flag in ["--grace", "--idle", "--host-silence"] {
        let error = error_of(&[flag, "-5s"]);
        assert!(
            error.contains(flag) && error.contains("'-5s'") && error.contains("500ms"),
            "{error}"
        );
    }
    for flag in ["--host-capacity", "--spare-hosts"] {
        assert!(error_of(&[flag, "-5"]).contains(flag));
    }
}

#[test]
fn a_nats_url_has_a_host_and_no_path() {
    for good in [
        "nats://127.0.0.1:4222",
        "nats://nats-0.nats",
        "nats-1:4222",
        "tls://user:pass@[::1]:4222",
        "nats://a:4222/",
    ] {
        assert_eq!(parse_nats_url(good), Ok(good.to_owned()));
    }
    for bad in [
        "",
        "htp:/x",
        "http://a:4222",
        "nats://",
        "nats://a:0",
        "nats://a:x",
        "nats://a/b",
        "a b",
        "nats:/a",
        ":4222",
    ] {
        assert!(parse_nats_url(bad).is_err(), "{bad:?}");
    }
    let error = error_of(&["--nats", "htp:/x"]);
    assert!(error.contains("--nats") && error.contains("nats://"), "{error}");
}

#[test]
fn bounds_of_recordings_are_for_a_server_that_records() {
    for flag in ["--record-mb", "--record-days"] {
        let error = error_of(&[flag, "5"]);
        let expected = format!("`{flag}` is for `--record` only: set `--record DIR`");
        assert!(error.starts_with(&expected), "{error}");
        assert!(Config::from_arguments(["world-server", "--record", "x", flag, "5"]).is_ok());
    }
    let bounded = Config::from_arguments(["world-server", "--record", "x"]).unwrap();
    let bound = bounded.recordings.folder().expect("it records").bound;
    assert_eq!(bound.bytes, Some(1_000_000_000));
    assert_eq!(bound.age, Some(Duration::from_hours(7 * 24)));
}

#[test]
fn settings_of_another_way_of_hosting_are_refused() {
    let nats = ["--nats", "nats://a:4222"];
    let key = ["--host-key", "0123456789abcdef"];
    for (hosts, flags, is_accepted) in [
        ("embedded", &nats[..], false),
        ("process:2..3", &nats, false),
        ("cluster", &[nats, key].concat(), true),
        ("embedded", &["--peer-address", "a:1"], false),
        ("embedded", &["--nats-ca", "a.pem"], false),
        ("process:2", &["--nats-credentials", "a"], false),
        ("process:2", &["--peer-address", "a:1"], false),
        ("embedded", &["--spare-hosts", "1"], false),
        ("embedded", &["--child-memory", "512"], false),
        ("process:2", &["--child-memory", "512"], true),
        ("process:2", &["--spare-hosts", "1"], false),
        ("process:2..3", &["--spare-hosts", "1"], true),
        ("embedded", &["--host-key", "0123456789abcdef"], true),
        ("embedded", &["--build", "next"], true),
        ("process:2", &["--build", "next"], true),
        ("cluster", &[&["--build", "next"], &nats[..], &key].concat(), false),
    ] {
        let arguments = [&["world-server", "--hosts", hosts], flags].concat();
        match Config::from_arguments(arguments) {
            Ok(_) => assert!(is_accepted, "{hosts} {flags:?}"),
            Err(error) => {
                let error = error.to_string();
                let mode = format!("`--hosts {hosts}`");
                assert!(
                    !is_accepted && error.contains(flags[0]) && error.contains(&mode),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn a_setting_of_another_way_of_hosting_is_named_by_its_origin() {
    let command = Config::command().mut_arg("nats", |nats| nats.default_value("nats://a:4222"));
    let matches = command.try_get_matches_from(["world-server"]).unwrap();
    let error = Config::from_matches(&matches, &["nats".to_owned()].into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the key `nats` of the configuration file is for `--hosts cluster` only, but this \
         server runs with `--hosts embedded`: set `--hosts cluster`, or remove the key `nats` \
         of the configuration file"
    );
    // Set in every process that tests run in.
    let command = Config::command().mut_arg("peer_address", |address| address.env("PATH"));
    let command = command.mut_arg("peer_address", |address| {
        address.value_parser(|_: &str| Ok::<_, String>("a:1".to_owned()))
    });
    let matches = command.try_get_matches_from(["world-server"]).unwrap();
    let error = Config::from_matches(&matches, &FileKeys::new()).unwrap_err();
    assert!(
        error.to_string().starts_with("the environment variable `AMBIT_PEER_ADDRESS` is for"),
        "{error}"
    );
}

#[test]
fn rooms_are_kept_in_a_folder_or_in_the_nats_of_a_cluster() {
    let parse = |flags: &[&str]| {
        Config::from_arguments([&["world-server"], flags].concat())
            .map_err(|error| error.to_string())
    };
    let cluster = ["--hosts", "cluster", "--nats", "nats://a:4222"];
    let cluster = [&cluster[..], &["--host-key", "0123456789abcdef"]].concat();
    let in_cluster = |place| parse(&[&cluster[..], &["--keep", place]].concat());
    assert_eq!(in_cluster("nats").unwrap().keep, Some(KeepPlace::Nats));
    let error = in_cluster("/var/rooms").unwrap_err();
    assert!(error.contains("set `--keep nats`"), "{error}");
    let error = parse(&["--keep", "nats"]).unwrap_err();
    assert!(error.contains("`--keep nats` is for `--hosts cluster`"), "{error}");
    let kept = parse(&["--keep", "./nats", "--keep-sync", "250ms"]).unwrap();
    assert_eq!(kept.keep, Some(KeepPlace::Folder("./nats".into())));
    assert_eq!(kept.keep_sync, Duration::from_millis(250));
    for wrong in
        [&["--keep-sync", "2s"][..], &["--keep", "x", "--keep-sync", "1ms"], &["--keep", ""]]
    {
        let error = parse(wrong).unwrap_err();
        assert!(error.contains("--keep"), "{error}");
    }
}

#[test]
fn limits_of_rooms_are_added_to_the_defaults_and_are_for_parameters() {
    let limits = |flags: &[&str]| {
        let arguments = [&["world-server"], flags].concat();
        Config::from_arguments(arguments).unwrap().room_limits()
    };
    assert_eq!(limits(&[]), RoomLimits::default());
    assert_eq!(
        limits(&["--room-limit", "tick=30,objects=off", "--room-limit", "field.npcs=9"])
            .to_string(),
        "budget=10000,pairs=2000000,tick=30,objects=off,field.npcs=9"
    );
    let error = error_of(&["--room-limit", "tick=fast"]);
    assert!(error.contains("--room-limit") && error.contains("tick=30"), "{error}");
    let config = Config::from_arguments(["world-server", "--room-limit", "tik=30"]).unwrap();
    let problem = config.check_games(&Registry::default()).unwrap_err();
    assert!(problem.contains("--room-limit") && problem.contains("tik=30"), "{problem}");
}

#[test]
fn a_setting_that_needs_another_one_is_refused_alone() {
    let cluster = ["--hosts", "cluster", "--nats", "a", "--host-key", "0123456789abcdef"];
    let cluster = &cluster[..];
    for (flags, missing) in [
        (&["--cert", "a.pem"][..], "--key"),
        (&["--key", "a.pem"], "--cert"),
        (&["--hosts", "cluster"], "--nats"),
        (&["--hosts", "cluster", "--nats", "a"], "--host-key"),
        (&["--peer-listen", "127.0.0.1:0"], "--host-key"),
        (&[cluster, &["--nats-cert", "a.pem"]].concat(), "--nats-key"),
        (&[cluster, &["--nats-key", "a.pem"]].concat(), "--nats-cert"),
    ] {
        let error = error_of(flags);
        assert!(error.contains(missing), "{flags:?}: {error}");
    }
}

#[test]
fn a_bad_value_is_reported_in_one_line_with_its_key() {
    let error =
        Config::from_arguments(["world-server", "--hosts", "many"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "invalid value 'many' for '--hosts <WHERE>': either `embedded`, `process:N`, \
         `process:MIN..MAX` or `cluster`"
    );
}

fn error_of(flags: &[&str]) -> String {
    let arguments = [&["world-server"], flags].concat();
    let error = Config::from_arguments(arguments).expect_err("invalid flags");
    error.to_string()
}
