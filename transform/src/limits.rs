//! Every limit of a running program, with its source.

use domain::limits::MESSAGE_BYTES_MAX;
use std::time::Duration;

/// The processor time that one letter may take. An ordinary program takes well below a millisecond. A program that
/// changes each number in 1 MiB of numbers takes a tenth of this limit in a release build.
pub const LETTER_CPU_MAX: Duration = Duration::from_millis(250);
/// How often the worker checks its processor time.
pub const WATCH_EVERY: Duration = Duration::from_millis(25);
/// The wall-clock time that one letter may take before the office kills the worker: for an overloaded machine, or if the
/// worker's own watch fails. A Lambda function with 256 MB has a seventh of a processor.
pub const LETTER_WALL_MAX: Duration = Duration::from_secs(3);
/// The processor time that compiling a program may take; that includes parsing the standard library.
pub const COMPILE_CPU_MAX: Duration = Duration::from_secs(2);
/// The wall-clock time for starting a worker and compiling its program.
pub const START_WALL_MAX: Duration = Duration::from_secs(10);
/// Processor seconds after which the kernel ends a worker that outlives the office: more than a letter may take, and
/// rounded up to whole seconds, because `RLIMIT_CPU` has no smaller unit.
pub const ORPHAN_CPU_S: u64 = 2;
/// The memory that a worker may take, in bytes, stack included. This fits the worst 1 MiB of JSON (objects with one
/// member each) with a copy or two, beside the office itself in 256 MB, the stack's smallest Lambda function.
pub const MEMORY_BYTES_MAX: u64 = 144 * 1024 * 1024;
/// The stack size of the thread that runs programs, in bytes.
pub const STACK_BYTES: usize = 16 * 1024 * 1024;
/// How deep a body or an output may be nested: the limit of serde_json and of most other parsers.
pub const DEPTH_MAX: usize = 128;
/// The largest body, as input and as output.
pub const BODY_BYTES_MAX: usize = MESSAGE_BYTES_MAX;
/// The largest frame between office and worker: a body as a JSON string, plus the changes. An escaped byte of JSON takes
/// two bytes at most, because valid JSON contains no raw control characters except line breaks and tabs.
pub const FRAME_BYTES_MAX: usize = 3 * BODY_BYTES_MAX;
/// Workers of one purpose that run at the same time: the Lambda functions have one or two processors.
pub const WORKERS_MAX: usize = 2;
/// Previews and dry runs that are in progress at the same time. Further ones are refused, because each waits for its turn
/// at a worker after every few letters: with eight, a turn of one-second programs comes within four seconds.
pub const PREVIEWS_MAX: usize = 8;
/// Compiled programs that a thread caches if programs run in this process.
pub const COMPILED_MAX: usize = 16;
/// How much of a dead worker's standard error is read, in bytes.
pub const STDERR_BYTES_MAX: u64 = 4 * 1024;
/// The most faults that are reported for one program.
pub const FAULTS_MAX: usize = 5;
