//! The right-hand side: the steps to this group's replay, and the replay itself.

use super::actions::{Action, Actions};
use super::current::CurrentGroup;
use super::discard::DiscardAll;
use super::fix::{DeclareDialog, FixCard, why_not_declare};
use super::merge::MergedVariants;
use super::note::NoteCard;
use super::owner::OwnerCard;
use super::plan::{ApproveButton, PlanButton, PlanPart, Planning};
use super::tried::TriedFixes;
use super::unwrap::{TryProgram, Unwrap};
use crate::clock;
use crate::component::{At, Button, GateList, Kind, Toaster, toaster};
use crate::page::replay::{Compact, Controls};
use crate::reactive::prelude::*;
use dashboard_model::gate::opens_at;
use dashboard_model::ledger::short;
use dashboard_model::money::count;
use dashboard_model::offer::{Offer, offer};
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use domain::fix::FixKind;
use domain::group::GroupState;
use domain::letter::LetterStateKind;
use domain::role::Permission;
use wire::ReplayAnswer;

/// Shows the side for the group's state.
#[component]
pub(super) fn Side(current: CurrentGroup, actions: Actions, planning: Planning) -> impl IntoView {
    let state = current.part(|detail| detail.row.state.as_str());
    refresh_when_a_condition_clears(current);
    view! {
        {part(move || match state.get() {
            "replaying" | "verifying" => view! { <Replaying current actions /> }.into_any(),
            "paused" => view! { <Paused current actions planning /> }.into_any(),
            "resolved" => view! { <Resolved current /> }.into_any(),
            "discarded" => view! { <Discarded current /> }.into_any(),
            _ => view! { <Before current actions planning /> }.into_any(),
        })}
        <MergedVariants current />
        <OwnerCard current />
        <NoteCard current actions />
    }
}

/// Fetches the group at the moment when a condition clears by itself, instead of at the next poll.
fn refresh_when_a_condition_clears(current: CurrentGroup) {
    let opens = current.part(|detail| opens_at(&detail.gate));
    let due = Memo::new(move |_| opens.get().filter(|at| clock::ticking() >= *at));
    Effect::new(move || {
        if due.get().is_some() {
            current.hurry();
        }
    });
}

#[component]
fn GatePart(current: CurrentGroup, title: &'static str, children: Children) -> impl IntoView {
    let gate = current.part(|detail| detail.gate.clone());
    view! {
        <section class="side-part">
            <h2>{title}</h2>
            <GateList gate />
            {children()}
        </section>
    }
}

/// Shows the gate, what to do now below it, then fix and plan.
#[component]
fn Before(current: CurrentGroup, actions: Actions, planning: Planning) -> impl IntoView {
    let declaring = Declaring::new(current, actions, planning);
    let offered = current.part(offer);
    let has_fix = current.part(|detail| detail.row.state.fix().is_some());
    let has_plan = current.part(|detail| detail.plan.is_some());
    let declares_above = Signal::derive(move || match offered.get() {
        Offer::DeclareFix | Offer::DeclareNewerFix | Offer::EditProgram => true,
        _ => !has_fix.get(),
    });
    // What is planned may still be approved: the condition may be waived, or met by then.
    let go_on = move |kind: Kind| match has_plan.get() {
        true => view! { <ApproveButton current actions kind /> }.into_any(),
        false => view! { <PlanButton planning kind verb="Plan replay" /> }.into_any(),
    };
    let kind = |first: bool| if first { Kind::Primary } else { Kind::Plain };
    view! {
        <GatePart current title="Before you replay">
            <div class="next">
                {part(move || match offered.get() {
                    Offer::Discard => view! {
                        <DiscardAll current />
                        <Show when=move || !has_fix.get()>
                            <DeclareButton declaring kind=Kind::Plain verb="Declare a fix…" />
                        </Show>
                    }
                    .into_any(),
                    Offer::Quarantine => view! { <QuarantineLink current /> }.into_any(),
                    Offer::DeclareFix => view! {
                        <DeclareButton declaring kind=Kind::Primary verb="Declare a fix…" />
                    }
                    .into_any(),
                    Offer::DeclareNewerFix => view! {
                        <DeclareButton declaring kind=Kind::Primary verb="Declare a newer fix…" />
                        {part(move || go_on(Kind::Plain))}
                    }
                    .into_any(),
                    Offer::EditProgram => view! {
                        <DeclareButton declaring kind=Kind::Primary verb="Edit program…" />
                        {part(move || go_on(Kind::Plain))}
                    }
                    .into_any(),
                    Offer::Drafting => view! {
                        <p class="muted">"The plan is being made. You can approve it once it is complete."</p>
                    }
                    .into_any(),
                    Offer::Plan { first } => view! { <PlanButton planning kind=kind(first) verb="Plan replay" /> }.into_any(),
                    Offer::Approve { first } => view! { <ApproveButton current actions kind=kind(first) /> }.into_any(),
                    Offer::Unwrap => view! {
                        <Unwrap current planning />
                        <ApproveButton current actions kind=Kind::Plain />
                    }
                    .into_any(),
                    Offer::TryProgram => view! {
                        <TryProgram current />
                        <ApproveButton current actions kind=Kind::Plain />
                    }
                    .into_any(),
                })}
            </div>
        </GatePart>
        <FixPart current declaring is_offered_above=declares_above />
        <PlanPart planning />
        <Last current />
    }
}

/// Leads to the letters in quarantine, which are released or discarded there.
#[component]
fn QuarantineLink(current: CurrentGroup) -> impl IntoView {
    let state = Some(LetterStateKind::Quarantined);
    let href = Route::Group(GroupRoute { tab: GroupTab::Letters, state, ..GroupRoute::new(current.id()) }).to_string();
    view! { <a class="button button-primary" href=href>"Review quarantined letters"</a> }
}

#[component]
fn Paused(current: CurrentGroup, actions: Actions, planning: Planning) -> impl IntoView {
    let declaring = Declaring::new(current, actions, planning);
    view! {
        <Replaying current actions />
        <FixPart current declaring is_offered_above=Signal::stored(false) />
        <GatePart current title="Before you resume">""</GatePart>
    }
}

/// Declares fixes for the group.
#[derive(Clone, Copy)]
struct Declaring {
    current: CurrentGroup,
    planning: Planning,
    is_open: RwSignal<bool>,
    why_not: Signal<Option<String>>,
    toaster: Toaster,
}

impl Declaring {
    /// Creates the declaring of a group, and registers it for the key.
    fn new(current: CurrentGroup, actions: Actions, planning: Planning) -> Self {
        let why_not = current.why_not(Permission::Triage, why_not_declare);
        let declaring = Self { current, planning, is_open: RwSignal::new(false), why_not, toaster: toaster() };
        actions.on(Action::DeclareFix, move || declaring.open());
        declaring
    }

    fn open(self) {
        match self.why_not.get_untracked() {
            None => self.is_open.set(true),
            Some(why) => self.toaster.show(why),
        }
    }
}

#[component]
fn DeclareButton(declaring: Declaring, kind: Kind, verb: &'static str) -> impl IntoView {
    view! { <Button kind press=move |()| declaring.open() why_not=declaring.why_not key="f">{verb}</Button> }
}

/// Shows the declared fix, and declares another. `is_offered_above`: the button that declares a fix is already shown
/// above.
#[component]
fn FixPart(current: CurrentGroup, declaring: Declaring, is_offered_above: Signal<bool>) -> impl IntoView {
    let fix = current.part(|detail| detail.row.state.fix().cloned());
    let failed_fix = current.part(|detail| match &detail.row.state {
        GroupState::Regressed { was, .. } => Some(was.clone()),
        _ => None,
    });
    view! {
        <section class="side-part">
            <h2>"Fix"</h2>
            {part(move || match (fix.get(), failed_fix.get()) {
                (Some(fix), _) => {
                    let again = if fix.kind == FixKind::PayloadTransform { "Edit program…" } else { "Declare another fix…" };
                    view! {
                    <FixCard current fix />
                    <Show when=move || !is_offered_above.get()>
                        <DeclareButton declaring kind=Kind::Plain verb=again />
                    </Show>
                    }
                    .into_any()
                }
                (None, Some(was)) => view! {
                    <p>
                        "Previous fix failed: "<b>{was.kind.label()}</b>" "<span class="mono">{was.reference}</span>
                        {format!(", declared by {}.", was.declared_by)}
                    </p>
                }
                .into_any(),
                (None, None) if is_offered_above.get() => {
                    view! { <p class="muted">"No fix is declared."</p> }.into_any()
                }
                (None, None) => view! {
                    <p class="muted">"Returned letters disproved the last fix."</p>
                    <div class="next"><DeclareButton declaring kind=Kind::Primary verb="Declare a new fix…" /></div>
                }
                .into_any(),
            })}
            <TriedFixes current=declaring.current />
        </section>
        <DeclareDialog current=declaring.current planning=declaring.planning open=declaring.is_open />
    }
}

#[component]
fn Replaying(current: CurrentGroup, actions: Actions) -> impl IntoView {
    let replay = current.part(|detail| detail.replay.clone());
    let known = replay.map(Option::is_some);
    part(move || {
        known.get().then(|| {
            let first = current.now().replay.clone();
            first.map(|first| view! { <Under current actions first /> }.into_any())
        })
    })
}

#[component]
fn Under(current: CurrentGroup, actions: Actions, first: ReplayAnswer) -> impl IntoView {
    let view = current.part(move |detail| detail.replay.clone().unwrap_or_else(|| first.clone()));
    let controls = Controls::new(
        view.into(),
        current.part(|detail| Some(detail.gate.clone())).into(),
        current.part(|detail| detail.row.state.fix().cloned()).into(),
        current.pulse(),
        Callback::new(move |view| current.put_replay(view)),
    );
    actions.on(Action::Approve, move || controls.ask_resume());
    view! { <Compact controls /> }
}

#[component]
fn Resolved(current: CurrentGroup) -> impl IntoView {
    let state = current.part(|detail| detail.row.state.clone());
    let delivered = current.part(|detail| detail.row.delivered.max(0).unsigned_abs());
    part(move || match state.get() {
        GroupState::Resolved { at, fix, replay } => Some(view! {
            <section class="side-part">
                <h2>"Resolved"</h2>
                <p>
                    "No open letters since "<At at=Signal::stored(at) absolute=true />". "
                    {part(move || format!("{} delivered, most recently by ", count(delivered.get())))}
                    <a href=format!("/replays/{replay}")>"replay "{short(&replay)}</a>"."
                </p>
                <p class="muted">"A new failure with this cause reopens the group."</p>
            </section>
            <section class="side-part">
                <h2>"The fix that worked"</h2>
                <FixCard current fix />
            </section>
        }),
        _ => None,
    })
}

/// Says that a group without open letters has no conditions to meet.
#[component]
fn Discarded(current: CurrentGroup) -> impl IntoView {
    view! {
        <section class="side-part">
            <h2>"Nothing to replay"</h2>
            <p class="muted">"All open letters are discarded. To replay them, take them back first."</p>
            <TriedFixes current />
        </section>
        <Last current />
    }
}

/// Shows the last replay while none is active.
#[component]
fn Last(current: CurrentGroup) -> impl IntoView {
    let last = current.part(|detail| detail.replay.as_ref().map(|r| (r.replay.id().clone(), r.total.clone())));
    part(move || {
        last.get().map(|(id, total)| {
            view! {
            <section class="side-part">
                <h2>"Last replay"</h2>
                <p>
                    {format!("{} delivered, {} returned, {} skipped or expired. ", count(total.delivered), count(total.returned),
                        count(total.expired + total.skipped))}
                    <a href=format!("/replays/{id}")>"Replay "{short(&id)}</a>
                </p>
            </section>
        }.into_any()
        })
    })
}
