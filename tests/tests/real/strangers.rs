//! Strangers at the ports for hosts and other servers, and in rooms of others.

use std::net::SocketAddr;

use ambit_proto::control::world::{
    CreateRoom, JoinRoom, client_to_world as ask, world_to_client as answer,
};
use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{Cluster, Console, Host, ScratchFolder, Server};
use ambit_transport::quic::{ALPN_HOST, ALPN_PEER, ALPN_WORLD};
use anyhow::{Result, bail};

#[tokio::test(flavor = "multi_thread")]
async fn a_host_gets_in_while_200_strangers_hold_connections_without_a_proof() -> Result<()> {
    let scratch = ScratchFolder::new("knocking");
    let server = Server::start(&scratch, &["--host-key", Host::KEY])?;
    let address = server.world;
    let knocking = tokio::spawn(async move {
        loop {
            // Some are shed while others still connect.
            let Ok(strangers) = RawClient::connect_silent(address, ALPN_HOST, 200).await else {
                continue;
            };
            for stranger in strangers {
                stranger.closed().await;
            }
        }
    });
    let shed = "ambit_drops_total{queue=\"peer_proofs\",reason=\"shed\"}";
    tokio::task::block_in_place(|| {
        server.wait_for_metrics("a full door", |metrics| metrics[shed] >= 100.0)?;
        let _host = Host::start(&scratch, &server, &[], &[])?;
        server.wait_for_metrics("the host", |metrics| metrics["ambit_hosts"] == 2.0)?;
        // Players are not affected.
        Console::start(&scratch, server.world, "ann", &[])?.quit()
    })?;
    knocking.abort();
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_port_for_peers_the_players_port_accepts_no_hosts() -> Result<()> {
    let scratch = ScratchFolder::new("peer-port");
    let flags = ["--host-key", Host::KEY, "--peer-listen", "127.0.0.1:0"];
    let server = Server::start(&scratch, &flags)?;
    assert_ne!(server.peers, server.world, "{}", server.ready);
    for protocol in [ALPN_HOST, ALPN_PEER] {
        let refused = RawClient::connect(server.world, protocol).await.err();
        assert!(refused.is_some());
    }
    tokio::task::block_in_place(|| {
        let mut lost = Host::start_at(server.world, &scratch, &server, &[], &[])?;
        lost.wait_for_log("--peer-listen")?;
        let _host = Host::start(&scratch, &server, &[], &[])?;
        server.wait_for_metrics("the host", |metrics| metrics["ambit_hosts"] == 2.0)?;
        Console::start(&scratch, server.world, "ann", &[])?.quit()
    })?;
    Ok(())
}

#[test]
fn servers_and_hosts_of_a_cluster_meet_at_their_own_ports() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-peers");
    let cluster = Cluster::start_with(&scratch, &["--peer-listen", "127.0.0.1:0"])?;
    let mut ann = Console::start(&scratch, cluster.leader().world, "ann", &[])?;
    let mut bob = Console::start(&scratch, cluster.follower().world, "bob", &[])?;
    let room = &ann.run_command("create meadow game=field npcs=0", "created")?["room"];
    bob.run_command(&format!("join {room}"), "joined")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_who_comes_and_goes_keeps_nobody_out_of_a_room() -> Result<()> {
    let scratch = ScratchFolder::new("coming-and-going");
    let flags = ["--trusted", "off", "--max-connections-per-address", "8"];
    let server = Server::start(&scratch, &flags)?;
    let at = |address: &str| Ok::<_, anyhow::Error>(quinn::Endpoint::client(address.parse()?)?);

    let mut ann = say_hello(at("127.0.0.2:0")?, server.world, "ann").await?;
    let create = CreateRoom {
        name: "den".into(),
        game: "field".into(),
        capacity: 12,
        ..CreateRoom::default()
    };
    let created = ann.request_answer(ask::Body::CreateRoom(create)).await?.body;
    let Some(answer::Body::RoomCreated(created)) = created else { bail!("{created:?}") };
    let room = created.room.expect("a room").id;
    let join = || ask::Body::JoinRoom(JoinRoom { room, ..JoinRoom::default() });

    let stranger = at("127.0.0.1:0")?;
    let mut joins = 0;
    for number in 0..40 {
        let name = format!("ghost {number}");
        // A connection may have ended for its client, and not yet for the server.
        let Ok(mut ghost) = say_hello(stranger.clone(), server.world, &name).await else {
            continue;
        };
        let answer = ghost.request_answer(join()).await?.body;
        joins += u32::from(matches!(answer, Some(answer::Body::RoomJoined(_))));
        // Any code but 0: the session waits.
        ghost.connection.close(1_u32.into(), b"");
    }
    assert!(joins >= 11, "{joins} joins do not fill the room");
    let mut bob = say_hello(at("127.0.0.3:0")?, server.world, "bob").await?;
    let joined = bob.request_answer(join()).await?.body;
    assert!(matches!(joined, Some(answer::Body::RoomJoined(_))), "{joined:?}");
    let metrics = tokio::task::block_in_place(|| server.metrics())?;
    assert!(metrics["ambit_players"] <= 2.0 * 8.0 + 2.0, "{} players", metrics["ambit_players"]);
    Ok(())
}

async fn say_hello(endpoint: quinn::Endpoint, server: SocketAddr, name: &str) -> Result<RawClient> {
    let mut client = RawClient::connect_over(endpoint, server, ALPN_WORLD).await?;
    match client.hello(name).await? {
        answer::Body::Welcome(_) => Ok(client),
        other => bail!("{other:?}"),
    }
}
