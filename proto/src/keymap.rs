//! The controls that a player holds down: 32 of them, one bit each.
//!
//! A client samples them ([`KeySample`]). A server's tick combines the samples since the tick
//! before ([`ButtonEdges`]): a control counts as pressed if it is held or went down in between, so
//! even the shortest tap counts. Both ends compute it the same way. Each game defines the meaning
//! of its controls.

#![warn(missing_docs, reason = "authors of games and clients import it")]

use crate::axes::Axes;
use crate::time::GameTime;
use crate::wire::{Coder, Wire, WireError};

/// The number of controls.
pub const CONTROLS: u8 = 32;

/// One bit for each control, the lowest for control 0: set while it is held down.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize, serde::Deserialize,
)]
pub struct Keymap(pub u32);

impl Keymap {
    /// Whether `control`, from 0 to 31, is held down.
    ///
    /// # Panics
    /// If `control` is out of range, as in every function that takes one.
    pub const fn down(self, control: u8) -> bool {
        self.0 & bit(control) != 0
    }

    /// This keymap with `control` held down or not.
    pub const fn with(self, control: u8, down: bool) -> Self {
        if down { Self(self.0 | bit(control)) } else { Self(self.0 & !bit(control)) }
    }
}

/// 32 bits.
impl Wire for Keymap {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.u32(&mut self.0)
    }
}

/// The controls that are held from a moment on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct KeySample {
    /// In room time, whole milliseconds.
    pub at: GameTime,
    /// The controls that were held then, or pressed since the sample before.
    pub keys: Keymap,
    /// The axes then; `None` if the sample does not tell, and in a game without axes.
    pub axes: Option<Axes>,
}

impl KeySample {
    /// A sample that tells nothing of axes.
    pub const fn new(at: GameTime, keys: Keymap) -> Self {
        Self { at, keys, axes: None }
    }
}

/// The keymaps of this step and of the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Keys {
    /// In the step before.
    pub previous: Keymap,
    /// In this step.
    pub current: Keymap,
}

impl Keys {
    /// Begins the next step, with these controls held down.
    pub const fn advance(&mut self, keymap: Keymap) {
        self.previous = self.current;
        self.current = keymap;
    }

    /// Whether `control` is held down.
    pub const fn down(self, control: u8) -> bool {
        self.current.down(control)
    }

    /// Whether `control` went down in this step.
    pub const fn pressed(self, control: u8) -> bool {
        self.current.down(control) && !self.previous.down(control)
    }

    /// Whether `control` came up in this step.
    pub const fn released(self, control: u8) -> bool {
        !self.current.down(control) && self.previous.down(control)
    }
}

/// The changes of the controls during one tick.
///
/// Invariant: a control goes down at most once and comes up at most once. A second change of the
/// same kind belongs to the next tick ([`ButtonEdges::can_apply`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ButtonEdges {
    /// Held at the end of the tick.
    held: Keymap,
    /// Went down.
    down: Keymap,
    /// Came up.
    up: Keymap,
}

impl ButtonEdges {
    /// Begins the next tick; held controls stay held.
    pub const fn begin_tick(&mut self) {
        (self.down, self.up) = (Keymap(0), Keymap(0));
    }

    /// Whether these keys can follow within this tick without hiding an earlier change.
    pub const fn can_apply(&self, keys: Keymap) -> bool {
        (keys.0 & !self.held.0) & self.down.0 == 0 && (self.held.0 & !keys.0) & self.up.0 == 0
    }

    /// Sets the held controls. Repeated changes of a control count once.
    pub const fn apply(&mut self, keys: Keymap) {
        self.down.0 |= keys.0 & !self.held.0;
        self.up.0 |= self.held.0 & !keys.0;
        self.held = keys;
    }

    /// The controls held at the end of the tick.
    pub const fn held(&self) -> Keymap {
        self.held
    }

    /// The controls held at the end of the tick, or pressed during it.
    pub const fn pressed(&self) -> Keymap {
        Keymap(self.held.0 | self.down.0)
    }

    /// The controls that went down during the tick.
    pub const fn just_pressed(&self) -> Keymap {
        self.down
    }

    /// The controls that came up during the tick.
    pub const fn just_released(&self) -> Keymap {
        self.up
    }

    /// Whether nothing changed during the tick.
    pub const fn is_unchanged(&self) -> bool {
        self.down.0 | self.up.0 == 0
    }

    /// The same as two keymaps; they do not show that a tap has already ended.
    pub const fn keys(&self) -> Keys {
        let current = self.pressed();
        Keys { previous: Keymap((current.0 | self.up.0) & !self.down.0), current }
    }
}

const fn bit(control: u8) -> u32 {
    assert!(control < CONTROLS, "there are 32 controls, 0 to 31");
    1 << control
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_is_pressed_once_held_and_released_once() {
        for control in 0..CONTROLS {
            let held = Keymap::default().with(control, true);
            let free = Keymap::default();
            let mut keys = Keys::default();
            let observed = [held, held, free, free].map(|keymap| {
                keys.advance(keymap);
                (keys.down(control), keys.pressed(control), keys.released(control))
            });
            let expected = [
                (true, true, false),
                (true, false, false),
                (false, false, true),
                (false, false, false),
            ];
            assert_eq!(observed, expected, "control {control}");
        }
    }

    #[test]
    fn controls_are_independent() {
        let mut keys = Keys { previous: Keymap(0b0110), current: Keymap(0b0011) };
        assert!(
            keys.pressed(0)
                && keys.down(1)
                && !keys.pressed(1)
                && keys.released(2)
                && !keys.down(3)
        );
        keys.advance(Keymap(u32::MAX));
        assert!(!keys.pressed(1) && keys.pressed(31));
        assert_eq!(Keymap(0b0111).with(1, false), Keymap(0b0101));
    }

    #[test]
    fn a_tap_within_a_tick_counts_in_that_tick_only() {
        let mut edges = ButtonEdges::default();
        edges.apply(Keymap(0b11));
        edges.apply(Keymap(0b01));
        assert_eq!(
            (edges.pressed(), edges.just_pressed(), edges.just_released()),
            (Keymap(0b11), Keymap(0b11), Keymap(0b10))
        );
        assert!(edges.keys().pressed(1) && edges.keys().down(1));
        edges.begin_tick();
        assert_eq!(
            (edges.pressed(), edges.held(), edges.is_unchanged()),
            (Keymap(0b01), Keymap(0b01), true)
        );
        assert!(edges.keys().down(0) && !edges.keys().pressed(0) && !edges.keys().released(1));
    }

    #[test]
    fn a_second_tap_counts_in_the_next_tick() {
        let mut edges = ButtonEdges::default();
        edges.apply(Keymap(1));
        assert!(edges.can_apply(Keymap(0)));
        edges.apply(Keymap(0));
        assert!(!edges.can_apply(Keymap(1)) && edges.can_apply(Keymap(2)));
        edges.begin_tick();
        assert!(edges.can_apply(Keymap(1)));
    }

    #[test]
    #[should_panic(expected = "32 controls")]
    fn a_control_out_of_range_panics() {
        let _ = Keymap(0).down(32);
    }
}
