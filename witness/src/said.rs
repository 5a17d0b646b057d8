//! What a logged line says about a failure, as far as one line can.

use domain::logs::{self, Level};
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

impl Said {
    /// Reads a line.
    pub fn on(line: &str) -> Self {
        let reading = logs::read(line);
        if let Some(failure) = reading.failure {
            let (error_type, message, stack) = (failure.error_type, failure.message, failure.stack);
            return Self::Error(ReportedError { error_type, message, stack });
        }
        // What a function says at a low level is not why it failed, whatever its words.
        if reading.level == Some(Level::Quiet) || !reports_an_error(line) {
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
            (r#"{"level":30,"msg":"m-0: 0 errors so far"}"#, Said::Nothing),
            ("WARN payment-info m-0 failed", perhaps("WARN payment-info m-0 failed")),
            ("charging m-0", Said::Nothing),
        ] {
            assert_eq!(Said::on(line), wanted, "{line}");
        }
    }
}
