//! Copying, with a fallback for plain HTTP: browsers offer `navigator.clipboard` only over HTTPS.

use crate::component::{Glyph, Icon, toaster};
use crate::reactive::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlDocument, HtmlTextAreaElement};

/// A button that copies a text.
#[component]
pub fn Copy(
    /// The text.
    #[prop(into)]
    text: Signal<String>,
    /// The text's description, for the button's label and the toast.
    #[prop(into)]
    what: String,
    /// Whether the button shows a label beside its icon.
    #[prop(optional)]
    labelled: bool,
) -> impl IntoView {
    let toaster = toaster();
    let what = StoredValue::new(what);
    let press = move |_| {
        let text = text.get_untracked();
        spawn_local(async move {
            let what = what.try_get_value().unwrap_or_default();
            if copy(&text).await {
                toaster.show(format!("Copied {what}."));
            } else {
                toaster.error(format!("The browser blocked copying {what}. Select it and copy it manually."));
            }
        });
    };
    let name = format!("Copy {}", what.get_value());
    view! {
        <button type="button" class="copy" title=name.clone() aria-label=name on:click=on(press)>
            <Icon glyph=Glyph::Copy />
            {labelled.then_some("Copy")}
        </button>
    }
}

async fn copy(text: &str) -> bool {
    if window().is_secure_context() {
        return JsFuture::from(window().navigator().clipboard().write_text(text)).await.is_ok();
    }
    by_selection(text).unwrap_or(false)
}

/// Copies from a hidden field that is selected, for browsers without a clipboard.
fn by_selection(text: &str) -> Option<bool> {
    let field = document().create_element("textarea").ok()?.dyn_into::<HtmlTextAreaElement>().ok()?;
    field.set_value(text);
    field.set_class_name("sr-only");
    // A modal dialog makes everything outside it inert, so the field must be inside.
    let parent =
        document().query_selector("dialog[open]").ok().flatten().or_else(|| document().body().map(Into::into))?;
    parent.append_child(&field).ok()?;
    field.select();
    let copied = document().dyn_into::<HtmlDocument>().ok()?.exec_command("copy").ok();
    field.remove();
    copied
}
