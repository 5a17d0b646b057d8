//! Lets a second `dlo` process talk to the running office: a file in the office's folder holds its address and a secret.
//! Only the file's owner can read it.

use crate::private;
use crate::sign_in::{Link, Sessions};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The HTTP header with the secret.
const SECRET_HEADER: &str = "x-dlo-control";
const FILE: &str = "running.json";
/// How long an office may take to create links. A frozen one never answers.
const PATIENCE: Duration = Duration::from_secs(10);

/// The running office's address, and the secret that proves access to its folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Control {
    /// The address, for example `http://127.0.0.1:8118`.
    pub url: String,
    secret: String,
    #[serde(skip)]
    folder: PathBuf,
}

/// No office is running, or it does not answer.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The folder holds no address, or no office of this folder is at its address: it was killed, for example.
    #[error("no office is running with the folder {}. Start one with `dlo demo` or `dlo open`, or name its folder with --data", .0.display())]
    NotRunning(PathBuf),
    /// The office does not answer in time, or its answer is cut short.
    #[error("the office at {url} does not answer. Try again, or restart it; all data stays in its folder")]
    NoAnswer {
        /// Its address.
        url: String,
    },
    /// The office cannot create links.
    #[error("the office at {url} cannot create links (HTTP status {status}). Its log says why")]
    Failed {
        /// Its address.
        url: String,
        /// The HTTP status.
        status: u16,
    },
}

impl Control {
    /// Creates the address and a new secret for an office that starts.
    pub fn new(url: String) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self { url, secret: domain::id::to_hex(&bytes), folder: PathBuf::new() })
    }

    /// Writes the file.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let path = folder.join(FILE);
        let _ = fs::remove_file(&path);
        private::write(&path, serde_json::to_string(self)?.as_bytes())
    }

    /// Removes the file when the office closes.
    pub fn remove(folder: &Path) {
        // If the file remains, the next reader gets the error that the office does not answer.
        let _ = fs::remove_file(folder.join(FILE));
    }

    /// Reads the file of the running office.
    pub fn read(folder: &Path) -> Result<Self, ControlError> {
        let text = fs::read_to_string(folder.join(FILE)).ok();
        let control: Option<Self> = text.and_then(|text| serde_json::from_str(&text).ok());
        let control = control.ok_or_else(|| ControlError::NotRunning(folder.into()))?;
        Ok(Self { folder: folder.into(), ..control })
    }

    /// Asks the running office for new sign-in links.
    pub async fn new_links(&self) -> Result<String, ControlError> {
        let answer = self.request("/local/links")?.send().await.map_err(|error| self.unanswered(&error))?;
        match answer.status() {
            status if status.is_success() => answer.text().await.map_err(|error| self.unanswered(&error)),
            status if status.is_server_error() => {
                Err(ControlError::Failed { url: self.url.clone(), status: status.as_u16() })
            }
            // Another program, or the office of another folder, has the port now.
            _ => Err(ControlError::NotRunning(self.folder.clone())),
        }
    }

    /// Returns a request to the running office, with the secret.
    pub(crate) fn request(&self, path: &str) -> Result<reqwest::RequestBuilder, ControlError> {
        // The secret stays on this machine, whatever HTTP_PROXY says.
        let http = crate::http::client().no_proxy().timeout(PATIENCE).build();
        let http = http.map_err(|error| self.unanswered(&error))?;
        Ok(http.post(format!("{}{path}", self.url)).header(SECRET_HEADER, &self.secret))
    }

    /// Returns the error for an office that does not answer.
    pub(crate) fn unanswered(&self, error: &reqwest::Error) -> ControlError {
        let is_gone = error.is_connect() && !error.is_timeout();
        if is_gone {
            ControlError::NotRunning(self.folder.clone())
        } else {
            ControlError::NoAnswer { url: self.url.clone() }
        }
    }

    /// Returns whether a request comes from someone who can read the office's folder.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(SECRET_HEADER).map(|value| value.as_bytes()).unwrap_or_default();
        domain::id::hash_hex(&[&String::from_utf8_lossy(given)]) == domain::id::hash_hex(&[&self.secret])
    }
}

/// Creates sign-in links; the state of the route.
#[derive(Clone)]
pub struct Links {
    /// The sessions.
    pub sessions: Arc<Sessions>,
    /// The address and the secret.
    pub control: Control,
    /// The clock.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Links {
    /// Returns new links as text for a terminal.
    pub fn print(&self) -> Result<String, crate::sign_in::NoRandomness> {
        let links = self.sessions.new_links((self.clock)())?;
        Ok(link_lines(&self.control.url, &links))
    }
}

fn link_lines(url: &str, links: &[Link]) -> String {
    let mut text = String::new();
    for Link { code, caller } in links {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:<9} {:<5} {url}/signin#{code}", caller.role.as_str(), caller.actor.as_str());
    }
    text
}

/// Serves `POST /local/links` for everyone who can read the office's folder.
pub fn router(links: Links) -> Router {
    Router::new().route("/local/links", post(new_links)).with_state(links)
}

async fn new_links(State(links): State<Links>, headers: HeaderMap) -> Result<String, (StatusCode, Json<&'static str>)> {
    if !links.control.admits(&headers) {
        return Err((StatusCode::FORBIDDEN, Json("only someone who can read the office's folder can request links")));
    }
    links.print().map_err(|_| {
        (StatusCode::INTERNAL_SERVER_ERROR, Json("this machine provides no random numbers, so no link can be created"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use office::error::chain;
    use tokio::net::TcpListener;

    fn control(folder: &Path, url: String) -> Control {
        Control::new(url).expect("a secret").write(folder).expect("a file");
        Control::read(folder).expect("the file")
    }

    #[tokio::test]
    async fn an_office_that_is_gone_is_one_sentence() {
        let folder = tempfile::tempdir().expect("a folder");
        let no_file = Control::read(folder.path()).expect_err("nothing runs");
        // The port of a listener that is closed again: nothing listens there.
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        drop(listener);
        let killed = control(folder.path(), url).new_links().await.expect_err("nothing answers");
        assert_eq!(chain(&killed), chain(&no_file));

        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let other = Router::new().route("/", post(|| async {}));
        let server = tokio::spawn(async move { axum::serve(listener, other).await });
        let another = control(folder.path(), url).new_links().await.expect_err("another program");
        assert_eq!(chain(&another), chain(&no_file));
        server.abort();
        let sentence = chain(&no_file);
        let name = folder.path().display();
        assert_eq!(
            sentence,
            format!(
                "no office is running with the folder {name}. Start one with `dlo demo` or `dlo open`, or name its folder with --data"
            )
        );
    }
}
