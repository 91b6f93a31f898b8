//! Connection ids of a client, which the packets to it carry.
//!
//! quinn asks for an id and gets a random byte; it asks again when the id is in use. Eight bytes,
//! quinn's default, are 7 more in every packet to a client: 140 bytes a second at 20 Hz. A server
//! needs long ids to distinguish thousands of connections; a client has two.
//!
//! The ids are random rather than counted, so that an observer cannot link them (RFC 9000, section
//! 5.1). An attacker can guess an id easily, but gains nothing, since packets are authenticated by
//! decryption.

use std::time::Duration;

use quinn::{ConnectionId, ConnectionIdGenerator};
use ring::rand::{SecureRandom as _, SystemRandom};

#[derive(Clone, Debug)]
pub(super) struct ShortConnectionIds(SystemRandom);

impl ShortConnectionIds {
    pub(super) fn new() -> Self {
        Self(SystemRandom::new())
    }
}

impl ConnectionIdGenerator for ShortConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut name = [0];
        self.0.fill(&mut name).expect("the system has random bytes");
        ConnectionId::new(&name)
    }

    fn cid_len(&self) -> usize {
        1
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
