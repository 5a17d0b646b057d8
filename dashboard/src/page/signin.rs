//! Signing in: a one-time code from the link's fragment becomes this tab's session.

use crate::api::{self, ApiError};
use crate::component::{Glyph, Icon, Problem};
use crate::nav::{nav, set_title, take_fragment};
use crate::reactive::prelude::*;
use crate::route::Route;
use crate::session::{SignedIn, tab};
use leptos::task::spawn_local;

/// Where one-time links lead to.
#[component]
pub fn SignInPage() -> impl IntoView {
    set_title("Sign in");
    let (nav, tab) = (nav(), tab());
    let failed = RwSignal::new(None::<ApiError>);
    let code = take_fragment();
    let has_code = code.is_some();
    if let Some(code) = code {
        spawn_local(async move {
            match api::sign_in(code).await {
                Ok(session) => {
                    tab.enter(&session);
                    nav.replace(Route::home());
                }
                Err(error) => {
                    failed.try_set(Some(error));
                }
            }
        });
    }
    part(move || match failed.get() {
        Some(error) if error.is_passing() => view! {
            <Door title="The office did not answer">
                <Problem error=Signal::stored(Some(error)) />
                <p>"Open the link again when it does."</p>
            </Door>
        }
        .into_any(),
        Some(error) => view! {
            <Door title="This link no longer works">
                <p>{error.message()}</p>
                <NewLink />
            </Door>
        }
        .into_any(),
        None if has_code => view! { <Door title="Signing in…"><p class="muted">"A moment."</p></Door> }.into_any(),
        None => view! { <Door title="Sign in"><NewLink /></Door> }.into_any(),
    })
}

/// Shown in place of any page while nobody is signed in; the URL stays, so that signing in here returns to it.
#[component]
pub fn SignedOut() -> impl IntoView {
    let tab = tab();
    let ended = move || tab.state() == SignedIn::Ended;
    set_title("Signed out");
    view! {
        <Door title=Signal::derive(move || {
            if ended() { "Your session has ended".to_string() } else { "Sign in".to_string() }
        })>
            <NewLink />
        </Door>
    }
}

#[component]
fn Door(#[prop(into)] title: Signal<String>, children: Children) -> impl IntoView {
    view! {
        <div class="door">
            <span class="door-mark"><Icon glyph=Glyph::Letter /></span>
            <p class="door-name">"Dead Letter Office"</p>
            <h1 tabindex="-1">{title}</h1>
            {children()}
        </div>
    }
}

#[component]
fn NewLink() -> impl IntoView {
    view! {
        <div class="door-how">
            <p>"You come in by a link that works once. In the terminal that runs the office press "<kbd>"Enter"</kbd>
                " for new links, or run "<code>"dlo links"</code>" in another one."</p>
            <p>"There is a link for each role: viewer, operator, approver, admin."</p>
        </div>
    }
}
