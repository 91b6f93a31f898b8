//! What the players press, for a game to ask.

use ambit_proto::ids::PlayerId;
use ambit_proto::keymap::{ButtonEdges, KeySample, Keymap};
use ambit_proto::time::GameTime;

use super::World;

/// What a tick has made of one player's inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppliedInputs {
    /// Whose.
    pub player: PlayerId,
    /// The player's samples up to this time, of the client's, take effect with this tick; none if
    /// no more do than before.
    pub applied_until: Option<GameTime>,
    /// Whether other controls are pressed than at the tick before.
    pub changed: bool,
}

/// The controls of the players, 0 to 31: what each means is up to the game. All of them panic when
/// there is no such control.
///
/// They are those of the present tick from [`Game::input`](crate::logic::game::Game::input) on, and
/// before that, in a command, those of the tick before.
impl World {
    /// Whether a player holds a control, or has pressed it since the tick before, be it ever so
    /// shortly.
    pub fn pressed(&self, player: PlayerId, control: u8) -> bool {
        self.button_edges(player).pressed().down(control)
    }

    /// Whether a player has pressed a control since the tick before. Each press is told once, in
    /// one tick.
    pub fn just_pressed(&self, player: PlayerId, control: u8) -> bool {
        self.button_edges(player).just_pressed().down(control)
    }

    /// Whether a player has let go of a control since the tick before. Each time is told once, in
    /// one tick; after a tap that is the same in which it was pressed.
    pub fn just_released(&self, player: PlayerId, control: u8) -> bool {
        self.button_edges(player).just_released().down(control)
    }

    /// All that became of a player's controls at this tick.
    pub fn button_edges(&self, player: PlayerId) -> ButtonEdges {
        self.controls
            .get(&player)
            .map_or_else(ButtonEdges::default, |controls| *controls.edges())
    }
}

/// What the room does with them. A game's tests play the room.
impl World {
    /// From now on a player holds these, until something else is said.
    pub fn hold_controls(&mut self, player: PlayerId, keys: Keymap) {
        self.controls.entry(player).or_default().hold(keys);
    }

    /// A sample of a player's controls has arrived, when the room's clock showed `now`.
    pub fn receive_sample(&mut self, now: GameTime, player: PlayerId, sample: KeySample) {
        self.controls
            .entry(player)
            .or_default()
            .receive_sample(now, sample);
    }

    /// A player's connection is gone, and with it what was held.
    pub fn release_controls(&mut self, player: PlayerId) {
        if let Some(controls) = self.controls.get_mut(&player) {
            controls.release_all();
        }
    }

    /// A player is out.
    pub fn remove_controls(&mut self, player: PlayerId) {
        self.controls.remove(&player);
    }

    /// Takes what has arrived since the tick before. Appends for whom that makes a difference, in
    /// the order of the players.
    pub fn apply_inputs(&mut self, taken: &mut Vec<AppliedInputs>) {
        for (&player, controls) in &mut self.controls {
            let before = controls.edges().pressed();
            let until = controls.begin_tick();
            let changed = controls.edges().pressed() != before || !controls.edges().is_unchanged();
            if until.is_some() || changed {
                taken.push(AppliedInputs {
                    player,
                    applied_until: until,
                    changed,
                });
            }
        }
    }
}
