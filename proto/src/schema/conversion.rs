//! Conversion between a schema and its message in `Joined`.
//!
//! A message becomes a [`Schema`] for which [`Schema::check`] holds, or an error that names the
//! position. Any schema becomes a message: a host checks its game's schema when the room begins.

use super::{
    Codec, CommandKind, ComponentAudience, ComponentSpec, ControlSpec, Convergence, CountedChoice,
    DeadReckoning, EventKind, FieldSpec, FieldType, Freshness, InterestRadii, MAX_CHOICES,
    MAX_COMMANDS, MAX_COMPONENTS, MAX_EVENTS, MAX_FIELDS, MAX_KINDS, MAX_REFUSALS, ObjectKind,
    PosePresentation, ReckoningOrder, RefusalKind, RowFormat, Schema, SchemaError, SchemaPath,
    SchemaProblem,
};
use crate::axes::AxisKind;
use crate::control::game as pb;
use crate::control::game::component::Codec as PbCodec;
use crate::control::game::control::Axis as PbAxis;
use crate::control::game::field::Type as PbType;
use crate::control::game::pose::Turn as PbTurn;
use crate::decimal::DecimalFormat;
use crate::keymap::CONTROLS;
use crate::pose::{MotionFormat, PoseFormat, Turning};
use crate::presentation::Presentation;

impl Schema {
    /// The schema and the block of its presentation, as `Joined` has them.
    pub fn from_message(message: pb::Schema, block: &str) -> Result<Self, SchemaError> {
        let presentation = Presentation::from_block(block).map_err(|error| {
            let problem = SchemaProblem::BadPresentation { why: error.to_string() };
            SchemaPath::root().error(problem)
        })?;
        let schema = Self { presentation, ..message.try_into()? };
        schema.check()?;
        Ok(schema)
    }
}

/// Without a presentation.
impl TryFrom<pb::Schema> for Schema {
    type Error = SchemaError;

    fn try_from(message: pb::Schema) -> Result<Self, SchemaError> {
        let place = SchemaPath::root();
        let refusal =
            |_: &SchemaPath, message: pb::RefusalKind| Ok(RefusalKind { name: message.name });
        let schema = Self {
            game: message.game,
            kinds: read_all(&place, "kinds", MAX_KINDS, message.kinds, read_kind)?,
            events: read_all(&place, "events", MAX_EVENTS, message.events, read_event)?,
            commands: read_all(&place, "commands", MAX_COMMANDS, message.commands, read_command)?,
            refusals: read_all(&place, "refusals", MAX_REFUSALS, message.refusals, refusal)?,
            controls: read_all(
                &place,
                "controls",
                CONTROLS.into(),
                message.controls,
                read_control,
            )?,
            presentation: Presentation::default(),
        };
        schema.check()?;
        Ok(schema)
    }
}

/// Its limit comes first, before anything is built: `check` would be too late.
fn read_all<M, T>(
    place: &SchemaPath,
    what: &'static str,
    max: usize,
    messages: Vec<M>,
    read: impl Fn(&SchemaPath, M) -> Result<T, SchemaError>,
) -> Result<Vec<T>, SchemaError> {
    place.check_count(what, messages.len(), max)?;
    messages.into_iter().map(|message| read(place, message)).collect()
}

fn read_kind(place: &SchemaPath, message: pb::Kind) -> Result<ObjectKind, SchemaError> {
    let place = place.child("kind", &message.name);
    let components =
        read_all(&place, "components", MAX_COMPONENTS, message.components, read_component)?;
    let sight = read_sight(&place, message.inner, message.outer)?;
    let freshness = message.freshness.map_or_else(Freshness::default, |message| Freshness {
        engaged_ms: message.engaged_ms,
        near_m: message.near_m,
        near_ms: message.near_ms,
        far_ms: message.far_ms,
    });
    let sync = match message.sync.try_into() {
        Ok(pb::kind::Sync::Interpolated) if message.steered => PosePresentation::Steered,
        Ok(pb::kind::Sync::Interpolated) => PosePresentation::Interpolated,
        Ok(pb::kind::Sync::Simulated) => PosePresentation::Simulated,
        Err(_) => return Err(place.unknown("presentation of poses")),
    };
    let reckoning = message.reckoning.map(|message| read_reckoning(&place, message)).transpose()?;
    Ok(ObjectKind {
        name: message.name,
        components,
        interest_radii: sight,
        freshness,
        presentation: sync,
        is_projectile: message.projectile,
        reckoning,
    })
}

fn read_reckoning(
    place: &SchemaPath,
    message: pb::DeadReckoning,
) -> Result<DeadReckoning, SchemaError> {
    use pb::dead_reckoning::{Curve, Order};
    let order = match message.order.try_into() {
        Ok(Order::First) => ReckoningOrder::First,
        Ok(Order::Second) => ReckoningOrder::Second,
        Ok(Order::Automatic) => ReckoningOrder::Automatic,
        Ok(Order::Own) => ReckoningOrder::Own,
        Err(_) => return Err(place.unknown("order of dead reckoning")),
    };
    let convergence = match message.convergence.try_into() {
        Ok(Curve::Decaying) => Convergence::Decaying,
        Ok(Curve::Linear) => Convergence::Linear(message.convergence_ms),
        Ok(Curve::Cubic) => Convergence::Cubic(message.convergence_ms),
        Err(_) => return Err(place.unknown("curve of dead reckoning")),
    };
    let tolerance_m = message.tolerance_m;
    let tolerance_per_m = message.tolerance_per_m;
    Ok(DeadReckoning { order, tolerance_m, tolerance_per_m, convergence })
}

fn read_control(place: &SchemaPath, message: pb::Control) -> Result<ControlSpec, SchemaError> {
    let place = place.child("control", &message.name);
    let axis = match message.axis.try_into() {
        Ok(PbAxis::NoAxis) => None,
        Ok(PbAxis::Linear) => Some(AxisKind::Linear),
        Ok(PbAxis::Angle) => Some(AxisKind::Angle),
        Ok(PbAxis::ShownBehind) => Some(AxisKind::ShownBehind),
        Err(_) => return Err(place.unknown("axis")),
    };
    Ok(ControlSpec { name: message.name, is_tapped: message.tapped, axis })
}

/// 0 and 0 stand for the room's radii.
fn read_sight(
    place: &SchemaPath,
    inner: u32,
    outer: u32,
) -> Result<Option<InterestRadii>, SchemaError> {
    if (inner, outer) == (0, 0) {
        return Ok(None);
    }
    let problem = || place.error(SchemaProblem::BadInterestRadii { inner, outer });
    let narrow = |radius: u32| u16::try_from(radius).map_err(|_| problem());
    Ok(Some(InterestRadii { inner: narrow(inner)?, outer: narrow(outer)? }))
}

fn read_component(
    place: &SchemaPath,
    message: pb::Component,
) -> Result<ComponentSpec, SchemaError> {
    let place = place.child("component", &message.name);
    let audience = match message.audience.try_into() {
        Ok(pb::component::Audience::Public) => ComponentAudience::Public,
        Ok(pb::component::Audience::Owner) => ComponentAudience::Owner,
        Ok(pb::component::Audience::Team) => ComponentAudience::Team,
        Ok(pb::component::Audience::Server) => ComponentAudience::Server,
        Err(_) => return Err(place.unknown("audience")),
    };
    let codec = match message.codec {
        Some(PbCodec::Path(pb::Path {})) => Codec::Path,
        Some(PbCodec::Gauge(pb::Gauge { max })) => Codec::Gauge { max },
        Some(PbCodec::Flag(pb::Flag {})) => Codec::Flag,
        Some(PbCodec::Number(pb::Number { min, max })) => Codec::Number { min, max },
        Some(PbCodec::Half(pb::Half {})) => Codec::Decimal(DecimalFormat::Half),
        Some(PbCodec::Angle(pb::Angle {})) => Codec::Decimal(DecimalFormat::Angle),
        Some(PbCodec::Text(pb::Text { max_bytes })) => Codec::Text { max_bytes },
        Some(PbCodec::Counts(pb::Counts { command, field, names, max })) => {
            let narrow = |number: u32| {
                u8::try_from(number).map_err(|_| place.error(SchemaProblem::BadCounts))
            };
            let [command, field] = [narrow(command)?, narrow(field)?];
            let names = u16::try_from(names).map_err(|_| place.error(SchemaProblem::BadCounts))?;
            Codec::Counts(CountedChoice { command, field, names, max, list: None })
        }
        Some(PbCodec::Bytes(pb::Bytes { max_bytes })) => Codec::Bytes { max_bytes },
        Some(PbCodec::Rows(pb::Rows { fields, max, are_obstacles })) => {
            let fields = read_all(&place, "fields", MAX_FIELDS, fields, read_field)?;
            Codec::Rows(RowFormat { are_obstacles, ..RowFormat::new(fields, max) })
        }
        Some(PbCodec::Pose(pose)) => Codec::Pose(read_pose(&place, pose)?),
        None => return Err(place.unknown("codec")),
    };
    Ok(ComponentSpec { name: message.name, codec, audience })
}

fn read_pose(place: &SchemaPath, message: pb::Pose) -> Result<PoseFormat, SchemaError> {
    // A value that does not fit in 8 bits is also beyond the limits that `check` knows.
    let narrow = |bits: u32| u8::try_from(bits).unwrap_or(u8::MAX);
    let turn = match message.turn {
        Some(PbTurn::Fixed(pb::pose::Fixed {})) => Turning::Fixed,
        Some(PbTurn::Yaw(pb::pose::Yaw { bits })) => Turning::Yaw { bits: narrow(bits) },
        Some(PbTurn::Free(pb::pose::Free { bits })) => Turning::Free { bits: narrow(bits) },
        None => return Err(place.unknown("orientation of poses")),
    };
    let narrow = |units: u32| u16::try_from(units).unwrap_or(u16::MAX);
    let motion = message.motion.map(|pb::pose::Motion { linear, angular }| MotionFormat {
        linear: narrow(linear),
        angular: narrow(angular),
    });
    Ok(PoseFormat { per_metre: narrow(message.per_metre), turn, motion })
}

fn read_event(place: &SchemaPath, message: pb::EventKind) -> Result<EventKind, SchemaError> {
    let place = place.child("event", &message.name);
    let fields = read_all(&place, "fields", MAX_FIELDS, message.fields, read_field)?;
    Ok(EventKind { name: message.name, fields })
}

fn read_command(place: &SchemaPath, message: pb::CommandKind) -> Result<CommandKind, SchemaError> {
    let place = place.child("command", &message.name);
    Ok(CommandKind {
        name: message.name,
        newest_only: message.newest_only,
        fields: read_all(&place, "fields", MAX_FIELDS, message.fields, read_field)?,
    })
}

fn read_field(place: &SchemaPath, message: pb::Field) -> Result<FieldSpec, SchemaError> {
    let place = place.child("field", &message.name);
    let ty = match message.r#type {
        Some(PbType::Object(pb::field::Object {})) => FieldType::Object,
        Some(PbType::Position(pb::field::Position {})) => FieldType::Position,
        Some(PbType::Number(pb::Number { min, max })) => FieldType::Number { min, max },
        Some(PbType::Choice(pb::field::Choice { names })) => {
            place.check_count("choices", names.len(), MAX_CHOICES)?;
            FieldType::Choice(names)
        }
        Some(PbType::Text(pb::Text { max_bytes })) => FieldType::Text { max_bytes },
        Some(PbType::Half(pb::Half {})) => FieldType::Decimal(DecimalFormat::Half),
        Some(PbType::Angle(pb::Angle {})) => FieldType::Decimal(DecimalFormat::Angle),
        None => return Err(place.unknown("type")),
    };
    Ok(FieldSpec { name: message.name, ty, optional: message.optional })
}

impl From<&Schema> for pb::Schema {
    fn from(schema: &Schema) -> Self {
        Self {
            game: schema.game.clone(),
            kinds: schema.kinds.iter().map(pb::Kind::from).collect(),
            events: schema.events.iter().map(pb::EventKind::from).collect(),
            commands: schema.commands.iter().map(pb::CommandKind::from).collect(),
            refusals: schema.refusals.iter().map(pb::RefusalKind::from).collect(),
            controls: schema.controls.iter().map(pb::Control::from).collect(),
        }
    }
}

impl From<&ControlSpec> for pb::Control {
    fn from(control: &ControlSpec) -> Self {
        let axis = match control.axis {
            None => PbAxis::NoAxis,
            Some(AxisKind::Linear) => PbAxis::Linear,
            Some(AxisKind::Angle) => PbAxis::Angle,
            Some(AxisKind::ShownBehind) => PbAxis::ShownBehind,
        };
        Self { name: control.name.clone(), tapped: control.is_tapped, axis: axis.into() }
    }
}

impl From<&ObjectKind> for pb::Kind {
    fn from(kind: &ObjectKind) -> Self {
        let (inner, outer) =
            kind.interest_radii.map_or((0, 0), |sight| (sight.inner.into(), sight.outer.into()));
        let components = kind.components.iter().map(pb::Component::from).collect();
        let freshness = Some(pb::Freshness {
            engaged_ms: kind.freshness.engaged_ms,
            near_m: kind.freshness.near_m,
            near_ms: kind.freshness.near_ms,
            far_ms: kind.freshness.far_ms,
        });
        let sync = match kind.presentation {
            PosePresentation::Interpolated | PosePresentation::Steered => {
                pb::kind::Sync::Interpolated
            }
            PosePresentation::Simulated => pb::kind::Sync::Simulated,
        };
        Self {
            name: kind.name.clone(),
            components,
            inner,
            outer,
            freshness,
            sync: sync.into(),
            steered: kind.presentation == PosePresentation::Steered,
            projectile: kind.is_projectile,
            reckoning: kind.reckoning.map(pb::DeadReckoning::from),
        }
    }
}

impl From<DeadReckoning> for pb::DeadReckoning {
    fn from(reckoning: DeadReckoning) -> Self {
        use pb::dead_reckoning::{Curve, Order};
        let order = match reckoning.order {
            ReckoningOrder::First => Order::First,
            ReckoningOrder::Second => Order::Second,
            ReckoningOrder::Automatic => Order::Automatic,
            ReckoningOrder::Own => Order::Own,
        };
        let (convergence, convergence_ms) = match reckoning.convergence {
            Convergence::Decaying => (Curve::Decaying, 0),
            Convergence::Linear(ms) => (Curve::Linear, ms),
            Convergence::Cubic(ms) => (Curve::Cubic, ms),
        };
        Self {
            order: order.into(),
            tolerance_m: reckoning.tolerance_m,
            tolerance_per_m: reckoning.tolerance_per_m,
            convergence: convergence.into(),
            convergence_ms,
        }
    }
}

impl From<&ComponentSpec> for pb::Component {
    fn from(component: &ComponentSpec) -> Self {
        let audience = match component.audience {
            ComponentAudience::Public => pb::component::Audience::Public,
            ComponentAudience::Owner => pb::component::Audience::Owner,
            ComponentAudience::Team => pb::component::Audience::Team,
            ComponentAudience::Server => pb::component::Audience::Server,
        };
        let codec = match &component.codec {
            Codec::Path => PbCodec::Path(pb::Path {}),
            &Codec::Gauge { max } => PbCodec::Gauge(pb::Gauge { max }),
            Codec::Flag => PbCodec::Flag(pb::Flag {}),
            &Codec::Number { min, max } => PbCodec::Number(pb::Number { min, max }),
            Codec::Decimal(DecimalFormat::Half) => PbCodec::Half(pb::Half {}),
            Codec::Decimal(DecimalFormat::Angle) => PbCodec::Angle(pb::Angle {}),
            &Codec::Text { max_bytes } => PbCodec::Text(pb::Text { max_bytes }),
            &Codec::Counts(CountedChoice { command, field, names, max, list: _ }) => {
                PbCodec::Counts(pb::Counts {
                    command: command.into(),
                    field: field.into(),
                    names: names.into(),
                    max,
                })
            }
            &Codec::Bytes { max_bytes } => PbCodec::Bytes(pb::Bytes { max_bytes }),
            Codec::Rows(RowFormat { fields, max, are_obstacles }) => PbCodec::Rows(pb::Rows {
                fields: fields.iter().map(pb::Field::from).collect(),
                max: *max,
                are_obstacles: *are_obstacles,
            }),
            Codec::Pose(format) => PbCodec::Pose(format.into()),
        };
        Self { name: component.name.clone(), audience: audience.into(), codec: Some(codec) }
    }
}

impl From<&PoseFormat> for pb::Pose {
    fn from(format: &PoseFormat) -> Self {
        let turn = match format.turn {
            Turning::Fixed => PbTurn::Fixed(pb::pose::Fixed {}),
            Turning::Yaw { bits } => PbTurn::Yaw(pb::pose::Yaw { bits: bits.into() }),
            Turning::Free { bits } => PbTurn::Free(pb::pose::Free { bits: bits.into() }),
        };
        let motion = format.motion.map(|MotionFormat { linear, angular }| pb::pose::Motion {
            linear: linear.into(),
            angular: angular.into(),
        });
        Self { per_metre: format.per_metre.into(), turn: Some(turn), motion }
    }
}

impl From<&EventKind> for pb::EventKind {
    fn from(event: &EventKind) -> Self {
        Self {
            name: event.name.clone(),
            fields: event.fields.iter().map(pb::Field::from).collect(),
        }
    }
}

impl From<&CommandKind> for pb::CommandKind {
    fn from(command: &CommandKind) -> Self {
        Self {
            name: command.name.clone(),
            newest_only: command.newest_only,
            fields: command.fields.iter().map(pb::Field::from).collect(),
        }
    }
}

impl From<&RefusalKind> for pb::RefusalKind {
    fn from(refusal: &RefusalKind) -> Self {
        Self { name: refusal.name.clone() }
    }
}

impl From<&FieldSpec> for pb::Field {
    fn from(field: &FieldSpec) -> Self {
        let ty = match &field.ty {
            FieldType::Object => PbType::Object(pb::field::Object {}),
            FieldType::Position => PbType::Position(pb::field::Position {}),
            &FieldType::Number { min, max } => PbType::Number(pb::Number { min, max }),
            FieldType::Choice(names) => PbType::Choice(pb::field::Choice { names: names.clone() }),
            &FieldType::Text { max_bytes } => PbType::Text(pb::Text { max_bytes }),
            FieldType::Decimal(DecimalFormat::Half) => PbType::Half(pb::Half {}),
            FieldType::Decimal(DecimalFormat::Angle) => PbType::Angle(pb::Angle {}),
        };
        Self { name: field.name.clone(), r#type: Some(ty), optional: field.optional }
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    #[test]
    fn a_schema_survives_conversion_and_back() {
        for schema in [Schema::example(), Schema::example_with_poses()] {
            let bytes = pb::Schema::from(&schema).encode_to_vec();
            let message = pb::Schema::decode(bytes.as_slice()).expect("the encoding is valid");
            let block = schema.presentation.to_block();
            assert_eq!(Schema::from_message(message.clone(), &block), Ok(schema.clone()));
            let without = Schema { presentation: Presentation::default(), ..schema };
            assert_eq!(Schema::from_message(message, ""), Ok(without));
        }
    }

    #[test]
    fn an_unknown_value_is_an_error_that_names_its_path() {
        check("schema, kind \"avatar\", component \"health\"", "codec", |schema| {
            schema.kinds[0].components[1].codec = None;
        });
        check("schema, kind \"avatar\", component \"health\"", "audience", |schema| {
            schema.kinds[0].components[1].audience = 7;
        });
        check("schema, event \"hit\", field \"where\"", "type", |schema| {
            schema.events[0].fields[1].r#type = None;
        });
    }

    #[test]
    fn an_axis_of_an_unknown_kind_is_an_error() {
        check("schema, control \"left\"", "axis", |schema| schema.controls[0].axis = 9);
    }

    #[test]
    fn radii_out_of_range_are_refused() {
        let mut message = pb::Schema::from(&Schema::example());
        message.kinds[1].outer = 65_536;
        let refusal = Schema::try_from(message).expect_err("17 bits");
        assert_eq!(refusal.problem, SchemaProblem::BadInterestRadii { inner: 0, outer: 65_536 });
        assert!(
            refusal.to_string().starts_with("schema, kind \"stone\": the outer radius"),
            "{refusal}"
        );
    }

    #[test]
    fn a_converted_schema_is_checked() {
        let mut message = pb::Schema::from(&Schema::example());
        message.kinds[0].components.swap(0, 1);
        assert_eq!(
            Schema::try_from(message).map_err(|error| error.problem),
            Err(SchemaProblem::NoPosition)
        );
        let message =
            pb::Schema { kinds: vec![pb::Kind::default(); 1_000], ..pb::Schema::default() };
        let too_many = SchemaProblem::TooMany { what: "kinds", count: 1_000, max: 64 };
        assert_eq!(Schema::try_from(message).map_err(|error| error.problem), Err(too_many));
    }

    fn check(place: &str, what: &'static str, break_it: impl FnOnce(&mut pb::Schema)) {
        let mut message = pb::Schema::from(&Schema::example());
        break_it(&mut message);
        let refusal = SchemaError { place: place.into(), problem: SchemaProblem::Unknown { what } };
        assert_eq!(Schema::try_from(message), Err(refusal));
    }
}
