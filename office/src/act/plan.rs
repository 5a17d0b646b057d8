//! Making a plan: a snapshot of the letters that wait in a group.

use super::discard::check_choice;
use super::{commit_once, facts};
use crate::audit::{self, Auditor};
use crate::commit::{Committed, Tries, commit};
use crate::error::OfficeError;
use crate::gate::why_not;
use crate::office::Office;
use crate::payloads::PayloadChecks;
use crate::port::{Expect, Presence, Write};
use domain::audit::Act;
use domain::filter::LetterFilter;
use domain::group::{GroupState, Tally, Variant};
use domain::id::{Actor, GroupId, LetterId, QueueArn, ReplayId};
use domain::letter::{Letter, LetterStateKind};
use domain::limits::{PAGE_MAX, PLAN_BLOCKS_MAX, PLAN_LETTERS_MAX};
use domain::money::Purse;
use domain::replay::{
    BLOCK_ENTRIES, Block, Entry, LedgerMove, LeftOut, Outcome, OutcomeKind, Plan, PlanError, PlanOptions,
    letters_digest, plan_waves, rounds,
};
use domain::time::{Span, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use wire::PlanRequest;

/// The letters of a group that can go into a plan now, and those that cannot.
#[derive(Default)]
struct Selection {
    letters: Vec<Chosen>,
    tally: Tally,
    oldest_sent_at: Option<Timestamp>,
    left_out: BTreeMap<String, u64>,
    unchecked: BTreeMap<&'static str, u64>,
    payloads: PayloadChecks,
    /// How many of the named letters were read.
    named_seen: usize,
    message_types: BTreeSet<Option<String>>,
}

/// A letter of a plan.
struct Chosen {
    id: LetterId,
    sent_at: Timestamp,
    /// Its position in its dead-letter queue, on FIFO queues.
    sequence_number: Option<String>,
    /// Its message group, on FIFO queues.
    message_group: Option<String>,
}

/// Makes a plan of all letters that wait in a group. See [`plan`].
pub async fn make_plan(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    options: &PlanOptions,
) -> Result<Plan, OfficeError> {
    plan(office, actor, id, &PlanRequest { options: options.clone(), ..PlanRequest::default() }).await
}

/// Makes a plan for a group whose fix is declared. The plan waits for approval and replaces an earlier one.
pub async fn plan(office: &Office, actor: &Actor, id: &GroupId, request: &PlanRequest) -> Result<Plan, OfficeError> {
    let PlanRequest { options, letters, filter } = request;
    options.check(&office.policy.replay)?;
    check_choice(letters, filter)?;
    let facts = facts(office, id).await?;
    let GroupState::FixDeclared { fix } = &facts.variant.state else {
        return Err(OfficeError::NotNow(match facts.variant.state.replay() {
            Some(_) => "this group has an unfinished replay; resume it and wait until it ends, or abort it".into(),
            None => "this group has no fix; declare the fix first".into(),
        }));
    };
    let main_queue = facts.variant.main_queue.clone().ok_or_else(|| {
        OfficeError::NotNow("no main queue is known for these letters, or the one that they name is not allowed, so they cannot be sent back".into())
    })?;
    let now = office.now();
    let named: BTreeSet<&LetterId> = letters.iter().collect();
    let criteria = Criteria { main_queue: &main_queue, filter, named: &named, now };
    let selection = select(office, &facts.variant, &criteria).await?;
    let policy = &office.policy.replay;
    let waves = plan_waves(selection.letters.len() as u64, policy, options)?;
    let (pace_per_s, pause_share_pct) = options.pace_and_share(policy)?;
    let plan = Plan {
        id: ReplayId::for_plan(id, actor, now),
        group: id.clone(),
        window_ms: options.window(window(office, &main_queue).await?)?,
        main_queue,
        made_by: actor.clone(),
        made_at: now,
        fix: fix.clone(),
        filter: filter.clone(),
        named: !named.is_empty(),
        letters: selection.tally,
        message_types: selection.message_types.into_iter().collect(),
        letters_digest: letters_digest(selection.letters.iter().map(|letter| &letter.id)),
        oldest_sent_at: selection.oldest_sent_at,
        left_out: selection.left_out.into_iter().map(|(reason, letters)| LeftOut { reason, letters }).collect(),
        unchecked: {
            let unchecked = selection.unchecked.into_iter();
            unchecked.map(|(reason, letters)| LeftOut { reason: reason.into(), letters }).collect()
        },
        rounds: rounds(&waves, selection.letters.iter().map(|letter| letter.message_group.as_deref())),
        waves,
        pace_per_s,
        pause_share_pct,
        canary_pause_share_pct: Some(options.canary_share(policy)?),
        sample_letters_min: policy.sample_letters_min,
        slack_ms: policy.window_slack_ms,
        backlog_ms_max: policy.backlog_ms_max,
        wave_delay_ms: policy.wave_delay_ms,
        wave_delay_ms_max: policy.wave_delay_ms_max,
    };
    write_entries(office, &plan, &selection.letters).await?;
    let by = Auditor::new(actor, id, now).in_replay(&plan.id);
    let which = match (plan.named, audit::criteria(filter)) {
        (true, _) => " (named one by one)".to_owned(),
        (false, None) => String::new(),
        (false, Some(criteria)) => format!(" ({criteria})"),
    };
    let detail = format!("{} letters{which} in {} waves", plan.letters.letters, plan.waves.len());
    let audit = by.record(Act::ReplayPlanned, detail, None);
    commit_once(office, vec![Write::Plan(Box::new(plan.clone())), audit]).await?;
    Ok(plan)
}

/// Which letters go into a plan.
struct Criteria<'a> {
    main_queue: &'a QueueArn,
    filter: &'a LetterFilter,
    /// The letters that the person named; empty if the filter alone decides.
    named: &'a BTreeSet<&'a LetterId>,
    now: Timestamp,
}

impl Criteria<'_> {
    /// Returns why a letter is left out, or `None` if it goes into the plan.
    fn why_not(&self, letter: &Letter, office: &Office) -> Option<String> {
        let is_named = self.named.is_empty() || self.named.contains(&letter.id);
        let unnamed = (!is_named).then(|| UNNAMED.to_string());
        let outside = || (!self.filter.fits(letter)).then(|| OUTSIDE.to_string());
        unnamed.or_else(outside).or_else(|| why_not(letter, self.main_queue, office, self.now))
    }
}

async fn select(office: &Office, group: &Variant, criteria: &Criteria<'_>) -> Result<Selection, OfficeError> {
    let mut selection = Selection::default();
    for id in std::iter::once(&group.id).chain(&group.merge.members) {
        for state in [LetterStateKind::Waiting, LetterStateKind::Quarantined] {
            selection.add(office, id, state, criteria).await?;
        }
    }
    if selection.named_seen < criteria.named.len() {
        let missing = criteria.named.len() - selection.named_seen;
        selection.left_out.insert(NOT_OPEN.into(), missing as u64);
    }
    if !group.merge.members.is_empty() {
        selection.letters.sort_by(|a, b| (a.sent_at, &a.id).cmp(&(b.sent_at, &b.id)));
    }
    // SQS pads sequence numbers with zeros, so their texts are in order. On standard queues this sort changes nothing.
    selection.letters.sort_by(|a, b| a.sequence_number.cmp(&b.sequence_number));
    Ok(selection)
}

/// Why a letter is left out whose payload is missing, after a number of letters.
const GONE: &str = "with a payload missing from S3";
/// Why a letter is left out that does not match the filter.
const OUTSIDE: &str = "outside the filter";
/// Why a letter is left out that the person did not name.
const UNNAMED: &str = "not selected";
/// Why a letter is left out that the person named, and that neither waits nor is in quarantine.
const NOT_OPEN: &str = "selected but no longer waiting in this group";

impl Selection {
    /// Adds the letters of one fingerprint in one state.
    async fn add(
        &mut self,
        office: &Office,
        id: &GroupId,
        state: LetterStateKind,
        criteria: &Criteria<'_>,
    ) -> Result<(), OfficeError> {
        let mut cursor = None;
        loop {
            let page = office.store.letters_of(id, Some(state), cursor.as_ref(), PAGE_MAX).await?;
            let goes = |letter: &&Letter| criteria.why_not(letter, office).is_none();
            let letters: Vec<_> = page.items.iter().filter(goes).collect();
            let presences = self.payloads.check(&*office.payloads, letters).await;
            for letter in &page.items {
                self.named_seen += usize::from(criteria.named.contains(&letter.id));
                let presence = presences.get(&letter.id);
                let gone = || (presence == Some(&Presence::Gone)).then(|| GONE.into());
                match criteria.why_not(letter, office).or_else(gone) {
                    Some(reason) => *self.left_out.entry(reason).or_default() += 1,
                    None => self.take(letter, criteria.main_queue.is_fifo()),
                }
                if let Some(Presence::Unknown(why)) = presence {
                    *self.unchecked.entry(why).or_default() += 1;
                }
            }
            let letters = self.letters.len() as u64;
            if letters > PLAN_LETTERS_MAX {
                return Err(PlanError::TooManyLetters { letters }.into());
            }
            let Some(next) = page.next else { return Ok(()) };
            cursor = Some(next);
        }
    }

    fn take(&mut self, letter: &Letter, fifo: bool) {
        self.letters.push(Chosen {
            id: letter.id.clone(),
            sent_at: letter.sent_at,
            sequence_number: letter.sequence_number.clone().filter(|_| fifo),
            message_group: letter.content.message_group_id.clone().filter(|_| fifo),
        });
        if !self.message_types.contains(&letter.diagnosis.message_type) {
            self.message_types.insert(letter.diagnosis.message_type.clone());
        }
        self.tally.letters += 1;
        if let Some(money) = letter.diagnosis.impact.money {
            self.tally.priced += 1;
            let mut sum = Purse::empty();
            sum.add(money);
            self.tally.money.add_all(&sum);
        }
        self.oldest_sent_at = self.oldest_sent_at.into_iter().chain([letter.sent_at]).min();
    }
}

/// Returns the observation window: the time after which the main queue dead-letters a message that keeps failing, plus
/// slack. It follows from the queue's own attributes and is never a guess.
async fn window(office: &Office, main_queue: &QueueArn) -> Result<Span, OfficeError> {
    let attributes = office.queue.attributes(main_queue).await?;
    let receives = attributes.redrive.as_ref().map_or(1, |redrive| i64::from(redrive.receives_max));
    Ok(attributes.visibility_timeout.times(receives).plus(office.policy.replay.window_slack_ms))
}

/// Writes the entries of a plan in blocks, each commit with as many as fit in it beside the ledger.
async fn write_entries(office: &Office, plan: &Plan, letters: &[Chosen]) -> Result<(), OfficeError> {
    let mut wave_of = plan.waves.iter().enumerate().flat_map(|(wave, size)| (0..*size).map(move |_| wave as u32));
    let mut seqs = 0..;
    for chunk in letters.chunks(PLAN_BLOCKS_MAX * BLOCK_ENTRIES) {
        let mut moves: BTreeMap<u32, u64> = BTreeMap::new();
        let entries = chunk.iter().zip(&mut seqs).zip(&mut wave_of).map(|((letter, seq), wave)| {
            *moves.entry(wave).or_default() += 1;
            Entry {
                replay: plan.id.clone(),
                seq,
                letter: letter.id.clone(),
                wave,
                outcome: Outcome::Pending,
                sends: 0,
                answers: 0,
                sent_as: None,
                message_group: letter.message_group.clone(),
                changed_by: None,
            }
        });
        let blocks = Block::planned(&plan.id, entries.collect());
        let new = |block| Write::Block { block: Box::new(block), expect: Expect::Absent };
        let mut writes: Vec<_> = blocks.into_iter().map(new).collect();
        let planned = |(wave, letters)| LedgerMove::plain(wave, None, OutcomeKind::Pending, letters);
        writes.push(Write::Ledger { replay: plan.id.clone(), moves: moves.into_iter().map(planned).collect() });
        write_chunk(office, writes).await?;
    }
    Ok(())
}

async fn write_chunk(office: &Office, writes: Vec<Write>) -> Result<(), OfficeError> {
    let mut tries = Tries::new("a plan");
    loop {
        tries.begin()?;
        let Committed::Conflict(failed) = commit(office, writes.clone()).await? else { return Ok(()) };
        if failed.iter().any(|write| matches!(write, Write::Block { .. })) {
            return Err(OfficeError::NotNow("you have just made a plan for this group; review that one".into()));
        }
        // Another commit was writing the same record of the ledger: that passes.
    }
}
