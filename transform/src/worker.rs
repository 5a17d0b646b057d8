//! The worker: an executable of the office, started only to run programs.
//!
//! It drops its own rights before it reads the first byte: little memory, no files, and no core dump, because that would
//! contain a payload. One thread runs programs; the other watches the processor time that they take. Wall-clock time
//! would blame a letter for a busy machine.

use crate::engine::Program;
use crate::limits::{
    COMPILE_CPU_MAX, FRAME_BYTES_MAX, LETTER_CPU_MAX, MEMORY_BYTES_MAX, ORPHAN_CPU_S, STACK_BYTES, WATCH_EVERY,
};
use crate::outcome::Outcome;
use domain::transform::ProgramFault;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The hidden first argument with which the office starts its own executable as a worker.
pub const WORKER_ARGUMENT: &str = "transform-worker";

/// Exit codes of a worker.
pub mod exit {
    /// The office closed the pipe.
    pub const DONE: i32 = 0;
    /// Reading or writing a frame failed.
    pub const BROKEN: i32 = 3;
    /// A letter or a program took too much processor time.
    pub const TOO_SLOW: i32 = 4;
    /// Setting the limits failed.
    pub const UNLIMITED: i32 = 5;
    /// The engine panicked.
    pub const PANIC: i32 = 6;
}

/// The office's request to a worker.
#[derive(Serialize, Deserialize)]
pub enum Request {
    /// Compile this program and use it from now on.
    Program(String),
    /// Run the current program over this body.
    Body {
        body: String,
        /// Whether to return the changed fields.
        with_changes: bool,
    },
}

/// The worker's response.
#[derive(Serialize, Deserialize)]
pub enum Answer {
    /// The program is compiled.
    Ready,
    /// The program does not compile, or no program was sent.
    Faults(Vec<ProgramFault>),
    /// The result for the body.
    Done(Outcome),
}

/// Runs the worker if this process was started as one, and then never returns. Otherwise does nothing.
///
/// Call this first in `main`, before anything reads the environment or starts a thread.
///
/// ```no_run
/// // First thing in `main`:
/// transform::work_if_asked();
/// println!("the office");
/// ```
pub fn work_if_asked() {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == WORKER_ARGUMENT) {
        end(work());
    }
}

/// When the engine started on the current request, in processor time, and how long it may take.
type Busy = Option<(Duration, Duration)>;

/// The state that the two threads share.
#[derive(Default)]
struct Watch {
    busy: Mutex<Busy>,
    changed: Condvar,
}

impl Watch {
    fn set(&self, busy: Busy) {
        *self.busy.lock().unwrap_or_else(PoisonError::into_inner) = busy;
        self.changed.notify_one();
    }

    /// Blocks until the engine has taken too long.
    fn until_too_slow(&self) {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            busy = match *busy {
                None => self.changed.wait(busy).unwrap_or_else(PoisonError::into_inner),
                Some((since, at_most)) if processor_time().saturating_sub(since) > at_most => return,
                Some(_) => self.changed.wait_timeout(busy, WATCH_EVERY).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }
}

/// Ends this process. A thread that runs a program cannot be interrupted otherwise, and there is nothing to clean up.
#[expect(clippy::disallowed_methods, reason = "exit is the only way to end a running program")]
fn end(code: i32) -> ! {
    std::process::exit(code)
}

fn work() -> i32 {
    // The text of a panic may contain part of a payload, and nobody reads this process's standard error before its end.
    std::panic::set_hook(Box::new(|_| {}));
    let watch = Arc::new(Watch::default());
    let engine = {
        let watch = watch.clone();
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| serve(&watch)));
            end(match ended {
                Ok(Ok(())) => exit::DONE,
                Ok(Err(_)) => exit::BROKEN,
                Err(_) => exit::PANIC,
            })
        })
    };
    if engine.is_err() {
        return exit::UNLIMITED;
    }
    watch.until_too_slow();
    exit::TOO_SLOW
}

fn serve(watch: &Watch) -> io::Result<()> {
    if limit().is_err() {
        end(exit::UNLIMITED);
    }
    let (mut from, mut to) = (io::stdin().lock(), io::stdout().lock());
    let mut program = None;
    while let Some(bytes) = read_frame(&mut from)? {
        let request = serde_json::from_slice(&bytes)?;
        let at_most = if matches!(request, Request::Program(_)) { COMPILE_CPU_MAX } else { LETTER_CPU_MAX };
        let since = processor_time();
        keep_alive(since);
        watch.set(Some((since, at_most)));
        let answer = respond(&mut program, request);
        watch.set(None);
        to.write_all(&frame(&answer)?)?;
        to.flush()?;
    }
    Ok(())
}

fn respond(program: &mut Option<Program>, request: Request) -> Answer {
    match request {
        Request::Program(text) => match Program::compile(&text) {
            Ok(compiled) => {
                *program = Some(compiled);
                Answer::Ready
            }
            Err(faults) => {
                *program = None;
                Answer::Faults(faults)
            }
        },
        Request::Body { body, with_changes } => match program {
            Some(program) => Answer::Done(program.apply(&body, with_changes)),
            None => Answer::Faults(Vec::new()),
        },
    }
}

/// Drops the rights that a program does not need.
fn limit() -> io::Result<()> {
    let only = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    // Limits private writable memory: heap and stacks. The address space is no measure; with the executable and its
    // libraries it is many times larger.
    setrlimit(Resource::Data, only(MEMORY_BYTES_MAX))?;
    setrlimit(Resource::Core, only(0))?;
    setrlimit(Resource::Fsize, only(0))?;
    // Standard input, output and error stay open.
    setrlimit(Resource::Nofile, only(3))?;
    Ok(())
}

/// Postpones the moment at which the kernel ends this process. The kernel's limit holds even if the watch fails.
fn keep_alive(now: Duration) {
    let limit = Rlimit { current: Some(now.as_secs() + ORPHAN_CPU_S), maximum: None };
    // If this fails, the watch and the office's own timeout remain.
    let _ = setrlimit(Resource::Cpu, limit);
}

/// Returns the processor time that this process has used.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Returns a message as a frame: its length in four bytes, then JSON.
pub fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).map_err(|_| too_long())?;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    Ok(bytes)
}

/// Returns the length of the frame that begins with these bytes; fails if it is above the limit.
pub fn frame_length(header: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_be_bytes(header) as usize;
    if length <= FRAME_BYTES_MAX { Ok(length) } else { Err(too_long()) }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a frame exceeds FRAME_BYTES_MAX")
}

fn read_frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut header = [0; 4];
    match from.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        done => done?,
    }
    let mut bytes = vec![0; frame_length(header)?];
    from.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}
