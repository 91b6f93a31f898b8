//! A client's UDP sockets, each with a QUIC endpoint.
//!
//! One for each kind of address that the client uses (mostly a single one, shared by lobby and
//! game), opened on first use. The socket for a server on this machine is bound to the loopback
//! address, so that nothing else can reach it.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use ambit_transport::impair::Impairment;
use ambit_transport::quic::{LazyTimerRuntime, client_endpoint_config};
use parking_lot::Mutex;
use quinn::{AsyncUdpSocket, Endpoint, Runtime};

use super::impaired_socket::ImpairedSocket;
use super::watched_socket::{AnswerWatch, Receptions, WatchedSocket};

/// Maximum number of sockets of one client: two families, local and remote.
const SOCKETS: u64 = 4;

#[derive(Debug)]
pub(super) struct Sockets {
    impairment: Option<Impairment>,
    number: u64,
    /// By local address.
    endpoints: Mutex<BTreeMap<IpAddr, Endpoint>>,
    /// Of all sockets.
    receptions: Arc<Receptions>,
}

impl Sockets {
    pub(super) fn new(impairment: Option<Impairment>, number: u64) -> Self {
        Sockets { impairment, number, endpoints: Mutex::default(), receptions: Arc::default() }
    }

    /// Notes from now on whether `remote` answers.
    pub(super) fn watch(&self, remote: SocketAddr) -> AnswerWatch {
        self.receptions.watch(remote)
    }

    /// The endpoint for connections to `remote`.
    pub(super) fn endpoint(&self, remote: SocketAddr) -> io::Result<Endpoint> {
        let mut endpoints = self.endpoints.lock();
        let local = match remote.ip() {
            IpAddr::V4(ip) if ip.is_loopback() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_loopback() => Ipv6Addr::LOCALHOST.into(),
            IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        };
        if let Some(endpoint) = endpoints.get(&local) {
            return Ok(endpoint.clone());
        }
        let endpoint = self.open(local, endpoints.len() as u64)?;
        endpoints.insert(local, endpoint.clone());
        Ok(endpoint)
    }

    /// Closes all endpoints, and waits until the peers of their closed connections know, if any
    /// peer has ever answered.
    pub(super) async fn close(&self) {
        let endpoints = std::mem::take(&mut *self.endpoints.lock());
        for endpoint in endpoints.into_values() {
            endpoint.close(0_u32.into(), b"");
            if self.receptions.has_any() {
                endpoint.wait_idle().await;
            }
        }
    }

    fn open(&self, local: IpAddr, index: u64) -> io::Result<Endpoint> {
        let runtime = Arc::new(LazyTimerRuntime);
        let socket = runtime.wrap_udp_socket(UdpSocket::bind((local, 0))?)?;
        let socket = Arc::new(WatchedSocket::new(socket, self.receptions.clone()));
        let socket: Arc<dyn AsyncUdpSocket> = match self.impairment {
            Some(impairment) => {
                Arc::new(ImpairedSocket::new(socket, impairment, SOCKETS * self.number + index))
            }
            None => socket,
        };
        Endpoint::new_with_abstract_socket(client_endpoint_config(), None, socket, runtime)
    }
}
