//! Control messages over whatever carries bytes.
//!
//! prost messages go in on one end and come out on the other: behind lengths on a byte stream
//! (QUIC, a child's standard input and output), or by a channel within one process. The two ends of
//! the host protocol, `WorldEnd` and `HostEnd`, are the same for every carrier, so that neither
//! side knows where the other runs.
//!
//! What always holds: no frame above the reader's bound is kept in memory; a frame that does not
//! decode is reported and the next one is read; `FrameReader::next` loses nothing when its future
//! is dropped.

use std::io;

use crate::protocol::messages::{HostToWorld, WorldToHost, host_to_world};
use ambit_transport::frame::{
    FrameDecoder, FrameTooLarge, MAX_HOST, MAX_HOST_GREETING, encode_frame,
};
use bytes::{Bytes, BytesMut};
use prost::Message;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};

/// Messages that may wait each way between a WorldServer and a host. A side that lets its queue
/// fill up counts as dead: nothing is dropped, the link ends. Only figures and heartbeats are left
/// out when there is no room, since newer ones follow.
pub const HOST_QUEUE: usize = 4_096;

/// Bytes read from a stream at a time.
const READ_BYTES: usize = 16 * 1024;

/// Why no message came.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The peer announced a frame above the bound; nothing after it can be read.
    #[error(transparent)]
    TooLarge(#[from] FrameTooLarge),
    /// The frame is whole but not such a message; the next one can be read.
    #[error("a message does not decode: {0}")]
    Malformed(#[from] prost::DecodeError),
    /// The stream ended inside a frame.
    #[error("the stream ended inside a frame")]
    Cut,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads messages from a byte stream.
pub struct FrameReader<R> {
    input: R,
    decoder: FrameDecoder,
    buffer: BytesMut,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads from `input`, frames of at most `max_bytes`.
    pub fn new(input: R, max_bytes: usize) -> Self {
        Self {
            input,
            decoder: FrameDecoder::new(max_bytes),
            buffer: BytesMut::new(),
        }
    }

    /// Frames that follow may have as many bytes.
    pub fn allow(&mut self, max_bytes: usize) {
        self.decoder.set_max(max_bytes);
    }

    /// The stream. Frames that were read and not taken are lost.
    pub fn into_inner(self) -> R {
        self.input
    }

    /// The next message; `Unchanged` when the stream has ended between two frames.
    pub async fn next<M: Message + Default>(&mut self) -> Result<Option<M>, FrameError> {
        let frame = self.next_frame().await?;
        Ok(frame.map(M::decode).transpose()?)
    }

    /// The next frame, as it came; `Unchanged` when the stream has ended between two frames.
    pub async fn next_frame(&mut self) -> Result<Option<Bytes>, FrameError> {
        loop {
            if let Some(frame) = self.decoder.poll_frame()? {
                return Ok(Some(frame));
            }
            self.buffer.clear();
            self.buffer.reserve(READ_BYTES);
            if self.input.read_buf(&mut self.buffer).await? == 0 {
                return if self.decoder.is_at_boundary() {
                    Ok(None)
                } else {
                    Err(FrameError::Cut)
                };
            }
            self.decoder.push(&self.buffer);
        }
    }
}

/// The WorldServer's end of a link to a host.
pub struct WorldEnd {
    /// To the host. Dropping it ends the link.
    pub commands: mpsc::Sender<WorldToHost>,
    /// From the host; its end is the end of the host.
    pub news: mpsc::Receiver<HostToWorld>,
}

/// The host's end of a link to its WorldServer.
pub struct HostEnd {
    /// From the WorldServer; its end is the end of the link.
    pub commands: mpsc::Receiver<WorldToHost>,
    pub news: mpsc::Sender<HostToWorld>,
}

/// A link within one process.
pub fn host_link() -> (WorldEnd, HostEnd) {
    let (commands_in, commands_out) = mpsc::channel(HOST_QUEUE);
    let (news_in, news_out) = mpsc::channel(HOST_QUEUE);
    (
        WorldEnd {
            commands: commands_in,
            news: news_out,
        },
        HostEnd {
            commands: commands_out,
            news: news_in,
        },
    )
}

/// A link over bytes, seen from the host: carries until the stream or the returned end is gone.
/// `written` gets the number of each journal entry that has left this process, if the link outlives
/// the process.
pub fn host_end_over<R, W>(
    input: R,
    output: W,
    written: Option<watch::Sender<u64>>,
) -> (HostEnd, impl Future<Output = Result<(), FrameError>>)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (world, host) = host_link();
    let note = move |message: &HostToWorld| {
        if let (Some(written), Some(host_to_world::Body::RoomTick(tick))) =
            (&written, &message.body)
        {
            written.send_replace(tick.serial);
        }
    };
    (host, carry(input, output, world.commands, world.news, note))
}

/// A link over bytes, seen from the WorldServer: carries until the stream or the returned end is
/// gone.
pub fn world_end_over<R, W>(
    input: R,
    output: W,
) -> (WorldEnd, impl Future<Output = Result<(), FrameError>>)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (world, host) = host_link();
    (
        world,
        carry(input, output, host.news, host.commands, |_| {}),
    )
}

/// Carries messages both ways until one way ends. What was queued for the stream is written before
/// a regular end. `note` is called with each message that was written.
async fn carry<R, W, In, Out>(
    input: R,
    output: W,
    incoming: mpsc::Sender<In>,
    outgoing: mpsc::Receiver<Out>,
    note: impl Fn(&Out),
) -> Result<(), FrameError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    In: Message + Default,
    Out: Message,
{
    tokio::select! {
        ended = read_into(input, incoming) => ended,
        ended = write_from(output, outgoing, note) => ended,
    }
}

async fn read_into<R, M>(input: R, incoming: mpsc::Sender<M>) -> Result<(), FrameError>
where
    R: AsyncRead + Unpin,
    M: Message + Default,
{
    let mut reader = FrameReader::new(input, MAX_HOST_GREETING);
    while let Some(message) = reader.next().await? {
        // The first one admits the peer, or the link is cut.
        reader.allow(MAX_HOST);
        // Waits while the queue is full: the stream's own flow control then holds the peer back.
        if incoming.send(message).await.is_err() {
            // This end does not read any more, but its messages are still to be written.
            std::future::pending::<()>().await;
        }
    }
    Ok(())
}

async fn write_from<W, M>(
    mut output: W,
    mut outgoing: mpsc::Receiver<M>,
    note: impl Fn(&M),
) -> Result<(), FrameError>
where
    W: AsyncWrite + Unpin,
    M: Message,
{
    while let Some(message) = outgoing.recv().await {
        output.write_all(&encode_frame(&message)).await?;
        output.flush().await?;
        note(&message);
    }
    output.shutdown().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::protocol::messages::{CloseRoom, HostReady, host_to_world, world_to_host};

    use super::*;

    #[tokio::test]
    async fn messages_pass_both_ways_over_a_pipe_until_its_end() {
        let (world_side, host_side) = tokio::io::duplex(256);
        let (world_in, world_out) = tokio::io::split(world_side);
        let (host_in, host_out) = tokio::io::split(host_side);
        let (mut world, world_carry) = world_end_over(world_in, world_out);
        let (mut host, host_carry) = host_end_over(host_in, host_out, None);
        let carriers = tokio::spawn(async move { tokio::join!(world_carry, host_carry) });

        host.news.send(ready("a host")).await.unwrap();
        assert_eq!(world.news.recv().await, Some(ready("a host")));
        world.commands.send(close(7)).await.unwrap();
        assert_eq!(host.commands.recv().await, Some(close(7)));

        drop(world.commands);
        assert_eq!(host.commands.recv().await, None);
        drop(host);
        let (world_ended, host_ended) = carriers.await.unwrap();
        assert!(world_ended.is_ok() && host_ended.is_ok());
    }

    #[tokio::test]
    async fn queued_messages_are_written_before_the_stream_ends() {
        let (output, input) = tokio::io::duplex(1 << 20);
        let (idle_input, _open_end) = tokio::io::duplex(1);
        let (host, carrying) = host_end_over(idle_input, output, None);
        for n in 0..100 {
            host.news.send(ready(&n.to_string())).await.unwrap();
        }
        drop(host);
        carrying.await.unwrap();
        let mut reader = FrameReader::new(input, MAX_HOST);
        for n in 0..100 {
            assert_eq!(reader.next().await.unwrap(), Some(ready(&n.to_string())));
        }
        assert_eq!(reader.next::<HostToWorld>().await.unwrap(), None);
    }

    #[tokio::test]
    async fn an_oversize_frame_is_refused_by_its_length_alone() {
        let announced = 1_025_u32.to_be_bytes();
        let mut reader = FrameReader::new(&announced[..], 1_024);
        assert!(matches!(
            reader.next::<HostToWorld>().await,
            Err(FrameError::TooLarge(FrameTooLarge {
                length: 1_025,
                max: 1_024
            }))
        ));
    }

    #[tokio::test]
    async fn after_a_frame_that_does_not_decode_the_next_one_is_read() {
        let mut bytes = vec![0, 0, 0, 3, 0xff, 0xff, 0xff];
        bytes.extend_from_slice(&encode_frame(&ready("next")));
        let mut reader = FrameReader::new(&bytes[..], 1_024);
        assert!(matches!(
            reader.next::<HostToWorld>().await,
            Err(FrameError::Malformed(_))
        ));
        assert_eq!(reader.next().await.unwrap(), Some(ready("next")));
    }

    #[tokio::test]
    async fn a_stream_that_ends_inside_a_frame_is_an_error() {
        let bytes = [0, 0, 0, 9, 1, 2];
        let mut reader = FrameReader::new(&bytes[..], 1_024);
        assert!(matches!(
            reader.next::<HostToWorld>().await,
            Err(FrameError::Cut)
        ));
    }

    fn ready(label: &str) -> HostToWorld {
        let ready = HostReady {
            label: label.to_owned(),
            ..HostReady::default()
        };
        HostToWorld {
            body: Some(host_to_world::Body::Ready(ready)),
        }
    }

    fn close(room: u64) -> WorldToHost {
        WorldToHost {
            body: Some(world_to_host::Body::CloseRoom(CloseRoom {
                room,
                reason: 0,
            })),
        }
    }
}
