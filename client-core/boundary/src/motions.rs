//! What clients share with games: how their avatars are steered.
//!
//! The shipped games are here. A module or a library with games of one's own adds theirs at its
//! start ([`share`]).

use std::sync::{Mutex, PoisonError};

use ambit_steering::SharedMotion;

/// Of the shipped games. Their physics would double the size of a client.
const SHIPPED: [SharedMotion; 1] = [SharedMotion::Steering(ambit_shooter_kinds::STEERING)];

static ADDED: Mutex<Vec<SharedMotion>> = Mutex::new(Vec::new());

/// Clients that are made from now on share this, too.
pub fn share(motion: impl Into<SharedMotion>) {
    ADDED.lock().unwrap_or_else(PoisonError::into_inner).push(motion.into());
}

/// What a new client shares.
pub fn motions() -> Vec<SharedMotion> {
    let added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    added.iter().copied().chain(SHIPPED).collect()
}
