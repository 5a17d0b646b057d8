//! The sweep, each minute: gauges, a watchdog for replays, a second check of closed groups, discards and
//! plans that were cut off, alerts about groups that wait, searches in consumers' logs, merges of fingerprints, the customers
//! of merged groups, approvals by rules of the policy, and deleting old letters.

use crate::by_rule;
use crate::commit::commit;
use crate::customers;
use crate::discarding;
use crate::error::{self, OfficeError};
use crate::groups;
use crate::known::first_bucket;
use crate::logs::{self, Due};
use crate::merged;
use crate::office::Office;
use crate::planning;
use crate::port::{GroupFacts, Write};
use crate::watch;
use domain::alert::{Alert, AlertKind};
use domain::clock::{ClockJump, ClockRecord};
use domain::discard::Closed;
use domain::group::{GroupState, Variant};
use domain::id::QueueArn;
use domain::impact::Severity;
use domain::limits::{CLOCK_TRIAL, FORGET_MAX};
use domain::metric::{CUSTOMERS_AFFECTED, Datum, OLDEST_LETTER, OPEN_LETTERS, REVENUE_AT_RISK, TIME_TO_LOSS};
use domain::money::Purse;
use domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The values of the gauges.
#[derive(Default)]
struct Gauges {
    open: i64,
    money: Purse,
    oldest_sent_at: Option<Timestamp>,
    loss_at: Option<Timestamp>,
    customers: BTreeMap<Severity, u64>,
}

/// Runs one sweep. Call it each minute; two at once do no harm.
///
/// ```
/// # use office::error::{OfficeError, chain};
/// # use office::office::Office;
/// # async fn example(office: &Office) {
/// if let Err(error) = office::sweep::run(office).await {
///     eprintln!("the sweep failed; the next one tries again: {}", chain(&error));
/// }
/// # }
/// ```
pub async fn run(office: &Office) -> Result<(), OfficeError> {
    let office = &office.latest().await?;
    for replay in office.store.unfinished_replays().await? {
        // Each step schedules the next one. This restarts a replay whose chain of steps was cut.
        office.nudge(&replay).await;
    }
    let now = office.now();
    let mut gauges = Gauges::default();
    let mut due = Due::default();
    let known = office.known_groups.now(&*office.store, first_bucket(now), now).await?;
    office.known_groups.save(&*office.store, &known).await;
    for variant in known.variants() {
        gauges.count(&variant.facts, now);
        due.see(variant, now);
        reopen_missed(office, &variant.facts, now).await;
        planning::nudge(office, &variant.facts.variant).await;
    }
    known.groups().iter().for_each(|group| gauges.count_customers(group));
    office.measure(&gauges.data(now)).await;
    let variants = || known.variants().map(|variant| &variant.facts.variant);
    let is_fixed = |group: &&Variant| matches!(group.state, GroupState::FixDeclared { .. });
    let fixed: Vec<_> = variants().filter(is_fixed).map(|group| group.id.clone()).collect();
    let groups = known.groups();
    for group in groups {
        if !group.variant.merge.members.is_empty() {
            reopen_missed(office, group, now).await;
        }
        match group.variant.discarding {
            Some(_) => discarding::go_on(office, &group.variant.id).await,
            None => discarding::close_missed(office, group).await,
        }
    }
    let variants = variants().map(|group| (group.id.clone(), group.clone())).collect();
    merged::merge(office, &variants).await;
    by_rule::approve(office, &fixed).await;
    // Last, because it writes groups: what was read of them is then no longer current.
    watch::tell(office, groups, now).await;
    logs::search(office, due).await;
    customers::count(office, groups).await;
    let dlqs = known.variants().map(|variant| variant.facts.variant.dlq.clone());
    let queues = office.closed_queues.iter().cloned().chain(dlqs).collect();
    if checked_clock(office, queues, now).await?.may_forget(now) {
        forget(office, now).await;
    }
    Ok(())
}

/// Compares the clock with the last sweep's, and stores it, with the dead-letter queues that are known now. A jump is logged,
/// and raises an alert, once.
async fn checked_clock(
    office: &Office,
    queues: BTreeSet<QueueArn>,
    now: Timestamp,
) -> Result<ClockRecord, OfficeError> {
    let (record, jump) = ClockRecord::after(office.store.clock().await?.as_ref(), queues, now);
    // Without a condition: of two sweeps at once either may be the last.
    let _ = commit(office, vec![Write::Clock(record.clone())]).await?;
    if let Some(jump) = jump {
        let alert = jump_alert(jump, now);
        tracing::error!("{} {}", alert.title, alert.advice);
        office.alert(alert).await;
    }
    Ok(record)
}

fn jump_alert(jump: ClockJump, now: Timestamp) -> Alert {
    let hours = CLOCK_TRIAL.as_secs_up() / 3_600;
    let (title, advice) = match jump {
        ClockJump::Back(by) => (
            format!("The office's clock went back by {} s.", by.as_secs_up()),
            format!("Check the clock. Windows of running replays start again, and no letter is deleted for {hours} h."),
        ),
        ClockJump::Forward(by) => (
            format!("No sweep ran for {} h: the office was off, or its clock jumped forward.", by.as_secs_up() / 3_600),
            format!("If the office was not off, set the clock right. No closed letter is deleted for {hours} h."),
        ),
    };
    let (kind, level) = (AlertKind::ClockJumped, Severity::Warning);
    Alert { kind, level, at: now, group: None, replay: None, summary: title.clone(), title, advice }
}

/// What was delivered or discarded long ago is not ours to keep.
async fn forget(office: &Office, now: Timestamp) {
    for closed in Closed::ALL {
        let Some(kept) = office.policy.kept(closed) else { continue };
        match office.store.forget(closed, now.minus(kept), FORGET_MAX).await {
            Ok(0) => {}
            Ok(letters) => tracing::info!(letters, ?closed, "deleting letters that were closed long ago"),
            Err(error) => tracing::warn!(?closed, error = error::chain(&error), "old letters could not be forgotten"),
        }
    }
}

/// Opens a resolved or discarded group that has open letters. Intake missed it: intake was killed between storing a letter and
/// opening the group, or the letter came while the group was being resolved.
async fn reopen_missed(office: &Office, facts: &GroupFacts, now: Timestamp) {
    let is_closed = matches!(facts.variant.state, GroupState::Resolved { .. } | GroupState::Discarded { .. });
    if let Some(died_at) = facts.counts.last_died_at.filter(|_| is_closed)
        && facts.counts.open().letters > 0
    {
        groups::after_death(office, &facts.variant.id, died_at, &groups::Versions::new(), now).await;
    }
}

impl Gauges {
    fn count(&mut self, facts: &GroupFacts, now: Timestamp) {
        let open = facts.counts.open();
        self.open += open.letters;
        self.money.add_all(&open.money);
        self.oldest_sent_at = self.oldest_sent_at.into_iter().chain(facts.oldest_sent_at).min();
        // A deadline that has passed is past help, and must not hide the next one or hold an alarm for ever.
        let ahead = facts.loss_at.filter(|loss_at| *loss_at > now);
        self.loss_at = self.loss_at.into_iter().chain(ahead).min();
    }

    /// Of a whole group, because its variants may share customers.
    fn count_customers(&mut self, group: &GroupFacts) {
        if group.counts.open().letters > 0 {
            let customers = group.variant.merge.customers(group.counts.customers);
            *self.customers.entry(group.variant.severity).or_default() += customers.number();
        }
    }

    fn data(&self, now: Timestamp) -> Vec<Datum> {
        let mut data = vec![Datum::one(&OPEN_LETTERS, &[], now, self.open as f64)];
        if let Some(sent_at) = self.oldest_sent_at {
            data.push(Datum::one(&OLDEST_LETTER, &[], now, now.since(sent_at).as_secs_up() as f64));
        }
        if let Some(loss_at) = self.loss_at {
            data.push(Datum::one(&TIME_TO_LOSS, &[], now, loss_at.since(now).as_secs_up() as f64));
        }
        for sum in self.money.sums() {
            // CloudWatch accepts floats only; the exact sum is in the store.
            let amount: f64 = sum.amount.to_string().parse().unwrap_or(0.0);
            data.push(Datum::one(&REVENUE_AT_RISK, &[sum.currency.as_str()], now, amount));
        }
        for (severity, customers) in &self.customers {
            let severity = crate::names::json_name(severity);
            data.push(Datum::one(&CUSTOMERS_AFFECTED, &[&severity], now, *customers as f64));
        }
        data
    }
}
