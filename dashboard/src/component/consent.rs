//! Dialogs that need consent: approving a plan, and resuming a replay.

use crate::api::ApiError;
use crate::component::{Clears, Dialog, Field, GateList, Kind, PlanText};
use crate::reactive::prelude::*;
use dashboard_model::gate::{Consent, after_pause, blocked, opens_at, question, to_type, waivable};
use dashboard_model::stay::caveat;
use dashboard_model::transform::sent_as;
use domain::fix::Fix;
use domain::gate::ConditionKind;
use domain::person::IdentityKind;
use wire::{ApproveRequest, GateView, PlanAnswer, ResumeRequest};

/// The people involved, for the explanation of a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct People {
    /// The signed-in person.
    pub me: Option<String>,
    /// The person who declared the fix.
    pub declarer: Option<String>,
    /// What the sign-in proves about the signed-in person.
    pub identity: IdentityKind,
}

/// Approves a plan. Shows the plan, and asks for a reason, for waivers, and for the typed count if the plan is large.
#[component]
pub fn ApproveDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// The current plan; `None` if it no longer exists.
    #[prop(into)]
    plan: Signal<Option<PlanAnswer>>,
    /// The gate as evaluated for this person.
    #[prop(into)]
    gate: Signal<GateView>,
    /// The people involved.
    #[prop(into)]
    people: Signal<People>,
    /// Whether the request runs.
    #[prop(optional, into)]
    busy: Signal<bool>,
    /// The request's error.
    #[prop(optional, into)]
    error: Signal<Option<ApiError>>,
    /// Sends the approval.
    #[prop(into)]
    on_approve: Callback<ApproveRequest>,
    /// Called when the person switches to a newer plan: an earlier refusal no longer applies.
    #[prop(into)]
    on_new_plan: Callback<()>,
    /// What the fix changes in the letters that are sent.
    #[prop(optional, into)]
    changes: ViewFn,
) -> impl IntoView {
    let consent = RwSignal::new(Consent::default());
    // The plan that the person has seen. A newer plan must be reviewed before it can be approved.
    let seen = RwSignal::new(None::<PlanAnswer>);
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
            return Some("This plan no longer exists: it was approved, or the fix was withdrawn.".to_string());
        }
        if has_changed.get() {
            return Some("The plan changed. Review the new plan first.".to_string());
        }
        let blocked = gate.with(|gate| people.with(|p| blocked(gate, p.declarer.as_deref(), p.me.as_deref())));
        blocked.or_else(|| gate.with(|gate| consent.with(|consent| consent.missing(gate, typed.get()))))
    });
    let title = Signal::derive(move || {
        seen.with(|seen| seen.as_ref().map(|s| question(&s.plan.letters, s.plan.main_queue.name())).unwrap_or_default())
    });
    let approve = move |()| {
        let Some(seen) = seen.get_untracked() else { return };
        let (reason, waivers) = consent
            .with_untracked(|c| (c.reason.trim().to_string(), gate.with_untracked(|gate| c.needed_waivers(gate))));
        on_approve.run(ApproveRequest { plan_hash: seen.hash, reason, waivers });
    };
    let show_new = move |_| {
        seen.set(plan.get_untracked());
        consent.update(|consent| consent.typed.clear());
        on_new_plan.run(());
    };
    view! {
        <Dialog open title confirm="Approve and replay" kind=Kind::Primary busy why_not error wide=true
            on_confirm=Callback::new(approve)>
            <Show when=move || has_changed.get()>
                <div class="notice" role="alert">
                    <p>"The plan changed after you opened this dialog. You still see the old one."</p>
                    <button type="button" class="button" on:click=on(show_new)>"Show new plan"</button>
                </div>
            </Show>
            {part(move || seen.get().map(|seen| view! {
                <PlanText plan=seen.plan duration=seen.duration_ms arrived_since=seen.arrived_since />
            }.into_any()))}
            {part({
                let changes = changes.clone();
                move || changes.run()
            })}
            <p class="for-good">
                "Delivered letters cannot be recalled. "
                {move || seen.with(|seen| seen.as_ref().map(|seen| after_pause(&seen.plan)))}
            </p>
            <Caveat people />
            <Waivers gate consent with_evidence=true />
            <Reason consent label="Why is it safe to replay now?" />
            {part(move || typed.get().map(|n| view! {
                <Field label=format!("Type {n} to confirm") mode="numeric" chars_max=20
                    value=Signal::derive(move || consent.with(|c| c.typed.clone()))
                    on_input=move |text| consent.update(|c| c.typed = text) />
            }.into_any()))}
        </Dialog>
    }
}

/// Resumes a paused replay.
#[component]
pub fn ResumeDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// The title: count and destination.
    #[prop(into)]
    title: Signal<String>,
    /// The first step of the resumption.
    #[prop(into)]
    first: Signal<String>,
    /// The gate as evaluated for this person.
    #[prop(into)]
    gate: Signal<GateView>,
    /// The people involved.
    #[prop(into)]
    people: Signal<People>,
    /// The fix that applies from now on.
    #[prop(into)]
    fix: Signal<Option<Fix>>,
    /// Why the replay cannot be resumed, whatever the person enters.
    #[prop(optional, into)]
    not_ready: Signal<Option<String>>,
    /// Whether the request runs.
    #[prop(optional, into)]
    busy: Signal<bool>,
    /// The request's error.
    #[prop(optional, into)]
    error: Signal<Option<ApiError>>,
    /// Sends the request.
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
        let blocked = || gate.with(|gate| people.with(|p| blocked(gate, p.declarer.as_deref(), p.me.as_deref())));
        let missing = || gate.with(|gate| consent.with(|consent| consent.missing(gate, None)));
        not_ready.get().or_else(blocked).or_else(missing)
    });
    let resume = move |()| {
        on_resume.run(consent.with_untracked(|c| ResumeRequest {
            reason: c.reason.trim().to_string(),
            program_hash: fix.with_untracked(|fix| Some(fix.as_ref()?.transform.as_ref()?.program_hash.clone())),
            fix_declared_at: fix.with_untracked(|fix| fix.as_ref().map(|fix| fix.declared_at)),
            waivers: gate.with_untracked(|g| c.needed_waivers(g)),
        }));
    };
    view! {
        <Dialog open title confirm="Resume replay" kind=Kind::Primary busy why_not error on_confirm=Callback::new(resume)>
            <p>{first}</p>
            {part(move || fix.with(|fix| fix.as_ref().and_then(sent_as)).map(|words| view! {
                <p>{format!("Letters are {words}.")}</p>
            }.into_any()))}
            <GateList gate />
            <p class="for-good">"Delivered letters cannot be recalled."</p>
            <Caveat people />
            <Waivers gate consent />
            <Reason consent label="Why will it work now?" />
        </Dialog>
    }
}

/// Says what the approval does not prove.
#[component]
fn Caveat(people: Signal<People>) -> impl IntoView {
    part(move || {
        let words = people.with(|people| caveat(people.identity, people.me.as_deref().unwrap_or_default()));
        words.map(|words| view! { <p class="notice">{words}</p> }.into_any())
    })
}

#[component]
fn Reason(consent: RwSignal<Consent>, label: &'static str) -> impl IntoView {
    view! {
        <Field label lines=true hint=Some("Saved in the audit log.".to_string())
            value=Signal::derive(move || consent.with(|c| c.reason.clone()))
            on_input=move |text| consent.update(|c| c.reason = text) />
    }
}

/// Shows a field for each unmet condition that may be waived.
#[component]
fn Waivers(
    gate: Signal<GateView>,
    consent: RwSignal<Consent>,
    /// Whether each field repeats its condition's evidence. A dialog that lists the gate shows it already.
    #[prop(optional)]
    with_evidence: bool,
) -> impl IntoView {
    let unmet = gate.map(waivable);
    let kinds = unmet.map(move |unmet| unmet.iter().map(|c| c.kind).collect::<Vec<_>>());
    let evidence = move |kind: ConditionKind| {
        unmet.with(|unmet| unmet.iter().find(|c| c.kind == kind).map(|c| c.evidence.clone()))
    };
    view! {
        <Show when=move || kinds.with(|kinds| !kinds.is_empty())>
            <fieldset class="waivers">
                <legend>"Unmet conditions"</legend>
                <p class="muted">
                    "Wait until they are met, or waive them with a reason."
                    {part(move || gate.with(opens_at).map(|at| view! {
                        {format!(" \"{}\": ", ConditionKind::Quiet.label())}<Clears at />
                    }.into_any()))}
                </p>
                <For each=move || kinds.get() key=|kind| *kind children=move |kind| view! {
                    <Field
                        label=format!("Reason to waive \"{}\"", kind.label())
                        hint=Signal::derive(move || with_evidence.then(|| evidence(kind)).flatten())
                        value=Signal::derive(move || consent.with(|c| c.waiver(kind).to_string()))
                        on_input=move |text| consent.update(|c| c.waive(kind, text)) />
                } />
            </fieldset>
        </Show>
    }
}
