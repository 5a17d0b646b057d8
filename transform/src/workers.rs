//! The office's side: starts workers, sends them requests, and replaces those that a program has ended.
//!
//! Sending has workers of its own, so that a replay never waits for a preview.

use crate::engine::Program;
use crate::limits::{COMPILED_MAX, LETTER_WALL_MAX, PREVIEWS_MAX, START_WALL_MAX, STDERR_BYTES_MAX, WORKERS_MAX};
use crate::outcome::{Failure, Outcome, Run};
use crate::worker::{Answer, Request, WORKER_ARGUMENT, exit, frame, frame_length};
use domain::limits::PROGRAM_BYTES_MAX;
use domain::transform::ProgramFault;
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// No worker is available. This says nothing about the letters: the caller retries them later.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The executable did not start.
    #[error("the transform worker did not start ({})", executable.display())]
    Start {
        /// The executable.
        executable: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The worker started, and ended before it responded.
    #[error("the transform worker ended right after its start ({how})")]
    Ended {
        /// Its exit status.
        how: String,
    },
    /// As many previews and dry runs as allowed are in progress.
    #[error(
        "too many previews and dry runs are in progress, so this one did not start. Nothing was saved. Try again in a few seconds"
    )]
    Busy,
}

/// Runs programs over bodies, with limited time and memory. The crate's documentation has an example.
pub struct Transforms {
    /// The worker's executable; `None` to run programs in this process.
    executable: Option<PathBuf>,
    sending: Pool,
    previewing: Pool,
    /// Places for previews and dry runs, whether they run or wait for a worker.
    places: Semaphore,
}

/// The workers of one purpose.
struct Pool {
    slots: Semaphore,
    idle: Mutex<Vec<Worker>>,
}

impl Pool {
    fn new() -> Self {
        Self { slots: Semaphore::new(WORKERS_MAX), idle: Mutex::default() }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transforms {
    /// Runs programs in workers of this executable, whose `main` must begin with [`crate::work_if_asked`].
    pub fn with_this_executable() -> Self {
        // The link names the running file, even if another file has replaced it since.
        let link = PathBuf::from("/proc/self/exe");
        let path = if link.exists() { Ok(link.clone()) } else { std::env::current_exe() };
        Self::with_executable(path.unwrap_or(link))
    }

    /// Runs programs in workers of another executable of the office.
    pub fn with_executable(executable: PathBuf) -> Self {
        Self::new(Some(executable))
    }

    /// Runs programs in this process, without limits: for programs that are known to end. The simulation uses this,
    /// because its results must not depend on the machine's speed.
    pub fn in_this_process() -> Self {
        Self::new(None)
    }

    fn new(executable: Option<PathBuf>) -> Self {
        Self { executable, sending: Pool::new(), previewing: Pool::new(), places: Semaphore::new(PREVIEWS_MAX) }
    }

    /// Returns the runner for letters that a replay is about to send.
    pub fn sending(&self) -> Runner<'_> {
        Runner { executable: self.executable.as_deref(), pool: &self.sending, _place: None }
    }

    /// Returns a runner for a preview, a dry run, or a program that someone saves. Keep it until the call is answered:
    /// it holds one of a limited number of places. Returns [`WorkerError::Busy`] if none is free.
    pub fn previewing(&self) -> Result<Runner<'_>, WorkerError> {
        let place = self.places.try_acquire().map_err(|_| WorkerError::Busy)?;
        Ok(Runner { executable: self.executable.as_deref(), pool: &self.previewing, _place: Some(place) })
    }
}

/// Runs programs for one purpose.
pub struct Runner<'a> {
    executable: Option<&'a Path>,
    pool: &'a Pool,
    _place: Option<SemaphorePermit<'a>>,
}

impl Runner<'_> {
    /// Runs a program over bodies and returns one outcome for each, or the program's faults. `with_changes` requests the
    /// changed fields. Without bodies the program is only compiled. Dropping the future ends the worker.
    pub async fn run(&self, program: &str, bodies: &[&str], with_changes: bool) -> Result<Run, WorkerError> {
        if program.len() > PROGRAM_BYTES_MAX {
            return Ok(Program::compile(program).map(|_| Vec::new()));
        }
        let Some(executable) = self.executable else { return Ok(run_here(program, bodies, with_changes)) };
        // The semaphore is never closed.
        let _slot = self.pool.slots.acquire().await.ok();
        let worker = self.pool.idle().pop();
        let mut session = Session { executable, program, worker };
        let mut outcomes = Vec::with_capacity(bodies.len());
        // Compiles even without bodies, because the caller may only want the faults.
        let mut faults = session.ready().await?.err();
        for body in bodies {
            if faults.is_some() {
                break;
            }
            match session.apply(body, with_changes).await? {
                Ok(outcome) => outcomes.push(outcome),
                Err(found) => faults = Some(found),
            }
        }
        self.pool.idle().extend(session.worker);
        Ok(faults.map_or(Ok(outcomes), Err))
    }
}

thread_local! {
    /// The programs that this thread ran last, latest first. Compiling is slow: it parses the whole standard library.
    static COMPILED: RefCell<Vec<(String, Program)>> = const { RefCell::new(Vec::new()) };
}

fn run_here(program: &str, bodies: &[&str], with_changes: bool) -> Run {
    COMPILED.with_borrow_mut(|compiled| {
        let at = match compiled.iter().position(|(text, _)| text == program) {
            Some(at) => at,
            None => {
                compiled.truncate(COMPILED_MAX - 1);
                compiled.push((program.to_string(), Program::compile(program)?));
                compiled.len() - 1
            }
        };
        compiled[..=at].rotate_right(1);
        Ok(bodies.iter().map(|body| compiled[0].1.apply(body, with_changes)).collect())
    })
}

/// One run of a program, and its current worker.
struct Session<'a> {
    executable: &'a Path,
    program: &'a str,
    worker: Option<Worker>,
}

impl Session<'_> {
    /// Makes sure that a worker with the compiled program is available.
    async fn ready(&mut self) -> Result<Result<(), Vec<ProgramFault>>, WorkerError> {
        if self.worker.as_ref().is_some_and(|worker| worker.program.as_deref() == Some(self.program)) {
            return Ok(Ok(()));
        }
        // An idle worker may have ended in the meantime, which says nothing about the program.
        for is_last_try in [false, true] {
            let mut worker = match self.worker.take() {
                Some(worker) => worker,
                None => Worker::start(self.executable)?,
            };
            match worker.request(&Request::Program(self.program.into()), START_WALL_MAX).await {
                Some(Answer::Ready) => {
                    worker.program = Some(self.program.into());
                    self.worker = Some(worker);
                    return Ok(Ok(()));
                }
                Some(Answer::Faults(faults)) => {
                    worker.program = None;
                    self.worker = Some(worker);
                    return Ok(Err(faults));
                }
                Some(Answer::Done(_)) | None => match worker.end().await {
                    Failure::Crashed(how) if is_last_try => return Err(WorkerError::Ended { how }),
                    Failure::Crashed(_) => {}
                    why => {
                        let message = format!("The program is too long or too deeply nested to compile. {why}");
                        return Ok(Err(vec![ProgramFault { line: 1, column: 1, message }]));
                    }
                },
            }
        }
        Err(WorkerError::Ended { how: "twice".into() })
    }

    async fn apply(
        &mut self,
        body: &str,
        with_changes: bool,
    ) -> Result<Result<Outcome, Vec<ProgramFault>>, WorkerError> {
        let mut failure = Failure::Crashed(String::new());
        for _ in 0..2 {
            if let Err(faults) = self.ready().await? {
                return Ok(Err(faults));
            }
            let Some(mut worker) = self.worker.take() else { break };
            match worker.request(&Request::Body { body: body.into(), with_changes }, LETTER_WALL_MAX).await {
                Some(Answer::Done(outcome)) => {
                    self.worker = Some(worker);
                    return Ok(Ok(outcome));
                }
                _ => failure = worker.end().await,
            }
            // Something else may have ended the worker, so the letter gets a second attempt.
            if !matches!(failure, Failure::Crashed(_)) {
                break;
            }
        }
        Ok(Ok(Err(failure)))
    }
}

/// A running worker.
struct Worker {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
    /// The program that it has compiled.
    program: Option<String>,
}

impl Worker {
    fn start(executable: &Path) -> Result<Self, WorkerError> {
        let start = |source| WorkerError::Start { executable: executable.into(), source };
        let mut child = Command::new(executable)
            .arg(WORKER_ARGUMENT)
            // The office's environment holds settings that no program may read.
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(start)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(to), Some(from)) => Ok(Self { child, to, from, program: None }),
            _ => Err(start(io::Error::other("the worker has no pipes"))),
        }
    }

    /// Sends a request and waits for the response; returns `None` if the worker ended or took too long.
    async fn request(&mut self, request: &Request, at_most: Duration) -> Option<Answer> {
        let frame = frame(request).ok()?;
        let answer = async {
            self.to.write_all(&frame).await?;
            let mut header = [0; 4];
            self.from.read_exact(&mut header).await?;
            let mut bytes = vec![0; frame_length(header)?];
            self.from.read_exact(&mut bytes).await?;
            Ok::<Answer, io::Error>(serde_json::from_slice(&bytes)?)
        };
        timeout(at_most, answer).await.ok()?.ok()
    }

    /// Ends the worker and returns why it failed.
    async fn end(mut self) -> Failure {
        // A worker that its own watch or the kernel ended exits within moments; any other has to be killed.
        let Ok(Ok(status)) = timeout(Duration::from_millis(500), self.child.wait()).await else {
            // The runtime reaps the process; the letter does not wait for that.
            let _ = self.child.start_kill();
            return Failure::TooSlow;
        };
        let mut stderr = Vec::new();
        if let Some(pipe) = self.child.stderr.take() {
            let _ = timeout(Duration::from_millis(500), pipe.take(STDERR_BYTES_MAX).read_to_end(&mut stderr)).await;
        }
        failure_from(status, &String::from_utf8_lossy(&stderr))
    }
}

/// Derives the failure from the exit status and from what the standard library wrote to standard error.
fn failure_from(status: ExitStatus, stderr: &str) -> Failure {
    if status.code() == Some(exit::TOO_SLOW) {
        Failure::TooSlow
    } else if stderr.contains("overflowed its stack") {
        Failure::TooMuchRecursion
    } else if stderr.contains("memory allocation") {
        Failure::TooMuchMemory
    } else {
        Failure::Crashed(status.to_string())
    }
}
