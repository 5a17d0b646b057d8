//! Signing in: with the one-time code in a link's fragment, or with the code in the query that an issuer returns.

use crate::api::{self, ApiError};
use crate::component::{Button, Glyph, Icon, Kind};
use crate::issuer;
use crate::nav::{nav, set_title, take_codes};
use crate::reactive::prelude::*;
use crate::session::{SignedIn, tab, take_pending};
use dashboard_model::code::{PendingSignIn, Refusal, returned, stray};
use dashboard_model::route::Route;
use dashboard_model::stay::{DRAFTS_KEPT, why_signed_out};
use leptos::task::spawn_local;
use std::pin::Pin;
use wire::{IssuerSignInRequest, SessionAnswer};

/// A sign-in in progress: the session, and the page to show next.
type SigningIn = Pin<Box<dyn Future<Output = Result<(SessionAnswer, Route), Refusal>>>>;

const UNSAFE: &str = "Sign-in requires HTTPS. Open this page over HTTPS and try again.";

/// The content of the sign-in page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Notice {
    text: Refusal,
    /// Whether the page offers a way to sign in.
    offers_sign_in: bool,
    /// Whether the issuer must ask for credentials again, so that the person can sign in as someone else.
    again: bool,
}

fn titled(title: &'static str) -> Notice {
    explained(title, String::new())
}

fn explained(title: &'static str, detail: String) -> Notice {
    Notice { text: Refusal { title, detail }, offers_sign_in: true, again: false }
}

fn refusal(title: &'static str) -> impl Fn(ApiError) -> Refusal {
    move |error| Refusal { title, detail: error.message() }
}

/// The target of one-time links, and of the redirect back from issuers.
#[component]
pub fn SignInPage() -> impl IntoView {
    set_title("Sign in", 0);
    let (nav, tab) = (nav(), tab());
    let (query, link) = take_codes();
    let notice = RwSignal::new(titled("Sign in"));
    let run = move |signing_in: SigningIn| {
        notice.set(Notice { offers_sign_in: false, ..titled("Signing in…") });
        spawn_local(async move {
            match signing_in.await {
                Ok((session, page)) => {
                    if tab.me_untracked().is_some() {
                        // The office ends the session that this one replaces.
                        let _ = api::sign_out().await;
                    }
                    tab.enter(&session);
                    nav.replace(page);
                }
                Err(text) => {
                    notice.try_set(Notice { text, offers_sign_in: true, again: true });
                }
            }
        });
    };
    let asked = RwSignal::new(None::<String>);
    match (link, tab.me_untracked()) {
        (Some(code), Some(me)) => {
            let detail = format!(
                "You are signed in as {} ({}), and opened a sign-in link. It may be for another person or role. If somebody else sent it, stay signed in.",
                me.name,
                me.role.as_str()
            );
            notice.set(Notice { offers_sign_in: false, ..explained("Use the sign-in link?", detail) });
            asked.set(Some(code));
        }
        (Some(code), None) => run(by_link(code)),
        (None, _) => {
            if let Some(signing_in) = by_issuer(&query) {
                run(signing_in);
            }
        }
    }
    let switch = move |()| {
        if let Some(code) = asked.get_untracked() {
            asked.set(None);
            run(by_link(code));
        }
    };
    let choice = move || {
        asked.with(Option::is_some).then(|| {
            view! {
                <div class="door-how">
                    <p><Button press=move |()| nav.replace(Route::home()) kind=Kind::Primary>"Stay signed in"</Button></p>
                    <p><Button press=switch>"Use link"</Button></p>
                </div>
            }
            .into_any()
        })
    };
    view! { <Door notice choice /> }
}

fn by_link(code: String) -> SigningIn {
    Box::pin(async move {
        if let Ok(Some(_)) = api::issuer().await {
            let detail = "This office signs people in at their issuer. The link was not used.".to_string();
            return Err(Refusal { title: "Links do not sign in here", detail });
        }
        let failed = |error: ApiError| match error.is_temporary() {
            true => {
                Refusal { title: "Sign-in failed", detail: format!("{} Then open the link again.", error.message()) }
            }
            false => refusal("This link no longer works")(error),
        };
        Ok((api::sign_in(code).await.map_err(failed)?, Route::home()))
    })
}

/// Completes a sign-in at an issuer. Returns `None` if the query is not from an issuer.
fn by_issuer(query: &str) -> Option<SigningIn> {
    let pending = take_pending().and_then(|text| PendingSignIn::parse(&text));
    let code = returned(query, pending.as_ref())?;
    Some(Box::pin(async move {
        let (code, PendingSignIn { verifier, nonce, back, .. }) = (code?, pending.ok_or_else(stray)?);
        let request = IssuerSignInRequest { code, page: issuer::page(), verifier, nonce };
        let session = api::exchange_code(request).await.map_err(refusal("Sign-in failed"))?;
        let (path, query) = back.split_once('?').unwrap_or((&back, ""));
        Ok((session, Route::parse(path, query)))
    }))
}

/// Replaces every page while no one is signed in. The URL stays, so that signing in returns to the page.
#[component]
pub fn SignedOut() -> impl IntoView {
    let tab = tab();
    set_title("Signed out", 0);
    let notice = Signal::derive(move || match tab.state() {
        SignedIn::Ended => explained("Your session has ended", DRAFTS_KEPT.to_string()),
        SignedIn::Idle(limit) => explained("You were signed out", why_signed_out(limit)),
        SignedIn::As(_) | SignedIn::No => titled("Sign in"),
    });
    view! { <Door notice /> }
}

#[component]
fn Door(#[prop(into)] notice: Signal<Notice>, #[prop(optional, into)] choice: ViewFn) -> impl IntoView {
    view! {
        <div class="door">
            <span class="door-mark"><Icon glyph=Glyph::Letter /></span>
            <p class="door-name">"Dead Letter Office"</p>
            <h1 tabindex="-1">{part(move || notice.with(|notice| notice.text.title))}</h1>
            <p class="door-words" role="alert">{part(move || notice.with(|notice| notice.text.detail.clone()))}</p>
            {part(move || notice.with(|notice| notice.offers_sign_in.then(|| sign_in_options(notice.again))))}
            {part(move || choice.run())}
        </div>
    }
}

/// Shows how to sign in, as configured in the office.
fn sign_in_options(again: bool) -> AnyView {
    let nav = nav();
    let issuer = RwSignal::new(None::<Result<Option<String>, String>>);
    let redirecting = RwSignal::new(false);
    let load = Callback::new(move |()| {
        issuer.set(None);
        spawn_local(async move {
            issuer.try_set(Some(api::issuer().await.map_err(|error| error.message())));
        });
    });
    load.run(());
    let redirect = move |url: String| {
        Callback::new(move |()| {
            let back = match nav.route_untracked() {
                Route::SignIn => Route::home(),
                route => route,
            };
            let redirected = issuer::redirect(url.clone(), back.to_string(), again);
            redirecting.set(true);
            spawn_local(async move {
                if redirected.await.is_none() {
                    redirecting.try_set(false);
                    issuer.try_set(Some(Err(UNSAFE.to_string())));
                }
            });
        })
    };
    let shown = move || {
        issuer.get().map(|issuer| match issuer {
            Ok(Some(url)) => {
                // Scheme and host.
                let host: Vec<&str> = url.splitn(4, '/').take(3).collect();
                let words = format!("You will be redirected to {} and back to this page.", host.join("/"));
                option("Sign in", words, redirecting, redirect(url))
            }
            Ok(None) => new_link(),
            Err(words) => option("Retry", words, redirecting, load),
        })
    };
    view! { <div class="door-how">{part(shown)}</div> }.into_any()
}

fn option(label: &'static str, words: String, busy: RwSignal<bool>, press: Callback<()>) -> AnyView {
    view! {
        <p><Button press kind=Kind::Primary busy=Signal::from(busy)>{label}</Button></p>
        <p>{words}</p>
    }
    .into_any()
}

fn new_link() -> AnyView {
    view! {
        <p>"Sign in with a one-time link. In the terminal that runs the office, press "<b>"Enter"</b>
            " for new links, or run "<code>"dlo links --data <folder>"</code>" in another terminal. The office's terminal shows the folder."</p>
        <p>"There is one link per role: viewer, operator, approver, admin."</p>
    }
    .into_any()
}
