//! A plan in full, for the approver.

use crate::clock;
use crate::component::At;
use crate::reactive::prelude::*;
use dashboard_model::gate::letters;
use dashboard_model::ledger::pauses_when;
use dashboard_model::letters::line as filter_line;
use dashboard_model::money::{count, count_signed, line};
use dashboard_model::transform::{sent_as, wrapped};
use dashboard_model::when;
use domain::replay::Plan;
use domain::time::Span;

/// Shows the waves of a plan as small bars with their sizes.
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

/// Shows a plan.
#[component]
pub fn PlanText(
    /// The plan.
    plan: Plan,
    /// The estimated duration if no letter returns.
    duration: Span,
    /// Letters that failed after the plan was made and are not included.
    arrived_since: u64,
) -> impl IntoView {
    let canary = plan.waves.first().copied().unwrap_or(0);
    let waves = match plan.waves.len() {
        1 => "1 wave".to_string(),
        n => format!("{n}, starting with a canary of {}", letters(canary)),
    };
    let excluded = plan
        .left_out
        .iter()
        .map(|excluded| view! { <li>{format!("{} {}", count(excluded.letters), excluded.reason)}</li> }.into_any());
    let excluded = (!plan.left_out.is_empty()).then(|| {
        view! {
            <div><dt>"Not included"</dt><dd><ul>{excluded.collect_view()}</ul></dd></div>
        }
        .into_any()
    });
    let since = (arrived_since > 0).then(|| view! {
        <div><dt>"Failed since"</dt><dd>{format!("{} arrived after the plan was made. Plan again to include them.", letters(arrived_since))}</dd></div>
    }.into_any());
    // An approver sees all sums, not only the largest.
    let part = if plan.letters.priced < plan.letters.letters { "at least " } else { "" };
    let money = if plan.letters.money.is_empty() {
        ", no priced letters".to_string()
    } else {
        format!(", {part}{}", line(&plan.letters.money))
    };
    let oldest = plan.oldest_sent_at.map(|at| {
        view! {
            <div><dt>"Oldest"</dt><dd>"sent "<At at=Signal::stored(at) /></dd></div>
        }
        .into_any()
    });
    let filter = filter_line(&plan.filter, clock::absolute)
        .map(|words| view! { <div><dt>"Filter"</dt><dd>{words}</dd></div> }.into_any());
    let transform = sent_as(&plan.fix).map(|words| view! { <div><dt>"Changes"</dt><dd>{words}</dd></div> }.into_any());
    let wrapped = wrapped(&plan).map(|words| view! { <div><dt>"Wrapped"</dt><dd>{words}</dd></div> }.into_any());
    view! {
        <dl class="plan">
            <div>
                <dt>"Letters"</dt>
                <dd><b>{count_signed(plan.letters.letters)}</b>{money}</dd>
            </div>
            {filter}
            {oldest}
            <div><dt>"To"</dt><dd><b>{plan.main_queue.name().to_string()}</b>" (original queue)"</dd></div>
            {wrapped}
            {transform}
            <div class="plan-waves"><dt>"Waves"</dt><dd>{waves}<WaveSizes waves=plan.waves.clone() /></dd></div>
            <div><dt>"Pace"</dt><dd>{format!("up to {}/s", letters(plan.pace_per_s.into()))}</dd></div>
            <div>
                <dt>"Pauses"</dt>
                <dd>{pauses_when(&plan)}</dd>
            </div>
            <div><dt>"Observed"</dt><dd>{format!("{} after each wave's last letter", when::countdown(plan.window_ms))}</dd></div>
            <div><dt>"Duration"</dt><dd>{format!("about {} if no letter returns", when::countdown(duration))}</dd></div>
            {excluded}
            {since}
        </dl>
    }
}
