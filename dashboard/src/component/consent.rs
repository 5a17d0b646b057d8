//! Questions that need a person's consent: approving a plan, and letting a replay go on.

use crate::api::ApiError;
use crate::component::{Countdown, Dialog, Field, GateList, Kind, PlanText};
use crate::reactive::prelude::*;
use dashboard_model::gate::{Consent, blocked, opens_at, question, to_type, waivable};
use dashboard_model::transform::sent_as;
use domain::fix::Fix;
use domain::gate::ConditionKind;
use wire::GateView;
use wire::{ApproveRequest, PlanView, ResumeRequest};

/// Who asks, for the words of a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asker {
    /// The person here.
    pub me: Option<String>,
    /// Who declared the fix.
    pub declarer: Option<String>,
}

/// Approves a plan: what will happen, why, what is set aside, and the count typed where it is large.
#[component]
pub fn ApproveDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// The plan that waits now; none when there is none any more.
    #[prop(into)]
    plan: Signal<Option<PlanView>>,
    /// The gate as it stands for this person.
    #[prop(into)]
    gate: Signal<GateView>,
    /// Who asks.
    #[prop(into)]
    asker: Signal<Asker>,
    /// Whether it is being done.
    #[prop(optional, into)]
    busy: Signal<bool>,
    /// Why it failed.
    #[prop(optional, into)]
    error: Signal<Option<ApiError>>,
    /// Does it.
    #[prop(into)]
    on_approve: Callback<ApproveRequest>,
    /// Told when the person looks at a plan that came after the one they saw: what was refused before is over.
    #[prop(into)]
    on_look: Callback<()>,
) -> impl IntoView {
    let consent = RwSignal::new(Consent::default());
    // The plan as the person has seen it; another one has to be looked at first.
    let seen = RwSignal::new(None::<PlanView>);
    Effect::new(move |was_open: Option<bool>| {
        let is_open = open.get();
        if is_open && was_open != Some(true) {
            consent.set(Consent::default());
            seen.set(plan.get_untracked());
        }
        is_open
    });
    let is_gone = plan.map(Option::is_none);
    let has_changed = Memo::new(move |_| {
        plan.with(|now| seen.with(|seen| matches!((now, seen), (Some(now), Some(seen)) if now.hash != seen.hash)))
    });
    let typed = seen.map(move |seen| seen.as_ref().and_then(|seen| to_type(&seen.plan.letters)));
    let why_not = Signal::derive(move || {
        if is_gone.get() {
            return Some("This plan is no longer there: somebody has approved it or the fix is gone.".to_string());
        }
        if has_changed.get() {
            return Some("The plan has changed: look at the new one first.".to_string());
        }
        let blocked = gate.with(|gate| asker.with(|a| blocked(gate, a.declarer.as_deref(), a.me.as_deref())));
        blocked.or_else(|| gate.with(|gate| consent.with(|consent| consent.lacks(gate, typed.get()))))
    });
    let title = Signal::derive(move || {
        seen.with(|seen| seen.as_ref().map(|s| question(&s.plan.letters, s.plan.main_queue.name())).unwrap_or_default())
    });
    let approve = move |()| {
        let Some(seen) = seen.get_untracked() else { return };
        let (reason, waivers) =
            consent.with_untracked(|c| (c.reason.trim().to_string(), gate.with_untracked(|gate| c.asks(gate))));
        on_approve.run(ApproveRequest { plan_hash: seen.hash, reason, waivers });
    };
    let look = move |_| {
        seen.set(plan.get_untracked());
        consent.update(|consent| consent.typed.clear());
        on_look.run(());
    };
    view! {
        <Dialog open title confirm="Start wave 1" kind=Kind::Primary busy why_not error wide=true
            on_confirm=Callback::new(approve)>
            <Show when=move || has_changed.get()>
                <div class="notice" role="alert">
                    <p>"The plan has changed since you opened this: below is the one that you saw."</p>
                    <button type="button" class="button" on:click=on(look)>"Show the new plan"</button>
                </div>
            </Show>
            {part(move || seen.get().map(|seen| view! {
                <PlanText plan=seen.plan duration=seen.duration_ms arrived_since=seen.arrived_since />
            }.into_any()))}
            <p class="for-good">"Delivered letters cannot be called back."</p>
            <Waivers gate consent />
            <Reason consent label="Why is it safe to replay now?" />
            {part(move || typed.get().map(|n| view! {
                <Field label=format!("Type {n} to confirm") mode="numeric" chars_max=20
                    value=Signal::derive(move || consent.with(|c| c.typed.clone()))
                    on_input=move |text| consent.update(|c| c.typed = text) />
            }.into_any()))}
        </Dialog>
    }
}

/// Lets a paused replay go on.
#[component]
pub fn ResumeDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// What will happen: count and destination.
    #[prop(into)]
    title: Signal<String>,
    /// What goes out first.
    #[prop(into)]
    first: Signal<String>,
    /// The gate as it stands for this person.
    #[prop(into)]
    gate: Signal<GateView>,
    /// Who asks.
    #[prop(into)]
    asker: Signal<Asker>,
    /// The fix that it goes on under.
    #[prop(into)]
    fix: Signal<Option<Fix>>,
    /// Why it cannot be done whatever is written.
    #[prop(optional, into)]
    halted: Signal<Option<String>>,
    /// Whether it is being done.
    #[prop(optional, into)]
    busy: Signal<bool>,
    /// Why it failed.
    #[prop(optional, into)]
    error: Signal<Option<ApiError>>,
    /// Does it.
    #[prop(into)]
    on_resume: Callback<ResumeRequest>,
) -> impl IntoView {
    let consent = RwSignal::new(Consent::default());
    Effect::new(move || {
        if open.get() {
            consent.set(Consent::default());
        }
    });
    let why_not = Signal::derive(move || {
        let blocked = || gate.with(|gate| asker.with(|a| blocked(gate, a.declarer.as_deref(), a.me.as_deref())));
        let lacks = || gate.with(|gate| consent.with(|consent| consent.lacks(gate, None)));
        halted.get().or_else(blocked).or_else(lacks)
    });
    let resume = move |()| {
        on_resume.run(consent.with_untracked(|c| ResumeRequest {
            reason: c.reason.trim().to_string(),
            program_hash: fix.with_untracked(|fix| Some(fix.as_ref()?.transform.as_ref()?.program_hash.clone())),
            waivers: gate.with_untracked(|g| c.asks(g)),
        }));
    };
    view! {
        <Dialog open title confirm="Resume" kind=Kind::Primary busy why_not error on_confirm=Callback::new(resume)>
            <p>{first}</p>
            {part(move || fix.with(|fix| fix.as_ref().and_then(sent_as)).map(|words| view! {
                <p>{format!("Letters are {words}.")}</p>
            }.into_any()))}
            <GateList gate />
            <p class="for-good">"Delivered letters cannot be called back."</p>
            <Waivers gate consent />
            <Reason consent label="Why will it work now?" />
        </Dialog>
    }
}

#[component]
fn Reason(consent: RwSignal<Consent>, label: &'static str) -> impl IntoView {
    view! {
        <Field label lines=true hint=Some("The audit keeps it.".to_string())
            value=Signal::derive(move || consent.with(|c| c.reason.clone()))
            on_input=move |text| consent.update(|c| c.reason = text) />
    }
}

/// A field for each condition that is not met and may be set aside.
#[component]
fn Waivers(gate: Signal<GateView>, consent: RwSignal<Consent>) -> impl IntoView {
    let unmet = gate.map(waivable);
    let kinds = unmet.map(move |unmet| unmet.iter().map(|c| c.kind).collect::<Vec<_>>());
    let evidence = move |kind: ConditionKind| {
        unmet.with(|unmet| unmet.iter().find(|c| c.kind == kind).map(|c| c.evidence.clone()))
    };
    view! {
        <Show when=move || kinds.with(|kinds| !kinds.is_empty())>
            <fieldset class="waivers">
                <legend>"Not met"</legend>
                <p class="muted">
                    "Wait until it is, or set it aside with a reason."
                    {part(move || gate.with(opens_at).map(|at| view! {
                        {format!(" \"{}\" opens by itself in ", ConditionKind::Quiet.label())}<Countdown to=at />"."
                    }.into_any()))}
                </p>
                <For each=move || kinds.get() key=|kind| *kind children=move |kind| view! {
                    <Field
                        label=format!("Waive \"{}\": why?", kind.label())
                        hint=Signal::derive(move || evidence(kind))
                        value=Signal::derive(move || consent.with(|c| c.waiver(kind).to_string()))
                        on_input=move |text| consent.update(|c| c.waive(kind, text)) />
                } />
            </fieldset>
        </Show>
    }
}
