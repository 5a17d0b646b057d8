//! Sessions of tabs: what somebody brings back from the issuer becomes an ID token, and that is what the page keeps.

use super::documents::{DocumentError, Exchange};
use super::{Bearer, Tokens};
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Json, State};
use domain::role::Permission;
use domain::time::Timestamp;
use office::api::{Api, ApiError, Endpoint};
use serde_json::{Map, Value};
use std::sync::Arc;
use wire::{IssuerSignInRequest, ErrorCode, Me, Session, SignInRequest, SignInOptions};

type Asked<T> = Result<Json<T>, JsonRejection>;
type Answer<T> = Result<Json<T>, ApiError>;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get::<SignInOptions, _>("/session", "How people sign in here", way_in).for_everybody(),
        Endpoint::post::<SignInRequest, Session, _>("/session", None, "Say who a token of the issuer is for", sign_in),
        Endpoint::post::<IssuerSignInRequest, Session, _>(
            "/session/code",
            None,
            "Exchange the issuer's code for a token, and say who it is for",
            come_back,
        ),
        Endpoint::delete::<Ended, _>("/session", Permission::View, "Say that a page forgets its token", sign_out),
    ]
}

/// Whether the session has ended.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Ended {
    ended: bool,
}

/// The token is the issuer's: who still has it may use it until it ends.
async fn sign_out() -> Json<Ended> {
    Json(Ended { ended: false })
}

async fn way_in(State(api): State<Api>, Extension(tokens): Extension<Arc<Tokens>>) -> Answer<SignInOptions> {
    let issuer = tokens.documents.way_in(&tokens.client_id, &tokens.scope, api.office.now()).await;
    Ok(Json(SignInOptions { issuer: Some(issuer.map_err(away)?) }))
}

async fn sign_in(
    State(api): State<Api>,
    Extension(tokens): Extension<Arc<Tokens>>,
    ask: Asked<SignInRequest>,
) -> Answer<Session> {
    let Json(ask) = ask?;
    let token = ask.code.trim().to_owned();
    let claims = tokens.claims(&token, api.office.now()).await;
    session(&api, &tokens, token, &claims.ok_or_else(|| stays_out("This token is not good, or no longer."))?)
}

/// The exchange is made here and not in the page: so no page may call anybody but the office, no token but the one for
/// the office reaches it, and the issuer need not let pages read its answers. Only who began the sign-in has the
/// verifier.
async fn come_back(
    State(api): State<Api>,
    Extension(tokens): Extension<Arc<Tokens>>,
    ask: Asked<IssuerSignInRequest>,
) -> Answer<Session> {
    let (Json(ask), now) = (ask?, api.office.now());
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", &tokens.client_id),
        ("redirect_uri", &ask.page),
        ("code", &ask.code),
        ("code_verifier", &ask.verifier),
    ];
    let Exchange { id_token, error, error_description } = tokens.documents.exchange(&form, now).await.map_err(away)?;
    let token = id_token.ok_or_else(|| refused(error.as_deref(), error_description.as_deref()))?;
    let claims = tokens.claims(&token, now).await.filter(|claims| says(claims, "nonce", &ask.nonce));
    let foreign = || stays_out("The issuer's answer does not belong to this sign-in. Nobody was signed in.");
    session(&api, &tokens, token, &claims.ok_or_else(foreign)?)
}

fn says(claims: &Map<String, Value>, name: &str, expected: &str) -> bool {
    claims.get(name).and_then(Value::as_str) == Some(expected)
}

fn session(api: &Api, tokens: &Tokens, token: String, claims: &Map<String, Value>) -> Answer<Session> {
    let ends_s = claims.get("exp").and_then(Value::as_i64);
    let (Some(bearer), Some(ends_s)) = (tokens.bearer(claims), ends_s) else {
        return Err(stays_out("This token does not say who it is for, or how long."));
    };
    let caller = match bearer {
        Bearer::Caller(caller) => caller,
        Bearer::WithoutRole(actor) => {
            let words = format!(
                "{actor} is known to the issuer, but has no role here. Who runs the office can make them viewer, operator, approver or admin."
            );
            return Err(ApiError::new(ErrorCode::Forbidden, words));
        }
    };
    let permissions = Permission::ALL.into_iter().filter(|permission| caller.role.may(*permission)).collect();
    let me = Me { name: caller.actor, role: caller.role, permissions, office: api.name.to_string() };
    Ok(Json(Session { token, expires_at: Timestamp::from_ms(ends_s.saturating_mul(1000)), me }))
}

fn away(error: DocumentError) -> ApiError {
    let words = "The issuer, where people sign in, does not answer the office now. Try again in a moment.";
    ApiError { log: Some(office::error::chain(&error)), ..ApiError::new(ErrorCode::Unavailable, words) }
}

/// What an issuer has against a code (RFC 6749, 5.2).
fn refused(error: Option<&str>, description: Option<&str>) -> ApiError {
    match (error, description) {
        (Some("invalid_grant"), _) => stays_out("The issuer's code works once and for a few minutes. Sign in again."),
        (Some(error), Some(why)) => stays_out(format!("The issuer did not take its own code: {why} ({error})")),
        (Some(error), None) => stays_out(format!("The issuer did not take its own code: {error}")),
        (None, _) => stays_out("The issuer gave no ID token. Its client for the office must ask for the scope openid."),
    }
}

fn stays_out(words: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::SignedOut, words)
}
