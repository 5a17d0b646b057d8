//! Signing in: by a one-time code in the link's fragment, or by the code of an issuer that a person comes back from.

use crate::api::{self, ApiError};
use crate::component::{Button, Glyph, Icon, Kind};
use crate::issuer;
use crate::nav::{nav, set_title, take_codes};
use crate::reactive::prelude::*;
use crate::session::{SignedIn, tab, take_pending};
use dashboard_model::code::{Outside, Pending, brought, stray};
use dashboard_model::route::Route;
use leptos::task::spawn_local;
use std::pin::Pin;
use wire::{IssuerSignInRequest, Session};

/// A sign-in under way: whoever comes in, and the page that they wanted.
type Entering = Pin<Box<dyn Future<Output = Result<(Session, Route), Outside>>>>;

const UNSAFE: &str = "This browser gives no means to sign in safely: it has them for pages that came over HTTPS.";

/// What stands on the door.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Notice {
    said: Outside,
    /// Whether it says how to come in.
    ways: bool,
    /// So that they may come as somebody else than the issuer takes them for.
    again: bool,
}

fn notice(title: &'static str) -> Notice {
    Notice { said: Outside { title, words: String::new() }, ways: true, again: false }
}

fn outside(title: &'static str) -> impl Fn(ApiError) -> Outside {
    move |error| Outside { title, words: error.message() }
}

/// Where one-time links lead to, and where issuers send people back to.
#[component]
pub fn SignInPage() -> impl IntoView {
    set_title("Sign in");
    let (nav, tab) = (nav(), tab());
    let (query, link) = take_codes();
    let entering = link.map(by_link).or_else(|| by_issuer(&query));
    let on_door = RwSignal::new(match &entering {
        Some(_) => Notice { ways: false, ..notice("Signing in…") },
        None => notice("Sign in"),
    });
    if let Some(entering) = entering {
        spawn_local(async move {
            match entering.await {
                Ok((session, page)) => {
                    tab.enter(&session);
                    nav.replace(page);
                }
                Err(said) => {
                    on_door.try_set(Notice { said, ways: true, again: true });
                }
            }
        });
    }
    view! { <Door notice=on_door /> }
}

fn by_link(code: String) -> Entering {
    Box::pin(async move {
        let failed = |error: ApiError| match error.is_passing() {
            true => outside("The office did not answer. Open the link again when it does.")(error),
            false => outside("This link no longer works")(error),
        };
        Ok((api::sign_in(code).await.map_err(failed)?, Route::home()))
    })
}

/// What somebody brings back from an issuer, if they come from one.
fn by_issuer(query: &str) -> Option<Entering> {
    let pending = take_pending().and_then(|text| Pending::read(&text));
    let brought = brought(query, pending.as_ref())?;
    Some(Box::pin(async move {
        let (code, Pending { verifier, nonce, back, .. }) = (brought?, pending.ok_or_else(stray)?);
        let ask = IssuerSignInRequest { code, page: issuer::page(), verifier, nonce };
        let session = api::come_back(ask).await.map_err(outside("You were not let in"))?;
        let (path, query) = back.split_once('?').unwrap_or((&back, ""));
        Ok((session, Route::parse(path, query)))
    }))
}

/// Shown in place of any page while nobody is signed in; the URL stays, so that signing in here returns to it.
#[component]
pub fn SignedOut() -> impl IntoView {
    let tab = tab();
    set_title("Signed out");
    let on_door = Signal::derive(move || {
        notice(if tab.state() == SignedIn::Ended { "Your session has ended" } else { "Sign in" })
    });
    view! { <Door notice=on_door /> }
}

#[component]
fn Door(#[prop(into)] notice: Signal<Notice>) -> impl IntoView {
    view! {
        <div class="door">
            <span class="door-mark"><Icon glyph=Glyph::Letter /></span>
            <p class="door-name">"Dead Letter Office"</p>
            <h1 tabindex="-1">{part(move || notice.with(|notice| notice.said.title))}</h1>
            <p class="door-words" role="alert">{part(move || notice.with(|notice| notice.said.words.clone()))}</p>
            {part(move || notice.with(|notice| notice.ways.then(|| ways_in(notice.again))))}
        </div>
    }
}

/// How somebody can come in here, as the office says it.
fn ways_in(again: bool) -> AnyView {
    let nav = nav();
    let known = RwSignal::new(None::<Result<Option<String>, String>>);
    let away = RwSignal::new(false);
    let ask = Callback::new(move |()| {
        known.set(None);
        spawn_local(async move {
            known.try_set(Some(api::way_in().await.map_err(|error| error.message())));
        });
    });
    ask.run(());
    let leave = move |issuer: String| {
        Callback::new(move |()| {
            let back = match nav.route_untracked() {
                Route::SignIn => Route::home(),
                route => route,
            };
            let sent = issuer::send_away(issuer.clone(), back.to_string(), again);
            away.set(true);
            spawn_local(async move {
                if sent.await.is_none() {
                    away.try_set(false);
                    known.try_set(Some(Err(UNSAFE.to_string())));
                }
            });
        })
    };
    let shown = move || {
        known.get().map(|way| match way {
            Ok(Some(issuer)) => {
                // Scheme and host.
                let host: Vec<&str> = issuer.splitn(4, '/').take(3).collect();
                let words = format!("You are sent to {} and come back to this page.", host.join("/"));
                way_in("Sign in", words, away, leave(issuer))
            }
            Ok(None) => new_link(),
            Err(words) => way_in("Try again", words, away, ask),
        })
    };
    view! { <div class="door-how">{part(shown)}</div> }.into_any()
}

fn way_in(label: &'static str, words: String, busy: RwSignal<bool>, press: Callback<()>) -> AnyView {
    view! {
        <p><Button press kind=Kind::Primary busy=Signal::from(busy)>{label}</Button></p>
        <p>{words}</p>
    }
    .into_any()
}

fn new_link() -> AnyView {
    view! {
        <p>"You come in by a link that works once. In the terminal that runs the office press "<kbd>"Enter"</kbd>
            " for new links, or run "<code>"dlo links"</code>" in another one."</p>
        <p>"There is a link for each role: viewer, operator, approver, admin."</p>
    }
    .into_any()
}
