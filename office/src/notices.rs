//! What consumers say of themselves: the states of their circuits, and which messages they may handle twice. The gate
//! reads it as evidence. See [`domain::notice`].
//!
//! Notices, stamps and receipts are kept in one record for each main queue. Only a notice fails if it cannot be kept: it
//! comes again. What stamps and receipts say besides is repeated with the next one, so it never delays a letter.

use crate::commit::{Tries, commit};
use crate::error::{OfficeError, chain};
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::gate::{ConsumerFacts, Repeat, Repeatable};
use domain::group::Variant;
use domain::id::QueueArn;
use domain::letter::Letter;
use domain::notice::{Declaration, KeptNotices, Notice, Source, Statement};
use domain::replay::Receipt;
use std::collections::BTreeMap;

/// What became of a notice.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is kept, or says nothing new.
    Kept,
    /// It does not count, for this reason.
    Refused(&'static str),
}

/// Statements by main queue.
pub(crate) type Statements = BTreeMap<QueueArn, Vec<Statement>>;

/// Takes a notice. `sender` is SQS's `SenderId` of the message that it came in.
pub(crate) async fn take(office: &Office, notice: &Notice, sender: Option<&str>) -> Result<Taken, OfficeError> {
    if !is_believed(office, &notice.queue, sender).await? {
        return Ok(Taken::Refused("its sender is not a function that consumes this queue"));
    }
    keep(office, &notice.queue, &notice.statements()).await?;
    Ok(Taken::Kept)
}

/// Whether a sender may speak for the consumers of a queue. Where the platform says which functions consume it, only they
/// may. Elsewhere whoever may send to the office's queues is believed: the queues' own policies decide.
pub(crate) async fn is_believed(office: &Office, queue: &QueueArn, sender: Option<&str>) -> Result<bool, OfficeError> {
    let attached = office.store.attached(queue).await?;
    let is_consumer = attached.and_then(|attached| attached.is_consumer(sender.unwrap_or_default(), office.now()));
    Ok(is_consumer.unwrap_or(true))
}

/// Keeps what stamps or receipts say.
pub(crate) async fn keep_all(office: &Office, statements: Statements) {
    for (queue, statements) in statements {
        if let Err(error) = keep(office, &queue, &statements).await {
            tracing::warn!(%queue, error = chain(&error), "notices of consumers were not stored; consumers send them again");
        }
    }
}

async fn keep(office: &Office, queue: &QueueArn, statements: &[Statement]) -> Result<(), OfficeError> {
    let mut tries = Tries::new(format!("the notices of {queue}"));
    loop {
        tries.begin()?;
        let now = office.now();
        let (before, expect) = match office.store.notices(queue).await? {
            Some(kept) => (kept.clone(), Expect::Version(kept.version)),
            None => (KeptNotices::new(queue.clone(), now), Expect::Absent),
        };
        let Some(after) = before.with(statements, now) else { return Ok(()) };
        if commit(office, vec![Write::Notices { kept: Box::new(after), expect }]).await?.is_made() {
            return Ok(());
        }
    }
}

/// Adds what a receipt says that a letter in flight was processed with.
pub(crate) fn add_receipt(found: &mut Statements, letter: &Letter, receipt: &Receipt) {
    let Some(queue) = &letter.main_queue else { return };
    let declaration = Declaration {
        message_type: letter.diagnosis.message_type.clone(),
        idempotent: receipt.idempotent,
        consumer: receipt.consumer.clone(),
        version: receipt.consumer_version.clone(),
        source: Source::Receipt,
        said_at: receipt.processed_at,
    };
    found.entry(queue.clone()).or_default().push(Statement::Repeat(declaration));
}

/// What the gate of one group needs to know of its consumers.
pub(crate) struct OfConsumers {
    kept: Option<KeptNotices>,
    repeats: Vec<Repeat>,
}

impl OfConsumers {
    /// Reads it for letters of these types.
    pub async fn read(office: &Office, group: &Variant, types: &[Option<String>]) -> Result<Self, OfficeError> {
        let kept = match &group.main_queue {
            Some(queue) => office.store.notices(queue).await?,
            None => None,
        };
        let repeat = |message_type: &Option<String>| {
            let name = message_type.as_deref();
            let declared = || kept.as_ref()?.declaration(name).cloned();
            let by_policy = office.policy.may_repeat(name).map(Repeatable::Policy);
            let known = by_policy.or_else(|| declared().map(Repeatable::Declared)).unwrap_or(Repeatable::Unknown);
            Repeat { message_type: message_type.clone(), known }
        };
        let repeats = types.iter().map(repeat).collect();
        Ok(Self { kept, repeats })
    }

    /// Returns the facts for the gate of this group.
    pub fn facts(&self, group: &Variant) -> ConsumerFacts<'_> {
        let kept = self.kept.as_ref();
        ConsumerFacts {
            circuits: kept.map_or(&[], |kept| kept.circuits.as_slice()),
            dependency: kept.and_then(|kept| kept.dependency(&group.id)),
            repeats: &self.repeats,
        }
    }
}
