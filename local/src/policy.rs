//! `dlo policy show | check | put`: the policy of a running office, through its API.
//!
//! `show` prints a document with the policy and its version. `check` and `put` take the same document, changed by hand:
//! the version in it says what the change is based on, so that nobody's change is overwritten unseen.

use crate::http;
use clap::Subcommand;
use domain::policy::PolicyChange;
use reqwest::{Client, Method, Url};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wire::{ErrorBody, PolicyAnswer, PolicyCheck};

/// The environment variable with the bearer token. An argument would be visible in the list of processes.
pub const TOKEN: &str = "DLO_TOKEN";
/// How long an office may take to answer. A function that starts needs seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// The largest file that is read. The API refuses requests of more than 1 MiB.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The commands for the policy.
#[derive(Subcommand)]
pub enum PolicyCommand {
    /// Print the policy that applies, with its version, as JSON
    Show,
    /// Say what a policy would change, and why it would be refused
    ///
    /// Changes nothing. Needs the role operator. The exit status is 1 if it would be refused.
    Check {
        /// File with the policy: what `dlo policy show` printed, changed; or the policy alone
        file: PathBuf,
    },
    /// Replace the policy; needs the role admin
    Put {
        /// File with the policy: what `dlo policy show` printed, changed; or the policy alone
        file: PathBuf,
        /// Why the policy changes; the history of the policy keeps it
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// The version that the change is based on; the one in the file without it. If another version applies by now,
        /// nothing changes
        #[arg(long, value_name = "N")]
        version: Option<u64>,
    },
}

/// What a command prints, and whether it found what it was asked for to be in order.
#[derive(Debug)]
pub struct Said {
    /// The text for stdout.
    pub text: String,
    /// Whether the exit status is 0.
    pub is_fine: bool,
}

/// Why a command cannot do its work. Nothing was changed, unless the office did not answer.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The address is not one of an office.
    #[error("{0} is not the address of an office. Give the URL of its dashboard, such as https://office.example.com")]
    Address(String),
    /// A token would travel unencrypted.
    #[error("{0} has no TLS, and your token would be readable on its way. Use https://, or an office on this machine")]
    Unencrypted(String),
    /// This program was built without TLS.
    #[error("this dlo was built without TLS. Build it with --features aws to reach an https:// address")]
    NoTls,
    /// There is no token.
    #[error("set {TOKEN} to a token of yours (docs/operations.md, \"Tokens for programs\")")]
    NoToken,
    /// The file cannot be read.
    #[error("cannot read {file}: {why}")]
    File {
        /// The file.
        file: String,
        /// Why not.
        why: String,
    },
    /// Nothing says which version the change is based on.
    #[error(
        "{0} has no version. Start from what `dlo policy show` prints, or say with --version which version you have read"
    )]
    NoVersion(String),
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
    #[error("{url} answered with HTTP status {status}, but not as an office does. Check the address")]
    NoOffice {
        /// The URL that was called.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// There is no answer.
    #[error("the office at {0} does not answer. Run `dlo policy show` to see whether a change was made")]
    NoAnswer(String),
}

/// A policy to write, and the version that it is based on, if the file says so.
#[derive(Debug, PartialEq)]
struct Draft {
    policy: Value,
    version: Option<u64>,
}

impl Draft {
    /// Reads what `show` printed, or a policy alone. No setting of a policy is called `policy`.
    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let mut document: Value = serde_json::from_str(text)?;
        let version = document["version"].as_u64();
        match document.get_mut("policy") {
            Some(policy) => Ok(Self { policy: policy.take(), version }),
            None => Ok(Self { policy: document, version: None }),
        }
    }

    fn read(file: &Path) -> Result<Self, PolicyError> {
        let name = file.display().to_string();
        let wrong = |why: String| PolicyError::File { file: name.clone(), why };
        let length = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?.len();
        if length > FILE_BYTES_MAX {
            return Err(wrong(format!("it has {length} bytes, and a policy has at most {FILE_BYTES_MAX}")));
        }
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text).map_err(|error| wrong(format!("it is not JSON: {error}")))
    }
}

/// Runs a command against the office at this address, with this bearer token.
pub async fn run(command: &PolicyCommand, office: &str, token: Option<&str>) -> Result<Said, PolicyError> {
    let office = Remote::at(office, token)?;
    match command {
        PolicyCommand::Show => {
            let answer: PolicyAnswer = office.call(Method::GET, "policy", None).await?;
            let document = json!({ "version": answer.version, "policy": answer.policy });
            Ok(Said { text: format!("{document:#}\n"), is_fine: true })
        }
        PolicyCommand::Check { file } => {
            let draft = Draft::read(file)?;
            let check: PolicyCheck =
                office.call(Method::POST, "policy/check", Some(json!({ "policy": draft.policy }))).await?;
            let is_old = draft.version.is_some_and(|version| version != check.version);
            Ok(Said { text: report(&check, draft.version), is_fine: check.problems.is_empty() && !is_old })
        }
        PolicyCommand::Put { file, reason, version } => {
            let draft = Draft::read(file)?;
            let missing = || PolicyError::NoVersion(file.display().to_string());
            let version = version.or(draft.version).ok_or_else(missing)?;
            let request = json!({ "policy": draft.policy, "version": version, "reason": reason });
            let written: PolicyAnswer = office.call(Method::PUT, "policy", Some(request)).await?;
            Ok(Said { text: format!("Version {} of the policy applies.\n", written.version), is_fine: true })
        }
    }
}

/// An office that is called over its API.
struct Remote {
    client: Client,
    url: Url,
    token: String,
}

impl Remote {
    fn at(office: &str, token: Option<&str>) -> Result<Self, PolicyError> {
        let address = || PolicyError::Address(office.to_owned());
        let url = Url::parse(office).map_err(|_| address())?;
        let host = url.host_str().ok_or_else(address)?;
        match url.scheme() {
            "https" if cfg!(not(feature = "aws")) => return Err(PolicyError::NoTls),
            "https" => {}
            "http" if is_this_machine(host) => {}
            "http" => return Err(PolicyError::Unencrypted(office.to_owned())),
            _ => return Err(address()),
        }
        let token = token.filter(|token| !token.is_empty()).ok_or(PolicyError::NoToken)?.to_owned();
        // Redirects are not followed: a token is for the office alone.
        let mut client = http::client().timeout(PATIENCE).redirect(reqwest::redirect::Policy::none());
        if url.scheme() == "http" {
            // A proxy would read the token, which is meant for this machine.
            client = client.no_proxy();
        }
        let client = client.build();
        Ok(Self { client: client.map_err(|_| PolicyError::NoTls)?, url, token })
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<T, PolicyError> {
        let mut url = self.url.clone();
        url.set_path(&format!("/api/v1/{path}"));
        let no_answer = |_| PolicyError::NoAnswer(self.url.to_string());
        let request = self.client.request(method, url.clone()).bearer_auth(&self.token);
        let answer = body.iter().fold(request, |request, body| request.json(body)).send().await.map_err(no_answer)?;
        let status = answer.status();
        let bytes = answer.bytes().await.map_err(no_answer)?;
        let no_office = || PolicyError::NoOffice { url: url.to_string(), status: status.as_u16() };
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|_| no_office());
        }
        let ErrorBody { message, request_id, .. } = serde_json::from_slice(&bytes).map_err(|_| no_office())?;
        Err(PolicyError::Refused { message, status: status.as_u16(), request_id })
    }
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Says what a check found, most important first.
fn report(check: &PolicyCheck, based_on: Option<u64>) -> String {
    let mut text = String::new();
    if let Some(version) = based_on.filter(|version| *version != check.version) {
        let _ = writeln!(
            text,
            "REFUSED: The file is based on version {version}, and version {} applies by now. Start again from what `dlo policy show` prints.",
            check.version
        );
    }
    for problem in &check.problems {
        let _ = writeln!(text, "REFUSED: {problem}");
    }
    for warning in &check.warnings {
        let _ = writeln!(text, "WARNING: {warning}");
    }
    let _ = match check.changes.len() {
        // A refused file has not been compared.
        0 if !check.problems.is_empty() => Ok(()),
        0 => writeln!(text, "Nothing would change, compared with version {}.", check.version),
        1 => writeln!(text, "1 setting would change, compared with version {}:", check.version),
        count => writeln!(text, "{count} settings would change, compared with version {}:", check.version),
    };
    for PolicyChange { setting, before, after } in &check.changes {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".to_owned());
        let _ = writeln!(text, "  {setting}: {} -> {}", value(before), value(after));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_show_prints_or_a_policy_alone() {
        for (text, policy, version) in [
            (r#"{"version":3,"policy":{"gate":{}}}"#, json!({ "gate": {} }), Some(3)),
            (r#"{"policy":{}}"#, json!({}), None),
            (r#"{"gate":{"quiet_ms":1}}"#, json!({ "gate": { "quiet_ms": 1 } }), None),
        ] {
            assert_eq!(Draft::parse(text).expect(text), Draft { policy, version }, "{text}");
        }
        assert!(Draft::parse("gate = 1").is_err());
    }

    #[test]
    fn a_token_goes_to_the_office_only_and_never_in_the_clear() {
        let refused = |office: &str, token| match Remote::at(office, token) {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.to_string(),
        };
        for office in ["http://127.0.0.1:8118", "http://localhost:8118/", "http://[::1]:8118/groups"] {
            assert_eq!(refused(office, Some("t")), "fine", "{office}");
        }
        assert!(refused("http://127.0.0.1:8118", None).contains(TOKEN));
        assert!(refused("http://127.0.0.1:8118", Some("")).contains(TOKEN));
        for office in ["http://office.example.com", "http://10.0.0.1", "http://127.0.0.1.example.com"] {
            assert!(refused(office, Some("t")).contains("has no TLS"), "{office}");
        }
        for office in ["office.example.com", "ftp://office.example.com", "", "file:///etc/passwd"] {
            assert!(refused(office, Some("t")).contains("not the address"), "{office}");
        }
    }

    #[test]
    fn a_check_says_what_is_refused_first() {
        let change = |setting: &str, before: Option<&str>, after: Option<&str>| PolicyChange {
            setting: setting.into(),
            before: before.map(Into::into),
            after: after.map(Into::into),
        };
        let check = PolicyCheck {
            version: 4,
            problems: vec!["gate.quiet_ms is too large.".into()],
            changes: vec![change("gate.four_eyes", Some("true"), Some("false")), change("rates", None, Some("{}"))],
            warnings: vec!["Nobody else has to approve.".into()],
        };
        let expected = "\
REFUSED: The file is based on version 3, and version 4 applies by now. Start again from what `dlo policy show` prints.
REFUSED: gate.quiet_ms is too large.
WARNING: Nobody else has to approve.
2 settings would change, compared with version 4:
  gate.four_eyes: true -> false
  rates: not set -> {}
";
        assert_eq!(report(&check, Some(3)), expected);
        let nothing = PolicyCheck { version: 4, problems: vec![], changes: vec![], warnings: vec![] };
        assert_eq!(report(&nothing, Some(4)), "Nothing would change, compared with version 4.\n");
    }
}
