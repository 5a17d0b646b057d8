//! Every limit of a program that runs, with its source.

use domain::limits::MESSAGE_BYTES_MAX;
use std::time::Duration;

/// The processor time that one letter may take. An ordinary program takes well below a millisecond; a MiB of numbers
/// through a program that touches each takes a tenth of this in a release build.
pub const LETTER_CPU_MAX: Duration = Duration::from_millis(250);
/// How often the worker looks at its processor time.
pub const WATCH_EVERY: Duration = Duration::from_millis(25);
/// The time by the wall that one letter may take before the worker is killed from outside: for a machine that is too
/// busy, or a worker whose own watch does not work. A function of 256 MB has a seventh of a processor.
pub const LETTER_WALL_MAX: Duration = Duration::from_secs(3);
/// The processor time that compiling a program may take: the standard library is read with it.
pub const COMPILE_CPU_MAX: Duration = Duration::from_secs(2);
/// The same for a worker's start and its program's compilation.
pub const START_WALL_MAX: Duration = Duration::from_secs(10);
/// Processor seconds after which the kernel ends a worker that runs on after the office that started it has died:
/// beyond what a letter may take, and the least that `RLIMIT_CPU` can say.
pub const ORPHAN_CPU_S: u64 = 2;
/// The memory that a worker may take, bytes, stack included: what a MiB of JSON needs at its worst (objects of one
/// member) with a copy or two, beside the office itself in a function of 256 MB, the stack's smallest.
pub const MEMORY_BYTES_MAX: u64 = 144 * 1024 * 1024;
/// The stack of the thread that runs programs.
pub const STACK_BYTES: usize = 16 * 1024 * 1024;
/// How deep a body or an answer may be nested: what serde_json and most other readers take.
pub const DEPTH_MAX: usize = 128;
/// The largest body that goes in or comes out.
pub const BODY_BYTES_MAX: usize = MESSAGE_BYTES_MAX;
/// The largest frame between office and worker: a body as a JSON string (each byte takes two at most: JSON holds no
/// control characters) and what is told beside it.
pub const FRAME_BYTES_MAX: usize = 3 * BODY_BYTES_MAX;
/// Workers that run at once: the functions have one processor or two.
pub const WORKERS_MAX: usize = 2;
/// Programs that a thread keeps compiled where they run in this process.
pub const COMPILED_MAX: usize = 16;
/// What is read of a dead worker's last words.
pub const LAST_WORDS_BYTES_MAX: u64 = 4 * 1024;
/// Faults of a program that are told at once.
pub const FAULTS_MAX: usize = 5;
