//! The Ambit client as an extension for Godot 4.
//!
//! [`client::ClientNode`] is the node `AmbitClient`, which connects, sends and receives.
//! [`world::AmbitWorld2D`] and [`world::AmbitWorld3D`] have a child for each object in sight. All
//! of it runs on the main thread, in `_process`; the connections have a thread of their own, which
//! touches nothing of Godot.
//!
//! A script may call a node from any signal or method: no node is borrowed while scripts run.

mod axes;
mod children;
mod client;
mod extension;
mod setup;
mod variants;
mod world;
