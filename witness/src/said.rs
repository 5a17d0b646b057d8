//! What a logged line says about a failure, as far as one line can.

use domain::logs;
use domain::report::ReportedError;
use domain::report::clues::reports_an_error;

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// An error, in a form of a runtime or logger, or at the level of one.
    Error(ReportedError),
    /// Words about a failure, without a level, or as a warning: it may have been overcome.
    Perhaps(ReportedError),
    /// Nothing about a failure.
    Nothing,
}

/// The levels below a warning. What a function says there is not why it failed, whatever its words.
const QUIET: [&str; 3] = ["INFO", "DEBUG", "TRACE"];
/// How far into a line its level stands, bytes: after a time, an id and a thread.
const LEVEL_WITHIN_BYTES: usize = 200;

impl Said {
    /// Reads a line.
    pub fn on(line: &str) -> Self {
        let reading = logs::read(line);
        if let Some(failure) = reading.failure {
            let (error_type, message, stack) = (failure.error_type, failure.message, failure.stack);
            return Self::Error(ReportedError { error_type, message, stack });
        }
        let is_quiet = || {
            let beginning = domain::text::head(line, LEVEL_WITHIN_BYTES);
            let mut words = beginning.split(|c: char| !c.is_ascii_alphabetic());
            words.any(|word| QUIET.iter().any(|level| word.eq_ignore_ascii_case(level)))
        };
        if !reports_an_error(line) || (reading.is_error_level == Some(false) && is_quiet()) {
            return Self::Nothing;
        }
        let message = Some(line.trim().to_owned());
        Self::Perhaps(ReportedError { message, ..ReportedError::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_an_error_or_perhaps_one_or_nothing() {
        let error = |error_type: &str, message: &str| {
            let error_type = (!error_type.is_empty()).then(|| error_type.to_owned());
            Said::Error(ReportedError { error_type, message: Some(message.to_owned()), stack: None })
        };
        let perhaps =
            |line: &str| Said::Perhaps(ReportedError { message: Some(line.to_owned()), ..ReportedError::default() });
        for (line, wanted) in [
            ("ERROR m-2: too late", error("", "m-2: too late")),
            ("[ERROR]\t2026-11-22T10:00:00.000Z\tr-1\tno price", error("", "r-1\tno price")),
            ("order 7 failed: ValueError: no price", error("ValueError", "no price")),
            ("Failed: no price", perhaps("Failed: no price")),
            ("WARNING: failed to load the optional cache", perhaps("WARNING: failed to load the optional cache")),
            ("INFO m-0: error budget ok", Said::Nothing),
            (r#"{"level":"info","message":"0 errors so far"}"#, Said::Nothing),
            ("charging m-0", Said::Nothing),
        ] {
            assert_eq!(Said::on(line), wanted, "{line}");
        }
    }
}
