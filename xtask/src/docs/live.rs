//! Runs the documents' commands as they stand: in the folder of a fresh demo, while it runs.
//!
//! Every line of a block of commands has a place in [`PROOFS`]. A command without one is a fault, so that no document
//! names a command that nobody runs.

use super::markdown::{Line, lines};
use super::{Fault, File};
use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::{run, say};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

/// How a command of a document is known to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// It is run beside a demo, by [`run_all`].
    Demo,
    /// A step of `cargo ci` runs it, or what it stands for.
    Step(&'static str),
    /// It takes minutes: `cargo xtask commands` runs it.
    Long,
    /// It needs an AWS account, or changes the machine.
    Account,
}

/// By the start of the command; the longest start that fits decides.
const PROOFS: &[(&str, Proof)] = &[
    ("target/demo/dlo ", Proof::Demo),
    ("export DLO_TOKEN=", Proof::Demo),
    ("export BODY=", Proof::Demo),
    ("curl --fail-with-body -X POST \"$DASHBOARD/", Proof::Demo),
    ("cp -r ", Proof::Demo),
    ("cargo demo", Proof::Step("one-machine")),
    ("cargo ci", Proof::Step("format")),
    ("cargo xtask dashboard", Proof::Step("dashboard")),
    ("cargo xtask screenshots", Proof::Step("browser")),
    ("cargo xtask simulate", Proof::Step("simulation")),
    ("cargo xtask schemathesis", Proof::Step("schemathesis")),
    ("cargo xtask tidy", Proof::Step("tidy")),
    ("cargo xtask help", Proof::Step("docs")),
    ("cargo xtask chaos", Proof::Long),
    ("cargo aws ", Proof::Step("stack")),
    ("cargo ", Proof::Long),
    ("UPDATE=1 cargo test ", Proof::Long),
    ("cargo run --release -p dlo --features aws --bin dlo -- ", Proof::Account),
    ("dlo ", Proof::Account),
    ("echo ", Proof::Demo),
    ("aws ", Proof::Account),
    ("sam ", Proof::Account),
    ("ARCHITECTURE=x86_64 sam build", Proof::Account),
    ("pip install ", Proof::Account),
    // An archive that the workflow `release` packs, and what is in it.
    ("tar xzf dead-letter-office-", Proof::Account),
    ("cd dead-letter-office-", Proof::Account),
    ("sha256sum --check ", Proof::Account),
    ("./dlo ", Proof::Account),
];

/// What stands in the documents for what a reader puts there, and what is put there here.
const PLACEHOLDERS: &[(&str, &str)] = &[("/backups/monday", "monday"), (".dlo-open", ".dlo")];

/// A line of a block of commands, with the lines that continue it.
#[derive(Debug, PartialEq, Eq)]
struct Script {
    at: String,
    text: String,
}

fn scripts(pages: &[File]) -> Vec<Script> {
    let mut found = Vec::new();
    for page in pages {
        let mut continued = String::new();
        for (line, text) in lines(&page.text) {
            let Line::Code("sh", text) = text else { continue };
            match text.trim_end().strip_suffix('\\') {
                Some(start) => continued.push_str(start),
                None => {
                    let text = std::mem::take(&mut continued) + text;
                    // A block in a list is indented.
                    let text = text.trim().to_owned();
                    if !text.is_empty() && !text.starts_with('#') {
                        found.push(Script { at: format!("{}:{line}", page.path.display()), text });
                    }
                }
            }
        }
    }
    found
}

fn proof(text: &str) -> Option<Proof> {
    let fits = PROOFS.iter().filter(|(start, _)| text.starts_with(start));
    fits.max_by_key(|(start, _)| start.len()).map(|(_, proof)| *proof)
}

/// Names the commands that nothing runs, and the steps that do not exist.
pub fn faults(pages: &[File], steps: &[&str]) -> Vec<Fault> {
    let mut found = Vec::new();
    for script in scripts(pages) {
        match proof(&script.text) {
            Some(Proof::Step(step)) if !steps.contains(&step) => {
                found.push(format!("{}: the step {step}, which should run this command, does not exist", script.at))
            }
            Some(_) => {}
            None => found.push(format!("{}: nothing runs `{}`: see PROOFS in xtask", script.at, script.text)),
        }
    }
    found
}

/// Runs what can be run beside a demo. Returns how many commands it ran.
pub fn run_all(paths: &Paths, pages: &[File]) -> Outcome<u64> {
    let demo = Demo::start(paths)?;
    let mut all: Vec<Script> =
        scripts(pages).into_iter().filter(|script| proof(&script.text) == Some(Proof::Demo)).collect();
    // The other commands use the token.
    all.sort_by_key(|script| !script.text.starts_with("export DLO_TOKEN="));
    let text: Vec<String> = all.iter().map(|script| demo.shell(script)).collect();
    let mut shell = run::cleaned(Command::new("bash"), paths);
    shell.current_dir(&demo.folder).env("CODE", &demo.code).env("DASHBOARD", &demo.url).env("GIT_SHA", "0123abc");
    let ran = run::captured(shell.args(["-euo", "pipefail", "-c", &text.join("\n")]));
    ran.map_err(|failure| failure.remedy("The last `doc …` line above names the command that failed."))?;
    all.iter().for_each(|script| say::note(&format!("{} works", script.at)));
    Ok(all.len() as u64)
}

/// `cargo xtask commands`: runs what takes minutes, one after the other.
pub fn run_long(paths: &Paths, pages: &[File]) -> Outcome<()> {
    let mut done: Vec<String> = Vec::new();
    for script in scripts(pages) {
        let command = script.text.split(" #").next().unwrap_or_default().trim().to_owned();
        if proof(&command) != Some(Proof::Long) || done.contains(&command) {
            continue;
        }
        say::note(&format!("{}: {command}", script.at));
        let mut shell = run::cleaned(Command::new("bash"), paths);
        run::open(shell.args(["-euo", "pipefail", "-c", &command]))?;
        done.push(command);
    }
    say::note(&format!("{} commands work", done.len()));
    Ok(())
}

/// A demo of its own in a fresh folder. Dropping it ends its process.
struct Demo {
    child: Child,
    /// The program, by its whole path.
    dlo: String,
    folder: PathBuf,
    url: String,
    /// The last part of the admin's sign-in link.
    code: String,
}

impl Demo {
    fn start(paths: &Paths) -> Outcome<Demo> {
        let folder = paths.target.join("documents");
        let _ = std::fs::remove_dir_all(&folder);
        at("create", &folder, std::fs::create_dir_all(&folder))?;
        let log = folder.join("log");
        let stderr = at("create", &log, std::fs::File::create(&log))?;
        let mut command = run::cleaned(Command::new(paths.dlo()), paths);
        command.args(["demo", "--port", "0", "--orders-per-s", "0"]).current_dir(&folder);
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr).spawn();
        let child = spawned.map_err(|cause| Failure::new(format!("The demo does not start: {cause}.")))?;
        let dlo = paths.dlo().display().to_string();
        let mut demo = Demo { child, dlo, folder, url: String::new(), code: String::new() };
        let failed = |demo: &Demo| {
            let log = std::fs::read_to_string(demo.folder.join("log")).unwrap_or_default();
            Failure::new("The demo of the documents' commands does not start.").log(log)
        };
        let stdout = demo.child.stdout.take();
        demo.url = stdout.and_then(first_address).ok_or_else(|| failed(&demo))?;
        let links = run::captured(Command::new(paths.dlo()).arg("links").current_dir(&demo.folder))?;
        demo.code = admin_code(&links).ok_or_else(|| failed(&demo).log(links))?;
        Ok(demo)
    }

    /// The command with this office's address and folders, and a line before it that names its place.
    fn shell(&self, script: &Script) -> String {
        let mut text = script.text.replace("http://127.0.0.1:8118", &self.url);
        text = text.replace("target/demo/dlo ", &format!("{} ", self.dlo));
        text = text.replace("dlo policy ", &format!("dlo policy --office {} ", self.url));
        for (name, value) in PLACEHOLDERS {
            text = text.replace(name, value);
        }
        if text.contains("$DASHBOARD") {
            text = format!("TOKEN=$DLO_TOKEN\n{text}");
        }
        format!("echo 'doc {}'\n{text}", script.at)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads up to the address of the control panel, the last thing that the demo prints; the rest is read and dropped.
fn first_address(stdout: ChildStdout) -> Option<String> {
    let mut stdout = BufReader::new(stdout);
    let mut line = String::new();
    while stdout.read_line(&mut line).ok()? > 0 {
        let found = line.split_whitespace().find_map(|word| word.strip_suffix("/panel")).map(str::to_owned);
        if found.is_some() {
            std::thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
            return found;
        }
        line.clear();
    }
    None
}

fn admin_code(links: &str) -> Option<String> {
    let line = links.lines().find(|line| line.contains("admin"))?;
    let code = line.split_whitespace().find_map(|word| word.rsplit_once("/signin#"))?.1;
    (!code.is_empty()).then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> File {
        File { path: PathBuf::from("a.md"), text: text.to_owned() }
    }

    #[test]
    fn a_command_without_proof_is_a_fault() {
        let pages = [page("```sh\ncargo demo   # starts\n# a comment\nrm -r x\nsam deploy \\\n  --guided\n```\n")];
        assert_eq!(faults(&pages, &["one-machine"]), ["a.md:4: nothing runs `rm -r x`: see PROOFS in xtask"]);
        assert_eq!(
            faults(&pages[..], &[])[0],
            "a.md:2: the step one-machine, which should run this command, does not exist"
        );
    }

    #[test]
    fn the_longest_start_decides() {
        assert_eq!(proof("cargo bench -p dlo-domain"), Some(Proof::Long));
        assert_eq!(proof("cargo aws up"), Some(Proof::Step("stack")));
        assert_eq!(proof("cargo run --release -p dlo --features aws --bin dlo -- open"), Some(Proof::Account));
    }

    #[test]
    fn the_admins_code_is_found() {
        assert_eq!(admin_code("viewer http://a/signin#x\nadmin  http://a/signin#y\n"), Some("y".to_owned()));
        assert_eq!(admin_code("nothing"), None);
    }
}
