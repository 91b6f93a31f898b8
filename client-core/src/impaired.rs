//! A UDP socket with bad weather in it, below QUIC.
//!
//! Wraps a socket of quinn's and lets each packet pass an [`Impairer`], one for each direction:
//! some vanish, some come late, twice or out of order. QUIC sees a bad path and nothing else. What
//! is delayed waits here until its time; the endpoint's own task, which polls the socket for
//! packets, also sends what has become due, so there is no task besides.
//!
//! Bound: 1,024 packets a direction; beyond it the newest is dropped, as a router does. Chance
//! comes from `Impairment::seed`, the socket's number and the direction, so that the bots of one
//! process differ and each run is alike. PoseSource: feasibility, section 3.

use std::collections::BTreeMap;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use ambit_proto::impair::{Impairer, Impairment};
use ambit_proto::time::LocalTime;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::time::{Instant, Sleep};

/// Packets that wait in one direction, at most: a second at a rate that no client of a game
/// reaches.
const MAX_WAITING: usize = 1_024;
/// What the kernel hands over at once, at most: it may join packets.
const MAX_RECEIVE_BYTES: usize = 65_536;
/// Receptions in a row before others have their turn.
const MAX_RECEPTIONS: usize = 64;

/// A socket whose packets pass through an [`Impairment`], both ways.
#[derive(Debug)]
pub struct ImpairedSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    started: Instant,
    state: Mutex<ImpairedState>,
}

#[derive(Debug)]
struct ImpairedState {
    outgoing: ImpairedDirection,
    incoming: ImpairedDirection,
    /// Set to the time of the packet that is due next.
    timer: Pin<Box<Sleep>>,
    /// The endpoint's task: to be woken when a packet is to leave earlier than the timer says.
    endpoint_waker: Option<Waker>,
    buffer: Box<[u8]>,
}

#[derive(Debug)]
struct ImpairedDirection {
    impairer: Impairer,
    /// By time, then in the order of their coming. At most [`WAITING`].
    waiting: BTreeMap<(LocalTime, u64), DelayedPacket>,
    count: u64,
}

#[derive(Clone, Debug)]
struct DelayedPacket {
    contents: Vec<u8>,
    /// Where it comes from, or goes to.
    meta: RecvMeta,
}

impl ImpairedSocket {
    /// Puts `impairment` into `inner`. `number` tells the sockets of one process apart.
    pub fn new(inner: Arc<dyn AsyncUdpSocket>, impairment: Impairment, number: u64) -> Self {
        let direction = |way: u64| {
            let seed = mix_seed(impairment.seed, 2 * number + way);
            ImpairedDirection {
                impairer: Impairer::new(Impairment { seed, ..impairment }),
                waiting: BTreeMap::new(),
                count: 0,
            }
        };
        let started = clock();
        let state = ImpairedState {
            outgoing: direction(0),
            incoming: direction(1),
            timer: Box::pin(tokio::time::sleep_until(started)),
            endpoint_waker: None,
            buffer: vec![0; MAX_RECEIVE_BYTES].into(),
        };
        ImpairedSocket {
            inner,
            started,
            state: Mutex::new(state),
        }
    }

    fn now(&self) -> LocalTime {
        LocalTime::ZERO + clock().duration_since(self.started)
    }

    fn state(&self) -> MutexGuard<'_, ImpairedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncUdpSocket for ImpairedSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        self.inner.clone().create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let now = self.now();
        let mut state = self.state();
        let due_before = state.next_due();
        let meta = RecvMeta {
            addr: transmit.destination,
            len: transmit.contents.len(),
            stride: transmit.contents.len(),
            ecn: transmit.ecn,
            dst_ip: transmit.src_ip,
        };
        state.outgoing.accept(now, transmit.contents, meta);
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
        let mut state = self.state();
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
                state
                    .timer
                    .as_mut()
                    .reset(self.started + due.since(LocalTime::ZERO));
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

    // One packet a transmit, so that each has its own fate.
    fn max_transmit_segments(&self) -> usize {
        1
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

impl ImpairedSocket {
    /// Takes what the wrapped socket has, if anything.
    fn receive(
        &self,
        now: LocalTime,
        state: &mut ImpairedState,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let ImpairedState {
            buffer,
            incoming: back,
            ..
        } = state;
        let mut meta = [RecvMeta::default()];
        let received = self
            .inner
            .poll_recv(context, &mut [IoSliceMut::new(buffer)], &mut meta);
        if ready!(received)? > 0 {
            let [meta] = meta;
            for contents in buffer[..meta.len].chunks(meta.stride.max(1)) {
                back.accept(
                    now,
                    contents,
                    RecvMeta {
                        len: contents.len(),
                        stride: contents.len(),
                        ..meta
                    },
                );
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl ImpairedState {
    fn next_due(&self) -> Option<LocalTime> {
        [&self.outgoing, &self.incoming]
            .into_iter()
            .filter_map(ImpairedDirection::next_due)
            .min()
    }

    /// A packet that the wrapped socket doesn't take now is lost, as on any crowded line.
    fn send_due(&mut self, now: LocalTime, socket: &dyn AsyncUdpSocket) {
        while let Some(DelayedPacket { contents, meta }) = self.outgoing.pop_due(now) {
            let RecvMeta {
                addr: destination,
                ecn,
                dst_ip: src_ip,
                ..
            } = meta;
            let _ = socket.try_send(&Transmit {
                destination,
                ecn,
                contents: &contents,
                segment_size: None,
                src_ip,
            });
        }
    }
}

impl ImpairedDirection {
    fn accept(&mut self, now: LocalTime, contents: &[u8], meta: RecvMeta) {
        for delay in self.impairer.send(now, contents.len()) {
            if self.waiting.len() < MAX_WAITING {
                self.count += 1;
                self.waiting.insert(
                    (now + delay, self.count),
                    DelayedPacket {
                        contents: contents.to_vec(),
                        meta,
                    },
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

    /// Fills the reader's buffers with what is due, one packet each, and says how many.
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
            *meta = RecvMeta {
                len: length,
                stride: length,
                ..packet.meta
            };
            delivered += 1;
        }
        delivered
    }
}

/// One seed of two numbers, neighbours far apart (`SplitMix64`).
fn mix_seed(seed: u64, number: u64) -> u64 {
    let mut mix = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mix = (mix ^ (mix >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mix = (mix ^ (mix >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mix ^ (mix >> 31)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a socket of the shell's: this is where time comes in"
)]
fn clock() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
