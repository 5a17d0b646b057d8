//! `dlo demo`: the whole office on one machine, with a demo service that really fails.

use crate::control::{Control, Links};
use crate::feed;
use crate::machine::{self, FolderError};
use crate::orders::{self, Orders, OrdersConfig, OrdersError};
use crate::panel;
use crate::queue::{EmbeddedQueue, QueueSettings};
use crate::serve::{self, ListenError};
use crate::sign_in::{NoRandomness, Sessions};
use crate::sinks::{LogAlerts, SeriesMetrics};
use crate::store::SqliteStore;
use domain::deployment::Deployment;
use domain::id::QueueArn;
use domain::policy::{GatePolicy, Policy, ReplayPolicy};
use domain::time::{Span, Timestamp};
use office::api::Api;
use office::assets::Files;
use office::office::Office;
use office::port::NoPayloads;
use queue::QueueError;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use transform::Transforms;
use wire::DeploymentRequest;

/// The settings of a demo.
#[derive(Clone, Debug)]
pub struct DemoConfig {
    /// Where its files are.
    pub folder: PathBuf,
    /// Where it listens.
    pub port: u16,
    /// Start with nothing.
    pub fresh: bool,
    /// Orders a second; 0 for none until somebody asks for some.
    pub orders_per_s: u32,
    /// The files of the dashboard.
    pub dashboard: Files,
}

/// The demo could not start, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The store.
    #[error("the office's store cannot be opened")]
    Store(#[source] crate::store::OpenError),
    /// The metrics.
    #[error("the office's metrics cannot be opened")]
    Metrics(#[source] crate::sinks::SeriesError),
    /// The queues.
    #[error("the embedded queues cannot be opened")]
    Queues(#[source] crate::queue::OpenError),
    /// A queue.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The port.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The demo service.
    #[error(transparent)]
    Orders(#[from] OrdersError),
    /// No secrets.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The server.
    #[error("the server failed")]
    Serve(#[source] io::Error),
}

const ACCOUNT: &str = "arn:aws:sqs:local:000000000000";
/// How often the demo sweeps. A minute on AWS; nobody wants to wait that long for a first gauge.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// The main queue's: short, so that an observation window is seconds.
const VISIBILITY: Span = Span::from_secs(2);
const RECEIVES_MAX: u32 = 3;
/// What a fresh start forgets.
const FILES: &[&str] = &["office.db", "queues.db", "metrics.db", "orders.json"];

/// Runs until Ctrl-C (or the end of the process that asked for it).
pub async fn run(config: DemoConfig) -> Result<(), DemoError> {
    let forgotten: &[&str] = if config.fresh { FILES } else { &[] };
    let _lock = machine::open_folder(&config.folder, forgotten)?;
    let listener = serve::listen(config.port).await?;
    let url = format!("http://127.0.0.1:{}", listener.local_addr().map_err(DemoError::Serve)?.port());
    let queues = Queues::new();
    let (office, embedded) = office(&config.folder, &queues).await?;
    let orders = start_orders(&config, &queues, &office, embedded).await?;

    let sessions = Arc::new(Sessions::default());
    let unusable = |source: io::Error| FolderError::of(&config.folder, source);
    let control = Control::new(url.clone()).map_err(|_| unusable(io::ErrorKind::Other.into()))?;
    control.write(&config.folder).map_err(unusable)?;
    let links = Links { sessions: sessions.clone(), control, clock: office.clock.clone() };
    let api = Api {
        office: office.clone(),
        identify: sessions.clone(),
        name: "demo on this machine".into(),
        watching: [queues.dlq.clone()].into(),
    };
    let more = panel::mounted(orders.clone()).merge(crate::control::router(links.clone()));
    let router = serve::router(api, sessions, more, config.dashboard);

    let (stop, stopping) = watch::channel(false);
    let executor = machine::executor_name();
    let feeds = [
        tokio::spawn(feed::letters(office.clone(), queues.dlq.clone(), stopping.clone())),
        tokio::spawn(feed::steps(office.clone(), executor, stopping.clone())),
        tokio::spawn(feed::receipts(office.clone(), queues.receipts.clone(), stopping.clone())),
        tokio::spawn(feed::minutes(office.clone(), SWEEP_EVERY, stopping.clone())),
    ];
    let server = tokio::spawn(serve::serve(listener, router, stopping));
    crate::screen::welcome(&url, &links.print()?, &config.folder);
    crate::screen::links_on_enter(links);
    crate::screen::until_told_to_stop().await;

    eprintln!("\nClosing the office; everything is kept in {}.", config.folder.display());
    Control::remove(&config.folder);
    // Nobody listens any more only if all of them have ended by themselves.
    let _ = stop.send(true);
    orders.stop().await;
    for feed in feeds {
        let _ = feed.await;
    }
    // A browser may hold its connection open; what it asked for has been answered.
    let _ = tokio::time::timeout(Duration::from_secs(2), server).await;
    Ok(())
}

/// The demo's queues.
struct Queues {
    main: QueueArn,
    dlq: QueueArn,
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
            quarantine: named("dlo-steps-dlq"),
            steps: named("dlo-steps"),
            receipts: named("dlo-receipts"),
        }
    }

    async fn create(&self, queue: &EmbeddedQueue) -> Result<(), QueueError> {
        let fortnight = QueueSettings { retention: Span::from_days(14), ..QueueSettings::default() };
        queue.create_queue(&self.dlq, fortnight.clone()).await?;
        queue.create_queue(&self.quarantine, fortnight).await?;
        let main = QueueSettings { visibility_timeout: VISIBILITY, ..QueueSettings::default() };
        queue.create_queue(&self.main, main.dead_letters_to(&self.dlq, RECEIVES_MAX)).await?;
        // A step that fails ten times is none that could work; sweep starts its replay's chain anew.
        let steps = QueueSettings::default().dead_letters_to(&self.quarantine, 10);
        queue.create_queue(&self.steps, steps.clone()).await?;
        queue.create_queue(&self.receipts, steps).await
    }
}

/// The office on its embedded store and queues.
async fn office(folder: &Path, queues: &Queues) -> Result<(Office, Arc<EmbeddedQueue>), DemoError> {
    let clock: Arc<dyn Fn() -> Timestamp + Send + Sync> = Arc::new(machine::now);
    let store = SqliteStore::open(&folder.join("office.db")).map_err(DemoError::Store)?;
    let queue = EmbeddedQueue::open(&folder.join("queues.db"), clock.clone()).map_err(DemoError::Queues)?;
    queues.create(&queue).await?;
    let queue = Arc::new(queue);
    let metrics = SeriesMetrics::open(&folder.join("metrics.db")).map_err(DemoError::Metrics)?;
    let office = Office {
        store: Arc::new(store),
        queue: queue.clone(),
        metrics: Arc::new(metrics),
        alerts: Arc::new(LogAlerts::default()),
        payloads: Arc::new(NoPayloads),
        policy: Arc::new(policy()),
        steps: queues.steps.clone(),
        clock,
        entropy: Arc::new(machine::entropy),
        retentions: Arc::new(Mutex::new(HashMap::new())),
        transforms: Arc::new(Transforms::by_this_executable()),
    };
    Ok((office, queue))
}

/// The demo's policy: AWS's defaults, made as short as a visitor's patience.
fn policy() -> Policy {
    Policy {
        gate: GatePolicy { quiet_ms: Span::from_secs(10), ..GatePolicy::default() },
        replay: ReplayPolicy {
            pace_per_s: 20,
            window_slack_ms: Span::from_secs(2),
            wave_delay_ms: Span::from_secs(1),
            wave_delay_ms_max: Span::from_secs(4),
            ..ReplayPolicy::default()
        },
        message_types: orders::message_type_rules(),
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
    let (office, runtime) = (office.clone(), tokio::runtime::Handle::current());
    let on_deploy = move |deployment: Deployment| {
        let office = office.clone();
        // A deployment is reported as a CI pipeline would do it.
        runtime.spawn(async move {
            let report = DeploymentRequest {
                service: deployment.service,
                version: deployment.version,
                commit: deployment.commit,
                at: Some(deployment.at),
            };
            if let Err(error) = office::act::report_deployment(&office, &report).await {
                tracing::error!(error = office::error::chain(&error), "a deployment could not be reported");
            }
        });
    };
    let settings = OrdersConfig {
        on_deploy: Arc::new(on_deploy),
        orders_per_s: config.orders_per_s,
        receipts: Some(queues.receipts.clone()),
        ..settings
    };
    Ok(Orders::start(queue, settings).await?)
}
