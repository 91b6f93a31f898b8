//! Connection ids, which the packets to their owner carry.
//!
//! quinn asks for an id and gets random bytes; it asks again when the id is in use. A server needs
//! long ids to distinguish thousands of connections; a client has two, and one byte. Eight bytes
//! would be 7 more in every packet to a client: 140 bytes a second at 20 Hz.
//!
//! The ids are random rather than counted, so that an observer cannot link them (RFC 9000, section
//! 5.1). An attacker can guess a short id easily, but gains nothing, since packets are
//! authenticated by decryption.
//!
//! The last bytes of a server's id are a tag of the first ones, by a key that the server keeps
//! across restarts. So a server that was started again knows which ids it has made, without a list
//! of them, and answers no others (`reset`). Without the key the tag is as random as the rest: an
//! id reveals neither its connection nor its server.

use std::time::Duration;

use quinn::{ConnectionId, ConnectionIdGenerator};
use quinn_proto::InvalidCid;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

/// Bytes of a client's id.
const CLIENT_LENGTH: usize = 1;
/// Random bytes of a server's id: enough for a restarted server to use none of the old ones again.
const RANDOM_LENGTH: usize = 5;
/// Bytes of its tag: one of 16 million invented ids is taken for one of the server's.
const TAG_LENGTH: usize = 3;
const SERVER_LENGTH: usize = RANDOM_LENGTH + TAG_LENGTH;

/// The ids of a client.
#[derive(Clone, Debug)]
pub(super) struct RandomConnectionIds {
    random: SystemRandom,
}

impl RandomConnectionIds {
    pub(super) fn new() -> Self {
        let random = SystemRandom::new();
        Self { random }
    }
}

impl ConnectionIdGenerator for RandomConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut id = [0; CLIENT_LENGTH];
        fill(&self.random, &mut id);
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        CLIENT_LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// The ids of a server.
#[derive(Clone, Debug)]
pub(super) struct TaggedConnectionIds {
    random: SystemRandom,
    key: hmac::Key,
}

impl TaggedConnectionIds {
    /// The same key makes and knows the same ids.
    pub(super) fn new(key: hmac::Key) -> Self {
        let random = SystemRandom::new();
        Self { random, key }
    }

    fn tag(&self, random: &[u8]) -> [u8; TAG_LENGTH] {
        let tag = hmac::sign(&self.key, random);
        *tag.as_ref().first_chunk().expect("a tag is longer")
    }
}

impl ConnectionIdGenerator for TaggedConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut id = [0; SERVER_LENGTH];
        fill(&self.random, &mut id[..RANDOM_LENGTH]);
        let tag = self.tag(&id[..RANDOM_LENGTH]);
        id[RANDOM_LENGTH..].copy_from_slice(&tag);
        ConnectionId::new(&id)
    }

    fn validate(&self, id: &ConnectionId) -> Result<(), InvalidCid> {
        let (random, tag) = id.split_at_checked(RANDOM_LENGTH).ok_or(InvalidCid)?;
        (self.tag(random)[..] == *tag).then_some(()).ok_or(InvalidCid)
    }

    fn cid_len(&self) -> usize {
        SERVER_LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

fn fill(random: &SystemRandom, bytes: &mut [u8]) {
    random.fill(bytes).expect("the system has random bytes");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_server_knows_the_ids_that_its_key_has_made() {
        let ids = |key: &[u8]| TaggedConnectionIds::new(hmac::Key::new(hmac::HMAC_SHA256, key));
        let (mut before, after, other) = (ids(b"key"), ids(b"key"), ids(b"other"));
        let made: BTreeSet<_> = (0..1_000).map(|_| before.generate_cid().to_vec()).collect();
        assert_eq!(made.len(), 1_000);
        let known = |ids: &TaggedConnectionIds| {
            let valid = |id: &Vec<u8>| ids.validate(&ConnectionId::new(id)).is_ok();
            made.iter().filter(|id| valid(id)).count()
        };
        assert_eq!(known(&after), 1_000);
        // By chance 1 in 17 thousand runs.
        assert_eq!(known(&other), 0);
        for short in [&[][..], &[1], &[1; RANDOM_LENGTH]] {
            assert!(after.validate(&ConnectionId::new(short)).is_err());
        }
    }
}
