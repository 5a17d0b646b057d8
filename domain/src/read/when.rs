//! Moments as messages write them: RFC 3339, or seconds or milliseconds since the epoch.

use crate::time::Timestamp;

/// Parses a moment. A text without an offset counts as UTC. Returns `None` for a bare date, which has no hour.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    epoch(text).or_else(|| rfc3339(text)).map(Timestamp::from_ms)
}

/// Seconds (9 or 10 digits, with or without a fraction), milliseconds (12 or 13) or microseconds (15 or 16).
fn epoch(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !(whole.bytes().all(|b| b.is_ascii_digit()) && fraction.bytes().all(|b| b.is_ascii_digit())) {
        return None;
    }
    let number: i64 = whole.parse().ok()?;
    match whole.len() {
        9 | 10 => Some(number * 1000 + millis(fraction)),
        12 | 13 => Some(number),
        15 | 16 => Some(number / 1000),
        _ => None,
    }
}

/// The first three digits of a fraction as milliseconds.
fn millis(fraction: &str) -> i64 {
    fraction.bytes().chain(*b"000").take(3).fold(0, |ms, digit| ms * 10 + i64::from(digit.wrapping_sub(b'0') % 10))
}

fn rfc3339(text: &str) -> Option<i64> {
    let (date, rest) = (text.get(..10)?, text.get(11..)?);
    matches!(text.as_bytes()[10], b'T' | b't' | b' ').then_some(())?;
    let days = days_of(field(date, 0, 4)?, field(date, 5, 7)?, field(date, 8, 10)?)?;
    (date.as_bytes()[4] == b'-' && date.as_bytes()[7] == b'-').then_some(())?;
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(zone_at);
    // NServiceBus puts a colon before the fraction.
    let (clock, fraction) =
        clock.split_once('.').or_else(|| clock.rsplit_once(':').filter(|c| c.0.len() == 8)).unwrap_or((clock, ""));
    let clock = clock.trim_end();
    let (hour, minute) = (field(clock, 0, 2)?, field(clock, 3, 5)?);
    let second = if clock.len() > 5 { field(clock, 6, 8)? } else { 0 };
    (hour < 24 && minute < 60 && second <= 60 && clock.len() <= 8).then_some(())?;
    let local = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some((local - offset_s(zone)?) * 1000 + millis(fraction.trim_end()))
}

/// `Z`, nothing, `+02:00` or `+0200`, as seconds east of UTC.
fn offset_s(zone: &str) -> Option<i64> {
    let sign = match zone.bytes().next() {
        None | Some(b'Z' | b'z') => return (zone.len() <= 1).then_some(0),
        Some(b'-') => -1,
        Some(_) => 1,
    };
    let minutes_at = if zone.len() == 6 { 4 } else { 3 };
    (zone.len() == minutes_at + 2).then_some(())?;
    Some(sign * (field(zone, 1, 3)? * 60 + field(zone, minutes_at, minutes_at + 2)?) * 60)
}

fn field(text: &str, from: usize, to: usize) -> Option<i64> {
    text.get(from..to).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}

/// Days since 1970-01-01 in the Gregorian calendar (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(())?;
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_every_usual_form() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-11-19T08:01:02.003Z", Some(1_795_075_262_003)),
            ("2026-11-19T10:01:02.003456+02:00", Some(1_795_075_262_003)),
            ("2026-11-19 08:01:02.003", Some(1_795_075_262_003)),
            ("2026-11-19T08:01:02.003-0000", Some(1_795_075_262_003)),
            ("2026-11-19 08:01:02:003456 Z", Some(1_795_075_262_003)),
            ("2024-02-29T12:00Z", Some(1_709_208_000_000)),
            ("1763600000", Some(1_763_600_000_000)),
            ("1763600000.25", Some(1_763_600_000_250)),
            ("1763600000123", Some(1_763_600_000_123)),
            ("1763600000123456", Some(1_763_600_000_123)),
            ("2026-11-19", None),
            ("2026-13-19T00:00:00Z", None),
            ("2026-11-19T25:00:00Z", None),
            ("tomorrow", None),
            ("12", None),
            ("-5", None),
            ("", None),
            ("2026-11-19Té:00", None),
        ] {
            assert_eq!(parse(text).map(Timestamp::as_ms), ms, "{text}");
        }
    }
}
