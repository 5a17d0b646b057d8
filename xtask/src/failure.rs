//! Failures as sentences for the person at the terminal.

/// One sentence that says what failed, one that says what to do, and, where there is one, the output to look at.
#[derive(Debug, Default)]
pub struct Failure {
    pub what: String,
    pub remedy: Option<String>,
    pub log: Option<String>,
}

pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub fn new(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), ..Failure::default() }
    }

    pub fn remedy(mut self, remedy: impl Into<String>) -> Failure {
        self.remedy = Some(remedy.into());
        self
    }

    /// Returns what failed and what to do, without the log.
    pub fn sentences(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{}\n{remedy}", self.what),
            None => self.what.clone(),
        }
    }

    pub fn log(mut self, log: impl Into<String>) -> Failure {
        self.log = Some(log.into());
        self
    }
}

/// Returns a failure without remedy or log.
pub fn fail<T>(what: impl Into<String>) -> Outcome<T> {
    Err(Failure::new(what))
}

/// Gives a file operation its subject: `std::io::Error` never names the file.
pub fn at<T>(doing: &str, path: &std::path::Path, result: std::io::Result<T>) -> Outcome<T> {
    result.map_err(|cause| Failure::new(format!("Could not {doing} {}: {cause}.", path.display())))
}
