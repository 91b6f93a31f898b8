//! How a client's connections are named in the packets that it receives.
//!
//! quinn asks for a name, a random byte comes out; quinn asks again when it is taken. Eight bytes,
//! quinn's default, are 7 more in every packet to a client: 140 bytes a second at 20 Hz. A server
//! needs long ones, since it tells thousands of connections apart by them; a client has two.
//!
//! Random and not counted: whoever looks on should not see which names belong together (RFC 9000,
//! section 5.1). That a guess is easy does no harm, since nothing is believed before it is
//! decrypted.

use std::time::Duration;

use quinn::{ConnectionId, ConnectionIdGenerator};
use ring::rand::{SecureRandom as _, SystemRandom};

/// See the module.
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
