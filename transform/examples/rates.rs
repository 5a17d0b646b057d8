//! Measures the cost of a worker: `cargo run --release -p dlo-transform --example rates`.

use std::time::Instant;
use tokio::runtime::Builder;
use transform::Transforms;

const LETTERS: usize = 2_000;

fn main() {
    transform::work_if_asked();
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let order = r#"{"type":"order.placed","order_id":"ord_000001","customer":{"id":"cus_001"},"total":{"amount":"10.10","currency":"EUR"}}"#;
        let large = format!("[{}]", vec![order; 1024 * 1024 / (order.len() + 1)].join(","));
        for (name, body, count) in [("an order", order, LETTERS), ("a MiB of orders", &large, 20)] {
            let start = Instant::now();
            let fresh = Transforms::with_this_executable();
            fresh.sending().run(".", &["1"], false).await.expect("a worker").expect("a program").len();
            let started = start.elapsed();
            for program in [".", ".total.cents? = 1010", "del(..|.customer?)"] {
                let bodies = vec![body; count];
                let start = Instant::now();
                let outcomes = fresh.sending().run(program, &bodies, false).await.expect("a worker").expect("a program");
                let each = start.elapsed() / count as u32;
                let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
                println!("{name}, `{program}`: {each:?} each, {failed} of {count} failed; worker start {started:?}");
            }
        }
    });
}
