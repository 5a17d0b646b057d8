//! What the letters of the group share, and letters of other groups do not.

use super::current::CurrentGroup;
use crate::api;
use crate::command::Command;
use crate::component::Problem;
use crate::reactive::prelude::*;
use dashboard_model::facets::{fact, samples, shares};
use domain::facet::Facets;

/// Shows the facets of the group. Asked for once: the office reads a few hundred letters for them.
#[component]
pub(super) fn Shared(current: CurrentGroup) -> impl IntoView {
    let looking = Command::new();
    let found = RwSignal::new(None::<Facets>);
    looking.run(api::facets(current.id()), move |facets| {
        found.try_set(Some(facets));
    });
    view! {
        <section class="facets" aria-label="What these letters share" aria-busy=attr(move || looking.busy().get().to_string())>
            <h2>"What these letters share"</h2>
            <Problem error=looking.error() />
            {part(move || match found.get() {
                Some(facets) => view! { <List facets /> }.into_any(),
                None => view! { <p class="muted">"Comparing with letters of other groups…"</p> }.into_any(),
            })}
        </section>
    }
}

#[component]
fn List(facets: Facets) -> impl IntoView {
    let rows = facets.facets.iter().map(|facet| {
        let (field, shared) = fact(facet);
        view! {
            <li>
                <span class="mono facet-fact"><b>{field}</b>" "{shared}</span>
                <span class="muted">{shares(facet, &facets)}</span>
            </li>
        }
        .into_any()
    });
    let rows = rows.collect_view();
    let list = (!facets.facets.is_empty()).then(|| view! { <ul>{rows}</ul> }.into_any());
    view! {
        {list}
        <p class="muted">{samples(&facets)}</p>
    }
}
