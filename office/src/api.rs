//! The API: one axum router over the office. One table of endpoints makes the router, the OpenAPI document and the
//! permission checks.

mod answer;
mod audit;
mod calls;
mod cell;
mod discards;
mod doctor;
mod door;
mod endpoint;
mod export;
mod groups;
mod layers;
mod letters;
mod openapi;
mod packed;
mod pages;
mod params;
mod policy;
mod replays;
mod rows;
mod table;
mod transforms;
mod views;

pub use answer::ApiError;
pub use calls::CallsMax;
pub use door::Door;
pub use endpoint::Endpoint;
pub use layers::{finish, token};
pub use openapi::document;
pub use params::{ParamValues, Query};
pub use table::endpoints;

use crate::office::Office;
use async_trait::async_trait;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::middleware;
use axum::{Extension, Router};
use domain::id::{Actor, QueueArn};
use domain::person::{Person, PersonId};
use domain::role::{Permission, Role};
use domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use views::Views;
use wire::MeAnswer;

/// The person or program that a bearer token belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name in audit records.
    pub actor: Actor,
    /// Their role.
    pub role: Role,
    /// Their identity. `None` if the platform knows only names.
    pub id: Option<PersonId>,
    /// When they signed in. `None` if the platform does not know.
    pub signed_in_at: Option<Timestamp>,
}

impl Caller {
    /// Returns a caller who is known only by name.
    pub fn new(actor: impl Into<Actor>, role: Role) -> Self {
        Self { actor: actor.into(), role, id: None, signed_in_at: None }
    }

    /// Returns the caller's name and identity.
    pub fn person(&self) -> Person {
        Person { name: self.actor.clone(), id: self.id.clone() }
    }
}

/// Identifies callers by their bearer token: a session from a one-time link in `dlo`, a JWT of an OIDC issuer on AWS.
#[async_trait]
pub trait Identify: Send + Sync {
    /// Returns the caller, or `None` if the token is invalid or expired.
    async fn who(&self, token: &str, now: Timestamp) -> Option<Caller>;

    /// Returns the longest delay of the answer to a failed sign-in.
    fn delay_max(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Returns how many calls each person may make to this process. `None`, the default, is for one machine: whoever can
    /// call its office can use up the machine in other ways.
    fn calls_max(&self) -> Option<CallsMax> {
        None
    }
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

/// The API as a handler uses it: with the policy that was valid when the request was authorised, for all of the request.
pub(crate) struct Current(pub(crate) Api);

impl FromRequestParts<Api> for Current {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.extensions.get::<Api>().unwrap_or(api).clone()))
    }
}

impl Api {
    /// Returns the API with the current policy.
    pub async fn current(&self) -> Result<Self, ApiError> {
        Ok(Self { office: self.office.current().await?, ..self.clone() })
    }

    /// Describes a caller, for their page.
    pub fn me(&self, caller: &Caller) -> MeAnswer {
        let permissions = Permission::ALL.into_iter().filter(|permission| caller.role.may(*permission));
        MeAnswer {
            name: caller.actor.clone(),
            role: caller.role,
            permissions: permissions.collect(),
            office: self.name.to_string(),
            identity: caller.person().kind(),
            idle_ms: self.office.policy.sign_in.idle_ms,
        }
    }
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
        .route("/openapi.json", openapi::route(endpoints, &api))
        .fallback(answer::no_such_path)
        .method_not_allowed_fallback(answer::no_such_method)
        .layer(middleware::from_fn(layers::conditional))
        .layer(middleware::from_fn(layers::finish))
        .layer(Extension(Arc::new(Views::default())))
        .layer(Extension(Arc::new(Door::default())))
        .layer(middleware::from_fn_with_state(api.office.clock.clone(), layers::tell_time))
        .with_state(api);
    // `nest` does not match a trailing slash.
    let root = axum::routing::any(answer::no_such_path).layer(middleware::from_fn(layers::finish));
    Router::new().nest(wire::API_ROOT, routes).route(&format!("{}/", wire::API_ROOT), root)
}
