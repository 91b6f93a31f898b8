//! A bot with the profile `monkey`: it plays any game by its schema, badly.
//!
//! The schema and the objects in sight go in; valid, absurd and malformed commands, random keys and
//! random values of axes come out. No clock and no I/O; random decisions follow from the seed.

use ambit_proto::decimal::Decimal;
use ambit_proto::ids::{Alias, ClientObjectId};
use ambit_proto::keymap::Keymap;
use ambit_proto::message::{Command, FieldValue, GameCommand};
use ambit_proto::schema::{FieldSpec, FieldType, MAX_FIELDS, MAX_TEXT_BYTES, Schema};
use ambit_proto::space::{MAX_XY, Position};
use ambit_proto::wire;

/// The longest message of random bytes.
const MAX_NOISE: usize = 64;

/// The decisions of one bot.
#[derive(Debug)]
pub(crate) struct MonkeyBot {
    rng: fastrand::Rng,
}

/// What the bot does next.
#[derive(Debug, PartialEq)]
pub(crate) enum MonkeyAct {
    /// A command that its own client may refuse.
    Command(GameCommand<ClientObjectId>),
    /// A message that is perhaps no command.
    Message(Vec<u8>),
    Keys(Keymap),
    /// A control that is an axis, and a value that may be absurd.
    Axis(u8, f32),
}

impl MonkeyBot {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: fastrand::Rng::with_seed(seed) }
    }

    /// The next act in a game with this schema, a map of this extent, and these objects in sight.
    pub(crate) fn decide(
        &mut self,
        schema: &Schema,
        map: (f32, f32),
        in_sight: &[ClientObjectId],
    ) -> MonkeyAct {
        if let Some(axis) = self.axis(schema) {
            return axis;
        }
        match self.rng.u8(..10) {
            0 => MonkeyAct::Keys(Keymap(self.rng.u32(..) & self.rng.u32(..))),
            1 => {
                MonkeyAct::Message((0..self.rng.usize(..MAX_NOISE)).map(|_| self.byte()).collect())
            }
            2 | 3 => MonkeyAct::Message(self.any_command(schema)),
            _ => self
                .valid_command(schema, map, in_sight)
                .map_or(MonkeyAct::Keys(Keymap(self.rng.u32(..))), MonkeyAct::Command),
        }
    }

    /// In a game with axes, one in four acts moves one of them.
    fn axis(&mut self, schema: &Schema) -> Option<MonkeyAct> {
        let count = schema.axes().count();
        if count == 0 || self.rng.u8(..4) != 0 {
            return None;
        }
        let (control, _) = schema.axes().nth(self.rng.usize(..count))?;
        let value = self.rng.choice([0.0, 1.0, -1.0, f32::NAN, f32::INFINITY, 1e30]);
        let value = value.filter(|_| self.rng.bool());
        Some(MonkeyAct::Axis(control, value.unwrap_or_else(|| (self.rng.f32() - 0.5) * 8.0)))
    }

    /// A command that the schema declares; its objects and positions may be absurd.
    fn valid_command(
        &mut self,
        schema: &Schema,
        map: (f32, f32),
        in_sight: &[ClientObjectId],
    ) -> Option<GameCommand<ClientObjectId>> {
        let kind = self.rng.choice(0..schema.commands.len())?;
        let fields = schema.commands[kind].fields.iter();
        Some(GameCommand {
            kind: kind as u8,
            fields: fields.map(|field| self.value(field, map, in_sight)).collect(),
        })
    }

    fn value(
        &mut self,
        field: &FieldSpec,
        map: (f32, f32),
        in_sight: &[ClientObjectId],
    ) -> FieldValue<ClientObjectId> {
        if field.optional && self.rng.bool() {
            return FieldValue::None;
        }
        match &field.ty {
            FieldType::Object => {
                let seen = self.rng.choice(in_sight).copied();
                FieldValue::Object(seen.unwrap_or_else(|| ClientObjectId(self.rng.u32(..))))
            }
            FieldType::Position => {
                // One in eight is off most maps.
                let (width, height) = if self.rng.u8(..8) == 0 { (MAX_XY, MAX_XY) } else { map };
                let (x, y) = (self.rng.f32() * width, self.rng.f32() * height);
                FieldValue::Position(Position::on_ground(x, y))
            }
            &FieldType::Number { min, max } => {
                let any = self.rng.i64(min..=max);
                FieldValue::Number([min, max, any][self.rng.usize(..3)])
            }
            FieldType::Decimal(format) => {
                FieldValue::Decimal(format.nearest(100.0 * (self.rng.f32() - 0.5)))
            }
            FieldType::Choice(names) => FieldValue::Choice(self.rng.u16(..names.len() as u16)),
            FieldType::Text { max_bytes } => {
                let letters = self.rng.u32(..=max_bytes / 4);
                FieldValue::Text((0..letters).map(|_| self.rng.char(..)).collect())
            }
        }
    }

    /// A command that decodes, but that the schema rarely declares. It has the number 0, so that it
    /// makes no later one outdated.
    fn any_command(&mut self, schema: &Schema) -> Vec<u8> {
        let kind = self.rng.u8(..=schema.commands.len() as u8);
        let count = schema
            .command(kind)
            .map_or_else(|| self.rng.usize(..=MAX_FIELDS), |command| command.fields.len());
        wire::encode(&mut Command {
            number: 0,
            kind,
            fields: (0..count).map(|_| self.any_value()).collect(),
        })
    }

    /// Of each type; all together fit into a message.
    fn any_value(&mut self) -> FieldValue<Alias> {
        match self.rng.u8(..8) {
            0 => FieldValue::None,
            1 => FieldValue::Object(Alias { slot: self.rng.u16(..32), epoch: self.rng.u8(..4) }),
            2 => {
                let (x, y) = (self.rng.f32() * MAX_XY, self.rng.f32() * MAX_XY);
                FieldValue::Position(Position::on_ground(x, y))
            }
            3 => FieldValue::Number(self.rng.i64(..)),
            4 => FieldValue::Choice(self.byte().into()),
            5 => FieldValue::Decimal(Decimal::Half(self.rng.u16(..0x7c00))),
            6 => FieldValue::Decimal(Decimal::Angle(self.byte())),
            _ => {
                let length = self.rng.u32(..=MAX_TEXT_BYTES) as usize / MAX_FIELDS;
                FieldValue::Text("x".repeat(length))
            }
        }
    }

    fn byte(&mut self) -> u8 {
        self.rng.u8(..)
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::axes::AxisKind;
    use ambit_proto::schema::ControlSpec;

    use super::*;

    #[test]
    fn commands_of_all_kinds_and_objects_in_sight_are_used() {
        let schema = Schema::example();
        let mut monkey = MonkeyBot::new(1);
        let mut used = [0; 4];
        let mut messages = 0;
        let mut keys = 0;
        let mut seen = 0;
        for _ in 0..2_000 {
            match monkey.decide(&schema, (100.0, 50.0), &[ClientObjectId(7)]) {
                MonkeyAct::Command(GameCommand { kind, fields }) => {
                    let declared = schema.command(kind).expect("the kind exists");
                    assert!(FieldValue::all_fit(&fields, &declared.fields), "{fields:?}");
                    used[usize::from(kind)] += 1;
                    seen += usize::from(fields.contains(&FieldValue::Object(ClientObjectId(7))));
                }
                MonkeyAct::Message(bytes) => {
                    assert!(bytes.len() <= ambit_proto::link::MAX_MESSAGE);
                    messages += 1;
                }
                MonkeyAct::Keys(_) => keys += 1,
                MonkeyAct::Axis(..) => panic!("the game has no axis"),
            }
        }
        assert!(used.iter().all(|&used| used > 100), "{used:?}");
        assert!(seen > 50 && messages > 300 && keys > 100, "{seen} {messages} {keys}");
    }

    #[test]
    fn a_monkey_moves_the_declared_axes() {
        let mut schema = Schema::example();
        for name in ["throttle", "aim"] {
            let axis = Some(AxisKind::Angle);
            schema.controls.push(ControlSpec { name: name.into(), axis, ..ControlSpec::default() });
        }
        let mut monkey = MonkeyBot::new(3);
        let mut moved = [0; 4];
        for _ in 0..400 {
            if let MonkeyAct::Axis(control, _) = monkey.decide(&schema, (1.0, 1.0), &[]) {
                moved[usize::from(control)] += 1;
            }
        }
        assert!(moved[..2] == [0, 0] && moved[2..].iter().all(|&moves| moves > 20), "{moved:?}");
    }

    #[test]
    fn in_a_game_without_commands_a_monkey_presses_keys() {
        let schema = Schema::default();
        let mut monkey = MonkeyBot::new(2);
        let acts = (0..100).map(|_| monkey.decide(&schema, (1.0, 1.0), &[]));
        let acts: Vec<_> = acts.collect();
        assert!(acts.iter().all(|act| !matches!(act, MonkeyAct::Command(_))));
        assert!(acts.iter().any(|act| matches!(act, MonkeyAct::Keys(_))));
    }
}
