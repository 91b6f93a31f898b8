//! A UDP socket that simulates a bad network below QUIC.
//!
//! Wraps a quinn socket and passes each packet through an [`Impairer`], one for each direction:
//! some packets are lost, delayed, duplicated or reordered. QUIC sees only a bad path. Delayed
//! packets wait here; the endpoint's own task, which polls the socket, also sends the packets that
//! have become due, so no other task is needed.
//!
//! Bound: 1,024 packets a direction; beyond it the newest is dropped, as in a router. Randomness
//! comes from `Impairment::seed`, the socket's number and the direction. So the sockets of one
//! process differ. In each run the same packets in the same order are lost, delayed and duplicated
//! in the same way.

use std::collections::BTreeMap;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use ambit_proto::seeded::mix_bits;
use ambit_proto::time::LocalTime;
use ambit_transport::impair::{Impairer, Impairment};
use parking_lot::Mutex;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::time::{Instant, Sleep};

/// Maximum number of waiting packets a direction: one second at a rate that no game client reaches.
const MAX_WAITING: usize = 1_024;
/// Maximum size of one reception: the kernel may join packets.
const MAX_RECEIVE_BYTES: usize = 65_536;
/// Maximum number of receptions in a row, so that other tasks get their turn.
const MAX_RECEPTIONS: usize = 64;

/// A socket that passes its packets through an [`Impairment`], in both directions.
#[derive(Debug)]
pub(super) struct ImpairedSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    started: Instant,
    state: Mutex<ImpairedState>,
}

#[derive(Debug)]
struct ImpairedState {
    outgoing: ImpairedDirection,
    incoming: ImpairedDirection,
    /// Set to the time of the next due packet.
    timer: Pin<Box<Sleep>>,
    /// The endpoint's task, to wake it when a packet is due before the timer fires.
    endpoint_waker: Option<Waker>,
    buffer: Box<[u8]>,
}

#[derive(Debug)]
struct ImpairedDirection {
    impairer: Impairer,
    /// By due time, then in order of arrival. At most [`MAX_WAITING`].
    waiting: BTreeMap<(LocalTime, u64), DelayedPacket>,
    count: u64,
}

#[derive(Clone, Debug)]
struct DelayedPacket {
    contents: Vec<u8>,
    /// Of a received packet as received; of an outgoing packet, `addr` is the destination and
    /// `dst_ip` the source.
    meta: RecvMeta,
}

impl ImpairedSocket {
    /// Applies `impairment` to `inner`. `number` distinguishes the sockets of one process.
    pub(super) fn new(inner: Arc<dyn AsyncUdpSocket>, impairment: Impairment, number: u64) -> Self {
        let direction = |index: u64| {
            let seed = mix_bits(mix_bits(impairment.seed) ^ (2 * number + index));
            ImpairedDirection {
                impairer: Impairer::new(Impairment { seed, ..impairment }),
                waiting: BTreeMap::new(),
                count: 0,
            }
        };
        let started = instant_now();
        let state = ImpairedState {
            outgoing: direction(0),
            incoming: direction(1),
            timer: Box::pin(tokio::time::sleep_until(started)),
            endpoint_waker: None,
            buffer: vec![0; MAX_RECEIVE_BYTES].into(),
        };
        ImpairedSocket { inner, started, state: Mutex::new(state) }
    }

    fn now(&self) -> LocalTime {
        LocalTime::ZERO + instant_now().duration_since(self.started)
    }
}

impl AsyncUdpSocket for ImpairedSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        self.inner.clone().create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let now = self.now();
        let mut state = self.state.lock();
        let due_before = state.next_due();
        let meta = RecvMeta {
            addr: transmit.destination,
            len: transmit.contents.len(),
            stride: transmit.contents.len(),
            ecn: transmit.ecn,
            dst_ip: transmit.src_ip,
        };
        state.outgoing.queue(now, transmit.contents, meta);
        state.send_due(now, &*self.inner);
        if state.next_due() != due_before
            && let Some(endpoint) = state.endpoint_waker.take()
        {
            endpoint.wake();
        }
        Ok(())
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.state.lock();
        for _ in 0..MAX_RECEPTIONS {
            let now = self.now();
            state.send_due(now, &*self.inner);
            let delivered = state.incoming.deliver(now, buffers, meta);
            if delivered > 0 {
                return Poll::Ready(Ok(delivered));
            }
            if self.receive(now, &mut state, context)?.is_ready() {
                continue;
            }
            if let Some(due) = state.next_due() {
                state.timer.as_mut().reset(self.started + due.since(LocalTime::ZERO));
                if state.timer.as_mut().poll(context).is_ready() {
                    continue;
                }
            }
            state.endpoint_waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    // One packet a transmit, so that each is impaired by itself.
    fn max_transmit_segments(&self) -> usize {
        1
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

impl ImpairedSocket {
    /// Takes packets from the wrapped socket, if there are any.
    fn receive(
        &self,
        now: LocalTime,
        state: &mut ImpairedState,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let ImpairedState { buffer, incoming, .. } = state;
        let mut meta = [RecvMeta::default()];
        let received = self.inner.poll_recv(context, &mut [IoSliceMut::new(buffer)], &mut meta);
        if ready!(received)? > 0 {
            let [meta] = meta;
            for contents in buffer[..meta.len].chunks(meta.stride.max(1)) {
                incoming.queue(
                    now,
                    contents,
                    RecvMeta { len: contents.len(), stride: contents.len(), ..meta },
                );
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl ImpairedState {
    fn next_due(&self) -> Option<LocalTime> {
        [&self.outgoing, &self.incoming].into_iter().filter_map(ImpairedDirection::next_due).min()
    }

    /// A packet that the wrapped socket does not accept now is lost, as on any congested path.
    fn send_due(&mut self, now: LocalTime, socket: &dyn AsyncUdpSocket) {
        while let Some(DelayedPacket { contents, meta }) = self.outgoing.pop_due(now) {
            let _ = socket.try_send(&Transmit {
                destination: meta.addr,
                ecn: meta.ecn,
                contents: &contents,
                segment_size: None,
                src_ip: meta.dst_ip,
            });
        }
    }
}

impl ImpairedDirection {
    fn queue(&mut self, now: LocalTime, contents: &[u8], meta: RecvMeta) {
        for delay in self.impairer.send(now, contents.len()) {
            if self.waiting.len() < MAX_WAITING {
                self.count += 1;
                self.waiting.insert(
                    (now + delay, self.count),
                    DelayedPacket { contents: contents.to_vec(), meta },
                );
            }
        }
    }

    fn next_due(&self) -> Option<LocalTime> {
        self.waiting.first_key_value().map(|((due, _), _)| *due)
    }

    fn pop_due(&mut self, now: LocalTime) -> Option<DelayedPacket> {
        self.next_due().filter(|due| *due <= now)?;
        self.waiting.pop_first().map(|(_, packet)| packet)
    }

    /// Fills the reader's buffers with due packets, one each, and returns their number.
    fn deliver(
        &mut self,
        now: LocalTime,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> usize {
        let mut delivered = 0;
        for (buffer, meta) in buffers.iter_mut().zip(meta) {
            let Some(packet) = self.pop_due(now) else {
                break;
            };
            let length = packet.contents.len().min(buffer.len());
            buffer[..length].copy_from_slice(&packet.contents[..length]);
            *meta = RecvMeta { len: length, stride: length, ..packet.meta };
            delivered += 1;
        }
        delivered
    }
}

#[expect(clippy::disallowed_methods, reason = "the shell reads the clock")]
fn instant_now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
