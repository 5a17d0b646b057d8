//! Screenshots of every page and state: both themes, a laptop and a phone. The browser tests take them; one page shows
//! them all.

use super::{lints, rust};
use crate::failure::{Outcome, at, fail};
use crate::paths::Paths;
use crate::tools::axe;
use crate::tools::browser::Browser;
use crate::{Work, native, run, say};
use std::collections::BTreeSet;
use std::process::ExitCode;

/// What follows the state in a file's name: `list-1440x900-light.png`.
const LOOKS: [&str; 4] = ["1440x900-light", "1440x900-dark", "390x844-light", "390x844-dark"];
const STYLE: &str = "body{font:14px system-ui;margin:24px;color-scheme:light dark}\
    div{display:grid;grid-template-columns:3fr 3fr 1fr 1fr;gap:8px}img{width:100%;border:1px solid #888}";

/// Reads the arguments of `cargo xtask screenshots [word]`.
pub fn read(args: &[String]) -> Outcome<Work> {
    if args.len() > 1 {
        return fail("Usage: cargo xtask screenshots [word]");
    }
    let args = args.to_vec();
    Ok(Box::new(move |paths| take(paths, &args)))
}

/// Takes them in the browser tests whose names contain the word, or in all.
fn take(paths: &Paths, args: &[String]) -> Outcome<ExitCode> {
    let browser = Browser::ensure(paths)?;
    axe::ensure(paths)?;
    rust::ensure_one_machine(paths)?;
    let folder = paths.target.join("screenshots");
    // Those of states that no longer exist would stay.
    if args.is_empty() && folder.is_dir() {
        at("empty", &folder, std::fs::remove_dir_all(&folder))?;
    }
    let mut cargo = native::cargo(paths, "test");
    // As `cargo ci` compiled them. Two Chromiums on two cores miss each other's deadlines.
    lints::by_clippy(paths, &mut cargo)?;
    cargo.args(["--test", "story", "--test", "issuer", "--no-fail-fast", "--", "--test-threads=1"]).args(args);
    browser.export(&mut cargo);
    let tests = run::open(cargo.env("DLO_BIN", paths.dlo()));
    let mut states = BTreeSet::new();
    for file in at("read", &folder, std::fs::read_dir(&folder))? {
        let name = at("read", &folder, file)?.file_name().to_string_lossy().into_owned();
        states.extend(name.strip_suffix(&format!("-{}.png", LOOKS[0])).map(String::from));
    }
    if states.is_empty() {
        return fail("These tests take no screenshots.");
    }
    let index = folder.join("index.html");
    at("write", &index, std::fs::write(&index, page(&states)))?;
    say::note(&format!("screenshots: {} states, {} each: {}", states.len(), LOOKS.len(), index.display()));
    tests.map(|()| ExitCode::SUCCESS)
}

/// The page with all screenshots, a row for each state.
fn page(states: &BTreeSet<String>) -> String {
    let row = |state: &String| {
        let images = LOOKS.map(|look| {
            format!("<a href=\"{state}-{look}.png\"><img src=\"{state}-{look}.png\" alt=\"{state} {look}\"></a>")
        });
        format!("<h2 id=\"{state}\">{state}</h2><div>{}</div>\n", images.concat())
    };
    let rows: String = states.iter().map(row).collect();
    format!("<!doctype html><meta charset=\"utf-8\"><title>Screenshots</title><style>{STYLE}</style>\n{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_shown_in_every_look() {
        let page = page(&BTreeSet::from(["list".to_string(), "group".to_string()]));
        assert_eq!(page.matches("<img ").count(), 2 * LOOKS.len());
        assert!(
            page.contains("list-390x844-dark.png")
                && page.find("group-1440").unwrap() < page.find("list-1440").unwrap()
        );
    }
}
