//! The logs of consumers in CloudWatch: `FilterLogEvents`, which costs nothing but its requests are limited to five per
//! second and account. A query of Logs Insights would cost what it scans, and be asked for again until it is done.

use super::signed::{CallError, Signed};
use async_trait::async_trait;
use aws_config::SdkConfig;
use domain::id::MessageId;
use domain::logs::{LINES_MAX, LogLine, TimeRange};
use domain::time::Timestamp;
use office::error::chain;
use office::port::{LogQuery, Logged, Logs, LogsError};
use reqwest::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Pages of one time range that a search reads. A page may be empty although more follow.
const PAGES_MAX: usize = 4;
/// Time limit of one search. What was found until then counts. Three searches, and what else a sweep does, fit its minute.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(8);
/// What log lines about an error contain, as a regular expression of CloudWatch, which has neither groups nor blanks. Words
/// alone do not match within `KeyError`.
const ABOUT_ERRORS: &str = "ERROR|[Ee]rr|[Ee]xception|Traceback|FATAL|CRITICAL|SEVERE|timed.out|Runtime.exited";
/// The longest filter (botocore, `FilterPattern`).
const FILTER_CHARS_MAX: usize = 1_024;

/// Reads log groups.
pub struct CloudWatchLogs {
    calls: Signed,
    /// Whether CloudWatch filters. Local endpoints know no regular expressions.
    filters: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    log_group_name: &'a str,
    start_time: i64,
    end_time: i64,
    limit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_pattern: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    #[serde(default)]
    events: Vec<Event>,
    next_token: Option<String>,
}

#[derive(Deserialize)]
struct Event {
    timestamp: i64,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default, rename = "__type")]
    kind: String,
}

/// Why a page was not read.
enum PageError {
    /// CloudWatch refused: the name of its error.
    Refused(String),
    Call(CallError),
}

impl CloudWatchLogs {
    /// Creates an adapter for log groups of the office's own region and account.
    pub fn new(config: &SdkConfig) -> Result<Self, reqwest::Error> {
        Ok(Self { calls: Signed::new(config, "logs", SEARCH_TIME_MAX)?, filters: config.endpoint_url().is_none() })
    }

    async fn page(&self, request: &Request<'_>) -> Result<Response, PageError> {
        let headers =
            [("content-type", "application/x-amz-json-1.1"), ("x-amz-target", "Logs_20140328.FilterLogEvents")];
        // A struct of texts and numbers always has a JSON form.
        let body = serde_json::to_string(request).unwrap_or_default();
        let response = self.calls.send(Method::POST, "/", &headers, body).await.map_err(PageError::Call)?;
        if response.status() == StatusCode::BAD_REQUEST {
            let refusal =
                response.json::<Refusal>().await.map_err(|error| PageError::Call(CallError::Response(error)))?;
            return Err(PageError::Refused(refusal.kind.rsplit('#').next().unwrap_or_default().to_owned()));
        }
        let response = response.error_for_status().map_err(|error| PageError::Call(CallError::Response(error)))?;
        response.json().await.map_err(|error| PageError::Call(CallError::Response(error)))
    }

    /// Reads the pages of one time range. Returns whether there are more.
    async fn range(
        &self,
        query: &LogQuery<'_>,
        range: TimeRange,
        filter: Option<&str>,
        found: &mut Vec<LogLine>,
    ) -> Result<bool, PageError> {
        let mut token: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let request = Request {
                log_group_name: query.source,
                start_time: range.from.as_ms().max(0),
                end_time: range.to.as_ms().max(0),
                limit: LINES_MAX,
                filter_pattern: filter,
                next_token: token.as_deref(),
            };
            let page = self.page(&request).await?;
            found.extend(
                page.events
                    .into_iter()
                    .filter_map(|event| LogLine::find(Timestamp::from_ms(event.timestamp), event.message, query.ids)),
            );
            if found.len() >= LINES_MAX {
                return Ok(true);
            }
            token = page.next_token;
            if token.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[async_trait]
impl Logs for CloudWatchLogs {
    async fn find(&self, query: LogQuery<'_>) -> Result<Logged, LogsError> {
        let deadline = Instant::now() + SEARCH_TIME_MAX;
        let filter = self.filters.then(|| filter(query.ids));
        let mut logged = Logged::default();
        for range in query.ranges {
            let read = self.range(&query, *range, filter.as_deref(), &mut logged.lines);
            match timeout_at(deadline, read).await {
                Ok(Ok(cut)) => logged.cut |= cut,
                // What an earlier time range showed counts.
                Ok(Err(_)) | Err(_) if !logged.lines.is_empty() => {
                    logged.cut = true;
                    break;
                }
                Ok(Err(error)) => return Err(LogsError(words(&error, query.source))),
                Err(_) => return Err(LogsError(format!("CloudWatch took too long to search {}.", query.source))),
            }
        }
        logged.cut |= logged.lines.len() > LINES_MAX;
        logged.lines.truncate(LINES_MAX);
        Ok(logged)
    }
}

/// Returns the filter for errors and ids. An id that is no UUID is left out: a consumer's claim, with other characters.
fn filter(ids: &[MessageId]) -> String {
    let plain = |id: &&MessageId| {
        !id.as_str().is_empty() && id.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let mut filter = format!("%{ABOUT_ERRORS}");
    for id in ids.iter().filter(plain) {
        if filter.len() + id.as_str().len() + 2 > FILTER_CHARS_MAX {
            break;
        }
        filter.push('|');
        filter.push_str(id.as_str());
    }
    filter + "%"
}

/// Says why a log could not be read, and what to do.
fn words(error: &PageError, source: &str) -> String {
    match error {
        PageError::Refused(kind) => match kind.as_str() {
            "ResourceNotFoundException" => {
                format!("The log group {source} does not exist. The function has not logged yet, or logs elsewhere.")
            }
            "AccessDeniedException" => format!(
                "The office may not read the log group {source}. Add its ARN to the stack's parameter ConsumerLogGroupArns."
            ),
            "ThrottlingException" | "LimitExceededException" => {
                format!("CloudWatch is throttling requests, so {source} was not searched.")
            }
            _ => format!("CloudWatch refused to search {source}: {kind}."),
        },
        PageError::Call(error) => {
            tracing::warn!(source, error = chain(error), "CloudWatch Logs did not answer");
            format!("CloudWatch did not answer when asked to search {source}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_finds_errors_and_ids_within_its_limit() {
        assert_eq!(filter(&[]), format!("%{ABOUT_ERRORS}%"));
        let id = || MessageId::from("11111111-aaaa-4bbb-8ccc-000000000001");
        assert!(filter(&[id()]).ends_with("|11111111-aaaa-4bbb-8ccc-000000000001%"));
        assert_eq!(filter(&["a%b".into(), "(".into(), "".into(), "a b".into()]), format!("%{ABOUT_ERRORS}%"));
        let many: Vec<_> = (0..domain::logs::IDS_MAX).map(|_| id()).collect();
        assert_eq!(filter(&many).matches("11111111").count(), many.len());
        assert!(filter(&vec![id(); 100]).len() <= FILTER_CHARS_MAX);
        let allowed = |c: char| c.is_ascii_alphanumeric() || "%_#=@/;,-^$?[]{}|\\*+.".contains(c);
        assert!(filter(&many).chars().all(allowed), "CloudWatch refuses a pattern with other characters");
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let said = |kind: &str| words(&PageError::Refused(kind.into()), "/aws/lambda/orders");
        for (kind, part) in [
            ("ResourceNotFoundException", "does not exist"),
            ("AccessDeniedException", "ConsumerLogGroupArns"),
            ("ThrottlingException", "throttling requests"),
            ("InvalidParameterException", "InvalidParameterException"),
        ] {
            assert!(said(kind).contains(part) && said(kind).contains("/aws/lambda/orders"), "{}", said(kind));
        }
    }
}
