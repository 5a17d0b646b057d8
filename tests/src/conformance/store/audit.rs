//! The audit.

use super::{all, commit};
use domain::audit::{Act, AuditRecord};
use domain::id::GroupId;
use harness::samples::{at_s, audit, group_id, replay_id};
use office::port::{Store, Write};

fn write(record: &AuditRecord) -> Write {
    Write::Audit(Box::new(record.clone()))
}

async fn listed(store: &dyn Store, group: &GroupId) -> Vec<AuditRecord> {
    all(async |after| store.audit(group, after.as_ref(), 3).await).await
}

pub async fn audit_comes_newest_first(store: &dyn Store) {
    let id = group_id("audit");
    let mut records: Vec<_> = [5, 3, 8, 1, 2].map(|at| audit(&id, at_s(at), &format!("at {at}"))).into();
    records[0].replay = Some(replay_id("audit"));
    records[1].reason = Some("\0 because \u{1F4EE}".into());
    records[2].act = Act::ReplayPausedItself;
    for record in &records {
        commit(store, vec![write(record)]).await;
    }
    records.sort_by_key(|record| std::cmp::Reverse(record.at));
    assert_eq!(listed(store, &id).await, records);
}

pub async fn records_of_one_moment_keep_their_order(store: &dyn Store) {
    let id = group_id("one moment");
    let record = |n: usize| audit(&id, at_s(1), &format!("record {n}"));
    // Several in one commit, then commits of one each.
    commit(store, (0..4).map(|n| write(&record(n))).collect()).await;
    for n in [4, 5, 6] {
        commit(store, vec![write(&record(n))]).await;
    }
    let expected: Vec<_> = [6, 5, 4, 3, 2, 1, 0].map(record).into();
    assert_eq!(listed(store, &id).await, expected);
}

pub async fn audit_of_two_groups_does_not_mix(store: &dyn Store) {
    let (left, right) = (group_id("left"), group_id("right"));
    let (to_left, to_right) = (audit(&left, at_s(1), "left"), audit(&right, at_s(1), "right"));
    commit(store, vec![write(&to_left), write(&to_right)]).await;
    assert_eq!(listed(store, &left).await, [to_left]);
    assert_eq!(listed(store, &right).await, [to_right]);
}
