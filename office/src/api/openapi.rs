//! The OpenAPI document, generated from the table of endpoints and the schemas of the wire types.

use super::endpoint::Endpoint;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::{MethodRouter, get};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};
use wire::{API_ROOT, ErrorBody};

/// Returns the route that responds with the document. It is made when someone first asks for it, once, and shared by all
/// responses: as a tree it takes several times its length, and most processes never need it.
pub(super) fn route<S: Clone + Send + Sync + 'static>(endpoints: &[Endpoint]) -> MethodRouter<S> {
    let endpoints = endpoints.to_vec();
    let text = Arc::new(LazyLock::new(move || Bytes::from(document(&endpoints).to_string())));
    get(async move || ([(CONTENT_TYPE, "application/json")], Bytes::clone(&text)))
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
            "securitySchemes": { "session": { "type": "http", "scheme": "bearer" } },
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
    let in_path = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<_> = in_path
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    parameters.extend(endpoint.query.iter().map(|query| {
        json!({ "name": query.name, "in": "query", "description": query.meaning, "schema": { "type": "string" } })
    }));
    let error = json!({
        "description": "An error",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" } } },
    });
    let schema = (endpoint.response)(generator);
    let content: Map<String, Value> =
        endpoint.media_types.iter().map(|kind| ((*kind).to_string(), json!({ "schema": schema }))).collect();
    let response = json!({ "description": "Done", "content": content });
    let mut operation = json!({
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": { "200": response, "default": error },
    });
    if endpoint.deprecated {
        operation["deprecated"] = json!(true);
    }
    if let Some(request) = endpoint.request {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": request(generator) } },
        });
    }
    if let Some(permission) = endpoint.permission {
        operation["security"] = json!([{ "session": [] }]);
        operation["x-permission"] = json!(crate::intake::json_name(&permission));
        operation["x-least-role"] = json!(permission.least_role().as_str());
    }
    operation
}
