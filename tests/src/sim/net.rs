//! The simulated network: what is sent at one time and when it arrives.
//!
//! Datagrams go through an [`Impairer`] a direction, the very one behind `--impair`. Streams are
//! reliable and ordered: they take the path's plain delay, and what is sent while the path is cut
//! arrives once it is whole again. Everything is decided by the seeds; what is due at the same time
//! is handed out in the order of sending.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use ambit_proto::time::LocalTime;
use ambit_transport::impair::{Impairer, Impairment};

/// Things under way, by the time when they arrive.
pub struct Agenda<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    order: u64,
}

struct Entry<T> {
    at: LocalTime,
    order: u64,
    item: T,
}

impl<T> Agenda<T> {
    /// Nothing is under way.
    pub fn new() -> Self {
        Agenda {
            heap: BinaryHeap::new(),
            order: 0,
        }
    }

    /// `item` arrives at `at`.
    pub fn add(&mut self, at: LocalTime, item: T) {
        self.order += 1;
        self.heap.push(Reverse(Entry {
            at,
            order: self.order,
            item,
        }));
    }

    /// When the next thing arrives.
    pub fn next(&self) -> Option<LocalTime> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// The next thing, if it arrives by `now`.
    pub fn take(&mut self, now: LocalTime) -> Option<(LocalTime, T)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.item))
    }
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Agenda::new()
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

/// One direction of a client's line.
pub struct Path {
    impairer: Impairer,
    delay: Duration,
    /// When the last thing on a stream arrives: streams keep their order.
    stream_until: LocalTime,
    cut_until: LocalTime,
}

impl Path {
    /// A line with these faults.
    pub fn new(impairment: &Impairment) -> Self {
        Path {
            impairer: Impairer::new(*impairment),
            delay: impairment.delay.max(Duration::from_micros(200)),
            stream_until: LocalTime::ZERO,
            cut_until: LocalTime::ZERO,
        }
    }

    /// Other faults from now on; what is under way arrives as it would have.
    pub fn impair(&mut self, impairment: &Impairment) {
        self.impairer = Impairer::new(*impairment);
        self.delay = impairment.delay.max(Duration::from_micros(200));
    }

    /// Nothing gets through until then.
    pub fn cut_until(&mut self, until: LocalTime) {
        self.cut_until = until;
    }

    /// When the copies of a datagram that is sent now arrive.
    pub fn datagram(&mut self, now: LocalTime, len: usize) -> Vec<LocalTime> {
        let delays: Vec<Duration> = self.impairer.send(now, len).collect();
        if now < self.cut_until {
            Vec::new()
        } else {
            delays.into_iter().map(|delay| now + delay).collect()
        }
    }

    /// When a message arrives that is put on a stream now.
    pub fn stream(&mut self, now: LocalTime) -> LocalTime {
        self.stream_until = self.stream_until.max(now.max(self.cut_until) + self.delay);
        self.stream_until
    }
}
