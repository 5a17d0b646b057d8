//! The function `api`: the API and the dashboard behind a function URL.

use lambda::{function, sign_in};

fn main() -> Result<(), lambda_http::Error> {
    transform::work_if_asked();
    serve()
}

#[tokio::main(flavor = "current_thread")]
async fn serve() -> Result<(), lambda_http::Error> {
    function::log();
    let router = sign_in::router(function::office().await?, dashboard_files::FILES).await?;
    lambda_http::run(router).await
}
