//! Signing in on AWS: a bearer token of an OIDC issuer, checked here, because a function URL checks nothing.

mod keys;
mod session;
mod token;

use super::settings::{self, SettingsError};
use crate::api::{self, Api, Caller, Identify};
use crate::assets;
use crate::office::Office;
use async_trait::async_trait;
use axum::middleware::map_response;
use axum::{Extension, Router};
use domain::id::Actor;
use domain::role::Role;
use domain::time::Timestamp;
use keys::Keys;
pub use keys::KeysError;
use serde_json::{Map, Value};
use std::sync::Arc;
use token::Expected;

/// The claim that names a person, where the stack names no other: in Cognito it never changes.
const NAME_CLAIM: &str = "cognito:username";
/// The claim with a person's roles, where the stack names no other.
const ROLES_CLAIM: &str = "cognito:groups";

/// The office cannot let anybody in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// A setting is missing.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The issuer cannot be asked for its keys.
    #[error(transparent)]
    Keys(#[from] KeysError),
}

/// Which tokens are good, and what they say of their bearer.
pub struct Tokens {
    keys: Keys,
    issuer: String,
    audience: String,
    name_claim: String,
    roles_claim: String,
}

impl Tokens {
    /// Tokens that this issuer gave to this client. The issuer's own documents lie at `discovery`, which is another
    /// address than its name only where an endpoint on one machine plays it.
    pub fn new(issuer: String, audience: String, discovery: Option<String>) -> Result<Self, KeysError> {
        let keys = Keys::new(discovery.unwrap_or_else(|| issuer.clone()))?;
        Ok(Self { keys, issuer, audience, name_claim: NAME_CLAIM.into(), roles_claim: ROLES_CLAIM.into() })
    }

    fn from_env() -> Result<Self, SignInError> {
        let (issuer, audience) = (settings::required("DLO_ISSUER")?, settings::required("DLO_CLIENT_ID")?);
        let mut tokens = Self::new(issuer, audience, settings::optional("DLO_DISCOVERY"))?;
        tokens.name_claim = settings::optional("DLO_NAME_CLAIM").unwrap_or(tokens.name_claim);
        tokens.roles_claim = settings::optional("DLO_ROLES_CLAIM").unwrap_or(tokens.roles_claim);
        Ok(tokens)
    }
}

impl Tokens {
    /// What a good token says.
    async fn claims(&self, token: &str, now: Timestamp) -> Option<Map<String, Value>> {
        let parsed = token::parse(token)?;
        let key = self.keys.find(&parsed.kid, now).await?;
        let expected = Expected { issuer: &self.issuer, audience: &self.audience, now };
        // The reason is for the log: a caller with a bad token learns only that it is bad.
        parsed.verify(&key, &expected).inspect_err(|refused| tracing::info!(%refused, "a token was refused")).ok()
    }

    /// Until when a good token is good.
    async fn good_until(&self, token: &str, now: Timestamp) -> Option<Timestamp> {
        let seconds = self.claims(token, now).await?.get("exp")?.as_i64()?;
        Some(Timestamp::from_ms(seconds.saturating_mul(1000)))
    }
}

#[async_trait]
impl Identify for Tokens {
    async fn who(&self, token: &str, now: Timestamp) -> Option<Caller> {
        let claims = self.claims(token, now).await?;
        let name = claims.get(&self.name_claim).or_else(|| claims.get("sub")).and_then(Value::as_str)?;
        Some(Caller { actor: Actor::from(name), role: role(claims.get(&self.roles_claim)?)? })
    }
}

/// The greatest role that a claim names: a word, or a list of words. Nobody has a role by default.
fn role(claim: &Value) -> Option<Role> {
    let words: Vec<&str> = match claim {
        Value::String(word) => vec![word],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    Role::ALL.into_iter().filter(|role| words.contains(&role.as_str())).max()
}

/// The api for bearers of such tokens, and the dashboard for every other path.
pub fn router(office: Office) -> Result<Router, SignInError> {
    let tokens = Arc::new(Tokens::from_env()?);
    let api = Api {
        office,
        identify: tokens.clone(),
        name: settings::optional("DLO_NAME").unwrap_or_else(|| "Dead Letter Office".into()).into(),
        watching: settings::queues(&settings::optional("DLO_WATCHING").unwrap_or_default()).into(),
    };
    let mut endpoints = api::endpoints();
    endpoints.extend(session::endpoints());
    let router = api::router(api, &endpoints).layer(Extension(tokens)).fallback_service(assets::router());
    Ok(router.layer(map_response(assets::secure)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn role_is_the_greatest_that_is_named_and_none_by_default() {
        for (claim, expected) in [
            (json!("operator"), Some(Role::Operator)),
            (json!(["viewer", "approver", "someone"]), Some(Role::Approver)),
            (json!([]), None),
            (json!("root"), None),
            (json!(true), None),
            (json!({ "admin": true }), None),
        ] {
            assert_eq!(role(&claim), expected, "{claim}");
        }
    }
}
