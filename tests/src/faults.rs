//! Faults between the handlers and their ports: the n-th call fails, before it takes effect or after. Either is what
//! a killed process looks like from outside: nothing after that call happens.

use async_trait::async_trait;
use consumer::queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use domain::audit::AuditRecord;
use domain::deployment::Deployment;
use domain::group::Group;
use domain::id::{DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId};
use domain::letter::{Death, Letter, LetterStateKind};
use domain::replay::{Entry, Ledger, OutcomeKind, Plan, Replay};
use domain::time::Span;
use lambda::port::{CommitError, Cursor, GroupFacts, Page, Store, StoreError, Write};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Which call fails, and whether it takes effect first.
#[derive(Default)]
pub struct Faults {
    /// Calls that still succeed; negative when nothing is to fail.
    left: AtomicI64,
    armed: AtomicBool,
    after: AtomicBool,
    struck: AtomicBool,
}

impl Faults {
    /// Lets `calls` calls pass and fails the next one: `after` it took effect, or before.
    pub fn arm(&self, calls: i64, after: bool) {
        self.left.store(calls, Ordering::SeqCst);
        self.after.store(after, Ordering::SeqCst);
        self.struck.store(false, Ordering::SeqCst);
        self.armed.store(true, Ordering::SeqCst);
    }

    /// Whether the fault has struck.
    pub fn has_struck(&self) -> bool {
        self.struck.load(Ordering::SeqCst)
    }

    /// What happens to this call.
    fn next(&self) -> Fate {
        if !self.armed.load(Ordering::SeqCst) || self.left.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Fate::Passes;
        }
        self.armed.store(false, Ordering::SeqCst);
        self.struck.store(true, Ordering::SeqCst);
        if self.after.load(Ordering::SeqCst) { Fate::FailsAfter } else { Fate::FailsBefore }
    }
}

enum Fate {
    Passes,
    FailsBefore,
    FailsAfter,
}

fn store_fault() -> StoreError {
    StoreError { operation: "answer".into(), source: "the process was killed".into() }
}

fn queue_fault(queue: &QueueArn) -> QueueError {
    QueueError::Unanswered { queue: queue.clone(), source: "the process was killed".into() }
}

/// A store some of whose calls fail.
pub struct FaultyStore {
    /// The store.
    pub inner: Arc<dyn Store>,
    /// Which calls.
    pub faults: Arc<Faults>,
}

/// Queues some of whose calls fail.
pub struct FaultyQueue {
    /// The queues.
    pub inner: Arc<dyn Queue>,
    /// Which calls.
    pub faults: Arc<Faults>,
}

/// Runs a call under its fate.
macro_rules! fated {
    ($faults:expr, $fault:expr, $call:expr) => {
        match $faults.next() {
            Fate::Passes => $call.await,
            Fate::FailsBefore => Err($fault.into()),
            Fate::FailsAfter => {
                let _ = $call.await;
                Err($fault.into())
            }
        }
    };
}

macro_rules! reads {
    ($($name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl Store for FaultyStore {
            async fn commit(&self, writes: Vec<Write>) -> Result<(), CommitError> {
                fated!(self.faults, store_fault(), self.inner.commit(writes))
            }

            $(async fn $name(&self, $($arg: $type),*) -> Result<$answer, StoreError> {
                fated!(self.faults, store_fault(), self.inner.$name($($arg),*))
            })*
        }
    };
}

reads! {
    letter(id: &LetterId) -> Option<Letter>;
    letters(ids: &[LetterId]) -> Vec<Letter>;
    letters_of(group: &GroupId, state: Option<LetterStateKind>, after: Option<&Cursor>, limit: usize) -> Page<Letter>;
    has_death(id: &DeathId) -> bool;
    deaths(letter: &LetterId) -> Vec<Death>;
    group(id: &GroupId) -> Option<Group>;
    group_facts(id: &GroupId, arrivals_from: i64) -> Option<GroupFacts>;
    groups(arrivals_from: i64, after: Option<&Cursor>, limit: usize) -> Page<GroupFacts>;
    plan(group: &GroupId) -> Option<Plan>;
    replay(id: &ReplayId) -> Option<Replay>;
    replays(group: Option<&GroupId>, after: Option<&Cursor>, limit: usize) -> Page<Replay>;
    unfinished_replays() -> Vec<ReplayId>;
    ledger(replay: &ReplayId) -> Ledger;
    entries(
        replay: &ReplayId,
        wave: Option<u32>,
        outcome: Option<OutcomeKind>,
        after: Option<&Cursor>,
        limit: usize
    ) -> Page<Entry>;
    entry(replay: &ReplayId, letter: &LetterId) -> Option<Entry>;
    sent(messages: &[MessageId]) -> BTreeMap<MessageId, (ReplayId, LetterId)>;
    deployment(service: &str) -> Option<Deployment>;
    audit(group: &GroupId, after: Option<&Cursor>, limit: usize) -> Page<AuditRecord>;
}

#[async_trait]
impl Queue for FaultyQueue {
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError> {
        fated!(self.faults, queue_fault(queue), self.inner.receive(queue, max, wait, visibility))
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        fated!(self.faults, queue_fault(queue), self.inner.send_batch(queue, messages))
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        fated!(self.faults, queue_fault(queue), self.inner.delete_batch(queue, receipt_handles))
    }

    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError> {
        fated!(self.faults, queue_fault(queue), self.inner.change_visibility(queue, receipt_handle, visibility))
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        fated!(self.faults, queue_fault(queue), self.inner.attributes(queue))
    }
}
