//! A stage for parts: mounts them into the page of the test, finds things by role and words, and waits for conditions.
#![allow(dead_code, reason = "each file of tests uses the part of the stage that it needs")]

use dashboard::clock::Clock;
use dashboard::component::Say;
use dashboard::keys::Keys;
use dashboard::nav::Nav;
use dashboard::prefs::Prefs;
use dashboard::reactive::prelude::*;
use dashboard::session::Tab;
use leptos::mount::mount_to;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, HtmlElement};

/// What is mounted, until it is dropped.
pub struct Stage {
    root: HtmlElement,
    _mounted: Box<dyn std::any::Any>,
}

/// Mounts what a test shows, with everything that the application provides.
pub fn show<N: IntoView + 'static>(make: impl FnOnce() -> N + 'static) -> Stage {
    let root: HtmlElement = document().create_element("section").unwrap().unchecked_into();
    document().body().unwrap().append_child(&root).unwrap();
    let mounted = mount_to(root.clone(), move || {
        Prefs::provide();
        Clock::provide();
        Tab::provide();
        Nav::provide();
        Keys::provide();
        Say::provide();
        make()
    });
    Stage { root, _mounted: Box::new(mounted) }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.root.remove();
    }
}

impl Stage {
    /// The first element that a selector finds.
    pub fn find(&self, selector: &str) -> Option<HtmlElement> {
        self.root.query_selector(selector).unwrap().map(|element: Element| element.unchecked_into())
    }

    /// The first element that a selector finds; the test fails without it.
    pub fn get(&self, selector: &str) -> HtmlElement {
        self.find(selector).unwrap_or_else(|| panic!("no {selector} in {}", self.root.inner_html()))
    }

    /// All words that are shown.
    pub fn text(&self) -> String {
        self.root.text_content().unwrap_or_default()
    }

    /// An attribute of the first element that a selector finds.
    pub fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        self.get(selector).get_attribute(name)
    }

    /// Waits until something is so; fails after some hundred frames.
    pub async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..600 {
            if is_so(self) {
                return;
            }
            frame().await;
        }
        panic!("waited in vain for: {what}; shown is {}", self.root.inner_html());
    }
}

/// Waits for the browser's next frame: effects have run by then.
pub async fn frame() {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        window().request_animation_frame(&resolve).unwrap();
    });
    JsFuture::from(promise).await.unwrap();
}
