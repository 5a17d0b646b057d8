//! Sign-in with ID tokens of an OIDC issuer. The `api` function verifies the bearer tokens itself, because a function
//! URL cannot.

mod documents;
mod exchanges;
mod keys;
mod rejections;
mod session;
mod token;
mod tokens;

pub use documents::DocumentError;
pub use tokens::{SignInError, Tokens};

use crate::settings;
use axum::middleware::{from_fn, map_response};
use axum::{Extension, Router};
use office::api::{self, Api};
use office::assets::{self, Files};
use office::office::Office;
use std::sync::Arc;

/// Returns the router of the `api` function, configured by the stack's settings.
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

/// Returns a router that serves the API to bearers of valid tokens, and the dashboard on every other path.
pub fn serve(api: Api, tokens: Arc<Tokens>, dashboard: Files) -> Router {
    let mut endpoints = api::endpoints();
    endpoints.extend(session::endpoints());
    let router = api::router(api, &endpoints).layer(Extension(tokens)).fallback_service(assets::router(dashboard));
    router.layer(map_response(assets::secure)).layer(from_fn(assets::tls_only))
}
