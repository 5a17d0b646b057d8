//! The form of a plan's options.

use domain::limits::{CANARY_LETTERS_MAX, GROWTH_FACTOR_MAX, PACE_PER_S_MAX, PAUSE_SHARE_PCT_MAX};
use domain::replay::PlanOptions;

/// The form's fields as typed. A blank field takes the policy's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The number of letters in the canary.
    pub canary: String,
    /// The factor by which each wave grows.
    pub growth: String,
    /// Letters per second.
    pub pace: String,
    /// The percentage of a wave's letters that may return before the replay pauses.
    pub pause_above: String,
    /// The same percentage for a canary.
    pub canary_pause_above: String,
    /// Seconds for which a sent letter is observed.
    pub window: String,
}

/// The range of [`Fields::canary`].
pub const CANARY: (u64, u64) = (1, CANARY_LETTERS_MAX);
/// The range of [`Fields::growth`].
pub const GROWTH: (u64, u64) = (1, GROWTH_FACTOR_MAX);
/// The range of [`Fields::pace`].
pub const PACE: (u64, u64) = (1, PACE_PER_S_MAX as u64);
/// The range of [`Fields::pause_above`] and of [`Fields::canary_pause_above`].
pub const PAUSE_ABOVE: (u64, u64) = (0, PAUSE_SHARE_PCT_MAX as u64);
/// The range of [`Fields::window`]. The real minimum depends on the main queue; the office rejects smaller values.
pub const WINDOW: (u64, u64) = (1, domain::limits::WINDOW_S_MAX);

/// Describes the error in one field. Returns `None` if the field is valid.
pub fn error(text: &str, (min, max): (u64, u64)) -> Option<String> {
    let range = format!("Enter a whole number from {min} to {max}.");
    match text.trim() {
        "" => None,
        text => text.parse().ok().filter(|n: &u64| (min..=max).contains(n)).map_or(Some(range), |_| None),
    }
}

impl Fields {
    /// Fills the form with options.
    pub fn from_options(options: &PlanOptions) -> Self {
        let text = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        Self {
            canary: text(options.canary_letters),
            growth: text(options.growth_factor),
            pace: text(options.pace_per_s.map(u64::from)),
            pause_above: text(options.pause_share_pct.map(u64::from)),
            canary_pause_above: text(options.canary_pause_share_pct.map(u64::from)),
            window: text(options.window_s),
        }
    }

    /// Returns the options, or `None` if a field is invalid.
    pub fn options(&self) -> Option<PlanOptions> {
        Some(PlanOptions {
            canary_letters: field(&self.canary, CANARY)?,
            growth_factor: field(&self.growth, GROWTH)?,
            pace_per_s: field(&self.pace, PACE)?.and_then(|n| n.try_into().ok()),
            pause_share_pct: field(&self.pause_above, PAUSE_ABOVE)?.and_then(|n| n.try_into().ok()),
            canary_pause_share_pct: field(&self.canary_pause_above, PAUSE_ABOVE)?.and_then(|n| n.try_into().ok()),
            window_s: field(&self.window, WINDOW)?,
        })
    }
}

fn field(text: &str, range: (u64, u64)) -> Option<Option<u64>> {
    error(text, range).is_none().then(|| text.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_fields_follow_the_policy_and_invalid_ones_have_an_error() {
        let fields =
            |canary: &str, pct: &str| Fields { canary: canary.into(), pause_above: pct.into(), ..Fields::default() };
        assert_eq!(fields("", "").options(), Some(PlanOptions::default()));
        let chosen = fields(" 3 ", "0").options().unwrap();
        assert_eq!((chosen.canary_letters, chosen.pause_share_pct, chosen.pace_per_s), (Some(3), Some(0), None));
        assert_eq!(Fields::from_options(&chosen), fields("3", "0"));
        for (canary, pct) in [("0", ""), ("x", ""), ("", "91"), ("1001", ""), ("", "-1"), ("1.5", "")] {
            assert_eq!(fields(canary, pct).options(), None, "{canary} {pct}");
        }
        assert_eq!(error("101", PAUSE_ABOVE).as_deref(), Some("Enter a whole number from 0 to 90."));
    }
}
