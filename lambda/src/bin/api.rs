//! The function `api`: the API and the dashboard behind a function URL.

use lambda::aws::{function, sign_in};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    function::log();
    let router = sign_in::router(function::office().await?).await?;
    lambda_http::run(router).await
}
