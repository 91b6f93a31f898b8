//! The functions of the interface.
//!
//! Each checks what it is given, calls a safe one, and turns the result into a [`Status`]. The
//! header (`include/ambit_client.h`) is made from this file and `structs.rs`: what is written here
//! is its documentation.

#![expect(
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "other languages call these functions by plain names, with pointers; what they must \
              hold to stands once, in `memory` and in the header"
)]

use std::ffi::c_void;
use std::ptr::null;
use std::time::Duration;

use ambit_client_core::argument::Argument;
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;

use crate::instance::{Description, Instance, SchemaItem, Setup};
use crate::memory::{bytes, fill, put, read, slice, text, text_of};
use crate::status::{self, Failure, Status};
use crate::structs::{
    AmbitError, AmbitEvent, AmbitField, AmbitFrame, AmbitOptions, AmbitPlayer, AmbitStatistics,
    AmbitSteer, AmbitText, layout,
};
use crate::{log, registry, steering};

/// The version of this interface. Another first version is refused; what is added leaves it as it
/// is.
pub const AMBIT_INTERFACE_VERSION: u32 = 1;

/// A flag of `AmbitOptions`: the library has no thread for this client. It does what is to be done
/// in `ambit_poll`, `ambit_frame` and `ambit_next_event`, on the thread that calls them. After a
/// pause of more than a second, also before the first of them, the next call is
/// `AMBIT_STATUS_NOT_POLLED` and does nothing; the one after it works again.
pub const AMBIT_CALLER_DRIVEN: u32 = 1;
/// A flag of `AmbitOptions`: what comes into sight, changes and goes are events, too (`enter`,
/// `update`, `leave`). Frames have the same.
pub const AMBIT_OBJECT_EVENTS: u32 = 2;

/// No index.
pub const AMBIT_NONE: u32 = u32::MAX;

/// A flag of `AmbitObject`: the player's avatar, or a row of the player.
pub const AMBIT_OWN: u32 = 1;
/// A flag of `AmbitObject`: it moves.
pub const AMBIT_MOVES: u32 = 2;

/// An event of the lobby.
pub const AMBIT_OF_LOBBY: u32 = 1;
/// An event of the game.
pub const AMBIT_OF_GAME: u32 = 2;

/// A state of `AmbitPlayer`: the lobby answers.
pub const AMBIT_CONNECTED: u32 = 1;
/// A state of `AmbitPlayer`: in a game.
pub const AMBIT_PLAYING: u32 = 2;
/// A state of `AmbitPlayer`: the client has ended.
pub const AMBIT_CLOSED: u32 = 4;

/// No value, for an optional field.
pub const AMBIT_FIELD_NONE: u32 = 0;
/// A whole number.
pub const AMBIT_FIELD_NUMBER: u32 = 1;
/// A decimal, in `x`; of an angle the radians.
pub const AMBIT_FIELD_DECIMAL: u32 = 2;
/// A position.
pub const AMBIT_FIELD_POSITION: u32 = 3;
/// An object, by its id.
pub const AMBIT_FIELD_OBJECT: u32 = 4;
/// A text, or the name of a choice.
pub const AMBIT_FIELD_TEXT: u32 = 5;
/// Yes or no.
pub const AMBIT_FIELD_FLAG: u32 = 6;

/// For `ambit_find`: a kind of objects.
pub const AMBIT_KIND: u32 = 1;
/// For `ambit_find`: a component, of the kind with the index `parent`.
pub const AMBIT_COMPONENT: u32 = 2;
/// For `ambit_find`: an event.
pub const AMBIT_EVENT: u32 = 3;
/// For `ambit_find`: a command.
pub const AMBIT_COMMAND: u32 = 4;
/// For `ambit_find`: a field, of the command with the index `parent`.
pub const AMBIT_COMMAND_FIELD: u32 = 5;
/// For `ambit_find`: a control, held or an axis.
pub const AMBIT_CONTROL: u32 = 6;
/// For `ambit_find`: a refusal.
pub const AMBIT_REFUSAL: u32 = 7;

/// For `ambit_describe`: what the game declares: kinds with components and looks, events, commands
/// with fields, controls.
pub const AMBIT_SCHEMA: u32 = 1;
/// For `ambit_describe`: the local lag, the tick rate, the size of the map and of the zones.
pub const AMBIT_RULES: u32 = 2;
/// For `ambit_describe`: all counters.
pub const AMBIT_COUNTERS: u32 = 3;

/// Fields of one command.
const MAX_FIELDS: u64 = 64;

/// The version of the library's interface: to be compared with `AMBIT_INTERFACE_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn ambit_interface_version() -> u32 {
    AMBIT_INTERFACE_VERSION
}

/// For bindings of other languages, to check their structures: where the field with the index
/// `field` begins in a structure; after the last one, the size of the structure; then `AMBIT_NONE`.
/// `structure` is 0 `AmbitOptions`, 1 `AmbitFrame`, 2 `AmbitEvent`, 3 `AmbitPlayer`,
/// 4 `AmbitStatistics`, 5 `AmbitError`, 6 `AmbitObject`, 7 `AmbitValue`, 8 `AmbitField`,
/// 9 `AmbitMovement`, 10 `AmbitHeld`, 11 `AmbitText`.
#[unsafe(no_mangle)]
pub extern "C" fn ambit_layout(structure: u32, field: u32) -> u32 {
    layout(structure, field).map_or(AMBIT_NONE, |place| place as u32)
}

/// Starts a client, which connects at once and reconnects by itself: through broken lines, lost
/// hosts and gates the handle stays the same. `client` gets the handle; call `ambit_close` with it.
/// Whether the server was reached says an event: `welcome` or `closed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_start(options: *const AmbitOptions, client: *mut u64) -> Status {
    status::note(registry::guard(|| {
        put(client, 0)?;
        let options = read(options)?;
        if options.interface_version != AMBIT_INTERFACE_VERSION {
            let message = format!(
                "the caller was compiled for version {} of this interface; this library has \
                 {AMBIT_INTERFACE_VERSION}",
                options.interface_version
            );
            return Err(Failure::new(Status::OtherVersion, message));
        }
        if options.flags & !(AMBIT_CALLER_DRIVEN | AMBIT_OBJECT_EVENTS) != 0 {
            let message = format!("unknown flags {:#x}", options.flags);
            return Err(Failure::new(Status::BadOption, message));
        }
        let certificate = if options.certificate.is_null() {
            None
        } else {
            Some(bytes(options.certificate, 32)?.try_into().expect("32 bytes"))
        };
        let instance = Instance::start(&Setup {
            server: text_of(options.server)?,
            settings: text_of(options.settings)?,
            certificate,
            known_hosts: text_of(options.known_hosts)?,
            resume_token: bytes(options.resume_token, options.resume_token_length)?,
            is_driven_by_caller: options.flags & AMBIT_CALLER_DRIVEN != 0,
            has_object_events: options.flags & AMBIT_OBJECT_EVENTS != 0,
        })?;
        put(client, registry::add(instance)?)
    }))
}

/// Leaves game, room and lobby, waits at most `wait_ms` until the connection is drained, and ends
/// the client. The server mostly knows sooner: 50 ms are enough on a good line. All memory that
/// the client has handed out is gone then, and its handle means nothing any more.
#[unsafe(no_mangle)]
pub extern "C" fn ambit_close(client: u64, wait_ms: u32) -> Status {
    status::note(registry::guard(|| {
        registry::remove(client)?.close(Duration::from_millis(wait_ms.into()));
        Ok(())
    }))
}

/// Waits at most `wait_ms` for an event; 0 does not wait. For a client that its caller drives, it
/// also sends and receives: call it, or `ambit_frame`, at least ten times a second.
#[unsafe(no_mangle)]
pub extern "C" fn ambit_poll(client: u64, wait_ms: u32) -> Status {
    let wait = Duration::from_millis(wait_ms.into());
    status::note(registry::with(client, |client| {
        client.check_polled()?;
        client.poll(wait);
        Ok(())
    }))
}

/// The time of the client's own clock, in microseconds since its start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_now(client: u64, now_us: *mut u64) -> Status {
    call(client, |client| put(now_us, client.now().micros()))
}

/// Sends a request to the lobby, in JSON: `"leave_room"`, `"start_room"`,
/// `{"list_rooms": {"subscribe": false}}`, `{"create_room": {"name": "a", "game": "field"}}`,
/// `{"join_room": {"room": 7, "password": ""}}`, `{"set_ready": true}`,
/// `{"list_players": {"everybody": true}}`, `{"describe_game": {"game": "field"}}`,
/// `{"set_name": "ann"}`, `{"say": {"to": "room", "text": "hello"}}` (to `"lobby"`, `"room"`,
/// `{"player": 3}` or `{"player_named": "ann"}`), `{"kick": 3}`. `number` gets the number that the
/// event with the answer will have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_request(
    client: u64,
    request: *const u8,
    length: u64,
    number: *mut u64,
) -> Status {
    call(client, |client| put(number, client.request(text(request, length)?)?))
}

/// The next event, in the order in which they happened; `AMBIT_STATUS_NOTHING` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_next_event(client: u64, event: *mut AmbitEvent) -> Status {
    // Before one is taken: an event that could not be written would be lost.
    call_after(fill(event, &EMPTY_EVENT), client, |client| {
        let taken = client.next_event().ok_or_else(Failure::nothing)?;
        fill(
            event,
            &AmbitEvent {
                of: if taken.is_of_game { AMBIT_OF_GAME } else { AMBIT_OF_LOBBY },
                request: taken.request,
                name: AmbitText::of(&taken.name),
                json: AmbitText::of(&taken.json),
                ..EMPTY_EVENT
            },
        )
    })
}

const EMPTY_EVENT: AmbitEvent = AmbitEvent {
    size: 0,
    of: 0,
    request: 0,
    name: AmbitText { text: null(), length: 0 },
    json: AmbitText { text: null(), length: 0 },
};

/// Gives a command by its name, with its values as a JSON list: `[[120, 90]]`, `["bolt", null, 7]`.
/// `number` gets its number, which the events `confirmed` and `refused` have, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_send(
    client: u64,
    name: *const u8,
    name_length: u64,
    values: *const u8,
    values_length: u64,
    number: *mut u32,
) -> Status {
    call(client, |client| {
        let (name, values) = (text(name, name_length)?, text(values, values_length)?);
        let values = if values.is_empty() { "[]" } else { values };
        put(number, client.send_words(name, values)?)
    })
}

/// Gives a command by its index in the schema (`ambit_find`), with the values of its fields in
/// order; those at the end may be left out if they are optional.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_send_fields(
    client: u64,
    command: u32,
    fields: *const AmbitField,
    count: u64,
    number: *mut u32,
) -> Status {
    call(client, |client| {
        let fields = slice(fields, count, MAX_FIELDS)?;
        let values = fields.iter().map(|field| argument(field)).collect::<Result<_, _>>()?;
        put(number, client.send(command, values)?)
    })
}

unsafe fn argument(field: &AmbitField) -> Result<Argument, Failure> {
    Ok(match field.kind {
        AMBIT_FIELD_NONE => Argument::None,
        AMBIT_FIELD_NUMBER | AMBIT_FIELD_OBJECT => Argument::Number(field.number),
        AMBIT_FIELD_DECIMAL => Argument::Decimal(field.x),
        AMBIT_FIELD_POSITION => Argument::Position(Position { x: field.x, y: field.y, z: field.z }),
        AMBIT_FIELD_TEXT => Argument::Text(text_of(field.text)?.to_owned()),
        AMBIT_FIELD_FLAG => Argument::Flag(field.number != 0),
        kind => {
            let message = format!("a field has the unknown kind {kind}; expected AMBIT_FIELD_*");
            return Err(Failure::new(Status::BadOption, message));
        }
    })
}

/// Holds these controls, one bit each in the order of the schema, and releases all others. A press
/// that is shorter than a frame counts, too. While a game is restored, what is held when it goes on
/// counts; without a game it is `AMBIT_STATUS_NOT_PLAYING`.
#[unsafe(no_mangle)]
pub extern "C" fn ambit_hold(client: u64, keys: u32) -> Status {
    call(client, |client| client.hold(keys))
}

/// Moves an axis, by its index among the controls: -1 to 1, or for an angle radians
/// counter-clockwise from the east. It stays there.
#[unsafe(no_mangle)]
pub extern "C" fn ambit_set_axis(client: u64, control: u32, value: f32) -> Status {
    call(client, |client| client.set_axis(control, value))
}

/// Fills `frame` with what is in sight at `at_us` of the client's clock (`ambit_now`), which may
/// lie up to 100 ms ahead; 0 stands for now. It never waits, and allocates nothing once its arrays
/// are large enough. One call a frame of the engine is enough: all objects are of one time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_frame(client: u64, at_us: u64, frame: *mut AmbitFrame) -> Status {
    call_after(fill(frame, &EMPTY_FRAME), client, |client| {
        let at = (at_us != 0).then(|| LocalTime::from_micros(at_us));
        let time = client.draw(at);
        let (arrays, sight) = (client.view().arrays(), client.sight());
        let filled = AmbitFrame {
            in_sight: arrays.in_sight() as u32,
            time_us: time.map_or(-1, |time| time.micros() as i64),
            objects: arrays.objects().as_ptr(),
            values: arrays.values().as_ptr(),
            came: sight.came().as_ptr(),
            went: sight.went().as_ptr(),
            object_count: arrays.objects().len() as u32,
            value_count: arrays.values().len() as u32,
            came_count: sight.came().len() as u32,
            went_count: sight.went().len() as u32,
            avatar: arrays.avatar().map_or(AMBIT_NONE, |index| index as u32),
            ..EMPTY_FRAME
        };
        fill(frame, &filled)
    })
}

const EMPTY_FRAME: AmbitFrame = AmbitFrame {
    size: 0,
    in_sight: 0,
    time_us: -1,
    objects: null(),
    values: null(),
    came: null(),
    went: null(),
    object_count: 0,
    value_count: 0,
    came_count: 0,
    went_count: 0,
    avatar: AMBIT_NONE,
    reserved: 0,
};

/// The text with the number that a value of a frame has. It stays until the next `ambit_frame`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_text(client: u64, number: u32, text: *mut AmbitText) -> Status {
    call_after(put(text, AmbitText::default()), client, |client| {
        let found = client.view().arrays().texts().text(number).ok_or_else(Failure::nothing)?;
        put(text, AmbitText::of(found))
    })
}

/// The index of a name in the schema of the game: `what` is `AMBIT_KIND`, `AMBIT_COMPONENT`...
/// `AMBIT_STATUS_NOTHING` without a game, or if it has no such item.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_find(
    client: u64,
    what: u32,
    parent: u32,
    name: *const u8,
    length: u64,
    index: *mut u32,
) -> Status {
    call_after(put(index, AMBIT_NONE), client, |client| {
        let item = item(what, parent)?;
        put(index, client.find(item, text(name, length)?)?)
    })
}

/// The name of the item with this index, the reverse of `ambit_find`; `AMBIT_STATUS_NOTHING` after
/// the last one. It stays until the next call of this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_name(
    client: u64,
    what: u32,
    parent: u32,
    index: u32,
    name: *mut AmbitText,
) -> Status {
    call_after(put(name, AmbitText::default()), client, |client| {
        put(name, AmbitText::of(client.name(item(what, parent)?, index)?))
    })
}

fn item(what: u32, parent: u32) -> Result<SchemaItem, Failure> {
    Ok(match what {
        AMBIT_KIND => SchemaItem::Kind,
        AMBIT_COMPONENT => SchemaItem::ComponentOf(parent),
        AMBIT_EVENT => SchemaItem::Event,
        AMBIT_COMMAND => SchemaItem::Command,
        AMBIT_COMMAND_FIELD => SchemaItem::FieldOf(parent),
        AMBIT_CONTROL => SchemaItem::Control,
        AMBIT_REFUSAL => SchemaItem::Refusal,
        _ => return Err(Failure::new(Status::BadOption, format!("unknown item {what}"))),
    })
}

/// What a game declares (`AMBIT_SCHEMA`), how its room runs (`AMBIT_RULES`), or all counters
/// (`AMBIT_COUNTERS`), as JSON. It stays until the next call of this function. Without a game there
/// is `AMBIT_STATUS_NOTHING`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_describe(client: u64, what: u32, json: *mut AmbitText) -> Status {
    call_after(put(json, AmbitText::default()), client, |client| {
        let what = match what {
            AMBIT_SCHEMA => Description::Schema,
            AMBIT_RULES => Description::Rules,
            AMBIT_COUNTERS => Description::Statistics,
            _ => return Err(Failure::new(Status::BadOption, format!("nothing is called {what}"))),
        };
        put(json, AmbitText::of(client.describe(what)?))
    })
}

/// The obstacles that are known: the static map, once it has come, and what objects in sight have
/// (event `map`). 9 numbers for each: the centre (x, y, z), half of the extents, the turn in
/// radians, 1 if it is round, its look or -1. It stays until the next call of this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_map(
    client: u64,
    numbers: *mut *const f32,
    count: *mut u64,
) -> Status {
    let emptied = put(numbers, null()).and_then(|()| put(count, 0));
    call_after(emptied, client, |client| {
        let map = client.map()?;
        put(numbers, map.as_ptr())?;
        put(count, map.len() as u64)
    })
}

/// Who the player is, and where.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_player(client: u64, player: *mut AmbitPlayer) -> Status {
    call(client, |client| {
        let now = client.player();
        let kept = client.kept();
        let state = |is: bool, flag: u32| if is { flag } else { 0 };
        let filled = AmbitPlayer {
            size: 0,
            state: state(now.is_connected, AMBIT_CONNECTED)
                | state(now.is_playing, AMBIT_PLAYING)
                | state(now.is_closed, AMBIT_CLOSED),
            player: now.player.map_or(0, |player| player.0),
            room: now.room.map_or(0, |room| room.0),
            name: AmbitText::of(&kept.name),
            resume_token: kept.resume_token.as_ptr(),
            resume_token_length: kept.resume_token.len() as u64,
        };
        fill(player, &filled)
    })
}

/// Counters, and the line as it is now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_statistics(client: u64, statistics: *mut AmbitStatistics) -> Status {
    call(client, |client| {
        let measured = client.measured();
        let stats = &measured.stats;
        let ms =
            |time: Option<Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0);
        let sent = stats.datagrams_down + stats.datagrams_lost;
        let filled = AmbitStatistics {
            size: 0,
            reserved: 0,
            room_time_us: measured.room_time.map_or(-1, |time| time.micros() as i64),
            round_trip_ms: ms(stats.rtt),
            jitter_ms: ms(stats.jitter),
            shown_behind_ms: ms(measured.shown_behind),
            silence_ms: ms(measured.silence),
            loss: if sent == 0 { f64::NAN } else { stats.datagrams_lost as f64 / sent as f64 },
            late_share: stats.late_share(),
            datagrams_down: stats.datagrams_down,
            datagrams_up: stats.datagrams_up,
            bytes_down: measured.traffic.bytes_down,
            bytes_up: measured.traffic.bytes_up,
            commands: stats.commands,
            confirmed: stats.confirmed,
            refused: stats.refused,
        };
        fill(statistics, &filled)
    })
}

/// Why the last call of this thread that did not return `AMBIT_STATUS_OK` did nothing. Before the
/// first one, `AMBIT_STATUS_OK` without texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_last_error(error: *mut AmbitError) -> Status {
    // Without `note`, which would replace it.
    let filled = status::with_last(|last| {
        let last = AmbitError {
            size: 0,
            status: last.status as u32,
            code: AmbitText::of(&last.code),
            message: AmbitText::of(&last.message),
        };
        fill(error, &last)
    });
    filled.err().map_or(Status::Ok, |failure| failure.status)
}

/// For a client that its caller drives: predicts the player's own avatar, of this kind in games of
/// this name, by `function`, so that a key moves it in the next frame. The function is called in
/// `ambit_frame`, `ambit_poll` and `ambit_next_event`, on their thread, with `user`; it must do the
/// same as the host's, and must not call this client. Another function for the same game replaces
/// it; null ends the prediction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_steer(
    client: u64,
    game: *const u8,
    game_length: u64,
    kind: *const u8,
    kind_length: u64,
    function: AmbitSteer,
    user: *mut c_void,
) -> Status {
    call(client, |client| {
        let (game, kind) = (text(game, game_length)?, text(kind, kind_length)?);
        if function.is_none() {
            return client.steer(game, None);
        }
        client.steer(game, Some(steering::take(game, kind, function, user)?))
    })
}

/// For a function that steers: how far a body of this radius gets from `from` towards `to` (x, y, z
/// each) before it meets an obstacle or the border; `reached` gets the position.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_terrain_stop(
    terrain: *const c_void,
    from: *const f32,
    to: *const f32,
    radius: f32,
    reached: *mut f32,
) -> Status {
    status::note(registry::guard(|| {
        let (from, to) = (position(from)?, position(to)?);
        put(reached.cast::<[f32; 3]>(), [from.x, from.y, from.z])?;
        let stop = steering::with_terrain(terrain, |terrain| {
            let end = terrain.end_on_map(from, to);
            terrain.statics.first_stop(from, end, radius)
        })?;
        put(reached.cast::<[f32; 3]>(), [stop.x, stop.y, stop.z])
    }))
}

/// For a function that steers: the extent of the map on x and y, in metres.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_terrain_size(
    terrain: *const c_void,
    width_height: *mut f32,
) -> Status {
    status::note(registry::guard(|| {
        let arena = steering::with_terrain(terrain, |terrain| terrain.arena)?;
        put(width_height.cast::<[f32; 2]>(), [arena.width_m, arena.height_m])
    }))
}

unsafe fn position(from: *const f32) -> Result<Position, Failure> {
    match slice(from, 3, 3)? {
        &[x, y, z] => Ok(Position { x, y, z }),
        _ => Err(Failure::new(Status::BadPointer, "three numbers are a position")),
    }
}

/// Logs from now on, for all clients of the process: 1 errors, 2 warnings, 3 what happens,
/// 4 details, 5 everything (in the packaged library the same as 4). Without this call nothing is
/// logged. The level stays as it is first set.
#[unsafe(no_mangle)]
pub extern "C" fn ambit_log(level: u32) -> Status {
    status::note(registry::guard(|| log::start(level)))
}

/// Copies the oldest line of the log into `line`, which has room for `room` bytes; `length` gets
/// the length of the whole line, `dropped` how many lines were dropped before it. At most 1,024
/// lines wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ambit_next_log(
    line: *mut u8,
    room: u64,
    length: *mut u64,
    dropped: *mut u64,
) -> Status {
    status::note(registry::guard(|| {
        put(length, 0)?;
        put(dropped, 0)?;
        let (text, lost) = log::next().ok_or_else(Failure::nothing)?;
        put(length, text.len() as u64)?;
        put(dropped, lost)?;
        crate::memory::copy(text.as_bytes(), line, room)
    }))
}

/// A call of one client, other than those that begin, end or drive it.
fn call(client: u64, call: impl FnOnce(&mut Instance) -> Result<(), Failure>) -> Status {
    call_after(Ok(()), client, call)
}

/// The same, after what the caller will read was emptied: also if there is no such client.
fn call_after(
    emptied: Result<(), Failure>,
    client: u64,
    call: impl FnOnce(&mut Instance) -> Result<(), Failure>,
) -> Status {
    let called = emptied.and_then(|()| {
        registry::with(client, |client| {
            client.check_polled()?;
            call(client)
        })
    });
    status::note(called)
}
