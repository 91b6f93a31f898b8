//! Tokens that are signed here, with keys and claims of all kinds.

use data_encoding::BASE64URL_NOPAD;
use ring::hmac;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

use super::*;
use crate::accounts::ring_verifier;

const NOW: i64 = 1_800_000_000;

#[test]
fn a_token_opens_the_account_of_its_player() {
    let keys = keys(None);
    let ann = keys.check(&signed(&claims("ann")), NOW).unwrap();
    assert_eq!(keys.check(&signed(&claims("ann")), NOW), Ok(ann));
    assert_ne!(keys.check(&signed(&claims("bob")), NOW), Ok(ann));
    let several = merged(&claims("ann"), &json!({ "aud": ["there", "here"] }));
    assert_eq!(keys.check(&signed(&several), NOW), Ok(ann));
    // The same player of another service is another account.
    let other = merged(&claims("ann"), &json!({ "iss": "other" }));
    assert_ne!(keys.check(&signed(&other), NOW), Ok(ann));
    // What operators store by it stays true.
    assert_eq!(ann.to_string(), "c52b3a79542b697fe2e6c2f0e89fd72c");
}

#[test]
fn a_token_for_another_server_service_time_or_key_is_refused() {
    let keys = keys(Some("shop"));
    let from_shop = merged(&claims("ann"), &json!({ "iss": "shop" }));
    assert!(keys.check(&signed(&from_shop), NOW).is_ok());
    let refused = |change: Value| {
        keys.check(&signed(&merged(&from_shop, &change)), NOW).unwrap_err().to_string()
    };
    for (change, why) in [
        (json!({ "aud": "there" }), "another server"),
        (json!({ "aud": null }), "lacks"),
        (json!({ "iss": "other" }), "another service"),
        (json!({ "exp": NOW - 31 }), "no longer valid"),
        (json!({ "exp": null }), "lacks"),
        (json!({ "nbf": NOW + 31 }), "not valid yet"),
        (json!({ "sub": "" }), "sub"),
        (json!({ "sub": "x".repeat(257) }), "sub"),
    ] {
        let problem = refused(change);
        assert!(problem.contains(why), "{problem}");
    }
    let late = merged(&from_shop, &json!({ "exp": NOW - 29, "nbf": NOW + 29 }));
    assert!(keys.check(&signed(&late), NOW).is_ok(), "clocks differ a little");
    let good = signed(&from_shop);
    let (rest, _) = good.rsplit_once('.').unwrap();
    for wrong in ["", "a.b", "a.b.c", rest, &format!("{rest}."), &format!("{good}AA")] {
        assert!(keys.check(wrong, NOW).is_err(), "{wrong}");
    }
    let foreign = sign_with(&Ed25519KeyPair::from_seed_unchecked(&[9; 32]).unwrap(), &from_shop);
    assert!(keys.check(&foreign, NOW).unwrap_err().to_string().contains("signature"));
}

#[test]
fn the_key_decides_the_algorithm_not_the_token() {
    let keys = keys(None);
    let public = pair().public_key().as_ref().to_vec();
    // Signed with the public key as a secret, and not signed at all.
    let secret = hmac::Key::new(hmac::HMAC_SHA256, &public);
    let body = body(&json!({ "alg": "HS256", "kid": "1" }), &claims("ann"));
    let tag = BASE64URL_NOPAD.encode(hmac::sign(&secret, body.as_bytes()).as_ref());
    assert!(keys.check(&format!("{body}.{tag}"), NOW).is_err());
    let none = self::body(&json!({ "alg": "none", "kid": "1" }), &claims("ann"));
    assert!(keys.check(&format!("{none}."), NOW).is_err());
}

#[test]
fn of_several_keys_the_token_names_one_and_a_secret_is_long() {
    let rules = TokenRules { audience: "here".to_owned(), issuer: None };
    let secret = BASE64URL_NOPAD.encode(&[7; 32]);
    let two = json!({ "keys": [jwk(), { "kty": "oct", "kid": "2", "k": secret }] });
    let keys = TokenKeys::parse(&two.to_string(), rules.clone()).unwrap();
    assert!(keys.check(&signed(&claims("ann")), NOW).is_ok());
    let body = body(&json!({ "alg": "HS256", "kid": "2" }), &claims("ann"));
    let key = hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]);
    let tag = BASE64URL_NOPAD.encode(hmac::sign(&key, body.as_bytes()).as_ref());
    assert!(keys.check(&format!("{body}.{tag}"), NOW).is_ok());
    for (header, why) in [
        (json!({ "alg": "EdDSA" }), "does not name its key"),
        (json!({ "alg": "EdDSA", "kid": "3" }), "does not know"),
    ] {
        let body = self::body(&header, &claims("ann"));
        let signature = BASE64URL_NOPAD.encode(pair().sign(body.as_bytes()).as_ref());
        let problem = keys.check(&format!("{body}.{signature}"), NOW).unwrap_err();
        assert!(problem.to_string().contains(why), "{problem}");
    }
    let short = json!({ "keys": [{ "kty": "oct", "k": BASE64URL_NOPAD.encode(&[7; 31]) }] });
    for (text, why) in [
        (short.to_string(), "at least 32 bytes"),
        ("{\"keys\":[]}".to_owned(), "no key"),
        ("[]".to_owned(), "JWKS"),
    ] {
        let problem = TokenKeys::parse(&text, rules.clone()).unwrap_err().to_string();
        assert!(problem.contains(why), "{problem}");
    }
}

fn keys(issuer: Option<&str>) -> TokenKeys {
    ring_verifier::install();
    let rules = TokenRules { audience: "here".to_owned(), issuer: issuer.map(str::to_owned) };
    TokenKeys::parse(&json!({ "keys": [jwk()] }).to_string(), rules).unwrap()
}

fn pair() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[1; 32]).unwrap()
}

fn jwk() -> Value {
    let public = BASE64URL_NOPAD.encode(pair().public_key().as_ref());
    json!({ "kty": "OKP", "crv": "Ed25519", "kid": "1", "x": public })
}

fn claims(player: &str) -> Value {
    json!({ "sub": player, "aud": "here", "exp": NOW + 60 })
}

/// With these claims instead; `null` takes one away.
fn merged(claims: &Value, change: &Value) -> Value {
    let mut merged = claims.as_object().unwrap().clone();
    for (name, value) in change.as_object().unwrap() {
        merged.remove(name);
        if !value.is_null() {
            merged.insert(name.clone(), value.clone());
        }
    }
    merged.into()
}

fn body(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    format!("{}.{}", part(header), part(claims))
}

fn signed(claims: &Value) -> String {
    sign_with(&pair(), claims)
}

fn sign_with(pair: &Ed25519KeyPair, claims: &Value) -> String {
    let body = body(&json!({ "alg": "EdDSA", "kid": "1" }), claims);
    let signature = BASE64URL_NOPAD.encode(pair.sign(body.as_bytes()).as_ref());
    format!("{body}.{signature}")
}
