//! What the mains share: the log, and running a handler of one kind of event.

use super::settings::{self, SettingsError};
pub use lambda_runtime::Error;
use lambda_runtime::{LambdaEvent, service_fn};
use office::guard;
use office::office::Office;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::Instrument;
use tracing_subscriber::EnvFilter;

/// Log lines are JSON, each with the id of its request. Bodies are never logged, at no level.
pub fn log() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // The ends of spans are said by the platform; targets and times too.
    let lines = tracing_subscriber::fmt().json().with_env_filter(filter).without_time().with_target(false);
    lines.with_current_span(true).with_span_list(false).init();
    guard::log_places_of_panics();
}

/// The office, or the reason why there is none, in the log.
pub async fn office() -> Result<Office, SettingsError> {
    let office = settings::office().await;
    office.inspect_err(|error| tracing::error!(error = office::error::chain(error), "the function cannot start"))
}

/// Answers events with a handler of the office until the platform ends the process.
pub async fn run<E, A, F>(handle: impl Fn(Office, E) -> F) -> Result<(), Error>
where
    E: DeserializeOwned,
    A: Serialize,
    F: Future<Output = Result<A, Error>>,
{
    log();
    let office = office().await?;
    answer(|event| handle(office.clone(), event)).await
}

/// Answers events with a handler until the platform ends the process.
pub async fn answer<E, A, F>(handle: impl Fn(E) -> F) -> Result<(), Error>
where
    E: DeserializeOwned,
    A: Serialize,
    F: Future<Output = Result<A, Error>>,
{
    lambda_runtime::run(service_fn(|event: LambdaEvent<E>| {
        let span = tracing::info_span!("event", request_id = event.context.request_id);
        handle(event.payload).instrument(span)
    }))
    .await
}

/// A name for this process among executors: a lease of a dead one must not look like ours.
pub fn executor() -> String {
    let number = getrandom::u64().unwrap_or_default();
    let stream = settings::optional("AWS_LAMBDA_LOG_STREAM_NAME").unwrap_or_default();
    format!("{stream}-{number:016x}")
}
