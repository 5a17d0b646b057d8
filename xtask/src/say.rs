//! What the terminal shows: phases with their seconds, notes, failures.
//!
//! Everything goes to stdout, so that a log keeps the order; only `cargo` itself writes to stderr.

use crate::failure::{Failure, Outcome};
use std::time::{Duration, Instant};

/// Runs one phase and says how long it took.
pub fn phase<T>(name: &str, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    println!("==> {name}");
    let started = Instant::now();
    let result = work()?;
    println!("    done in {}", seconds(started.elapsed()));
    Ok(result)
}

/// How a line starts that `cargo ci` shows even where its step passes.
pub const WARNING: &str = "    warning: ";

pub fn warning(text: &str) {
    println!("{WARNING}{text}");
}

pub fn note(text: &str) {
    println!("    {text}");
}

pub fn failure(failure: &Failure) {
    if let Some(log) = &failure.log {
        println!("\n--- the last lines of its output ---\n{log}\n---");
    }
    println!("\n{}", failure.what);
    if let Some(remedy) = &failure.remedy {
        println!("{remedy}");
    }
}

pub fn seconds(elapsed: Duration) -> String {
    let whole = elapsed.as_secs();
    if whole >= 60 {
        return format!("{} min {:02} s", whole / 60, whole % 60);
    }
    format!("{}.{} s", whole, elapsed.subsec_millis() / 100)
}

pub fn kilobytes(bytes: u64) -> String {
    format!("{}.{} kB", bytes / 1000, bytes % 1000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_short() {
        assert_eq!(seconds(Duration::from_millis(4_270)), "4.2 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 05 s");
        assert_eq!(kilobytes(255_049), "255.0 kB");
    }
}
