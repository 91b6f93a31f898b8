//! Timers that a server can afford to hear late.
//!
//! A runtime for quinn: the usual one of tokio, but for its timers. One that is due in [`SOON`] or
//! later fires [`LATE`] after it is due. What a server's connections wait for are mostly
//! acknowledgements that would leave in a packet of their own; a little later the game has
//! something to send, and they ride on that; a second packet of the peer's lets them go at once.
//! Measured with 20 clients that send 20 times a second and are told something in every other tick:
//! from 22.7 packets a second and client to 17.4, with both ends like this (or else the peer takes
//! a late acknowledgement for a lost packet, and probes).
//!
//! The price: what a connection repeats because of a timer, it repeats so much later. That is
//! handshakes and the streams; game datagrams have a link of their own. Pacing, which waits for
//! less than [`SOON`], is exact. Whenever a packet comes in, quinn may set its timer anew to what
//! was due before, soon or in the past by then: that stays late.

use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use quinn::{AsyncTimer, AsyncUdpSocket, Runtime, TokioRuntime};

/// One tick at 20 Hz, and a little for one that is late.
const LATE: Duration = Duration::from_millis(55);
/// What is due sooner comes when it is due.
const SOON: Duration = Duration::from_millis(12);

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct LateTimers;

/// quinn sets a connection's timer anew with every packet, mostly to later. So the real timer stays
/// at the earliest time that was asked for, and is only then set to what is asked for by then.
#[derive(Debug)]
struct Late {
    timer: Pin<Box<dyn AsyncTimer>>,
    /// When that fires.
    armed: Instant,
    /// When this is to.
    wanted: Instant,
    /// What was due, when it was put off last.
    put_off: Option<Instant>,
}

impl Runtime for LateTimers {
    fn new_timer(&self, due: Instant) -> Pin<Box<dyn AsyncTimer>> {
        let mut put_off = None;
        let wanted = when(due, TokioRuntime.now(), &mut put_off);
        Box::pin(Late {
            timer: TokioRuntime.new_timer(wanted),
            armed: wanted,
            wanted,
            put_off,
        })
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        TokioRuntime.spawn(future);
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        TokioRuntime.wrap_udp_socket(socket)
    }

    fn now(&self) -> Instant {
        TokioRuntime.now()
    }
}

impl AsyncTimer for Late {
    fn reset(mut self: Pin<&mut Self>, due: Instant) {
        self.wanted = when(due, TokioRuntime.now(), &mut self.put_off);
        if self.wanted < self.armed {
            self.arm();
        }
    }

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        loop {
            std::task::ready!(self.timer.as_mut().poll(context));
            if self.wanted <= self.armed {
                return Poll::Ready(());
            }
            self.arm();
        }
    }
}

impl Late {
    fn arm(&mut self) {
        self.armed = self.wanted;
        self.timer.as_mut().reset(self.wanted);
    }
}

fn when(due: Instant, now: Instant, put_off: &mut Option<Instant>) -> Instant {
    if due >= now + SOON || now >= due + SOON || *put_off == Some(due) {
        *put_off = Some(due);
        due + LATE
    } else {
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_timer_comes_late_unless_it_is_due_soon_and_late_stays_late() {
        let now = TokioRuntime.now();
        let ms = Duration::from_millis;
        let mut put_off = None;
        assert_eq!(when(now + ms(2), now, &mut put_off), now + ms(2));
        assert_eq!(when(now + ms(25), now, &mut put_off), now + ms(25) + LATE);
        // Set anew a little before it would have been due, and after.
        for later in [20, 30, 40] {
            assert_eq!(
                when(now + ms(25), now + ms(later), &mut put_off),
                now + ms(25) + LATE,
                "{later} ms later"
            );
        }
        assert_eq!(when(now + ms(22), now + ms(20), &mut put_off), now + ms(22));
        let begun = tokio::time::Instant::from_std(now);
        let mut timer = LateTimers.new_timer(now + ms(25));
        std::future::poll_fn(|context| timer.as_mut().poll(context)).await;
        assert!(begun.elapsed() >= ms(75), "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_is_set_anew_fires_at_the_last_time_that_it_was_set_to() {
        let ms = Duration::from_millis;
        for (first, last) in [(100, 300), (300, 100), (100, 101)] {
            let now = TokioRuntime.now();
            let mut timer = LateTimers.new_timer(now + ms(first));
            timer.as_mut().reset(now + ms(last));
            std::future::poll_fn(|context| timer.as_mut().poll(context)).await;
            let took = TokioRuntime.now() - now;
            assert!(
                (ms(last) + LATE..ms(last + 5) + LATE).contains(&took),
                "{first}, {last}: {took:?}"
            );
        }
    }
}
