//! The API of a real demo, called by Schemathesis with inputs that it derives from the OpenAPI document.
//!
//! `cargo ci` calls it with the same inputs in every run. `cargo xtask schemathesis` searches for new ones.

use super::minutes;
use super::tally::Tally;
use super::{built, rust};
use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::tools::schemathesis;
use crate::{Work, run, say};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

/// Inputs for each operation and phase: about a minute.
const FIXED: &[&str] =
    &["--generation-deterministic", "--max-examples", "100", "--phases", "examples,coverage,fuzzing"];
const MINUTES: u64 = 5;
/// What must hold for every answer: no fault of the server, and what the document says. And the document's security is
/// real: a call without a session is refused.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
                      response_schema_conformance,ignored_auth,unsupported_method";
/// Seconds until an answer counts as a hang.
const PATIENCE_S: &str = "20";
/// A call that would end the session that all others need.
const EXCLUDED: &[&str] = &["--exclude-method", "DELETE"];

/// The step of `cargo ci`.
pub fn fixed(paths: &Paths) -> Outcome<Tally> {
    let programs = built::ensure(paths)?;
    drop(programs);
    rust::ensure_one_machine(paths)?;
    call(paths, FIXED)?;
    Ok(Tally::passed(1))
}

/// Reads the arguments of `cargo xtask schemathesis [--minutes N]`.
pub fn read(args: &[String]) -> Outcome<Work> {
    let usage = || Failure::new("Usage: cargo xtask schemathesis [--minutes N]");
    let minutes = minutes(args, MINUTES).ok_or_else(usage)?;
    Ok(Box::new(move |paths| search(paths, minutes)))
}

/// Calls it with other inputs in every run, for some minutes.
fn search(paths: &Paths, minutes: u64) -> Outcome<ExitCode> {
    built::build(paths)?;
    rust::one_machine(paths)?;
    call(paths, &["--max-time", &(minutes * 60).to_string(), "--phases", "examples,coverage,fuzzing,stateful"])?;
    Ok(ExitCode::SUCCESS)
}

/// Starts an office, calls its API, and checks that the office is as well as before.
fn call(paths: &Paths, how: &[&str]) -> Outcome<()> {
    let program = schemathesis::ensure(paths)?;
    let mut office = Fuzzed::start(paths)?;
    let folder = paths.target.join("schemathesis");
    at("create", &folder, std::fs::create_dir_all(&folder))?;
    let config = folder.join("schemathesis.toml");
    at("write", &config, std::fs::write(&config, office.config()))?;
    let about = |name: &str| office.about[name].as_str().unwrap_or_default().to_owned();
    let mut command = run::cleaned(Command::new(program), paths);
    command.arg("--config-file").arg(&config);
    command.args(["run", &format!("{}/api/v1/openapi.json", about("url"))]);
    command.args(["--header", &format!("Authorization: Bearer {}", about("token"))]);
    command.args(["--checks", CHECKS, "--request-timeout", PATIENCE_S, "--continue-on-failure", "--no-color"]);
    command.args(EXCLUDED).args(how).current_dir(&folder);
    let called = run::open(&mut command);
    office.end()?;
    called.map_err(|failure| failure.remedy("Each failure above has a `curl` command that repeats it."))?;
    say::note("no answer of the API was a server error, a hang or against its document");
    Ok(())
}

/// The running example `office_to_fuzz`. Dropping it ends its office.
struct Fuzzed {
    child: Child,
    /// What it printed: its address, a token, the ids of what it holds.
    about: Value,
}

impl Fuzzed {
    fn start(paths: &Paths) -> Outcome<Fuzzed> {
        let mut command = run::cleaned(Command::new(example(paths)), paths);
        command.env("DLO_BIN", paths.dlo()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let failed = |cause: std::io::Error| Failure::new(format!("The office to call does not start: {cause}."));
        let mut office = Fuzzed { child: command.spawn().map_err(failed)?, about: Value::Null };
        let mut line = String::new();
        if let Some(stdout) = office.child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(failed)?;
        }
        office.about = serde_json::from_str(&line)
            .map_err(|_| Failure::new("The office to call ended before it was ready; its message is above."))?;
        Ok(office)
    }

    /// Most calls take ids of what exists, and the others generated ones.
    fn config(&self) -> String {
        let names = [("group", "groups"), ("letter", "letters"), ("replay", "replays")];
        let dictionaries = names.map(|(_, list)| format!("[dictionaries.{list}]\nvalues = {}\n", self.about[list]));
        let parameters =
            names.map(|(name, list)| format!("\"path.{name}\" = {{ dictionary = \"{list}\", probability = 0.8 }}\n"));
        format!("{}\n[parameters]\n{}", dictionaries.concat(), parameters.concat())
    }

    /// Lets the example check its office and end.
    fn end(&mut self) -> Outcome<()> {
        drop(self.child.stdin.take());
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(Failure::new("The office does not answer any more, or panicked; see above.")),
        }
    }
}

impl Drop for Fuzzed {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn example(paths: &Paths) -> std::path::PathBuf {
    Path::new(&paths.target).join("debug/examples/office_to_fuzz")
}
