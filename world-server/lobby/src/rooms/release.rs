//! What the lobby knows of a room on its way to another build; `fleet/releases` decides.

use std::collections::BTreeSet;

/// The builds that a room is known not to fit, at most; more than an operator starts in a room's
/// life.
const MAX_MISFITS: usize = 16;

/// What the lobby knows of a room on its way to another build.
#[derive(Debug, Default)]
pub(crate) struct RoomRelease {
    /// Its host was asked to hand it over.
    pub(crate) is_asked: bool,
    /// The shell has all of it in a snapshot, and nothing after that: any build may read it.
    pub(crate) is_whole: bool,
    /// Builds that could not read it.
    misfits: BTreeSet<String>,
}

impl RoomRelease {
    /// A host runs the room from now on, which saves it in its own way.
    pub(crate) fn note_running(&mut self) {
        (self.is_asked, self.is_whole) = (false, false);
    }

    /// Its host was lost.
    pub(crate) fn stop_asking(&mut self) {
        self.is_asked = false;
    }

    /// A host of this build could not go on with the room.
    pub(crate) fn add_misfit(&mut self, build: String) {
        if self.misfits.len() >= MAX_MISFITS {
            self.misfits.pop_first();
        }
        self.misfits.insert(build);
    }

    /// Whether this build could not read the room.
    pub(crate) fn is_misfit_of(&self, build: &str) -> bool {
        self.misfits.contains(build)
    }

    /// Whether another build could not read the room, and none runs it yet.
    pub(crate) fn is_misfit(&self) -> bool {
        self.is_whole && !self.misfits.is_empty()
    }

    /// Whether a host of this build may try to read it.
    pub(crate) fn may_try(&self, build: &str) -> bool {
        self.is_whole && !self.is_misfit_of(build)
    }
}
