//! A UDP socket that notes who sends it anything, below QUIC: so a dial finds out whether there is
//! anybody at its address, long before a handshake over a bad path is complete. What other
//! connections receive meanwhile says nothing about that address.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use parking_lot::Mutex;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};

/// What the sockets of a client have received.
#[derive(Debug, Default)]
pub(super) struct Receptions {
    any: AtomicBool,
    /// The addresses that are being dialled: mostly none.
    dialled: Mutex<Vec<Arc<DialledAddress>>>,
}

#[derive(Debug)]
struct DialledAddress {
    address: SocketAddr,
    has_answered: AtomicBool,
}

/// Notes whether an address answers, until it is dropped.
#[derive(Debug)]
pub(super) struct AnswerWatch {
    receptions: Arc<Receptions>,
    dialled: Arc<DialledAddress>,
}

impl Receptions {
    /// Watches `address` from now on.
    pub(super) fn watch(self: &Arc<Self>, address: SocketAddr) -> AnswerWatch {
        let dialled = Arc::new(DialledAddress { address, has_answered: AtomicBool::new(false) });
        self.dialled.lock().push(dialled.clone());
        AnswerWatch { receptions: self.clone(), dialled }
    }

    /// Whether anybody has ever sent anything.
    pub(super) fn has_any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    fn note(&self, sender: SocketAddr) {
        self.any.store(true, Ordering::Relaxed);
        for dialled in &*self.dialled.lock() {
            // Not the flow label and the scope of IPv6, which the kernel may set.
            let address = dialled.address;
            if (address.ip(), address.port()) == (sender.ip(), sender.port()) {
                dialled.has_answered.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl AnswerWatch {
    pub(super) fn has_answered(&self) -> bool {
        self.dialled.has_answered.load(Ordering::Relaxed)
    }
}

impl Drop for AnswerWatch {
    fn drop(&mut self) {
        let mut dialled = self.receptions.dialled.lock();
        dialled.retain(|other| !Arc::ptr_eq(other, &self.dialled));
    }
}

/// A socket whose receptions are noted.
#[derive(Debug)]
pub(super) struct WatchedSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    receptions: Arc<Receptions>,
}

impl WatchedSocket {
    /// Notes in `receptions` what `inner` receives.
    pub(super) fn new(inner: Arc<dyn AsyncUdpSocket>, receptions: Arc<Receptions>) -> Self {
        WatchedSocket { inner, receptions }
    }
}

impl AsyncUdpSocket for WatchedSocket {
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
            for received in &meta[..count] {
                self.receptions.note(received.addr);
            }
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
