//! An attempt to keep letters, call by call: intake with messages, or sweep with a note.

use super::records::{Answer, Batch, LETTERS_MAX, Message, NONE, Own, Seal, Set, State, Write, each};
use super::{Keep, Mutation};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Tries the one transaction for few letters.
    Few,
    /// Puts and adopts, then seals.
    Hold,
    /// What it owns is counted: it deletes.
    Kept,
}

/// What an attempt knows of one letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Part {
    /// It has nothing to do with it, or nothing more.
    #[default]
    No,
    /// It has the message.
    Todo {
        group: u8,
    },
    /// It has found the letter in another batch.
    Look {
        named: Batch,
        group: u8,
    },
    /// That batch will never count it.
    Adopt {
        named: Batch,
        group: u8,
    },
    Own {
        group: u8,
    },
    /// Others have kept it.
    Duplicate,
    /// It comes again.
    Left,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Attempt {
    pub phase: Phase,
    /// Sweep has no messages, and deletes none.
    pub is_sweep: bool,
    pub batch: Batch,
    /// Whether this is its second batch.
    pub is_again: bool,
    /// Whether one of its writes may still arrive.
    pub misses_an_answer: bool,
    /// The groups whose customer it has found.
    pub known: Set,
    pub parts: [Part; LETTERS_MAX],
}

/// A call of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Few,
    /// The next call for this letter.
    Go(usize),
    /// The time is over for this letter, or its batch is young.
    Leave(usize),
    Seal,
    Delete(usize),
}

impl Attempt {
    pub(super) fn new(model: &Keep, state: &mut State, parts: [Part; LETTERS_MAX], is_sweep: bool) -> Self {
        let phase = if model.scope.few && !is_sweep { Phase::Few } else { Phase::Hold };
        let mut new = Self { phase, is_sweep, batch: NONE, is_again: false, misses_an_answer: false, known: 0, parts };
        new.read_customers(state);
        if phase == Phase::Hold {
            new.choose_batch(model, state);
        }
        new
    }

    fn read_customers(&mut self, state: &State) {
        for (group, (is_there, _)) in state.customers.iter().enumerate() {
            self.known |= Set::from(*is_there) << group;
        }
    }

    fn choose_batch(&mut self, model: &Keep, state: &mut State) {
        self.batch = state.new_batch();
        state.about(self.batch).has_note = !model.lacks(Mutation::NoteAfterTheLetters);
    }

    pub(super) fn steps(&self, model: &Keep) -> Vec<Step> {
        let at = |is: &dyn Fn(Part) -> bool| (0..LETTERS_MAX).filter(|at| is(self.parts[*at])).collect::<Vec<_>>();
        let open = at(&|part| matches!(part, Part::Todo { .. } | Part::Look { .. } | Part::Adopt { .. }));
        let done = at(&|part| matches!(part, Part::Own { .. } | Part::Duplicate));
        let early = model.lacks(Mutation::DeleteBeforeSeal).then(|| done.iter().map(|at| Step::Delete(*at)));
        match self.phase {
            Phase::Few => vec![Step::Few],
            Phase::Hold if open.is_empty() => std::iter::once(Step::Seal).chain(early.into_iter().flatten()).collect(),
            Phase::Hold => open.into_iter().flat_map(|at| [Step::Go(at), Step::Leave(at)]).collect(),
            Phase::Kept => done.into_iter().map(Step::Delete).collect(),
        }
    }

    /// The write of a step, whose answer may be lost.
    pub(super) fn write(&self, state: &State, step: Step) -> Option<Write> {
        let batch = self.batch;
        match step {
            Step::Few => {
                let own = self.parts.map(|part| if let Part::Todo { group } = part { Some(group) } else { None });
                Some(Write::Few { own, new: self.new_customers(own) })
            }
            Step::Go(at) => match self.parts[at] {
                Part::Todo { group } => Some(Write::Put { letter: at as u8, batch, group }),
                Part::Look { named, .. } => (state.seal(named) == Seal::Open).then_some(Write::Void { batch: named }),
                Part::Adopt { named, group } => Some(Write::Adopt { letter: at as u8, from: named, batch, group }),
                _ => None,
            },
            Step::Seal => {
                let own = self.parts.map(|part| if let Part::Own { group } = part { Some(group) } else { None });
                Some(Write::Seal { batch, own, new: self.new_customers(own) })
            }
            Step::Leave(_) | Step::Delete(_) => None,
        }
    }

    fn new_customers(&self, own: Own) -> Set {
        own.iter().flatten().fold(0, |set, group| set | 1 << group) & !self.known
    }

    /// Does a step. Returns what the attempt is afterwards; `None` if it has ended.
    pub(super) fn step(mut self, model: &Keep, state: &mut State, step: Step) -> Option<Self> {
        match step {
            Step::Few => self.try_few(model, state),
            Step::Go(at) => self.parts[at] = self.go(model, state, at),
            Step::Leave(at) => self.parts[at] = Part::Left,
            Step::Seal => self.seal(model, state),
            Step::Delete(at) => {
                if state.letters[at].message == Message::There {
                    state.letters[at].message = Message::Deleted;
                }
                self.parts[at] = Part::No;
            }
        }
        let ends = self.phase == Phase::Kept && (self.is_sweep || self.steps(model).is_empty());
        if ends && self.batch != NONE {
            let is_left = self.parts.contains(&Part::Left) && !model.lacks(Mutation::NoteEndsWithLetters);
            let may_come = self.misses_an_answer && !model.lacks(Mutation::NoteEndsWithoutAnAnswer);
            state.about(self.batch).has_note &= is_left || may_come;
        }
        (!ends).then_some(self)
    }

    fn try_few(&mut self, model: &Keep, state: &mut State) {
        let Some(write) = self.write(state, Step::Few) else { return };
        match state.apply(model, write) {
            Answer::CustomerKnown => self.read_customers(state),
            Answer::Done => {
                self.phase = Phase::Kept;
                for part in &mut self.parts {
                    if let Part::Todo { group } = *part {
                        *part = Part::Own { group };
                    }
                }
            }
            Answer::Refused => {
                self.phase = Phase::Hold;
                self.choose_batch(model, state);
                for at in 0..LETTERS_MAX {
                    if let Part::Todo { group } = self.parts[at] {
                        self.parts[at] = self.found(model, state, at, group).unwrap_or(self.parts[at]);
                    }
                }
            }
        }
    }

    /// What a refused write has found; `None` if the letter is not stored.
    fn found(&self, model: &Keep, state: &State, at: usize, group: u8) -> Option<Part> {
        let named = state.letters[at].stored?.batch;
        Some(if named == self.batch {
            Part::Own { group }
        } else if named == NONE || model.lacks(Mutation::UnsealedIsADuplicate) {
            self.duplicate()
        } else if self.is_sweep {
            // It has a note of its own.
            Part::No
        } else {
            Part::Look { named, group }
        })
    }

    fn duplicate(&self) -> Part {
        if self.is_sweep { Part::No } else { Part::Duplicate }
    }

    fn go(&self, model: &Keep, state: &mut State, at: usize) -> Part {
        let write = self.write(state, Step::Go(at));
        match self.parts[at] {
            Part::Look { named, group } if model.lacks(Mutation::VoidWithoutCondition) => {
                // It has read the seal while it was open.
                state.apply(model, Write::Void { batch: named });
                Part::Adopt { named, group }
            }
            Part::Look { named, .. } if state.counts(named, at) => self.duplicate(),
            Part::Look { named, group } => {
                if let Some(write) = write.filter(|_| !model.lacks(Mutation::AdoptWithoutVoid)) {
                    state.apply(model, write);
                }
                Part::Adopt { named, group }
            }
            part @ (Part::Todo { group } | Part::Adopt { group, .. }) => {
                let is_done = write.is_some_and(|write| state.apply(model, write) == Answer::Done);
                if is_done { Part::Own { group } } else { self.found(model, state, at, group).unwrap_or(part) }
            }
            part => part,
        }
    }

    fn seal(&mut self, model: &Keep, state: &mut State) {
        let Some(write @ Write::Seal { own, new, .. }) = self.write(state, Step::Seal) else { return };
        if own.iter().all(Option::is_none) {
            self.phase = Phase::Kept;
            return;
        }
        if model.lacks(Mutation::CustomerBeforeSeal) && each(new).any(|group| !state.customers[group].0) {
            // The proposal: a conditional put of its own, which counts nobody yet.
            each(new).for_each(|group| state.customers[group].0 = true);
            return;
        }
        match state.apply(model, write) {
            Answer::Done => self.phase = Phase::Kept,
            Answer::CustomerKnown => self.read_customers(state),
            Answer::Refused => match state.seal(self.batch) {
                // An earlier try had arrived.
                Seal::Sealed(_) => self.phase = Phase::Kept,
                Seal::Void | Seal::Open => self.begin_again(model, state),
            },
        }
    }

    /// Its batch is void: it adopts its letters into another one, once.
    fn begin_again(&mut self, model: &Keep, state: &mut State) {
        let named = self.batch;
        for part in &mut self.parts {
            if let Part::Own { group } = *part {
                *part = if self.is_again { Part::Left } else { Part::Adopt { named, group } };
            }
        }
        if self.is_again {
            self.phase = Phase::Kept;
        } else {
            self.is_again = true;
            self.choose_batch(model, state);
        }
    }
}
