//! The options of a plan as a person types them.

use domain::replay::PlanOptions;

/// The fields; empty means what the policy says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Letters of the canary.
    pub canary: String,
    /// How much larger each wave is.
    pub growth: String,
    /// Letters a second.
    pub pace: String,
    /// Percent that may come back.
    pub stop: String,
    /// Seconds that a letter is watched.
    pub window: String,
}

/// A field's least and greatest value.
pub const CANARY: (u64, u64) = (1, 5_000);
/// See [`CANARY`].
pub const GROWTH: (u64, u64) = (1, 100);
/// See [`CANARY`].
pub const PACE: (u64, u64) = (1, 10_000);
/// See [`CANARY`].
pub const STOP: (u64, u64) = (0, 100);
/// See [`CANARY`]. The least is the main queue's affair: the office refuses less.
pub const WINDOW: (u64, u64) = (1, domain::limits::WINDOW_S_MAX);

/// What is wrong with one field; none if nothing is.
pub fn wrong(text: &str, (min, max): (u64, u64)) -> Option<String> {
    let range = format!("A whole number from {min} to {max}.");
    match text.trim() {
        "" => None,
        text => text.parse().ok().filter(|n: &u64| (min..=max).contains(n)).map_or(Some(range), |_| None),
    }
}

impl Fields {
    /// The fields as they were when these options were chosen.
    pub fn of(options: &PlanOptions) -> Self {
        let text = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        Self {
            canary: text(options.canary_letters),
            growth: text(options.growth_factor),
            pace: text(options.pace_per_s.map(u64::from)),
            stop: text(options.stop_share_pct.map(u64::from)),
            window: text(options.window_s),
        }
    }

    /// The options; none while a field is wrong.
    pub fn options(&self) -> Option<PlanOptions> {
        Some(PlanOptions {
            canary_letters: field(&self.canary, CANARY)?,
            growth_factor: field(&self.growth, GROWTH)?,
            pace_per_s: field(&self.pace, PACE)?.and_then(|n| n.try_into().ok()),
            stop_share_pct: field(&self.stop, STOP)?.and_then(|n| n.try_into().ok()),
            window_s: field(&self.window, WINDOW)?,
        })
    }
}

fn field(text: &str, range: (u64, u64)) -> Option<Option<u64>> {
    wrong(text, range).is_none().then(|| text.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_fields_follow_the_policy_and_wrong_ones_say_so() {
        let fields =
            |canary: &str, stop: &str| Fields { canary: canary.into(), stop: stop.into(), ..Fields::default() };
        assert_eq!(fields("", "").options(), Some(PlanOptions::default()));
        let chosen = fields(" 3 ", "0").options().unwrap();
        assert_eq!((chosen.canary_letters, chosen.stop_share_pct, chosen.pace_per_s), (Some(3), Some(0), None));
        assert_eq!(Fields::of(&chosen), fields("3", "0"));
        for (canary, stop) in [("0", ""), ("x", ""), ("", "101"), ("", "-1"), ("1.5", "")] {
            assert_eq!(fields(canary, stop).options(), None, "{canary} {stop}");
        }
        assert_eq!(wrong("101", STOP).as_deref(), Some("A whole number from 0 to 100."));
    }
}
