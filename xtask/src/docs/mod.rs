//! The project's Markdown files and the commands that they name: `cargo xtask book`, and the step `docs` of `cargo ci`.

mod commands;
mod deploys;
mod links;
mod live;
mod markdown;
mod proofs;
mod workspace;

use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::tools::mdbook;
use crate::{run, say};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What a document, or a file's head, says wrongly: `file:line: what`.
pub type Fault = String;

/// `cargo xtask book`: builds `docs/` into `target/book`.
pub fn book(paths: &Paths) -> Outcome<ExitCode> {
    let mdbook = mdbook::ensure(paths)?;
    let mut build = run::cleaned(Command::new(mdbook.path), paths);
    build.args(["build", "docs", "--dest-dir"]).arg(paths.target.join("book"));
    run::open(&mut build)?;
    println!("The book is at {}", paths.target.join("book/index.html").display());
    Ok(ExitCode::SUCCESS)
}

/// Checks every link of every Markdown file, every test that one names as proof, and every command that a document or a
/// file's head names; commands of the SAM CLI also for the stack that they address.
pub fn check(paths: &Paths, known: &Known<'_>) -> Outcome<()> {
    let Files { pages, sources, others } = files(paths)?;
    let mut faults = links::faults(&pages);
    faults.extend(proofs::faults(&pages, &sources));
    let samconfig = paths.root.join("samconfig.toml");
    faults.extend(deploys::faults(&pages, &at("read", &samconfig, std::fs::read_to_string(&samconfig))?));
    faults.extend(live::faults(&pages, known.steps));
    let named = commands::named(&pages, &sources, &others);
    faults.extend(commands::faults(paths, &named, &sources, known)?);
    if faults.is_empty() {
        say::note(&format!("the links of {} Markdown files hold, and {} commands exist", pages.len(), named.len()));
        return Ok(());
    }
    faults.iter().for_each(|fault| println!("{fault}"));
    Err(Failure::new(format!("The documents are wrong in {} places.", faults.len())))
}

pub use commands::Known;

/// Runs the documents' commands beside a demo, and the short examples. `folder` holds the programs, compiled. Returns how
/// many it ran.
pub fn run_short(paths: &Paths, folder: &Path) -> Outcome<u64> {
    let pages = files(paths)?.pages;
    Ok(live::run_all(paths, &pages)? + commands::run_examples(paths, folder)?)
}

/// `cargo xtask commands`: runs the commands of the documents that take minutes.
pub fn run_long(paths: &Paths) -> Outcome<ExitCode> {
    let pages = files(paths)?.pages;
    live::run_long(paths, &pages)?;
    Ok(ExitCode::SUCCESS)
}

/// A file of the repository, by its path from the root.
pub struct File {
    pub path: PathBuf,
    pub text: String,
}

const SKIPPED: &[&str] = &["target", "dist", "node_modules"];
/// Files whose comments begin with `#`.
const OTHERS: &[&str] = &["toml", "yaml", "yml", "py", "sh"];

/// The files that may name commands.
#[derive(Default)]
struct Files {
    /// Markdown.
    pages: Vec<File>,
    /// Rust.
    sources: Vec<File>,
    /// See [`OTHERS`].
    others: Vec<File>,
}

fn files(paths: &Paths) -> Outcome<Files> {
    let mut all = Files::default();
    let mut folders = vec![paths.root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in at("read", &folder, std::fs::read_dir(&folder))? {
            let path = at("read", &folder, entry)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_hidden = name.starts_with('.') && name != ".github";
            if is_hidden || SKIPPED.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let list = match path.extension().and_then(|extension| extension.to_str()) {
                Some("md") => &mut all.pages,
                Some("rs") => &mut all.sources,
                Some(extension) if OTHERS.contains(&extension) => &mut all.others,
                _ => continue,
            };
            let text = at("read", &path, std::fs::read_to_string(&path))?;
            list.push(File { path: path.strip_prefix(&paths.root).unwrap_or(&path).to_path_buf(), text });
        }
    }
    for files in [&mut all.pages, &mut all.sources, &mut all.others] {
        files.sort_by(|a, b| a.path.cmp(&b.path));
    }
    Ok(all)
}
