//! HTTP clients of the office on one machine.

/// Starts an HTTP client. Use it for every client: where the adapters for AWS are compiled in, `reqwest` has no TLS
/// provider of its own and would panic without the one that this installs.
pub fn client() -> reqwest::ClientBuilder {
    #[cfg(feature = "aws")]
    lambda::connect::provide_tls();
    reqwest::Client::builder()
}
