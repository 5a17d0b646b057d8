//! The plan: making, changing and approving it.

use super::actions::{Action, Actions};
use super::changes::SentChanges;
use super::chosen::Choice;
use super::current::CurrentGroup;
use super::filter::{condition_chips, filter_in, waiting_letters_href};
use crate::api;
use crate::clock;
use crate::command::Command;
use crate::component::{
    ApproveDialog, At, Button, Dialog, DraftProgress, Field, Kind, PlanText, Problem, Toaster, span, toaster,
};
use crate::nav::{Nav, nav};
use crate::reactive::prelude::*;
use dashboard_model::gate::{blocked, letters, waivable};
use dashboard_model::letters::line;
use dashboard_model::options::{CANARY, Fields, GROWTH, PACE, PAUSE_ABOVE, WINDOW, error};
use domain::filter::LetterFilter;
use domain::group::GroupState;
use domain::id::{LetterId, ReplayId};
use domain::letter::LetterStateKind;
use domain::replay::PlanOptions;
use domain::role::Permission;
use wire::{ApproveRequest, ErrorCode, GroupAnswer, NextStep, PlanAnswer, PlanRequest, PlanningAnswer, ReplayAnswer};

fn why_not_plan(detail: &GroupAnswer) -> Option<String> {
    match &detail.row.state {
        GroupState::FixDeclared { .. } => None,
        state if state.replay().is_some() => Some("A replay of this group is in progress.".to_string()),
        _ => Some("Declare a fix first.".to_string()),
    }
}

fn why_not_approve(detail: &GroupAnswer, me: Option<&str>) -> Option<String> {
    let declarer = detail.row.state.fix().map(|fix| fix.declared_by.as_str());
    why_not_plan(detail).or_else(|| blocked(&detail.gate, declarer, me))
}

/// Makes plans for the group.
#[derive(Clone, Copy)]
pub(super) struct Planning {
    current: CurrentGroup,
    command: Command,
    why_not: Signal<Option<String>>,
    last_options: StoredValue<PlanOptions>,
    /// The latest plan of letters that were chosen one by one here, and these letters: plans do not hold them.
    last_named: StoredValue<Option<(ReplayId, Vec<LetterId>)>>,
    options_open: RwSignal<bool>,
    nav: Nav,
    toaster: Toaster,
}

impl Planning {
    /// Creates the planning of a group, and registers it for the key.
    pub(super) fn new(current: CurrentGroup, actions: Actions) -> Self {
        let planning = Self {
            current,
            command: Command::new(),
            why_not: current.why_not(Permission::Plan, why_not_plan),
            last_options: StoredValue::new(PlanOptions::default()),
            last_named: StoredValue::new(None),
            options_open: RwSignal::new(false),
            nav: nav(),
            toaster: toaster(),
        };
        actions.on(Action::Plan, move || planning.again());
        planning
    }

    /// Returns the filter of the next plan: that of the current plan, or else that of the page. Not tracked.
    pub(super) fn filter(self) -> LetterFilter {
        match &self.current.now().plan {
            Some(plan) => plan.plan.filter.clone(),
            None => filter_in(self.nav.route_untracked()),
        }
    }

    /// Returns the letters of the next plan: those of the current plan, or else those of the page's filter. Fails if they
    /// were chosen one by one, by somebody else or before a reload. Not tracked.
    pub(super) fn choice(self) -> Result<Choice, String> {
        let Some(plan) = self.current.now().plan.as_ref().map(|plan| plan.plan.clone()).filter(|plan| plan.named)
        else {
            return Ok(Choice { filter: self.filter(), letters: Vec::new() });
        };
        let named = self.last_named.get_value().filter(|(id, _)| *id == plan.id);
        let named = named.ok_or("This plan's letters were chosen one by one. Choose them again under Letters.")?;
        Ok(Choice { letters: named.1, filter: LetterFilter::default() })
    }

    /// Makes a plan of the same letters with the latest options.
    fn again(self) {
        match self.choice() {
            Ok(choice) => self.plan(choice),
            Err(why) => self.toaster.show(why),
        }
    }

    /// Makes a plan of some letters with the latest options.
    pub(super) fn plan(self, choice: Choice) {
        match self.why_not.get_untracked() {
            None => self.make(self.last_options.get_value(), choice),
            Some(why) => self.toaster.show(why),
        }
    }

    /// Returns whether a plan is being made.
    pub(super) fn busy(self) -> Signal<bool> {
        self.command.busy()
    }

    /// Explains why no plan can be made. Returns `None` if one can.
    pub(super) fn why_not(self) -> Signal<Option<String>> {
        self.why_not
    }

    fn make(self, options: PlanOptions, Choice { letters: named, filter }: Choice) {
        let request = PlanRequest { options: options.clone(), letters: named.clone(), filter };
        self.command.run(api::plan(self.current.id(), request), move |answer: PlanningAnswer| {
            self.last_options.set_value(options);
            self.options_open.try_set(false);
            match answer {
                PlanningAnswer::Plan(plan) => self.made(*plan, named),
                PlanningAnswer::Draft { drafting } => {
                    self.toaster.show("Plan started. Nothing is sent until someone approves.");
                    self.current.patch(|detail| (detail.plan, detail.drafting) = (None, Some(drafting)));
                }
            }
        });
    }

    fn made(self, plan: PlanAnswer, named: Vec<LetterId>) {
        self.last_named.set_value((!named.is_empty()).then(|| (plan.plan.id.clone(), named)));
        let letters = letters(plan.plan.letters.letters.max(0).unsigned_abs());
        self.toaster.show(format!("Planned {letters}. Nothing is sent until someone approves."));
        self.current.patch(|detail| (detail.plan, detail.drafting) = (Some(plan), None));
    }
}

/// Shows the button that makes a plan with [`Planning::filter`].
#[component]
pub(super) fn PlanButton(planning: Planning, kind: Kind, verb: &'static str) -> impl IntoView {
    let has_plan = planning.current.part(|detail| detail.plan.is_some());
    let filter = move || match has_plan.get() {
        true => None,
        false => line(&filter_in(planning.nav.route()), clock::absolute),
    };
    view! {
        <Button kind press=move |()| planning.again() busy=planning.command.busy() why_not=planning.why_not key="r">{verb}</Button>
        {part(move || filter().map(|filter| view! { <p class="muted">{format!("Filter: {filter}.")}</p> }.into_any()))}
        <Show when=move || !planning.options_open.get()><Problem error=planning.command.error() /></Show>
    }
}

/// Shows the plan in full, or what a plan does.
#[component]
pub(super) fn PlanPart(planning: Planning) -> impl IntoView {
    let current = planning.current;
    let plan = current.part(|detail| detail.plan.clone());
    let is_drafted = current.part(|detail| detail.drafting.is_some());
    let has_fix = current.part(|detail| detail.row.state.fix().is_some());
    let change = move |()| planning.options_open.set(true);
    view! {
        <section class="side-part">
            <h2>"Plan"</h2>
            {part(move || match plan.get() {
                None if is_drafted.get() => view! { <Drafting current /> }.into_any(),
                None => view! {
                    <p class="muted">"Takes a snapshot of the waiting letters. Nothing is sent until someone approves."</p>
                    // With a fix, planning is the next step, and its button is below the gate.
                    <Show when=move || !has_fix.get()>
                        <PlanButton planning kind=Kind::Plain verb="Plan replay" />
                    </Show>
                }
                .into_any(),
                Some(plan) => {
                    let (by, at) = (plan.plan.made_by.clone(), plan.plan.made_at);
                    let filter = Some(plan.plan.filter.clone()).filter(|filter| !filter.is_none());
                    let filter = filter.map(|filter| view! { <PlanFilter planning filter /> }.into_any());
                    let named = plan.plan.named.then(|| view! {
                        <p class="muted">"Only letters that were selected one by one."</p>
                        <Button press=move |()| planning.plan(Choice::default()) why_not=planning.why_not>"Plan all waiting letters"</Button>
                    }.into_any());
                    view! {
                        <PlanText plan=plan.plan duration=plan.duration_ms arrived_since=plan.arrived_since />
                        <p class="muted">{format!("Planned by {by} ")}<At at=Signal::stored(at) /></p>
                        {filter}
                        {named}
                        <div class="side-buttons">
                            <Button press=change why_not=planning.why_not>"Change plan…"</Button>
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

/// Shows how far a plan is that is made in steps, and cancels it.
#[component]
fn Drafting(current: CurrentGroup) -> impl IntoView {
    let command = Command::new();
    let toaster = toaster();
    let draft = current.part(|detail| detail.drafting.clone());
    let cancel = move |()| {
        let has_failed = draft.with_untracked(|draft| draft.as_ref().is_some_and(|draft| draft.failed.is_some()));
        command.run(api::cancel_plan(current.id()), move |detail| {
            current.put(detail);
            toaster.show(if has_failed { "Plan dismissed." } else { "Plan cancelled." });
        });
    };
    view! {
        <DraftProgress draft on_cancel=Callback::new(cancel) busy=command.busy()
            why_not=current.why_not(Permission::Plan, |_| None) />
        <Problem error=command.error() />
    }
}

/// Links to the letters of a filtered plan, and plans without the filter.
#[component]
fn PlanFilter(planning: Planning, filter: LetterFilter) -> impl IntoView {
    let all = move |()| planning.plan(Choice::default());
    view! {
        <div class="side-buttons">
            <a class="button" href=waiting_letters_href(planning.current.id(), filter)>"Show these letters"</a>
            <Button press=all why_not=planning.why_not>"Plan without filter"</Button>
        </div>
    }
}

/// Plans a replay of the listed letters. Shows what such a plan includes.
#[component]
pub(super) fn PlanThese(
    current: CurrentGroup,
    planning: Planning,
    filter: LetterFilter,
    state: Option<LetterStateKind>,
) -> impl IntoView {
    let listed = filter.clone();
    let planned = current.part(move |detail| {
        let plan = detail.plan.as_ref().filter(|plan| plan.plan.filter == listed)?;
        Some(plan.plan.letters.letters)
    });
    let verb = move || match (planned.get().is_some(), state.is_some()) {
        (true, _) => "Plan again",
        (false, true) => "Plan replay of these letters",
        (false, false) => "Plan replay of waiting letters",
    };
    let summary = move || {
        let included = planned.get()?.max(0).unsigned_abs();
        let verb = if included == 1 { "matches" } else { "match" };
        Some(span("muted", format!("The plan includes {} that {verb} this filter.", letters(included))))
    };
    view! {
        {part(summary)}
        <Button press=move |()| planning.plan(Choice::from_filter(filter.clone())) busy=planning.busy() why_not=planning.why_not() key="r">
            {part(verb)}
        </Button>
    }
}

/// Shows the button that opens the approval dialog.
#[component]
pub(super) fn ApproveButton(current: CurrentGroup, actions: Actions, kind: Kind) -> impl IntoView {
    let open = RwSignal::new(false);
    let command = Command::new();
    let toaster = toaster();
    let plan = current.part(|detail| detail.plan.clone());
    let people = current.people();
    let me = Memo::new(move |_| people.get().me);
    let why_not =
        current.why_not(Permission::Approve, move |detail| me.with(|me| why_not_approve(detail, me.as_deref())));
    let show_dialog = move || match why_not.get_untracked() {
        None => {
            command.clear();
            open.set(true);
        }
        Some(why) => toaster.show(why),
    };
    actions.on(Action::Approve, show_dialog);
    let approve = move |request: ApproveRequest| {
        command.run(api::approve(current.id(), request), move |view| {
            open.try_set(false);
            toaster.show("Approved. Wave 1 is starting.");
            current.patch(|detail| show_started(detail, view));
        });
    };
    // After a refusal, show its cause at once: the current gate, or the current plan.
    Effect::new(move || {
        let refused = command.error().get().and_then(|error| error.code());
        if matches!(refused, Some(ErrorCode::GateClosed | ErrorCode::Conflict)) {
            current.hurry();
        }
    });
    let gate = current.part(|detail| detail.gate.clone());
    let sent_changes = current.part(|detail| {
        let plan = detail.plan.as_ref()?;
        plan.plan.fix.transform.as_ref().map(|declared| (declared.version, plan.plan.filter.clone()))
    });
    let to_waive = current.part(|detail| {
        let unmet = waivable(&detail.gate);
        unmet.iter().map(|c| c.kind.label()).collect::<Vec<_>>().join(", ")
    });
    view! {
        <Button kind press=move |()| show_dialog() why_not busy=command.busy() key="v">
            "Approve and replay…"
        </Button>
        <Show when=move || why_not.with(Option::is_none) && !to_waive.with(String::is_empty)>
            <p class="muted">{part(move || format!("Unmet: {}. Wait, or waive with a reason.", to_waive.get()))}</p>
        </Show>
        <ApproveDialog open plan gate people busy=command.busy() error=command.error()
            on_approve=Callback::new(approve) on_new_plan=move |()| command.clear()
            changes=move || part(move || sent_changes.get().map(|fix| view! { <SentChanges current fix /> }.into_any())) />
    }
}

/// Applies an approval to the group until the next fetch.
fn show_started(detail: &mut GroupAnswer, view: ReplayAnswer) {
    let (id, plan) = (view.replay.id().clone(), &view.replay.plan);
    detail.row.next = NextStep::Replaying { wave: 1, waves: plan.waves.len() as u32 };
    detail.row.state = GroupState::Replaying { replay: id, fix: plan.fix.clone() };
    detail.plan = None;
    detail.replay = Some(view);
}

/// Edits the options. Confirming makes a new plan.
#[component]
fn OptionsDialog(planning: Planning) -> impl IntoView {
    let open = planning.options_open;
    let fields = RwSignal::new(Fields::default());
    let (filter, named) = (RwSignal::new(LetterFilter::default()), RwSignal::new(Ok(Vec::new())));
    Effect::new(move || {
        if open.get() {
            fields.set(Fields::from_options(&planning.last_options.get_value()));
            let choice = planning.choice();
            filter.set(choice.as_ref().map(|choice| choice.filter.clone()).unwrap_or_default());
            named.set(choice.map(|choice| choice.letters));
            planning.command.clear();
        }
    });
    let why_not = Signal::derive(move || {
        if let Err(why) = named.get() {
            return Some(why);
        }
        let invalid = || fields.with(|f| f.options().is_none()).then(|| "A value is out of range.".to_string());
        planning.why_not.get().or_else(invalid)
    });
    let send = move |()| {
        if let (Some(options), Ok(letters)) = (fields.with_untracked(Fields::options), named.get_untracked()) {
            planning.make(options, Choice { letters, filter: filter.get_untracked() });
        }
    };
    let field =
        move |label: &'static str, hint: &'static str, range, get: fn(&mut Fields) -> &mut String, first: bool| {
            let value = Signal::derive(move || fields.with(|f| get(&mut f.clone()).clone()));
            view! {
                <Field label mode="numeric" chars_max=10 first value hint=Some(hint.to_string())
                    error=Signal::derive(move || error(&value.get(), range))
                    on_input=move |text| fields.update(|f| *get(f) = text) />
            }
            .into_any()
        };
    view! {
        <Dialog open title="Change plan" confirm="Change plan" kind=Kind::Primary busy=planning.command.busy()
            error=planning.command.error() why_not on_confirm=Callback::new(send)>
            <p class="muted">"A blank field uses the policy's default. The new plan includes the letters that wait now."</p>
            <Show when=move || filter.with(|filter| !filter.is_none())>
                <p>"Only letters that match this filter are included:"</p>
                {condition_chips(move || filter.get(), move |changed| filter.set(changed))}
            </Show>
            <div class="options">
                {field("Canary size", "Letters in the first wave", CANARY, |f| &mut f.canary, true)}
                {field("Growth", "Times larger than the previous wave", GROWTH, |f| &mut f.growth, false)}
                {field("Pace", "Maximum letters per second", PACE, |f| &mut f.pace, false)}
                {field("Pause above", "Percent of a wave that returned", PAUSE_ABOVE, |f| &mut f.pause_above, false)}
                {field("Pause canary above", "Percent of a canary that returned", PAUSE_ABOVE, |f| &mut f.canary_pause_above, false)}
                {field("Observe", "Seconds after a wave's last letter", WINDOW, |f| &mut f.window, false)}
            </div>
        </Dialog>
    }
}
