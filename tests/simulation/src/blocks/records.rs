//! The stored records, and the writes to them.

use super::actor::At;
use super::{Blocks, Mutation};

pub(super) const LETTERS_MAX: usize = 3;
const LATE_MAX: usize = 2;

/// A set of letters of the block: one bit each.
pub(super) type Letters = u8;

/// The letters of a set.
pub(super) fn each(letters: Letters) -> impl Iterator<Item = usize> {
    (0..8).filter(move |at| letters & 1 << at != 0)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Outcome {
    #[default]
    Pending,
    Sending,
    Sent,
    Delivered,
    Returned,
    Skipped,
}

impl Outcome {
    /// Its column of the ledger. Sending and sent are one, on its way.
    fn column(self) -> usize {
        match self {
            Self::Pending => 0,
            Self::Sending | Self::Sent => 1,
            Self::Delivered => 2,
            Self::Returned => 3,
            Self::Skipped => 4,
        }
    }

    pub(super) fn is_closed(self) -> bool {
        matches!(self, Self::Delivered | Self::Returned | Self::Skipped)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Entry {
    pub outcome: Outcome,
    /// Counts the intents, and so names the latest.
    pub sends: u8,
}

pub(super) type Block = [Entry; LETTERS_MAX];

/// A block as it was read, and whether it is still stored like that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Read {
    pub block: Block,
    pub is_current: bool,
}

impl Read {
    /// Of an outdated block, keeps which entries are closed and which are delivered. No letter of it can be sent.
    pub(super) fn reduce(&mut self) {
        if !self.is_current {
            for entry in &mut self.block {
                let outcome = match entry.outcome {
                    Outcome::Delivered => Outcome::Delivered,
                    Outcome::Returned | Outcome::Skipped => Outcome::Skipped,
                    Outcome::Pending | Outcome::Sending | Outcome::Sent => Outcome::Pending,
                };
                *entry = Entry { outcome, sends: u8::MAX };
            }
        }
    }
}

/// The replay's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Fence {
    Running,
    Paused,
    Aborting,
    Finished,
}

/// The replay's record as it was read, and whether it is still stored like that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Seen {
    pub fence: Fence,
    pub is_current: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Letter {
    /// Whether its version is no longer the one in its entry.
    pub has_changed: bool,
    pub is_delivered: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Messages {
    /// The intents under which the letter was really sent: one bit each.
    pub sent: u8,
    /// Real messages of which nothing has been heard. One that is consumed without a receipt stays here: the office
    /// cannot tell.
    pub waiting: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ledger {
    columns: [i8; 5],
    sent_twice: i8,
}

impl Ledger {
    /// Moves the letters whose entries change.
    pub(super) fn apply(&mut self, from: &Block, to: &Block) {
        for (from, to) in from.iter().zip(to) {
            self.columns[from.outcome.column()] -= 1;
            self.columns[to.outcome.column()] += 1;
            self.sent_twice += i8::from(to.sends > 1) - i8::from(from.sends > 1);
        }
    }
}

/// A write of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Write {
    Intent { seen: Seen, read: Read, letters: Letters },
    Answers { read: Read, intents: Intents },
    Settle { read: Read, letters: Letters, to: Outcome },
    Project { letter: usize, is_current: bool },
    Finish { seen: Seen },
}

/// By letter, the number of sends that the intent wrote; 0 if it was not part of it.
pub(super) type Intents = [u8; LETTERS_MAX];

/// A state of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub fence: Fence,
    pub block: Block,
    pub ledger: Ledger,
    pub letters: [Letter; LETTERS_MAX],
    pub messages: [Messages; LETTERS_MAX],
    /// Sorted: who is who does not matter.
    pub executors: Vec<At>,
    /// Sorted.
    pub late: [Option<Write>; LATE_MAX],
    /// Letters whose return was written by half.
    pub owed: Letters,
    pub intended_while_paused: bool,
}

impl State {
    pub(super) fn new(model: &Blocks) -> Self {
        let mut state = Self {
            fence: Fence::Running,
            block: Block::default(),
            ledger: Ledger::default(),
            letters: Default::default(),
            messages: Default::default(),
            executors: vec![At::Idle; model.scope.executors],
            late: [None; LATE_MAX],
            owed: 0,
            intended_while_paused: false,
        };
        state.ledger = state.count();
        state
    }

    /// The ledger that the block adds up to.
    pub(super) fn count(&self) -> Ledger {
        let mut ledger = Ledger::default();
        for entry in &self.block {
            ledger.columns[entry.outcome.column()] += 1;
            ledger.sent_twice += i8::from(entry.sends > 1);
        }
        ledger
    }

    /// Whether nothing is left to do for this letter.
    pub(super) fn is_projected(&self, at: usize) -> bool {
        let outcome = self.block[at].outcome;
        outcome.is_closed() && (outcome != Outcome::Delivered || self.letters[at].is_delivered)
    }

    /// Writes the replay's record.
    pub(super) fn set_fence(&mut self, fence: Fence) {
        self.fence = fence;
        let executors = self.executors.iter_mut().filter_map(At::seen_mut);
        let late = self.late.iter_mut().flatten().filter_map(|write| match write {
            Write::Intent { seen, .. } | Write::Finish { seen } => Some(seen),
            _ => None,
        });
        executors.chain(late).for_each(|seen| seen.is_current = false);
    }

    /// Writes the block, and moves the letters in the ledger from the columns in which the writer believes them.
    pub(super) fn put_block(&mut self, block: Block, believed: &Block) {
        self.ledger.apply(believed, &block);
        self.put_block_alone(block);
    }

    /// Writes the block without the ledger.
    pub(super) fn put_block_alone(&mut self, block: Block) {
        self.block = block;
        let executors = self.executors.iter_mut().filter_map(At::read_mut);
        let late = self.late.iter_mut().flatten().filter_map(|write| match write {
            Write::Intent { read, .. } | Write::Answers { read, .. } | Write::Settle { read, .. } => Some(read),
            _ => None,
        });
        executors.chain(late).for_each(|read| read.is_current = false);
    }

    /// Writes a return: the entry, the ledger and the letter.
    pub(super) fn bring_back(&mut self, model: &Blocks, at: usize) {
        self.messages[at].waiting -= 1;
        if self.block[at].outcome != Outcome::Returned {
            let mut block = self.block;
            block[at].outcome = Outcome::Returned;
            self.put_block(block, &self.block.clone());
        }
        if model.lacks(Mutation::ReturnInTwoWrites) {
            self.owed |= 1 << at;
        } else {
            self.reopen(model, at);
        }
    }

    /// The letter waits again.
    pub(super) fn reopen(&mut self, model: &Blocks, at: usize) {
        self.owed &= !(1 << at);
        self.letters[at].is_delivered = false;
        if !model.lacks(Mutation::ReturnKeepsTheVersion) {
            self.raise_version(at);
        }
    }

    /// Writes a letter.
    pub(super) fn raise_version(&mut self, at: usize) {
        self.letters[at].has_changed = true;
        self.executors.iter_mut().for_each(|executor| executor.letter_changed(at));
        for write in self.late.iter_mut().flatten() {
            if let Write::Project { letter, is_current } = write {
                *is_current &= *letter != at;
            }
        }
    }

    /// Makes a write if its conditions hold. Returns whether they did.
    pub(super) fn apply(&mut self, model: &Blocks, write: Write) -> bool {
        match write {
            Write::Intent { seen, read, letters } => {
                let is_fenced = seen.is_current || model.lacks(Mutation::IntentWithoutFence);
                if !is_fenced || !(read.is_current || model.lacks(Mutation::IntentWithoutVersion)) {
                    return false;
                }
                self.intended_while_paused |= self.fence != Fence::Running;
                self.write_moves(model, &read.block, intended(read.block, letters));
            }
            Write::Answers { read, intents } => {
                if !(read.is_current || model.lacks(Mutation::AnswersOfAStaleBlock)) {
                    return false;
                }
                self.put_block_alone(answered(model, read.block, intents));
            }
            Write::Settle { read, letters, to } => {
                if !(read.is_current || model.lacks(Mutation::SettlingWithoutVersion)) {
                    return false;
                }
                let mut block = read.block;
                each(letters).for_each(|at| block[at].outcome = to);
                self.write_moves(model, &read.block, block);
            }
            Write::Project { letter, is_current } => {
                if !is_current && !model.lacks(Mutation::ProjectionWithoutCondition) {
                    return false;
                }
                self.letters[letter].is_delivered = true;
            }
            Write::Finish { seen } => {
                if !seen.is_current {
                    return false;
                }
                self.set_fence(Fence::Finished);
            }
        }
        true
    }

    /// Makes states equal that go on alike: those that differ only in what was read and is outdated. A write whose
    /// condition cannot hold any more is a crash.
    pub(super) fn reduce(&mut self) {
        self.executors.iter_mut().for_each(At::reduce);
        for slot in &mut self.late {
            let may_hold = slot.is_none_or(|write| match write {
                Write::Intent { seen, read, .. } => seen.is_current && read.is_current,
                Write::Answers { read, .. } | Write::Settle { read, .. } => read.is_current,
                Write::Project { is_current, .. } => is_current,
                Write::Finish { seen } => seen.is_current,
            });
            *slot = slot.filter(|_| may_hold);
        }
    }

    fn write_moves(&mut self, model: &Blocks, believed: &Block, block: Block) {
        if model.lacks(Mutation::LedgerInAWriteOfItsOwn) {
            // A crash may come before the other write, so it is left out.
            self.put_block_alone(block);
        } else {
            self.put_block(block, believed);
        }
    }
}

/// A block with the intents for these letters.
pub(super) fn intended(mut block: Block, letters: Letters) -> Block {
    for at in each(letters) {
        block[at] = Entry { outcome: Outcome::Sending, sends: block[at].sends + 1 };
    }
    block
}

/// A block with the answers to these intents.
fn answered(model: &Blocks, mut block: Block, intents: Intents) -> Block {
    for (entry, intent) in block.iter_mut().zip(intents) {
        let is_ours = entry.sends == intent || model.lacks(Mutation::AnswersMoveAnotherIntent);
        let is_sending = entry.outcome == Outcome::Sending || model.lacks(Mutation::AnswersMoveWhatIsNotSending);
        if intent > 0 && is_ours && is_sending {
            entry.outcome = Outcome::Sent;
        }
    }
    block
}
