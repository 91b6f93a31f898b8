//! Shows the message of a panic in the browser's console; otherwise a page sees no more than
//! `unreachable`.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

#[wasm_bindgen(start)]
fn show_panics() {
    std::panic::set_hook(Box::new(|panic| error(&panic.to_string())));
}
