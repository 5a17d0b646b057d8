//! What the letters of a group share, through the API.

use crate::api::{Answer, router, send};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use domain::audit::Act;
use domain::facet::{FacetKind, Facets};
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::Content;
use queue::{Outgoing, Queue as _};

#[tokio::test]
async fn a_group_says_what_its_letters_share_and_who_saw_it_is_audited() {
    let (world, router) = router().await;
    // Orders of one product have no price. Some of the others fail for another reason.
    let body = |n: u64| match n % 3 {
        0 => format!(r#"{{"order":{n},"product_id":999}}"#),
        _ => format!(r#"{{"order":{n},"product_id":{n},"price":{n}}}"#),
    };
    let messages: Vec<_> = (1..=90)
        .map(|n| Outgoing { content: Content { body: body(n), ..Content::default() }, ..Outgoing::default() })
        .collect();
    for batch in messages.chunks(BATCH_ENTRIES_MAX) {
        assert!(world.queue.send_batch(&world.main, batch).await.unwrap().iter().all(Result::is_ok));
    }
    let error = |priced: bool| if priced { "StockError" } else { "KeyError" };
    world.consume(&|message| Some(error(message.content.body.contains("price"))), "v1").await;
    world.intake().await;

    let get = async |path: String| -> Answer {
        let request = Request::builder().uri(format!("/api/v1{path}")).header("authorization", "Bearer viewer");
        send(&router, request.body(Body::empty()).unwrap()).await
    };
    let groups = world.store.groups(i64::MAX, None, 200).await.unwrap().items;
    assert_eq!(groups.len(), 2);
    for facts in groups {
        let group = facts.variant;
        let answer = get(format!("/groups/{}/facets", group.id)).await;
        assert_eq!(answer.status, StatusCode::OK);
        let found: Facets = serde_json::from_slice(&answer.body).unwrap();
        let facts: Vec<_> = found.facets.iter().map(|f| (f.field.as_str(), &f.kind, f.inside, f.outside)).collect();
        if group.title.starts_with("KeyError") {
            let value = FacetKind::Value("999".into());
            assert_eq!(facts, [("price", &FacetKind::Absent, 30, 0), ("product_id", &value, 30, 0)]);
            assert_eq!((found.letters, found.others), (30, 60));
        } else {
            assert_eq!(facts, [("price", &FacetKind::Present, 60, 0)]);
        }
        let audit = world.store.audit(&group.id, None, 200).await.unwrap().items;
        let views: Vec<_> = audit.iter().filter(|record| record.act == Act::PayloadViewed).collect();
        assert_eq!(views.len(), 1);
        assert_eq!((views[0].actor.as_str(), views[0].detail.as_str()), ("viewer", "What the letters share"));
    }
    assert_eq!(get(format!("/groups/{}/facets", "0".repeat(32))).await.status, StatusCode::NOT_FOUND);
}
