//! A history as a file: fetched piece by piece with the session's token, then handed to the browser to save.

use crate::api;
use crate::ask::Ask;
use crate::component::{Button, Kind, Problem, toasts};
use crate::reactive::prelude::*;
use leptos::prelude::document;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, HtmlAnchorElement, Url};

/// A form that a history comes in: the word of the API, and the file's ending.
const FORMS: [(&str, &str); 2] = [("csv", "CSV"), ("jsonl", "JSON lines")];

/// Buttons that save a history, one for each form.
#[component]
pub(super) fn Download(
    /// Its address below the API's root.
    path: String,
    /// The file's name without its ending.
    name: String,
) -> impl IntoView {
    let ask = Ask::new();
    let toasts = toasts();
    let (path, name) = (StoredValue::new(path), StoredValue::new(name));
    let buttons = FORMS.map(|(form, label)| {
        let press = move |()| {
            ask.run(api::history(path.get_value(), form), move |text: String| {
                let file = format!("{}.{form}", name.get_value());
                match save(&text, &file) {
                    Ok(()) => toasts.say(format!("Saved {file}.")),
                    Err(_) => toasts.complain("The browser does not let us save a file."),
                }
            });
        };
        view! { <Button press kind=Kind::Quiet busy=ask.busy()>{label}</Button> }.into_any()
    });
    view! {
        <div class="download"><span class="muted">"Save as"</span>{buttons.collect_view()}</div>
        {part(move || ask.error().get().map(|error| view! { <Problem error=Signal::stored(Some(error)) /> }.into_any()))}
    }
}

fn save(text: &str, file: &str) -> Result<(), JsValue> {
    let blob = Blob::new_with_str_sequence(&js_sys::Array::of1(&text.into()))?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let link: HtmlAnchorElement = document().create_element("a")?.unchecked_into();
    link.set_href(&url);
    link.set_download(file);
    link.click();
    Url::revoke_object_url(&url)
}
