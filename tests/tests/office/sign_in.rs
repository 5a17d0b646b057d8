//! Sign-in: who is let in, who counts as another person, and what happens to those who fail.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use dlo_tests::issuer::{CLIENT, Fault, Issuer};
use domain::audit::Act;
use domain::gate::ONE_MACHINE;
use domain::person::{IdentityKind, PersonId};
use domain::policy::{Policy, Revoked, SignInPolicy};
use domain::replay::PlanOptions;
use domain::role::Role;
use domain::time::{Span, Timestamp};
use harness::world::World;
use http_body_util::BodyExt;
use lambda::sign_in::{self, Tokens};
use office::api::{self, Api, Caller, Identify};
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;
use wire::SessionAnswer;

/// Identifies a caller by a token such as `approver:anna:s-1`: role, name and subject. The subject `machine` is that of
/// the one person of a machine.
struct BySubject;

#[async_trait::async_trait]
impl Identify for BySubject {
    async fn who(&self, token: &str, now: Timestamp) -> Option<Caller> {
        let [role, name, subject] = token.split(':').collect::<Vec<_>>().try_into().ok()?;
        let role = Role::ALL.into_iter().find(|one| one.as_str() == role)?;
        let id = match subject {
            "machine" => PersonId::of_machine(name),
            subject => PersonId { issuer: "https://issuer".into(), subject: subject.into() },
        };
        Some(Caller { id: Some(id), signed_in_at: Some(now), ..Caller::new(name, role) })
    }
}

fn api(world: &World, identify: Arc<dyn Identify>) -> Api {
    Api { office: world.office.clone(), identify, name: "test".into(), watching: [world.dlq.clone()].into() }
}

fn router(world: &World) -> Router {
    api::router(api(world, Arc::new(BySubject)), &api::endpoints())
}

async fn send(router: &Router, request: Request<Body>) -> (StatusCode, Value) {
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

fn request(method: Method, path: &str, token: &str, body: &Value) -> Request<Body> {
    let request = Request::builder().method(method).uri(format!("/api/v1{path}"));
    let request = request.header("authorization", format!("Bearer {token}")).header("host", "127.0.0.1:8118");
    request.header("content-type", "application/json").body(Body::from(body.to_string())).unwrap()
}

async fn get(router: &Router, path: &str, token: &str) -> (StatusCode, Value) {
    send(router, request(Method::GET, path, token, &Value::Null)).await
}

async fn post(router: &Router, path: &str, token: &str, body: Value) -> (StatusCode, Value) {
    send(router, request(Method::POST, path, token, &body)).await
}

/// Declares a fix, makes a plan and waits for the gate. Returns the group's path and the request that approves the plan.
async fn planned(world: &World, router: &Router, declarer: &str) -> (String, Value) {
    world.place(0, 3).await;
    world.consume(&|_| Some("orders::Broken"), "v1").await;
    world.intake().await;
    let group = world.only_group().await;
    let path = format!("/groups/{group}");
    world.advance(Span::from_secs(1));
    let fix = json!({ "kind": "deploy", "reference": "v2" });
    assert_eq!(post(router, &format!("{path}/fix"), declarer, fix).await.0, StatusCode::OK);
    world.advance(Span::from_secs(11));
    let plan = world.plan(&group, &PlanOptions::default()).await;
    (path, json!({ "plan_hash": plan.hash(), "reason": "tested" }))
}

#[tokio::test]
async fn the_second_person_is_another_identity_not_another_name() {
    let world = World::new().await;
    let router = router(&world);
    let (path, approve) = planned(&world, &router, "approver:otto:s-1").await;
    let approve = async |token| post(&router, &format!("{path}/approve"), token, approve.clone()).await;
    let (status, refused) = approve("approver:otto.renamed:s-1").await;
    assert_eq!(status, StatusCode::CONFLICT, "{refused}");
    assert_eq!(refused["unmet"][0]["evidence"], "otto declared the fix. Another person must approve it.");
    let (status, replay) = approve("approver:otto:s-2").await;
    assert_eq!(status, StatusCode::OK, "{replay}");
    let approval = &replay["replay"]["approval"];
    assert_eq!((&approval["by"], &approval["by_id"]["subject"]), (&json!("otto"), &json!("s-2")));
    assert_eq!(replay["replay"]["plan"]["fix"]["declared_by_id"]["subject"], "s-1");
}

#[tokio::test]
async fn on_one_machine_the_audit_says_that_nobody_else_approved() {
    let world = World::new().await;
    let router = router(&world);
    let (path, approve) = planned(&world, &router, "operator:maria:machine").await;
    let (_, me) = get(&router, "/me", "approver:maria:machine").await;
    assert_eq!(me["identity"], json!(IdentityKind::OneMachine));
    let (status, replay) = post(&router, &format!("{path}/approve"), "approver:maria:machine", approve).await;
    assert_eq!(status, StatusCode::OK, "{replay}");
    let (_, audit) = get(&router, &format!("{path}/audit"), "viewer:vera:s-3").await;
    let records = audit["records"].as_array().unwrap();
    let approved = records.iter().find(|record| record["act"] == json!(Act::ReplayApproved)).unwrap();
    assert_eq!(approved["detail"], format!("3 letters to orders. {ONE_MACHINE}"));
}

#[tokio::test]
async fn a_revoked_person_is_refused_although_their_token_is_valid() {
    let mut world = World::new().await;
    let now = world.office.now();
    let revoked = vec![
        Revoked { subject: Some("s-1".into()), ..Revoked::default() },
        Revoked { name: Some("Anna".into()), issued_before: Some(now.plus(Span::from_ms(1))), ..Revoked::default() },
    ];
    let sign_in = SignInPolicy { revoked, ..SignInPolicy::default() };
    world.office.policy = Arc::new(Policy { sign_in, ..(*world.office.policy).clone() });
    let router = router(&world);
    for (token, admitted) in [("viewer:otto:s-1", false), ("viewer:otto:s-2", true), ("viewer:anna:s-3", false)] {
        let (status, answer) = get(&router, "/me", token).await;
        assert_eq!(status == StatusCode::OK, admitted, "{token}: {answer}");
        if !admitted {
            let message = "Your access to this office was revoked. Ask an admin.";
            assert_eq!((status, &answer["message"]), (StatusCode::UNAUTHORIZED, &json!(message)));
        }
    }
    // Who signs in again after the revocation is let in.
    world.advance(Span::from_ms(1));
    assert_eq!(get(&router, "/me", "viewer:anna:s-3").await.0, StatusCode::OK);
}

#[tokio::test]
async fn failed_sign_ins_are_slowed_and_valid_tokens_are_not() {
    let world = World::new().await;
    let router = router(&world);
    let guess = async || assert_eq!(get(&router, "/me", "guessed").await.0, StatusCode::UNAUTHORIZED);
    futures_util::future::join_all((0..20).map(|_| guess())).await;
    tokio::select! {
        biased;
        () = guess() => panic!("the guess was answered first"),
        (status, _) = get(&router, "/me", "viewer:vera:s-3") => assert_eq!(status, StatusCode::OK),
    }
}

/// An office behind an issuer, as on AWS.
async fn behind_an_issuer(world: &World) -> (Router, Issuer) {
    let clock = world.office.clock.clone();
    let issuer = Issuer::start(move || clock()).await;
    let tokens = Arc::new(Tokens::new(issuer.url().into(), CLIENT.into(), None).unwrap());
    (sign_in::serve(api(world, tokens.clone()), tokens, &[]), issuer)
}

#[tokio::test]
async fn a_token_is_renewed_for_its_own_person_only() {
    let world = World::new().await;
    let (router, issuer) = behind_an_issuer(&world).await;
    let renew = async |token: &str, refresh: &str| {
        post(&router, "/session/refresh", "", json!({ "token": token, "refresh": refresh })).await
    };
    let (token, refresh) = (issuer.token("otto", ""), issuer.refresh_token("otto"));
    // Expired, but not long ago: the person's machine slept.
    world.advance(Span::from_mins(90));
    let (status, session) = renew(&token, &refresh).await;
    assert_eq!(status, StatusCode::OK, "{session}");
    let session: SessionAnswer = serde_json::from_value(session).unwrap();
    assert_eq!((session.me.name.as_str(), session.me.role), ("otto", Role::Operator));
    assert_eq!(session.lasts_ms, Span::from_mins(60));
    assert_eq!(get(&router, "/me", &session.token).await.0, StatusCode::OK);
    let next = session.refresh.expect("a refresh token");
    assert!(next != refresh && issuer.accepts(&next), "it is rotated");

    assert_eq!(renew(&session.token, &refresh).await.0, StatusCode::UNAUTHORIZED, "a refresh token works once");
    assert_eq!(renew("forged", &next).await.0, StatusCode::UNAUTHORIZED);
    assert!(issuer.accepts(&next), "nothing is asked of the issuer for a forged token");
    issuer.set(Fault::WrongPerson);
    let (status, answer) = renew(&session.token, &next).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED, "another person's token: {answer}");
    issuer.set(Fault::None);
    world.advance(Span::from_days(2));
    let late = issuer.refresh_token("otto");
    assert_eq!(renew(&session.token, &late).await.0, StatusCode::UNAUTHORIZED, "expired too long ago");
}

#[tokio::test]
async fn an_issuers_token_is_not_taken_from_a_link() {
    let world = World::new().await;
    let (router, issuer) = behind_an_issuer(&world).await;
    let (status, _) = post(&router, "/session", "", json!({ "code": issuer.token("otto", "") })).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn browsers_use_tls_only_except_on_this_machine() {
    let world = World::new().await;
    let (router, _issuer) = behind_an_issuer(&world).await;
    for (host, is_tls_only) in [
        ("office.example.com", true),
        ("abc.lambda-url.eu-west-1.on.aws", true),
        ("127.0.0.1.example.com", true),
        ("127.0.0.1:4566", false),
        ("localhost", false),
        ("[::1]:8118", false),
        ("abc.lambda-url.us-east-1.localhost:4566", false),
    ] {
        for path in ["/api/v1/session", "/groups"] {
            let request = Request::builder().uri(path).header("host", host).body(Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            let found = response.headers().get("strict-transport-security").map(|value| value.to_str().unwrap());
            assert_eq!(found, is_tls_only.then_some("max-age=63072000"), "{host} {path}");
        }
    }
}
