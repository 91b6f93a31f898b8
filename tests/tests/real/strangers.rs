//! Strangers at the ports for hosts and other servers.

use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{Cluster, Console, Host, ScratchFolder, Server};
use ambit_transport::quic::{ALPN_HOST, ALPN_PEER};
use anyhow::Result;

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
        // Nobody who plays notices.
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
