//! The smallest possible Lambda function: the baseline for the cold starts that `cargo xtask starts` measures.

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda_runtime::run(service_fn(async |_: LambdaEvent<Value>| Ok::<_, Error>(json!("hello")))).await
}
