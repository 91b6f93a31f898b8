//! A UDP socket that counts what it receives, below QUIC: so a dial finds out whether there is
//! anybody at an address, long before a handshake over a bad path is complete.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};

/// A socket whose receptions are counted.
#[derive(Debug)]
pub(super) struct CountingSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    received: Arc<AtomicU64>,
}

impl CountingSocket {
    /// Adds the receptions of `inner` to `received`.
    pub(super) fn new(inner: Arc<dyn AsyncUdpSocket>, received: Arc<AtomicU64>) -> Self {
        CountingSocket { inner, received }
    }
}

impl AsyncUdpSocket for CountingSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        self.inner.clone().create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.inner.try_send(transmit)
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let polled = self.inner.poll_recv(context, buffers, meta);
        if let Poll::Ready(Ok(count)) = polled {
            self.received.fetch_add(count as u64, Ordering::Relaxed);
        }
        polled
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.inner.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}
