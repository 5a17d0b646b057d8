//! One group: its failure, its impact, and the steps to its replay.

mod actions;
mod changes;
mod chosen;
mod current;
mod discard;
mod facets;
mod failure;
mod filter;
mod fix;
mod header;
mod letters;
mod letters_rows;
mod letters_table;
mod logs;
mod merge;
mod note;
mod owner;
mod payload;
mod plan;
mod release;
mod side;
mod timeline;
mod transform;
mod tried;
mod unwrap;

use crate::api;
use crate::component::{Arrivals, Frame, Loaded, Tab, Tabs};
use crate::keys::{self, key};
use crate::nav::nav;
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use actions::{Action, Actions};
use current::CurrentGroup;
use dashboard_model::money::count_signed;
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use domain::filter::LetterFilter;
use domain::id::GroupId;
use wire::{GroupAnswer, NextStep};

/// A group's page.
#[component]
pub fn GroupPage(id: GroupId) -> impl IntoView {
    let fetched_id = id.clone();
    let live = Live::new(
        move |seen| api::group(fetched_id.clone(), seen),
        |detail: &GroupAnswer| {
            let is_made = detail.drafting.as_ref().is_some_and(|draft| draft.failed.is_none());
            if detail.row.state.replay().is_some() || is_made { Pace::Busy } else { Pace::Calm }
        },
    );
    let title = live.part(|detail| detail.row.title.clone());
    let title = Signal::derive(move || title.get().unwrap_or_else(|| "Group".to_string()));
    let step =
        live.part(|detail| (detail.row.next.clone(), detail.replay.as_ref().map(dashboard_model::ledger::tab_title)));
    let tab_title = Signal::derive(move || match step.get() {
        Some((NextStep::Replaying { .. } | NextStep::ReplayPaused, Some(replay))) => replay,
        _ => title.get(),
    });
    let back = ("/groups".to_string(), Signal::stored("Groups".to_string()));
    let id = StoredValue::new(id);
    view! {
        <Frame title tab_title back pulse=live.pulse()>
            <Loaded live what="group" rows=6>
                {part(move || CurrentGroup::new(live, id.get_value()).map(|current| view! { <GroupView current /> }.into_any()))}
            </Loaded>
        </Frame>
    }
}

/// Shows a loaded group.
#[component]
fn GroupView(current: CurrentGroup) -> impl IntoView {
    let nav = nav();
    let route = Memo::new(move |_| match nav.route() {
        Route::Group(route) => Some(route),
        _ => None,
    });
    let tab = route.map(move |route| route.as_ref().map(|route| route.tab).unwrap_or_default());
    let filter = route.map(|route| route.as_ref().map(|route| route.filter.clone()).unwrap_or_default());
    let actions = Actions::new();
    let planning = plan::Planning::new(current, actions);
    bind_keys(current, actions);
    let chart = current.part(|detail| dashboard_model::chart::shown(&detail.chart));
    let marks = current.part(dashboard_model::chart::marks);
    let last_hour = current.part(|detail| detail.row.arrivals_last_hour);
    let growing = current.part(|detail| detail.row.next == NextStep::Growing);
    view! {
        <header::Header current />
        <div class="group">
            <div class="group-main">
                <merge::MergedNotice current />
                <merge::UnmergedNotice current />
                <discard::DiscardNotice current />
                <GroupTabs current tab filter />
                <section class="group-tab" aria-label=attr(move || label(tab.get()))>
                    {part(move || match tab.get() {
                        GroupTab::Failure => view! { <failure::FailureTab current /> }.into_any(),
                        GroupTab::Payload => view! { <payload::PayloadTab current route filter /> }.into_any(),
                        GroupTab::Letters => view! { <letters::LettersTab current route filter planning actions /> }.into_any(),
                        GroupTab::Timeline => view! { <timeline::TimelineTab current /> }.into_any(),
                    })}
                </section>
                <Arrivals chart marks last_hour growing />
            </div>
            <aside class="group-side" aria-label="Fix and replay">
                <side::Side current actions planning />
            </aside>
        </div>
    }
}

fn bind_keys(current: CurrentGroup, actions: Actions) {
    let nav = nav();
    let go = move |tab: GroupTab| {
        move || {
            let filter = filter::filter_in(nav.route_untracked());
            nav.replace(Route::Group(GroupRoute { tab, filter, ..GroupRoute::new(current.id()) }));
        }
    };
    keys::bind(
        "This group",
        vec![
            key("1", "Trace", go(GroupTab::Failure)),
            key("2", "Payload", go(GroupTab::Payload)),
            key("3", "Letters", go(GroupTab::Letters)),
            key("4", "Timeline", go(GroupTab::Timeline)),
            key("f", "Declare a fix", move || actions.run(Action::DeclareFix)),
            key("n", "Edit the note", move || actions.run(Action::EditNote)),
            key("r", "Plan a replay", move || actions.run(Action::Plan)),
            key("v", "Approve and replay, or resume", move || actions.run(Action::Approve)),
        ],
    );
}

fn label(tab: GroupTab) -> &'static str {
    match tab {
        GroupTab::Failure => "Trace",
        GroupTab::Payload => "Payload",
        GroupTab::Letters => "Letters",
        GroupTab::Timeline => "Timeline",
    }
}

#[component]
fn GroupTabs(current: CurrentGroup, tab: Memo<GroupTab>, filter: Memo<LetterFilter>) -> impl IntoView {
    let letters = current.part(|detail| {
        let all: i64 = detail.counts.by_state.values().map(|tally| tally.letters).sum();
        count_signed(all)
    });
    let tabs = GroupTab::ALL.into_iter().map(|this| Tab {
        href: Signal::derive(move || {
            Route::Group(GroupRoute { tab: this, filter: filter.get(), ..GroupRoute::new(current.id()) }).to_string()
        }),
        label: label(this),
        count: Signal::derive(move || (this == GroupTab::Letters).then(|| letters.get())),
        is_open: Signal::derive(move || tab.get() == this),
    });
    view! { <Tabs label="Group details" tabs=tabs.collect() /> }
}
