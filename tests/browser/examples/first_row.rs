//! How fast the list of groups is: milliseconds until its first row on two networks with a slow processor, and until it has
//! drawn a scroll, a filter's letter and another order.
//!
//! Needs the program of `cargo demo`, Chromium and its driver. `cargo run -p dlo-browser --example first_row -- 21 2000 10000`.

use browser::driver::Driver;
use browser::person::Person;
use domain::role::Role;
use harness::running::Demo;
use serde_json::{Value, json};

/// How often each page is loaded. The median counts.
const LOADS: usize = 5;
/// How much slower the processor is made: a phone of the middle class.
const CPU_RATE: u32 = 4;
/// Bits per second and round trip of the networks, in milliseconds.
const NETWORKS: [(&str, u32, u32); 2] = [("9 Mbit/s, 40 ms", 9_000_000, 40), ("1.6 Mbit/s, 150 ms", 1_600_000, 150)];

/// Notes when the first row is in the page and painted.
const WATCH: &str = "
    new MutationObserver((_, observer) => {
        if (!document.querySelector('.rows .row')) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => window.firstRow = performance.now()));
    }).observe(document, { childList: true, subtree: true });
";
const FIRST_ROW: &str = "
    const done = arguments[0];
    const look = () => window.firstRow ? done(window.firstRow) : setTimeout(look, 20);
    look();
";
/// Returns the milliseconds that each of 60 pages of scrolling takes until it is painted, sorted.
const SCROLL: &str = "
    const done = arguments[0], frame = document.querySelector('.list-frame'), times = [];
    const painted = then => requestAnimationFrame(() => setTimeout(then));
    const step = () => {
        if (times.length === 60) return done(times.sort((a, b) => a - b));
        const began = performance.now();
        frame.scrollTop += frame.clientHeight;
        painted(() => { times.push(performance.now() - began); step(); });
    };
    step();
";
/// The same for each letter of a filter.
const FILTER: &str = "
    const done = arguments[0], field = document.querySelector('#filter'), times = [], word = 'error 4242 error 77';
    const painted = then => requestAnimationFrame(() => setTimeout(then));
    const step = () => {
        if (times.length === word.length) return done(times.sort((a, b) => a - b));
        const began = performance.now();
        field.value = word.slice(0, times.length + 1);
        field.dispatchEvent(new Event('input', { bubbles: true }));
        painted(() => { times.push(performance.now() - began); step(); });
    };
    step();
";
const ELEMENTS: &str = "return document.querySelectorAll('*').length";

#[tokio::main]
async fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let driver = Driver::start();
    for groups in if sizes.is_empty() { vec![21, 2_000] } else { sizes } {
        let folder = tempfile::tempdir().expect("a folder");
        let demo = Demo::start_over(folder.path(), async |store| harness::many::groups(store, groups).await).await;
        let person = Person::new(&driver, "otto").await;
        person.open(demo.link(Role::Operator)).await;
        person.find("heading", "Groups").await;
        measure(&person, &demo, groups).await;
        // The page may log failed requests of loads that were replaced.
        let _ = person.driver.clone().quit().await;
    }
}

async fn measure(person: &Person, demo: &Demo, groups: usize) {
    let send = async |method: &str, options: Value| {
        person.driver.cdp().send_raw(method, options).await.expect("Chromium obeys");
    };
    send("Page.addScriptToEvaluateOnNewDocument", json!({ "source": WATCH })).await;
    send("Network.enable", json!({})).await;
    send("Emulation.setCPUThrottlingRate", json!({ "rate": CPU_RATE })).await;
    for (name, bits_per_s, latency) in NETWORKS {
        let bytes = bits_per_s / 8;
        let network =
            json!({ "offline": false, "latency": latency, "downloadThroughput": bytes, "uploadThroughput": bytes });
        send("Network.emulateNetworkConditions", network).await;
        let mut times = Vec::new();
        for _ in 0..LOADS {
            send("Network.clearBrowserCache", json!({})).await;
            person.open(&format!("{}/groups", demo.url)).await;
            times.push(person.slow_script(FIRST_ROW).await.as_f64().expect("a time"));
        }
        times.sort_by(f64::total_cmp);
        println!("{groups} groups, {name}: first row after {:.0} ms (of {times:.0?})", times[LOADS / 2]);
    }
    let fast = json!({ "offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
    send("Network.emulateNetworkConditions", fast).await;
    for rate in [1, CPU_RATE] {
        send("Emulation.setCPUThrottlingRate", json!({ "rate": rate })).await;
        person.open(&format!("{}/groups", demo.url)).await;
        person.slow_script(FIRST_ROW).await;
        for (what, script) in [("a page of scrolling", SCROLL), ("a letter of the filter", FILTER)] {
            let times: Vec<f64> = serde_json::from_value(person.slow_script(script).await).expect("times");
            let (median, p95) = (times[times.len() / 2], times[times.len() * 95 / 100]);
            println!("{groups} groups, processor / {rate}, {what}: median {median:.0} ms, p95 {p95:.0} ms");
        }
    }
    println!("{groups} groups: {} elements in the page", person.script(ELEMENTS, Vec::new()).await);
}
