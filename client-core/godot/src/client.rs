//! The node that is a client: it connects, sends, and has what is in sight.
//!
//! Once a frame [`ClientNode::update`] draws all objects for one time, then emits what has
//! happened. It never waits. Errors are `false`, -1 or an empty value, with the reason in
//! [`ClientNode::last_error`].

use std::time::Duration;

use ambit_client_core::frame::{Frame, FrameEntry, FrameObject};
use ambit_client_ffi::{Description, Failure, Instance, SchemaItem, Status};
use ambit_proto::ids::ClientObjectId;
use godot::prelude::*;
use serde_json::Value as Json;

use crate::setup::{self, bad_option};
use crate::variants::{dictionary_to_json, list_to_json, read_dictionary, to_json, values_of};

/// It runs before all that reads its frame.
const FIRST: i32 = -1_000;
/// How long a client that is freed waits until the server knows.
const LEAVES_WITHIN: Duration = Duration::from_millis(500);

/// A player's connection to a server.
#[derive(GodotClass)]
#[class(init, base=Node, rename=AmbitClient)]
pub(crate) struct ClientNode {
    instance: Option<Instance>,
    failure: Option<Failure>,
    base: Base<Node>,
}

/// What an update found, to be emitted while nothing is borrowed.
struct Emission {
    came: Vec<u32>,
    went: Vec<u32>,
    events: Vec<EmittedEvent>,
}

struct EmittedEvent {
    is_of_game: bool,
    request: u64,
    name: String,
    data: VarDictionary,
}

#[godot_api]
impl INode for ClientNode {
    fn ready(&mut self) {
        self.base_mut().set_process_priority(FIRST);
    }

    #[func(gd_self)]
    fn process(this: Gd<Self>, _seconds: f64) {
        Self::update(this);
    }
}

impl Drop for ClientNode {
    fn drop(&mut self) {
        if let Some(instance) = self.instance.take() {
            instance.close(LEAVES_WITHIN);
        }
    }
}

#[godot_api]
impl ClientNode {
    /// An event of the lobby: `data` has its fields. `request` is the number of the request that
    /// it answers, or 0.
    #[signal]
    fn lobby_event(name: GString, data: VarDictionary, request: i64);

    /// An event of the game.
    #[signal]
    fn game_event(name: GString, data: VarDictionary);

    /// An object was not in the frame before. Room-wide ones, too.
    #[signal]
    fn object_came(id: i64);

    /// An object is not in the frame any more.
    #[signal]
    fn object_went(id: i64);

    /// All of a frame is there.
    #[signal]
    fn drawn();

    /// Connects to `HOST:PORT`, or several with commas between them. Whether the server was reached
    /// says an event: `welcome` or `closed`. A client before this one is closed.
    #[func]
    fn start(&mut self, server: GString, settings: VarDictionary) -> bool {
        self.close(0);
        let started = setup::start(&server.to_string(), &settings);
        let instance = self.note(started);
        self.instance = instance;
        self.instance.is_some()
    }

    /// Leaves game, room and lobby, and waits at most `wait_ms` until the server knows.
    #[func]
    fn close(&mut self, #[opt(default = 500)] wait_ms: i64) {
        if let Some(instance) = self.instance.take() {
            instance.close(Duration::from_millis(wait_ms.max(0) as u64));
        }
    }

    /// Sends a request to the lobby: a name alone, or a dictionary with the name as its key:
    /// `{"create_room": {"name": "a", "game": "field"}}`. Returns the number that the event with
    /// the answer will have, or -1.
    #[func]
    fn request(&mut self, request: Variant) -> i64 {
        let number = self.try_request(&request);
        self.note(number).map_or(-1, |number| number as i64)
    }

    /// Gives a command by its name, with its values as a list or as a dictionary by the names of
    /// its fields. A position is a list or a vector in Ambit's axes (`to_ambit` of the worlds).
    /// Returns its number, which the events `confirmed` and `refused` have, too; or -1.
    #[func]
    fn send(&mut self, command: GString, values: Variant) -> i64 {
        let number = self.try_send(&command.to_string(), &values);
        self.note(number).map_or(-1, i64::from)
    }

    /// Holds the controls with these names, and releases all others.
    #[func]
    fn hold(&mut self, controls: PackedStringArray) -> bool {
        let held = self.try_hold(&controls);
        self.note(held).is_some()
    }

    /// Moves an axis: -1 to 1, or for an angle radians counter-clockwise from the east.
    #[func]
    fn set_axis(&mut self, control: GString, value: f32) -> bool {
        let moved = self.running().and_then(|instance| {
            let control = find(instance, SchemaItem::Control, &control.to_string())?;
            instance.set_axis(control, value)
        });
        self.note(moved).is_some()
    }

    /// Draws a frame and emits what has happened. `_process` calls it; with `set_process(false)`
    /// a script may.
    #[func(gd_self)]
    fn update(mut this: Gd<Self>) {
        let Some(happened) = this.bind_mut().advance() else { return };
        // A script may free this node at each signal.
        for id in happened.went {
            if this.is_instance_valid() {
                this.signals().object_went().emit(i64::from(id));
            }
        }
        for id in happened.came {
            if this.is_instance_valid() {
                this.signals().object_came().emit(i64::from(id));
            }
        }
        if this.is_instance_valid() {
            this.signals().drawn().emit();
        }
        for EmittedEvent { is_of_game, request, name, data } in happened.events {
            if !this.is_instance_valid() {
                return;
            }
            let name = GString::from(&*name);
            if is_of_game {
                this.signals().game_event().emit(&name, &data);
            } else {
                this.signals().lobby_event().emit(&name, &data, request as i64);
            }
        }
    }

    /// The room time of the frame in microseconds; -1 without a game.
    #[func]
    fn time_us(&self) -> i64 {
        let time = self.frame().and_then(Frame::time);
        time.map_or(-1, |time| time.micros() as i64)
    }

    /// The ids of the objects in sight.
    #[func]
    fn ids(&self) -> PackedInt64Array {
        self.frame().into_iter().flat_map(Frame::objects).map(|it| i64::from(it.id().0)).collect()
    }

    /// The objects in sight: see `object`.
    #[func]
    fn objects(&self) -> Array<VarDictionary> {
        self.frame().into_iter().flat_map(Frame::objects).map(describe_object).collect()
    }

    /// An object in sight: `id`, `kind`, `kind_index`, `position`, `rotation`, `velocity` (Ambit's
    /// axes), `heading`, `age_ms` (or null), `is_own`, `moves`, `values`. Empty if it is not in
    /// sight.
    #[func]
    fn object(&self, id: i64) -> VarDictionary {
        let id = u32::try_from(id).ok().map(ClientObjectId);
        let object = self.frame().zip(id).and_then(|(frame, id)| frame.object(id));
        object.map(describe_object).unwrap_or_default()
    }

    /// The id of the player's avatar, or -1.
    #[func]
    pub(crate) fn own_id(&self) -> i64 {
        let own = self.frame().and_then(Frame::avatar);
        own.map_or(-1, |own| own.id().0.into())
    }

    /// The room-wide objects of a kind, such as the table of the players: `id`, `kind`,
    /// `kind_index`, `is_own`, `values`.
    #[func]
    fn rows(&self, kind: GString) -> Array<VarDictionary> {
        let kind = kind.to_string();
        let Some(frame) = self.frame() else { return Array::new() };
        frame.rows(&kind).map(describe_entry).collect()
    }

    /// What the game declares: kinds, commands, events, controls and more; empty without a game.
    #[func]
    fn schema(&mut self) -> VarDictionary {
        self.describe(Description::Schema)
    }

    /// How the room runs: ticks, delay, extent of the map; empty without a game.
    #[func]
    fn rules(&mut self) -> VarDictionary {
        self.describe(Description::Rules)
    }

    /// Counters and the line: `rtt_ms`, `jitter_ms`, `silence_ms`, `loss`, `room_time_us` and
    /// more. What is not known is null.
    #[func]
    fn statistics(&mut self) -> VarDictionary {
        let mut dictionary = self.describe(Description::Statistics);
        if let Some(instance) = &self.instance {
            let measured = instance.measured();
            let ms = |time: Option<Duration>| {
                time.map_or(Variant::nil(), |time| (time.as_secs_f64() * 1_000.0).to_variant())
            };
            dictionary.set("silence_ms", &ms(measured.silence));
            let stats = &measured.stats;
            let sent = stats.datagrams_down + stats.datagrams_lost;
            let loss = (sent > 0).then(|| stats.datagrams_lost as f64 / sent as f64);
            dictionary.set("loss", &loss.map_or(Variant::nil(), |loss| loss.to_variant()));
            let time = measured.room_time.map_or(-1, |time| time.micros() as i64);
            dictionary.set("room_time_us", time);
        }
        dictionary
    }

    /// Who the player is: `player`, `room` (0 for none), `name`, `is_connected`, `is_playing`,
    /// `is_closed`, and the secret `resume_token`, which resumes the session.
    #[func]
    fn player(&mut self) -> VarDictionary {
        let Some(instance) = &mut self.instance else { return VarDictionary::new() };
        let state = instance.player();
        let kept = instance.kept();
        vdict! {
            "player" => state.player.map_or(0, |player| player.0) as i64,
            "room" => state.room.map_or(0, |room| room.0) as i64,
            "name" => &*kept.name,
            "is_connected" => state.is_connected,
            "is_playing" => state.is_playing,
            "is_closed" => state.is_closed,
            "resume_token" => &PackedByteArray::from(&*kept.resume_token),
        }
    }

    /// The obstacles that are known: the static map, once it has come, and what objects in sight
    /// have (event `map`). 9 numbers for each: the centre (x, y, z), half of the extents, the turn
    /// in radians, 1 if it is round, its look or -1.
    #[func]
    fn obstacles(&mut self) -> PackedFloat32Array {
        let map = self.instance.as_mut().and_then(|instance| instance.map().ok());
        map.map(PackedFloat32Array::from).unwrap_or_default()
    }

    /// Why the last call failed: `code`, which is stable, and `message`. Empty if none has.
    #[func]
    fn last_error(&self) -> VarDictionary {
        self.failure.as_ref().map_or_else(VarDictionary::new, |failure| {
            vdict! { "code" => &*failure.code, "message" => &*failure.message }
        })
    }
}

impl ClientNode {
    /// What is drawn, for the worlds.
    pub(crate) fn instance(&self) -> Option<&Instance> {
        self.instance.as_ref()
    }

    fn frame(&self) -> Option<&Frame> {
        Some(self.instance.as_ref()?.view().frame())
    }

    fn advance(&mut self) -> Option<Emission> {
        let instance = self.instance.as_mut()?;
        instance.draw(None);
        let mut events = Vec::new();
        while let Some(event) = instance.next_event() {
            events.push(EmittedEvent {
                is_of_game: event.is_of_game,
                request: event.request,
                name: event.name.clone(),
                data: read_dictionary(&event.json),
            });
        }
        let sight = instance.sight();
        Some(Emission { came: sight.came().to_vec(), went: sight.went().to_vec(), events })
    }

    fn try_request(&mut self, request: &Variant) -> Result<u64, Failure> {
        let json =
            to_json(request).map_err(|value| bad_option(&format!("{value} in a request")))?;
        self.running()?.request(&json.to_string())
    }

    fn try_send(&mut self, command: &str, values: &Variant) -> Result<u32, Failure> {
        let instance = self.running()?;
        let no_json = |value: String| bad_option(&format!("{value} in a command"));
        let values = match values.get_type() {
            VariantType::NIL => Json::Array(Vec::new()),
            VariantType::ARRAY => list_to_json(&values.to()).map_err(no_json)?,
            VariantType::DICTIONARY => {
                let mut given = dictionary_to_json(&values.to()).map_err(no_json)?;
                let command = find(instance, SchemaItem::Command, command)?;
                let mut list = Vec::new();
                while let Ok(field) = instance.name(SchemaItem::FieldOf(command), list.len() as u32)
                {
                    list.push(given.remove(field).unwrap_or(Json::Null));
                }
                if let Some(key) = given.keys().next() {
                    return Err(bad_option(&format!("the command has no field '{key}'")));
                }
                Json::Array(list)
            }
            _ => return Err(bad_option("expected a list or a dictionary of values")),
        };
        instance.send_words(command, &values.to_string())
    }

    fn try_hold(&mut self, controls: &PackedStringArray) -> Result<(), Failure> {
        let instance = self.running()?;
        let mut keys = 0;
        for control in controls.as_slice() {
            keys |= 1 << find(instance, SchemaItem::Control, &control.to_string())?;
        }
        instance.hold(keys)
    }

    fn running(&mut self) -> Result<&mut Instance, Failure> {
        self.instance.as_mut().ok_or_else(|| Failure {
            status: Status::Closed,
            code: "closed".into(),
            message: "the client is not started".into(),
        })
    }

    fn describe(&mut self, what: Description) -> VarDictionary {
        let text = self.instance.as_mut().and_then(|instance| instance.describe(what).ok());
        text.map(read_dictionary).unwrap_or_default()
    }

    fn note<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.failure = Some(failure)).ok()
    }
}

/// The index of a name in the schema; an error says what is missing.
fn find(instance: &Instance, item: SchemaItem, name: &str) -> Result<u32, Failure> {
    instance.find(item, name).map_err(|failure| match failure.status {
        Status::Nothing => bad_option(&format!("there is no '{name}', or no game")),
        _ => failure,
    })
}

fn describe_entry(entry: FrameEntry<'_>) -> VarDictionary {
    vdict! {
        "id" => entry.id().0,
        "kind" => entry.kind(),
        "kind_index" => entry.kind_index(),
        "is_own" => entry.is_own(),
        "values" => &values_of(entry),
    }
}

fn describe_object(object: FrameObject<'_>) -> VarDictionary {
    let mut dictionary = describe_entry(*object);
    let transform = object.transform();
    let at = transform.position;
    let [x, y, z, w] = transform.rotation;
    dictionary.set("position", Vector3::new(at.x, at.y, at.z));
    dictionary.set("rotation", Quaternion::new(x, y, z, w));
    dictionary.set("velocity", Vector3::from_array(transform.velocity));
    dictionary.set("heading", object.heading());
    let age = object.age().map(|age| age.as_secs_f64() * 1_000.0);
    dictionary.set("age_ms", &age.map_or(Variant::nil(), |age| age.to_variant()));
    dictionary.set("moves", object.moves());
    dictionary
}
