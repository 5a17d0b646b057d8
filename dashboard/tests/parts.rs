//! The parts of pages in a real browser: what they show, what they say to a screen reader, what a press does.
#![cfg(target_arch = "wasm32")]

mod stage;

use dashboard::component::{Bar, Button, Dialog, JsonView, LiveBadge, MoneyText, Part, Spark, StepPill, Tab, Tabs};
use dashboard::poll::{Live, Pace};
use dashboard::reactive::prelude::*;
use domain::group::Tally;
use domain::money::{Currency, Money, Purse};
use stage::{frame, show};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use wire::NextStep;

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
async fn disabled_button_says_why_and_does_nothing() {
    let pressed = RwSignal::new(0);
    let why = RwSignal::new(Some("A viewer may not approve; an approver can.".to_string()));
    let stage = show(move || {
        view! {
            <Button press=move |()| pressed.update(|n| *n += 1) why_not=why>"Approve"</Button>
        }
    });
    frame().await;
    assert_eq!(stage.attribute("button", "aria-disabled").as_deref(), Some("true"));
    assert!(stage.text().contains("an approver can"));
    stage.get("button").click();
    assert_eq!(pressed.get_untracked(), 0);
    why.set(None);
    frame().await;
    assert_eq!(stage.attribute("button", "aria-disabled"), None);
    stage.get("button").click();
    assert_eq!(pressed.get_untracked(), 1);
}

#[wasm_bindgen_test]
async fn busy_button_is_pressed_once() {
    let pressed = RwSignal::new(0);
    let busy = RwSignal::new(false);
    let stage = show(move || {
        view! {
            <Button press=move |()| { pressed.update(|n| *n += 1); busy.set(true); } busy>"Replay"</Button>
        }
    });
    stage.get("button").click();
    stage.get("button").click();
    frame().await;
    assert_eq!(pressed.get_untracked(), 1);
    assert_eq!(stage.attribute("button", "aria-busy").as_deref(), Some("true"));
    assert!(stage.text().contains("Replay"));
}

#[wasm_bindgen_test]
async fn dialog_focuses_cancel_and_gives_the_focus_back() {
    let open = RwSignal::new(false);
    let done = RwSignal::new(false);
    let stage = show(move || {
        view! {
            <button id="opener" on:click=move |_| open.set(true)>"Open"</button>
            <Dialog open title="Replay 3 letters to orders?" confirm="Start wave 1" on_confirm=move |()| done.set(true)>
                <p>"Waves of 1 and 2."</p>
            </Dialog>
        }
    });
    let focused = || document().active_element().and_then(|element| element.text_content()).unwrap_or_default();
    assert!(!stage.text().contains("Waves of 1"), "closed, it has no content");
    stage.get("#opener").focus().unwrap();
    stage.get("#opener").click();
    stage.until("Cancel has the focus", |_| focused() == "Cancel").await;
    assert_eq!(stage.attribute("dialog", "aria-label").as_deref(), Some("Replay 3 letters to orders?"));
    stage.get("button[type=submit]").click();
    frame().await;
    assert!(done.get_untracked());
    assert!(open.get_untracked(), "whoever confirms closes it");
    stage.get(".dialog-buttons button").click();
    stage.until("the opener has the focus", |_| focused() == "Open").await;
    assert!(!open.get_untracked());
}

#[wasm_bindgen_test]
async fn dialog_with_a_reason_not_to_cannot_be_confirmed() {
    let done = RwSignal::new(false);
    let open = RwSignal::new(true);
    let why = Signal::stored(Some("Write a reason.".to_string()));
    let stage = show(move || {
        view! {
            <Dialog open title="Abort?" confirm="Abort" why_not=why on_confirm=move |()| done.set(true)>""</Dialog>
        }
    });
    stage.until("it is open", |stage| stage.find("button[type=submit]").is_some()).await;
    stage.get("button[type=submit]").click();
    frame().await;
    assert!(!done.get_untracked());
    assert!(stage.text().contains("Write a reason."));
}

fn tally(letters: i64, priced: i64, amount: Option<&str>) -> Tally {
    let currency = Currency::parse("EUR").unwrap();
    let money = amount.map(|amount| Money { amount: amount.parse().unwrap(), currency });
    Tally { letters, priced, money: Purse::from(money) }
}

#[wasm_bindgen_test]
async fn money_is_exact_and_says_when_it_is_only_part() {
    let of = RwSignal::new(tally(3, 0, None));
    let stage = show(move || view! { <MoneyText of /> });
    assert_eq!(stage.text(), "—");
    of.set(tally(3, 3, Some("1234.5")));
    frame().await;
    assert_eq!(stage.text(), "€1,234.50");
    of.set(tally(3, 2, Some("1234.5")));
    frame().await;
    assert_eq!(stage.text(), "≥ €1,234.50");
}

#[wasm_bindgen_test]
async fn states_have_a_word_and_a_shape() {
    let step = RwSignal::new(NextStep::Growing);
    let stage = show(move || view! { <StepPill step /> });
    assert_eq!(stage.text(), "▲Growing");
    step.set(NextStep::Replaying { wave: 2, waves: 5 });
    frame().await;
    assert_eq!(stage.text(), "◔Wave 2 of 5");
    assert_eq!(stage.attribute(".pill-shape", "aria-hidden").as_deref(), Some("true"));
}

#[wasm_bindgen_test]
fn charts_are_told_in_words() {
    let stage = show(|| {
        let parts = Signal::stored(vec![Part { n: 3, look: "ok" }, Part { n: 1, look: "danger" }]);
        view! {
            <Spark values=vec![1, 0, 4] last_hour=4 growing=true />
            <Bar parts total=Signal::stored(10) label="Wave 1" words="3 delivered, 1 came back, 6 to go" />
        }
    });
    assert_eq!(stage.attribute("svg", "aria-label").as_deref(), Some("5 in 3 h, 4 in the last hour"));
    let bar = "[role=progressbar]";
    assert_eq!(stage.attribute(bar, "aria-valuenow").as_deref(), Some("4"));
    assert_eq!(stage.attribute(bar, "aria-valuetext").as_deref(), Some("3 delivered, 1 came back, 6 to go"));
    assert_eq!(stage.get(".bar-danger").style().get_property_value("width").unwrap(), "max(2px, 10%)");
}

#[wasm_bindgen_test]
async fn payload_numbers_stand_as_they_came() {
    let raw = r#"{"id": 12345678901234567890, "sum": 0.10, "deep": {"er": {"est": "<b>x</b>"}}}"#;
    let stage = show(move || view! { <JsonView raw /> });
    assert!(stage.text().contains("12345678901234567890"));
    assert!(stage.text().contains("0.10"));
    assert!(!stage.text().contains("<b>x</b>"), "deep branches are made when they are opened");
    frame().await;
    stage.get("details details details > summary").click();
    stage.until("it is opened", |stage| stage.text().contains("<b>x</b>")).await;
    assert!(stage.find("b").is_none(), "what a letter carries is text, never markup");
}

#[wasm_bindgen_test]
fn what_is_not_json_is_shown_as_it_stands() {
    let stage = show(|| view! { <JsonView raw="{broken <script>" /> });
    assert_eq!(stage.get("pre").text_content().as_deref(), Some("{broken <script>"));
}

#[wasm_bindgen_test]
async fn tabs_are_links_and_say_which_is_open() {
    let here = RwSignal::new(0);
    let stage = show(move || {
        let tab = move |at: usize, label, href: &'static str| Tab {
            href: Signal::stored(href.to_string()),
            label,
            count: Signal::stored((at == 1).then(|| "7".to_string())),
            here: Signal::derive(move || here.get() == at),
        };
        view! { <Tabs label="Views" tabs=vec![tab(0, "Open", "/groups"), tab(1, "Growing", "/groups?view=growing")] /> }
    });
    assert_eq!(stage.attribute("[aria-current]", "href").as_deref(), Some("/groups"));
    here.set(1);
    frame().await;
    assert_eq!(stage.get("[aria-current]").text_content().as_deref(), Some("Growing7"));
}

#[wasm_bindgen_test]
async fn badge_pauses_and_goes_on() {
    let stage = show(|| {
        let live = Live::new(|_| async { Ok(dashboard::api::Answer::New(1)) }, |_: &i32| Pace::Calm);
        view! { <LiveBadge pulse=live.pulse() /> }
    });
    stage.until("it is live", |stage| stage.get(".badge-word").inner_text() == "Live").await;
    stage.get("button").click();
    stage.until("it is paused", |stage| stage.get(".badge-word").inner_text() == "Paused").await;
    stage.get("button").click();
    stage.until("it is live again", |stage| stage.get(".badge-word").inner_text() == "Live").await;
}
