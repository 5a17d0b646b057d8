//! Simulates an outage of a dependency, prints a table, and writes pictures into the folder that the first argument
//! names: `cargo run --release -p dlo-consumer --example outage -- consumer/images`.

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
        for (name, picture) in pictures(&outcomes) {
            std::fs::write(Path::new(&folder).join(name), picture)?;
        }
    }
    Ok(())
}

/// Returns the pictures with their files' names.
fn pictures(outcomes: &[(Setup, Outcome)]) -> [(&'static str, String); 2] {
    let guarded = [2, 4, 5, 6].map(|at| outcomes[at].clone());
    [
        ("outage-jitter.svg", plot::svg("Calls per second, by jitter", &outcomes[..4])),
        ("outage-guards.svg", plot::svg("Calls per second, by budget and breaker", &guarded)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    static OUTCOMES: LazyLock<Vec<(Setup, Outcome)>> =
        LazyLock::new(|| SETUPS.iter().map(|setup| (*setup, simulate(*setup, SEED))).collect());

    fn named(name: &str) -> &'static (Setup, Outcome) {
        OUTCOMES.iter().find(|(setup, _)| setup.name == name).expect("a setup")
    }

    #[test]
    fn the_known_order_comes_out() {
        let [none, equal, full] = ["no jitter", "equal jitter", "full jitter"].map(|name| &named(name).1);
        assert!(none.recovery_s > equal.recovery_s && equal.recovery_s > full.recovery_s);
        let guarded = ["full jitter, budget", "full jitter, breaker", "full jitter, both"];
        let [budget, breaker, both] = guarded.map(|name| &named(name).1);
        // The budget bounds the retries to a tenth of the 60,000 requests of the outage.
        assert!(budget.wasted <= 66_000 && budget.recovery_s == 0);
        // The breaker spares the dependency the most, but its waiting messages return together.
        assert!(breaker.wasted < budget.wasted && breaker.recovery_s > full.recovery_s);
        assert!(both.wasted == breaker.wasted && both.recovery_s < full.recovery_s);
        assert!(both.dead > full.dead, "a budget trades retries for dead letters");
    }

    #[test]
    fn another_seed_recovers_at_about_the_same_time() {
        let (setup, first) = named("full jitter");
        let other = simulate(*setup, SEED + 1);
        assert!(other != *first && other.recovery_s.abs_diff(first.recovery_s) < 10, "{}", other.recovery_s);
    }

    #[test]
    fn no_message_is_lost() {
        for (setup, outcome) in &*OUTCOMES {
            assert_eq!(outcome.handled + outcome.dead + outcome.waiting, 300_000, "{}", setup.name);
        }
    }

    #[test]
    fn the_pictures_in_the_docs_are_these() {
        let shown = |name: &str| {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("images").join(name);
            std::fs::read_to_string(file).expect("a picture")
        };
        for (name, picture) in pictures(&OUTCOMES) {
            assert!(shown(name) == picture, "{name} is old: run the example again");
        }
    }
}
