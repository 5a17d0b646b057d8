//! `dlo backup`: a consistent copy of an office's folder, also while the office runs.
//!
//! The copy is a folder that an office can open. All its files are from one moment: while the store is copied, the queue
//! stands still, so the copy looks as if the office had been killed at that moment, which loses nothing.

mod copy;
#[cfg(test)]
mod tests;

use crate::control::{Control, ControlError};
use crate::feed::Shutdown;
use crate::machine::{self, FolderError};
use crate::queue::EmbeddedQueue;
use crate::sqlite::{FileError, Moment};
use crate::store::SqliteStore;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use office::error::chain;
use queue::QueueError;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The databases of an office.
const STORE: &str = "office.db";
const QUEUES: &str = "queues.db";
const METRICS: &str = "metrics.db";
/// The demo service's state.
const ORDERS: &str = "orders.json";
/// How long `dlo backup` waits for the running office: a terabyte at 500 MB/s.
const ANSWER_MAX: Duration = Duration::from_secs(2_000);

/// No backup was made. The office is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is nothing to back up.
    #[error("there is no office in {}. Name the office's folder with --data", .0.display())]
    NoOffice(PathBuf),
    /// The folder for the backup holds something.
    #[error("{} is not empty. Name a new folder for the backup", .0.display())]
    NotEmpty(PathBuf),
    /// The folder for the backup lies in the office's folder: what destroys one destroys both.
    #[error("{} lies in the office's folder. Name a folder elsewhere for the backup", .0.display())]
    Inside(PathBuf),
    /// The name of the folder cannot be sent to the running office.
    #[error("the name of {} is not valid Unicode. Name another folder for the backup", .0.display())]
    Name(PathBuf),
    /// The office's folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file of the office, or its copy, is damaged.
    #[error(transparent)]
    Damaged(#[from] FileError),
    /// SQLite could not copy a file.
    #[error("cannot copy {name} to {}. Is there enough space?", to.display())]
    Copy {
        /// The name of the file.
        name: &'static str,
        /// The folder for the backup.
        to: PathBuf,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// A file of the backup could not be written.
    #[error("cannot write the backup to {}", to.display())]
    Write {
        /// The folder for the backup.
        to: PathBuf,
        /// The error.
        #[source]
        source: io::Error,
    },
    /// The office is closing.
    #[error("the office is closing. Run `dlo backup` again once it has closed")]
    Closing(#[source] QueueError),
    /// The running office does not answer.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The running office could not make the backup.
    #[error("the running office could not make the backup: {0}")]
    Refused(String),
    /// The copying task ended early.
    #[error("the backup was interrupted")]
    Interrupted,
}

/// The files of an open office.
#[derive(Clone)]
pub struct Files {
    folder: PathBuf,
    store: Arc<SqliteStore>,
    queue: Arc<EmbeddedQueue>,
}

impl Files {
    /// Takes the files of one office. From now on, each of its two databases remembers how far the other one is, so that
    /// copies from different moments are refused.
    pub fn new(folder: PathBuf, store: Arc<SqliteStore>, queue: Arc<EmbeddedQueue>) -> Self {
        store.acknowledged.pair(&queue.acknowledged);
        Self { folder, store, queue }
    }

    /// Returns the embedded queues.
    pub fn queue(&self) -> &Arc<EmbeddedQueue> {
        &self.queue
    }

    /// Makes a backup in a folder that does not exist yet or is empty.
    pub async fn backup(&self, to: &Path) -> Result<Backup, BackupError> {
        copy::create_target(to)?;
        let (folder, target) = (self.folder.clone(), to.to_owned());
        let copied = self.queue.alone(move |queues| {
            copy::copy(&queues.db, QUEUES, &target)?;
            copy::copy_open(&folder, STORE, &target)
        });
        let copied = copied.await.map_err(BackupError::Closing);
        let (folder, target) = (self.folder.clone(), to.to_owned());
        on_thread(move || copy::complete(&folder, &target, copied.and_then(|copied| copied))).await
    }

    /// Copies the logs into their files at each interval, until the process shuts down. So little is at stake if a log is
    /// damaged.
    pub async fn checkpoints(self, interval: Duration, mut shutdown: Shutdown) {
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        loop {
            // An error means that the sender is gone, which ends the office, too.
            tokio::select! { _ = ticks.tick() => {}, _ = shutdown.wait_for(|shutdown| *shutdown) => return }
            self.checkpoint().await;
        }
    }

    /// Marks both databases with the same new number, first the store, and copies their logs into them. What fails is
    /// tried again with the next checkpoint.
    pub(crate) async fn checkpoint(&self) {
        let before = match self.queue.alone(|file| Moment::read(&file.db)).await {
            Ok(Ok(moment)) => moment.number,
            // The error comes again below.
            Ok(Err(_)) | Err(_) => return not_copied("queues", "the number of this minute could not be read"),
        };
        let number = machine::entropy().cast_signed();
        if let Err(error) = self.store.checkpoint_at(Moment { number, before }).await {
            return not_copied("store", &chain(&error));
        }
        let marked = self.queue.alone(move |file| file.set_moment(Moment { number, before })).await;
        if let Ok(Err(error)) = marked {
            not_copied("queues", &chain(&error));
        }
        if let Err(error) = self.queue.checkpoint().await {
            not_copied("queues", &chain(&error));
        }
    }
}

fn not_copied(file: &str, error: &str) {
    tracing::warn!(file, error, "a log was not copied into its file; trying again later");
}

/// A finished backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// Its folder.
    pub folder: PathBuf,
    /// The size of its files in bytes.
    pub bytes: u64,
}

impl std::fmt::Display for Backup {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let folder = self.folder.display();
        let kilobytes = self.bytes.div_ceil(1_000);
        writeln!(out, "Backup complete and verified: {folder} ({kilobytes} kB).")?;
        write!(out, "To restore it, copy that folder and start the office with --data on the copy.")
    }
}

/// Backs up the office in the folder `data`, whether it runs or not.
pub async fn run(data: &Path, to: &Path) -> Result<Backup, BackupError> {
    if !data.join(STORE).is_file() {
        return Err(BackupError::NoOffice(data.into()));
    }
    let to = resolved(to)?;
    if to.starts_with(resolved(data)?) {
        return Err(BackupError::Inside(to));
    }
    match machine::lock_whole_folder(data) {
        Ok(lock) => {
            let data = data.to_owned();
            on_thread(move || {
                let _lock = lock;
                copy::create_target(&to)?;
                let copied = copy::copy_closed(&data, QUEUES, &to).and_then(|()| copy::copy_closed(&data, STORE, &to));
                copy::complete(&data, &to, copied)
            })
            .await
        }
        Err(FolderError::InUse(_)) => ask(&Control::read(data)?, to).await,
        Err(error) => Err(error.into()),
    }
}

/// Returns the absolute path without symbolic links. What does not exist yet is appended as it is named.
fn resolved(path: &Path) -> Result<PathBuf, BackupError> {
    let failed = |source| BackupError::Write { to: path.into(), source };
    let absolute = std::path::absolute(path).map_err(failed)?;
    for existing in absolute.ancestors() {
        match existing.canonicalize() {
            // The rest of the path cannot be a link: it does not exist.
            Ok(found) => return Ok(absolute.strip_prefix(existing).map_or(found.clone(), |rest| found.join(rest))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !existing.is_symlink() => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(absolute)
}

async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(BackupError::Interrupted))
}

/// The request for a backup.
#[derive(Serialize, Deserialize)]
struct BackupRequest {
    /// The absolute path of the folder for the backup.
    folder: String,
}

/// Asks the running office for a backup.
async fn ask(control: &Control, to: PathBuf) -> Result<Backup, BackupError> {
    let folder = to.into_os_string().into_string().map_err(|to| BackupError::Name(to.into()))?;
    let request = control.request("/local/backup")?.timeout(ANSWER_MAX).json(&BackupRequest { folder });
    let no_answer = |error: reqwest::Error| BackupError::Control(control.unanswered(&error));
    let answer = request.send().await.map_err(no_answer)?;
    if answer.status().is_success() {
        return answer.json().await.map_err(no_answer);
    }
    let status = answer.status();
    Err(BackupError::Refused(answer.json().await.unwrap_or_else(|_| format!("status {status}"))))
}

/// Serves `POST /local/backup` for everyone who can read the office's folder.
pub fn router(control: Control, files: Files) -> Router {
    Router::new().route("/local/backup", post(answer)).with_state((control, files))
}

async fn answer(
    State((control, files)): State<(Control, Files)>,
    headers: HeaderMap,
    Json(request): Json<BackupRequest>,
) -> Result<Json<Backup>, (StatusCode, Json<String>)> {
    if !control.admits(&headers) {
        let text = "only someone who can read the office's folder can make a backup";
        return Err((StatusCode::FORBIDDEN, Json(text.into())));
    }
    let made = files.backup(Path::new(&request.folder)).await;
    made.map(Json).map_err(|error| (StatusCode::CONFLICT, Json(chain(&error))))
}
