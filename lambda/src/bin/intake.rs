//! The function `intake`: takes dead letters that an event source mapping hands it into custody.

use domain::id::QueueArn;
use lambda::aws::{function, settings};
use lambda::event::{self, Batch};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    let main = settings::optional("DLO_MAIN_OF_SILENT").map(QueueArn::new);
    function::run(|office, batch: Batch| {
        let main = main.clone();
        async move { Ok(event::keep(&office, batch, main.as_ref()).await) }
    })
    .await
}
