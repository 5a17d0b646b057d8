//! Faults between the handlers and their ports: the n-th call fails, before it takes effect or after; or each call by a
//! throw of dice, for the simulation. Either is what a killed process, a throttle or a lost answer look like from inside.

use crate::lag::{Lag, List};
use crate::lockstep::{alone, pause};
use crate::office::Chance;
use async_trait::async_trait;
use consumer::queue::{EntryFailure, Outgoing, QueueError};
use domain::audit::AuditRecord;
use domain::deployment::{Attached, Deployment};
use domain::group::Group;
use domain::id::{DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId};
use domain::letter::{Death, Letter, LetterStateKind};
use domain::replay::{Entry, Ledger, OutcomeKind, Plan, Replay};
use domain::time::Timestamp;
use lambda::port::{CommitError, Cursor, GroupFacts, Page, Store, StoreError, TransformFacts, Write};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What sees the calls that take effect, in the order in which they do.
pub trait Watch: Send + Sync {
    /// A commit is in the store.
    fn committed(&self, writes: &[Write]);
    /// Messages are about to be handed to a queue.
    fn sends(&self, queue: &QueueArn, messages: &[Outgoing]);
    /// They were, with these answers.
    fn sent(&self, queue: &QueueArn, messages: &[Outgoing], answers: &[Result<MessageId, EntryFailure>]);
}

/// Which call fails, and whether it takes effect first.
#[derive(Default)]
pub struct Faults {
    state: Mutex<State>,
    watch: OnceLock<Arc<dyn Watch>>,
    lag: OnceLock<Arc<Lag>>,
}

#[derive(Default)]
struct State {
    mode: Mode,
    struck: bool,
    dead: bool,
    outage: Option<(QueueArn, Outage)>,
    unwelcome: Option<String>,
}

#[derive(Default)]
enum Mode {
    #[default]
    Never,
    Nth {
        left: i64,
        after: bool,
    },
    Dice(Dice),
}

/// How the simulation throws.
#[derive(Clone)]
pub struct Dice {
    /// Where its numbers come from.
    pub chance: Chance,
    /// Of 1,000 calls so many fail.
    pub faults_per_mille: usize,
    /// Of 100 faults so many are the end of the process: no further call of it takes effect.
    pub deaths_pct: usize,
    /// Of 1,000 messages so many are refused by the queue for the moment, while others of their batch are taken.
    pub refusals_per_mille: usize,
}

/// What is wrong with a whole queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// It was deleted.
    Missing,
    /// Its policy or key does not let us in.
    Denied,
}

impl Outage {
    fn error(self, queue: &QueueArn) -> QueueError {
        match self {
            Self::Missing => QueueError::Missing { queue: queue.clone() },
            Self::Denied => QueueError::Denied { queue: queue.clone(), source: "the policy denies it".into() },
        }
    }
}

impl Faults {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `calls` calls pass and fails the next one: `after` it took effect, or before.
    pub fn arm(&self, calls: i64, after: bool) {
        let mut state = self.state();
        (state.mode, state.struck) = (Mode::Nth { left: calls, after }, false);
    }

    /// Throws dice for every call from now on. Each call then also takes effect at once and alone, so that only the
    /// dice decide who is faster.
    pub fn throw(&self, dice: Dice) {
        self.state().mode = Mode::Dice(dice);
    }

    /// Faults by dice happen so often from now on.
    pub fn set_rates(&self, faults_per_mille: usize, refusals_per_mille: usize) {
        if let Mode::Dice(dice) = &mut self.state().mode {
            (dice.faults_per_mille, dice.refusals_per_mille) = (faults_per_mille, refusals_per_mille);
        }
    }

    /// A queue is out of order from now on, or none is.
    pub fn set_outage(&self, outage: Option<(QueueArn, Outage)>) {
        self.state().outage = outage;
    }

    /// The store takes no commit with a letter whose body has this in it, or takes them all again.
    pub fn set_unwelcome(&self, text: Option<&str>) {
        self.state().unwelcome = text.map(String::from);
    }

    fn takes(&self, writes: &[Write]) -> bool {
        let state = self.state();
        let Some(text) = &state.unwelcome else { return true };
        !writes.iter().any(|write| matches!(write, Write::Letter { letter, .. } if letter.content.body.contains(text)))
    }

    /// The process is started anew.
    pub fn revive(&self) {
        self.state().dead = false;
    }

    /// Whether the process has died.
    pub fn is_dead(&self) -> bool {
        self.state().dead
    }

    /// Whether the fault has struck.
    pub fn has_struck(&self) -> bool {
        self.state().struck
    }

    /// Tells somebody of every call that takes effect.
    pub fn watched_by(&self, watch: Arc<dyn Watch>) {
        let _ = self.watch.set(watch);
    }

    /// Lists may lag behind what this store and others with the same lag commit.
    pub fn lags(&self, lag: Arc<Lag>) {
        let _ = self.lag.set(lag);
    }

    /// A list as it is answered.
    fn listed<T: List>(&self, list: T) -> T {
        let lags = self.dice(|dice| dice.faults_per_mille > 0 && dice.chance.below(4) == 0);
        match self.lag.get().filter(|_| lags == Some(true)) {
            Some(lag) => list.without_latest(lag),
            None => list,
        }
    }

    /// What happens to this call.
    fn next(&self) -> Fate {
        let mut guard = self.state();
        let state = &mut *guard;
        if state.dead {
            return Fate::FailsBefore;
        }
        let fate = match &mut state.mode {
            Mode::Never => return Fate::Passes,
            Mode::Nth { left, .. } if *left > 0 => {
                *left -= 1;
                return Fate::Passes;
            }
            Mode::Nth { after, .. } => {
                let after = *after;
                state.mode = Mode::Never;
                if after { Fate::FailsAfter } else { Fate::FailsBefore }
            }
            Mode::Dice(dice) => {
                if dice.chance.below(1000) >= dice.faults_per_mille {
                    return Fate::Passes;
                }
                let after = dice.chance.below(2) == 0;
                state.dead = dice.chance.below(100) < dice.deaths_pct;
                if after { Fate::FailsAfter } else { Fate::FailsBefore }
            }
        };
        state.struck = true;
        fate
    }

    /// How long this call waits for others; none outside the simulation.
    fn waits(&self) -> Option<usize> {
        self.dice(|dice| dice.chance.below(3))
    }

    /// Whether the queue refuses this message for the moment.
    fn refuses(&self) -> bool {
        self.dice(|dice| dice.chance.below(1000) < dice.refusals_per_mille) == Some(true)
    }

    fn dice<T>(&self, throw: impl FnOnce(&mut Dice) -> T) -> Option<T> {
        match &mut self.state().mode {
            Mode::Dice(dice) => Some(throw(dice)),
            _ => None,
        }
    }

    fn outage_of(&self, queue: &QueueArn) -> Option<QueueError> {
        self.state().outage.as_ref().filter(|(of, _)| of == queue).map(|(_, outage)| outage.error(queue))
    }

    /// Makes a call. Under dice it is made when nobody else runs, after a wait that lets the others go first.
    async fn call<T>(&self, call: impl Future<Output = T>) -> T {
        match self.waits() {
            None => call.await,
            Some(times) => {
                pause(times).await;
                alone(call)
            }
        }
    }
}

enum Fate {
    Passes,
    FailsBefore,
    FailsAfter,
}

fn store_fault() -> StoreError {
    StoreError { operation: "answer".into(), source: "the process was killed".into(), refused: false }
}

/// A store some of whose calls fail.
pub struct FaultyStore {
    /// The store.
    pub inner: Arc<dyn Store>,
    /// Which calls.
    pub faults: Arc<Faults>,
}

/// Runs a call under its fate.
macro_rules! fated {
    ($faults:expr, $fault:expr, $call:expr) => {
        match $faults.next() {
            Fate::Passes => $faults.call($call).await,
            Fate::FailsBefore => Err($fault.into()),
            Fate::FailsAfter => {
                let _ = $faults.call($call).await;
                Err($fault.into())
            }
        }
    };
}

mod queue;

pub use queue::FaultyQueue;

macro_rules! reads {
    (records { $($name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)* }
     lists { $($list:ident($($a:ident: $t:ty),*) -> $items:ty;)* }) => {
        #[async_trait]
        impl Store for FaultyStore {
            async fn commit(&self, writes: Vec<Write>) -> Result<(), CommitError> {
                if !self.faults.takes(&writes) {
                    let source = "the letter is unwelcome".into();
                    return Err(StoreError { operation: "commit".into(), source, refused: true }.into());
                }
                let commit = async {
                    let done = self.inner.commit(writes.clone()).await;
                    if done.is_ok() {
                        self.faults.watch.get().inspect(|watch| watch.committed(&writes));
                        self.faults.lag.get().inspect(|lag| lag.committed(&writes));
                    }
                    done
                };
                fated!(self.faults, store_fault(), commit)
            }

            $(async fn $name(&self, $($arg: $type),*) -> Result<$answer, StoreError> {
                fated!(self.faults, store_fault(), self.inner.$name($($arg),*))
            })*

            $(async fn $list(&self, $($a: $t),*) -> Result<$items, StoreError> {
                let list: Result<_, StoreError> = fated!(self.faults, store_fault(), self.inner.$list($($a),*));
                Ok(self.faults.listed(list?))
            })*
        }
    };
}

reads! {
    records {
        letter(id: &LetterId) -> Option<Letter>;
        letters(ids: &[LetterId]) -> Vec<Letter>;
        has_death(id: &DeathId) -> bool;
        deaths(letter: &LetterId) -> Vec<Death>;
        group(id: &GroupId) -> Option<Group>;
        group_facts(id: &GroupId, arrivals_from: i64) -> Option<GroupFacts>;
        groups(arrivals_from: i64, after: Option<&Cursor>, limit: usize) -> Page<GroupFacts>;
        plan(group: &GroupId) -> Option<Plan>;
        replay(id: &ReplayId) -> Option<Replay>;
        ledger(replay: &ReplayId) -> Ledger;
        replays(group: Option<&GroupId>, after: Option<&Cursor>, limit: usize) -> Page<Replay>;
        unfinished_replays() -> Vec<ReplayId>;
        entry(replay: &ReplayId, letter: &LetterId) -> Option<Entry>;
        deployment(service: &str) -> Option<Deployment>;
        transform(group: &GroupId, version: u32) -> Option<TransformFacts>;
        transforms(group: &GroupId) -> Vec<TransformFacts>;
        attached(queue: &QueueArn) -> Option<Attached>;
        audit(group: &GroupId, after: Option<&Cursor>, limit: usize) -> Page<AuditRecord>;
        forget(delivered_before: Timestamp, limit: usize) -> usize;
    }
    lists {
        letters_of(
            group: &GroupId,
            state: Option<LetterStateKind>,
            after: Option<&Cursor>,
            limit: usize
        ) -> Page<Letter>;
        entries(
            replay: &ReplayId,
            wave: Option<u32>,
            outcome: Option<OutcomeKind>,
            after: Option<&Cursor>,
            limit: usize
        ) -> Page<Entry>;
        sent(messages: &[MessageId]) -> BTreeMap<MessageId, (ReplayId, LetterId)>;
    }
}
