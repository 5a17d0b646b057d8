//! The ledger: how many letters of a replay have each outcome. It balances at every moment: the sum over all outcomes
//! equals the number of letters in the plan. Each move subtracts from one column and adds to another, in the same
//! commit as the entry itself.

use super::entry::{Entry, OutcomeKind};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The columns of one wave. Each number has a list of entries behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WaveLedger {
    /// Not sent yet.
    pub pending: u64,
    /// In doubt: intent written, sending not confirmed.
    pub sending: u64,
    /// Sent, window running.
    pub in_flight: u64,
    /// Confirmed, or not returned within the window.
    pub delivered: u64,
    /// Returned to the dead-letter queue.
    pub returned: u64,
    /// Expired before they were sent.
    pub expired: u64,
    /// Skipped, with a reason.
    pub skipped: u64,
    /// Letters that were sent more than once because an answer was lost (also counted in their column).
    pub sent_twice: u64,
    /// Delivered letters that a receipt confirmed (also counted in that column). For the others, the window ended
    /// without a return.
    pub confirmed: u64,
}

impl WaveLedger {
    /// Returns the number in a column.
    pub fn get(&self, kind: OutcomeKind) -> u64 {
        match kind {
            OutcomeKind::Pending => self.pending,
            OutcomeKind::Sending => self.sending,
            OutcomeKind::InFlight => self.in_flight,
            OutcomeKind::Delivered => self.delivered,
            OutcomeKind::Returned => self.returned,
            OutcomeKind::Expired => self.expired,
            OutcomeKind::Skipped => self.skipped,
        }
    }

    fn column(&mut self, kind: OutcomeKind) -> &mut u64 {
        match kind {
            OutcomeKind::Pending => &mut self.pending,
            OutcomeKind::Sending => &mut self.sending,
            OutcomeKind::InFlight => &mut self.in_flight,
            OutcomeKind::Delivered => &mut self.delivered,
            OutcomeKind::Returned => &mut self.returned,
            OutcomeKind::Expired => &mut self.expired,
            OutcomeKind::Skipped => &mut self.skipped,
        }
    }

    /// Returns the number of all letters of the wave.
    pub fn selected(&self) -> u64 {
        OutcomeKind::ALL.iter().map(|kind| self.get(*kind)).sum()
    }

    /// Returns the number of letters that reached the main queue.
    pub fn sent(&self) -> u64 {
        self.in_flight + self.delivered + self.returned
    }

    /// Adds another wave's columns.
    pub fn add(&mut self, other: &Self) {
        for kind in OutcomeKind::ALL {
            *self.column(kind) += other.get(kind);
        }
        self.sent_twice += other.sent_twice;
        self.confirmed += other.confirmed;
    }
}

/// The ledger of a replay, by wave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Ledger(pub Vec<WaveLedger>);

/// Letters of one wave that move from one column to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerMove {
    /// The wave.
    pub wave: u32,
    /// The column that they leave; `None` while the plan is being written.
    pub from: Option<OutcomeKind>,
    /// The column that they enter.
    pub to: OutcomeKind,
    /// The number of letters.
    pub letters: u64,
    /// The change in letters that may have been sent more than once; negative if the queue reports that the second
    /// send of some did not reach it.
    pub sent_twice: i64,
    /// The change in letters that a receipt confirmed; negative if such letters returned nevertheless.
    #[serde(default)]
    pub confirmed: i64,
}

impl LedgerMove {
    /// Creates a move that changes nothing else.
    pub const fn plain(wave: u32, from: Option<OutcomeKind>, to: OutcomeKind, letters: u64) -> Self {
        Self { wave, from, to, letters, sent_twice: 0, confirmed: 0 }
    }

    /// Creates the move for one entry.
    pub fn between(before: &Entry, after: &Entry) -> Self {
        let was = |is: fn(&Entry) -> bool| i64::from(is(after)) - i64::from(is(before));
        Self {
            sent_twice: was(|entry| entry.sends > 1),
            confirmed: was(|entry| entry.outcome.confirmation().is_some()),
            ..Self::plain(before.wave, Some(before.outcome.kind()), after.outcome.kind(), 1)
        }
    }

    /// Returns the sum of two moves between the same columns of the same wave.
    pub fn combined(self, other: &Self) -> Self {
        Self {
            letters: self.letters + other.letters,
            sent_twice: self.sent_twice + other.sent_twice,
            confirmed: self.confirmed + other.confirmed,
            ..self
        }
    }
}

impl Ledger {
    /// Returns the columns of one wave.
    pub fn wave(&self, wave: u32) -> WaveLedger {
        self.0.get(wave as usize).cloned().unwrap_or_default()
    }

    /// Returns the sums over all waves.
    pub fn total(&self) -> WaveLedger {
        let mut total = WaveLedger::default();
        for wave in &self.0 {
            total.add(wave);
        }
        total
    }

    /// Applies a move. A column never becomes negative: a store that attempts this has lost an entry's condition, and
    /// the sum then shows it.
    pub fn apply(&mut self, change: &LedgerMove) {
        let at = change.wave as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, WaveLedger::default());
        }
        let wave = &mut self.0[at];
        if let Some(from) = change.from {
            let column = wave.column(from);
            *column = column.saturating_sub(change.letters);
        }
        *wave.column(change.to) += change.letters;
        wave.sent_twice = wave.sent_twice.saturating_add_signed(change.sent_twice);
        wave.confirmed = wave.confirmed.saturating_add_signed(change.confirmed);
    }
}
