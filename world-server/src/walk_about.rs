//! Bots that walk about: clients in this process, which reach the server through its own port.
//!
//! The lobby decides who gets bots, how many and until when (`lobby::walk_about`); it opens the
//! session of each one, and the bot resumes it. A bot ends when it has lost its seat, its session
//! or a connection for good; it never comes back by itself. It walks as the bots of `bots --profile
//! crowd` do, but it casts no spells, so it attacks nobody.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::event::{ConnectionStatus, ViewEvent};
use ambit_client_core::crowd::{CrowdBot, Surroundings};
use ambit_client_core::shell::{self, ClientOptions, ServerTrust};
use ambit_proto::ids::PlayerId;
use ambit_proto::time::LocalTime;
use ambit_transport::quic::Fingerprint;
use tokio::runtime::Handle;
use tokio::time::{MissedTickBehavior, interval};

/// How often a bot decides.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Starts bots, on the threads of connections and not on that of the lobby.
#[derive(Clone, Debug)]
pub(crate) struct BotRunner {
    server: SocketAddr,
    certificate: Fingerprint,
    runtime: Handle,
}

impl BotRunner {
    /// For the server that listens for players on this address. Must be called within a tokio
    /// runtime, which then runs the bots.
    pub(crate) fn new(mut server: SocketAddr, certificate: Fingerprint) -> Self {
        if server.ip().is_unspecified() {
            server.set_ip(match server {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        Self { server, certificate, runtime: Handle::current() }
    }

    /// Starts a bot that is this player and resumes the session of this token.
    pub(crate) fn start(&self, player: PlayerId, token: [u8; 16]) {
        let seed = player.0;
        let options = ClientOptions {
            server: self.server.to_string(),
            trust: ServerTrust::Pinned(self.certificate),
            impairment: None,
            number: seed,
            client: ClientConfig {
                agent: concat!("walk-about ", env!("CARGO_PKG_VERSION")).to_owned(),
                resume_token: token.to_vec(),
                reconnect_for: Duration::ZERO,
                seed,
                ..ClientConfig::default()
            },
        };
        self.runtime.spawn(walk_about(options));
    }
}

async fn walk_about(options: ClientOptions) {
    let seed = options.client.seed;
    let (client, mut events) = shell::start(options, ());
    let mut crowd = None;
    let mut looks = interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            event = events.next() => match event {
                None
                | Some(
                    ViewEvent::Left { .. }
                    | ViewEvent::Connection(ConnectionStatus::GameClosed { .. }),
                ) => break,
                // Another session is not the bot's.
                Some(ViewEvent::Welcome(welcome)) if !welcome.resumed => break,
                Some(_) => {}
            },
            _ = looks.tick() => client.run(|client, now| look(client, now, seed, &mut crowd)),
        }
    }
    client.quit();
}

fn look(client: &mut Client, now: LocalTime, seed: u64, crowd: &mut Option<CrowdBot>) {
    let Some(around) = Surroundings::of(client, now, false) else {
        return;
    };
    let around = Surroundings { commands: around.commands.without_spells(), ..around };
    let crowd = crowd.get_or_insert_with(|| CrowdBot::new(now, seed));
    if let Some(command) = crowd.decide(now, &around) {
        // Between two connections there are no commands.
        let _ = client.act(now, &command);
    }
}
