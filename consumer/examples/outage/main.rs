//! Simulates an outage of a dependency, prints a table, and writes pictures into the folder that the first argument
//! names: `cargo run --release --example outage -- docs/images`.

mod plot;
mod simulation;

use simulation::{Outcome, SETUPS, Setup, simulate};
use std::io;
use std::path::Path;

/// Any seed shows the same order.
const SEED: u64 = 1;

fn main() -> io::Result<()> {
    let outcomes: Vec<(Setup, Outcome)> = SETUPS.iter().map(|setup| (*setup, simulate(*setup, SEED))).collect();
    println!("| setup | calls in the outage | peak after it, calls per 100 ms | recovery, s | dead | handled |");
    println!("|---|---|---|---|---|---|");
    for (setup, outcome) in &outcomes {
        let Outcome { wasted, peak, recovery_s, dead, handled, .. } = outcome;
        println!("| {} | {wasted} | {peak} | {recovery_s} | {dead} | {handled} |", setup.name);
    }
    if let Some(folder) = std::env::args().nth(1) {
        let write = |name: &str, picture: String| std::fs::write(Path::new(&folder).join(name), picture);
        write("outage-jitter.svg", plot::svg("Calls per second, by jitter", &outcomes[..4]))?;
        let guarded = [2, 4, 5, 6].map(|at| outcomes[at].clone());
        write("outage-guards.svg", plot::svg("Calls per second, by budget and breaker", &guarded))?;
    }
    Ok(())
}
