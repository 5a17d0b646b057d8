//! An executor, call by call. Each also settles, projects and finishes.

use super::records::{Block, Fence, Intents, LETTERS_MAX, Letters, Outcome, Read, Seen, State, Write, each, intended};
use super::{Blocks, Mutation};

/// Between which two calls an executor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum At {
    /// It has read nothing yet.
    Idle,
    /// It has read the replay's record.
    Seen(Seen),
    /// It has read the block, too.
    Read(Seen, Read),
    /// It has stored its intents.
    Intended(Read, Intents),
    /// It has sent these.
    Sent(Read, Intents),
    /// It has sent before its intent, which only a mutation does.
    SentFirst(Seen, Read, Letters),
    /// It has found an entry delivered. `is_current`: the letter still has the version on whose condition it will write.
    Found { letter: usize, is_current: bool },
    /// The projection of this letter was refused.
    Refused { letter: usize },
    /// It has read the letter and will read the block.
    LetterRead { letter: usize, is_current: bool },
    /// It has read the block first, which only a mutation does, and will read the letter.
    BlockRead { letter: usize },
    /// It has found every entry closed and every delivered letter projected.
    Done(Seen),
}

/// A step of an executor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Reads what comes next.
    Read,
    Write(Write),
    /// Sends; the queue takes these letters.
    Send(Letters),
    /// Sends these before its intent.
    SendFirst(Letters),
    /// Chooses a delivered entry.
    Find(usize),
    /// Reads all letters.
    Check,
}

impl At {
    pub(super) fn seen_mut(&mut self) -> Option<&mut Seen> {
        match self {
            Self::Seen(seen) | Self::Read(seen, _) | Self::SentFirst(seen, ..) | Self::Done(seen) => Some(seen),
            _ => None,
        }
    }

    pub(super) fn read_mut(&mut self) -> Option<&mut Read> {
        match self {
            Self::Read(_, read) | Self::Intended(read, _) | Self::Sent(read, _) | Self::SentFirst(_, read, _) => {
                Some(read)
            }
            _ => None,
        }
    }

    /// Somebody else has written this letter.
    pub(super) fn letter_changed(&mut self, at: usize) {
        if let Self::Found { letter, is_current } | Self::LetterRead { letter, is_current } = self {
            *is_current &= *letter != at;
        }
    }

    /// See [`State::reduce`].
    pub(super) fn reduce(&mut self) {
        if let Some(seen) = self.seen_mut().filter(|seen| !seen.is_current) {
            // With it, nothing can be sent or finished.
            seen.fence = Fence::Paused;
        }
        if let Some(read) = self.read_mut() {
            read.reduce();
        }
        if let Self::Intended(read, _) | Self::Sent(read, _) = self
            && !read.is_current
        {
            // It is read again before it is used.
            read.block = Block::default();
        }
        if matches!(self, Self::Done(Seen { is_current: false, .. })) {
            *self = Self::Idle;
        }
    }

    /// The steps that it may do now.
    pub(super) fn steps(&self, model: &Blocks, state: &State) -> Vec<Step> {
        match *self {
            Self::Idle => {
                if state.fence == Fence::Finished {
                    vec![]
                } else {
                    vec![Step::Read]
                }
            }
            Self::Seen(_) | Self::Refused { .. } | Self::LetterRead { .. } | Self::BlockRead { .. } => {
                vec![Step::Read]
            }
            Self::Read(seen, read) => choices(model, state, seen, read),
            Self::Intended(_, intents) => subsets(mask(intents)).map(Step::Send).collect(),
            Self::Sent(read, intents) => {
                let write = Step::Write(Write::Answers { read, intents });
                // Without a condition, nobody learns that the block has changed.
                let is_refused = !read.is_current && !model.lacks(Mutation::AnswersOfAStaleBlock);
                vec![if is_refused { Step::Read } else { write }]
            }
            Self::SentFirst(seen, read, letters) => vec![Step::Write(Write::Intent { seen, read, letters })],
            Self::Found { letter, is_current } => vec![Step::Write(Write::Project { letter, is_current })],
            Self::Done(seen) => vec![Step::Write(Write::Finish { seen })],
        }
    }

    /// Does a step.
    pub(super) fn step(self, model: &Blocks, state: &mut State, step: Step) -> Self {
        let stored = Read { block: state.block, is_current: true };
        let is_delivered = |letter: usize| state.block[letter].outcome == Outcome::Delivered;
        match (self, step) {
            (Self::Idle, Step::Read) => Self::Seen(Seen { fence: state.fence, is_current: true }),
            (Self::Seen(seen), Step::Read) => Self::Read(seen, stored),
            (Self::Sent(_, intents), Step::Read) => Self::Sent(stored, intents),
            (Self::Refused { letter }, Step::Read) if model.lacks(Mutation::ProjectorReadsTheBlockFirst) => {
                if is_delivered(letter) {
                    Self::BlockRead { letter }
                } else {
                    Self::Idle
                }
            }
            (Self::Refused { letter }, Step::Read) => Self::LetterRead { letter, is_current: true },
            (Self::LetterRead { letter, is_current }, Step::Read) => {
                if is_delivered(letter) {
                    Self::Found { letter, is_current }
                } else {
                    Self::Idle
                }
            }
            (Self::BlockRead { letter }, Step::Read) => Self::Found { letter, is_current: true },
            (Self::Read(..), Step::Find(letter)) => {
                Self::Found { letter, is_current: !state.letters[letter].has_changed }
            }
            (Self::Read(seen, read), Step::Check) => {
                let is_projected =
                    |at: usize| read.block[at].outcome != Outcome::Delivered || state.letters[at].is_delivered;
                let skips = model.lacks(Mutation::FinishBeforeProjection);
                if skips || model.letters().all(is_projected) { Self::Done(seen) } else { Self::Idle }
            }
            (Self::Intended(read, intents), Step::Send(taken)) => send(state, read, intents, taken),
            (Self::Read(seen, read), Step::SendFirst(letters)) => {
                send(state, read, intents_of(read, letters), letters);
                Self::SentFirst(seen, read, letters)
            }
            (_, Step::Write(write)) => self.write(model, state, write),
            _ => Self::Idle,
        }
    }

    fn write(self, model: &Blocks, state: &mut State, write: Write) -> Self {
        let is_written = state.apply(model, write);
        match (write, is_written) {
            (Write::Intent { read, letters, .. }, true) => {
                let stored = Read { block: state.block, is_current: true };
                let intents = intents_of(read, letters);
                let has_sent = matches!(self, Self::SentFirst(..));
                if has_sent { Self::Sent(stored, intents) } else { Self::Intended(stored, intents) }
            }
            (Write::Project { letter, .. }, false) if !model.lacks(Mutation::RefusedProjectionIsDropped) => {
                Self::Refused { letter }
            }
            _ => Self::Idle,
        }
    }
}

/// What an executor may do that has read the replay's record and the block.
fn choices(model: &Blocks, state: &State, seen: Seen, read: Read) -> Vec<Step> {
    let of = |is: &dyn Fn(usize) -> bool| model.letters().filter(|at| is(*at)).fold(0, |set, at| set | 1 << at);
    let outcome = |at: usize| read.block[at].outcome;
    let mut steps = Vec::new();
    if seen.fence == Fence::Running {
        // An entry that another executor may still be sending is among them: nothing tells a slow one from a dead one.
        let sendable =
            |at| matches!(outcome(at), Outcome::Pending | Outcome::Sending) && read.block[at].sends < model.scope.sends;
        steps.extend(subsets(of(&sendable)).map(|letters| {
            let first = model.lacks(Mutation::SendBeforeIntent);
            if first { Step::SendFirst(letters) } else { Step::Write(Write::Intent { seen, read, letters }) }
        }));
    }
    // When a letter counts as delivered is a question of time, which the other model checks. Here it may be at any time.
    let settle = |letters, to| Step::Write(Write::Settle { read, letters, to });
    steps.extend(subsets(of(&|at| outcome(at) == Outcome::Sent)).map(|set| settle(set, Outcome::Delivered)));
    if seen.fence == Fence::Aborting {
        let unsent = of(&|at| matches!(outcome(at), Outcome::Pending | Outcome::Sending));
        steps.extend((unsent != 0).then(|| settle(unsent, Outcome::Skipped)));
    }
    let projectable = |at: &usize| outcome(*at) == Outcome::Delivered && !state.letters[*at].is_delivered;
    steps.extend(model.letters().filter(projectable).map(Step::Find));
    let may_finish = matches!(seen.fence, Fence::Running | Fence::Aborting);
    if may_finish && model.letters().all(|at| outcome(at).is_closed()) {
        steps.push(Step::Check);
    }
    steps
}

fn send(state: &mut State, read: Read, intents: Intents, taken: Letters) -> At {
    let mut sent = [0; LETTERS_MAX];
    for at in each(taken) {
        sent[at] = intents[at];
        state.messages[at].sent |= 1 << (intents[at] - 1);
        state.messages[at].waiting += 1;
    }
    At::Sent(read, sent)
}

/// The intents that are written for these letters over this block.
fn intents_of(read: Read, letters: Letters) -> Intents {
    let block = intended(read.block, letters);
    let mut intents = [0; LETTERS_MAX];
    each(letters).for_each(|at| intents[at] = block[at].sends);
    intents
}

fn mask(intents: Intents) -> Letters {
    (0..LETTERS_MAX).filter(|at| intents[*at] > 0).fold(0, |set, at| set | 1 << at)
}

/// The subsets that are not empty.
fn subsets(of: Letters) -> impl Iterator<Item = Letters> {
    (1..=of).filter(move |set| set & of == *set)
}
