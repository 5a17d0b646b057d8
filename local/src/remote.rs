//! An office that is called over its API, by the commands of `dlo` that act on a running one.

use crate::http;
use domain::id::to_hex;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Method, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::time::Duration;
use wire::{BODY_HASH_HEADER, ErrorBody, TOKEN_HEADER};

/// The environment variable with the bearer token. An argument would be visible in the list of processes.
pub const TOKEN: &str = "DLO_TOKEN";
/// How long an office may take to answer. A function that starts needs seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why an office did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The address is not one of an office.
    #[error("{0} is not the address of an office. Give the URL of its dashboard, such as https://office.example.com")]
    Address(String),
    /// A token would travel unencrypted.
    #[error("{0} does not use TLS, so your token could be read in transit. Use https://, or an office on this machine")]
    Unencrypted(String),
    /// This program was built without TLS.
    #[error("this dlo was built without TLS. Build it with --features aws to reach an https:// address")]
    NoTls,
    /// There is no token.
    #[error("set {TOKEN} to a token of yours (docs/operations.md, \"Tokens for programs\")")]
    NoToken,
    /// The office refuses.
    #[error("{message} (HTTP status {status}, request {request_id})")]
    Refused {
        /// What the office says.
        message: String,
        /// The HTTP status.
        status: u16,
        /// For finding it in the office's log.
        request_id: String,
    },
    /// What answers is not an office of this version.
    #[error("{url} answered with HTTP status {status}, but it is not an office. Check the address")]
    NoOffice {
        /// The URL that was called.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// There is no answer, and nothing has changed.
    #[error("the office at {0} does not answer. Check the address, and that the office is running")]
    NoAnswer(String),
    /// There is no answer to a request that may have changed something.
    #[error("the office at {0} does not answer. It is unknown whether the request took effect: check before you retry")]
    Unknown(String),
}

/// An office that is called over its API.
pub struct Remote {
    client: Client,
    url: Url,
    token: String,
}

impl Remote {
    /// Returns the office at this address, for calls with this bearer token.
    pub fn at(office: &str, token: Option<&str>) -> Result<Self, RemoteError> {
        let address = || RemoteError::Address(office.to_owned());
        let url = Url::parse(office).map_err(|_| address())?;
        let host = url.host_str().ok_or_else(address)?;
        match url.scheme() {
            "https" if cfg!(not(feature = "aws")) => return Err(RemoteError::NoTls),
            "https" => {}
            "http" if is_this_machine(host) => {}
            "http" => return Err(RemoteError::Unencrypted(office.to_owned())),
            _ => return Err(address()),
        }
        let token = token.filter(|token| !token.is_empty()).ok_or(RemoteError::NoToken)?.to_owned();
        // Redirects are not followed: a token is for the office alone.
        let mut client = http::client().timeout(PATIENCE).redirect(reqwest::redirect::Policy::none());
        if url.scheme() == "http" {
            // A proxy would read the token, which is meant for this machine.
            client = client.no_proxy();
            if host.ends_with(LOCALHOST) {
                // Names below localhost are this machine's (RFC 6761), but a resolver may not know.
                client = client.resolve(host, (std::net::Ipv4Addr::LOCALHOST, 0).into());
            }
        }
        let client = client.build();
        Ok(Self { client: client.map_err(|_| RemoteError::NoTls)?, url, token })
    }

    /// Calls an endpoint by its path after `/api/v1/`, which may have a query. The request passes through CloudFront's origin
    /// access control, as the dashboard's do: the token is not in `Authorization`, and a change says the hash of its body.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<T, RemoteError> {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = self.url.clone();
        url.set_path(&format!("/api/v1/{path}"));
        url.set_query(query);
        let only_reads = method == Method::GET;
        let no_answer = |error: reqwest::Error| match only_reads || error.is_connect() {
            true => RemoteError::NoAnswer(self.url.to_string()),
            false => RemoteError::Unknown(self.url.to_string()),
        };
        let mut request = self.client.request(method, url.clone());
        request = request.header(TOKEN_HEADER, format!("Bearer {}", self.token));
        if !only_reads {
            let text = body.as_ref().map(Value::to_string).unwrap_or_default();
            request = request.header(BODY_HASH_HEADER, to_hex(&Sha256::digest(&text)));
            if body.is_some() {
                request = request.header(CONTENT_TYPE, "application/json").body(text);
            }
        }
        let answer = request.send().await.map_err(no_answer)?;
        let status = answer.status();
        let bytes = answer.bytes().await.map_err(no_answer)?;
        let no_office = || RemoteError::NoOffice { url: url.to_string(), status: status.as_u16() };
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|_| no_office());
        }
        let ErrorBody { message, request_id, .. } = serde_json::from_slice(&bytes).map_err(|_| no_office())?;
        Err(RemoteError::Refused { message, status: status.as_u16(), request_id })
    }
}

/// How names below localhost end, such as those of MiniStack's function URLs.
const LOCALHOST: &str = ".localhost";

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || host.ends_with(LOCALHOST) || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_the_office_only_and_never_in_the_clear() {
        let refused = |office: &str, token| match Remote::at(office, token) {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.to_string(),
        };
        for office in
            ["http://127.0.0.1:8118", "http://localhost:8118/", "http://[::1]:8118/groups", "http://a.b.localhost:8118"]
        {
            assert_eq!(refused(office, Some("t")), "fine", "{office}");
        }
        assert!(refused("http://127.0.0.1:8118", None).contains(TOKEN));
        assert!(refused("http://127.0.0.1:8118", Some("")).contains(TOKEN));
        for office in [
            "http://office.example.com",
            "http://10.0.0.1",
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
        ] {
            assert!(refused(office, Some("t")).contains("does not use TLS"), "{office}");
        }
        for office in ["office.example.com", "ftp://office.example.com", "", "file:///etc/passwd"] {
            assert!(refused(office, Some("t")).contains("not the address"), "{office}");
        }
    }

    /// Calls an office that closes each connection without an answer, or refuses it if `listens` is false.
    async fn called(method: Method, listens: bool) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        match listens {
            true => drop(std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    // A whole head, so that the request has been sent.
                    let _ = std::io::Read::read(&mut &stream, &mut [0; 4096]);
                }
            })),
            false => drop(listener),
        }
        let office = Remote::at(&url, Some("t")).expect("an address of this machine");
        let answer: Result<Value, RemoteError> = office.call(method, "policy", None).await;
        answer.expect_err("no answer").to_string()
    }

    #[tokio::test]
    async fn only_a_change_that_was_sent_may_have_taken_effect() {
        for (method, listens, is_unknown) in
            [(Method::GET, true, false), (Method::PUT, false, false), (Method::PUT, true, true)]
        {
            let message = called(method.clone(), listens).await;
            assert_eq!(message.contains("unknown whether"), is_unknown, "{method}, {listens}: {message}");
        }
    }
}
