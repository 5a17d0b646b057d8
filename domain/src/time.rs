//! Moments and spans: UTC milliseconds, always with the unit in the name.

use serde::{Deserialize, Serialize};

/// A moment: milliseconds since 1970-01-01T00:00:00 UTC, as in SQS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Creates the moment `ms` milliseconds after the epoch.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Returns milliseconds since the epoch.
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// Returns this moment plus a span; saturates instead of overflowing.
    pub const fn plus(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// Returns this moment minus a span; saturates instead of overflowing.
    pub const fn minus(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// Returns the span from `earlier` to this moment; negative if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Span(i64);

impl Span {
    /// The empty span.
    pub const ZERO: Self = Self(0);

    /// Creates a span of `ms` milliseconds.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Creates a span of `s` seconds.
    pub const fn from_secs(s: i64) -> Self {
        Self(s.saturating_mul(1000))
    }

    /// Creates a span of `min` minutes.
    pub const fn from_mins(min: i64) -> Self {
        Self::from_secs(min.saturating_mul(60))
    }

    /// Creates a span of `days` days of 24 hours.
    pub const fn from_days(days: i64) -> Self {
        Self::from_mins(days.saturating_mul(24 * 60))
    }

    /// Returns the span in milliseconds.
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// Returns the span in whole seconds, rounded up, never negative: the form of an SQS delay.
    pub const fn as_secs_up(self) -> i64 {
        if self.0 <= 0 { 0 } else { (self.0 - 1) / 1000 + 1 }
    }

    /// Returns `n` times this span.
    pub const fn times(self, n: i64) -> Self {
        Self(self.0.saturating_mul(n))
    }

    /// Returns the sum of both spans.
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
