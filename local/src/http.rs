//! HTTP clients of the office on one machine.

/// Starts an HTTP client. Use it for every client, because it calls [`provide_tls`].
pub fn client() -> reqwest::ClientBuilder {
    provide_tls();
    reqwest::Client::builder()
}

/// Installs a TLS provider for this process. Where the adapters for AWS are compiled in, `reqwest` has none of its own,
/// and making a client would panic.
pub fn provide_tls() {
    #[cfg(feature = "aws")]
    lambda::connect::provide_tls();
}
