//! The directory outlives its brokers, also if one comes back without what it had.

use std::net::SocketAddr;

use ambit_proto::control::world::{
    CreateRoom, Welcome, client_to_world as ask, world_to_client as answer,
};
use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{Cluster, ScratchFolder};
use ambit_transport::quic::ALPN_WORLD;
use anyhow::{Context, Result, bail};

const NODES: usize = 3;
const VISITORS: usize = 40;

#[test]
fn a_directory_whose_brokers_all_died_in_turn_still_has_all_records() -> Result<()> {
    let scratch = ScratchFolder::new("brokers");
    let mut cluster = Cluster::start(&scratch)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let leader = cluster.leader().world;
    let ann = runtime.block_on(Ann::in_a_room(leader))?;
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
        cluster.nats.wait_for_records(node, records)?;
    }
    cluster.kill_leader()?;
    cluster.wait_for_new_leader()?;
    runtime.block_on(ann.finds_her_room_at(cluster.leader().world))
}

#[test]
fn a_follower_has_what_brokers_lose_together_with_the_leader() -> Result<()> {
    let scratch = ScratchFolder::new("brokers-lose");
    let mut cluster = Cluster::start(&scratch)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let ann = runtime.block_on(Ann::in_a_room(cluster.leader().world))?;
    cluster.nats.wait_for_follower()?;
    cluster.kill_leader()?;
    for subjects in ["ambit.directory.player.>", "ambit.directory.room.>"] {
        runtime.block_on(cluster.nats.delete_records(subjects))?;
    }
    cluster.wait_for_new_leader()?;
    runtime.block_on(ann.finds_her_room_at(cluster.leader().world))
}

#[test]
fn a_follower_outlives_the_leader_and_the_whole_directory() -> Result<()> {
    let scratch = ScratchFolder::new("brokers-wiped");
    let mut cluster = Cluster::start(&scratch)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let ann = runtime.block_on(Ann::in_a_room(cluster.leader().world))?;
    cluster.nats.wait_for_follower()?;
    (0..NODES).try_for_each(|node| cluster.nats.kill(node))?;
    cluster.kill_leader()?;
    (0..NODES).try_for_each(|node| cluster.nats.wipe(node))?;
    (0..NODES).try_for_each(|node| cluster.nats.start_node(node))?;
    cluster.wait_for_new_leader()?;
    // It has written again what it knows: also the record of ids, two hosts, ann and her room.
    (0..NODES).try_for_each(|node| cluster.nats.wait_for_records(node, 6))?;
    runtime.block_on(ann.finds_her_room_at(cluster.leader().world))
}

/// A player who has made a room.
struct Ann {
    welcome: Welcome,
    _client: RawClient,
}

impl Ann {
    async fn in_a_room(server: SocketAddr) -> Result<Self> {
        let mut client = RawClient::connect(server, ALPN_WORLD).await?;
        let answer::Body::Welcome(welcome) = client.hello("ann").await? else {
            bail!("expected a welcome")
        };
        let create =
            CreateRoom { name: "den".into(), game: "field".into(), ..CreateRoom::default() };
        client.request_answer(ask::Body::CreateRoom(create)).await?;
        Ok(Self { welcome, _client: client })
    }

    /// Resumes the session there.
    async fn finds_her_room_at(self, server: SocketAddr) -> Result<()> {
        let mut client = RawClient::connect(server, ALPN_WORLD).await?;
        let token = self.welcome.resume_token.clone();
        let answer::Body::Welcome(back) = client.resume("ann", token).await? else {
            bail!("expected a welcome")
        };
        assert_eq!((back.player, back.resumed), (self.welcome.player, true));
        back.room.context("ann is in her room")?;
        Ok(())
    }
}
