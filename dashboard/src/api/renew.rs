//! Renewing the session: before a request, if its token expires soon and the issuer gave a refresh token.

use super::transport;
use crate::session;
use js_sys::Promise;
use std::cell::RefCell;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use wire::{RefreshRequest, SessionAnswer};

thread_local! {
    /// The renewal in progress. A refresh token may work only once, so that all requests share one renewal.
    static RENEWAL: RefCell<Option<Promise>> = const { RefCell::new(None) };
}

/// Renews the session if it is due, and waits until that is done.
pub(super) async fn renew_if_due() {
    if !session::is_renewal_due() {
        return;
    }
    let renewal = RENEWAL.with_borrow_mut(|renewal| renewal.get_or_insert_with(|| future_to_promise(renew())).clone());
    // Without a new token the request is made with the old one, and the office decides.
    let _ = JsFuture::from(renewal).await;
}

/// Renews the session after the office refused its token: the token expired earlier than this machine's clock says.
/// Returns whether there is another token now.
pub(super) async fn renew_after_refusal() -> bool {
    if session::refresh_token().is_none() {
        return false;
    }
    let before = session::token();
    session::renew_now();
    renew_if_due().await;
    session::token() != before
}

async fn renew() -> Result<JsValue, JsValue> {
    if let (Some(token), Some(refresh)) = (session::token(), session::refresh_token()) {
        let result =
            transport::exchange::<SessionAnswer>("/session/refresh", &RefreshRequest { refresh, token: token.clone() })
                .await;
        // Meanwhile the person may have signed out, or in as someone else.
        if session::token().as_ref() == Some(&token) {
            match result {
                Ok(renewed) => session::keep(&renewed),
                Err(error) if error.is_temporary() => session::postpone_renewal(),
                Err(_) => session::forget_refresh_token(),
            }
        }
    }
    RENEWAL.set(None);
    Ok(JsValue::NULL)
}
