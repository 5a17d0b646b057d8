//! When people are alerted to a group that waits: a rule over what they were alerted to before.
//!
//! An alert for a new group says that a cause exists. It does not say that the cause grows, waits or costs money, and the
//! dead-letter queue's own alarm cannot: intake empties the queue. So each sweep compares every group with thresholds of
//! the policy. Each threshold is announced once, in one alert per group and sweep, and reminders go on until no letter is open.

use crate::clock::is_recent;
use crate::impact::Severity;
use crate::money::{Decimal, Money, Purse};
use crate::policy::AlertPolicy;
use crate::time::{Span, Timestamp};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What alerts have announced about a group. Stored with the group; forgotten once no letter of it is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notified {
    /// How many thresholds of the number of open letters were announced.
    #[serde(skip_serializing_if = "is_zero")]
    pub growth: u32,
    /// How many thresholds and reminders of the oldest letter's age were announced.
    #[serde(skip_serializing_if = "is_zero")]
    pub age: u32,
    /// How many thresholds of money were announced, added up over all currencies.
    #[serde(skip_serializing_if = "is_zero")]
    pub money: u32,
    /// The deadline that was announced to be near.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_at: Option<Timestamp>,
    /// Of critical groups: what was last known about new letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<CriticalNotice>,
}

/// What alerts have announced about new letters of a critical group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriticalNotice {
    /// The deaths of the group's letters at that time, returned letters included.
    pub deaths: u64,
    /// When it was announced.
    pub at: Timestamp,
    /// How often new letters were announced since the group had no open letter. Each time doubles the wait for the next.
    pub times: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Notified {
    /// Whether nothing was announced.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A group as a sweep sees it.
#[derive(Clone, Debug)]
pub struct Watched<'a> {
    /// The severity of its message type.
    pub severity: Severity,
    /// Whether a replay is sending its letters, or observing them.
    pub in_replay: bool,
    /// The number of its open letters.
    pub open: i64,
    /// Their money.
    pub money: &'a Purse,
    /// The deaths of its letters whose time is known, delivered letters included. Others are no news of growth.
    pub deaths: u64,
    /// When its oldest open letter was first sent.
    pub oldest_sent_at: Option<Timestamp>,
    /// When the first of its open letters is lost; `None` if none ever is.
    pub loss_at: Option<Timestamp>,
}

/// The reason for an alert about a group that waits, most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WatchReason {
    /// A letter reaches its deadline soon.
    LossNear,
    /// The money of its letters has passed a threshold.
    MoneyAtRisk,
    /// The number of its letters has passed a threshold, or a critical group has new letters.
    Growing,
    /// Its oldest letter has waited past a threshold.
    Waiting,
}

/// What to tell: the most urgent reason, and a clause for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The most urgent reason.
    pub reason: WatchReason,
    /// What holds, most urgent first: `12 open letters`.
    pub clauses: Vec<String>,
}

/// Returns what to announce now, if anything, and what was announced after that. The caller stores it once the alert is sent.
pub fn watch(
    group: &Watched<'_>,
    notified: &Notified,
    policy: &AlertPolicy,
    now: Timestamp,
) -> (Option<News>, Notified) {
    if group.open <= 0 {
        return (None, Notified::default());
    }
    let mut after = notified.clone();
    let mut news: Vec<(WatchReason, String)> = Vec::new();
    if let Some(clause) = loss_near(group, &mut after, policy, now) {
        news.push((WatchReason::LossNear, clause));
    }
    // While letters are being sent, somebody is at work on the group. Thresholds that they passed meanwhile are announced
    // afterwards, if they still hold.
    if !group.in_replay {
        if let Some(clause) = money_at_risk(group, &mut after, policy) {
            news.push((WatchReason::MoneyAtRisk, clause));
        }
        let growing = growing(group, &mut after, policy);
        if let Some(clause) = growing.or_else(|| arrived(group, &mut after, policy, now)) {
            news.push((WatchReason::Growing, clause));
        }
        if let Some(clause) = waiting(group, &mut after, policy, now) {
            news.push((WatchReason::Waiting, clause));
        }
    }
    let news = news
        .first()
        .map(|(reason, _)| *reason)
        .map(|reason| News { reason, clauses: news.into_iter().map(|(_, clause)| clause).collect() });
    (news, after)
}

fn loss_near(group: &Watched<'_>, notified: &mut Notified, policy: &AlertPolicy, now: Timestamp) -> Option<String> {
    let loss_at = group.loss_at?;
    let left = loss_at.since(now);
    if left > policy.deadline_within_ms
        || left < Span::ZERO
        || notified.loss_at.is_some_and(|notified| notified >= loss_at)
    {
        return None;
    }
    notified.loss_at = Some(loss_at);
    Some(format!("a letter reaches its deadline in {}", rounded(left)))
}

/// Each threshold is twice the one before.
fn money_at_risk(group: &Watched<'_>, notified: &mut Notified, policy: &AlertPolicy) -> Option<String> {
    let passed = |sum: &Money| -> u32 {
        let from = policy.money_from.iter().find(|from| from.currency == sum.currency);
        from.map_or(0, |from| thresholds(sum.amount, from.amount, Decimal::TWO))
    };
    let sums = group.money.sums();
    let passed: u32 = sums.iter().map(passed).sum();
    if passed <= notified.money {
        return None;
    }
    notified.money = passed;
    let sums: Vec<String> = sums.iter().map(|sum| format!("{} {}", sum.amount, sum.currency.as_str())).collect();
    Some(format!("{} at risk", sums.join(", ")))
}

/// Each threshold is ten times the one before. Letters that lay in their queue before the office read it do not count: the
/// group does not grow because they were found.
fn growing(group: &Watched<'_>, notified: &mut Notified, policy: &AlertPolicy) -> Option<String> {
    let grown = group.open.min(i64::try_from(group.deaths).unwrap_or(i64::MAX));
    let passed = thresholds(Decimal::from(grown), Decimal::from(policy.letters_from), Decimal::TEN);
    if passed <= notified.growth {
        return None;
    }
    notified.growth = passed;
    if let Some(critical) = &mut notified.critical {
        critical.deaths = group.deaths;
    }
    Some(letters(group.open))
}

/// New letters of a critical group, announced at once, then after a wait that doubles each time.
fn arrived(group: &Watched<'_>, notified: &mut Notified, policy: &AlertPolicy, now: Timestamp) -> Option<String> {
    if group.severity != Severity::Critical {
        return None;
    }
    // The alert of the new group has announced these.
    let before = *notified.critical.get_or_insert(CriticalNotice { deaths: group.deaths, at: now, times: 0 });
    let wait = policy.critical_ms.times(2_i64.checked_pow(before.times).unwrap_or(i64::MAX));
    let wait = policy.reminder_ms.map_or(wait, |longest| wait.min(longest));
    if group.deaths <= before.deaths || is_recent(before.at, wait, now) {
        return None;
    }
    notified.critical = Some(CriticalNotice { deaths: group.deaths, at: now, times: before.times.saturating_add(1) });
    Some(format!("{} new, {}", group.deaths - before.deaths, letters(group.open)))
}

/// The thresholds of the policy, and after the last one a reminder in each interval.
fn waiting(group: &Watched<'_>, notified: &mut Notified, policy: &AlertPolicy, now: Timestamp) -> Option<String> {
    let age = now.since(group.oldest_sent_at?);
    let mut passed = policy.ages_ms.iter().filter(|from| age >= **from).count();
    if let (Some(last), Some(every)) = (policy.ages_ms.iter().max(), policy.reminder_ms)
        && age >= *last
        && every > Span::ZERO
    {
        passed += usize::try_from((age.as_ms() - last.as_ms()) / every.as_ms()).unwrap_or(usize::MAX);
    }
    let passed = u32::try_from(passed).unwrap_or(u32::MAX);
    let is_more = passed > notified.age;
    // Once the oldest letters are delivered, the next ones count anew.
    notified.age = passed;
    is_more.then(|| format!("the oldest letter has waited for {}", rounded(age)))
}

/// Returns how many of `from`, `from × factor`, `from × factor²`, … a value has reached. None of a `from` that is not
/// positive.
fn thresholds(value: Decimal, from: Decimal, factor: Decimal) -> u32 {
    let (mut passed, mut next) = (0, from);
    while from > Decimal::ZERO && value >= next {
        passed += 1;
        match next.checked_mul(factor) {
            Some(more) => next = more,
            None => break,
        }
    }
    passed
}

fn letters(open: i64) -> String {
    if open == 1 { "1 open letter".into() } else { format!("{open} open letters") }
}

/// Returns a length of time in whole minutes, hours or days, rounded down.
pub(crate) fn rounded(span: Span) -> String {
    let minutes = span.as_ms() / 60_000;
    match minutes {
        ..120 => format!("{minutes} min"),
        120..2_880 => format!("{} h", minutes / 60),
        _ => format!("{} days", minutes / 1_440),
    }
}
