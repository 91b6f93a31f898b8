//! Through the C interface: one handle goes on through gates and lost hosts, and what is the same
//! after them as before causes no event.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_client_ffi::{AMBIT_CALLER_DRIVEN, AMBIT_OBJECT_EVENTS};
use ambit_tests::real::relay::Relay;
use ambit_tests::real::{ScratchFolder, Server, outage, wait_until};
use anyhow::{Context, Result};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::c_client::{CClient, Shown};
use super::kill_host;

const TWO_MAPS: &str = r#"{"create_room": {"name": "twins", "game": "field",
    "parameters": {"maps": 2, "size": "30x30", "obstacles": 0, "npcs": 0, "wolves": 0}}}"#;
const QUIET_ROOM: &str = r#"{"create_room": {"name": "quiet", "game": "field",
    "parameters": {"size": "30x30", "obstacles": 0, "npcs": 0, "wolves": 0}}}"#;
/// How long nothing is to be told.
const QUIET: Duration = Duration::from_secs(3);
/// How long a line is dark that is not lost.
const DARK: Duration = Duration::from_secs(2);
/// After this, QUIC has given up all connections.
const LOST: Duration = Duration::from_secs(13);
/// A gate leads to here or farther from it on the other map.
const NEAR_M: f32 = 3.0;

#[test]
fn one_handle_goes_through_a_gate_to_another_host_and_back() -> Result<()> {
    let scratch = ScratchFolder::new("engine-gate");
    let server = Server::start(&scratch, &["--hosts", "process:2", "--placement", "zones"])?;
    let known_hosts = scratch.path().join("known_hosts").display().to_string();
    for flags in [0, AMBIT_CALLER_DRIVEN] {
        let client = CClient::start(&server.world.to_string(), &known_hosts, flags, "")?;
        let mut events = Vec::new();
        let own = wait_until("the own avatar", || {
            events.extend(client.enter(TWO_MAPS)?);
            client.own()
        })?;
        let room = client.room()?;
        // The gates are in the middle of the borders.
        cross(&client, &mut events, "[[29.5, 15]]", [5.0, 15.0])?;
        cross(&client, &mut events, "[[0.5, 15]]", [25.0, 15.0])?;

        assert_eq!(client.room()?, room, "one world");
        assert_ne!(client.own()?.context("the own avatar")?.id, own.id, "no id is used again");
        let started: Vec<&Value> = events.iter().filter(|event| event["ev"] == "started").collect();
        let maps: Vec<_> = started.iter().filter_map(|event| event["map"].as_u64()).collect();
        assert_eq!(maps, [0, 1, 0], "{started:?}");
        assert_ne!(started[0]["address"], started[1]["address"], "each map has its own host");
        assert_eq!(count(&events, "welcome"), 1, "the lobby stays connected");
        for end in ["ended", "left", "closed", "interrupted", "error"] {
            assert_eq!(count(&events, end), 0, "{end}: {events:?}");
        }
        client.close()?;
    }
    Ok(())
}

/// Walks into a gate, until the own avatar stands behind it.
fn cross(client: &CClient, events: &mut Vec<Value>, gate: &str, behind: [f32; 2]) -> Result<()> {
    let before = count(events, "started");
    client.send("move", gate)?;
    wait_until("the other map", || {
        events.extend(client.enter(TWO_MAPS)?);
        let own = client.own()?.filter(|_| count(events, "started") > before);
        Ok(own.filter(|own| {
            let [x, y, _] = own.position;
            (x - behind[0]).hypot(y - behind[1]) < NEAR_M
        }))
    })?;
    Ok(())
}

#[test]
fn what_is_unchanged_after_a_dark_line_causes_no_event() -> Result<()> {
    let scratch = ScratchFolder::new("engine-dark");
    let runtime = Runtime::new()?;
    let relay = Relay::start(&runtime)?;
    let server = Server::start(&scratch, &["--advertise", &relay.address.to_string()])?;
    relay.lead_to(server.world);
    let client = Watched::start(&scratch, &relay.address.to_string())?;
    relay.darken_for_all(true);
    outage(DARK);
    relay.darken_for_all(false);
    outage(DARK);
    // Of the line alone.
    let told = client.events()?;
    let is_of_line = |event: &Value| event["ev"] == "silent" || event["ev"] == "heard";
    assert!(told.iter().all(is_of_line), "{told:?}");
    client.check_quiet()?;
    client.client.close()
}

#[test]
fn what_is_unchanged_after_a_line_was_given_up_comes_back_once() -> Result<()> {
    let scratch = ScratchFolder::new("engine-lost");
    let runtime = Runtime::new()?;
    let relay = Relay::start(&runtime)?;
    let server = Server::start(&scratch, &["--advertise", &relay.address.to_string()])?;
    relay.lead_to(server.world);
    let client = Watched::start(&scratch, &relay.address.to_string())?;
    relay.darken_for_all(true);
    outage(LOST);
    assert!(client.client.frame()?.time_us < 0, "the game is given up");
    relay.darken_for_all(false);
    client.check_return()
}

#[test]
fn what_is_unchanged_after_a_host_s_death_causes_no_event() -> Result<()> {
    let scratch = ScratchFolder::new("engine-death");
    let server = Server::start(&scratch, &["--hosts", "process:1"])?;
    let client = Watched::start(&scratch, &server.world.to_string())?;
    server.wait_for_checkpoints()?;
    kill_host(&server, Duration::ZERO)?;
    client.check_return()
}

/// A client in a room in which nothing happens, that is told of all objects.
struct Watched {
    client: CClient,
    /// The objects in sight, and what is room-wide.
    objects: Vec<Shown>,
}

impl Watched {
    /// Enters, and checks that then nothing is told.
    fn start(scratch: &ScratchFolder, server: &str) -> Result<Self> {
        let known_hosts = scratch.path().join("known_hosts").display().to_string();
        let client = CClient::start(server, &known_hosts, AMBIT_OBJECT_EVENTS, "")?;
        wait_until("the own avatar", || {
            client.enter(QUIET_ROOM)?;
            client.own()
        })?;
        // What comes after the avatar: the map, the other rows.
        outage(QUIET);
        client.enter(QUIET_ROOM)?;
        let objects = shown(&client)?;
        let watched = Watched { client, objects };
        watched.check_quiet()?;
        Ok(watched)
    }

    fn events(&self) -> Result<Vec<Value>> {
        std::iter::from_fn(|| self.client.next_event().transpose()).collect()
    }

    /// No event comes, and no object comes or goes.
    fn check_quiet(&self) -> Result<()> {
        let frame = self.client.frame()?;
        assert!(frame.object_count > 0);
        outage(QUIET);
        assert_eq!(self.events()?, Vec::<Value>::new(), "nothing has changed");
        let frame = self.client.frame()?;
        assert_eq!((frame.came_count, frame.went_count), (0, 0));
        assert_eq!(shown(&self.client)?, self.objects);
        Ok(())
    }

    /// After a break each object has gone and come once, with a new id: nothing else is told of
    /// any, during the return and after it.
    fn check_return(self) -> Result<()> {
        let mut events = Vec::new();
        let all = self.objects.len();
        wait_until("all objects", || {
            events.extend(self.events()?);
            let is_whole = count(&events, "started") == 1 && count(&events, "enter") == all;
            Ok((is_whole && self.client.own()?.is_some()).then_some(()))
        })?;
        outage(QUIET);
        events.extend(self.events()?);
        assert_eq!(shown(&self.client)?, self.objects);
        let ids = |what: &str| -> BTreeSet<u64> {
            let of_kind = events.iter().filter(|event| event["ev"] == what);
            of_kind.filter_map(|event| event["id"].as_u64()).collect()
        };
        let [went, came] = ["leave", "enter"].map(ids);
        assert_eq!((went.len(), came.len()), (all, all), "{events:?}");
        assert_eq!(went.intersection(&came).count(), 0, "an id is used again");
        for (what, times) in [("leave", all), ("enter", all), ("update", 0), ("left", 0)] {
            assert_eq!(count(&events, what), times, "{what}: {events:?}");
        }
        self.check_quiet()?;
        self.client.close()
    }
}

fn count(events: &[Value], what: &str) -> usize {
    events.iter().filter(|event| event["ev"] == what).count()
}

/// All that a frame has.
fn shown(client: &CClient) -> Result<Vec<Shown>> {
    let mut all = client.objects()?;
    all.sort_by(|one, other| one.partial_cmp(other).expect("numbers"));
    Ok(all)
}
