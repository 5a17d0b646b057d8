//! Verifies a JSON Web Token: algorithm, signature with the issuer's key, issuer, audience, purpose and times.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::time::{Span, Timestamp};
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Longest accepted token, in bytes. HTTP headers have a similar limit.
pub(super) const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// Tolerated difference between the clocks of issuer and office.
const SKEW: Span = Span::from_secs(60);

/// A public key of the issuer. Each variant works with exactly one algorithm.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    /// For RS256: modulus and exponent.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// For ES256: an uncompressed point.
    P256(Vec<u8>),
}

/// The values that a token must have.
pub(super) struct Expected<'a> {
    pub issuer: &'a str,
    pub audience: &'a str,
    pub now: Timestamp,
    /// How long ago the token may have expired.
    pub expired_for_max: Span,
}

/// Why a token was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Rejected {
    #[error("its signature does not match the issuer's key")]
    Signature,
    #[error("its claims are not a JSON object")]
    Claims,
    #[error("it comes from another issuer")]
    Issuer,
    #[error("its audience is another client")]
    Audience,
    #[error("it has expired, is not valid yet, or lacks `exp` or `iat`")]
    Time,
    #[error("it was issued to another client (`azp`)")]
    Party,
    #[error("it is not an ID token")]
    Purpose,
}

/// The accepted algorithms. Tokens with any other, in particular `none`, are rejected.
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
    /// The token's type, which issuers may omit.
    typ: Option<String>,
    /// Extensions that the receiver must understand. The office supports none, so it rejects tokens that name any.
    crit: Option<Value>,
}

/// A parsed token. Nothing in it can be trusted before [`Parsed::verify`].
pub(super) struct Parsed<'a> {
    pub kid: String,
    algorithm: Algorithm,
    signed: &'a str,
    claims: &'a str,
    signature: Vec<u8>,
}

/// Parses a token. Returns `None` if it is malformed, or has an algorithm, type or extension that is not accepted.
pub(super) fn parse(token: &str) -> Option<Parsed<'_>> {
    let (signed, signature) = token.rsplit_once('.').filter(|_| token.len() <= TOKEN_BYTES_MAX)?;
    let (header, claims) = signed.split_once('.').filter(|(_, claims)| !claims.contains('.'))?;
    let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    // The issuer's access and logout tokens may have the same audience as its ID tokens.
    let has_other_type = header.typ.is_some_and(|typ| !typ.eq_ignore_ascii_case("JWT"));
    (header.crit.is_none() && !has_other_type).then_some(Parsed {
        kid: header.kid,
        algorithm: header.alg,
        signed,
        claims,
        signature,
    })
}

impl Parsed<'_> {
    /// Returns the claims if signature and claims are as expected.
    pub(super) fn verify(&self, key: &Key, expected: &Expected<'_>) -> Result<Map<String, Value>, Rejected> {
        let (message, signature) = (self.signed.as_bytes(), self.signature.as_slice());
        // The key determines the algorithm. The header must agree with it.
        let verified = match (key, self.algorithm) {
            (Key::Rsa { n, e }, Algorithm::Rs256) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (Key::P256(point), Algorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            _ => return Err(Rejected::Signature),
        };
        verified.map_err(|_| Rejected::Signature)?;
        let claims = URL_SAFE_NO_PAD.decode(self.claims).map_err(|_| Rejected::Claims)?;
        let claims: Map<String, Value> = serde_json::from_slice(&claims).map_err(|_| Rejected::Claims)?;
        check(&claims, expected)?;
        Ok(claims)
    }
}

fn check(claims: &Map<String, Value>, expected: &Expected<'_>) -> Result<(), Rejected> {
    if claims.get("iss").and_then(Value::as_str) != Some(expected.issuer) {
        return Err(Rejected::Issuer);
    }
    let is_ours = |value: &Value| value.as_str() == Some(expected.audience);
    let for_us = match claims.get("aud") {
        Some(Value::Array(all)) => all.iter().any(is_ours),
        Some(one) => is_ours(one),
        None => false,
    };
    if !for_us {
        return Err(Rejected::Audience);
    }
    // The client that a token was issued to must be named if others may use it, and must be the office if it is named
    // (OpenID Connect Core, section 3.1.3.7).
    let has_others = matches!(claims.get("aud"), Some(Value::Array(all)) if all.len() != 1);
    match claims.get("azp") {
        Some(party) if !is_ours(party) => return Err(Rejected::Party),
        None if has_others => return Err(Rejected::Party),
        _ => {}
    }
    // Cognito states a token's purpose in `token_use`. Other issuers express it only by the audience.
    if claims.get("token_use").is_some_and(|token_use| token_use.as_str() != Some("id")) {
        return Err(Rejected::Purpose);
    }
    let time = |name: &str| claims.get(name).and_then(Value::as_f64).map(|s| Timestamp::from_ms((s * 1000.0) as i64));
    let expires_at = time("exp").ok_or(Rejected::Time)?;
    let issued_at = time("iat").ok_or(Rejected::Time)?;
    let valid_from = time("nbf").unwrap_or(issued_at).max(issued_at);
    if expires_at.plus(SKEW).plus(expected.expired_for_max) <= expected.now || valid_from.minus(SKEW) > expected.now {
        return Err(Rejected::Time);
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
        json!({ "iss": "https://issuer", "aud": "client", "iat": NOW_S, "exp": NOW_S + 600, "sub": "otto",
            "token_use": "id" })
    }

    fn with(mut value: Value, name: &str, change: Value) -> Value {
        value[name] = change;
        value
    }

    fn expected(now: Timestamp, expired_for_max: Span) -> Expected<'static> {
        Expected { issuer: "https://issuer", audience: "client", now, expired_for_max }
    }

    fn verify(token: &str, key: &Key) -> Option<Result<(), Rejected>> {
        let now = Timestamp::from_ms(NOW_S * 1000);
        Some(parse(token)?.verify(key, &expected(now, Span::ZERO)).map(drop))
    }

    #[test]
    fn token_is_accepted_only_with_the_expected_claims() {
        let issuer = Issuer::new();
        let key = Key::P256(issuer.point());
        for (claims, expected) in [
            (claims(), Ok(())),
            (with(claims(), "aud", json!(["client"])), Ok(())),
            (with(with(claims(), "aud", json!(["other", "client"])), "azp", json!("client")), Ok(())),
            (with(claims(), "aud", json!(["other", "client"])), Err(Rejected::Party)),
            (with(with(claims(), "aud", json!(["other", "client"])), "azp", json!("other")), Err(Rejected::Party)),
            (with(claims(), "azp", json!("client")), Ok(())),
            (with(claims(), "azp", json!("other")), Err(Rejected::Party)),
            (with(claims(), "azp", json!(["client"])), Err(Rejected::Party)),
            (with(claims(), "nbf", json!(NOW_S + 30)), Ok(())),
            (with(claims(), "exp", json!(NOW_S - 30)), Ok(())),
            (with(claims(), "exp", json!(NOW_S - 61)), Err(Rejected::Time)),
            (with(claims(), "exp", json!("soon")), Err(Rejected::Time)),
            (with(claims(), "nbf", json!(NOW_S + 61)), Err(Rejected::Time)),
            (with(claims(), "iat", json!(NOW_S + 30)), Ok(())),
            (with(claims(), "iat", json!(NOW_S + 61)), Err(Rejected::Time)),
            (with(claims(), "iat", json!(null)), Err(Rejected::Time)),
            (with(claims(), "iss", json!("https://issuer/")), Err(Rejected::Issuer)),
            (with(claims(), "aud", json!("client2")), Err(Rejected::Audience)),
            (with(claims(), "aud", json!(null)), Err(Rejected::Audience)),
            (with(claims(), "token_use", json!("access")), Err(Rejected::Purpose)),
            (json!(["not", "claims"]), Err(Rejected::Claims)),
        ] {
            assert_eq!(verify(&issuer.sign(&header(), &claims), &key), Some(expected), "{claims}");
        }
    }

    #[test]
    fn an_expired_token_is_accepted_only_where_a_session_is_continued() {
        let issuer = Issuer::new();
        let (key, token) = (Key::P256(issuer.point()), issuer.sign(&header(), &claims()));
        let after = |seconds: i64| Timestamp::from_ms((NOW_S + seconds) * 1000);
        for (seconds, expired_for_max, expected_result) in [
            (600 + 61, Span::ZERO, Err(Rejected::Time)),
            (600 + 61, Span::from_mins(5), Ok(())),
            (900 + 59, Span::from_mins(5), Ok(())),
            (900 + 60, Span::from_mins(5), Err(Rejected::Time)),
        ] {
            let parsed = parse(&token).unwrap();
            let result = parsed.verify(&key, &expected(after(seconds), expired_for_max)).map(drop);
            assert_eq!(result, expected_result, "after {seconds} s");
        }
    }

    #[test]
    fn header_cannot_choose_the_algorithm() {
        let issuer = Issuer::new();
        let key = Key::P256(issuer.point());
        for alg in ["none", "None", "HS256", "RS512", "ES384", ""] {
            assert_eq!(verify(&issuer.sign(&with(header(), "alg", json!(alg)), &claims()), &key), None, "{alg}");
        }
        let rsa = issuer.sign(&with(header(), "alg", json!("RS256")), &claims());
        assert_eq!(verify(&rsa, &key), Some(Err(Rejected::Signature)), "the key is for another algorithm");
        let critical = issuer.sign(&with(header(), "crit", json!(["exp"])), &claims());
        assert_eq!(verify(&critical, &key), None);
        for (typ, expected) in [("JWT", Some(Ok(()))), ("jwt", Some(Ok(()))), ("at+jwt", None), ("logout+jwt", None)] {
            assert_eq!(verify(&issuer.sign(&with(header(), "typ", json!(typ)), &claims()), &key), expected, "{typ}");
        }
    }

    #[test]
    fn modified_or_foreign_token_is_rejected() {
        let (issuer, other) = (Issuer::new(), Issuer::new());
        let key = Key::P256(issuer.point());
        assert_eq!(verify(&other.sign(&header(), &claims()), &key), Some(Err(Rejected::Signature)));
        let token = issuer.sign(&header(), &claims());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let (header_text, _) = signed.split_once('.').unwrap();
        let forged = URL_SAFE_NO_PAD.encode(with(claims(), "sub", json!("anna")).to_string());
        assert_eq!(verify(&format!("{header_text}.{forged}.{signature}"), &key), Some(Err(Rejected::Signature)));
        for garbage in
            ["", ".", "..", "a.b.c", signed, &format!("{token}."), &format!("{token}.x"), &"a.".repeat(20_000)]
        {
            assert_eq!(verify(garbage, &key), None, "{garbage:.40}");
        }
        assert_eq!(verify(&format!("{signed}."), &key), Some(Err(Rejected::Signature)), "no signature");
    }
}
