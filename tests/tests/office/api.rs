//! The API: every endpoint with every role, errors, conditional requests, and its OpenAPI document.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use domain::replay::PlanOptions;
use domain::role::Role;
use domain::time::Timestamp;
use flate2::read::GzDecoder;
use harness::world::World;
use http_body_util::BodyExt;
use office::act;
use office::api::{self, Api, Caller, Identify};
use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use tower::ServiceExt;
use wire::{ApproveRequest, EntryRow, ErrorBody, ErrorCode, GroupsAnswer, LetterRow};

/// The longest answer of the API to somebody without a token, bytes. The longest today has 142.
const STRANGERS_BYTES_MAX: usize = 1_024;

/// Identifies a caller by a token that is the name of a role.
pub struct ByName;

#[async_trait::async_trait]
impl Identify for ByName {
    async fn who(&self, token: &str, _: Timestamp) -> Option<Caller> {
        let role = Role::ALL.into_iter().find(|role| role.as_str() == token)?;
        Some(Caller::new(token, role))
    }

    fn delay_max(&self) -> Duration {
        Duration::ZERO
    }
}

/// Returns a new world, and the API of its office. Tokens are names of roles.
pub async fn router() -> (World, Router) {
    let world = World::new().await;
    let router = router_of(&world);
    (world, router)
}

/// Returns the API of a world's office.
pub fn router_of(world: &World) -> Router {
    let api = Api {
        office: world.office.clone(),
        identify: Arc::new(ByName),
        name: "test".into(),
        watching: [world.dlq.clone()].into(),
    };
    api::router(api, &api::endpoints())
}

/// An answer of the API.
pub struct Answer {
    pub status: StatusCode,
    pub etag: Option<String>,
    next: Option<String>,
    pub allow: Option<String>,
    encoding: Option<String>,
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns the error in the body.
    pub fn error(&self) -> ErrorBody {
        serde_json::from_slice(&self.body).expect("an error's body")
    }
}

async fn call(router: &Router, method: Method, path: &str, token: Option<&str>, extra: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(format!("/api/v1{path}"));
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    for (name, value) in extra {
        request = request.header(*name, *value);
    }
    send(router, request.header("content-type", "application/json").body(Body::from("{}")).unwrap()).await
}

/// Sends a request to the API.
pub async fn send(router: &Router, request: Request<Body>) -> Answer {
    let response = router.clone().oneshot(request).await.unwrap();
    let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_string());
    Answer {
        status: response.status(),
        etag: header("etag"),
        next: header("dlo-next"),
        allow: header("allow"),
        encoding: header("content-encoding"),
        body: response.into_body().collect().await.unwrap().to_bytes().to_vec(),
    }
}

#[tokio::test]
async fn every_endpoint_accepts_its_least_role_and_no_lower_one() {
    let (_world, router) = router().await;
    for endpoint in api::endpoints() {
        let path = endpoint.path.replace(['{', '}'], "");
        let permission = endpoint.permission.expect("no endpoint here is public");
        let method = &endpoint.method;
        for unknown in [None, Some("nobody"), Some("")] {
            let answer = call(&router, method.clone(), &path, unknown, &[]).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
            assert_eq!(answer.error().code, ErrorCode::SignedOut);
            assert!(answer.body.len() <= STRANGERS_BYTES_MAX, "{method} {path}: {} bytes", answer.body.len());
        }
        for role in Role::ALL {
            let answer = call(&router, method.clone(), &path, Some(role.as_str()), &[]).await;
            let refused = answer.status == StatusCode::FORBIDDEN;
            assert_eq!(refused, role < permission.least_role(), "{method} {path} as {}", role.as_str());
        }
        if *method == Method::POST {
            assert!(permission.least_role() > Role::Viewer, "a viewer changes nothing: {path}");
        }
    }
}

#[tokio::test]
async fn strangers_get_short_answers() {
    let (_world, router) = router().await;
    for token in [None, Some("nobody")] {
        let document = call(&router, Method::GET, "/openapi.json", token, &[]).await;
        assert_eq!(document.status, StatusCode::UNAUTHORIZED);
        let unknown = call(&router, Method::GET, &format!("/{}", "a".repeat(4_000)), token, &[]).await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND);
        for answer in [document, unknown] {
            assert!(answer.body.len() <= STRANGERS_BYTES_MAX, "{} bytes", answer.body.len());
        }
    }
    let document = call(&router, Method::GET, "/openapi.json", Some("viewer"), &[]).await;
    assert_eq!(document.status, StatusCode::OK);
}

#[tokio::test]
async fn an_unchanged_answer_is_not_sent_again() {
    let (world, router) = router().await;
    let first = call(&router, Method::GET, "/groups", Some("viewer"), &[]).await;
    let tag = first.etag.expect("a tag");
    let again = call(&router, Method::GET, "/groups", Some("viewer"), &[("if-none-match", &tag)]).await;
    assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0));
    world.place(0, 1).await;
    world.consume(&|_| Some("orders::Broken"), "v1").await;
    world.intake().await;
    let changed = call(&router, Method::GET, "/groups", Some("viewer"), &[("if-none-match", &tag)]).await;
    assert_eq!(changed.status, StatusCode::OK);
    let answer: GroupsAnswer = serde_json::from_slice(&changed.body).unwrap();
    assert_eq!((answer.groups.len(), answer.summary.open_letters), (1, 1));
}

#[tokio::test]
async fn a_big_answer_is_packed_for_who_accepts_it_and_keeps_its_tag() {
    let (world, router) = router().await;
    world.place(0, 1).await;
    world.consume(&|_| Some("orders::Broken"), "v1").await;
    world.intake().await;
    let path = format!("/groups/{}", world.only_group().await);
    let plain = call(&router, Method::GET, &path, Some("viewer"), &[]).await;
    assert_eq!(plain.encoding, None);
    assert!(plain.body.len() > 1_024, "{} bytes are not worth packing", plain.body.len());
    for (accepted, is_packed) in [("gzip, deflate, br", true), ("*", true), ("br", false), ("gzip;q=0", false)] {
        let headers = [("accept-encoding", accepted)];
        let answer = call(&router, Method::GET, &path, Some("viewer"), &headers).await;
        assert_eq!(answer.encoding.as_deref(), is_packed.then_some("gzip"), "{accepted}");
        assert_eq!(answer.etag, plain.etag, "{accepted}");
        let mut body = answer.body;
        if is_packed {
            assert!(body.len() < plain.body.len() / 2, "{} of {} bytes", body.len(), plain.body.len());
            let mut text = Vec::new();
            GzDecoder::new(body.as_slice()).read_to_end(&mut text).expect("gzip");
            body = text;
        }
        assert_eq!(body, plain.body, "{accepted}");
        let tag = plain.etag.as_deref().expect("a tag");
        let again = [("accept-encoding", accepted), ("if-none-match", tag)];
        let again = call(&router, Method::GET, &path, Some("viewer"), &again).await;
        assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0), "{accepted}");
    }
    let small = call(&router, Method::GET, "/me", Some("viewer"), &[("accept-encoding", "gzip")]).await;
    assert_eq!(small.encoding, None, "{} bytes fit into one packet", small.body.len());
}

#[tokio::test]
async fn history_is_complete_across_files() {
    const LETTERS: u64 = 2_100;
    let (world, router) = router().await;
    world.place(0, LETTERS).await;
    world.consume(&|_| Some("orders::Broken"), "v1").await;
    world.intake().await;
    let group = world.only_group().await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    let approve = ApproveRequest { plan_hash: plan.hash(), reason: "=tested".into(), waivers: Vec::new() };
    let replay = act::approve(&world.office, &world.anna(), &group, &approve).await.unwrap();

    let download = async |path: String| {
        let (mut text, mut files, mut cursor) = (String::new(), 0, String::new());
        loop {
            let file = call(&router, Method::GET, &format!("{path}{cursor}"), Some("viewer"), &[]).await;
            assert_eq!(file.status, StatusCode::OK);
            text.push_str(std::str::from_utf8(&file.body).unwrap());
            files += 1;
            let Some(next) = file.next else { return (text, files) };
            cursor = format!("&cursor={next}");
        }
    };
    let (lines, files) = download(format!("/replays/{}/history?form=jsonl", replay.id())).await;
    let letters: BTreeSet<_> =
        lines.lines().map(|line| serde_json::from_str::<EntryRow>(line).unwrap().entry.letter).collect();
    assert_eq!((letters.len() as u64, lines.lines().count() as u64, files), (LETTERS, LETTERS, 2));
    let (table, _) = download(format!("/replays/{}/history?form=csv", replay.id())).await;
    assert_eq!(table.lines().count() as u64, LETTERS + 1, "one header");

    // The letters' file has the rows of the list, under the same filter.
    let path = format!("/groups/{group}/letters/file");
    let (lines, files) = download(format!("{path}?form=jsonl")).await;
    let ids: BTreeSet<_> = lines.lines().map(|line| serde_json::from_str::<LetterRow>(line).unwrap().id).collect();
    assert_eq!((ids, files), (letters, 2));
    let (table, _) = download(format!("{path}?form=csv&state=waiting&replays_max=0")).await;
    let other = call(&router, Method::GET, &format!("{path}?form=csv&state=delivered"), Some("viewer"), &[]).await;
    assert_eq!(table.lines().count() as u64, LETTERS + 1, "one header: {}", table.lines().next().unwrap());
    assert_eq!(std::str::from_utf8(&other.body).unwrap().lines().count(), 1, "none is delivered: a header alone");

    let (table, _) = download(format!("/groups/{group}/history?form=csv")).await;
    assert!(table.contains(",otto,fix_declared,") && table.contains(",'=tested\r\n"), "{table}");
    let bad = call(&router, Method::GET, &format!("/groups/{group}/history?form=pdf"), Some("viewer"), &[]).await;
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn errors_have_a_code_a_message_and_an_id() {
    let (_world, router) = router().await;
    let missing = call(&router, Method::GET, "/groups/00", Some("viewer"), &[]).await;
    assert_eq!((missing.status, missing.error().code), (StatusCode::NOT_FOUND, ErrorCode::NotFound));
    assert!(!missing.error().request_id.is_empty());
    let nothing = call(&router, Method::GET, "/nothing/here", Some("viewer"), &[]).await;
    assert_eq!((nothing.status, nothing.error().code), (StatusCode::NOT_FOUND, ErrorCode::NotFound));
    let wrong = call(&router, Method::POST, "/groups/00/fix", Some("operator"), &[]).await;
    assert_eq!((wrong.status, wrong.error().code), (StatusCode::BAD_REQUEST, ErrorCode::Invalid));
    assert!(wrong.error().message.contains("kind"), "{}", wrong.error().message);
    let method = call(&router, Method::PUT, "/groups", Some("admin"), &[]).await;
    assert_eq!(method.status, StatusCode::METHOD_NOT_ALLOWED);
    let cursor = call(&router, Method::GET, "/replays?limit=many", Some("viewer"), &[]).await;
    assert_eq!((cursor.status, cursor.error().code), (StatusCode::BAD_REQUEST, ErrorCode::Invalid));
}

#[tokio::test]
async fn a_failing_store_reveals_no_details() {
    let (world, router) = router().await;
    world.faults.arm(0, false);
    let failed = call(&router, Method::GET, "/groups", Some("viewer"), &[]).await;
    assert_eq!((failed.status, failed.error().code), (StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal));
    assert!(!failed.error().message.contains("killed"), "{}", failed.error().message);
}

/// Compares the OpenAPI document with the golden file; `UPDATE=1` rewrites the file, for review.
#[test]
fn the_openapi_document_is_up_to_date() {
    let current = serde_json::to_string_pretty(&api::document(&local::serve::endpoints())).unwrap() + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/openapi.json");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/golden")).unwrap();
        std::fs::write(path, &current).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    assert!(current == golden, "the API has changed: review the change, then run the test with UPDATE=1");
    for endpoint in local::serve::endpoints() {
        assert!(current.contains(&format!("\"/api/v1{}\"", endpoint.path)));
        assert!(!endpoint.summary.is_empty());
    }
}
