//! The directory outlives its brokers, also if one comes back without what it had.

use std::time::Duration;

use ambit_proto::control::world::{CreateRoom, client_to_world as ask, world_to_client as answer};
use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{Cluster, ScratchFolder, WAIT_LIMIT};
use ambit_transport::quic::ALPN_WORLD;
use anyhow::{Context, Result, bail, ensure};

/// Interval of polling, and how often within the limit.
const POLL: Duration = Duration::from_millis(50);
const POLLS: u128 = WAIT_LIMIT.as_millis() / POLL.as_millis();
const NODES: usize = 3;
const VISITORS: usize = 40;

#[test]
fn a_directory_whose_brokers_all_died_in_turn_still_has_all_records() -> Result<()> {
    let scratch = ScratchFolder::new("brokers");
    let mut cluster = Cluster::start(&scratch)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let leader = cluster.leader().world;
    let (ann, welcome) = runtime.block_on(async {
        let mut ann = RawClient::connect(leader, ALPN_WORLD).await?;
        let answer::Body::Welcome(welcome) = ann.hello("ann").await? else {
            bail!("expected a welcome")
        };
        let create = CreateRoom {
            name: "den".into(),
            game: "field".into(),
            ..CreateRoom::default()
        };
        ann.request_answer(ask::Body::CreateRoom(create)).await?;
        Ok((ann, welcome))
    })?;
    // The leader's record, that of ids, two hosts, ann and her room.
    let records = 6;
    for node in 0..NODES {
        cluster.nats.kill(node)?;
        // Many records come and go, so that there are gaps between those that stay.
        runtime.block_on(async {
            for _ in 0..VISITORS {
                let mut visitor = RawClient::connect(leader, ALPN_WORLD).await?;
                visitor.hello("visitor").await?;
                visitor.connection.close(0_u8.into(), b"");
            }
            Ok::<_, anyhow::Error>(())
        })?;
        cluster.nats.start_node(node)?;
        let mut polls = 0;
        while cluster.nats.subjects(node).unwrap_or(0) < records {
            polls += 1;
            ensure!(
                polls < POLLS,
                "the copy of node {node} has {:?} of {records} records",
                cluster.nats.subjects(node)
            );
            std::thread::sleep(POLL);
        }
    }
    cluster.kill_leader()?;
    cluster.wait_for_new_leader()?;
    drop(ann);
    let server = cluster.leader().world;
    let back = runtime.block_on(async {
        let mut ann = RawClient::connect(server, ALPN_WORLD).await?;
        ann.resume("ann", welcome.resume_token.clone()).await
    })?;
    let answer::Body::Welcome(back) = back else {
        bail!("expected a welcome")
    };
    assert_eq!((back.player, back.resumed), (welcome.player, true));
    back.room.context("ann is in her room")?;
    Ok(())
}
