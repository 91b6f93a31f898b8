//! Whether a presentation fits a schema, and can be shown.

use super::{
    ChoicePresentation, CommandPresentation, Condition, ControlPresentation, Effect,
    EventPresentation, FieldPresentation, KindPresentation, Look, MAX_KEYS, MAX_OBSTACLE_LOOKS,
    MAX_VARIANTS, Presentation, ScenerySpec, WalkSpec, WalkSpeed,
};
use crate::axes::AxisKind;
use crate::schema::{
    Codec, CommandKind, ComponentSpec, ControlSpec, EventKind, FieldSpec, FieldType, MAX_CHOICES,
    MAX_NAME_BYTES, MAX_UNIT_BYTES, ObjectKind, Schema, SchemaError, SchemaPath, SchemaProblem,
};

impl Presentation {
    /// Checks the invariants of the module.
    pub(crate) fn check(&self, schema: &Schema, place: &SchemaPath) -> Result<(), SchemaError> {
        place.check_count("presentations of kinds", self.kinds.len(), schema.kinds.len())?;
        place.check_count("presentations of events", self.events.len(), schema.events.len())?;
        place.check_count(
            "presentations of commands",
            self.commands.len(),
            schema.commands.len(),
        )?;
        place.check_count("texts of refusals", self.refusals.len(), schema.refusals.len())?;
        place.check_count(
            "presentations of controls",
            self.controls.len(),
            schema.controls.len(),
        )?;
        for (shown, kind) in self.kinds.iter().zip(&schema.kinds) {
            shown.check(kind, &place.child("kind", &kind.name))?;
        }
        for (shown, event) in self.events.iter().zip(&schema.events) {
            shown.check(event, &place.child("event", &event.name))?;
        }
        for (shown, command) in self.commands.iter().zip(&schema.commands) {
            shown.check(command, &place.child("command", &command.name))?;
        }
        for (shown, refusal) in self.refusals.iter().zip(&schema.refusals) {
            let place = place.child("refusal", &refusal.name);
            place.ensure(!shown.text.is_empty(), || SchemaProblem::BadUserText)?;
            place.check_user_text(&shown.text)?;
        }
        self.check_controls(&schema.controls, place)?;
        let numbers = self.gates.iter().flat_map(|gate| [gate.low, gate.high]).flatten();
        place.ensure(numbers.into_iter().all(f32::is_finite), || SchemaProblem::BadGate)?;
        place.ensure(self.scenery.can_be_drawn(), || SchemaProblem::BadScenery {
            scenery: self.scenery.clone(),
        })
    }

    fn check_controls(&self, specs: &[ControlSpec], place: &SchemaPath) -> Result<(), SchemaError> {
        place.check_words("key", self.controls.iter().flat_map(|control| &control.keys))?;
        for (shown, spec) in self.controls.iter().zip(specs) {
            let place = place.child("control", &spec.name);
            place.check_count("keys", shown.keys.len(), MAX_KEYS)?;
            place.check_label(&shown.label)?;
            place.check_user_text(&shown.help)?;
            let mut same = self.controls.iter().filter(|it| it.direction == shown.direction);
            let is_unique = shown.direction.is_none() || same.nth(1).is_none();
            place.ensure(is_unique, || SchemaProblem::DirectionTaken)?;
            place.ensure(shown.fits(spec), || SchemaProblem::BadAxis)?;
        }
        Ok(())
    }
}

impl ControlPresentation {
    /// Whether it has nothing that is only for other controls.
    fn fits(&self, spec: &ControlSpec) -> bool {
        match spec.axis {
            None => true,
            Some(_) if self.direction.is_some() => false,
            Some(AxisKind::Linear) => self.keys.len().is_multiple_of(2),
            Some(AxisKind::Angle | AxisKind::ShownBehind) => self.keys.is_empty(),
        }
    }
}

impl KindPresentation {
    fn check(&self, kind: &ObjectKind, place: &SchemaPath) -> Result<(), SchemaError> {
        place.check_label(&self.label)?;
        let count = self.components.len();
        place.check_count("presentations of components", count, kind.components.len())?;
        for (shown, component) in self.components.iter().zip(&kind.components) {
            let place = place.child("component", &component.name);
            place.check_label(&shown.label)?;
            place.ensure(shown.unit.len() <= MAX_UNIT_BYTES, || SchemaProblem::BadLabel)?;
            place.check_label(&shown.unit)?;
            let is_text = matches!(component.codec, Codec::Text { .. });
            let fits = (is_text || shown.role.is_none() && shown.words.is_empty())
                && (component.codec == Codec::Flag || shown.sign.is_none());
            place.ensure(fits, || SchemaProblem::BadMeaning)?;
            place.check_count("words of a text", shown.words.len(), MAX_CHOICES)?;
            for word in &shown.words {
                place.check_user_text(&word.is)?;
                place.check_label(&word.label)?;
            }
            let has_moments = matches!(component.codec, Codec::Flag | Codec::Gauge { .. });
            check_effect(&place, shown.effect, &[], has_moments)?;
        }
        check_effect(place, self.effect, &[], !kind.is_room_wide())?;
        place.check_count("variants", self.variants.len(), MAX_VARIANTS)?;
        for variant in &self.variants {
            place.check_user_text(&variant.of)?;
            place.ensure((0.1..=10.0).contains(&variant.size), || SchemaProblem::BadVariant)?;
        }
        let has_texts = self.variants.is_empty() || self.look.by.is_some();
        place.ensure(has_texts, || SchemaProblem::BadVariant)?;
        let look = self.look;
        place.ensure(look.can_be_drawn(&kind.components), || SchemaProblem::BadLook { look })
    }
}

impl EventPresentation {
    /// The fields that the texts name.
    fn named_in_text(&self) -> impl Iterator<Item = &str> {
        let parts = [&self.lead, &self.text].into_iter().flat_map(|text| text.split('{').skip(1));
        parts.map(|rest| rest.split_once('}').map_or("", |(name, _)| name))
    }

    fn check(&self, event: &EventKind, place: &SchemaPath) -> Result<(), SchemaError> {
        check_fields(&self.fields, &event.fields, place)?;
        place.check_user_text(&self.text)?;
        place.check_user_text(&self.lead)?;
        let has = |name: &str| event.fields.iter().any(|field| field.name == name);
        place.ensure(self.named_in_text().all(has), || SchemaProblem::BadEventText)?;
        check_effect(place, self.effect, &event.fields, true)
    }
}

impl CommandPresentation {
    fn check(&self, command: &CommandKind, place: &SchemaPath) -> Result<(), SchemaError> {
        place.check_label(&self.label)?;
        place.check_user_text(&self.help)?;
        check_condition(self.only_for.as_ref(), place)?;
        place.check_names("key", self.key.as_slice())?;
        let has_place = command.fields.iter().any(|field| field.ty == FieldType::Position);
        let is_walk_valid = |walk: &WalkSpec| has_place && walk.is_valid();
        place.ensure(self.walk.as_ref().is_none_or(is_walk_valid), || SchemaProblem::BadWalk)?;
        check_fields(&self.fields, &command.fields, place)
    }
}

impl WalkSpec {
    fn is_valid(&self) -> bool {
        let has_speed = match &self.speed {
            WalkSpeed::Constant(m_per_s) => m_per_s.is_finite() && *m_per_s > 0.0,
            WalkSpeed::Component(name) => (1..=MAX_NAME_BYTES).contains(&name.len()),
        };
        has_speed && self.radius_m.is_finite() && self.radius_m >= 0.0
    }
}

fn check_fields(
    shown: &[FieldPresentation],
    fields: &[FieldSpec],
    place: &SchemaPath,
) -> Result<(), SchemaError> {
    place.check_count("presentations of fields", shown.len(), fields.len())?;
    shown.iter().zip(fields).try_for_each(|(shown, field)| {
        let place = place.child("field", &field.name);
        place.check_label(&shown.label)?;
        place.check_user_text(&shown.listed_in)?;
        place.check_user_text(&shown.marked_in)?;
        place.check_user_text(&shown.sets)?;
        let names = if let FieldType::Choice(names) = &field.ty { names.as_slice() } else { &[] };
        place.check_count("texts about choices", shown.choices.len(), names.len())?;
        let mut choices = names.iter().zip(&shown.choices);
        choices.try_for_each(|(name, choice)| choice.check(&place.child("choice", name)))?;
        check_needs(names, &shown.choices, &place)
    })
}

/// Each choice needs others of the field, and all can be made, one after the other.
fn check_needs(
    names: &[String],
    choices: &[ChoicePresentation],
    place: &SchemaPath,
) -> Result<(), SchemaError> {
    if choices.iter().all(|choice| choice.needs.is_empty()) {
        return Ok(());
    }
    let mut missing: Vec<usize> = choices.iter().map(|choice| choice.needs.len()).collect();
    let mut leads_to = vec![Vec::new(); choices.len()];
    for (at, choice) in choices.iter().enumerate() {
        for need in &choice.needs {
            let needed = names.iter().take(choices.len()).position(|name| name == need);
            place.ensure(needed.is_some(), || SchemaProblem::BadNeeds)?;
            leads_to[needed.unwrap_or_default()].push(at);
        }
    }
    let mut free: Vec<usize> = (0..choices.len()).filter(|at| missing[*at] == 0).collect();
    let mut made = 0;
    while let Some(at) = free.pop() {
        made += 1;
        for next in &leads_to[at] {
            missing[*next] -= 1;
            if missing[*next] == 0 {
                free.push(*next);
            }
        }
    }
    place.ensure(made == choices.len(), || SchemaProblem::BadNeeds)
}

impl ChoicePresentation {
    fn check(&self, place: &SchemaPath) -> Result<(), SchemaError> {
        place.check_label(&self.label)?;
        place.check_user_text(&self.help)?;
        check_condition(self.only_for.as_ref(), place)?;
        let is_shown = self.tint.is_none_or(is_colour);
        place.ensure(is_shown, || SchemaProblem::BadTint)?;
        self.cost.iter().try_for_each(|cost| place.check_user_text(&cost.of))
    }
}

fn check_condition(condition: Option<&Condition>, place: &SchemaPath) -> Result<(), SchemaError> {
    let texts = condition.into_iter().flat_map(|Condition { of, is }| [of, is]);
    texts.into_iter().try_for_each(|text| place.check_user_text(text))
}

/// An effect where there can be one.
fn check_effect(
    place: &SchemaPath,
    effect: Option<Effect>,
    fields: &[FieldSpec],
    is_possible: bool,
) -> Result<(), SchemaError> {
    let Some(effect) = effect else {
        return Ok(());
    };
    let problem = || SchemaProblem::BadEffect { effect };
    place.ensure(is_possible && effect.can_be_shown(fields), problem)
}

impl Effect {
    /// Whether a viewer can show it of an event with these fields; without any, of an object.
    fn can_be_shown(&self, fields: &[FieldSpec]) -> bool {
        let field = |index: u8| fields.get(usize::from(index)).map(|field| &field.ty);
        let is_place =
            |index| matches!(field(index), Some(FieldType::Object | FieldType::Position));
        let is_number = |index| matches!(field(index), Some(FieldType::Number { .. }));
        is_colour(self.colour)
            && (0.01..=100.0).contains(&self.size_m)
            && self.at.is_none_or(is_place)
            && self.from.is_none_or(is_place)
            && self.reach.is_none_or(is_number)
            && self.due.is_none_or(is_number)
    }
}

impl Look {
    fn can_be_drawn(&self, components: &[ComponentSpec]) -> bool {
        let codec_of = |index: u8| components.get(usize::from(index)).map(|spec| &spec.codec);
        is_visible(self.glyph)
            && is_colour(self.colour)
            && (0.01..=1_000.0).contains(&self.size_m)
            && self.bar.is_none_or(|bar| matches!(codec_of(bar), Some(Codec::Gauge { .. })))
            && self.label.is_none_or(|text| matches!(codec_of(text), Some(Codec::Text { .. })))
            && self.by.is_none_or(|by| {
                let codec = codec_of(by);
                matches!(codec, Some(Codec::Text { .. } | Codec::Number { .. } | Codec::Flag))
            })
    }
}

impl ScenerySpec {
    fn can_be_drawn(&self) -> bool {
        self.obstacles.len() <= MAX_OBSTACLE_LOOKS
            && self.ground.is_none_or(is_colour)
            && self.obstacles.iter().all(|look| is_visible(look.glyph) && is_colour(look.colour))
    }
}

/// Whether a display of text shows something.
fn is_visible(glyph: char) -> bool {
    !(glyph.is_control() || glyph.is_whitespace())
}

fn is_colour(colour: u32) -> bool {
    colour <= 0xff_ffff
}
