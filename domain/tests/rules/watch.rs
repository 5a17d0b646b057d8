//! What alerts announce about a group that waits, and how often.

use domain::impact::Severity;
use domain::money::{Currency, Decimal, Money, Purse};
use domain::policy::AlertPolicy;
use domain::time::{Span, Timestamp};
use domain::watch::{Notified, WatchReason, Watched, watch};

const START: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// What is announced at each minute, in the order of the minutes.
type Story = Vec<(i64, WatchReason, String)>;

/// A group at one moment.
struct Moment {
    severity: Severity,
    in_replay: bool,
    open: i64,
    money: i64,
    deaths: u64,
    /// When its oldest open letter was sent, minutes after the start.
    oldest: i64,
    /// When its first open letter is lost, minutes after the start.
    loss: Option<i64>,
}

impl Default for Moment {
    fn default() -> Self {
        Self { severity: Severity::Warning, in_replay: false, open: 1, money: 0, deaths: 1, oldest: 0, loss: None }
    }
}

fn at(minute: i64) -> Timestamp {
    START.plus(Span::from_mins(minute))
}

fn euros(amount: i64) -> Purse {
    Purse::from(Some(Money { amount: Decimal::from(amount), currency: Currency::parse("EUR").unwrap() }))
}

/// Sweeps each minute, and returns what was announced when. As after a restart, what was announced is read from its JSON each time.
fn announced(policy: &AlertPolicy, minutes: i64, moment: impl Fn(i64) -> Moment) -> Story {
    let mut story = Vec::new();
    let mut notified = Notified::default();
    for minute in 0..=minutes {
        let Moment { severity, in_replay, open, money, deaths, oldest, loss } = moment(minute);
        let money = euros(money);
        let (oldest_sent_at, loss_at) = (Some(at(oldest)), loss.map(at));
        let group = Watched { severity, in_replay, open, money: &money, deaths, oldest_sent_at, loss_at };
        let (news, after) = watch(&group, &notified, policy, at(minute));
        story.extend(news.map(|news| (minute, news.reason, news.clauses.join("; "))));
        notified = serde_json::from_str(&serde_json::to_string(&after).unwrap()).unwrap();
    }
    story
}

fn check(story: Story, expected: &[(i64, WatchReason, &str)]) {
    let story: Vec<_> = story.iter().map(|(minute, reason, text)| (*minute, *reason, text.as_str())).collect();
    assert_eq!(story, expected);
}

const HOUR: i64 = 60;
const DAY: i64 = 24 * HOUR;

#[test]
fn a_letter_that_waits_is_announced_after_an_hour_a_day_and_each_day() {
    let story = announced(&AlertPolicy::default(), 3 * DAY + 5, |_| Moment::default());
    check(
        story,
        &[
            (HOUR, WatchReason::Waiting, "the oldest letter has waited for 60 min"),
            (DAY, WatchReason::Waiting, "the oldest letter has waited for 24 h"),
            (2 * DAY, WatchReason::Waiting, "the oldest letter has waited for 2 days"),
            (3 * DAY, WatchReason::Waiting, "the oldest letter has waited for 3 days"),
        ],
    );
}

#[test]
fn growth_is_announced_at_each_power_of_ten_and_again_only_after_all_were_delivered() {
    let open = |minute| match minute {
        1 => 9,
        2 | 4 => 10,
        3 => 9,
        5 => 2_000,
        6 => 99,
        7 => 0,
        8 => 12,
        _ => 1,
    };
    let story = announced(&AlertPolicy::default(), 9, |minute| found(open(minute)));
    check(
        story,
        &[
            (2, WatchReason::Growing, "10 open letters"),
            // Two thresholds at once are one alert.
            (5, WatchReason::Growing, "2000 open letters"),
            (8, WatchReason::Growing, "12 open letters"),
        ],
    );
}

/// A group whose letters all died at a known time.
fn found(open: i64) -> Moment {
    Moment { open, deaths: open.unsigned_abs(), ..Moment::default() }
}

#[test]
fn letters_that_lay_in_their_queue_before_are_no_growth() {
    // 75 were found at first, then eleven failed. `deaths` are those whose time is known.
    let moment = |minute: i64| Moment { open: 75 + minute, deaths: minute.unsigned_abs(), ..Moment::default() };
    check(announced(&AlertPolicy::default(), 11, moment), &[(10, WatchReason::Growing, "85 open letters")]);
    let critical = |minute: i64| {
        let failed = i64::from(minute >= 100);
        Moment { severity: Severity::Critical, oldest: minute, ..moment(failed) }
    };
    check(announced(&AlertPolicy::default(), 120, critical), &[(100, WatchReason::Growing, "1 new, 76 open letters")]);
}

#[test]
fn money_is_announced_when_it_reaches_the_threshold_and_each_time_it_doubles() {
    let money = |minute| [9_999, 10_000, 19_999, 20_000, 15_000, 20_000, 95_000][minute as usize];
    let story = announced(&AlertPolicy::default(), 6, |minute| Moment { money: money(minute), ..Moment::default() });
    check(
        story,
        &[
            (1, WatchReason::MoneyAtRisk, "10000 EUR at risk"),
            (3, WatchReason::MoneyAtRisk, "20000 EUR at risk"),
            (6, WatchReason::MoneyAtRisk, "95000 EUR at risk"),
        ],
    );
    let none = AlertPolicy { money_from: Vec::new(), ..AlertPolicy::default() };
    assert_eq!(announced(&none, 5, |_| Moment { money: 1_000_000, ..Moment::default() }), []);
    let zero = Money { amount: Decimal::ZERO, currency: Currency::parse("EUR").unwrap() };
    let zero = AlertPolicy { money_from: vec![zero], ..AlertPolicy::default() };
    assert_eq!(announced(&zero, 5, |_| Moment { money: 1_000_000, ..Moment::default() }), []);
}

#[test]
fn a_clock_that_was_ahead_silences_no_alert() {
    let (policy, money) = (AlertPolicy::default(), Purse::default());
    let sweep = |deaths: u64, notified: &Notified, minute: i64| {
        let (severity, sent) = (Severity::Critical, Some(at(minute)));
        let group =
            Watched { severity, in_replay: false, open: 1, money: &money, deaths, oldest_sent_at: sent, loss_at: None };
        let (news, after) = watch(&group, notified, &policy, at(minute));
        (news.is_some(), after)
    };
    let (_, first) = sweep(1, &Notified::default(), 0);
    let (alerted_ahead, ahead) = sweep(2, &first, 400 * DAY);
    // The clock is right again. What was announced in the future does not count as just announced.
    let (alerted_back, _) = sweep(3, &ahead, 10);
    assert_eq!((alerted_ahead, alerted_back), (true, true));
}

#[test]
fn new_letters_of_a_critical_group_are_announced_ever_more_rarely() {
    // One letter per minute.
    let moment = |minute| Moment {
        severity: Severity::Critical,
        open: 2_000_000 + minute,
        deaths: 2_000_000 + minute as u64,
        oldest: minute,
        ..Moment::default()
    };
    let policy = AlertPolicy { letters_from: 0, ..AlertPolicy::default() };
    let minutes: Vec<i64> = announced(&policy, 3 * DAY, moment).into_iter().map(|(minute, ..)| minute).collect();
    // After 1, 2, 4, 8, 16, 24, … hours.
    assert_eq!(minutes, [1, 3, 7, 15, 31, 55].map(|hours| hours * HOUR));
    // Silence while nothing arrives, and for other severities.
    assert_eq!(announced(&policy, 50, |_| Moment { severity: Severity::Critical, ..Moment::default() }), []);
    assert_eq!(announced(&policy, 3 * DAY, |minute| Moment { severity: Severity::Warning, ..moment(minute) }), []);
}

#[test]
fn a_near_deadline_is_announced_once_even_during_a_replay() {
    let loss = |minute| if minute < 100 { DAY + 50 } else { DAY + 120 };
    let moment =
        |minute| Moment { in_replay: true, open: 500, money: 99_000, loss: Some(loss(minute)), ..Moment::default() };
    check(
        announced(&AlertPolicy::default(), 3 * DAY, moment),
        &[
            (50, WatchReason::LossNear, "a letter reaches its deadline in 24 h"),
            // The first was delivered in time, and another is the next.
            (120, WatchReason::LossNear, "a letter reaches its deadline in 24 h"),
        ],
    );
    let past = announced(&AlertPolicy::default(), 30, |_| Moment { loss: Some(-1), ..Moment::default() });
    assert_eq!(past, [], "a deadline that has passed");
}

#[test]
fn several_reasons_are_one_alert_with_the_most_urgent_first() {
    let moment = |_| Moment { money: 50_000, oldest: -2 * DAY, loss: Some(30), ..found(10) };
    let expected = "a letter reaches its deadline in 30 min; 50000 EUR at risk; 10 open letters; the oldest letter has waited for 2 days";
    check(announced(&AlertPolicy::default(), 0, moment), &[(0, WatchReason::LossNear, expected)]);
}

#[test]
fn a_replay_silences_all_but_deadlines_until_it_ends() {
    let moment = |minute| Moment { in_replay: minute < 30, money: 99_000, oldest: -DAY, ..found(500) };
    let story = announced(&AlertPolicy::default(), 60, moment);
    assert_eq!(
        story.iter().map(|(minute, reason, _)| (*minute, *reason)).collect::<Vec<_>>(),
        [(30, WatchReason::MoneyAtRisk)]
    );
}

#[test]
fn letters_that_outlive_the_oldest_ones_are_announced_anew() {
    let moment = |minute| Moment { oldest: if minute < 2 * HOUR { 0 } else { 2 * HOUR }, ..Moment::default() };
    let minutes: Vec<i64> =
        announced(&AlertPolicy::default(), 4 * HOUR, moment).into_iter().map(|(at, ..)| at).collect();
    assert_eq!(minutes, [HOUR, 3 * HOUR]);
}
