//! The passwords of rooms as the lobby keeps them and writes them to the directory.
//!
//! Only an HMAC is kept, with a secret of the servers and a salt of the room. So who reads the
//! directory learns no password, and cannot try any out: that takes the secret, which is not in the
//! directory. A slow hash would hold up all players, since one thread serves them, and would still
//! let readers of the directory guess.

use crate::server_secret::ServerSecret;
use crate::text::Password;

const SALT_BYTES: usize = 16;
const TAG_BYTES: usize = 32;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredPassword {
    salt: [u8; SALT_BYTES],
    tag: [u8; TAG_BYTES],
}

impl StoredPassword {
    pub(crate) fn new(
        secret: Option<&ServerSecret>,
        salt: [u8; SALT_BYTES],
        password: &Password,
    ) -> Self {
        Self { salt, tag: tag(secret, &salt, password) }
    }

    pub(crate) fn is(&self, secret: Option<&ServerSecret>, password: &Password) -> bool {
        // The tags say nothing about the password, so their comparison may end early.
        tag(secret, &self.salt, password) == self.tag
    }

    pub(crate) fn to_record(&self) -> Vec<u8> {
        [self.salt.as_slice(), &self.tag].concat()
    }

    /// `None` if these are no bytes of a record.
    pub(crate) fn from_record(record: &[u8]) -> Option<Self> {
        let (salt, tag) = record.split_at_checked(SALT_BYTES)?;
        Some(Self { salt: salt.try_into().ok()?, tag: tag.try_into().ok()? })
    }
}

/// Servers without a secret write no directory.
fn tag(secret: Option<&ServerSecret>, salt: &[u8], password: &Password) -> [u8; TAG_BYTES] {
    let none = ServerSecret::new([0; ServerSecret::LENGTH]);
    let secret = secret.unwrap_or(&none);
    secret.sign(&[b"ambit: a room's password", salt, password.as_str().as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_password_is_known_again_and_does_not_show_it() {
        let secret = ServerSecret::new([1; 32]);
        let password = |text| Password::parse(text).unwrap().unwrap();
        let stored = StoredPassword::new(Some(&secret), [7; 16], &password("sesame"));
        let record = stored.to_record();
        assert!(!record.windows(6).any(|bytes| bytes == b"sesame"));
        let read = StoredPassword::from_record(&record).unwrap();
        assert!(read.is(Some(&secret), &password("sesame")));
        assert!(!read.is(Some(&secret), &password("sesame2")));
        // Without the secret, passwords cannot be tried out.
        assert!(!read.is(Some(&ServerSecret::new([2; 32])), &password("sesame")));
        assert!(!read.is(None, &password("sesame")));
        // The same password of another room looks different.
        let other = StoredPassword::new(Some(&secret), [8; 16], &password("sesame"));
        assert_ne!(other.to_record()[16..], record[16..]);
        for length in [0, 15, 16, 47] {
            assert_eq!(StoredPassword::from_record(&record[..length]), None);
        }
    }
}
