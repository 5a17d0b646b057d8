//! The result of running a program over a body.

use crate::limits::{DEPTH_MAX, LETTER_CPU_MAX};
use domain::limits::MESSAGE_BYTES_MAX;
use domain::transform::{FieldChange, ProgramFault};
use serde::{Deserialize, Serialize};

/// The result for one body.
pub type Outcome = Result<Applied, Failure>;

/// The results for several bodies, in their order; or the faults of the program.
pub type Run = Result<Vec<Outcome>, Vec<ProgramFault>>;

/// A program's output for a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Applied {
    /// The output has the same values as the body; the original is sent, byte for byte.
    Unchanged,
    /// The output differs from the body.
    Changed {
        /// The new body.
        body: String,
        /// The changed fields, if requested.
        changes: Vec<FieldChange>,
    },
}

/// Why a program cannot change a letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Failure {
    /// The body is not JSON.
    #[error("The body is not JSON (line {line}, column {column}), so a jq program cannot change it.")]
    NotJson {
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
    },
    /// The body is nested too deep.
    #[error("The body is nested deeper than {DEPTH_MAX} levels.")]
    BodyTooDeep,
    /// The program raised an error.
    #[error("The program failed: {0}")]
    Program(String),
    /// The program produced no value.
    #[error(
        "The program produced no value. It must produce exactly one: write `if … then … else . end` instead of `select(…)`."
    )]
    NoAnswer,
    /// The program produced several values.
    #[error(
        "The program produced several values. It must produce exactly one: `first(…)` takes the first, `[…]` collects all in a list."
    )]
    SeveralAnswers,
    /// JSON has no text for a number in the output.
    #[error("The output contains a number that JSON cannot represent (NaN or infinite).")]
    NotANumber,
    /// The output contains bytes, or keys that are not strings.
    #[error("The output contains binary data, or a key that is not a string. JSON cannot represent it.")]
    NotText,
    /// The output is an empty text.
    #[error("The output is an empty text. SQS accepts no message without a body.")]
    NoBody,
    /// The output is a text with characters that no message may have.
    #[error("The output contains a control character, U+FFFE or U+FFFF. SQS accepts none of them in a message.")]
    NotSent,
    /// The output is nested too deep.
    #[error("The output is nested deeper than {DEPTH_MAX} levels.")]
    AnswerTooDeep,
    /// The output does not fit into a message.
    #[error("The output is larger than {MESSAGE_BYTES_MAX} bytes, the largest message that SQS accepts.")]
    AnswerTooLarge,
    /// The program took too long and was ended.
    #[error("The program took longer than {} ms for this letter.", LETTER_CPU_MAX.as_millis())]
    TooSlow,
    /// The program took too much memory and was ended.
    #[error("The program used more memory than one letter may take.")]
    TooMuchMemory,
    /// The program recursed too deeply and was ended.
    #[error("The program recursed too deeply.")]
    TooMuchRecursion,
    /// The engine panicked: a defect of the engine, which only another program avoids.
    #[error("The jq engine failed on this program. Write the program in another way.")]
    EngineFailed,
    /// The program ended the worker in another way.
    #[error("The program crashed the engine ({0}).")]
    Crashed(String),
}
