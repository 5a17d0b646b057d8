//! Letters that look like error envelopes and are sent back as they are: where their original is, what a plan says of them,
//! and the condition of the gate.

use crate::gate_conditions::{World, check, deployed, fix, gate, good, s, transform, tried};
use domain::fix::{Fix, FixKind};
use domain::gate::ConditionKind;
use domain::message::{Attribute, Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::read;
use domain::replay::Wrapped;

const TRACE: &str = "Traceback (most recent call last):\n  File \"/srv/app/worker.py\", line 41, in handle\n    customer = order['customer_id']\nKeyError: 'customer_id'\n";

fn message(body: &str, attributes: &[(&str, &str)], redriven: bool) -> DeadMessage {
    let body = body.replace("TRACE", &serde_json::to_string(TRACE).unwrap()).replace("ORDER", r#"{"order":7}"#);
    let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), Attribute::text(*value)));
    DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body, attributes: attributes.collect(), ..Content::default() },
        system: SystemAttributes {
            source_queue: redriven.then(|| "arn:aws:sqs:eu-west-1:111122223333:orders".into()),
            ..SystemAttributes::default()
        },
    }
}

fn original_at(body: &str, attributes: &[(&str, &str)], redriven: bool) -> Option<String> {
    read(&message(body, attributes, redriven), &Policy::default()).original_at
}

const TWICE: &str = r#".original | if type == "string" then fromjson else . end | .original"#;

/// Bodies, and where the original is.
#[rustfmt::skip]
const BODIES: &[(&str, Option<&str>)] = &[
    (r#"{"original_message":ORDER,"error":"timed out","traceback":TRACE,"failed_at":"2026-11-19T08:01:02Z"}"#, Some(".original_message")),
    (r#"{"original_message":"{\"order\":7}","error":"timed out","traceback":TRACE}"#, Some(".original_message")),
    (r#"{"originalMessage":"hello","stack_trace":TRACE}"#, Some(".originalMessage")),
    (r#"{"Original-Message":ORDER,"error":"timed out","traceback":TRACE}"#, Some(r#"."Original-Message""#)),
    (r#"{"payload":ORDER,"exception":"KeyError: 'sku'"}"#, Some(".payload")),
    (r#"{"message":ORDER,"error":"no price","traceback":TRACE}"#, Some(".message")),
    (r#"{"message":"no price","body":"plain text","exception_type":"PriceError"}"#, Some(".body")),
    // Sent back in its wrapper, and failed again.
    (r#"{"original":{"original":ORDER,"error":TRACE},"error":TRACE}"#, Some(TWICE)),
    (r#"{"original":"{\"original\":{\"order\":7},\"error\":\"KeyError: 'sku'\"}","error":TRACE}"#, Some(TWICE)),
    // A report of an error that another consumer failed on.
    (r#"{"original":{"payload":ORDER,"error":TRACE},"error":TRACE}"#, Some(".original")),
    // The reader removes these itself.
    (r#"{"original_message":ORDER,"error":TRACE}"#, None),
    (r#"{"original_message":ORDER,"error":"timed out","processing_context":{"attempts":3}}"#, None),
    // No error, or no original.
    (r#"{"payload":ORDER,"reason":"gift"}"#, None),
    (r#"{"order":7,"exception":"KeyError: 'sku'"}"#, None),
    (r#"{"order":7,"error":"card declined","errorMessage":"no"}"#, None),
    ("ORDER", None),
    ("no json", None),
];

#[test]
fn the_reader_says_where_the_original_is() {
    for (body, expected) in BODIES {
        assert_eq!(original_at(body, &[], false).as_deref(), *expected, "{body}");
    }
    let beside = r#"{"payload":ORDER,"exception":"KeyError: 'sku'"}"#;
    let attributes = [("error_type", "KeyError"), ("error_message", "'sku'")];
    assert_eq!(original_at(beside, &attributes, false).as_deref(), Some(".payload"), "the attributes say why");
}

/// What the queue's consumer received is what it expects.
#[test]
fn a_redriven_or_stamped_or_packed_body_has_no_wrapper() {
    for (body, _) in BODIES {
        assert_eq!(original_at(body, &[], true), None, "{body}");
    }
    let body = BODIES[0].0;
    for stamp in [r#"{"v":1,"message":"timed out","consumer":"orders"}"#, r#"{"v":1,"consumer":"orders"}"#] {
        assert_eq!(
            original_at(body, &[("dlo.failure", stamp)], false),
            None,
            "the consumer crate wraps nothing: {stamp}"
        );
    }
    let text = message(body, &[], false).content.body;
    assert_eq!(original_at(&serde_json::to_string(&text).unwrap(), &[], false), None, "a JSON string");
}

fn wrapped(letters: u64, original_at: Option<&str>) -> Wrapped {
    Wrapped { letters, original_at: original_at.map(Into::into) }
}

#[test]
fn a_program_is_offered_only_if_it_is_right_for_all_letters() {
    type Row<'a> = (&'a [Option<&'a str>], Wrapped, Option<&'a str>);
    let rows: [Row<'_>; 5] = [
        (&[None, None], wrapped(0, None), None),
        (&[Some(".payload"), Some(".payload")], wrapped(2, Some(".payload")), Some(".payload? // .")),
        (&[Some(".payload"), None, Some(".payload")], wrapped(2, Some(".payload")), Some(".payload? // .")),
        (&[Some(".payload"), Some(".body"), Some(".payload")], wrapped(3, None), None),
        (
            &[Some(TWICE)],
            wrapped(1, Some(TWICE)),
            Some(r#"(.original | if type == "string" then fromjson else . end | .original)? // ."#),
        ),
    ];
    for (paths, expected, program) in rows {
        let mut found = Wrapped::default();
        paths.iter().for_each(|path| found.count(*path));
        assert_eq!(found, expected, "{paths:?}");
        assert_eq!(found.program().as_deref(), program, "{paths:?}");
    }
}

#[test]
fn letters_that_look_like_error_envelopes_need_a_transform_or_a_waiver() {
    let evidence = |change: &dyn Fn(&mut World)| {
        let mut world = good();
        change(&mut world);
        let gate = gate(&world);
        gate.conditions().iter().find(|c| c.kind == ConditionKind::Unwrapped).map(|c| c.evidence.clone())
    };
    let rows = [
        (wrapped(0, None), None),
        (
            wrapped(1, Some(".payload")),
            Some(
                "1 of 3 letters looks like an error envelope and goes back with its wrapper. Send only the original, or waive this if the consumer accepts the wrapper.",
            ),
        ),
        (
            wrapped(3, Some(".payload")),
            Some(
                "3 of 3 letters look like error envelopes and go back with their wrapper. Send only the original, or waive this if the consumer accepts the wrapper.",
            ),
        ),
        (
            wrapped(2, None),
            Some(
                "2 of 3 letters look like error envelopes and go back with their wrapper. The wrappers differ: plan some of the letters, write a transform, or waive this if the consumer accepts them.",
            ),
        ),
    ];
    for (wrapped, expected) in rows {
        assert_eq!(evidence(&|w| w.wrapped = wrapped.clone()).as_deref(), expected);
    }
    // Any kind of fix may send the letters through a transform, which needs a dry run then.
    let named = transform(1, ".payload? // .");
    let with_transform = |kind| Some(Fix { transform: Some(named.named()), ..fix(kind, "v2") });
    let changed = evidence(&|w| (w.wrapped, w.fix) = (wrapped(3, None), with_transform(FixKind::Deploy)));
    assert_eq!(changed.as_deref(), Some("3 of 3 letters look like error envelopes; transform v1 changes what is sent"));
    for kind in [FixKind::Deploy, FixKind::PayloadTransform] {
        check(|w| (w.wrapped, w.fix) = (wrapped(3, None), with_transform(kind)), &[ConditionKind::DryRun]);
        check(
            |w| {
                (w.wrapped, w.fix) = (wrapped(3, None), with_transform(kind));
                w.dry_run = tried(&named, (3, 0, 0), None);
            },
            &[],
        );
    }
    // The fix is still judged by its own kind.
    check(
        |w| {
            (w.fix, w.deployment) = (with_transform(FixKind::Deploy), deployed("v1", s(-500)));
            (w.dry_run, w.now) = (tried(&named, (3, 0, 0), None), s(10));
        },
        &[ConditionKind::FixIsLive, ConditionKind::Quiet],
    );
}
