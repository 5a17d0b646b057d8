//! What is around every page: the rail, and the line at the top with title, freshness, theme and help.

use crate::component::{Glyph, Icon, LiveBadge};
use crate::nav::{nav, set_title};
use crate::poll::Pulse;
use crate::prefs::prefs;
use crate::reactive::prelude::*;
use crate::session::tab;
use crate::{api, app};
use dashboard_model::route::{PageKey, Route};
use leptos::task::spawn_local;

/// The rail at the left; a bar at the bottom of a phone.
#[component]
pub fn Rail() -> impl IntoView {
    let nav = nav();
    let page = Memo::new(move |_| nav.route().page());
    let link = move |route: Route, glyph: Glyph, word: &'static str, here: fn(&PageKey) -> bool| {
        view! {
            <a class="rail-link" href=route.to_string() aria-current=attr(move || page.with(here).then_some("page"))>
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
            {link(Route::Replays, Glyph::Replays, "Replays", |page| {
                matches!(page, PageKey::Replays | PageKey::Replay(_))
            })}
        </nav>
    }
}

/// A page: its title (also the browser tab's), its freshness, and what it shows.
#[component]
pub fn Frame(
    /// The page's one heading.
    #[prop(into)]
    title: Signal<String>,
    /// What the browser's tab says, where that is not the heading.
    #[prop(optional, into)]
    tab_title: Option<Signal<String>>,
    /// Where the page belongs to: a link above the heading.
    #[prop(optional, into)]
    back: Option<(String, Signal<String>)>,
    /// Beside the heading.
    #[prop(optional, into)]
    beside: ViewFn,
    /// How fresh the page is.
    #[prop(optional, into)]
    pulse: Option<Pulse>,
    children: Children,
) -> impl IntoView {
    let shown = tab_title.unwrap_or(title);
    Effect::new(move || set_title(&shown.get()));
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
    let leave = move |_| {
        spawn_local(async move {
            // Whether or not the office hears it, this tab forgets its token.
            let _ = api::sign_out().await;
            tab.leave(false);
        });
    };
    part(move || {
        tab.me().map(|me| {
            let name = me.name.to_string();
            let role = me.role.as_str();
            let shown = (name != role).then(|| view! { <span class="who-name">{name}</span> }.into_any());
            view! {
                <details class="who">
                    <summary title="Who you are">
                        <Icon glyph=Glyph::Person />
                        {shown}
                        <span class="who-role">{role}</span>
                    </summary>
                    <div class="who-menu">
                        <p>{format!("Signed in to {}. Another tab can be another person.", me.office)}</p>
                        <button type="button" class="button" on:click=on(leave)>"Sign out"</button>
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
            on:click=on(move |_| prefs.turn_theme())>
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
    let help: app::HelpOpen = expect_context();
    view! {
        <button type="button" class="tool" title="Keys and help" aria-label="Keys and help" aria-keyshortcuts="?"
            on:click=on(move |_| help.0.set(true))>
            <Icon glyph=Glyph::Help />
        </button>
    }
}
