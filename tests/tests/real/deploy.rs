//! Checks that the files in `deploy/` agree with the programs and with each other. What only a real
//! cluster can show is not tested here.

mod load;
mod manifests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use ambit_host::cli::Advertise;
use ambit_tests::real::{self, ScratchFolder, SecuredNats, Server, binary};
use anyhow::Result;
use serde_json::Value;

use self::load::{
    ProgramStart, command_of, files, image_variables, own_image, pods, port_of, program_starts,
    read, root, services, stages, systemd_unit, unit_value, variable, variables, yaml,
};

/// Longest shutdown of the programs, in seconds; see `docs/operating.md`.
const SHUTDOWN_LIMIT_S: u64 = 10;

#[test]
fn every_file_in_deploy_can_be_parsed() {
    for name in files() {
        match name.rsplit_once('.').map_or(name.as_str(), |(_, extension)| extension) {
            "yaml" | "yml" => assert!(!yaml(&name).is_empty(), "{name} is empty"),
            "json" => {
                assert!(serde_json::from_str::<Value>(&read(&name)).expect(&name).is_object());
            }
            "service" | "conf" => assert!(command_of(&name).starts_with("/usr/local/bin/")),
            "example" => assert!(!variables(&name, &read(&name)).is_empty(), "{name} is empty"),
            "deploy/Dockerfile" | "Dockerfile" => assert!(!stages().is_empty()),
            "md" | "dockerignore" | "gitignore" | "make-packages" | "make-secrets"
            | "make-sbom" => {
                assert!(!read(&name).is_empty());
            }
            _ => panic!("deploy/{name} has a file type without a check"),
        }
    }
    assert_eq!(
        program_starts().len(),
        9,
        "2 + 2 in compose, 2 in Kubernetes, 2 units and a drop-in"
    );
}

#[test]
fn every_flag_and_variable_is_in_the_help_of_its_program() -> Result<()> {
    for start in program_starts() {
        let help = help(&start.program)?;
        let flags = start.arguments.iter().filter(|it| it.starts_with("--"));
        for flag in flags.map(|flag| flag.split_once('=').map_or(flag.as_str(), |(flag, _)| flag)) {
            assert!(help.contains(flag), "{}: {} has no flag {flag}", start.place, start.program);
        }
        for name in start.variables.keys().filter(|name| name.starts_with("AMBIT_")) {
            assert!(
                help.contains(name),
                "{}: {} has no variable {name}",
                start.place,
                start.program
            );
        }
    }
    Ok(())
}

#[test]
fn every_command_line_is_accepted_by_its_program() {
    for start in program_starts() {
        let mut words = vec![start.program.clone()];
        words.extend(start.arguments.iter().cloned());
        for (name, value) in &start.variables {
            let flag =
                format!("--{}", name.trim_start_matches("AMBIT_").to_lowercase().replace('_', "-"));
            // A flag overrides a variable.
            let given = start
                .arguments
                .iter()
                .any(|word| *word == flag || word.starts_with(&format!("{flag}=")));
            if name.starts_with("AMBIT_") && !given {
                words.extend([flag, value.clone()]);
            }
        }
        let problem = if start.program == "game-server" {
            ambit_host::cli::Options::from_arguments(&words).err().map(|error| error.to_string())
        } else {
            ambit_world_server::config::Config::from_arguments(&words)
                .err()
                .map(|error| error.to_string())
        };
        assert_eq!(problem, None, "{}: {words:?}", start.place);
    }
}

#[test]
fn cluster_servers_get_all_required_options() {
    let is_one = |start: &&ProgramStart| start.value("--hosts").as_deref() == Some("cluster");
    let all = program_starts();
    for start in all.iter().filter(is_one) {
        let nodes = start.value("--nats").unwrap_or_default().split(',').count();
        assert!(
            nodes >= 3,
            "{}: {nodes} NATS servers; the directory survives the loss of one only with 3 or more",
            start.place
        );
        for flag in ["--host-key", "--peer-address", "--advertise", "--cert", "--key"] {
            assert!(start.value(flag).is_some(), "{}: no {flag}", start.place);
        }
        let (peers, players) =
            (start.port("--peer-address"), start.value("--advertise").expect("--advertise"));
        let listening = start.value("--peer-listen");
        let own_port = listening.map(|_| start.port("--peer-listen"));
        assert_eq!(
            peers,
            own_port.unwrap_or_else(|| start.port("--listen")),
            "{}: --peer-address does not lead to the port where peers connect",
            start.place
        );
        assert!(
            players.parse::<Advertise>().is_ok(),
            "{}: --advertise {players} is not valid",
            start.place
        );
    }
    assert_eq!(all.iter().filter(is_one).count(), 4, "2 in compose, 1 in Kubernetes, 1 drop-in");
    // A directory to keep rooms in is for one server alone.
    assert_eq!(
        command_of("systemd/cluster.conf")
            .replace("--hosts cluster --cert %d/cert.pem --key %d/key.pem", "--hosts process:2..8"),
        command_of("systemd/ambit-world-server.service")
            .replace(" --keep /var/lib/ambit-world-server/rooms", "")
    );
    let loaded = systemd_unit("systemd/cluster.conf")
        .into_iter()
        .filter(|(_, key, _)| key == "LoadCredential");
    let names: Vec<String> =
        loaded.map(|(_, _, from)| from.split(':').next().unwrap_or_default().into()).collect();
    assert_eq!(names, ["cert.pem", "key.pem"]);
}

#[test]
fn probes_and_scrapes_are_answered_by_a_real_server() -> Result<()> {
    let scratch = ScratchFolder::new("probes");
    let server = Server::start(&scratch, &[])?;
    let mut paths = BTreeSet::from(["/metrics".to_owned()]);
    for (name, document, pod) in pods() {
        for container in pod["containers"].as_array().into_iter().flatten() {
            if container["image"].as_str().and_then(own_image) != Some("world-server") {
                continue;
            }
            for probe in ["readinessProbe", "livenessProbe"] {
                let get = &container[probe]["httpGet"];
                paths.insert(
                    get["path"].as_str().unwrap_or_else(|| panic!("{name}: no {probe}")).to_owned(),
                );
                assert_eq!(
                    port_named(container, &get["port"]),
                    port_of(&image_variables("world-server")["AMBIT_HTTP"])
                );
            }
            let annotations = &document["spec"]["template"]["metadata"]["annotations"];
            paths.insert(
                annotations["prometheus.io/path"].as_str().expect("a path to scrape").to_owned(),
            );
        }
    }
    for job in yaml("prometheus/prometheus.yml")[0]["scrape_configs"].as_array().expect("jobs") {
        paths.insert(job["metrics_path"].as_str().expect("a path to scrape").to_owned());
    }
    assert_eq!(paths.len(), 2, "{paths:?}");
    for path in paths {
        assert_eq!(server.get(&path)?.0, 200, "{path}");
    }
    Ok(())
}

#[test]
fn every_metric_in_dashboard_and_rules_exists() -> Result<()> {
    let scratch = ScratchFolder::new("series");
    let kept = scratch.path().join("kept");
    let server = Server::start(&scratch, &["--keep", kept.to_str().expect("a plain path")])?;
    let text = server.get("/metrics")?.1;
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let series: BTreeSet<String> = kinds
        .flat_map(|(name, kind)| {
            let ends: &[&str] = match kind {
                "counter" => &["_total"],
                "histogram" => &["_bucket", "_sum", "_count"],
                "info" => &["_info"],
                _ => &[""],
            };
            ends.iter().map(move |end| format!("{name}{end}"))
        })
        .collect();
    let board: Value = serde_json::from_str(&read("grafana/dashboards/ambit.json"))?;
    let mut expressions = vec![board["templating"]["list"][0]["query"]["query"].clone()];
    for panel in board["panels"].as_array().expect("panels") {
        assert_eq!(
            panel["datasource"]["uid"],
            yaml("grafana/provisioning/datasources/prometheus.yaml")[0]["datasources"][0]["uid"]
        );
        expressions.extend(
            panel["targets"]
                .as_array()
                .expect("targets")
                .iter()
                .map(|target| target["expr"].clone()),
        );
    }
    let rules = yaml("prometheus/rules.yml").remove(0);
    for rule in rules["groups"][0]["rules"].as_array().expect("rules") {
        let expression = rule["expr"].as_str().expect("an expression");
        let is_of_all = !expression.starts_with("ambit_") || !expression.ends_with("== 0");
        assert!(is_of_all, "{expression} also fires at WorldServers that do not lead");
    }
    expressions.extend(
        rules["groups"][0]["rules"]
            .as_array()
            .expect("rules")
            .iter()
            .map(|rule| rule["expr"].clone()),
    );
    let mut used = BTreeSet::new();
    for expression in &expressions {
        let expression = expression.as_str().expect("an expression");
        assert!(balanced(expression), "{expression}");
        used.extend(words(expression).filter(|word| word.starts_with("ambit_")).map(str::to_owned));
    }
    let unknown: Vec<_> = used.difference(&series).collect();
    assert!(unknown.is_empty(), "{unknown:?} are not among {series:#?}");
    assert!(used.len() > 20, "{used:?}");
    Ok(())
}

#[test]
fn ports_and_addresses_agree_among_the_files() {
    let services = services();
    let nats: BTreeSet<String> =
        services.keys().filter(|name| name.starts_with("nats-")).cloned().collect();
    assert_eq!(nats.len(), 3);
    let all = program_starts();
    let start =
        |name: &str| all.iter().find(|it| it.place == format!("compose: {name}")).expect(name);
    let mut worlds = BTreeSet::new();
    for (name, service) in &services {
        let Some(program) =
            service["image"].as_str().and_then(own_image).filter(|name| name.ends_with("-server"))
        else {
            continue;
        };
        let start = start(name);
        let ports = published(service);
        let outside = ports
            .get(&start.port("--listen"))
            .unwrap_or_else(|| panic!("{name} listens at a port that is not published"));
        assert_eq!(
            *outside,
            start.port("--advertise"),
            "{name} advertises another port than the published one"
        );
        if program == "world-server" {
            assert!(ports.contains_key(&start.port("--http")), "{name}: HTTP");
            let peers = start.value("--peer-address").expect("--peer-address");
            assert_eq!(peers, format!("{name}:{}", start.port("--peer-listen")));
            assert!(!ports.contains_key(&start.port("--peer-listen")), "{name}");
            worlds.insert(peers);
            check_nats(start, &nats, "");
        }
    }
    for host in ["host-1", "host-2"] {
        let given: BTreeSet<String> =
            start(host).value("--world").expect("--world").split(',').map(str::to_owned).collect();
        assert_eq!(given, worlds, "{host}");
    }
    let targets =
        &yaml("prometheus/prometheus.yml")[0]["scrape_configs"][0]["static_configs"][0]["targets"];
    for target in targets.as_array().expect("targets") {
        let (name, port) = target.as_str().expect("text").split_once(':').expect("a port");
        assert_eq!(port.parse(), Ok(start(name).port("--http")), "{name}");
        assert_eq!(start(name).value("--http-host").as_deref(), Some(name));
    }
    let source =
        &yaml("grafana/provisioning/datasources/prometheus.yaml")[0]["datasources"][0]["url"];
    assert_eq!(
        published(&services["prometheus"]).keys().copied().next(),
        port_of(source.as_str().expect("a URL"))
    );
}

#[test]
fn in_kubernetes_only_world_servers_reach_nats() {
    let policies = yaml("kubernetes/network-policy.yaml");
    let policy = |name: &str| {
        let found = policies.iter().find(|it| it["metadata"]["name"] == name);
        found.expect(name)["spec"].clone()
    };
    let pods = |file: &str, name: &str| {
        let all = yaml(file);
        let is_set = |it: &&Value| it["kind"] == "StatefulSet" && it["metadata"]["name"] == name;
        all.iter().find(is_set).expect(name)["spec"]["template"].clone()
    };
    let ports = |pod: &Value| -> BTreeSet<String> {
        let ports = pod["spec"]["containers"][0]["ports"].as_array().cloned();
        let names = ports.expect("ports").into_iter().map(|port| port["name"].clone());
        names.map(|name| name.as_str().expect("a name").to_owned()).collect()
    };
    for (file, name) in [("nats.yaml", "nats"), ("world-server.yaml", "world")] {
        let policy = policy(name);
        let pod = pods(&format!("kubernetes/{file}"), name);
        assert_eq!(policy["podSelector"]["matchLabels"], pod["metadata"]["labels"], "{name}");
        for rule in policy["ingress"].as_array().expect("rules") {
            let port = rule["ports"][0]["port"].as_str().expect("a port");
            assert!(ports(&pod).contains(port), "{name} has no port {port}");
            let from: Vec<&str> = rule["from"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|from| from["podSelector"]["matchLabels"]["app"].as_str())
                .collect();
            let expected: &[&str] = match port {
                "client" => &["world"],
                "cluster" => &["nats"],
                "peers" => &["host", "world"],
                "quic" | "http" => &[],
                _ => panic!("{port}"),
            };
            assert_eq!(from, expected, "{port}");
            assert_eq!(rule["from"].is_null(), port == "quic", "{port}");
        }
    }
}

#[test]
fn nothing_runs_as_root_and_everything_has_time_to_end() {
    for (name, stage) in
        stages().into_iter().filter(|(name, _)| !name.is_empty() && name != "build")
    {
        let user = stage
            .iter()
            .rfind(|(word, _)| word == "USER")
            .unwrap_or_else(|| panic!("{name} runs as root"));
        assert!(
            user.1.split(':').all(|id| id.parse::<u32>().is_ok_and(|id| id != 0)),
            "{name}: {user:?}"
        );
    }
    for (name, service) in services() {
        let own = service["image"].as_str().and_then(own_image).is_some();
        let user =
            service["user"].as_str().and_then(|user| user.split(':').next()?.parse::<u32>().ok());
        assert!(own || user.is_some_and(|user| user != 0), "compose: {name} runs as root");
        assert_eq!(service["cap_drop"][0], "ALL", "compose: {name}");
        if let Some(program) =
            service["image"].as_str().and_then(own_image).filter(|name| name.ends_with("-server"))
        {
            let grace = service["stop_grace_period"]
                .as_str()
                .and_then(|time| time.strip_suffix('s')?.parse::<u64>().ok());
            assert!(
                grace.is_some_and(|grace| grace > SHUTDOWN_LIMIT_S),
                "compose: {name}, {program}: {grace:?}"
            );
        }
    }
    for (name, _, pod) in pods() {
        let context = &pod["securityContext"];
        assert!(
            context["runAsNonRoot"] == true
                && context["runAsUser"].as_u64().is_some_and(|user| user != 0),
            "{name}"
        );
        assert!(
            pod["terminationGracePeriodSeconds"]
                .as_u64()
                .is_some_and(|grace| grace > SHUTDOWN_LIMIT_S),
            "{name}"
        );
        for container in pod["containers"].as_array().expect("containers") {
            let context = &container["securityContext"];
            assert!(
                context["allowPrivilegeEscalation"] == false
                    && context["capabilities"]["drop"][0] == "ALL",
                "{name}"
            );
        }
    }
    for name in files().into_iter().filter(|name| name.ends_with(".service")) {
        assert_eq!(unit_value(&name, "DynamicUser"), "yes");
        // The watcher of a host outlives it for a moment; children of a WorldServer do not.
        let mode = if name.ends_with("game-server.service") { "process" } else { "mixed" };
        assert_eq!(
            (unit_value(&name, "KillSignal"), unit_value(&name, "KillMode")),
            ("SIGTERM".into(), mode.into())
        );
        assert!(
            unit_value(&name, "TimeoutStopSec")
                .parse::<u64>()
                .is_ok_and(|grace| grace > SHUTDOWN_LIMIT_S),
            "{name}"
        );
    }
}

#[test]
fn the_dockerfile_copies_and_builds_what_exists() {
    let manifest =
        fs::read_to_string(root().join("Cargo.toml")).expect("the manifest of the workspace");
    let stages = stages();
    let copied: BTreeSet<&str> = stages["build"]
        .iter()
        .filter(|(word, _)| word == "COPY")
        .flat_map(|(_, rest)| rest.split_whitespace().rev().skip(1).collect::<Vec<_>>())
        .collect();
    let ignored = read("Dockerfile.dockerignore");
    for source in &copied {
        assert!(root().join(source).exists(), "COPY {source}");
        assert!(
            ignored.lines().any(|line| line == format!("!{source}")),
            "{source} is left out by the .dockerignore"
        );
    }
    let (_, members) = manifest.split_once("\nmembers = [").expect("members");
    let (members, _) = members.split_once(']').expect("a list");
    for member in members.split('"').skip(1).step_by(2).chain(["Cargo.toml", "Cargo.lock"]) {
        let (folder, _) = member.split_once('/').unwrap_or((member, ""));
        assert!(copied.contains(folder), "{member} is not copied");
    }
    let rust = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "))
        .expect("a version")
        .trim_matches('"');
    assert!(
        read("Dockerfile").contains(&format!("rust:{rust}.")),
        "the build's Rust is not {rust}"
    );
    let build = &stages["build"].iter().find(|(word, _)| word == "RUN").expect("a build").1;
    assert!(build.contains("--locked"), "{build}");
    for program in ["world-server", "game-server"] {
        let path = format!("/usr/local/bin/{program}");
        assert!(
            build.contains(&format!("target/dist/{program} ")) && binary(program).exists(),
            "{program}"
        );
        let copy = format!("--from=build /out/bin/{program} {path}");
        assert!(stages[program].contains(&("COPY".into(), copy)), "{program} is not in its image");
        assert!(
            stages[program].contains(&("ENTRYPOINT".into(), format!("[\"{path}\"]"))),
            "{program} is not started"
        );
        let exposed = &stages[program].iter().find(|(word, _)| word == "EXPOSE").expect("EXPOSE").1;
        let listen = port_of(&image_variables(program)["AMBIT_LISTEN"]).expect("a port");
        assert!(exposed.contains(&format!("{listen}/udp")), "{program}: {exposed}");
    }
    for (name, service) in services() {
        let Some(stage) = service["image"].as_str().and_then(own_image) else {
            continue;
        };
        assert_eq!(service["build"]["target"], stage, "compose: {name}");
    }
}

#[test]
fn generated_secrets_are_the_ones_used_and_the_server_accepts_them() -> Result<()> {
    let scratch = ScratchFolder::new("secrets");
    let folder = scratch.path().join("secrets");
    let make = || real::run(Command::new(root().join("deploy/make-secrets")).arg(&folder));
    make()?;
    let read = |name: &str| fs::read_to_string(folder.join(name));
    let text = read("host.env")?;
    make()?;
    assert_eq!(read("host.env")?, text, "existing files are kept");
    let made: BTreeSet<String> = fs::read_dir(&folder)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let compose = yaml("compose/compose.yaml").remove(0);
    let used = compose["secrets"]
        .as_object()
        .expect("secrets")
        .values()
        .filter_map(|secret| secret["file"].as_str());
    for file in used {
        assert!(
            made.contains(file.trim_start_matches("../secrets/")),
            "{file} is not among {made:?}"
        );
    }
    for start in program_starts().iter().filter(|start| start.place.starts_with("kubernetes/world"))
    {
        for flag in ["--cert", "--key", "--nats-ca", "--nats-credentials"] {
            let file = start.value(flag).expect(flag);
            assert!(
                made.contains(file.trim_start_matches("/secrets/")),
                "{flag} {file} is not among {made:?}"
            );
        }
    }
    for name in ["world.env", "host.env"] {
        let names: Vec<String> = variables(name, &read(name)?).into_keys().collect();
        assert_eq!(names, load::example_secrets(name).into_keys().collect::<Vec<_>>(), "{name}");
    }
    let variables = variables("host.env", &text);
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let arguments = ["--cert", &path("cert.pem"), "--key", &path("key.pem")];
    let server = Server::start_with(
        &scratch,
        &arguments,
        &[("AMBIT_HOST_KEY", &variables["AMBIT_HOST_KEY"])],
    )?;
    let shown = format!("certificate=sha256:{}", variables["AMBIT_WORLD_CERT"]);
    assert!(server.ready.contains(&shown), "{} instead of {shown}", server.ready);
    drop(server);
    // NATS takes its part of them. One node alone is no cluster.
    let conf = read("nats.conf")?.replace("/secrets/", &path(""));
    let conf = conf.split("\ncluster {").next().unwrap_or_default();
    let conf_path = scratch.path().join("nats.conf");
    fs::write(&conf_path, conf)?;
    let nats = SecuredNats::start(&scratch, &["-c", &conf_path.to_string_lossy()])?;
    let arguments = [
        ["--hosts", "cluster"],
        ["--nats", &nats.url.replace("127.0.0.1", "localhost")],
        ["--nats-ca", &path("nats-ca.pem")],
        ["--nats-credentials", &path("nats-credentials")],
    ];
    let key = ("AMBIT_HOST_KEY", variables["AMBIT_HOST_KEY"].as_str());
    Server::start_with(&scratch, &arguments.concat(), &[key])?;
    Ok(())
}

/// The words of a program's help, which include flags and variables.
fn help(program: &str) -> Result<BTreeSet<String>> {
    let text = String::from_utf8(real::run(Command::new(binary(program)).arg("--help"))?.stdout)?;
    let letters = |letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_';
    Ok(text.split(letters).map(str::to_owned).collect())
}

/// Checks that a program gets all NATS nodes with the right port.
fn check_nats(start: &ProgramStart, nodes: &BTreeSet<String>, domain: &str) {
    let urls = start.value("--nats").expect("--nats");
    let given: BTreeSet<String> = urls.split(',').map(str::to_owned).collect();
    let expected: BTreeSet<String> =
        nodes.iter().map(|node| format!("nats://{node}{domain}:4222")).collect();
    assert_eq!(given, expected, "{}", start.place);
    assert!(!start.variables.contains_key(&variable("--nats")));
}

/// Published ports of a service in the compose file, by the port inside.
fn published(service: &Value) -> BTreeMap<u64, u64> {
    let ports = service["ports"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let pair = |port: &str| {
        let port = port.trim_end_matches("/udp");
        let (outside, inside) = port.rsplit_once(':')?;
        Some((inside.parse().ok()?, outside.rsplit(':').next()?.parse().ok()?))
    };
    ports.map(|port| pair(port).unwrap_or_else(|| panic!("{port}"))).collect()
}

/// A container's port by its name or number.
fn port_named(container: &Value, port: &Value) -> Option<u64> {
    let ports = container["ports"].as_array()?.iter();
    port.as_u64()
        .or_else(|| ports.clone().find(|it| it["name"] == *port)?["containerPort"].as_u64())
}

fn words(expression: &str) -> impl Iterator<Item = &str> {
    expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}

fn balanced(expression: &str) -> bool {
    let count = |letter| expression.matches(letter).count();
    [('(', ')'), ('{', '}'), ('[', ']')].iter().all(|(open, close)| count(*open) == count(*close))
        && count('"') % 2 == 0
}
