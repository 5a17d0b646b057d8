//! What the API shows of a plan that is being made in steps.

use super::{LETTERS, acts, world};
use crate::api::{ByName, send};
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use domain::audit::Act;
use domain::filter::LetterFilter;
use domain::id::{GroupId, ReplayId};
use domain::replay::Plan;
use domain::time::Span;
use harness::world::{World, approve_request};
use office::api::{self, Api};
use std::sync::Arc;
use wire::{ErrorBody, GroupAnswer, PlanRequest, PlanningAnswer};

#[tokio::test]
async fn the_api_shows_how_far_a_plan_is_and_cancels_it() {
    let (world, group) = world().await;
    let api = Api {
        office: world.office.clone(),
        identify: Arc::new(ByName),
        name: "test".into(),
        watching: [world.dlq.clone()].into(),
    };
    let router = api::router(api, &api::endpoints());
    let call = async |method: Method, path: &str, body: String| {
        let request = Request::builder().method(method).uri(format!("/api/v1/groups/{group}{path}"));
        let request = request.header("authorization", "Bearer approver").header("content-type", "application/json");
        send(&router, request.body(Body::from(body)).unwrap()).await
    };
    let page = async || -> GroupAnswer {
        serde_json::from_slice(&call(Method::GET, "", String::new()).await.body).expect("a group")
    };
    let none = call(Method::DELETE, "/plan", String::new()).await;
    assert_eq!(none.status, StatusCode::CONFLICT);
    let answer = call(Method::POST, "/plan", "{}".into()).await;
    let answer: PlanningAnswer = serde_json::from_slice(&answer.body).expect("an answer");
    let PlanningAnswer::Draft { drafting } = answer else { panic!("{answer:?}") };
    assert_eq!((drafting.read, drafting.waiting, drafting.letters, &drafting.failed), (25, LETTERS, 25, &None));
    let shown = page().await;
    assert_eq!((shown.drafting.as_ref(), shown.plan), (Some(&drafting), None));

    let approval =
        serde_json::to_string(&approve_request(&at_once_of_another(&drafting.id, &world, &group).await)).unwrap();
    let refused = call(Method::POST, "/approve", approval).await;
    let error: ErrorBody = serde_json::from_slice(&refused.body).expect("an error");
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(error.message.contains("still being made"), "{}", error.message);

    let cancelled = call(Method::DELETE, "/plan", String::new()).await;
    assert_eq!(cancelled.status, StatusCode::OK);
    assert_eq!(page().await.drafting, None);
    world.steps().await;
    assert!(world.store.group(&group).await.unwrap().unwrap().drafts.is_empty());
    assert_eq!(acts(&world, &group, Act::PlanCancelled).await, 1);

    // Nobody can be replayed now: the draft says so until it is dismissed.
    let future =
        LetterFilter { died_from: Some(world.office.now().plus(Span::from_secs(9))), ..LetterFilter::default() };
    let request = PlanRequest { filter: future, ..PlanRequest::default() };
    call(Method::POST, "/plan", serde_json::to_string(&request).unwrap()).await;
    world.steps().await;
    let failed = page().await.drafting.expect("a draft");
    assert_eq!(failed.failed.as_deref(), Some("no letter of this group can be replayed now"));
    assert_eq!(call(Method::DELETE, "/plan", String::new()).await.status, StatusCode::OK);
    world.steps().await;
    assert!(world.store.group(&group).await.unwrap().unwrap().drafts.is_empty());
    assert_eq!(page().await.drafting, None);
}

/// Returns a plan that only lends its hash.
async fn at_once_of_another(id: &ReplayId, world: &World, group: &GroupId) -> Plan {
    let letters = world.letters(group, None).await;
    Plan { id: id.clone(), ..harness::samples::plan("another", group, &letters) }
}
