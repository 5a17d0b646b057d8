//! The components of a replay in a real browser: gate, approval, waves and ledger.

use crate::fixture::{Fixture, frame, show};
use dashboard::component::{ApproveDialog, GateList, LedgerTable, People, PlanText, WaveRows};
use dashboard::reactive::prelude::*;
use domain::replay::{Plan, Wrapped};
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Event, EventInit, HtmlInputElement, HtmlTextAreaElement};
use wire::{ApproveRequest, GateView, PlanAnswer, ReplayAnswer};

fn gate(quiet: Value, approval: Value) -> GateView {
    let condition = |kind: &str, status: &Value, evidence: &str| {
        let mut all = json!({ "kind": kind, "evidence": evidence });
        all.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
        all
    };
    let met = json!({ "status": "met" });
    serde_json::from_value(json!({ "group": "g", "conditions": [
        condition("fix_declared", &met, "Deploy v2, declared by ana"),
        condition("quiet", &quiet, "Clears after 10 s without a new failure."),
        condition("approval", &approval, "ana declared the fix. Another person must approve it."),
    ] }))
    .unwrap()
}

fn met() -> Value {
    json!({ "status": "met" })
}

fn unmet(opens_at: Option<f64>) -> Value {
    json!({ "status": "unmet", "opens_at": opens_at.map(|at| at as i64) })
}

fn plan(letters: u64, hash: &str) -> PlanAnswer {
    serde_json::from_value(json!({ "hash": hash, "duration_ms": 31_000, "arrived_since": 0, "plan": {
        "id": "replay-1", "group": "g", "main_queue": "arn:aws:sqs:local:0:orders", "made_by": "otto", "made_at": 0,
        "fix": { "kind": "deploy", "reference": "v2", "declared_by": "ana", "declared_at": 0, "effective_at": 0 },
        "letters": { "letters": letters, "priced": 0, "money": [] },
        "message_types": [], "letters_digest": "", "oldest_sent_at": null, "left_out": [{ "reason": "past their deadline", "letters": 3 }],
        "waves": [1, letters - 1], "rounds": 2, "pace_per_s": 20, "pause_share_pct": 50, "sample_letters_min": 5,
        "window_ms": 8000, "slack_ms": 2000, "backlog_ms_max": 3600000, "wave_delay_ms": 1000, "wave_delay_ms_max": 9000,
    } }))
    .unwrap()
}

/// Returns a replay with waves of 1 and 9 letters that paused in its second wave.
fn replay() -> ReplayAnswer {
    let wave = |delivered: u64, returned: u64, in_flight: u64, pending: u64| json!({ "delivered": delivered, "returned": returned, "in_flight": in_flight, "pending": pending });
    serde_json::from_value(json!({
        "group_title": "null", "observed_until": null,
        "ledger": [wave(1, 0, 0, 0), wave(1, 4, 0, 4)], "total": wave(2, 4, 0, 4),
        "replay": {
            "version": 1, "plan": serde_json::to_value(plan(10, "h")).unwrap()["plan"],
            "approval": { "by": "bo", "at": 0, "reason": "r", "plan_hash": "h", "waivers": [] },
            "lease": null, "paced_until": null, "last_sent_at": null, "resumed": null,
            "state": "paused", "wave": 1, "by": "office", "at": 0,
            "why": { "kind": "too_many_returned", "returned": 4, "sent": 5, "pause_share_pct": 50 },
        },
    }))
    .unwrap()
}

/// An open approval dialog, and the request that it sends.
struct Approval {
    fixture: Fixture,
    plan: RwSignal<Option<PlanAnswer>>,
    gate: RwSignal<GateView>,
    sent: RwSignal<Option<ApproveRequest>>,
}

async fn approving(letters: u64, gate: GateView, me: &str) -> Approval {
    let (plan, gate) = (RwSignal::new(Some(plan(letters, "h1"))), RwSignal::new(gate));
    let sent = RwSignal::new(None);
    let open = RwSignal::new(false);
    let people =
        Signal::stored(People { me: Some(me.to_string()), declarer: Some("ana".to_string()), ..People::default() });
    let fixture = show(move || {
        view! {
            <ApproveDialog open plan gate people on_approve=move |request| sent.set(Some(request)) on_new_plan=|()| () />
        }
    });
    open.set(true);
    fixture.until("it is open", |fixture| fixture.text().contains("cannot be recalled")).await;
    Approval { fixture, plan, gate, sent }
}

impl Approval {
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
async fn the_gate_shows_each_condition_with_mark_evidence_and_countdown() {
    let shown = RwSignal::new(gate(unmet(Some(js_sys::Date::now() + 60_000.0)), unmet(None)));
    let fixture = show(move || view! { <GateList gate=shown /> });
    frame().await;
    let text = fixture.text();
    assert!(text.contains("Fix declared: met") && text.contains("Deploy v2, declared by ana"), "{text}");
    assert!(text.contains("Quiet since the fix: clears automaticallyclears in 1 min"), "{text}");
    assert!(text.contains("Approval: pending"), "{text}");
    shown.set(gate(json!({ "status": "waived", "by": "bo", "reason": "known noise" }), met()));
    frame().await;
    assert!(fixture.text().contains("Waived by bo: known noise"), "{}", fixture.text());
}

#[wasm_bindgen_test]
async fn a_due_condition_is_checked() {
    let shown = Signal::stored(gate(unmet(Some(js_sys::Date::now() - 1.0)), met()));
    let fixture = show(move || view! { <GateList gate=shown /> });
    fixture.until("it is checked", |fixture| fixture.text().contains("checking…")).await;
}

#[wasm_bindgen_test]
async fn an_approval_does_not_count_below_zero() {
    let approval = approving(10, gate(unmet(Some(js_sys::Date::now() - 1.0)), met()), "bo").await;
    let checked = "\"Quiet since the fix\": checking…";
    approval.fixture.until("it is checked", |fixture| fixture.text().contains(checked)).await;
    assert!(!approval.fixture.text().contains("clears in"), "{}", approval.fixture.text());
}

#[wasm_bindgen_test]
async fn an_approval_needs_a_reason_and_names_the_shown_plan() {
    let approval = approving(10, gate(met(), met()), "bo").await;
    let text = approval.fixture.text();
    for words in ["Replay 10 letters to orders?", "3 past their deadline", "2, starting with a canary of 1 letter"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    approval.press().await;
    assert_eq!(approval.why_not(), "Enter a reason.");
    assert!(approval.sent.get_untracked().is_none());
    approval.write("textarea", "v2 is live");
    approval.press().await;
    let sent = approval.sent.get_untracked().unwrap();
    assert_eq!((sent.plan_hash.0.as_str(), sent.reason.as_str(), sent.waivers.len()), ("h1", "v2 is live", 0));
}

#[wasm_bindgen_test]
async fn a_plan_says_that_letters_go_back_with_their_wrapper() {
    let PlanAnswer { plan, duration_ms, .. } = plan(10, "h1");
    let plan = Plan { wrapped: Wrapped { letters: 10, original_at: Some(".payload".into()) }, ..plan };
    let fixture = show(move || view! { <PlanText plan=plan duration=duration_ms arrived_since=0 /> });
    frame().await;
    let words = "10 of 10 letters look like error envelopes and go back with their wrapper";
    assert!(fixture.text().contains(words), "{}", fixture.text());
}

#[wasm_bindgen_test]
async fn a_large_replay_needs_its_typed_count() {
    let approval = approving(7162, gate(met(), met()), "bo").await;
    approval.write("textarea", "v2 is live");
    frame().await;
    assert_eq!(approval.why_not(), "Type 7162 to confirm.");
    approval.write("input", "716");
    approval.press().await;
    assert!(approval.sent.get_untracked().is_none());
    approval.write("input", "7,162");
    approval.press().await;
    assert!(approval.sent.get_untracked().is_some());
}

#[wasm_bindgen_test]
async fn an_unmet_condition_needs_a_waiver_until_it_is_met() {
    let approval = approving(10, gate(unmet(None), met()), "bo").await;
    approval.write("textarea", "v2 is live");
    approval.press().await;
    assert!(approval.sent.get_untracked().is_none());
    approval.write(".waivers input", "known noise");
    approval.press().await;
    let sent = approval.sent.get_untracked().unwrap();
    assert_eq!(sent.waivers.first().map(|waiver| waiver.reason.as_str()), Some("known noise"));
    approval.gate.set(gate(met(), met()));
    approval.press().await;
    assert!(approval.sent.get_untracked().unwrap().waivers.is_empty(), "a condition that has cleared needs no waiver");
    assert!(approval.fixture.find(".waivers").is_none());
}

#[wasm_bindgen_test]
async fn the_declarer_of_the_fix_cannot_approve() {
    let approval = approving(10, gate(met(), unmet(None)), "ana").await;
    approval.write("textarea", "v2 is live");
    approval.press().await;
    assert_eq!(approval.why_not(), "You declared the fix, so someone else must approve it.");
    assert!(approval.sent.get_untracked().is_none());
}

#[wasm_bindgen_test]
async fn a_changed_plan_must_be_reviewed() {
    let approval = approving(10, gate(met(), met()), "bo").await;
    approval.write("textarea", "v2 is live");
    approval.plan.set(Some(plan(12, "h2")));
    approval.press().await;
    assert!(approval.sent.get_untracked().is_none(), "{}", approval.fixture.text());
    assert!(approval.fixture.text().contains("Replay 10 letters"), "the old plan is still shown");
    approval.fixture.get(".notice button").click();
    frame().await;
    assert!(approval.fixture.text().contains("Replay 12 letters to orders?"));
    approval.press().await;
    assert_eq!(approval.sent.get_untracked().unwrap().plan_hash.0, "h2");
    approval.plan.set(None);
    frame().await;
    assert!(approval.why_not().contains("no longer exists"), "{}", approval.why_not());
}

#[wasm_bindgen_test]
async fn the_ledger_adds_up_and_links_to_its_letters() {
    let view = Signal::stored(replay());
    let fixture = show(move || view! { <LedgerTable view /> });
    let row = |at: usize| fixture.get(&format!("tbody tr:nth-child({at})")).inner_text();
    let words = |at: usize| row(at).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(1), "1 1 1 no failure seen for 8 s 0 0 0");
    assert_eq!(words(3), "Total 10 2 no failure seen for 8 s 4 0 4");
    let link = fixture.attribute("tbody tr:nth-child(2) td:nth-child(4) a", "href");
    assert_eq!(link.as_deref(), Some("/replays/replay-1?outcome=returned&wave=1"));
    assert!(fixture.find("tbody tr:nth-child(1) td:nth-child(4) a").is_none(), "a zero has no link");
}

#[wasm_bindgen_test]
async fn waves_show_progress_and_state() {
    let view = Signal::stored(replay());
    let fixture = show(move || view! { <WaveRows view /> });
    frame().await;
    let wave = |at: usize| fixture.get(&format!(".wave:nth-child({at})")).text_content().unwrap();
    assert!(wave(1).contains("1 of 1") && wave(1).contains("Passed"), "{}", wave(1));
    assert!(wave(2).contains("5 of 9") && wave(2).contains("80% returned"), "{}", wave(2));
    assert!(wave(2).contains("Paused: too many returned"), "{}", wave(2));
    let words = fixture.attribute(".wave:nth-child(2) [role=progressbar]", "aria-valuetext");
    assert_eq!(words.as_deref(), Some("5 of 9 letters: 1 delivered, 4 returned, 0 in flight, 4 pending"));
}
