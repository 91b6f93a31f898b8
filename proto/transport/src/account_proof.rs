//! Proof that a player has an account of a device: an Ed25519 key pair that the client has made and
//! keeps.
//!
//! The server asks with a nonce that it uses once; the client signs the nonce together with the
//! server that it believes to talk to ([`CheckedServer`]). So a proof is worth nothing later, on
//! another connection, or at another server. The server keeps nothing: an account's id follows from
//! its public key.

pub use ambit_proto::account_proof::CheckedServer;
use ambit_proto::ids::AccountId;
use ring::digest::{Context, SHA256};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

/// Begins what the id of an account is the hash of.
const ID_PREFIX: &[u8] = b"ambit device account, id 1\0";

/// The length of a public key.
pub const KEY_BYTES: usize = 32;
/// The length of a question.
pub const NONCE_BYTES: usize = 16;
/// The length of the secret that a key pair follows from.
pub const SEED_BYTES: usize = 32;

/// The client's side: the key pair of an account.
#[derive(derive_more::Debug)]
pub struct DeviceAccount {
    #[debug(skip)]
    pair: Ed25519KeyPair,
}

impl DeviceAccount {
    /// The account of this secret, which must come from a good random source.
    pub fn from_seed(seed: &[u8; SEED_BYTES]) -> Self {
        let pair =
            Ed25519KeyPair::from_seed_unchecked(seed).expect("a seed of 32 bytes gives a key");
        Self { pair }
    }

    /// What the client says in its `Hello`.
    pub fn public_key(&self) -> [u8; KEY_BYTES] {
        self.pair.public_key().as_ref().try_into().expect("a public key has 32 bytes")
    }

    pub fn id(&self) -> AccountId {
        account_of(&self.public_key())
    }

    /// The answer to a question of `server`.
    pub fn prove(&self, nonce: &[u8], server: &CheckedServer) -> Vec<u8> {
        self.pair.sign(&server.statement(nonce)).as_ref().to_vec()
    }
}

/// The account of a public key.
pub fn account_of(key: &[u8; KEY_BYTES]) -> AccountId {
    let mut hash = Context::new(&SHA256);
    hash.update(ID_PREFIX);
    hash.update(key);
    AccountId::from_bytes(&hash.finish().as_ref()[..16]).expect("16 bytes")
}

/// Whether this is the answer to that question, of a client with the key that takes the server for
/// `server`. That the caller is this server, it checks itself. About 50 us.
pub fn is_proof(
    key: &[u8; KEY_BYTES],
    nonce: &[u8; NONCE_BYTES],
    server: &CheckedServer,
    signature: &[u8],
) -> bool {
    UnparsedPublicKey::new(&ED25519, key).verify(&server.statement(nonce), signature).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_for_one_key_one_question_and_one_server() {
        let (ann, bob) = (account(1), account(2));
        let nonce = [3; NONCE_BYTES];
        let key = ann.public_key();
        let named = |name: &str| CheckedServer::Name(name.to_owned());
        let servers = [
            (CheckedServer::by_certificate([1; 32]), CheckedServer::by_certificate([2; 32])),
            (CheckedServer::by_certificate([1; 32]), named(&"\u{1}".repeat(32))),
            (named("here.test"), named("elsewhere.test")),
            (named(&"\u{1}".repeat(32)), CheckedServer::by_certificate([1; 32])),
        ];
        for (here, elsewhere) in &servers {
            let proof = ann.prove(&nonce, here);
            assert!(is_proof(&key, &nonce, here, &proof));
            assert!(!is_proof(&bob.public_key(), &nonce, here, &proof), "another account");
            assert!(!is_proof(&key, &[4; NONCE_BYTES], here, &proof), "replayed");
            assert!(!is_proof(&key, &nonce, elsewhere, &proof), "passed on");
            assert!(!is_proof(&key, &nonce, here, &proof[1..]));
            assert!(!is_proof(&key, &nonce, here, &[]));
            assert!(!is_proof(&[0xff; KEY_BYTES], &nonce, here, &proof), "no point of the curve");
        }
    }

    #[test]
    fn a_server_cannot_hide_its_own_certificate_behind_another_one() {
        let ann = account(1);
        let nonce = [3; NONCE_BYTES];
        // A server in the middle describes itself with both certificates.
        let both = CheckedServer::Certificates(vec![[1; 32], [2; 32]]);
        let proof = ann.prove(&nonce, &both);
        let here = CheckedServer::by_certificate([1; 32]);
        assert!(!is_proof(&ann.public_key(), &nonce, &here, &proof));
        // Nor by a question that looks like the end of another statement.
        let longer = ann.prove(&[[2; 32].as_slice(), &nonce].concat(), &here);
        assert!(!is_proof(&ann.public_key(), &nonce, &here, &longer));
    }

    #[test]
    fn an_account_has_one_id() {
        assert_eq!(account(1).id(), account(1).id());
        assert_ne!(account(1).id(), account(2).id());
        // Games and operators store it: it never changes.
        assert_eq!(account(1).id().to_string(), "a4d71641aa213e347fad50e2d45090c3");
    }

    fn account(seed: u8) -> DeviceAccount {
        DeviceAccount::from_seed(&[seed; SEED_BYTES])
    }
}
