//! Connection ids, which the packets to their owner carry.
//!
//! quinn asks for an id and gets random bytes; it asks again when the id is in use. A server needs
//! long ids to distinguish thousands of connections; a client has two, and one byte. Eight bytes
//! would be 7 more in every packet to a client: 140 bytes a second at 20 Hz.
//!
//! The ids are random rather than counted, so that an observer cannot link them (RFC 9000, section
//! 5.1). An attacker can guess a short id easily, but gains nothing, since packets are
//! authenticated by decryption.

use std::time::Duration;

use quinn::{ConnectionId, ConnectionIdGenerator};
use ring::rand::{SecureRandom as _, SystemRandom};

/// Bytes of an id.
const SERVER_LENGTH: usize = 8;
const CLIENT_LENGTH: usize = 1;

#[derive(Clone, Debug)]
pub(super) struct RandomConnectionIds {
    length: usize,
    random: SystemRandom,
}

impl RandomConnectionIds {
    pub(super) fn of_a_server() -> Self {
        Self::new(SERVER_LENGTH)
    }

    pub(super) fn of_a_client() -> Self {
        Self::new(CLIENT_LENGTH)
    }

    fn new(length: usize) -> Self {
        let random = SystemRandom::new();
        Self { length, random }
    }
}

impl ConnectionIdGenerator for RandomConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut bytes = [0; SERVER_LENGTH];
        let id = &mut bytes[..self.length];
        self.random.fill(id).expect("the system has random bytes");
        ConnectionId::new(id)
    }

    fn cid_len(&self) -> usize {
        self.length
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
