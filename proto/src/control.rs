//! The messages of the control streams, as prost generates them from `proto/ambit/*.proto`.
//!
//! The `.proto` files are the contract. They define the transport, the order, the bounds and the
//! meaning of each field; the documentation of these types comes from them. The types check nothing
//! but the encoding. A core receives a message only after `TryFrom` has turned it into a valid
//! value (`schema::Schema` is an example).
//!
//! After a change of a `.proto` file, generate the types again: run the test
//! `the_generated_messages_are_those_of_the_proto_files` with `AMBIT_RENEW_GENERATED=1`.

/// Version of the lobby's protocol: `Hello.version`, `Welcome.version`.
pub const WORLD_VERSION: u32 = 2;

/// Longest `ClientToWorld`.
pub const MAX_TO_WORLD: usize = 16_384;
/// Longest `WorldToClient`.
pub const MAX_FROM_WORLD: usize = 1_048_576;
/// Longest `ClientToGame`.
pub const MAX_TO_GAME: usize = 4_096;
/// Longest `GameToClient`.
pub const MAX_FROM_GAME: usize = 65_536;

/// Between a client and the WorldServer (ALPN `ambit-world/1`).
#[allow(unused_qualifications, clippy::pedantic, reason = "generated")]
pub mod world {
    include!("generated/ambit.world.rs");
}

/// Between a client and the host of its room (ALPN `ambit-game/1`).
#[allow(unused_qualifications, clippy::pedantic, reason = "generated")]
pub mod game {
    include!("generated/ambit.game.rs");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proto_files_name_the_versions_in_use() {
        for (file, constant, version) in [
            (include_str!("../proto/ambit/world.proto"), "control::WORLD_VERSION", WORLD_VERSION),
            (
                include_str!("../proto/ambit/game.proto"),
                "message::VERSION",
                crate::message::VERSION,
            ),
        ] {
            let text = file.replace("//", "");
            let words: Vec<&str> = text.split_whitespace().collect();
            let named = format!("uses: {version} (`ambit_proto::{constant}`).");
            assert!(words.join(" ").contains(&named), "no file says `{named}`");
        }
    }
}
