//! Metrics in CloudWatch, sent as `Values` and `Counts`. Unlike statistic sets, these keep percentiles.

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

/// Distinct values per datum (limit of `PutMetricData` in botocore's service model).
const VALUES_MAX: usize = 150;
/// Data per `PutMetricData` call (limit in botocore's service model).
const DATA_MAX: usize = 1_000;
/// The dimension that tells the offices of an account apart: the name of the stack. Without it, the metrics of two
/// offices would be one, and one office's alarms would fire for the other.
pub const OFFICE: &str = "Office";
/// Time limit of one call, retries included. Intake waits for the call, so a slow CloudWatch must not delay letters.
const CALL_TIME_MAX: Duration = Duration::from_secs(2);

/// Sends metrics to CloudWatch.
pub struct CloudWatchMetrics {
    client: Client,
    office: Option<String>,
}

impl CloudWatchMetrics {
    /// Creates an adapter that calls CloudWatch with this configuration. `office` is the value of the dimension
    /// [`OFFICE`] of every metric; without it, metrics have no such dimension.
    pub fn new(config: &SdkConfig, office: Option<String>) -> Self {
        let config = aws_sdk_cloudwatch::config::Builder::from(config)
            .timeout_config(TimeoutConfig::builder().operation_timeout(CALL_TIME_MAX).build())
            .retry_config(RetryConfig::standard().with_max_attempts(2));
        Self { client: Client::from_conf(config.build()), office }
    }
}

#[async_trait]
impl Metrics for CloudWatchMetrics {
    async fn put(&self, data: &[Datum]) -> Result<(), SinkError> {
        let data: Vec<MetricDatum> = data.iter().flat_map(|datum| converted(datum, self.office.as_deref())).collect();
        for chunk in data.chunks(DATA_MAX) {
            let request = self.client.put_metric_data().namespace(NAMESPACE).set_metric_data(Some(chunk.to_vec()));
            request.send().await.map_err(|error| SinkError { what: "metrics", source: Box::new(error) })?;
        }
        Ok(())
    }
}

/// Converts a datum for CloudWatch, and splits it if it has more than [`VALUES_MAX`] values.
///
/// Metrics outside the catalogue and values that are not finite are dropped: CloudWatch would reject the whole call.
fn converted(datum: &Datum, office: Option<&str>) -> Vec<MetricDatum> {
    let Some(metric) = CATALOGUE.iter().find(|metric| metric.name == datum.name) else { return Vec::new() };
    let own = metric.dimensions.iter().copied().zip(datum.dimensions.iter().map(String::as_str));
    let dimensions: Vec<Dimension> = own
        .chain(office.map(|office| (OFFICE, office)))
        .map(|(name, value)| Dimension::builder().name(name).value(value).build())
        .collect();
    let unit = match metric.unit {
        Unit::Count => StandardUnit::Count,
        Unit::Seconds => StandardUnit::Seconds,
        Unit::Percent => StandardUnit::Percent,
        Unit::None => StandardUnit::None,
    };
    let values: Vec<_> = datum.values.iter().filter(|(value, _)| value.is_finite()).collect();
    let metric_datum = |values: &[&(f64, u32)]| {
        MetricDatum::builder()
            .metric_name(metric.name)
            .set_dimensions(Some(dimensions.clone()))
            .unit(unit.clone())
            .timestamp(DateTime::from_millis(datum.at.as_ms()))
            .set_values(Some(values.iter().map(|(value, _)| *value).collect()))
            .set_counts(Some(values.iter().map(|(_, count)| f64::from(*count)).collect()))
            .build()
    };
    values.chunks(VALUES_MAX).map(metric_datum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::metric::{AGE_AT_DEATH, ARRIVALS};
    use domain::time::Timestamp;

    const NOW: Timestamp = Timestamp::from_ms(1_763_600_000_000);

    #[test]
    fn many_values_are_split_and_keep_their_counts() {
        let values: Vec<_> = (0..400).map(|n| (f64::from(n), n as u32 % 3 + 1)).collect();
        let datum = Datum { values, ..Datum::one(&AGE_AT_DEATH, &[], NOW, 0.0) };
        let parts = converted(&datum, None);
        assert_eq!(parts.iter().map(|part| part.values().len()).collect::<Vec<_>>(), [150, 150, 100]);
        let sum: f64 = parts.iter().flat_map(MetricDatum::counts).sum();
        assert_eq!(sum, datum.values.iter().map(|(_, count)| f64::from(*count)).sum::<f64>());
    }

    #[test]
    fn alarms_of_the_template_name_metrics_of_the_catalogue() {
        let template = include_str!("../../infra/template.yaml");
        let alarm = |text: &'static str| text.split_once("MetricName: ").and_then(|(_, text)| text.lines().next());
        let ours = template.split("      Namespace: ").filter(|text| text.starts_with("DeadLetterOffice\n"));
        let named: Vec<_> = ours.filter_map(alarm).collect();
        assert_eq!(named.len(), 7, "{named:?}");
        for name in named {
            assert!(CATALOGUE.iter().any(|metric| metric.name == name), "{name}");
        }
        let of_this_office = format!("Dimensions: [{{ Name: {OFFICE}, Value: !Ref \"AWS::StackName\" }}]");
        assert_eq!(template.matches(&of_this_office).count(), 7, "an alarm must not see another office's metrics");
    }

    #[test]
    fn dimensions_have_their_names_from_the_catalogue() {
        let datum = Datum::one(&ARRIVALS, &["transient", "timeout"], NOW, 3.0);
        for (office, more) in [(None, None), (Some("first"), Some(("Office", "first")))] {
            let parts = converted(&datum, office);
            let names: Vec<_> = parts[0].dimensions().iter().map(|d| (d.name().unwrap(), d.value().unwrap())).collect();
            let own = [("Class", "transient"), ("Category", "timeout")];
            assert_eq!(names, own.into_iter().chain(more).collect::<Vec<_>>());
        }
    }

    #[test]
    fn data_that_would_fail_the_whole_call_are_dropped() {
        let unknown = Datum { name: "Other".into(), ..Datum::one(&ARRIVALS, &[], NOW, 1.0) };
        let not_finite = Datum::one(&ARRIVALS, &["transient", "timeout"], NOW, f64::NAN);
        assert!(converted(&unknown, None).is_empty() && converted(&not_finite, None).is_empty());
    }
}
