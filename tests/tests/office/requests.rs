//! Requests as a hostile client sends them: each is refused with a code, a message and an id, and changes nothing.

use crate::api::{Answer, router, send};
use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use domain::audit::AuditRecord;
use domain::id::{GroupId, ReplayId};
use domain::replay::PlanOptions;
use harness::world::World;
use serde_json::{Value, json};
use wire::ErrorCode;

/// A group with letters, and a replay of them.
pub struct Fixture {
    pub world: World,
    router: Router,
    pub group: GroupId,
    pub replay: ReplayId,
}

impl Fixture {
    pub async fn new(letters: u64) -> Self {
        let (world, router) = router().await;
        let group = world.one_group(letters).await;
        let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
        let replay = world.approve(&group, &plan).await.id().clone();
        Self { world, router, group, replay }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "viewer", "application/json", "").await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, "admin", "application/json", body.to_string()).await
    }

    pub async fn send(&self, method: Method, path: &str, role: &str, kind: &str, body: impl Into<Body>) -> Answer {
        let request = Request::builder().method(method).uri(format!("/api/v1{path}"));
        let request = request.header("authorization", format!("Bearer {role}")).header("content-type", kind);
        send(&self.router, request.body(body.into()).unwrap()).await
    }

    /// Returns the paths of all lists, and a name in their cursors.
    fn lists(&self) -> [(String, &'static str); 6] {
        let (group, replay) = (&self.group, &self.replay);
        [
            (format!("/groups/{group}/letters"), "letters"),
            (format!("/groups/{group}/letters/file"), "letters"),
            (format!("/groups/{group}/audit"), "audit"),
            (format!("/groups/{group}/history"), "audit"),
            ("/replays".into(), "replays"),
            (format!("/replays/{replay}/entries"), "entries"),
        ]
    }

    pub async fn audit(&self) -> Vec<AuditRecord> {
        self.world.store.audit(&self.group, None, 200).await.unwrap().items
    }
}

/// Checks an error: its status, its code and a short message.
#[track_caller]
fn refused(answer: &Answer, status: StatusCode, code: ErrorCode, what: &str) -> String {
    assert_eq!(answer.status, status, "{what}: {}", String::from_utf8_lossy(&answer.body));
    let error = answer.error();
    assert_eq!(error.code, code, "{what}");
    assert!(!error.request_id.is_empty() && error.message.len() < 700, "{what}: {}", error.message);
    error.message
}

#[track_caller]
fn invalid(answer: &Answer, what: &str) -> String {
    refused(answer, StatusCode::BAD_REQUEST, ErrorCode::Invalid, what)
}

/// Returns whether a list is a file, whose pages have a fixed size.
fn is_file(path: &str) -> bool {
    path.ends_with("/history") || path.ends_with("/file")
}

#[tokio::test]
async fn a_cursor_that_no_page_gave_is_refused() {
    let fixture = Fixture::new(60).await;
    let long = "9".repeat(500);
    for (path, list) in fixture.lists() {
        for cursor in [
            "",
            "nonsense",
            "%00",
            "W10=",
            "groups.1.a",
            "letters.1",
            "audit.1.g",
            "replays.99999999999999999999.a",
            &long,
        ] {
            let what = format!("{path}?cursor={cursor}");
            let message = invalid(&fixture.get(&what).await, &what);
            assert!(message.contains("`cursor`"), "{message}");
        }
        let others = ["letters.1.a", "audit.1.a", "replays.1.a", "entries.1.a"];
        for other in others.into_iter().filter(|other| !other.starts_with(list)) {
            invalid(&fixture.get(&format!("{path}?cursor={other}")).await, other);
        }
        if is_file(&path) {
            continue;
        }
        // Every cursor that a page gives is accepted, to the end of the list.
        let (mut cursor, mut pages) = (String::new(), 0);
        loop {
            let page = fixture.get(&format!("{path}?limit=1{cursor}")).await;
            assert_eq!(page.status, StatusCode::OK, "{path}{cursor}");
            pages += 1;
            let page: Value = serde_json::from_slice(&page.body).unwrap();
            let Some(next) = page["next"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert!(pages > 1 || list == "replays", "{path}: {pages}");
    }
}

#[tokio::test]
async fn a_parameter_out_of_range_or_unknown_is_refused() {
    let fixture = Fixture::new(3).await;
    let (group, replay) = (&fixture.group, &fixture.replay);
    let letters = format!("/groups/{group}/letters");
    for limit in ["0", "201", "-1", "1e3", "NaN", "", "1.5", "%205", "99999999999999999999"] {
        for (path, _) in fixture.lists().into_iter().filter(|(path, _)| !is_file(path)) {
            let message = invalid(&fixture.get(&format!("{path}?limit={limit}")).await, limit);
            assert_eq!(message, "The parameter `limit` must be a whole number from 1 to 200.");
        }
    }
    let long = "x".repeat(1_001);
    for query in [
        "state=lost",
        "died_from=-1",
        "died_before=9223372036854775807",
        "died_from=now",
        "replays_max=-1",
        "replays_max=4294967296",
        "tenant=a&tenant=b",
        "limit=1&limit=1",
        &format!("tenant={long}"),
        &format!("message_type={long}"),
        "foo=1",
        "foo",
        "Limit=1",
    ] {
        invalid(&fixture.get(&format!("{letters}?{query}")).await, query);
    }
    for path in [
        "/me?x=1".into(),
        "/groups?limit=2001".into(),
        "/groups?view=lost".into(),
        "/groups?sort=size".into(),
        format!("/groups?q={long}"),
        format!("/groups/{group}?state=waiting"),
        format!("/replays/{replay}/entries?wave=-1"),
        format!("/replays/{replay}/entries?wave=250"),
        format!("/replays/{replay}/entries?outcome=lost"),
        format!("/groups/{group}/history?form=pdf"),
        format!("/groups/{group}/history?limit=1"),
        format!("/groups/{group}/audit?views=yes"),
    ] {
        invalid(&fixture.get(&path).await, &path);
    }
    let message = invalid(&fixture.get(&format!("/me?{}=1", "y".repeat(5_000))).await, "a long name");
    assert!(message.ends_with("This endpoint has no query parameters."), "{message}");
    invalid(&fixture.post(&format!("/groups/{group}/note?x=1"), &json!({ "note": "a" })).await, "a query with a body");
    for fine in ["?limit=200&state=waiting", "?limit=1&replays_max=0&died_from=0&tenant=", ""] {
        assert_eq!(fixture.get(&format!("{letters}{fine}")).await.status, StatusCode::OK, "{fine}");
    }
}

#[tokio::test]
async fn an_id_of_another_form_is_not_found_and_not_repeated() {
    let fixture = Fixture::new(1).await;
    let long = "x".repeat(9_000);
    for id in ["%00", "a%2Fb", "%ff", "..%2f..", "%E2%80%AE", "'%20OR%201=1", &long] {
        for kind in ["groups", "letters", "replays"] {
            let message =
                refused(&fixture.get(&format!("/{kind}/{id}")).await, StatusCode::NOT_FOUND, ErrorCode::NotFound, id);
            assert!(!message.contains("xxxx"), "{message}");
        }
    }
    for path in ["", "/", "/nothing", "/groups/"] {
        refused(&fixture.get(path).await, StatusCode::NOT_FOUND, ErrorCode::NotFound, path);
    }
}

#[tokio::test]
async fn a_method_or_a_body_that_does_not_fit_is_refused() {
    let fixture = Fixture::new(1).await;
    for method in ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO"] {
        let answer = fixture.send(method.parse().unwrap(), "/groups", "admin", "application/json", "").await;
        refused(&answer, StatusCode::METHOD_NOT_ALLOWED, ErrorCode::MethodNotAllowed, method);
        assert_eq!(answer.allow.as_deref(), Some("GET,HEAD"), "{method}");
    }
    let note = format!("/groups/{}/note", fixture.group);
    let deep = format!("{{\"note\":{}{}}}", "[".repeat(20_000), "]".repeat(20_000));
    let long = format!("{{\"note\":\"a\",\"{}\":1}}", "x".repeat(20_000));
    for body in [
        "",
        "{",
        "null",
        "[]",
        "1",
        "{\"note\":NaN}",
        "{\"note\":1}",
        "{\"note\":\"a\",\"note\":\"b\"}",
        "{\"note\":\"a\",\"x\":1}",
        "{\"note\":\"\\ud800\"}",
        &deep,
        &long,
    ] {
        let answer = fixture.send(Method::POST, &note, "operator", "application/json", body.to_string()).await;
        invalid(&answer, &body[..body.len().min(40)]);
    }
    invalid(
        &fixture.send(Method::POST, &note, "operator", "application/json", &b"{\"note\":\"\xff\"}"[..]).await,
        "not UTF-8",
    );
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json", "application/xml"]
    {
        let answer = fixture.send(Method::POST, &note, "operator", kind, "{\"note\":\"a\"}").await;
        refused(&answer, StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::UnsupportedMediaType, kind);
    }
    let large = fixture.post(&note, &json!({ "note": "x".repeat(70_000) })).await;
    refused(&large, StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::TooLarge, "70 KB");
    assert!(fixture.world.store.group(&fixture.group).await.unwrap().unwrap().note.is_none());
}

#[tokio::test]
async fn texts_with_control_characters_are_refused_by_name() {
    let fixture = Fixture::new(1).await;
    let (group, replay) = (&fixture.group, &fixture.replay);
    for hidden in ["\0", "\u{7}", "\u{1b}[31m", "\u{7f}", "\u{85}", "\u{200f}", "\u{202e}", "\u{2066}", "\u{2028}"] {
        let text = format!("a{hidden}b");
        for (path, field, body) in [
            (format!("/groups/{group}/note"), "the note", json!({ "note": text })),
            (format!("/groups/{group}/fix"), "the fix's reference", json!({ "kind": "deploy", "reference": text })),
            (format!("/groups/{group}/fix"), "the note", json!({ "kind": "deploy", "reference": "v3", "note": text })),
            (format!("/groups/{group}/fix/withdraw"), "the reason", json!({ "reason": text })),
            (format!("/groups/{group}/release"), "the reason", json!({ "reason": text })),
            (format!("/replays/{replay}/pause"), "the reason", json!({ "reason": text })),
            (format!("/replays/{replay}/abort"), "the reason", json!({ "reason": text })),
            (format!("/groups/{group}/transform"), "the program", json!({ "program": format!(". # {text}") })),
            ("/deployments".into(), "the service", json!({ "service": text, "version": "v3" })),
            ("/deployments".into(), "the version", json!({ "service": "orders", "version": text })),
            ("/deployments".into(), "the commit", json!({ "service": "orders", "version": "v3", "commit": text })),
        ] {
            let message = invalid(&fixture.post(&path, &body).await, &path);
            let expected = format!("{field} contains U+").to_lowercase();
            assert!(message.to_lowercase().starts_with(&expected), "{message}");
        }
    }
    let lines =
        fixture.post(&format!("/groups/{group}/fix"), &json!({ "kind": "deploy", "reference": "v1\nv2" })).await;
    assert_eq!(invalid(&lines, "two lines"), "The fix's reference has a line break; write it on one line.");
    for (path, array) in [("note", json!(["a note"])), ("fix", json!(["deploy", "v3", null]))] {
        let refused = fixture.post(&format!("/groups/{group}/{path}"), &array).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{path}");
    }
    let note = fixture.post(&format!("/groups/{group}/note"), &json!({ "note": "two\r\nlines,\ta tab" })).await;
    assert_eq!(note.status, StatusCode::OK);
    let audit = fixture.audit().await;
    assert_eq!(audit[0].reason.as_deref(), Some("two\nlines,\ta tab"), "the text of a note is in the audit");
}

#[tokio::test]
async fn numbers_out_of_range_are_refused_with_their_range() {
    let (world, router) = router().await;
    let group = world.one_group(3).await;
    world.declare_fix(&group, "v2").await;
    let fixture = Fixture { world, router, group, replay: "none".into() };
    let (plan, transform) = (format!("/groups/{}/plan", fixture.group), format!("/groups/{}/transform", fixture.group));
    for (options, range) in [
        (json!({ "canary_letters": 0 }), "canary_letters must be between 1 and 1000"),
        (json!({ "canary_letters": 5_000 }), "canary_letters must be between 1 and 1000"),
        (json!({ "pause_share_pct": 100 }), "pause_share_pct must be between 0 and 90"),
        (json!({ "pause_share_pct": 256 }), ""),
        (json!({ "canary_letters": -1 }), ""),
        (json!({ "canary_letters": 1e30 }), ""),
        (json!({ "growth_factor": 101 }), "growth_factor must be between 1 and 100"),
        (json!({ "pace_per_s": 0 }), "pace_per_s must be between 1 and 10000"),
        (json!({ "pace_per_s": 1.5 }), ""),
        (json!({ "window_s": u64::MAX }), "window_s must be between 1 and 86400"),
    ] {
        let message = invalid(&fixture.post(&plan, &json!({ "options": options })).await, &options.to_string());
        assert!(message.replace('`', "").contains(range), "{message}");
    }
    for filter in
        [json!({ "died_from": i64::MIN }), json!({ "died_before": i64::MAX }), json!({ "tenant": "x".repeat(1_001) })]
    {
        for (path, body) in [
            (plan.clone(), json!({ "filter": filter })),
            (format!("{transform}/preview"), json!({ "program": ".", "filter": filter })),
            (format!("{transform}/dry-run"), json!({ "version": 1, "filter": filter })),
        ] {
            let message = invalid(&fixture.post(&path, &body).await, &path);
            assert!(message.contains("of the filter"), "{message}");
        }
    }
    for most in [0, 51, 1_000_000] {
        let preview =
            fixture.post(&format!("{transform}/preview"), &json!({ "program": ".", "letters_max": most })).await;
        assert_eq!(invalid(&preview, "a preview"), "A preview has 1 to 50 letters; change `letters_max`.");
    }
    // A selection that came out empty must not be taken for all letters.
    for (action, mut body) in [
        ("plan", json!({})),
        ("release", json!({ "reason": "r" })),
        ("discard/preview", json!({})),
        ("discard", json!({ "reason": "test_data", "seen_at": 0 })),
        ("discard/undo", json!({ "reason": "r" })),
    ] {
        body["letters"] = json!([]);
        let message = invalid(&fixture.post(&format!("/groups/{}/{action}", fixture.group), &body).await, action);
        assert!(message.contains("name at least one letter"), "{action}: {message}");
    }
    let release = json!({ "reason": "r", "letters": vec!["x"; 1_001] });
    invalid(&fixture.post(&format!("/groups/{}/release", fixture.group), &release).await, "too many letters");
    let future = json!({ "service": "orders", "version": "v3", "at": i64::MAX });
    let before = json!({ "service": "orders", "version": "v3", "at": -1 });
    for deployment in [future, before] {
        invalid(&fixture.post("/deployments", &deployment).await, "a deployment");
    }
    // Each waiver is an audit record of the same commit: too many of them failed the store.
    let made = fixture.post(&plan, &json!({})).await;
    let made: Value = serde_json::from_slice(&made.body).unwrap();
    let waivers = vec![json!({ "condition": "quiet", "reason": "x" }); 200];
    let approve = json!({ "plan_hash": made["hash"], "reason": "r", "waivers": waivers });
    let twice = invalid(&fixture.post(&format!("/groups/{}/approve", fixture.group), &approve).await, "200 waivers");
    assert!(twice.ends_with("is waived twice; waive it once."), "{twice}");
}
