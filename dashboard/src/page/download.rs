//! Downloads a history: fetched page by page with the session's token, then saved by the browser.

use crate::api;
use crate::command::Command;
use crate::component::{Button, Kind, Problem, toaster};
use crate::reactive::prelude::*;
use leptos::prelude::document;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, HtmlAnchorElement, Url};

/// The formats of a history: the API's word, which is also the file extension, and the label.
const FORMATS: [(&str, &str); 2] = [("csv", "CSV"), ("jsonl", "JSON Lines")];

/// Shows a download button for each format.
#[component]
pub(super) fn Download(
    /// The history's path below the API's root.
    path: String,
    /// The file name without its extension.
    name: String,
) -> impl IntoView {
    let command = Command::new();
    let toaster = toaster();
    let (path, name) = (StoredValue::new(path), StoredValue::new(name));
    let buttons = FORMATS.map(|(format, label)| {
        let press = move |()| {
            command.run(api::history(path.get_value(), format), move |text: String| {
                let file = format!("{}.{format}", name.get_value());
                match save(&text, &file) {
                    Ok(()) => toaster.show(format!("Downloaded {file}.")),
                    Err(_) => toaster.error("The browser blocked the download."),
                }
            });
        };
        view! { <Button press kind=Kind::Quiet busy=command.busy()>{label}</Button> }.into_any()
    });
    view! {
        <div class="download"><span class="muted">"Download"</span>{buttons.collect_view()}</div>
        {part(move || command.error().get().map(|error| view! { <Problem error=Signal::stored(Some(error)) /> }.into_any()))}
    }
}

/// Lets the browser save a text as a file.
pub(super) fn save(text: &str, file: &str) -> Result<(), JsValue> {
    let blob = Blob::new_with_str_sequence(&js_sys::Array::of1(&text.into()))?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let link: HtmlAnchorElement = document().create_element("a")?.unchecked_into();
    link.set_href(&url);
    link.set_download(file);
    link.click();
    Url::revoke_object_url(&url)
}
