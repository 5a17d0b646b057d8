//! Compiling a program, and running it over one body.
//!
//! A program sees its letter and nothing else: no clock, no environment, no other input. So what is sent is what the
//! preview showed.

use crate::json::{self, parse};
use crate::limits::{DEPTH_MAX, FAULTS_MAX, LETTER_CPU_MAX};
use crate::splice::{Spliced, shown, splice};
use domain::limits::{MESSAGE_BYTES_MAX, PROGRAM_BYTES_MAX};
use domain::transform::{FieldChange, ProgramFault};
use jaq_core::compile::Undefined;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data, unwrap_valr};
use jaq_json::Val;
use serde::{Deserialize, Serialize};

/// What the standard library has and a program must not: clock, environment, time zone of the machine, output beside
/// the answer, ending the process.
const FUNS_WITHHELD: &[&str] = &["now", "env", "halt", "localtime", "strflocaltime", "debug_empty", "stderr_empty"];
/// The definitions that are made of them.
const DEFS_WITHHELD: &[&str] = &["halt", "halt_error", "debug", "stderr"];
/// The same and their like by the names that people write.
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

/// What a program makes of a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Applied {
    /// It says the same: the original goes, byte for byte.
    Unchanged,
    /// Another body.
    Changed {
        /// The body.
        body: String,
        /// The fields that differ, if they were asked for.
        changes: Vec<FieldChange>,
    },
}

/// Why a program cannot change a letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Failure {
    /// The body is no JSON.
    #[error("The body is not JSON (line {line}, column {column}): a jq program cannot change it.")]
    NotJson {
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
    },
    /// The body is nested too deep.
    #[error("The body is nested deeper than {DEPTH_MAX} levels.")]
    BodyTooDeep,
    /// The program says so.
    #[error("The program fails: {0}")]
    Program(String),
    /// No value.
    #[error(
        "The program gives no value; it must give exactly one. In place of `select(…)` write `if … then … else . end`."
    )]
    NoAnswer,
    /// Several values.
    #[error(
        "The program gives several values; it must give exactly one. `first(…)` takes one of them, `[…]` all as a list."
    )]
    SeveralAnswers,
    /// A number that JSON has no text for.
    #[error("The answer holds a number that JSON cannot say (no number, or infinite).")]
    NotANumber,
    /// Bytes, or keys that are no text.
    #[error("The answer holds bytes, or a key that is no text: JSON cannot say that.")]
    NotText,
    /// The answer is nested too deep.
    #[error("The answer is nested deeper than {DEPTH_MAX} levels.")]
    AnswerTooDeep,
    /// The answer does not fit into a message.
    #[error("The answer is larger than {MESSAGE_BYTES_MAX} bytes: SQS takes no larger message.")]
    AnswerTooLarge,
    /// It took too long, and was ended.
    #[error("The program takes longer than {} ms for this letter.", LETTER_CPU_MAX.as_millis())]
    TooSlow,
    /// It took too much memory, and was ended.
    #[error("The program needs more memory than a letter may take.")]
    TooMuchMemory,
    /// It calls itself too often, and was ended.
    #[error("The program calls itself too often.")]
    TooMuchRecursion,
    /// It ended the worker in another way.
    #[error("The program ended the engine ({0}).")]
    Crashed(String),
}

/// A compiled program.
pub struct Program {
    filter: jaq_core::Filter<data::JustLut<Val>>,
}

impl Program {
    /// Compiles a program, or says what is wrong with it and where.
    pub fn compile(text: &str) -> Result<Self, Vec<ProgramFault>> {
        let whole = |message: String| vec![ProgramFault { line: 1, column: 1, message }];
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
        let compiler = Compiler::default().with_funs(funs.filter(|(name, ..)| !FUNS_WITHHELD.contains(name)));
        match compiler.compile(modules) {
            Ok(filter) => Ok(Self { filter }),
            Err(errors) => {
                let undefined = errors.iter().flat_map(|(_, errors)| errors);
                let faults = undefined.map(|(name, what)| fault(text, name, undefined_words(name, what)));
                Err(faults.take(FAULTS_MAX).collect())
            }
        }
    }

    /// Runs the program over a body. `tell` asks for the fields that change.
    pub fn apply(&self, body: &str, tell: bool) -> Result<Applied, Failure> {
        let before = parse(body).map_err(|fault| match fault {
            json::Fault::NotJson(at) => {
                let (line, column) = place(body, at);
                Failure::NotJson { line, column }
            }
            json::Fault::TooDeep => Failure::BodyTooDeep,
        })?;
        let context = Ctx::<data::JustLut<Val>>::new(&self.filter.lut, Vars::new([]));
        let mut answers = self.filter.id.run((context, before.value())).map(unwrap_valr);
        let failed = |error: jaq_json::Error| Failure::Program(program_words(error));
        let answer = answers.next().ok_or(Failure::NoAnswer)?.map_err(failed)?;
        match answers.next() {
            None => {}
            Some(Ok(_)) => return Err(Failure::SeveralAnswers),
            Some(Err(error)) => return Err(failed(error)),
        }
        let Spliced { changed, text, changes } = splice(&before, &answer, tell)?;
        Ok(if changed { Applied::Changed { body: text, changes } } else { Applied::Unchanged })
    }
}

/// What a program's error says, with what to do about the one that everybody meets first.
fn program_words(error: jaq_json::Error) -> String {
    let said = match error.into_val() {
        Val::TStr(text) => String::from_utf8_lossy(&text).into_owned(),
        other => other.to_string(),
    };
    let mut words = shown(said.trim_end_matches('.'));
    if said.starts_with("cannot use null as iterable") {
        words.push_str(". A field on the way is missing; create it first: `.a //= {} | .a.b = 1`");
    }
    words.push('.');
    words
}

fn load_faults(text: &str, errors: &load::Errors<&str, ()>) -> Vec<ProgramFault> {
    let mut faults = Vec::new();
    for (_, error) in errors {
        match error {
            load::Error::Io(missing) => faults.extend(missing.iter().map(|(name, _)| {
                fault(
                    text,
                    name,
                    "Other files cannot be included here: write their definitions into the program.".into(),
                )
            })),
            load::Error::Lex(wrong) => faults.extend(wrong.iter().map(|(expected, found)| {
                // A bracket is missed at the end; what is looked for is where it was opened.
                let (at, wrong) = match expected {
                    load::lex::Expect::Delim(open @ "(") => (*open, "The closing `)` of this is missing."),
                    load::lex::Expect::Delim(open @ "[") => (*open, "The closing `]` of this is missing."),
                    load::lex::Expect::Delim(open @ "{") => (*open, "The closing `}` of this is missing."),
                    load::lex::Expect::Delim(open) => (*open, "The closing quote of this is missing."),
                    load::lex::Expect::Digit => (*found, "A digit is missing here."),
                    load::lex::Expect::Ident => (*found, "A name is missing here."),
                    load::lex::Expect::Escape => (*found, "This is no escape; a backslash is written `\\\\`."),
                    load::lex::Expect::Unicode => (*found, "Four hexadecimal digits of a character are missing here."),
                    _ => (*found, "This character cannot stand here. A field with such a name is written `.\"name\"`."),
                };
                fault(text, at, wrong.into())
            })),
            load::Error::Parse(wrong) => faults.extend(wrong.iter().map(|(expected, found)| {
                let here = if found.is_empty() { "the program ends".into() } else { format!("`{found}` stands") };
                fault(text, found, format!("Here {here}, where {} is expected.", expected.as_str()))
            })),
        }
    }
    faults.truncate(FAULTS_MAX);
    faults
}

fn undefined_words(name: &str, what: &Undefined) -> String {
    if WITHHELD.contains(&name) {
        return format!("`{name}` cannot be used here: what is sent must be what the preview showed.");
    }
    match what {
        Undefined::Filter(0) => {
            format!("There is no filter `{name}`. A field is written `.{name}`, a text \"{name}\".")
        }
        Undefined::Filter(arity) => format!("There is no filter `{name}` with {arity} arguments."),
        Undefined::Var => format!("There is no variable `{name}`. Give it a value first: `… as {name} | …`."),
        other => format!("There is no {} `{name}`.", other.as_str()),
    }
}

/// A fault at a part of the program's text.
fn fault(text: &str, part: &str, message: String) -> ProgramFault {
    // A part may belong to a definition of the standard library: then nobody can say where.
    let (start, at) = (text.as_ptr() as usize, part.as_ptr() as usize);
    fault_at(text, at.checked_sub(start).filter(|at| *at <= text.len()).unwrap_or(0), message)
}

fn fault_at(text: &str, at: usize, message: String) -> ProgramFault {
    let (line, column) = place(text, at);
    ProgramFault { line, column, message }
}

/// Line and column of a byte, both from 1.
fn place(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (line as u32, column as u32)
}
