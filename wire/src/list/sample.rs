//! Sample rows for the tests of the list.

use crate::{GroupRow, NextStep};
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use domain::group::{Customers, GroupState, Tally};
use domain::id::GroupId;
use domain::impact::Severity;
use domain::money::{Currency, Money, Purse};
use domain::reading::{Category, Class, Classification, Confidence};
use domain::time::{Span, Timestamp};

pub const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);

/// Returns an open group: title, letters, euros, customers, hours since the oldest was sent, hours to expiry, failures in
/// the last hour.
pub fn row(
    title: &str,
    letters: i64,
    euros: Option<i64>,
    customers: u64,
    sent_h: Option<i64>,
    loss_h: Option<i64>,
    last_hour: u64,
) -> GroupRow {
    let hours = |h: i64| Span::from_mins(h * 60);
    let euro = Currency::parse("EUR");
    let money = euros.zip(euro).map(|(euros, currency)| Money { amount: euros.into(), currency });
    GroupRow {
        id: GroupId::new(format!("id-{}", title.to_lowercase())),
        title: title.to_string(),
        culprit: Some("orders::charge (charge.rs)".to_string()),
        queue: "payments".to_string(),
        consumer: Some("orders-worker".to_string()),
        classification: Classification {
            class: Class::Transient,
            category: Category::Timeout,
            confidence: Confidence::from_pct(90),
            reason: "matched: timeout".to_string(),
        },
        from_logs: false,
        severity: Severity::Warning,
        state: GroupState::Open,
        next: NextStep::FindCause,
        open: Tally { letters, priced: if euros.is_some() { letters } else { 0 }, money: Purse::from(money) },
        about: None,
        owner: None,
        blocked: None,
        for_me: false,
        in_replay: 0,
        delivered: 0,
        discarded: 0,
        customers: Customers::Exact(customers),
        oldest_sent_at: sent_h.map(|h| NOW.minus(hours(h))),
        loss_at: loss_h.map(|h| NOW.plus(hours(h))),
        first_died_at: NOW.minus(hours(60)),
        last_died_at: Some(NOW.minus(hours(1))),
        arrivals: vec![0, 1, last_hour],
        arrivals_last_hour: last_hour,
        arrivals_recent: last_hour,
    }
}
