//! The filter of a group's letters: described in words, edited in a form, and counted above the list.

use crate::money::count;
use crate::when;
use domain::filter::LetterFilter;
use domain::time::{Span, Timestamp};
use wire::LetterRow;

/// The maximum number of characters of a form field.
pub const CHARS_MAX: usize = 200;

/// Returns each condition of a filter as text, with the filter that remains without it. `absolute` formats a time.
pub fn conditions(filter: &LetterFilter, absolute: impl Fn(Timestamp) -> String) -> Vec<(String, LetterFilter)> {
    let LetterFilter { message_type, tenant, died_from, died_before, replays_max } = filter.clone();
    let words = [
        message_type.map(|text| format!("type {text}")),
        tenant.map(|text| format!("tenant {text}")),
        died_from.map(|at| format!("failed at or after {}", absolute(at))),
        died_before.map(|at| format!("failed before {}", absolute(at))),
        replays_max.map(|max| match max {
            0 => "never replayed".to_string(),
            1 => "replayed at most once".to_string(),
            n => format!("replayed at most {n} times"),
        }),
    ];
    let without = |at: usize| {
        let mut other = filter.clone();
        match at {
            0 => other.message_type = None,
            1 => other.tenant = None,
            2 => other.died_from = None,
            3 => other.died_before = None,
            _ => other.replays_max = None,
        }
        other
    };
    words.into_iter().enumerate().filter_map(|(at, words)| Some((words?, without(at)))).collect()
}

/// Describes a filter in one line. Returns `None` for an empty filter.
pub fn line(filter: &LetterFilter, absolute: impl Fn(Timestamp) -> String) -> Option<String> {
    let conditions: Vec<_> = conditions(filter, absolute).into_iter().map(|(words, _)| words).collect();
    (!conditions.is_empty()).then(|| conditions.join(", "))
}

/// Describes how many letters match: `shown` of `all`, or more if the list has further pages.
pub fn matching(shown: usize, all: i64, has_more: bool) -> String {
    let all = all.max(0).unsigned_abs();
    let (shown, more) = (shown as u64, if has_more { " or more" } else { "" });
    // The list and the counter are read at different times, so the list may be ahead.
    let all = all.max(shown);
    let verb = if shown == 1 && !has_more { "matches" } else { "match" };
    format!(
        "{}{more} of {} {verb}",
        count(shown),
        if all == 1 { "1 letter".into() } else { format!("{} letters", count(all)) }
    )
}

/// Says how long before its failure a letter was sent. Returns `None` under a minute: then the time of the failure says
/// both.
pub fn sent_before(sent: Timestamp, failed: Timestamp) -> Option<String> {
    let earlier = failed.since(sent);
    (earlier >= Span::from_mins(1)).then(|| format!("sent {} earlier", when::span(earlier)))
}

/// The message types and tenants seen so far, which the form suggests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// The message types.
    pub types: Vec<String>,
    /// The tenants.
    pub tenants: Vec<String>,
}

impl Suggestions {
    /// Adds the types and tenants of some letters.
    pub fn add(&mut self, rows: &[LetterRow]) {
        let add = |all: &mut Vec<String>, text: &Option<String>| {
            if let Some(text) = text
                && let Err(at) = all.binary_search(text)
            {
                all.insert(at, text.clone());
            }
        };
        for row in rows {
            add(&mut self.types, &row.message_type);
            add(&mut self.tenants, &row.tenant);
        }
    }
}

/// The most values of a field that the page offers: more would push the list away, and the form suggests them all.
const OFFERS_MAX: usize = 4;

/// Returns conditions that narrow a filter, each with the narrowed filter: the types and tenants seen, where there are
/// several. `None` if nothing narrows it.
pub fn offers(seen: &Suggestions, filter: &LetterFilter) -> Option<Vec<(String, LetterFilter)>> {
    let mut offers = Vec::new();
    if filter.message_type.is_none() && seen.types.len() > 1 {
        offers.extend(
            seen.types.iter().take(OFFERS_MAX).map(|text| {
                (format!("type {text}"), LetterFilter { message_type: Some(text.clone()), ..filter.clone() })
            }),
        );
    }
    if filter.tenant.is_none() && seen.tenants.len() > 1 {
        offers.extend(
            seen.tenants
                .iter()
                .take(OFFERS_MAX)
                .map(|text| (format!("tenant {text}"), LetterFilter { tenant: Some(text.clone()), ..filter.clone() })),
        );
    }
    (!offers.is_empty()).then_some(offers)
}

/// The form's fields as typed. A blank field matches any letter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The message type.
    pub message_type: String,
    /// The tenant.
    pub tenant: String,
    /// The earliest time of failure, as the browser's input writes it.
    pub from: String,
    /// The time before which the letter failed.
    pub before: String,
    /// The maximum number of replays.
    pub replays: String,
}

impl Fields {
    /// Fills the form with a filter.
    pub fn from_filter(filter: &LetterFilter, zone_min: impl Fn(Timestamp) -> i64) -> Self {
        let moment = |at: Option<Timestamp>| at.map(|at| when::to_input(at, zone_min(at))).unwrap_or_default();
        Self {
            message_type: filter.message_type.clone().unwrap_or_default(),
            tenant: filter.tenant.clone().unwrap_or_default(),
            from: moment(filter.died_from),
            before: moment(filter.died_before),
            replays: filter.replays_max.map(|max| max.to_string()).unwrap_or_default(),
        }
    }

    /// Returns the filter, or the form's first error.
    pub fn filter(&self, zone_min: impl Fn(Timestamp) -> i64) -> Result<LetterFilter, &'static str> {
        let text = |text: &str| Some(text.trim().to_string()).filter(|text| !text.is_empty());
        let filter = LetterFilter {
            message_type: text(&self.message_type),
            tenant: text(&self.tenant),
            died_from: when::from_input(&self.from, &zone_min),
            died_before: when::from_input(&self.before, &zone_min),
            replays_max: self.replays.trim().parse().ok(),
        };
        if text(&self.replays).is_some() && filter.replays_max.is_none() {
            return Err("Enter a whole number of replays. Use 0 for letters never replayed.");
        }
        if filter.died_from.zip(filter.died_before).is_some_and(|(from, before)| from >= before) {
            return Err("The start must be before the end.");
        }
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> LetterFilter {
        LetterFilter {
            message_type: Some("order.refund".into()),
            tenant: Some("acme".into()),
            died_from: Some(Timestamp::from_ms(1_795_000_000_000)),
            died_before: Some(Timestamp::from_ms(1_795_000_060_000)),
            replays_max: Some(0),
        }
    }

    #[test]
    fn a_letter_says_when_it_was_sent_if_its_failure_does_not() {
        let rows = [
            (-5_000, None),
            (0, None),
            (59_999, None),
            (60_000, Some("sent 1 min earlier")),
            (7_500_000, Some("sent 2 h 5 min earlier")),
        ];
        for (ms, words) in rows {
            assert_eq!(sent_before(Timestamp::from_ms(0), Timestamp::from_ms(ms)).as_deref(), words, "{ms}");
        }
    }

    #[test]
    fn each_condition_is_described_and_can_be_removed() {
        let at = |at| when::absolute(at, 60);
        assert_eq!(line(&LetterFilter::default(), at), None);
        let words = "type order.refund, tenant acme, failed at or after 18 Nov 2026, 12:06:40 UTC+1, \
            failed before 18 Nov 2026, 12:07:40 UTC+1, never replayed";
        assert_eq!(line(&full(), at).as_deref(), Some(words));
        let mut filter = full();
        for remaining in (0..5).rev() {
            filter = conditions(&filter, at).swap_remove(0).1;
            assert_eq!(conditions(&filter, at).len(), remaining, "{filter:?}");
        }
        assert!(filter.is_none());
        let replays = |max| line(&LetterFilter { replays_max: Some(max), ..LetterFilter::default() }, at).unwrap();
        assert_eq!((replays(1).as_str(), replays(2).as_str()), ("replayed at most once", "replayed at most 2 times"));
    }

    #[test]
    fn values_are_offered_only_where_they_narrow_the_list() {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let seen = Suggestions { types: texts(&["a"]), tenants: texts(&["1", "2", "3", "4", "5"]) };
        let words = |seen: &Suggestions, filter: &LetterFilter| {
            offers(seen, filter).map(|offers| offers.into_iter().map(|(words, _)| words).collect::<Vec<_>>())
        };
        let none = LetterFilter::default();
        assert_eq!(words(&seen, &none), Some(texts(&["tenant 1", "tenant 2", "tenant 3", "tenant 4"])));
        let (_, narrowed) = offers(&seen, &none).unwrap().swap_remove(1);
        assert_eq!(narrowed.tenant.as_deref(), Some("2"));
        assert_eq!(words(&seen, &narrowed), None, "a tenant is chosen, and there is one type");
        assert_eq!(
            words(&Suggestions { types: texts(&["a", "b"]), ..seen }, &narrowed),
            Some(texts(&["type a", "type b"]))
        );
    }

    #[test]
    fn a_form_returns_the_filter_that_filled_it() {
        for filter in
            [full(), LetterFilter::default(), LetterFilter { replays_max: Some(3), ..LetterFilter::default() }]
        {
            assert_eq!(Fields::from_filter(&filter, |_| -210).filter(|_| -210), Ok(filter));
        }
        let typed = Fields { tenant: "  ".into(), message_type: " a ".into(), ..Fields::default() };
        let filter = typed.filter(|_| 0).unwrap();
        assert_eq!((filter.message_type.as_deref(), filter.tenant), (Some("a"), None));
    }

    #[test]
    fn an_invalid_form_has_an_error() {
        let noon = "2026-11-18T12:00";
        for (before, replays, wrong) in [
            ("2026-11-18T12:01", "2", None),
            (noon, "", Some("The start")),
            ("2026-11-18T11:59", "", Some("The start")),
            ("", "x", Some("Enter a whole")),
            ("", "-1", Some("Enter a whole")),
            (noon, "1.5", Some("Enter a whole")),
        ] {
            let fields =
                Fields { from: noon.into(), before: before.into(), replays: replays.into(), ..Fields::default() };
            let error = fields.filter(|_| 0).err();
            assert_eq!(error.is_some(), wrong.is_some(), "{before} {replays}");
            assert!(error.unwrap_or_default().starts_with(wrong.unwrap_or_default()), "{error:?}");
        }
    }

    #[test]
    fn an_inexact_count_says_so() {
        for (shown, all, has_more, words) in [
            (0, 60, false, "0 of 60 letters match"),
            (1, 1, false, "1 of 1 letter matches"),
            (1, 60, true, "1 or more of 60 letters match"),
            (50, 10_412, true, "50 or more of 10,412 letters match"),
            (3, 2, false, "3 of 3 letters match"),
        ] {
            assert_eq!(matching(shown, all, has_more), words);
        }
    }
}
