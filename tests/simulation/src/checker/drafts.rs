//! Plans that are made in steps: each commit adds exactly the letters that match at that moment, and none twice; what a
//! draft without a plan has written is removed.

use super::*;
use domain::letter::LetterStateKind;
use domain::policy::GatePolicy;
use domain::replay::{Block, Draft, Plan, letters_digest};
use domain::time::Span;

/// A letter that was written later may be hidden by a list that lags.
const LAG: Span = Span::from_secs(1);
/// No clock is further ahead unless it jumps.
const SOON: Span = Span::from_mins(1);

/// A draft, and what it has written.
pub(super) struct Drafted {
    draft: Draft,
    letters: Vec<LetterId>,
    waves: Vec<u32>,
    blocks: BTreeSet<u64>,
}

impl Observed {
    /// Checks the drafts of a commit, before its other writes count.
    pub(super) fn drafts(&mut self, writes: &[Write], now: Timestamp) {
        for write in writes {
            match write {
                Write::Draft { draft, expect: Expect::Absent } => {
                    self.note(now, format!("draft {} by {}", draft.id, draft.made_by));
                    let (letters, waves, blocks) = (Vec::new(), Vec::new(), BTreeSet::new());
                    self.drafts.insert(draft.id.clone(), Drafted { draft: (**draft).clone(), letters, waves, blocks });
                }
                Write::Draft { draft, .. } => self.advanced(draft, writes, now),
                Write::DraftGone { draft, .. } => self.gone_draft(draft, writes, now),
                Write::Replay { replay, expect: Expect::Absent } if self.drafts.contains_key(replay.id()) => {
                    self.report(format!("{} was approved before its plan was complete", replay.id()));
                }
                _ => {}
            }
        }
    }

    /// Returns the new entries of a draft's blocks, in their order, with whether the rest of the blocks is as it was.
    fn advanced(&mut self, after: &Draft, writes: &[Write], now: Timestamp) {
        let Some(mut drafted) = self.drafts.remove(&after.id) else {
            return self.report(format!("draft {} was never begun", after.id));
        };
        let blocks: Vec<&Block> = writes.iter().filter_map(|write| block_of(write, &after.id)).collect();
        self.note(now, format!("draft {} read {} written {}", after.id, after.read, after.written));
        let added = self.added(&drafted, &blocks);
        if after.ending.is_some() && !added.is_empty() {
            self.report(format!("draft {} has ended and adds {} letters", after.id, added.len()));
        }
        let expected = self.expected(&drafted.draft, after, now);
        let missing = expected.iter().find(|id| !added.iter().any(|(added, _)| added == *id));
        if let Some(letter) = missing.filter(|_| after.ending.is_none()) {
            self.report(format!("draft {} has read past letter {letter}, and does not have it", after.id));
        }
        for (letter, _) in &added {
            if let Err(why) = self.matches(&drafted.draft, letter) {
                self.report(format!("draft {} has letter {letter}, which {why}", after.id));
            }
            if drafted.letters.contains(letter) {
                self.report(format!("draft {} has letter {letter} twice", after.id));
            }
        }
        drafted.blocks.extend(blocks.iter().map(|block| block.number));
        for write in writes {
            if let Write::BlockGone { replay, number } = write
                && *replay == after.id
            {
                drafted.blocks.remove(number);
            }
        }
        let (letters, waves): (Vec<_>, Vec<_>) = added.into_iter().unzip();
        drafted.letters.extend(letters);
        drafted.waves.extend(waves);
        if after.ending.is_none() && drafted.letters.len() as u64 != after.written {
            self.report(format!(
                "draft {} says {} letters, and has {}",
                after.id,
                after.written,
                drafted.letters.len()
            ));
        }
        drafted.draft = after.clone();
        self.drafts.insert(after.id.clone(), drafted);
    }

    /// Returns the letters that blocks add, with their waves. Everything that was there stays as it was.
    fn added(&mut self, drafted: &Drafted, blocks: &[&Block]) -> Vec<(LetterId, u32)> {
        let mut added = Vec::new();
        for entry in blocks.iter().flat_map(|block| &block.entries) {
            let known = drafted.letters.get(entry.seq as usize);
            let next = (drafted.letters.len() + added.len()) as u64;
            match known {
                Some(known) if *known == entry.letter => {}
                None if entry.seq == next => added.push((entry.letter.clone(), entry.wave)),
                _ => self.report(format!("entry {} of draft {} is not the next one", entry.seq, entry.replay)),
            }
            if entry.outcome != Outcome::Pending || entry.sends != 0 {
                self.report(format!("entry {} of draft {} is not pending", entry.seq, entry.replay));
            }
        }
        added
    }

    /// Whether a letter belongs into a draft now.
    fn matches(&self, draft: &Draft, letter: &LetterId) -> Result<(), &'static str> {
        let letter = self.letters.get(letter).ok_or("was never stored")?;
        let checks = [
            (letter.state.kind() == LetterStateKind::Waiting, "does not wait"),
            (draft.fingerprints.contains(&letter.group), "is of another group"),
            (draft.filter.fits(letter), "does not match the filter"),
            (letter.died_at <= draft.made_at, "died after the draft was begun"),
            (letter.main_queue.as_ref() == Some(&draft.main_queue), "belongs to another queue"),
            (letter.diagnosis.replayability.left_out().is_none(), "cannot be sent"),
            (!letter.is_capped(GatePolicy::default().replays_max), "was replayed too often"),
        ];
        checks.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, why)| Err(why))
    }

    /// Returns the letters that a draft must have added, because it has read past them.
    fn expected(&self, before: &Draft, after: &Draft, now: Timestamp) -> Vec<LetterId> {
        if before.list != Some(LetterStateKind::Waiting) {
            return Vec::new();
        }
        let place = |letter: &Letter| (letter.sent_at, letter.id.clone());
        let is_read = |letter: &Letter| {
            let is_over = after.list != before.list;
            before.after.as_ref().is_none_or(|from| place(letter) > *from)
                && (is_over || after.after.as_ref().is_some_and(|to| place(letter) <= *to))
        };
        let is_shown = |letter: &Letter| self.stored_at.get(&letter.id).is_some_and(|at| at.plus(LAG) <= now);
        let expected = self.letters.values().filter(|letter| {
            is_read(letter)
                && is_shown(letter)
                && !letter.is_expired(now.plus(SOON))
                && self.matches(before, &letter.id).is_ok()
        });
        let expected = expected.map(|letter| letter.id.clone()).collect();
        if self.clock_jumped { Vec::new() } else { expected }
    }

    /// A draft ends in its plan, or with everything removed.
    fn gone_draft(&mut self, id: &ReplayId, writes: &[Write], now: Timestamp) {
        let Some(drafted) = self.drafts.remove(id) else {
            return self.report(format!("draft {id} ends and was never begun"));
        };
        self.note(now, format!("draft {id} ends with {} letters", drafted.letters.len()));
        let plan = writes.iter().find_map(|write| match write {
            Write::Plan(plan) if plan.id == *id => Some(plan),
            _ => None,
        });
        match plan {
            Some(plan) => self.frozen(plan, &drafted),
            None if !drafted.blocks.is_empty() => {
                self.report(format!("draft {id} ends without a plan, and leaves blocks {:?}", drafted.blocks));
            }
            None => self.entries.retain(|key, _| key.0 != *id),
        }
    }

    /// A plan has the letters of its draft, in waves as it says.
    fn frozen(&mut self, plan: &Plan, drafted: &Drafted) {
        self.drafted += 1;
        let waves: Vec<u32> = (0..).zip(&plan.waves).flat_map(|(wave, n)| (0..*n).map(move |_| wave)).collect();
        let is_right = waves == drafted.waves
            && plan.letters.letters == drafted.letters.len() as i64
            && plan.letters_digest == letters_digest(drafted.letters.iter())
            && drafted.draft.list.is_none();
        if !is_right {
            self.report(format!("plan {} is not what its draft was: {:?}, {:?}", plan.id, plan.waves, drafted.waves));
        }
    }
}

fn block_of<'a>(write: &'a Write, draft: &ReplayId) -> Option<&'a Block> {
    match write {
        Write::Block { block, .. } if block.replay == *draft => Some(block),
        _ => None,
    }
}
