//! What a game shows besides objects in sight comes through the C interface, too: rows with their
//! values, looks, and what is announced to all.

use ambit_client_ffi::{
    AMBIT_COMPONENT, AMBIT_CONTROL, AMBIT_KIND, AMBIT_OWN, AMBIT_RULES, AMBIT_SCHEMA,
};
use ambit_tests::real::{ScratchFolder, Server, wait_until};
use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::c_client::CClient;

const ROOM: &str = r#"{"create_room": {"name": "a", "game": "shooter",
    "parameters": {"ships": 0, "goal": 7, "size": "150x150"}}}"#;

#[test]
fn rows_looks_and_announcements_come_through_the_c_interface() -> Result<()> {
    let scratch = ScratchFolder::new("engine-rows");
    let server = Server::start(&scratch, &[])?;
    let known_hosts = scratch.path().join("known_hosts").display().to_string();
    let settings = r#"{"name": "ann"}"#;
    let client = CClient::start(&server.world.to_string(), &known_hosts, 0, settings)?;
    wait_until("the own row", || {
        client.enter(ROOM)?;
        let rows = client.rows()?;
        Ok(rows.iter().any(|(row, _)| row.flags & AMBIT_OWN != 0).then_some(()))
    })?;

    let schema = client.describe(AMBIT_SCHEMA)?;
    let kind = |name: &str| client.find(AMBIT_KIND, 0, name);
    let [ship, score, played] = [kind("ship")?, kind("score")?, kind("match")?];
    let component = |kind: u32, name: &str| {
        client.find(AMBIT_COMPONENT, kind, name).map(|index| index as usize)
    };
    assert_eq!(schema["kinds"][ship as usize]["look"]["shape"], "arrow");
    assert_eq!(client.describe(AMBIT_RULES)?["width"], json!(150.0));

    let rows = client.rows()?;
    let of_kind = |kind: u32| rows.iter().find(|(row, _)| row.kind == kind).context("a row");
    let (own, values) = of_kind(score)?;
    assert_eq!(
        (own.flags & AMBIT_OWN, values[component(score, "points")?].value),
        (AMBIT_OWN, 0.0)
    );
    assert_eq!(client.text(values[component(score, "name")?])?, "ann");
    let (_, values) = of_kind(played)?;
    assert_eq!(values[component(played, "goal")?].value, 7.0);
    let time_left = values[component(played, "time_left")?];
    // It stands until there is a second ship.
    assert_eq!((time_left.rate, time_left.max), (0.0, 3_600.0));
    assert!(time_left.value > 0.0, "{time_left:?}");

    // One ship alone waits for another one, which all players are told.
    client.hold(1 << client.find(AMBIT_CONTROL, 0, "fire")?)?;
    let told: Value = wait_until("an announcement", || {
        let events = client.enter(ROOM)?;
        Ok(events.into_iter().find(|event| event["name"] == "round_waits"))
    })?;
    assert!(told["what"].as_str().is_some_and(|what| !what.is_empty()), "{told}");
    client.close()
}
