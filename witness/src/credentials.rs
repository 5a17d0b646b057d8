//! The credentials of the function's role.
//!
//! Lambda puts them into the environment. A function with SnapStart gets an address instead, because a snapshot outlives
//! any credentials.

use crate::http;
use crate::settings::QueueUrl;
use crate::sign::Keys;
use serde::Deserialize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long credentials from the address are used before they are asked for again. Lambda's are valid for hours.
const KEPT: Duration = Duration::from_secs(5 * 60);

/// Where credentials come from.
pub enum Credentials {
    /// The environment.
    Fixed(Keys),
    /// The address in `AWS_CONTAINER_CREDENTIALS_FULL_URI`.
    Container {
        /// The address.
        url: QueueUrl,
        /// The header `authorization`.
        authorization: Option<String>,
        /// The last answer, and when it came.
        last: Mutex<Option<(Instant, Keys)>>,
    },
    /// There are none.
    Missing,
}

/// What the address answers.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    access_key_id: String,
    secret_access_key: String,
    token: Option<String>,
}

impl Credentials {
    /// Reads the environment.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let (Some(id), Some(secret)) = (text("AWS_ACCESS_KEY_ID"), text("AWS_SECRET_ACCESS_KEY")) {
            return Self::Fixed(Keys { id, secret, token: text("AWS_SESSION_TOKEN") });
        }
        match text("AWS_CONTAINER_CREDENTIALS_FULL_URI").and_then(|url| url.parse().ok()) {
            Some(url) => Self::Container {
                url,
                authorization: text("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
                last: Mutex::new(None),
            },
            None => Self::Missing,
        }
    }

    /// Returns the keys. Returns `None` if there are none, or the address does not give any.
    pub async fn keys(&self) -> Option<Keys> {
        match self {
            Self::Fixed(keys) => Some(keys.clone()),
            Self::Missing => None,
            Self::Container { url, authorization, last } => {
                let kept = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some((since, keys)) = kept
                    && since.elapsed() < KEPT
                {
                    return Some(keys);
                }
                let answer = http::get(url, authorization.as_deref()).await?;
                let Answer { access_key_id, secret_access_key, token } = serde_json::from_slice(&answer).ok()?;
                let keys = Keys { id: access_key_id, secret: secret_access_key, token };
                *last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), keys.clone()));
                Some(keys)
            }
        }
    }
}
