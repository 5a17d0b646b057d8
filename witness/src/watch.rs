//! What the witness knows of the invocations that pass, and what it does when one fails.
//!
//! The proxy calls these methods beside its own work. A method that panics loses a report and nothing else.

use crate::compose::{self, Ending};
use crate::event::{Batch, may_be_sqs, may_have_marker};
use crate::lambda_error;
use crate::logs::{End, Logs};
use crate::outbox::{HOLD_MAX, HOLD_SPARES, Outbox};
use crate::settings::Settings;
use crate::voice::say;
use domain::marker::Marker;
use domain::replay::{RECEIPT_VERSION, Receipt};
use domain::report::{Report, ReportKind, ReportedError};
use domain::time::Timestamp;
use hyper::body::Bytes;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// How long a report waits for log lines. Lambda delivers them up to 150 ms after the error.
const LINES_WAIT: Duration = Duration::from_millis(150);
/// How long a report of a crash waits for what Lambda says about it.
const END_WAIT: Duration = Duration::from_millis(300);
/// The longest time limit of a function (Lambda developer guide, "Lambda quotas"). No deadline is further ahead.
const LIMIT_MAX: Duration = Duration::from_mins(15);
/// The least and the most time before the deadline at which an invocation is reported as timed out. Sending takes 20 to
/// 100 ms, and longer where the function uses up the processor.
const EARLY_MIN: Duration = Duration::from_millis(50);
const EARLY_MAX: Duration = Duration::from_millis(500);
/// The share of the time limit before the deadline, as a divisor.
const EARLY_SHARE: u32 = 10;
/// What the program calls itself in reports.
const REPORTER: &str = concat!("witness/", env!("CARGO_PKG_VERSION"));

/// Follows invocations from their event to their end.
pub struct Watch {
    settings: Settings,
    outbox: Arc<Outbox>,
    logs: Arc<Logs>,
    open: Mutex<BTreeMap<String, Invocation>>,
    saw_next: AtomicBool,
    saw_invocation: AtomicBool,
    saw_init_error: AtomicBool,
}

/// An invocation that has not ended.
#[derive(Clone)]
struct Invocation {
    request_id: String,
    function: String,
    began: Instant,
    deadline: Option<Instant>,
    is_cold: bool,
    event: Arc<Vec<u8>>,
    timer: Option<AbortHandle>,
    /// Whether it was reported as timed out before its time was up.
    is_reported: bool,
}

/// What the headers of `/next` say.
#[derive(Clone, Debug, Default)]
pub struct Announced {
    /// `Lambda-Runtime-Aws-Request-Id`.
    pub request_id: String,
    /// `Lambda-Runtime-Invoked-Function-Arn`.
    pub function: Option<String>,
    /// `Lambda-Runtime-Deadline-Ms`.
    pub deadline_ms: Option<i64>,
}

impl Watch {
    /// Returns a watch that knows nothing yet.
    pub fn new(settings: Settings, outbox: Arc<Outbox>, logs: Arc<Logs>) -> Arc<Self> {
        Arc::new(Self {
            settings,
            outbox,
            logs,
            open: Mutex::default(),
            saw_next: AtomicBool::new(false),
            saw_invocation: AtomicBool::new(false),
            saw_init_error: AtomicBool::new(false),
        })
    }

    /// The runtime asks for the next invocation. Returns when it may have it.
    pub async fn asked(self: &Arc<Self>) {
        self.saw_next.store(true, Ordering::Relaxed);
        // Lambda does not freeze an environment that handles several invocations at once, and one must not wait for what
        // is sent about another.
        if self.settings.is_concurrent {
            return;
        }
        // An invocation of this environment that nobody answered: its process was replaced.
        self.crashed(ReportedError::default(), Duration::ZERO).await;
        self.outbox.hold().await;
    }

    /// The runtime has an event.
    pub fn began(self: &Arc<Self>, announced: Announced, frames: &[Bytes]) {
        guarded(|| {
            if !self.outbox.is_on() || !frames.iter().any(|frame| !frame.is_empty()) {
                return;
            }
            let is_cold = !self.saw_invocation.swap(true, Ordering::Relaxed);
            let event = frames.concat();
            if !may_be_sqs(&event) {
                return;
            }
            let now = Instant::now();
            let left_ms = announced.deadline_ms.map(|deadline| deadline.saturating_sub(now_ms()));
            let left = left_ms.map(|left| Duration::from_millis(u64::try_from(left).unwrap_or(0)).min(LIMIT_MAX));
            let invocation = Invocation {
                request_id: announced.request_id.clone(),
                function: announced.function.unwrap_or_else(|| self.settings.function.clone()),
                began: now,
                deadline: left.map(|left| now + left),
                is_cold,
                event: Arc::new(event),
                timer: left.map(|left| self.start_timer(announced.request_id.clone(), left)),
                is_reported: false,
            };
            self.open().insert(announced.request_id, invocation);
        });
    }

    /// Whether an invocation is followed, so that its response is worth reading.
    pub fn follows(&self, request_id: &str) -> bool {
        self.open().contains_key(request_id)
    }

    /// The runtime has posted a response that Lambda has accepted. Streamed and large ones are not read (`None`).
    pub fn responded(self: &Arc<Self>, request_id: &str, frames: Option<&[Bytes]>) {
        guarded(|| {
            let Some(invocation) = self.end(request_id) else { return };
            if invocation.is_reported {
                self.withdraw(&invocation);
            }
            let Some(response) = frames.map(<[Bytes]>::concat) else { return };
            self.confirm(&invocation, &response);
            // Whatever names no failures is a success, and the most common case by far.
            if memchr::memmem::find(&response, b"batchItemFailures").is_some() {
                self.report(invocation, Ending::Response(response), LINES_WAIT);
            }
        });
    }

    /// The runtime has posted an error.
    pub fn failed(self: &Arc<Self>, request_id: &str, body: &[Bytes], error_type: Option<&str>) {
        guarded(|| {
            let Some(invocation) = self.end(request_id) else { return };
            let error = lambda_error::read(&body.concat(), error_type);
            let wait = if compose::is_thin(&error) { LINES_WAIT } else { Duration::ZERO };
            self.report(invocation, Ending::Error(error), wait);
        });
    }

    /// Lambda has refused the runtime's response, for example one of more than 6 MB: the invocation failed.
    pub fn refused(self: &Arc<Self>, request_id: &str, status: u16) {
        guarded(|| {
            // That it took too long has been reported, and is why Lambda does not take it.
            let Some(invocation) = self.end(request_id).filter(|invocation| !invocation.is_reported) else { return };
            let error_type = if status == 413 { RESPONSE_TOO_LARGE } else { RESPONSE_REFUSED };
            let message = format!("Lambda refused the function's response with status {status}");
            let error = ReportedError { error_type: Some(error_type.into()), message: Some(message), stack: None };
            self.report(invocation, Ending::Error(error), Duration::ZERO);
        });
    }

    /// The runtime could not start.
    pub fn init_failed(self: &Arc<Self>, body: &[Bytes], error_type: Option<&str>) {
        guarded(|| {
            if !self.saw_init_error.swap(true, Ordering::Relaxed) {
                self.report_init(lambda_error::read(&body.concat(), error_type));
            }
        });
    }

    /// The runtime's process has ended, or Lambda says so. Returns when everything is on its way.
    pub async fn crashed(self: &Arc<Self>, error: ReportedError, end_wait: Duration) {
        let open: Vec<String> = self.open().keys().cloned().collect();
        let until = Instant::now() + end_wait;
        for request_id in open {
            self.logs.wait_for_end(&request_id, until.saturating_duration_since(Instant::now())).await;
            let end = self.logs.end_of(&request_id).unwrap_or_default();
            guarded(|| {
                if let Some(invocation) = self.end(&request_id) {
                    let error = end.completing(&error);
                    let ending = if end.is_out_of_memory(&error) {
                        Ending::OutOfMemory(ReportedError { error_type: Some(OUT_OF_MEMORY.into()), ..error })
                    } else {
                        Ending::Crash(error)
                    };
                    self.report(invocation, ending, LINES_WAIT);
                }
            });
        }
    }

    /// The runtime's process has ended before it asked for anything.
    pub fn never_started(self: &Arc<Self>, error: ReportedError) {
        guarded(|| {
            let started = self.saw_next.load(Ordering::Relaxed);
            if !started && !self.saw_init_error.swap(true, Ordering::Relaxed) {
                self.report_init(error);
            }
        });
    }

    /// Lambda ends the environment. Sends what is left, within `limit`.
    pub async fn shut_down(self: &Arc<Self>, reason: &str, limit: Duration) {
        let until = Instant::now() + limit;
        if reason == "timeout" {
            let open: Vec<String> = self.open().keys().cloned().collect();
            for request_id in open {
                guarded(|| {
                    if let Some(invocation) = self.end(&request_id).filter(|invocation| !invocation.is_reported) {
                        self.report(invocation, Ending::Timeout, Duration::ZERO);
                    }
                });
            }
        }
        self.crashed(ReportedError::default(), END_WAIT).await;
        if reason == "failure" && !self.logs.saw_invocation() {
            self.never_started(End::default().completing(&ReportedError::default()));
        }
        if self.logs.saw_invocation() && !self.saw_next.load(Ordering::Relaxed) && self.outbox.is_on() {
            say(
                "saw no invocation: another proxy of the Runtime API may be in use, or AWS_LAMBDA_EXEC_WRAPPER is not set",
            );
        }
        self.outbox.flush(until.saturating_duration_since(Instant::now())).await;
    }

    /// Reports an invocation that is about to run out of time. Lambda may kill the environment without a word.
    fn start_timer(self: &Arc<Self>, request_id: String, left: Duration) -> AbortHandle {
        let early = (left / EARLY_SHARE).clamp(EARLY_MIN, EARLY_MAX);
        let watch = Arc::clone(self);
        let task = tokio::spawn(async move {
            tokio::time::sleep(left.saturating_sub(early)).await;
            let invocation = watch.open().get_mut(&request_id).map(|invocation| {
                invocation.is_reported = true;
                invocation.clone()
            });
            if let Some(invocation) = invocation {
                watch.report(invocation, Ending::Timeout, Duration::ZERO);
            }
        });
        task.abort_handle()
    }

    /// Ends an invocation and returns it. Returns `None` if it is not followed.
    fn end(&self, request_id: &str) -> Option<Invocation> {
        let mut invocation = self.open().remove(request_id)?;
        if let Some(timer) = invocation.timer.take() {
            timer.abort();
        }
        Some(invocation)
    }

    fn report(self: &Arc<Self>, invocation: Invocation, ending: Ending, lines_wait: Duration) {
        let watch = Arc::clone(self);
        let hold_until = invocation.hold_until();
        // Its time is that of the end, not that of the last line.
        let (mut report, ended) = (self.report_of(&invocation), self.logs.mark());
        self.outbox.send(hold_until, async move {
            let limit = lines_wait.min(hold_until.saturating_duration_since(Instant::now()) / 2);
            watch.logs.wait_for_error(&invocation.request_id, ended, limit).await;
            let lines = watch.logs.lines_of(&invocation.request_id);
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            report.memory_used_mb = watch.logs.end_of(&invocation.request_id).and_then(|end| end.memory_used_mb);
            let batch = Batch::parse(&invocation.event);
            let report = batch.and_then(|batch| compose::compose(report, &batch, &ending, &lines));
            report.map(|report| report.parts()).unwrap_or_default()
        });
    }

    fn withdraw(self: &Arc<Self>, invocation: &Invocation) {
        let Some(batch) = Batch::parse(&invocation.event) else { return };
        let parts = compose::withdrawn(self.report_of(invocation), &batch).parts();
        self.outbox.send(invocation.hold_until(), async move { parts });
    }

    fn report_init(self: &Arc<Self>, error: ReportedError) {
        let request_id = format!("init {}", self.settings.instance.as_deref().unwrap_or_default());
        let mut report = Report::new(ReportKind::Init, self.settings.function.clone(), request_id, now());
        self.describe(&mut report);
        let watch = Arc::clone(self);
        self.outbox.send(Instant::now() + HOLD_MAX, async move {
            let lines_wait = if compose::is_thin(&error) { LINES_WAIT } else { Duration::ZERO };
            watch.logs.wait_for_error_of_start(lines_wait).await;
            let lines = watch.logs.lines_of_start();
            compose::not_started(report, error, &lines.iter().map(String::as_str).collect::<Vec<_>>()).parts()
        });
    }

    /// Sends receipts for the messages that a replay sent and that succeeded.
    fn confirm(self: &Arc<Self>, invocation: &Invocation, response: &[u8]) {
        if !may_have_marker(&invocation.event) {
            return;
        }
        let Some(batch) = Batch::parse(&invocation.event) else { return };
        let marked: BTreeMap<&str, &str> =
            batch.marked().filter(|(_, marker)| Marker::parse(marker).is_some()).collect();
        let receipts: Vec<String> = compose::succeeded(&batch, response)
            .into_iter()
            .filter_map(|message| {
                let receipt = Receipt {
                    v: RECEIPT_VERSION,
                    marker: (*marked.get(message.id.as_str())?).to_owned(),
                    message_id: message.id,
                    consumer: self.settings.function.clone(),
                    consumer_version: self.settings.version.clone().unwrap_or_default(),
                    processed_at: now(),
                    idempotent: false,
                };
                Some(receipt.print())
            })
            .collect();
        if !receipts.is_empty() {
            self.outbox.send(invocation.hold_until(), async move { receipts });
        }
    }

    fn report_of(&self, invocation: &Invocation) -> Report {
        let Invocation { function, request_id, .. } = invocation;
        let mut report = Report::new(ReportKind::Error, function.clone(), request_id.clone(), now());
        self.describe(&mut report);
        report.cold = Some(invocation.is_cold);
        report.duration_ms = u64::try_from(invocation.began.elapsed().as_millis()).ok();
        report
    }

    fn describe(&self, report: &mut Report) {
        (report.version, report.queue) = (self.settings.version.clone(), self.settings.queue.clone());
        report.instance = self.settings.instance.clone();
        report.log_group = self.settings.log_group.clone();
        report.memory_mb = self.settings.memory_mb;
        report.reporter = Some(REPORTER.into());
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Invocation>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Invocation {
    /// Until when the runtime may wait for what is sent about this invocation.
    fn hold_until(&self) -> Instant {
        let latest = Instant::now() + HOLD_MAX;
        self.deadline.map_or(latest, |deadline| latest.min(deadline.checked_sub(HOLD_SPARES).unwrap_or(self.began)))
    }
}

/// Lambda's name for a response that is too large.
const RESPONSE_TOO_LARGE: &str = "Function.ResponseSizeTooLarge";
/// Any other response that Lambda does not take.
const RESPONSE_REFUSED: &str = "Function.ResponseRefused";
/// Lambda's name for a process that used too much memory.
const OUT_OF_MEMORY: &str = "Runtime.OutOfMemory";

/// Runs what must not disturb the function. A panic is printed by the hook, and loses what was to be done.
fn guarded(work: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(work));
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn now() -> Timestamp {
    Timestamp::from_ms(now_ms())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_loses_a_report_and_nothing_else() {
        let mut done = false;
        guarded(|| panic!("as a test"));
        guarded(|| done = true);
        assert!(done);
    }
}
