//! The native `<dialog>`: it keeps the focus inside and closes on Esc.

use crate::api::ApiError;
use crate::component::{Button, Kind, Problem};
use crate::reactive::prelude::*;
use leptos::ev::{KeyboardEvent, SubmitEvent};
use leptos::html;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// What can have the focus by Tab. In a group of radio buttons only the checked one can.
const TAB_STOPS: &str = "a[href], button:not(:disabled), input:not(:disabled, [type=radio]), input:checked:not(:disabled), \
    textarea:not(:disabled), select:not(:disabled), summary, [tabindex='0']";

/// A modal dialog. Its children exist only while it is open, so that it starts empty each time. Cancel has the focus
/// unless a child has `autofocus`. Tab goes from the last element to the first: a browser alone would leave the page for
/// its own buttons, where Firefox then gives Enter and Space to nobody. On closing, the focus returns to where it was.
#[component]
pub fn Dialog(
    /// Whether the dialog is open. Closing sets it to false.
    open: RwSignal<bool>,
    /// The title: verb, count and destination.
    #[prop(into)]
    title: Signal<String>,
    /// The label of the confirming button. Without `on_confirm` there is only a button that closes.
    #[prop(optional, into)]
    confirm: Signal<String>,
    /// The emphasis of the confirming button.
    #[prop(optional)]
    kind: Kind,
    /// Whether the request runs.
    #[prop(optional, into)]
    busy: Signal<bool>,
    /// Why the dialog cannot be confirmed yet.
    #[prop(optional, into)]
    why_not: Signal<Option<String>>,
    /// The request's error.
    #[prop(optional, into)]
    error: Signal<Option<ApiError>>,
    /// The label of the button that closes. By default `Cancel`, or `Close` without `on_confirm`.
    #[prop(optional)]
    close: &'static str,
    /// The action. The caller closes the dialog when the action is complete.
    #[prop(optional, into)]
    on_confirm: Option<Callback<()>>,
    /// Whether the dialog is wide.
    #[prop(optional, into)]
    wide: Signal<bool>,
    children: ChildrenFn,
) -> impl IntoView {
    let node: NodeRef<html::Dialog> = NodeRef::new();
    let cancel: NodeRef<html::Button> = NodeRef::new();
    Effect::new(move || {
        let Some(dialog) = node.get() else { return };
        if open.get() {
            if !dialog.open() && dialog.show_modal().is_ok() {
                // The content is rendered by an effect that may run after this one.
                request_animation_frame(move || focus_inside(&dialog, cancel));
            }
        } else if dialog.open() {
            dialog.close();
        }
    });
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if !busy.get_untracked()
            && why_not.with_untracked(Option::is_none)
            && let Some(on_confirm) = on_confirm
        {
            on_confirm.run(());
        }
    };
    let children = StoredValue::new(children);
    let has_confirm = on_confirm.is_some();
    view! {
        <dialog class="dialog" class:dialog-wide=move || wide.get() node_ref=node on:close=on(move |_| open.set(false))
            on:keydown=on(move |event: KeyboardEvent| wrap_focus(&event, node)) aria-label=title>
            <Show when=move || open.get()>
                <form class="dialog-form" method="dialog" on:submit=on(submit)>
                    <h2>{title}</h2>
                    <div class="dialog-body">{children.with_value(|children| children())}</div>
                    <Show when=move || error.with(Option::is_some)>
                        <Problem error=Signal::derive(move || error.get()) />
                    </Show>
                    <div class="dialog-buttons">
                        <button type="button" class="button" class:button-primary=!close.is_empty() node_ref=cancel on:click=on(move |_| open.set(false))>
                            {match close {
                                "" if has_confirm => "Cancel",
                                "" => "Close",
                                label => label,
                            }}
                        </button>
                        {has_confirm.then(|| view! {
                            <Button kind busy why_not submit=true press=|()| ()>{part(move || confirm.get())}</Button>
                        }.into_any())}
                    </div>
                </form>
            </Show>
        </dialog>
    }
}

fn focus_inside(dialog: &web_sys::HtmlDialogElement, cancel: NodeRef<html::Button>) {
    let chosen = dialog.query_selector("[autofocus]").ok().flatten();
    let chosen = chosen.and_then(|element| element.dyn_into::<HtmlElement>().ok());
    let cancel = cancel.try_get_untracked().flatten().map(HtmlElement::from);
    if let Some(element) = chosen.or(cancel) {
        let _ = element.focus();
    }
}

/// Moves the focus from the last element to the first on Tab, and back on Shift Tab.
fn wrap_focus(event: &KeyboardEvent, dialog: NodeRef<html::Dialog>) {
    if event.key() != "Tab" || event.default_prevented() {
        return;
    }
    let Some(dialog) = dialog.get_untracked() else { return };
    let Ok(stops) = dialog.query_selector_all(TAB_STOPS) else { return };
    let stops = (0..stops.length()).filter_map(|i| stops.get(i)?.dyn_into::<HtmlElement>().ok());
    // What is folded or hidden has no box.
    let stops: Vec<_> = stops.filter(|element| element.offset_width() > 0).collect();
    let (Some(first), Some(last)) = (stops.first(), stops.last()) else { return };
    let (end, start) = if event.shift_key() { (first, last) } else { (last, first) };
    let focused = document().active_element();
    if focused.as_ref() == Some(end.as_ref()) {
        event.prevent_default();
        let _ = start.focus();
    }
}
