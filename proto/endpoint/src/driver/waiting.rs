//! Those who wait for a connection: for its streams, its datagrams, its end.
//!
//! [`ConnectionWaits::handle`] takes an order and carries out what goes; the endpoint's core is
//! asked again whenever it has said that something may have changed.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use bytes::{Buf as _, Bytes};
use quinn_proto::{ConnectionError, Dir, StreamId, VarInt};
use tokio::sync::oneshot;

use super::commands::{ConnectionCommand, DatagramSink};
use super::handle::ConnectionSigns;
use crate::endpoint_core::{ConnectionKey, EndpointCore, LineFigures, StreamProblem};

/// Datagrams of one connection that wait for a reader.
const HELD_BYTES: usize = 128 << 10;

type ReadAnswer = oneshot::Sender<Result<Option<Bytes>, StreamProblem>>;

/// See the module.
pub(super) struct ConnectionWaits {
    signs: ConnectionSigns,
    datagrams: Datagrams,
    accepting: [VecDeque<oneshot::Sender<StreamId>>; 2],
    opening: [VecDeque<oneshot::Sender<StreamId>>; 2],
    /// Those that have handles, or something to write. In boxes: a map of one, as most are, has
    /// space for eleven.
    streams: BTreeMap<StreamId, Box<StreamWaits>>,
}

/// Where datagrams go.
enum Datagrams {
    Held { waiting: VecDeque<Bytes>, bytes: usize, reader: Option<oneshot::Sender<Bytes>> },
    Sink(DatagramSink),
}

#[derive(Default)]
struct StreamWaits {
    has_sender: bool,
    has_receiver: bool,
    reading: Option<(usize, ReadAnswer)>,
    /// What is to be written, in order.
    writing: VecDeque<Writing>,
    ending: Vec<oneshot::Sender<Option<VarInt>>>,
    end: SendEnd,
}

/// How a stream to the peer has ended.
#[derive(Clone, Copy, Default)]
enum SendEnd {
    #[default]
    Open,
    /// The peer has all of it.
    Complete,
    Stopped(VarInt),
}

enum Writing {
    Bytes(Bytes, oneshot::Sender<Result<(), StreamProblem>>),
    Finish,
}

impl ConnectionWaits {
    pub(super) fn new(signs: ConnectionSigns) -> Self {
        Self {
            signs,
            datagrams: Datagrams::Held { waiting: VecDeque::new(), bytes: 0, reader: None },
            accepting: Default::default(),
            opening: Default::default(),
            streams: BTreeMap::new(),
        }
    }

    /// Takes an order, and carries it out as far as it goes.
    pub(super) fn handle(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        core: &mut EndpointCore,
        command: ConnectionCommand,
    ) {
        let has_ended = self.signs.end.borrow().is_some();
        let stream = match command {
            // Nothing more comes: the answer is dropped.
            ConnectionCommand::Accept(..)
            | ConnectionCommand::Open(..)
            | ConnectionCommand::WaitForEnd(..)
            | ConnectionCommand::Sink(_)
                if has_ended =>
            {
                return;
            }
            ConnectionCommand::Sink(sink) => return self.pour_into(now, sink),
            ConnectionCommand::ReadDatagram(answer) => return self.read_datagram(answer),
            ConnectionCommand::Accept(dir, answer) => {
                self.accepting[direction(dir)].push_back(answer);
                return self.hand_out_streams(key, core, dir);
            }
            ConnectionCommand::Open(dir, answer) => {
                self.opening[direction(dir)].push_back(answer);
                return self.hand_out_streams(key, core, dir);
            }
            ConnectionCommand::Read(id, limit, answer) => {
                self.stream(id).reading = Some((limit, answer));
                id
            }
            ConnectionCommand::Write(id, bytes, answer) => {
                self.stream(id).writing.push_back(Writing::Bytes(bytes, answer));
                id
            }
            ConnectionCommand::Finish(id) => {
                self.stream(id).writing.push_back(Writing::Finish);
                id
            }
            ConnectionCommand::LeaveSending(id) => {
                self.stream(id).has_sender = false;
                id
            }
            ConnectionCommand::LeaveReceiving(id) => {
                self.stream(id).has_receiver = false;
                id
            }
            ConnectionCommand::WaitForEnd(id, answer) => {
                let stream = self.stream(id);
                match stream.end {
                    SendEnd::Open => stream.ending.push(answer),
                    SendEnd::Complete => drop(answer.send(None)),
                    SendEnd::Stopped(code) => drop(answer.send(Some(code))),
                }
                id
            }
        };
        self.proceed(now, key, core, stream);
    }

    pub(super) fn note_line(&self, line: LineFigures) {
        self.signs.line.set(line);
    }

    fn stream(&mut self, id: StreamId) -> &mut StreamWaits {
        self.streams.entry(id).or_default()
    }

    /// Goes on with a stream on which something may have changed.
    pub(super) fn proceed(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        core: &mut EndpointCore,
        id: StreamId,
    ) {
        if let Entry::Occupied(mut entry) = self.streams.entry(id) {
            let stream = entry.get_mut();
            stream.proceed(now, key, core, id);
            if stream.is_done() {
                entry.remove();
            }
        }
    }

    /// Hands out streams that the peer has opened, or lets be opened.
    pub(super) fn hand_out_streams(
        &mut self,
        key: ConnectionKey,
        core: &mut EndpointCore,
        dir: Dir,
    ) {
        let place = direction(dir);
        for (waiting, is_own) in
            [(&mut self.accepting[place], false), (&mut self.opening[place], true)]
        {
            waiting.retain(|answer| !answer.is_closed());
            while let Some(answer) = waiting.pop_front() {
                let next =
                    if is_own { core.open_stream(key, dir) } else { core.accept_stream(key, dir) };
                let Ok(id) = next else {
                    waiting.push_front(answer);
                    break;
                };
                let stream = self.streams.entry(id).or_default();
                stream.has_sender = is_own || dir == Dir::Bi;
                stream.has_receiver = !is_own || dir == Dir::Bi;
                // One who has just given up gets no stream, and it has no handles.
                if answer.send(id).is_err() {
                    self.streams.remove(&id);
                }
            }
        }
    }

    /// A stream to the peer has ended: the peer has all of it, or has stopped it with a code.
    pub(super) fn note_end(&mut self, id: StreamId, end: Option<VarInt>) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.end = end.map_or(SendEnd::Complete, SendEnd::Stopped);
            for answer in stream.ending.drain(..) {
                let _ = answer.send(end);
            }
        }
    }

    /// The connection has ended. Readers get what has arrived before.
    pub(super) fn end(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        core: &mut EndpointCore,
        reason: ConnectionError,
    ) {
        for (id, stream) in &mut self.streams {
            stream.proceed(now, key, core, *id);
        }
        self.accepting = Default::default();
        self.opening = Default::default();
        self.streams.clear();
        // Dropped, so that nothing refers to what it calls.
        if let Datagrams::Sink(_) = self.datagrams {
            self.datagrams = Datagrams::Held { waiting: VecDeque::new(), bytes: 0, reader: None };
        }
        if let Datagrams::Held { reader, .. } = &mut self.datagrams {
            *reader = None;
        }
        self.signs.end.send_if_modified(|end| {
            let is_first = end.is_none();
            end.get_or_insert(reason);
            is_first
        });
    }

    /// `sink` takes the datagrams from now on, and first those that have waited.
    fn pour_into(&mut self, now: Instant, mut sink: DatagramSink) {
        if let Datagrams::Held { waiting, .. } = &mut self.datagrams {
            waiting.drain(..).for_each(|datagram| sink(now, datagram));
        }
        self.datagrams = Datagrams::Sink(sink);
    }

    fn read_datagram(&mut self, answer: oneshot::Sender<Bytes>) {
        if let Datagrams::Held { waiting, bytes, reader } = &mut self.datagrams {
            match waiting.pop_front() {
                Some(datagram) => {
                    *bytes -= datagram.len();
                    let _ = answer.send(datagram);
                }
                None if self.signs.end.borrow().is_some() => {}
                None => *reader = Some(answer),
            }
        }
    }

    pub(super) fn take_datagram(&mut self, now: Instant, datagram: Bytes) {
        match &mut self.datagrams {
            Datagrams::Sink(sink) => sink(now, datagram),
            Datagrams::Held { waiting, bytes, reader } => {
                let datagram = match reader.take() {
                    Some(reader) => match reader.send(datagram) {
                        Ok(()) => return,
                        // No one waits any more.
                        Err(datagram) => datagram,
                    },
                    None => datagram,
                };
                *bytes += datagram.len();
                waiting.push_back(datagram);
                while *bytes > HELD_BYTES
                    && let Some(oldest) = waiting.pop_front()
                {
                    *bytes -= oldest.len();
                }
            }
        }
    }
}

impl StreamWaits {
    fn proceed(&mut self, now: Instant, key: ConnectionKey, core: &mut EndpointCore, id: StreamId) {
        if let Some((limit, answer)) = self.reading.take() {
            match core.read(now, key, id, limit) {
                Err(StreamProblem::Blocked) => self.reading = Some((limit, answer)),
                // If no one waits any more, the handle is gone, and the stream is read no more.
                result => drop(answer.send(result)),
            }
        }
        while let Some(writing) = self.writing.pop_front() {
            match writing {
                Writing::Finish => core.finish(key, id),
                Writing::Bytes(mut bytes, answer) => match core.write(now, key, id, &bytes) {
                    Ok(count) if count < bytes.len() => {
                        bytes.advance(count);
                        self.writing.push_front(Writing::Bytes(bytes, answer));
                    }
                    Err(StreamProblem::Blocked) => {
                        self.writing.push_front(Writing::Bytes(bytes, answer));
                        return;
                    }
                    result => drop(answer.send(result.map(|_| ()))),
                },
            }
        }
    }

    /// Whether no one will ask for it any more, and all is written.
    fn is_done(&self) -> bool {
        !self.has_sender && !self.has_receiver && self.writing.is_empty()
    }
}

/// The directions of streams, as places in an array.
fn direction(dir: Dir) -> usize {
    match dir {
        Dir::Bi => 0,
        Dir::Uni => 1,
    }
}
