//! Gives states that differ by names only one form.

use super::Keep;
use super::attempt::Part;
use super::records::{ATTEMPTS_MAX, About, BATCHES_MAX, Batch, Marker, NONE, Seal, Set, State, Write};

const ORDERS: [[usize; ATTEMPTS_MAX]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

impl State {
    /// Gives states that differ by names only one form: letters, attempts and late writes have no order, and batches are
    /// named as they come. A batch that nothing names is forgotten.
    pub(super) fn reduce(&mut self, model: &Keep) {
        let forms = [false, true].into_iter().take(model.scope.letters).flat_map(|swaps| {
            let mut state = self.clone();
            if swaps {
                state.swap_letters();
            }
            ORDERS.iter().map(move |order| {
                let mut ordered = state.clone();
                ordered.attempts = order.map(|at| state.attempts[at]);
                ordered
            })
        });
        // Whoever does nothing comes last, which leaves fewer orders.
        let forms = forms.filter(|state| state.attempts.is_sorted_by_key(Option::is_none));
        let forms = forms.flat_map(|state| {
            let mut other = state.clone();
            other.late.swap(0, 1);
            let differs = state.late[0] != state.late[1];
            [Some(state), differs.then_some(other)]
        });
        let named = forms.flatten().map(|mut state| {
            state.rename();
            state
        });
        *self = named.min().expect("one form at least");
    }

    fn swap_letters(&mut self) {
        self.letters.swap(0, 1);
        let swap = |set: &mut Set| *set = (*set & !3) | (*set & 1) << 1 | (*set & 2) >> 1;
        for about in &mut self.batches {
            if let Seal::Sealed(bits) = &mut about.seal {
                swap(bits);
            }
        }
        self.attempts.iter_mut().flatten().for_each(|attempt| attempt.parts.swap(0, 1));
        for write in self.late.iter_mut().flatten() {
            match write {
                Write::Put { letter, .. } | Write::Adopt { letter, .. } => *letter ^= 1,
                Write::Seal { own, .. } | Write::Few { own, .. } => own.swap(0, 1),
                Write::Void { .. } => {}
            }
        }
        match &mut self.marker {
            Marker::Idle => {}
            Marker::Block { letter, .. } | Marker::Letter { letter } | Marker::Both { letter, .. } => *letter ^= 1,
        }
    }

    /// All names of batches, in one order.
    pub(super) fn names(&self) -> impl Iterator<Item = Batch> {
        let mut state = self.clone();
        let mut names = Vec::new();
        state.each_name(|name| names.push(*name));
        names.into_iter()
    }

    fn rename(&mut self) {
        let mut names = [NONE; BATCHES_MAX + 1];
        let mut next = NONE;
        self.each_name(|name| {
            let new = &mut names[usize::from(*name)];
            if *new == NONE {
                next += 1;
                *new = next;
            }
            *name = *new;
        });
        let mut batches = [About::default(); BATCHES_MAX];
        for (about, name) in self.batches.iter().zip(&names[1..]) {
            if *name != NONE {
                batches[usize::from(*name) - 1] = *about;
            }
        }
        self.batches = batches;
    }

    fn each_name(&mut self, mut see: impl FnMut(&mut Batch)) {
        let mut see = |name: &mut Batch| {
            if *name != NONE {
                see(name);
            }
        };
        self.letters.iter_mut().filter_map(|letter| letter.stored.as_mut()).for_each(|stored| see(&mut stored.batch));
        for attempt in self.attempts.iter_mut().flatten() {
            see(&mut attempt.batch);
            for part in &mut attempt.parts {
                if let Part::Look { named, .. } | Part::Adopt { named, .. } = part {
                    see(named);
                }
            }
        }
        for write in self.late.iter_mut().flatten() {
            match write {
                Write::Put { batch, .. } | Write::Void { batch } | Write::Seal { batch, .. } => see(batch),
                Write::Adopt { from, batch, .. } => [from, batch].into_iter().for_each(&mut see),
                Write::Few { .. } => {}
            }
        }
    }
}
