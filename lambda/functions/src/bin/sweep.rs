//! The function `sweep`: each minute gauges, the watchdog of replays, a second look at resolved groups, and what
//! consumes the main queues.

use lambda::consumers::Lambda;
use lambda::function;
use office::sweep;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    // Whatever the schedule says: that it came is all that counts.
    let lambda = Lambda::from_env().await?;
    function::run(|office, _: serde_json::Value| {
        let lambda = lambda.clone();
        async move {
            lambda.look(&office).await;
            Ok(sweep::run(&office).await?)
        }
    })
    .await
}
