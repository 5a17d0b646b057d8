//! Runs the simulation over many seeds, on all cores: `simulate --seeds 10000`, or one again: `simulate --seed 42`; or
//! looks at every state of the model: `simulate --model`.

use simulation::Summary;
use simulation::model;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Broken seeds after which it stops.
const BROKEN_MAX: usize = 5;
/// One seed in so many is told twice, and must end as it did: a thread that takes part shows in one story of a hundred.
const TOLD_TWICE_EVERY: u64 = 10;
/// Seeds between two lines of progress.
const TOLD_EVERY: u64 = 1_000;

fn main() -> ExitCode {
    transform::work_if_asked();
    let mut seeds = 0..10_000;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--model" {
            every_state();
            return ExitCode::SUCCESS;
        }
        let number = arguments.next().and_then(|text| text.parse::<u64>().ok());
        match (argument.as_str(), number) {
            ("--seeds", Some(count)) => seeds.end = seeds.start + count,
            ("--from", Some(first)) => seeds = first..first + (seeds.end - seeds.start),
            ("--seed", Some(seed)) => seeds = seed..seed + 1,
            _ => {
                eprintln!("usage: simulate [--from N] [--seeds COUNT] | --seed N | --model");
                return ExitCode::from(2);
            }
        }
    }
    let broken = all(seeds);
    for (seed, words) in &broken {
        eprintln!("seed {seed}: {words}\n  again: cargo xtask simulate --seed {seed}");
    }
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn all(seeds: std::ops::Range<u64>) -> Vec<(u64, String)> {
    let start = Instant::now();
    let (next, broken, sum) = (AtomicU64::new(seeds.start), Mutex::new(Vec::new()), Mutex::new(Summary::default()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end
                || broken.lock().map_or(true, |broken: std::sync::MutexGuard<'_, Vec<_>>| broken.len() >= BROKEN_MAX)
            {
                return;
            }
            match told(seed) {
                Ok(told) => sum.lock().map(|mut sum| *sum += told).unwrap_or_default(),
                Err(words) => broken.lock().map(|mut broken| broken.push((seed, words))).unwrap_or_default(),
            }
            if (seed + 1 - seeds.start).is_multiple_of(TOLD_EVERY) {
                println!("{} seeds, {:.0} s", seed + 1 - seeds.start, start.elapsed().as_secs_f64());
            }
        }
    };
    std::thread::scope(|scope| (0..threads()).for_each(|_| drop(scope.spawn(work))));
    let sum = sum.into_inner().unwrap_or_default();
    let count = seeds.end - seeds.start;
    let s = start.elapsed().as_secs_f64();
    println!(
        "{count} seeds in {s:.1} s ({:.0} a second): {} orders, {} replays, {} letters sent ({} changed), {} confirmed, {} fingerprints merged; print {:016x}",
        count as f64 / s,
        sum.orders,
        sum.replays,
        sum.sends,
        sum.changed,
        sum.confirmed,
        sum.merges,
        sum.print
    );
    let mut broken = broken.into_inner().unwrap_or_default();
    broken.sort();
    broken
}

/// A story, and now and then the same again.
fn told(seed: u64) -> Result<Summary, String> {
    let told = simulation::run(seed)?;
    if seed.is_multiple_of(TOLD_TWICE_EVERY) && simulation::run(seed)? != told {
        return Err("told again it ends in another way".into());
    }
    Ok(told)
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A broken promise panics, and says how to get there.
fn every_state() {
    for world in model::WORLDS {
        let start = Instant::now();
        let states = model::check(world, threads());
        println!("{world:?}: {states} states, {:.0} s", start.elapsed().as_secs_f64());
    }
}
