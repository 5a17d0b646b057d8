//! Payload transforms and their dry runs.

use super::{commit, refused};
use domain::filter::LetterFilter;
use domain::id::{Actor, GroupId};
use domain::transform::{DryCounts, DryRun, LetterFailure, Transform};
use harness::samples::{at_s, group_id};
use office::port::{Expect, Store, TransformFacts, Write};

fn version(group: &GroupId, version: u32) -> Transform {
    Transform {
        group: group.clone(),
        version,
        program: format!(".a = {version} # \u{1F4EE}\n"),
        note: (version > 1).then(|| "the producer is fixed".into()),
        saved_by: Actor::from("otto"),
        saved_at: at_s(i64::from(version)),
    }
}

fn save(transform: &Transform) -> Write {
    Write::Transform(Box::new(transform.clone()))
}

fn write(run: &DryRun, expect: Expect) -> Write {
    Write::DryRun { run: Box::new(run.clone()), expect }
}

pub async fn version_of_a_transform_is_written_once(store: &dyn Store) {
    let id = group_id("transforms");
    assert_eq!(store.transforms(&id).await.unwrap(), []);
    assert_eq!(store.transform(&id, 1).await.unwrap(), None);
    // More than nine versions: they sort as numbers.
    let all: Vec<Transform> = (1..=12).map(|n| version(&id, n)).collect();
    for transform in &all {
        commit(store, vec![save(transform)]).await;
    }
    let other = Transform { program: "empty".into(), ..all[0].clone() };
    assert_eq!(refused(store, vec![save(&other)]).await, [0]);
    let newest_first: Vec<_> =
        all.iter().rev().map(|t| TransformFacts { transform: t.clone(), dry_run: None }).collect();
    assert_eq!(store.transforms(&id).await.unwrap(), newest_first);
    assert_eq!(store.transform(&id, 12).await.unwrap().as_ref(), newest_first.first());
    assert_eq!(store.transforms(&group_id("no transforms")).await.unwrap(), []);
}

pub async fn dry_run_is_written_only_over_the_revision_it_had(store: &dyn Store) {
    let id = group_id("dry runs");
    let (first, second) = (version(&id, 1), version(&id, 2));
    commit(store, vec![save(&first), save(&second)]).await;
    let begun = DryRun::begun(&first, &LetterFilter::default(), &Actor::from("otto"), at_s(3), 0);
    let page = DryCounts { changed: 5, unchanged: 1, failed: 1 };
    let failures = vec![LetterFailure { letter: "a letter".into(), reason: "not JSON".into() }];
    let one = begun.counted(page, failures, Some("letters:5:x".into()), at_s(4));
    commit(store, vec![write(&one, Expect::Absent)]).await;
    assert_eq!(refused(store, vec![write(&one, Expect::Absent)]).await, [0]);
    let two = one.clone().counted(page, Vec::new(), None, at_s(5));
    assert_eq!(refused(store, vec![write(&two, Expect::Version(7))]).await, [0]);
    commit(store, vec![write(&two, Expect::Version(1))]).await;
    assert_eq!(refused(store, vec![write(&two, Expect::Version(1))]).await, [0]);
    let facts = store.transform(&id, 1).await.unwrap().unwrap();
    assert_eq!(facts, TransformFacts { transform: first, dry_run: Some(two) });
    let all = store.transforms(&id).await.unwrap();
    assert_eq!(all, [TransformFacts { transform: second, dry_run: None }, facts]);
}
