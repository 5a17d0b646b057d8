//! The time by which an order must be delivered.

use domain::time::Timestamp;

/// The order is too late. Not named "deadline exceeded", because that is gRPC's name for a timeout, which is transient.
#[derive(Debug, thiserror::Error)]
#[error("the delivery was due by {deliver_by}, and it is {now}")]
pub(super) struct DeadlinePassed {
    deliver_by: String,
    now: String,
}

/// Checks that the deadline has not passed. Both texts are RFC 3339 in UTC with whole seconds, so they sort by time.
pub(super) fn check(deliver_by: Option<&str>, now: Timestamp) -> Result<(), DeadlinePassed> {
    let now = print(now);
    match deliver_by {
        Some(deliver_by) if deliver_by < now.as_str() => Err(DeadlinePassed { deliver_by: deliver_by.into(), now }),
        _ => Ok(()),
    }
}

/// Formats a time as RFC 3339 in UTC with whole seconds (days to date: Howard Hinnant, "chrono-compatible low-level date
/// algorithms").
pub(super) fn print(moment: Timestamp) -> String {
    let seconds = moment.as_ms().div_euclid(1000);
    let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_print_as_rfc_3339() {
        let check = |seconds: i64, expected: &str| assert_eq!(print(Timestamp::from_ms(seconds * 1000)), expected);
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(1_763_600_000, "2025-11-20T00:53:20Z");
        check(4_102_444_799, "2099-12-31T23:59:59Z");
    }

    #[test]
    fn only_a_deadline_in_the_past_has_passed() {
        let now = Timestamp::from_ms(1_763_600_000_000);
        assert!(check(None, now).is_ok());
        assert!(check(Some("2025-11-20T00:53:20Z"), now).is_ok());
        let error = check(Some("2025-11-20T00:53:19Z"), now).unwrap_err();
        assert_eq!(error.to_string(), "the delivery was due by 2025-11-20T00:53:19Z, and it is 2025-11-20T00:53:20Z");
    }
}
