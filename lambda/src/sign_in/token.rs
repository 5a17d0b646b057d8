//! A JSON Web Token, checked: signature by an allowed algorithm with a key of the issuer's, issuer, audience, times.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::time::{Span, Timestamp};
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The longest token that is looked at, bytes: headers end there too.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// How far clocks may be apart.
const SKEW: Span = Span::from_secs(60);

/// A public key of the issuer, for one algorithm.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    /// For RS256: modulus and exponent.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// For ES256: an uncompressed point.
    P256(Vec<u8>),
}

/// What a token must say.
pub(super) struct Expected<'a> {
    pub issuer: &'a str,
    pub audience: &'a str,
    pub now: Timestamp,
}

/// Why a token is no good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("its signature is not the issuer's")]
    Signature,
    #[error("its claims cannot be read")]
    Claims,
    #[error("it is of another issuer")]
    Issuer,
    #[error("it is for somebody else")]
    Audience,
    #[error("it is no longer, or not yet, good")]
    Time,
    #[error("it is not for signing in")]
    Use,
}

/// The algorithms that are taken. Anything else, `none` above all, is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Algorithm {
    #[serde(rename = "RS256")]
    Rs256,
    #[serde(rename = "ES256")]
    Es256,
}

#[derive(Deserialize)]
struct Header {
    alg: Algorithm,
    kid: String,
    /// What kind of token it is, where its issuer says it.
    typ: Option<String>,
    /// Extensions that must be understood: none is.
    crit: Option<Value>,
}

/// A token that can be read; nothing it says is true yet.
pub(super) struct Parsed<'a> {
    pub kid: String,
    algorithm: Algorithm,
    signed: &'a str,
    claims: &'a str,
    signature: Vec<u8>,
}

/// Reads a token.
pub(super) fn parse(token: &str) -> Option<Parsed<'_>> {
    let (signed, signature) = token.rsplit_once('.').filter(|_| token.len() <= TOKEN_BYTES_MAX)?;
    let (header, claims) = signed.split_once('.').filter(|(_, claims)| !claims.contains('.'))?;
    let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    // An access token or a logout token of the same issuer may name the same audience.
    let other = header.typ.is_some_and(|typ| !typ.eq_ignore_ascii_case("JWT"));
    (header.crit.is_none() && !other).then_some(Parsed {
        kid: header.kid,
        algorithm: header.alg,
        signed,
        claims,
        signature,
    })
}

impl Parsed<'_> {
    /// The claims, if all is as expected.
    pub(super) fn verify(&self, key: &Key, expected: &Expected<'_>) -> Result<Map<String, Value>, Refused> {
        let (message, signature) = (self.signed.as_bytes(), self.signature.as_slice());
        // The key decides the algorithm, and the header may only agree.
        let verified = match (key, self.algorithm) {
            (Key::Rsa { n, e }, Algorithm::Rs256) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (Key::P256(point), Algorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            _ => return Err(Refused::Signature),
        };
        verified.map_err(|_| Refused::Signature)?;
        let claims = URL_SAFE_NO_PAD.decode(self.claims).map_err(|_| Refused::Claims)?;
        let claims: Map<String, Value> = serde_json::from_slice(&claims).map_err(|_| Refused::Claims)?;
        check(&claims, expected)?;
        Ok(claims)
    }
}

fn check(claims: &Map<String, Value>, expected: &Expected<'_>) -> Result<(), Refused> {
    if claims.get("iss").and_then(Value::as_str) != Some(expected.issuer) {
        return Err(Refused::Issuer);
    }
    let is_audience = |value: &Value| value.as_str() == Some(expected.audience);
    let for_us = match claims.get("aud") {
        Some(Value::Array(all)) => all.iter().any(is_audience),
        Some(one) => is_audience(one),
        None => false,
    };
    if !for_us {
        return Err(Refused::Audience);
    }
    // Cognito says what its tokens are for; others say it by their audience alone.
    if claims.get("token_use").is_some_and(|token_use| token_use.as_str() != Some("id")) {
        return Err(Refused::Use);
    }
    let moment = |name: &str| claims.get(name).and_then(Value::as_f64).map(|s| Timestamp::from_ms((s * 1000.0) as i64));
    let ends = moment("exp").ok_or(Refused::Time)?;
    let begins = moment("nbf").unwrap_or(Timestamp::from_ms(i64::MIN));
    if ends.plus(SKEW) <= expected.now || begins.minus(SKEW) > expected.now {
        return Err(Refused::Time);
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
    use serde_json::json;

    const NOW_S: i64 = 1_763_600_000;

    /// An issuer with one key.
    pub(in super::super) struct Issuer {
        pair: EcdsaKeyPair,
    }

    impl Issuer {
        pub(in super::super) fn new() -> Self {
            let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
            let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
            Self { pair: EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap() }
        }

        pub(in super::super) fn point(&self) -> Vec<u8> {
            self.pair.public_key().as_ref().to_vec()
        }

        pub(in super::super) fn sign(&self, header: &Value, claims: &Value) -> String {
            let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let signed = format!("{}.{}", part(header), part(claims));
            let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
        }
    }

    fn header() -> Value {
        json!({ "alg": "ES256", "kid": "k1" })
    }

    fn claims() -> Value {
        json!({ "iss": "https://issuer", "aud": "client", "exp": NOW_S + 600, "sub": "otto", "token_use": "id" })
    }

    fn with(mut value: Value, name: &str, change: Value) -> Value {
        value[name] = change;
        value
    }

    fn verify(token: &str, key: &Key) -> Option<Result<(), Refused>> {
        let now = Timestamp::from_ms(NOW_S * 1000);
        let expected = Expected { issuer: "https://issuer", audience: "client", now };
        Some(parse(token)?.verify(key, &expected).map(drop))
    }

    #[test]
    fn token_is_good_only_as_expected() {
        let issuer = Issuer::new();
        let key = Key::P256(issuer.point());
        for (claims, expected) in [
            (claims(), Ok(())),
            (with(claims(), "aud", json!(["other", "client"])), Ok(())),
            (with(claims(), "nbf", json!(NOW_S + 30)), Ok(())),
            (with(claims(), "exp", json!(NOW_S - 30)), Ok(())),
            (with(claims(), "exp", json!(NOW_S - 61)), Err(Refused::Time)),
            (with(claims(), "exp", json!("soon")), Err(Refused::Time)),
            (with(claims(), "nbf", json!(NOW_S + 61)), Err(Refused::Time)),
            (with(claims(), "iss", json!("https://issuer/")), Err(Refused::Issuer)),
            (with(claims(), "aud", json!("client2")), Err(Refused::Audience)),
            (with(claims(), "aud", json!(null)), Err(Refused::Audience)),
            (with(claims(), "token_use", json!("access")), Err(Refused::Use)),
            (json!(["not", "claims"]), Err(Refused::Claims)),
        ] {
            assert_eq!(verify(&issuer.sign(&header(), &claims), &key), Some(expected), "{claims}");
        }
    }

    #[test]
    fn header_cannot_choose_how_it_is_checked() {
        let issuer = Issuer::new();
        let key = Key::P256(issuer.point());
        for alg in ["none", "None", "HS256", "RS512", "ES384", ""] {
            assert_eq!(verify(&issuer.sign(&with(header(), "alg", json!(alg)), &claims()), &key), None, "{alg}");
        }
        let rsa = issuer.sign(&with(header(), "alg", json!("RS256")), &claims());
        assert_eq!(verify(&rsa, &key), Some(Err(Refused::Signature)), "the key is for another algorithm");
        let critical = issuer.sign(&with(header(), "crit", json!(["exp"])), &claims());
        assert_eq!(verify(&critical, &key), None);
        for (typ, expected) in [("JWT", Some(Ok(()))), ("jwt", Some(Ok(()))), ("at+jwt", None), ("logout+jwt", None)] {
            assert_eq!(verify(&issuer.sign(&with(header(), "typ", json!(typ)), &claims()), &key), expected, "{typ}");
        }
    }

    #[test]
    fn changed_or_foreign_token_is_refused() {
        let (issuer, other) = (Issuer::new(), Issuer::new());
        let key = Key::P256(issuer.point());
        assert_eq!(verify(&other.sign(&header(), &claims()), &key), Some(Err(Refused::Signature)));
        let token = issuer.sign(&header(), &claims());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let (head, _) = signed.split_once('.').unwrap();
        let forged = URL_SAFE_NO_PAD.encode(with(claims(), "sub", json!("anna")).to_string());
        assert_eq!(verify(&format!("{head}.{forged}.{signature}"), &key), Some(Err(Refused::Signature)));
        for garbage in
            ["", ".", "..", "a.b.c", signed, &format!("{token}."), &format!("{token}.x"), &"a.".repeat(20_000)]
        {
            assert_eq!(verify(garbage, &key), None, "{garbage:.40}");
        }
        assert_eq!(verify(&format!("{signed}."), &key), Some(Err(Refused::Signature)), "no signature");
    }
}
