//! Short messages, and how long they stay.

use crate::fixture::{frame, show};
use dashboard::component::{Toasts, toaster};
use dashboard::nav::nav;
use dashboard::reactive::prelude::*;
use dashboard_model::replays::Show;
use dashboard_model::route::Route;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
async fn a_newer_message_takes_the_place_of_an_older_one() {
    let fixture = show(|| {
        let toaster = toaster();
        toaster.show("Note saved.");
        toaster.error("The owner was not set.");
        view! { <Toasts /> }
    });
    frame().await;
    assert_eq!(fixture.text(), "The owner was not set.");
}

#[wasm_bindgen_test]
async fn a_message_goes_with_its_page_and_not_with_a_filter() {
    let before = window().location().pathname().unwrap();
    let fixture = show(|| {
        let (nav, toaster) = (nav(), toaster());
        nav.go(Route::Replays(Show::All));
        toaster.show("Replay aborted.");
        let running = move |_| nav.go(Route::Replays(Show::Running));
        view! {
            <Toasts />
            <button id="filter" on:click=on(running)></button>
            <button id="leave" on:click=on(move |_| nav.go(Route::Policy))></button>
        }
    });
    frame().await;
    fixture.get("#filter").click();
    frame().await;
    assert_eq!(fixture.text(), "Replay aborted.");
    fixture.get("#leave").click();
    frame().await;
    assert_eq!(fixture.text(), "");
    window().history().unwrap().push_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&before)).unwrap();
}
