//! The entry point that Godot looks for in the library.

#![expect(unsafe_code, reason = "the bindings ask for it; their checks stay on")]

use godot::prelude::*;

struct AmbitExtension;

#[gdextension]
// SAFETY: it has all defaults, and no thread but the main one calls the engine.
unsafe impl ExtensionLibrary for AmbitExtension {}
