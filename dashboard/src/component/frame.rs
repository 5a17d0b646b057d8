//! The frame of every page: the navigation rail, and the top line with title, freshness, theme and help.

use crate::component::{Glyph, HelpOpen, Icon, LiveBadge};
use crate::due::due;
use crate::leave;
use crate::nav::{nav, set_title};
use crate::poll::Pulse;
use crate::prefs::prefs;
use crate::reactive::prelude::*;
use crate::session::tab;
use dashboard_model::money::{count, counted};
use dashboard_model::replays::Show as Replays;
use dashboard_model::route::{GroupsRoute, PageKey, Route};
use dashboard_model::view::View;

/// The navigation rail on the left; on phones, a bar at the bottom.
#[component]
pub fn Rail() -> impl IntoView {
    let nav = nav();
    let due = due();
    let page = Memo::new(move |_| nav.route().page());
    let link = move |route: Route, glyph: Glyph, word: &'static str, is_current: fn(&PageKey) -> bool| {
        view! {
            <a class="rail-link" href=route.to_string() aria-current=attr(move || page.with(is_current).then_some("page"))>
                <Icon glyph />
                <span>{word}</span>
            </a>
        }
        .into_any()
    };
    view! {
        <nav class="rail" aria-label="Pages">
            <a class="rail-mark" href="/groups" aria-label="Dead Letter Office, home">
                <Icon glyph=Glyph::Letter />
            </a>
            {link(Route::home(), Glyph::Groups, "Groups", |page| matches!(page, PageKey::Groups | PageKey::Group(_)))}
            {link(Route::Replays(Replays::All), Glyph::Replays, "Replays", |page| {
                matches!(page, PageKey::Replays | PageKey::Replay(_))
            })}
            {link(Route::Policy, Glyph::Policy, "Policy", |page| matches!(page, PageKey::Policy))}
            {part(move || (due.count() > 0).then(|| {
                let words = counted(due.count(), "group waits for your approval", "groups wait for your approval");
                let href = Route::Groups(GroupsRoute { view: View::ForMe, ..GroupsRoute::default() }).to_string();
                view! {
                    <a class="rail-link rail-due" href=href title=words.clone()>
                        <b class="rail-count" aria-hidden="true">{count(due.count())}</b>
                        <span>"Approve"<span class="sr-only">{format!(": {words}")}</span></span>
                    </a>
                }
                .into_any()
            }))}
        </nav>
    }
}

/// A page with its title, which is also the browser tab's, and its freshness.
#[component]
pub fn Frame(
    /// The page's heading.
    #[prop(into)]
    title: Signal<String>,
    /// The title of the browser tab, if it differs from the heading.
    #[prop(optional, into)]
    tab_title: Option<Signal<String>>,
    /// The link to the parent page, above the heading.
    #[prop(optional, into)]
    back: Option<(String, Signal<String>)>,
    /// Content beside the heading.
    #[prop(optional, into)]
    beside: ViewFn,
    /// The page's freshness.
    #[prop(optional, into)]
    pulse: Option<Pulse>,
    children: Children,
) -> impl IntoView {
    let shown = tab_title.unwrap_or(title);
    let due = due();
    Effect::new(move || set_title(&shown.get(), due.count()));
    view! {
        <div class="page">
            <header class="top">
                <div class="top-title">
                    {back.map(|(href, words)| view! {
                        <a class="top-back" href=href><Icon glyph=Glyph::Back />{words}</a>
                    }.into_any())}
                    <div class="top-line">
                        <h1 tabindex="-1">{title}</h1>
                        <div class="top-beside">{part(move || beside.run())}</div>
                    </div>
                </div>
                <div class="top-tools">
                    {pulse.map(|pulse| view! { <LiveBadge pulse /> }.into_any())}
                    <Who />
                    <ThemeSwitch />
                    <HelpButton />
                </div>
            </header>
            {children()}
        </div>
    }
}

#[component]
fn Who() -> impl IntoView {
    let tab = tab();
    part(move || {
        tab.me().map(|me| {
            let name = me.name.to_string();
            let role = me.role.as_str();
            let shown = (name != role).then(|| view! { <span class="who-name">{name}</span> }.into_any());
            view! {
                <details class="who">
                    <summary title="Account">
                        <Icon glyph=Glyph::Person />
                        {shown}
                        <span class="who-role">{role}</span>
                    </summary>
                    <div class="who-menu">
                        <p>{format!("Signed in to {}. New tabs are signed in, too. Signing out ends all of them.", me.office)}</p>
                        <button type="button" class="button" on:click=on(move |_| leave::sign_out(tab))>"Sign out"</button>
                    </div>
                </details>
            }
            .into_any()
        })
    })
}

#[component]
fn ThemeSwitch() -> impl IntoView {
    let prefs = prefs();
    let name = move || if prefs.is_dark() { "Light theme" } else { "Dark theme" };
    view! {
        <button type="button" class="tool" title=attr(name) aria-label=attr(name) aria-keyshortcuts="t"
            on:click=on(move |_| prefs.toggle_theme())>
            {part(move || if prefs.is_dark() {
                view! { <Icon glyph=Glyph::Sun /> }
            } else {
                view! { <Icon glyph=Glyph::Moon /> }
            })}
        </button>
    }
}

#[component]
fn HelpButton() -> impl IntoView {
    let help: HelpOpen = expect_context();
    view! {
        <button type="button" class="tool" title="Keyboard shortcuts and help" aria-label="Keyboard shortcuts and help" aria-keyshortcuts="?"
            on:click=on(move |_| help.0.set(true))>
            <Icon glyph=Glyph::Help />
        </button>
    }
}
