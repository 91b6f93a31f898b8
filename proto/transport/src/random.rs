//! Bytes that cannot be predicted.

use std::io;

use ring::rand::{SystemRandom, generate};

/// Unpredictable bytes. The error is the system's.
pub fn system_random<const N: usize>() -> io::Result<[u8; N]> {
    let failed = |_| io::Error::other("the system's random source failed");
    Ok(generate(&SystemRandom::new()).map_err(failed)?.expose())
}
