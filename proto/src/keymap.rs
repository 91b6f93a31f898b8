//! The controls that a player holds down: 32 of them, one bit each.
//!
//! A client samples them ([`Sample`]), a server's tick takes what was sampled since the one before
//! ([`ButtonEdges`]): there a control is pressed if it is held or went down in between, and so no
//! tap is too short to be seen. Both ends reckon it alike. Which control means what is up to each
//! game.

use crate::time::GameTime;
use crate::wire::{Coder, Wire, WireError};

/// How many controls there are.
pub const CONTROLS: u8 = 32;

/// One bit for each control, the lowest for control 0: set while it is held down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Keymap(pub u32);

impl Keymap {
    /// Whether `control`, from 0 to 31, is held down.
    ///
    /// # Panics
    /// When there is no such control, as in every function that takes one.
    pub const fn down(self, control: u8) -> bool {
        self.0 & bit(control) != 0
    }

    /// This keymap with `control` held down or not.
    pub const fn with(self, control: u8, down: bool) -> Self {
        if down {
            Self(self.0 | bit(control))
        } else {
            Self(self.0 & !bit(control))
        }
    }
}

/// 32 bits.
impl Wire for Keymap {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.u32(&mut self.0)
    }
}

/// The controls that are held from a moment on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KeySample {
    /// In room time, whole milliseconds.
    pub at: GameTime,
    /// What was held then, or was pressed since the sample before.
    pub keys: Keymap,
}

/// The keymaps of this step and of the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Keys {
    /// Of the step before.
    pub previous: Keymap,
    /// Of this step.
    pub current: Keymap,
}

impl Keys {
    /// The next step begins, with these controls held down.
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

/// What became of the controls during one tick.
///
/// Invariant: a control goes down once at most, and comes up once at most. What would make it twice
/// is for the next tick ([`ButtonEdges::can_apply`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ButtonEdges {
    /// Held at the end.
    held: Keymap,
    /// Went down.
    down: Keymap,
    /// Came up.
    up: Keymap,
}

impl ButtonEdges {
    /// The next tick begins: what was held is.
    pub const fn begin_tick(&mut self) {
        (self.down, self.up) = (Keymap(0), Keymap(0));
    }

    /// Whether these keys can follow within this tick without anything being missed.
    pub const fn can_apply(&self, keys: Keymap) -> bool {
        (keys.0 & !self.held.0) & self.down.0 == 0 && (self.held.0 & !keys.0) & self.up.0 == 0
    }

    /// From now on these are held. What happens twice counts once.
    pub const fn apply(&mut self, keys: Keymap) {
        self.down.0 |= keys.0 & !self.held.0;
        self.up.0 |= self.held.0 & !keys.0;
        self.held = keys;
    }

    /// What is held at the end of the tick.
    pub const fn held(&self) -> Keymap {
        self.held
    }

    /// What is held, or went down in it.
    pub const fn pressed(&self) -> Keymap {
        Keymap(self.held.0 | self.down.0)
    }

    /// What went down in it.
    pub const fn just_pressed(&self) -> Keymap {
        self.down
    }

    /// What came up in it.
    pub const fn just_released(&self) -> Keymap {
        self.up
    }

    /// Whether anything changed in it.
    pub const fn is_unchanged(&self) -> bool {
        self.down.0 | self.up.0 == 0
    }

    /// The same as two keymaps; of a tap they do not say that it is over.
    pub const fn keys(&self) -> Keys {
        let current = self.pressed();
        Keys {
            previous: Keymap((current.0 | self.up.0) & !self.down.0),
            current,
        }
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
            let (held, free) = (Keymap::default().with(control, true), Keymap::default());
            let mut keys = Keys::default();
            let told = [held, held, free, free].map(|keymap| {
                keys.advance(keymap);
                (
                    keys.down(control),
                    keys.pressed(control),
                    keys.released(control),
                )
            });
            let expected = [
                (true, true, false),
                (true, false, false),
                (false, false, true),
                (false, false, false),
            ];
            assert_eq!(told, expected, "control {control}");
        }
    }

    #[test]
    fn controls_do_not_disturb_each_other() {
        let mut keys = Keys {
            previous: Keymap(0b0110),
            current: Keymap(0b0011),
        };
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
        let mut strokes = ButtonEdges::default();
        strokes.apply(Keymap(0b11));
        strokes.apply(Keymap(0b01));
        assert_eq!(
            (
                strokes.pressed(),
                strokes.just_pressed(),
                strokes.just_released()
            ),
            (Keymap(0b11), Keymap(0b11), Keymap(0b10))
        );
        assert!(strokes.keys().pressed(1) && strokes.keys().down(1));
        strokes.begin_tick();
        assert_eq!(
            (strokes.pressed(), strokes.held(), strokes.is_unchanged()),
            (Keymap(0b01), Keymap(0b01), true)
        );
        assert!(
            strokes.keys().down(0) && !strokes.keys().pressed(0) && !strokes.keys().released(1)
        );
    }

    #[test]
    fn a_second_tap_counts_in_the_next_tick() {
        let mut strokes = ButtonEdges::default();
        strokes.apply(Keymap(1));
        assert!(strokes.can_apply(Keymap(0)));
        strokes.apply(Keymap(0));
        assert!(!strokes.can_apply(Keymap(1)) && strokes.can_apply(Keymap(2)));
        strokes.begin_tick();
        assert!(strokes.can_apply(Keymap(1)));
    }

    #[test]
    #[should_panic(expected = "32 controls")]
    fn a_control_out_of_range_panics() {
        let _ = Keymap(0).down(32);
    }
}
