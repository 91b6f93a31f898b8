//! The players' controls, for a game to query.

use ambit_proto::ids::PlayerId;
use ambit_proto::keymap::{ButtonEdges, KeySample, Keymap};
use ambit_proto::time::GameTime;

use super::World;
use crate::logic::controls::SampleOutcome;

/// The inputs of one player that a tick has applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppliedInputs {
    /// The player who has pressed the controls.
    pub player: PlayerId,
    /// The client time up to which the player's samples take effect with this tick; `None` if no
    /// new sample does.
    pub applied_until: Option<GameTime>,
    /// Whether the pressed controls differ from the previous tick.
    pub changed: bool,
}

/// The controls of the players, 0 to 31; the game decides what each one means. All methods panic if
/// there is no such control.
///
/// From [`Game::input`](crate::logic::game::Game::input) on they return the state of the current
/// tick; before that, in a command, that of the previous tick.
impl World {
    /// Whether a player holds a control, or has pressed it since the previous tick, however
    /// briefly.
    pub fn pressed(&self, player: PlayerId, control: u8) -> bool {
        self.button_edges(player).pressed().down(control)
    }

    /// Whether a player has pressed a control since the previous tick. Each press is reported once,
    /// in one tick.
    pub fn just_pressed(&self, player: PlayerId, control: u8) -> bool {
        self.button_edges(player).just_pressed().down(control)
    }

    /// Whether a player has released a control since the previous tick. Each release is reported
    /// once, in one tick; for a tap that is the tick of the press.
    pub fn just_released(&self, player: PlayerId, control: u8) -> bool {
        self.button_edges(player).just_released().down(control)
    }

    /// The held controls and all press and release edges of a player at this tick.
    pub fn button_edges(&self, player: PlayerId) -> ButtonEdges {
        self.controls.get(&player).map_or_else(ButtonEdges::default, |controls| *controls.edges())
    }
}

/// Called by the room, and by tests of games.
impl World {
    /// Sets the controls that a player holds until the next change.
    pub fn hold_controls(&mut self, player: PlayerId, keys: Keymap) {
        self.controls.entry(player).or_default().hold(keys);
    }

    /// Takes a sample of a player's controls that arrived when the room's clock showed `now`.
    pub fn receive_sample(
        &mut self,
        now: GameTime,
        player: PlayerId,
        sample: KeySample,
    ) -> SampleOutcome {
        let controls = self.controls.entry(player).or_default();
        controls.receive_sample(now, sample)
    }

    /// Releases all controls of a player who has disconnected.
    pub fn release_controls(&mut self, player: PlayerId) {
        if let Some(controls) = self.controls.get_mut(&player) {
            controls.release_all();
        }
    }

    /// Removes the controls of a player who has left.
    pub fn remove_controls(&mut self, player: PlayerId) {
        self.controls.remove(&player);
    }

    /// Applies the inputs that have arrived since the previous tick. Appends the players for whom
    /// this makes a difference, in their order.
    pub fn apply_inputs(&mut self, applied: &mut Vec<AppliedInputs>) {
        for (&player, controls) in &mut self.controls {
            let before = controls.edges().pressed();
            let until = controls.begin_tick();
            let changed = controls.edges().pressed() != before || !controls.edges().is_unchanged();
            if until.is_some() || changed {
                applied.push(AppliedInputs { player, applied_until: until, changed });
            }
        }
    }
}
