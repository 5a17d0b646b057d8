//! Which ID tokens the office accepts, and which person and role each stands for.

use super::documents::{DocumentError, Documents};
use super::keys::Keys;
use super::rejections::Rejections;
use super::token::{self, Expected};
use crate::connect;
use crate::settings::{self, SettingsError};
use async_trait::async_trait;
use domain::id::Actor;
use domain::limits::SUBJECT_BYTES_MAX;
use domain::person::PersonId;
use domain::role::Role;
use domain::time::{Span, Timestamp};
use office::api::{Caller, CallsMax, Identify};
use office::person::named;
use serde_json::{Map, Value};
use std::time::Duration;

/// The default claim with a person's name. In Cognito, this claim never changes.
const NAME_CLAIM: &str = "cognito:username";
/// The default claim with a person's roles.
const ROLES_CLAIM: &str = "cognito:groups";
/// The default scope of a sign-in. It yields an ID token.
const SCOPE: &str = "openid";

/// How long after its expiry a token still proves whose session a refresh token continues.
const CONTINUED_MAX: Span = Span::from_days(1);
/// The longest delay of the answer to an invalid token. Nobody can guess a signature, and on Lambda a call that waits
/// costs money and one of the account's concurrent executions.
const DELAY_MAX: Duration = Duration::from_millis(100);

/// The calls of one person to one instance of the function. At 20 ms for a call, an assumption, an instance makes 50 per second. A page makes one every
/// other second, and some at once when it opens; a program that exports pages makes them one after the other.
const CALLS_MAX: CallsMax = CallsMax { per_s: 20, burst: 200 };

/// The office cannot sign anyone in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// A setting is missing.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The HTTP client for the issuer could not be built.
    #[error(transparent)]
    Issuer(#[from] DocumentError),
    /// The stack's parameter with the issuer is missing or unreadable.
    #[error("the SSM parameter {name} with the stack's issuer could not be read")]
    Parameter {
        /// The parameter's name.
        name: String,
        /// The error; `None` if the parameter is empty.
        #[source]
        source: Option<Box<aws_sdk_ssm::Error>>,
    },
    /// The stack's parameter with the issuer does not have the form that infra/people.yaml gives it.
    #[error("the SSM parameter {name} does not name an issuer and a client; deploy the stack again, which writes it")]
    NotAnIssuer {
        /// The parameter's name.
        name: String,
        /// The error.
        #[source]
        source: serde_json::Error,
    },
}

/// Verifies ID tokens of one issuer for one client.
///
/// The office is itself the client that people sign in to. By OIDC's rules, the audience of its ID tokens is therefore
/// its client ID, whatever the issuer. Access tokens would not do: Cognito's have no audience, and other issuers' need
/// not even be JWTs.
pub struct Tokens {
    pub(super) documents: Documents,
    keys: Keys,
    issuer: String,
    pub(super) client_id: String,
    pub(super) scope: String,
    name_claim: String,
    roles_claim: String,
    rejections: Rejections,
}

/// The bearer of a valid token.
pub(super) enum Bearer {
    /// A person with a role in this office.
    Caller(Caller),
    /// A person whom the issuer knows, but without a role in this office.
    WithoutRole(Actor),
}

impl Tokens {
    /// Accepts tokens that `issuer` gave to the client `client_id`.
    ///
    /// `discovery` is the base URL of the issuer's documents, for local endpoints that imitate the issuer. If it is
    /// `None`, the documents are below the issuer's own URL.
    pub fn new(issuer: String, client_id: String, discovery: Option<String>) -> Result<Self, DocumentError> {
        let documents = Documents::new(&issuer, discovery.as_ref().unwrap_or(&issuer))?;
        let (scope, name_claim, roles_claim) = (SCOPE.into(), NAME_CLAIM.into(), ROLES_CLAIM.into());
        let (keys, rejections) = (Keys::default(), Rejections::default());
        Ok(Self { documents, keys, issuer, client_id, scope, name_claim, roles_claim, rejections })
    }

    /// Reads issuer, client and claims from the stack's settings.
    pub(super) async fn from_env() -> Result<Self, SignInError> {
        let pool = match settings::optional("DLO_SIGN_IN_PARAMETER") {
            Some(name) => parameter(name).await?,
            None => Pool {
                issuer: settings::required("DLO_ISSUER")?,
                client_id: settings::required("DLO_CLIENT_ID")?,
                discovery: settings::optional("DLO_DISCOVERY"),
            },
        };
        let mut tokens = Self::new(pool.issuer, pool.client_id, pool.discovery)?;
        tokens.scope = settings::optional("DLO_SCOPE").unwrap_or(tokens.scope);
        tokens.name_claim = settings::optional("DLO_NAME_CLAIM").unwrap_or(tokens.name_claim);
        tokens.roles_claim = settings::optional("DLO_ROLES_CLAIM").unwrap_or(tokens.roles_claim);
        Ok(tokens)
    }

    /// Returns the claims of a valid token, or `None` if the token is invalid.
    pub(super) async fn claims(&self, token: &str, now: Timestamp) -> Option<Map<String, Value>> {
        self.verified(token, now, Span::ZERO).await
    }

    /// Returns the person (`sub`) whose session a token was for, even if it has expired less than a day ago.
    pub(super) async fn continued(&self, token: &str, now: Timestamp) -> Option<String> {
        let claims = self.verified(token, now, CONTINUED_MAX).await?;
        text(&claims, "sub").map(str::to_owned)
    }

    async fn verified(&self, token: &str, now: Timestamp, expired_for_max: Span) -> Option<Map<String, Value>> {
        let parsed = token::parse(token)?;
        let key = self.keys.find(&self.documents, &parsed.kid, now).await?;
        let expected = Expected { issuer: &self.issuer, audience: &self.client_id, now, expired_for_max };
        // Only the log gets the reason. The caller learns only that the token is invalid.
        parsed.verify(&key, &expected).inspect_err(|reason| self.rejections.log(reason)).ok()
    }

    /// Returns the person that these claims name. Returns `None` if a claim is missing or not acceptable; the log says
    /// which.
    pub(super) fn bearer(&self, claims: &Map<String, Value>) -> Option<Bearer> {
        let claim = self.name_claim.as_str();
        let missing = |claim: &str| tracing::warn!(claim, "a token was rejected: it lacks this claim");
        let Some(name) = text(claims, claim) else {
            missing(claim);
            return None;
        };
        let Some(subject) = text(claims, "sub").filter(|sub| (1..=SUBJECT_BYTES_MAX).contains(&sub.len())) else {
            missing("sub");
            return None;
        };
        let actor = named(name)
            .inspect_err(|why| tracing::warn!(claim, %why, "a token was rejected: nobody may have this name"))
            .ok()?;
        let Some(role) = claims.get(&self.roles_claim).and_then(role) else {
            return Some(Bearer::WithoutRole(actor));
        };
        let id = Some(PersonId { issuer: self.issuer.clone(), subject: subject.into() });
        // A renewal does not change `auth_time`, so nobody evades a revocation (`issued_before`) by it. Without this claim,
        // a renewal counts as a sign-in.
        let signed_in_at = seconds(claims, "auth_time").or_else(|| seconds(claims, "iat"));
        Some(Bearer::Caller(Caller { actor, role, id, signed_in_at }))
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

    fn calls_max(&self) -> Option<CallsMax> {
        Some(CALLS_MAX)
    }

    fn delay_max(&self) -> Duration {
        DELAY_MAX
    }
}

fn text<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    claims.get(name).and_then(Value::as_str)
}

/// Returns a claim's moment. The claim is in seconds.
fn seconds(claims: &Map<String, Value>, name: &str) -> Option<Timestamp> {
    claims.get(name).and_then(Value::as_f64).map(|s| Timestamp::from_ms((s * 1000.0) as i64))
}

/// Where people sign in, as `infra/people.yaml` writes it into an SSM parameter.
#[derive(Debug, PartialEq, Eq, serde::Deserialize)]
struct Pool {
    issuer: String,
    client_id: String,
    /// The base URL of the issuer's documents, at a local endpoint.
    discovery: Option<String>,
}

/// Reads issuer and client from an SSM parameter.
///
/// The stack creates the client after this function, because the client needs the function's URL. An environment
/// variable therefore cannot hold them.
async fn parameter(name: String) -> Result<Pool, SignInError> {
    let ssm = aws_sdk_ssm::Client::new(&connect::from_env().await);
    let failed = |source| SignInError::Parameter { name: name.clone(), source };
    let found = ssm.get_parameter().name(&name).send().await.map_err(|error| failed(Some(Box::new(error.into()))))?;
    let text = found.parameter.and_then(|parameter| parameter.value).ok_or_else(|| failed(None))?;
    serde_json::from_str(&text).map_err(|source| SignInError::NotAnIssuer { name, source })
}

/// Returns the highest role that a claim names, or `None` if it names no role. The claim is a string or a list of
/// strings.
fn role(claim: &Value) -> Option<Role> {
    let names: Vec<&str> = match claim {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    Role::ALL.into_iter().filter(|role| names.contains(&role.as_str())).max()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_pool_is_read_as_the_stack_writes_it() {
        let template = include_str!("../../../infra/people.yaml");
        let line = template.lines().find_map(|line| line.trim().strip_prefix("- '{\"issuer\"")).expect("the parameter");
        let written = format!("{{\"issuer\"{}", line.trim_end_matches('\''));
        let pool = |discovery| Pool {
            issuer: "https://cognito-idp.${AWS::Region}.${AWS::URLSuffix}/${People}".into(),
            client_id: "${PeopleClient}".into(),
            discovery,
        };
        let local = r#","discovery":"${DiscoveryUrl}/${People}""#;
        assert!(template.contains(local), "{template}");
        for (more, expected) in [("", None), (local, Some("${DiscoveryUrl}/${People}".to_owned()))] {
            let text = written.replace("${Discovery}", more);
            assert_eq!(serde_json::from_str::<Pool>(&text).expect(&text), pool(expected));
        }
        assert!(serde_json::from_str::<Pool>("abc123").is_err());
    }

    use super::super::token::tests::Issuer;
    use super::*;
    use axum::{Json, Router, routing::get};
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use domain::time::Span;
    use serde_json::json;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::net::TcpListener;

    const NOW: Timestamp = Timestamp::from_ms(1_763_600_000_000);

    #[test]
    fn role_is_the_highest_that_the_claim_names_and_none_by_default() {
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

    /// Starts a local issuer. Returns its URL, and a counter of the requests for its keys.
    async fn issuer(document: Value) -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let fetches = Arc::new(AtomicUsize::new(0));
        let discovery = json!({ "issuer": "https://issuer", "jwks_uri": format!("{url}/keys") });
        let counted = fetches.clone();
        let router =
            Router::new().route("/.well-known/openid-configuration", get(async move || Json(discovery))).route(
                "/keys",
                get(async move || {
                    counted.fetch_add(1, Ordering::SeqCst);
                    Json(document)
                }),
            );
        tokio::spawn(async move { axum::serve(listener, router).await });
        (url, fetches)
    }

    fn document(signer: &Issuer) -> Value {
        let point = signer.point();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        json!({ "keys": [
            { "kid": "k0", "kty": "oct", "k": "c2VjcmV0" },
            { "kid": "k1", "kty": "EC", "crv": "P-256", "use": "sig", "x": x, "y": y },
            { "kid": "k2", "kty": "EC", "crv": "P-256", "use": "enc", "x": x, "y": y },
        ] })
    }

    fn claims() -> Value {
        json!({ "iss": "https://issuer", "aud": "client", "iat": 1_763_600_000, "exp": 1_763_600_600, "sub": "s-1",
            "auth_time": 1_763_500_000, "cognito:username": "otto", "cognito:groups": ["operator"] })
    }

    fn token(signer: &Issuer, kid: &str) -> String {
        signer.sign(&json!({ "alg": "ES256", "kid": kid }), &claims())
    }

    #[tokio::test]
    async fn bearer_of_a_valid_token_is_known_by_name_and_role() {
        let signer = Issuer::new();
        let (url, fetches) = issuer(document(&signer)).await;
        let tokens = Tokens::new("https://issuer".into(), "client".into(), Some(url)).unwrap();
        for _ in 0..3 {
            let caller = tokens.who(&token(&signer, "k1"), NOW).await.unwrap();
            assert_eq!((caller.actor.as_str(), caller.role), ("otto", Role::Operator));
            assert_eq!(caller.id, Some(PersonId { issuer: "https://issuer".into(), subject: "s-1".into() }));
            assert_eq!(caller.signed_in_at, Some(Timestamp::from_ms(1_763_500_000_000)), "not the refreshed token's");
        }
        assert_eq!(fetches.load(Ordering::SeqCst), 1, "the keys are cached");
        assert_eq!(tokens.who(&token(&signer, "k2"), NOW).await, None, "an encryption key");
        assert_eq!(tokens.who(&token(&Issuer::new(), "k1"), NOW).await, None);
    }

    #[test]
    fn a_token_without_an_acceptable_name_or_subject_names_nobody() {
        let tokens = Tokens::new("https://issuer".into(), "client".into(), None).unwrap();
        for (claim, value, is_accepted) in [
            ("cognito:username", json!("Otto M."), true),
            ("cognito:username", json!(null), false),
            ("cognito:username", json!(""), false),
            ("cognito:username", json!(7), false),
            ("cognito:username", json!("office"), false),
            ("cognito:username", json!("Оffice"), false),
            ("cognito:username", json!(" RULE small ones"), false),
            ("cognito:username", json!("otto\u{202e}"), false),
            ("sub", json!(null), false),
            ("sub", json!(""), false),
            ("sub", json!("s".repeat(SUBJECT_BYTES_MAX)), true),
            ("sub", json!("s".repeat(SUBJECT_BYTES_MAX + 1)), false),
        ] {
            let mut claims = claims();
            claims[claim] = value;
            let bearer = tokens.bearer(claims.as_object().unwrap());
            assert_eq!(bearer.is_some(), is_accepted, "{claim}: {}", claims[claim]);
        }
    }

    #[tokio::test]
    async fn unknown_key_is_looked_up_at_most_once_a_minute() {
        let signer = Issuer::new();
        let (url, fetches) = issuer(document(&signer)).await;
        let tokens = Tokens::new("https://issuer".into(), "client".into(), Some(url)).unwrap();
        for (second, expected) in [(0, 1), (1, 1), (59, 1), (60, 2), (61, 2), (121, 3)] {
            let now = NOW.plus(Span::from_secs(second));
            assert_eq!(tokens.who(&token(&signer, "forged"), now).await, None);
            assert_eq!(fetches.load(Ordering::SeqCst), expected, "after {second} s");
        }
    }

    #[test]
    fn without_auth_time_a_renewal_counts_as_a_sign_in() {
        let tokens = Tokens::new("https://issuer".into(), "client".into(), None).unwrap();
        for (auth_time, expected_s) in [(json!(1_763_500_000), 1_763_500_000), (json!(null), 1_763_600_000)] {
            let mut claims = claims();
            claims["auth_time"] = auth_time;
            let Some(Bearer::Caller(caller)) = tokens.bearer(claims.as_object().unwrap()) else { panic!("{claims}") };
            assert_eq!(caller.signed_in_at, Some(Timestamp::from_ms(expected_s * 1_000)), "{claims}");
        }
    }

    #[tokio::test]
    async fn unreachable_issuer_lets_nobody_in_and_breaks_nothing() {
        let signer = Issuer::new();
        let tokens = Tokens::new("https://issuer".into(), "client".into(), Some("http://127.0.0.1:1".into())).unwrap();
        assert_eq!(tokens.who(&token(&signer, "k1"), NOW).await, None);
    }
}
