//! Every command that a document or a file's head names exists: its package, program, example or test, and its arguments.

use super::markdown::{Line, lines, spans};
use super::workspace::Workspace;
use super::{Fault, File, proofs};
use crate::failure::Outcome;
use crate::paths::Paths;
use crate::{run, say};
use std::path::Path;
use std::process::Command;

/// A command as it is written, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    pub at: String,
    pub text: String,
    /// It stands in a block of commands, to be copied as it is.
    pub is_block: bool,
}

/// Subcommands of cargo that are not the project's own.
const CARGO: &[&str] = &["bench", "build", "check", "clippy", "doc", "fmt", "install", "run", "rustc", "test", "tree"];
const PROFILES: &[&str] = &["dev", "release", "demo", "witness", "wasm"];

/// Collects the commands of all pages, of the heads of all Rust files, and of the comments of other files.
pub fn named(pages: &[File], sources: &[File], others: &[File]) -> Vec<Named> {
    let mut found = Vec::new();
    for page in pages {
        let mut continued = String::new();
        for (line, text) in lines(&page.text) {
            let at = format!("{}:{line}", page.path.display());
            match text {
                Line::Code("sh", text) => match text.trim_end().strip_suffix('\\') {
                    Some(start) => continued.push_str(start),
                    None => {
                        let whole = std::mem::take(&mut continued) + text;
                        found.extend(pieces(&whole).map(|text| Named { at: at.clone(), text, is_block: true }));
                    }
                },
                Line::Code(..) => {}
                Line::Prose(text) => found.extend(named_in_prose(&at, text)),
            }
        }
    }
    let head = |file: &File| file.text.lines().take_while(|line| line.starts_with("//!")).count();
    let whole = |file: &File| file.text.lines().count();
    let is_comment = |line: &str| line.starts_with("//!") || line.trim_start().starts_with('#');
    let files = sources.iter().map(|file| (file, head(file))).chain(others.iter().map(|file| (file, whole(file))));
    for (file, count) in files {
        for (line, text) in file.text.lines().take(count).enumerate().filter(|(_, text)| is_comment(text)) {
            found.extend(named_in_prose(&format!("{}:{}", file.path.display(), line + 1), text));
        }
    }
    found
}

fn named_in_prose<'a>(at: &'a str, text: &'a str) -> impl Iterator<Item = Named> + 'a {
    let ours = spans(text).map(without_settings).filter(|text| is_ours(text));
    ours.map(|text| Named { at: at.to_owned(), text: text.to_owned(), is_block: false })
}

/// The commands of a line of a block, without its comment.
fn pieces(line: &str) -> impl Iterator<Item = String> + '_ {
    let code = line.split(" #").next().unwrap_or_default();
    let code = if line.trim_start().starts_with('#') { "" } else { code };
    code.split(['|', ';', '&']).map(|piece| without_settings(piece.trim()).to_owned()).filter(|piece| is_ours(piece))
}

/// `UPDATE=1 cargo test` is `cargo test`.
fn without_settings(text: &str) -> &str {
    let is_setting = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    match text.split_once(' ') {
        Some((first, rest)) if is_setting(first) => without_settings(rest),
        _ => text,
    }
}

fn is_ours(text: &str) -> bool {
    ["cargo ", "dlo ", "target/demo/dlo "].iter().any(|start| text.starts_with(start))
}

/// The project's own commands.
pub struct Known<'a> {
    /// Reads a command line of `cargo xtask`, and runs nothing.
    pub xtask: &'a dyn Fn(&[String]) -> Outcome<()>,
    /// Of `cargo ci --only`.
    pub steps: &'a [&'a str],
    /// The program that is asked which commands it has.
    pub dlo: &'a Path,
}

/// What stands in a command for what its reader puts there, and an example of it.
const PLACEHOLDERS: &[(&str, &str)] = &[("N", "1"), ("S", "1"), ("<step>", "docs"), ("<name>", "kill")];

/// What the repository has.
struct Repository {
    workspace: Workspace,
    /// The paths of its tests.
    tests: Vec<String>,
}

/// Says what is wrong with the commands.
pub fn faults(paths: &Paths, named: &[Named], sources: &[File], known: &Known<'_>) -> Outcome<Vec<Fault>> {
    let repository = Repository { workspace: Workspace::read(paths)?, tests: proofs::tests_of(sources) };
    let mut found = Vec::new();
    for command in named {
        let words: Vec<&str> = command.text.split_whitespace().collect();
        let fault = match words.as_slice() {
            // What `cargo demo` hands to `dlo demo`.
            ["cargo", "demo", ..] => dlo_fault(&words[1..], &|words| help(known.dlo, words)),
            ["cargo", words @ ..] => {
                cargo_fault(known, &repository, words).or_else(|| run_fault(words, &|words| help(known.dlo, words)))
            }
            [_, words @ ..] => dlo_fault(words, &|words| help(known.dlo, words)),
            [] => None,
        };
        found.extend(fault.map(|what| format!("{}: `{}`: {what}", command.at, command.text)));
    }
    Ok(found)
}

fn cargo_fault(known: &Known<'_>, repository: &Repository, words: &[&str]) -> Option<String> {
    let unknown = |what: &str, word: &str| Some(format!("there is no {what} `{word}`"));
    match words {
        [] => None,
        // The aliases of `.cargo/config.toml`.
        ["xtask", words @ ..] | words @ ["ci" | "aws", ..] => {
            (known.xtask)(&filled(words)).err().map(|failure| failure.what)
        }
        ["test", flags @ ..] => {
            flags_fault(&repository.workspace, flags).or_else(|| filter_fault(&repository.tests, flags))
        }
        [command, flags @ ..] if CARGO.contains(command) => flags_fault(&repository.workspace, flags),
        [command, ..] => unknown("cargo command", command),
    }
}

/// Puts an example in each place that is left to the reader. Optional arguments lose their brackets, and `…` is nothing.
fn filled(words: &[&str]) -> Vec<String> {
    let mut filled: Vec<String> = Vec::new();
    for word in words.join(" ").replace(['[', ']', '…'], "").split_whitespace() {
        match filled.last_mut() {
            // `<commit of the last release>` is one argument.
            Some(last) if last.starts_with('<') && !last.ends_with('>') => *last = format!("{last} {word}"),
            _ => filled.push(word.to_owned()),
        }
    }
    for word in &mut filled {
        if let Some((_, example)) = PLACEHOLDERS.iter().find(|(placeholder, _)| word == placeholder) {
            *word = (*example).to_owned();
        }
    }
    filled
}

fn flags_fault(workspace: &Workspace, flags: &[&str]) -> Option<String> {
    let own = flags.iter().position(|flag| *flag == "--").map_or(flags, |end| &flags[..end]);
    let value = |names: &[&str]| {
        let at = own.iter().position(|flag| names.contains(flag))?;
        own.get(at + 1).copied()
    };
    let package = value(&["-p", "--package"]);
    if let Some(package) = package
        && workspace.package(package).is_none()
    {
        return Some(format!("there is no package `{package}`"));
    }
    for kind in ["bin", "example", "test", "bench"] {
        if let Some(name) = value(&[&format!("--{kind}")])
            && !workspace.has_target(package, kind, name)
        {
            return Some(format!("there is no {kind} `{name}`"));
        }
    }
    if let (Some(package), Some(features)) = (package, value(&["--features"]))
        && let Some(feature) = features.split(',').find(|feature| !workspace.has_feature(package, feature))
    {
        return Some(format!("the package `{package}` has no feature `{feature}`"));
    }
    let profile = value(&["--profile"])?;
    (!PROFILES.contains(&profile)).then(|| format!("there is no profile `{profile}`"))
}

/// `cargo test` succeeds with a filter that no test has.
fn filter_fault(tests: &[String], flags: &[&str]) -> Option<String> {
    let own = flags.iter().take_while(|flag| **flag != "--");
    // A word after a flag is its value: no command here names a flag without one before its filter.
    let (_, filter) = own.fold(("", None), |(before, found), word| {
        let is_filter = !word.starts_with('-') && !before.starts_with('-');
        (*word, if is_filter { Some(*word) } else { found })
    });
    let filter = filter?;
    (!tests.iter().any(|test| test.contains(filter))).then(|| format!("no test has `{filter}` in its name"))
}

/// What `cargo run … --bin dlo -- …` hands to `dlo`.
fn run_fault(words: &[&str], help: &dyn Fn(&[&str]) -> Option<String>) -> Option<String> {
    let end = words.iter().position(|word| *word == "--")?;
    let is_dlo = words[..end].windows(2).any(|pair| pair == ["--bin", "dlo"]);
    if is_dlo { dlo_fault(&words[end + 1..], help) } else { None }
}

/// Follows subcommands as far as `dlo` has them, then asks whether its help names the flags.
fn dlo_fault(words: &[&str], help: &dyn Fn(&[&str]) -> Option<String>) -> Option<String> {
    let commands: Vec<&str> =
        words.iter().copied().take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect();
    // `dlo help` has no `--help` of its own.
    let first = commands.first().filter(|first| **first != "help")?;
    let known = (1..=commands.len()).rev().find_map(|end| help(&commands[..end]));
    let Some(text) = known else { return Some(format!("`dlo` has no command `{first}`")) };
    let flags = words.iter().filter(|word| word.starts_with("--")).map(|flag| flag.split('=').next().unwrap_or(flag));
    let unknown = flags.into_iter().find(|flag| *flag != "--help" && !text.contains(*flag));
    unknown.map(|flag| format!("`dlo {first}` has no option `{flag}`"))
}

fn help(dlo: &Path, words: &[&str]) -> Option<String> {
    let mut command = Command::new(dlo);
    run::captured(command.args(words).arg("--help")).ok()
}

/// Examples that end within seconds, with arguments that make them short.
const CHEAP_EXAMPLES: &[(&str, &[&str])] = &[("office_rates", &["20"])];

/// Runs the short examples. `folder` holds the programs, compiled. Returns how many it ran.
pub fn run_examples(paths: &Paths, folder: &Path) -> Outcome<u64> {
    for (name, args) in CHEAP_EXAMPLES {
        let mut example = run::cleaned(Command::new(folder.join("examples").join(name)), paths);
        run::captured(example.args(*args))?;
        say::note(&format!("the example {name} works"));
    }
    Ok(CHEAP_EXAMPLES.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{"packages":[{"name":"dlo","features":{"aws":[]},"targets":[
        {"name":"dlo","kind":["bin"]},{"name":"rates","kind":["example"]}]}]}"#;

    #[test]
    fn commands_are_found_where_they_stand() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.to_owned() };
        let page = file(
            "a.md",
            "Run `cargo ci`, not `git`.\n```sh\n# cargo no\ncargo demo   # starts\necho x | target/demo/dlo classify\n\
             cargo run \\\n  -p dlo\n```\n",
        );
        let source = file("b.rs", "//! Run `cargo xtask tidy`.\n\n// `cargo nothing`\n");
        let other = file("c.toml", "[a]\nb = \"`cargo nothing`\"\n# See `cargo aws up`.\n");
        let found: Vec<String> = named(&[page], &[source], &[other])
            .into_iter()
            .map(|named| format!("{} {}", named.at, named.text))
            .collect();
        let expected =
            ["a.md:1 cargo ci", "a.md:4 cargo demo", "a.md:5 target/demo/dlo classify", "a.md:7 cargo run   -p dlo"];
        assert_eq!(found, [&expected[..], &["b.rs:1 cargo xtask tidy", "c.toml:3 cargo aws up"]].concat());
    }

    #[test]
    fn cargo_commands_name_what_exists() {
        let workspace = Workspace::parse(METADATA).expect("packages");
        let repository = Repository { workspace, tests: vec!["office::story::a_test".to_owned()] };
        let xtask = |args: &[String]| crate::read(args).map(drop);
        let known = Known { xtask: &xtask, steps: &[], dlo: Path::new("dlo") };
        for (command, fine) in [
            ("run --release -p dlo --features aws --bin dlo -- open --queue x", true),
            ("run --release -p dlo --example rates", true),
            ("run -p dlo --example other", false),
            ("run -p dlo-local --bin dlo", false),
            ("run -p dlo --features gone --bin dlo", false),
            ("run --profile fast -p dlo", false),
            ("ci --only tidy", true),
            ("ci --only nothing", false),
            ("ci --only <step>", true),
            ("xtask tidy", true),
            ("xtask nothing", false),
            ("xtask …", true),
            ("xtask chaos [--minutes N] [--fault <name>]", true),
            ("xtask chaos [--hours N]", false),
            ("xtask chaos --fault flood", false),
            ("xtask package --since <commit of the last release>", true),
            ("aws", true),
            ("aws up", true),
            ("aws up orders", false),
            ("aws demo 100 gift-card", true),
            ("aws demo 100 gift", false),
            ("nothing", false),
            ("test -p dlo", true),
            ("test -p dlo story::", true),
            ("test -p dlo gone::", false),
            ("test gone -- --test-threads 1", false),
        ] {
            let words: Vec<&str> = command.split_whitespace().collect();
            assert_eq!(cargo_fault(&known, &repository, &words).is_none(), fine, "{command}");
        }
    }

    #[test]
    fn settings_before_a_command_are_not_the_command() {
        assert_eq!(without_settings("UPDATE=1 A_B=c cargo test"), "cargo test");
        assert_eq!(without_settings("cargo run A=b"), "cargo run A=b");
    }

    #[test]
    fn what_cargo_hands_to_dlo_is_in_its_help() {
        let help = |words: &[&str]| (words == ["open"]).then(|| "--queue <URL>".to_owned());
        for (command, fine) in [
            ("run -p dlo --bin dlo -- open --queue x", true),
            ("run -p dlo --bin dlo -- open --color x", false),
            ("run -p dlo --bin dlo -- shut", false),
            ("run -p x --example y -- shut", true),
        ] {
            let words: Vec<&str> = command.split_whitespace().collect();
            assert_eq!(run_fault(&words, &help).is_none(), fine, "{command}");
        }
    }

    #[test]
    fn commands_of_dlo_are_in_its_help() {
        let help = |words: &[&str]| match words {
            ["orders"] => Some("Usage: dlo orders".to_owned()),
            ["orders", "place"] => Some("--kind <KIND>".to_owned()),
            _ => None,
        };
        for (command, fine) in [
            ("orders status", true),
            ("orders place 20 --kind gift-card", true),
            ("orders place 20 --color red", false),
            ("nothing", false),
            ("orders …", true),
            ("help", true),
        ] {
            let words: Vec<&str> = command.split_whitespace().collect();
            assert_eq!(dlo_fault(&words, &help).is_none(), fine, "{command}");
        }
    }
}
