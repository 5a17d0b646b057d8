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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    fn keys(id: &str, token: Option<&str>) -> Option<(String, Option<String>)> {
        Some((id.to_owned(), token.map(str::to_owned)))
    }

    async fn read(variables: &[(&str, &str)]) -> Option<(String, Option<String>)> {
        let credentials = Credentials::read(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        credentials.keys().await.map(|keys| (keys.id, keys.token))
    }

    #[tokio::test]
    async fn the_environment_comes_first() {
        let fixed = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_SESSION_TOKEN", "c")];
        assert_eq!(read(&fixed).await, keys("a", Some("c")));
        assert_eq!(read(&fixed[..2]).await, keys("a", None));
        assert_eq!(read(&fixed[..1]).await, None);
    }

    #[tokio::test]
    async fn a_restored_function_asks_an_address_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/2021-04-23/credentials", listener.local_addr().expect("an address"));
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            drop(listener);
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.expect("a request");
            let body = r#"{"AccessKeyId":"a","SecretAccessKey":"b","Token":"c","Expiration":"2026-11-22T10:00:00Z"}"#;
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.expect("it is read");
            String::from_utf8_lossy(&request[..length]).to_lowercase()
        });
        let credentials = Credentials::read(|name| match name {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI" => Some(url.clone()),
            "AWS_CONTAINER_AUTHORIZATION_TOKEN" => Some("secret".to_owned()),
            _ => None,
        });
        for _ in 0..2 {
            assert_eq!(credentials.keys().await.map(|keys| (keys.id, keys.token)), keys("a", Some("c")));
        }
        let request = server.await.expect("it ends");
        assert!(request.starts_with("get /2021-04-23/credentials http/1.1\r\n"), "{request}");
        assert!(request.contains("authorization: secret\r\n"), "{request}");
    }
}
