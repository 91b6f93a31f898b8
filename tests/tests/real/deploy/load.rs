//! Parses the files in `deploy/`: YAML as JSON, systemd units, the Dockerfile; and finds each
//! command line of our programs in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use saphyr::{LoadableYamlNode as _, ScalarOwned, YamlOwned};
use serde_json::{Map, Value};

/// One of our programs, as a file in `deploy/` starts it.
#[derive(Debug)]
pub(crate) struct ProgramStart {
    /// The file and the place in it.
    pub(crate) place: String,
    /// `world-server` or `game-server`.
    pub(crate) program: String,
    /// Its arguments; placeholders are replaced by example values.
    pub(crate) arguments: Vec<String>,
    /// Its `AMBIT_...` variables, those of the image included.
    pub(crate) variables: BTreeMap<String, String>,
}

impl ProgramStart {
    /// The value of a flag, or of the variable with its name.
    pub(crate) fn value(&self, flag: &str) -> Option<String> {
        let next = self.arguments.iter().zip(self.arguments.iter().skip(1));
        let given =
            next.filter(|(argument, _)| *argument == flag).map(|(_, value)| value.clone()).next();
        let with_equals_sign = || {
            self.arguments
                .iter()
                .find_map(|it| it.strip_prefix(&format!("{flag}=")).map(str::to_owned))
        };
        given.or_else(with_equals_sign).or_else(|| self.variables.get(&variable(flag)).cloned())
    }

    /// The port at the end of a flag's address.
    pub(crate) fn port(&self, flag: &str) -> u64 {
        let value = self.value(flag).unwrap_or_else(|| panic!("{}: no {flag}", self.place));
        port_of(&value).unwrap_or_else(|| panic!("{}: {flag} {value} has no port", self.place))
    }
}

pub(crate) fn variable(flag: &str) -> String {
    format!("AMBIT_{}", flag.trim_start_matches('-').replace('-', "_").to_uppercase())
}

/// The number after the last colon.
pub(crate) fn port_of(address: &str) -> Option<u64> {
    address.rsplit_once(':')?.1.parse().ok()
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf()
}

/// Reads a file in `deploy/`.
pub(crate) fn read(name: &str) -> String {
    fs::read_to_string(root().join("deploy").join(name))
        .unwrap_or_else(|error| panic!("deploy/{name}: {error}"))
}

/// All files in `deploy/`, by their paths below it.
pub(crate) fn files() -> Vec<String> {
    let top = root().join("deploy");
    let mut files = Vec::new();
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the project can be read").flatten() {
            let name =
                entry.path().strip_prefix(&top).expect("below it").to_string_lossy().into_owned();
            match entry.path().is_dir() {
                true if name == "secrets" => {}
                true => folders.push(entry.path()),
                false => files.push(name),
            }
        }
    }
    files.sort();
    files
}

/// The documents of a YAML file.
pub(crate) fn yaml(name: &str) -> Vec<Value> {
    let documents = YamlOwned::load_from_str(&read(name))
        .unwrap_or_else(|error| panic!("deploy/{name}: {error}"));
    documents.iter().map(|document| json(name, document)).collect()
}

fn json(name: &str, yaml: &YamlOwned) -> Value {
    match yaml {
        YamlOwned::Value(ScalarOwned::Null) => Value::Null,
        YamlOwned::Value(ScalarOwned::Boolean(value)) => (*value).into(),
        YamlOwned::Value(ScalarOwned::Integer(value)) => (*value).into(),
        YamlOwned::Value(ScalarOwned::FloatingPoint(value)) => value.into_inner().into(),
        YamlOwned::Value(ScalarOwned::String(text)) => text.clone().into(),
        YamlOwned::Sequence(items) => items.iter().map(|item| json(name, item)).collect(),
        YamlOwned::Mapping(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                let key = key
                    .as_str()
                    .unwrap_or_else(|| panic!("deploy/{name}: the key is not text: {key:?}"));
                let value = json(name, value);
                // Explicit keys override merged ones.
                match (key, value) {
                    ("<<", Value::Object(merged)) => {
                        for (key, value) in merged {
                            map.entry(key).or_insert(value);
                        }
                    }
                    (key, value) => drop(map.insert(key.to_owned(), value)),
                }
            }
            map.into()
        }
        other => panic!("deploy/{name}: unsupported YAML: {other:?}"),
    }
}

/// Section, key and value of all lines of a systemd unit; a key may occur more than once.
pub(crate) fn systemd_unit(name: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut entries = Vec::new();
    for line in read(name).lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            title.clone_into(&mut section);
            continue;
        }
        let (key, value) = line
            .split_once('=')
            .unwrap_or_else(|| panic!("deploy/{name}: neither key nor section: {line}"));
        entries.push((section.clone(), key.to_owned(), value.to_owned()));
    }
    entries
}

/// The value of a key that occurs once in a unit.
pub(crate) fn unit_value(name: &str, key: &str) -> String {
    let found: Vec<_> = systemd_unit(name).into_iter().filter(|(_, it, _)| it == key).collect();
    assert_eq!(found.len(), 1, "deploy/{name}: {key}");
    found[0].2.clone()
}

/// The command of a unit; a drop-in first clears the command that it replaces.
pub(crate) fn command_of(name: &str) -> String {
    let commands = systemd_unit(name)
        .into_iter()
        .filter(|(_, key, value)| key == "ExecStart" && !value.is_empty());
    let mut commands: Vec<String> = commands.map(|(_, _, command)| command).collect();
    assert_eq!(commands.len(), 1, "deploy/{name}: ExecStart");
    commands.remove(0)
}

fn environment_files(name: &str) -> Vec<String> {
    systemd_unit(name)
        .into_iter()
        .filter(|(_, key, _)| key == "EnvironmentFile")
        .map(|(_, _, file)| file)
        .collect()
}

/// The variables of an environment file for systemd or containers.
pub(crate) fn variables(name: &str, text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entries = lines
        .map(|line| line.split_once('=').unwrap_or_else(|| panic!("{name}: no variable: {line}")));
    entries.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// The stages of the Dockerfile, each with its instructions: keyword and arguments.
pub(crate) fn stages() -> BTreeMap<String, Vec<(String, String)>> {
    let text = read("Dockerfile").replace("\\\n", " ");
    let mut stages: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut stage = String::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (word, rest) =
            line.split_once(' ').unwrap_or_else(|| panic!("deploy/Dockerfile: {line}"));
        if word == "FROM" {
            let (_, name) = rest
                .rsplit_once(" AS ")
                .unwrap_or_else(|| panic!("a stage without a name: {line}"));
            name.clone_into(&mut stage);
        }
        stages.entry(stage.clone()).or_default().push((word.to_owned(), rest.trim().to_owned()));
    }
    stages
}

/// Variables that an image sets.
pub(crate) fn image_variables(stage: &str) -> BTreeMap<String, String> {
    let stages = stages();
    let stage = stages.get(stage).unwrap_or_else(|| panic!("the Dockerfile has no stage {stage}"));
    let sets = stage
        .iter()
        .filter(|(word, _)| word == "ENV")
        .flat_map(|(_, rest)| rest.split_whitespace());
    sets.filter_map(|set| set.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// The name in `ambit/NAME:TAG`, if the image is one of ours.
pub(crate) fn own_image(image: &str) -> Option<&str> {
    let (name, tag) = image.strip_prefix("ambit/")?.split_once(':')?;
    assert_eq!(tag, env!("CARGO_PKG_VERSION"), "{image}");
    Some(name)
}

/// Pods of the manifests: the file, the object that they belong to, the pod's spec.
pub(crate) fn pods() -> Vec<(String, Value, Value)> {
    let names = files().into_iter().filter(|name| name.starts_with("kubernetes/"));
    let documents = names
        .flat_map(|name| yaml(&name).into_iter().map(move |document| (name.clone(), document)));
    let pod = |(name, document): (String, Value)| {
        let template = &document["spec"]["template"];
        let spec = if document["kind"] == "Fleet" {
            &template["spec"]["template"]["spec"]
        } else {
            &template["spec"]
        };
        spec["containers"].is_array().then(|| (name, document.clone(), spec.clone()))
    };
    documents.filter_map(pod).collect()
}

/// Services of the compose file.
pub(crate) fn services() -> Map<String, Value> {
    yaml("compose/compose.yaml")[0]["services"].as_object().expect("services").clone()
}

/// All command lines of our programs in all the files.
pub(crate) fn program_starts() -> Vec<ProgramStart> {
    let mut starts = Vec::new();
    let own_program = |container: &Value| {
        container["image"]
            .as_str()
            .and_then(own_image)
            .filter(|name| name.ends_with("-server"))
            .map(str::to_owned)
    };
    for (name, service) in services() {
        let Some(program) = own_program(&service) else {
            continue;
        };
        let mut variables = image_variables(&program);
        for file in service["env_file"].as_array().expect("files of variables") {
            variables.extend(example_secrets(
                file.as_str().expect("a name").trim_start_matches("../secrets/"),
            ));
        }
        let place = format!("compose: {name}");
        starts.push(ProgramStart {
            place,
            program,
            arguments: strings_of(&service["command"]),
            variables,
        });
    }
    for (name, document, pod) in pods() {
        for container in pod["containers"].as_array().expect("containers") {
            let Some(program) = own_program(container) else {
                continue;
            };
            let mut variables = image_variables(&program);
            for variable in container["env"].as_array().into_iter().flatten() {
                let key = variable["name"].as_str().expect("a name").to_owned();
                let source = &variable["valueFrom"];
                let value = match source["configMapKeyRef"]["name"].as_str() {
                    Some(map) => config_map_value(map, &key),
                    None => example_secrets("host.env").remove(&key).unwrap_or_default(),
                };
                variables.insert(key, value);
            }
            let place = format!("{name}: {}", document["kind"]);
            starts.push(ProgramStart {
                place,
                program,
                arguments: strings_of(&container["args"]),
                variables,
            });
        }
    }
    for name in files().into_iter().filter(|name| is_unit(name)) {
        let words: Vec<String> = command_of(&name).split_whitespace().map(str::to_owned).collect();
        let program = words[0].rsplit('/').next().expect("a path").to_owned();
        // A drop-in extends the unit.
        let unit = format!("systemd/ambit-{program}.service");
        let mut variables = BTreeMap::new();
        for file in environment_files(&unit).into_iter().chain(environment_files(&name)) {
            let example = format!("systemd/{}.example", file.rsplit('/').next().expect("a path"));
            variables.extend(self::variables(&example, &read(&example)));
        }
        starts.push(ProgramStart {
            place: name,
            program,
            arguments: words[1..].to_vec(),
            variables,
        });
    }
    starts
}

/// Variables that `make-secrets` would write into a file.
pub(crate) fn example_secrets(file: &str) -> BTreeMap<String, String> {
    let key = ("AMBIT_HOST_KEY".to_owned(), "5".repeat(64));
    match file {
        "world.env" => [key].into(),
        "host.env" => [key, ("AMBIT_WORLD_CERT".to_owned(), "c".repeat(64))].into(),
        _ => panic!("make-secrets makes no {file}"),
    }
}

/// Example values for config maps that the README tells the operator to create.
fn config_map_value(map: &str, key: &str) -> String {
    let (readme, command) =
        (read("README.md"), format!("create configmap {map} --from-literal={key}="));
    let (_, rest) = readme
        .split_once(&command)
        .unwrap_or_else(|| panic!("the README does not mention '{command}'"));
    rest.split_whitespace().next().unwrap_or_default().to_owned()
}

fn strings_of(items: &Value) -> Vec<String> {
    let items = items.as_array().expect("a list of arguments");
    items.iter().map(|item| substitute_variables(item.as_str().expect("text"))).collect()
}

/// Replaces placeholders by example values: `${NAME:-default}` of compose, `$(NAME)` of Kubernetes.
fn substitute_variables(text: &str) -> String {
    let mut text = text.to_owned();
    while let Some(start) = text.find("$(").or_else(|| text.find("${")) {
        let end = start
            + text[start..]
                .find([')', '}'])
                .unwrap_or_else(|| panic!("no end of a name in '{text}'"));
        let name = &text[start + 2..end];
        let value = match name.split_once(":-") {
            Some((_, default)) => default,
            None => "192.0.2.1",
        };
        text = format!("{}{value}{}", &text[..start], &text[end + 1..]);
    }
    text
}

/// A systemd unit or drop-in.
fn is_unit(name: &str) -> bool {
    matches!(name.rsplit_once('.'), Some((_, "service" | "conf")))
}
