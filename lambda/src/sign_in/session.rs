//! Sessions of browser tabs. The office exchanges the issuer's code for an ID token, and the page keeps that token.

use super::documents::{DocumentError, Exchange, REQUEST_TIME_MAX};
use super::exchanges::Grant;
use super::token::TOKEN_BYTES_MAX;
use super::tokens::{Bearer, Tokens};
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Json, State};
use domain::role::Permission;
use domain::time::Timestamp;
use office::api::{Api, ApiError, Door, Endpoint};
use serde_json::{Map, Value};
use std::sync::Arc;
use wire::{ErrorCode, IssuerSignInRequest, RefreshRequest, SessionAnswer, SignInAnswer};

type Body<T> = Result<Json<T>, JsonRejection>;
type Response<T> = Result<Json<T>, ApiError>;

/// The largest request that exchanges a code, bytes. Anybody may send one. Codes and refresh tokens of Cognito, Entra ID,
/// Auth0 and Login with Amazon have up to 2 KB; a nonce, a verifier (128 characters at most) and the page's address come
/// with them.
const CODE_BYTES_MAX: usize = 8 * 1024;
/// The largest request that renews a session, bytes. It also has the ID token that it continues, which is large for members
/// of many groups: Entra ID names up to 200 of them, each with 36 characters.
const REFRESH_BYTES_MAX: usize = CODE_BYTES_MAX + TOKEN_BYTES_MAX;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get::<SignInAnswer, _>("/session", "Describe how to sign in", describe_sign_in).for_everybody(),
        Endpoint::post::<IssuerSignInRequest, SessionAnswer, _>(
            "/session/code",
            None,
            "Exchange the issuer's code for an ID token and identify its bearer",
            exchange_code,
        )
        .with_body_bytes_max(CODE_BYTES_MAX),
        Endpoint::post::<RefreshRequest, SessionAnswer, _>(
            "/session/refresh",
            None,
            "Exchange a refresh token for the next ID token of the same person",
            refresh,
        )
        .with_body_bytes_max(REFRESH_BYTES_MAX),
        Endpoint::delete::<SignOutAnswer, _>("/session", Permission::View, "End the session", sign_out),
    ]
}

/// The result of ending a session.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct SignOutAnswer {
    /// Whether the token has become invalid. The issuer's tokens stay valid until they expire.
    ended: bool,
}

/// Always returns `false`: only the issuer can revoke its token, which stays valid until it expires.
async fn sign_out() -> Json<SignOutAnswer> {
    Json(SignOutAnswer { ended: false })
}

async fn describe_sign_in(State(api): State<Api>, Extension(tokens): Extension<Arc<Tokens>>) -> Response<SignInAnswer> {
    let issuer = tokens.documents.sign_in_url(&tokens.client_id, &tokens.scope, api.office.now()).await;
    Ok(Json(SignInAnswer { issuer: Some(issuer.map_err(failed)?) }))
}

/// Exchanges the issuer's code for an ID token.
///
/// The server makes the exchange instead of the page, for three reasons: the page's security policy allows requests to
/// the office only, the page gets no token but the one for the office, and the issuer need not allow cross-origin
/// requests. Only the page that began the sign-in knows the verifier.
async fn exchange_code(
    State(api): State<Api>,
    Extension(tokens): Extension<Arc<Tokens>>,
    Extension(door): Extension<Arc<Door>>,
    ask: Body<IssuerSignInRequest>,
) -> Response<SessionAnswer> {
    let (Json(ask), now) = (ask?, api.office.now());
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", &tokens.client_id),
        ("redirect_uri", &ask.page),
        ("code", &ask.code),
        ("code_verifier", &ask.verifier),
    ];
    let exchange = tokens.documents.exchange(Grant::Code, &form, now).await.map_err(failed)?;
    let visit = Visit { api: &api, tokens: &tokens, door: &door };
    let Some(token) = exchange.id_token else { return Err(visit.refused(exchange).await) };
    match tokens.claims(&token, now).await.filter(|claims| has_nonce(claims, &ask.nonce)) {
        Some(claims) => visit.session(token, exchange.refresh_token, &claims).await,
        None => Err(visit.foreign().await),
    }
}

/// Exchanges a refresh token for the next ID token.
///
/// The page makes this request before its token expires, so that a person need not sign in every hour. The issuer may
/// replace the refresh token with each use; the page then keeps the newest.
async fn refresh(
    State(api): State<Api>,
    Extension(tokens): Extension<Arc<Tokens>>,
    Extension(door): Extension<Arc<Door>>,
    ask: Body<RefreshRequest>,
) -> Response<SessionAnswer> {
    let (Json(ask), now) = (ask?, api.office.now());
    let visit = Visit { api: &api, tokens: &tokens, door: &door };
    let Some(subject) = tokens.continued(&ask.token, now).await else { return Err(visit.foreign().await) };
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", tokens.client_id.as_str()),
        ("refresh_token", ask.refresh.as_str()),
    ];
    let exchange = tokens.documents.exchange(Grant::Refresh, &form, now).await.map_err(failed)?;
    let Some(token) = exchange.id_token else { return Err(visit.refused(exchange).await) };
    let is_same = |claims: &Map<String, Value>| claims.get("sub").and_then(Value::as_str) == Some(&subject);
    match tokens.claims(&token, now).await.filter(is_same) {
        Some(claims) => visit.session(token, exchange.refresh_token.or(Some(ask.refresh)), &claims).await,
        None => Err(visit.foreign().await),
    }
}

fn has_nonce(claims: &Map<String, Value>, expected: &str) -> bool {
    claims.get("nonce").and_then(Value::as_str) == Some(expected)
}

/// One attempt to sign in.
struct Visit<'a> {
    api: &'a Api,
    tokens: &'a Tokens,
    door: &'a Door,
}

impl Visit<'_> {
    async fn session(
        &self,
        token: String,
        refresh: Option<String>,
        claims: &Map<String, Value>,
    ) -> Response<SessionAnswer> {
        let expires_s = claims.get("exp").and_then(Value::as_i64);
        let (Some(bearer), Some(expires_s)) = (self.tokens.bearer(claims), expires_s) else {
            let message =
                "This token lacks a claim, or its name is reserved. Ask an admin: the office's log says which.";
            return Err(self.door.refuse(self.api, "token without an acceptable claim", message).await);
        };
        let caller = match bearer {
            Bearer::Caller(caller) => self.door.welcome(self.api, caller).await?,
            Bearer::WithoutRole(actor) => {
                let message = format!(
                    "{actor} has no role in this office. Ask an admin for the role viewer, operator, approver or admin."
                );
                return Err(ApiError::new(ErrorCode::Forbidden, message));
            }
        };
        let expires_at = Timestamp::from_ms(expires_s.saturating_mul(1000));
        let lasts_ms = expires_at.since(self.api.office.now());
        Ok(Json(SessionAnswer { token, expires_at, lasts_ms, me: self.api.current().await?.me(&caller), refresh }))
    }

    /// Refuses a token that belongs to another sign-in, or to none.
    async fn foreign(&self) -> ApiError {
        let message = "The issuer's response belongs to another sign-in. You are not signed in. Try again.";
        self.door.refuse(self.api, "token of another sign-in", message).await
    }

    /// Refuses a code or a refresh token for which the issuer gave no ID token.
    async fn refused(&self, exchange: Exchange) -> ApiError {
        let message = code_error(exchange.error.as_deref(), exchange.error_description.as_deref());
        self.door.refuse(self.api, "code or refresh token rejected by the issuer", message).await
    }
}

fn failed(error: DocumentError) -> ApiError {
    if matches!(error, DocumentError::TooManyExchanges) {
        let message = "Too many people are signing in at the same time. Wait a moment, then try again.";
        // By then, one of the exchanges that are under way has ended.
        let retry_after_s = u32::try_from(REQUEST_TIME_MAX.as_secs()).ok();
        return ApiError { retry_after_s, ..ApiError::new(ErrorCode::TooManyCalls, message) };
    }
    let message = "The sign-in service (OIDC issuer) isn't responding. Try again in a moment.";
    ApiError { log: Some(office::error::chain(&error)), ..ApiError::new(ErrorCode::Unavailable, message) }
}

/// Explains why the issuer gave no token for a code (RFC 6749, section 5.2).
fn code_error(error: Option<&str>, description: Option<&str>) -> String {
    match (error, description) {
        (Some("invalid_grant"), _) => "The sign-in code has expired or was already used. Sign in again.".into(),
        (Some(error), Some(why)) => format!("The issuer rejected the sign-in code: {why} ({error})."),
        (Some(error), None) => format!("The issuer rejected the sign-in code: {error}."),
        (None, _) => {
            "The issuer returned no ID token. Ask an admin to allow the scope openid for the office's client.".into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    fn body_bytes_max(path: &str) -> usize {
        let of_path = |endpoint: &Endpoint| endpoint.path == path;
        endpoints().into_iter().find(of_path).map_or(0, |endpoint| endpoint.body_bytes_max)
    }

    fn size(request: &impl Serialize) -> usize {
        serde_json::to_vec(request).unwrap().len()
    }

    #[test]
    fn requests_of_strangers_are_small_and_codes_and_tokens_of_known_issuers_fit() {
        let (code, refresh) = ("c".repeat(4 * 1024), "r".repeat(4 * 1024));
        let sign_in = IssuerSignInRequest {
            code,
            page: format!("https://{}/signin", "o".repeat(253)),
            verifier: "v".repeat(128),
            nonce: "n".repeat(64),
        };
        let renewal = RefreshRequest { refresh, token: "t".repeat(TOKEN_BYTES_MAX) };
        for (path, least, most) in
            [("/session/code", size(&sign_in), 8 * 1024), ("/session/refresh", size(&renewal), 24 * 1024)]
        {
            let max = body_bytes_max(path);
            assert!((least..=most).contains(&max), "{path}: {max} bytes");
        }
    }

    #[test]
    fn too_many_exchanges_are_asked_to_come_back_and_an_issuer_that_is_silent_is_unavailable() {
        let busy = failed(DocumentError::TooManyExchanges);
        assert_eq!((busy.code, busy.retry_after_s, busy.log), (ErrorCode::TooManyCalls, Some(5), None));
        let silent = failed(DocumentError::RecentlyUnreachable { url: "https://issuer".into() });
        assert_eq!((silent.code, silent.retry_after_s), (ErrorCode::Unavailable, None));
        assert!(silent.log.is_some());
    }
}
