//! Groups as the dashboard lists them.

use crate::changes::ListChanges;
use crate::facts::{GateFact, RowFacts};
use crate::next::is_growing;
use crate::{DraftView, GateView, GroupName, MergedVariant, NextStep, PlanAnswer, ReplayAnswer};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use domain::deployment::Deployment;
use domain::group::discarding::Progress;
use domain::group::{Customers, GroupCounts, GroupState, Tally, Variant};
use domain::id::{GroupId, ReplayId};
use domain::impact::Severity;
use domain::letter::LetterStateKind;
use domain::logs::{LogSearch, shown};
use domain::money::{Currency, Money, Purse};
use domain::reading::{Class, Classification, Failure, Reported};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A group in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupRow {
    /// Its id.
    pub id: GroupId,
    /// The title for people.
    pub title: String,
    /// Where the error was thrown.
    pub culprit: Option<String>,
    /// The main queue's name, or the dead-letter queue's if the main queue is unknown.
    pub queue: String,
    /// The service that fails.
    pub consumer: Option<String>,
    /// Class, category, confidence, reason: from the consumer's log where the letters say nothing.
    pub classification: Classification,
    /// Whether the classification is from the consumer's log: evidence for people, which no rule uses.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub from_logs: bool,
    /// The worst severity of its message types.
    pub severity: Severity,
    /// The state.
    #[serde(flatten)]
    pub state: GroupState,
    /// The next step for a person.
    pub next: NextStep,
    /// What blocks its replay, in one sentence: the first unmet condition of the gate other than the approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// Whether it waits for the caller: to approve its plan, or to resume its replay.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub for_me: bool,
    /// Who takes care of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Letters that are neither delivered nor discarded, and their money.
    pub open: Tally,
    /// The total of that money in the policy's base currency, by its rates. `None` without money or without rates for all of
    /// its currencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Money>,
    /// Letters in a replay (also counted as open).
    pub in_replay: i64,
    /// Letters that a replay has ever delivered, including those that are no longer stored.
    pub delivered: i64,
    /// Discarded letters, including those that are no longer stored.
    #[serde(default)]
    pub discarded: i64,
    /// Different customers with letters in this group.
    #[serde(flatten)]
    pub customers: Customers,
    /// Time of the oldest open letter's first send.
    pub oldest_sent_at: Option<Timestamp>,
    /// When the next open letter is lost: at its deadline or the end of its queue's retention.
    pub loss_at: Option<Timestamp>,
    /// Time of the first death; if it is not known, when the letter was read.
    pub first_died_at: Timestamp,
    /// Time of the latest death. Of deaths at an unknown time, the time after which they lie counts.
    pub last_died_at: Option<Timestamp>,
    /// Deaths per hour of the last 24 hours, oldest first; the last bar is the current hour so far.
    /// Deaths at an unknown time are in no bar.
    pub arrivals: Vec<u64>,
    /// Deaths in the last 60 minutes.
    pub arrivals_last_hour: u64,
    /// Deaths in the last 15 minutes, in which a group grows or does not.
    #[serde(default)]
    pub arrivals_recent: u64,
}

/// Totals over all groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Growing groups.
    pub growing: u64,
    /// Letters that are neither delivered nor discarded.
    pub open_letters: i64,
    /// How many of them have an amount.
    #[serde(default)]
    pub priced_letters: i64,
    /// Their money.
    pub money: Purse,
    /// The total of that money in the policy's base currency, like [`GroupRow::about`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Money>,
    /// Time of the oldest of these letters' first send.
    pub oldest_sent_at: Option<Timestamp>,
    /// When the next of these letters is lost.
    pub loss_at: Option<Timestamp>,
    /// Groups with open letters past their deadline or the end of their queue's retention.
    #[serde(default)]
    pub expired: u64,
    /// Running replays. A paused replay is not under way.
    pub replays: u64,
    /// Groups that wait for the caller's approval.
    #[serde(default)]
    pub for_me: u64,
}

/// The list of groups, most urgent first, or as the query asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupsAnswer {
    /// The groups that match the query, at most its `limit`; with `changes`, only the rows of parts that changed.
    pub groups: Vec<GroupRow>,
    /// The version of these groups and of their order, for the parameter `since`. Opaque.
    #[serde(default)]
    pub version: String,
    /// How the groups differ from those of the version in the parameter `since`. Missing if the answer is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ListChanges>,
    /// Totals over all groups, whatever the query.
    pub summary: Summary,
    /// Whether more groups match the query than the answer holds.
    pub cut: bool,
    /// How many groups match the query.
    #[serde(default)]
    pub matching: u64,
    /// How many groups there are.
    #[serde(default)]
    pub total: u64,
    /// How many groups match the filter in each view, in the order of [`crate::list::view::View::ALL`].
    #[serde(default)]
    pub in_views: Vec<u64>,
    /// Currencies whose amounts are not compared with others, because the policy has no rate for them. Each currency is
    /// then ranked by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrated: Vec<Currency>,
    /// The day of the policy's rates, if amounts are converted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates_of: Option<String>,
    /// The names of the watched dead-letter queues.
    pub watching: Vec<String>,
}

/// A group's page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupAnswer {
    /// The fields of the list.
    pub row: GroupRow,
    /// Its deaths over time.
    #[serde(default)]
    pub chart: DeathsChart,
    /// The failure of its first letter.
    pub failure: Failure,
    /// The report that the failure comes from, where the letter itself carries none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Reported>,
    /// What the consumer's log says.
    #[serde(default)]
    pub logs: LogsView,
    /// The note.
    pub note: Option<String>,
    /// The counters by letter state.
    pub counts: GroupCounts,
    /// The gate, evaluated for the current user.
    pub gate: GateView,
    /// How long no new failure may occur, milliseconds.
    pub quiet_ms: i64,
    /// A discard of the group, or the undoing of one, that is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarding: Option<Progress>,
    /// How long discarded letters are kept, and for how long a discard can be undone, milliseconds; null for ever.
    #[serde(default)]
    pub discarded_kept_ms: Option<i64>,
    /// The plan that awaits approval, if there is one.
    pub plan: Option<PlanAnswer>,
    /// The plan that is being made in steps, or that failed, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafting: Option<DraftView>,
    /// The current replay, or the latest one.
    pub replay: Option<ReplayAnswer>,
    /// Earlier replays of the group, newest first.
    pub replays: Vec<ReplayId>,
    /// The consumer's latest deployment, if one was reported.
    pub deployment: Option<Deployment>,
    /// The versions of the consumer that its letters died on, in the order in which they were first seen. Empty if no letter
    /// names one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub died_on: Vec<String>,
    /// The merged variants, oldest first. All numbers here include their letters.
    #[serde(default, alias = "also", skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedVariant>,
    /// The group that this variant is merged into; actions are taken there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<GroupName>,
    /// Whether a person unmerged it: it is not merged again until merging is allowed again.
    #[serde(default, alias = "apart", skip_serializing_if = "core::ops::Not::not")]
    pub unmerged: bool,
}

/// What the consumer's log says about why the letters died. Evidence: no gate and no rule uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogsView {
    /// Whether this office can read logs.
    #[serde(default)]
    pub can_read: bool,
    /// The searches, and the result of the latest one.
    #[serde(flatten)]
    pub search: LogSearch,
    /// The result in words, and how sure it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

impl LogsView {
    /// Returns what the record of a group says.
    pub fn new(group: &Variant, can_read: bool) -> Self {
        let search = group.logs.as_deref().cloned().unwrap_or_default();
        let said = search.evidence.as_ref().map(|evidence| evidence.finding.said());
        Self { can_read, search, said }
    }
}

/// Deaths over time. The bars are hours of the last day, or quarters of an hour while the first death is under six hours
/// old.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeathsChart {
    /// The start of the first bar.
    pub from: Timestamp,
    /// The width of a bar, milliseconds.
    pub bar_ms: i64,
    /// The deaths of each bar, oldest first; the last one is not over yet.
    pub deaths: Vec<u64>,
}

impl GroupRow {
    /// Builds the row of a group.
    pub fn new(group: &Variant, counts: &GroupCounts, facts: RowFacts) -> Self {
        let growing = is_growing(&facts.arrivals, facts.arrivals_recent);
        let next = NextStep::new(&group.state, growing, &facts);
        let classification = shown(group.logs.as_deref(), &group.classification);
        Self {
            id: group.id.clone(),
            title: group.title.clone(),
            culprit: group.culprit.clone(),
            queue: group.main_queue.as_ref().unwrap_or(&group.dlq).name().to_string(),
            consumer: group.consumer.clone(),
            from_logs: *classification != group.classification,
            classification: classification.clone(),
            severity: group.severity,
            state: group.state.clone(),
            next,
            for_me: facts.gate.as_ref().is_some_and(GateFact::is_for_me),
            blocked: facts.gate.and_then(|gate| gate.blocked),
            owner: group.owner.clone(),
            about: facts.about,
            open: counts.open(),
            in_replay: counts.tally(LetterStateKind::InReplay).letters,
            delivered: counts.tally(LetterStateKind::Delivered).letters,
            discarded: counts.tally(LetterStateKind::Discarded).letters,
            customers: group.merge.customers(counts.customers),
            oldest_sent_at: facts.oldest_sent_at,
            loss_at: facts.loss_at,
            first_died_at: group.first_died_at,
            last_died_at: counts.last_died_at,
            arrivals: facts.arrivals,
            arrivals_last_hour: facts.arrivals_last_hour,
            arrivals_recent: facts.arrivals_recent,
        }
    }

    /// Whether the group waits for people to find or fix its cause.
    pub fn is_open(&self) -> bool {
        !matches!(self.next, NextStep::Resolved | NextStep::Discarded)
    }

    /// Returns the class.
    pub fn class(&self) -> Class {
        self.classification.class
    }
}

impl Summary {
    /// Returns the totals of rows.
    pub fn new(rows: &[GroupRow], now: Timestamp) -> Self {
        let mut summary = Self::default();
        for row in rows {
            summary.growing += u64::from(row.next == NextStep::Growing);
            summary.open_letters += row.open.letters;
            summary.priced_letters += row.open.priced;
            summary.money.add_all(&row.open.money);
            summary.oldest_sent_at = earliest(summary.oldest_sent_at, row.oldest_sent_at);
            summary.loss_at = earliest(summary.loss_at, row.loss_at);
            summary.expired += u64::from(row.loss_at.is_some_and(|at| at <= now));
            summary.replays += u64::from(matches!(row.next, NextStep::Replaying { .. }));
            summary.for_me += u64::from(row.for_me);
        }
        summary
    }
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    a.into_iter().chain(b).min()
}
