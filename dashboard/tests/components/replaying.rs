//! The way to a replay in a real browser: the gate, the approval's rules, waves and ledger.

use crate::fixture::{Fixture, frame, show};
use dashboard::component::{ApproveDialog, Asker, GateList, LedgerTable, WaveRows};
use dashboard::reactive::prelude::*;
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Event, EventInit, HtmlInputElement, HtmlTextAreaElement};
use wire::GateView;
use wire::{ApproveRequest, PlanView, ReplayView};

fn gate(quiet: Value, approval: Value) -> GateView {
    let condition = |kind: &str, status: &Value, evidence: &str| {
        let mut all = json!({ "kind": kind, "evidence": evidence });
        all.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
        all
    };
    let met = json!({ "status": "met" });
    serde_json::from_value(json!({ "group": "g", "conditions": [
        condition("fix_declared", &met, "Deploy v2, declared by ana"),
        condition("quiet", &quiet, "Opens by itself when no letter has died for 10 s."),
        condition("approval", &approval, "ana declared the fix; somebody else must approve it."),
    ] }))
    .unwrap()
}

fn met() -> Value {
    json!({ "status": "met" })
}

fn unmet(opens_at: Option<f64>) -> Value {
    json!({ "status": "unmet", "opens_at": opens_at.map(|at| at as i64) })
}

fn plan(letters: u64, hash: &str) -> PlanView {
    serde_json::from_value(json!({ "hash": hash, "duration_ms": 31_000, "arrived_since": 0, "plan": {
        "id": "replay-1", "group": "g", "main_queue": "arn:aws:sqs:local:0:orders", "made_by": "otto", "made_at": 0,
        "fix": { "kind": "deploy", "reference": "v2", "declared_by": "ana", "declared_at": 0, "effective_at": 0 },
        "letters": { "letters": letters, "priced": 0, "money": [] },
        "message_types": [], "letters_digest": "", "oldest_sent_at": null, "left_out": [{ "reason": "past their deadline", "letters": 3 }],
        "waves": [1, letters - 1], "rounds": 2, "pace_per_s": 20, "stop_share_pct": 50, "sample_letters_min": 5,
        "window_ms": 8000, "slack_ms": 2000, "backlog_ms_max": 3600000, "rest_ms": 1000, "rest_ms_max": 9000,
    } }))
    .unwrap()
}

/// The replay of a plan of 1 and 9 letters, stopped in its second wave.
fn replay() -> ReplayView {
    let wave = |delivered: u64, returned: u64, in_flight: u64, pending: u64| json!({ "delivered": delivered, "returned": returned, "in_flight": in_flight, "pending": pending });
    serde_json::from_value(json!({
        "group_title": "null", "observed_until": null,
        "ledger": [wave(1, 0, 0, 0), wave(1, 4, 0, 4)], "total": wave(2, 4, 0, 4),
        "replay": {
            "version": 1, "plan": serde_json::to_value(plan(10, "h")).unwrap()["plan"],
            "approval": { "by": "bo", "at": 0, "reason": "r", "plan_hash": "h", "waivers": [] },
            "lease": null, "paced_until": null, "last_sent_at": null, "resumed": null,
            "state": "paused", "wave": 1, "by": "office", "at": 0,
            "why": { "kind": "too_many_returned", "returned": 4, "sent": 5, "stop_share_pct": 50 },
        },
    }))
    .unwrap()
}

/// An open dialog of approval for `bo`, and what it sends.
struct Asked {
    fixture: Fixture,
    plan: RwSignal<Option<PlanView>>,
    gate: RwSignal<GateView>,
    sent: RwSignal<Option<ApproveRequest>>,
}

async fn approving(letters: u64, gate: Gate, me: &str) -> Asked {
    let (plan, gate) = (RwSignal::new(Some(plan(letters, "h1"))), RwSignal::new(gate));
    let sent = RwSignal::new(None);
    let open = RwSignal::new(false);
    let asker = Signal::stored(Asker { me: Some(me.to_string()), declarer: Some("ana".to_string()) });
    let fixture = show(move || {
        view! {
            <ApproveDialog open plan gate asker on_approve=move |ask| sent.set(Some(ask)) on_look=|()| () />
        }
    });
    open.set(true);
    fixture.until("it is open", |fixture| fixture.text().contains("cannot be called back")).await;
    Asked { fixture, plan, gate, sent }
}

impl Asked {
    fn write(&self, selector: &str, text: &str) {
        let field = self.fixture.get(selector);
        match field.dyn_ref::<HtmlTextAreaElement>() {
            Some(area) => area.set_value(text),
            None => field.unchecked_ref::<HtmlInputElement>().set_value(text),
        }
        let init = EventInit::new();
        init.set_bubbles(true);
        field.dispatch_event(&Event::new_with_event_init_dict("input", &init).unwrap()).unwrap();
    }

    async fn press(&self) {
        frame().await;
        self.fixture.get("button[type=submit]").click();
        frame().await;
    }

    fn why_not(&self) -> String {
        self.fixture.find(".why-not").and_then(|why| why.text_content()).unwrap_or_default()
    }
}

#[wasm_bindgen_test]
async fn gate_shows_each_condition_with_mark_evidence_and_countdown() {
    let shown = RwSignal::new(gate(unmet(Some(js_sys::Date::now() + 60_000.0)), unmet(None)));
    let fixture = show(move || view! { <GateList gate=shown /> });
    frame().await;
    let text = fixture.text();
    assert!(text.contains("Fix declared: met") && text.contains("Deploy v2, declared by ana"), "{text}");
    assert!(text.contains("Quiet since the fix: opens by itselfopens in 1 min"), "{text}");
    assert!(text.contains("Approved by a second person: not yet"), "{text}");
    shown.set(gate(json!({ "status": "waived", "by": "bo", "reason": "known noise" }), met()));
    frame().await;
    assert!(fixture.text().contains("Waived by bo: known noise"), "{}", fixture.text());
}

#[wasm_bindgen_test]
async fn gate_that_is_due_says_that_it_opens() {
    let shown = Signal::stored(gate(unmet(Some(js_sys::Date::now() - 1.0)), met()));
    let fixture = show(move || view! { <GateList gate=shown /> });
    fixture.until("it opens", |fixture| fixture.text().contains("opening…")).await;
}

#[wasm_bindgen_test]
async fn approval_needs_a_reason_and_names_the_plan_that_was_seen() {
    let asked = approving(10, gate(met(), met()), "bo").await;
    let text = asked.fixture.text();
    for words in ["Replay 10 letters to orders?", "3 past their deadline", "2; the first, of 1 letter, is the canary"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    asked.press().await;
    assert_eq!(asked.why_not(), "Write a reason.");
    assert!(asked.sent.get_untracked().is_none());
    asked.write("textarea", "v2 is live");
    asked.press().await;
    let sent = asked.sent.get_untracked().unwrap();
    assert_eq!((sent.plan_hash.0.as_str(), sent.reason.as_str(), sent.waivers.len()), ("h1", "v2 is live", 0));
}

#[wasm_bindgen_test]
async fn large_replays_are_approved_by_typing_their_count() {
    let asked = approving(7162, gate(met(), met()), "bo").await;
    asked.write("textarea", "v2 is live");
    frame().await;
    assert_eq!(asked.why_not(), "Type 7162 to confirm.");
    asked.write("input", "716");
    asked.press().await;
    assert!(asked.sent.get_untracked().is_none());
    asked.write("input", "7,162");
    asked.press().await;
    assert!(asked.sent.get_untracked().is_some());
}

#[wasm_bindgen_test]
async fn unmet_conditions_are_waived_with_a_reason_or_waited_for() {
    let asked = approving(10, gate(unmet(None), met()), "bo").await;
    asked.write("textarea", "v2 is live");
    asked.press().await;
    assert!(asked.sent.get_untracked().is_none());
    asked.write(".waivers input", "known noise");
    asked.press().await;
    let sent = asked.sent.get_untracked().unwrap();
    assert_eq!(sent.waivers.first().map(|waiver| waiver.reason.as_str()), Some("known noise"));
    asked.gate.set(gate(met(), met()));
    asked.press().await;
    assert!(asked.sent.get_untracked().unwrap().waivers.is_empty(), "what has opened by itself is not waived");
    assert!(asked.fixture.find(".waivers").is_none());
}

#[wasm_bindgen_test]
async fn who_declared_the_fix_cannot_approve_it() {
    let asked = approving(10, gate(met(), unmet(None)), "ana").await;
    asked.write("textarea", "v2 is live");
    asked.press().await;
    assert_eq!(asked.why_not(), "You declared the fix: somebody else must approve it.");
    assert!(asked.sent.get_untracked().is_none());
}

#[wasm_bindgen_test]
async fn changed_plan_is_looked_at_before_it_is_approved() {
    let asked = approving(10, gate(met(), met()), "bo").await;
    asked.write("textarea", "v2 is live");
    asked.plan.set(Some(plan(12, "h2")));
    asked.press().await;
    assert!(asked.sent.get_untracked().is_none(), "{}", asked.fixture.text());
    assert!(asked.fixture.text().contains("Replay 10 letters"), "the one that was seen is still shown");
    asked.fixture.get(".notice button").click();
    frame().await;
    assert!(asked.fixture.text().contains("Replay 12 letters to orders?"));
    asked.press().await;
    assert_eq!(asked.sent.get_untracked().unwrap().plan_hash.0, "h2");
    asked.plan.set(None);
    frame().await;
    assert!(asked.why_not().contains("no longer there"), "{}", asked.why_not());
}

#[wasm_bindgen_test]
async fn ledger_closes_and_each_number_leads_to_its_letters() {
    let view = Signal::stored(replay());
    let fixture = show(move || view! { <LedgerTable view /> });
    let row = |at: usize| fixture.get(&format!("tbody tr:nth-child({at})")).inner_text();
    let words = |at: usize| row(at).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(1), "1 1 1 by their window 0 0 0");
    assert_eq!(words(3), "All 10 2 by their window 4 0 4");
    let link = fixture.attribute("tbody tr:nth-child(2) td:nth-child(4) a", "href");
    assert_eq!(link.as_deref(), Some("/replays/replay-1?outcome=returned&wave=1"));
    assert!(fixture.find("tbody tr:nth-child(1) td:nth-child(4) a").is_none(), "nothing is behind a zero");
}

#[wasm_bindgen_test]
async fn waves_say_how_far_they_are_and_where_they_stopped() {
    let view = Signal::stored(replay());
    let fixture = show(move || view! { <WaveRows view /> });
    frame().await;
    let wave = |at: usize| fixture.get(&format!(".wave:nth-child({at})")).text_content().unwrap();
    assert!(wave(1).contains("1 of 1") && wave(1).contains("Passed"), "{}", wave(1));
    assert!(wave(2).contains("5 of 9") && wave(2).contains("80 % back"), "{}", wave(2));
    assert!(wave(2).contains("Stopped: too many came back"), "{}", wave(2));
    let words = fixture.attribute(".wave:nth-child(2) [role=progressbar]", "aria-valuetext");
    assert_eq!(words.as_deref(), Some("5 of 9 letters: 1 delivered, 4 came back, 0 in flight, 4 to go"));
}
