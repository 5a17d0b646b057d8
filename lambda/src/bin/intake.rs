//! The function `intake`: takes dead letters that an event source mapping hands it into custody.

use lambda::aws::function;
use lambda::event::{self, Batch};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    function::run(|office, batch: Batch| async move { Ok(event::keep(&office, batch).await) }).await
}
