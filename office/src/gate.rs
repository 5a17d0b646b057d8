//! The gate of a group: everything that it is judged by is gathered here, from the store and the main queue.

use crate::error::{OfficeError, chain};
use crate::merged;
use crate::notices::OfConsumers;
use crate::office::Office;
use crate::port::{GroupFacts, QueueError};
use domain::deployment::{Attached, Deployment};
use domain::filter::LetterFilter;
use domain::fix::Fix;
use domain::gate::{Gate, GateFacts, QueueFact, effective_at, evaluate};
use domain::group::{GroupState, Tally, Variant};
use domain::id::QueueArn;
use domain::letter::{Letter, LetterState, LetterStateKind};
use domain::person::Person;
use domain::reading::Replayability;
use domain::replay::{LeftOut, Plan, Replay, Waiver, WaveLedger, Wrapped};
use domain::time::Timestamp;
use std::collections::BTreeMap;

/// Why a quarantined letter is left out, after a number of letters.
pub(crate) const IN_QUARANTINE: &str = "in quarantine";

/// The most letters that a page of a group without a plan reads, to see whether their deadlines have passed.
const EXAMINED_MAX: usize = 50;

/// The letters that an approval would send, and those that it would leave out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LettersToSend {
    /// The number and value of the letters.
    pub letters: Tally,
    /// The filter that selects them among the group's letters.
    pub filter: LetterFilter,
    /// Numbers of letters that are left out, each with its reason.
    pub left_out: Vec<String>,
    /// Numbers of letters whose payload could not be checked, each with its reason.
    pub unchecked: Vec<String>,
    /// The letters that look like error envelopes. Only a plan has read them.
    pub wrapped: Wrapped,
    /// The message types of the letters.
    pub message_types: Vec<Option<String>>,
}

impl LettersToSend {
    /// Returns what an approval given now would send: the remaining letters of a paused replay, the plan that waits, or
    /// every waiting letter while there is no plan.
    pub async fn now(office: &Office, facts: &GroupFacts) -> Result<Self, OfficeError> {
        let group = &facts.variant;
        if let GroupState::Paused { replay, .. } = &group.state
            && let Some(replay) = office.store.replay(replay).await?
        {
            let ledger = office.store.ledger(replay.id()).await?;
            return Ok(Self::remaining(&replay, &ledger.total()));
        }
        Ok(match office.store.plan(&group.id).await? {
            Some(plan) if Some(&plan.fix) == group.state.fix() => Self::planned(&plan),
            _ => Self::waiting(office, facts).await?,
        })
    }

    /// Returns what a plan sends.
    pub(crate) fn planned(plan: &Plan) -> Self {
        Self {
            letters: plan.letters.clone(),
            filter: plan.filter.clone(),
            left_out: with_reasons(&plan.left_out),
            unchecked: with_reasons(&plan.unchecked),
            wrapped: plan.wrapped.clone(),
            message_types: plan.message_types.clone(),
        }
    }

    /// Returns what a replay has still to send. The ledger counts letters, not money, so the money is that of the whole
    /// plan: never too little for the limit from which a second person must approve.
    pub(crate) fn remaining(replay: &Replay, total: &WaveLedger) -> Self {
        let letters = (total.pending + total.sending) as i64;
        let planned = Self::planned(replay.plan());
        let wrapped = Wrapped { letters: planned.wrapped.letters.min(letters.unsigned_abs()), ..planned.wrapped };
        Self { letters: Tally { letters, ..planned.letters }, left_out: Vec::new(), wrapped, ..planned }
    }

    /// Returns the waiting letters of a group that a plan could take, as far as that is known without a plan.
    async fn waiting(office: &Office, facts: &GroupFacts) -> Result<Self, OfficeError> {
        let mut letters = facts.counts.tally(LetterStateKind::Waiting);
        let mut left_out: Vec<String> = match facts.counts.tally(LetterStateKind::Quarantined).letters {
            0 => Vec::new(),
            n => vec![format!("{n} {IN_QUARANTINE}")],
        };
        // Only then may a deadline have passed. Reading letters for every view of a page would cost too much.
        if let (true, Some(main_queue)) =
            (facts.loss_at.is_some_and(|at| at <= office.now()), facts.variant.main_queue.as_ref())
        {
            let waiting = Some(LetterStateKind::Waiting);
            let page = merged::letters(&*office.store, &facts.variant, waiting, None, EXAMINED_MAX).await?;
            let now = office.now();
            let mut stays: BTreeMap<String, i64> = BTreeMap::new();
            let mut sum = Tally::default();
            for letter in &page.items {
                match why_not(letter, main_queue, office, now) {
                    Some(reason) => *stays.entry(reason).or_default() += 1,
                    None => sum.include(letter),
                }
            }
            let unread = (letters.letters - page.items.len() as i64).max(0);
            left_out.splice(0..0, stays.iter().map(|(reason, n)| format!("{n} {reason}")));
            if page.next.is_none() {
                letters = sum;
            } else if sum.letters == 0 {
                letters = Tally::default();
                left_out.push(format!("{unread} not checked yet; making a plan checks them"));
            } else {
                letters.letters = unread + sum.letters;
            }
        }
        let message_types = vec![facts.variant.message_type.clone()];
        let (filter, unchecked, wrapped) = (LetterFilter::default(), Vec::new(), Wrapped::default());
        Ok(Self { letters, filter, left_out, unchecked, wrapped, message_types })
    }
}

/// Returns why a letter cannot be replayed now, or `None` if it can.
pub(crate) fn why_not(letter: &Letter, main_queue: &QueueArn, office: &Office, now: Timestamp) -> Option<String> {
    let allowed =
        matches!(letter.diagnosis.replayability, Replayability::Pointer { .. }) && office.policy.replay.send_pointers;
    if let Some(reason) = letter.diagnosis.replayability.left_out().filter(|_| !allowed) {
        return Some(reason.into());
    }
    if letter.main_queue.as_ref() != Some(main_queue) {
        return Some("from another main queue".into());
    }
    if letter.is_expired(now) {
        return Some("past their deadline".into());
    }
    let cap = office.policy.gate.replays_max;
    match letter.state {
        LetterState::Quarantined { .. } => Some(IN_QUARANTINE.into()),
        _ => letter.is_capped(cap).then(|| format!("already replayed {cap} times")),
    }
}

fn with_reasons(left_out: &[LeftOut]) -> Vec<String> {
    left_out.iter().map(|left| format!("{} {}", left.letters, left.reason)).collect()
}

/// When the gate is judged.
pub(crate) enum Moment<'a> {
    /// A person approves or resumes, or only views the gate.
    Approval {
        /// Who would approve; `None` if the caller may not.
        approver: Option<&'a Person>,
        /// The conditions that the approver waives.
        waivers: &'a [Waiver],
    },
    /// A running replay is about to send a wave. Deaths since the fix do not count then: the share of returned letters
    /// judges the fix. A queue that does not answer is an error, so that the step is tried again.
    BeforeWave(&'a Replay),
}

/// A judged gate.
pub(crate) struct Judged {
    /// The gate.
    pub gate: Gate,
    /// The latest deployment of the group's consumer.
    pub deployment: Option<Deployment>,
}

impl Judged {
    /// Returns the fix with the time since which it works, as the evidence shows it now. Regressions are judged by it.
    pub fn effective(&self, fix: &Fix) -> Fix {
        Fix { effective_at: effective_at(fix, self.deployment.as_ref()), ..fix.clone() }
    }
}

/// Judges the gate of a group for these letters.
pub(crate) async fn judge(
    office: &Office,
    facts: &GroupFacts,
    to_send: &LettersToSend,
    moment: Moment<'_>,
) -> Result<Judged, OfficeError> {
    let group = &facts.variant;
    let fix = group.state.fix();
    let deployment = deployment(office, group).await?;
    let dry_run = match fix.and_then(|fix| fix.transform.as_ref()) {
        Some(named) => office.store.transform(&group.id, named.version).await?.and_then(|facts| facts.dry_run),
        None => None,
    };
    let consumers = OfConsumers::read(office, group, &to_send.message_types).await?;
    let mut four_eyes = office.policy.four_eyes(&to_send.message_types);
    let (queue, approver, waivers, deaths_count) = match moment {
        Moment::Approval { approver, waivers } => {
            // Not before a wave: letters that came after the approval do not make it invalid.
            four_eyes |= office.policy.gate.second_person_from(&facts.counts.open().money, fix);
            (main_queue_for_a_person(office, group.main_queue.as_ref()).await, approver.cloned(), waivers, true)
        }
        Moment::BeforeWave(replay) => {
            let approval = replay.approval();
            let queue = main_queue(office, Some(&replay.plan().main_queue)).await?;
            let by = Person { name: approval.by.clone(), id: approval.by_id.clone() };
            (queue, Some(by), approval.waivers.as_slice(), false)
        }
    };
    let facts = GateFacts {
        group: &group.id,
        class: group.classification.firm_class(),
        fix,
        last_died_at: facts.counts.last_died_at.filter(|_| deaths_count),
        last_undated_at: facts.counts.last_undated_at.filter(|_| deaths_count),
        deployment: deployment.as_ref(),
        consumers: consumers.facts(group),
        dry_run: dry_run.as_ref(),
        filter: &to_send.filter,
        letters: &to_send.letters,
        left_out: &to_send.left_out,
        unchecked: &to_send.unchecked,
        wrapped: &to_send.wrapped,
        queue,
        approver: approver.as_ref(),
        waivers,
        four_eyes,
    };
    let gate = evaluate(&facts, &office.policy.gate, office.now());
    Ok(Judged { gate, deployment })
}

/// Reads the latest deployment of the group's consumer: the service that the letters name, or the only one that the
/// platform has attached to their main queue.
async fn deployment(office: &Office, group: &Variant) -> Result<Option<Deployment>, OfficeError> {
    if let Some(service) = &group.consumer
        && let Some(deployment) = office.store.deployment(service).await?
    {
        return Ok(Some(deployment));
    }
    let Some(queue) = &group.main_queue else { return Ok(None) };
    match office.store.attached(queue).await?.as_ref().and_then(Attached::only_service) {
        Some(service) => Ok(office.store.deployment(service).await?),
        None => Ok(None),
    }
}

/// Checks whether the main queue can take letters. A queue that does not answer is an error: it proves nothing.
async fn main_queue(office: &Office, queue: Option<&QueueArn>) -> Result<QueueFact, OfficeError> {
    let Some(queue) = queue else {
        return Ok(QueueFact::NotReady(
            "No main queue is known for these letters, or the one that they name is not allowed.".into(),
        ));
    };
    // Letters that an earlier version stored may name any queue.
    if let Some(why) = office.refuses(queue) {
        return Ok(QueueFact::NotReady(why));
    }
    let name = queue.name();
    Ok(match office.queue.attributes(queue).await {
        Ok(attributes) if attributes.fifo != queue.is_fifo() => {
            QueueFact::NotReady(format!("{name} has changed its type (FIFO or standard)."))
        }
        Ok(attributes) => {
            let attached = office.store.attached(queue).await?;
            match attached.and_then(|attached| attached.why_unattended(office.now())) {
                Some(why) => QueueFact::NotReady(why),
                None => QueueFact::Ready(format!(
                    "{name} is reachable: {} waiting, {} held by consumers",
                    attributes.visible_count, attributes.in_flight_count
                )),
            }
        }
        Err(QueueError::Missing { .. }) => QueueFact::NotReady(format!("{name} does not exist.")),
        Err(QueueError::Denied { .. }) => QueueFact::NotReady(format!("The office may not access {name}.")),
        Err(error) => return Err(error.into()),
    })
}

/// The same for a page and for an approval: a queue that does not answer is then a reason not to replay.
async fn main_queue_for_a_person(office: &Office, queue: Option<&QueueArn>) -> QueueFact {
    main_queue(office, queue).await.unwrap_or_else(|error| {
        tracing::warn!(error = %chain(&error), "a main queue does not answer");
        QueueFact::NotReady("The main queue does not answer. Try again.".into())
    })
}
