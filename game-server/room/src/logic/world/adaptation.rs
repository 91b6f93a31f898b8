//! A world that was saved by a build with another schema becomes one of this build.
//!
//! A snapshot has the schema of the build that wrote it, as far as saved objects depend on it
//! ([`layout_of`]). If it is that of this build, nothing is to be done. Else kinds, components,
//! commands and controls are found by their names ([`Adaptation`]):
//!
//! - a component that is new has its first value: a gauge is full, a flag off, a number 0 or the
//!   nearest one to it, a text, bytes and rows empty;
//! - one that is gone is dropped, and so are the objects of a kind that is gone;
//! - a value that its component cannot have any more becomes the nearest one that it can have, and
//!   a pose is rounded to the new grid; counts go by the names of what is counted, the values of
//!   rows by those of their fields, and the last rows beyond the new maximum are dropped;
//! - a place stays where it is: a path becomes a pose there, and the reverse;
//! - a component of another type is an error that names it.
//!
//! The layout costs some hundred bytes of each snapshot.

use ambit_proto::control::game as pb;
use ambit_proto::counts::Counts;
use ambit_proto::pose::{Pose, PoseFormat, Turning};
use ambit_proto::rows::{RowValue, Rows};
use ambit_proto::schema::{
    Codec, CommandKind, Component, ComponentAudience, ComponentSpec, ControlSpec, CountedChoice,
    FieldSpec, FieldType, ObjectKind, RowFormat, Schema, TIMELINE_CAPACITY,
};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Gauge, Timeline};
use prost::Message as _;

use super::objects::{NO_POSE, Objects, slot_of};
use super::poses::SavedPoses;
use crate::saved::BadState;

/// What saved objects depend on, of a schema.
pub(crate) fn layout_of(schema: &Schema) -> Vec<u8> {
    let components = || schema.kinds.iter().flat_map(|kind| &kind.components);
    let is_counted = |command: usize| {
        components().any(|component| {
            matches!(component.codec, Codec::Counts(of) if usize::from(of.command) == command)
        })
    };
    let component = |spec: &ComponentSpec| match spec.audience {
        ComponentAudience::Server => spec.clone(),
        _ => ComponentSpec::public(spec.name.clone(), spec.codec.clone()),
    };
    let kinds = schema.kinds.iter().map(|kind| ObjectKind {
        name: kind.name.clone(),
        components: kind.components.iter().map(component).collect(),
        ..ObjectKind::default()
    });
    let commands = schema.commands.iter().enumerate().map(|(index, command)| CommandKind {
        name: command.name.clone(),
        fields: if is_counted(index) { command.fields.clone() } else { Vec::new() },
        ..CommandKind::default()
    });
    let control = |control: &ControlSpec| ControlSpec { is_tapped: false, ..control.clone() };
    let layout = Schema {
        game: schema.game.clone(),
        kinds: kinds.collect(),
        commands: commands.collect(),
        controls: schema.controls.iter().map(control).collect(),
        ..Schema::default()
    };
    pb::Schema::from(&layout).encode_to_vec()
}

/// See the module.
pub(crate) struct Adaptation {
    old: Schema,
    /// By the index of the old kind; `None` for one that is gone.
    kinds: Vec<Option<AdaptedKind>>,
    /// By the index of the old command.
    commands: Vec<Option<u8>>,
    /// Whether each bit of a keymap means the same.
    pub(super) has_same_controls: bool,
}

/// What an old kind becomes.
struct AdaptedKind {
    index: u8,
    /// For each component the index of the old one; `None` for a new one.
    components: Vec<Option<usize>>,
}

impl Adaptation {
    /// From what [`layout_of`] returned in the build that saved, to this schema; `None` if nothing
    /// is to be done.
    pub(crate) fn new(layout: &[u8], schema: &Schema) -> Result<Option<Self>, BadState> {
        if layout == layout_of(schema) {
            return Ok(None);
        }
        let message = pb::Schema::decode(layout).map_err(|_| BadState::Malformed)?;
        let old = Schema::try_from(message).map_err(|_| BadState::Malformed)?;
        if old.game != schema.game {
            return Err(misfit(format!("it is a room of the game `{}`", old.game)));
        }
        let kinds = old.kinds.iter().map(|kind| AdaptedKind::of(kind, schema)).collect();
        let commands =
            old.commands.iter().map(|command| schema.command_index(&command.name)).collect();
        let means = |controls: &[ControlSpec]| -> Vec<_> {
            controls.iter().map(|control| (control.name.clone(), control.axis)).collect()
        };
        let has_same_controls = means(&old.controls) == means(&schema.controls);
        Ok(Some(Self { old, kinds, commands, has_same_controls }))
    }

    /// The index of an old command in this build; `None` if it is gone.
    pub(crate) fn command(&self, old: u8) -> Option<u8> {
        self.commands.get(usize::from(old)).copied().flatten()
    }

    /// The names of the kinds that are gone.
    pub(crate) fn gone_kinds(&self) -> String {
        let all = self.old.kinds.iter().zip(&self.kinds);
        let gone = all.filter(|(_, kind)| kind.is_none()).map(|(old, _)| format!("`{}`", old.name));
        gone.collect::<Vec<_>>().join(", ")
    }

    /// Makes restored objects those of this schema, in which it is `now`.
    pub(super) fn apply(
        &self,
        (now, schema): (GameTime, &Schema),
        objects: &mut Objects,
        (_, pose_changes, free_poses): &mut SavedPoses,
    ) -> Result<(), BadState> {
        for id in objects.ids() {
            let slot = slot_of(id);
            let pose_slot = objects.pose_slots[slot];
            let object = objects.get_mut(id).ok_or(BadState::Malformed)?;
            let index = usize::from(object.kind);
            let (Some(old), Some(kind)) = (self.old.kinds.get(index), self.kinds.get(index)) else {
                return Err(BadState::Malformed);
            };
            let saved = std::mem::take(&mut object.components);
            let has_pose = old.pose_format().is_some();
            let fit = saved.len() == old.components.len()
                && saved.iter().zip(&old.components).all(|(value, spec)| value.fits(&spec.codec));
            if !fit || has_pose != (pose_slot != NO_POSE) {
                return Err(BadState::Malformed);
            }
            let Some(kind) = kind else {
                objects.remove(id);
                free_poses.extend(has_pose.then_some(pose_slot));
                continue;
            };
            let this = schema.kind(kind.index).ok_or(BadState::Malformed)?;
            object.components = self.components((old, &saved), (kind, this), now, schema)?;
            object.kind = kind.index;
            (object.dirty, object.overflowing) = (0, 0);
            if has_pose && this.pose_format().is_none() {
                free_poses.push(pose_slot);
                objects.pose_slots[slot] = NO_POSE;
            } else if !has_pose && this.pose_format().is_some() {
                objects.pose_slots[slot] = pose_changes.len() as u32;
                objects.path_ahead_at[slot] = None;
                pose_changes.push(0);
            }
        }
        Ok(())
    }

    fn components(
        &self,
        (old, saved): (&ObjectKind, &[Component]),
        (kind, this): (&AdaptedKind, &ObjectKind),
        now: GameTime,
        schema: &Schema,
    ) -> Result<Vec<Component>, BadState> {
        if old.is_room_wide() != this.is_room_wide() {
            return Err(misfit(format!(
                "the objects of the kind `{}` have a place in one of the two builds alone",
                this.name
            )));
        }
        let place = place_of(old, saved, now);
        let sources = this.components.iter().zip(&kind.components);
        sources
            .map(|(spec, source)| {
                let Some(source) = *source else {
                    return Ok(first_value(&spec.codec, now, place));
                };
                let was = &old.components[source];
                let value = if spec.codec == was.codec && !matches!(spec.codec, Codec::Counts(_)) {
                    Some(saved[source].clone())
                } else {
                    let schemas = (&self.old, schema);
                    adapted(&saved[source], (&was.codec, &spec.codec), schemas, (now, place))
                };
                value.filter(|value| value.fits(&spec.codec)).ok_or_else(|| {
                    misfit(format!(
                        "the component `{}` of the kind `{}` was {}, and is {} now",
                        spec.name,
                        this.name,
                        type_of(&was.codec),
                        type_of(&spec.codec)
                    ))
                })
            })
            .collect()
    }
}

impl AdaptedKind {
    fn of(old: &ObjectKind, schema: &Schema) -> Option<Self> {
        let index = schema.kind_index(&old.name)?;
        let this = schema.kind(index)?;
        let have_place = !old.is_room_wide() && !this.is_room_wide();
        let source = |(at, spec): (usize, &ComponentSpec)| match at {
            // Both are places, whatever they are called.
            0 if have_place => Some(0),
            _ => old.component_index(&spec.name).map(usize::from),
        };
        let components = this.components.iter().enumerate().map(source).collect();
        Some(Self { index, components })
    }
}

/// Where an object is; the origin for one without a place.
fn place_of(kind: &ObjectKind, components: &[Component], now: GameTime) -> Position {
    match (components.first(), kind.pose_format()) {
        (Some(Component::Pose(pose)), Some(format)) => format.position(pose),
        (Some(Component::Path(path)), _) => {
            path.value_at(now).map(|point| point.position).unwrap_or_default()
        }
        _ => Position::default(),
    }
}

/// The value of a component that is new to an object.
fn first_value(codec: &Codec, now: GameTime, place: Position) -> Component {
    match codec {
        Codec::Path => Component::at_rest(now, place),
        Codec::Gauge { max } => Component::gauge(now, *max, 0.0, *max),
        Codec::Flag => Component::flag(now, false),
        Codec::Number { min, max } => Component::Number(0.clamp(*min, *max)),
        Codec::Decimal(format) => Component::Decimal(format.zero()),
        Codec::Text { .. } => Component::Text(String::new()),
        Codec::Counts(_) => Component::Counts(Counts::default()),
        Codec::Bytes { .. } => Component::Bytes(Vec::new()),
        Codec::Rows(_) => Component::Rows(Rows::default()),
        Codec::Pose(format) => Component::Pose(format.pose(place, 0.0, 0.0)),
    }
}

/// A value of a component whose codec has changed; `None` if it is of another type.
fn adapted(
    value: &Component,
    (old, new): (&Codec, &Codec),
    (was, is): (&Schema, &Schema),
    (now, place): (GameTime, Position),
) -> Option<Component> {
    Some(match (value, old, new) {
        (Component::Gauge(gauge), Codec::Gauge { .. }, Codec::Gauge { max }) => {
            let mut clamped = Timeline::new(gauge.len().max(TIMELINE_CAPACITY));
            for (time, point) in gauge.points() {
                let point = Gauge { value: point.value.min(*max), rate: point.rate, max: *max };
                clamped.insert(time, point.quantised());
            }
            Component::Gauge(clamped)
        }
        (Component::Number(number), Codec::Number { .. }, Codec::Number { min, max }) => {
            Component::Number(*number.clamp(min, max))
        }
        (Component::Text(text), Codec::Text { .. }, Codec::Text { max_bytes }) => {
            let end = text.floor_char_boundary(*max_bytes as usize);
            Component::Text(text[..end].to_owned())
        }
        (Component::Counts(counts), Codec::Counts(old), Codec::Counts(new)) => {
            Component::Counts(counted(counts, (was, old), (is, new))?)
        }
        (Component::Bytes(bytes), Codec::Bytes { .. }, Codec::Bytes { max_bytes }) => {
            let end = bytes.len().min(*max_bytes as usize);
            Component::Bytes(bytes[..end].to_vec())
        }
        (Component::Rows(rows), Codec::Rows(old), Codec::Rows(new)) => {
            Component::Rows(adapted_rows(rows, old, new)?)
        }
        (Component::Pose(pose), Codec::Pose(old), Codec::Pose(new)) => {
            Component::Pose(rounded(pose, old, new))
        }
        (Component::Path(_), Codec::Path, Codec::Pose(_))
        | (Component::Pose(_), Codec::Pose(_), Codec::Path) => first_value(new, now, place),
        _ => return None,
    })
}

/// A pose on another grid.
fn rounded(pose: &Pose, old: &PoseFormat, new: &PoseFormat) -> Pose {
    let place = old.position(pose);
    let flag = pose.flag;
    if let Turning::Yaw { .. } = new.turn {
        return Pose { flag, ..new.pose(place, old.yaw(pose), old.speed(pose)) };
    }
    let turn = old.quaternion(pose);
    if new.motion.is_none() {
        return Pose { flag, ..new.free(place, turn) };
    }
    let is_at_rest = flag && old.motion.is_some();
    new.moving(place, turn, (!is_at_rest).then(|| old.velocities(pose)))
}

/// Counts by the names of what is counted.
fn counted(
    counts: &Counts,
    (was, old): (&Schema, &CountedChoice),
    (is, new): (&Schema, &CountedChoice),
) -> Option<Counts> {
    let (before, after) = (was.names_of(old)?, is.names_of(new)?);
    let known = counts.iter().filter_map(|(index, count)| {
        let name = before.get(usize::from(index))?;
        Some((after.iter().position(|known| known == name)? as u16, count))
    });
    Some(Counts::new(known).within(new.names, new.max))
}

/// Rows with the fields of a build, found by their names; `None` if one is of another type. A row
/// without a name that is gone from a choice is dropped, unless the field is optional.
fn adapted_rows(rows: &Rows, old: &RowFormat, new: &RowFormat) -> Option<Rows> {
    let mut sources = Vec::new();
    for field in new.fields.iter() {
        let source = old.fields.iter().position(|it| it.name == field.name);
        let is_same = |at: usize| match (&old.fields[at].ty, &field.ty) {
            (FieldType::Decimal(old), FieldType::Decimal(new)) => old == new,
            (old, new) => std::mem::discriminant(old) == std::mem::discriminant(new),
        };
        if !source.is_none_or(is_same) {
            return None;
        }
        sources.push(source);
    }
    let row = |row: &[RowValue]| -> Option<Vec<RowValue>> {
        let fields = new.fields.iter().zip(&sources);
        fields
            .map(|(field, source)| match *source {
                Some(at) => adapted_value(&row[at], &old.fields[at], field),
                None => Some(first_row_value(field)),
            })
            .collect()
    };
    Some(rows.iter().filter_map(row).take(new.max as usize).collect())
}

fn adapted_value(value: &RowValue, old: &FieldSpec, new: &FieldSpec) -> Option<RowValue> {
    let value = match (value, &old.ty, &new.ty) {
        (RowValue::None, _, _) if !new.optional => return Some(first_row_value(new)),
        (RowValue::Choice(index), FieldType::Choice(old), FieldType::Choice(names)) => {
            let name = old.get(usize::from(*index))?;
            match names.iter().position(|known| known == name) {
                Some(index) => RowValue::Choice(index as u16),
                None if new.optional => RowValue::None,
                None => return None,
            }
        }
        (value, _, _) => value.clone(),
    };
    value.within(new)
}

/// The value of a field that is new to a row.
fn first_row_value(field: &FieldSpec) -> RowValue {
    match &field.ty {
        _ if field.optional => RowValue::None,
        FieldType::Object => unreachable!("a row has no objects"),
        FieldType::Position => RowValue::Position(Position::default()),
        FieldType::Number { min, max } => RowValue::Number(0.clamp(*min, *max)),
        FieldType::Decimal(format) => RowValue::Decimal(format.zero()),
        FieldType::Choice(_) => RowValue::Choice(0),
        FieldType::Text { .. } => RowValue::Text(String::new()),
    }
}

fn type_of(codec: &Codec) -> &'static str {
    match codec {
        Codec::Path => "a path",
        Codec::Gauge { .. } => "a gauge",
        Codec::Flag => "a flag",
        Codec::Number { .. } => "a number",
        Codec::Decimal(_) => "a half or an angle",
        Codec::Text { .. } => "a text",
        Codec::Counts(_) => "counts",
        Codec::Bytes { .. } => "bytes",
        Codec::Rows(_) => "a list",
        Codec::Pose(_) => "a pose",
    }
}

fn misfit(why: String) -> BadState {
    BadState::Misfit(why)
}
