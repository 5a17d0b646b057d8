//! Merged groups count a customer once, in the list, on their page and in the metric, from the sweep after the change on.

use crate::measured::Recorded;
use crate::merged::{ask, router_of};
use domain::group::Customers::{self, AtMost, Exact};
use domain::id::GroupId;
use domain::metric::CUSTOMERS_AFFECTED;
use domain::time::Span;
use harness::samples::at_s;
use harness::world::World;
use office::office::Office;
use office::{act, sweep};
use std::sync::Arc;
use wire::{GroupAnswer, GroupsAnswer, UnmergeRequest};

const VOLUMES: [&str; 3] = ["a", "b", "c"];

/// Lets letters die, each on a volume. Order `n` is of customer `n % 7`.
async fn die(world: &World, letters: &[(u64, usize)]) {
    for (order, volume) in letters {
        world.die(*order, &format!("volume /srv/{} lost its index", VOLUMES[*volume]), at_s(*order as i64)).await;
    }
    world.intake().await;
}

async fn id_of(world: &World, volume: usize) -> GroupId {
    let groups = world.store.groups(i64::MAX, None, 10).await.unwrap().items;
    let title = format!("volume /srv/{} lost its index", VOLUMES[volume]);
    groups.into_iter().find(|facts| facts.variant.title.ends_with(&title)).expect("a group").variant.id
}

/// Returns the customers of a group, of whom list and page say the same, also in a process that reads everything.
async fn customers(world: &World, id: &GroupId) -> Customers {
    let fresh = Office { known_groups: Arc::default(), ..world.office.clone() };
    let mut said = Vec::new();
    for office in [world.office.clone(), fresh] {
        let router = router_of(office, world);
        let list: GroupsAnswer = ask(&router, "/groups", None).await;
        said.extend(list.groups.into_iter().find(|row| row.id == *id).map(|row| row.customers));
        let page: GroupAnswer = ask(&router, &format!("/groups/{id}"), None).await;
        assert_eq!(page.counts.customers, page.row.customers.number());
        said.push(page.row.customers);
    }
    assert!(said.iter().all(|customers| *customers == said[0]), "{said:?}");
    said[0]
}

async fn sweep(world: &World) {
    sweep::run(&world.office).await.unwrap();
}

#[tokio::test]
async fn a_merged_group_counts_a_customer_once() {
    let mut world = World::new().await;
    let metrics = Recorded::start(&mut world);
    // Customer 0 is in all three, customer 1 in the first, which is the oldest and so the representative.
    die(&world, &[(0, 0), (1, 0)]).await;
    world.advance(Span::from_secs(1));
    die(&world, &[(7, 1), (14, 2)]).await;
    let group = id_of(&world, 0).await;
    assert_eq!(customers(&world, &group).await, Exact(2), "a fingerprint alone");
    sweep(&world).await;
    assert_eq!(customers(&world, &group).await, AtMost(4), "just merged");
    sweep(&world).await;
    assert_eq!(customers(&world, &group).await, Exact(2));
    let counted = world.store.group(&group).await.unwrap().unwrap();
    sweep(&world).await;
    assert_eq!(world.store.group(&group).await.unwrap().unwrap(), counted, "nothing to count");
    let measured = metrics.values(&CUSTOMERS_AFFECTED);
    assert_eq!(measured, [4.0, 4.0, 2.0], "each sweep measures what it finds");

    for member in [1, 2] {
        let member = id_of(&world, member).await;
        assert_eq!(customers(&world, &member).await, Exact(1), "a member's own page");
    }
    die(&world, &[(21, 1)]).await;
    assert_eq!(customers(&world, &group).await, Exact(2), "of a customer who is known there");
    die(&world, &[(2, 1), (15, 1)]).await;
    assert_eq!(customers(&world, &group).await, AtMost(4), "of two whom this fingerprint has not seen");
    sweep(&world).await;
    assert_eq!(customers(&world, &group).await, Exact(3), "one of them is another's customer");
}

#[tokio::test]
async fn what_was_counted_does_not_outlive_an_unmerge() {
    let world = World::new().await;
    die(&world, &[(0, 0), (1, 0)]).await;
    world.advance(Span::from_secs(1));
    die(&world, &[(7, 1), (2, 1), (14, 2), (3, 2)]).await;
    sweep(&world).await;
    sweep(&world).await;
    let (group, member) = (id_of(&world, 0).await, id_of(&world, 2).await);
    assert_eq!(customers(&world, &group).await, Exact(4));
    let request = UnmergeRequest { fingerprint: member.clone(), reason: "another disk".into() };
    act::unmerge(&world.office, &world.otto(), &group, &request).await.unwrap();
    assert_eq!(customers(&world, &group).await, AtMost(4), "the sum of the other two");
    assert_eq!(customers(&world, &member).await, Exact(2));
    sweep(&world).await;
    assert_eq!(customers(&world, &group).await, Exact(3));
}
