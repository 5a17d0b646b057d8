//! Starting other programs: with a clean cargo environment, captured, shown, or watched.

use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// A cargo call as if the user had typed it. `cargo xtask` itself runs under cargo, which exports
/// variables about the xtask package that would make the inner cargo rebuild what depends on them.
pub fn cargo(paths: &Paths) -> Command {
    cleaned(Command::new("cargo"), paths)
}

pub fn cleaned(mut command: Command, paths: &Paths) -> Command {
    without_cargo(&mut command);
    command.current_dir(&paths.root);
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        command.env("LD_LIBRARY_PATH", without_cargo_entries(&path, paths));
    }
    command
}

/// Removes the variables that cargo sets about xtask itself.
pub fn without_cargo(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|p| name.starts_with(p)) {
            command.env_remove(name);
        }
    }
    command.env_remove("CARGO").env_remove("OUT_DIR");
}

/// `cargo run` puts the compiler's own libraries first; a compiler from elsewhere must not find them.
fn without_cargo_entries(path: &std::ffi::OsStr, paths: &Paths) -> std::ffi::OsString {
    let kept = std::env::split_paths(path)
        .filter(|entry| !entry.starts_with(&paths.target) && !entry.iter().any(|part| part == "toolchains"));
    std::env::join_paths(kept).unwrap_or_default()
}

/// Returns what a program prints on stdout; fails with its whole output.
pub fn captured(command: &mut Command) -> Outcome<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| Failure::new(format!("Could not start {}: {cause}.", shown(command))))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let log = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    Err(Failure::new(format!("{} failed ({}).", shown(command), output.status)).log(log))
}

/// Returns what a program prints on stdout; its stderr goes to the terminal.
pub fn stdout_of(command: &mut Command) -> Outcome<String> {
    let mut text = String::new();
    lines_of(command, |line| {
        text.push_str(line);
        text.push('\n');
    })?;
    Ok(text)
}

/// Hands each line that a program prints on stdout to `take`; its stderr goes to the terminal.
pub fn lines_of(command: &mut Command, mut take: impl FnMut(&str)) -> Outcome<()> {
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn();
    let mut child = spawned.map_err(|cause| Failure::new(format!("Could not start {}: {cause}.", shown(command))))?;
    for line in child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).split(b'\n').map_while(Result::ok)) {
        take(&String::from_utf8_lossy(&line));
    }
    let status = child.wait().map_err(|cause| Failure::new(format!("Lost sight of {}: {cause}.", shown(command))))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("{} failed ({status}).", shown(command)))) }
}

/// Runs a program that writes to the terminal itself.
pub fn open(command: &mut Command) -> Outcome<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|cause| Failure::new(format!("Could not start {}: {cause}.", shown(command))))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("{} failed ({status}).", shown(command))))
}

/// A command as one would type it, for messages.
pub fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
    format!("`{}`", words.join(" "))
}
