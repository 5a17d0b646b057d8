//! The function `intake`: takes letters into custody, and consumers' receipts for letters that replays have sent. One
//! function has both, because both settle the outcome of a message.

use domain::id::QueueArn;
use lambda::batch::{Answer, Batch};
use lambda::{function, settings};
use office::event;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let receipts = settings::optional("DLO_RECEIPTS").map(QueueArn::new);
    function::run(|office, batch: Batch| {
        let receipts = receipts.clone();
        async move {
            let mut failed = Vec::new();
            for (queue, messages) in batch.by_queue() {
                failed.extend(match receipts.as_ref() == Some(&queue) {
                    true => event::receipts(&office, messages).await,
                    false => event::letters(&office, &queue, messages).await,
                });
            }
            Ok(Answer::failing(failed))
        }
    })
    .await
}
