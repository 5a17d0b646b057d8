//! A discard of a filter or of a whole group, or the undoing of one; and how discards close a group. It is stored with the group and done in bounded
//! steps, so that any process can go on after a crash.

use super::{GroupCounts, GroupState, Tally, Variant};
use crate::discard::Discard;
use crate::filter::LetterFilter;
use crate::id::Actor;
use crate::letter::{Letter, LetterState, LetterStateKind};
use crate::money::amount;
use crate::tagged::need;
use crate::text::grouped;
use crate::time::Timestamp;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// What is to be done with the letters of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "task")]
pub enum DiscardTask {
    /// Discard the letters that a person saw in a preview.
    Discard {
        /// The decision.
        discard: Box<Discard>,
        /// The letters; empty for all of the group.
        filter: LetterFilter,
        /// When the person saw them. Letters that died or arrived later are not discarded.
        seen_at: Timestamp,
        /// The letters discarded so far.
        done: Tally,
    },
    /// Take discarded letters back.
    Undo {
        /// Who decided it.
        by: Actor,
        /// When. Letters that are discarded later stay discarded.
        at: Timestamp,
        /// Why.
        reason: String,
        /// Only the letters of the decision of this time; `None` for all.
        only: Option<Timestamp>,
        /// The letters; empty for all of the group.
        filter: LetterFilter,
        /// The letters taken back so far.
        done: Tally,
    },
}

/// The fields that any task may carry.
#[derive(Deserialize)]
struct Carried {
    task: String,
    discard: Option<Box<Discard>>,
    by: Option<Actor>,
    at: Option<Timestamp>,
    reason: Option<String>,
    only: Option<Timestamp>,
    filter: LetterFilter,
    seen_at: Option<Timestamp>,
    done: Tally,
}

impl<'de> Deserialize<'de> for DiscardTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Carried { task, discard, by, at, reason, only, filter, seen_at, done } =
            Carried::deserialize(deserializer)?;
        Ok(match task.as_str() {
            "discard" => {
                Self::Discard { discard: need(discard, "discard")?, filter, seen_at: need(seen_at, "seen_at")?, done }
            }
            "undo" => {
                let reason = need(reason, "reason")?;
                Self::Undo { by: need(by, "by")?, at: need(at, "at")?, reason, only, filter, done }
            }
            other => return Err(D::Error::unknown_variant(other, &[])),
        })
    }
}

/// How far a task is, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Progress {
    /// Whether letters are taken back, and not discarded.
    pub undo: bool,
    /// Who decided it.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// The letters that are done.
    pub done: Tally,
}

impl DiscardTask {
    /// Returns the states of the letters that the task changes.
    pub fn states(&self) -> &'static [LetterStateKind] {
        match self {
            Self::Discard { .. } => &[LetterStateKind::Waiting, LetterStateKind::Quarantined],
            Self::Undo { .. } => &[LetterStateKind::Discarded],
        }
    }

    /// Returns a letter as the task leaves it; `None` if it does not concern this letter.
    pub fn applied(&self, letter: &Letter) -> Option<Letter> {
        match self {
            Self::Discard { discard, filter, seen_at, .. } => {
                let was_seen = letter.died_at <= *seen_at && letter.kept_at <= *seen_at;
                (was_seen && filter.fits(letter)).then(|| letter.discarded(discard).ok()).flatten()
            }
            Self::Undo { at, only, filter, .. } => {
                let LetterState::Discarded { discard } = &letter.state else { return None };
                let is_meant = discard.at <= *at && only.is_none_or(|only| discard.at == only);
                (is_meant && filter.fits(letter)).then(|| letter.taken_back()).flatten()
            }
        }
    }

    /// Returns the task after some more letters.
    #[must_use]
    pub fn after(&self, letters: &Tally) -> Self {
        let mut after = self.clone();
        match &mut after {
            Self::Discard { done, .. } | Self::Undo { done, .. } => done.add(letters),
        }
        after
    }

    /// Returns the letters that are done.
    pub fn done(&self) -> &Tally {
        match self {
            Self::Discard { done, .. } | Self::Undo { done, .. } => done,
        }
    }

    /// Returns who decided it.
    pub fn by(&self) -> &Actor {
        match self {
            Self::Discard { discard, .. } => &discard.by,
            Self::Undo { by, .. } => by,
        }
    }

    /// Returns why, in the person's words.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Discard { discard, .. } => Some(discard.words()),
            Self::Undo { reason, .. } => Some(reason.clone()),
        }
    }

    /// Returns how far it is.
    pub fn progress(&self) -> Progress {
        let (undo, at) = match self {
            Self::Discard { discard, .. } => (false, discard.at),
            Self::Undo { at, .. } => (true, *at),
        };
        Progress { undo, by: self.by().clone(), at, done: self.done().clone() }
    }

    /// Returns what the task has done, in one sentence for the audit log.
    pub fn words(&self) -> String {
        let letters = words(self.done());
        match self {
            Self::Discard { .. } => format!("{letters} discarded"),
            Self::Undo { .. } => format!("{letters} taken back"),
        }
    }
}

impl Variant {
    /// Returns the variant after discarded letters were taken back, if it was closed: they wait, and can be replayed
    /// with the fix that resolved it.
    pub fn after_undo(&self) -> Option<Self> {
        Some(self.moved(match &self.state {
            GroupState::Resolved { fix, .. } => GroupState::FixDeclared { fix: fix.clone() },
            GroupState::Discarded { .. } => GroupState::Open,
            _ => return None,
        }))
    }

    /// Returns the state after the last open letter was closed, where discarding closed some of the group's letters.
    /// `None` if letters are open, if nothing was discarded, or if the group is in a replay, resolved or closed already.
    pub fn closed(&self, counts: &GroupCounts, now: Timestamp) -> Option<Self> {
        let is_idle =
            matches!(self.state, GroupState::Open | GroupState::FixDeclared { .. } | GroupState::Regressed { .. });
        let is_empty = counts.open().letters == 0 && counts.tally(LetterStateKind::Discarded).letters > 0;
        let is_done = is_idle && is_empty && self.discarding.is_none() && self.merge.into.is_none();
        is_done.then(|| self.moved(GroupState::Discarded { at: now }))
    }
}

/// Returns a number of letters and their money, per currency: `18 letters, €240.50 and $12.00`.
pub fn words(tally: &Tally) -> String {
    let mut words = if tally.letters == 1 {
        "1 letter".to_string()
    } else {
        format!("{} letters", grouped(&tally.letters.to_string()))
    };
    for (at, sum) in tally.money.sums().iter().enumerate() {
        let joint = if at == 0 { ", " } else { " and " };
        words.push_str(joint);
        words.push_str(&amount(sum).text());
    }
    words
}
