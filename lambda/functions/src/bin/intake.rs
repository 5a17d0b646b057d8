//! The function `intake`: takes letters into custody, and consumers' receipts for letters that replays have sent. One
//! function has both, because both settle the outcome of a message.

use domain::id::QueueArn;
use lambda::batch::Batch;
use lambda::{function, intake, settings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let receipts = settings::optional("DLO_RECEIPTS").map(QueueArn::new);
    function::run(|office, batch: Batch, ends_at| {
        let receipts = receipts.clone();
        async move { Ok(intake::take(&office, batch, receipts.as_ref(), ends_at).await) }
    })
    .await
}
