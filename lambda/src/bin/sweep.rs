//! The function `sweep`: each minute gauges, the watchdog of replays, and a second look at resolved groups.

use lambda::aws::function;
use lambda::sweep;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    // Whatever the schedule says: that it came is all that counts.
    function::run(|office, _: serde_json::Value| async move { Ok(sweep::run(&office).await?) }).await
}
