//! The stored records of keeping, and the writes to them.

use super::attempt::Attempt;
use super::{Keep, Mutation};

pub(super) const LETTERS_MAX: usize = 2;
pub(super) const GROUPS_MAX: usize = 2;
pub(super) const ATTEMPTS_MAX: usize = 3;
const LATE_MAX: usize = 2;
/// Batches that anything can name at once.
pub(super) const BATCHES_MAX: usize = 16;

/// A set: one bit each.
pub(super) type Set = u8;

/// The name of a batch, counted from 1. It says nothing about the order of batches.
pub(super) type Batch = u8;

/// No batch: the letter is kept by itself.
pub(super) const NONE: Batch = 0;

/// By letter, the group in which a seal counts it.
pub(super) type Own = [Option<u8>; LETTERS_MAX];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Message {
    /// The queue gives it to anybody at any time.
    There,
    Deleted,
    Expired,
}

/// The letter's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Stored {
    pub batch: Batch,
    /// What this writer read from the message.
    pub group: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Letter {
    pub message: Message,
    pub stored: Option<Stored>,
    /// How often it was counted in each group.
    pub counted: [u8; GROUPS_MAX],
    /// Whether a list block has its id.
    pub is_listed: bool,
    /// Its bit in the list block.
    pub has_left: bool,
    /// Whether it has left the list: delivered, discarded or in replay.
    pub is_away: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Seal {
    #[default]
    Open,
    Void,
    /// The letters that are counted.
    Sealed(Set),
}

/// The seal and the note of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct About {
    pub seal: Seal,
    pub has_note: bool,
}

/// The process that sets the bits of list blocks. `is_current`: the block still has the version that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Marker {
    #[default]
    Idle,
    /// It has read the block.
    Block { letter: u8, is_current: bool },
    /// It has found the letter away before it reads the block, which only a mutation does.
    Letter { letter: u8 },
    /// It has read both, and found the letter away.
    Both { letter: u8, is_current: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Write {
    Put {
        letter: u8,
        batch: Batch,
        group: u8,
    },
    Void {
        batch: Batch,
    },
    Adopt {
        letter: u8,
        from: Batch,
        batch: Batch,
        group: u8,
    },
    /// `new`: the groups to which it adds the customer.
    Seal {
        batch: Batch,
        own: Own,
        new: Set,
    },
    /// The one transaction for few letters.
    Few {
        own: Own,
        new: Set,
    },
}

impl Write {
    /// The batch that the write may make a letter name.
    fn names(&self) -> Option<Batch> {
        match self {
            Self::Put { batch, .. } | Self::Adopt { batch, .. } => Some(*batch),
            Self::Void { .. } | Self::Seal { .. } | Self::Few { .. } => None,
        }
    }
}

/// Whether a write took effect, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Done,
    /// The record is not as the condition says.
    Refused,
    /// Somebody else has added the customer.
    CustomerKnown,
}

/// A state of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct State {
    pub letters: [Letter; LETTERS_MAX],
    pub attempts: [Option<Attempt>; ATTEMPTS_MAX],
    pub late: [Option<Write>; LATE_MAX],
    /// By name.
    pub batches: [About; BATCHES_MAX],
    /// By group, whether the customer's record exists, and how often it was counted. All letters are one customer's.
    pub customers: [(bool, u8); GROUPS_MAX],
    pub marker: Marker,
}

impl State {
    pub(super) fn new() -> Self {
        let letter = Letter {
            message: Message::There,
            stored: None,
            counted: [0; GROUPS_MAX],
            is_listed: false,
            has_left: false,
            is_away: false,
        };
        Self {
            letters: [letter; LETTERS_MAX],
            attempts: [None; ATTEMPTS_MAX],
            late: [None; LATE_MAX],
            batches: [About::default(); BATCHES_MAX],
            customers: [(false, 0); GROUPS_MAX],
            marker: Marker::Idle,
        }
    }

    pub(super) fn about(&mut self, batch: Batch) -> &mut About {
        &mut self.batches[usize::from(batch) - 1]
    }

    pub(super) fn seal(&self, batch: Batch) -> Seal {
        self.batches[usize::from(batch) - 1].seal
    }

    /// A batch whose id nobody has used.
    pub(super) fn new_batch(&mut self) -> Batch {
        let used = |batch: Batch| self.names().any(|name| name == batch);
        let free = (1..=BATCHES_MAX as Batch).find(|batch| !used(*batch)).expect("more names than batches");
        *self.about(free) = About::default();
        free
    }

    /// Whether the letter exists for everybody but intake and sweep.
    pub(super) fn is_kept(&self, letter: usize) -> bool {
        self.letters[letter].stored.is_some_and(|stored| self.counts(stored.batch, letter))
    }

    /// Whether a letter that names this batch is kept.
    pub(super) fn counts(&self, batch: Batch, letter: usize) -> bool {
        batch == NONE || matches!(self.seal(batch), Seal::Sealed(bits) if bits & 1 << letter != 0)
    }

    /// Makes a write if its conditions hold.
    pub(super) fn apply(&mut self, model: &Keep, write: Write) -> Answer {
        match write {
            Write::Put { letter, batch, group } => {
                let stored = &mut self.letters[usize::from(letter)].stored;
                if stored.is_some() && !model.lacks(Mutation::PutWithoutCondition) {
                    return Answer::Refused;
                }
                *stored = Some(Stored { batch, group });
            }
            Write::Void { batch } => {
                if self.seal(batch) != Seal::Open && !model.lacks(Mutation::VoidWithoutCondition) {
                    return Answer::Refused;
                }
                self.about(batch).seal = Seal::Void;
            }
            Write::Adopt { letter, from, batch, group } => {
                let stored = &mut self.letters[usize::from(letter)].stored;
                let is_from = stored.is_some_and(|stored| stored.batch == from);
                if !is_from && !model.lacks(Mutation::AdoptWithoutCondition) {
                    return Answer::Refused;
                }
                let keeps = model.lacks(Mutation::AdoptKeepsTheLetter);
                let group = stored.filter(|_| keeps).map_or(group, |stored| stored.group);
                *stored = Some(Stored { batch, group });
            }
            Write::Seal { batch, own, new } => {
                if self.seal(batch) != Seal::Open && !model.lacks(Mutation::SealWithoutCondition) {
                    return Answer::Refused;
                }
                if !self.count(model, own, new) {
                    return Answer::CustomerKnown;
                }
                let all = model.lacks(Mutation::SealWithoutBits);
                self.about(batch).seal = Seal::Sealed(if all { Set::MAX } else { set_of(own) });
            }
            Write::Few { own, new } => {
                if each(set_of(own)).any(|letter| self.letters[letter].stored.is_some()) {
                    return Answer::Refused;
                }
                if !self.count(model, own, new) {
                    return Answer::CustomerKnown;
                }
                for (letter, group) in self.letters.iter_mut().zip(own) {
                    letter.stored = group.map(|group| Stored { batch: NONE, group }).or(letter.stored);
                }
            }
        }
        Answer::Done
    }

    /// Counts and lists letters, and adds customers. Returns `false` if one of them is there already.
    fn count(&mut self, model: &Keep, own: Own, new: Set) -> bool {
        let is_known = each(new).any(|group| self.customers[group].0);
        let is_checked = ![Mutation::CustomerWithoutCondition, Mutation::CustomerBeforeSeal]
            .map(|rule| model.lacks(rule))
            .contains(&true);
        if is_known && is_checked {
            return false;
        }
        each(new).for_each(|group| self.customers[group] = (true, self.customers[group].1 + 1));
        for (letter, group) in self.letters.iter_mut().zip(own) {
            if let Some(group) = group {
                letter.counted[usize::from(group)] += 1;
                // A crash may come before the other write, so it is left out.
                letter.is_listed |= !model.lacks(Mutation::ListInAWriteOfItsOwn);
            }
        }
        true
    }

    /// The list block of a letter is written.
    pub(super) fn block_changed(&mut self, of: usize) {
        if let Marker::Block { letter, is_current } | Marker::Both { letter, is_current } = &mut self.marker {
            *is_current &= usize::from(*letter) != of;
        }
    }

    /// Removes the notes of batches that no letter can name any more without being kept. Sweep does it after an hour,
    /// when the attempt has ended and no write of it can arrive.
    pub(super) fn remove_notes(&mut self, model: &Keep) {
        let mut needed: [bool; BATCHES_MAX] = [false; BATCHES_MAX];
        let mut need = |batch: Batch| needed[usize::from(batch) - 1] = true;
        self.attempts.iter().flatten().filter(|attempt| attempt.batch != NONE).for_each(|attempt| need(attempt.batch));
        if !model.lacks(Mutation::NoteEndsBeforeTheHour) {
            self.late.iter().flatten().filter_map(Write::names).for_each(&mut need);
        }
        for (at, letter) in self.letters.iter().enumerate() {
            if let Some(stored) = letter.stored.filter(|stored| !self.counts(stored.batch, at)) {
                need(stored.batch);
            }
        }
        for (about, needed) in self.batches.iter_mut().zip(needed) {
            about.has_note &= needed;
        }
    }
}

/// The members of a set.
pub(super) fn each(set: Set) -> impl Iterator<Item = usize> {
    (0..8).filter(move |at| set & 1 << at != 0)
}

pub(super) fn set_of(own: Own) -> Set {
    own.iter().enumerate().filter(|(_, group)| group.is_some()).fold(0, |set, (at, _)| set | 1 << at)
}
