//! Signing in on AWS: a bearer token of an OIDC issuer, checked here, because a function URL checks nothing.

mod documents;
mod keys;
mod session;
mod token;

use super::connect;
use super::settings::{self, SettingsError};
use async_trait::async_trait;
use axum::middleware::map_response;
use axum::{Extension, Router};
pub use documents::DocumentError;
use documents::Documents;
use domain::id::Actor;
use domain::role::Role;
use domain::time::Timestamp;
use keys::Keys;
use office::api::{self, Api, Caller, Identify};
use office::assets::{self, Files};
use office::office::Office;
use serde_json::{Map, Value};
use std::sync::Arc;
use token::Expected;

/// The claim that names a person, where the stack names no other: in Cognito it never changes.
const NAME_CLAIM: &str = "cognito:username";
/// The claim with a person's roles, where the stack names no other.
const ROLES_CLAIM: &str = "cognito:groups";

/// What is asked of the issuer, where the stack asks for nothing else: an ID token.
const SCOPE: &str = "openid";

/// The office cannot let anybody in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// A setting is missing.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The issuer cannot be asked.
    #[error(transparent)]
    Issuer(#[from] DocumentError),
    /// The stack keeps its client's id in a parameter, and there is none.
    #[error("the parameter {name}, where the stack keeps its client's id, could not be read")]
    Parameter {
        /// Its name.
        name: String,
        /// The fault; none if it is empty.
        #[source]
        source: Option<Box<aws_sdk_ssm::Error>>,
    },
}

/// Which tokens are good, and what they say of their bearer.
///
/// They are ID tokens. The client that people sign in to is the office itself, so its id is their audience by OIDC's own
/// rule and whatever the issuer; an access token's audience is the issuer's business (Cognito's has none), and elsewhere
/// it need not even be a JWT.
pub struct Tokens {
    documents: Documents,
    keys: Keys,
    issuer: String,
    client_id: String,
    scope: String,
    name_claim: String,
    roles_claim: String,
}

impl Tokens {
    /// Tokens that this issuer gave to this client. The issuer's own documents lie at `discovery`, which is another
    /// address than its name only where an endpoint on one machine plays it.
    pub fn new(issuer: String, client_id: String, discovery: Option<String>) -> Result<Self, DocumentError> {
        let documents = Documents::new(discovery.as_ref().unwrap_or(&issuer))?;
        let (scope, name_claim, roles_claim) = (SCOPE.into(), NAME_CLAIM.into(), ROLES_CLAIM.into());
        Ok(Self { documents, keys: Keys::default(), issuer, client_id, scope, name_claim, roles_claim })
    }

    async fn from_env() -> Result<Self, SignInError> {
        let client_id = match settings::optional("DLO_CLIENT_ID_PARAMETER") {
            Some(name) => parameter(name).await?,
            None => settings::required("DLO_CLIENT_ID")?,
        };
        let mut tokens = Self::new(settings::required("DLO_ISSUER")?, client_id, settings::optional("DLO_DISCOVERY"))?;
        tokens.scope = settings::optional("DLO_SCOPE").unwrap_or(tokens.scope);
        tokens.name_claim = settings::optional("DLO_NAME_CLAIM").unwrap_or(tokens.name_claim);
        tokens.roles_claim = settings::optional("DLO_ROLES_CLAIM").unwrap_or(tokens.roles_claim);
        Ok(tokens)
    }
}

/// The client's id, where the stack made the client: it has to know the URL of the function that asks here, so it comes
/// after that function, and no variable of the function can name it.
async fn parameter(name: String) -> Result<String, SignInError> {
    let ssm = aws_sdk_ssm::Client::new(&connect::from_env().await);
    let failed = |source| SignInError::Parameter { name: name.clone(), source };
    let found = ssm.get_parameter().name(&name).send().await.map_err(|error| failed(Some(Box::new(error.into()))))?;
    found.parameter.and_then(|parameter| parameter.value).ok_or_else(|| failed(None))
}

impl Tokens {
    /// What a good token says.
    async fn claims(&self, token: &str, now: Timestamp) -> Option<Map<String, Value>> {
        let parsed = token::parse(token)?;
        let key = self.keys.find(&self.documents, &parsed.kid, now).await?;
        let expected = Expected { issuer: &self.issuer, audience: &self.client_id, now };
        // The reason is for the log: a caller with a bad token learns only that it is bad.
        parsed.verify(&key, &expected).inspect_err(|refused| tracing::info!(%refused, "a token was refused")).ok()
    }
}

/// Who a good token is for.
enum Bearer {
    /// Somebody with a role here.
    Caller(Caller),
    /// Somebody whom the issuer knows, and the office does not.
    WithoutRole(Actor),
}

impl Tokens {
    fn bearer(&self, claims: &Map<String, Value>) -> Option<Bearer> {
        let name = claims.get(&self.name_claim).or_else(|| claims.get("sub")).and_then(Value::as_str)?;
        let actor = Actor::from(name);
        Some(match claims.get(&self.roles_claim).and_then(role) {
            Some(role) => Bearer::Caller(Caller { actor, role }),
            None => Bearer::WithoutRole(actor),
        })
    }
}

#[async_trait]
impl Identify for Tokens {
    async fn who(&self, token: &str, now: Timestamp) -> Option<Caller> {
        match self.bearer(&self.claims(token, now).await?)? {
            Bearer::Caller(caller) => Some(caller),
            Bearer::WithoutRole(_) => None,
        }
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

/// The office's router as the stack describes it.
pub async fn router(office: Office, dashboard: Files) -> Result<Router, SignInError> {
    let tokens = Arc::new(Tokens::from_env().await?);
    let api = Api {
        office,
        identify: tokens.clone(),
        name: settings::optional("DLO_NAME").unwrap_or_else(|| "Dead Letter Office".into()).into(),
        watching: settings::queues(&settings::optional("DLO_WATCHING").unwrap_or_default()).into(),
    };
    Ok(serve(api, tokens, dashboard))
}

/// The api for bearers of such tokens, and the dashboard for every other path.
pub fn serve(api: Api, tokens: Arc<Tokens>, dashboard: Files) -> Router {
    let mut endpoints = api::endpoints();
    endpoints.extend(session::endpoints());
    let router = api::router(api, &endpoints).layer(Extension(tokens)).fallback_service(assets::router(dashboard));
    router.layer(map_response(assets::secure))
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
