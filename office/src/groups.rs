//! What the handlers share about groups: counters into writes, life after a death, alerts.

use crate::audit::Auditor;
use crate::commit::{Tries, commit};
use crate::error::{OfficeError, chain};
use crate::merged;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::alert::{Alert, AlertKind};
use domain::audit::Act;
use domain::group::{CountsDeltas, GroupState, Variant};
use domain::id::GroupId;
use domain::time::Timestamp;

/// The writes of some counters, in the order of their groups' ids.
pub(crate) fn count_writes(counts: CountsDeltas) -> impl Iterator<Item = Write> {
    counts.0.into_iter().map(|(group, delta)| Write::Counts { group, delta: Box::new(delta) })
}

/// Does to a group's life what a death does; true when it has regressed. A failure is logged only: sweep looks at
/// every resolved group again.
pub(crate) async fn after_death(office: &Office, id: &GroupId, died_at: Timestamp, now: Timestamp) -> bool {
    match revive_cause(office, id, died_at, now).await {
        Ok(Some(group)) => {
            office.alert(regression(&group, now)).await;
            true
        }
        Ok(None) => false,
        Err(error) => {
            tracing::error!(group = %id, error = %chain(&error), "a resolved group was not re-opened; sweep will try again");
            false
        }
    }
}

/// A fingerprint that was resolved before it was merged has a life of its own to come back to; but people look at the
/// head.
async fn revive_cause(
    office: &Office,
    id: &GroupId,
    died_at: Timestamp,
    now: Timestamp,
) -> Result<Option<Variant>, OfficeError> {
    let own = revive(office, id, died_at, now).await?;
    let group = merged::group_of(&*office.store, id).await?;
    let group = if group == *id { None } else { revive(office, &group, died_at, now).await? };
    Ok(group.or(own))
}

async fn revive(
    office: &Office,
    id: &GroupId,
    died_at: Timestamp,
    now: Timestamp,
) -> Result<Option<Variant>, OfficeError> {
    let mut tries = Tries::new(format!("group {id}"));
    loop {
        tries.begin()?;
        let Some(group) = office.store.group(id).await? else { return Ok(None) };
        let Some(after) = group.after_death(died_at, now) else { return Ok(None) };
        let regressed = matches!(after.state, GroupState::Regressed { .. });
        let (act, detail) = if regressed {
            (Act::GroupRegressed, "A letter died of this cause after its fix took effect")
        } else {
            (Act::GroupOpened, "A letter that had failed before the fix arrived late; it waits for a replay")
        };
        let writes = vec![
            Write::Variant { variant: Box::new(after.clone()), expect: Expect::Version(group.version) },
            Auditor::office(id, now).record(act, detail, None),
        ];
        if commit(office, writes).await?.is_made() {
            return Ok(regressed.then_some(after));
        }
    }
}

/// The alert of a cause that was not seen before.
pub(crate) fn new_cause(group: &Variant, now: Timestamp) -> Alert {
    Alert {
        kind: AlertKind::NewCause,
        level: group.severity,
        at: now,
        group: group.id.clone(),
        replay: None,
        title: format!("New cause: {}", group.title),
        advice: "Open the group, see what it costs, find the cause, and declare the fix when it is live.".into(),
    }
}

fn regression(group: &Variant, now: Timestamp) -> Alert {
    Alert {
        kind: AlertKind::Regression,
        level: group.severity,
        at: now,
        group: group.id.clone(),
        replay: None,
        title: format!("Back again: {}", group.title),
        advice: "The fix of this group did not hold, or an older version is running again. Compare the deployed version with the fix.".into(),
    }
}
