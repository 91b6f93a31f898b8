//! Tokens of an operator's own service: JWT (RFC 7519), signed with a key of a set (RFC 7517).
//!
//! A token has to be for this server (`aud`), so that one for another server opens nothing here;
//! it has an end (`exp`), a player (`sub`), and, if the operator asks for that, an issuer (`iss`).
//! The kind of the key decides which algorithms are possible, not the token.

use ambit_proto::ids::AccountId;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use ring::digest::{Context, SHA256};
use serde::Deserialize;

/// Begins what the id of an account is the hash of.
const ID_PREFIX: &[u8] = b"ambit token account, id 1\0";
/// How much the clocks of the service and of this server may differ, in seconds.
const LEEWAY_S: i64 = 30;
const MAX_PLAYER_BYTES: usize = 256;
/// A shorter secret can be guessed.
const MIN_SECRET_BYTES: usize = 32;

/// What a token has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenRules {
    /// The name of this server, or of a group of servers.
    pub(super) audience: String,
    /// The service; `None` for any.
    pub(super) issuer: Option<String>,
}

/// The keys of the service.
#[derive(Debug)]
pub(super) struct TokenKeys {
    rules: TokenRules,
    keys: Vec<TokenKey>,
}

#[derive(Debug)]
struct TokenKey {
    id: Option<String>,
    key: DecodingKey,
    algorithms: Vec<Algorithm>,
}

/// Why keys or a token are not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct TokenProblem(String);

#[derive(Deserialize)]
struct Claims {
    #[serde(default)]
    iss: String,
    sub: String,
    aud: Audience,
    exp: f64,
    #[serde(default)]
    nbf: f64,
}

/// One audience, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl TokenKeys {
    /// Reads a set of keys: an object of JSON with `keys`.
    pub(super) fn parse(text: &str, rules: TokenRules) -> Result<Self, TokenProblem> {
        let set: JwkSet = serde_json::from_str(text)
            .map_err(|error| TokenProblem(format!("this is no set of keys (JWKS): {error}")))?;
        let keys = set.keys.iter().map(TokenKey::new).collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() {
            return Err(TokenProblem("the set has no key".to_owned()));
        }
        Ok(Self { rules, keys })
    }

    /// The account of a token. `now` is in seconds since 1970.
    pub(super) fn check(&self, token: &str, now: i64) -> Result<AccountId, TokenProblem> {
        let problem = |text: &str| TokenProblem(text.to_owned());
        let header = decode_header(token).map_err(|_| problem("it is no JWT"))?;
        let key = match (&header.kid, &self.keys[..]) {
            (None, [only]) => only,
            (None, _) => return Err(problem("it does not name its key (`kid`)")),
            (Some(id), keys) => {
                keys.iter().find(|key| key.id.as_ref() == Some(id)).ok_or_else(|| {
                    problem("it was signed with a key that this server does not know")
                })?
            }
        };
        let mut rules = Validation::new(header.alg);
        rules.algorithms.clone_from(&key.algorithms);
        // The time and the audience are checked below, by the caller's clock.
        rules.validate_exp = false;
        rules.validate_aud = false;
        rules.required_spec_claims.clear();
        let decoded = decode::<Claims>(token, &key.key, &rules);
        let claims = decoded
            .map_err(|_| problem("its signature is wrong, or it lacks `sub`, `aud` or `exp`"))?
            .claims;
        self.check_claims(&claims, now)?;
        Ok(account_of(&claims.iss, &claims.sub))
    }

    fn check_claims(&self, claims: &Claims, now: i64) -> Result<(), TokenProblem> {
        let audience = &self.rules.audience;
        let is_for_here = match &claims.aud {
            Audience::One(one) => one == audience,
            Audience::Several(several) => several.contains(audience),
        };
        let is_of_issuer = self.rules.issuer.as_ref().is_none_or(|issuer| *issuer == claims.iss);
        let problem = if !is_for_here {
            "it is for another server (`aud`)"
        } else if !is_of_issuer {
            "it is from another service (`iss`)"
        } else if claims.sub.is_empty() || claims.sub.len() > MAX_PLAYER_BYTES {
            "its `sub` has no or too many bytes"
        } else if claims.exp <= (now - LEEWAY_S) as f64 {
            "it is no longer valid (`exp`)"
        } else if claims.nbf > (now + LEEWAY_S) as f64 {
            "it is not valid yet (`nbf`)"
        } else {
            return Ok(());
        };
        Err(TokenProblem(problem.to_owned()))
    }
}

impl TokenKey {
    fn new(jwk: &Jwk) -> Result<Self, TokenProblem> {
        let id = jwk.common.key_id.clone();
        let shown = id.as_deref().unwrap_or("without kid");
        let problem = |text: &str| TokenProblem(format!("key {shown}: {text}"));
        let algorithms = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => {
                vec![Algorithm::RS256, Algorithm::RS384, Algorithm::RS512]
            }
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
                vec![Algorithm::ES256]
            }
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => {
                vec![Algorithm::ES384]
            }
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                vec![Algorithm::EdDSA]
            }
            AlgorithmParameters::OctetKey(_) => {
                vec![Algorithm::HS256, Algorithm::HS384, Algorithm::HS512]
            }
            _ => {
                return Err(problem(
                    "expected RSA, EC (P-256, P-384), OKP (Ed25519) or a secret (oct)",
                ));
            }
        };
        let key = DecodingKey::from_jwk(jwk).map_err(|error| problem(&error.to_string()))?;
        if let AlgorithmParameters::OctetKey(_) = &jwk.algorithm
            && key.try_get_as_bytes().map_or(0, <[u8]>::len) < MIN_SECRET_BYTES
        {
            return Err(problem(&format!("a secret has at least {MIN_SECRET_BYTES} bytes")));
        }
        Ok(Self { id, key, algorithms })
    }
}

/// The account of a player of a service.
fn account_of(issuer: &str, player: &str) -> AccountId {
    let mut hash = Context::new(&SHA256);
    hash.update(ID_PREFIX);
    hash.update(&(issuer.len() as u64).to_be_bytes());
    hash.update(issuer.as_bytes());
    hash.update(player.as_bytes());
    AccountId::from_bytes(&hash.finish().as_ref()[..16]).expect("16 bytes")
}

#[cfg(test)]
mod tests;
