//! What the handlers share about groups: writes of counters, groups that open again after a death, alerts.

use crate::audit::Auditor;
use crate::commit::{Tries, commit};
use crate::error::{OfficeError, chain};
use crate::merged;
use crate::office::Office;
use crate::port::{Expect, Write};
use crate::summary;
use domain::alert::{Alert, AlertKind};
use domain::audit::Act;
use domain::group::{CountsDeltas, GroupState, Variant};
use domain::id::GroupId;
use domain::letter::Letter;
use domain::reading::Reading;
use domain::time::Timestamp;
use std::collections::BTreeSet;

/// Returns the writes of these counters, in the order of their fingerprints.
pub(crate) fn count_writes(counts: CountsDeltas) -> impl Iterator<Item = Write> {
    counts.0.into_iter().map(|(group, delta)| Write::Counts { group, delta: Box::new(delta) })
}

/// Returns the writes that open a group.
pub(crate) fn open_group(group: &Variant, now: Timestamp) -> [Write; 2] {
    let detail = format!("First letter: {}", group.title);
    let audit = Auditor::office(&group.id, now).record(Act::GroupOpened, detail, None);
    [Write::Variant { variant: Box::new(group.clone()), expect: Expect::Absent }, audit]
}

/// Returns the variant that a letter opens with its new death, and the writes about its fingerprint's variant. A stored
/// variant is written if the letter lacks a value of its title.
pub(crate) async fn of_death(
    office: &Office,
    letter: &Letter,
    reading: &Reading,
    now: Timestamp,
) -> Result<(Option<Variant>, Vec<Write>), OfficeError> {
    let Some(group) = office.store.group(&letter.group).await? else {
        let opened = Variant::opened_by(letter, reading);
        let writes = open_group(&opened, now).into();
        return Ok((Some(opened), writes));
    };
    let write = |after| Write::Variant { variant: Box::new(after), expect: Expect::Version(group.version) };
    Ok((None, group.contradicted_by([letter]).map(write).into_iter().collect()))
}

/// The versions of a consumer that letters died on, as far as the letters tell.
pub(crate) type Versions = BTreeSet<String>;

/// Returns the version that the latest death of a letter happened on.
pub(crate) fn version_of(letter: &Letter) -> Versions {
    letter.diagnosis.consumer_version.iter().cloned().collect()
}

/// Opens a closed group again after deaths, the latest at this time, and notes the versions that they happened on. Returns
/// whether that is a regression. A failure is only logged: each sweep checks every closed group again, and the next death on a
/// version notes it.
pub(crate) async fn after_death(
    office: &Office,
    id: &GroupId,
    died_at: Timestamp,
    versions: &Versions,
    now: Timestamp,
) -> bool {
    match reopen_group(office, id, died_at, versions, now).await {
        Ok(Some(group)) => {
            let regressed = matches!(group.state, GroupState::Regressed { .. });
            office
                .alert(if regressed { regression(office, &group, now) } else { discarded_again(office, &group, now) })
                .await;
            regressed
        }
        Ok(None) => false,
        Err(error) => {
            tracing::error!(group = %id, error = %chain(&error), "a closed group was not opened again; the next sweep tries again");
            false
        }
    }
}

/// Opens the variant of a fingerprint and the group that it is merged into. A variant that was resolved before its
/// merge has a state of its own; people see the state of the group, which is returned.
async fn reopen_group(
    office: &Office,
    id: &GroupId,
    died_at: Timestamp,
    versions: &Versions,
    now: Timestamp,
) -> Result<Option<Variant>, OfficeError> {
    let own = reopen(office, id, died_at, versions, now).await?;
    let group = merged::group_of(&*office.store, id).await?;
    let of_members = Versions::new();
    let group = if group == *id { None } else { reopen(office, &group, died_at, &of_members, now).await? };
    Ok(group.or(own))
}

async fn reopen(
    office: &Office,
    id: &GroupId,
    died_at: Timestamp,
    versions: &Versions,
    now: Timestamp,
) -> Result<Option<Variant>, OfficeError> {
    let mut tries = Tries::new(format!("group {id}"));
    loop {
        tries.begin()?;
        let Some(group) = office.store.group(id).await? else { return Ok(None) };
        let noted = group.died_on(versions);
        let Some(mut after) = group.after_death(died_at, now) else {
            let Some(noted) = noted else { return Ok(None) };
            let write = Write::Variant { variant: Box::new(noted), expect: Expect::Version(group.version) };
            if commit(office, vec![write]).await?.is_made() {
                return Ok(None);
            }
            continue;
        };
        if let Some(noted) = noted {
            after.died_on = noted.died_on;
        }
        let (act, detail) = match after.state {
            GroupState::Regressed { .. } => {
                (Act::GroupRegressed, "A letter of this group failed after the fix took effect")
            }
            GroupState::Open => (Act::GroupOpened, "A letter of this group failed after its letters were discarded"),
            _ => (Act::GroupOpened, "A letter that failed before the fix arrived late and now waits for a replay"),
        };
        let is_news = !matches!(after.state, GroupState::FixDeclared { .. });
        let writes = vec![
            Write::Variant { variant: Box::new(after.clone()), expect: Expect::Version(group.version) },
            Auditor::office(id, now).record(act, detail, None),
        ];
        if commit(office, writes).await?.is_made() {
            return Ok(is_news.then_some(after));
        }
    }
}

/// Returns the alert of a new group.
pub(crate) fn new_group(office: &Office, group: &Variant, now: Timestamp) -> Alert {
    Alert {
        kind: AlertKind::NewGroup,
        level: group.severity,
        at: now,
        group: Some(group.id.clone()),
        replay: None,
        title: format!("New group: {}", group.title),
        summary: summary::about_group(AlertKind::NewGroup.label(), group, &office.policy),
        advice: "Open the group and check its impact. Find the cause, and declare the fix once it is live.".into(),
    }
}

fn discarded_again(office: &Office, group: &Variant, now: Timestamp) -> Alert {
    Alert {
        kind: AlertKind::DiscardedAgain,
        level: group.severity,
        at: now,
        group: Some(group.id.clone()),
        replay: None,
        title: format!("Failing again after a discard: {}", group.title),
        summary: summary::about_group(AlertKind::DiscardedAgain.label(), group, &office.policy),
        advice: "The letters of this group were discarded, but its cause is still there. Find the cause.".into(),
    }
}

fn regression(office: &Office, group: &Variant, now: Timestamp) -> Alert {
    Alert {
        kind: AlertKind::Regression,
        level: group.severity,
        at: now,
        group: Some(group.id.clone()),
        replay: None,
        title: format!("Regression: {}", group.title),
        summary: summary::about_group(AlertKind::Regression.label(), group, &office.policy),
        advice: "The fix of this group failed, or an older version is running again. Compare the deployed version with the fix.".into(),
    }
}
