//! The plan: making it, changing its options, and approving it.

use super::filter::{filter_of, list_of, pieces_of};
use super::here::Here;
use super::side::{Asks, Press};
use crate::api;
use crate::ask::Ask;
use crate::clock;
use crate::component::{ApproveDialog, At, Button, Dialog, Field, Kind, PlanText, Problem, Say, toasts};
use crate::nav::{Nav, nav};
use crate::reactive::prelude::*;
use dashboard_model::gate::{blocked, waivable};
use dashboard_model::letters::line;
use dashboard_model::money::counted;
use dashboard_model::options::{CANARY, Fields, GROWTH, PACE, STOP, WINDOW, wrong};
use domain::filter::LetterFilter;
use domain::group::GroupState;
use domain::replay::PlanOptions;
use domain::role::Permission;
use wire::{ApproveRequest, ErrorCode, GroupDetail, NextStep, PlanRequest, PlanView, ReplayView};

fn why_not_plan(detail: &GroupDetail) -> Option<String> {
    match &detail.row.state {
        GroupState::FixDeclared { .. } => None,
        state if state.replay().is_some() => Some("A replay of this group is under way.".to_string()),
        _ => Some("Declare the fix first: a plan is made for one.".to_string()),
    }
}

fn why_not_approve(detail: &GroupDetail, me: Option<&str>) -> Option<String> {
    let declarer = detail.row.state.fix().map(|fix| fix.declared_by.as_str());
    why_not_plan(detail).or_else(|| blocked(&detail.gate, declarer, me))
}

/// The making of a plan.
#[derive(Clone, Copy)]
pub(super) struct Planning {
    here: Here,
    ask: Ask,
    why_not: Signal<Option<String>>,
    chosen: StoredValue<PlanOptions>,
    options_open: RwSignal<bool>,
    nav: Nav,
    toasts: Say,
}

impl Planning {
    /// For this group; answers to the key of planning.
    pub(super) fn new(here: Here, asks: Asks) -> Self {
        let planning = Self {
            here,
            ask: Ask::new(),
            why_not: here.why_not(Permission::Plan, why_not_plan),
            chosen: StoredValue::new(PlanOptions::default()),
            options_open: RwSignal::new(false),
            nav: nav(),
            toasts: toasts(),
        };
        asks.on(Press::Plan, move || planning.again());
        planning
    }

    /// Which letters the next plan takes: those of the plan that waits, else those that are looked at. Not tracked.
    pub(super) fn filter(self) -> LetterFilter {
        match &self.here.now().plan {
            Some(plan) => plan.plan.filter.clone(),
            None => filter_of(self.nav.route_untracked()),
        }
    }

    /// Makes a plan with the options that were chosen last.
    fn again(self) {
        self.take(self.filter());
    }

    /// The same, of these letters.
    pub(super) fn take(self, filter: LetterFilter) {
        match self.why_not.get_untracked() {
            None => self.make(PlanRequest { options: self.chosen.get_value(), filter }),
            Some(why) => self.toasts.say(why),
        }
    }

    /// Whether one is being made.
    pub(super) fn busy(self) -> Signal<bool> {
        self.ask.busy()
    }

    /// Why none can be made.
    pub(super) fn why_not(self) -> Signal<Option<String>> {
        self.why_not
    }

    fn make(self, ask: PlanRequest) {
        let options = ask.options.clone();
        self.ask.run(api::plan(self.here.id(), ask), move |plan: PlanView| {
            self.chosen.set_value(options);
            self.options_open.try_set(false);
            let letters = counted(plan.plan.letters.letters.max(0).unsigned_abs(), "letter", "letters");
            self.toasts.say(format!("The plan takes {letters}. Nothing is sent before somebody approves."));
            self.here.patch(|detail| detail.plan = Some(plan));
        });
    }
}

/// The button that makes a plan, of the letters that [`Planning::filter`] says.
#[component]
pub(super) fn PlanButton(planning: Planning, kind: Kind, verb: &'static str) -> impl IntoView {
    let has_plan = planning.here.part(|detail| detail.plan.is_some());
    let only = move || match has_plan.get() {
        true => None,
        false => line(&filter_of(planning.nav.route()), clock::absolute),
    };
    view! {
        <Button kind press=move |()| planning.again() busy=planning.ask.busy() why_not=planning.why_not key="r">{verb}</Button>
        {part(move || only().map(|only| view! { <p class="muted">{format!("Only letters of the filter: {only}.")}</p> }.into_any()))}
        <Show when=move || !planning.options_open.get()><Problem error=planning.ask.error() /></Show>
    }
}

/// The plan in full; before there is one, what it would be.
#[component]
pub(super) fn PlanPart(planning: Planning) -> impl IntoView {
    let here = planning.here;
    let plan = here.part(|detail| detail.plan.clone());
    let has_fix = here.part(|detail| detail.row.state.fix().is_some());
    let change = move |()| planning.options_open.set(true);
    view! {
        <section class="side-part">
            <h2>"Plan"</h2>
            {part(move || match plan.get() {
                None => view! {
                    <p class="muted">"The letters that wait now, frozen, in waves. Nothing is sent before somebody approves."</p>
                    // With a fix, planning is the next step and its button stands under the gate.
                    <Show when=move || !has_fix.get()>
                        <PlanButton planning kind=Kind::Plain verb="Plan replay" />
                    </Show>
                }
                .into_any(),
                Some(plan) => {
                    let (by, at) = (plan.plan.made_by.clone(), plan.plan.made_at);
                    let only = Some(plan.plan.filter.clone()).filter(|filter| !filter.is_none());
                    let only = only.map(|filter| view! { <OnlyThese planning filter /> }.into_any());
                    view! {
                        <PlanText plan=plan.plan duration=plan.duration_ms arrived_since=plan.arrived_since />
                        <p class="muted">{format!("{by} made it ")}<At at=Signal::stored(at) /></p>
                        {only}
                        <div class="side-buttons">
                            <Button press=change why_not=planning.why_not>"Change…"</Button>
                            <PlanButton planning kind=Kind::Plain verb="Plan again" />
                        </div>
                    }
                    .into_any()
                }
            })}
        </section>
        <OptionsDialog planning />
    }
}

/// A plan of some letters: which they are, and the way to all.
#[component]
fn OnlyThese(planning: Planning, filter: LetterFilter) -> impl IntoView {
    let all = move |()| planning.take(LetterFilter::default());
    view! {
        <div class="side-buttons">
            <a class="button" href=list_of(planning.here.id(), filter)>"Show its letters"</a>
            <Button press=all why_not=planning.why_not>"Plan without the filter"</Button>
        </div>
    }
}

/// The button that asks for the approval, with the question.
#[component]
pub(super) fn ApproveButton(here: Here, asks: Asks) -> impl IntoView {
    let open = RwSignal::new(false);
    let approving = Ask::new();
    let toasts = toasts();
    let plan = here.part(|detail| detail.plan.clone());
    let asker = here.asker();
    let me = Memo::new(move |_| asker.get().me);
    let why_not = here.why_not(Permission::Approve, move |detail| me.with(|me| why_not_approve(detail, me.as_deref())));
    let ask = move || match why_not.get_untracked() {
        None => {
            approving.clear();
            open.set(true);
        }
        Some(why) => toasts.say(why),
    };
    asks.on(Press::ApproveRequest, ask);
    let approve = move |ask: ApproveRequest| {
        approving.run(api::approve(here.id(), ask), move |view| {
            open.try_set(false);
            toasts.say("Approved. Wave 1 starts.");
            here.patch(|detail| started(detail, view));
        });
    };
    // What the office refused it for is seen at once: the gate as it is now, or the plan that waits now.
    Effect::new(move || {
        let refused = approving.error().get().and_then(|error| error.code());
        if matches!(refused, Some(ErrorCode::GateClosed | ErrorCode::Conflict)) {
            here.hurry();
        }
    });
    let gate = here.part(|detail| detail.gate.clone());
    let to_waive = here.part(|detail| {
        let unmet = waivable(&detail.gate);
        unmet.iter().map(|c| c.kind.label()).collect::<Vec<_>>().join(", ")
    });
    view! {
        <Button kind=Kind::Primary press=move |()| ask() why_not busy=approving.busy() key="v">
            "Approve and replay…"
        </Button>
        <Show when=move || why_not.with(Option::is_none) && !to_waive.with(String::is_empty)>
            <p class="muted">{part(move || format!("Not met yet: {}. Wait, or waive it with a reason.", to_waive.get()))}</p>
        </Show>
        <ApproveDialog open plan gate asker busy=approving.busy() error=approving.error()
            on_approve=Callback::new(approve) on_look=move |()| approving.clear() />
    }
}

/// What an approval does to the group, until the office is asked.
fn started(detail: &mut GroupDetail, view: ReplayView) {
    let (id, plan) = (view.replay.id().clone(), &view.replay.plan);
    detail.row.next = NextStep::Replaying { wave: 1, waves: plan.waves.len() as u32 };
    detail.row.state = GroupState::Replaying { replay: id, fix: plan.fix.clone() };
    detail.plan = None;
    detail.replay = Some(view);
}

/// The options of the plan; changing them makes another plan.
#[component]
fn OptionsDialog(planning: Planning) -> impl IntoView {
    let open = planning.options_open;
    let fields = RwSignal::new(Fields::default());
    let filter = RwSignal::new(LetterFilter::default());
    Effect::new(move || {
        if open.get() {
            fields.set(Fields::of(&planning.chosen.get_value()));
            filter.set(planning.filter());
            planning.ask.clear();
        }
    });
    let why_not = Signal::derive(move || {
        let wrong = || fields.with(|f| f.options().is_none()).then(|| "A field is out of its range.".to_string());
        planning.why_not.get().or_else(wrong)
    });
    let send = move |()| {
        if let Some(options) = fields.with_untracked(Fields::options) {
            planning.make(PlanRequest { options, filter: filter.get_untracked() });
        }
    };
    let field =
        move |label: &'static str, hint: &'static str, range, get: fn(&mut Fields) -> &mut String, first: bool| {
            let value = Signal::derive(move || fields.with(|f| get(&mut f.clone()).clone()));
            view! {
                <Field label mode="numeric" chars_max=10 first value hint=Some(hint.to_string())
                    wrong=Signal::derive(move || wrong(&value.get(), range))
                    on_input=move |text| fields.update(|f| *get(f) = text) />
            }
            .into_any()
        };
    view! {
        <Dialog open title="Change the plan" confirm="Plan again" kind=Kind::Primary busy=planning.ask.busy()
            error=planning.ask.error() why_not on_confirm=Callback::new(send)>
            <p class="muted">"An empty field follows the policy. The plan is made anew from the letters that wait now."</p>
            <Show when=move || filter.with(|filter| !filter.is_none())>
                <p>"Only letters of this filter are taken:"</p>
                {pieces_of(move || filter.get(), move |less| filter.set(less))}
            </Show>
            <div class="options">
                {field("Letters of the canary", "The first wave", CANARY, |f| &mut f.canary, true)}
                {field("Growth", "Times larger than the wave before", GROWTH, |f| &mut f.growth, false)}
                {field("Pace", "Letters a second at most", PACE, |f| &mut f.pace, false)}
                {field("Stop above", "Percent of a wave that came back", STOP, |f| &mut f.stop, false)}
                {field("Watch", "Seconds after a wave's last letter", WINDOW, |f| &mut f.window, false)}
            </div>
        </Dialog>
    }
}
