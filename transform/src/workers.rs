//! The office's side: starts workers, asks them, and replaces those that a program has ended.

use crate::engine::Program;
use crate::limits::{COMPILED_MAX, LAST_WORDS_BYTES_MAX, LETTER_WALL_MAX, START_WALL_MAX, WORKERS_MAX};
use crate::worker::{Ask, Told, WORKER_ARGUMENT, exit, frame, frame_length};
use crate::{Failure, Outcome, Run};
use domain::limits::PROGRAM_BYTES_MAX;
use domain::transform::ProgramFault;
use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// No worker could be had. Says nothing about a letter: what was to be done with it is done later.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// It did not start.
    #[error("the worker for transforms did not start ({})", executable.display())]
    Start {
        /// What was started.
        executable: PathBuf,
        /// The fault.
        source: io::Error,
    },
    /// It started, and ended without a word.
    #[error("the worker for transforms ended at once ({how})")]
    Ended {
        /// How.
        how: String,
    },
}

/// Runs programs over bodies.
pub struct Transforms {
    /// What is started; none for programs that are known to end.
    executable: Option<PathBuf>,
    slots: Semaphore,
    idle: Mutex<Vec<Worker>>,
}

impl Transforms {
    /// With workers of this executable, whose `main` begins with [`crate::work_if_asked`].
    pub fn by_this_executable() -> Self {
        // The link names the file that runs, also when another has taken its place since.
        let link = PathBuf::from("/proc/self/exe");
        let path = if link.exists() { Ok(link.clone()) } else { std::env::current_exe() };
        Self::by(path.unwrap_or(link))
    }

    /// With workers of another executable of the office.
    pub fn by(executable: PathBuf) -> Self {
        Self { executable: Some(executable), slots: Semaphore::new(WORKERS_MAX), idle: Mutex::default() }
    }

    /// In this process, without a bound: for programs that are known to end, where nothing may depend on the machine's
    /// speed (the simulation).
    pub fn unbounded() -> Self {
        Self { executable: None, slots: Semaphore::new(WORKERS_MAX), idle: Mutex::default() }
    }

    /// Runs a program over some bodies. `tell` asks for the fields that change.
    pub async fn run(&self, program: &str, bodies: &[&str], tell: bool) -> Result<Run, WorkerError> {
        if program.len() > PROGRAM_BYTES_MAX {
            return Ok(Program::compile(program).map(|_| Vec::new()));
        }
        let Some(executable) = &self.executable else { return Ok(here(program, bodies, tell)) };
        // The semaphore is never closed.
        let _slot = self.slots.acquire().await.ok();
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let mut at_work = AtWork { executable, program, worker: known };
        let mut outcomes = Vec::with_capacity(bodies.len());
        // Without bodies the program is still compiled: what is wrong with it is an answer.
        let mut faults = at_work.ready().await?.err();
        for body in bodies {
            if faults.is_some() {
                break;
            }
            match at_work.apply(body, tell).await? {
                Ok(outcome) => outcomes.push(outcome),
                Err(wrong) => faults = Some(wrong),
            }
        }
        idle().extend(at_work.worker);
        Ok(faults.map_or(Ok(outcomes), Err))
    }
}

thread_local! {
    /// The programs that this thread ran last, latest first: compiling one reads the whole standard library.
    static COMPILED: RefCell<Vec<(String, Program)>> = const { RefCell::new(Vec::new()) };
}

fn here(program: &str, bodies: &[&str], tell: bool) -> Run {
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
        Ok(bodies.iter().map(|body| compiled[0].1.apply(body, tell)).collect())
    })
}

/// A program that is run, and the worker that runs it now.
struct AtWork<'a> {
    executable: &'a PathBuf,
    program: &'a str,
    worker: Option<Worker>,
}

impl AtWork<'_> {
    /// Sees to it that there is a worker that has the program.
    async fn ready(&mut self) -> Result<Result<(), Vec<ProgramFault>>, WorkerError> {
        if self.worker.as_ref().is_some_and(|worker| worker.program.as_deref() == Some(self.program)) {
            return Ok(Ok(()));
        }
        // One that was idle may have ended meanwhile: that says nothing.
        for is_last_try in [false, true] {
            let mut worker = match self.worker.take() {
                Some(worker) => worker,
                None => Worker::start(self.executable)?,
            };
            match worker.ask(&Ask::Program(self.program.into()), START_WALL_MAX).await {
                Some(Told::Ready) => {
                    worker.program = Some(self.program.into());
                    self.worker = Some(worker);
                    return Ok(Ok(()));
                }
                Some(Told::Faults(faults)) => {
                    worker.program = None;
                    self.worker = Some(worker);
                    return Ok(Err(faults));
                }
                Some(Told::Done(_)) | None => match worker.end().await {
                    Failure::Crashed(how) if is_last_try => return Err(WorkerError::Ended { how }),
                    Failure::Crashed(_) => {}
                    why => {
                        let message = format!("It cannot be compiled: it is nested too deep, or too long. {why}");
                        return Ok(Err(vec![ProgramFault { line: 1, column: 1, message }]));
                    }
                },
            }
        }
        Err(WorkerError::Ended { how: "twice".into() })
    }

    async fn apply(&mut self, body: &str, tell: bool) -> Result<Result<Outcome, Vec<ProgramFault>>, WorkerError> {
        let mut failure = Failure::Crashed(String::new());
        for _ in 0..2 {
            if let Err(faults) = self.ready().await? {
                return Ok(Err(faults));
            }
            let Some(mut worker) = self.worker.take() else { break };
            match worker.ask(&Ask::Body { body: body.into(), tell }, LETTER_WALL_MAX).await {
                Some(Told::Done(outcome)) => {
                    self.worker = Some(worker);
                    return Ok(Ok(outcome));
                }
                _ => failure = worker.end().await,
            }
            // Somebody else may have ended it: the letter gets a second try before it is blamed.
            if !matches!(failure, Failure::Crashed(_)) {
                break;
            }
        }
        Ok(Ok(Err(failure)))
    }
}

/// A worker that runs.
struct Worker {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
    /// What it has compiled.
    program: Option<String>,
}

impl Worker {
    fn start(executable: &PathBuf) -> Result<Self, WorkerError> {
        let start = |source| WorkerError::Start { executable: executable.clone(), source };
        let mut child = Command::new(executable)
            .arg(WORKER_ARGUMENT)
            // What the office is told by its environment is no program's business.
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
            _ => Err(start(io::Error::other("it has no pipes"))),
        }
    }

    /// Asks, and waits for the answer; none when it has ended, or takes too long.
    async fn ask(&mut self, ask: &Ask, at_most: Duration) -> Option<Told> {
        let frame = frame(ask).ok()?;
        let answer = async {
            self.to.write_all(&frame).await?;
            let mut head = [0; 4];
            self.from.read_exact(&mut head).await?;
            let mut bytes = vec![0; frame_length(head)?];
            self.from.read_exact(&mut bytes).await?;
            Ok::<Told, io::Error>(serde_json::from_slice(&bytes)?)
        };
        timeout(at_most, answer).await.ok()?.ok()
    }

    /// Ends it, and says what it ended of.
    async fn end(mut self) -> Failure {
        // A worker that was ended by its own watch or by the kernel is gone in a moment; another has to be killed.
        let Ok(Ok(status)) = timeout(Duration::from_millis(500), self.child.wait()).await else {
            // Its end is awaited by the runtime; the letter is not kept waiting for it.
            let _ = self.child.start_kill();
            return Failure::TooSlow;
        };
        let mut words = Vec::new();
        if let Some(last) = self.child.stderr.take() {
            let _ = timeout(Duration::from_millis(500), last.take(LAST_WORDS_BYTES_MAX).read_to_end(&mut words)).await;
        }
        ended_of(status, &String::from_utf8_lossy(&words))
    }
}

/// What a worker ended of, by its status and what the standard library wrote last.
fn ended_of(status: ExitStatus, words: &str) -> Failure {
    if status.code() == Some(exit::TOO_SLOW) {
        Failure::TooSlow
    } else if words.contains("overflowed its stack") {
        Failure::TooMuchRecursion
    } else if words.contains("memory allocation") || words.contains("capacity overflow") {
        Failure::TooMuchMemory
    } else {
        Failure::Crashed(status.to_string())
    }
}
