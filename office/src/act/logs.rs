//! Asking for a search in the consumer's log.

use super::{commit_once, facts};
use crate::audit::Auditor;
use crate::error::OfficeError;
use crate::logs::wanted;
use crate::office::Office;
use domain::id::{Actor, GroupId};
use domain::logs::SEARCHES_PER_HOUR_MAX;

/// The most searches of one group in an hour that people may ask for: more would take the budget of other groups.
const PER_GROUP_MAX: usize = 6;

const _: () = assert!(PER_GROUP_MAX < SEARCHES_PER_HOUR_MAX);

/// Asks the office to look in the consumer's log for why a group's letters died. The next sweep does, within its budget.
pub async fn request_logs(office: &Office, actor: &Actor, id: &GroupId) -> Result<(), OfficeError> {
    let group = facts(office, id).await?.variant;
    let now = office.now();
    if !office.logs.can_read() {
        return Err(OfficeError::NotNow("this office cannot read logs".into()));
    }
    let search = group.logs.as_deref();
    if search.is_some_and(|search| search.wanted_at.is_some()) {
        return Ok(());
    }
    if search.map_or(0, |search| search.recent(now)) >= PER_GROUP_MAX {
        let why = format!("the log was searched {PER_GROUP_MAX} times within the hour; try again later");
        return Err(OfficeError::NotNow(why));
    }
    commit_once(office, wanted(&group, &Auditor::new(actor, id, now))).await
}
