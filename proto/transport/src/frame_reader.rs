//! Control messages from a byte stream: a QUIC stream, or a child's standard output.
//!
//! What always holds: no frame above the reader's bound is kept in memory; a frame that does not
//! decode is reported and the next one is read; [`FrameReader::next`] loses nothing when its future
//! is dropped. A reader that waits holds nothing but the part of a frame that has come.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use prost::Message;
use tokio::io::{AsyncRead, ReadBuf};

use ambit_proto::frame::{FrameDecoder, FrameTooLarge};

/// Bytes read from a stream at a time, by way of the stack: thousands of readers only wait.
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
    /// The stream failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads messages from a byte stream.
pub struct FrameReader<R> {
    input: R,
    decoder: FrameDecoder,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads from `input`, frames of at most `max_bytes`.
    pub fn new(input: R, max_bytes: usize) -> Self {
        Self { input, decoder: FrameDecoder::new(max_bytes) }
    }

    /// Changes the bound for the frames that follow.
    pub fn set_max_bytes(&mut self, max_bytes: usize) {
        self.decoder.set_max(max_bytes);
    }

    /// The stream. Frames that were read and not taken are lost.
    pub fn into_inner(self) -> R {
        self.input
    }

    /// The next message; `None` when the stream has ended between two frames.
    pub async fn next<M: Message + Default>(&mut self) -> Result<Option<M>, FrameError> {
        let frame = self.next_frame().await?;
        Ok(frame.map(M::decode).transpose()?)
    }

    /// The next frame, as it came; `None` when the stream has ended between two frames.
    pub async fn next_frame(&mut self) -> Result<Option<Bytes>, FrameError> {
        loop {
            if let Some(frame) = self.decoder.poll_frame()? {
                return Ok(Some(frame));
            }
            if poll_fn(|context| self.poll_input(context)).await? == 0 {
                return if self.decoder.is_at_boundary() { Ok(None) } else { Err(FrameError::Cut) };
            }
        }
    }

    /// Passes the next bytes to the decoder. Returns how many; 0 at the end of the stream.
    fn poll_input(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut space = [MaybeUninit::uninit(); READ_BYTES];
        let mut read = ReadBuf::uninit(&mut space);
        ready!(Pin::new(&mut self.input).poll_read(context, &mut read))?;
        self.decoder.push(read.filled());
        Poll::Ready(Ok(read.filled().len()))
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::control::world::Player;

    use super::*;
    use ambit_proto::frame::encode_frame;

    #[tokio::test]
    async fn an_oversize_frame_is_refused_by_its_length_alone() {
        let announced = 1_025_u32.to_be_bytes();
        let mut reader = FrameReader::new(&announced[..], 1_024);
        assert!(matches!(
            reader.next::<Player>().await,
            Err(FrameError::TooLarge(FrameTooLarge { length: 1_025, max: 1_024 }))
        ));
    }

    #[tokio::test]
    async fn after_a_frame_that_does_not_decode_the_next_one_is_read() {
        let mut bytes = vec![0, 0, 0, 3, 0xff, 0xff, 0xff];
        bytes.extend_from_slice(&encode_frame(&player("next")));
        let mut reader = FrameReader::new(&bytes[..], 1_024);
        assert!(matches!(reader.next::<Player>().await, Err(FrameError::Malformed(_))));
        assert_eq!(reader.next().await.unwrap(), Some(player("next")));
    }

    #[tokio::test]
    async fn a_stream_that_ends_inside_a_frame_is_an_error() {
        let bytes = [0, 0, 0, 9, 1, 2];
        let mut reader = FrameReader::new(&bytes[..], 1_024);
        assert!(matches!(reader.next::<Player>().await, Err(FrameError::Cut)));
    }

    fn player(name: &str) -> Player {
        Player { name: name.to_owned(), ..Player::default() }
    }
}
