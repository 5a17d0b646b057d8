//! The function `intake`: takes dead letters that an event source mapping hands it into custody, and receipts for what
//! replays have sent: both say what became of a message.

use domain::id::QueueArn;
use lambda::{function, settings};
use office::event::{self, Batch};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let main = settings::optional("DLO_DEFAULT_MAIN_QUEUE").map(QueueArn::new);
    let receipts = settings::optional("DLO_RECEIPTS").map(QueueArn::new);
    function::run(|office, batch: Batch| {
        let (main, is_receipts) = (main.clone(), receipts.as_ref().is_some_and(|queue| batch.is_from(queue)));
        async move {
            Ok(match is_receipts {
                true => event::receipts(&office, batch).await,
                false => event::keep(&office, batch, main.as_ref()).await,
            })
        }
    })
    .await
}
