//! Control messages over whatever carries bytes.
//!
//! prost messages go in on one end and come out on the other: behind lengths on a byte stream
//! (QUIC, a child's standard input and output), or by a channel within one process. The two ends of
//! the host protocol, `WorldEnd` and `HostEnd`, are the same for every carrier, so that neither
//! side knows where the other runs.

use crate::protocol::messages::{HostToWorld, WorldToHost, host_to_world};
use ambit_transport::frame::{MAX_HOST, MAX_HOST_GREETING, encode_frame};
use ambit_transport::frame_reader::{FrameError, FrameReader};
use prost::Message;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};

/// Messages that may wait each way between a WorldServer and a host. A side that lets its queue
/// fill up counts as dead: nothing is dropped, the link ends. Only figures and heartbeats are left
/// out when there is no room, since newer ones follow.
pub const HOST_QUEUE: usize = 4_096;

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
    /// To the WorldServer.
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
