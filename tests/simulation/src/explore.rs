//! Visits every state of a model and checks its properties there, as the checker of `stateright` does. That one keeps the
//! path to each state and copies it for every step, which takes more time than the steps themselves. Here only a hash of
//! each state is kept. If a property fails, `stateright` explores the model again, for the path.

use ahash::RandomState;
use stateright::{Checker as _, Expectation, Model, Property};
use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// States that a thread takes at a time.
const CHUNK: usize = 1_024;
/// Parts of the set of known states, each with a lock of its own.
const SHARDS: usize = 64;

/// Hashes alike in every run, so that a run can be repeated.
pub(super) fn hasher() -> impl Hasher {
    RandomState::with_seeds(1, 2, 3, 4).build_hasher()
}

/// Returns the hash that identifies a state.
pub(super) fn hash_of(state: &impl Hash) -> u64 {
    let mut hasher = hasher();
    state.hash(&mut hasher);
    hasher.finish()
}

/// Visits every state. Panics with the path to a state that breaks a promise, or if no state has what some must have.
/// Returns the number of states.
pub(super) fn check<M>(model: M, threads: usize) -> usize
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Hash + Clone + Debug + PartialEq + Send + Sync + 'static,
    M::Action: Clone + Debug + PartialEq,
{
    let visit = Visit { model: &model, seen: Seen::new(&model), known: Known::default() };
    let mut level = visit.first();
    while !level.is_empty() && visit.seen.is_right() {
        level = visit.next(level, threads);
    }
    if !visit.seen.is_complete() {
        model.clone().checker().threads(threads).spawn_bfs().join().assert_properties();
        panic!("{} have failed, but not in another exploration", visit.seen.failed().join(", "));
    }
    visit.known.len()
}

/// What the states of a model have shown of its properties.
pub(super) struct Seen<M: Model> {
    properties: Vec<Property<M>>,
    /// One bit for each property that was broken, or fulfilled where some state must fulfil it.
    shown: AtomicU64,
}

impl<M: Model> Seen<M> {
    pub(super) fn new(model: &M) -> Self {
        let properties = model.properties();
        // Whether something happens eventually depends on the path, which is not kept.
        let by_path = properties.iter().any(|property| matches!(property.expectation, Expectation::Eventually));
        assert!(!by_path && properties.len() <= 64, "properties of states, one bit each");
        Self { properties, shown: AtomicU64::new(0) }
    }

    pub(super) fn look(&self, model: &M, state: &M::State) {
        for (at, property) in self.properties.iter().enumerate() {
            let is_always = matches!(property.expectation, Expectation::Always);
            if (property.condition)(model, state) != is_always && !self.has_shown(at) {
                self.shown.fetch_or(1 << at, Ordering::Relaxed);
            }
        }
    }

    fn has_shown(&self, at: usize) -> bool {
        self.shown.load(Ordering::Relaxed) & 1 << at != 0
    }

    /// Returns whether no state has broken a promise so far.
    pub(super) fn is_right(&self) -> bool {
        let always = |property: &Property<M>| matches!(property.expectation, Expectation::Always);
        !self.properties.iter().enumerate().any(|(at, property)| always(property) && self.has_shown(at))
    }

    /// Returns whether, in addition, some state has what some must have. Call it after the last state.
    pub(super) fn is_complete(&self) -> bool {
        self.failed().is_empty()
    }

    /// Returns the names of the properties that do not hold.
    fn failed(&self) -> Vec<&'static str> {
        let fails = |(at, property): &(usize, &Property<M>)| {
            matches!(property.expectation, Expectation::Always) == self.has_shown(*at)
        };
        self.properties.iter().enumerate().filter(fails).map(|(_, property)| property.name).collect()
    }
}

struct Visit<'a, M: Model> {
    model: &'a M,
    seen: Seen<M>,
    known: Known,
}

type Chunks<S> = Vec<Vec<S>>;

impl<M> Visit<'_, M>
where
    M: Model + Sync,
    M::State: Hash + Send,
{
    fn first(&self) -> Chunks<M::State> {
        let states = self.model.init_states();
        vec![states.into_iter().filter(|state| self.known.insert(hash_of(state))).collect()]
    }

    /// Looks at the states that are this many steps away. Returns the new ones that are one step further.
    fn next(&self, level: Chunks<M::State>, threads: usize) -> Chunks<M::State> {
        let (level, found) = (Mutex::new(level), Mutex::new(Vec::new()));
        let work = || {
            let (mut new, mut actions) = (Vec::with_capacity(CHUNK), Vec::new());
            loop {
                // The lock must not be held while the chunk is worked on.
                let Some(chunk) = locked(&level).pop() else { break };
                for state in chunk {
                    self.seen.look(self.model, &state);
                    self.model.actions(&state, &mut actions);
                    let next = actions.drain(..).filter_map(|action| self.model.next_state(&state, action));
                    for state in next.filter(|state| self.known.insert(hash_of(state))) {
                        new.push(state);
                        if new.len() == CHUNK {
                            locked(&found).push(std::mem::replace(&mut new, Vec::with_capacity(CHUNK)));
                        }
                    }
                }
            }
            if !new.is_empty() {
                locked(&found).push(new);
            }
        };
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The hashes of all states that were reached.
struct Known(Vec<Mutex<HashSet<u64, BuildHasherDefault<AsItIs>>>>);

impl Default for Known {
    fn default() -> Self {
        Self((0..SHARDS).map(|_| Mutex::default()).collect())
    }
}

impl Known {
    /// Returns whether the state is new.
    fn insert(&self, hash: u64) -> bool {
        // The set itself uses the lowest and the highest bits.
        locked(&self.0[(hash >> 32) as usize % SHARDS]).insert(hash)
    }

    fn len(&self) -> usize {
        self.0.iter().map(|shard| locked(shard).len()).sum()
    }
}

/// The hash of a hash is itself.
#[derive(Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only hashes are hashed");
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts up to a limit, in steps of one or three.
    #[derive(Clone)]
    struct Count {
        limit: u32,
        /// What no count may be, and what some must be.
        never: u32,
        some: u32,
    }

    impl Model for Count {
        type State = u32;
        type Action = u32;

        fn init_states(&self) -> Vec<u32> {
            vec![0]
        }

        fn actions(&self, _: &u32, actions: &mut Vec<u32>) {
            actions.extend([1, 3]);
        }

        fn next_state(&self, last: &u32, by: u32) -> Option<u32> {
            (last + by <= self.limit).then_some(last + by)
        }

        fn properties(&self) -> Vec<Property<Self>> {
            vec![
                Property::always("it is allowed", |model: &Self, count| *count != model.never),
                Property::sometimes("it is reached", |model, count| *count == model.some),
            ]
        }
    }

    const RIGHT: Count = Count { limit: 5_000, never: 5_001, some: 4_999 };

    #[test]
    fn every_state_is_visited_once() {
        for threads in [1, 3] {
            let by_stateright = RIGHT.checker().threads(threads).spawn_bfs().join().unique_state_count();
            assert_eq!((check(RIGHT, threads), by_stateright), (5_001, 5_001));
        }
    }

    #[test]
    #[should_panic(expected = "it is allowed")]
    fn a_broken_promise_is_found_in_the_last_state() {
        check(Count { never: 5_000, ..RIGHT }, 2);
    }

    #[test]
    #[should_panic(expected = "it is reached")]
    fn what_no_state_has_is_missed() {
        check(Count { some: 5_001, ..RIGHT }, 2);
    }
}
