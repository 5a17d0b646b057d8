//! The API: one axum router over the office. One table of endpoints makes the router, the OpenAPI document and the
//! permission checks.

mod answer;
mod endpoint;
mod export;
mod groups;
mod layers;
mod letters;
mod openapi;
mod pages;
mod replays;
mod table;
mod transforms;

pub use answer::ApiError;
pub use endpoint::{Endpoint, Query};
pub use layers::finish;
pub use openapi::document;
pub use table::endpoints;

use crate::office::Office;
use async_trait::async_trait;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use domain::id::{Actor, QueueArn};
use domain::role::Role;
use domain::time::Timestamp;
use std::sync::Arc;

/// The largest request body, bytes. Requests hold only texts and options that people enter.
const REQUEST_BYTES_MAX: usize = 64 * 1024;

/// The person or program that a bearer token belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name in audit records.
    pub actor: Actor,
    /// Their role.
    pub role: Role,
}

/// Identifies callers by their bearer token: a session from a one-time link in `dlo`, a JWT of an OIDC issuer on AWS.
#[async_trait]
pub trait Identify: Send + Sync {
    /// Returns the caller, or `None` if the token is invalid or expired.
    async fn who(&self, token: &str, now: Timestamp) -> Option<Caller>;
}

/// What the API's handlers share.
#[derive(Clone)]
pub struct Api {
    /// The office.
    pub office: Office,
    /// Identifies callers.
    pub identify: Arc<dyn Identify>,
    /// The name that the office shows on its pages.
    pub name: Arc<str>,
    /// The dead-letter queues that the office watches.
    pub watching: Arc<[QueueArn]>,
}

/// Builds the router of these endpoints under [`wire::API_ROOT`], with their OpenAPI document at `/openapi.json`.
///
/// ```
/// use office::api::{Api, endpoints, router};
/// # fn example(api: Api) -> axum::Router {
/// router(api, &endpoints())
/// # }
/// ```
pub fn router(api: Api, endpoints: &[Endpoint]) -> Router {
    let mut routes = Router::new();
    for endpoint in endpoints {
        routes = routes.route(endpoint.path, endpoint.guarded(&api));
    }
    let routes = routes
        .route("/openapi.json", openapi::route(endpoints))
        .fallback(answer::no_such_path)
        .method_not_allowed_fallback(answer::no_such_method)
        .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
        .layer(middleware::from_fn(layers::conditional))
        .layer(middleware::from_fn(layers::finish))
        .with_state(api);
    Router::new().nest(wire::API_ROOT, routes)
}
