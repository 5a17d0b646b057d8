//! Making a plan: a snapshot of the letters that wait in a group.

use super::discard::check_choice;
use super::facts;
use crate::audit::{Auditor, criteria};
use crate::commit::{Committed, Tries, commit};
use crate::error::OfficeError;
use crate::office::Office;
use crate::payloads::PayloadChecks;
use crate::planning::{self, Criteria, LISTS, Reader, UNNAMED};
use crate::port::{Expect, GroupFacts, Write};
use domain::audit::Act;
use domain::group::{GroupState, Variant};
use domain::id::{Actor, GroupId, LetterId, QueueArn, ReplayId};
use domain::letter::Letter;
use domain::limits::{DRAFTS_MAX, PAGE_MAX, PLAN_BLOCKS_MAX, PLAN_FIFO_LETTERS_MAX, PLAN_LETTERS_MAX};
use domain::replay::{
    BLOCK_ENTRIES, Block, Draft, Entry, LedgerMove, OutcomeKind, Plan, PlanError, PlanOptions, Selected,
    letters_digest, plan_waves, planned, rounds,
};
use domain::time::Span;
use std::collections::{BTreeMap, BTreeSet};
use wire::PlanRequest;

/// Why a letter is left out that the person named, and that neither waits nor is in quarantine.
const NOT_OPEN: &str = "selected but no longer waiting in this group";

/// What became of a request for a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Planned {
    /// The plan waits for approval.
    Plan(Box<Plan>),
    /// The group has many letters, so its plan is being made in steps.
    Draft(Box<Draft>),
}

impl Planned {
    /// Returns the plan; fails if it is still being made.
    pub fn complete(self) -> Result<Plan, OfficeError> {
        match self {
            Self::Plan(plan) => Ok(*plan),
            Self::Draft(_) => Err(drafted()),
        }
    }
}

/// Refuses what needs a plan that is complete.
pub(super) fn drafted() -> OfficeError {
    OfficeError::NotNow("the plan of this group is still being made; approve it once it is complete".into())
}

/// A letter of a plan.
struct Chosen {
    id: LetterId,
    /// Its position in its dead-letter queue, on FIFO queues.
    sequence_number: Option<String>,
    /// Its message group, on FIFO queues.
    message_group: Option<String>,
}

/// Makes a plan of all letters that wait in a group, which are few enough for one request. See [`plan`].
pub async fn make_plan(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    options: &PlanOptions,
) -> Result<Plan, OfficeError> {
    plan(office, actor, id, &PlanRequest { options: options.clone(), ..PlanRequest::default() }).await?.complete()
}

/// Makes a plan for a group whose fix is declared. The plan waits for approval and replaces an earlier one, also one that
/// is being made. If many letters wait, only a part of it is made at once; steps do the rest.
pub async fn plan(office: &Office, actor: &Actor, id: &GroupId, request: &PlanRequest) -> Result<Planned, OfficeError> {
    let PlanRequest { options, letters, filter } = request;
    options.check(&office.policy.replay)?;
    check_choice(letters, filter)?;
    let mut facts = facts(office, id).await?;
    let mut draft = draft(office, actor, &facts, request).await?;
    let waiting = LISTS.map(|list| facts.counts.tally(list).letters.max(0).unsigned_abs()).iter().sum::<u64>();
    let is_named = !letters.is_empty();
    if waiting <= office.planning.in_request || draft.main_queue.is_fifo() || is_named {
        if !is_named && draft.main_queue.is_fifo() && waiting > PLAN_FIFO_LETTERS_MAX {
            return Err(PlanError::TooManyInOrder { letters: waiting }.into());
        }
        let named: BTreeSet<&LetterId> = letters.iter().collect();
        let chosen = if is_named && waiting > office.planning.in_request {
            draft.selected.leave_out(UNNAMED, waiting);
            choose_named(office, &facts.variant, &mut draft, &named).await?
        } else {
            choose(office, &mut draft, &named).await?
        };
        return at_once(office, &facts, &draft, chosen, is_named).await.map(|plan| Planned::Plan(Box::new(plan)));
    }
    let mut tries = Tries::new(format!("group {id}"));
    while !begin(office, &facts.variant, &draft).await? {
        tries.begin()?;
        facts = super::facts(office, id).await?;
        draft = self::draft(office, actor, &facts, request).await?;
    }
    planning::begin(office, &draft.id).await;
    Ok(match office.store.plan(id).await?.filter(|plan| plan.id == draft.id) {
        Some(plan) => Planned::Plan(Box::new(plan)),
        None => Planned::Draft(Box::new(office.store.draft(&draft.id).await?.unwrap_or(draft))),
    })
}

/// Returns a draft without letters.
async fn draft(
    office: &Office,
    actor: &Actor,
    facts: &GroupFacts,
    request: &PlanRequest,
) -> Result<Draft, OfficeError> {
    let group = &facts.variant;
    let GroupState::FixDeclared { fix } = &group.state else {
        return Err(OfficeError::NotNow(match group.state.replay() {
            Some(_) => "this group has an unfinished replay; resume it and wait until it ends, or abort it".into(),
            None => "this group has no fix; declare the fix first".into(),
        }));
    };
    let main_queue = group.main_queue.clone().ok_or_else(|| {
        OfficeError::NotNow("no main queue is known for these letters, or the one that they name is not allowed, so they cannot be sent back".into())
    })?;
    let now = office.now();
    let id = ReplayId::for_plan(&group.id, actor, now);
    if group.drafts.contains(&id) {
        return Err(just_planned());
    }
    Ok(Draft {
        id,
        version: 1,
        group: group.id.clone(),
        fingerprints: std::iter::once(&group.id).chain(&group.merge.members).cloned().collect(),
        window_ms: request.options.window(window(office, &main_queue).await?)?,
        main_queue,
        made_by: actor.clone(),
        made_at: now,
        fix: fix.clone(),
        filter: request.filter.clone(),
        options: request.options.clone(),
        policy: office.policy.replay.clone(),
        list: LISTS.first().copied(),
        after: None,
        read: 0,
        written: 0,
        checked: 0,
        selected: Selected::default(),
        canary: None,
        digest: String::new(),
        run: 0,
        ending: None,
    })
}

fn just_planned() -> OfficeError {
    OfficeError::NotNow("you have just made a plan for this group; review that one".into())
}

/// Reads every open letter of the group, and returns those that go into the plan, in their order.
async fn choose(office: &Office, draft: &mut Draft, named: &BTreeSet<&LetterId>) -> Result<Vec<Chosen>, OfficeError> {
    let (mut chosen, mut named_seen) = (Vec::new(), 0);
    let mut payloads = PayloadChecks::default();
    for list in LISTS {
        let mut reader = Reader::new(&*office.store, draft.fingerprints.iter(), list, None, PAGE_MAX);
        loop {
            let letters = reader.next(PAGE_MAX).await?;
            if letters.is_empty() {
                break;
            }
            named_seen += letters.iter().filter(|letter| named.contains(&letter.id)).count();
            chosen.extend(judge(office, draft, named, &mut payloads, letters).await);
            let letters = chosen.len() as u64;
            if letters > PLAN_LETTERS_MAX {
                return Err(PlanError::TooManyLetters { letters }.into());
            }
        }
    }
    leave_out_missing(draft, named.len() - named_seen.min(named.len()));
    Ok(in_order(chosen))
}

/// Reads the letters that a person named, of a group that has too many to read all of them.
async fn choose_named(
    office: &Office,
    group: &Variant,
    draft: &mut Draft,
    named: &BTreeSet<&LetterId>,
) -> Result<Vec<Chosen>, OfficeError> {
    let ids: Vec<LetterId> = named.iter().map(|id| (*id).clone()).collect();
    let mut letters = Vec::new();
    for ids in ids.chunks(PAGE_MAX) {
        letters.extend(office.store.letters(ids).await?);
    }
    let is_open = |letter: &Letter| LISTS.contains(&letter.state.kind());
    letters
        .retain(|letter| is_open(letter) && (letter.group == group.id || group.merge.members.contains(&letter.group)));
    letters.sort_by(|a, b| (a.sent_at, &a.id).cmp(&(b.sent_at, &b.id)));
    let seen = letters.len();
    if let Some(others) = draft.selected.left_out.get_mut(UNNAMED) {
        *others = others.saturating_sub(seen as u64);
    }
    let chosen = judge(office, draft, named, &mut PayloadChecks::default(), letters).await;
    leave_out_missing(draft, named.len().saturating_sub(seen));
    Ok(in_order(chosen))
}

fn leave_out_missing(draft: &mut Draft, letters: usize) {
    if letters > 0 {
        draft.selected.leave_out(NOT_OPEN, letters as u64);
    }
}

/// Counts letters in the draft, and returns those that go into the plan.
async fn judge(
    office: &Office,
    draft: &mut Draft,
    named: &BTreeSet<&LetterId>,
    payloads: &mut PayloadChecks,
    letters: Vec<Letter>,
) -> Vec<Chosen> {
    let (main_queue, filter, now) = (&draft.main_queue, &draft.filter, draft.made_at);
    let criteria = Criteria { main_queue, filter, named, now, until: None };
    let fifo = main_queue.is_fifo();
    let chosen = criteria.judge(office, payloads, letters, &mut draft.selected).await;
    let chosen = chosen.into_iter().map(|letter| Chosen {
        id: letter.id,
        sequence_number: letter.sequence_number.filter(|_| fifo),
        message_group: letter.content.message_group_id.filter(|_| fifo),
    });
    chosen.collect()
}

/// SQS pads sequence numbers with zeros, so their texts are in order. On standard queues this changes nothing.
fn in_order(mut chosen: Vec<Chosen>) -> Vec<Chosen> {
    chosen.sort_by(|a, b| a.sequence_number.cmp(&b.sequence_number));
    chosen
}

/// Writes the plan of these letters.
async fn at_once(
    office: &Office,
    facts: &GroupFacts,
    draft: &Draft,
    chosen: Vec<Chosen>,
    named: bool,
) -> Result<Plan, OfficeError> {
    let waves = plan_waves(chosen.len() as u64, &draft.policy, &draft.options)?;
    let rounds = rounds(&waves, chosen.iter().map(|letter| letter.message_group.as_deref()));
    let digest = letters_digest(chosen.iter().map(|letter| &letter.id));
    let plan = Plan { named, ..draft.plan(waves, rounds, digest)? };
    write_entries(office, &plan, &chosen).await?;
    let by = Auditor::new(&plan.made_by, &plan.group, plan.made_at).in_replay(&plan.id);
    let audit = by.record(Act::ReplayPlanned, planning::detail(&plan), None);
    let mut tries = Tries::up_to(REPLACE_TRIES_MAX, format!("group {}", plan.group));
    loop {
        tries.begin()?;
        let replaced = planning::current(office, &facts.variant).await?;
        let mut writes = vec![Write::Plan(Box::new(plan.clone())), audit.clone()];
        writes.extend(replaced.iter().map(planning::cancelled));
        if commit(office, writes).await?.is_made() {
            planning::nudge(office, &facts.variant).await;
            return Ok(plan);
        }
    }
}

/// Stores a draft, which replaces the group's plan and its other drafts. Returns false if the group has changed.
async fn begin(office: &Office, group: &Variant, draft: &Draft) -> Result<bool, OfficeError> {
    if group.drafts.len() >= DRAFTS_MAX {
        let busy = "earlier plans of this group are still being removed; try again in a minute";
        return Err(OfficeError::NotNow(busy.into()));
    }
    if !office.store.blocks_at(&draft.id, &[0]).await?.is_empty() {
        return Err(just_planned());
    }
    let mut after = group.moved(group.state.clone());
    after.drafts.push(draft.id.clone());
    let by = Auditor::new(&draft.made_by, &draft.group, draft.made_at).in_replay(&draft.id);
    let mut writes = vec![
        Write::Draft { draft: Box::new(draft.clone()), expect: Expect::Absent },
        Write::Variant { variant: Box::new(after), expect: Expect::Version(group.version) },
        by.record(Act::PlanBegun, criteria(&draft.filter).unwrap_or_default(), None),
    ];
    writes.extend(planning::current(office, group).await?.iter().map(planning::cancelled));
    let waiting = office.store.plan(&group.id).await?;
    writes.extend(waiting.map(|plan| Write::PlanTaken { group: group.id.clone(), plan: plan.id }));
    Ok(commit(office, writes).await?.is_made())
}

/// Cancels the plan that is being made for a group, or dismisses one that failed. Steps remove what it has written.
pub async fn cancel_plan(office: &Office, actor: &Actor, id: &GroupId) -> Result<(), OfficeError> {
    let mut tries = Tries::up_to(REPLACE_TRIES_MAX, format!("group {id}"));
    loop {
        tries.begin()?;
        let group = facts(office, id).await?.variant;
        let drafts = planning::current(office, &group).await?;
        let Some(draft) = drafts.first() else {
            return Err(OfficeError::NotNow(
                "no plan of this group is being made; a complete plan sends nothing unless it is approved".into(),
            ));
        };
        let by = Auditor::new(actor, id, office.now()).in_replay(&draft.id);
        let audit = by.record(Act::PlanCancelled, format!("{} letters read", draft.read), None);
        let writes = drafts.iter().map(planning::cancelled).chain([audit]).collect();
        if commit(office, writes).await?.is_made() {
            planning::nudge(office, &group).await;
            return Ok(());
        }
    }
}

/// How often a draft is replaced or cancelled: its steps write it a few times a second.
const REPLACE_TRIES_MAX: usize = 100;

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
            Entry { message_group: letter.message_group.clone(), ..planned(&plan.id, seq, wave, letter.id.clone()) }
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
            return Err(just_planned());
        }
        // Another commit was writing the same record of the ledger: that passes.
    }
}
