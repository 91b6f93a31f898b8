//! The UDP socket and the QUIC endpoint that servers listen on.
//!
//! An address, certificates and the secret of stateless resets go in, a [`Listener`] comes out.
//! What a connection may cost (idle time, buffers, congestion control) is decided in `proto::quic`.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use ambit_endpoint::accept::{self, EndpointCounters};
use ambit_endpoint::driver::ServerEndpoint;
use ambit_endpoint::player_connection::PlayerConnection;
use ambit_transport::quic::{self, ResetSecret};
use socket2::{Domain, Protocol, Socket, Type};

use crate::web_certificates::WebCertificates;

/// Requested for the socket's buffers, each way. A tick's datagrams to hundreds of clients leave at
/// once, and the answers arrive at once; the usual 208 KiB lose a third of such a burst. The system
/// may grant less.
const SOCKET_BUFFER_BYTES: usize = 4 * 1024 * 1024;

/// A socket on which connections wait until it is served.
pub struct Listener {
    socket: UdpSocket,
    address: SocketAddr,
    resets: ResetSecret,
    server: quinn::ServerConfig,
}

impl Listener {
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves what comes, from now on ([`accept::listen`]). The endpoint's thread calls `begin`
    /// first. Has to be called within a tokio runtime.
    pub fn serve<F, S>(
        self,
        counters: Arc<EndpointCounters>,
        begin: impl FnOnce() + Send + 'static,
        serve: F,
    ) -> std::io::Result<ServerEndpoint>
    where
        F: Fn(PlayerConnection, Vec<u8>) -> S + Clone + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let config = quic::server_endpoint_config(&self.resets);
        accept::listen(self.socket, config, self.server, counters, begin, serve)
    }
}

/// Listens on `address` for connections by one of the `alpns`.
pub fn listen(
    address: SocketAddr,
    certificates: &Arc<WebCertificates>,
    resets: &ResetSecret,
    alpns: &[&[u8]],
) -> anyhow::Result<Listener> {
    let socket = bind(address).map_err(|error| anyhow::anyhow!("{}", why_not(address, &error)))?;
    let server = quic::resolving_server_config(Arc::clone(certificates) as _, alpns);
    let address = socket.local_addr()?;
    Ok(Listener { socket, address, resets: resets.clone(), server })
}

/// A UDP socket with large buffers.
pub fn bind(address: SocketAddr) -> std::io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    // Smaller buffers are no reason to fail.
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER_BYTES);
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER_BYTES);
    socket.bind(&address.into())?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// One line for the operator.
pub fn why_not(address: SocketAddr, error: &std::io::Error) -> String {
    use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    let advice = match error.kind() {
        AddrInUse => format!(
            "port {} is taken by another program: stop it, or choose another port (0 for any \
             that is free)",
            address.port()
        ),
        AddrNotAvailable => format!("{} is not an address of this machine", address.ip()),
        PermissionDenied => "ports below 1024 need more rights".to_owned(),
        _ => error.to_string(),
    };
    format!("cannot listen on {address}: {advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_port_in_use_names_the_port() {
        let first = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = first.local_addr().unwrap();
        let error = bind(address).unwrap_err();
        assert!(why_not(address, &error).contains(&format!("port {} is taken", address.port())));
    }
}
