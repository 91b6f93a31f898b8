//! Writes the JavaScript and the WebAssembly module of a compiled crate: `bindgen WASM FOLDER`.
//! Their names are that of the crate.
//!
//! It does what the program `wasm-bindgen` does with `--target web`. That program also has a test
//! runner with a web server, which takes longer to compile than all the rest.

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: bindgen WASM FOLDER";
    let input = arguments.next().context(usage)?;
    let folder = arguments.next().context(usage)?;
    Bindgen::new()
        .input_path(input)
        .web(true)?
        .typescript(true)
        // The page says where the module is.
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder)
}
