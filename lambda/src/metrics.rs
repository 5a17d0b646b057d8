//! Metrics on AWS: CloudWatch, as values and how often each occurred, which keeps percentiles.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_cloudwatch::Client;
use aws_sdk_cloudwatch::primitives::DateTime;
use aws_sdk_cloudwatch::types::{Dimension, MetricDatum, StandardUnit};
use domain::metric::{CATALOGUE, Datum, NAMESPACE, Unit};
use office::port::{Metrics, SinkError};
use std::time::Duration;

/// Different values of one datum (botocore, PutMetricData).
const VALUES_MAX: usize = 150;
/// Data of one call (botocore).
const DATA_MAX: usize = 1_000;
/// How long a call may take: letters wait for its end, and may be counted without it.
const PATIENCE: Duration = Duration::from_secs(2);

/// CloudWatch.
pub struct CloudWatchMetrics {
    client: Client,
}

impl CloudWatchMetrics {
    /// Over CloudWatch as it is reached by this configuration.
    pub fn new(config: &SdkConfig) -> Self {
        let config = aws_sdk_cloudwatch::config::Builder::from(config)
            .timeout_config(TimeoutConfig::builder().operation_timeout(PATIENCE).build())
            .retry_config(RetryConfig::standard().with_max_attempts(2));
        Self { client: Client::from_conf(config.build()) }
    }
}

#[async_trait]
impl Metrics for CloudWatchMetrics {
    async fn put(&self, data: &[Datum]) -> Result<(), SinkError> {
        let data: Vec<MetricDatum> = data.iter().flat_map(converted).collect();
        for chunk in data.chunks(DATA_MAX) {
            let asked = self.client.put_metric_data().namespace(NAMESPACE).set_metric_data(Some(chunk.to_vec()));
            let answer = asked.send().await;
            answer.map_err(|error| SinkError { what: "metrics", source: Box::new(error) })?;
        }
        Ok(())
    }
}

/// A datum as CloudWatch takes it; in several where it has too many values. One that is not in the catalogue, or whose
/// numbers are none, is left out: it would fail all others of the call.
fn converted(datum: &Datum) -> Vec<MetricDatum> {
    let Some(metric) = CATALOGUE.iter().find(|metric| metric.name == datum.name) else { return Vec::new() };
    let dimensions: Vec<Dimension> = metric
        .dimensions
        .iter()
        .zip(&datum.dimensions)
        .map(|(name, value)| Dimension::builder().name(*name).value(value).build())
        .collect();
    let unit = match metric.unit {
        Unit::Count => StandardUnit::Count,
        Unit::Seconds => StandardUnit::Seconds,
        Unit::Percent => StandardUnit::Percent,
        Unit::None => StandardUnit::None,
    };
    let values: Vec<_> = datum.values.iter().filter(|(value, _)| value.is_finite()).collect();
    let part = |part: &[&(f64, u32)]| {
        MetricDatum::builder()
            .metric_name(metric.name)
            .set_dimensions(Some(dimensions.clone()))
            .unit(unit.clone())
            .timestamp(DateTime::from_millis(datum.at.as_ms()))
            .set_values(Some(part.iter().map(|(value, _)| *value).collect()))
            .set_counts(Some(part.iter().map(|(_, count)| f64::from(*count)).collect()))
            .build()
    };
    values.chunks(VALUES_MAX).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::metric::{AGE_AT_DEATH, ARRIVALS};
    use domain::time::Timestamp;

    const NOW: Timestamp = Timestamp::from_ms(1_763_600_000_000);

    #[test]
    fn values_keep_their_counts_and_come_in_parts() {
        let values: Vec<_> = (0..400).map(|n| (f64::from(n), n as u32 % 3 + 1)).collect();
        let datum = Datum { values, ..Datum::one(&AGE_AT_DEATH, &[], NOW, 0.0) };
        let parts = converted(&datum);
        assert_eq!(parts.iter().map(|part| part.values().len()).collect::<Vec<_>>(), [150, 150, 100]);
        let sum: f64 = parts.iter().flat_map(MetricDatum::counts).sum();
        assert_eq!(sum, datum.values.iter().map(|(_, count)| f64::from(*count)).sum::<f64>());
    }

    #[test]
    fn dimensions_have_the_names_of_the_catalogue() {
        let parts = converted(&Datum::one(&ARRIVALS, &["transient", "timeout"], NOW, 3.0));
        let names: Vec<_> = parts[0].dimensions().iter().map(|d| (d.name().unwrap(), d.value().unwrap())).collect();
        assert_eq!(names, [("Class", "transient"), ("Category", "timeout")]);
    }

    #[test]
    fn what_would_fail_a_whole_call_is_left_out() {
        let unknown = Datum { name: "Other".into(), ..Datum::one(&ARRIVALS, &[], NOW, 1.0) };
        let no_number = Datum::one(&ARRIVALS, &["transient", "timeout"], NOW, f64::NAN);
        assert!(converted(&unknown).is_empty() && converted(&no_number).is_empty());
    }
}
