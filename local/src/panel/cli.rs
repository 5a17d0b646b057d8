//! `dlo orders …`: the control panel for the terminal and for scripts.

use super::{DeployRequest, PaymentsRequest, PlaceRequest, ProducerRequest, ProductRequest, Refusal};
use crate::orders::{BURST_MAX, Depth, Kind, Status, Version};
use serde::Serialize;
use std::time::Duration;

/// A command for the demo service.
#[derive(Clone, Copy, Debug, clap::Subcommand)]
pub enum PanelCommand {
    /// Deploy a version: v1 (fails on gift cards), v2 (a wrong fix), v3 (the right fix)
    Deploy {
        /// v1, v2 or v3
        version: Version,
    },
    /// Take the payment service down, or bring it back up
    Payments {
        /// The payment service's new state
        #[arg(value_enum)]
        state: Switch,
    },
    /// Add the missing product to the catalogue
    AddProduct,
    /// Remove that product from the catalogue again
    RemoveProduct,
    /// Place a burst of orders
    Place {
        /// Number of orders, 1 to 2000
        #[arg(default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(BURST_MAX)))]
        count: u32,
        /// Kind of all orders; without it, the usual mix
        #[arg(long, value_enum)]
        kind: Option<Kind>,
    },
    /// Pause the producer; only the orders that you place arrive
    Pause,
    /// Resume the producer
    Resume,
    /// Show the version, the switches, the counters and the queues
    Status,
}

/// Up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Switch {
    /// Calls are answered.
    Up,
    /// Calls hang without an answer.
    Down,
}

/// The command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// No program answers at the address.
    #[error("no demo answers at {base_url}. Start one with `dlo demo`")]
    Unanswered {
        /// The address.
        base_url: String,
    },
    /// Another program answered.
    #[error(
        "the program at {base_url} is not a demo's control panel (HTTP status {status}). Start a demo with `dlo demo`, or name its folder with --data"
    )]
    NotThePanel {
        /// The address.
        base_url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The panel refused the command.
    #[error("{message}")]
    Refused {
        /// The panel's code.
        code: String,
        /// The panel's message.
        message: String,
    },
}

/// Runs a command on the demo at `base_url` (`http://127.0.0.1:8080`) and returns its new status as text for the terminal.
pub async fn cli(base_url: &str, command: PanelCommand) -> Result<String, CliError> {
    let panel = Client::new(base_url)?;
    let status = match command {
        PanelCommand::Deploy { version } => panel.post("deploy", &DeployRequest { version }).await,
        PanelCommand::Payments { state } => panel.post("payments", &PaymentsRequest { up: state == Switch::Up }).await,
        PanelCommand::AddProduct => panel.post("product", &ProductRequest { added: true }).await,
        PanelCommand::RemoveProduct => panel.post("product", &ProductRequest { added: false }).await,
        PanelCommand::Place { count, kind } => panel.post("place", &PlaceRequest { count, kind }).await,
        PanelCommand::Pause => panel.post("producer", &ProducerRequest { running: false }).await,
        PanelCommand::Resume => panel.post("producer", &ProducerRequest { running: true }).await,
        PanelCommand::Status => panel.get("state").await,
    }?;
    Ok(print(&status))
}

struct Client<'a> {
    base_url: &'a str,
    http: reqwest::Client,
}

impl<'a> Client<'a> {
    fn new(base_url: &'a str) -> Result<Self, CliError> {
        let base_url = base_url.trim_end_matches('/');
        // Requests to the loopback must not go through a proxy from the environment.
        let http = crate::http::client().no_proxy().timeout(Duration::from_secs(30)).build();
        let http = http.map_err(|_| CliError::Unanswered { base_url: base_url.into() })?;
        Ok(Self { base_url, http })
    }

    async fn get(&self, path: &str) -> Result<Status, CliError> {
        self.answer(self.http.get(self.url(path))).await
    }

    async fn post<T: Serialize>(&self, path: &str, body: &T) -> Result<Status, CliError> {
        self.answer(self.http.post(self.url(path)).json(body)).await
    }

    fn url(&self, path: &str) -> String {
        format!("{}/panel/{path}", self.base_url)
    }

    async fn answer(&self, request: reqwest::RequestBuilder) -> Result<Status, CliError> {
        let unanswered = |_| CliError::Unanswered { base_url: self.base_url.into() };
        let response = request.send().await.map_err(unanswered)?;
        let status = response.status();
        let bytes = response.bytes().await.map_err(unanswered)?;
        let not_the_panel = || CliError::NotThePanel { base_url: self.base_url.into(), status: status.as_u16() };
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|_| not_the_panel());
        }
        let refusal: Refusal = serde_json::from_slice(&bytes).map_err(|_| not_the_panel())?;
        Err(CliError::Refused { code: refusal.code, message: refusal.message })
    }
}

fn print(status: &Status) -> String {
    let state = &status.state;
    let depth = |depth: Option<Depth>| match depth {
        Some(Depth { visible_count, in_flight_count }) => {
            format!("{visible_count} waiting, {in_flight_count} in flight")
        }
        None => "no answer".into(),
    };
    let producer = match (status.orders_per_s, state.producing, state.allowance_count) {
        (0, _, _) => "off (started with --orders-per-s 0); `dlo orders place` still works".into(),
        (_, true, remaining) => format!("running, pauses after {remaining} more orders"),
        (_, false, 0) => "paused, order limit reached".into(),
        (_, false, _) => "paused".into(),
    };
    [
        ("version", format!("{} ({})", state.version, state.version.note())),
        ("payments", if state.payments_up { "up" } else { "down" }.into()),
        ("catalogue", if state.product_added { "complete" } else { "one product missing" }.into()),
        ("producer", producer),
        (
            "orders",
            format!(
                "{} placed, {} handled, {} dead-lettered",
                state.placed_count, state.handled_count, state.dead_count
            ),
        ),
        ("main queue", depth(status.main)),
        ("dead-letter queue", depth(status.dlq)),
    ]
    .map(|(name, value)| format!("{name:<18}{value}"))
    .join("\n")
}
