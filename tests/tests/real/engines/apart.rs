//! What is compiled apart from the workspace plays like the programs in other languages: a scene of
//! Godot 4, and an app of Bevy. `tests/engines` compiles them, and runs this.

use std::ffi::OsString;
use std::path::Path;

use ambit_tests::real::ScratchFolder;
use anyhow::{Context, Result};

#[test]
fn a_scene_in_godot_sees_what_the_trace_has_and_survives_its_host() -> Result<()> {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../client-core/godot/demo");
    let scratch = ScratchFolder::new("engine-godot");
    let options = ["--headless", "--no-header", "--path"].map(Into::into);
    let words = [vec![made("AMBIT_GODOT")?.into()], options.to_vec(), vec![demo, "--".into()]];
    super::play(&scratch, &words.concat())
}

#[test]
fn an_app_with_bevy_sees_what_the_trace_has_and_survives_its_host() -> Result<()> {
    let scratch = ScratchFolder::new("engine-bevy");
    super::play(&scratch, &[made("AMBIT_BEVY_WALK")?.into()])
}

/// The program that `tests/engines` has made.
fn made(variable: &str) -> Result<OsString> {
    std::env::var_os(variable).with_context(|| format!("{variable}: `tests/engines` sets it"))
}
