//! Copying: `navigator.clipboard` does not exist on plain HTTP, where an office may well run.

use crate::component::{Glyph, Icon, toasts};
use crate::reactive::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlDocument, HtmlTextAreaElement};

/// A button that copies a text.
#[component]
pub fn Copy(
    /// What is copied.
    #[prop(into)]
    text: Signal<String>,
    /// What it is, for the button's name: `Copy` and this.
    #[prop(into)]
    what: String,
    /// Shows the words beside the icon.
    #[prop(optional)]
    worded: bool,
) -> impl IntoView {
    let toasts = toasts();
    let what = StoredValue::new(what);
    let press = move |_| {
        let text = text.get_untracked();
        spawn_local(async move {
            let what = what.try_get_value().unwrap_or_default();
            if copy(&text).await {
                toasts.say(format!("Copied {what}."));
            } else {
                toasts.complain(format!("The browser does not let us copy {what}: select it and copy it by hand."));
            }
        });
    };
    let name = format!("Copy {}", what.get_value());
    view! {
        <button type="button" class="copy" title=name.clone() aria-label=name on:click=on(press)>
            <Icon glyph=Glyph::Copy />
            {worded.then_some("Copy")}
        </button>
    }
}

async fn copy(text: &str) -> bool {
    if window().is_secure_context() {
        return JsFuture::from(window().navigator().clipboard().write_text(text)).await.is_ok();
    }
    by_selection(text).unwrap_or(false)
}

/// The old way: a hidden field, selected.
fn by_selection(text: &str) -> Option<bool> {
    let field = document().create_element("textarea").ok()?.dyn_into::<HtmlTextAreaElement>().ok()?;
    field.set_value(text);
    field.set_class_name("sr-only");
    // A modal dialog makes everything outside it inert, so the field must stand inside.
    let parent =
        document().query_selector("dialog[open]").ok().flatten().or_else(|| document().body().map(Into::into))?;
    parent.append_child(&field).ok()?;
    field.select();
    let copied = document().dyn_into::<HtmlDocument>().ok()?.exec_command("copy").ok();
    field.remove();
    copied
}
