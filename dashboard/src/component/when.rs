//! Times and spans: relative in lists, absolute in details, always with the machine-readable form in `datetime`.

use crate::clock;
use crate::reactive::prelude::*;
use dashboard_model::when::{self, Urgency};
use domain::time::{Span, Timestamp};

/// Shows a time: relative with the absolute time as its tooltip, or the reverse.
#[component]
pub fn At(
    /// The time.
    #[prop(into)]
    at: Signal<Timestamp>,
    /// Whether the absolute time is shown.
    #[prop(optional)]
    absolute: bool,
) -> impl IntoView {
    let relative = Memo::new(move |_| when::relative(at.get(), clock::ticking()));
    let exact = Memo::new(move |_| clock::absolute(at.get()));
    let (shown, title) = if absolute { (exact, relative) } else { (relative, exact) };
    view! { <time datetime=attr(move || when::rfc3339(at.get())) title=title>{shown}</time> }
}

/// Shows an age, or a dash if it is unknown.
#[component]
pub fn Age(
    /// The start of the age.
    #[prop(into)]
    since: Signal<Option<Timestamp>>,
) -> impl IntoView {
    let age = Memo::new(move |_| since.get().map(|at| when::span(clock::ticking().since(at))));
    view! {
        <Show when=move || since.get().is_some() fallback=|| view! { <span class="faint">"—"</span> }>
            <time
                datetime=attr(move || since.get().map(when::rfc3339))
                title=attr(move || since.get().map(clock::absolute))
            >
                {part(move || age.get())}
            </time>
        </Show>
    }
}

/// Shows the time until an expiry, with growing emphasis, or a dash without an expiry.
#[component]
pub fn Loss(
    /// The time of the expiry.
    #[prop(into)]
    at: Signal<Option<Timestamp>>,
) -> impl IntoView {
    let shown = Memo::new(move |_| {
        at.get().map(|at| {
            let now = clock::ticking();
            match when::urgency(at, now) {
                Urgency::Passed => ("loss loss-passed", "expired".to_string()),
                Urgency::Now => ("loss loss-now", when::countdown(at.since(now))),
                Urgency::Soon => ("loss loss-soon", when::span(at.since(now))),
                Urgency::Calm => ("loss", when::span(at.since(now))),
            }
        })
    });
    view! {
        <Show when=move || at.get().is_some() fallback=|| view! { <span class="faint">"—"</span> }>
            <time
                class=attr(move || shown.get().map(|(class, _)| class))
                datetime=attr(move || at.get().map(when::rfc3339))
                title=attr(move || at.get().map(clock::absolute))
            >
                {part(move || shown.get().map(|(_, text)| text))}
            </time>
        </Show>
    }
}

/// Shows a countdown to the second.
#[component]
pub fn Countdown(
    /// The end of the countdown.
    #[prop(into)]
    to: Signal<Timestamp>,
) -> impl IntoView {
    let remaining = Memo::new(move |_| {
        let remaining = to.get().since(clock::ticking());
        when::countdown(if remaining < Span::ZERO { Span::ZERO } else { remaining })
    });
    view! { <time datetime=attr(move || when::rfc3339(to.get())) title=attr(move || clock::absolute(to.get()))>{remaining}</time> }
}
