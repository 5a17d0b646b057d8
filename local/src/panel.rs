//! The demo service's control panel: a small page, its routes, and a client for the command line.
//!
//! The panel is not part of the office. It plays the team that deploys `orders`, and the systems around it.

mod cli;
mod guard;

pub use cli::{CliError, PanelCommand, Switch, cli};

use crate::orders::{BURST_MAX, Kind, Mix, OrdersHandle, Status, Version};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

const PAGE: &str = include_str!("panel/page.html");
const STYLE: &str = include_str!("panel/panel.css");
const SCRIPT: &str = include_str!("panel/panel.js");
const ICON: &str = include_str!("panel/icon.svg");

/// The request to deploy a version.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeployRequest {
    /// The version.
    pub version: Version,
}

/// The request to take the payment service down or to bring it back.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentsRequest {
    /// Whether it answers.
    pub up: bool,
}

/// The request to add the missing product to the catalogue, or to remove it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductRequest {
    /// Whether it is in the catalogue.
    pub added: bool,
}

/// The request to place a burst of orders.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceRequest {
    /// The number of orders.
    pub count: u32,
    /// The kind of all orders; the usual mix if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
}

/// The request to pause or resume the producer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProducerRequest {
    /// Whether it runs.
    pub running: bool,
}

/// Returns the panel's routes under `/panel`, to merge into the office's router.
pub fn mounted(handle: OrdersHandle) -> Router {
    // `nest` does not match a trailing slash, which people type.
    Router::new().nest("/panel", router(handle)).route("/panel/", get(|| async { Redirect::permanent("/panel") }))
}

/// Returns the panel's routes, to nest at `/panel`: the page refers to its files by that path.
pub fn router(handle: OrdersHandle) -> Router {
    Router::new()
        .route("/", get(|| async { file("text/html; charset=utf-8", PAGE) }))
        .route("/panel.css", get(|| async { file("text/css; charset=utf-8", STYLE) }))
        .route("/panel.js", get(|| async { file("text/javascript; charset=utf-8", SCRIPT) }))
        .route("/icon.svg", get(|| async { file("image/svg+xml", ICON) }))
        .route("/state", get(state))
        .route("/deploy", post(deploy))
        .route("/payments", post(payments))
        .route("/product", post(product))
        .route("/place", post(place))
        .route("/producer", post(producer))
        .layer(from_fn(guard::protect))
        .with_state(handle)
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, content_type)], text).into_response()
}

async fn state(State(orders): State<OrdersHandle>) -> Json<Status> {
    Json(orders.status().await)
}

async fn deploy(State(orders): State<OrdersHandle>, Json(request): Json<DeployRequest>) -> Json<Status> {
    orders.deploy(request.version);
    Json(orders.status().await)
}

async fn payments(State(orders): State<OrdersHandle>, Json(request): Json<PaymentsRequest>) -> Json<Status> {
    orders.set_payments(request.up);
    Json(orders.status().await)
}

async fn product(State(orders): State<OrdersHandle>, Json(request): Json<ProductRequest>) -> Json<Status> {
    orders.set_product(request.added);
    Json(orders.status().await)
}

async fn producer(State(orders): State<OrdersHandle>, Json(request): Json<ProducerRequest>) -> Json<Status> {
    orders.set_producing(request.running);
    Json(orders.status().await)
}

async fn place(State(orders): State<OrdersHandle>, Json(request): Json<PlaceRequest>) -> Response {
    if !(1..=BURST_MAX).contains(&request.count) {
        let message = format!("Place 1 to {BURST_MAX} orders at a time.");
        return refusal(StatusCode::UNPROCESSABLE_ENTITY, "burst_size", &message);
    }
    match orders.place(request.count, request.kind.map_or(Mix::Usual, Mix::Only)).await {
        Ok(_) => Json(orders.status().await).into_response(),
        Err(error) => {
            tracing::error!(%error, cause = ?std::error::Error::source(&error), "placing a burst failed");
            refusal(StatusCode::BAD_GATEWAY, "queue_failed", "The queue did not accept all orders. Try again.")
        }
    }
}

/// An error response of the panel.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Refusal {
    code: String,
    message: String,
}

fn refusal(status: StatusCode, code: &str, message: &str) -> Response {
    (status, Json(Refusal { code: code.into(), message: message.into() })).into_response()
}

#[cfg(test)]
mod tests;
