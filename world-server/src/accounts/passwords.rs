//! Passwords: Argon2id with the parameters that its library recommends (19 MiB, two passes).

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};

/// The hash of no password, with the parameters of all others: an account that does not exist
/// takes as long as one that does.
const NO_PASSWORD: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm8gYWNjb3VudCBoZXJl\
    $AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// The hash of a password, as a text with its salt and its parameters.
pub(super) fn hash(password: &str, salt: [u8; 16]) -> String {
    let hashed: PasswordHash = Argon2::default()
        .hash_password_with_salt(password.as_bytes(), &salt)
        .expect("the lobby bounds passwords, and the salt has 16 bytes");
    hashed.to_string()
}

/// Whether the password has this hash; `None` for an account that does not exist.
pub(super) fn is_right(known: Option<&str>, password: &str) -> bool {
    let Ok(hash) = PasswordHash::new(known.unwrap_or(NO_PASSWORD)) else {
        return false;
    };
    let is_right = Argon2::default().verify_password(password.as_bytes(), &hash).is_ok();
    is_right && known.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_its_hash_and_another_one_has_not() {
        let known = hash("correct horse", [7; 16]);
        assert!(known.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{known}");
        assert_ne!(known, hash("correct horse", [8; 16]), "another salt");
        assert!(is_right(Some(&known), "correct horse"));
        assert!(!is_right(Some(&known), "correct horsf"));
        assert!(!is_right(Some("no hash"), "correct horse"));
        assert!(!is_right(None, "correct horse"));
    }

    #[test]
    fn an_account_that_does_not_exist_costs_the_same() {
        let parameters = |text: &str| {
            let hash = PasswordHash::new(text).expect("a hash");
            (hash.algorithm.to_string(), hash.version, hash.params.to_string())
        };
        assert_eq!(parameters(NO_PASSWORD), parameters(&hash("x", [1; 16])));
    }
}
