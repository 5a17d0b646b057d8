//! A draft: a plan that is made in steps, because its group has more letters than one request can read.
//!
//! Each step reads some letters and writes their entries together with the draft, in one commit on the condition of the
//! draft's version. So whatever happens between two commits, each letter is read once. A draft cannot be approved: it
//! becomes a [`Plan`] when every letter is read ([`Draft::frozen`]).

use super::block::{BLOCK_ENTRIES, Block};
use super::entry::{Entry, Outcome};
use super::ledger::LedgerMove;
use super::plan::{LeftOut, Plan, PlanError, PlanOptions, WaveSizes, cut, digest_with};
use crate::filter::LetterFilter;
use crate::fix::Fix;
use crate::group::Tally;
use crate::id::{Actor, GroupId, LetterId, QueueArn, ReplayId};
use crate::letter::{Letter, LetterStateKind};
use crate::limits::{PLAN_LETTERS_MAX, WAVES_MAX};
use crate::policy::ReplayPolicy;
use crate::time::{Span, Timestamp};
use crate::wrapped::Wrapped;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What is known of the letters of a plan, and of those that are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected {
    /// The letters of the plan.
    pub letters: Tally,
    /// Time of the oldest first send among them.
    pub oldest_sent_at: Option<Timestamp>,
    /// Their message types.
    pub message_types: BTreeSet<Option<String>>,
    /// The number of letters that are left out, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// The number of letters with a payload whose presence could not be checked, by reason.
    pub unchecked: BTreeMap<String, u64>,
    /// The letters of the plan that look like error envelopes.
    #[serde(default, skip_serializing_if = "Wrapped::is_none")]
    pub wrapped: Wrapped,
}

impl Selected {
    /// Counts a letter of the plan.
    pub fn take(&mut self, letter: &Letter) {
        self.letters.include(letter);
        self.wrapped.count(letter.original_at.as_deref());
        if !self.message_types.contains(&letter.diagnosis.message_type) {
            self.message_types.insert(letter.diagnosis.message_type.clone());
        }
        self.oldest_sent_at = self.oldest_sent_at.into_iter().chain([letter.sent_at]).min();
    }

    /// Counts letters that are left out.
    pub fn leave_out(&mut self, reason: impl Into<String>, letters: u64) {
        *self.left_out.entry(reason.into()).or_default() += letters;
    }

    /// Counts a letter whose payload could not be checked.
    pub fn cannot_check(&mut self, reason: &str) {
        *self.unchecked.entry(reason.into()).or_default() += 1;
    }
}

/// The end of a draft that becomes no plan: what it has written is removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftEnding {
    /// Why no plan can be made, for people, who dismiss the draft; `None` if it was cancelled or replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The blocks that are removed so far.
    pub removed: u64,
}

/// A plan that is being made in steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The id of the plan that it becomes.
    pub id: ReplayId,
    /// Increments with each change; conditional writes compare it. 1 for a new draft.
    pub version: u64,
    /// The group.
    pub group: GroupId,
    /// The fingerprints whose letters it reads: those of the group when it was begun.
    pub fingerprints: BTreeSet<GroupId>,
    /// Where the letters are sent.
    pub main_queue: QueueArn,
    /// Who makes it.
    pub made_by: Actor,
    /// When it was begun; also the cut-off: letters that died later are left out.
    pub made_at: Timestamp,
    /// The fix that it is made for.
    pub fix: Fix,
    /// The filter that selects its letters.
    #[serde(default, skip_serializing_if = "LetterFilter::is_none")]
    pub filter: LetterFilter,
    /// The options that the person chose.
    pub options: PlanOptions,
    /// The policy for replays when it was begun: waves, pace and windows follow it.
    pub policy: ReplayPolicy,
    /// How long a sent letter is observed.
    pub window_ms: Span,
    /// The letters that are being read; `None` once all are read.
    pub list: Option<LetterStateKind>,
    /// The last letter that was read of them: the time of its first send, and its id.
    #[serde(default)]
    pub after: Option<(Timestamp, LetterId)>,
    /// The letters read so far.
    pub read: u64,
    /// The letters written so far: the sequence number of the next entry.
    pub written: u64,
    /// The payloads in S3 that were checked so far.
    #[serde(default)]
    pub checked: u64,
    /// What is known of the letters read so far.
    pub selected: Selected,
    /// The size of the first wave, once a letter was written.
    #[serde(default)]
    pub canary: Option<u64>,
    /// The digest of the full blocks written so far (see [`super::letters_digest`]).
    pub digest: String,
    /// The run that works on it, or that worked on it last. A step message of another run does nothing.
    pub run: u64,
    /// Whether and how it ends without a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<DraftEnding>,
}

impl Draft {
    /// Whether people see it: letters are being read, or it failed and nobody has dismissed it.
    pub fn is_current(&self) -> bool {
        self.ending.as_ref().is_none_or(|ending| ending.failed.is_some())
    }

    /// Returns the number of blocks that it has written.
    pub fn blocks(&self) -> u64 {
        self.written.div_ceil(BLOCK_ENTRIES as u64)
    }

    /// Whether the last block has room for more entries.
    pub fn has_tail(&self) -> bool {
        !self.written.is_multiple_of(BLOCK_ENTRIES as u64)
    }

    /// Adds letters to the end of the plan, and returns their blocks. `tail` is the last block, if it has room: it is
    /// written again, in its next version. The other blocks are new.
    ///
    /// The first letters decide the size of the canary: it is never larger than the policy's share of all letters.
    pub fn append(&mut self, tail: Option<Block>, letters: Vec<LetterId>) -> Result<Vec<Block>, PlanError> {
        if letters.is_empty() {
            return Ok(Vec::new());
        }
        let count = letters.len() as u64;
        let total = self.written + count;
        if total > PLAN_LETTERS_MAX {
            return Err(PlanError::TooManyLetters { letters: total });
        }
        let canary = match self.canary {
            Some(canary) => canary,
            None => WaveSizes::new(count, &self.policy, &self.options)?.first(),
        };
        self.canary = Some(canary);
        let mut waves = WaveSizes::with_canary(canary, &self.policy, &self.options)?.waves_from(self.written);
        let mut entries = Vec::with_capacity(letters.len());
        for (seq, letter) in (self.written..).zip(letters) {
            let wave = waves.next().unwrap_or(u32::MAX);
            if wave as usize >= WAVES_MAX {
                return Err(PlanError::TooManyWaves);
            }
            entries.push(planned(&self.id, seq, wave, letter));
        }
        let mut entries = entries.into_iter();
        let mut blocks = Vec::new();
        if let Some(mut block) = tail {
            block.version += 1;
            let room = BLOCK_ENTRIES.saturating_sub(block.entries.len());
            block.entries.extend(entries.by_ref().take(room));
            blocks.push(block);
        }
        blocks.append(&mut Block::planned(&self.id, entries.collect()));
        for block in blocks.iter().filter(|block| block.entries.len() == BLOCK_ENTRIES) {
            self.digest = digest_with(&self.digest, block.entries.iter().map(|entry| &entry.letter));
        }
        self.written = total;
        Ok(blocks)
    }

    /// Returns the plan, once every letter is read. `tail` is the last block, if it has room.
    pub fn frozen(&self, tail: Option<&Block>) -> Result<Plan, PlanError> {
        let canary = self.canary.ok_or(PlanError::NoLetters)?;
        let waves = cut(WaveSizes::with_canary(canary, &self.policy, &self.options)?, self.written)?;
        let digest = match tail {
            Some(block) => digest_with(&self.digest, block.entries.iter().map(|entry| &entry.letter)),
            None => self.digest.clone(),
        };
        // Letters of standard queues have no order: each wave has one window.
        let rounds = waves.len() as u64;
        self.plan(waves, rounds, digest)
    }

    /// Returns the plan with these waves.
    pub fn plan(&self, waves: Vec<u64>, rounds: u64, letters_digest: String) -> Result<Plan, PlanError> {
        let (policy, options, selected) = (&self.policy, &self.options, self.selected.clone());
        let (pace_per_s, pause_share_pct) = options.pace_and_share(policy)?;
        let rows = |counts: BTreeMap<String, u64>| {
            counts.into_iter().map(|(reason, letters)| LeftOut { reason, letters }).collect()
        };
        Ok(Plan {
            id: self.id.clone(),
            group: self.group.clone(),
            main_queue: self.main_queue.clone(),
            made_by: self.made_by.clone(),
            made_at: self.made_at,
            fix: self.fix.clone(),
            filter: self.filter.clone(),
            named: false,
            letters: selected.letters,
            message_types: selected.message_types.into_iter().collect(),
            letters_digest,
            oldest_sent_at: selected.oldest_sent_at,
            left_out: rows(selected.left_out),
            unchecked: rows(selected.unchecked),
            wrapped: selected.wrapped,
            waves,
            rounds,
            pace_per_s,
            pause_share_pct,
            canary_pause_share_pct: Some(options.canary_share(policy)?),
            sample_letters_min: policy.sample_letters_min,
            window_ms: self.window_ms,
            slack_ms: policy.window_slack_ms,
            backlog_ms_max: policy.backlog_ms_max,
            wave_delay_ms: policy.wave_delay_ms,
            wave_delay_ms_max: policy.wave_delay_ms_max,
        })
    }
}

/// Returns the entry of a letter in a plan that is not approved.
pub fn planned(replay: &ReplayId, seq: u64, wave: u32, letter: LetterId) -> Entry {
    Entry {
        replay: replay.clone(),
        seq,
        letter,
        wave,
        outcome: Outcome::Pending,
        sends: 0,
        answers: 0,
        sent_as: None,
        message_group: None,
        changed_by: None,
    }
}

/// Returns the moves of the ledger that count every letter of a new plan.
pub fn first_moves(waves: &[u64]) -> Vec<LedgerMove> {
    let kind = super::OutcomeKind::Pending;
    (0..).zip(waves).map(|(wave, letters)| LedgerMove::plain(wave, None, kind, *letters)).collect()
}
