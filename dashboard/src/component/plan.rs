//! A plan in full, as it is read before anybody approves it.

use crate::clock;
use crate::component::At;
use crate::reactive::prelude::*;
use dashboard_model::gate::letters;
use dashboard_model::letters::line as filter_line;
use dashboard_model::money::{count, count_signed, line};
use dashboard_model::transform::sent_as;
use dashboard_model::when;
use domain::replay::Plan;
use domain::time::Span;

/// The waves of a plan as small bars, each with its number of letters.
#[component]
pub fn WaveSizes(
    /// The sizes.
    waves: Vec<u64>,
) -> impl IntoView {
    let largest = waves.iter().copied().max().unwrap_or(1).max(1);
    let words = waves.iter().map(|n| count(*n)).collect::<Vec<_>>().join(", ");
    let many = waves.len() > 12;
    let shown = waves.iter().take(12).map(|n| {
        let pct = (n * 100 / largest).max(2);
        view! {
            <span class="wave-size">
                <span class="wave-size-n">{count(*n)}</span>
                <span class="wave-size-bar" style:height=format!("{pct}%")></span>
            </span>
        }
        .into_any()
    });
    view! {
        <div class="wave-sizes" role="img" aria-label=format!("{} waves of {words}", waves.len())>
            {shown.collect_view()}
            {many.then(|| view! { <span class="wave-size-more">{format!("+ {} waves", waves.len() - 12)}</span> }.into_any())}
        </div>
    }
}

/// A plan.
#[component]
pub fn PlanText(
    /// The plan.
    plan: Plan,
    /// How long it takes if nothing comes back.
    duration: Span,
    /// Letters that died since and are not in it.
    arrived_since: u64,
) -> impl IntoView {
    let canary = plan.waves.first().copied().unwrap_or(0);
    let waves = match plan.waves.len() {
        1 => "1 wave".to_string(),
        n => format!("{n}; the first, of {}, is the canary", letters(canary)),
    };
    let left_out = plan
        .left_out
        .iter()
        .map(|left| view! { <li>{format!("{} {}", count(left.letters), left.reason)}</li> }.into_any());
    let left_out = (!plan.left_out.is_empty()).then(|| {
        view! {
            <div><dt>"Left out"</dt><dd><ul>{left_out.collect_view()}</ul></dd></div>
        }
        .into_any()
    });
    let since = (arrived_since > 0).then(|| view! {
        <div><dt>"Not in it"</dt><dd>{format!("{} died since; plan again to take them in", letters(arrived_since))}</dd></div>
    }.into_any());
    // Whoever approves sees all the money, not the largest sum alone.
    let part = if plan.letters.priced < plan.letters.letters { "at least " } else { "" };
    let money = if plan.letters.money.is_empty() {
        ", none carries a price".to_string()
    } else {
        format!(", {part}{}", line(&plan.letters.money))
    };
    let oldest = plan.oldest_sent_at.map(|at| {
        view! {
            <div><dt>"Oldest"</dt><dd>"sent "<At at=Signal::stored(at) /></dd></div>
        }
        .into_any()
    });
    let only = filter_line(&plan.filter, clock::absolute)
        .map(|words| view! { <div><dt>"Only"</dt><dd>{words}</dd></div> }.into_any());
    let as_changed = sent_as(&plan.fix).map(|words| view! { <div><dt>"As"</dt><dd>{words}</dd></div> }.into_any());
    view! {
        <dl class="plan">
            <div>
                <dt>"Letters"</dt>
                <dd><b>{count_signed(plan.letters.letters)}</b>{money}</dd>
            </div>
            {only}
            {oldest}
            <div><dt>"To"</dt><dd><b>{plan.main_queue.name().to_string()}</b>", their own main queue"</dd></div>
            {as_changed}
            <div class="plan-waves"><dt>"Waves"</dt><dd>{waves}<WaveSizes waves=plan.waves.clone() /></dd></div>
            <div><dt>"Pace"</dt><dd>{format!("up to {} a second", letters(plan.pace_per_s.into()))}</dd></div>
            <div>
                <dt>"Stops"</dt>
                <dd>{format!("by itself when more than {} % of a wave come back", plan.stop_share_pct)}</dd>
            </div>
            <div><dt>"Watched"</dt><dd>{format!("{} after each wave's last letter", when::countdown(plan.window_ms))}</dd></div>
            <div><dt>"Takes"</dt><dd>{format!("about {} if nothing comes back", when::countdown(duration))}</dd></div>
            {left_out}
            {since}
        </dl>
    }
}
