//! `dlo orders ...`: the control panel for people who live in a terminal, and for scripts.

use super::{Deploy, Payments, Place, Producer, Product, Refusal};
use crate::orders::{Depth, Kind, Status, Version};
use serde::Serialize;
use std::time::Duration;

/// What can be asked of the demo service.
#[derive(Clone, Copy, Debug, clap::Subcommand)]
pub enum PanelCommand {
    /// Deploy a version: v1 (fails on gift cards), v2 (a wrong fix), v3 (the right fix)
    Deploy {
        /// v1, v2 or v3
        version: Version,
    },
    /// Take the payment service down, or bring it back
    Payments {
        /// What it shall be
        #[arg(value_enum)]
        state: Switch,
    },
    /// Put the missing product into the catalogue
    AddProduct,
    /// Take that product out of the catalogue again
    RemoveProduct,
    /// Place a burst of orders
    Place {
        /// How many
        #[arg(default_value_t = 20)]
        count: u32,
        /// Only orders of this kind; by default the usual mix
        #[arg(long, value_enum)]
        kind: Option<Kind>,
    },
    /// Let the producer place no more orders
    Pause,
    /// Let the producer place orders again
    ResumeRequest,
    /// Show what runs and what waits
    Status,
}

/// Up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Switch {
    /// It answers.
    Up,
    /// It hangs.
    Down,
}

/// The command could not be done.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Nobody answered there.
    #[error("no demo answers at {base_url}; start one with `dlo demo`")]
    Unanswered {
        /// Where it was asked for.
        base_url: String,
        /// The fault.
        source: reqwest::Error,
    },
    /// Something answered that is no control panel.
    #[error("what answers at {base_url} is not the control panel of a demo (status {status})")]
    NotThePanel {
        /// Where it was asked for.
        base_url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The panel said no.
    #[error("{message}")]
    Refused {
        /// The panel's code.
        code: String,
        /// The panel's words.
        message: String,
    },
}

/// Does a command on the demo that runs at `base_url` (`http://127.0.0.1:8080`); the answer is for the terminal.
pub async fn cli(base_url: &str, command: PanelCommand) -> Result<String, CliError> {
    let panel = Client::new(base_url)?;
    let status = match command {
        PanelCommand::Deploy { version } => panel.post("deploy", &Deploy { version }).await,
        PanelCommand::Payments { state } => panel.post("payments", &Payments { up: state == Switch::Up }).await,
        PanelCommand::AddProduct => panel.post("product", &Product { added: true }).await,
        PanelCommand::RemoveProduct => panel.post("product", &Product { added: false }).await,
        PanelCommand::Place { count, kind } => panel.post("place", &Place { count, kind }).await,
        PanelCommand::Pause => panel.post("producer", &Producer { running: false }).await,
        PanelCommand::ResumeRequest => panel.post("producer", &Producer { running: true }).await,
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
        // A proxy of the environment has no business on the loopback.
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build();
        let http = http.map_err(|source| CliError::Unanswered { base_url: base_url.into(), source })?;
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
        let unanswered = |source| CliError::Unanswered { base_url: self.base_url.into(), source };
        let response = request.send().await.map_err(unanswered)?;
        let status = response.status();
        let bytes = response.bytes().await.map_err(unanswered)?;
        let stranger = || CliError::NotThePanel { base_url: self.base_url.into(), status: status.as_u16() };
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|_| stranger());
        }
        let refusal: Refusal = serde_json::from_slice(&bytes).map_err(|_| stranger())?;
        Err(CliError::Refused { code: refusal.code, message: refusal.message })
    }
}

fn print(status: &Status) -> String {
    let state = &status.state;
    let depth = |depth: Option<Depth>| match depth {
        Some(Depth { visible_count, in_flight_count }) => {
            format!("{visible_count} waiting, {in_flight_count} in flight")
        }
        None => "does not answer".into(),
    };
    let producer = match (state.producing, state.allowance_count) {
        (true, left) => format!("running, {left} orders to go"),
        (false, 0) => "paused by itself".into(),
        (false, _) => "paused".into(),
    };
    [
        ("version", format!("{} ({})", state.version, state.version.note())),
        ("payments", if state.payments_up { "up" } else { "down" }.into()),
        ("missing product", if state.product_added { "added" } else { "missing" }.into()),
        ("producer", producer),
        (
            "orders",
            format!("{} placed, {} handled, {} given up", state.placed_count, state.handled_count, state.dead_count),
        ),
        ("main queue", depth(status.main)),
        ("dead-letter queue", depth(status.dlq)),
    ]
    .map(|(name, value)| format!("{name:<18}{value}"))
    .join("\n")
}
