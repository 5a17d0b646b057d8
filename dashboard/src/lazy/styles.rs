//! The stylesheets of parts that are loaded later.

use crate::reactive::prelude::*;
use js_sys::Promise;
use wasm_bindgen_futures::JsFuture;

/// Adds a part's stylesheet to the page. Returns a future that says whether it was loaded, or `None` if the part has none
/// or the page has it already.
///
/// The call adds it, so that it is fetched beside the part itself; the part's pages must not show without it.
pub(super) fn add(part: &str) -> Option<impl Future<Output = bool> + use<>> {
    let meta = document().query_selector(&format!("meta[name=\"part:{part}\"]")).ok()??;
    let files = meta.get_attribute("content")?;
    let href = files.split_whitespace().find(|file| file.ends_with(".css"))?;
    if let Ok(Some(_)) = document().query_selector(&format!("link[rel=stylesheet][href=\"{href}\"]")) {
        return None;
    }
    let link = document().create_element("link").ok()?;
    let _ = link.set_attribute("rel", "stylesheet");
    let _ = link.set_attribute("href", href);
    let loading = Promise::new(&mut |done, failed| {
        let _ = link.add_event_listener_with_callback("load", &done);
        let _ = link.add_event_listener_with_callback("error", &failed);
    });
    document().head()?.append_child(&link).ok()?;
    Some(async move {
        let loaded = JsFuture::from(loading).await.is_ok();
        if !loaded {
            // The next attempt adds it again.
            link.remove();
        }
        loaded
    })
}
