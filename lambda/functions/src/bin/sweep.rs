//! The function `sweep`, each minute: looks at what consumes the main queues, then runs the office's sweep.

use lambda::consumers::Lambda;
use lambda::function;
use office::sweep;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let lambda = Lambda::from_env().await?;
    // The contents of the schedule's event do not matter, only that it came.
    function::run(|office, _: serde_json::Value, _| {
        let lambda = lambda.clone();
        async move {
            lambda.look(&office).await;
            Ok(sweep::run(&office).await?)
        }
    })
    .await
}
