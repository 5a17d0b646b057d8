//! Alerts about groups that wait, in each sweep. [`domain::watch`] says when.

use crate::commit::{Tries, commit};
use crate::error::{OfficeError, chain};
use crate::office::Office;
use crate::port::{Expect, GroupFacts, Write};
use crate::summary;
use domain::alert::{Alert, AlertKind};
use domain::group::{GroupState, Variant};
use domain::time::Timestamp;
use domain::watch::{News, Notified, WatchReason, Watched, watch};

/// Alerts people to those of these groups that need it. `groups` are whole groups, merged variants added up. An alert
/// that cannot be sent is tried again by the next sweep.
pub(crate) async fn tell(office: &Office, groups: &[GroupFacts], now: Timestamp) {
    for facts in groups {
        let group = &facts.variant;
        let open = facts.counts.open();
        let watched = Watched {
            severity: group.severity,
            in_replay: matches!(group.state, GroupState::Replaying { .. } | GroupState::Verifying { .. }),
            open: open.letters,
            money: &open.money,
            deaths: facts.counts.deaths.saturating_sub(facts.counts.undated),
            oldest_sent_at: facts.oldest_sent_at,
            loss_at: facts.loss_at,
        };
        let (news, notified) = watch(&watched, &group.notified, &office.policy.alerts, now);
        if notified == group.notified {
            continue;
        }
        // First the alert: one that is sent twice does less harm than one that is lost.
        if let Some(news) = news
            && let Err(error) = office.alerts.raise(&alert(office, group, &news, now)).await
        {
            tracing::error!(group = %group.id, error = chain(&error), "an alert was not sent; the next sweep tries again");
            continue;
        }
        if let Err(error) = remember(office, group, &notified).await {
            tracing::warn!(group = %group.id, error = chain(&error), "what an alert announced was not stored; the next sweep may announce it again");
        }
    }
}

async fn remember(office: &Office, group: &Variant, notified: &Notified) -> Result<(), OfficeError> {
    let mut tries = Tries::new(format!("group {}", group.id));
    loop {
        tries.begin()?;
        let Some(before) = office.store.group(&group.id).await? else { return Ok(()) };
        let after = Variant { notified: notified.clone(), ..before.moved(before.state.clone()) };
        let write = Write::Variant { variant: Box::new(after), expect: Expect::Version(before.version) };
        if commit(office, vec![write]).await?.is_made() {
            return Ok(());
        }
    }
}

fn alert(office: &Office, group: &Variant, news: &News, now: Timestamp) -> Alert {
    let (kind, advice) = match news.reason {
        WatchReason::LossNear => (
            AlertKind::LossNear,
            "If a fix is live, declare it and replay the letters that expire first. Otherwise tell the owner of the process.",
        ),
        WatchReason::MoneyAtRisk => (
            AlertKind::MoneyAtRisk,
            "Open the group, find out who works on it, and tell the owner of the process how much is at risk.",
        ),
        WatchReason::Growing => (
            AlertKind::GroupGrowing,
            "Stop the cause first: roll back the consumer's last deployment, or disable its event source mapping.",
        ),
        WatchReason::Waiting => (
            AlertKind::GroupWaiting,
            "Read the group's note and find out who works on it. If a fix is live, declare it and replay the group.",
        ),
    };
    let clauses = news.clauses.join("; ");
    Alert {
        kind,
        level: group.severity,
        at: now,
        group: Some(group.id.clone()),
        replay: None,
        title: format!("{}: {}: {clauses}", kind.label(), group.title),
        summary: summary::about_group(&format!("{}: {clauses}", kind.label()), group, &office.policy),
        advice: advice.into(),
    }
}
