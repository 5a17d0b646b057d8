//! `dlo open --queue …`: an office on one machine for a real dead-letter queue, without any deployment.
//!
//! By default the office is read-only: it receives each letter once and puts it back. With custody it deletes each
//! letter from the queue after storing it in the folder, and replays to the real main queue.

mod peek;
mod queues;

use crate::backup;
use crate::control::{Control, Links};
use crate::machine::{self, FolderError};
use crate::queue::{EmbeddedQueue, QueueSettings};
use crate::serve::{self, ListenError};
use crate::sign_in::{NoRandomness, Sessions};
use crate::sinks::{LogAlerts, SeriesMetrics};
use crate::sqlite::Opening;
use crate::store::SqliteStore;
use crate::{clock, doctor::unread_sources, feed, screen};
use domain::id::{Actor, QueueArn};
use domain::policy::{Policy, QueuePolicy};
use domain::role::Role;
use domain::time::Span;
use lambda::connect::SdkConfig;
use lambda::payloads::S3Payloads;
use lambda::queue::SqsQueue;
use office::api::Api;
use office::assets::Files;
use office::error::chain;
use office::office::{Office, PlanLimits};
use office::policy::Policies;
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

/// The settings of an office for a real queue.
#[derive(Clone, Debug)]
pub struct OpenConfig {
    /// The AWS SDK's configuration.
    pub aws: SdkConfig,
    /// The URL of the dead-letter queue.
    pub queue: String,
    /// The main queue for letters that do not name theirs.
    pub main: Option<QueueArn>,
    /// The URL of the receipts queue; with custody only.
    pub receipts: Option<String>,
    /// Whether the office takes custody of the letters.
    pub custody: bool,
    /// The folder for the office's files.
    pub folder: PathBuf,
    /// The port to listen on; 0 takes any free port.
    pub port: u16,
    /// Whether to open what can be read of damaged files.
    pub accept_damage: bool,
    /// The person who uses this office: all sign-in links are theirs.
    pub user: Actor,
    /// The team's policy.
    pub policy: Policy,
    /// The files of the dashboard.
    pub dashboard: Files,
}

/// The office could not open, or had to close.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The store cannot be opened.
    #[error("cannot open the office's store")]
    Store(#[source] crate::store::OpenError),
    /// The metrics file cannot be opened.
    #[error("cannot open the office's metrics")]
    Metrics(#[source] crate::sinks::SeriesError),
    /// The embedded queue for replay steps cannot be opened.
    #[error("cannot open the office's own queue")]
    Steps(#[source] crate::queue::OpenError),
    /// A queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The queue has a redrive policy, and is not known to be a dead-letter queue: its messages may never have failed.
    #[error(
        "{queue} looks like a main queue: its failed messages move to {}, and {reason}. Nothing was received. Open its dead-letter queue instead: dlo open --queue {dlq_url}", dlq.name()
    )]
    MainQueue {
        /// The queue.
        queue: QueueArn,
        /// The dead-letter queue that its redrive policy names.
        dlq: QueueArn,
        /// The URL of that queue.
        dlq_url: String,
        /// Why it is not known to be a dead-letter queue.
        reason: String,
    },
    /// The dead-letter queue has a redrive policy itself, so that receiving could move its letters.
    #[error(
        "{queue} is a dead-letter queue that has a dead-letter queue itself: a letter moves there after {receives_max} receives, so reading it could move it. Nothing was received. Remove the redrive policy, or use --custody"
    )]
    MovesOn {
        /// The queue.
        queue: QueueArn,
        /// The `maxReceiveCount` of its redrive policy.
        receives_max: u32,
    },
    /// The receipts queue is also a queue of letters. The office deletes messages from a receipts queue.
    #[error(
        "{queue} cannot be the receipts queue, because letters are sent to it or come from it. Nothing was received. Name a separate queue with --receipts"
    )]
    NotForReceipts {
        /// The queue.
        queue: QueueArn,
    },
    /// The port cannot be used.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The machine provides no random numbers.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The HTTP server failed.
    #[error("the HTTP server failed")]
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
    match opened.peeked_count {
        Some(count) => screen::peeked(&opened.dlq, count, peek::LETTERS_MAX),
        None => screen::in_custody(&opened.dlq, &opened.folder),
    }
    screen::links(&opened.links, &opened.folder)?;
    screen::links_on_enter(opened.links.clone());
    screen::until_shutdown().await;
    opened.close().await;
    Ok(())
}

/// An open office.
pub struct Opened {
    /// The office.
    pub office: Office,
    /// The dead-letter queue.
    pub dlq: QueueArn,
    /// How many letters a read-only office has read; `None` with custody.
    pub peeked_count: Option<usize>,
    /// Creates sign-in links.
    pub links: Links,
    folder: PathBuf,
    close: watch::Sender<bool>,
    feeds: Vec<JoinHandle<()>>,
    server: JoinHandle<()>,
    _lock: File,
}

impl Opened {
    /// Opens the office. A read-only office has read all letters when this returns.
    pub async fn start(config: OpenConfig) -> Result<Self, OpenError> {
        // Letters from an earlier read-only run may no longer be in the queue; they must not look like letters in custody.
        let peek_files = ["office.db", "queues.db", "metrics.db"];
        let (folder, outdated) = if config.custody {
            (config.folder.clone(), &[][..])
        } else {
            (config.folder.join("peek"), &peek_files[..])
        };
        let lock = machine::open_folder(&folder, outdated)?;
        let config = OpenConfig { folder, ..config };
        let (office, files, RealQueues { dlq, receipts }) = office(&config).await?;
        let listener = serve::listen(config.port).await?;
        let url = format!("http://127.0.0.1:{}", listener.local_addr().map_err(OpenError::Serve)?.port());
        let links = links(&config, &office, url)?;
        let peeked_count = if config.custody { None } else { Some(peek::peek(&office, &dlq).await?) };

        let (close, shutdown) = watch::channel(false);
        let mut feeds = vec![tokio::spawn(feed::minutes(office.clone(), SWEEP_EVERY, shutdown.clone()))];
        if config.custody {
            feeds.push(tokio::spawn(feed::letters(office.clone(), dlq.clone(), shutdown.clone())));
            feeds.push(tokio::spawn(feed::steps(office.clone(), machine::executor_name(), shutdown.clone())));
            feeds.extend(receipts.map(|queue| tokio::spawn(feed::receipts(office.clone(), queue, shutdown.clone()))));
        }
        let api = Api {
            office: office.clone(),
            identify: links.sessions.clone(),
            name: format!("{}{}", dlq.name(), if config.custody { "" } else { " (read-only)" }).into(),
            watching: [dlq.clone()].into(),
        };
        feeds.push(tokio::spawn(files.clone().checkpoints(SWEEP_EVERY, shutdown.clone())));
        let more = crate::control::router(links.clone()).merge(backup::router(links.control.clone(), files));
        let router = serve::router(api, links.sessions.clone(), more, config.dashboard);
        let server = tokio::spawn(serve::serve(listener, router, serve::Limits::default(), shutdown));
        Ok(Self { office, dlq, peeked_count, links, folder: config.folder, close, feeds, server, _lock: lock })
    }

    /// Finishes the work in progress and closes the office. All data stays in the folder.
    pub async fn close(self) {
        Control::remove(&self.folder);
        // Fails only if all receivers have ended already.
        let _ = self.close.send(true);
        for feed in self.feeds {
            let _ = feed.await;
        }
        // A browser may keep its connection open although all its requests have been answered.
        let _ = tokio::time::timeout(Duration::from_secs(2), self.server).await;
    }
}

/// Creates the links. A read-only office offers only a viewer's: letters that are still in their queue must not be replayed.
fn links(config: &OpenConfig, office: &Office, url: String) -> Result<Links, OpenError> {
    let roles: &[Role] = if config.custody { &Role::ALL } else { &[Role::Viewer] };
    let unusable = |source: io::Error| FolderError::unusable(&config.folder, source);
    let control = Control::new(url).map_err(|_| unusable(io::ErrorKind::Other.into()))?;
    control.write(&config.folder).map_err(unusable)?;
    let sessions = Arc::new(Sessions::of_user(&config.user, roles).kept_in(&config.folder));
    Ok(Links { sessions, control, clock: office.clock.clone() })
}

/// The queues on AWS from which the office receives.
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

/// Creates the office: embedded store, real queues.
async fn office(config: &OpenConfig) -> Result<(Office, backup::Files, RealQueues), OpenError> {
    let clock = clock::steady();
    let sqs = Arc::new(SqsQueue::new(&config.aws));
    let dlq = sqs.at(&config.queue).await?;
    let sources = sources(&sqs, &dlq, config).await?;
    let receipts = match &config.receipts {
        Some(url) => Some(sqs.at(url).await?),
        None => None,
    };
    let holds_letters =
        |queue: &QueueArn| *queue == dlq || config.main.as_ref() == Some(queue) || sources.contains(queue);
    if let Some(queue) = receipts.iter().find(|queue| holds_letters(queue)) {
        return Err(OpenError::NotForReceipts { queue: queue.clone() });
    }
    // With several source queues, letters that do not name theirs can be seen but not replayed.
    let only_source = if let [only] = sources.as_slice() { Some(only.clone()) } else { None };
    let default_main = config.main.clone().or(only_source);
    let named = QueuePolicy { main: sources, default_main, default_dlq: Some(dlq.clone()) };
    let mut policy = config.policy.clone();
    policy.queues = policy.queues.and(&named);
    let opening = Opening { accept_damage: config.accept_damage, ..Opening::default() };
    let store = SqliteStore::open_as(&config.folder.join("office.db"), &opening).map_err(OpenError::Store)?;
    let embedded = EmbeddedQueue::open_as(&config.folder.join("queues.db"), clock.clone(), &opening);
    let embedded = Arc::new(embedded.map_err(OpenError::Steps)?);
    let steps = create_steps(&embedded).await?;
    let closed = [&dlq, &steps, &QueueArn::from(FAILED_STEPS)].into_iter().chain(&receipts).cloned().collect();
    let store = Arc::new(store);
    let files = backup::Files::new(config.folder.clone(), store.clone(), embedded.clone());
    let queues = Queues { steps: steps.clone(), embedded, sqs };
    let metrics = SeriesMetrics::open(&config.folder.join("metrics.db")).map_err(OpenError::Metrics)?;
    let office = Office {
        store,
        queue: Arc::new(queues),
        metrics: Arc::new(metrics),
        alerts: Arc::new(LogAlerts::default()),
        payloads: Arc::new(S3Payloads::new(&config.aws)),
        logs: Arc::new(office::port::NoLogs),
        policy: Arc::new(policy),
        policy_version: 0,
        policies: Arc::new(Policies::new(named)),
        steps,
        closed_queues: Arc::new(closed),
        clock,
        entropy: Arc::new(machine::entropy),
        custody: config.custody,
        retentions: Arc::new(Mutex::new(HashMap::new())),
        sweeps: Arc::default(),
        known_groups: Arc::default(),
        planning: PlanLimits::default(),
        transforms: Arc::new(Transforms::with_this_executable()),
    };
    Ok((office, files, RealQueues { dlq, receipts }))
}

/// Returns the queues whose redrive policies name this one; an empty list if that cannot be read. Fails if receiving from
/// the queue could take messages that never failed, or move letters on.
async fn sources(sqs: &SqsQueue, queue: &QueueArn, config: &OpenConfig) -> Result<Vec<QueueArn>, OpenError> {
    let redrive = sqs.attributes(queue).await?.redrive;
    let read = sqs.sources(queue).await;
    let unproven = match &read {
        Ok(sources) if sources.is_empty() => Some("no queue names it as its dead-letter queue".to_owned()),
        Ok(_) => None,
        Err(error) => Some(format!("it could not be checked {}", unread_sources(queue, error))),
    };
    match (redrive, unproven, read) {
        (Some(redrive), Some(reason), _) => {
            // SQS allows a redrive policy only within one account and region, so only the name differs.
            let account = config.queue.trim_end_matches('/').rsplit_once('/').map_or("", |(account, _)| account);
            let dlq_url = format!("{account}/{}", redrive.dlq.name());
            Err(OpenError::MainQueue { queue: queue.clone(), dlq: redrive.dlq, dlq_url, reason })
        }
        (Some(redrive), None, _) if !config.custody => {
            Err(OpenError::MovesOn { queue: queue.clone(), receives_max: redrive.receives_max })
        }
        (_, _, Ok(sources)) => Ok(sources),
        (_, _, Err(error)) => {
            tracing::warn!(%queue, error = chain(&error), "reading the source queues failed; name the main queue with --main");
            Ok(Vec::new())
        }
    }
}
