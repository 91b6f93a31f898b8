//! The signatures of tokens, checked by `ring`, which does all cryptography here.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RsaPublicKeyComponents,
    UnparsedPublicKey,
};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    verifier_factory: |algorithm, key| {
        Ok(Box::new(RingVerifier { algorithm: *algorithm, key: key.clone() }))
    },
    // Nothing here reads or writes other forms of keys.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes this the way in which the library checks signatures.
pub(super) fn install() {
    // It was done before.
    let _ = PROVIDER.install_default();
}

struct RingVerifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        self.is_right(message, signature).map_err(|_| signature::Error::new())
    }
}

impl RingVerifier {
    fn is_right(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        let wrong = |_| Error::from(ErrorKind::InvalidSignature);
        let keyed = |algorithm| {
            let key = hmac::Key::new(algorithm, self.key.try_get_as_bytes()?);
            hmac::verify(&key, message, signature).map_err(wrong)
        };
        let rsa = |algorithm| match self.key.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                RsaPublicKeyComponents { n, e }.verify(algorithm, message, signature).map_err(wrong)
            }
            DecodingKeyKind::SecretOrDer(_) => Err(ErrorKind::InvalidKeyFormat.into()),
        };
        match self.algorithm {
            Algorithm::HS256 => keyed(hmac::HMAC_SHA256),
            Algorithm::HS384 => keyed(hmac::HMAC_SHA384),
            Algorithm::HS512 => keyed(hmac::HMAC_SHA512),
            Algorithm::RS256 => rsa(&RSA_PKCS1_2048_8192_SHA256),
            Algorithm::RS384 => rsa(&RSA_PKCS1_2048_8192_SHA384),
            Algorithm::RS512 => rsa(&RSA_PKCS1_2048_8192_SHA512),
            Algorithm::ES256 => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.key.try_get_as_bytes()?)
                    .verify(message, signature)
                    .map_err(wrong)
            }
            Algorithm::ES384 => {
                UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, self.key.try_get_as_bytes()?)
                    .verify(message, signature)
                    .map_err(wrong)
            }
            Algorithm::EdDSA => UnparsedPublicKey::new(&ED25519, self.key.try_get_as_bytes()?)
                .verify(message, signature)
                .map_err(wrong),
            _ => Err(ErrorKind::UnsupportedAlgorithm.into()),
        }
    }
}
