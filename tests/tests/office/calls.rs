//! FEATURE: callers behind a proxy that needs `Authorization` for itself, and callers who call too often.

use crate::api::{ByName, send};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use domain::time::Timestamp;
use harness::world::World;
use http_body_util::BodyExt;
use office::api::{self, Api, Caller, CallsMax, Identify};
use std::sync::Arc;
use tower::ServiceExt;
use wire::{ErrorBody, ErrorCode, TOKEN_HEADER};

/// What CloudFront's origin access control puts into `Authorization`.
const SIGNATURE: &str = "AWS4-HMAC-SHA256 Credential=AKIA/20261123/eu-west-1/lambda/aws4_request, Signature=0f";

/// Identifies callers as [`ByName`] does. Each may make three calls at once, and one per second after that.
struct ThreeEach;

#[async_trait::async_trait]
impl Identify for ThreeEach {
    async fn who(&self, token: &str, now: Timestamp) -> Option<Caller> {
        ByName.who(token, now).await
    }

    fn calls_max(&self) -> Option<CallsMax> {
        Some(CallsMax { per_s: 1, burst: 3 })
    }
}

fn router(world: &World, identify: Arc<dyn Identify>) -> Router {
    let (office, watching) = (world.office.clone(), [world.dlq.clone()].into());
    api::router(Api { office, identify, name: "test".into(), watching }, &api::endpoints())
}

fn groups(headers: &[(&str, &str)]) -> Request<Body> {
    let request = Request::builder().uri("/api/v1/groups");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(Body::empty()).unwrap()
}

#[tokio::test]
async fn a_token_is_taken_from_its_own_header_where_a_proxy_uses_the_other_one() {
    let world = World::new().await;
    let router = router(&world, Arc::new(ByName));
    for (headers, status) in [
        (vec![("authorization", "Bearer viewer")], StatusCode::OK),
        (vec![(TOKEN_HEADER, "Bearer viewer")], StatusCode::OK),
        (vec![("authorization", SIGNATURE), (TOKEN_HEADER, "Bearer viewer")], StatusCode::OK),
        (vec![("authorization", SIGNATURE)], StatusCode::UNAUTHORIZED),
        (vec![("authorization", "Bearer viewer"), (TOKEN_HEADER, "Bearer nobody")], StatusCode::UNAUTHORIZED),
        (vec![(TOKEN_HEADER, "viewer")], StatusCode::UNAUTHORIZED),
    ] {
        assert_eq!(send(&router, groups(&headers)).await.status, status, "{headers:?}");
    }
}

#[tokio::test]
async fn who_calls_too_often_waits_and_others_do_not() {
    let world = World::new().await;
    let router = router(&world, Arc::new(ThreeEach));
    let call = async |role: &str| {
        let token = format!("Bearer {role}");
        router.clone().oneshot(groups(&[("authorization", &token)])).await.unwrap()
    };
    // On a slow machine more calls pass, but none makes a call take a second.
    let mut refused = call("viewer").await;
    for _ in 0..1_000 {
        if refused.status() != StatusCode::OK {
            break;
        }
        refused = call("viewer").await;
    }
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "1");
    assert!(!refused.headers().contains_key("www-authenticate"), "a browser must not sign out");
    let body = refused.into_body().collect().await.unwrap().to_bytes();
    let error: ErrorBody = serde_json::from_slice(&body).unwrap();
    assert_eq!(error.code, ErrorCode::TooManyCalls);
    assert_eq!(call("operator").await.status(), StatusCode::OK, "only the caller waits");
}
