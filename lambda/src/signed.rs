//! Calls to AWS that this crate signs itself, where the SDK's crate for a service would be larger than the rest of the
//! office and slow down every cold start.

use super::connect;
use aws_config::SdkConfig;
use aws_credential_types::provider::ProvideCredentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use reqwest::{Client, Method, Response};
use std::error::Error;
use std::time::{Duration, SystemTime};

/// A client for one service of AWS.
#[derive(Clone)]
pub struct Signed {
    client: Client,
    config: SdkConfig,
    /// The service's name in endpoints and signatures.
    service: &'static str,
    /// The address that the environment gives for this service alone, ahead of the one for all services.
    endpoint: Option<String>,
}

/// Returns the variable with the endpoint of one service, which the SDK's own clients heed as well.
fn endpoint_variable(service: &str) -> String {
    let name = if service == "logs" { "CLOUDWATCH_LOGS".to_owned() } else { service.to_uppercase() };
    format!("AWS_ENDPOINT_URL_{name}")
}

/// A call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// There is nothing to sign a call with.
    #[error("the environment names no AWS region or no credentials")]
    Unconfigured,
    /// The credentials could not be loaded.
    #[error("the AWS credentials could not be loaded")]
    Credentials(#[source] aws_credential_types::provider::error::CredentialsError),
    /// The request could not be signed.
    #[error("the request could not be signed")]
    Signing(#[source] Box<dyn Error + Send + Sync>),
    /// There was no answer, or one that says no.
    #[error("AWS did not respond, or rejected the request")]
    Response(#[source] reqwest::Error),
}

impl Signed {
    /// Creates a client of a service, for example `lambda`, with a time limit for each call.
    pub fn new(config: &SdkConfig, service: &'static str, time_max: Duration) -> Result<Self, reqwest::Error> {
        connect::provide_tls();
        let client = Client::builder().timeout(time_max).build()?;
        let endpoint = std::env::var(endpoint_variable(service)).ok().filter(|url| !url.is_empty());
        Ok(Self { client, config: config.clone(), service, endpoint })
    }

    /// Sends a request to a path, and returns the response, whatever its status.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: String,
    ) -> Result<Response, CallError> {
        let region = self.config.region().ok_or(CallError::Unconfigured)?.as_ref();
        let credentials = self.config.credentials_provider().ok_or(CallError::Unconfigured)?;
        let identity = credentials.provide_credentials().await.map_err(CallError::Credentials)?.into();
        let url = match self.endpoint.as_deref().or(self.config.endpoint_url()) {
            Some(endpoint) => format!("{}{path}", endpoint.trim_end_matches('/')),
            None => format!("https://{}.{region}.{}{path}", self.service, dns_suffix(region)),
        };
        let params = v4::SigningParams::builder().identity(&identity).region(region).name(self.service);
        let params = params.time(SystemTime::now()).settings(SigningSettings::default());
        let params = params.build().map_err(|error| CallError::Signing(error.into()))?.into();
        let signed_body = SignableBody::Bytes(body.as_bytes());
        let unsigned = SignableRequest::new(method.as_str(), url.as_str(), headers.iter().copied(), signed_body);
        let unsigned = unsigned.map_err(|error| CallError::Signing(error.into()))?;
        let (signature, _) = sign(unsigned, &params).map_err(|error| CallError::Signing(error.into()))?.into_parts();
        let mut request = self.client.request(method, &url);
        // As the SDK names its application, for CloudTrail. It is not signed.
        if let Some(name) = self.config.app_name() {
            request = request.header("user-agent", format!("app/{name}"));
        }
        for (name, value) in headers.iter().copied().chain(signature.headers()) {
            request = request.header(name, value);
        }
        request.body(body).send().await.map_err(CallError::Response)
    }
}

/// Returns the DNS suffix of a region's service endpoints.
fn dns_suffix(region: &str) -> &'static str {
    if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_the_variable_that_the_sdk_gives_it() {
        assert_eq!(endpoint_variable("lambda"), "AWS_ENDPOINT_URL_LAMBDA");
        assert_eq!(endpoint_variable("logs"), "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS");
    }
}
