//! Which letters of a group: the filter of list and plan in words, in a form, and in a list's heading.

use crate::money::count;
use crate::when;
use domain::filter::LetterFilter;
use domain::time::Timestamp;
use wire::LetterRow;

/// The most characters that a field of the form takes.
pub const CHARS_MAX: usize = 200;

/// What a filter asks, piece by piece, each with the filter that is left without it. `absolute` words a moment.
pub fn pieces(filter: &LetterFilter, absolute: impl Fn(Timestamp) -> String) -> Vec<(String, LetterFilter)> {
    let LetterFilter { message_type, tenant, died_from, died_before, replays_max } = filter.clone();
    let words = [
        message_type.map(|text| format!("type {text}")),
        tenant.map(|text| format!("tenant {text}")),
        died_from.map(|at| format!("died at or after {}", absolute(at))),
        died_before.map(|at| format!("died before {}", absolute(at))),
        replays_max.map(|max| match max {
            0 => "never replayed".to_string(),
            1 => "replayed once at most".to_string(),
            n => format!("replayed {n} times at most"),
        }),
    ];
    let without = |at: usize| {
        let mut rest = filter.clone();
        match at {
            0 => rest.message_type = None,
            1 => rest.tenant = None,
            2 => rest.died_from = None,
            3 => rest.died_before = None,
            _ => rest.replays_max = None,
        }
        rest
    };
    words.into_iter().enumerate().filter_map(|(at, words)| Some((words?, without(at)))).collect()
}

/// A filter in one line; none where it asks for nothing.
pub fn line(filter: &LetterFilter, absolute: impl Fn(Timestamp) -> String) -> Option<String> {
    let pieces: Vec<_> = pieces(filter, absolute).into_iter().map(|(words, _)| words).collect();
    (!pieces.is_empty()).then(|| pieces.join(", "))
}

/// How many letters of a list fit: `shown` of `all`, and perhaps more than could be shown.
pub fn matching(shown: usize, all: i64, has_more: bool) -> String {
    let all = all.max(0).unsigned_abs();
    let (shown, more) = (shown as u64, if has_more { " or more" } else { "" });
    // A list and a counter are read one after the other.
    let all = all.max(shown);
    let verb = if shown == 1 && !has_more { "fits" } else { "fit" };
    format!(
        "{}{more} of {} {verb}",
        count(shown),
        if all == 1 { "1 letter".into() } else { format!("{} letters", count(all)) }
    )
}

/// Kinds of message and tenants that were seen: what the form offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The kinds of message.
    pub types: Vec<String>,
    /// The tenants.
    pub tenants: Vec<String>,
}

impl Seen {
    /// Adds those of some letters.
    pub fn see(&mut self, rows: &[LetterRow]) {
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

/// The form's fields as they are typed; an empty one asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The kind of message.
    pub message_type: String,
    /// Whose message.
    pub tenant: String,
    /// Died at this moment or later, as a browser writes it.
    pub from: String,
    /// Died before this moment.
    pub before: String,
    /// Replays at most.
    pub replays: String,
}

impl Fields {
    /// The fields that ask for this.
    pub fn of(filter: &LetterFilter, zone_min: impl Fn(Timestamp) -> i64) -> Self {
        let moment = |at: Option<Timestamp>| at.map(|at| when::typed(at, zone_min(at))).unwrap_or_default();
        Self {
            message_type: filter.message_type.clone().unwrap_or_default(),
            tenant: filter.tenant.clone().unwrap_or_default(),
            from: moment(filter.died_from),
            before: moment(filter.died_before),
            replays: filter.replays_max.map(|max| max.to_string()).unwrap_or_default(),
        }
    }

    /// The filter that they ask for, or what is wrong with them.
    pub fn filter(&self, zone_min: impl Fn(Timestamp) -> i64) -> Result<LetterFilter, &'static str> {
        let text = |text: &str| Some(text.trim().to_string()).filter(|text| !text.is_empty());
        let filter = LetterFilter {
            message_type: text(&self.message_type),
            tenant: text(&self.tenant),
            died_from: when::untyped(&self.from, &zone_min),
            died_before: when::untyped(&self.before, &zone_min),
            replays_max: self.replays.trim().parse().ok(),
        };
        if text(&self.replays).is_some() && filter.replays_max.is_none() {
            return Err("Replays are a whole number; 0 for letters that were never replayed.");
        }
        if filter.died_from.zip(filter.died_before).is_some_and(|(from, before)| from >= before) {
            return Err("No letter died before the time from which you look.");
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
    fn a_filter_is_told_piece_by_piece_and_each_can_be_taken_away() {
        let at = |at| when::absolute(at, 60);
        assert_eq!(line(&LetterFilter::default(), at), None);
        let words = "type order.refund, tenant acme, died at or after 18 Nov 2026, 12:06:40 UTC+1, \
            died before 18 Nov 2026, 12:07:40 UTC+1, never replayed";
        assert_eq!(line(&full(), at).as_deref(), Some(words));
        let mut filter = full();
        for left in (0..5).rev() {
            filter = pieces(&filter, at).swap_remove(0).1;
            assert_eq!(pieces(&filter, at).len(), left, "{filter:?}");
        }
        assert!(filter.is_none());
        let replays = |max| line(&LetterFilter { replays_max: Some(max), ..LetterFilter::default() }, at).unwrap();
        assert_eq!((replays(1).as_str(), replays(2).as_str()), ("replayed once at most", "replayed 2 times at most"));
    }

    #[test]
    fn a_form_asks_for_what_it_shows() {
        for filter in
            [full(), LetterFilter::default(), LetterFilter { replays_max: Some(3), ..LetterFilter::default() }]
        {
            assert_eq!(Fields::of(&filter, |_| -210).filter(|_| -210), Ok(filter));
        }
        let typed = Fields { tenant: "  ".into(), message_type: " a ".into(), ..Fields::default() };
        let filter = typed.filter(|_| 0).unwrap();
        assert_eq!((filter.message_type.as_deref(), filter.tenant), (Some("a"), None));
    }

    #[test]
    fn a_form_says_what_is_wrong() {
        let noon = "2026-11-18T12:00";
        for (before, replays, wrong) in [
            ("2026-11-18T12:01", "2", None),
            (noon, "", Some("No letter died")),
            ("2026-11-18T11:59", "", Some("No letter died")),
            ("", "x", Some("Replays are")),
            ("", "-1", Some("Replays are")),
            (noon, "1.5", Some("Replays are")),
        ] {
            let fields =
                Fields { from: noon.into(), before: before.into(), replays: replays.into(), ..Fields::default() };
            let told = fields.filter(|_| 0).err();
            assert_eq!(told.is_some(), wrong.is_some(), "{before} {replays}");
            assert!(told.unwrap_or_default().starts_with(wrong.unwrap_or_default()), "{told:?}");
        }
    }

    #[test]
    fn a_count_is_exact_or_says_that_it_is_not() {
        for (shown, all, has_more, words) in [
            (0, 60, false, "0 of 60 letters fit"),
            (1, 1, false, "1 of 1 letter fits"),
            (1, 60, true, "1 or more of 60 letters fit"),
            (50, 10_412, true, "50 or more of 10,412 letters fit"),
            (3, 2, false, "3 of 3 letters fit"),
        ] {
            assert_eq!(matching(shown, all, has_more), words);
        }
    }
}
