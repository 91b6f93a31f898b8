//! The connection between a WorldServer and a host, over a byte stream or within one process.
//!
//! prost messages go in on one end and come out on the other: behind lengths on a byte stream
//! (QUIC, a child's standard input and output), or by channels within one process. The two ends,
//! [`WorldEnd`] and [`HostEnd`], are the same in both cases, so that neither side knows where the
//! other runs. The connection ends at a frame that does not decode.

use ambit_host_protocol::generated::{HostToWorld, WorldToHost, host_to_world};
use ambit_proto::frame::{MAX_HOST, MAX_HOST_GREETING, encode_frame};
use ambit_transport::frame_reader::{FrameError, FrameReader};
use prost::Message;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};

/// Messages that may wait each way between a WorldServer and a host. Both programs send without
/// waiting, and count a peer whose queue is full as dead: nothing is dropped, the connection ends.
/// Only statistics and heartbeats are left out while the queue is full, since newer ones follow.
pub const HOST_QUEUE: usize = 4_096;

/// The WorldServer's end of the connection to a host.
pub struct WorldEnd {
    /// To the host. Dropping it ends the connection.
    pub orders: mpsc::Sender<WorldToHost>,
    /// From the host; its end is the end of the host.
    pub messages: mpsc::Receiver<HostToWorld>,
}

/// The host's end of the connection to its WorldServer.
pub struct HostEnd {
    /// From the WorldServer; its end is the end of the connection.
    pub orders: mpsc::Receiver<WorldToHost>,
    /// To the WorldServer.
    pub messages: mpsc::Sender<HostToWorld>,
}

/// A connection within one process.
pub fn host_link() -> (WorldEnd, HostEnd) {
    let (orders_in, orders_out) = mpsc::channel(HOST_QUEUE);
    let (messages_in, messages_out) = mpsc::channel(HOST_QUEUE);
    (
        WorldEnd { orders: orders_in, messages: messages_out },
        HostEnd { orders: orders_out, messages: messages_in },
    )
}

/// A connection over bytes, seen from the host. The returned future passes messages on until the
/// stream ends or the returned end is dropped. `written`, if given, is set to the number of each
/// journal entry once it is written to the stream.
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
    (host, pass_messages(input, output, world.orders, world.messages, note))
}

/// A connection over bytes, seen from the WorldServer. The returned future passes messages on until
/// the stream ends or the returned end is dropped.
pub fn world_end_over<R, W>(
    input: R,
    output: W,
) -> (WorldEnd, impl Future<Output = Result<(), FrameError>>)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (world, host) = host_link();
    (world, pass_messages(input, output, host.messages, host.orders, |_| {}))
}

/// Passes messages on in both directions until one direction ends. If this end is dropped, the
/// messages that it has queued are written first; if the stream ends, they are not. `note` is
/// called with each message that was written.
async fn pass_messages<R, W, In, Out>(
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
        // The first message was the greeting; an unauthenticated peer may send no more than that.
        reader.set_max_bytes(MAX_HOST);
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
        let bytes = message.encoded_len();
        if bytes > MAX_HOST {
            // The other end would give up the link, and all rooms of the host with it.
            tracing::error!(
                bytes,
                "a message between a host and its WorldServer is too long; it is left out"
            );
            continue;
        }
        output.write_all(&encode_frame(&message)).await?;
        output.flush().await?;
        note(&message);
    }
    output.shutdown().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use ambit_host_protocol::generated::{CloseRoom, HostReady, host_to_world, world_to_host};

    use super::*;

    #[tokio::test]
    async fn messages_pass_both_ways_over_a_pipe_until_its_end() {
        let (world_side, host_side) = tokio::io::duplex(256);
        let (world_in, world_out) = tokio::io::split(world_side);
        let (host_in, host_out) = tokio::io::split(host_side);
        let (mut world, world_passing) = world_end_over(world_in, world_out);
        let (mut host, host_passing) = host_end_over(host_in, host_out, None);
        let passing = tokio::spawn(async move { tokio::join!(world_passing, host_passing) });

        host.messages.send(ready("a host")).await.unwrap();
        assert_eq!(world.messages.recv().await, Some(ready("a host")));
        world.orders.send(close(7)).await.unwrap();
        assert_eq!(host.orders.recv().await, Some(close(7)));

        drop(world.orders);
        assert_eq!(host.orders.recv().await, None);
        drop(host);
        let (world_ended, host_ended) = passing.await.unwrap();
        assert!(world_ended.is_ok() && host_ended.is_ok());
    }

    #[tokio::test]
    async fn a_message_that_is_too_long_is_left_out_and_ends_no_link() {
        let (output, input) = tokio::io::duplex(1 << 20);
        let (idle_input, _open_end) = tokio::io::duplex(1);
        let (host, passing) = host_end_over(idle_input, output, None);
        let long = "x".repeat(MAX_HOST);
        for label in ["first", &long, "last"] {
            host.messages.send(ready(label)).await.unwrap();
        }
        drop(host);
        passing.await.unwrap();
        let mut reader = FrameReader::new(input, MAX_HOST);
        for label in ["first", "last"] {
            assert_eq!(reader.next().await.unwrap(), Some(ready(label)));
        }
        assert_eq!(reader.next::<HostToWorld>().await.unwrap(), None);
    }

    #[tokio::test]
    async fn queued_messages_are_written_before_the_stream_ends() {
        let (output, input) = tokio::io::duplex(1 << 20);
        let (idle_input, _open_end) = tokio::io::duplex(1);
        let (host, passing) = host_end_over(idle_input, output, None);
        for n in 0..100 {
            host.messages.send(ready(&n.to_string())).await.unwrap();
        }
        drop(host);
        passing.await.unwrap();
        let mut reader = FrameReader::new(input, MAX_HOST);
        for n in 0..100 {
            assert_eq!(reader.next().await.unwrap(), Some(ready(&n.to_string())));
        }
        assert_eq!(reader.next::<HostToWorld>().await.unwrap(), None);
    }

    fn ready(label: &str) -> HostToWorld {
        let ready = HostReady { label: label.to_owned(), ..HostReady::default() };
        HostToWorld { body: Some(host_to_world::Body::Ready(ready)) }
    }

    fn close(room: u64) -> WorldToHost {
        WorldToHost { body: Some(world_to_host::Body::CloseRoom(CloseRoom { room, reason: 0 })) }
    }
}
