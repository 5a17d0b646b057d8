//! The OpenAPI document, generated from the table of endpoints and the schemas of the wire types.

use super::Api;
use super::endpoint::{Endpoint, JSON};
use super::layers::authorise;
use super::params;
use axum::body::Bytes;
use axum::http::Method;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get};
use domain::role::{Permission, Role};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};
use wire::{API_ROOT, ErrorBody, TOKEN_HEADER};

/// Returns the route that responds with the document, to whoever may sign in: it is the longest answer there is, and
/// strangers get short ones. It is made when someone first asks for it, once, and shared by all responses: as a tree it
/// takes several times its length, and most processes never need it.
pub(super) fn route(endpoints: &[Endpoint], api: &Api) -> MethodRouter<Api> {
    let endpoints = endpoints.to_vec();
    let text = Arc::new(LazyLock::new(move || Bytes::from(document(&endpoints).to_string())));
    let guard = from_fn_with_state((api.clone(), Permission::View), authorise);
    get(async move || ([(CONTENT_TYPE, "application/json")], Bytes::clone(&text))).route_layer(guard)
}

/// Returns the document of these endpoints: OpenAPI 3.1, whose schemas are JSON Schema 2020-12.
pub fn document(endpoints: &[Endpoint]) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = SchemaGenerator::new(settings);
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in endpoints {
        let path = format!("{API_ROOT}{}", endpoint.path);
        let operation = operation(endpoint, &mut generator);
        let method = endpoint.method.as_str().to_lowercase();
        if let Some(methods) = paths.entry(path).or_insert_with(|| json!({})).as_object_mut() {
            methods.insert(method, operation);
        }
    }
    generator.subschema_for::<ErrorBody>();
    sorted(json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Dead Letter Office",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Responses to GET carry an ETag. Send it back as If-None-Match to get 304 until something changes. Times are milliseconds since 1970 UTC. Amounts of money are strings.",
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": { "session": {
                "type": "http",
                "scheme": "bearer",
                "description": format!("Or in the header `{TOKEN_HEADER}`, with the same value, for proxies that use `Authorization` themselves."),
            } },
        },
    }))
}

/// Sorts the keys of every object. Whether serde_json keeps insertion order depends on the features that other crates
/// of the build enable, and the document must not.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

fn operation(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let parameters: Vec<_> = ids(endpoint)
        .map(|name| {
            let id = params::id_schema();
            json!({ "name": name, "in": "path", "required": true, "description": format!("the id of the {name}"), "schema": id })
        })
        .chain(endpoint.query.iter().map(|query| {
            json!({ "name": query.name, "in": "query", "description": query.meaning, "schema": query.values.schema() })
        }))
        .collect();
    let mut operation = json!({
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": responses(endpoint, generator),
    });
    if let Some(request) = endpoint.request {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": request(generator) } },
        });
    }
    if let Some(permission) = endpoint.permission {
        operation["security"] = json!([{ "session": [] }]);
        operation["x-permission"] = json!(crate::names::json_name(&permission));
        operation["x-least-role"] = json!(permission.least_role().as_str());
    }
    operation
}

/// Returns the names of the ids in an endpoint's path.
fn ids(endpoint: &Endpoint) -> impl Iterator<Item = &'static str> + use<> {
    endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// Returns every response of an endpoint by its status. `default` is what a proxy or a server in front may say.
fn responses(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let schema = (endpoint.response)(generator);
    let content: Map<String, Value> =
        endpoint.media_types.iter().map(|kind| ((*kind).to_string(), json!({ "schema": schema }))).collect();
    let text = |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    let mut headers = json!({ "x-request-id": text("the request's id, for finding it in the log") });
    let reads = endpoint.method == Method::GET;
    if reads {
        headers["etag"] = text("send it back as If-None-Match");
    }
    if endpoint.media_types != JSON {
        headers["dlo-next"] = text("the cursor of the next response; missing from the last");
    }
    let mut responses = json!({ "200": { "description": "Done", "headers": headers, "content": content } });
    if reads {
        responses["304"] = json!({ "description": "Not changed since the response with this ETag" });
    }
    // Said by the server before anything has read the request.
    responses["431"] = json!({ "description": "The request's first line and headers are too long; without a body" });
    let sends = endpoint.request.is_some();
    let acts = sends && endpoint.permission.is_some();
    let restricted = endpoint.permission.is_some_and(|permission| permission.least_role() > Role::Viewer);
    for (status, happens, description) in [
        ("400", true, "A parameter or the request body is invalid; the message says which"),
        ("401", endpoint.permission.is_some() || sends, "Signed out"),
        ("403", restricted, "The caller's role does not have the permission"),
        ("404", ids(endpoint).next().is_some(), "Not found"),
        ("409", acts, "The state does not allow this now, or conditions of the gate are not met"),
        ("413", sends || reads, "The request or the response is too large"),
        ("415", sends, "The request body is not JSON"),
        ("429", endpoint.permission.is_some(), "The caller makes too many calls; `Retry-After` says how long to wait"),
        ("500", true, "The office failed internally"),
        ("503", true, "A part of the office does not respond; try again"),
        ("default", true, "Any other error"),
    ] {
        if happens {
            let schema = json!({ "$ref": "#/components/schemas/ErrorBody" });
            responses[status] =
                json!({ "description": description, "content": { "application/json": { "schema": schema } } });
        }
    }
    responses
}
