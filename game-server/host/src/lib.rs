//! The process part that runs rooms: embedded in a WorldServer, a child process, or on another
//! machine.
//!
//! [`host`] accepts players and carries for the rooms, a thread each. What decides is in
//! [`ambit_host_core`], what the WorldServer and hosts say to each other in `ambit-host-protocol`.

pub mod agones;
mod build_name;
pub mod cli;
pub mod client_views;
pub mod clock_thread;
pub mod data_files;
mod dial;
pub mod endpoint;
pub mod hindrance;
pub mod host;
pub mod host_link;
mod hosting_core;
pub mod identity;
pub mod logging;
pub mod process;
pub mod process_part;
mod process_watcher;
pub mod processor_time;
pub mod record_bound;
pub mod record_folder;
pub mod recorded_frames;
pub mod replay;
mod room_files;
pub mod web_certificates;

pub use ambit_host_core as host_core;
pub use build_name::build_name;
pub use process::run;
pub use room_files::check_directory;

// Datagrams of one tick wait in the connection's buffer: what is dropped there was paid for.
const _: () = assert!(
    ambit_room::network::viewer::MAX_BYTES_PER_TICK
        <= ambit_transport::quic::DATAGRAM_SEND_BUFFER_BYTES
);
