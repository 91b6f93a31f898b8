//! Everything in sight at one time, for drawing.
//!
//! A client and the time to show go in; a [`Frame`] holds the objects with their transforms and
//! components. It owns copies, so the client may go on while a view draws. Frames may be taken at
//! any rate: the objects are where they are at that time, not where the last datagram put them.
//!
//! Invariant: the times of successive frames ascend, in one map of one game.
//!
//! Units: metres, radians, seconds; room time. Cost: proportional to what is in sight, a few dozen
//! nanoseconds a component; the buffers are reused, so nothing is allocated once they are large
//! enough.

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::counts::Counts;
use ambit_proto::decimal::Decimal;
use ambit_proto::ids::ClientObjectId;
pub use ambit_proto::message::FrameValue;
use ambit_proto::message::{FormattedRows, ShownComponents, TypedId, TypedKind};
use ambit_proto::pose::quaternion;
use ambit_proto::presentation::{KindPresentation, Look};
use ambit_proto::schema::{ComponentSpec, ObjectKind, PosePresentation, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_proto::timeline::Gauge;

use crate::client::Client;
use crate::client::event::ComponentValue;
use crate::client::own_walk::DrawnWalker;
use crate::client::simulated::SimulatedObjects;
use crate::perception::PerceptionFilter;
use crate::replica::VisibleObject;
use crate::replica::factory::ViewFactory;
use crate::rotation::IDENTITY;
use crate::simulation::shots::DrawnShot;

/// How far ahead of the present a frame may be: a screen shows it a few milliseconds later.
const MAX_AHEAD: Duration = Duration::from_millis(100);

/// What is in sight at one time, and what is room-wide. [`Frame::update`] fills it.
#[derive(Debug, Default)]
pub struct Frame {
    time: Option<GameTime>,
    /// The local time that the newest frame shows.
    shown: LocalTime,
    schema: Option<Arc<Schema>>,
    /// By ascending id.
    objects: Vec<PlacedObject>,
    /// The objects of the frame before, kept for the headings of those that have stopped.
    before: Vec<PlacedObject>,
    /// What is room-wide, by ascending id.
    room_wide: Vec<EntryData>,
    /// Of all objects, one after the other.
    values: Vec<StoredValue>,
    /// All texts, one after the other.
    texts: String,
    /// All counts, one after the other.
    counts: Vec<Counts>,
    /// All byte strings, one after the other.
    bytes: Vec<u8>,
    /// All rows of rows, one after the other.
    rows: Vec<FormattedRows>,
    /// When projectiles are drawn.
    filter: PerceptionFilter,
}

/// An object in a [`Frame`], wherever it is: what is [room-wide](Frame::room_wide) has no place.
#[derive(Clone, Copy, Debug)]
pub struct FrameEntry<'f> {
    frame: &'f Frame,
    known: EntryData,
}

/// An object in sight. It has all that a [`FrameEntry`] has.
#[derive(Clone, Copy, Debug, derive_more::Deref)]
pub struct FrameObject<'f> {
    #[deref]
    entry: FrameEntry<'f>,
    object: &'f PlacedObject,
}

/// Where to draw an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Its position, in metres: x to the east, y to the north, z up.
    pub position: Position,
    /// Its orientation: a unit quaternion, x, y, z, w. An object that walks along a path faces
    /// where it walks, or last walked.
    pub rotation: [f32; 4],
    /// In metres a second; zero if the game does not send it.
    pub velocity: [f32; 3],
    /// About the axes of the world, in radians a second; zero if the game does not send it.
    pub angular_velocity: [f32; 3],
}

#[derive(Clone, Copy, Debug)]
struct EntryData {
    id: ClientObjectId,
    kind: u8,
    own: bool,
    /// Index of its first value.
    values: usize,
}

#[derive(Clone, Copy, Debug)]
struct PlacedObject {
    known: EntryData,
    moves: bool,
    age: Option<Duration>,
    transform: Transform,
}

#[derive(Clone, Copy, Debug)]
enum StoredValue {
    /// Not known, or part of the transform.
    Absent,
    Gauge(Gauge),
    Flag(bool),
    Number(i64),
    Decimal(Decimal),
    Text {
        from: usize,
        to: usize,
    },
    /// By the index of its copy.
    Counts(usize),
    Bytes {
        from: usize,
        to: usize,
    },
    /// By the index of its copy.
    Rows(usize),
}

impl Frame {
    /// Replaces the contents by what `client` shows at `at`, which may lie up to 100 ms ahead of
    /// `now`, the present. An earlier time than that of the frame before counts as the same.
    /// Without a game the frame is empty.
    pub fn update<F: ViewFactory>(
        &mut self,
        client: &mut Client<F>,
        now: LocalTime,
        at: LocalTime,
    ) {
        self.clear();
        self.shown = at.max(self.shown).min(now + MAX_AHEAD);
        client.note_drawn(self.shown);
        client.begin_drawing();
        // Advances simulated objects to the present, and the own avatar to the time shown.
        client.handle_timeout(now);
        let Some(game) = client.running_game() else {
            return;
        };
        let schema = &game.rules().schema;
        if !matches!(&self.schema, Some(known) if Arc::ptr_eq(known, schema)) {
            self.schema = Some(schema.clone());
        }
        let t = game.room_time(self.shown);
        self.time = Some(t);
        self.filter.begin(game.shown_time(self.shown));
        // Most games have nothing that it would serve.
        let avatars = schema.kinds.iter().any(|kind| kind.is_projectile);
        let avatars = avatars.then(|| game.replica().visible_objects());
        for object in avatars.into_iter().flatten() {
            let kind = &schema.kinds[usize::from(object.kind_index())];
            if kind.presentation == PosePresentation::Steered
                && let Some(drawn) = object.drawn(t)
            {
                if object.is_own() {
                    self.filter.set_own(drawn.room_time, drawn.position);
                } else {
                    self.filter.add_other(drawn.position);
                }
            }
        }
        for object in game.replica().visible_objects() {
            let kind = &schema.kinds[usize::from(object.kind_index())];
            let drawn_at = if kind.is_projectile {
                let time = self.filter.time_of(|time| object.position(time));
                // Near others it is not there yet.
                if time < object.in_sight_since() || object.leaves().is_some_and(|end| time >= end)
                {
                    continue;
                }
                time
            } else {
                t
            };
            let age = game.object_age(&object, t);
            let walker = game.drawn_walker(t, object.id);
            self.add_object(&object, (t, drawn_at), age, walker, kind.components.len());
        }
        self.draw_own_shots(game.simulated_objects(), t);
    }

    /// Draws the player's own shots ahead, like the avatar that fires them: those that the host has
    /// announced elsewhere than it says, and others in addition.
    fn draw_own_shots(&mut self, simulated: &SimulatedObjects, t: GameTime) {
        let Some(kind) = simulated.shot_kind() else { return };
        let schema = self.schema.as_ref().expect("a game has a schema");
        let filter = schema.kinds[usize::from(kind)].is_projectile.then_some(&self.filter);
        let shots: Vec<DrawnShot> = simulated.drawn_shots(t, filter).collect();
        self.objects.retain(|object| {
            let id = object.known.id;
            !simulated.is_own_shot(id) || shots.iter().any(|shot| shot.id == id)
        });
        for shot in shots {
            let place = self.objects.partition_point(|object| object.known.id < shot.id);
            match self.objects.get_mut(place).filter(|object| object.known.id == shot.id) {
                Some(object) => object.transform = transform_of(&shot),
                None => self.add_shot(kind, place, &shot),
            }
        }
    }

    /// Adds a shot that the host has not announced yet: its components are not known.
    fn add_shot(&mut self, kind: u8, place: usize, shot: &DrawnShot) {
        let schema = self.schema.as_ref().expect("a game has a schema");
        let parts = schema.kinds[usize::from(kind)].components.len();
        let known = EntryData { id: shot.id, kind, own: false, values: self.values.len() };
        let transform = transform_of(shot);
        self.objects.insert(place, PlacedObject { known, moves: true, age: None, transform });
        self.values.extend(std::iter::repeat_n(StoredValue::Absent, parts));
    }

    /// Removes all objects.
    pub fn clear(&mut self) {
        self.time = None;
        std::mem::swap(&mut self.objects, &mut self.before);
        self.objects.clear();
        self.room_wide.clear();
        self.values.clear();
        self.texts.clear();
        self.counts.clear();
        self.bytes.clear();
        self.rows.clear();
    }

    /// The room time that it shows; `None` if it is empty because there is no game.
    pub fn time(&self) -> Option<GameTime> {
        self.time
    }

    /// The objects in sight, by ascending id.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = FrameObject<'_>> {
        self.objects.iter().map(|object| self.frame_object(object))
    }

    /// One object, if it is in sight.
    pub fn object(&self, id: ClientObjectId) -> Option<FrameObject<'_>> {
        Some(self.frame_object(find(&self.objects, id)?))
    }

    /// One object by the id that an event, a command or [`FrameEntry::typed_id`] has, if it is in
    /// sight.
    pub fn find(&self, id: impl TypedId) -> Option<FrameObject<'_>> {
        self.object(id.client_object_id()?)
    }

    /// The player's avatar, if it is in sight.
    pub fn avatar(&self) -> Option<FrameObject<'_>> {
        self.objects().find(|object| object.is_own())
    }

    /// The objects without a place, which all players have, by ascending id: the state of the
    /// room, and the rows of its players.
    pub fn room_wide(&self) -> impl ExactSizeIterator<Item = FrameEntry<'_>> {
        self.room_wide.iter().map(|&known| FrameEntry { frame: self, known })
    }

    /// The room-wide objects of the kind called `kind`, by ascending id.
    pub fn rows<'f>(&'f self, kind: &str) -> impl Iterator<Item = FrameEntry<'f>> {
        self.room_wide().filter(move |entry| entry.kind() == kind)
    }

    fn frame_object<'f>(&'f self, object: &'f PlacedObject) -> FrameObject<'f> {
        FrameObject { entry: FrameEntry { frame: self, known: object.known }, object }
    }

    fn add_object<V>(
        &mut self,
        object: &VisibleObject<'_, V>,
        (t, drawn_at): (GameTime, GameTime),
        age: Option<Duration>,
        walker: Option<DrawnWalker>,
        parts: usize,
    ) {
        let known = EntryData {
            id: object.id,
            kind: object.kind_index(),
            own: object.is_own(),
            values: self.values.len(),
        };
        if object.is_room_wide() {
            self.room_wide.push(known);
        } else {
            let Some(transform) = self.transform(object, drawn_at, walker) else {
                return;
            };
            let walks = walker.map(|walker| walker.velocity != [0.0; 3]);
            let moves = walks.unwrap_or_else(|| object.moves(t));
            self.objects.push(PlacedObject { known, moves, age, transform });
        }
        for index in 0..parts {
            let value = match object.component(index, t) {
                Some(ComponentValue::Gauge(gauge)) => StoredValue::Gauge(gauge),
                Some(ComponentValue::Flag(flag)) => StoredValue::Flag(flag),
                Some(ComponentValue::Number(number)) => StoredValue::Number(number),
                Some(ComponentValue::Decimal(decimal)) => StoredValue::Decimal(decimal),
                Some(ComponentValue::Text(text)) => {
                    let from = self.texts.len();
                    self.texts.push_str(text);
                    let to = self.texts.len();
                    StoredValue::Text { from, to }
                }
                Some(ComponentValue::Counts(counts)) => {
                    self.counts.push(counts.clone());
                    StoredValue::Counts(self.counts.len() - 1)
                }
                Some(ComponentValue::Bytes(bytes)) => {
                    let from = self.bytes.len();
                    self.bytes.extend_from_slice(bytes);
                    StoredValue::Bytes { from, to: self.bytes.len() }
                }
                Some(ComponentValue::Rows(rows)) => match object.row_format(index) {
                    Some(format) => {
                        let (format, rows) = (format.clone(), rows.clone());
                        self.rows.push(FormattedRows { format, rows });
                        StoredValue::Rows(self.rows.len() - 1)
                    }
                    None => StoredValue::Absent,
                },
                Some(ComponentValue::Path { .. } | ComponentValue::Pose { .. }) | None => {
                    StoredValue::Absent
                }
            };
            self.values.push(value);
        }
    }

    fn transform<V>(
        &self,
        object: &VisibleObject<'_, V>,
        t: GameTime,
        walker: Option<DrawnWalker>,
    ) -> Option<Transform> {
        if let Some(drawn) = object.drawn(t) {
            return Some(Transform {
                position: drawn.position,
                rotation: drawn.quaternion,
                velocity: drawn.linear,
                angular_velocity: drawn.angular,
            });
        }
        let (position, velocity) = match walker {
            Some(DrawnWalker { position, velocity }) => (position, velocity),
            None => (object.drawn_position(t)?, object.path_velocity(t)),
        };
        let rotation = heading(velocity).unwrap_or_else(|| {
            find(&self.before, object.id).map_or(IDENTITY, |before| before.transform.rotation)
        });
        Some(Transform { position, rotation, velocity, angular_velocity: [0.0; 3] })
    }

    fn value(&self, index: usize) -> Option<FrameValue<'_>> {
        Some(match *self.values.get(index)? {
            StoredValue::Absent => return None,
            StoredValue::Gauge(gauge) => FrameValue::Gauge(gauge),
            StoredValue::Flag(flag) => FrameValue::Flag(flag),
            StoredValue::Number(number) => FrameValue::Number(number),
            StoredValue::Decimal(decimal) => FrameValue::Decimal(decimal),
            StoredValue::Text { from, to } => FrameValue::Text(&self.texts[from..to]),
            StoredValue::Counts(index) => FrameValue::Counts(&self.counts[index]),
            StoredValue::Bytes { from, to } => FrameValue::Bytes(&self.bytes[from..to]),
            StoredValue::Rows(index) => FrameValue::Rows(&self.rows[index]),
        })
    }
}

impl<'f> FrameEntry<'f> {
    /// The client's id of it: ascending, never reused.
    pub fn id(&self) -> ClientObjectId {
        self.known.id
    }

    /// Whether it is of this kind, for a client that knows the game.
    pub fn is<K: TypedKind>(&self) -> bool {
        self.kind() == K::NAME
    }

    /// What the client knows of it, for a client that knows the game: `object.get::<Walker>()` is
    /// a `WalkerView`, with a field for each component but the place. `None` if it is of another
    /// kind, or if the room's game declares the components otherwise (`Game::check_kind` of
    /// `ambit-client`).
    ///
    /// A component for some clients only is an `Option`, empty for all others.
    pub fn get<K: TypedKind>(&self) -> Option<K::Reading<'f>> {
        if self.is::<K>() { K::view(self) } else { None }
    }

    /// Its id for a typed command, such as `Id<Walker>`, if it is of that kind.
    pub fn typed_id<T: TypedId>(&self) -> Option<T> {
        T::of_client(self.kind(), self.id())
    }

    /// The name of its kind.
    pub fn kind(&self) -> &'f str {
        &self.declared().name
    }

    /// The index of its kind in the schema.
    pub fn kind_index(&self) -> u8 {
        self.known.kind
    }

    /// Its kind, as the game declares it.
    pub fn declared(&self) -> &'f ObjectKind {
        let schema = self.frame.schema.as_ref().expect("objects have a schema");
        &schema.kinds[usize::from(self.known.kind)]
    }

    /// What players read and see of its kind.
    pub fn presentation(&self) -> &'f KindPresentation {
        let schema = self.frame.schema.as_ref().expect("objects have a schema");
        schema.presentation.kind(self.known.kind.into())
    }

    /// How a simple viewer draws it.
    pub fn look(&self) -> &'f Look {
        &self.presentation().look
    }

    /// The text to show beside it, if its look has one.
    pub fn label(&self) -> Option<&'f str> {
        self.component(self.look().label?.into())?.as_text().copied()
    }

    /// The gauge to show as a bar, if its look has one.
    pub fn bar(&self) -> Option<Gauge> {
        self.component(self.look().bar?.into())?.as_gauge().copied()
    }

    /// Whether it is the player's avatar or, if it is room-wide, the player's own.
    pub fn is_own(&self) -> bool {
        self.known.own
    }

    /// The value of the component called `name`, if it has one that the player may know. The
    /// position is part of the transform.
    pub fn value(&self, name: &str) -> Option<FrameValue<'f>> {
        let parts = &self.declared().components;
        self.component(parts.iter().position(|part| part.name == name)?)
    }

    /// The value of a component, by its index in the kind.
    pub fn component(&self, index: usize) -> Option<FrameValue<'f>> {
        let is_part = index < self.declared().components.len();
        self.frame.value(self.known.values + index).filter(|_| is_part)
    }

    /// All known components but the position, with their names.
    pub fn values(&self) -> impl Iterator<Item = (&'f str, FrameValue<'f>)> {
        let Self { frame, known } = *self;
        let parts = self.declared().components.iter().enumerate();
        parts.filter_map(move |(index, part)| {
            Some((part.name.as_str(), frame.value(known.values + index)?))
        })
    }

    /// A gauge, by name: health, mana.
    pub fn gauge(&self, name: &str) -> Option<Gauge> {
        self.value(name)?.as_gauge().copied()
    }

    /// A flag, by name.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.value(name)?.as_flag().copied()
    }

    /// A number, by name.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.value(name)?.as_number().copied()
    }

    /// A half float, or an angle in radians, by name.
    pub fn decimal(&self, name: &str) -> Option<f32> {
        self.value(name)?.as_decimal().map(|decimal| decimal.value())
    }

    /// Counts, by name.
    pub fn counts(&self, name: &str) -> Option<&'f Counts> {
        self.value(name)?.as_counts().copied()
    }

    /// Bytes, by name.
    pub fn bytes(&self, name: &str) -> Option<&'f [u8]> {
        self.value(name)?.as_bytes().copied()
    }

    /// Rows, by name, with what their fields are.
    pub fn rows(&self, name: &str) -> Option<&'f FormattedRows> {
        self.value(name)?.as_rows().copied()
    }

    /// A text, by name.
    pub fn text(&self, name: &str) -> Option<&'f str> {
        self.value(name)?.as_text().copied()
    }
}

impl<'f> ShownComponents<'f> for FrameEntry<'f> {
    fn component(&self, index: usize, name: &str) -> Option<Option<FrameValue<'f>>> {
        let parts = &self.declared().components;
        let is_there = |part: &ComponentSpec| part.name == name;
        let index = match parts.get(index) {
            Some(part) if is_there(part) => index,
            _ => parts.iter().position(is_there)?,
        };
        Some(FrameEntry::component(self, index))
    }
}

impl FrameObject<'_> {
    /// Whether it moves.
    pub fn moves(&self) -> bool {
        self.object.moves
    }

    /// How old the newest data about it is: of an object whose motion cannot be predicted, that
    /// with its pose; of all others any data, since silence about them means that nothing has
    /// changed. `None` before the first datagram.
    pub fn age(&self) -> Option<Duration> {
        self.object.age
    }

    /// Where to draw it.
    pub fn transform(&self) -> Transform {
        self.object.transform
    }

    /// Its position, in metres.
    pub fn position(&self) -> Position {
        self.object.transform.position
    }

    /// The direction that it faces, in radians counter-clockwise from the east.
    pub fn heading(&self) -> f32 {
        self.object.transform.heading()
    }

    /// Its velocity, in metres a second; zero if the game does not send it.
    pub fn velocity(&self) -> [f32; 3] {
        self.object.transform.velocity
    }
}

impl Transform {
    /// The direction that it faces, in radians counter-clockwise from the east.
    pub fn heading(&self) -> f32 {
        quaternion::heading(self.rotation)
    }
}

fn transform_of(shot: &DrawnShot) -> Transform {
    let DrawnShot { position, velocity, .. } = *shot;
    let rotation = heading(velocity).unwrap_or(IDENTITY);
    Transform { position, rotation, velocity, angular_velocity: [0.0; 3] }
}

fn find(objects: &[PlacedObject], id: ClientObjectId) -> Option<&PlacedObject> {
    let index = objects.binary_search_by_key(&id, |object| object.known.id).ok()?;
    objects.get(index)
}

/// The orientation of an object that moves with this velocity; `None` if it does not move on the
/// ground.
fn heading([x, y, _]: [f32; 3]) -> Option<[f32; 4]> {
    if x == 0.0 && y == 0.0 {
        return None;
    }
    let (sin, cos) = (y.atan2(x) / 2.0).sin_cos();
    Some([0.0, 0.0, sin, cos])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_faces_where_it_walks() {
        for degrees in [-179.0_f32, -90.0, 0.0, 45.0, 180.0] {
            let (y, x) = degrees.to_radians().sin_cos();
            let transform = Transform {
                position: Position::default(),
                rotation: heading([3.0 * x, 3.0 * y, 1.0]).expect("it moves"),
                velocity: [0.0; 3],
                angular_velocity: [0.0; 3],
            };
            let turned = (transform.heading().to_degrees() - degrees).abs();
            let is_same = turned < 0.01 || (turned - 360.0).abs() < 0.01;
            assert!(is_same, "{degrees}: {turned}");
        }
        assert_eq!(heading([0.0, 0.0, 2.0]), None);
    }
}
