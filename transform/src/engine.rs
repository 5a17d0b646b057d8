//! Compiles a program and runs it over one body.
//!
//! A program's only input is the body: it has no clock, no environment and no other files. So the letter sent is the
//! same as in the preview.

use crate::json::{self, parse};
use crate::limits::FAULTS_MAX;
use crate::outcome::{Applied, Failure};
use crate::splice::{Spliced, shown, splice};
use domain::limits::PROGRAM_BYTES_MAX;
use domain::transform::ProgramFault;
use jaq_core::compile::Undefined;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data, unwrap_valr};
use jaq_json::Val;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Functions of the standard library that a program must not call: they read the clock, the environment or the machine's
/// time zone, write other output, or end the process.
const FUNS_WITHHELD: &[&str] = &["now", "env", "halt", "localtime", "strflocaltime", "debug_empty", "stderr_empty"];
/// Definitions of the standard library that call those functions.
const DEFS_WITHHELD: &[&str] = &["halt", "halt_error", "debug", "stderr"];
/// The names, as people write them, that get an explanation instead of "unknown".
const WITHHELD: &[&str] = &[
    "now",
    "env",
    "$ENV",
    "halt",
    "halt_error",
    "localtime",
    "strflocaltime",
    "debug",
    "stderr",
    "input",
    "inputs",
    "input_filename",
    "$__prog_args",
];

/// A compiled program.
pub struct Program {
    filter: jaq_core::Filter<data::JustLut<Val>>,
}

impl Program {
    /// Compiles a program, or returns its faults with their locations.
    pub fn compile(text: &str) -> Result<Self, Vec<ProgramFault>> {
        caught(|| Self::compile_uncaught(text)).unwrap_or_else(|failure| Err(whole(failure.to_string())))
    }

    fn compile_uncaught(text: &str) -> Result<Self, Vec<ProgramFault>> {
        if text.trim().is_empty() {
            return Err(whole("The program is empty. `.` changes nothing; `.field = 1` sets a field.".into()));
        }
        if text.len() > PROGRAM_BYTES_MAX {
            return Err(whole(format!("The program is longer than {PROGRAM_BYTES_MAX} bytes.")));
        }
        let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let funs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let loader = Loader::new(defs.filter(|def| !DEFS_WITHHELD.contains(&def.name)));
        let arena = Arena::default();
        let modules = loader.load(&arena, File { code: text, path: () });
        let modules = modules.map_err(|errors| load_faults(text, &errors))?;
        // The loader refuses other modules itself, but compiles the import of a data file to a variable without a value.
        load::import(&modules, |_| Err(String::new())).map_err(|errors| load_faults(text, &errors))?;
        let compiler = Compiler::default().with_funs(funs.filter(|(name, ..)| !FUNS_WITHHELD.contains(name)));
        match compiler.compile(modules) {
            Ok(filter) => Ok(Self { filter }),
            Err(errors) => {
                let undefined = errors.iter().flat_map(|(_, errors)| errors);
                let faults = undefined.map(|(name, what)| fault(text, name, undefined_message(name, what)));
                Err(faults.take(FAULTS_MAX).collect())
            }
        }
    }

    /// Runs the program over a body. `with_changes` requests the changed fields.
    pub fn apply(&self, body: &str, with_changes: bool) -> Result<Applied, Failure> {
        caught(|| self.apply_uncaught(body, with_changes))?
    }

    fn apply_uncaught(&self, body: &str, with_changes: bool) -> Result<Applied, Failure> {
        let before = parse(body).map_err(|fault| match fault {
            json::Fault::NotJson(at) => {
                let (line, column) = line_and_column(body, at);
                Failure::NotJson { line, column }
            }
            json::Fault::TooDeep => Failure::BodyTooDeep,
        })?;
        let context = Ctx::<data::JustLut<Val>>::new(&self.filter.lut, Vars::new([]));
        let mut answers = self.filter.id.run((context, before.value())).map(unwrap_valr);
        let failed = |error: jaq_json::Error| Failure::Program(error_message(error));
        let answer = answers.next().ok_or(Failure::NoAnswer)?.map_err(failed)?;
        match answers.next() {
            None => {}
            Some(Ok(_)) => return Err(Failure::SeveralAnswers),
            Some(Err(error)) => return Err(failed(error)),
        }
        let Spliced { changed, text, changes } = splice(&before, &answer, with_changes)?;
        Ok(if changed { Applied::Changed { body: text, changes } } else { Applied::Unchanged })
    }
}

/// Runs a part of the engine. A panic in it becomes a failure of the program, and the worker goes on.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        // The standard library panics with this text if a length does not fit into memory at all.
        if text == Some("capacity overflow") { Failure::TooMuchMemory } else { Failure::EngineFailed }
    })
}

/// Returns a message as the only fault, at the start of the program.
fn whole(message: String) -> Vec<ProgramFault> {
    vec![ProgramFault { line: 1, column: 1, message }]
}

/// Returns the message of a program's error. Adds advice for the most common one.
fn error_message(error: jaq_json::Error) -> String {
    let text = match error.into_val() {
        Val::TStr(text) => String::from_utf8_lossy(&text).into_owned(),
        other => other.to_string(),
    };
    let mut message = shown(text.trim_end_matches('.'));
    if text.starts_with("cannot use null as iterable") {
        message.push_str(". A field on the path is missing. Create it first: `.a //= {} | .a.b = 1`");
    }
    message.push('.');
    message
}

fn load_faults(text: &str, errors: &load::Errors<&str, ()>) -> Vec<ProgramFault> {
    let mut faults = Vec::new();
    for (_, error) in errors {
        match error {
            load::Error::Io(missing) => faults.extend(missing.iter().map(|(name, _)| {
                fault(
                    text,
                    name,
                    "Modules and files are not available. Write their definitions into the program.".into(),
                )
            })),
            load::Error::Lex(wrong) => faults.extend(wrong.iter().map(|(expected, found)| {
                // The lexer misses a bracket at the end of the program; people look for the place where it was opened.
                let (at, wrong) = match expected {
                    load::lex::Expect::Delim(open @ "(") => (*open, "This `(` has no closing `)`."),
                    load::lex::Expect::Delim(open @ "[") => (*open, "This `[` has no closing `]`."),
                    load::lex::Expect::Delim(open @ "{") => (*open, "This `{` has no closing `}`."),
                    load::lex::Expect::Delim(open) => (*open, "This string has no closing quote."),
                    load::lex::Expect::Digit => (*found, "Expected a digit here."),
                    load::lex::Expect::Ident => (*found, "Expected a name here."),
                    load::lex::Expect::Escape => (*found, "Unknown escape. Write `\\\\` for a backslash."),
                    load::lex::Expect::Unicode => (*found, "Expected four hexadecimal digits here."),
                    _ => (*found, "Unexpected character. Write `.\"name\"` for a field with such a name."),
                };
                fault(text, at, wrong.into())
            })),
            load::Error::Parse(wrong) => faults.extend(wrong.iter().map(|(expected, found)| {
                let found_text = if found.is_empty() { "the end of the program".into() } else { format!("`{found}`") };
                fault(text, found, format!("Expected {}, found {found_text}.", expected.as_str()))
            })),
        }
    }
    faults.truncate(FAULTS_MAX);
    faults
}

fn undefined_message(name: &str, what: &Undefined) -> String {
    if WITHHELD.contains(&name) {
        return format!("`{name}` is not available: the letter sent must be the same as in the preview.");
    }
    match what {
        Undefined::Filter(0) => {
            format!("There is no filter `{name}`. Write `.{name}` for a field, `\"{name}\"` for a string.")
        }
        Undefined::Filter(arity) => format!("There is no filter `{name}` with {arity} arguments."),
        Undefined::Var => format!("There is no variable `{name}`. Give it a value first: `… as {name} | …`."),
        other => format!("There is no {} `{name}`.", other.as_str()),
    }
}

/// Returns a fault at `part`, which is a slice of the program's text.
fn fault(text: &str, part: &str, message: String) -> ProgramFault {
    // A part may belong to the standard library instead; its fault is reported at the start of the program.
    let (start, at) = (text.as_ptr() as usize, part.as_ptr() as usize);
    fault_at(text, at.checked_sub(start).filter(|at| *at <= text.len()).unwrap_or(0), message)
}

fn fault_at(text: &str, at: usize, message: String) -> ProgramFault {
    let (line, column) = line_and_column(text, at);
    ProgramFault { line, column, message }
}

/// Returns the line and column of a byte, both counted from 1.
fn line_and_column(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (line as u32, column as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_engine_is_the_programs_failure() {
        let overflow: fn() = || panic!("capacity overflow");
        let rows: [(fn(), _); 3] = [
            (overflow, Err(Failure::TooMuchMemory)),
            (|| panic!("index {} is out of bounds", 7), Err(Failure::EngineFailed)),
            (|| {}, Ok(())),
        ];
        for (work, expected) in rows {
            assert_eq!(caught(work), expected);
        }
        assert!(Failure::EngineFailed.to_string().contains("this program"));
    }

    #[test]
    fn a_program_goes_on_after_a_panic() {
        let program = Program::compile("if . == 1 then \"xxx\" * 9000000000000000000 else . end")
            .unwrap_or_else(|_| panic!("a program"));
        assert_eq!(program.apply("1", false), Err(Failure::TooMuchMemory));
        assert_eq!(program.apply("2", false), Ok(Applied::Unchanged));
    }
}
