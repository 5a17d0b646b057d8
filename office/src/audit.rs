//! Audit records: who did what to which group, and when. The only place in the office that makes one.

use crate::port::Write;
use domain::audit::{Act, AuditRecord};
use domain::id::{Actor, GroupId, ReplayId};
use domain::time::Timestamp;

/// Who acts on which group, and when: what all audit records of one commit share.
pub(crate) struct Auditor {
    pub actor: Actor,
    pub at: Timestamp,
    group: GroupId,
    replay: Option<ReplayId>,
}

impl Auditor {
    /// A person or a rule of the policy acts.
    pub fn new(actor: &Actor, group: &GroupId, at: Timestamp) -> Self {
        Self { actor: actor.clone(), at, group: group.clone(), replay: None }
    }

    /// The office itself acts.
    pub fn office(group: &GroupId, at: Timestamp) -> Self {
        Self::new(&Actor::office(), group, at)
    }

    /// The same, in a replay.
    pub fn in_replay(self, replay: &ReplayId) -> Self {
        Self { replay: Some(replay.clone()), ..self }
    }

    /// The write of a record. `detail` says in a sentence what was done, `reason` why, in the actor's own words.
    pub fn record(&self, act: Act, detail: impl Into<String>, reason: Option<String>) -> Write {
        Write::Audit(Box::new(AuditRecord {
            at: self.at,
            actor: self.actor.clone(),
            act,
            group: self.group.clone(),
            replay: self.replay.clone(),
            detail: detail.into(),
            reason,
        }))
    }
}
