//! What the functions' mains share: the log, and the loop that answers events.

use super::settings::{self, SettingsError};
use domain::time::Timestamp;
pub use lambda_runtime::Error;
use lambda_runtime::{LambdaEvent, service_fn};
use office::guard;
use office::office::Office;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::Instrument;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts the log: JSON lines, each with the id of its request. Message bodies are never logged, at any level.
pub fn log() {
    lines(office::log::stdout).init();
    guard::log_locations_of_panics();
}

/// Returns what writes the lines. Each has the keys `timestamp` (RFC 3339) and `level`: Lambda stores a line that lacks
/// one of them at the level INFO, whatever it says (Lambda Developer Guide, "Working with JSON structured logs").
fn lines<W>(writer: W) -> impl SubscriberInitExt
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().json().with_env_filter(filter).with_target(false);
    // It reports its own errors with `eprintln!`, which ends the process if that fails, too.
    let lines = lines.with_writer(writer).log_internal_errors(false);
    lines.with_current_span(true).with_span_list(false)
}

/// Builds the office from the function's settings. Logs the error if they are not usable.
pub async fn office() -> Result<Office, SettingsError> {
    let office = settings::office().await;
    office.inspect_err(|error| tracing::error!(error = office::error::chain(error), "the function cannot start"))
}

/// Builds the office and answers events with `handle` until the platform ends the process. `handle` also gets the time at
/// which the platform ends the invocation.
pub async fn run<E, A, F>(handle: impl Fn(Office, E, Timestamp) -> F) -> Result<(), Error>
where
    E: DeserializeOwned,
    A: Serialize,
    F: Future<Output = Result<A, Error>>,
{
    log();
    let office = office().await?;
    answer(|event, ends_at| handle(office.clone(), event, ends_at)).await
}

/// Answers events with `handle` until the platform ends the process.
pub async fn answer<E, A, F>(handle: impl Fn(E, Timestamp) -> F) -> Result<(), Error>
where
    E: DeserializeOwned,
    A: Serialize,
    F: Future<Output = Result<A, Error>>,
{
    lambda_runtime::run(service_fn(|event: LambdaEvent<E>| {
        let span = tracing::info_span!("event", request_id = event.context.request_id);
        let ends_at = Timestamp::from_ms(i64::try_from(event.context.deadline).unwrap_or(i64::MAX));
        handle(event.payload, ends_at).instrument(span)
    }))
    .await
}

/// Returns a name of this process for its leases, unique so that a lease of a dead process never looks like ours.
pub fn executor() -> String {
    let number = getrandom::u64().unwrap_or_default();
    let stream = settings::optional("AWS_LAMBDA_LOG_STREAM_NAME").unwrap_or_default();
    format!("{stream}-{number:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom};
    use std::sync::Mutex;
    use time::OffsetDateTime;
    use time::format_description::well_known::Rfc3339;

    #[test]
    fn a_line_of_the_log_says_its_level_and_time_as_lambda_reads_them() {
        let mut file = tempfile::tempfile().expect("a file");
        let subscriber = lines(Mutex::new(file.try_clone().expect("a second handle"))).set_default();
        let span = tracing::info_span!("event", request_id = "r-1");
        span.in_scope(|| tracing::error!(cause = "no table", "the function cannot start"));
        drop(subscriber);
        file.seek(SeekFrom::Start(0)).expect("the file");
        let line: serde_json::Value = serde_json::from_reader(file).expect("a line");
        assert_eq!((&line["level"], &line["span"]["request_id"]), (&"ERROR".into(), &"r-1".into()), "{line}");
        let at = line["timestamp"].as_str().and_then(|text| OffsetDateTime::parse(text, &Rfc3339).ok());
        assert!(at.is_some_and(|at| at.year() >= 2026), "{line}");
    }
}
