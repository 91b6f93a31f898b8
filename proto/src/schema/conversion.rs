//! Conversion between a schema and its message in `Joined`.
//!
//! A message becomes a [`Schema`] for which [`Schema::check`] holds, or an error that names the
//! position. Any schema becomes a message: a host checks its game's schema when the room begins.

use super::{
    Camera, ChoiceAbout, Codec, CommandKind, ComponentAudience, ComponentSpec, ControlSpec,
    Convergence, Cost, DeadReckoning, Direction, Effect, EffectForm, EventKind, FieldSpec,
    FieldType, Freshness, InterestRadii, Look, MAX_CHOICES, MAX_COMMANDS, MAX_COMPONENTS,
    MAX_EVENTS, MAX_FIELDS, MAX_KEYS, MAX_KINDS, MAX_OBSTACLE_LOOKS, MAX_REFUSALS, Material,
    ObjectKind, ObstacleLook, PosePresentation, ReckoningOrder, RefusalKind, ScenerySpec, Schema,
    SchemaError, SchemaPath, SchemaProblem, Shape, WalkSpec, WalkSpeed,
};
use crate::axes::AxisKind;
use crate::control::game as pb;
use crate::control::game::command_kind::walk::Speed as PbWalkSpeed;
use crate::control::game::component::Codec as PbCodec;
use crate::control::game::control::{Axis as PbAxis, Direction as PbDirection};
use crate::control::game::field::Type as PbType;
use crate::control::game::pose::Turn as PbTurn;
use crate::decimal::DecimalFormat;
use crate::keymap::CONTROLS;
use crate::pose::{MotionFormat, PoseFormat, Turning};

impl TryFrom<pb::Schema> for Schema {
    type Error = SchemaError;

    fn try_from(message: pb::Schema) -> Result<Self, SchemaError> {
        let place = SchemaPath::root();
        // Limits come first, before anything is built: `check` would be too late.
        place.check_count("kinds", message.kinds.len(), MAX_KINDS)?;
        place.check_count("events", message.events.len(), MAX_EVENTS)?;
        place.check_count("commands", message.commands.len(), MAX_COMMANDS)?;
        place.check_count("refusals", message.refusals.len(), MAX_REFUSALS)?;
        place.check_count("controls", message.controls.len(), CONTROLS.into())?;
        let schema = Self {
            game: message.game,
            kinds: message
                .kinds
                .into_iter()
                .map(|kind| read_kind(&place, kind))
                .collect::<Result<_, _>>()?,
            events: message
                .events
                .into_iter()
                .map(|event| read_event(&place, event))
                .collect::<Result<_, _>>()?,
            commands: message
                .commands
                .into_iter()
                .map(|command| read_command(&place, command))
                .collect::<Result<_, _>>()?,
            refusals: message
                .refusals
                .into_iter()
                .map(|pb::RefusalKind { name, text }| RefusalKind { name, text })
                .collect(),
            controls: message
                .controls
                .into_iter()
                .map(|control| read_control(&place, control))
                .collect::<Result<_, _>>()?,
            scenery: read_scenery(&place, message.scenery.unwrap_or_default())?,
        };
        schema.check()?;
        Ok(schema)
    }
}

fn read_kind(place: &SchemaPath, message: pb::Kind) -> Result<ObjectKind, SchemaError> {
    let place = place.child("kind", &message.name);
    place.check_count("components", message.components.len(), MAX_COMPONENTS)?;
    let sight = read_sight(&place, message.inner, message.outer)?;
    let freshness = message.freshness.map_or_else(Freshness::default, |message| Freshness {
        engaged_ms: message.engaged_ms,
        near_m: message.near_m,
        near_ms: message.near_ms,
        far_ms: message.far_ms,
    });
    let components =
        message.components.into_iter().map(|component| read_component(&place, component));
    let sync = match message.sync.try_into() {
        Ok(pb::kind::Sync::Interpolated) if message.steered => PosePresentation::Steered,
        Ok(pb::kind::Sync::Interpolated) => PosePresentation::Interpolated,
        Ok(pb::kind::Sync::Simulated) => PosePresentation::Simulated,
        Err(_) => {
            return Err(place.error(SchemaProblem::Unknown { what: "presentation of poses" }));
        }
    };
    let reckoning = message.reckoning.map(|message| read_reckoning(&place, message)).transpose()?;
    let look = read_look(&place, message.look)?;
    Ok(ObjectKind {
        name: message.name,
        label: message.label,
        components: components.collect::<Result<_, _>>()?,
        interest_radii: sight,
        freshness,
        presentation: sync,
        is_projectile: message.projectile,
        reckoning,
        look,
        effect: read_effect(message.effect),
    })
}

fn read_reckoning(
    place: &SchemaPath,
    message: pb::DeadReckoning,
) -> Result<DeadReckoning, SchemaError> {
    use pb::dead_reckoning::{Curve, Order};
    let unknown = |what| place.error(SchemaProblem::Unknown { what });
    let order = match message.order.try_into() {
        Ok(Order::First) => ReckoningOrder::First,
        Ok(Order::Second) => ReckoningOrder::Second,
        Ok(Order::Automatic) => ReckoningOrder::Automatic,
        Ok(Order::Own) => ReckoningOrder::Own,
        Err(_) => return Err(unknown("order of dead reckoning")),
    };
    let convergence = match message.convergence.try_into() {
        Ok(Curve::Decaying) => Convergence::Decaying,
        Ok(Curve::Linear) => Convergence::Linear(message.convergence_ms),
        Ok(Curve::Cubic) => Convergence::Cubic(message.convergence_ms),
        Err(_) => return Err(unknown("curve of dead reckoning")),
    };
    let (tolerance_m, tolerance_per_m) = (message.tolerance_m, message.tolerance_per_m);
    Ok(DeadReckoning { order, tolerance_m, tolerance_per_m, convergence })
}

fn read_control(place: &SchemaPath, message: pb::Control) -> Result<ControlSpec, SchemaError> {
    let place = place.child("control", &message.name);
    place.check_count("keys", message.keys.len(), MAX_KEYS)?;
    let direction = match message.direction.try_into() {
        Ok(PbDirection::None) => None,
        Ok(PbDirection::East) => Some(Direction::East),
        Ok(PbDirection::North) => Some(Direction::North),
        Ok(PbDirection::West) => Some(Direction::West),
        Ok(PbDirection::South) => Some(Direction::South),
        Err(_) => return Err(place.error(SchemaProblem::Unknown { what: "direction" })),
    };
    let axis = match message.axis.try_into() {
        Ok(PbAxis::NoAxis) => None,
        Ok(PbAxis::Linear) => Some(AxisKind::Linear),
        Ok(PbAxis::Angle) => Some(AxisKind::Angle),
        Ok(PbAxis::ShownBehind) => Some(AxisKind::ShownBehind),
        Err(_) => return Err(place.error(SchemaProblem::Unknown { what: "axis" })),
    };
    Ok(ControlSpec {
        name: message.name,
        label: message.label,
        help: message.help,
        keys: message.keys,
        is_tapped: message.tapped,
        direction,
        axis,
    })
}

fn read_scenery(place: &SchemaPath, message: pb::Scenery) -> Result<ScenerySpec, SchemaError> {
    place.check_count("looks of obstacles", message.obstacles.len(), MAX_OBSTACLE_LOOKS)?;
    let unknown = |what| place.error(SchemaProblem::Unknown { what });
    let camera = match message.camera.try_into() {
        Ok(pb::scenery::Camera::Around) => Camera::Around,
        Ok(pb::scenery::Camera::Above) => Camera::Above,
        Err(_) => return Err(unknown("camera")),
    };
    let looks = message.obstacles.into_iter().map(|look| {
        let glyph = char::from_u32(look.glyph).ok_or_else(|| unknown("glyph"))?;
        Ok(ObstacleLook { glyph, colour: look.colour })
    });
    Ok(ScenerySpec {
        camera,
        ground: message.ground,
        has_grid: !message.no_grid,
        has_party: message.party,
        obstacles: looks.collect::<Result<_, _>>()?,
    })
}

fn read_look(place: &SchemaPath, message: Option<pb::Look>) -> Result<Look, SchemaError> {
    let Some(message) = message else {
        return Ok(Look::default());
    };
    let unknown = |what| place.error(SchemaProblem::Unknown { what });
    let shape = match message.shape.try_into() {
        Ok(pb::look::Shape::Disc) => Shape::Disc,
        Ok(pb::look::Shape::Box) => Shape::Box,
        Ok(pb::look::Shape::Arrow) => Shape::Arrow,
        Ok(pb::look::Shape::Point) => Shape::Point,
        Err(_) => return Err(unknown("shape")),
    };
    let material = match message.material.try_into() {
        Ok(pb::look::Material::Metal) => Material::Metal,
        Ok(pb::look::Material::Glow) => Material::Glow,
        Ok(pb::look::Material::Matte) | Err(_) => Material::Matte,
    };
    Ok(Look {
        glyph: char::from_u32(message.glyph).ok_or_else(|| unknown("glyph"))?,
        shape,
        colour: message.colour,
        material,
        size_m: message.size,
        bar: message.bar.map(narrow_index),
        label: message.label.map(narrow_index),
    })
}

/// A form that this build does not know is not shown: it is only a hint.
fn read_effect(message: Option<pb::Effect>) -> Option<Effect> {
    let message = message?;
    let form = match message.form.try_into() {
        Ok(pb::effect::Form::Cast) => EffectForm::Cast,
        Ok(pb::effect::Form::Hit) => EffectForm::Hit,
        Ok(pb::effect::Form::Heal) => EffectForm::Heal,
        Ok(pb::effect::Form::Arrival) => EffectForm::Arrival,
        Ok(pb::effect::Form::Death) => EffectForm::Death,
        Ok(pb::effect::Form::Blast) => EffectForm::Blast,
        Ok(pb::effect::Form::Ring) => EffectForm::Ring,
        Ok(pb::effect::Form::Beam) => EffectForm::Beam,
        Ok(pb::effect::Form::Warning) => EffectForm::Warning,
        Err(_) => return None,
    };
    Some(Effect {
        form,
        colour: message.colour,
        size_m: message.size,
        at: message.at.map(narrow_index),
        from: message.from.map(narrow_index),
        reach: message.reach.map(narrow_index),
        due: message.due.map(narrow_index),
    })
}

/// No list is so long that it has an item of the highest index: `check` refuses it.
fn narrow_index(index: u32) -> u8 {
    u8::try_from(index).unwrap_or(u8::MAX)
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
        Err(_) => return Err(place.error(SchemaProblem::Unknown { what: "audience" })),
    };
    let codec = match message.codec {
        Some(PbCodec::Path(pb::Path {})) => Codec::Path,
        Some(PbCodec::Gauge(pb::Gauge { max })) => Codec::Gauge { max },
        Some(PbCodec::Flag(pb::Flag {})) => Codec::Flag,
        Some(PbCodec::Number(pb::Number { min, max })) => Codec::Number { min, max },
        Some(PbCodec::Half(pb::Half {})) => Codec::Decimal(DecimalFormat::Half),
        Some(PbCodec::Angle(pb::Angle {})) => Codec::Decimal(DecimalFormat::Angle),
        Some(PbCodec::Text(pb::Text { max_bytes })) => Codec::Text { max_bytes },
        Some(PbCodec::Pose(pose)) => Codec::Pose(read_pose(&place, pose)?),
        None => return Err(place.error(SchemaProblem::Unknown { what: "codec" })),
    };
    let effect = read_effect(message.effect);
    let (name, label, unit) = (message.name, message.label, message.unit);
    Ok(ComponentSpec { name, label, codec, audience, effect, unit })
}

fn read_pose(place: &SchemaPath, message: pb::Pose) -> Result<PoseFormat, SchemaError> {
    // A value that does not fit in 8 bits is also beyond the limits that `check` knows.
    let narrow = |bits: u32| u8::try_from(bits).unwrap_or(u8::MAX);
    let turn = match message.turn {
        Some(PbTurn::Fixed(pb::pose::Fixed {})) => Turning::Fixed,
        Some(PbTurn::Yaw(pb::pose::Yaw { bits })) => Turning::Yaw { bits: narrow(bits) },
        Some(PbTurn::Free(pb::pose::Free { bits })) => Turning::Free { bits: narrow(bits) },
        None => {
            return Err(place.error(SchemaProblem::Unknown { what: "orientation of poses" }));
        }
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
    let effect = read_effect(message.effect);
    let fields = read_fields(&place, message.fields)?;
    Ok(EventKind { name: message.name, fields, effect, text: message.text })
}

fn read_command(place: &SchemaPath, message: pb::CommandKind) -> Result<CommandKind, SchemaError> {
    let place = place.child("command", &message.name);
    Ok(CommandKind {
        name: message.name,
        label: message.label,
        help: message.help,
        key: Some(message.key).filter(|key| !key.is_empty()),
        newest_only: message.newest_only,
        only_for: message.only_for,
        walk: message.walk.and_then(read_walk),
        fields: read_fields(&place, message.fields)?,
    })
}

/// A hint: `None` for one of a kind that this build does not know.
fn read_walk(message: pb::command_kind::Walk) -> Option<WalkSpec> {
    let speed = match message.speed? {
        PbWalkSpeed::MPerS(m_per_s) => WalkSpeed::Constant(m_per_s),
        PbWalkSpeed::SpeedIn(name) => WalkSpeed::Component(name),
    };
    Some(WalkSpec { speed, radius_m: message.radius_m })
}

fn read_fields(
    place: &SchemaPath,
    messages: Vec<pb::Field>,
) -> Result<Vec<FieldSpec>, SchemaError> {
    place.check_count("fields", messages.len(), MAX_FIELDS)?;
    messages.into_iter().map(|field| read_field(place, field)).collect()
}

fn read_field(place: &SchemaPath, message: pb::Field) -> Result<FieldSpec, SchemaError> {
    let place = place.child("field", &message.name);
    let (mut choices, mut listed_in) = (Vec::new(), String::new());
    let ty = match message.r#type {
        Some(PbType::Object(pb::field::Object {})) => FieldType::Object,
        Some(PbType::Position(pb::field::Position {})) => FieldType::Position,
        Some(PbType::Number(pb::Number { min, max })) => FieldType::Number { min, max },
        Some(PbType::Choice(pb::field::Choice { names, about, listed_in: list })) => {
            listed_in = list;
            place.check_count("choices", names.len(), MAX_CHOICES)?;
            place.check_count("texts about choices", about.len(), names.len())?;
            choices = about.into_iter().map(ChoiceAbout::from).collect();
            FieldType::Choice(names)
        }
        Some(PbType::Text(pb::Text { max_bytes })) => FieldType::Text { max_bytes },
        Some(PbType::Half(pb::Half {})) => FieldType::Decimal(DecimalFormat::Half),
        Some(PbType::Angle(pb::Angle {})) => FieldType::Decimal(DecimalFormat::Angle),
        None => return Err(place.error(SchemaProblem::Unknown { what: "type" })),
    };
    let (name, label, optional) = (message.name, message.label, message.optional);
    Ok(FieldSpec { name, ty, optional, label, choices, listed_in })
}

impl From<pb::field::choice::About> for ChoiceAbout {
    fn from(message: pb::field::choice::About) -> Self {
        let pb::field::choice::About { label, help, cooldown_ms, only_for, alone, reach_cm, cost } =
            message;
        let cost = cost.map(|pb::field::choice::Cost { of, amount }| Cost { of, amount });
        Self { label, help, cooldown_ms, only_for, alone, reach_cm, cost }
    }
}

impl From<&ChoiceAbout> for pb::field::choice::About {
    fn from(about: &ChoiceAbout) -> Self {
        let ChoiceAbout { label, help, cooldown_ms, only_for, alone, reach_cm, cost } =
            about.clone();
        let cost = cost.map(|Cost { of, amount }| pb::field::choice::Cost { of, amount });
        Self { label, help, cooldown_ms, only_for, alone, reach_cm, cost }
    }
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
            scenery: Some((&schema.scenery).into()),
        }
    }
}

impl From<&ScenerySpec> for pb::Scenery {
    fn from(scenery: &ScenerySpec) -> Self {
        let camera = match scenery.camera {
            Camera::Around => pb::scenery::Camera::Around,
            Camera::Above => pb::scenery::Camera::Above,
        };
        let looks = scenery.obstacles.iter();
        let looks = looks.map(|&ObstacleLook { glyph, colour }| pb::ObstacleLook {
            glyph: glyph.into(),
            colour,
        });
        Self {
            camera: camera.into(),
            ground: scenery.ground,
            no_grid: !scenery.has_grid,
            party: scenery.has_party,
            obstacles: looks.collect(),
        }
    }
}

impl From<&ControlSpec> for pb::Control {
    fn from(control: &ControlSpec) -> Self {
        let direction = match control.direction {
            None => PbDirection::None,
            Some(Direction::East) => PbDirection::East,
            Some(Direction::North) => PbDirection::North,
            Some(Direction::West) => PbDirection::West,
            Some(Direction::South) => PbDirection::South,
        };
        let axis = match control.axis {
            None => PbAxis::NoAxis,
            Some(AxisKind::Linear) => PbAxis::Linear,
            Some(AxisKind::Angle) => PbAxis::Angle,
            Some(AxisKind::ShownBehind) => PbAxis::ShownBehind,
        };
        Self {
            name: control.name.clone(),
            label: control.label.clone(),
            help: control.help.clone(),
            keys: control.keys.clone(),
            tapped: control.is_tapped,
            direction: direction.into(),
            axis: axis.into(),
        }
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
            label: kind.label.clone(),
            components,
            inner,
            outer,
            freshness,
            sync: sync.into(),
            steered: kind.presentation == PosePresentation::Steered,
            projectile: kind.is_projectile,
            reckoning: kind.reckoning.map(pb::DeadReckoning::from),
            look: Some((&kind.look).into()),
            effect: kind.effect.map(Into::into),
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

impl From<&Look> for pb::Look {
    fn from(look: &Look) -> Self {
        let shape = match look.shape {
            Shape::Disc => pb::look::Shape::Disc,
            Shape::Box => pb::look::Shape::Box,
            Shape::Arrow => pb::look::Shape::Arrow,
            Shape::Point => pb::look::Shape::Point,
        };
        let material = match look.material {
            Material::Matte => pb::look::Material::Matte,
            Material::Metal => pb::look::Material::Metal,
            Material::Glow => pb::look::Material::Glow,
        };
        Self {
            glyph: look.glyph.into(),
            shape: shape.into(),
            colour: look.colour,
            size: look.size_m,
            bar: look.bar.map(Into::into),
            label: look.label.map(Into::into),
            material: material.into(),
        }
    }
}

impl From<Effect> for pb::Effect {
    fn from(effect: Effect) -> Self {
        let form = match effect.form {
            EffectForm::Cast => pb::effect::Form::Cast,
            EffectForm::Hit => pb::effect::Form::Hit,
            EffectForm::Heal => pb::effect::Form::Heal,
            EffectForm::Arrival => pb::effect::Form::Arrival,
            EffectForm::Death => pb::effect::Form::Death,
            EffectForm::Blast => pb::effect::Form::Blast,
            EffectForm::Ring => pb::effect::Form::Ring,
            EffectForm::Beam => pb::effect::Form::Beam,
            EffectForm::Warning => pb::effect::Form::Warning,
        };
        Self {
            form: form.into(),
            colour: effect.colour,
            size: effect.size_m,
            at: effect.at.map(Into::into),
            from: effect.from.map(Into::into),
            reach: effect.reach.map(Into::into),
            due: effect.due.map(Into::into),
        }
    }
}

impl From<&ComponentSpec> for pb::Component {
    fn from(component: &ComponentSpec) -> Self {
        let audience = match component.audience {
            ComponentAudience::Public => pb::component::Audience::Public,
            ComponentAudience::Owner => pb::component::Audience::Owner,
            ComponentAudience::Team => pb::component::Audience::Team,
        };
        let codec = match component.codec {
            Codec::Path => PbCodec::Path(pb::Path {}),
            Codec::Gauge { max } => PbCodec::Gauge(pb::Gauge { max }),
            Codec::Flag => PbCodec::Flag(pb::Flag {}),
            Codec::Number { min, max } => PbCodec::Number(pb::Number { min, max }),
            Codec::Decimal(DecimalFormat::Half) => PbCodec::Half(pb::Half {}),
            Codec::Decimal(DecimalFormat::Angle) => PbCodec::Angle(pb::Angle {}),
            Codec::Text { max_bytes } => PbCodec::Text(pb::Text { max_bytes }),
            Codec::Pose(format) => PbCodec::Pose((&format).into()),
        };
        Self {
            name: component.name.clone(),
            label: component.label.clone(),
            unit: component.unit.clone(),
            audience: audience.into(),
            effect: component.effect.map(Into::into),
            codec: Some(codec),
        }
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
            effect: event.effect.map(Into::into),
            text: event.text.clone(),
        }
    }
}

impl From<&CommandKind> for pb::CommandKind {
    fn from(command: &CommandKind) -> Self {
        Self {
            name: command.name.clone(),
            label: command.label.clone(),
            help: command.help.clone(),
            key: command.key.clone().unwrap_or_default(),
            newest_only: command.newest_only,
            only_for: command.only_for.clone(),
            walk: command.walk.as_ref().map(Into::into),
            fields: command.fields.iter().map(pb::Field::from).collect(),
        }
    }
}

impl From<&WalkSpec> for pb::command_kind::Walk {
    fn from(walk: &WalkSpec) -> Self {
        let speed = match &walk.speed {
            &WalkSpeed::Constant(m_per_s) => PbWalkSpeed::MPerS(m_per_s),
            WalkSpeed::Component(name) => PbWalkSpeed::SpeedIn(name.clone()),
        };
        Self { speed: Some(speed), radius_m: walk.radius_m }
    }
}

impl From<&RefusalKind> for pb::RefusalKind {
    fn from(refusal: &RefusalKind) -> Self {
        Self { name: refusal.name.clone(), text: refusal.text.clone() }
    }
}

impl From<&FieldSpec> for pb::Field {
    fn from(field: &FieldSpec) -> Self {
        let ty = match &field.ty {
            FieldType::Object => PbType::Object(pb::field::Object {}),
            FieldType::Position => PbType::Position(pb::field::Position {}),
            &FieldType::Number { min, max } => PbType::Number(pb::Number { min, max }),
            FieldType::Choice(names) => PbType::Choice(pb::field::Choice {
                names: names.clone(),
                about: field.choices.iter().map(Into::into).collect(),
                listed_in: field.listed_in.clone(),
            }),
            &FieldType::Text { max_bytes } => PbType::Text(pb::Text { max_bytes }),
            FieldType::Decimal(DecimalFormat::Half) => PbType::Half(pb::Half {}),
            FieldType::Decimal(DecimalFormat::Angle) => PbType::Angle(pb::Angle {}),
        };
        let (name, label, optional) = (field.name.clone(), field.label.clone(), field.optional);
        Self { name, label, r#type: Some(ty), optional }
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
            assert_eq!(Schema::try_from(message), Ok(schema));
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
    fn a_look_that_does_not_decode_is_an_error() {
        check("schema, kind \"avatar\"", "shape", |schema| {
            schema.kinds[0].look.as_mut().expect("it is set").shape = 9;
        });
        check("schema, kind \"avatar\"", "glyph", |schema| {
            schema.kinds[0].look.as_mut().expect("it is set").glyph = 0xd800;
        });
    }

    #[test]
    fn hints_that_this_build_does_not_know_are_ignored() {
        let mut message = pb::Schema::from(&Schema::example());
        message.events[0].effect.as_mut().expect("it is set").form = 99;
        message.kinds[0].look.as_mut().expect("it is set").material = 99;
        let read = Schema::try_from(message).expect("only hints are unknown");
        assert_eq!(read.events[0].effect, None);
        assert_eq!(read.kinds[0].look.material, Material::Matte);
        assert_eq!(read.kinds[0].effect, Schema::example().kinds[0].effect);
    }

    #[test]
    fn a_scenery_that_does_not_decode_is_an_error() {
        check("schema", "camera", |schema| {
            schema.scenery.as_mut().expect("it is set").camera = 2;
        });
        check("schema", "glyph", |schema| {
            schema.scenery.as_mut().expect("it is set").obstacles[0].glyph = 0xd800;
        });
        let mut message = pb::Schema::from(&Schema::example());
        message.scenery = None;
        let read = Schema::try_from(message).expect("a schema without a scenery");
        assert_eq!(read.scenery, ScenerySpec::default());
    }

    #[test]
    fn a_control_in_an_unknown_direction_is_an_error() {
        check("schema, control \"left\"", "direction", |schema| {
            schema.controls[0].direction = 9;
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
