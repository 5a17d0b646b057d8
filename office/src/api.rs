//! The API: one axum router over the office, made from one table of endpoints that also makes the OpenAPI document and
//! says which permission each call needs.

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

/// The largest request body, bytes: people's texts and options, nothing else comes in here.
const REQUEST_BYTES_MAX: usize = 64 * 1024;

/// Who a bearer token belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name that the audit shows.
    pub actor: Actor,
    /// What they may do.
    pub role: Role,
}

/// Tells who a bearer token belongs to: sessions of one-time links in `dlo`, JWTs of an OIDC issuer on AWS.
#[async_trait]
pub trait Identify: Send + Sync {
    /// The caller; none when the token is not (or no longer) good.
    async fn who(&self, token: &str, now: Timestamp) -> Option<Caller>;
}

/// What the API's handlers share.
#[derive(Clone)]
pub struct Api {
    /// The office.
    pub office: Office,
    /// Who is calling.
    pub identify: Arc<dyn Identify>,
    /// What the office is called on its pages.
    pub name: Arc<str>,
    /// The dead-letter queues that are watched.
    pub watching: Arc<[QueueArn]>,
}

/// The router of some endpoints under [`wire::API_ROOT`].
pub fn router(api: Api, endpoints: &[Endpoint]) -> Router {
    let mut routes = Router::new();
    for endpoint in endpoints {
        routes = routes.route(endpoint.path, endpoint.guarded(&api));
    }
    let document = openapi::document(endpoints);
    let routes = routes
        .route("/openapi.json", axum::routing::get(async move || axum::Json(document.clone())))
        .fallback(answer::no_such_path)
        .method_not_allowed_fallback(answer::no_such_method)
        .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
        .layer(middleware::from_fn(layers::conditional))
        .layer(middleware::from_fn(layers::finish))
        .with_state(api);
    Router::new().nest(wire::API_ROOT, routes)
}
