//! Versions of the policy.

use super::{commit, refused};
use domain::id::Actor;
use domain::policy::{Policy, PolicyVersion, changes};
use domain::time::Span;
use harness::samples::at_s;
use office::port::{Store, Write};

fn version(number: u64, quiet_s: i64) -> PolicyVersion {
    let mut policy = Policy::default();
    policy.gate.quiet_ms = Span::from_secs(quiet_s);
    PolicyVersion {
        version: number,
        changes: changes(&Policy::default(), &policy),
        policy,
        by: Actor::from("anna"),
        at: at_s(number.cast_signed()),
        reason: "quieter \u{1F4EE}".into(),
    }
}

fn write(version: &PolicyVersion) -> Vec<Write> {
    vec![Write::Policy(Box::new(version.clone()))]
}

pub async fn version_of_the_policy_follows_the_newest_and_never_changes(store: &dyn Store) {
    assert_eq!(store.policy().await.unwrap(), None);
    assert_eq!(store.policies(None, 10).await.unwrap(), []);
    assert_eq!(refused(store, write(&version(2, 1))).await, [0]);
    // More than fifteen versions: they sort as numbers.
    let all: Vec<_> = (1..=18).map(|number| version(number, 5)).collect();
    for version in &all {
        commit(store, write(version)).await;
        assert_eq!(store.policy().await.unwrap().as_ref(), Some(version));
    }
    for number in [1, 17, 18, 20] {
        assert_eq!(refused(store, write(&version(number, 99))).await, [0], "{number}");
    }
    let newest_first: Vec<_> = all.iter().rev().cloned().collect();
    assert_eq!(store.policies(None, 200).await.unwrap(), newest_first);
    assert_eq!(store.policies(None, 2).await.unwrap(), newest_first[..2]);
    assert_eq!(store.policies(Some(17), 3).await.unwrap(), newest_first[2..5]);
    assert_eq!(store.policies(Some(1), 3).await.unwrap(), []);
}

pub async fn one_of_two_policies_of_the_same_number_wins(store: &dyn Store) {
    let (one, other) = (version(1, 1), version(1, 2));
    let (a, b) = tokio::join!(store.commit(write(&one)), store.commit(write(&other)));
    assert_ne!(a.is_ok(), b.is_ok(), "{a:?} {b:?}");
    let kept = if a.is_ok() { one } else { other };
    assert_eq!(store.policies(None, 10).await.unwrap(), std::slice::from_ref(&kept));
    assert_eq!(store.policy().await.unwrap(), Some(kept));
}
