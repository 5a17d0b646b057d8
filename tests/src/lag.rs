//! Lists that lag: what was committed moments ago stands in none of them yet, as with an index of DynamoDB. Records are
//! read as they are.

use domain::id::{LetterId, MessageId, ReplayId};
use domain::replay::Entry;
use domain::time::{Span, Timestamp};
use lambda::port::Write;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long an index may lag. Usually it is milliseconds; AWS names no bound.
const LAG: Span = Span::from_secs(1);

/// When each record that is listed somewhere was committed last.
pub struct Lag {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    committed: Mutex<HashMap<String, Timestamp>>,
}

/// What lists list.
pub trait Listed {
    /// What tells it from all others.
    fn name(&self) -> String;
}

impl Listed for domain::letter::Letter {
    fn name(&self) -> String {
        format!("letter {}", self.id)
    }
}

impl Listed for Entry {
    fn name(&self) -> String {
        format!("entry {} {}", self.replay, self.letter)
    }
}

impl Listed for MessageId {
    fn name(&self) -> String {
        format!("sent {self}")
    }
}

/// An answer that is a list.
pub trait List {
    /// Without what the list does not know yet.
    fn without_latest(self, lag: &Lag) -> Self;
}

impl<T: Listed> List for lambda::port::Page<T> {
    fn without_latest(mut self, lag: &Lag) -> Self {
        self.items.retain(|item| !lag.hides(item));
        self
    }
}

impl List for BTreeMap<MessageId, (ReplayId, LetterId)> {
    fn without_latest(mut self, lag: &Lag) -> Self {
        self.retain(|message, _| !lag.hides(message));
        self
    }
}

impl Lag {
    /// Nothing was committed yet.
    pub fn new(now: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        Self { now, committed: Mutex::default() }
    }

    /// A commit is in the store.
    pub fn committed(&self, writes: &[Write]) {
        let names = writes.iter().filter_map(|write| match write {
            Write::Letter { letter, .. } => Some(letter.name()),
            Write::Entry { entry, .. } => Some(entry.name()),
            Write::Sent { message, .. } => Some(message.name()),
            _ => None,
        });
        let at = (self.now)();
        self.state().extend(names.map(|name| (name, at)));
    }

    fn hides(&self, item: &impl Listed) -> bool {
        self.state().get(&item.name()).is_some_and(|at| (self.now)() < at.plus(LAG))
    }

    fn state(&self) -> MutexGuard<'_, HashMap<String, Timestamp>> {
        self.committed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
