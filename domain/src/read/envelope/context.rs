//! The objects that teams write next to an error: `processingContext`, `environmentContext` and similar.

use super::facts::{Facts, PRODUCER_VERSIONS, PRODUCERS, TENANTS, moment, queue_arn};
use crate::read::json::{Index, Raw};
use crate::time::Timestamp;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The members of an object by name, in any spelling: `originalMessage`, `original_message` and `OriginalMessage` are
/// the same name. Members with the value `null` count as missing.
pub struct Named<'a> {
    members: Vec<(&'a str, Raw<'a>)>,
    /// The [`bit`]s of the members' names: most names of the lists are in no letter, and one test says so.
    bits: u64,
}

/// Whether a byte is not one of the separators that spellings differ by.
fn is_letter(byte: &u8) -> bool {
    !matches!(byte, b'_' | b'-' | b' ')
}

/// One bit of a name that is the same in any spelling: of its first and its last letter.
fn bit(name: &str) -> u64 {
    let (first, last) = (name.bytes().find(is_letter), name.bytes().rfind(is_letter));
    let (Some(first), Some(last)) = (first, last) else { return 1 };
    let number = |byte: u8| usize::from(byte.to_ascii_lowercase());
    // The factors are odd so that every bit can occur.
    1 << ((number(first) * 7 + number(last) * 3) & 63)
}

/// The longest name that is compared, bytes: no name of the lists is half as long.
const COMPARED_BYTES_MAX: usize = 64;

impl<'a> Named<'a> {
    /// The members of an object; none of any other value.
    pub fn new(object: Raw<'a>) -> Self {
        Self::from_index(&Index::new(object))
    }

    /// The members of an index.
    pub fn from_index(index: &Index<'a>) -> Self {
        let present = |(_, raw): &&(&'a str, Raw<'a>)| raw.text().trim_end() != "null";
        let members: Vec<_> = index.members().iter().filter(present).copied().collect();
        let bits = members.iter().fold(0, |bits, (key, _)| bits | bit(key));
        Self { members, bits }
    }

    /// Returns the members with these names, in the order of the names.
    pub fn all(&self, names: &'static [&'static str]) -> impl Iterator<Item = Raw<'a>> {
        self.spelled(names).map(|(_, raw)| raw)
    }

    /// Returns the members with these names, in the order of the names, each with its key as it is spelled.
    pub fn spelled(&self, names: &'static [&'static str]) -> impl Iterator<Item = (&'a str, Raw<'a>)> {
        let named = |name: &'static str| self.members.iter().filter(move |(key, _)| is_name(key, name)).copied();
        names.iter().filter(|name| self.bits & bit(name) != 0).flat_map(move |name| named(name))
    }

    /// Returns the first non-empty text or number among the members with these names.
    pub fn scalar(&self, names: &'static [&'static str]) -> Option<String> {
        self.all(names).find_map(|raw| raw.as_scalar().filter(|text| !text.is_empty()))
    }

    /// Returns the first moment among the members with these names. An attempt may be an object with its time.
    pub fn moment(&self, names: &'static [&'static str]) -> Option<Timestamp> {
        self.all(names).find_map(|raw| {
            if raw.is_object() {
                Self::new(raw).all(TIMES).find_map(|raw| moment(Some(raw)))
            } else {
                moment(Some(raw))
            }
        })
    }

    /// Whether the value of a member with one of these names is `true`.
    pub fn is_true(&self, names: &'static [&'static str]) -> bool {
        self.all(names).any(|raw| matches!(raw.text().trim_end(), "true" | "\"true\""))
    }
}

/// Whether a key is this name, in any spelling.
pub fn is_name(key: &str, name: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = u8> {
        name.bytes().filter(is_letter).map(|byte| byte.to_ascii_lowercase())
    }
    key.len() <= COMPARED_BYTES_MAX && letters(key).eq(letters(name))
}

/// Reads the facts of contexts; the first context that states a fact decides.
pub fn facts(contexts: &[&Named<'_>]) -> Facts {
    let scalar = |names| contexts.iter().find_map(|context| context.scalar(names));
    let at = |names| contexts.iter().find_map(|context| context.moment(names));
    Facts {
        consumer: scalar(SERVICES).or_else(|| scalar(HANDLERS)),
        consumer_version: scalar(VERSIONS),
        message_type: scalar(MESSAGE_TYPES),
        tenant: scalar(TENANTS),
        producer: scalar(PRODUCERS),
        producer_version: scalar(PRODUCER_VERSIONS),
        attempts: contexts.iter().find_map(|context| attempts(context)),
        first_tried_at: at(FIRST_TRIED),
        failed_at: at(LAST_TRIED),
        sent_at: at(SENT),
        main_queue: scalar(QUEUES).as_deref().and_then(queue_arn),
        original_message_id: scalar(MESSAGE_IDS),
        ..Facts::default()
    }
}

/// Returns the number of attempts: a number, or the length of a list of attempts.
fn attempts(context: &Named<'_>) -> Option<u32> {
    context.all(ATTEMPTS).find_map(|raw| {
        if raw.is_array() { u32::try_from(raw.elements().count()).ok() } else { raw.as_scalar()?.parse().ok() }
    })
}

/// Returns where and how long the consumer worked, as one sentence for people; `None` if nothing is recorded.
pub fn circumstances(contexts: &[&Named<'_>]) -> Option<String> {
    /// The longest quoted value, bytes: an id or a host name. A longer one is left out.
    const QUOTED_BYTES_MAX: usize = 96;
    let quoted = |names| {
        let value = contexts.iter().find_map(|context| context.scalar(names))?;
        (value.len() <= QUOTED_BYTES_MAX && !value.contains(char::is_control)).then_some(value)
    };
    let said: Vec<String> = CIRCUMSTANCES
        .iter()
        .filter_map(|(what, names, unit)| quoted(names).map(|value| format!("{what} {value}{unit}")))
        .collect();
    (!said.is_empty()).then(|| format!("The envelope also records: {}.", said.join(", ")))
}

/// What is quoted, its names, and its unit.
type Circumstance = (&'static str, &'static [&'static str], &'static str);

const CIRCUMSTANCES: &[Circumstance] = &[
    ("host", &["host", "hostname", "instanceId", "podName", "pod", "containerId", "machineName", "nodeName"], ""),
    ("Region", &["region", "awsRegion"], ""),
    ("environment", &["environment", "env", "stage", "deploymentEnvironment"], ""),
    ("handler", HANDLERS, ""),
    ("correlation ID", &["correlationId"], ""),
    ("request ID", &["requestId", "awsRequestId", "lambdaRequestId", "invocationId", "executionId"], ""),
    ("trace ID", &["traceId", "xrayTraceId"], ""),
    (
        "processing time",
        &["processingDurationMs", "processingTimeMs", "durationMs", "elapsedMs", "executionTimeMs"],
        " ms",
    ),
    ("processing time", &["processingDurationSeconds", "processingTimeSeconds", "durationSeconds"], " s"),
    ("processing duration", DURATIONS, ""),
];

/// Durations without a unit in their name.
const DURATIONS: &[&str] = &["processingDuration", "processingTime", "executionTime", "duration"];
const SERVICES: &[&str] = &[
    "consumer",
    "service",
    "serviceName",
    "consumerName",
    "functionName",
    "lambdaFunctionName",
    "lambdaFunction",
    "application",
    "applicationName",
    "appName",
];
/// Parts of a service: its name if nothing names the service.
const HANDLERS: &[&str] = &["handler", "handlerName", "processor", "processorName", "component", "worker"];
const VERSIONS: &[&str] = &[
    "consumerVersion",
    "serviceVersion",
    "functionVersion",
    "applicationVersion",
    "appVersion",
    "codeVersion",
    "deploymentVersion",
    "buildVersion",
    "version",
    "release",
];
const MESSAGE_TYPES: &[&str] = &["messageType", "eventType"];
const ATTEMPTS: &[&str] = &[
    "totalAttempts",
    "attempts",
    "attemptCount",
    "attemptNumber",
    "numberOfAttempts",
    "attempt",
    "retryCount",
    "receiveCount",
    "approximateReceiveCount",
    "deliveryCount",
    "deliveryAttempts",
];
const FIRST_TRIED: &[&str] = &[
    "firstAttemptAt",
    "firstAttempt",
    "firstAttemptTime",
    "firstAttemptTimestamp",
    "firstAttemptedAt",
    "firstFailedAt",
    "firstFailureAt",
    "firstReceivedAt",
];
/// Names of the last failure's time.
pub const LAST_TRIED: &[&str] = &[
    "failedAt",
    "failureTimestamp",
    "failureTime",
    "finalAttemptAt",
    "finalAttempt",
    "finalAttemptTime",
    "finalAttemptTimestamp",
    "lastAttemptAt",
    "lastAttempt",
    "lastAttemptTime",
    "lastAttemptTimestamp",
    "lastFailedAt",
    "lastFailureAt",
    "errorTimestamp",
    "deadLetteredAt",
];
/// Names of a time that only its object explains.
pub const TIMES: &[&str] = &["timestamp", "processedAt", "occurredAt", "time", "at"];
const SENT: &[&str] = &["sentAt", "publishedAt", "enqueuedAt", "originalTimestamp"];
const QUEUES: &[&str] =
    &["queueArn", "sourceQueueArn", "eventSourceARN", "queueUrl", "sourceQueueUrl", "sourceQueue", "originalQueue"];
const MESSAGE_IDS: &[&str] = &["originalMessageId"];
/// Other names of facts about an attempt. Names that an application's own event may have (`id`, `status`, `type`) are
/// not among them.
const OTHER: &[&str] = &[
    "messageId",
    "messageType",
    "receiptHandle",
    "queue",
    "queueName",
    "schemaVersion",
    "envelopeVersion",
    "retryable",
    "isRetryable",
    "maxAttempts",
    "maxRetries",
    "retries",
    "severity",
];

/// Whether an object consists of facts about a failed attempt and of members in `others`.
pub fn consists_of(object: &Named<'_>, others: &[&[&str]]) -> bool {
    let known =
        [SERVICES, HANDLERS, VERSIONS, ATTEMPTS, FIRST_TRIED, LAST_TRIED, TIMES, SENT, QUEUES, MESSAGE_IDS, OTHER];
    let producers = [PRODUCERS, PRODUCER_VERSIONS];
    let quoted = CIRCUMSTANCES.iter().map(|(_, names, _)| *names);
    let lists: Vec<&[&str]> = known.into_iter().chain(producers).chain(quoted).chain(others.iter().copied()).collect();
    object.members.iter().all(|(key, _)| lists.iter().any(|names| names.iter().any(|name| is_name(key, name))))
}
