//! How fast a group's page is by the number of its letters: milliseconds until its first letters are painted, until the
//! next ones are, and until they stand in another order; then the seconds until a plan of all of them is complete.
//!
//! Needs the program of `cargo demo`, Chromium and its driver. `cargo run -p dlo-browser --example large_group -- 1000 1000000`.

use browser::driver::Driver;
use browser::person::Person;
use domain::role::Role;
use harness::running::Demo;
use serde_json::json;
use std::time::{Duration, Instant};

/// How often each page is loaded. The median counts.
const LOADS: usize = 5;

/// How long a plan may take.
const PLAN_MAX: Duration = Duration::from_secs(600);

/// Presses a button, if one is named, and returns the milliseconds until the table has rows and they have changed.
const CHANGED: &str = "
    const [label, done] = arguments, began = performance.now();
    const rows = () => [...document.querySelectorAll('[aria-label=\"Table of letters\"] tbody tr')];
    const seen = () => `${rows().length} ${rows()[0]?.innerText ?? ''}`;
    const before = seen();
    if (label) [...document.querySelectorAll('button')].find(button => button.innerText.startsWith(label)).click();
    const look = () => rows().length && (!label || seen() !== before)
        ? requestAnimationFrame(() => setTimeout(() => done(label ? performance.now() - began : performance.now())))
        : requestAnimationFrame(look);
    look();
";

#[tokio::main]
async fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let driver = Driver::start();
    for letters in if sizes.is_empty() { vec![1_000, 100_000] } else { sizes } {
        let folder = tempfile::tempdir().expect("a folder");
        let began = Instant::now();
        let demo = Demo::start_over(folder.path(), async |store| {
            harness::many::letters(store, letters).await;
        })
        .await;
        println!("{letters} letters: stored, and served, after {:.0} s", began.elapsed().as_secs_f64());
        let person = Person::new(&driver, "otto").await;
        person.open(demo.link(Role::Operator)).await;
        person.find("heading", "Groups").await;
        measure(&person, &demo, letters).await;
        plan(&person, &demo, letters).await;
        // The page may log failed requests of loads that were replaced.
        let _ = person.driver.clone().quit().await;
    }
}

async fn measure(person: &Person, demo: &Demo, letters: u64) {
    let group = "f".repeat(32);
    let mut times: [Vec<f64>; 3] = Default::default();
    for _ in 0..LOADS {
        person.open(&format!("{}/groups/{group}?tab=letters", demo.url)).await;
        for (times, label) in times.iter_mut().zip(["", "Load more", "Money"]) {
            times.push(milliseconds(person, label).await);
        }
    }
    for (what, times) in ["first letters", "next letters", "by money"].into_iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        println!("{letters} letters, {what}: {:.0} ms (of {times:.0?})", times[LOADS / 2]);
    }
}

/// Declares a fix and plans the replay of every letter, as a person does.
async fn plan(person: &Person, demo: &Demo, letters: u64) {
    person.open(&format!("{}/groups/{}", demo.url, "f".repeat(32))).await;
    person.clicks("button", "Declare a fix…").await;
    person.find("dialog", "Declare a fix").await;
    person.writes("Version, exactly as the deployment reports it", "v2").await;
    person.clicks("button", "Declare fix").await;
    let began = Instant::now();
    person.clicks("button", "Plan replay").await;
    person.finds_within("button", "Plan again", PLAN_MAX).await;
    println!("{letters} letters, complete plan: {:.1} s", began.elapsed().as_secs_f64());
}

async fn milliseconds(person: &Person, label: &str) -> f64 {
    let done = person.driver.execute_async(CHANGED, vec![json!(label)]).await.expect("the script runs");
    done.json().as_f64().expect("a time")
}
