//! The control panel of the demo service: a small page, the routes behind it, and a client for the command line.
//!
//! It is no part of the office: it plays the team that deploys `orders`, and the world around it.

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

/// Deploys a version.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deploy {
    /// The version.
    pub version: Version,
}

/// Takes the payment service down, or brings it back.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payments {
    /// Whether it shall answer.
    pub up: bool,
}

/// Puts the missing product into the catalogue, or takes it out again.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// Whether it shall be there.
    pub added: bool,
}

/// Places a burst of orders.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// How many.
    pub count: u32,
    /// Only of this kind; the usual mix when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
}

/// Lets the producer run, or makes it pause.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    /// Whether it shall run.
    pub running: bool,
}

/// The panel at `/panel`, to be merged into the office's router.
pub fn mounted(handle: OrdersHandle) -> Router {
    // `nest` answers no trailing slash, which people type.
    Router::new().nest("/panel", router(handle)).route("/panel/", get(|| async { Redirect::permanent("/panel") }))
}

/// The panel, to be nested at `/panel`: the page names its files from there.
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

async fn deploy(State(orders): State<OrdersHandle>, Json(asked): Json<Deploy>) -> Json<Status> {
    orders.deploy(asked.version);
    Json(orders.status().await)
}

async fn payments(State(orders): State<OrdersHandle>, Json(asked): Json<Payments>) -> Json<Status> {
    orders.set_payments(asked.up);
    Json(orders.status().await)
}

async fn product(State(orders): State<OrdersHandle>, Json(asked): Json<Product>) -> Json<Status> {
    orders.set_product(asked.added);
    Json(orders.status().await)
}

async fn producer(State(orders): State<OrdersHandle>, Json(asked): Json<Producer>) -> Json<Status> {
    orders.set_producing(asked.running);
    Json(orders.status().await)
}

async fn place(State(orders): State<OrdersHandle>, Json(asked): Json<Place>) -> Response {
    if !(1..=BURST_MAX).contains(&asked.count) {
        let words = format!("A burst has 1 to {BURST_MAX} orders.");
        return refusal(StatusCode::UNPROCESSABLE_ENTITY, "burst_size", &words);
    }
    match orders.place(asked.count, asked.kind.map_or(Mix::Usual, Mix::Only)).await {
        Ok(_) => Json(orders.status().await).into_response(),
        Err(error) => {
            tracing::error!(%error, cause = ?std::error::Error::source(&error), "a burst could not be placed");
            refusal(StatusCode::BAD_GATEWAY, "queue_failed", "The queue did not take all orders. Try again.")
        }
    }
}

/// An error as the panel answers it.
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
