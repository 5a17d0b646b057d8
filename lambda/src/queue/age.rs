//! What only CloudWatch knows about a queue: the age of its oldest message, and which alarms watch it.
//!
//! AWS documents for `ApproximateAgeOfOldestMessage` ("Available CloudWatch metrics for Amazon SQS") that it is the age of
//! the oldest message that is not deleted, and that it leaves out a message after three receives. So it is evidence
//! only together with the queue's counts; `domain::replay::Backlog::measured` combines them.

use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_cloudwatch::Client;
use aws_sdk_cloudwatch::primitives::DateTime;
use aws_sdk_cloudwatch::types::{Dimension, Metric, MetricDataQuery, MetricDataResult, MetricStat, ScanBy};
use domain::id::QueueArn;
use domain::time::{Span, Timestamp};
use std::time::{Duration, SystemTime};

/// The resolution of SQS's metrics, seconds.
const PERIOD_S: i32 = 60;
/// How far back to look for the latest value: SQS publishes each minute, with some minutes' delay.
const LOOK_BACK: Duration = Duration::from_secs(15 * 60);
/// Time limit of one call, retries included.
const CALL_TIME_MAX: Duration = Duration::from_secs(3);
/// The namespace of SQS's metrics.
const NAMESPACE: &str = "AWS/SQS";
/// The metrics by which an alarm notices that messages arrive in a dead-letter queue ("Available CloudWatch metrics for
/// Amazon SQS"). The last one counts also while the office empties the queue.
const ALARMED: [&str; 3] =
    ["ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage", "NumberOfMessagesReceived"];
/// CloudWatch rounds ages; this much is added to each.
const ROUNDING: Span = Span::from_secs(1);

/// Reads ages of oldest messages from CloudWatch.
pub(super) struct Ages {
    client: Client,
    /// A queue of the account and the region whose metrics are read.
    own: QueueArn,
}

impl Ages {
    pub(super) fn new(config: &SdkConfig, own: QueueArn) -> Self {
        let config = aws_sdk_cloudwatch::config::Builder::from(config)
            .timeout_config(TimeoutConfig::builder().operation_timeout(CALL_TIME_MAX).build())
            .retry_config(RetryConfig::standard().with_max_attempts(2));
        Self { client: Client::from_conf(config.build()), own }
    }

    /// Returns the number of alarms on the queue's metrics. `None` if a call fails, and for a queue of another account or
    /// region. CloudWatch does not tell alarms on expressions here.
    pub(super) async fn alarms(&self, queue: &QueueArn) -> Option<usize> {
        if home(queue) != home(&self.own) {
            return None;
        }
        let mut alarms = 0;
        for metric in ALARMED {
            let request = self.client.describe_alarms_for_metric().namespace(NAMESPACE).metric_name(metric);
            let answer = request.dimensions(dimension(queue)).send().await;
            match answer {
                Ok(answer) => alarms += answer.metric_alarms().len(),
                Err(error) => {
                    let error = office::error::chain(&error);
                    tracing::warn!(%queue, error, "CloudWatch did not return the alarms on a queue");
                    return None;
                }
            }
        }
        Some(alarms)
    }

    /// Returns the latest moment for which the metric shows that every message sent before it has left the queue. `None`
    /// if there is no recent value, if the call fails, and for a queue of another account or region, where a queue of
    /// the same name would be taken for it.
    pub(super) async fn cleared_before(&self, queue: &QueueArn) -> Option<Timestamp> {
        if home(queue) != home(&self.own) {
            return None;
        }
        let metric = Metric::builder()
            .namespace(NAMESPACE)
            .metric_name("ApproximateAgeOfOldestMessage")
            .dimensions(dimension(queue))
            .build();
        let stat = MetricStat::builder().metric(metric).period(PERIOD_S).stat("Maximum").build();
        let now = SystemTime::now();
        let answer = self
            .client
            .get_metric_data()
            .metric_data_queries(MetricDataQuery::builder().id("age").metric_stat(stat).return_data(true).build())
            .start_time(DateTime::from(now.checked_sub(LOOK_BACK)?))
            .end_time(DateTime::from(now))
            .scan_by(ScanBy::TimestampDescending)
            .send()
            .await;
        match answer {
            Ok(answer) => answer.metric_data_results().first().and_then(latest),
            Err(error) => {
                let error = office::error::chain(&error);
                tracing::warn!(%queue, error, "CloudWatch did not return the age of the oldest message; using the message counts instead");
                None
            }
        }
    }
}

fn dimension(queue: &QueueArn) -> Dimension {
    Dimension::builder().name("QueueName").value(queue.name()).build()
}

/// Returns the partition, region and account of a queue.
fn home(queue: &QueueArn) -> Option<&str> {
    queue.as_str().rsplit_once(':').map(|(home, _)| home)
}

/// Reads the newest value of a descending result. At some time in its minute every message was at most that old, so all
/// that were sent that long before the minute had left.
fn latest(result: &MetricDataResult) -> Option<Timestamp> {
    let (minute, age_s) = (result.timestamps().first()?, result.values().first()?);
    if !age_s.is_finite() || *age_s < 0.0 {
        return None;
    }
    // A float as large as this saturates.
    let age = Span::from_ms((age_s * 1000.0) as i64);
    Some(Timestamp::from_ms(minute.to_millis().ok()?).minus(age).minus(ROUNDING))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(minute_s: &[i64], ages_s: &[f64]) -> MetricDataResult {
        let times = minute_s.iter().map(|s| DateTime::from_secs(*s)).collect();
        MetricDataResult::builder().set_timestamps(Some(times)).set_values(Some(ages_s.to_vec())).build()
    }

    #[test]
    fn the_newest_age_tells_what_has_left_the_queue() {
        let cleared = |result| latest(&result).map(|at: Timestamp| at.as_ms() / 1000);
        assert_eq!(cleared(result(&[6_000, 5_940], &[90.0, 1.0])), Some(6_000 - 90 - 1));
        assert_eq!(cleared(result(&[6_000], &[0.0])), Some(5_999), "the queue was empty");
        for none in [result(&[], &[]), result(&[6_000], &[f64::NAN]), result(&[6_000], &[-1.0])] {
            assert_eq!(cleared(none), None);
        }
    }

    #[test]
    fn a_queue_of_another_account_or_region_is_not_this_one() {
        let own = home(&QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:dlo-steps")).map(String::from);
        let is_own = |arn: &str| home(&QueueArn::from(arn)).map(String::from) == own;
        assert!(is_own("arn:aws:sqs:eu-west-1:111122223333:orders"));
        assert!(!is_own("arn:aws:sqs:eu-west-1:444455556666:orders"));
        assert!(!is_own("arn:aws:sqs:us-east-1:111122223333:orders"));
    }
}
