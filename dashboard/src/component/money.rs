//! Money: one sum in full with a quiet minor unit, and a note about other currencies, or their total by the policy's rates.

use crate::reactive::prelude::*;
use dashboard_model::money::{about, amount, at_least, by_size, line};
use domain::group::Tally;
use domain::money::Money;

/// Shows the money of some letters: `—` if no letter has a price, `≥` if only some have one.
#[component]
pub fn MoneyText(
    /// The letters.
    #[prop(into)]
    tally: Signal<Tally>,
    /// The total in one currency, if there are rates.
    #[prop(optional, into)]
    total: Signal<Option<Money>>,
) -> impl IntoView {
    part(move || {
        let tally = tally.get();
        let sums = by_size(&tally.money);
        let Some(first) = sums.first() else {
            return view! { <span class="money money-none" title="No priced letters">"—"</span> }.into_any();
        };
        let is_partial = tally.priced < tally.letters;
        let exact = if is_partial {
            format!("At least {}: {} of {} letters have a price", line(&tally.money), tally.priced, tally.letters)
        } else {
            line(&tally.money)
        };
        if let Some(total) = total.get().filter(|total| tally.money.sums() != [*total]) {
            let exact = format!("{exact}, by the policy's rates");
            let words = if is_partial { at_least(&total) } else { about(&total) };
            return view! { <span class="money" title=exact>{words}</span> }.into_any();
        }
        let first = amount(first);
        let others: Vec<String> = sums.iter().skip(1).map(|sum| amount(sum).text()).collect();
        let others = match others.as_slice() {
            [] => None,
            [one] => Some(format!("+ {one}")),
            more => Some(format!("+ {} currencies", more.len())),
        };
        view! {
            <span class="money" title=exact>
                {is_partial.then_some("≥ ")}
                {first.major}
                <span class="money-minor">{first.minor}</span>
                {others.map(|others| view! { <span class="money-others">{others}</span> }.into_any())}
            </span>
        }
        .into_any()
    })
}
