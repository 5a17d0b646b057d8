//! Live values, commands, shortcuts and navigation in a real browser.

use crate::fixture::{Fixture, frame, show};
use dashboard::api::{Answer, ApiError};
use dashboard::command::Command;
use dashboard::component::Loaded;
use dashboard::keys::{self, key};
use dashboard::nav::nav;
use dashboard::poll::{Live, Pace};
use dashboard::reactive::prelude::*;
use dashboard_model::route::{PageKey, Route};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{KeyboardEvent, KeyboardEventInit};
use wire::{ErrorBody, ErrorCode};

type Reply = Result<Answer<String>, ApiError>;

fn refused(status: u16, code: ErrorCode) -> ApiError {
    let body = ErrorBody { code, message: "Because.".into(), request_id: "r-1".into(), unmet: Vec::new() };
    ApiError::Refused { status, body }
}

fn unreachable() -> ApiError {
    ApiError::Unreachable { detail: "x".into() }
}

/// Shows a live value with these responses. The last one repeats.
fn show_live(answers: Vec<Reply>) -> (Fixture, Live<String>) {
    let answers = Rc::new(RefCell::new(answers));
    let out = Rc::new(RefCell::new(None));
    let inner = Rc::clone(&out);
    let fixture = show(move || {
        let call = move |_| {
            let mut answers = answers.borrow_mut();
            let next = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
            async move { next }
        };
        let live = Live::new(call, |_: &String| Pace::Calm);
        inner.replace(Some(live));
        view! { <Loaded live><p>{move || live.get()}</p></Loaded> }
    });
    let live = out.borrow_mut().take().unwrap();
    (fixture, live)
}

fn new(text: &str) -> Reply {
    Ok(Answer::New(text.to_string()))
}

#[wasm_bindgen_test]
async fn stale_values_stay_visible() {
    let (fixture, live) = show_live(vec![new("41 letters"), Err(unreachable()), new("42 letters")]);
    fixture.until("the value is shown", |fixture| fixture.text() == "41 letters").await;
    live.refresh();
    fixture.until("it is marked as stale", |fixture| fixture.text().contains("Showing data from ")).await;
    assert!(fixture.text().contains("41 letters"));
    fixture.until("the next attempt is announced", |fixture| fixture.text().contains("Retrying in ")).await;
    fixture.get(".stale button").click();
    fixture.until("it is fresh again", |fixture| fixture.text() == "42 letters").await;
}

#[wasm_bindgen_test]
async fn each_failure_has_its_own_screen() {
    let rows = [
        (unreachable(), "Cannot reach the office."),
        (refused(500, ErrorCode::Internal), "Request ID r-1"),
        (refused(403, ErrorCode::Forbidden), "You do not have access."),
        (refused(404, ErrorCode::NotFound), "This page does not exist."),
    ];
    for (error, words) in rows {
        let (fixture, _) = show_live(vec![Err(error)]);
        fixture.until(words, |fixture| fixture.text().contains(words)).await;
    }
}

#[wasm_bindgen_test]
async fn a_retry_replaces_the_error() {
    let (fixture, _) = show_live(vec![Err(unreachable()), new("here")]);
    fixture.until("it failed", |fixture| fixture.text().contains("Could not load the page.")).await;
    fixture.get("button").click();
    fixture.until("it is here", |fixture| fixture.text() == "here").await;
}

#[wasm_bindgen_test]
async fn unchanged_responses_change_nothing() {
    let (fixture, live) = show_live(vec![new("same"), Ok(Answer::Same)]);
    fixture.until("the value is shown", |fixture| fixture.text() == "same").await;
    let before = fixture.get("p");
    live.refresh();
    frame().await;
    assert!(fixture.get("p").is_same_node(Some(&before)));
    assert_eq!(fixture.text(), "same");
}

#[wasm_bindgen_test]
async fn the_response_of_a_command_is_shown_at_once() {
    let (fixture, live) = show_live(vec![new("before"), Ok(Answer::Same)]);
    fixture.until("the value is shown", |fixture| fixture.text() == "before").await;
    live.put("after".to_string());
    frame().await;
    assert_eq!(fixture.text(), "after");
}

#[wasm_bindgen_test]
async fn a_double_click_sends_one_request() {
    let sent = RwSignal::new(0);
    let fixture = show(move || {
        let command = Command::new();
        let send = move |_| {
            let call = async move {
                sent.update(|n| *n += 1);
                frame().await;
                Ok::<_, ApiError>(())
            };
            command.run(call, |()| ());
        };
        view! { <button on:click=send>{move || if command.busy().get() { "Sending" } else { "Send" }}</button> }
    });
    fixture.get("button").click();
    fixture.get("button").click();
    fixture.until("it is done", |fixture| fixture.text() == "Send" && sent.get_untracked() > 0).await;
    assert_eq!(sent.get_untracked(), 1);
}

#[wasm_bindgen_test]
async fn links_navigate_without_a_page_load() {
    let fixture = show(|| {
        let nav = nav();
        view! {
            <a id="in" href="/groups/ab12?tab=letters">"Group"</a>
            <output>{move || format!("{:?}", nav.route().page())}</output>
        }
    });
    fixture.get("#in").click();
    let there = format!("{:?}", PageKey::Group("ab12".into()));
    fixture.until("the page is the group's", |fixture| fixture.get("output").inner_text() == there).await;
    assert_eq!(window().location().pathname().unwrap(), "/groups/ab12");
    window().history().unwrap().back().unwrap();
    fixture.until("back is back", |fixture| fixture.get("output").inner_text() != there).await;
}

fn press(target: &web_sys::HtmlElement, key: &str, ctrl: bool) {
    let init = KeyboardEventInit::new();
    init.set_key(key);
    init.set_bubbles(true);
    init.set_cancelable(true);
    init.set_ctrl_key(ctrl);
    let event = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init).unwrap();
    target.dispatch_event(&event).unwrap();
}

#[wasm_bindgen_test]
async fn shortcuts_work_outside_text_fields() {
    let pressed = RwSignal::new(String::new());
    let fixture = show(move || {
        let add = move |what: &'static str| pressed.update(|pressed| pressed.push_str(what));
        keys::bind("Test", vec![key("j", "Next", move || add("j")), key("g r", "Go", move || add("R"))]);
        view! { <a href="/groups">"link"</a><input /><textarea></textarea><input type="checkbox" /> }
    });
    let rows = [
        ("a", "j", false, "j"),
        ("input[type=checkbox]", "j", false, "j"),
        ("input", "j", false, ""),
        ("textarea", "j", false, ""),
        ("a", "j", true, ""),
        ("a", "x", false, ""),
    ];
    for (target, key, ctrl, expected) in rows {
        pressed.set(String::new());
        press(&fixture.get(target), key, ctrl);
        assert_eq!(pressed.get_untracked(), expected, "{key} in {target}");
    }
    pressed.set(String::new());
    for key in ["g", "r", "r"] {
        press(&fixture.get("a"), key, false);
    }
    assert_eq!(pressed.get_untracked(), "R");
}

#[wasm_bindgen_test]
fn home_is_the_list_of_groups() {
    assert_eq!(Route::home().to_string(), "/groups");
}
