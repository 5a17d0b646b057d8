//! The dashboard's components in a real browser. One test program, because each further one links and loads everything
//! again.
#![cfg(target_arch = "wasm32")]

mod discarding;
mod drafting;
mod fixture;
mod later;
mod live;
mod parts;
mod reading;
mod replaying;
mod toasts;
mod transforming;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
