//! The handles of streams.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use quinn_proto::{StreamId, VarInt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;

use super::commands::{ConnectionCommand, EndpointCommand};
use super::handle::ConnectionParts;
use crate::endpoint_core::StreamProblem;

/// Bytes that one command reads or writes at most.
const CHUNK: usize = 64 << 10;

type ReadResult = Result<Option<Bytes>, StreamProblem>;

/// What the peer writes. Dropped before its end, the peer is told that it is not read.
#[derive(Debug)]
pub struct RecvStream {
    connection: Arc<ConnectionParts>,
    id: StreamId,
    /// Read, and not taken yet.
    buffer: Bytes,
    reading: Option<oneshot::Receiver<ReadResult>>,
    is_over: bool,
}

/// What the peer reads. Dropped before its end, it is finished.
#[derive(Debug)]
pub struct SendStream {
    connection: Arc<ConnectionParts>,
    id: StreamId,
    /// Bytes of `poll_write` that QUIC has not taken yet.
    writing: Option<oneshot::Receiver<Result<(), StreamProblem>>>,
    is_over: bool,
}

impl RecvStream {
    pub(super) fn new(connection: &Arc<ConnectionParts>, id: StreamId) -> Self {
        let connection = Arc::clone(connection);
        Self { connection, id, buffer: Bytes::new(), reading: None, is_over: false }
    }

    pub fn id(&self) -> StreamId {
        self.id
    }

    /// Reads no more, and tells the peer so.
    pub fn stop(&mut self, code: VarInt) {
        self.is_over = true;
        let parts = &self.connection;
        parts.commands.send(EndpointCommand::Stop(parts.key, self.id, code));
    }

    /// Waits for further bytes; `false` at the end of the stream.
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            if !self.buffer.is_empty() {
                return Poll::Ready(Ok(true));
            }
            if self.is_over {
                return Poll::Ready(Ok(false));
            }
            let (connection, id) = (&self.connection, self.id);
            let reading = self.reading.get_or_insert_with(|| {
                let (answer, answered) = oneshot::channel();
                connection.order(ConnectionCommand::Read(id, CHUNK, answer));
                answered
            });
            let result = ready!(Pin::new(reading).poll(context));
            self.reading = None;
            match result {
                Ok(Ok(Some(bytes))) => self.buffer = bytes,
                Ok(Ok(None)) => self.is_over = true,
                Ok(Err(problem)) => {
                    self.is_over = true;
                    return Poll::Ready(Err(io_error(problem)));
                }
                Err(_) => {
                    self.is_over = true;
                    return Poll::Ready(Err(lost_stream()));
                }
            }
        }
    }
}

impl AsyncRead for RecvStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        if ready!(stream.poll_fill(context))? {
            let count = stream.buffer.len().min(into.remaining());
            into.put_slice(&stream.buffer[..count]);
            stream.buffer.advance(count);
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for RecvStream {
    fn drop(&mut self) {
        if !self.is_over {
            self.stop(VarInt::from_u32(0));
        }
        self.connection.order(ConnectionCommand::LeaveReceiving(self.id));
    }
}

impl SendStream {
    pub(super) fn new(connection: &Arc<ConnectionParts>, id: StreamId) -> Self {
        Self { connection: Arc::clone(connection), id, writing: None, is_over: false }
    }

    pub fn id(&self) -> StreamId {
        self.id
    }

    /// Writes all bytes, and waits until QUIC has taken them: as long as the peer does not read, it
    /// takes no more than its window.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(writing) = self.writing.take() {
            written(writing.await)?;
        }
        let (answer, answered) = oneshot::channel();
        let bytes = Bytes::copy_from_slice(bytes);
        self.connection.order(ConnectionCommand::Write(self.id, bytes, answer));
        written(answered.await)
    }

    /// Nothing more is written, behind what was.
    pub fn finish(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.connection.order(ConnectionCommand::Finish(self.id));
        }
    }

    /// Gives up what was written, and tells the peer so.
    pub fn reset(&mut self, code: VarInt) {
        self.is_over = true;
        let parts = &self.connection;
        parts.commands.send(EndpointCommand::Reset(parts.key, self.id, code));
    }

    /// Waits until the peer has all of a finished stream (`None`), or has stopped it with a code.
    pub async fn stopped(&self) -> io::Result<Option<VarInt>> {
        let (answer, answered) = oneshot::channel();
        self.connection.order(ConnectionCommand::WaitForEnd(self.id, answer));
        answered.await.map_err(|_| lost_stream())
    }
}

/// Takes a chunk at a time, and the next one when QUIC has taken that.
impl AsyncWrite for SendStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let stream = self.get_mut();
        ready!(stream.poll_written(context))?;
        let chunk = &bytes[..bytes.len().min(CHUNK)];
        let (answer, answered) = oneshot::channel();
        let command = ConnectionCommand::Write(stream.id, Bytes::copy_from_slice(chunk), answer);
        stream.connection.order(command);
        stream.writing = Some(answered);
        Poll::Ready(Ok(chunk.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_written(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        ready!(stream.poll_written(context))?;
        stream.finish();
        Poll::Ready(Ok(()))
    }
}

impl SendStream {
    fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(writing) = &mut self.writing else {
            return Poll::Ready(Ok(()));
        };
        let result = ready!(Pin::new(writing).poll(context));
        self.writing = None;
        Poll::Ready(written(result))
    }
}

impl Drop for SendStream {
    fn drop(&mut self) {
        self.finish();
        self.connection.order(ConnectionCommand::LeaveSending(self.id));
    }
}

/// What a handle says of a connection that has ended.
fn lost_stream() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, StreamProblem::Lost)
}

fn written(result: Result<Result<(), StreamProblem>, oneshot::error::RecvError>) -> io::Result<()> {
    match result {
        Ok(result) => result.map_err(io_error),
        Err(_) => Err(lost_stream()),
    }
}

fn io_error(problem: StreamProblem) -> io::Error {
    let kind = match problem {
        StreamProblem::ByPeer(_) => io::ErrorKind::ConnectionReset,
        StreamProblem::Lost | StreamProblem::Closed | StreamProblem::Blocked => {
            io::ErrorKind::NotConnected
        }
    };
    io::Error::new(kind, problem)
}
