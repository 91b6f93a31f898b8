//! Checks that ports, addresses and names agree among the Kubernetes manifests.

use std::collections::BTreeSet;

use serde_json::Value;

use super::load::{ProgramStart, files, program_starts, yaml};
use super::{check_nats, port_named};

#[test]
fn manifests_open_the_ports_at_which_world_servers_listen() {
    let manifests = Manifests::read();
    let world = program("kubernetes/world-server.yaml");
    let container = manifests.world_container();
    assert_eq!(port_named(container, &"quic".into()), Some(world.port("--listen")));
    assert_eq!(port_named(container, &"peers".into()), Some(world.port("--peer-listen")));
    assert_eq!(port_named(container, &"http".into()), Some(world.port("--http")));
    // Each server has its own address. With a common address, each would take the other for a
    // restart of itself.
    assert!(container["args"].to_string().contains("\"--peer-address=$(POD_IP):"), "{container}");
}

#[test]
fn services_lead_to_ports_of_the_world_servers() {
    let manifests = Manifests::read();
    let balancer = manifests
        .of_kind("Service")
        .find(|service| service["spec"]["type"] == "LoadBalancer")
        .expect("a load balancer for players");
    assert_eq!(
        balancer["spec"]["ports"][0]["port"].as_u64(),
        Some(program("kubernetes/world-server.yaml").port("--advertise"))
    );
    let others =
        manifests.of_kind("Service").filter(|service| service["metadata"]["name"] != "nats");
    for service in others {
        for port in service["spec"]["ports"].as_array().expect("ports") {
            assert_eq!(
                port["port"].as_u64(),
                port_named(manifests.world_container(), &port["targetPort"]),
                "{}",
                service["metadata"]["name"]
            );
        }
    }
}

#[test]
fn world_servers_get_the_addresses_of_all_nats_nodes() {
    let manifests = Manifests::read();
    let nodes = manifests.set("nats")["spec"]["replicas"].as_u64();
    let nodes = (0..nodes.expect("a number")).map(|node| format!("nats-{node}")).collect();
    check_nats(&program("kubernetes/world-server.yaml"), &nodes, ".nats");
}

#[test]
fn hosts_get_the_names_of_all_world_servers() {
    let manifests = Manifests::read();
    let set = manifests.set("world");
    // Pods of WorldServers have DNS names even before they are ready, and hosts get all of these
    // names.
    let names = manifests
        .of_kind("Service")
        .find(|service| service["metadata"]["name"] == set["spec"]["serviceName"]);
    let names = names.expect("the service of the set");
    assert!(
        names["spec"]["clusterIP"] == "None" && names["spec"]["publishNotReadyAddresses"] == true,
        "{names}"
    );
    let domain = names["metadata"]["name"].as_str().expect("a name");
    let port = program("kubernetes/world-server.yaml").port("--peer-listen");
    let worlds: Vec<String> = (0..set["spec"]["replicas"].as_u64().expect("a number"))
        .map(|index| format!("world-{index}.{domain}:{port}"))
        .collect();
    assert_eq!(program("kubernetes/fleet.yaml").value("--world"), Some(worlds.join(",")));
}

#[test]
fn the_fleet_agrees_with_the_options_and_counters_of_its_hosts() {
    let manifests = Manifests::read();
    let host = program("kubernetes/fleet.yaml");
    let fleet = manifests.of_kind("Fleet").next().expect("a Fleet");
    let pod = &fleet["spec"]["template"]["spec"];
    assert_eq!(pod["ports"][0]["containerPort"].as_u64(), Some(host.port("--listen")));
    assert!(
        host.arguments.contains(&"--agones".to_owned()) && host.value("--advertise").is_none(),
        "{host:?}"
    );
    let counters: Vec<_> =
        pod["counters"].as_object().expect("counters").keys().map(String::as_str).collect();
    assert_eq!(
        counters,
        ["players", "rooms"],
        "the counters that hosts report: game-server/host/src/agones/report.rs"
    );
    assert_eq!(
        pod["counters"]["rooms"]["capacity"].to_string(),
        host.value("--capacity").expect("--capacity")
    );
    let scaler = manifests.of_kind("FleetAutoscaler").next().expect("an autoscaler");
    assert_eq!(scaler["spec"]["fleetName"], fleet["metadata"]["name"]);
    for key in [&scaler["spec"]["policy"]["counter"]["key"], &fleet["spec"]["priorities"][0]["key"]]
    {
        assert!(counters.contains(&key.as_str().expect("a key")), "{key}");
    }
}

#[test]
fn the_kustomization_lists_all_manifests() {
    let list = yaml("kubernetes/kustomization.yaml").remove(0)["resources"].clone();
    let listed: BTreeSet<_> = list
        .as_array()
        .expect("resources")
        .iter()
        .map(|it| format!("kubernetes/{}", it.as_str().unwrap_or("")))
        .collect();
    let there: BTreeSet<_> =
        manifest_files().filter(|name| !name.ends_with("kustomization.yaml")).collect();
    assert_eq!(listed, there);
}

/// The documents of all manifests.
struct Manifests(Vec<Value>);

impl Manifests {
    fn read() -> Self {
        Self(manifest_files().flat_map(|name| yaml(&name)).collect())
    }

    fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |document| document["kind"] == kind)
    }

    /// The `StatefulSet` with this name.
    fn set(&self, name: &str) -> &Value {
        self.of_kind("StatefulSet")
            .find(|set| set["metadata"]["name"] == name)
            .unwrap_or_else(|| panic!("there is no set {name}"))
    }

    fn world_container(&self) -> &Value {
        &self.set("world")["spec"]["template"]["spec"]["containers"][0]
    }
}

fn manifest_files() -> impl Iterator<Item = String> {
    files().into_iter().filter(|name| name.starts_with("kubernetes/"))
}

/// How a manifest starts its program.
fn program(manifest: &str) -> ProgramStart {
    program_starts().into_iter().find(|start| start.place.starts_with(manifest)).expect(manifest)
}
