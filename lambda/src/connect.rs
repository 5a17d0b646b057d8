//! The SDK configuration: region, credentials, time limits and retries. Each process loads it once.

pub use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region};
use aws_credential_types::Credentials;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::{Builder, tls::Provider};
use std::time::Duration;

/// Time limit of one attempt. Long polling may wait up to 20 s for a message (SQS `ReceiveMessage`).
const ATTEMPT_MAX: Duration = Duration::from_secs(25);
/// Time limit of one attempt on the table. DynamoDB answers in milliseconds, and intake has no time to wait for longer:
/// its whole invocation takes 30 s.
const TABLE_ATTEMPT_MAX: Duration = Duration::from_secs(3);
/// How long a connection may be unused. Lambda freezes a process between invocations, and AWS closes connections
/// meanwhile. A send over a closed connection gets no answer, so its letters would count as possibly sent twice.
const IDLE_MAX: Duration = Duration::from_secs(20);
/// Time limit for opening a connection.
const CONNECT_MAX: Duration = Duration::from_secs(3);
/// Attempts per call, including the first. The SDK waits between attempts with full jitter.
const ATTEMPTS_MAX: u32 = 4;

/// Loads the configuration from the environment: `AWS_REGION`, `AWS_ENDPOINT_URL`, and credentials from the default
/// provider chain that AWS's own tools use.
pub async fn from_env() -> SdkConfig {
    loader().load().await
}

/// Loads the configuration from the environment, but takes the region from the queue URL if the URL names one.
pub async fn for_queue(url: &str) -> SdkConfig {
    let region = region(url).map(|region| Region::new(region.to_owned()));
    region.into_iter().fold(loader(), aws_config::ConfigLoader::region).load().await
}

/// Returns the region in a queue URL: `eu-west-1` for `https://sqs.eu-west-1.amazonaws.com/111122223333/orders-dlq`.
/// Returns `None` if the host does not belong to AWS.
fn region(url: &str) -> Option<&str> {
    let (region, domain) = url.split_once("://sqs.")?.1.split_once('.')?;
    domain.starts_with("amazonaws.com").then_some(region)
}

/// Returns the configuration for a local endpoint that ignores signatures.
pub async fn to_endpoint(url: &str) -> SdkConfig {
    let placeholder = Credentials::from_keys("local", "local", None);
    loader().endpoint_url(url).region(Region::new("us-east-1")).credentials_provider(placeholder).load().await
}

/// Installs the TLS provider that every HTTP client of the process uses. Call this before building the first client:
/// the clients come without a provider of their own.
pub fn provide_tls() {
    // Installing fails only if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Returns the time limits of calls to the table.
pub(super) fn table_timeouts() -> TimeoutConfig {
    TimeoutConfig::builder().connect_timeout(CONNECT_MAX).operation_attempt_timeout(TABLE_ATTEMPT_MAX).build()
}

fn loader() -> aws_config::ConfigLoader {
    let http =
        Builder::new().pool_idle_timeout(IDLE_MAX).tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
    let timeouts = TimeoutConfig::builder().connect_timeout(CONNECT_MAX).operation_attempt_timeout(ATTEMPT_MAX).build();
    aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard().with_max_attempts(ATTEMPTS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_is_read_only_from_queue_urls_of_aws() {
        for (url, expected) in [
            ("https://sqs.eu-west-1.amazonaws.com/111122223333/orders-dlq", Some("eu-west-1")),
            ("https://sqs.cn-north-1.amazonaws.com.cn/111122223333/orders-dlq", Some("cn-north-1")),
            ("http://127.0.0.1:4566/000000000000/orders-dlq", None),
            ("https://sqs.example.com/1/q", None),
            ("orders-dlq", None),
        ] {
            assert_eq!(region(url), expected, "{url}");
        }
    }
}
