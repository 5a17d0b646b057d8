//! A token of the issuer in exchange for a session of a tab: the page learns who it is for, and keeps the token.

use super::Tokens;
use crate::api::{Api, ApiError, Endpoint, Identify};
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Json, State};
use domain::role::Permission;
use domain::wire::{ErrorCode, Me, Session, SignIn};
use std::sync::Arc;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![Endpoint::post::<SignIn, Session, _>("/session", None, "Say who a token of the issuer is for", sign_in)]
}

async fn sign_in(
    State(api): State<Api>,
    Extension(tokens): Extension<Arc<Tokens>>,
    ask: Result<Json<SignIn>, JsonRejection>,
) -> Result<Json<Session>, ApiError> {
    let Json(ask) = ask?;
    let (token, now) = (ask.code.trim().to_owned(), api.office.now());
    let (Some(caller), Some(expires_at)) = (tokens.who(&token, now).await, tokens.good_until(&token, now).await) else {
        let words = "This token is not good, or no longer. Ask your issuer for another one.";
        return Err(ApiError::new(ErrorCode::SignedOut, words));
    };
    let permissions = Permission::ALL.into_iter().filter(|permission| caller.role.may(*permission)).collect();
    let me = Me { name: caller.actor, role: caller.role, permissions, office: api.name.to_string() };
    Ok(Json(Session { token, expires_at, me }))
}
