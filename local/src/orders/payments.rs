//! The payment service that `orders` calls over HTTP on the loopback: up, or hanging without an answer.

use super::order::Order;
use super::state::State;
use axum::extract;
use axum::routing::post;
use axum::{Json, Router};
use domain::money::{Decimal, Money};
use domain::time::Span;
use reqwest::StatusCode;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What the shop asks for.
#[derive(Debug, Serialize, Deserialize)]
struct Charge {
    order_id: String,
    #[serde(flatten)]
    money: Money,
}

/// The service, waiting for its first call.
pub(super) struct Payments {
    listener: TcpListener,
    router: Router,
}

impl Payments {
    /// Takes a free port of the loopback. The state says whether the service answers.
    pub(super) async fn bind(state: watch::Receiver<State>) -> std::io::Result<(Self, SocketAddr)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let router = Router::new().route("/charges", post(charge)).with_state(state);
        Ok((Self { listener, router }, address))
    }

    /// Serves until told to stop.
    pub(super) async fn serve(self, mut stop: watch::Receiver<bool>) {
        let stopped = async move {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        if let Err(error) = axum::serve(self.listener, self.router).with_graceful_shutdown(stopped).await {
            tracing::error!(%error, "the payment service of the demo ended");
        }
    }
}

/// While the service is down a call hangs, as with a database that waits for a lock: the caller's patience ends it.
async fn charge(mut state: extract::State<watch::Receiver<State>>, Json(charge): Json<Charge>) -> Json<Charge> {
    let _ = state.wait_for(|state| state.payments_up).await;
    Json(charge)
}

/// The payment service did not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("payments did not answer within {patience_ms} ms")]
pub(super) struct PaymentTimeout {
    patience_ms: i64,
    source: reqwest::Error,
}

/// The payment service could not be reached, or said no.
#[derive(Debug, thiserror::Error)]
pub(super) enum PaymentError {
    #[error(transparent)]
    Timeout(#[from] PaymentTimeout),
    #[error("payments could not be reached")]
    Unreachable { source: reqwest::Error },
    #[error("payments answered {status}")]
    Refused { status: StatusCode },
}

/// What calls the payment service.
pub(super) struct PaymentClient {
    http: reqwest::Client,
    url: String,
    patience: Span,
}

impl PaymentClient {
    pub(super) fn new(address: SocketAddr, patience: Span) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(Duration::from_millis(u64::try_from(patience.as_ms()).unwrap_or(0)))
            .build()?;
        Ok(Self { http, url: format!("http://{address}/charges"), patience })
    }

    /// Takes `amount` for an order; for a refund, gives it back.
    pub(super) async fn charge(&self, order: &Order, amount: Decimal) -> Result<(), PaymentError> {
        let money = Money { amount, currency: order.total.currency };
        let charge = Charge { order_id: order.order_id.clone(), money };
        let response = self.http.post(&self.url).json(&charge).send().await.map_err(|error| self.fault(error))?;
        match response.status() {
            StatusCode::OK => Ok(()),
            status => Err(PaymentError::Refused { status }),
        }
    }

    fn fault(&self, error: reqwest::Error) -> PaymentError {
        // The port is another one after each start; it says nothing about the fault.
        let source = error.without_url();
        match source.is_timeout() {
            true => PaymentTimeout { patience_ms: self.patience.as_ms(), source }.into(),
            false => PaymentError::Unreachable { source },
        }
    }
}
