//! A replay after a resumption: its new canary, and what it says of it.

use crate::replay_fixture::*;
use domain::replay::{Begun, PauseReason, Phase, Step, begun, next_canary, next_step, tripped};
use serde_json::{Value, json};

#[test]
fn a_resumptions_canary_has_the_stricter_rule_until_it_has_passed() {
    for (probing, expected) in [(true, Some(0)), (false, None)] {
        let resumed = json!({ "wave": 1, "sent": 2, "returned": 2, "probing": probing });
        let replay = stored(&replay(observing(1)), |record| {
            record["plan"]["canary_pause_share_pct"] = json!(0);
            record.insert("resumed".into(), resumed);
        });
        let pause = tripped(&replay, 1, &ledger(&["4/0/0/1/3"]).wave(0));
        let limit = pause.map(|why| match why {
            PauseReason::TooManyReturned { pause_share_pct, .. } => pause_share_pct,
            other => panic!("{other:?}"),
        });
        assert_eq!(limit, expected, "probing: {probing}");
    }
}

#[test]
fn a_resumption_starts_with_a_canary_and_ignores_earlier_returns() {
    let ledger_then = ledger(&["0/0/0/2/0", "3/0/0/1/4", "16/0/0/0/0"]);
    let resumed = replay(paused(1)).resume(&open_gate(), &ledger_then, &[], None).unwrap();
    assert_eq!(next_step(&resumed, &ledger_then, at(20), 0), Step::Send { wave: 1, letters_max: 2 });

    let sent = stored(&resumed, |record| drop(record.insert("last_sent_at".into(), json!(at(20)))));
    let sent = looked(&sent, &[(22, 0, 0, None)]);
    let canary_out = ledger(&["0/0/0/2/0", "1/0/2/1/4", "16/0/0/0/0"]);
    let observe = Phase::Observing { until: at(20 + WINDOW_S) };
    assert_eq!(next_step(&sent, &canary_out, at(21), 0), Step::Enter { wave: 1, phase: observe });

    let observing = sent.entered(1, observe, &canary_out);
    let canary_back = ledger(&["0/0/0/2/0", "1/0/0/1/6", "16/0/0/0/0"]);
    assert_eq!(next_step(&observing, &canary_back, at(22), 0), too_many(1, 2, 2));
    let canary_passed = ledger(&["0/0/0/2/0", "1/0/0/3/4", "16/0/0/0/0"]);
    let step = next_step(&observing, &canary_passed, at(31), 0);
    assert_eq!(step, Step::Enter { wave: 1, phase: Phase::Sending });

    let remaining = observing.entered(1, Phase::Sending, &canary_passed);
    assert_eq!(begun(&observing, &remaining, 1, &canary_passed.wave(1)), Some(Begun::Rest(1)));
    assert_eq!(next_step(&remaining, &canary_passed, at(31), 0), Step::Send { wave: 1, letters_max: 1 });
}

#[test]
fn a_resumption_whose_wave_is_used_up_tries_its_canary_in_the_next() {
    let used_up = ledger(&["0/0/0/2/0", "0/0/0/0/8", "16/0/0/0/0"]);
    let resumed = replay(paused(1)).resume(&open_gate(), &used_up, &[], None).unwrap();
    let next = resumed.entered(2, Phase::Sending, &used_up);
    assert_eq!(next_canary(&resumed, &used_up), 2);
    assert_eq!(begun(&resumed, &next, 2, &used_up.wave(2)), Some(Begun::Canary(2)));
    assert_eq!(next_step(&next, &used_up, at(20), 0), Step::Send { wave: 2, letters_max: 2 });
}

#[test]
fn what_begins_is_announced_once() {
    let resumed = |wave, sent, probing| Some(json!({ "wave": wave, "sent": sent, "returned": 1, "probing": probing }));
    // (wave 1 so far, resumed before, resumed after, what begins)
    for (columns, before, after, begins) in [
        ("8/0/0/0/0", None, None, Some(Begun::Wave(8))),
        ("6/0/0/2/0", None, None, None),
        ("8/0/0/0/0", resumed(0, 2, false), resumed(0, 2, false), Some(Begun::Wave(8))),
        ("6/0/0/2/0", resumed(0, 2, false), resumed(0, 2, false), None),
        ("8/0/0/0/0", resumed(0, 2, true), resumed(1, 0, true), Some(Begun::Canary(2))),
        ("7/0/0/1/0", resumed(1, 0, true), resumed(1, 0, true), None),
        ("6/0/0/2/0", resumed(1, 0, true), resumed(1, 0, false), Some(Begun::Rest(6))),
        ("3/0/0/5/0", resumed(1, 0, false), resumed(1, 0, false), None),
    ] {
        let of = |resumed: Option<Value>| {
            stored(&replay(observing(1)), |record| {
                record.insert("resumed".into(), resumed.into());
            })
        };
        let ledger = ledger(&["0/0/0/2/0", columns, "16/0/0/0/0"]);
        assert_eq!(begun(&of(before.clone()), &of(after), 1, &ledger.wave(1)), begins, "{columns} {before:?}");
    }
}

#[test]
fn nothing_resumes_while_letters_are_in_flight() {
    let in_flight = ledger(&["0/0/0/2/0", "3/0/1/0/4", "16/0/0/0/0"]);
    assert!(replay(paused(1)).resume(&open_gate(), &in_flight, &[], None).is_none());
}
