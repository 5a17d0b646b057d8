//! How AWS is reached: region and credentials from the environment, time limits, retries. Once per process.

pub use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region};
use aws_credential_types::Credentials;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::{Builder, tls::Provider};
use std::time::Duration;

/// The longest that one attempt may take. A receive may wait 20 s for its first message (SQS).
const ATTEMPT_MAX: Duration = Duration::from_secs(25);
/// The longest that a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(3);
/// Attempts of one call, the first included; between them the SDK waits with full jitter.
const ATTEMPTS_MAX: u32 = 4;

/// As the environment says: `AWS_REGION`, `AWS_ENDPOINT_URL`, and credentials where AWS's own tools look for them.
pub async fn from_env() -> SdkConfig {
    loader().load().await
}

/// As the environment says, in the region that a queue's address names.
pub async fn for_queue(url: &str) -> SdkConfig {
    let region = region(url).map(|region| Region::new(region.to_owned()));
    region.into_iter().fold(loader(), aws_config::ConfigLoader::region).load().await
}

/// `eu-west-1` in `https://sqs.eu-west-1.amazonaws.com/111122223333/orders-dlq`.
fn region(url: &str) -> Option<&str> {
    let (region, rest) = url.split_once("://sqs.")?.1.split_once('.')?;
    rest.starts_with("amazonaws.com").then_some(region)
}

/// An endpoint on this machine that checks no signature.
pub async fn to_endpoint(url: &str) -> SdkConfig {
    let nobody = Credentials::from_keys("local", "local", None);
    loader().endpoint_url(url).region(Region::new("us-east-1")).credentials_provider(nobody).load().await
}

/// TLS for every HTTP client of the process: they are built without one of their own. Call it before the first.
pub fn provide_tls() {
    // A second call finds the first's, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn loader() -> aws_config::ConfigLoader {
    let http = Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
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
    fn region_is_read_from_addresses_of_aws_only() {
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
