//! The list of groups: ranked and filtered by the office, with exact totals at any size.

use crate::api::{Answer, router, send};
use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use domain::group::{CountsDeltas, GroupState, Variant};
use domain::id::GroupId;
use domain::limits::GROUPS_SHOWN_MAX;
use domain::money::{Currency, Money};
use domain::policy::{Policy, Rates};
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::samples;
use office::act;
use office::port::{Expect, Store, Write};
use serde_json::{Value, json};
use wire::list::view::View;
use wire::{GroupAnswer, GroupRow, GroupsAnswer, NextStep, WaiverRequest};

async fn call(router: &Router, method: Method, path: &str, role: &str, body: &Value) -> Answer {
    let request = Request::builder().method(method).uri(format!("/api/v1{path}"));
    let request = request.header("authorization", format!("Bearer {role}")).header("content-type", "application/json");
    send(router, request.body(Body::from(body.to_string())).unwrap()).await
}

async fn listed_by(router: &Router, role: &str, query: &str) -> GroupsAnswer {
    let answer = call(router, Method::GET, &format!("/groups{query}"), role, &Value::Null).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", String::from_utf8_lossy(&answer.body));
    serde_json::from_slice(&answer.body).unwrap()
}

async fn listed(router: &Router, query: &str) -> GroupsAnswer {
    listed_by(router, "viewer", query).await
}

async fn row(router: &Router, role: &str) -> GroupRow {
    listed_by(router, role, "").await.groups.remove(0)
}

/// Ids of a hash have no order: the richest group is not among the first.
fn id_of(number: usize) -> GroupId {
    GroupId::new(format!("{:032x}", (number as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834)))
}

/// Writes a group with one letter, as intake would.
async fn put(store: &dyn Store, number: usize, amount: i64, currency: &str, state: GroupState) {
    let id = id_of(number);
    let mut letter = samples::letter(&id, number as u64);
    letter.diagnosis.impact.money = Some(Money { amount: amount.into(), currency: Currency::parse(currency).unwrap() });
    let mut counts = CountsDeltas::default();
    if !matches!(state, GroupState::Resolved { .. }) {
        counts.moved(None, &letter);
    }
    let variant = Variant { title: format!("Error {number}"), state, ..samples::group(&id) };
    let mut writes = vec![Write::Variant { variant: Box::new(variant), expect: Expect::Absent }];
    writes.extend(counts.0.into_iter().map(|(group, delta)| Write::Counts { group, delta: Box::new(delta) }));
    store.commit(writes).await.unwrap();
}

/// Changes the record of a group.
async fn change(store: &dyn Store, number: usize, how: impl Fn(Variant) -> Variant) {
    let before = store.group(&id_of(number)).await.unwrap().unwrap();
    let after = how(before.moved(before.state.clone()));
    let write = Write::Variant { variant: Box::new(after), expect: Expect::Version(before.version) };
    store.commit(vec![write]).await.unwrap();
}

fn resolved() -> GroupState {
    GroupState::Resolved { at: samples::at_s(9_000), fix: samples::fix(), replay: samples::replay_id("done") }
}

#[tokio::test]
async fn no_group_is_lost_to_the_limit() {
    let (world, router) = router().await;
    let all = GROUPS_SHOWN_MAX + 60;
    for number in 0..all {
        let (amount, state) = match number {
            1_017 => (5_900_000, GroupState::Open),
            number if number % 20 == 0 => (1, resolved()),
            _ => (1, GroupState::Open),
        };
        put(&*world.store, number, amount, "EUR", state).await;
    }
    let resolved = all.div_ceil(20);
    let open = (all - resolved) as i64;

    let answer = listed(&router, "").await;
    assert_eq!(answer.groups[0].title, "Error 1017", "ranked before it is cut");
    assert_eq!((answer.groups.len(), answer.total, answer.matching), (GROUPS_SHOWN_MAX, all as u64, all as u64));
    assert!(answer.cut);
    assert_eq!(answer.groups.iter().filter(|row| row.is_open()).count() as i64, open, "resolved groups are cut first");
    assert_eq!((answer.summary.open_letters, answer.summary.priced_letters), (open, open), "totals count every group");
    assert_eq!(answer.summary.money.sums()[0].amount, (5_900_000 + open - 1).into());

    let answer = listed(&router, "?q=at-risk:%3E1000EUR&view=open").await;
    assert_eq!((answer.groups.len(), answer.matching, answer.cut), (1, 1, false), "the filter sees every group");
    let in_view = |view: View| answer.in_views[View::ALL.iter().position(|other| *other == view).unwrap()];
    assert_eq!((in_view(View::Open), in_view(View::Resolved)), (1, 0));

    let answer = listed(&router, "?view=resolved&sort=title&limit=5").await;
    assert_eq!((answer.groups.len(), answer.matching, answer.cut), (5, resolved as u64, true));
    assert!(answer.groups.iter().all(|row| !row.is_open()));
    assert_eq!(answer.groups[1].title, "Error 100");
}

#[tokio::test]
async fn currencies_are_never_compared_by_their_numbers() {
    let (mut world, _) = router().await;
    let amounts = [(1, 1_234_567, "JPY"), (2, 64_000, "EUR"), (3, 30, "EUR")];
    for (number, amount, currency) in amounts {
        put(&*world.store, number, amount, currency, GroupState::Open).await;
    }
    let titles = |answer: &GroupsAnswer| answer.groups.iter().map(|row| row.title.clone()).collect::<Vec<_>>();

    let unrated = listed(&crate::api::router_of(&world), "?sort=risk").await;
    assert_eq!(titles(&unrated)[2], "Error 3", "the smaller sum of a currency comes after the largest of each");
    assert_eq!(unrated.unrated.len(), 2, "the page says that they are not compared");
    assert!(unrated.summary.about.is_none());

    let rates: Rates =
        serde_json::from_value(json!({ "base": "EUR", "date": "2026-11-20", "values": { "JPY": "0.0055" } })).unwrap();
    world.office.policy = std::sync::Arc::new(Policy { rates: Some(rates), ..(*world.office.policy).clone() });
    let rated = listed(&crate::api::router_of(&world), "").await;
    assert_eq!(titles(&rated), ["Error 2", "Error 1", "Error 3"]);
    assert!(rated.unrated.is_empty());
    assert_eq!(rated.rates_of.as_deref(), Some("2026-11-20"));
    assert_eq!(rated.groups[1].about.map(|sum| sum.amount.to_string()).as_deref(), Some("6790.12"));
    assert_eq!(rated.summary.about.map(|sum| sum.amount.to_string()).as_deref(), Some("70820.12"));
}

/// What the pill says from the declared fix to the running replay, and whom the group waits for.
#[tokio::test]
async fn a_declared_fix_is_blocked_then_ready_then_waits_for_an_approver() {
    let (world, router) = router().await;
    let group = world.one_group(3).await;
    world.declare_fix(&group, "v2").await;
    let blocked = row(&router, "approver").await;
    assert_eq!(blocked.next, NextStep::Blocked);
    assert_eq!(blocked.blocked.as_deref(), Some("Clears after 10 s without a new failure."));

    world.advance(Span::from_secs(11));
    assert_eq!(row(&router, "approver").await.next, NextStep::ReplayReady);

    let plan = world.plan(&group, &PlanOptions::default()).await;
    for (role, for_me) in [("viewer", false), ("operator", false), ("approver", true)] {
        let row = row(&router, role).await;
        assert_eq!((row.next, row.for_me), (NextStep::WaitingForApproval, for_me), "{role}");
        let mine = listed_by(&router, role, "?view=for-my-approval&limit=1").await;
        assert_eq!((mine.matching, mine.summary.for_me), (u64::from(for_me), u64::from(for_me)), "{role}");
    }

    // The fix fails on a new order: the plan cannot be approved.
    world.place(100, 1).await;
    world.consume(&|_| Some("orders::pricing::Overflow"), "v2").await;
    world.intake().await;
    let failing = row(&router, "approver").await;
    assert_eq!((failing.next, failing.for_me), (NextStep::Blocked, false));
    assert!(failing.blocked.unwrap_or_default().starts_with("Still failing after v2"), "the reason is shown");

    let waivers = ["fix_is_live", "quiet"].map(|kind| WaiverRequest {
        condition: serde_json::from_value(json!(kind)).unwrap(),
        reason: "one bad order".into(),
    });
    let approval = wire::ApproveRequest { waivers: waivers.into(), ..harness::world::approve_request(&plan) };
    act::approve(&world.office, &world.anna(), &group, &approval).await.unwrap();
    assert!(matches!(row(&router, "approver").await.next, NextStep::Replaying { .. }));
}

#[tokio::test]
async fn a_paused_replay_waits_for_the_approver_and_is_not_under_way() {
    let (world, router) = router().await;
    let group = world.one_group(40).await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    let id = world.approve(&group, &plan).await.id().clone();
    assert_eq!(listed(&router, "").await.summary.replays, 1);
    act::pause(&world.office, &world.otto(), &id, "lunch").await.unwrap();
    world.run(&id, &|_| None, "v2").await;
    let answer = listed_by(&router, "approver", "").await;
    assert_eq!((answer.summary.replays, answer.summary.for_me), (0, 1));
    assert_eq!(answer.groups[0].next, NextStep::ReplayPaused);
}

#[tokio::test]
async fn a_group_stops_growing_a_quarter_of_an_hour_after_its_burst() {
    let (world, router) = router().await;
    world.one_group(12).await;
    let grows = row(&router, "viewer").await;
    assert_eq!((grows.next, grows.arrivals_recent), (NextStep::Growing, 12));
    world.advance(Span::from_mins(20));
    let calm = row(&router, "viewer").await;
    assert_eq!((calm.next, calm.arrivals_recent), (NextStep::FindCause, 0));
}

#[tokio::test]
async fn a_group_has_an_owner() {
    let (world, router) = router().await;
    let group = world.one_group(1).await;
    let path = format!("/groups/{group}/owner");
    let refused = call(&router, Method::POST, &path, "viewer", &json!({ "owner": "ana" })).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    for long in ["x".repeat(129), "a\nb".into()] {
        let refused = call(&router, Method::POST, &path, "operator", &json!({ "owner": long })).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{long}");
    }
    let set = call(&router, Method::POST, &path, "operator", &json!({ "owner": " Ana Lima " })).await;
    let detail: GroupAnswer = serde_json::from_slice(&set.body).unwrap();
    assert_eq!(detail.row.owner.as_deref(), Some("Ana Lima"));
    for (filter, found) in [("owner:ana", 1), ("owner:bo", 0), ("-owner:ana", 0)] {
        assert_eq!(listed(&router, &format!("?q={filter}")).await.matching, found, "{filter}");
    }
    let removed = call(&router, Method::POST, &path, "operator", &json!({ "owner": "" })).await;
    let detail: GroupAnswer = serde_json::from_slice(&removed.body).unwrap();
    assert_eq!(detail.row.owner, None);
    let audit = world.store.audit(&group, None, 10).await.unwrap().items;
    let details: Vec<&str> = audit.iter().take(2).map(|record| record.detail.as_str()).collect();
    assert_eq!(details, ["Nobody", "Owner: Ana Lima"]);
}

#[tokio::test]
async fn every_answer_tells_the_offices_time() {
    let (world, router) = router().await;
    world.advance(Span::from_mins(60));
    for path in ["/api/v1/groups", "/api/v1/nothing", "/api/v1/me"] {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let response = tower::ServiceExt::oneshot(router.clone(), request).await.unwrap();
        let now = response.headers()[wire::NOW_HEADER].to_str().unwrap().parse::<i64>().unwrap();
        assert_eq!(now, world.office.now().as_ms(), "{path}");
    }
}

/// A reader that asks for what has changed gets little, and has the whole list at any time.
#[tokio::test]
async fn a_reader_with_a_version_gets_what_has_changed() {
    let (world, router) = router().await;
    for number in 0..200 {
        put(&*world.store, number, number as i64, "EUR", GroupState::Open).await;
    }
    let get = async |query: &str, tag: Option<&str>| {
        let request =
            Request::builder().uri(format!("/api/v1/groups?{query}")).header("authorization", "Bearer viewer");
        let request = tag.into_iter().fold(request, |request, tag| request.header("if-none-match", tag));
        send(&router, request.body(Body::empty()).unwrap()).await
    };
    let parsed = |answer: &Answer| serde_json::from_slice::<GroupsAnswer>(&answer.body).unwrap();
    let mut page = parsed(&get("", None).await);
    assert!(page.changes.is_none());

    for step in 0..3 {
        match step {
            0 => put(&*world.store, 300, 1_000_000, "EUR", GroupState::Open).await,
            1 => change(&*world.store, 7, |group| Variant { owner: Some("ana".into()), ..group }).await,
            _ => change(&*world.store, 90, |group| Variant { state: resolved(), ..group }).await,
        }
        let sent = get(&format!("since={}", page.version), None).await;
        let (whole, changed) = (get("", None).await, parsed(&sent));
        assert!(changed.changes.is_some() && changed.groups.len() < 40, "{} rows", changed.groups.len());
        assert!(sent.body.len() * 4 < whole.body.len(), "{} of {} bytes", sent.body.len(), whole.body.len());
        assert_eq!((&sent.etag, sent.etag.is_some()), (&whole.etag, true), "in every form the same answer");
        page = dashboard_model::delta::folded(Some(&page), changed).expect("changes of this list");
        assert_eq!(page, parsed(&whole));
        let again = get(&format!("since={}", page.version), sent.etag.as_deref()).await;
        assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    }

    // A version of another query, and one that never was.
    let filtered = parsed(&get(&format!("view=open&limit=50&since={}", page.version), None).await);
    let whole = parsed(&get("view=open&limit=50", None).await);
    assert_eq!(dashboard_model::delta::folded(Some(&page), filtered), Some(whole));
    for never in ["x", &"0".repeat(24 * 12)] {
        let answer = parsed(&get(&format!("since={never}"), None).await);
        assert_eq!(answer, page, "{never}");
    }
    assert_eq!(get(&format!("since={}", "0".repeat(9_999)), None).await.status, StatusCode::BAD_REQUEST);
}
