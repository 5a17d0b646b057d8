//! The audit of views: who saw the payload of which letter, and who saved which history.
//!
//! A view is recorded before it is answered, so that nothing is shown without a record. Pages poll, so a person's views
//! of one thing are recorded once per hour. The office remembers them in memory: a restart, or another function
//! instance on AWS, may record a view again.

use super::answer::ApiError;
use super::{Api, Caller};
use crate::audit::Auditor;
use crate::commit::commit;
use crate::merged;
use domain::audit::Act;
use domain::id::{GroupId, ReplayId, hash_hex};
use domain::time::Span;
use std::collections::HashSet;
use tokio::sync::Mutex;

/// The most views that the office remembers, about 1 MB. Beyond them a view may be recorded again within its hour.
const REMEMBERED_MAX: usize = 10_000;
/// How long a view is remembered.
const HOUR: Span = Span::from_mins(60);

/// The views that were recorded in the current hour.
#[derive(Default)]
pub(super) struct Views(Mutex<Recorded>);

#[derive(Default)]
struct Recorded {
    hour: i64,
    views: HashSet<String>,
}

/// What a person saw.
pub(super) struct View<'a> {
    /// What they did.
    pub act: Act,
    /// The fingerprint or group of what they saw. The record goes to the group that people see.
    pub group: &'a GroupId,
    /// The replay, if it is one of a replay.
    pub replay: Option<&'a ReplayId>,
    /// What they saw, in words.
    pub detail: String,
}

impl Views {
    /// Records a view, unless it was recorded in this hour. If the store cannot keep the record, nothing may be shown.
    pub(super) async fn record(&self, api: &Api, caller: &Caller, view: View<'_>) -> Result<(), ApiError> {
        let now = api.office.now();
        let hour = now.as_ms().div_euclid(HOUR.as_ms());
        let View { act, group, replay, detail } = view;
        // Two people may have one name.
        let (issuer, subject) = caller.id.as_ref().map_or(("", ""), |id| (&id.issuer, &id.subject));
        let key = hash_hex(&[caller.actor.as_str(), issuer, subject, group.as_str(), &detail]);
        // Held over the commit, so that two calls at once make one record.
        let mut recorded = self.0.lock().await;
        if recorded.hour != hour || recorded.views.len() >= REMEMBERED_MAX {
            *recorded = Recorded { hour, views: HashSet::new() };
        }
        if recorded.views.contains(&key) {
            return Ok(());
        }
        let shown = merged::group_of(&*api.office.store, group).await?;
        let by = Auditor::new(&caller.actor, &shown, now);
        let by = if let Some(replay) = replay { by.in_replay(replay) } else { by };
        // An audit record has no condition that could fail.
        let _ = commit(&api.office, vec![by.record(act, detail, None)]).await?;
        recorded.views.insert(key);
        Ok(())
    }
}
