//! The simulated network: computes when something that is sent arrives.
//!
//! Datagrams go through one [`Impairer`] for each direction, the same type as behind `--impair`.
//! Streams are reliable and ordered: they have the path's delay without jitter, and data sent while
//! the path is cut arrives after the cut. Everything follows from the seeds; events that are due at
//! the same time come out in the order of sending.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use ambit_proto::time::LocalTime;
use ambit_transport::impair::{Impairer, Impairment};

/// Events, ordered by the time at which they are due.
pub struct EventQueue<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    order: u64,
}

struct Entry<T> {
    at: LocalTime,
    order: u64,
    item: T,
}

impl<T> EventQueue<T> {
    pub fn new() -> Self {
        EventQueue { heap: BinaryHeap::new(), order: 0 }
    }

    /// Adds `item`, which is due at `at`.
    pub fn push(&mut self, at: LocalTime, item: T) {
        self.order += 1;
        self.heap.push(Reverse(Entry { at, order: self.order, item }));
    }

    /// The time of the next event.
    pub fn next_time(&self) -> Option<LocalTime> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Removes and returns the next event if it is due by `now`.
    pub fn pop_due(&mut self, now: LocalTime) -> Option<(LocalTime, T)> {
        if self.next_time()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.item))
    }
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue::new()
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// One direction of a client's network path.
pub struct NetworkPath {
    impairer: Impairer,
    delay: Duration,
    /// Arrival of the newest stream data: streams keep their order.
    stream_until: LocalTime,
    cut_until: LocalTime,
}

impl NetworkPath {
    /// Creates a path with these impairments.
    pub fn new(impairment: &Impairment) -> Self {
        NetworkPath {
            impairer: Impairer::new(*impairment),
            delay: impairment.delay.max(Duration::from_micros(200)),
            stream_until: LocalTime::ZERO,
            cut_until: LocalTime::ZERO,
        }
    }

    /// Sets other impairments; data in flight is not affected.
    pub fn impair(&mut self, impairment: &Impairment) {
        self.impairer = Impairer::new(*impairment);
        self.delay = impairment.delay.max(Duration::from_micros(200));
    }

    /// Drops all datagrams, and delays stream data, until this time.
    pub fn cut_until(&mut self, until: LocalTime) {
        self.cut_until = until;
    }

    /// Sends a datagram; returns the arrival times of its copies.
    pub fn send_datagram(&mut self, now: LocalTime, len: usize) -> Vec<LocalTime> {
        let delays: Vec<Duration> = self.impairer.send(now, len).collect();
        if now < self.cut_until {
            Vec::new()
        } else {
            delays.into_iter().map(|delay| now + delay).collect()
        }
    }

    /// Sends a message on a stream; returns its arrival time.
    pub fn send_on_stream(&mut self, now: LocalTime) -> LocalTime {
        self.stream_until = self.stream_until.max(now.max(self.cut_until) + self.delay);
        self.stream_until
    }
}
