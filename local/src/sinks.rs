//! The metrics and alerts ports of the office on one machine: a file of time series, and the log.

mod alerts;
mod series;

pub use alerts::{LogAlerts, WebhookError};
pub use series::{Point, Series, SeriesError, SeriesMetrics};
