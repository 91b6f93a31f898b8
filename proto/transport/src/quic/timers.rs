//! Postponed timers for a client's connections.
//!
//! A runtime for quinn: tokio's, but a timer that is due in [`EXACT_WITHIN`] or later fires
//! [`POSTPONEMENT`] after it is due. Servers do the same (`due_times` of `ambit-endpoint`, which
//! says why and what it saves): if one end alone did, the other would take a late acknowledgement
//! for a lost packet, and probe.
//!
//! The price: retransmissions after a timer come later by that much. This concerns handshakes and
//! streams; game datagrams have a link of their own. Pacing, which waits for less than
//! [`EXACT_WITHIN`], is exact. When a packet arrives, quinn may reset its timer to the earlier due
//! time, which is soon or has passed by then: that stays postponed.

use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use quinn::{AsyncTimer, AsyncUdpSocket, Runtime, TokioRuntime};

/// One tick at 20 Hz, and a margin for a late one.
const POSTPONEMENT: Duration = Duration::from_millis(55);
/// A timer that is due sooner is exact.
const EXACT_WITHIN: Duration = Duration::from_millis(12);

#[derive(Clone, Copy, Debug, Default)]
pub struct LazyTimerRuntime;

/// quinn resets a connection's timer with every packet, mostly to a later time. So the real timer
/// stays at the earliest requested time; when it fires, it is set to the time requested by then.
#[derive(Debug)]
struct LazyTimer {
    timer: Pin<Box<dyn AsyncTimer>>,
    /// When the real timer fires.
    armed_for: Instant,
    /// When this timer is to fire.
    fires_at: Instant,
    /// The due time that was last postponed.
    postponed_due: Option<Instant>,
}

impl Runtime for LazyTimerRuntime {
    fn new_timer(&self, due: Instant) -> Pin<Box<dyn AsyncTimer>> {
        let mut postponed_due = None;
        let wanted = fire_time(due, TokioRuntime.now(), &mut postponed_due);
        Box::pin(LazyTimer {
            timer: TokioRuntime.new_timer(wanted),
            armed_for: wanted,
            fires_at: wanted,
            postponed_due,
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

impl AsyncTimer for LazyTimer {
    fn reset(mut self: Pin<&mut Self>, due: Instant) {
        self.fires_at = fire_time(due, TokioRuntime.now(), &mut self.postponed_due);
        if self.fires_at < self.armed_for {
            self.arm();
        }
    }

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        loop {
            std::task::ready!(self.timer.as_mut().poll(context));
            if self.fires_at <= self.armed_for {
                return Poll::Ready(());
            }
            self.arm();
        }
    }
}

impl LazyTimer {
    fn arm(&mut self) {
        self.armed_for = self.fires_at;
        self.timer.as_mut().reset(self.fires_at);
    }
}

fn fire_time(due: Instant, now: Instant, postponed_due: &mut Option<Instant>) -> Instant {
    if due >= now + EXACT_WITHIN || now >= due + EXACT_WITHIN || *postponed_due == Some(due) {
        *postponed_due = Some(due);
        due + POSTPONEMENT
    } else {
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_timer_is_postponed_once_unless_it_is_due_soon() {
        let now = TokioRuntime.now();
        let ms = Duration::from_millis;
        let mut postponed_due = None;
        assert_eq!(fire_time(now + ms(2), now, &mut postponed_due), now + ms(2));
        assert_eq!(fire_time(now + ms(25), now, &mut postponed_due), now + ms(25) + POSTPONEMENT);
        // Reset shortly before the due time, and after it.
        for later in [20, 30, 40] {
            assert_eq!(
                fire_time(now + ms(25), now + ms(later), &mut postponed_due),
                now + ms(25) + POSTPONEMENT,
                "{later} ms later"
            );
        }
        assert_eq!(fire_time(now + ms(22), now + ms(20), &mut postponed_due), now + ms(22));
        let begun = tokio::time::Instant::from_std(now);
        let mut timer = LazyTimerRuntime.new_timer(now + ms(25));
        std::future::poll_fn(|context| timer.as_mut().poll(context)).await;
        assert!(begun.elapsed() >= ms(75), "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_is_reset_fires_at_the_last_time_set() {
        let ms = Duration::from_millis;
        for (first, last) in [(100, 300), (300, 100), (100, 101)] {
            let now = TokioRuntime.now();
            let mut timer = LazyTimerRuntime.new_timer(now + ms(first));
            timer.as_mut().reset(now + ms(last));
            std::future::poll_fn(|context| timer.as_mut().poll(context)).await;
            let took = TokioRuntime.now() - now;
            assert!(
                (ms(last) + POSTPONEMENT..ms(last + 5) + POSTPONEMENT).contains(&took),
                "{first}, {last}: {took:?}"
            );
        }
    }
}
