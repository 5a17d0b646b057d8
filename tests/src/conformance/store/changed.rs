//! What has changed since a point.

use super::{commit, refused, stored};
use domain::group::Variant;
use domain::id::GroupId;
use domain::letter::LetterState;
use harness::samples::{self, Chance, group, group_id, keep, letter, move_letters, replay_id};
use office::port::{ChangePoint, Changed, Expect, Store, Write};
use std::collections::BTreeSet;

async fn point(store: &dyn Store) -> ChangePoint {
    let none = store.changed(None).await.expect("the store answers").expect("a point");
    assert!(none.groups.is_empty(), "without a point nothing is listed: {none:?}");
    none.next
}

async fn since(store: &dyn Store, point: ChangePoint) -> Changed {
    store.changed(Some(point)).await.expect("the store answers").expect("the point is recent")
}

pub async fn groups_that_commits_touched_are_listed(store: &dyn Store) {
    let (kept, renamed, moved) = (group_id("kept"), group_id("renamed"), group_id("moved"));
    let letter_of_moved = letter(&moved, 1);
    for id in [&renamed, &moved] {
        commit(store, vec![samples::open(&group(id))]).await;
    }
    commit(store, keep(std::slice::from_ref(&letter_of_moved))).await;
    let start = point(store).await;

    let mut writes = keep(&[letter(&kept, 2)]);
    writes.push(samples::open(&group(&kept)));
    commit(store, writes).await;
    assert!(since(store, start).await.groups.contains(&kept));

    let before = store.group(&renamed).await.expect("the store answers").expect("it exists");
    let after = Variant { owner: Some("ana".into()), ..before.moved(before.state.clone()) };
    let write = |expect| vec![Write::Variant { variant: Box::new(after.clone()), expect }];
    assert_eq!(refused(store, write(Expect::Version(99))).await, [0]);
    commit(store, write(Expect::Version(before.version))).await;

    let before = stored(store, &letter_of_moved).await;
    let after = before.moved(LetterState::InReplay { replay: replay_id("r") });
    commit(store, move_letters(&[(before, after)])).await;
    let changed = since(store, start).await;
    for id in [&kept, &renamed, &moved] {
        assert!(changed.groups.contains(id), "{id} is missing from {changed:?}");
    }
    assert!(changed.next >= start);
}

pub async fn no_change_is_missed_from_point_to_point(store: &dyn Store) {
    let mut chance = Chance(7);
    let ids: Vec<GroupId> = (0..6).map(|n| group_id(&format!("change {n}"))).collect();
    let mut last = point(store).await;
    let mut touched = BTreeSet::new();
    for n in 0..60 {
        let id = &ids[chance.below(ids.len())];
        commit(store, keep(&[letter(id, n)])).await;
        touched.insert(id.clone());
        if chance.below(3) == 0 {
            let changed = since(store, last).await;
            assert!(changed.groups.is_superset(&touched), "step {n}: {touched:?} are not in {changed:?}");
            (last, touched) = (changed.next, BTreeSet::new());
        }
    }
}

pub async fn a_point_is_valid_for_every_reader(store: &dyn Store) {
    let start = point(store).await;
    for n in 0..4 {
        commit(store, keep(&[letter(&group_id(&format!("reader {n}")), n)])).await;
        // Another reader goes on from point to point; the first one still finds everything.
        let other = point(store).await;
        assert!(since(store, other).await.next >= other);
        assert!(since(store, start).await.groups.len() as u64 > n);
    }
}

pub async fn snapshot_is_replaced_whatever_its_size(store: &dyn Store) {
    let read = async || store.snapshot().await.expect("the store answers");
    assert_eq!(read().await, None);
    let mut chance = Chance(3);
    for bytes in [0, 10, 1_000_000, 400_000, 1] {
        let packed: Vec<u8> = (0..bytes).map(|_| chance.below(256) as u8).collect();
        commit(store, vec![Write::Snapshot(packed.clone().into())]).await;
        assert!(read().await == Some(packed), "{bytes} bytes");
    }
}
