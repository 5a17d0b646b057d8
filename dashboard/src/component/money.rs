//! Money: the largest sum in full, its minor unit quiet; other currencies below.

use crate::reactive::prelude::*;
use dashboard_model::money::{amount, by_size, line};
use domain::group::Tally;

/// The money of some letters: `—` where none carries a price, `≥` where only some do.
#[component]
pub fn MoneyText(
    /// The letters.
    #[prop(into)]
    of: Signal<Tally>,
) -> impl IntoView {
    part(move || {
        let tally = of.get();
        let sums = by_size(&tally.money);
        let Some(first) = sums.first() else {
            return view! { <span class="money money-none" title="No letter carries a price">"—"</span> }.into_any();
        };
        let part = tally.priced < tally.letters;
        let exact = if part {
            format!("At least {}: {} of {} letters carry a price", line(&tally.money), tally.priced, tally.letters)
        } else {
            line(&tally.money)
        };
        let first = amount(first);
        let rest: Vec<String> = sums.iter().skip(1).map(|sum| amount(sum).text()).collect();
        let rest = match rest.as_slice() {
            [] => None,
            [one] => Some(format!("+ {one}")),
            more => Some(format!("+ {} currencies", more.len())),
        };
        view! {
            <span class="money" title=exact>
                {part.then_some("≥ ")}
                {first.major}
                <span class="money-minor">{first.minor}</span>
                {rest.map(|rest| view! { <span class="money-rest">{rest}</span> }.into_any())}
            </span>
        }
        .into_any()
    })
}
