//! A test game that counts received commands: which numbers each player has sent, and which came
//! twice. For tests that no command is lost or executed twice.
//!
//! The command `count` has a number; each player starts with 0 and counts up. All players have a
//! table: a row each, with a column that only its player gets, and the total. With `ballast` the
//! saved state is as large as a test needs.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ClientObjectId, ObjectId, PlayerId};
use ambit_proto::message::FieldValue;
use ambit_proto::schema::{
    Codec, CommandKind, Component, ComponentSpec, FieldSpec, FieldType, ObjectKind, Schema,
};
use ambit_proto::space::Position;
use ambit_room::config::{Allowed, BadParameter, Parameter, Parameters};
use ambit_room::logic::game::{Game, GameCommand, GameInfo, Left, Refusal};
use ambit_room::logic::world::World;
use ambit_room::room::Room;
use ambit_room::saved::{self, BadState};
use serde::{Deserialize, Serialize};

const COUNT: u8 = 1;
const NAME: u8 = 2;
const TALLY: u8 = 1;
/// A tally's components, beside the name.
const TALLY_COUNT: u8 = 1;
const TALLY_LAST: u8 = 2;
const TOTAL: u8 = 2;
/// Larger numbers are refused.
const MAX_NUMBER: u32 = 1 << 20;

/// The numbers that were received from one player since it joined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedNumbers {
    avatar: Option<ObjectId>,
    /// One bit for each number.
    received: Vec<u64>,
    /// How often a number was received again.
    pub duplicates: u32,
}

impl ReceivedNumbers {
    /// Whether this number was received.
    pub fn has(&self, number: u32) -> bool {
        self.received.get(number as usize / 64).is_some_and(|bits| bits >> (number % 64) & 1 == 1)
    }

    fn add(&mut self, number: u32) {
        let word = number as usize / 64;
        let bit = 1 << (number % 64);
        if self.received.len() <= word {
            self.received.resize(word + 1, 0);
        }
        self.duplicates += u32::from(self.received[word] & bit != 0);
        self.received[word] |= bit;
    }
}

#[derive(Debug, Default)]
pub struct CountingGame {
    received: BTreeMap<PlayerId, ReceivedNumbers>,
    /// Saved with the numbers, and compared when they are restored.
    ballast: Vec<u8>,
}

impl CountingGame {
    pub const INFO: GameInfo = GameInfo::new("counting", "Counts the commands of its players.")
        .parameters(&[Parameter {
            key: "ballast",
            label: "",
            default: "0",
            allowed: Allowed::Whole { min: 0, max: 32 },
            about: "MiB that the room's saved state is larger",
        }]);

    #[allow(clippy::unnecessary_wraps, reason = "the signature of `MakeGame`")]
    pub fn create(parameters: &Parameters) -> Result<Box<dyn Game>, BadParameter> {
        let bytes = (parameters.whole("ballast") << 20) as u32;
        Ok(Box::new(Self {
            ballast: (0..bytes).map(|byte| (byte % 251) as u8).collect(),
            ..Self::default()
        }))
    }

    /// The numbers received from the players of such a room.
    pub fn received_in(room: &Room) -> BTreeMap<PlayerId, ReceivedNumbers> {
        let state = room.game().save().expect("it can be saved");
        saved::take(&mut &state[..]).expect("it was saved by this build")
    }
}

/// The command that counts a number.
pub fn count(number: u32) -> GameCommand<ClientObjectId> {
    GameCommand { kind: 0, fields: vec![FieldValue::Number(number.into())] }
}

impl Game for CountingGame {
    fn schema(&self) -> Schema {
        let components = vec![
            ComponentSpec::public("path", Codec::Path),
            ComponentSpec::public("count", Codec::Number { min: 0, max: MAX_NUMBER.into() }),
            ComponentSpec::public("name", Codec::Text { max_bytes: 100 }),
        ];
        let kind = |name: &str, components| ObjectKind {
            name: name.into(),
            components,
            ..ObjectKind::default()
        };
        let counter = Codec::Number { min: 0, max: MAX_NUMBER.into() };
        let tally = vec![
            ComponentSpec::public("name", Codec::Text { max_bytes: 100 }),
            ComponentSpec::public("count", counter.clone()),
            ComponentSpec::owner("last", counter.clone()),
        ];
        let total = vec![ComponentSpec::public("count", counter)];
        let number = FieldType::Number { min: 0, max: i64::from(MAX_NUMBER) - 1 };
        Schema {
            game: "counting".into(),
            kinds: vec![kind("avatar", components), kind("tally", tally), kind("total", total)],
            commands: vec![CommandKind {
                name: "count".into(),
                fields: vec![FieldSpec::new("number", number)],
                ..CommandKind::default()
            }],
            ..Schema::default()
        }
    }

    fn start(&mut self, world: &mut World) {
        world.spawn(TOTAL, vec![Component::Number(0)]);
    }

    fn join(&mut self, world: &mut World, player: PlayerId, name: &str) -> ObjectId {
        let (x, y) =
            (world.grid().width() * world.rng().f32(), world.grid().height() * world.rng().f32());
        let path = Component::at_rest(world.now(), Position::on_ground(x, y));
        let avatar = world.spawn(0, vec![path, Component::Number(0), Component::Text(name.into())]);
        let row = vec![Component::Text(name.into()), Component::Number(0), Component::Number(0)];
        let row = world.spawn(TALLY, row);
        world.set_owner(row, player);
        self.received
            .insert(player, ReceivedNumbers { avatar: Some(avatar), ..ReceivedNumbers::default() });
        avatar
    }

    fn rename(&mut self, world: &mut World, player: PlayerId, name: &str) {
        if let Some(avatar) = self.received.get(&player).and_then(|numbers| numbers.avatar) {
            world.set_text(avatar, NAME, name);
        }
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, _: Left) {
        if let Some(avatar) = self.received.remove(&player).and_then(|numbers| numbers.avatar) {
            world.despawn(avatar);
        }
    }

    fn command(
        &mut self,
        world: &mut World,
        player: PlayerId,
        command: &GameCommand,
    ) -> Result<(), Refusal> {
        let [FieldValue::Number(number)] = command.fields[..] else {
            return Err(Refusal::Code(ErrorCode::UnknownCommand));
        };
        let numbers = self.received.get_mut(&player).ok_or(Refusal::Code(ErrorCode::OutOfState))?;
        numbers.add(number as u32);
        let avatar = numbers.avatar.expect("a player in the room has an avatar");
        world.set_number(avatar, COUNT, world.number(avatar, COUNT) + 1);
        if let Some(row) = world.room_wide(TALLY, Some(player)) {
            world.set_number(row, TALLY_COUNT, world.number(row, TALLY_COUNT) + 1);
            world.set_number(row, TALLY_LAST, number);
        }
        if let Some(total) = world.room_wide(TOTAL, None) {
            world.set_number(total, 0, world.number(total, 0) + 1);
        }
        Ok(())
    }

    fn step(&mut self, _world: &mut World, _dt: Duration) {}

    fn save(&self) -> Option<Vec<u8>> {
        let mut state = saved::section(&self.received);
        state.extend_from_slice(&self.ballast);
        Some(state)
    }

    fn restore(&mut self, _: &mut World, mut saved: &[u8]) -> Result<(), BadState> {
        self.received = saved::take(&mut saved)?;
        if saved == self.ballast { Ok(()) } else { Err(BadState::Malformed) }
    }
}
