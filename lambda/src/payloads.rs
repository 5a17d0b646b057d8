//! Payloads in S3 that letters point to (SQS extended client).

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::Builder;
use domain::read::PayloadLocation;
use office::port::{Payloads, Presence};

/// Checks payloads in S3, within the buckets that the stack's policy allows.
pub struct S3Payloads {
    client: Client,
}

impl S3Payloads {
    /// Creates an adapter for buckets in the office's own region.
    pub fn new(config: &SdkConfig) -> Self {
        let path_style = config.endpoint_url().is_some();
        Self { client: Client::from_conf(Builder::from(config).force_path_style(path_style).build()) }
    }
}

#[async_trait]
impl Payloads for S3Payloads {
    async fn check(&self, location: &PayloadLocation) -> Presence {
        let response = self.client.head_object().bucket(&location.bucket).key(&location.key).send().await;
        match response {
            Ok(_) => Presence::There,
            Err(error) => presence(error.raw_response().map(|response| response.status().as_u16())),
        }
    }
}

/// Interprets the HTTP status of a failed `HeadObject` call.
///
/// Without `s3:ListBucket`, S3 answers 403 both for a missing object and for a forbidden one, so 403 proves nothing.
fn presence(status: Option<u16>) -> Presence {
    match status {
        Some(404) => Presence::Gone,
        Some(401 | 403) => Presence::Unknown("with payloads in S3 (access denied)"),
        Some(301 | 307 | 400) => Presence::Unknown("with payloads in S3 (bucket in another region)"),
        _ => Presence::Unknown("with payloads in S3 (no response)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_status_404_means_that_a_payload_is_gone() {
        for (status, gone, words) in [
            (Some(404), true, ""),
            (Some(403), false, "access denied"),
            (Some(401), false, "access denied"),
            (Some(301), false, "another region"),
            (Some(400), false, "another region"),
            (Some(503), false, "no response"),
            (None, false, "no response"),
        ] {
            match presence(status) {
                Presence::Unknown(why) => assert!(!gone && why.contains(words), "{status:?}: {why}"),
                presence => assert_eq!((presence, gone), (Presence::Gone, true), "{status:?}"),
            }
        }
    }
}
