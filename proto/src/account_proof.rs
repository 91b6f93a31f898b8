//! What a client signs to prove its account: the question of the server, and the server itself.
//!
//! A proof is bound to the server that the client has checked, so that a server which passes on
//! the question of another one gets an answer that names the wrong one. How a client knows a server
//! decides the form, and each form begins with a text of its own:
//! - by certificates: the server has shown one of these. One that knows which names that one; a
//!   browser, which does not tell, names all that it would have taken, and each of them has to be
//!   the server's;
//! - by name: an authority has signed for it. A browser shows a page no certificate then.
//!
//! The signature itself is not made here: programs use a library, and pages the browser.

use crate::control::world::ProveAccount;

/// Begins what is signed for a server that is known by certificates. A signature of the same key
/// for another purpose is no proof.
const BY_CERTIFICATE: &[u8] = b"ambit device account, proof 1\0";
/// Begins what is signed for a server that is known by its name.
const BY_NAME: &[u8] = b"ambit device account, proof by name 1\0";

/// The length of the SHA-256 of a certificate.
const SHA256_BYTES: usize = 32;
/// Certificates that a proof may name: a server shows browsers one, and later another one.
const MAX_CERTIFICATES: usize = 8;
/// The longest name of a host (RFC 1035).
const MAX_NAME_BYTES: usize = 253;

/// The server as the client has checked it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckedServer {
    /// By the SHA-256 of certificates (DER), of which it has shown one; at least one.
    Certificates(Vec<[u8; SHA256_BYTES]>),
    /// By the name of its host, for which its certificate is signed.
    Name(String),
}

impl CheckedServer {
    /// One that has shown this certificate.
    pub fn by_certificate(sha256: [u8; SHA256_BYTES]) -> Self {
        Self::Certificates(vec![sha256])
    }

    /// What the client signs for it: the text of the form, the certificates or the name and a zero
    /// byte, the nonce.
    pub fn statement(&self, nonce: &[u8]) -> Vec<u8> {
        match self {
            Self::Certificates(all) => [BY_CERTIFICATE, all.as_flattened(), nonce].concat(),
            Self::Name(name) => [BY_NAME, name.as_bytes(), b"\0", nonce].concat(),
        }
    }

    /// The message with the signature of the [`statement`](Self::statement).
    pub fn proof(&self, signature: Vec<u8>) -> ProveAccount {
        match self {
            Self::Certificates(all) => {
                ProveAccount { signature, server: all.as_flattened().to_vec(), name: String::new() }
            }
            Self::Name(name) => ProveAccount { signature, server: Vec::new(), name: name.clone() },
        }
    }

    /// The server that a proof names; `None` if it names none, or in both forms.
    pub fn of_proof(proof: &ProveAccount) -> Option<Self> {
        let (all, rest) = proof.server.as_chunks::<SHA256_BYTES>();
        match (all.len(), proof.name.len()) {
            (1..=MAX_CERTIFICATES, 0) if rest.is_empty() => Some(Self::Certificates(all.to_vec())),
            (0, 1..=MAX_NAME_BYTES) if rest.is_empty() && !proof.name.contains('\0') => {
                Some(Self::Name(proof.name.clone()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_names_the_server_in_one_form() {
        let both = CheckedServer::Certificates(vec![[1; 32], [2; 32]]);
        let one = CheckedServer::by_certificate([1; 32]);
        let named = CheckedServer::Name("play.example.com".to_owned());
        for server in [both, one, named] {
            let proof = server.proof(vec![7; 64]);
            assert_eq!(proof.signature, [7; 64]);
            assert_eq!(CheckedServer::of_proof(&proof), Some(server));
        }
        let none = |server: &[u8], name: &str| {
            let (server, name) = (server.to_vec(), name.to_owned());
            let proof = ProveAccount { signature: vec![7; 64], server, name };
            assert_eq!(CheckedServer::of_proof(&proof), None, "{proof:?}");
        };
        none(&[], "");
        none(&[1; 32], "play.example.com");
        none(&[1; 31], "");
        none(&[1; 33], "");
        none(&[1; 31], "play.example.com");
        none(&[1; 32 * (MAX_CERTIFICATES + 1)], "");
        none(&[], "play\0example");
        none(&[], &"a".repeat(MAX_NAME_BYTES + 1));
    }

    /// Clients in other languages sign these bytes: they never change.
    #[test]
    fn no_two_servers_have_the_same_statement() {
        let nonce = [5; 16];
        let mut by_certificate = b"ambit device account, proof 1\0".to_vec();
        by_certificate.extend([[b'a'; 32].as_slice(), &nonce].concat());
        let one = CheckedServer::by_certificate([b'a'; 32]);
        assert_eq!(one.statement(&nonce), by_certificate);
        let mut by_name = b"ambit device account, proof by name 1\0".to_vec();
        by_name.extend([[b'a'; 32].as_slice(), b"\0", &nonce].concat());
        let named = CheckedServer::Name("a".repeat(32));
        assert_eq!(named.statement(&nonce), by_name);
        let more = CheckedServer::Certificates(vec![[b'a'; 32], [b'b'; 32]]);
        let all = [one.statement(&nonce), named.statement(&nonce), more.statement(&nonce)];
        assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2]);
    }
}
