//! The client's core as other languages call it: flat calls, JSON, plain arrays.
//!
//! The core ([`ambit_client_core::client`]) makes all decisions. What happens once in a while
//! crosses this boundary as JSON, in one form for all languages: settings ([`configure`]), requests
//! ([`read_request`]), commands ([`calls`]), events ([`event_json`]), what a game declares
//! ([`schema_json`](ambit_client_text::schema_json)), rules and counters ([`reads`]). What happens
//! in each frame crosses it as memory that both sides read ([`frame_arrays`]).
//!
//! [`PolledClient`] is a client for an owner that does the I/O itself and exchanges bytes: the
//! browser's. A client on a real network (`ambit_client_core::shell`) is called by the functions of
//! [`calls`], [`reads`] and [`ClientView`] alone.
//!
//! No I/O, no clock, no threads; no `unsafe`. A skin adds what its language needs:
//! `client-core/web` wasm-bindgen, `client-core/ffi` pointers and handles.

#![warn(missing_docs, reason = "skins for other languages are written on it")]

pub mod calls;
pub mod event_json;
pub mod frame_arrays;
mod motions;
mod output;
mod polled_client;
pub mod reads;
mod requests;
mod settings;
mod text_table;
mod view;

pub use motions::{motions, share};
pub use output::Output;
pub use polled_client::PolledClient;
pub use requests::read_request;
pub use settings::configure;
pub use text_table::TextTable;
pub use view::ClientView;
