//! What the player does with mouse and keyboard, as commands and held controls of the game.

use std::cell::RefCell;
use std::rc::Rc;

use ambit_client::Game;
use ambit_client::schema::{FieldType, Schema};
use minifb::{InputCallback, Key, KeyRepeat, MouseButton, MouseMode, Window};

use crate::map_view::MapView;

/// Names of keys, as games declare them.
const KEYS: [(&str, Key); 25] = [
    ("a", Key::A),
    ("b", Key::B),
    ("c", Key::C),
    ("d", Key::D),
    ("e", Key::E),
    ("f", Key::F),
    ("g", Key::G),
    ("h", Key::H),
    ("i", Key::I),
    ("j", Key::J),
    ("k", Key::K),
    ("l", Key::L),
    ("q", Key::Q),
    ("r", Key::R),
    ("s", Key::S),
    ("w", Key::W),
    ("x", Key::X),
    ("arrowleft", Key::Left),
    ("arrowright", Key::Right),
    ("arrowup", Key::Up),
    ("arrowdown", Key::Down),
    ("space", Key::Space),
    ("shift", Key::LeftShift),
    ("control", Key::LeftCtrl),
    ("tab", Key::Tab),
];

/// See the module.
pub(crate) struct Input {
    characters: Rc<RefCell<Vec<char>>>,
    /// The line that is being written.
    line: Option<String>,
    was_down: bool,
}

/// Collects what is typed.
struct Typing(Rc<RefCell<Vec<char>>>);

impl InputCallback for Typing {
    fn add_char(&mut self, character: u32) {
        self.0.borrow_mut().extend(char::from_u32(character).filter(|it| !it.is_control()));
    }
}

impl Input {
    pub(crate) fn new(window: &mut Window) -> Self {
        let characters = Rc::default();
        window.set_input_callback(Box::new(Typing(Rc::clone(&characters))));
        Input { characters, line: None, was_down: false }
    }

    /// The line that is being written.
    pub(crate) fn typed(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// Gives the game what the player does. Returns a line of chat that is complete.
    pub(crate) fn act(&mut self, window: &Window, game: &Game, view: &MapView) -> Option<String> {
        let said = self.write(window);
        let Some(schema) = game.schema() else { return said };
        let down = window.get_mouse_down(MouseButton::Left);
        let pressed = down && !self.was_down;
        self.was_down = down;
        if let Some((x, y)) = window.get_mouse_pos(MouseMode::Discard).filter(|_| pressed)
            && let Some(command) = command_of_clicks(&schema)
        {
            // A click beyond the map is refused here.
            let _ = game.send(command, view.place([x, y]));
        }
        let keys: &[(&str, Key)] = if self.line.is_some() { &[] } else { &KEYS };
        let held = keys.iter().filter(|(_, key)| window.is_key_down(*key));
        let held: Vec<&str> = held.map(|(name, _)| *name).collect();
        // Fails only while a broken connection is restored.
        let _ = game.hold_named(controls_of(&schema, &held));
        said
    }

    fn write(&mut self, window: &Window) -> Option<String> {
        let characters = self.characters.take();
        let enter = window.is_key_pressed(Key::Enter, KeyRepeat::No);
        let Some(line) = &mut self.line else {
            if enter {
                self.line = Some(String::new());
            }
            return None;
        };
        line.extend(characters);
        if window.is_key_pressed(Key::Backspace, KeyRepeat::Yes) {
            line.pop();
        }
        if enter { self.line.take().filter(|line| !line.is_empty()) } else { None }
    }
}

/// The command for a place of the map.
fn command_of_clicks(schema: &Schema) -> Option<&str> {
    let mut commands = schema.commands.iter().enumerate();
    let (_, command) = commands.find(|(index, command)| {
        let key = schema.presentation.command(*index).key.as_deref();
        let takes_place = command.fields.first().is_some_and(|it| it.ty == FieldType::Position);
        key == Some("click") && takes_place
    })?;
    Some(&command.name)
}

/// The controls of these keys.
fn controls_of<'s>(schema: &'s Schema, held: &[&str]) -> impl Iterator<Item = &'s str> {
    let is_held = |index: usize| {
        let keys = &schema.presentation.control(index).keys;
        keys.iter().any(|key| held.contains(&key.as_str()))
    };
    let controls = schema.controls.iter().enumerate();
    let controls = controls.filter(|(_, control)| control.axis.is_none());
    controls.filter(move |(index, _)| is_held(*index)).map(|(_, control)| control.name.as_str())
}
