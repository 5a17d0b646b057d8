//! The ledger: how many letters of a replay are where. It closes at every moment: the sum over all outcomes is
//! what the plan selected, because an entry's move takes one from a column and puts one into another, in the same
//! commit as the entry itself.

use super::entry::{Entry, OutcomeKind};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The columns of one wave. Each number is a list of entries that can be asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WaveLedger {
    /// Not sent yet.
    pub pending: u64,
    /// Intent written, sending not confirmed.
    pub sending: u64,
    /// Sent, window running.
    pub in_flight: u64,
    /// Confirmed or not returned.
    pub delivered: u64,
    /// Came back.
    pub returned: u64,
    /// Past their deadline before they were sent.
    pub expired: u64,
    /// Not sent, with a reason.
    pub skipped: u64,
    /// Letters that were sent more than once because an answer was lost (also counted in their column).
    pub sent_twice: u64,
    /// Delivered letters that their consumer's receipt confirmed (also counted in that column); the others were judged
    /// by their window.
    pub confirmed: u64,
}

impl WaveLedger {
    /// The number in a column.
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

    /// All letters of the wave.
    pub fn selected(&self) -> u64 {
        OutcomeKind::ALL.iter().map(|kind| self.get(*kind)).sum()
    }

    /// Letters that reached the main queue.
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
    /// The column they leave; none when the plan is being written.
    pub from: Option<OutcomeKind>,
    /// The column they enter.
    pub to: OutcomeKind,
    /// How many.
    pub letters: u64,
    /// How many more of them may now have been sent more than once; negative when the queue has said that the second
    /// send of some did not reach it.
    pub sent_twice: i64,
    /// How many more of them a receipt has confirmed; negative when such letters came back all the same.
    #[serde(default)]
    pub confirmed: i64,
}

impl LedgerMove {
    /// So many letters move, and nothing else changes.
    pub const fn plain(wave: u32, from: Option<OutcomeKind>, to: OutcomeKind, letters: u64) -> Self {
        Self { wave, from, to, letters, sent_twice: 0, confirmed: 0 }
    }

    /// The move of one entry.
    pub fn of(before: &Entry, after: &Entry) -> Self {
        let was = |is: fn(&Entry) -> bool| i64::from(is(after)) - i64::from(is(before));
        Self {
            sent_twice: was(|entry| entry.sends > 1),
            confirmed: was(|entry| entry.outcome.confirmation().is_some()),
            ..Self::plain(before.wave, Some(before.outcome.kind()), after.outcome.kind(), 1)
        }
    }

    /// With another move between the same columns of the same wave.
    pub fn joined(self, other: &Self) -> Self {
        Self {
            letters: self.letters + other.letters,
            sent_twice: self.sent_twice + other.sent_twice,
            confirmed: self.confirmed + other.confirmed,
            ..self
        }
    }
}

impl Ledger {
    /// The columns of one wave.
    pub fn wave(&self, wave: u32) -> WaveLedger {
        self.0.get(wave as usize).cloned().unwrap_or_default()
    }

    /// The sums over all waves.
    pub fn total(&self) -> WaveLedger {
        let mut total = WaveLedger::default();
        for wave in &self.0 {
            total.add(wave);
        }
        total
    }

    /// Does a move. A column never goes below zero: a store that would ask for that has lost an entry's condition,
    /// and the sum then shows it.
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
