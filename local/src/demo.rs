//! `dlo demo`: the whole office on one machine, with a demo service that really fails.

use crate::backup;
use crate::control::{Control, Links};
use crate::feed;
use crate::logs::FileLogs;
use crate::machine::{self, FolderError};
use crate::orders::{self, Orders, OrdersConfig, OrdersError};
use crate::orders_py::{self, OrdersPy};
use crate::panel;
use crate::queue::{EmbeddedQueue, QueueSettings};
use crate::serve::{self, ListenError};
use crate::sign_in::{self, NoRandomness, Sessions};
use crate::sinks::{LogAlerts, SeriesMetrics};
use crate::sqlite::Opening;
use crate::store::SqliteStore;
use domain::deployment::Deployment;
use domain::id::QueueArn;
use domain::policy::{GatePolicy, Policy, QueuePolicy, Rates, ReplayPolicy};
use domain::time::Span;
use office::api::Api;
use office::assets::Files;
use office::consumers::{logged, saw_queue};
use office::office::{Office, PlanLimits};
use office::policy::Policies;
use office::port::NoPayloads;
use queue::QueueError;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use transform::Transforms;
use wire::DeploymentRequest;

/// The settings of a demo.
#[derive(Clone, Debug)]
pub struct DemoConfig {
    /// The folder for the demo's files.
    pub folder: PathBuf,
    /// The port to listen on; 0 takes any free port.
    pub port: u16,
    /// Whether to delete the files of earlier runs.
    pub fresh: bool,
    /// Orders per second; 0 places none until a person does.
    pub orders_per_s: u32,
    /// Whether to open what can be read of damaged files.
    pub accept_damage: bool,
    /// The files of the dashboard.
    pub dashboard: Files,
}

/// The demo could not start, or had to close.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The store cannot be opened.
    #[error("cannot open the office's store")]
    Store(#[source] crate::store::OpenError),
    /// The metrics file cannot be opened.
    #[error("cannot open the office's metrics")]
    Metrics(#[source] crate::sinks::SeriesError),
    /// The embedded queues cannot be opened.
    #[error("cannot open the embedded queues")]
    Queues(#[source] crate::queue::OpenError),
    /// A queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The port cannot be used.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The demo service failed.
    #[error(transparent)]
    Orders(#[from] OrdersError),
    /// The machine provides no random numbers.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The HTTP server failed.
    #[error("the HTTP server failed")]
    Serve(#[source] io::Error),
}

const ACCOUNT: &str = "arn:aws:sqs:local:000000000000";
/// How often the demo sweeps. On AWS it is once a minute, which is too long to wait for the first gauge.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// The main queue's visibility timeout: short, so that an observation window takes seconds.
const VISIBILITY: Span = Span::from_secs(2);
const RECEIVES_MAX: u32 = 3;
/// The files that a fresh start deletes.
const FILES: &[&str] =
    &["office.db", "queues.db", "metrics.db", "orders.json", sign_in::FILE, orders::LEDGER, orders_py::LOG];

/// Runs until Ctrl-C or SIGTERM.
pub async fn run(config: DemoConfig) -> Result<(), DemoError> {
    let outdated: &[&str] = if config.fresh { FILES } else { &[] };
    let _lock = machine::open_folder(&config.folder, outdated)?;
    let listener = serve::listen(config.port).await?;
    let url = format!("http://127.0.0.1:{}", listener.local_addr().map_err(DemoError::Serve)?.port());
    let queues = Queues::new();
    let (office, files) = office(&config, &queues).await?;
    let orders = start_orders(&config, &queues, &office, files.queue().clone()).await?;
    let orders_py = start_orders_py(&config, &queues, &office).await;

    let sessions = Arc::new(Sessions::of_demo().kept_in(&config.folder));
    let unusable = |source: io::Error| FolderError::unusable(&config.folder, source);
    let control = Control::new(url.clone()).map_err(|_| unusable(io::ErrorKind::Other.into()))?;
    control.write(&config.folder).map_err(unusable)?;
    let links = Links { sessions: sessions.clone(), control, clock: office.clock.clone() };
    let api = Api {
        office: office.clone(),
        identify: sessions.clone(),
        name: "demo on this machine".into(),
        watching: [queues.dlq.clone(), queues.py_dlq.clone()].into(),
    };
    let backups = backup::router(links.control.clone(), files.clone());
    let more = panel::mounted(orders.clone()).merge(crate::control::router(links.clone())).merge(backups);
    let router = serve::router(api, sessions, more, config.dashboard);

    let (close, shutdown) = watch::channel(false);
    let executor = machine::executor_name();
    let feeds = [
        tokio::spawn(feed::letters(office.clone(), queues.dlq.clone(), shutdown.clone())),
        tokio::spawn(feed::letters(office.clone(), queues.py_dlq.clone(), shutdown.clone())),
        tokio::spawn(feed::steps(office.clone(), executor, shutdown.clone())),
        tokio::spawn(feed::receipts(office.clone(), queues.receipts.clone(), shutdown.clone())),
        tokio::spawn(feed::minutes(office.clone(), SWEEP_EVERY, shutdown.clone())),
        tokio::spawn(files.checkpoints(SWEEP_EVERY, shutdown.clone())),
    ];
    let server = tokio::spawn(serve::serve(listener, router, serve::Limits::default(), shutdown));
    crate::screen::welcome(&url, &links, &config.folder)?;
    crate::screen::links_on_enter(links);
    crate::screen::until_shutdown().await;

    office::say_error!("\nClosing the office. All data stays in {}.", config.folder.display());
    Control::remove(&config.folder);
    // Fails only if all receivers have ended already.
    let _ = close.send(true);
    orders.shut_down().await;
    if let Some(orders_py) = orders_py {
        orders_py.shut_down().await;
    }
    for feed in feeds {
        let _ = feed.await;
    }
    // A browser may keep its connection open although all its requests have been answered.
    let _ = tokio::time::timeout(Duration::from_secs(2), server).await;
    Ok(())
}

/// The demo's queues.
struct Queues {
    main: QueueArn,
    dlq: QueueArn,
    /// The queues of the consumer that says nothing.
    py_main: QueueArn,
    py_dlq: QueueArn,
    quarantine: QueueArn,
    steps: QueueArn,
    receipts: QueueArn,
}

impl Queues {
    fn new() -> Self {
        let named = |name: &str| QueueArn::new(format!("{ACCOUNT}:{name}"));
        Self {
            main: named("orders"),
            dlq: named("orders-dlq"),
            py_main: named("orders-py"),
            py_dlq: named("orders-py-dlq"),
            quarantine: named("dlo-steps-dlq"),
            steps: named("dlo-steps"),
            receipts: named("dlo-receipts"),
        }
    }

    /// The queues that no letter may be sent to.
    fn closed(&self) -> [QueueArn; 5] {
        [&self.dlq, &self.py_dlq, &self.quarantine, &self.steps, &self.receipts].map(Clone::clone)
    }

    async fn create(&self, queue: &EmbeddedQueue) -> Result<(), QueueError> {
        let fortnight = QueueSettings { retention: Span::from_days(14), ..QueueSettings::default() };
        queue.create_queue(&self.dlq, fortnight.clone()).await?;
        queue.create_queue(&self.py_dlq, fortnight.clone()).await?;
        queue.create_queue(&self.quarantine, fortnight).await?;
        let main = QueueSettings { visibility_timeout: VISIBILITY, ..QueueSettings::default() };
        queue.create_queue(&self.py_main, main.clone().dead_letters_to(&self.py_dlq, RECEIVES_MAX)).await?;
        queue.create_queue(&self.main, main.dead_letters_to(&self.dlq, RECEIVES_MAX)).await?;
        // A step that fails ten times cannot succeed; the sweep restarts its replay's chain of steps.
        let steps = QueueSettings::default().dead_letters_to(&self.quarantine, 10);
        queue.create_queue(&self.steps, steps.clone()).await?;
        queue.create_queue(&self.receipts, steps).await
    }
}

/// Creates the office on its embedded store and queues.
async fn office(config: &DemoConfig, queues: &Queues) -> Result<(Office, backup::Files), DemoError> {
    let folder = config.folder.clone();
    let opening = Opening { accept_damage: config.accept_damage, ..Opening::default() };
    let clock = crate::clock::steady();
    let store = SqliteStore::open_as(&folder.join("office.db"), &opening).map_err(DemoError::Store)?;
    let queue =
        EmbeddedQueue::open_as(&folder.join("queues.db"), clock.clone(), &opening).map_err(DemoError::Queues)?;
    queues.create(&queue).await?;
    let (store, queue) = (Arc::new(store), Arc::new(queue));
    let metrics = SeriesMetrics::open(&folder.join("metrics.db")).map_err(DemoError::Metrics)?;
    let office = Office {
        store: store.clone(),
        queue: queue.clone(),
        metrics: Arc::new(metrics),
        alerts: Arc::new(LogAlerts::default()),
        payloads: Arc::new(NoPayloads),
        logs: Arc::new(FileLogs::new([(orders_py::LOG.to_owned(), config.folder.join(orders_py::LOG))])),
        policies: Arc::new(Policies::new(policy(queues).queues)),
        policy: Arc::new(policy(queues)),
        policy_version: 0,
        steps: queues.steps.clone(),
        closed_queues: Arc::new(queues.closed().into()),
        clock,
        entropy: Arc::new(machine::entropy),
        custody: true,
        retentions: Arc::new(Mutex::new(HashMap::new())),
        sweeps: Arc::default(),
        known_groups: Arc::default(),
        planning: PlanLimits::default(),
        transforms: Arc::new(Transforms::with_this_executable()),
    };
    Ok((office, backup::Files::new(folder, store, queue)))
}

/// The rates of the demo: `orders` takes four currencies. Rounded rates of November 2026; nothing depends on their
/// exactness.
const RATES: &str =
    r#"{ "base": "EUR", "date": "2026-11-20", "values": { "CHF": "1.07", "GBP": "1.14", "USD": "0.87" } }"#;

fn rates() -> Option<Rates> {
    serde_json::from_str(RATES).ok()
}

/// Returns the demo's policy: the defaults, with waits of seconds.
fn policy(queues: &Queues) -> Policy {
    Policy {
        queues: QueuePolicy { main: vec![queues.main.clone(), queues.py_main.clone()], ..QueuePolicy::default() },
        gate: GatePolicy { quiet_ms: Span::from_secs(10), ..GatePolicy::default() },
        replay: ReplayPolicy {
            pace_per_s: 20,
            window_slack_ms: Span::from_secs(2),
            wave_delay_ms: Span::from_secs(1),
            wave_delay_ms_max: Span::from_secs(4),
            ..ReplayPolicy::default()
        },
        message_types: orders::message_type_rules(),
        rates: rates(),
        ..Policy::default()
    }
}

async fn start_orders(
    config: &DemoConfig,
    queues: &Queues,
    office: &Office,
    queue: Arc<EmbeddedQueue>,
) -> Result<orders::OrdersHandle, DemoError> {
    let state_file = config.folder.join("orders.json");
    let settings = OrdersConfig::new(queues.main.clone(), queues.dlq.clone(), state_file);
    let (clock, office, runtime) = (office.clock.clone(), office.clone(), tokio::runtime::Handle::current());
    let on_deploy = move |deployment: Deployment| {
        let office = office.clone();
        // Reports the deployment as a CI pipeline would.
        runtime.spawn(async move {
            let report = DeploymentRequest {
                service: deployment.service,
                version: deployment.version,
                commit: deployment.commit,
                at: Some(deployment.at),
            };
            if let Err(error) = office::act::report_deployment(&office, &report).await {
                tracing::error!(error = office::error::chain(&error), "reporting a deployment failed");
            }
        });
    };
    let settings = OrdersConfig {
        on_deploy: Arc::new(on_deploy),
        // One clock for the machine: where the system's is set back, the office's is held.
        now: clock,
        orders_per_s: config.orders_per_s,
        receipts: Some(queues.receipts.clone()),
        ..settings
    };
    Ok(Orders::start(queue, settings).await?)
}

/// Starts the service that says nothing about its failures, and tells the office where it logs. Without Python there is
/// none.
async fn start_orders_py(config: &DemoConfig, queues: &Queues, office: &Office) -> Option<OrdersPy> {
    let (main, log) = (queues.py_main.clone(), config.folder.join(orders_py::LOG));
    let service = OrdersPy::start(office.queue.clone(), main, log, config.orders_per_s > 0)?;
    let seen = saw_queue(office, &queues.py_main, vec![OrdersPy::consumer()]).await;
    logged("the consumer of orders-py", seen);
    Some(service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_currency_of_the_demo_has_a_rate() {
        let rates = rates().unwrap();
        for code in ["EUR", "USD", "GBP", "CHF"] {
            assert!(rates.rate_for(domain::money::Currency::parse(code).unwrap()).is_some(), "{code}");
        }
    }
}
