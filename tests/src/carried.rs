//! What a message may carry at most and at its oddest, and that all of it goes back to its main queue byte for byte: it
//! dies by redrive, is kept, and is replayed.

use crate::world::{VISIBILITY, World};
use consumer::queue::{Outgoing, Queue, Received};
use domain::fix::FixKind;
use domain::limits::{ATTRIBUTES_MAX, BATCH_ENTRIES_MAX, MESSAGE_BYTES_MAX, PAGE_MAX};
use domain::marker::MARKER_ATTRIBUTE;
use domain::message::{Attribute, AttributeValue, Content};
use domain::replay::PlanOptions;
use domain::time::Span;
use domain::wire::{Approve, DeclareFix};
use lambda::act;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// What is carried, and in how many messages at once.
type Row = (&'static str, usize, Content);

fn typed(data_type: &str, value: AttributeValue) -> Attribute {
    Attribute { data_type: data_type.into(), value }
}

fn bytes(base64: &str) -> AttributeValue {
    AttributeValue::Binary(base64.into())
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::Text(text.into())
}

fn with(attributes: &[(&str, Attribute)]) -> Content {
    let attributes = attributes.iter().map(|(name, attribute)| ((*name).to_owned(), attribute.clone())).collect();
    Content { body: "{\"kind\":\"attributes\"}".into(), attributes, ..Content::default() }
}

fn body(body: impl Into<String>) -> Content {
    Content { body: body.into(), ..Content::default() }
}

/// The rows. Each body says which it is, unless it is too odd for that.
pub fn rows() -> Vec<Row> {
    let ten: Vec<_> = (0..ATTRIBUTES_MAX).map(|n| (format!("a{n}"), Attribute::number(format!("{n}.50")))).collect();
    let ten: Vec<_> = ten.iter().map(|(name, attribute)| (name.as_str(), attribute.clone())).collect();
    let nearly = |left_out: usize| format!("{{\"text\":\"{}\"}}", "é".repeat((MESSAGE_BYTES_MAX - left_out - 11) / 2));
    let whole = Content { body: nearly(0), ..Content::default() };
    vec![
        (
            "binary",
            1,
            with(&[("bytes", typed("Binary", bytes("AAH+/w=="))), ("gif", typed("Binary.gif", bytes("R0lG")))]),
        ),
        (
            "custom types",
            1,
            with(&[
                ("n", typed("Number.int", text("042"))),
                ("j", typed("String.json", text("{ }"))),
                ("b", typed("Binary.sha", bytes("AP8="))),
            ]),
        ),
        ("numbers", 1, with(&[("n", Attribute::number("-000123.4500E+07"))])),
        ("spaces in values", 1, with(&[("s", Attribute::text(" leading and trailing\t\r\n "))])),
        ("ten attributes", 1, with(&ten)),
        (
            "one MiB",
            1,
            Content { body: whole.body.clone() + &" ".repeat(MESSAGE_BYTES_MAX - whole.size_bytes()), ..whole },
        ),
        ("one MiB but for a marker", 1, body(nearly(300))),
        ("a batch of 100 kB each", BATCH_ENTRIES_MAX, body(format!("{{\"text\":\"{}\"}}", "x".repeat(100_000)))),
        ("control characters", 1, body("{ \"a\" : 1e400,\r\n\t\"b\":\"\u{7f}\u{85}\u{2028}\u{E000}\u{FFFD}\" }\n\n")),
        ("astral characters", 1, body("\"🦀 \u{10FFFF} 漢 e\u{301}\"")),
        ("no JSON", 1, body("\u{9}not { JSON [ at all")),
        ("one character", 1, body("0")),
        ("base64 that nobody asked to open", 1, body("eyJhIjoxfQ==")),
        ("keys in their order, twice", 1, body("{\"z\":1,\"a\":2,\"z\":3}")),
        (
            "trace header",
            1,
            Content { trace_header: Some("Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1".into()), ..body("{}") },
        ),
        ("message group on a standard queue", 1, Content { message_group_id: Some("tenant-7".into()), ..body("{}") }),
    ]
}

/// A message is told from the others by what it carries.
fn print(content: &Content) -> String {
    format!("{content:?}")
}

/// Every row dies by redrive, is kept and replayed, and comes back as it was, but for the marker.
pub async fn everything_goes_back_as_it_came(world: &World) {
    let mut expected: BTreeMap<String, (&str, usize)> = BTreeMap::new();
    for (what, count, content) in rows() {
        let message = Outgoing { content: content.clone(), ..Outgoing::default() };
        let sent = world.queue.send_batch(&world.main, &vec![message; count]).await.expect(what);
        assert!(sent.iter().all(Result::is_ok), "{what}");
        expected.insert(print(&content), (what, count));
    }
    dies(world).await;
    let letters: usize = expected.values().map(|(_, count)| count).sum();
    let report = world.intake().await;
    assert_eq!((report.kept, report.failed.len()), (letters, 0));

    let came: Mutex<BTreeMap<String, usize>> = Mutex::default();
    let takes = |received: &Received| {
        let mut content = received.content.clone();
        content.attributes.remove(MARKER_ATTRIBUTE);
        *came.lock().expect("no panic in it").entry(print(&content)).or_default() += 1;
        None
    };
    for facts in world.store.groups(0, None, PAGE_MAX).await.expect("groups").items {
        let group = &facts.group.id;
        world.advance(Span::from_secs(1));
        let fix = DeclareFix { kind: FixKind::Deploy, reference: "v2".into(), note: None };
        act::declare_fix(&world.office, &world.otto(), group, &fix).await.expect("a fix");
        world.advance(Span::from_secs(11));
        let plan = act::make_plan(&world.office, &world.otto(), group, &PlanOptions::default()).await.expect("a plan");
        assert!(plan.left_out.is_empty(), "{:?}", plan.left_out);
        let approve = Approve { plan_hash: plan.hash(), reason: "tested".into(), waivers: Vec::new() };
        act::approve(&world.office, &world.anna(), group, &approve).await.expect("an open gate");
        assert!(world.run(&plan.id, &takes, "v2").await.is_finished());
    }
    let came = came.into_inner().expect("no panic in it");
    for (content, (what, count)) in &expected {
        assert_eq!(came.get(content), Some(count), "{what}");
    }
    assert_eq!(came.len(), expected.len(), "nothing else came");
}

/// A consumer that dies with what it has received: the queue moves it all.
async fn dies(world: &World) {
    loop {
        let mut some = false;
        while !world.queue.receive(&world.main, BATCH_ENTRIES_MAX, Span::ZERO, None).await.expect("receive").is_empty()
        {
            some = true;
        }
        if !some {
            return;
        }
        world.advance(VISIBILITY.plus(Span::from_secs(1)));
        world.queue.clock_moved();
    }
}
