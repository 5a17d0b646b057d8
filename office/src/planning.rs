//! Plans that are made in steps, because their group has more letters than one request can read.
//!
//! The draft is stored, and each step reads from where it stands. A commit writes blocks of entries together with the
//! draft, on the condition of the draft's version. So of two steps at once, one is refused and ends; and after a crash
//! the next one goes on where the last commit ended. No letter is added twice, and none is left behind.
//!
//! A step message names the run that it continues, and the first commit of a run takes the next number. So a message that
//! comes twice does nothing, and a nudge ends the steps that it overtakes. Sweep nudges every draft.

mod reading;

pub(crate) use reading::{Criteria, LISTS, Reader, UNNAMED};

use crate::audit::{self, Auditor};
use crate::commit::{Tries, commit};
use crate::error::OfficeError;
use crate::office::{Office, StepMessage};
use crate::payloads::PayloadChecks;
use crate::port::{Expect, Write};
use domain::audit::Act;
use domain::group::{GroupState, Variant};
use domain::id::ReplayId;
use domain::limits::{DRAFT_TOGETHER_MAX, LEASE_MS, PAGE_MAX};
use domain::replay::{BLOCK_ENTRIES, Block, Draft, DraftEnding, Plan, PlanError, first_moves};
use domain::time::Span;
use std::collections::BTreeSet;

/// How long a run starts new work, as with replays: a quarter of the function's timeout.
const RUN: Span = Span::from_ms(LEASE_MS / 2);
/// Letters that one commit reads at most: where few match the filter, their number and not that of the entries ends it.
const READ_TOGETHER_MAX: u64 = 10_000;

/// Handles a step message of a draft: does what one run may, and schedules the next.
pub(crate) async fn handle(office: &Office, message: &StepMessage) -> Result<(), OfficeError> {
    let of_run = (!message.nudge).then_some(message.chain);
    match run(office, &message.replay, of_run, office.planning.in_step).await? {
        Some(run) => go_on(office, &message.replay, run).await,
        None => Ok(()),
    }
}

/// Schedules the step after a run.
async fn go_on(office: &Office, id: &ReplayId, run: u64) -> Result<(), OfficeError> {
    office.schedule(&StepMessage { replay: id.clone(), nudge: false, chain: run }, office.now()).await
}

/// Does the first part of a draft within the request that began it. A failure is only logged: the steps go on.
pub(crate) async fn begin(office: &Office, id: &ReplayId) {
    let begun = match run(office, id, None, 1).await {
        Ok(Some(run)) => go_on(office, id, run).await,
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = begun {
        let error = crate::error::chain(&error);
        tracing::warn!(draft = %id, error, "a plan was begun, and its first step failed; the next sweep continues");
    }
}

/// Does what can be done for a draft until so many letters are read. Returns the number of the run if more is left, and
/// `None` if nothing is, or if another process is at work. `of_run` is the run that is to be continued.
async fn run(office: &Office, id: &ReplayId, of_run: Option<u64>, letters: u64) -> Result<Option<u64>, OfficeError> {
    let Some(draft) = office.store.draft(id).await? else { return Ok(None) };
    if of_run.is_some_and(|run| run != draft.run) {
        return Ok(None);
    }
    let until = office.now().plus(RUN);
    let (payloads, run) = (PayloadChecks::after(draft.checked), draft.run + 1);
    let mut work = Work { office, run, draft, tail: None, reader: None, payloads, done: 0 };
    loop {
        let did = match (&work.draft.ending, work.draft.list) {
            (Some(_), _) => work.remove().await?,
            (None, Some(_)) => work.read().await?,
            (None, None) => work.freeze().await?,
        };
        match did {
            Did::Some if work.done >= letters || office.now() >= until => return Ok(Some(run)),
            Did::Some => {}
            Did::All | Did::Lost => return Ok(None),
        }
    }
}

/// The result of one commit of a run.
enum Did {
    /// More is left.
    Some,
    /// Nothing is left.
    All,
    /// Another process has changed the draft.
    Lost,
}

/// A run.
struct Work<'a> {
    office: &'a Office,
    run: u64,
    draft: Draft,
    /// The last block, if it has room and was read or written by this run.
    tail: Option<Block>,
    reader: Option<Reader<'a>>,
    payloads: PayloadChecks,
    /// The letters read, or removed, by this run.
    done: u64,
}

impl Work<'_> {
    /// Returns the draft in its next version.
    fn next(&self) -> Draft {
        Draft { version: self.draft.version + 1, run: self.run, ..self.draft.clone() }
    }

    fn put(&self, next: &Draft) -> Write {
        Write::Draft { draft: Box::new(next.clone()), expect: Expect::Version(self.draft.version) }
    }

    /// Commits the next version of the draft, with other writes.
    async fn advance(&mut self, next: Draft, mut writes: Vec<Write>) -> Result<Did, OfficeError> {
        writes.push(self.put(&next));
        if !commit(self.office, writes).await?.is_made() {
            return Ok(Did::Lost);
        }
        self.draft = next;
        Ok(Did::Some)
    }

    /// Reads some letters, and writes the entries of those that go into the plan.
    async fn read(&mut self) -> Result<Did, OfficeError> {
        let Some(list) = self.draft.list else { return Ok(Did::Some) };
        if self.group().await?.is_none() {
            return self.end(None).await;
        }
        let (office, mut next) = (self.office, self.next());
        let named = BTreeSet::new();
        let criteria = Criteria {
            main_queue: &self.draft.main_queue,
            filter: &self.draft.filter,
            named: &named,
            now: office.now(),
            until: Some(self.draft.made_at),
        };
        let together = office.planning.together.clamp(1, DRAFT_TOGETHER_MAX);
        let (draft, page) = (&self.draft, together.min(PAGE_MAX));
        let start = || Reader::new(&*office.store, draft.fingerprints.iter(), list, draft.after.as_ref(), page);
        let mut reader = self.reader.take().unwrap_or_else(start);
        let (mut chosen, mut read) = (Vec::new(), 0);
        while chosen.len() < together && read < READ_TOGETHER_MAX {
            let letters = reader.next(page.min(together - chosen.len())).await?;
            let Some(last) = letters.last() else {
                next.list = LISTS.into_iter().skip_while(|other| *other != list).nth(1);
                next.after = None;
                break;
            };
            next.after = Some((last.sent_at, last.id.clone()));
            read += letters.len() as u64;
            let letters = criteria.judge(office, &mut self.payloads, letters, &mut next.selected).await;
            chosen.extend(letters.into_iter().map(|letter| letter.id));
        }
        next.read += read;
        next.checked = self.payloads.count();
        let tail = self.tail().await?;
        let blocks = match next.append(tail, chosen) {
            Ok(blocks) => blocks,
            Err(error) => return self.end(Some(error)).await,
        };
        // Where nothing was added, the last block stays what it is.
        let last = blocks.last().cloned();
        let did = self.advance(next, blocks.into_iter().map(new_block).collect()).await?;
        self.tail = last.or(self.tail.take()).filter(|_| self.draft.has_tail());
        self.reader = Some(reader).filter(|_| self.draft.list == Some(list));
        self.done += read.max(1);
        Ok(did)
    }

    /// Returns the last block, if it has room.
    async fn tail(&mut self) -> Result<Option<Block>, OfficeError> {
        if self.tail.is_none() && self.draft.has_tail() {
            let number = Block::number_of(self.draft.written);
            self.tail = self.office.store.blocks_at(&self.draft.id, &[number]).await?.pop();
        }
        Ok(self.tail.clone())
    }

    /// Reads the group. Returns `None` if its fix is no longer the one that the draft is for.
    async fn group(&self) -> Result<Option<Variant>, OfficeError> {
        let group = self.office.store.group(&self.draft.group).await?;
        let is_meant =
            |group: &Variant| matches!(&group.state, GroupState::FixDeclared { fix } if *fix == self.draft.fix);
        Ok(group.filter(is_meant))
    }

    /// Turns the draft into the plan, in one commit.
    async fn freeze(&mut self) -> Result<Did, OfficeError> {
        let mut tries = Tries::new(format!("group {}", self.draft.group));
        loop {
            tries.begin()?;
            let Some(group) = self.group().await? else { return self.end(None).await };
            let tail = self.tail().await?;
            let plan = match self.draft.frozen(tail.as_ref()) {
                Ok(plan) => plan,
                Err(error) => return self.end(Some(error)).await,
            };
            let by = Auditor::new(&plan.made_by, &plan.group, self.office.now()).in_replay(&plan.id);
            let writes = vec![
                Write::Ledger { replay: plan.id.clone(), moves: first_moves(&plan.waves) },
                by.record(Act::ReplayPlanned, detail(&plan), None),
                Write::Plan(Box::new(plan)),
                Write::DraftGone { draft: self.draft.id.clone(), version: self.draft.version },
                without(&group, &self.draft.id),
            ];
            if commit(self.office, writes).await?.is_made() {
                return Ok(Did::All);
            }
            if !self.is_mine().await? {
                return Ok(Did::Lost);
            }
        }
    }

    /// Ends the draft without a plan: for an error, or because its fix is no longer declared.
    async fn end(&mut self, error: Option<PlanError>) -> Result<Did, OfficeError> {
        let failed = error.map(|error| error.to_string());
        let detail = failed.clone().unwrap_or_else(|| "The fix of this plan is no longer declared".into());
        let next = Draft { ending: Some(DraftEnding { failed, removed: 0 }), ..self.next() };
        let by = Auditor::office(&self.draft.group, self.office.now()).in_replay(&self.draft.id);
        self.advance(next, vec![by.record(Act::PlanFailed, detail, None)]).await
    }

    /// Removes some of what the draft has written, and then the draft itself. One that has failed stays for people.
    async fn remove(&mut self) -> Result<Did, OfficeError> {
        let Some(ending) = self.draft.ending.clone() else { return Ok(Did::Some) };
        let together = self.office.planning.together.clamp(1, DRAFT_TOGETHER_MAX).div_ceil(BLOCK_ENTRIES) as u64;
        let until = self.draft.blocks().min(ending.removed + together);
        if ending.removed < until {
            let gone = |number| Write::BlockGone { replay: self.draft.id.clone(), number };
            let writes = (ending.removed..until).map(gone).collect();
            self.done += (until - ending.removed) * BLOCK_ENTRIES as u64;
            let next = Draft { ending: Some(DraftEnding { removed: until, ..ending }), ..self.next() };
            return self.advance(next, writes).await;
        }
        if ending.failed.is_some() {
            return Ok(Did::All);
        }
        let mut tries = Tries::new(format!("group {}", self.draft.group));
        loop {
            tries.begin()?;
            let group = self.office.store.group(&self.draft.group).await?;
            let mut writes = vec![Write::DraftGone { draft: self.draft.id.clone(), version: self.draft.version }];
            writes.extend(group.map(|group| without(&group, &self.draft.id)));
            if commit(self.office, writes).await?.is_made() {
                return Ok(Did::All);
            }
            if !self.is_mine().await? {
                return Ok(Did::Lost);
            }
        }
    }

    /// Whether the draft is still as this run has read or written it.
    async fn is_mine(&self) -> Result<bool, OfficeError> {
        let stored = self.office.store.draft(&self.draft.id).await?;
        Ok(stored.is_some_and(|stored| stored.version == self.draft.version))
    }
}

/// Returns the write of a block that a draft adds to, or of a new one.
fn new_block(block: Block) -> Write {
    match block.version {
        1 => Write::Block { block: Box::new(block), expect: Expect::Absent },
        _ => Write::next_block(block),
    }
}

/// Returns the write of a group that no longer names a draft.
fn without(group: &Variant, draft: &ReplayId) -> Write {
    let mut after = group.moved(group.state.clone());
    after.drafts.retain(|other| other != draft);
    Write::Variant { variant: Box::new(after), expect: Expect::Version(group.version) }
}

/// Returns the drafts of a group that people see. There is at most one, but for moments.
pub(crate) async fn current(office: &Office, group: &Variant) -> Result<Vec<Draft>, OfficeError> {
    let mut drafts = Vec::new();
    for id in &group.drafts {
        drafts.extend(office.store.draft(id).await?.filter(Draft::is_current));
    }
    Ok(drafts)
}

/// Returns the write that cancels a draft.
pub(crate) fn cancelled(draft: &Draft) -> Write {
    let removed = draft.ending.as_ref().map_or(0, |ending| ending.removed);
    let ending = Some(DraftEnding { failed: None, removed });
    let next = Draft { version: draft.version + 1, ending, ..draft.clone() };
    Write::Draft { draft: Box::new(next), expect: Expect::Version(draft.version) }
}

/// Nudges the drafts of a group, for a sweep: a step may have been lost.
pub(crate) async fn nudge(office: &Office, group: &Variant) {
    for draft in &group.drafts {
        office.nudge(draft).await;
    }
}

/// Returns what a plan includes, for the audit log.
pub(crate) fn detail(plan: &Plan) -> String {
    let which = match (plan.named, audit::criteria(&plan.filter)) {
        (true, _) => " (named one by one)".to_owned(),
        (false, None) => String::new(),
        (false, Some(criteria)) => format!(" ({criteria})"),
    };
    format!("{} letters{which} in {} waves", plan.letters.letters, plan.waves.len())
}
