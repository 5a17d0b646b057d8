//! The payment service that `orders` calls over HTTP on the loopback. While it is down, calls hang without an answer.

use super::ledger::Ledger;
use super::order::Order;
use super::state::State;
use axum::extract;
use axum::routing::post;
use axum::{Json, Router};
use domain::money::Money;
use domain::time::Span;
use reqwest::StatusCode;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// The request of a payment. The same key is paid once.
#[derive(Debug, Serialize, Deserialize)]
struct Charge {
    key: String,
    order_id: String,
    #[serde(flatten)]
    money: Money,
}

/// The payment service before it serves.
pub(super) struct Payments {
    listener: TcpListener,
    router: Router,
}

impl Payments {
    /// Binds a free port of the loopback. `state` decides whether the service answers, `ledger` records what it is paid.
    pub(super) async fn bind(state: watch::Receiver<State>, ledger: Ledger) -> std::io::Result<(Self, SocketAddr)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let router = Router::new().route("/charges", post(charge)).with_state((state, ledger));
        Ok((Self { listener, router }, address))
    }

    /// Serves until shutdown.
    pub(super) async fn serve(self, mut shutdown: watch::Receiver<bool>) {
        let closed = async move {
            let _ = shutdown.wait_for(|shutdown| *shutdown).await;
        };
        if let Err(error) = axum::serve(self.listener, self.router).with_graceful_shutdown(closed).await {
            tracing::error!(%error, "the demo's payment service failed");
        }
    }
}

/// Hangs while the service is down, like a database that waits for a lock, until the caller's timeout.
async fn charge(
    extract::State((mut state, ledger)): extract::State<(watch::Receiver<State>, Ledger)>,
    Json(charge): Json<Charge>,
) -> Result<Json<Charge>, StatusCode> {
    let _ = state.wait_for(|state| state.payments_up).await;
    // Whether it is paid now or was before, the caller's order is paid.
    let paid = ledger.pay(charge.key.clone(), charge.money).await;
    paid.map(|_| Json(charge)).map_err(|_| StatusCode::SERVICE_UNAVAILABLE)
}

/// The payment service did not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("payments did not answer within {patience_ms} ms")]
pub(super) struct PaymentTimeout {
    patience_ms: i64,
    source: reqwest::Error,
}

/// The payment service could not be reached, or refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum PaymentError {
    #[error(transparent)]
    Timeout(#[from] PaymentTimeout),
    #[error("payments could not be reached")]
    Unreachable { source: reqwest::Error },
    #[error("payments answered {status}")]
    Refused { status: StatusCode },
    #[error("payments failed with {status}")]
    Failed { status: StatusCode },
}

/// A client of the payment service.
pub(super) struct PaymentClient {
    http: reqwest::Client,
    url: String,
    patience: Span,
}

impl PaymentClient {
    pub(super) fn new(address: SocketAddr, patience: Span) -> Result<Self, reqwest::Error> {
        let http = crate::http::client()
            .no_proxy()
            .timeout(Duration::from_millis(u64::try_from(patience.as_ms()).unwrap_or(0)))
            .build()?;
        Ok(Self { http, url: format!("http://{address}/charges"), patience })
    }

    /// Charges money for an order; pays it back for a refund.
    pub(super) async fn charge(&self, order: &Order, money: Money) -> Result<(), PaymentError> {
        let charge = Charge { key: order.idempotency_key(), order_id: order.order_id.clone(), money };
        let response = self.http.post(&self.url).json(&charge).send().await.map_err(|error| self.fault(error))?;
        match response.status() {
            StatusCode::OK => Ok(()),
            status if status.is_server_error() => Err(PaymentError::Failed { status }),
            status => Err(PaymentError::Refused { status }),
        }
    }

    fn fault(&self, error: reqwest::Error) -> PaymentError {
        // The port changes with each start and says nothing about the error.
        let source = error.without_url();
        match source.is_timeout() {
            true => PaymentTimeout { patience_ms: self.patience.as_ms(), source }.into(),
            false => PaymentError::Unreachable { source },
        }
    }
}
