//! Components in a real browser: what they show, what screen readers announce, and what a click does.

use crate::fixture::{frame, show};
use dashboard::clock;
use dashboard::component::{
    Bar, Button, Dialog, JsonView, LiveBadge, Loss, MoneyText, Segment, Spark, StepPill, Tab, Tabs,
};
use dashboard::poll::{Live, Pace};
use dashboard::reactive::prelude::*;
use domain::group::Tally;
use domain::money::{Currency, Money, Purse};
use domain::time::Span;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{KeyboardEvent, KeyboardEventInit};
use wire::NextStep;

#[wasm_bindgen_test]
async fn a_disabled_button_shows_the_reason_and_does_nothing() {
    let pressed = RwSignal::new(0);
    let why = RwSignal::new(Some("Viewers cannot approve. Ask an approver.".to_string()));
    let fixture = show(move || {
        view! {
            <Button press=move |()| pressed.update(|n| *n += 1) why_not=why>"Approve"</Button>
        }
    });
    frame().await;
    assert_eq!(fixture.attribute("button", "aria-disabled").as_deref(), Some("true"));
    assert!(fixture.text().contains("Ask an approver"));
    fixture.get("button").click();
    assert_eq!(pressed.get_untracked(), 0);
    why.set(None);
    frame().await;
    assert_eq!(fixture.attribute("button", "aria-disabled"), None);
    fixture.get("button").click();
    assert_eq!(pressed.get_untracked(), 1);
}

#[wasm_bindgen_test]
async fn a_busy_button_ignores_clicks() {
    let pressed = RwSignal::new(0);
    let busy = RwSignal::new(false);
    let fixture = show(move || {
        view! {
            <Button press=move |()| { pressed.update(|n| *n += 1); busy.set(true); } busy>"Replay"</Button>
        }
    });
    fixture.get("button").click();
    fixture.get("button").click();
    frame().await;
    assert_eq!(pressed.get_untracked(), 1);
    assert_eq!(fixture.attribute("button", "aria-busy").as_deref(), Some("true"));
    assert!(fixture.text().contains("Replay"));
}

#[wasm_bindgen_test]
async fn a_dialog_focuses_cancel_and_returns_the_focus() {
    let open = RwSignal::new(false);
    let done = RwSignal::new(false);
    let fixture = show(move || {
        view! {
            <button id="opener" on:click=move |_| open.set(true)>"Open"</button>
            <Dialog open title="Replay 3 letters to orders?" confirm="Approve and replay" on_confirm=move |()| done.set(true)>
                <p>"Waves of 1 and 2."</p>
            </Dialog>
        }
    });
    let focused = || document().active_element().and_then(|element| element.text_content()).unwrap_or_default();
    assert!(!fixture.text().contains("Waves of 1"), "a closed dialog has no content");
    fixture.get("#opener").focus().unwrap();
    fixture.get("#opener").click();
    fixture.until("Cancel has the focus", |_| focused() == "Cancel").await;
    assert_eq!(fixture.attribute("dialog", "aria-label").as_deref(), Some("Replay 3 letters to orders?"));
    fixture.get("button[type=submit]").click();
    frame().await;
    assert!(done.get_untracked());
    assert!(open.get_untracked(), "the caller closes the dialog");
    fixture.get(".dialog-buttons button").click();
    fixture.until("the opener has the focus", |_| focused() == "Open").await;
    assert!(!open.get_untracked());
}

#[wasm_bindgen_test]
async fn tab_stays_within_a_dialog() {
    let open = RwSignal::new(true);
    let fixture = show(move || {
        view! {
            <Dialog open title="Abort?" confirm="Abort" on_confirm=|()| ()>
                <details><summary>"More"</summary><a href="/hidden">"Hidden"</a></details>
                <input id="never" disabled=true />
            </Dialog>
        }
    });
    let focused = || document().active_element().and_then(|element| element.text_content()).unwrap_or_default();
    fixture.until("Cancel has the focus", |_| focused() == "Cancel").await;
    // Each row: what has the focus, whether Shift is held, and what has the focus then. Events made by a script do not
    // move it by themselves, so only the ends move.
    let rows = [
        ("button[type=submit]", false, "More"),
        ("summary", true, "Abort"),
        ("summary", false, "More"),
        (".dialog-buttons button", false, "Cancel"),
        (".dialog-buttons button", true, "Cancel"),
    ];
    for (from, shift, to) in rows {
        let init = KeyboardEventInit::new();
        init.set_key("Tab");
        init.set_shift_key(shift);
        init.set_bubbles(true);
        init.set_cancelable(true);
        let element = fixture.get(from);
        element.focus().unwrap();
        element.dispatch_event(&KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init).unwrap()).unwrap();
        assert_eq!(focused(), to, "from {from}, shift {shift}");
    }
}

#[wasm_bindgen_test]
async fn an_incomplete_dialog_cannot_be_confirmed() {
    let done = RwSignal::new(false);
    let open = RwSignal::new(true);
    let why = Signal::stored(Some("Enter a reason.".to_string()));
    let fixture = show(move || {
        view! {
            <Dialog open title="Abort?" confirm="Abort" why_not=why on_confirm=move |()| done.set(true)>""</Dialog>
        }
    });
    fixture.until("it is open", |fixture| fixture.find("button[type=submit]").is_some()).await;
    fixture.get("button[type=submit]").click();
    frame().await;
    assert!(!done.get_untracked());
    assert!(fixture.text().contains("Enter a reason."));
}

fn tally(letters: i64, priced: i64, amount: Option<&str>) -> Tally {
    let currency = Currency::parse("EUR").unwrap();
    let money = amount.map(|amount| Money { amount: amount.parse().unwrap(), currency });
    Tally { letters, priced, money: Purse::from(money) }
}

#[wasm_bindgen_test]
async fn money_is_exact_and_marked_if_partial() {
    let shown = RwSignal::new(tally(3, 0, None));
    let fixture = show(move || view! { <MoneyText tally=shown /> });
    assert_eq!(fixture.text(), "—");
    shown.set(tally(3, 3, Some("1234.5")));
    frame().await;
    assert_eq!(fixture.text(), "€1,234.50");
    shown.set(tally(3, 2, Some("1234.5")));
    frame().await;
    assert_eq!(fixture.text(), "≥ €1,234.50");
}

/// Yen and euros have no common figure without rates. With rates the total is marked as converted, and exact on hover.
#[wasm_bindgen_test]
async fn converted_money_says_about() {
    let money = |amount: &str, currency: &str| Money {
        amount: amount.parse().unwrap(),
        currency: Currency::parse(currency).unwrap(),
    };
    let mut both = tally(2, 2, Some("12"));
    both.money.add(money("1234567", "JPY"));
    let partial = Tally { letters: 3, ..both.clone() };
    let total = RwSignal::new(None);
    let fixture = show(move || view! { <MoneyText tally=both total /> });
    assert_eq!(fixture.text(), "¥1,234,567+ €12.00");
    total.set(Some(money("6802.12", "EUR")));
    frame().await;
    assert_eq!(fixture.text(), "about €6,802");
    let exact = fixture.attribute(".money", "title").unwrap();
    assert!(exact.contains("¥1,234,567 + €12.00") && exact.ends_with("by the policy's rates"), "{exact}");
    // What has no price makes it a lower bound.
    let fixture = show(move || view! { <MoneyText tally=partial total /> });
    assert_eq!(fixture.text(), "≥ €6,802");
}

#[wasm_bindgen_test]
async fn time_to_loss_counts_by_the_offices_clock() {
    let hour = Span::from_mins(60);
    let office = clock::here().plus(hour);
    clock::heard(office, clock::here());
    let at = Signal::stored(Some(office.plus(hour)));
    let fixture = show(move || view! { <Loss at /> });
    // By this machine's clock it would be two hours.
    assert!(["1 h", "59 min"].iter().any(|text| fixture.text().starts_with(text)), "{}", fixture.text());
    clock::heard(clock::here(), clock::here());
}

#[wasm_bindgen_test]
async fn states_have_a_label_and_a_shape() {
    let step = RwSignal::new(NextStep::Growing);
    let fixture = show(move || view! { <StepPill step /> });
    assert_eq!(fixture.text(), "▲Growing");
    for (now, text) in [
        (NextStep::Blocked, "✕Blocked"),
        (NextStep::WaitingForApproval, "◐Waiting for approval"),
        (NextStep::ReplayReady, "○Ready"),
    ] {
        step.set(now);
        frame().await;
        assert_eq!(fixture.text(), text);
    }
    step.set(NextStep::Replaying { wave: 2, waves: 5 });
    frame().await;
    assert_eq!(fixture.text(), "◔Wave 2 of 5");
    assert_eq!(fixture.attribute(".pill-shape", "aria-hidden").as_deref(), Some("true"));
}

#[wasm_bindgen_test]
fn charts_have_descriptions() {
    let fixture = show(|| {
        let segments = Signal::stored(vec![Segment { n: 3, look: "ok" }, Segment { n: 1, look: "danger" }]);
        view! {
            <Spark values=vec![1, 0, 4] last_hour=4 growing=true />
            <Bar segments total=Signal::stored(10) label="Wave 1" words="3 delivered, 1 returned, 6 pending" />
        }
    });
    assert_eq!(fixture.attribute("svg", "aria-label").as_deref(), Some("5 in 3 h, 4 in the last hour"));
    let bar = "[role=progressbar]";
    assert_eq!(fixture.attribute(bar, "aria-valuenow").as_deref(), Some("4"));
    assert_eq!(fixture.attribute(bar, "aria-valuetext").as_deref(), Some("3 delivered, 1 returned, 6 pending"));
    assert_eq!(fixture.get(".bar-danger").style().get_property_value("width").unwrap(), "max(2px, 10%)");
}

#[wasm_bindgen_test]
async fn payload_numbers_keep_every_digit() {
    let raw = r#"{"id": 12345678901234567890, "sum": 0.10, "deep": {"er": {"est": "<b>x</b>"}}}"#;
    let fixture = show(move || view! { <JsonView raw /> });
    assert!(fixture.text().contains("12345678901234567890"));
    assert!(fixture.text().contains("0.10"));
    assert!(!fixture.text().contains("<b>x</b>"), "deep branches are rendered when they are opened");
    frame().await;
    fixture.get("details details details > summary").click();
    fixture.until("it is opened", |fixture| fixture.text().contains("<b>x</b>")).await;
    assert!(fixture.find("b").is_none(), "payloads are text, never markup");
}

#[wasm_bindgen_test]
async fn a_late_toggle_event_does_not_close_what_is_open() {
    let fixture = show(|| view! { <JsonView raw=r#"{"deep": {"er": {"est": 1}}}"# /> });
    fixture.get("details details details > summary").click();
    fixture.until("it is opened", |fixture| fixture.text().contains("est")).await;
    let again = web_sys::Event::new("toggle").unwrap();
    fixture.get("details").dispatch_event(&again).unwrap();
    frame().await;
    assert!(fixture.get("details details details").has_attribute("open"));
    assert!(fixture.text().contains("est"));
}

#[wasm_bindgen_test]
fn text_that_is_not_json_is_shown_unchanged() {
    let fixture = show(|| view! { <JsonView raw="{broken <script>" /> });
    assert_eq!(fixture.get("pre").text_content().as_deref(), Some("{broken <script>"));
}

#[wasm_bindgen_test]
async fn tabs_are_links_and_mark_the_open_one() {
    let here = RwSignal::new(0);
    let fixture = show(move || {
        let tab = move |at: usize, label, href: &'static str| Tab {
            href: Signal::stored(href.to_string()),
            label,
            count: Signal::stored((at == 1).then(|| "7".to_string())),
            is_open: Signal::derive(move || here.get() == at),
        };
        view! { <Tabs label="Views" tabs=vec![tab(0, "Open", "/groups"), tab(1, "Growing", "/groups?view=growing")] /> }
    });
    assert_eq!(fixture.attribute("[aria-current]", "href").as_deref(), Some("/groups"));
    here.set(1);
    frame().await;
    assert_eq!(fixture.get("[aria-current]").text_content().as_deref(), Some("Growing7"));
}

#[wasm_bindgen_test]
async fn tabs_wider_than_the_page_scroll_to_the_open_one() {
    let here = RwSignal::new(0);
    let fixture = show(move || {
        let tab = move |at: usize| Tab {
            href: Signal::stored("/groups".to_string()),
            label: "Waiting for approval",
            count: Signal::stored(None),
            is_open: Signal::derive(move || here.get() == at),
        };
        let tabs = (0..8).map(tab).collect();
        view! { <div id="page"><Tabs label="Views" tabs /></div> }
    });
    let styles = [
        ("#page", "width: 200px; display: grid"),
        (".tabs", "overflow-x: auto"),
        (".tabs ul", "display: flex; flex-wrap: nowrap; width: max-content"),
    ];
    for (selector, style) in styles {
        fixture.get(selector).set_attribute("style", style).unwrap();
    }
    here.set(7);
    fixture.until("the last tab is in sight", |fixture| fixture.get(".tabs").scroll_left() > 0).await;
}

#[wasm_bindgen_test]
async fn the_badge_pauses_and_resumes() {
    let fixture = show(|| {
        let live = Live::new(|_| async { Ok(dashboard::api::Answer::New(1)) }, |_: &i32| Pace::Calm);
        view! { <LiveBadge pulse=live.pulse() /> }
    });
    fixture.until("it is live", |fixture| fixture.get(".badge-word").inner_text() == "Live").await;
    fixture.get("button").click();
    fixture.until("it is paused", |fixture| fixture.get(".badge-word").inner_text() == "Paused").await;
    fixture.get("button").click();
    fixture.until("it is live again", |fixture| fixture.get(".badge-word").inner_text() == "Live").await;
}
