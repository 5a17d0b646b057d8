//! The function `replay`: does the next steps of replays, driven by delayed messages.

use lambda::batch::{Answer, Batch};
use lambda::function;
use office::event;

fn main() -> Result<(), lambda_runtime::Error> {
    transform::work_if_asked();
    serve()
}

#[tokio::main(flavor = "current_thread")]
async fn serve() -> Result<(), lambda_runtime::Error> {
    let executor = function::executor();
    function::run(|office, batch: Batch, _| {
        let executor = executor.clone();
        async move { Ok(Answer::failing(event::steps(&office, batch.received(), &executor).await)) }
    })
    .await
}
