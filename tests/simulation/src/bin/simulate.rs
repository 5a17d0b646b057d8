//! Runs the simulation: `simulate --seeds 10000` runs many seeds on all cores, `simulate --seed 42` repeats one, and
//! `simulate --model` checks every state of the models, `simulate --world 5` those of one world of today's replay,
//! `simulate --scope 5` those of one scope of a replay in blocks, and `simulate --keep 5` those of one scope of keeping.

use simulation::arguments::{self, Task};
use simulation::{Summary, blocks, keep, model};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A fifth of the time went into the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of failed seeds after which the run ends.
const FAILED_MAX: usize = 5;
/// One seed in so many runs twice and must give the same result. A race between threads shows in one run of a hundred.
const REPEATED_EVERY: u64 = 10;
/// Seeds between two lines of progress.
const PROGRESS_EVERY: u64 = 1_000;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match arguments::read(&args) {
        Ok(Task::Seeds(seeds)) => return run_all(seeds),
        Ok(Task::Model) => check_model(),
        Ok(Task::World(n)) => model::WORLDS.into_iter().skip(n).take(1).for_each(check_world),
        Ok(Task::Scope(n)) => {
            blocks::SCOPES.into_iter().chain(blocks::LARGE_SCOPES).skip(n).take(1).for_each(check_scope)
        }
        Ok(Task::Keep(n)) => keep::SCOPES.into_iter().chain(keep::LARGE_SCOPES).skip(n).take(1).for_each(check_keeping),
        Err(usage) => {
            eprintln!("{usage}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn run_all(seeds: std::ops::Range<u64>) -> ExitCode {
    let failed = all(seeds);
    for (seed, words) in &failed {
        eprintln!("seed {seed}: {words}\n  again: cargo xtask simulate --seed {seed}");
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn all(seeds: std::ops::Range<u64>) -> Vec<(u64, String)> {
    let start = Instant::now();
    let (next, failed, sum) = (AtomicU64::new(seeds.start), Mutex::new(Vec::new()), Mutex::new(Summary::default()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end
                || failed.lock().map_or(true, |failed: std::sync::MutexGuard<'_, Vec<_>>| failed.len() >= FAILED_MAX)
            {
                return;
            }
            match run(seed) {
                Ok(summary) => sum.lock().map(|mut sum| *sum += summary).unwrap_or_default(),
                Err(words) => failed.lock().map(|mut failed| failed.push((seed, words))).unwrap_or_default(),
            }
            if (seed + 1 - seeds.start).is_multiple_of(PROGRESS_EVERY) {
                println!("{} seeds, {:.0} s", seed + 1 - seeds.start, start.elapsed().as_secs_f64());
            }
        }
    };
    std::thread::scope(|scope| (0..threads()).for_each(|_| drop(scope.spawn(work))));
    let sum = sum.into_inner().unwrap_or_default();
    let count = seeds.end - seeds.start;
    let s = start.elapsed().as_secs_f64();
    println!(
        "{count} seeds in {s:.1} s ({:.0} a second): {} orders, {} replays ({} plans made in steps), {} letters sent ({} changed), {} confirmed, {} discarded ({} open again), {} fingerprints merged, {} letters explained by reports ({} left for one); print {:016x}",
        count as f64 / s,
        sum.orders,
        sum.replays,
        sum.drafted,
        sum.sends,
        sum.changed,
        sum.confirmed,
        sum.discarded,
        sum.taken_back,
        sum.merges,
        sum.explained,
        sum.left,
        sum.print
    );
    let mut failed = failed.into_inner().unwrap_or_default();
    failed.sort();
    failed
}

/// Runs a seed, and some seeds twice.
fn run(seed: u64) -> Result<Summary, String> {
    let summary = simulation::run(seed)?;
    if seed.is_multiple_of(REPEATED_EVERY) && simulation::run(seed)? != summary {
        return Err("a second run of the seed gave another result".into());
    }
    Ok(summary)
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Checks every state of every world and scope. Panics with the path to a state that breaks a promise.
fn check_model() {
    blocks::SCOPES.into_iter().for_each(check_scope);
    keep::SCOPES.into_iter().for_each(check_keeping);
    model::WORLDS.into_iter().for_each(check_world);
}

fn check_scope(scope: blocks::Scope) {
    let start = Instant::now();
    let blocks::Explored { states, steps } = blocks::check(scope, threads());
    println!("{scope:?}: {states} states, {steps} steps, {:.1} s", start.elapsed().as_secs_f64());
}

fn check_keeping(scope: keep::Scope) {
    let start = Instant::now();
    let keep::Explored { states, steps } = keep::check(scope, threads());
    println!("{scope:?}: {states} states, {steps} steps, {:.1} s", start.elapsed().as_secs_f64());
}

fn check_world(world: model::World) {
    let start = Instant::now();
    let states = model::check(world, threads());
    println!("{world:?}: {states} states, {:.0} s", start.elapsed().as_secs_f64());
}
