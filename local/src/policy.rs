//! `dlo policy show | check | put`: the policy of a running office, through its API.
//!
//! `show` prints a document with the policy and its version. `check` and `put` take the same document, changed by hand:
//! the version in it says what the change is based on, so that nobody's change is overwritten unseen.

use crate::remote::{Remote, RemoteError};
use clap::Subcommand;
use domain::policy::PolicyChange;
use reqwest::Method;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wire::{PolicyAnswer, PolicyCheckAnswer};

/// The largest file that is read. The API refuses requests of more than 1 MiB.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The commands for the policy.
#[derive(Subcommand)]
pub enum PolicyCommand {
    /// Print the policy that applies, with its version, as JSON
    Show,
    /// Show what a policy would change, and why it would be refused
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
        /// Version that the change is based on [default: the version in the file]. If another version applies, nothing
        /// is changed
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
    /// The office could not be asked.
    #[error(transparent)]
    Remote(#[from] RemoteError),
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
            return Err(wrong(format!("it has {length} bytes; a policy may have at most {FILE_BYTES_MAX}")));
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
            let check: PolicyCheckAnswer =
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

/// Says what a check found, most important first.
fn report(check: &PolicyCheckAnswer, based_on: Option<u64>) -> String {
    let mut text = String::new();
    if let Some(version) = based_on.filter(|version| *version != check.version) {
        let _ = writeln!(
            text,
            "REFUSED: The file is based on version {version}, but version {} applies now. Start again from what `dlo policy show` prints.",
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
    fn a_check_says_what_is_refused_first() {
        let change = |setting: &str, before: Option<&str>, after: Option<&str>| PolicyChange {
            setting: setting.into(),
            before: before.map(Into::into),
            after: after.map(Into::into),
        };
        let check = PolicyCheckAnswer {
            version: 4,
            problems: vec!["gate.quiet_ms is too large.".into()],
            changes: vec![change("gate.four_eyes", Some("true"), Some("false")), change("rates", None, Some("{}"))],
            warnings: vec!["Nobody else has to approve.".into()],
        };
        let expected = "\
REFUSED: The file is based on version 3, but version 4 applies now. Start again from what `dlo policy show` prints.
REFUSED: gate.quiet_ms is too large.
WARNING: Nobody else has to approve.
2 settings would change, compared with version 4:
  gate.four_eyes: true -> false
  rates: not set -> {}
";
        assert_eq!(report(&check, Some(3)), expected);
        let nothing = PolicyCheckAnswer { version: 4, problems: vec![], changes: vec![], warnings: vec![] };
        assert_eq!(report(&nothing, Some(4)), "Nothing would change, compared with version 4.\n");
    }
}
