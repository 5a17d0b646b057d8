//! The last lines that the function logged, as Lambda's Telemetry API delivers them.

use crate::said::Said;
use domain::report::ReportedError;
use domain::text::head;
use serde::Deserialize;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The most lines that are kept: a report takes 20, and a slow delivery mixes two invocations.
const LINES_MAX: usize = 60;
/// The longest line that is kept, bytes.
const LINE_BYTES_MAX: usize = 4 * 1024;
/// Lambda's name for a process that ended.
const EXITED: &str = "Runtime.ExitError";
/// How Lambda says that the kernel ended the process, which it does for want of memory only.
const KILLED: &str = "signal: killed";
/// The most ends of invocations that are kept.
const ENDS_MAX: usize = 8;

/// What Lambda says about the end of an invocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// `success`, `failure`, `error` or `timeout`.
    pub status: Option<String>,
    /// For example `Runtime.ExitError`.
    pub error_type: Option<String>,
    /// The memory that was used at most, MB.
    pub memory_used_mb: Option<u32>,
    /// The memory that may be used, MB.
    pub memory_mb: Option<u32>,
}

/// Lines and ends of the last invocations.
#[derive(Default)]
pub struct Logs {
    state: Mutex<State>,
    changed: Notify,
    /// Whether Lambda has refused to deliver lines, so that nobody need wait for them.
    is_off: AtomicBool,
    /// Whether several invocations run at once, so that a line belongs to the one that it names, and to no other.
    is_concurrent: bool,
}

#[derive(Default)]
struct State {
    /// The invocation that the next lines belong to.
    current: Option<String>,
    lines: VecDeque<Line>,
    /// How many lines came so far.
    lines_count: u64,
    ends: VecDeque<(String, End)>,
}

struct Line {
    of: Owner,
    text: String,
    /// Its number among all lines that came.
    number: u64,
}

/// What a line is about.
#[derive(Debug, PartialEq, Eq)]
enum Owner {
    /// The start of the function: no invocation had been announced.
    Start,
    /// This invocation.
    Invocation(String),
    /// One of several invocations.
    Nobody,
}

/// A moment among the lines that came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark(u64);

/// One event of the Telemetry API, schema version 2022-12-13.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    record: Value,
}

impl Logs {
    /// Returns an empty log of an environment that handles several invocations at once, or not.
    pub fn new(is_concurrent: bool) -> Self {
        Self { is_concurrent, ..Self::default() }
    }

    /// Lambda does not deliver lines.
    pub fn switch_off(&self) {
        self.is_off.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    /// Takes one delivery: a JSON list of events. Ignores what it does not know.
    pub fn take(&self, delivery: &[u8]) {
        let Ok(events) = serde_json::from_slice::<Vec<Event>>(delivery) else { return };
        {
            let mut state = self.state();
            for event in events {
                state.take(&event, self.is_concurrent);
            }
        }
        self.changed.notify_waiters();
    }

    /// Returns the lines of an invocation, oldest first. What the function logged while it started is not about any
    /// invocation.
    pub fn lines_of(&self, request_id: &str) -> Vec<String> {
        self.state().lines.iter().filter(|line| line.is_of(request_id)).map(|line| line.text.clone()).collect()
    }

    /// Returns the lines that the function logged before its first invocation was announced, oldest first.
    pub fn lines_of_start(&self) -> Vec<String> {
        self.state().lines.iter().filter(|line| line.of == Owner::Start).map(|line| line.text.clone()).collect()
    }

    /// Returns this moment.
    pub fn mark(&self) -> Mark {
        Mark(self.state().lines_count)
    }

    /// Returns what Lambda said about the end of an invocation.
    pub fn end_of(&self, request_id: &str) -> Option<End> {
        self.state().ends.iter().rfind(|(of, _)| of == request_id).map(|(_, end)| end.clone())
    }

    /// Whether any invocation was announced.
    pub fn saw_invocation(&self) -> bool {
        self.state().current.is_some()
    }

    /// Waits for the last lines of an invocation that has ended, or for `limit`, because Lambda delivers them late: until
    /// Lambda says that it has ended, or a line reports an error that has come since. Earlier lines may be about what the
    /// function has overcome.
    pub async fn wait_for_error(&self, request_id: &str, since: Mark, limit: Duration) {
        let has_error = |logs: &Self| {
            let state = logs.state();
            let mut lines = state.lines.iter().filter(|line| line.number >= since.0 && line.is_of(request_id));
            lines.any(|line| matches!(Said::on(&line.text), Said::Error(_)))
        };
        self.wait(limit, |logs| logs.end_of(request_id).is_some() || has_error(logs)).await;
    }

    /// Waits until a line from before the first invocation reports an error, or for `limit`.
    pub async fn wait_for_error_of_start(&self, limit: Duration) {
        let is_error = |line: &String| matches!(Said::on(line), Said::Error(_));
        self.wait(limit, |logs| logs.lines_of_start().iter().any(is_error)).await;
    }

    /// Waits until Lambda has said how an invocation ended, or for `limit`.
    pub async fn wait_for_end(&self, request_id: &str, limit: Duration) {
        self.wait(limit, |logs| logs.end_of(request_id).is_some()).await;
    }

    async fn wait(&self, limit: Duration, holds: impl Fn(&Self) -> bool) {
        let waited = async {
            loop {
                let changed = self.changed.notified();
                if self.is_off.load(Ordering::Relaxed) || holds(self) {
                    return;
                }
                changed.await;
            }
        };
        let _ = timeout(limit, waited).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, event: &Event, is_concurrent: bool) {
        let text = |name: &str| event.record.get(name).and_then(Value::as_str).map(str::to_owned);
        match event.kind.as_str() {
            "platform.start" => self.current = text("requestId"),
            "platform.runtimeDone" | "platform.report" => {
                let Some(request_id) = text("requestId") else { return };
                let metric = |name: &str| {
                    let value = event.record.get("metrics")?.get(name)?.as_u64()?;
                    u32::try_from(value).ok()
                };
                let end = End {
                    status: text("status"),
                    error_type: text("errorType"),
                    memory_used_mb: metric("maxMemoryUsedMB"),
                    memory_mb: metric("memorySizeMB"),
                };
                self.end(request_id, end);
            }
            "function" => {
                let line = match &event.record {
                    Value::String(line) => line.clone(),
                    Value::Null => return,
                    object => object.to_string(),
                };
                let line = head(line.trim_end(), LINE_BYTES_MAX);
                // A blank line is not the function's last word.
                if line.is_empty() {
                    return;
                }
                if self.lines.len() == LINES_MAX {
                    self.lines.pop_front();
                }
                let named = text("requestId").or_else(|| domain::logs::read(line).request);
                let of = match (named, &self.current) {
                    (Some(named), _) => Owner::Invocation(named),
                    (None, None) => Owner::Start,
                    (None, Some(_)) if is_concurrent => Owner::Nobody,
                    (None, Some(current)) => Owner::Invocation(current.clone()),
                };
                let number = self.lines_count;
                self.lines_count += 1;
                self.lines.push_back(Line { of, text: line.to_owned(), number });
            }
            _ => {}
        }
    }

    /// The report of an invocation comes after its end, and says more or less than that.
    fn end(&mut self, request_id: String, end: End) {
        let before = self.ends.iter_mut().find(|(of, _)| *of == request_id);
        if let Some((_, before)) = before {
            before.status = end.status.or(before.status.take());
            before.error_type = end.error_type.or(before.error_type.take());
            before.memory_used_mb = end.memory_used_mb.or(before.memory_used_mb);
            before.memory_mb = end.memory_mb.or(before.memory_mb);
            return;
        }
        if self.ends.len() == ENDS_MAX {
            self.ends.pop_front();
        }
        self.ends.push_back((request_id, end));
    }
}

impl Line {
    fn is_of(&self, request_id: &str) -> bool {
        match &self.of {
            Owner::Invocation(of) => of == request_id,
            Owner::Start | Owner::Nobody => !request_id.is_empty() && self.text.contains(request_id),
        }
    }
}

impl End {
    /// Completes what is known of a crash with what Lambda says.
    pub fn completing(&self, error: &ReportedError) -> ReportedError {
        let stated = self.error_type.clone().filter(|stated| stated != "Runtime.Unknown");
        ReportedError {
            error_type: error.error_type.clone().or(stated).or_else(|| Some(EXITED.into())),
            message: error.message.clone().or_else(|| Some("Runtime exited before it answered".into())),
            stack: None,
        }
    }

    /// Whether the process that crashed with this error was ended for want of memory.
    pub fn is_out_of_memory(&self, error: &ReportedError) -> bool {
        let is_killed = error.message.as_deref().is_some_and(|message| message.contains(KILLED));
        let is_named = self.error_type.as_deref().is_some_and(|error| error.contains("OutOfMemory"));
        let is_full = self.memory_used_mb.is_some_and(|used| self.memory_mb.is_some_and(|most| used >= most));
        is_killed || is_named || is_full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(deliveries: &[&str]) -> Logs {
        let logs = Logs::default();
        deliveries.iter().for_each(|delivery| logs.take(delivery.as_bytes()));
        logs
    }

    #[test]
    fn lines_belong_to_the_invocation_that_was_announced_before() {
        let logs = logs(&[
            r#"[{"type":"function","record":"cold\n"},{"type":"function","record":"early r-2\n"},{"type":"platform.start","record":{"requestId":"r-1"}},
                {"type":"function","record":"one\n"},{"type":"function","record":" \n"}]"#,
            r#"[{"type":"extension","record":"not ours"},{"type":"platform.start","record":{"requestId":"r-2"}},
                {"type":"function","record":{"level":"ERROR","requestId":"r-1"}},{"type":"function","record":"two"}]"#,
        ]);
        assert_eq!(logs.lines_of_start(), ["cold", "early r-2"]);
        assert_eq!(logs.lines_of("r-1"), ["one", r#"{"level":"ERROR","requestId":"r-1"}"#]);
        assert_eq!(logs.lines_of("r-2"), ["early r-2", "two"]);
        assert!(logs.saw_invocation());
    }

    #[test]
    fn a_line_belongs_to_the_invocation_that_it_names_and_of_several_to_no_other() {
        let [a, b] = ["8286a188-ba32-4475-8077-530cd35c09a9", "9286a188-ba32-4475-8077-530cd35c09a9"];
        let delivery = format!(
            r#"[{{"type":"platform.start","record":{{"requestId":"{a}"}}}},{{"type":"platform.start","record":{{"requestId":"{b}"}}}},
                {{"type":"function","record":"[ERROR]\t2026-11-22T10:00:00.000Z\t{a}\tlate"}},{{"type":"function","record":"whose"}}]"#
        );
        for (is_concurrent, of_b) in [(false, 1), (true, 0)] {
            let logs = Logs::new(is_concurrent);
            logs.take(delivery.as_bytes());
            assert_eq!((logs.lines_of(a).len(), logs.lines_of(b).len(), logs.lines_of_start().len()), (1, of_b, 0));
        }
    }

    #[test]
    fn what_is_known_of_an_end_is_collected() {
        let logs = logs(&[
            r#"[{"type":"platform.runtimeDone","record":{"requestId":"r","status":"failure","errorType":"Runtime.ExitError"}}]"#,
            r#"[{"type":"platform.report","record":{"requestId":"r","metrics":{"maxMemoryUsedMB":128,"memorySizeMB":128}}}]"#,
        ]);
        let end = logs.end_of("r").expect("an end");
        assert_eq!(end.error_type.as_deref(), Some("Runtime.ExitError"));
        let none = ReportedError::default();
        assert!(end.is_out_of_memory(&none));
        assert!(End { error_type: Some("Runtime.OutOfMemory".into()), ..End::default() }.is_out_of_memory(&none));
        assert!(!End { memory_used_mb: Some(127), memory_mb: Some(128), ..End::default() }.is_out_of_memory(&none));
        let killed = ReportedError { message: Some("exited: signal: killed".into()), ..none.clone() };
        assert!(End::default().is_out_of_memory(&killed) && !End::default().is_out_of_memory(&none));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_lines_that_lambda_does_not_deliver() {
        let logs = Logs::default();
        let second = Duration::from_secs(1);
        let began = tokio::time::Instant::now();
        logs.wait_for_error("r", logs.mark(), second).await;
        assert_eq!(began.elapsed(), second);
        let (logs, began) = (&logs, tokio::time::Instant::now());
        tokio::join!(logs.wait_for_error("r", logs.mark(), second), async { logs.switch_off() });
        logs.wait_for_end("r", second).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_comes_after_the_end_ends_the_wait() {
        let line = |text: &str| {
            format!(r#"[{{"type":"function","record":{{"requestId":"r","level":"ERROR","message":"{text}"}}}}]"#)
        };
        let second = Duration::from_secs(1);
        let logs = logs(&[&line("overcome")]);
        let (logs, mark, began) = (&logs, logs.mark(), tokio::time::Instant::now());
        let later = async {
            tokio::time::sleep(second / 4).await;
            logs.take(br#"[{"type":"function","record":{"requestId":"other","level":"ERROR","message":"no"}}]"#);
            tokio::time::sleep(second / 4).await;
            logs.take(line("lost").as_bytes());
        };
        tokio::join!(logs.wait_for_error("r", mark, second), later);
        assert_eq!(began.elapsed(), second / 2);
        let (mark, end) = (logs.mark(), r#"[{"type":"platform.runtimeDone","record":{"requestId":"r"}}]"#);
        tokio::join!(logs.wait_for_error("r", mark, second), async { logs.take(end.as_bytes()) });
        assert_eq!(began.elapsed(), second / 2, "it has ended");
    }

    #[test]
    fn memory_is_bounded_and_nonsense_ignored() {
        let logs = logs(&["", "null", "{}", "[7]", "[{}]", "[{\"type\":\"platform.start\"}]"]);
        let long = "x".repeat(LINE_BYTES_MAX + 10);
        for n in 0..LINES_MAX + 5 {
            logs.take(format!("[{{\"type\":\"function\",\"record\":\"{n} {long}\"}}]").as_bytes());
            let end = format!("[{{\"type\":\"platform.report\",\"record\":{{\"requestId\":\"{n}\"}}}}]");
            logs.take(end.as_bytes());
        }
        let lines = logs.lines_of_start();
        assert_eq!((lines.len(), lines[0].len()), (LINES_MAX, LINE_BYTES_MAX));
        assert!(lines[0].starts_with("5 "));
        assert_eq!(logs.state().ends.len(), ENDS_MAX);
    }
}
