//! The Ambit client for browsers, compiled to WebAssembly.
//!
//! A thin skin on [`ambit_client_boundary`], which other languages share. The TypeScript in
//! `client-core/web/ts` does the I/O: WebTransport, timers, the clock. Game authors use its API and
//! never see this one.
//!
//! Physics of games are in modules of their own, which the page loads when a game asks for them
//! ([`ambit_web_physics`], `page_world`).
//!
//! Units: milliseconds of the page's clock (`performance.now()`), metres, radians.

mod page_world;
mod panic_message;
mod web_client;

pub use ambit_client_boundary::share;
pub use web_client::WebClient;
