//! One group: what broke, what it costs, and the way to its replay.

mod also;
mod failure;
mod filter;
mod fix;
mod head;
mod here;
mod letters;
mod note;
mod payload;
mod plan;
mod release;
mod side;
mod timeline;
mod transform;

use crate::api;
use crate::component::{Arrivals, Frame, Tab, Tabs, Unless};
use crate::keys::{self, key};
use crate::nav::nav;
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::money::count_signed;
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use domain::filter::LetterFilter;
use domain::id::GroupId;
use here::Here;
use wire::{GroupDetail, NextStep};

/// A group's page.
#[component]
pub fn GroupPage(id: GroupId) -> impl IntoView {
    let asked = id.clone();
    let live = Live::new(
        move |seen| api::group(asked.clone(), seen),
        |detail: &GroupDetail| {
            if detail.row.state.replay().is_some() { Pace::Busy } else { Pace::Calm }
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
            <Unless live rows=6>
                {part(move || Here::new(live, id.get_value()).map(|here| view! { <Known here /> }.into_any()))}
            </Unless>
        </Frame>
    }
}

/// The page once its group is known.
#[component]
fn Known(here: Here) -> impl IntoView {
    let nav = nav();
    let place = Memo::new(move |_| match nav.route() {
        Route::Group(place) => Some(place),
        _ => None,
    });
    let tab = place.map(move |place| place.as_ref().map(|place| place.tab).unwrap_or_default());
    let filter = place.map(|place| place.as_ref().map(|place| place.filter.clone()).unwrap_or_default());
    let asks = side::Asks::new();
    let planning = plan::Planning::new(here, asks);
    bind_keys(here, asks);
    let arrivals = here.part(|detail| detail.row.arrivals.clone());
    let last_hour = here.part(|detail| detail.row.arrivals_last_hour);
    let growing = here.part(|detail| detail.row.next == NextStep::Growing);
    view! {
        <head::Head here />
        <div class="group">
            <div class="group-main">
                <also::MergedNotice here />
                <also::ApartNotice here />
                <Arrivals values=arrivals last_hour growing />
                <GroupTabs here tab filter />
                <section class="group-tab" aria-label=attr(move || label(tab.get()))>
                    {part(move || match tab.get() {
                        GroupTab::Failure => view! { <failure::FailureTab here /> }.into_any(),
                        GroupTab::Payload => view! { <payload::PayloadTab here place filter /> }.into_any(),
                        GroupTab::Letters => view! { <letters::LettersTab here place filter planning asks /> }.into_any(),
                        GroupTab::Timeline => view! { <timeline::TimelineTab here /> }.into_any(),
                    })}
                </section>
            </div>
            <aside class="group-side" aria-label="Fix and replay">
                <side::Side here asks planning />
            </aside>
        </div>
    }
}

fn bind_keys(here: Here, asks: side::Asks) {
    let nav = nav();
    let go = move |tab: GroupTab| {
        move || {
            let filter = filter::filter_of(nav.route_untracked());
            nav.replace(Route::Group(GroupRoute { tab, filter, ..GroupRoute::new(here.id()) }));
        }
    };
    keys::bind(
        "This group",
        vec![
            key("1", "Trace", go(GroupTab::Failure)),
            key("2", "Payload", go(GroupTab::Payload)),
            key("3", "Letters", go(GroupTab::Letters)),
            key("4", "Timeline", go(GroupTab::Timeline)),
            key("f", "Declare a fix", move || asks.press(side::Press::Fix)),
            key("n", "Write the note", move || asks.press(side::Press::Note)),
            key("r", "Plan a replay", move || asks.press(side::Press::Plan)),
            key("v", "Approve and replay, or resume", move || asks.press(side::Press::ApproveRequest)),
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
fn GroupTabs(here: Here, tab: Memo<GroupTab>, filter: Memo<LetterFilter>) -> impl IntoView {
    let letters = here.part(|detail| {
        let all: i64 = detail.counts.by_state.values().map(|tally| tally.letters).sum();
        count_signed(all)
    });
    let tabs = GroupTab::ALL.into_iter().map(|of| Tab {
        href: Signal::derive(move || {
            Route::Group(GroupRoute { tab: of, filter: filter.get(), ..GroupRoute::new(here.id()) }).to_string()
        }),
        label: label(of),
        count: Signal::derive(move || (of == GroupTab::Letters).then(|| letters.get())),
        here: Signal::derive(move || tab.get() == of),
    });
    view! { <Tabs label="About this group" tabs=tabs.collect() /> }
}
