//! The test programs of the native selection: compiled by one cargo call, then run without cargo.
//!
//! Cargo locks the target directory while it compiles. Programs that are started directly can run beside it.

use super::lints;
use super::tally::{self, Tally};
use crate::failure::{Failure, Outcome, at, fail};
use crate::paths::Paths;
use crate::{native, run, say};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiled test program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub package: String,
    /// The name of the library, binary or test that it tests.
    pub target: String,
    executable: PathBuf,
    /// The package's folder: tests expect to run there.
    folder: PathBuf,
}

/// Compiles every native test, program, example and benchmark of the selection. Returns the tests.
pub fn build(paths: &Paths) -> Outcome<Vec<Program>> {
    say::phase("compiling all native tests and programs", || {
        let mut cargo = native::cargo(paths, "build");
        cargo.args(["--tests", "--bins", "--examples", "--benches", "--keep-going"]);
        lints::by_clippy(paths, &mut cargo)?;
        let messages = lints::compile(paths, &mut cargo, lints::Of::Everything)?;
        let programs: Vec<Program> = messages.iter().filter_map(read).collect();
        let lines: Vec<String> = programs.iter().map(Program::line).collect();
        at("create", &paths.ci(), std::fs::create_dir_all(paths.ci()))?;
        at("write", &list(paths), std::fs::write(list(paths), lines.join("\n")))?;
        Ok(programs)
    })
}

/// Returns the tests. Compiles only where this run of `cargo ci` has not done it yet.
pub fn ensure(paths: &Paths) -> Outcome<Vec<Program>> {
    if !super::is_done("build") {
        return build(paths);
    }
    let text = at("read", &list(paths), std::fs::read_to_string(list(paths)))?;
    let programs: Option<Vec<Program>> = text.lines().map(Program::parse).collect();
    programs.filter(|programs| !programs.is_empty()).ok_or_else(|| {
        Failure::new(format!("{} does not list the test programs.", list(paths).display()))
            .remedy("Make it anew with: cargo ci --only build")
    })
}

/// Runs test programs one after the other; `prepare` adds what a program needs to know.
pub fn run_all(programs: &[&Program], prepare: impl Fn(&mut Command) -> Outcome<()>) -> Outcome<Tally> {
    let mut total = Tally::default();
    let mut broken = Vec::new();
    for program in programs {
        println!("\n     Running {} ({})", program.target, program.package);
        let mut command = Command::new(&program.executable);
        run::without_cargo(&mut command);
        command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
        command.env("CARGO_PKG_NAME", &program.package);
        // Shows what passing tests print, which says which cases they skipped.
        command.arg("--show-output");
        prepare(&mut command)?;
        match tally::tests(&mut command) {
            Ok(tally) => total.add(tally),
            // The later programs still run.
            Err(failure) => broken.push(failure),
        }
    }
    match broken.into_iter().next() {
        Some(failure) => Err(failure),
        None if total.passed + total.failed == 0 => fail("No test ran."),
        None => Ok(total),
    }
}

/// One message of cargo, if it announces a test program.
fn read(message: &Value) -> Option<Program> {
    let is_bench = message["target"]["kind"][0] == "bench";
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true && !is_bench;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let id = message["package_id"].as_str()?;
    is_test.then_some(Program {
        package: package_name(id)?.to_owned(),
        target: message["target"]["name"].as_str()?.to_owned(),
        executable: PathBuf::from(message["executable"].as_str()?),
        folder: folder.to_path_buf(),
    })
}

/// `path+file:///x/tests#dlo-tests@0.1.0`; where the folder has the package's name, `path+file:///x/xtask#0.1.0`.
fn package_name(id: &str) -> Option<&str> {
    let (folder, name) = id.rsplit_once('#')?;
    match name.split_once('@') {
        Some((name, _)) => Some(name),
        None => folder.rsplit('/').next(),
    }
}

fn list(paths: &Paths) -> PathBuf {
    paths.ci().join("programs")
}

impl Program {
    fn line(&self) -> String {
        format!("{}\t{}\t{}\t{}", self.package, self.target, self.executable.display(), self.folder.display())
    }

    fn parse(line: &str) -> Option<Program> {
        let mut fields = line.split('\t');
        let mut next = || fields.next().map(str::to_owned);
        let (package, target) = (next()?, next()?);
        Some(Program { package, target, executable: next()?.into(), folder: next()?.into() })
    }
}

/// The programs of some packages' targets.
pub fn chosen<'a>(programs: &'a [Program], targets: &[(&str, &str)]) -> Outcome<Vec<&'a Program>> {
    let find = |(package, target): &(&str, &str)| {
        let found = programs.iter().find(|program| program.package == *package && program.target == *target);
        found.ok_or_else(|| Failure::new(format!("The package {package} has no test target `{target}` any more.")))
    };
    targets.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn test_programs_are_read_from_cargos_messages() {
        let message = |kind: &str, test: bool, executable: Value| {
            json!({
                "reason": "compiler-artifact",
                "package_id": "path+file:///x/tests#dlo-tests@0.1.0",
                "manifest_path": "/x/tests/Cargo.toml",
                "target": {"kind": [kind], "name": "aws"},
                "profile": {"test": test},
                "executable": executable,
            })
        };
        let path = || Value::from("/x/target/debug/deps/aws-1");
        let program = read(&message("test", true, path())).expect("a test program");
        assert_eq!((program.package.as_str(), program.target.as_str()), ("dlo-tests", "aws"));
        assert_eq!(program.folder, Path::new("/x/tests"));
        assert_eq!(Program::parse(&program.line()), Some(program.clone()));
        assert!(read(&message("bench", true, path())).is_none());
        assert!(read(&message("bin", false, path())).is_none());
        assert!(read(&message("test", true, Value::Null)).is_none());
        let all = [program];
        assert_eq!(chosen(&all, &[("dlo-tests", "aws")]).expect("chosen").len(), 1);
        assert!(chosen(&all, &[("dlo-tests", "stack")]).is_err());
    }

    #[test]
    fn packages_are_named_by_cargos_ids() {
        assert_eq!(package_name("path+file:///x/tests#dlo-tests@0.1.0"), Some("dlo-tests"));
        assert_eq!(package_name("path+file:///x/xtask#0.1.0"), Some("xtask"));
    }
}
