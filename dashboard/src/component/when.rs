//! Moments and spans: relative in lists, absolute where they count; always with the machine's form in `datetime`.

use crate::clock;
use crate::reactive::prelude::*;
use dashboard_model::when::{self, Urgency};
use domain::time::{Span, Timestamp};

/// A moment: relative with the absolute one as its title, or the other way round.
#[component]
pub fn At(
    /// The moment.
    #[prop(into)]
    at: Signal<Timestamp>,
    /// Shows date, time and zone.
    #[prop(optional)]
    absolute: bool,
) -> impl IntoView {
    let relative = Memo::new(move |_| when::relative(at.get(), clock::ticking()));
    let exact = Memo::new(move |_| clock::absolute(at.get()));
    let (shown, title) = if absolute { (exact, relative) } else { (relative, exact) };
    view! { <time datetime=attr(move || when::rfc3339(at.get())) title=title>{shown}</time> }
}

/// How old something is; a dash where nobody knows.
#[component]
pub fn Age(
    /// Since when.
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

/// How long until something is lost, the louder the nearer; a dash where nothing can be lost.
#[component]
pub fn Loss(
    /// When it is lost.
    #[prop(into)]
    at: Signal<Option<Timestamp>>,
) -> impl IntoView {
    let shown = Memo::new(move |_| {
        at.get().map(|at| {
            let now = clock::ticking();
            match when::urgency(at, now) {
                Urgency::Passed => ("loss loss-passed", "overdue".to_string()),
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

/// How long until something happens by itself, to the second.
#[component]
pub fn Countdown(
    /// When it happens.
    #[prop(into)]
    to: Signal<Timestamp>,
) -> impl IntoView {
    let left = Memo::new(move |_| {
        let left = to.get().since(clock::ticking());
        when::countdown(if left < Span::ZERO { Span::ZERO } else { left })
    });
    view! { <time datetime=attr(move || when::rfc3339(to.get())) title=attr(move || clock::absolute(to.get()))>{left}</time> }
}
