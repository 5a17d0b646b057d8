//! Titles: what every letter of a group says is shown, once enough letters say it, and masked for ever when one differs.

use crate::api::send;
use axum::body::Body;
use axum::http::Request;
use domain::group::Variant;
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::world::World;
use office::intake;
use queue::{Queue as _, Received};
use serde::de::DeserializeOwned;
use wire::{GroupAnswer, GroupsAnswer, ReplayAnswer, ReplaysAnswer};

const BUG: &str = "index out of bounds: the len is 3 but the index is 99";
const OTHER: &str = "index out of bounds: the len is 3 but the index is 7";
const MASKED: &str = "StorageError: index out of bounds: the len is * but the index is *";
const SHOWN: &str = "StorageError: index out of bounds: the len is 3 but the index is 99";
const LATER: &str = "StorageError: index out of bounds: the len is 3 but the index is *";

async fn die(world: &World, orders: std::ops::Range<u64>, message: &str) {
    for order in orders {
        world.die(order, message, world.office.now()).await;
    }
    world.intake().await;
}

async fn variant(world: &World) -> Variant {
    world.store.group(&world.only_group().await).await.unwrap().unwrap()
}

/// Calls the API.
async fn get<T: DeserializeOwned>(world: &World, path: &str) -> T {
    let request = Request::builder().uri(format!("/api/v1{path}")).header("authorization", "Bearer token");
    let answer = send(&crate::merged::router(world), request.body(Body::empty()).unwrap()).await;
    serde_json::from_slice(&answer.body).unwrap()
}

/// Returns the title of the only group, in the list and on its page.
async fn title(world: &World) -> String {
    let list: GroupsAnswer = get(world, "/groups").await;
    let [row] = list.groups.as_slice() else { panic!("one group: {:?}", list.groups) };
    let page: GroupAnswer = get(world, &format!("/groups/{}", row.id)).await;
    assert_eq!(page.row.title, row.title);
    row.title.clone()
}

/// Returns the title of the only replay, in the list and on its page.
async fn replay_titles(world: &World) -> [String; 2] {
    let list: ReplaysAnswer = get(world, "/replays").await;
    let [listed] = list.replays.as_slice() else { panic!("one replay: {:?}", list.replays) };
    let page: ReplayAnswer = get(world, &format!("/replays/{}", listed.replay.id())).await;
    [listed.group_title.clone(), page.group_title]
}

#[tokio::test]
async fn what_all_letters_say_is_shown_until_one_differs() {
    let world = World::new().await;
    die(&world, 0..4, BUG).await;
    assert_eq!(title(&world).await, MASKED, "four customers");
    die(&world, 4..7, BUG).await;
    assert_eq!(title(&world).await, SHOWN);
    let before = variant(&world).await;
    assert_eq!((before.title.as_str(), before.version), (MASKED, 1), "seven letters, and it was written once");
    die(&world, 7..8, OTHER).await;
    assert_eq!(title(&world).await, LATER);
    die(&world, 8..20, BUG).await;
    die(&world, 20..30, OTHER).await;
    assert_eq!(title(&world).await, LATER);
    assert_eq!(
        variant(&world).await.version,
        before.version + 1,
        "22 more letters, and one write for the value that ended"
    );
    // Alerts are made before, and leave the office: they keep the masks.
    for alert in world.alerts.recent(100) {
        assert!(!alert.title.contains("99") && !alert.summary.contains("99"), "{alert:?}");
        assert!(!alert.title.contains("is 3"), "{alert:?}");
    }
}

#[tokio::test]
async fn letters_of_the_first_batch_are_compared_too() {
    let world = World::new().await;
    for (order, message) in [BUG, OTHER].into_iter().cycle().take(14).enumerate() {
        world.die(order as u64, message, world.office.now()).await;
    }
    world.intake().await;
    assert_eq!(title(&world).await, LATER);
    assert_eq!(variant(&world).await.version, 1);
}

#[tokio::test]
async fn a_letter_that_returns_with_another_value_masks_it() {
    let world = World::new().await;
    die(&world, 0..7, BUG).await;
    assert_eq!(title(&world).await, SHOWN);
    let group = world.only_group().await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    world.approve(&group, &plan).await;
    assert_eq!(replay_titles(&world).await, [SHOWN, SHOWN], "in the list of replays and on the replay's page");
    world.steps().await;
    let sent = world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
    assert!(!sent.is_empty());
    for message in &sent {
        world.fail(message, OTHER).await;
    }
    assert!(world.intake().await.returned > 0);
    assert_eq!(title(&world).await, LATER);
}

#[tokio::test]
async fn two_intakes_at_once_both_find_what_differs() {
    let world = World::new().await;
    die(&world, 0..7, BUG).await;
    world.die(7, OTHER, world.office.now()).await;
    world.die(8, "index out of bounds: the len is 4 but the index is 99", world.office.now()).await;
    let received: Vec<Received> = world.queue.receive(&world.dlq, 10, Span::ZERO, None).await.unwrap();
    let [one, two] = <[Received; 2]>::try_from(received).unwrap().map(|message| vec![world.dead(message)]);
    let (one, two) = tokio::join!(intake::keep(&world.office, one), intake::keep(&world.office, two));
    assert_eq!((one.kept, two.kept), (1, 1));
    assert_eq!(title(&world).await, MASKED);
    assert!(variant(&world).await.title_values.is_empty());
}
