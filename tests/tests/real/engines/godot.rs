//! A scene of Godot 4 plays like the programs in other languages. `tests/godot` runs it: it makes
//! the extension, and names the program in `AMBIT_GODOT`.

use std::path::Path;

use ambit_tests::real::ScratchFolder;
use anyhow::{Context, Result};

#[test]
fn a_scene_in_godot_sees_what_the_trace_has_and_survives_its_host() -> Result<()> {
    let godot = std::env::var_os("AMBIT_GODOT").context("AMBIT_GODOT: `tests/godot` sets it")?;
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../client-core/godot/demo");
    let scratch = ScratchFolder::new("engine-godot");
    let options = ["--headless", "--no-header", "--path"].map(Into::into);
    let words = [vec![godot.into()], options.to_vec(), vec![demo, "--".into()]].concat();
    super::play(&scratch, &words)
}
