//! Payloads in S3 that letters only point to.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::Builder;
use domain::read::PayloadLocation;
use office::port::{Payloads, Presence};

/// S3, as far as the stack lets the office look.
pub struct S3Payloads {
    client: Client,
}

impl S3Payloads {
    /// In the office's own region.
    pub fn new(config: &SdkConfig) -> Self {
        let one_host = config.endpoint_url().is_some();
        Self { client: Client::from_conf(Builder::from(config).force_path_style(one_host).build()) }
    }
}

#[async_trait]
impl Payloads for S3Payloads {
    async fn look(&self, place: &PayloadLocation) -> Presence {
        let answer = self.client.head_object().bucket(&place.bucket).key(&place.key).send().await;
        match answer {
            Ok(_) => Presence::There,
            Err(error) => seen(error.raw_response().map(|answer| answer.status().as_u16())),
        }
    }
}

/// What the status of a refused HeadObject says. Without the right to list its bucket, S3 does not tell an object that
/// is gone from one that may not be seen.
fn seen(status: Option<u16>) -> Presence {
    match status {
        Some(404) => Presence::Gone,
        Some(401 | 403) => Presence::Unknown("whose payloads in S3 may not be looked at: access denied"),
        Some(301 | 307 | 400) => Presence::Unknown("whose payloads lie in S3 elsewhere than in this region"),
        _ => Presence::Unknown("whose payloads could not be looked at: S3 does not answer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_s3_says_is_gone_is_gone() {
        for (status, gone, words) in [
            (Some(404), true, ""),
            (Some(403), false, "access denied"),
            (Some(401), false, "access denied"),
            (Some(301), false, "elsewhere"),
            (Some(400), false, "elsewhere"),
            (Some(503), false, "does not answer"),
            (None, false, "does not answer"),
        ] {
            match seen(status) {
                Presence::Unknown(why) => assert!(!gone && why.contains(words), "{status:?}: {why}"),
                presence => assert_eq!((presence, gone), (Presence::Gone, true), "{status:?}"),
            }
        }
    }
}
