//! What a process knows of all groups is what the store has, whichever process changed it; and it reads only changes.

use crate::api::{ByName, send};
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::samples::{self, group_id, keep, letter};
use harness::world::World;
use office::api::{self, Api};
use office::office::Office;
use office::port::Write;
use std::sync::Arc;

const ERRORS: [&str; 3] = ["orders::Broken", "orders::pricing::Overflow", "orders::stock::Missing"];

/// Returns the API of another process of the same office, which knows nothing yet.
fn process(world: &World) -> Router {
    let office = Office { known_groups: Arc::default(), ..world.office.clone() };
    let api = Api { office, identify: Arc::new(ByName), name: "test".into(), watching: [world.dlq.clone()].into() };
    api::router(api, &api::endpoints())
}

async fn list(router: &Router) -> String {
    let request = Request::builder().uri("/api/v1/groups").header("authorization", "Bearer approver");
    let answer = send(router, request.body(Body::empty()).unwrap()).await;
    assert!(answer.status.is_success());
    String::from_utf8(answer.body).unwrap()
}

/// A process that has answered all along says the same as one that reads everything.
async fn agree(world: &World, old: &Router, after: &str) {
    assert_eq!(list(old).await, list(&process(world)).await, "after {after}");
}

#[tokio::test]
async fn a_process_that_reads_changes_says_what_one_says_that_reads_everything() {
    let world = World::new().await;
    let old = process(&world);
    agree(&world, &old, "nothing").await;
    for (step, error) in ERRORS.into_iter().enumerate() {
        world.place(10 * step as u64, 4).await;
        world.consume(&|_| Some(error), "v1").await;
        world.intake().await;
        agree(&world, &old, error).await;
    }
    let group = world.store.groups(0, None, 1).await.unwrap().items.remove(0).variant.id;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    agree(&world, &old, "a plan").await;
    let id = world.approve(&group, &plan).await.id().clone();
    agree(&world, &old, "an approval").await;
    world.run(&id, &|_| None, "v2").await;
    agree(&world, &old, "a replay").await;
    // Within an hour it goes on with what it knows, although bars of the chart pass; then it reads everything.
    for minutes in [20, 30, 30, 45, 300] {
        world.advance(Span::from_mins(minutes));
        office::sweep::run(&world.office).await.unwrap();
        agree(&world, &old, "some time").await;
    }
}

/// A process that finds no snapshot, or none that it can use, reads everything.
#[tokio::test]
async fn a_process_begins_with_the_snapshot_of_a_sweep() {
    let world = World::new().await;
    world.one_group(3).await;
    for _ in 0..3 {
        world.advance(Span::from_mins(61));
        office::sweep::run(&world.office).await.unwrap();
    }
    let reads = async || {
        let before = world.faults.calls();
        let listed = list(&process(&world)).await;
        (world.faults.calls() - before, listed)
    };
    assert_eq!(reads().await.0, 2, "the snapshot, and what has changed: nothing");
    world.place(50, 4).await;
    world.consume(&|_| Some(ERRORS[2]), "v1").await;
    world.intake().await;
    let (_, with) = reads().await;
    assert!(with.contains("\"total\":2"), "{with}");
    for packed in [&b""[..], b"garbage", &[0x1f, 0x8b, 8]] {
        world.store.commit(vec![Write::Snapshot(packed.into())]).await.unwrap();
        let (calls, without) = reads().await;
        assert_eq!((without.as_str(), calls), (with.as_str(), 3), "{packed:?}");
    }
}

#[tokio::test]
async fn an_unchanged_list_is_one_read() {
    let world = World::new().await;
    let router = process(&world);
    let ids: Vec<_> = (0..30).map(|n| group_id(&format!("group {n}"))).collect();
    for (n, id) in ids.iter().enumerate() {
        let mut writes = keep(&[letter(id, n as u64)]);
        writes.push(samples::open(&samples::group(id)));
        world.store.commit(writes).await.unwrap();
    }
    let calls = async || {
        let before = world.faults.calls();
        list(&router).await;
        world.faults.calls() - before
    };
    calls().await;
    assert_eq!(calls().await, 1, "what has changed: nothing");
    for n in [3, 4] {
        world.store.commit(keep(&[letter(&ids[n], 100 + n as u64)])).await.unwrap();
    }
    assert_eq!(calls().await, 3, "what has changed, and the two groups");
    assert_eq!(calls().await, 1);
    let before = world.faults.calls();
    office::sweep::run(&world.office).await.unwrap();
    let first = world.faults.calls() - before;
    office::sweep::run(&world.office).await.unwrap();
    assert!(world.faults.calls() - before < 2 * first, "the second sweep of a process reads less than the first");
}
