//! The players' controls, for a game to query.

use std::time::Duration;

use ambit_proto::axes::{Axes, AxisKind, MAX_AXES};
use ambit_proto::ids::PlayerId;
use ambit_proto::keymap::{ButtonEdges, KeySample, Keymap};
use ambit_proto::schema::Schema;
use ambit_proto::time::GameTime;

use super::World;
use crate::logic::controls::{HeldControls, InputTimeout, SampleOutcome};

/// The inputs of one player that a tick has applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppliedInputs {
    /// The player who has pressed the controls.
    pub player: PlayerId,
    /// The client time up to which the player's samples take effect with this tick; `None` if no
    /// new sample does.
    pub applied_until: Option<GameTime>,
    /// Whether the pressed controls, or the axes, differ from the previous tick.
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

/// The axes of the players.
impl World {
    /// The value of an axis at this tick: -1 to 1, or radians from -pi to pi; 0 before its first
    /// sample. From [`Game::input`](crate::logic::game::Game::input) on, as above.
    ///
    /// # Panics
    /// If the control is no axis.
    pub fn axis(&self, player: PlayerId, control: u8) -> f32 {
        let Some((axis, kind)) = self.schema.axis(control) else {
            let spec = self.schema.controls.get(usize::from(control));
            let name = spec.map_or_else(|| control.to_string(), |spec| spec.name.clone());
            panic!("the control {name:?} is not declared as an axis or an angle");
        };
        kind.value_of(self.axes(player).0[axis])
    }

    /// The axes of a player at this tick, in the order of their declaration.
    pub fn axes(&self, player: PlayerId) -> Axes {
        self.controls.get(&player).map(HeldControls::axes).unwrap_or_default()
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

    /// Releases all controls of a player who has disconnected: linear axes go back to 0, angles
    /// stay.
    pub fn release_controls(&mut self, player: PlayerId) {
        if let Some(controls) = self.controls.get_mut(&player) {
            controls.release_all(staying_axes(&self.schema));
        }
    }

    /// From now on, held keys count until `after` has passed since the newest sample of their
    /// player.
    pub fn set_input_timeout(&mut self, after: Duration) {
        self.input_timeout = after;
    }

    /// Removes the controls of a player who has left.
    pub fn remove_controls(&mut self, player: PlayerId) {
        self.controls.remove(&player);
    }

    /// Applies the inputs that have arrived since the previous tick. Appends the players for whom
    /// this makes a difference, in their order.
    pub fn apply_inputs(&mut self, applied: &mut Vec<AppliedInputs>) {
        let present = self.now.saturating_sub(self.delay);
        let timeout = InputTimeout { after: self.input_timeout, stay: staying_axes(&self.schema) };
        for (&player, controls) in &mut self.controls {
            let before = (controls.edges().pressed(), controls.axes());
            let until = controls.begin_tick(present, timeout);
            let after = (controls.edges().pressed(), controls.axes());
            let changed = after != before || !controls.edges().is_unchanged();
            if until.is_some() || changed {
                applied.push(AppliedInputs { player, applied_until: until, changed });
            }
        }
    }
}

/// The axes that stay where they are when a player is gone: angles.
fn staying_axes(schema: &Schema) -> [bool; MAX_AXES] {
    let mut stay = [false; MAX_AXES];
    for (stays, (_, kind)) in stay.iter_mut().zip(schema.axes()) {
        *stays = kind != AxisKind::Linear;
    }
    stay
}
