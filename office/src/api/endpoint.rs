//! One row of the table of endpoints: what it is, who may call it, what it takes and gives, and its handler.

use super::Api;
use super::layers::authorise;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware;
use axum::routing::{MethodFilter, MethodRouter, on};
use domain::role::Permission;
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// A parameter of the query.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

async fn no_handler() {}

const JSON: &[&str] = &["application/json"];

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One endpoint. Several with one path are merged.
pub struct Endpoint {
    /// The path under the API's root, with `{parameters}`.
    pub path: &'static str,
    /// The method.
    pub method: Method,
    /// What it needs; none for the sign-in, which is what a caller without a session may do.
    pub permission: Option<Permission>,
    /// What it does, one line.
    pub summary: &'static str,
    /// Parameters of the query.
    pub query: &'static [Query],
    /// The schema of the body that it takes.
    pub takes: Option<SchemaOf>,
    /// The schema of what it gives.
    pub gives: SchemaOf,
    /// The media types that it gives it in.
    pub gives_as: &'static [&'static str],
    route: MethodRouter<Api>,
}

impl Endpoint {
    /// An endpoint that shows something.
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
            takes: None,
            gives: |generator| generator.subschema_for::<G>(),
            gives_as: JSON,
            route: on(MethodFilter::GET, handler),
        }
    }

    /// An endpoint that gives a file.
    pub fn file<T: 'static>(path: &'static str, summary: &'static str, handler: impl Handler<T, Api>) -> Self {
        Self { gives_as: &["application/x-ndjson", "text/csv"], ..Self::get::<String, _>(path, summary, handler) }
    }

    /// An endpoint that changes something: takes an `A`, gives a `G`.
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
            takes: Some(|generator| generator.subschema_for::<A>()),
            gives: |generator| generator.subschema_for::<G>(),
            gives_as: JSON,
            route: on(MethodFilter::POST, handler),
        }
    }

    /// An endpoint that ends something and takes nothing.
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

    /// The same for callers without a session: only what they need to get one.
    pub fn for_everybody(self) -> Self {
        Self { permission: None, ..self }
    }

    /// The same with parameters of the query.
    pub fn with_query(self, query: &'static [Query]) -> Self {
        Self { query, ..self }
    }

    /// The handler behind the check of its permission: no endpoint of the table can be reached without it.
    pub(super) fn guarded(&self, api: &Api) -> MethodRouter<Api> {
        match self.permission {
            Some(permission) => {
                let guard = middleware::from_fn_with_state((api.clone(), permission), authorise);
                self.route.clone().route_layer(guard)
            }
            None => self.route.clone(),
        }
    }
}
