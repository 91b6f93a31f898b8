//! Messages on an ordered byte stream: a 32-bit big-endian length, then that many bytes.
//!
//! Input: the bytes of the stream, in pieces of any size. Output: whole frames. There is no I/O:
//! the owner reads from its stream, calls `push`, then `poll_frame` until it returns `None`. A
//! frame may be empty (a prost message with default values only).
//!
//! Invariants:
//! 1. No frame is longer than the limit. A longer one is refused by its length alone, before any of
//!    it is stored.
//! 2. Memory grows with the bytes received, not with the announced length: at most one unfinished
//!    frame and what was pushed since the last poll.
//! 3. After `FrameTooLarge` the frame boundaries are lost: every later poll returns the same error.
//!
//! Units: bytes; the limit counts the payload alone. Source: the comments in `proto/ambit/*.proto`.
//!
//! `LengthDelimitedCodec` of tokio-util has the same format, but it reserves the announced length
//! at once (against invariant 2) and does not report it on failure.

pub use crate::control::{MAX_FROM_GAME, MAX_FROM_WORLD, MAX_TO_GAME, MAX_TO_WORLD};
use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Bytes of the length field.
pub const HEADER_BYTES: usize = 4;
/// Longest `WorldToHost` and `HostToWorld`.
pub const MAX_HOST: usize = 16_777_216;
/// The limit for a host's first message, which may come from an unauthenticated peer: 65,536 rooms
/// fit.
pub const MAX_HOST_GREETING: usize = 2_097_152;

/// The peer announced a frame that exceeds the agreed limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {length} bytes exceeds the limit of {max}")]
pub struct FrameTooLarge {
    /// The announced length.
    pub length: usize,
    pub max: usize,
}

/// Splits the bytes of one stream into frames.
#[derive(Debug)]
pub struct FrameDecoder {
    max: usize,
    buffer: BytesMut,
    failure: Option<FrameTooLarge>,
}

impl FrameDecoder {
    /// A decoder at the beginning of a stream whose frames have at most `max` bytes.
    pub fn new(max: usize) -> Self {
        Self { max, buffer: BytesMut::new(), failure: None }
    }

    /// Changes the limit for the frames that follow.
    pub fn set_max(&mut self, max: usize) {
        self.max = max;
    }

    /// Adds received bytes. Poll after each push: the bytes are buffered until then.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next whole frame, or `None` until more bytes arrive.
    pub fn poll_frame(&mut self) -> Result<Option<Bytes>, FrameTooLarge> {
        if let Some(failed) = self.failure {
            return Err(failed);
        }
        let Some(header) = self.buffer.first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*header) as usize;
        if length > self.max {
            return Err(self.fail(length));
        }
        if self.buffer.len() < HEADER_BYTES + length {
            return Ok(None);
        }
        self.buffer.advance(HEADER_BYTES);
        Ok(Some(self.buffer.split_to(length).freeze()))
    }

    /// Whether the stream may end here: no part of an unfinished frame is buffered.
    pub fn is_at_boundary(&self) -> bool {
        self.failure.is_none() && self.buffer.is_empty()
    }

    fn fail(&mut self, length: usize) -> FrameTooLarge {
        let failed = FrameTooLarge { length, max: self.max };
        self.failure = Some(failed);
        self.buffer = BytesMut::new();
        failed
    }
}

/// `message` as one frame, ready for the stream.
///
/// For messages whose size is bounded by construction; use `encode_frame_within` for the others.
pub fn encode_frame(message: &impl prost::Message) -> Bytes {
    let length = message.encoded_len();
    let header = u32::try_from(length).expect("a control message is shorter than 4 GiB");
    let mut frame = BytesMut::with_capacity(HEADER_BYTES + length);
    frame.put_u32(header);
    message.encode(&mut frame).expect("a BytesMut has no limit");
    frame.freeze()
}

/// `message` as one frame, or an error if it exceeds the peer's limit.
pub fn encode_frame_within(
    message: &impl prost::Message,
    max: usize,
) -> Result<Bytes, FrameTooLarge> {
    let length = message.encoded_len();
    if length > max { Err(FrameTooLarge { length, max }) } else { Ok(encode_frame(message)) }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::control::world::{Chat, ClientToWorld, LeaveRoom, Say, client_to_world::Body};

    #[test]
    fn a_stream_split_anywhere_gives_the_same_frames() {
        let frames: [&[u8]; 5] = [b"one", b"", b"three", &[7; 300], b""];
        let stream = stream_of(&frames);
        for step in 1..=stream.len() {
            let mut decoder = FrameDecoder::new(300);
            let seen = stream
                .chunks(step)
                .flat_map(|piece| decode_all(&mut decoder, piece))
                .collect::<Vec<_>>();
            assert_eq!(seen, frames, "in pieces of {step}");
            assert!(decoder.is_at_boundary());
        }
    }

    #[test]
    fn a_frame_is_refused_by_its_length_and_the_stream_stays_failed() {
        let mut decoder = FrameDecoder::new(100);
        decoder.push(&stream_of(&[b"good"]));
        decoder.push(&101_u32.to_be_bytes());
        assert_eq!(decoder.poll_frame(), Ok(Some(Bytes::from_static(b"good"))));
        let refusal = Err(FrameTooLarge { length: 101, max: 100 });
        assert_eq!(decoder.poll_frame(), refusal);
        decoder.push(&stream_of(&[b"more"]));
        assert_eq!(decoder.poll_frame(), refusal);
        assert!(decoder.buffer.is_empty());
        assert!(!decoder.is_at_boundary());
    }

    #[test]
    fn the_longest_frame_is_read_and_one_byte_more_is_refused() {
        let mut decoder = FrameDecoder::new(100);
        decoder.push(&stream_of(&[&[1; 100]]));
        assert_eq!(decoder.poll_frame().map(|frame| frame.map(|frame| frame.len())), Ok(Some(100)));
        decoder.push(&[0xff; 4]);
        assert_eq!(decoder.poll_frame(), Err(FrameTooLarge { length: 0xffff_ffff, max: 100 }));
    }

    #[test]
    fn an_announced_length_reserves_no_memory() {
        let mut decoder = FrameDecoder::new(MAX_FROM_WORLD);
        decoder.push(&1_048_576_u32.to_be_bytes());
        assert_eq!(decoder.poll_frame(), Ok(None));
        assert!(decoder.buffer.capacity() < 1_024);
    }

    #[test]
    fn a_stream_that_ends_inside_a_frame_is_detected() {
        let mut decoder = FrameDecoder::new(100);
        assert!(decoder.is_at_boundary());
        decoder.push(&[0, 0]);
        assert_eq!(decoder.poll_frame(), Ok(None));
        assert!(!decoder.is_at_boundary());
    }

    #[test]
    fn messages_survive_framing() {
        let say = Say { text: "grüß dich".into(), ..Say::default() };
        let messages = [
            ClientToWorld { request: 7, body: Some(Body::Say(say)) },
            ClientToWorld::default(),
            ClientToWorld { request: 8, body: Some(Body::LeaveRoom(LeaveRoom {})) },
        ];
        let mut decoder = FrameDecoder::new(MAX_TO_WORLD);
        for message in &messages {
            decoder.push(&encode_frame(message));
        }
        for message in messages {
            let frame = decoder.poll_frame().expect("short frames").expect("a whole frame");
            assert_eq!(ClientToWorld::decode(frame), Ok(message));
        }
    }

    #[test]
    fn a_message_that_the_peer_would_refuse_is_not_sent() {
        let chat = Chat { text: "x".repeat(50), ..Chat::default() };
        assert_eq!(encode_frame_within(&chat, 51), Err(FrameTooLarge { length: 52, max: 51 }));
        assert_eq!(encode_frame_within(&chat, 52), Ok(encode_frame(&chat)));
    }

    #[test]
    fn random_bytes_never_do_more_than_fail() {
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut decoder = FrameDecoder::new(1_000);
            for _ in 0..50 {
                // Short lengths are likely, so that the stream contains whole frames, too.
                let length = rng.u32(0..1_100) * rng.u32(0..2);
                decoder.push(&length.to_be_bytes());
                let random_bytes = (0..rng.usize(0..200)).map(|_| rng.u8(..)).collect::<Vec<_>>();
                decoder.push(&random_bytes);
                while let Ok(Some(frame)) = decoder.poll_frame() {
                    assert!(frame.len() <= 1_000);
                    let _ = ClientToWorld::decode(frame);
                }
            }
        }
    }

    fn stream_of(frames: &[&[u8]]) -> Vec<u8> {
        frames
            .iter()
            .flat_map(|frame| [&(frame.len() as u32).to_be_bytes()[..], frame].concat())
            .collect()
    }

    fn decode_all(decoder: &mut FrameDecoder, piece: &[u8]) -> Vec<Bytes> {
        decoder.push(piece);
        std::iter::from_fn(|| decoder.poll_frame().expect("frames within the bound")).collect()
    }
}
