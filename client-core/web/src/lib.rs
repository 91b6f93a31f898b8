//! The Ambit client for browsers, compiled to WebAssembly.
//!
//! A thin boundary around the client's core ([`ambit_client_core::client`]), which makes all
//! decisions. Bytes and times go in; bytes to send, connections to open or close, events and frames
//! come out ([`WebClient`]). The TypeScript in `client-core/web/ts` does the I/O: WebTransport,
//! timers, the clock. Game authors use its API and never see this one.
//!
//! What happens once in a while crosses the boundary as JSON: the schema, events, arguments of
//! commands (`schema_json`, `event_json`, `send`). What happens in each frame crosses it
//! as memory that both sides read (`frame_buffers`).
//!
//! Physics of games are in modules of their own, which the page loads when a game asks for them
//! ([`ambit_web_physics`], `page_world`).
//!
//! Units: milliseconds of the page's clock (`performance.now()`), metres, radians.

mod event_json;
mod frame_buffers;
mod motions;
mod page_world;
mod panic_message;
mod schema_json;
mod settings;
mod text_table;
mod web_client;
mod web_output;

pub use motions::share;
pub use web_client::WebClient;
