//! The worker: an executable of the office that was started to run programs, and nothing else.
//!
//! It takes its own rights away before it reads the first byte: little memory, no files, no core dump (a payload would
//! be in it). One thread runs programs, the other watches the processor time that they take: time by the wall would
//! blame a letter for a busy machine.

use crate::engine::Program;
use crate::limits::{
    COMPILE_CPU_MAX, FRAME_BYTES_MAX, LETTER_CPU_MAX, MEMORY_BYTES_MAX, ORPHAN_CPU_S, STACK_BYTES, WATCH_EVERY,
};
use crate::{Applied, Failure};
use domain::transform::ProgramFault;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The hidden first argument with which the office starts its own executable as a worker.
pub const WORKER_ARGUMENT: &str = "transform-worker";

/// How a worker ends, beside a signal.
pub mod exit {
    /// The office closed its end.
    pub const DONE: i32 = 0;
    /// A frame could not be read or written.
    pub const BROKEN: i32 = 3;
    /// A letter or a program took too much processor time.
    pub const TOO_SLOW: i32 = 4;
    /// The limits could not be set.
    pub const UNLIMITED: i32 = 5;
    /// The engine panicked.
    pub const PANIC: i32 = 6;
}

/// What the office asks.
#[derive(Serialize, Deserialize)]
pub enum Ask {
    /// Take this program from now on.
    Program(String),
    /// Run it over this body.
    Body {
        body: String,
        /// Whether the fields that change are told.
        tell: bool,
    },
}

/// What the worker answers.
#[derive(Serialize, Deserialize)]
pub enum Told {
    /// The program is compiled.
    Ready,
    /// It is none.
    Faults(Vec<ProgramFault>),
    /// What it made of the body.
    Done(Result<Applied, Failure>),
}

/// Is the worker, if this process was started as one; then it does not return. Call it first in `main`, before
/// anything reads the environment or starts a thread.
pub fn work_if_asked() {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == WORKER_ARGUMENT) {
        end(work());
    }
}

/// Since when the engine is at it, in processor time, and how long it may.
type Busy = Option<(Duration, Duration)>;

/// What the two threads share.
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

    /// Returns when the engine has taken too long.
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

/// Ends this process: a thread that runs a program cannot be stopped in another way, and there is nothing to clean up.
#[expect(clippy::disallowed_methods, reason = "the worker is made to be ended")]
fn end(code: i32) -> ! {
    std::process::exit(code)
}

fn work() -> i32 {
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
    while let Some(ask) = read_frame(&mut from)? {
        let ask = serde_json::from_slice(&ask)?;
        let at_most = if matches!(ask, Ask::Program(_)) { COMPILE_CPU_MAX } else { LETTER_CPU_MAX };
        let since = processor_time();
        keep_alive(since);
        watch.set(Some((since, at_most)));
        let told = answer(&mut program, ask);
        watch.set(None);
        to.write_all(&frame(&told)?)?;
        to.flush()?;
    }
    Ok(())
}

fn answer(program: &mut Option<Program>, ask: Ask) -> Told {
    match ask {
        Ask::Program(text) => match Program::compile(&text) {
            Ok(compiled) => {
                *program = Some(compiled);
                Told::Ready
            }
            Err(faults) => {
                *program = None;
                Told::Faults(faults)
            }
        },
        Ask::Body { body, tell } => match program {
            Some(program) => Told::Done(program.apply(&body, tell)),
            None => Told::Faults(Vec::new()),
        },
    }
}

/// Takes away what a program does not need.
fn limit() -> io::Result<()> {
    let only = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    // What is written and private: heap and stacks. The address space of an executable with its libraries is many
    // times that, and says nothing.
    setrlimit(Resource::Data, only(MEMORY_BYTES_MAX))?;
    setrlimit(Resource::Core, only(0))?;
    setrlimit(Resource::Fsize, only(0))?;
    // Standard input, output and error stay open.
    setrlimit(Resource::Nofile, only(3))?;
    Ok(())
}

/// Moves the moment at which the kernel ends this process: it is a bound of its own should the watch not work.
fn keep_alive(now: Duration) {
    let limit = Rlimit { current: Some(now.as_secs() + ORPHAN_CPU_S), maximum: None };
    // Without it the watch is left, and the office's own.
    let _ = setrlimit(Resource::Cpu, limit);
}

/// The processor time that this process has taken.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// A message with its length before it.
pub fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).map_err(|_| too_long())?;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    Ok(bytes)
}

/// How long the frame is that begins so.
pub fn frame_length(head: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_be_bytes(head) as usize;
    if length <= FRAME_BYTES_MAX { Ok(length) } else { Err(too_long()) }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a frame is longer than anything that is said here")
}

fn read_frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut head = [0; 4];
    match from.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        done => done?,
    }
    let mut bytes = vec![0; frame_length(head)?];
    from.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}
