//! The messages that wait for one client.
//!
//! The lobby's actor puts frames in and never waits; the task that writes to the client takes them
//! out. If news come faster than the client reads them, they are dropped and noted, since they need
//! not arrive one by one: once everything else is written, the writer reports what is missing, and
//! the lobby sends what it has led to (`Lobby::handle_caught_up`). So a flood of news closes no
//! connection.
//!
//! A list that takes the place of news always has its place, at most one of rooms and one of
//! players: it is never built again before it was written, however large it is.
//!
//! Bounds: news are dropped while [`MAX_NEWS_FRAMES`] or [`MAX_NEWS_BYTES`] wait. Everything else
//! (answers, tickets, a way out of a room) is never dropped: the client's next request is read only
//! when there is space for its answer, and a client for whom more than [`MAX_FRAMES`] or
//! [`MAX_BYTES`] wait does not read, so its connection is closed.

use std::collections::VecDeque;

use ambit_lobby::{FrameKind, MissedNews, NewsList};
use ambit_proto::codes::ErrorCode;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Some seconds of a busy lobby.
const MAX_NEWS_FRAMES: usize = 128;
/// A frame may be larger if none waits.
const MAX_NEWS_BYTES: usize = 1 << 18;
/// A client gets about ten frames a second beside news.
const MAX_FRAMES: usize = 512;
/// The longest answer and what comes with it, beside news.
const MAX_BYTES: usize = 1 << 21;
/// The next request is read when no more bytes than this wait.
const REQUEST_BYTES: usize = 1 << 18;

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enqueued {
    Waits,
    /// It was dropped, and the client will learn what it has missed.
    Dropped,
    /// The client does not read: its connection has to be closed.
    Full,
}

/// What the writer has to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextOutgoing {
    Write(Bytes),
    /// Everything is written: report that news are missing.
    Report(MissedNews),
    /// Close the connection.
    Close {
        code: ErrorCode,
        message: String,
    },
}

/// The queue; see the module.
#[derive(Debug, Default)]
pub(crate) struct OutgoingQueue {
    waiting: Mutex<WaitingFrames>,
    /// Something was put in.
    filled: Notify,
    /// Something was taken out.
    drained: Notify,
}

/// The contents of the queue.
#[derive(Debug, Default)]
struct WaitingFrames {
    frames: VecDeque<(FrameKind, Bytes)>,
    /// Without lists.
    news_frames: usize,
    news_bytes: usize,
    essential_frames: usize,
    essential_bytes: usize,
    missed: MissedNews,
    /// The last thing to do.
    close: Option<(ErrorCode, String)>,
    /// Whether the client has opened its stream, so that there is a writer.
    has_writer: bool,
}

impl WaitingFrames {
    fn push(&mut self, kind: FrameKind, frame: &Bytes) -> Enqueued {
        match kind {
            FrameKind::Essential => {
                let bytes = self.essential_bytes + frame.len();
                let fits = self.essential_bytes == 0 || bytes <= MAX_BYTES;
                if !fits || self.essential_frames >= MAX_FRAMES {
                    return Enqueued::Full;
                }
            }
            FrameKind::Rooms | FrameKind::Players | FrameKind::Chat => {
                let fits = self.news_bytes == 0 || self.news_bytes + frame.len() <= MAX_NEWS_BYTES;
                if !fits || self.news_frames >= MAX_NEWS_FRAMES {
                    self.drop_news(kind);
                    return Enqueued::Dropped;
                }
            }
            FrameKind::List(list) => self.supersede(list),
        }
        if let Some((frames, bytes)) = self.counts(kind) {
            *frames += 1;
            *bytes += frame.len();
        }
        self.frames.push_back((kind, frame.clone()));
        Enqueued::Waits
    }

    /// Notes that a frame is missing. For lists, waiting changes are as good as missing: one list
    /// takes the place of all.
    fn drop_news(&mut self, kind: FrameKind) {
        self.missed.add(kind.as_missed());
        if kind != FrameKind::Chat {
            self.remove(kind);
        }
    }

    /// A new list has all that waiting changes, an older list and what was dropped would have said.
    fn supersede(&mut self, list: NewsList) {
        self.remove(list.changes());
        self.remove(FrameKind::List(list));
        match list {
            NewsList::Rooms => self.missed.rooms = false,
            NewsList::Players => self.missed.players = false,
        }
    }

    /// Removes all frames of this kind.
    fn remove(&mut self, kind: FrameKind) {
        let mut removed = 0;
        let mut removed_bytes = 0;
        self.frames.retain(|(other, frame)| {
            if *other == kind {
                removed += 1;
                removed_bytes += frame.len();
            }
            *other != kind
        });
        if let Some((frames, bytes)) = self.counts(kind) {
            *frames -= removed;
            *bytes -= removed_bytes;
        }
    }

    /// The number and the bytes of the frames that share a limit with this kind, if any.
    fn counts(&mut self, kind: FrameKind) -> Option<(&mut usize, &mut usize)> {
        match kind {
            FrameKind::Essential => Some((&mut self.essential_frames, &mut self.essential_bytes)),
            FrameKind::Rooms | FrameKind::Players | FrameKind::Chat => {
                Some((&mut self.news_frames, &mut self.news_bytes))
            }
            FrameKind::List(_) => None,
        }
    }

    fn pop(&mut self) -> Option<NextOutgoing> {
        if let Some((kind, frame)) = self.frames.pop_front() {
            if let Some((frames, bytes)) = self.counts(kind) {
                *frames -= 1;
                *bytes -= frame.len();
            }
            return Some(NextOutgoing::Write(frame));
        }
        if let Some((code, message)) = self.close.take() {
            return Some(NextOutgoing::Close { code, message });
        }
        let missed = std::mem::take(&mut self.missed);
        (!missed.is_empty()).then_some(NextOutgoing::Report(missed))
    }
}

impl OutgoingQueue {
    /// Puts a frame in.
    pub(crate) fn push(&self, kind: FrameKind, frame: &Bytes) -> Enqueued {
        let enqueued = self.waiting.lock().push(kind, frame);
        self.filled.notify_one();
        enqueued
    }

    /// Closes the connection after everything that waits. Returns `false` if there is no writer.
    pub(crate) fn close(&self, code: ErrorCode, message: &str) -> bool {
        let mut waiting = self.waiting.lock();
        waiting.close.get_or_insert((code, message.to_owned()));
        self.filled.notify_one();
        waiting.has_writer
    }

    /// There is a writer from now on.
    pub(crate) fn start_writer(&self) {
        self.waiting.lock().has_writer = true;
    }

    /// Waits for something to do.
    pub(crate) async fn next(&self) -> NextOutgoing {
        loop {
            let next = self.waiting.lock().pop();
            if let Some(next) = next {
                self.drained.notify_one();
                return next;
            }
            self.filled.notified().await;
        }
    }

    /// Waits until there is space for an answer.
    pub(crate) async fn wait_for_space(&self) {
        while self.waiting.lock().essential_bytes > REQUEST_BYTES {
            self.drained.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_beyond_the_limit_are_dropped_and_reported_at_the_end() {
        let mut waiting = WaitingFrames::default();
        assert_eq!(waiting.push(FrameKind::Rooms, &frame(8)), Enqueued::Waits);
        for number in 1..MAX_NEWS_FRAMES + 300 {
            let expected =
                if number < MAX_NEWS_FRAMES { Enqueued::Waits } else { Enqueued::Dropped };
            assert_eq!(waiting.push(FrameKind::Chat, &frame(9)), expected);
        }
        assert_eq!(waiting.push(FrameKind::Rooms, &frame(8)), Enqueued::Dropped);
        // An answer still fits.
        assert_eq!(waiting.push(FrameKind::Essential, &frame(1)), Enqueued::Waits);
        let written = std::iter::from_fn(|| match waiting.pop() {
            Some(NextOutgoing::Write(bytes)) => Some(bytes.len()),
            Some(other) => {
                let missed = MissedNews { rooms: true, players: false, chats: 300 };
                assert_eq!(other, NextOutgoing::Report(missed));
                None
            }
            None => panic!("no report"),
        });
        // The change of a room that waited was dropped too: a list takes its place.
        let mut expected = vec![9; MAX_NEWS_FRAMES - 1];
        expected.push(1);
        assert_eq!(written.collect::<Vec<_>>(), expected);
        assert_eq!(waiting.pop(), None);
        assert_eq!((waiting.news_frames, waiting.news_bytes, waiting.essential_bytes), (0, 0, 0));
    }

    #[test]
    fn a_list_of_any_size_waits_until_it_is_written() {
        const LIST: FrameKind = FrameKind::List(NewsList::Rooms);
        let mut waiting = WaitingFrames::default();
        for _ in 0..2 * MAX_NEWS_FRAMES {
            waiting.push(FrameKind::Chat, &frame(9));
        }
        waiting.push(FrameKind::Rooms, &frame(8));
        let list = frame(2 * MAX_NEWS_BYTES);
        assert_eq!(waiting.push(LIST, &list), Enqueued::Waits);
        // Changes that are dropped behind it leave it there.
        assert_eq!(waiting.push(FrameKind::Rooms, &frame(8)), Enqueued::Dropped);
        let mut written = Vec::new();
        while let Some(NextOutgoing::Write(bytes)) = waiting.pop() {
            written.push(bytes.len());
            // News keep coming: a list has its place beside them.
            waiting.push(FrameKind::Chat, &frame(9));
            if written.len() > 3 * MAX_NEWS_FRAMES {
                break;
            }
        }
        let lists = |written: &[usize]| written.iter().filter(|bytes| **bytes > 9).count();
        assert_eq!(lists(&written), 1);
        // A newer list replaces the old one and the changes before it.
        waiting = WaitingFrames::default();
        waiting.push(FrameKind::Players, &frame(7));
        waiting.push(FrameKind::Rooms, &frame(8));
        waiting.push(LIST, &list);
        waiting.push(FrameKind::Rooms, &frame(8));
        waiting.drop_news(FrameKind::Rooms);
        waiting.push(LIST, &frame(10));
        let written: Vec<usize> = std::iter::from_fn(|| match waiting.pop() {
            Some(NextOutgoing::Write(bytes)) => Some(bytes.len()),
            other => {
                assert_eq!(other, None, "nothing is missing");
                None
            }
        })
        .collect();
        assert_eq!(written, [7, 10]);
    }

    #[test]
    fn only_what_must_arrive_fills_the_queue() {
        let mut waiting = WaitingFrames::default();
        for _ in 0..10_000 {
            waiting.push(FrameKind::Players, &frame(1_000));
            waiting.push(FrameKind::Chat, &frame(1_000));
        }
        let count = (0..10_000)
            .take_while(|_| waiting.push(FrameKind::Essential, &frame(10)) == Enqueued::Waits)
            .count();
        assert_eq!(count, MAX_FRAMES);
        let mut waiting = WaitingFrames::default();
        let large = frame(MAX_BYTES);
        assert_eq!(waiting.push(FrameKind::Essential, &large), Enqueued::Waits);
        assert_eq!(waiting.push(FrameKind::Essential, &frame(1)), Enqueued::Full);
    }

    #[test]
    fn the_connection_is_closed_after_what_waits() {
        let mut waiting = WaitingFrames::default();
        waiting.push(FrameKind::Essential, &frame(1));
        waiting.drop_news(FrameKind::Chat);
        waiting.close = Some((ErrorCode::Kicked, "out".into()));
        assert!(matches!(waiting.pop(), Some(NextOutgoing::Write(_))));
        assert!(matches!(waiting.pop(), Some(NextOutgoing::Close { .. })));
    }

    fn frame(bytes: usize) -> Bytes {
        vec![0; bytes].into()
    }
}
