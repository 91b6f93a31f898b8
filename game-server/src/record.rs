//! A recording of a room: all that went in, so that the same room can be run again, bit by bit.
//!
//! [`Recorder`] turns each tick's time and inputs into bytes; [`Recording`] reads them back;
//! [`replay`] runs them through a new room. The shells write the bytes to a file, and after a panic
//! the file holds the tick that caused it: an entry is recorded before the room is ticked.
//!
//! Format: the magic `AMBITREC`, version (32 bits big-endian), then entries, each a 32-bit
//! big-endian length and that many bytes. The first entry is the [`Header`], each other one a tick:
//! the room's time and its inputs. Cost: a copy of the inputs.

use std::collections::BTreeMap;

use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::wire::{self, Coder, Wire, WireError};

use crate::logic::registry::Registry;
use crate::room::{Input, Output, Room};

const MAGIC: &[u8; 8] = b"AMBITREC";
/// Datagrams are recorded as they came, so a new shape of these (`ambit_proto::message::VERSION`)
/// is a new version here.
const VERSION: u32 = 3;
/// Longest text of a header or name, in bytes.
const MAX_TEXT: usize = 4_096;
/// A datagram is never longer.
const MAX_BYTES: usize = 65_535;
/// What an avatar carries through a gate is never longer.
const MAX_CARRIED: usize = ambit_proto::host::MAX_TRANSFER_STATE_BYTES;
/// InputSender of one tick, at most.
const MAX_INPUTS: usize = 1 << 24;

/// How the room was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Name of the game.
    pub game: String,
    /// The room's id.
    pub room: u64,
    /// The room's seed.
    pub seed: u64,
    /// Seats.
    pub capacity: u32,
    /// Grace period, in milliseconds.
    pub grace_ms: u32,
    /// The parameters that it was created with.
    pub parameters: BTreeMap<String, String>,
}

/// Turns what goes into a room into the bytes of a recording.
#[derive(Debug, Default)]
pub struct Recorder {
    entry: Vec<u8>,
}

/// The bytes of a recording can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRecording {
    /// It is something else.
    #[error("not a recording of a room")]
    Foreign,
    /// It was made by a server that spoke otherwise with its clients.
    #[error(
        "a recording of version {0}, and this build runs those of version {VERSION}: take the build that made it"
    )]
    Version(u32),
    /// It ends within an entry: the process died while writing.
    #[error("the recording ends within an entry")]
    Truncated,
    /// An entry makes no sense.
    #[error("an entry of the recording can't be read: {0}")]
    Entry(#[from] WireError),
    /// The room that it speaks of can't be made here.
    #[error("the recorded room can't be made: {0}")]
    Room(String),
}

/// A recording, entry by entry.
#[derive(Debug)]
pub struct Recording<'a> {
    /// How the room was made.
    pub header: Header,
    rest: &'a [u8],
}

impl Recorder {
    /// Appends the beginning of a recording to `out`.
    pub fn start(&mut self, header: &Header, out: &mut Vec<u8>) {
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_be_bytes());
        self.entry(&mut header.clone(), out);
    }

    /// Appends one tick to `out`.
    pub fn tick(&mut self, now: GameTime, inputs: &[Input], out: &mut Vec<u8>) {
        let inputs = inputs.iter().cloned().map(Some).map(Recorded).collect();
        self.entry(&mut Tick { now, inputs }, out);
    }

    fn entry(&mut self, entry: &mut impl Wire, out: &mut Vec<u8>) {
        self.entry.clear();
        wire::encode_into(entry, &mut self.entry);
        let length = u32::try_from(self.entry.len()).expect("an entry is shorter than 4 GiB");
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&self.entry);
    }
}

impl<'a> Recording<'a> {
    /// Opens a recording.
    pub fn read(bytes: &'a [u8]) -> Result<Self, BadRecording> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BadRecording::Foreign)?;
        let (version, rest) = rest.split_first_chunk().ok_or(BadRecording::Truncated)?;
        let version = u32::from_be_bytes(*version);
        if version != VERSION {
            return Err(BadRecording::Version(version));
        }
        let (entry, rest) = split(rest)?.ok_or(BadRecording::Truncated)?;
        Ok(Recording {
            header: wire::decode(entry)?,
            rest,
        })
    }

    /// The next tick; none at the end.
    pub fn next_tick(&mut self) -> Result<Option<(GameTime, Vec<Input>)>, BadRecording> {
        let Some((entry, rest)) = split(self.rest)? else {
            return Ok(None);
        };
        self.rest = rest;
        let tick: Tick = wire::decode(entry)?;
        Ok(Some((
            tick.now,
            tick.inputs
                .into_iter()
                .filter_map(|Recorded(input)| input)
                .collect(),
        )))
    }
}

/// Runs a recording through a new room; `each` sees what comes out of every tick.
pub fn replay(
    bytes: &[u8],
    registry: &Registry,
    mut each: impl FnMut(GameTime, &[Output]),
) -> Result<Room, BadRecording> {
    let mut recording = Recording::read(bytes)?;
    let mut room = room(&recording.header, registry)?;
    let mut outputs = Vec::new();
    while let Some((now, mut inputs)) = recording.next_tick()? {
        outputs.clear();
        room.tick(now, &mut inputs, &mut outputs);
        each(now, &outputs);
    }
    Ok(room)
}

/// The room that a header describes.
pub fn room(header: &Header, registry: &Registry) -> Result<Room, BadRecording> {
    registry
        .create_room(header)
        .map_err(|error| BadRecording::Room(error.to_string()))
}

/// One tick's inputs.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tick {
    now: GameTime,
    inputs: Vec<Recorded>,
}

/// `Unchanged` only before it is read.
#[derive(Clone, Debug, Default, PartialEq)]
struct Recorded(Option<Input>);

impl Wire for Header {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.text(&mut self.game, MAX_TEXT)?;
        coder.u64(&mut self.room)?;
        coder.u64(&mut self.seed)?;
        coder.u32(&mut self.capacity)?;
        coder.u32(&mut self.grace_ms)?;
        let mut parameters: Vec<Parameter> = self
            .parameters
            .iter()
            .map(|(key, value)| Parameter(key.clone(), value.clone()))
            .collect();
        coder.list(&mut parameters, MAX_TEXT)?;
        self.parameters = parameters
            .into_iter()
            .map(|Parameter(key, value)| (key, value))
            .collect();
        Ok(())
    }
}

#[derive(Default)]
struct Parameter(String, String);

impl Wire for Parameter {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.text(&mut self.0, MAX_TEXT)?;
        coder.text(&mut self.1, MAX_TEXT)
    }
}

/// Time in microseconds (64 bits), then the inputs.
impl Wire for Tick {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        instant(&mut self.now, coder)?;
        coder.list(&mut self.inputs, MAX_INPUTS)
    }
}

/// Which input in 4 bits, then its fields.
impl Wire for Recorded {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let mut which = self.0.as_ref().map_or(0, Recorded::which);
        coder.bits(&mut which, 4)?;
        let mut input = self.0.take().map_or_else(|| Recorded::blank(which), Ok)?;
        match &mut input {
            Input::Join {
                client,
                player,
                name,
            } => {
                coder.u32(&mut client.0)?;
                coder.u64(&mut player.0)?;
                coder.text(name, MAX_TEXT)?;
            }
            Input::Lost { client } => coder.u32(&mut client.0)?,
            Input::Remove { player } | Input::Stay { player } => coder.u64(&mut player.0)?,
            Input::Rename { player, name } => {
                coder.u64(&mut player.0)?;
                coder.text(name, MAX_TEXT)?;
            }
            Input::Budget {
                client,
                bytes_per_s,
            } => {
                let mut whose = client.is_some();
                coder.flag(&mut whose)?;
                let mut id = client.map_or(0, |client| client.0);
                coder.u32(&mut id)?;
                *client = whose.then_some(ClientId(id));
                coder.u32(bytes_per_s)?;
            }
            Input::LetGo { player, number } => {
                coder.u64(&mut player.0)?;
                coder.u64(number)?;
            }
            Input::Admit {
                player,
                number,
                name,
                at,
                carried,
            } => {
                coder.u64(&mut player.0)?;
                coder.u64(number)?;
                coder.text(name, MAX_TEXT)?;
                for metres in [&mut at.x, &mut at.y, &mut at.z] {
                    let mut bits = metres.to_bits();
                    coder.u32(&mut bits)?;
                    *metres = f32::from_bits(bits);
                }
                coder.bytes(carried, MAX_CARRIED)?;
            }
            Input::Datagram { client, at, bytes } => {
                coder.u32(&mut client.0)?;
                instant(at, coder)?;
                let mut copy = bytes.to_vec();
                coder.bytes(&mut copy, MAX_BYTES)?;
                *bytes = copy.into();
            }
        }
        self.0 = Some(input);
        Ok(())
    }
}

impl Recorded {
    fn which(input: &Input) -> u64 {
        match input {
            Input::Join { .. } => 0,
            Input::Lost { .. } => 1,
            Input::Remove { .. } => 2,
            Input::Rename { .. } => 3,
            Input::Datagram { .. } => 4,
            Input::Budget { .. } => 5,
            Input::LetGo { .. } => 6,
            Input::Stay { .. } => 7,
            Input::Admit { .. } => 8,
        }
    }

    fn blank(which: u64) -> Result<Input, WireError> {
        let (client, player, name) = (ClientId(0), PlayerId(0), String::new());
        match which {
            0 => Ok(Input::Join {
                client,
                player,
                name,
            }),
            1 => Ok(Input::Lost { client }),
            2 => Ok(Input::Remove { player }),
            3 => Ok(Input::Rename { player, name }),
            4 => Ok(Input::Datagram {
                client,
                at: GameTime::ZERO,
                bytes: bytes::Bytes::new(),
            }),
            5 => Ok(Input::Budget {
                client: None,
                bytes_per_s: 0,
            }),
            6 => Ok(Input::LetGo { player, number: 0 }),
            7 => Ok(Input::Stay { player }),
            8 => Ok(Input::Admit {
                player,
                number: 0,
                name,
                at: Position::default(),
                carried: Vec::new(),
            }),
            value => Err(WireError::Unknown {
                what: "input of a room",
                value,
            }),
        }
    }
}

fn instant(time: &mut GameTime, coder: &mut impl Coder) -> Result<(), WireError> {
    let mut micros = time.micros();
    coder.u64(&mut micros)?;
    *time = GameTime::from_micros(micros);
    Ok(())
}

/// An entry, and what is behind it.
type Split<'a> = (&'a [u8], &'a [u8]);

/// The next entry; none at the end.
fn split(bytes: &[u8]) -> Result<Option<Split<'_>>, BadRecording> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (length, rest) = bytes.split_first_chunk().ok_or(BadRecording::Truncated)?;
    let length = u32::from_be_bytes(*length) as usize;
    rest.split_at_checked(length)
        .ok_or(BadRecording::Truncated)
        .map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_read_back() {
        let bytes = recording();
        let mut recording = Recording::read(&bytes).expect("a recording");
        assert_eq!(recording.header, header());
        assert_eq!(
            recording.next_tick(),
            Ok(Some((GameTime::from_millis(50), inputs())))
        );
        assert_eq!(
            recording.next_tick(),
            Ok(Some((GameTime::from_millis(100), Vec::new())))
        );
        assert_eq!(recording.next_tick(), Ok(None));
    }

    #[test]
    fn a_recording_that_ends_early_is_read_as_far_as_it_goes() {
        let bytes = recording();
        for length in 0..bytes.len() {
            let Ok(mut recording) = Recording::read(&bytes[..length]) else {
                continue;
            };
            let mut ticks = 0;
            let end = loop {
                match recording.next_tick() {
                    Ok(Some(_)) => ticks += 1,
                    end => break end,
                }
            };
            assert!(ticks < 2, "{length} of {} bytes", bytes.len());
            assert!(
                matches!(end, Ok(None) | Err(BadRecording::Truncated)),
                "{length}: {end:?}"
            );
        }
    }

    #[test]
    fn a_recording_of_another_version_is_refused_with_both_numbers() {
        let mut bytes = recording();
        bytes[MAGIC.len() + 3] = 1;
        let refused = Recording::read(&bytes).expect_err("it is of another version");
        assert_eq!(refused, BadRecording::Version(1));
        assert!(
            refused
                .to_string()
                .starts_with("a recording of version 1, and this build runs those of version 3")
        );
        bytes[0] = b'B';
        assert_eq!(Recording::read(&bytes).err(), Some(BadRecording::Foreign));
    }

    fn header() -> Header {
        let parameters = [("size".to_owned(), "80x80".to_owned())].into();
        Header {
            game: "field".to_owned(),
            room: 3,
            seed: 4,
            capacity: 5,
            grace_ms: 6,
            parameters,
        }
    }

    fn inputs() -> Vec<Input> {
        let (client, player) = (ClientId(1), PlayerId(2));
        vec![
            Input::Join {
                client,
                player,
                name: "ann".to_owned(),
            },
            Input::Datagram {
                client,
                at: GameTime::from_micros(7),
                bytes: vec![1, 2, 3].into(),
            },
            Input::Rename {
                player,
                name: "bob".to_owned(),
            },
            Input::Budget {
                client: Some(client),
                bytes_per_s: 16_000,
            },
            Input::Budget {
                client: None,
                bytes_per_s: 32_000,
            },
            Input::LetGo { player, number: 9 },
            Input::Stay { player },
            Input::Admit {
                player,
                number: 10,
                name: "bob".to_owned(),
                at: Position::new(1.5, -0.0, 2.0),
                carried: vec![4],
            },
            Input::Lost { client },
            Input::Remove { player },
        ]
    }

    fn recording() -> Vec<u8> {
        let (mut recorder, mut bytes) = (Recorder::default(), Vec::new());
        recorder.start(&header(), &mut bytes);
        recorder.tick(GameTime::from_millis(50), &inputs(), &mut bytes);
        recorder.tick(GameTime::from_millis(100), &[], &mut bytes);
        bytes
    }
}
