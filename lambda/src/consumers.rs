//! The consumers of the main queues, as Lambda reports them: event source mappings, and the functions behind them.
//!
//! Two GET requests, signed by `signed` instead of the SDK for Lambda.

use super::signed::{CallError, Signed};
use super::{connect, settings};
use aws_config::SdkConfig;
use domain::deployment::AttachedConsumer;
use domain::id::QueueArn;
use domain::time::{Span, Timestamp};
use office::consumers::{Function, logged, main_queues, saw_function, saw_queue};
use office::error::chain;
use office::office::Office;
use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Main queues that one run reads. Where there are more, the runs of the next minutes read the others.
const QUEUES_MAX: usize = 20;
/// Event source mappings per queue that one run reads. Each function costs a call of its own.
const MAPPINGS_MAX: usize = 10;
/// Time limit of one call.
const CALL_TIME_MAX: Duration = Duration::from_secs(3);
/// Time limit of one run: `sweep` has other work to do within its minute.
const RUN_TIME_MAX: Duration = Duration::from_secs(15);

/// Client for Lambda's API.
#[derive(Clone)]
pub struct Lambda {
    calls: Signed,
    queues: Vec<QueueArn>,
    /// Whether the stack may read the configurations of functions, in addition to the mappings.
    reads_functions: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Mappings {
    #[serde(default)]
    event_source_mappings: Vec<Mapping>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Mapping {
    function_arn: String,
    #[serde(default)]
    state: String,
    batch_size: Option<u32>,
    #[serde(default)]
    function_response_types: Vec<String>,
    filter_criteria: Option<FilterCriteria>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct FilterCriteria {
    #[serde(default)]
    filters: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Configuration {
    function_name: String,
    version: String,
    last_modified: Option<String>,
    code_sha256: Option<String>,
    timeout: Option<i64>,
    logging_config: Option<LoggingConfig>,
    environment: Option<Environment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct LoggingConfig {
    log_group: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Environment {
    #[serde(default)]
    variables: HashMap<String, String>,
}

impl Lambda {
    /// Creates a client for the consumers of these queues. If `reads_functions` is false, it reads only the mappings,
    /// and the names of the functions stand in for their services.
    pub fn new(config: &SdkConfig, queues: Vec<QueueArn>, reads_functions: bool) -> Result<Self, reqwest::Error> {
        Ok(Self { calls: Signed::new(config, "lambda", CALL_TIME_MAX)?, queues, reads_functions })
    }

    /// Creates the client from the stack's settings: `DLO_MAIN_QUEUES` and `DLO_CONSUMER_FUNCTIONS`.
    pub async fn from_env() -> Result<Self, reqwest::Error> {
        let queues = settings::optional("DLO_MAIN_QUEUES").map(|list| settings::queues(&list)).unwrap_or_default();
        let reads_functions = settings::optional("DLO_CONSUMER_FUNCTIONS").is_some();
        Self::new(&connect::from_env().await, queues, reads_functions)
    }

    /// Reads mappings and functions once, and stores what changed: of the queues that the stack or the policy names, and
    /// of those that a letter ever named, in turns where they are many. A failed call is logged, and the next run repeats it.
    pub async fn look(&self, office: &Office) {
        let run = async {
            let queues = main_queues(office, &self.queues).await;
            for queue in in_turn(&queues, QUEUES_MAX, office.now()) {
                self.read_queue(office, queue).await;
            }
        };
        if tokio::time::timeout(RUN_TIME_MAX, run).await.is_err() {
            tracing::warn!("reading the consumers took too long; the next run tries again");
        }
    }

    async fn read_queue(&self, office: &Office, queue: &QueueArn) {
        let seen = match self.attached(queue).await {
            Ok(seen) => seen,
            Err(error) => {
                let error = chain(&error);
                return tracing::warn!(%queue, error, "the event source mappings of a main queue could not be read");
            }
        };
        for function in seen.iter().filter_map(|(_, function)| function.as_ref()) {
            logged("a function's version", saw_function(office, function).await);
        }
        let consumers = seen.into_iter().map(|(consumer, _)| consumer).collect();
        logged("the consumers of a main queue", saw_queue(office, queue, consumers).await);
    }

    /// Reads which functions consume a queue, and stores nothing.
    pub async fn consumers(&self, queue: &QueueArn) -> Result<Vec<AttachedConsumer>, CallError> {
        Ok(self.attached(queue).await?.into_iter().map(|(consumer, _)| consumer).collect())
    }

    /// Reads the mappings of a queue, and the function behind each where its configuration could be read.
    async fn attached(&self, queue: &QueueArn) -> Result<Vec<(AttachedConsumer, Option<Function>)>, CallError> {
        // The colon is the only character of an ARN that a query string must escape.
        let source = queue.as_str().replace(':', "%3A");
        let path = format!("/2015-03-31/event-source-mappings?EventSourceArn={source}&MaxItems={MAPPINGS_MAX}");
        let mappings = self.get::<Mappings>(&path).await?.event_source_mappings;
        let mut attached = Vec::new();
        for mapping in mappings.into_iter().take(MAPPINGS_MAX) {
            let (name, qualifier) = name_and_qualifier(&mapping.function_arn);
            let function = if self.reads_functions { self.function(name, qualifier).await } else { None };
            attached.push((consumer(&mapping, name, function.as_ref()), function));
        }
        Ok(attached)
    }

    async fn function(&self, name: &str, qualifier: Option<&str>) -> Option<Function> {
        let qualifier = qualifier.map(|qualifier| format!("?Qualifier={qualifier}")).unwrap_or_default();
        match self.get::<Configuration>(&format!("/2015-03-31/functions/{name}/configuration{qualifier}")).await {
            Ok(configuration) => Some(function(configuration)),
            Err(error) => {
                let error = chain(&error);
                tracing::warn!(
                    function = name,
                    error,
                    "a function's configuration could not be read; report its deployments through the API"
                );
                None
            }
        }
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        let response = self.calls.send(Method::GET, path, &[], String::new()).await?;
        let response = response.error_for_status().map_err(CallError::Response)?;
        response.json().await.map_err(CallError::Response)
    }
}

/// Returns `room` of the queues: other ones each minute, until all have had their turn.
fn in_turn(queues: &[QueueArn], room: usize, now: Timestamp) -> impl Iterator<Item = &QueueArn> {
    let minute = usize::try_from(now.as_ms() / Span::from_mins(1).as_ms()).unwrap_or_default();
    let first = minute.wrapping_mul(room).checked_rem(queues.len()).unwrap_or_default();
    queues.iter().cycle().skip(first).take(room.min(queues.len()))
}

fn consumer(mapping: &Mapping, name: &str, function: Option<&Function>) -> AttachedConsumer {
    AttachedConsumer {
        service: function.map_or(name, Function::service).to_owned(),
        function: Some(name.to_owned()),
        log_group: Some(function.and_then(|f| f.log_group.clone()).unwrap_or_else(|| format!("/aws/lambda/{name}"))),
        // A mapping keeps polling while it is being updated.
        enabled: matches!(mapping.state.as_str(), "Enabled" | "Updating"),
        state: mapping.state.clone(),
        timeout: function.and_then(|function| function.timeout),
        batch_size: mapping.batch_size,
        reports_failures: Some(mapping.function_response_types.iter().any(|kind| kind == "ReportBatchItemFailures")),
        filters: Some(mapping.filter_criteria.as_ref().is_some_and(|criteria| !criteria.filters.is_empty())),
    }
}

fn function(configuration: Configuration) -> Function {
    Function {
        name: configuration.function_name,
        version: configuration.version,
        modified_at: configuration.last_modified.as_deref().and_then(timestamp),
        code_hash: configuration.code_sha256,
        timeout: configuration.timeout.map(Span::from_secs),
        log_group: configuration.logging_config.and_then(|logging| logging.log_group),
        variables: configuration.environment.map(|environment| environment.variables).unwrap_or_default(),
    }
}

/// Returns name and qualifier of a function ARN: `orders` and `live` for
/// `arn:aws:lambda:eu-west-1:111122223333:function:orders:live`.
fn name_and_qualifier(arn: &str) -> (&str, Option<&str>) {
    let mut parts = arn.split(':').skip(6);
    (parts.next().unwrap_or(arn), parts.next().filter(|qualifier| *qualifier != "$LATEST"))
}

/// Parses a time as Lambda writes it: RFC 3339, but with the offset `+0000` instead of `+00:00`.
fn timestamp(text: &str) -> Option<Timestamp> {
    let text = text.strip_suffix("+0000").map_or(text.to_owned(), |utc| format!("{utc}Z"));
    let at = OffsetDateTime::parse(&text, &Rfc3339).ok()?;
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).ok().map(Timestamp::from_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::deployment::CHECK_AGE_MAX;

    #[test]
    fn times_and_names_are_read_as_lambda_writes_them() {
        for (text, ms) in [
            ("2026-01-15T08:00:00.123+0000", Some(1_768_464_000_123)),
            ("2026-01-15T08:00:00.000Z", Some(1_768_464_000_000)),
            ("2026-01-15T10:00:00.000+02:00", Some(1_768_464_000_000)),
            ("yesterday", None),
        ] {
            assert_eq!(timestamp(text), ms.map(Timestamp::from_ms), "{text}");
        }
        let arn = "arn:aws:lambda:eu-west-1:111122223333:function:orders";
        assert_eq!(name_and_qualifier(arn), ("orders", None));
        assert_eq!(name_and_qualifier(&format!("{arn}:live")), ("orders", Some("live")));
        assert_eq!(name_and_qualifier(&format!("{arn}:$LATEST")), ("orders", None));
    }

    #[test]
    fn each_of_many_queues_has_its_turn() {
        let queues: Vec<QueueArn> = (0..50).map(|n| QueueArn::from(format!("q-{n}").as_str())).collect();
        let at = |minute| Timestamp::from_ms(Span::from_mins(minute).as_ms() + 1_000);
        let mut seen: Vec<_> = (7..10).flat_map(|minute| in_turn(&queues, 18, at(minute))).collect();
        assert_eq!(seen.len(), 3 * 18);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 50, "all within three minutes");
        assert_eq!(in_turn(&queues[..3], 18, at(8)).count(), 3);
        assert_eq!(in_turn(&queues, 0, at(8)).count() + in_turn(&[], 18, at(8)).count(), 0);
    }

    #[test]
    fn what_is_known_of_five_hundred_queues_is_never_too_old_for_the_gate() {
        let minutes = 500_usize.div_ceil(QUEUES_MAX);
        assert!(Span::from_mins(minutes as i64) < CHECK_AGE_MAX, "{minutes} minutes");
    }

    #[test]
    fn a_configuration_is_read_as_lambda_writes_it() {
        let text = r#"{"FunctionName":"orders","FunctionArn":"arn:aws:lambda:eu-west-1:1:function:orders",
            "LoggingConfig":{"LogFormat":"JSON","LogGroup":"orders-log"},"Version":"7","LastModified":"2026-01-15T08:00:00.000+0000","CodeSha256":"abc=","MemorySize":128,"Timeout":25,
            "Environment":{"Variables":{"SERVICE_VERSION":"v3"}}}"#;
        let seen = function(serde_json::from_str(text).unwrap());
        assert_eq!((seen.name.as_str(), seen.version.as_str(), seen.service()), ("orders", "7", "orders"));
        assert_eq!((seen.timeout, seen.log_group.as_deref()), (Some(Span::from_secs(25)), Some("orders-log")));
        assert_eq!(seen.variables["SERVICE_VERSION"], "v3");
        assert_eq!(seen.modified_at, Some(Timestamp::from_ms(1_768_464_000_000)));
        let denied = r#"{"FunctionName":"f","Version":"$LATEST","Environment":{"Error":{"ErrorCode":"AccessDenied"}}}"#;
        assert!(function(serde_json::from_str(denied).unwrap()).variables.is_empty());
        assert!(serde_json::from_str::<Mappings>("{}").unwrap().event_source_mappings.is_empty());
    }

    #[test]
    fn a_mapping_is_read_as_lambda_writes_it() {
        let arn = r#""FunctionArn":"arn:aws:lambda:eu-west-1:1:function:orders""#;
        // What the mapping says, its batch, whether failures are heeded, whether filters delete messages.
        for (more, batch, heeded, filters) in [
            (r#","State":"Enabled","BatchSize":10"#, Some(10), false, false),
            (r#","BatchSize":1,"FunctionResponseTypes":["ReportBatchItemFailures"]"#, Some(1), true, false),
            (r#","FunctionResponseTypes":[],"FilterCriteria":{"Filters":[{"Pattern":"{}"}]}"#, None, false, true),
            (r#","FilterCriteria":{}"#, None, false, false),
        ] {
            let mapping: Mapping = serde_json::from_str(&format!("{{{arn}{more}}}")).unwrap();
            let seen = consumer(&mapping, "orders", None);
            assert_eq!(
                (seen.batch_size, seen.reports_failures, seen.filters),
                (batch, Some(heeded), Some(filters)),
                "{more}"
            );
            assert_eq!((seen.timeout, seen.enabled), (None, more.contains("Enabled")));
            assert_eq!(seen.log_group.as_deref(), Some("/aws/lambda/orders"), "the default of every function");
        }
    }
}
