//! One row of the table of endpoints: path, permission, request, response and handler.

use super::Api;
use super::layers::authorise;
use super::params::{self, Query};
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware;
use axum::routing::{MethodFilter, MethodRouter, on};
use domain::role::Permission;
use schemars::{JsonSchema, Schema, SchemaGenerator};

async fn no_handler() {}

/// The media type of every response but files.
pub(super) const JSON: &[&str] = &["application/json"];

/// The largest request body where the endpoint names no other, bytes. Requests hold only texts and options that people
/// enter.
const BODY_BYTES_MAX: usize = 64 * 1024;

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One endpoint. Endpoints with the same path and different methods are combined.
#[derive(Clone)]
pub struct Endpoint {
    /// The path below the API's root, with `{parameters}`.
    pub path: &'static str,
    /// The method.
    pub method: Method,
    /// The required permission; `None` for signing in, which needs no session.
    pub permission: Option<Permission>,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The query parameters.
    pub query: &'static [Query],
    /// The schema of the request body.
    pub request: Option<SchemaOf>,
    /// The schema of the response.
    pub response: SchemaOf,
    /// The largest request body, bytes.
    pub body_bytes_max: usize,
    /// The media types of the response.
    pub media_types: &'static [&'static str],
    route: MethodRouter<Api>,
}

impl Endpoint {
    /// Returns an endpoint that reads something, with a response `G`.
    pub fn get<G: JsonSchema, T: 'static>(
        path: &'static str,
        summary: &'static str,
        handler: impl Handler<T, Api>,
    ) -> Self {
        Self {
            path,
            method: Method::GET,
            permission: Some(Permission::View),
            summary,
            query: &[],
            request: None,
            response: |generator| generator.subschema_for::<G>(),
            body_bytes_max: BODY_BYTES_MAX,
            media_types: JSON,
            route: on(MethodFilter::GET, handler),
        }
    }

    /// Returns an endpoint that responds with a file.
    pub fn file<T: 'static>(path: &'static str, summary: &'static str, handler: impl Handler<T, Api>) -> Self {
        Self { media_types: &["application/x-ndjson", "text/csv"], ..Self::get::<String, _>(path, summary, handler) }
    }

    /// Returns an endpoint that changes something, with a request `A` and a response `G`.
    pub fn post<A: JsonSchema, G: JsonSchema, T: 'static>(
        path: &'static str,
        permission: Option<Permission>,
        summary: &'static str,
        handler: impl Handler<T, Api>,
    ) -> Self {
        Self {
            path,
            method: Method::POST,
            permission,
            summary,
            query: &[],
            request: Some(|generator| generator.subschema_for::<A>()),
            response: |generator| generator.subschema_for::<G>(),
            body_bytes_max: BODY_BYTES_MAX,
            media_types: JSON,
            route: on(MethodFilter::POST, handler),
        }
    }

    /// Returns an endpoint that replaces something, with a request `A` and a response `G`.
    pub fn put<A: JsonSchema, G: JsonSchema, T: 'static>(
        path: &'static str,
        permission: Permission,
        summary: &'static str,
        handler: impl Handler<T, Api>,
    ) -> Self {
        let route = on(MethodFilter::PUT, handler);
        Self { method: Method::PUT, route, ..Self::post::<A, G, _>(path, Some(permission), summary, no_handler) }
    }

    /// Returns an endpoint that deletes something, without a request body.
    pub fn delete<G: JsonSchema, T: 'static>(
        path: &'static str,
        permission: Permission,
        summary: &'static str,
        handler: impl Handler<T, Api>,
    ) -> Self {
        let route = on(MethodFilter::DELETE, handler);
        Self {
            method: Method::DELETE,
            permission: Some(permission),
            route,
            ..Self::get::<G, _>(path, summary, no_handler)
        }
    }

    /// Opens the endpoint to callers without a session. Only for what they need to get one.
    pub fn for_everybody(self) -> Self {
        Self { permission: None, ..self }
    }

    /// Sets the largest request body, bytes. What anybody may send without a session should be small: each connection may
    /// hold as much for as long as a body may take to arrive.
    pub fn with_body_bytes_max(self, body_bytes_max: usize) -> Self {
        Self { body_bytes_max, ..self }
    }

    /// Adds query parameters.
    pub fn with_query(self, query: &'static [Query]) -> Self {
        Self { query, ..self }
    }

    /// Returns the handler behind the checks of its permission and of its parameters. No endpoint of the table is
    /// reachable without them. The permission comes first: others learn nothing about parameters.
    pub(super) fn guarded(&self, api: &Api) -> MethodRouter<Api> {
        let route = self.route.clone().route_layer(middleware::from_fn_with_state(self.query, params::check));
        let route = route.route_layer(DefaultBodyLimit::max(self.body_bytes_max));
        match self.permission {
            Some(permission) => {
                let guard = middleware::from_fn_with_state((api.clone(), permission), authorise);
                route.route_layer(guard)
            }
            None => route,
        }
    }
}
