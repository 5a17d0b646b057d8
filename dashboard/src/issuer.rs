//! Signing in at an issuer: sends a person there, with secrets that stay in this tab.

use crate::reactive::prelude::*;
use crate::session::keep_pending;
use dashboard_model::code::{Pending, address};
use domain::id::to_hex;
use js_sys::Uint8Array;
use wasm_bindgen_futures::JsFuture;

/// Bytes of each secret: RFC 7636 wants 256 bits for the verifier.
const SECRET_BYTES: usize = 32;

/// Sends the person in this tab to the issuer; they come back for the page `back`. None where the browser gives no
/// means to do it safely.
pub async fn send_away(issuer: String, back: String, again: bool) -> Option<()> {
    let pending = Pending { state: random()?, nonce: random()?, verifier: random()?, back };
    let challenge = challenge(&pending.verifier).await?;
    keep_pending(&pending.print());
    window().location().assign(&address(&issuer, &page(), &challenge, &pending, again)).ok()
}

/// The page that people come back to, as the issuer knows it.
pub fn page() -> String {
    format!("{}/signin", window().location().origin().unwrap_or_default())
}

fn random() -> Option<String> {
    let mut bytes = [0; SECRET_BYTES];
    window().crypto().ok()?.get_random_values_with_u8_array(&mut bytes).ok()?;
    Some(to_hex(&bytes))
}

/// The verifier's SHA-256 in base64url (RFC 7636, S256).
async fn challenge(verifier: &str) -> Option<String> {
    // Elsewhere there is no `subtle`.
    if !window().is_secure_context() {
        return None;
    }
    let subtle = window().crypto().ok()?.subtle();
    let promise = subtle.digest_with_str_and_u8_array("SHA-256", verifier.as_bytes()).ok()?;
    let hash = Uint8Array::new(&JsFuture::from(promise).await.ok()?).to_vec();
    let binary: String = hash.into_iter().map(char::from).collect();
    let encoded = window().btoa(&binary).ok()?;
    Some(encoded.trim_end_matches('=').replace('+', "-").replace('/', "_"))
}
