//! Where the office on one machine sends its metrics and alerts: a small file of series, and the log.

mod alerts;
mod series;

pub use alerts::{LogAlerts, WebhookError};
pub use series::{Point, Series, SeriesError, SeriesMetrics};
