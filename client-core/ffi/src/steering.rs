//! Functions of the caller that steer avatars, where the core expects functions of Rust.
//!
//! A function of Rust has no state, so each slot has one of its own, which finds the caller's
//! function by the slot's number. Bound: [`SLOTS`] at a time.

#![expect(unsafe_code, reason = "the terrain is a pointer while the caller's function runs")]

use std::collections::BTreeSet;
use std::ffi::c_void;

use ambit_client_boundary::motions;
use ambit_proto::schema::NoControls;
use ambit_proto::space::Position;
use ambit_steering::{
    ControlState, Held, Movement, SharedMotion, Steer, SteerFunctions, SteeredKind, Steering,
    Terrain, functions_of,
};
use parking_lot::{Mutex, const_mutex};

use crate::status::{Failure, Status};
use crate::structs::{AmbitHeld, AmbitMovement, AmbitSteer};

/// How many functions there may be at a time, in the whole process.
const SLOTS: usize = 8;
/// At most as many different names of games and kinds are kept.
const MAX_NAMES: usize = 64;

#[derive(Clone, Copy)]
struct CallersFunction {
    function: AmbitSteer,
    /// A pointer of the caller, for the caller alone.
    user: usize,
}

static TAKEN: Mutex<[Option<CallersFunction>; SLOTS]> = const_mutex([None; SLOTS]);
static NAMES: Mutex<BTreeSet<&'static str>> = const_mutex(BTreeSet::new());

/// A slot that a client has taken; free again when this is dropped.
#[derive(Debug)]
pub(crate) struct TakenSlot {
    place: usize,
    game: &'static str,
}

impl TakenSlot {
    /// The game whose avatars it steers.
    pub(crate) fn game(&self) -> &str {
        self.game
    }
}

/// Takes a slot for a function of the caller.
pub(crate) fn take(
    game: &str,
    kind: &str,
    function: AmbitSteer,
    user: *mut c_void,
) -> Result<(TakenSlot, SharedMotion), Failure> {
    if function.is_none() {
        return Err(Failure::new(Status::BadPointer, "the function is null"));
    }
    let (game, kind) = (keep(game)?, keep(kind)?);
    let mut taken = TAKEN.lock();
    let free = taken.iter().position(Option::is_none).ok_or_else(|| {
        let message = format!("{SLOTS} functions that steer are in use; close a client");
        Failure::new(Status::TooMany, message)
    })?;
    taken[free] = Some(CallersFunction { function, user: user.expose_provenance() });
    let steer = [
        steer::<0>, steer::<1>, steer::<2>, steer::<3>, steer::<4>, steer::<5>, steer::<6>,
        steer::<7>,
    ][free];
    let functions = SteerFunctions { steer, ..known_functions(game, kind) };
    Ok((TakenSlot { place: free, game }, Steering { game, kind, functions }.into()))
}

/// All but how it is steered: of an avatar that the library knows its own, such as what it fires.
fn known_functions(game: &str, kind: &str) -> SteerFunctions {
    let known = motions().into_iter().find_map(|motion| match motion {
        SharedMotion::Steering(known) if (known.game, known.kind) == (game, kind) => {
            Some(known.functions)
        }
        _ => None,
    });
    known.unwrap_or_else(functions_of::<CallersAvatar>)
}

impl Drop for TakenSlot {
    fn drop(&mut self) {
        TAKEN.lock()[self.place] = None;
    }
}

/// Names live as long as the process: the core keeps them by reference.
fn keep(name: &str) -> Result<&'static str, Failure> {
    let mut names = NAMES.lock();
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if names.len() >= MAX_NAMES {
        let message = format!("{MAX_NAMES} different games and kinds were steered already");
        return Err(Failure::new(Status::TooMany, message));
    }
    let name: &'static str = Box::leak(name.into());
    names.insert(name);
    Ok(name)
}

fn steer<const SLOT: usize>(
    moved: &mut Movement,
    held: ControlState,
    terrain: Terrain<'_>,
    seconds: f32,
) {
    let slot = TAKEN.lock()[SLOT];
    let Some(CallersFunction { function: Some(function), user }) = slot else { return };
    let mut movement = AmbitMovement {
        position: [moved.at.x, moved.at.y, moved.at.z],
        yaw: moved.yaw,
        velocity: moved.velocity,
    };
    let held = AmbitHeld { keys: held.keys.0, axes: held.axes.0 };
    let terrain = (&raw const terrain).cast();
    let user = std::ptr::with_exposed_provenance_mut(user);
    function(user, &raw mut movement, &raw const held, terrain, seconds);
    let [x, y, z] = movement.position;
    *moved = Movement { at: Position { x, y, z }, yaw: movement.yaw, velocity: movement.velocity };
}

/// Calls `read` with the terrain that a function of the caller was given.
///
/// # Safety
/// It is the one that the function was called with, and this is during that call.
pub(crate) unsafe fn with_terrain<R>(
    terrain: *const c_void,
    read: impl FnOnce(Terrain<'_>) -> R,
) -> Result<R, Failure> {
    if terrain.is_null() {
        return Err(Failure::new(Status::BadPointer, "the terrain is null"));
    }
    // SAFETY: not null; the caller says that it is such a terrain.
    Ok(read(unsafe { *terrain.cast::<Terrain<'_>>() }))
}

/// Stands for an avatar of which only the caller knows how it is steered: all else is as for any.
/// The caller's function reads controls by their places.
struct CallersAvatar;

impl SteeredKind for CallersAvatar {}

impl Steer for CallersAvatar {
    type SteeredBy = NoControls;

    fn steer(_: &mut Movement, _: Held<NoControls>, _: Terrain<'_>, _: f32) {}
}

#[cfg(test)]
mod tests {
    use ambit_proto::axes::Axes;
    use ambit_proto::keymap::Keymap;
    use ambit_proto::physics::Arena;
    use ambit_steering::statics::Statics;

    use super::*;

    extern "C" fn ahead(
        user: *mut c_void,
        movement: *mut AmbitMovement,
        held: *const AmbitHeld,
        terrain: *const c_void,
        seconds: f32,
    ) {
        // SAFETY: the library calls it with pointers of its own.
        let (movement, held) = unsafe { (&mut *movement, &*held) };
        // SAFETY: it is the terrain of this call.
        let width = unsafe { with_terrain(terrain, |terrain| terrain.arena.width_m) };
        let width = width.expect("a terrain");
        movement.position[0] += f32::from(held.axes[0]) * seconds + user.addr() as f32;
        movement.velocity = [held.keys as f32, width, 0.0];
    }

    #[test]
    fn a_function_of_the_caller_steers() {
        let user = std::ptr::without_provenance_mut(2);
        let (slot, motion) = take("fleet", "boat", Some(ahead), user).expect("a free slot");
        let SharedMotion::Steering(steering) = motion else { panic!("{motion:?}") };
        assert_eq!((steering.game, steering.kind), ("fleet", "boat"));
        let statics = Statics::default();
        let arena = Arena { width_m: 100.0, height_m: 50.0 };
        let run = || {
            let mut moved = Movement::at_rest(Position::on_ground(5.0, 6.0), 1.5);
            let held = ControlState { keys: Keymap(3), axes: Axes([4, 0, 0, 0]) };
            let terrain = Terrain { statics: &statics, arena };
            (steering.functions.steer)(&mut moved, held, terrain, 0.5);
            moved
        };
        let moved = run();
        assert_eq!((moved.at.x, moved.at.y, moved.yaw), (9.0, 6.0, 1.5));
        assert_eq!(moved.velocity, [3.0, 100.0, 0.0]);
        drop(slot);
        // The client is closed: what still has the function gets the movement back.
        assert_eq!(run().at.x, 5.0);
    }

    #[test]
    fn slots_are_limited_and_free_again() {
        let take = || take("fleet", "boat", Some(ahead), std::ptr::null_mut());
        let taken: Vec<_> = std::iter::from_fn(|| take().ok()).take(SLOTS + 1).collect();
        assert!((SLOTS - 1..=SLOTS).contains(&taken.len()), "{}", taken.len());
        assert_eq!(take().expect_err("none is free").status, Status::TooMany);
        drop(taken);
        assert!(take().is_ok());
    }
}
