//! The logs of consumers on one machine: files.

use async_trait::async_trait;
use domain::logs::{LINES_MAX, LogLine, lines};
use domain::time::Timestamp;
use office::port::{LogQuery, Logged, Logs, LogsError};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How much of a file is read, bytes, from its end. It holds some ten thousand log lines.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Log files, by the name under which consumers have them. No other file is ever read, whatever a record names.
pub struct FileLogs {
    files: BTreeMap<String, PathBuf>,
}

impl FileLogs {
    /// Creates the logs of these files.
    pub fn new(files: impl IntoIterator<Item = (String, PathBuf)>) -> Self {
        Self { files: files.into_iter().collect() }
    }
}

#[async_trait]
impl Logs for FileLogs {
    async fn find(&self, query: LogQuery<'_>) -> Result<Logged, LogsError> {
        let Some(path) = self.files.get(query.source) else {
            return Err(LogsError(format!("This office has no log file named {}.", query.source)));
        };
        let text =
            tail_of(path).map_err(|error| LogsError(format!("The log {} cannot be read: {error}.", query.source)))?;
        Ok(found(&text, query))
    }
}

/// Reads the end of a file. A file that does not exist yet is an empty log.
fn tail_of(path: &Path) -> io::Result<String> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        file => file?,
    };
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(FILE_BYTES_MAX)))?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn found(text: &str, query: LogQuery<'_>) -> Logged {
    let is_in = |at: Timestamp| query.ranges.iter().any(|range| range.from <= at && at <= range.to);
    let in_time = lines(text).into_iter().filter(|(at, _)| is_in(*at));
    let mut found: Vec<LogLine> = in_time.filter_map(|(at, text)| LogLine::find(at, text, query.ids)).collect();
    let cut = found.len() > LINES_MAX;
    // The newest: the last attempts say most.
    found.drain(..found.len().saturating_sub(LINES_MAX));
    Logged { lines: found, cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::logs::{LINE_BYTES_MAX, TimeRange};

    /// 2026-11-22T10:00:00Z.
    const START_MS: i64 = 1_795_341_600_000;

    async fn find(logs: &FileLogs, source: &str, from_s: i64, to_s: i64) -> Result<Vec<String>, String> {
        let at = |s: i64| Timestamp::from_ms(START_MS + s * 1_000);
        let ranges = [TimeRange { from: at(from_s), to: at(to_s) }];
        let query = LogQuery { source, ranges: &ranges, ids: &["m-1".into()] };
        let found = logs.find(query).await.map_err(|error| error.to_string())?;
        Ok(found.lines.into_iter().map(|line| line.text).collect())
    }

    #[tokio::test]
    async fn errors_and_ids_are_found_in_their_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders.log");
        let text = "2026-11-22T10:00:01Z\tINFO\tworking on m-1\n\
            2026-11-22T10:00:01Z\tINFO\tworking on m-2\n\
            2026-11-22T10:00:02Z\tERROR\tno price\n  details\n\
            2026-11-22T10:00:09Z\tERROR\tlate\n";
        std::fs::write(&path, [text.as_bytes(), b"\xff\xfe"].concat()).unwrap();
        let logs = FileLogs::new([("orders.log".to_owned(), path.clone())]);
        let found = find(&logs, "orders.log", 0, 5).await.unwrap();
        assert_eq!(
            found,
            ["2026-11-22T10:00:01Z\tINFO\tworking on m-1", "2026-11-22T10:00:02Z\tERROR\tno price\n  details"]
        );
        assert_eq!(find(&logs, "orders.log", 10, 20).await, Ok(Vec::new()));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(find(&logs, "orders.log", 0, 5).await, Ok(Vec::new()), "a log without a line yet");
    }

    #[tokio::test]
    async fn no_other_file_is_read() {
        let logs = FileLogs::new([]);
        let refused = find(&logs, "/etc/hostname", 0, 5).await.unwrap_err();
        assert_eq!(refused, "This office has no log file named /etc/hostname.");
    }

    #[test]
    fn what_is_found_is_bounded() {
        let line = format!("2026-11-22T10:00:00Z\tERROR\t{}\n", "x".repeat(LINE_BYTES_MAX));
        let at = Timestamp::from_ms(START_MS);
        let ranges = [TimeRange { from: at, to: at }];
        let query = LogQuery { source: "", ranges: &ranges, ids: &[] };
        let all = found(&line.repeat(LINES_MAX + 1), query);
        assert_eq!((all.lines.len(), all.cut), (LINES_MAX, true));
        assert!(all.lines.iter().all(|line| line.text.len() <= LINE_BYTES_MAX));
        assert!(!found(&line, query).cut);
    }
}
