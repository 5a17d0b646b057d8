//! Times and spans as text. The time zone is an argument: minutes east of UTC.

use domain::time::{Span, Timestamp};

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Formats a span in at most two units: `12 s`, `14 min`, `3 h 12 min`, `4 d 21 h`. A negative span is `0 s`.
pub fn span(span: Span) -> String {
    let ms = span.as_ms().max(0);
    match ms {
        ms if ms < MINUTE => format!("{} s", ms / SECOND),
        ms if ms < HOUR => format!("{} min", ms / MINUTE),
        ms if ms < DAY => two(ms / HOUR, "h", ms % HOUR / MINUTE, "min"),
        ms if ms < 100 * DAY => two(ms / DAY, "d", ms % DAY / HOUR, "h"),
        ms => format!("{} d", ms / DAY),
    }
}

/// Formats a span to the second, for a countdown: `1 min 40 s`.
pub fn countdown(span: Span) -> String {
    // Rounded up: a countdown of 0 s must be over.
    let ms = (span.as_ms().max(0) + SECOND - 1) / SECOND * SECOND;
    match ms {
        ms if ms < MINUTE => format!("{} s", ms / SECOND),
        ms if ms < HOUR => two(ms / MINUTE, "min", ms % MINUTE / SECOND, "s"),
        _ => self::span(Span::from_ms(ms)),
    }
}

fn two(a: i64, a_unit: &str, b: i64, b_unit: &str) -> String {
    if b == 0 { format!("{a} {a_unit}") } else { format!("{a} {a_unit} {b} {b_unit}") }
}

/// Formats a time relative to now: `12 s ago`, `in 3 h 12 min`, `just now`.
pub fn relative(at: Timestamp, now: Timestamp) -> String {
    let ms = now.since(at).as_ms();
    match ms {
        ms if ms.abs() < SECOND => "just now".to_string(),
        ms if ms > 0 => format!("{} ago", span(Span::from_ms(ms))),
        ms => format!("in {}", span(Span::from_ms(-ms))),
    }
}

/// Says when the next attempt is made: `Retrying in 8 s.`, or `Retrying…` once it is due.
pub fn retrying(at: Timestamp, now: Timestamp) -> String {
    if at <= now { "Retrying…".to_string() } else { format!("Retrying in {}.", countdown(at.since(now))) }
}

/// The urgency of an expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// More than a day left.
    Calm,
    /// Less than a day left.
    Soon,
    /// Less than an hour left.
    Now,
    /// The deadline has passed.
    Passed,
}

/// Returns the urgency of an expiry.
pub fn urgency(loss_at: Timestamp, now: Timestamp) -> Urgency {
    match loss_at.since(now).as_ms() {
        ms if ms <= 0 => Urgency::Passed,
        ms if ms < HOUR => Urgency::Now,
        ms if ms < DAY => Urgency::Soon,
        _ => Urgency::Calm,
    }
}

/// A time split into its parts, in a zone.
struct Parts {
    year: i64,
    month: u32,
    day: u32,
    hour: i64,
    minute: i64,
    second: i64,
}

fn parts(at: Timestamp, zone_min: i64) -> Parts {
    let ms = at.as_ms().saturating_add(zone_min * MINUTE);
    let (days, in_day) = (ms.div_euclid(DAY), ms.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    Parts { year, month, day, hour: in_day / HOUR, minute: in_day % HOUR / MINUTE, second: in_day % MINUTE / SECOND }
}

/// Converts days since 1970-01-01 to year, month, day (Howard Hinnant's `civil_from_days`, public domain).
fn civil(days: i64) -> (i64, u32, u32) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = (doy - (153 * mp + 2) / 5 + 1) as u32;
    let month = if mp < 10 { mp + 3 } else { mp - 9 } as u32;
    (yoe + era * 400 + i64::from(month <= 2), month, day)
}

/// Formats the time of day: `14:02:11`.
pub fn clock(at: Timestamp, zone_min: i64) -> String {
    let p = parts(at, zone_min);
    format!("{:02}:{:02}:{:02}", p.hour, p.minute, p.second)
}

/// Formats date, time and zone: `21 Nov 2026, 14:02:11 UTC+1`.
pub fn absolute(at: Timestamp, zone_min: i64) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let p = parts(at, zone_min);
    let month = MONTHS[(p.month as usize).clamp(1, 12) - 1];
    format!("{} {month} {}, {} {}", p.day, p.year, clock(at, zone_min), zone(zone_min))
}

/// Formats a zone: `UTC`, `UTC+1`, `UTC−3:30`.
pub fn zone(zone_min: i64) -> String {
    if zone_min == 0 {
        return "UTC".to_string();
    }
    let sign = if zone_min < 0 { '−' } else { '+' };
    let (hours, minutes) = (zone_min.abs() / 60, zone_min.abs() % 60);
    if minutes == 0 { format!("UTC{sign}{hours}") } else { format!("UTC{sign}{hours}:{minutes:02}") }
}

/// Converts year, month, day to days since 1970-01-01 (Howard Hinnant's `days_from_civil`, public domain).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let yoe = y - era * 400;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// Formats a time for `<input type="datetime-local">`: `2026-11-21T14:02:11`, with milliseconds if they are not zero.
pub fn to_input(at: Timestamp, zone_min: i64) -> String {
    let p = parts(at, zone_min);
    let text = format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", p.year, p.month, p.day, p.hour, p.minute, p.second);
    match at.as_ms().rem_euclid(SECOND) {
        0 => text,
        ms => format!("{text}.{ms:03}"),
    }
}

/// Parses the value of `<input type="datetime-local">`. Returns `None` if it is not a time. The zone may depend on the
/// time.
pub fn from_input(text: &str, zone_min: impl Fn(Timestamp) -> i64) -> Option<Timestamp> {
    let (date, time) = text.trim().split_once(['T', ' '])?;
    let (time, ms) = time.split_once('.').unwrap_or((time, "0"));
    let numbers = |text: &str, mark: char| text.split(mark).map(|n| n.parse().ok()).collect::<Option<Vec<i64>>>();
    let [year, month, day] = numbers(date, '-')?.try_into().ok()?;
    let (hour, minute, second) = match *numbers(time, ':')? {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let ms: i64 = format!("{ms:0<3}").get(..3)?.parse().ok()?;
    let local = Timestamp::from_ms(days(year, month, day) * DAY + hour * HOUR + minute * MINUTE + second * SECOND + ms);
    // The zone depends on the time, which depends on the zone: estimate first, then correct.
    let near = local.minus(Span::from_mins(zone_min(local)));
    Some(local.minus(Span::from_mins(zone_min(near))))
}

/// Formats a time as RFC 3339 in UTC, for `<time datetime>`.
pub fn rfc3339(at: Timestamp) -> String {
    let p = parts(at, 0);
    let ms = at.as_ms().rem_euclid(SECOND);
    format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{ms:03}Z", p.year, p.month, p.day, p.hour, p.minute, p.second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_attempt_is_counted_down() {
        let now = Timestamp::from_ms(1_000_000);
        for (in_ms, text) in
            [(8_000, "Retrying in 8 s."), (7_100, "Retrying in 8 s."), (0, "Retrying…"), (-1, "Retrying…")]
        {
            assert_eq!(retrying(now.plus(Span::from_ms(in_ms)), now), text);
        }
    }

    #[test]
    fn spans_have_at_most_two_units() {
        let rows = [
            (-5, "0 s"),
            (0, "0 s"),
            (999, "0 s"),
            (12 * SECOND, "12 s"),
            (59 * SECOND + 999, "59 s"),
            (MINUTE, "1 min"),
            (59 * MINUTE, "59 min"),
            (HOUR, "1 h"),
            (3 * HOUR + 12 * MINUTE, "3 h 12 min"),
            (DAY, "1 d"),
            (4 * DAY + 21 * HOUR + 59 * MINUTE, "4 d 21 h"),
            (400 * DAY + HOUR, "400 d"),
        ];
        for (ms, text) in rows {
            assert_eq!(span(Span::from_ms(ms)), text);
        }
    }

    #[test]
    fn countdowns_round_up() {
        for (ms, text) in [(0, "0 s"), (1, "1 s"), (1000, "1 s"), (100_000, "1 min 40 s"), (2 * HOUR, "2 h")] {
            assert_eq!(countdown(Span::from_ms(ms)), text);
        }
    }

    #[test]
    fn times_are_relative_or_absolute() {
        let now = Timestamp::from_ms(1_795_000_000_000);
        let at = |ms: i64| now.plus(Span::from_ms(ms));
        assert_eq!(relative(at(0), now), "just now");
        assert_eq!(relative(at(-12_000), now), "12 s ago");
        assert_eq!(relative(at(3 * HOUR), now), "in 3 h");
        let rows = [
            (0, 0, "1 Jan 1970, 00:00:00 UTC"),
            (0, -210, "31 Dec 1969, 20:30:00 UTC−3:30"),
            (951_782_400_000, 60, "29 Feb 2000, 01:00:00 UTC+1"),
            (1_795_000_000_000, 0, "18 Nov 2026, 11:06:40 UTC"),
        ];
        for (ms, zone_min, text) in rows {
            assert_eq!(absolute(Timestamp::from_ms(ms), zone_min), text);
        }
        assert_eq!(rfc3339(now), "2026-11-18T11:06:40.000Z");
        assert_eq!(clock(now, 60), "12:06:40");
    }

    #[test]
    fn an_input_returns_the_time_that_filled_it() {
        for ms in [0, 951_782_400_000, 951_868_799_000, 1_795_000_000_000, 1_795_000_000_042, 4_102_444_800_000, -1_000]
        {
            for zone_min in [0, 60, -210, 840] {
                let at = Timestamp::from_ms(ms);
                let text = to_input(at, zone_min);
                assert_eq!(from_input(&text, |_| zone_min), Some(at), "{text}");
            }
        }
        assert_eq!(to_input(Timestamp::from_ms(1_795_000_000_000), 60), "2026-11-18T12:06:40");
        let minute = Some(Timestamp::from_ms(1_794_999_960_000));
        assert_eq!(from_input("2026-11-18T11:06", |_| 0), minute, "browsers omit zero seconds");
        for text in
            ["", "2026-11-18", "T11:06", "2026-11T11:06", "2026-11-18T11", "2026-11-18Tx:06", "2026-11-18T1:2:3:4"]
        {
            assert_eq!(from_input(text, |_| 0), None, "{text}");
        }
        // Daylight saving time starts at 1:00 UTC: the offset changes from one hour to two.
        let start = Timestamp::from_ms(1_774_746_000_000);
        let zone = |at: Timestamp| if at < start { 60 } else { 120 };
        for (text, ms) in [("2026-03-29T01:59:59", -1_000), ("2026-03-29T03:00", 0), ("2026-03-29T04:00", 3_600_000)] {
            assert_eq!(from_input(text, zone), Some(start.plus(Span::from_ms(ms))), "{text}");
        }
    }

    #[test]
    fn urgency_grows_towards_the_deadline() {
        let now = Timestamp::from_ms(0);
        let rows = [
            (-1, Urgency::Passed),
            (0, Urgency::Passed),
            (HOUR - 1, Urgency::Now),
            (DAY - 1, Urgency::Soon),
            (DAY, Urgency::Calm),
        ];
        for (ms, expected) in rows {
            assert_eq!(urgency(Timestamp::from_ms(ms), now), expected);
        }
    }
}
