//! The structures that both sides read. Fields have fixed sizes and no hidden gaps; structures with
//! a `size` grow at their end.

use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::null;

use ambit_client_boundary::frame_arrays::{ObjectRow, ValueRow};

/// A text, in UTF-8. There is no zero at its end.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AmbitText {
    /// Its bytes; may be null if there are none.
    pub text: *const u8,
    /// How many.
    pub length: u64,
}

/// How to start a client. Set all of it to zero, then `size`, `interface_version` and `server`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AmbitOptions {
    /// `sizeof(AmbitOptions)`.
    pub size: u32,
    /// `AMBIT_INTERFACE_VERSION`.
    pub interface_version: u32,
    /// `AMBIT_CALLER_DRIVEN`, `AMBIT_OBJECT_EVENTS`, or both.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
    /// `HOST:PORT`; of a cluster several, with commas between them.
    pub server: AmbitText,
    /// A JSON object, or nothing: `name`, `reconnect_for_ms`, `render` (`"room"`, `"100ms"`,
    /// `"adaptive"`), `predict`, `coding`, `input_hz`, and how the player signs in, of which one:
    /// `account` (`"device"`, or a file: made if it is missing, a copy is the same account),
    /// `password` (`{"login", "password", "is_new"}`) or `token`; for trying things out `impair`
    /// (`"loss=5,delay=40ms"`).
    pub settings: AmbitText,
    /// The SHA-256 of the server's certificate, exactly 32 bytes, or null: then the certificate
    /// of the first contact is trusted, as ssh does.
    pub certificate: *const u8,
    /// The file of the trusted certificates; nothing for that of the user.
    pub known_hosts: AmbitText,
    /// The token of an earlier session, or nothing: `AmbitPlayer`.
    pub resume_token: *const u8,
    /// Its length in bytes.
    pub resume_token_length: u64,
}

/// What is in sight at one time. The arrays stay as they are until the next `ambit_frame` or
/// `ambit_close` of this client.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AmbitFrame {
    /// `sizeof(AmbitFrame)`, set by the caller.
    pub size: u32,
    /// How many of the objects are in sight; the room-wide ones follow.
    pub in_sight: u32,
    /// The room time that it shows, in microseconds; -1 without a game.
    pub time_us: i64,
    /// All objects: those in sight, then the room-wide ones, both by ascending ids.
    pub objects: *const ObjectRow,
    /// The values of their components, by `first_value`.
    pub values: *const ValueRow,
    /// The ids of the objects that were not in the frame before, in the order of `objects`. After
    /// the death of a host all objects have new ids.
    pub came: *const u32,
    /// The ids of those that are not any more.
    pub went: *const u32,
    /// Length of `objects`.
    pub object_count: u32,
    /// Length of `values`.
    pub value_count: u32,
    /// Length of `came`.
    pub came_count: u32,
    /// Length of `went`.
    pub went_count: u32,
    /// The index of the player's avatar, or `AMBIT_NONE`.
    pub avatar: u32,
    /// 0.
    pub reserved: u32,
}

/// An event of the lobby or of the game. The texts stay until the next `ambit_next_event` or
/// `ambit_close` of this client.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AmbitEvent {
    /// `sizeof(AmbitEvent)`, set by the caller.
    pub size: u32,
    /// `AMBIT_OF_LOBBY` or `AMBIT_OF_GAME`.
    pub of: u32,
    /// The number of the request that it answers, or 0.
    pub request: u64,
    /// What happened: `welcome`, `rooms`, `started`, `event`, `error`...
    pub name: AmbitText,
    /// All of it, as JSON.
    pub json: AmbitText,
}

/// Who the player is. The texts stay until the next `ambit_player` or `ambit_close`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AmbitPlayer {
    /// `sizeof(AmbitPlayer)`, set by the caller.
    pub size: u32,
    /// `AMBIT_CONNECTED` while the lobby answers, `AMBIT_PLAYING` in a game, `AMBIT_CLOSED` once
    /// the client has ended.
    pub state: u32,
    /// The number in the lobby, or 0.
    pub player: u64,
    /// The room, or 0.
    pub room: u64,
    /// The name in use.
    pub name: AmbitText,
    /// Secret: it resumes this session, perhaps in another process.
    pub resume_token: *const u8,
    /// Its length in bytes.
    pub resume_token_length: u64,
}

/// Counters since the start, and the line as it is now. What is not known is NaN.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AmbitStatistics {
    /// `sizeof(AmbitStatistics)`, set by the caller.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// The estimated room time now, in microseconds; -1 without a game.
    pub room_time_us: i64,
    /// Round trip to the game's host, in milliseconds.
    pub round_trip_ms: f64,
    /// How unevenly datagrams arrive, in milliseconds.
    pub jitter_ms: f64,
    /// How far behind room time other objects are shown, in milliseconds.
    pub shown_behind_ms: f64,
    /// How long nothing new has arrived, in milliseconds.
    pub silence_ms: f64,
    /// Share of the host's datagrams that did not arrive.
    pub loss: f64,
    /// Share of updates and events that came after their time.
    pub late_share: f64,
    /// Datagrams received from hosts.
    pub datagrams_down: u64,
    /// Datagrams sent to hosts.
    pub datagrams_up: u64,
    /// Bytes of all sockets: UDP payload received.
    pub bytes_down: u64,
    /// Bytes of all sockets: UDP payload sent.
    pub bytes_up: u64,
    /// Commands sent.
    pub commands: u64,
    /// Commands that the host has confirmed.
    pub confirmed: u64,
    /// Commands that were refused.
    pub refused: u64,
}

/// Why a call did nothing. The texts stay until the next call of this thread.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AmbitError {
    /// `sizeof(AmbitError)`, set by the caller.
    pub size: u32,
    /// What the call returned.
    pub status: u32,
    /// A stable code.
    pub code: AmbitText,
    /// What happened, what was expected, and what to do.
    pub message: AmbitText,
}

/// The value of a field of a command.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AmbitField {
    /// `AMBIT_FIELD_*`.
    pub kind: u32,
    /// 0.
    pub reserved: u32,
    /// A whole number, the id of an object, or 1 and 0 of a flag.
    pub number: i64,
    /// A position in metres (x to the east, y to the north, z up), or a decimal in `x`.
    pub x: f32,
    /// See `x`.
    pub y: f32,
    /// See `x`.
    pub z: f32,
    /// 0.
    pub reserved_too: u32,
    /// A text, or the name of a choice.
    pub text: AmbitText,
}

/// Where an avatar is and how it moves, for functions that steer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AmbitMovement {
    /// In metres: x to the east, y to the north, z up.
    pub position: [f32; 3],
    /// The heading in radians, from x towards y.
    pub yaw: f32,
    /// In metres a second.
    pub velocity: [f32; 3],
}

/// What is held while an avatar is steered.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AmbitHeld {
    /// One bit for each control of the game, in their order.
    pub keys: u32,
    /// The axes of the game in their order, in steps: a lever has 127 from 0 to 1, an angle 256 a
    /// turn.
    pub axes: [i8; 4],
}

/// Moves an avatar on by `seconds`. It must be pure: the same input gives the same output.
/// `user` is what was given to `ambit_steer`; `terrain` is for `ambit_terrain_*` and ends with the
/// call.
pub type AmbitSteer = Option<
    extern "C" fn(
        user: *mut c_void,
        movement: *mut AmbitMovement,
        held: *const AmbitHeld,
        terrain: *const c_void,
        seconds: f32,
    ),
>;

impl AmbitText {
    /// Memory of the library, as long as the function's text says.
    pub(crate) fn of(text: &str) -> Self {
        AmbitText { text: text.as_ptr(), length: text.len() as u64 }
    }
}

impl Default for AmbitText {
    fn default() -> Self {
        AmbitText { text: null(), length: 0 }
    }
}

/// A structure of the interface, as bindings check it.
pub(crate) trait CheckedLayout: Copy {
    /// Its fields, in their order, and where each begins.
    const FIELDS: &'static [(&'static str, usize)];
}

/// A structure that begins with its size, and may grow at its end.
pub(crate) trait Growing: CheckedLayout {
    /// Its size in the first version of the interface.
    const FIRST_SIZE: usize;
}

macro_rules! layouts {
    ($($name:ident { $($field:ident),* $(,)? })*) => {$(
        impl CheckedLayout for $name {
            const FIELDS: &'static [(&'static str, usize)] =
                &[$((stringify!($field), offset_of!($name, $field))),*];
        }
    )*};
}

layouts! {
    AmbitOptions {
        size, interface_version, flags, reserved, server, settings, certificate, known_hosts,
        resume_token, resume_token_length,
    }
    AmbitFrame {
        size, in_sight, time_us, objects, values, came, went, object_count, value_count, came_count,
        went_count, avatar, reserved,
    }
    AmbitEvent { size, of, request, name, json }
    AmbitPlayer { size, state, player, room, name, resume_token, resume_token_length }
    AmbitStatistics {
        size, reserved, room_time_us, round_trip_ms, jitter_ms, shown_behind_ms, silence_ms, loss,
        late_share, datagrams_down, datagrams_up, bytes_down, bytes_up, commands, confirmed,
        refused,
    }
    AmbitError { size, status, code, message }
    ObjectRow {
        position, rotation, velocity, angular_velocity, age_ms, id, kind, flags, first_value,
    }
    ValueRow { value, rate, max }
    AmbitField { kind, reserved, number, x, y, z, reserved_too, text }
    AmbitMovement { position, yaw, velocity }
    AmbitHeld { keys, axes }
    AmbitText { text, length }
}

/// The fields that the first version ends with: they never change.
macro_rules! growing {
    ($($name:ident: $last:ident: $ty:ty)*) => {$(
        impl Growing for $name {
            const FIRST_SIZE: usize = offset_of!($name, $last) + size_of::<$ty>();
        }
    )*};
}

growing! {
    AmbitOptions: resume_token_length: u64
    AmbitFrame: reserved: u32
    AmbitEvent: json: AmbitText
    AmbitPlayer: resume_token_length: u64
    AmbitStatistics: refused: u64
    AmbitError: message: AmbitText
}

/// The number of a structure for `ambit_layout`, in this order from 0.
const LAYOUTS: [(usize, &[(&str, usize)]); 12] = [
    (size_of::<AmbitOptions>(), AmbitOptions::FIELDS),
    (size_of::<AmbitFrame>(), AmbitFrame::FIELDS),
    (size_of::<AmbitEvent>(), AmbitEvent::FIELDS),
    (size_of::<AmbitPlayer>(), AmbitPlayer::FIELDS),
    (size_of::<AmbitStatistics>(), AmbitStatistics::FIELDS),
    (size_of::<AmbitError>(), AmbitError::FIELDS),
    (size_of::<ObjectRow>(), ObjectRow::FIELDS),
    (size_of::<ValueRow>(), ValueRow::FIELDS),
    (size_of::<AmbitField>(), AmbitField::FIELDS),
    (size_of::<AmbitMovement>(), AmbitMovement::FIELDS),
    (size_of::<AmbitHeld>(), AmbitHeld::FIELDS),
    (size_of::<AmbitText>(), AmbitText::FIELDS),
];

/// Where the field with this index begins in a structure; of one after the last, the structure's
/// size. None if there is no such structure or field.
pub(crate) fn layout(structure: u32, field: u32) -> Option<usize> {
    let (size, fields) = LAYOUTS.get(structure as usize)?;
    match fields.get(field as usize) {
        Some((_, offset)) => Some(*offset),
        None if field as usize == fields.len() => Some(*size),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps would hold what was in memory before.
    #[test]
    fn structures_have_no_gaps() {
        for (structure, (size, fields)) in LAYOUTS.iter().enumerate() {
            let places: Vec<usize> = fields.iter().map(|(_, at)| *at).chain([*size]).collect();
            assert!(places.is_sorted() && places[0] == 0, "{structure}: {fields:?}");
            let widths: Vec<usize> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
            // 4, 8, 16 (texts) or whole floats of a list.
            assert!(
                widths.iter().all(|width| width % 4 == 0 && *width > 0),
                "{structure}: {widths:?}"
            );
        }
        let by_sum = size_of::<[u32; 6]>() + 4 * size_of::<usize>() + size_of::<i64>();
        assert_eq!(size_of::<AmbitFrame>(), by_sum + 2 * size_of::<u32>());
        assert_eq!(layout(1, 2), Some(offset_of!(AmbitFrame, time_us)));
        assert_eq!(layout(11, 2), Some(size_of::<AmbitText>()));
        assert_eq!((layout(11, 3), layout(12, 0), layout(u32::MAX, u32::MAX)), (None, None, None));
    }
}
