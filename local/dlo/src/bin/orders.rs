//! The Lambda function `orders` of the demo: a consumer that really fails on some of its orders.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda::function::Error> {
    local::orders::function::run().await
}
