//! `dlo open --queue …`: the office on one machine against a real dead-letter queue, nothing deployed.
//!
//! By default it only looks: each letter is received once and put back. With custody it takes letters off the queue,
//! each only after it is kept in the folder, and replays for real.

mod peek;
mod queues;

use crate::control::{Control, Links};
use crate::machine::{self, FolderError};
use crate::queue::{EmbeddedQueue, QueueSettings};
use crate::serve::{self, ListenError};
use crate::sign_in::{NoRandomness, Sessions};
use crate::sinks::{LogAlerts, SeriesMetrics};
use crate::store::SqliteStore;
use crate::{feed, screen};
use domain::id::QueueArn;
use domain::policy::Policy;
use domain::role::Role;
use domain::time::Span;
use lambda::connect::SdkConfig;
use lambda::payloads::S3Payloads;
use lambda::queue::SqsQueue;
use office::api::Api;
use office::assets::Files;
use office::error::chain;
use office::office::Office;
use queue::{Queue, QueueError};
use queues::Queues;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use transform::Transforms;

/// The settings of an office against a real queue.
#[derive(Clone, Debug)]
pub struct OpenConfig {
    /// How AWS is reached.
    pub aws: SdkConfig,
    /// The address of the dead-letter queue.
    pub queue: String,
    /// The main queue of letters that do not say theirs.
    pub main: Option<QueueArn>,
    /// The address of the queue of receipts; with custody only.
    pub receipts: Option<String>,
    /// Whether letters are taken off the queue.
    pub custody: bool,
    /// Where its files are.
    pub folder: PathBuf,
    /// Where it listens.
    pub port: u16,
    /// The team's policy.
    pub policy: Policy,
    /// The files of the dashboard.
    pub dashboard: Files,
}

/// The office could not open, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The store.
    #[error("the office's store cannot be opened")]
    Store(#[source] crate::store::OpenError),
    /// The metrics.
    #[error("the office's metrics cannot be opened")]
    Metrics(#[source] crate::sinks::SeriesError),
    /// The queue of steps.
    #[error("the office's own queue cannot be opened")]
    Steps(#[source] crate::queue::OpenError),
    /// A queue.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The queue dead-letters, too: receiving could move its letters.
    #[error(
        "{queue} has a dead-letter queue of its own, to which looking could move letters ({receives_max} receives at most); nothing was received"
    )]
    MovesOn {
        /// The queue.
        queue: QueueArn,
        /// After so many receives.
        receives_max: u32,
    },
    /// Messages are taken off a queue of receipts, so it must be none that letters are on.
    #[error("{queue} is no queue of receipts: letters come from it or go to it; nothing was received")]
    NotForReceipts {
        /// The queue.
        queue: QueueArn,
    },
    /// The port.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// No secrets.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The server.
    #[error("the server failed")]
    Serve(#[source] io::Error),
}

const STEPS: &str = "arn:aws:sqs:local:000000000000:dlo-steps";
/// Where messages go that failed as steps too often.
const FAILED_STEPS: &str = "arn:aws:sqs:local:000000000000:dlo-steps-dlq";
/// How often a step is tried, as in the template.
const STEP_RECEIVES_MAX: u32 = 10;
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Runs until Ctrl-C.
pub async fn run(config: OpenConfig) -> Result<(), OpenError> {
    let opened = Opened::start(config).await?;
    match opened.looked_at {
        Some(count) => screen::looked(&opened.dlq, count, peek::LETTERS_MAX),
        None => screen::in_custody(&opened.dlq, &opened.folder),
    }
    screen::links(&opened.links.print()?);
    screen::links_on_enter(opened.links.clone());
    screen::until_told_to_stop().await;
    opened.close().await;
    Ok(())
}

/// An office that is open.
pub struct Opened {
    /// The office.
    pub office: Office,
    /// The dead-letter queue.
    pub dlq: QueueArn,
    /// How many letters were looked at; none with custody.
    pub looked_at: Option<usize>,
    /// How people come in.
    pub links: Links,
    folder: PathBuf,
    stop: watch::Sender<bool>,
    running: Vec<JoinHandle<()>>,
    server: JoinHandle<io::Result<()>>,
    _lock: File,
}

impl Opened {
    /// Opens it; one that only looks has looked when this returns.
    pub async fn start(config: OpenConfig) -> Result<Self, OpenError> {
        // What was only looked at may be gone from the queue by now; it must never pass for what is in custody.
        let peeking = ["office.db", "queues.db", "metrics.db"];
        let (folder, forgotten) =
            if config.custody { (config.folder.clone(), &[][..]) } else { (config.folder.join("peek"), &peeking[..]) };
        let lock = machine::open_folder(&folder, forgotten)?;
        let config = OpenConfig { folder, ..config };
        let (office, RealQueues { dlq, receipts }) = office(&config).await?;
        let listener = serve::listen(config.port).await?;
        let url = format!("http://127.0.0.1:{}", listener.local_addr().map_err(OpenError::Serve)?.port());
        let links = links(&config, &office, url)?;
        let looked_at = if config.custody { None } else { Some(peek::peek(&office, &dlq).await?) };

        let (stop, stopping) = watch::channel(false);
        let mut running = vec![tokio::spawn(feed::minutes(office.clone(), SWEEP_EVERY, stopping.clone()))];
        if config.custody {
            running.push(tokio::spawn(feed::letters(office.clone(), dlq.clone(), stopping.clone())));
            running.push(tokio::spawn(feed::steps(office.clone(), machine::executor_name(), stopping.clone())));
            running.extend(receipts.map(|queue| tokio::spawn(feed::receipts(office.clone(), queue, stopping.clone()))));
        }
        let api = Api {
            office: office.clone(),
            identify: links.sessions.clone(),
            name: format!("{}{}", dlq.name(), if config.custody { "" } else { " (only looking)" }).into(),
            watching: [dlq.clone()].into(),
        };
        let router =
            serve::router(api, links.sessions.clone(), crate::control::router(links.clone()), config.dashboard);
        let server = tokio::spawn(serve::serve(listener, router, stopping));
        Ok(Self { office, dlq, looked_at, links, folder: config.folder, stop, running, server, _lock: lock })
    }

    /// Finishes what is under way. Everything is kept in the folder.
    pub async fn close(self) {
        Control::remove(&self.folder);
        // Nobody listens any more only if all of them have ended by themselves.
        let _ = self.stop.send(true);
        for feed in self.running {
            let _ = feed.await;
        }
        // A browser may hold its connection open; what it asked for has been answered.
        let _ = tokio::time::timeout(Duration::from_secs(2), self.server).await;
    }
}

/// Who only looks gets a link that only shows: a letter that is still in its queue must not be sent from here.
fn links(config: &OpenConfig, office: &Office, url: String) -> Result<Links, OpenError> {
    let roles: &[Role] = if config.custody { &Role::ALL } else { &[Role::Viewer] };
    let unusable = |source: io::Error| FolderError::of(&config.folder, source);
    let control = Control::new(url).map_err(|_| unusable(io::ErrorKind::Other.into()))?;
    control.write(&config.folder).map_err(unusable)?;
    Ok(Links { sessions: Arc::new(Sessions::for_roles(roles)), control, clock: office.clock.clone() })
}

/// The queues on AWS that messages are taken off.
struct RealQueues {
    dlq: QueueArn,
    receipts: Option<QueueArn>,
}

/// The queue of steps, whose redrive policy keeps what is not a step for a person to look at.
async fn create_steps(embedded: &EmbeddedQueue) -> Result<QueueArn, QueueError> {
    let (steps, failed) = (QueueArn::from(STEPS), QueueArn::from(FAILED_STEPS));
    let fortnight = QueueSettings { retention: Span::from_days(14), ..QueueSettings::default() };
    embedded.create_queue(&failed, fortnight).await?;
    let settings = QueueSettings::default().dead_letters_to(&failed, STEP_RECEIVES_MAX);
    match embedded.settings(&steps).await {
        // An earlier version created the queue without a redrive policy.
        Ok(_) => embedded.configure(&steps, settings).await?,
        Err(_) => embedded.create_queue(&steps, settings).await?,
    }
    Ok(steps)
}

/// The office on its embedded store, over the real queues.
async fn office(config: &OpenConfig) -> Result<(Office, RealQueues), OpenError> {
    let clock: Arc<dyn Fn() -> domain::time::Timestamp + Send + Sync> = Arc::new(machine::now);
    let sqs = Arc::new(SqsQueue::new(&config.aws));
    let dlq = sqs.at(&config.queue).await?;
    let attributes = sqs.attributes(&dlq).await?;
    if let Some(redrive) = attributes.redrive.filter(|_| !config.custody) {
        return Err(OpenError::MovesOn { queue: dlq, receives_max: redrive.receives_max });
    }
    let receipts = match &config.receipts {
        Some(url) => Some(sqs.at(url).await?),
        None => None,
    };
    let is_asked = config.main.is_none() || receipts.is_some();
    let sources = if is_asked { sources(&sqs, &dlq).await } else { Vec::new() };
    let lettered = |queue: &QueueArn| *queue == dlq || config.main.as_ref() == Some(queue) || sources.contains(queue);
    if let Some(queue) = receipts.iter().find(|queue| lettered(queue)) {
        return Err(OpenError::NotForReceipts { queue: queue.clone() });
    }
    // With several sources, letters that do not say theirs can be seen but not replayed.
    let only_source = if let [only] = sources.as_slice() { Some(only.clone()) } else { None };
    let main_of_silent = config.main.clone().or(only_source);
    let embedded = EmbeddedQueue::open(&config.folder.join("queues.db"), clock.clone()).map_err(OpenError::Steps)?;
    let steps = create_steps(&embedded).await?;
    let queues = Queues { steps: steps.clone(), embedded, sqs, dlq: dlq.clone(), main_of_silent };
    let store = SqliteStore::open(&config.folder.join("office.db")).map_err(OpenError::Store)?;
    let metrics = SeriesMetrics::open(&config.folder.join("metrics.db")).map_err(OpenError::Metrics)?;
    let office = Office {
        store: Arc::new(store),
        queue: Arc::new(queues),
        metrics: Arc::new(metrics),
        alerts: Arc::new(LogAlerts::default()),
        payloads: Arc::new(S3Payloads::new(&config.aws)),
        policy: Arc::new(config.policy.clone()),
        steps,
        clock,
        entropy: Arc::new(machine::entropy),
        retentions: Arc::new(Mutex::new(HashMap::new())),
        transforms: Arc::new(Transforms::by_this_executable()),
    };
    Ok((office, RealQueues { dlq, receipts }))
}

/// The queues whose redrive policies name this one, as far as somebody tells.
async fn sources(sqs: &SqsQueue, dlq: &QueueArn) -> Vec<QueueArn> {
    sqs.sources(dlq).await.unwrap_or_else(|error| {
        tracing::warn!(queue = %dlq, error = chain(&error), "the queue's sources are not known; name one with --main");
        Vec::new()
    })
}
