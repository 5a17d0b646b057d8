//! Signing in at an issuer: redirects the person, with secrets that stay in this tab.

use crate::reactive::prelude::*;
use crate::session::keep_pending;
use dashboard_model::code::{PendingSignIn, address};
use domain::id::to_hex;
use js_sys::Uint8Array;
use wasm_bindgen_futures::JsFuture;

/// The size of each secret: RFC 7636 recommends 256 bits for the verifier.
const SECRET_BYTES: usize = 32;

/// Redirects this tab to the issuer, to return to the page `back`. Returns `None` if the browser lacks the needed
/// cryptography, which it offers only over HTTPS.
pub async fn redirect(issuer: String, back: String, again: bool) -> Option<()> {
    let pending = PendingSignIn { state: random()?, nonce: random()?, verifier: random()?, back };
    let challenge = challenge(&pending.verifier).await?;
    keep_pending(&pending.print());
    window().location().assign(&address(&issuer, &page(), &challenge, &pending, again)).ok()
}

/// Returns the redirect URI that is registered at the issuer.
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
    // `crypto.subtle` exists only in secure contexts.
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
