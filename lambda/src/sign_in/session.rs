//! Sessions of browser tabs. The office exchanges the issuer's code for an ID token, and the page keeps that token.

use super::documents::{DocumentError, Exchange};
use super::tokens::{Bearer, Tokens};
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Json, State};
use domain::role::Permission;
use domain::time::Timestamp;
use office::api::{Api, ApiError, Endpoint};
use serde_json::{Map, Value};
use std::sync::Arc;
use wire::{ErrorCode, IssuerSignInRequest, Me, Session, SignInOptions, SignInRequest};

type Body<T> = Result<Json<T>, JsonRejection>;
type Response<T> = Result<Json<T>, ApiError>;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get::<SignInOptions, _>("/session", "Describe how to sign in", describe_sign_in).for_everybody(),
        Endpoint::post::<SignInRequest, Session, _>("/session", None, "Identify the bearer of an ID token", sign_in),
        Endpoint::post::<IssuerSignInRequest, Session, _>(
            "/session/code",
            None,
            "Exchange the issuer's code for an ID token and identify its bearer",
            exchange_code,
        ),
        Endpoint::delete::<Ended, _>("/session", Permission::View, "End the session", sign_out),
    ]
}

/// The result of ending a session.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Ended {
    /// Whether the token has become invalid. The issuer's tokens stay valid until they expire.
    ended: bool,
}

/// Always returns `false`: only the issuer can revoke its token, which stays valid until it expires.
async fn sign_out() -> Json<Ended> {
    Json(Ended { ended: false })
}

async fn describe_sign_in(
    State(api): State<Api>,
    Extension(tokens): Extension<Arc<Tokens>>,
) -> Response<SignInOptions> {
    let issuer = tokens.documents.sign_in_url(&tokens.client_id, &tokens.scope, api.office.now()).await;
    Ok(Json(SignInOptions { issuer: Some(issuer.map_err(unreachable)?) }))
}

async fn sign_in(
    State(api): State<Api>,
    Extension(tokens): Extension<Arc<Tokens>>,
    ask: Body<SignInRequest>,
) -> Response<Session> {
    let Json(ask) = ask?;
    let token = ask.code.trim().to_owned();
    let claims = tokens.claims(&token, api.office.now()).await;
    session(
        &api,
        &tokens,
        token,
        &claims.ok_or_else(|| signed_out("This token is invalid or has expired. Sign in again."))?,
    )
}

/// Exchanges the issuer's code for an ID token.
///
/// The server makes the exchange instead of the page, for three reasons: the page's security policy allows requests to
/// the office only, the page gets no token but the one for the office, and the issuer need not allow cross-origin
/// requests. Only the page that began the sign-in knows the verifier.
async fn exchange_code(
    State(api): State<Api>,
    Extension(tokens): Extension<Arc<Tokens>>,
    ask: Body<IssuerSignInRequest>,
) -> Response<Session> {
    let (Json(ask), now) = (ask?, api.office.now());
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", &tokens.client_id),
        ("redirect_uri", &ask.page),
        ("code", &ask.code),
        ("code_verifier", &ask.verifier),
    ];
    let Exchange { id_token, error, error_description } =
        tokens.documents.exchange(&form, now).await.map_err(unreachable)?;
    let token = id_token.ok_or_else(|| code_error(error.as_deref(), error_description.as_deref()))?;
    let claims = tokens.claims(&token, now).await.filter(|claims| has_nonce(claims, &ask.nonce));
    let foreign = || signed_out("The issuer's response belongs to another sign-in. You are not signed in. Try again.");
    session(&api, &tokens, token, &claims.ok_or_else(foreign)?)
}

fn has_nonce(claims: &Map<String, Value>, expected: &str) -> bool {
    claims.get("nonce").and_then(Value::as_str) == Some(expected)
}

fn session(api: &Api, tokens: &Tokens, token: String, claims: &Map<String, Value>) -> Response<Session> {
    let expires_s = claims.get("exp").and_then(Value::as_i64);
    let (Some(bearer), Some(expires_s)) = (tokens.bearer(claims), expires_s) else {
        return Err(signed_out("This token names no person or no expiry. Ask an admin to check the issuer's claims."));
    };
    let caller = match bearer {
        Bearer::Caller(caller) => caller,
        Bearer::WithoutRole(actor) => {
            let message = format!(
                "{actor} has no role in this office. Ask an admin for the role viewer, operator, approver or admin."
            );
            return Err(ApiError::new(ErrorCode::Forbidden, message));
        }
    };
    let permissions = Permission::ALL.into_iter().filter(|permission| caller.role.may(*permission)).collect();
    let me = Me { name: caller.actor, role: caller.role, permissions, office: api.name.to_string() };
    Ok(Json(Session { token, expires_at: Timestamp::from_ms(expires_s.saturating_mul(1000)), me }))
}

fn unreachable(error: DocumentError) -> ApiError {
    let message = "The sign-in service (OIDC issuer) isn't responding. Try again in a moment.";
    ApiError { log: Some(office::error::chain(&error)), ..ApiError::new(ErrorCode::Unavailable, message) }
}

/// Explains why the issuer gave no token for a code (RFC 6749, section 5.2).
fn code_error(error: Option<&str>, description: Option<&str>) -> ApiError {
    match (error, description) {
        (Some("invalid_grant"), _) => signed_out("The sign-in code has expired or was already used. Sign in again."),
        (Some(error), Some(why)) => signed_out(format!("The issuer rejected the sign-in code: {why} ({error}).")),
        (Some(error), None) => signed_out(format!("The issuer rejected the sign-in code: {error}.")),
        (None, _) => signed_out(
            "The issuer returned no ID token. Ask an admin to allow the scope openid for the office's client.",
        ),
    }
}

fn signed_out(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::SignedOut, message)
}
