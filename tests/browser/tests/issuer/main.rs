//! FEATURE: signing in at an OIDC issuer, in a real browser: the API with its issuer adapter, the dashboard, and a local
//! issuer. Every request passes through what imitates CloudFront's origin access control.

use axum::middleware::from_fn;
use browser::driver::Driver;
use browser::person::Person;
use dlo_tests::cloudfront;
use dlo_tests::issuer::{CLIENT, Fault, Issuer};
use domain::policy::{Policy, SignInPolicy};
use domain::time::Span;
use harness::running::within;
use harness::world::World;
use lambda::sign_in::{self, Tokens};
use office::api::Api;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// The title of the group that [`Fixture::open`] creates.
const BROKEN: &str = "orders::Broken";

/// An office with one group, whose people sign in at an issuer.
struct Fixture {
    driver: Driver,
    issuer: Issuer,
    url: String,
    world: World,
}

impl Fixture {
    async fn open() -> Self {
        Self::with(SignInPolicy::default()).await
    }

    async fn with(sign_in: SignInPolicy) -> Self {
        let mut world = World::new().await;
        world.office.policy = Arc::new(Policy { sign_in, ..(*world.office.policy).clone() });
        world.place(0, 3).await;
        world.consume(&|_| Some(BROKEN), "v1").await;
        world.intake().await;
        let clock = world.office.clock.clone();
        let issuer = Issuer::start(move || clock()).await;
        let tokens = Arc::new(Tokens::new(issuer.url().into(), CLIENT.into(), None).expect("a client"));
        let (office, identify) = (world.office.clone(), tokens.clone());
        let api = Api { office, identify, name: "test".into(), watching: [world.dlq.clone()].into() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        issuer.register(&url);
        let router = sign_in::serve(api, tokens, dashboard_files::FILES).layer(from_fn(cloudfront::behind));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { driver: Driver::start(), issuer, url, world }
    }

    fn page(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

/// Enters a name at the issuer, and presses a button there.
async fn signs_in(person: &Person, name: &str, button: &str) {
    person.clicks("button", "Sign in").await;
    person.writes("Name", name).await;
    person.clicks("button", button).await;
}

/// Returns an item of the tab's storage.
async fn stored(person: &Person, key: &str) -> Option<String> {
    let item = person.script("return sessionStorage.getItem(arguments[0])", vec![key.into()]).await;
    item.as_str().map(String::from)
}

/// Waits until the tab has another refresh token, and returns it.
async fn renewed(person: &Person, before: &str) -> String {
    let other = async || stored(person, "dlo.refresh").await.filter(|token| token != before);
    within(Duration::from_secs(40), other).await.expect("the session is renewed")
}

/// Returns path, query and fragment of the URL.
async fn location(person: &Person) -> String {
    let location = person.script("return location.pathname + location.search + location.hash", Vec::new()).await;
    location.as_str().unwrap_or_default().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_signs_in_at_the_issuer_and_returns_to_their_page() {
    let fixture = Fixture::open().await;
    let otto = Person::new(&fixture.driver, "otto").await;
    otto.open(&fixture.page("/groups?q=Broken")).await;
    otto.find("heading", "Sign in").await;
    otto.find("button", "Sign in").await;
    otto.sees(&format!("You will be redirected to {} and back to this page.", fixture.issuer.url())).await;
    otto.shows("sign-in").await;

    signs_in(&otto, "otto", "Enter").await;
    otto.find("heading", "Groups").await;
    otto.sees(BROKEN).await;
    otto.find("summary", "otto operator").await;
    assert_eq!(location(&otto).await, "/groups?q=Broken", "neither code nor state stays in the URL");
    assert_eq!(stored(&otto, "dlo.pending").await, None, "the stored sign-in is deleted");

    // The token expires after an hour, and is renewed.
    let refresh = stored(&otto, "dlo.refresh").await.expect("a refresh token");
    fixture.world.advance(Span::from_mins(62));
    let next = renewed(&otto, &refresh).await;
    assert!(!fixture.issuer.accepts(&refresh) && fixture.issuer.accepts(&next), "a refresh token works once");
    otto.find("heading", "Groups").await;

    // Where it cannot be renewed, the session ends with it. The URL stays.
    fixture.issuer.set(Fault::ExpiredCodes);
    fixture.world.advance(Span::from_mins(62));
    otto.find("heading", "Your session has ended").await;
    fixture.issuer.set(Fault::None);
    otto.shows("session-ended").await;
    signs_in(&otto, "otto", "Enter").await;
    otto.find("heading", "Groups").await;
    assert_eq!(location(&otto).await, "/groups?q=Broken");

    otto.clicks("summary", "otto operator").await;
    otto.clicks("button", "Sign out").await;
    otto.find("heading", "Sign in").await;
    // Nobody is signed in by a link: it would put a token into the history, or somebody else's account into this tab.
    otto.open(&fixture.page(&format!("/signin#{}", fixture.issuer.token("vera", "")))).await;
    otto.find("heading", "Links do not sign in here").await;
    assert_eq!(location(&otto).await, "/signin");
    assert_eq!(stored(&otto, "dlo.token").await, None);
    otto.leaves(&["401", "favicon.ico"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_sign_in_shows_the_reason_and_can_be_retried() {
    let fixture = Fixture::open().await;
    let eve = Person::new(&fixture.driver, "eve").await;
    let sees_error = async |title: &str, words: &str| {
        eve.find("heading", title).await;
        eve.sees(words).await;
        eve.find("button", "Sign in").await;
        assert_eq!(location(&eve).await, "/signin", "{title}");
    };
    eve.open(&fixture.page("/")).await;
    signs_in(&eve, "otto", "Refuse").await;
    sees_error("Sign-in failed", "The issuer responded: The person said no.").await;
    eve.shows("sign-in-denied").await;

    eve.open(&fixture.page("/signin?code=c0ffee&state=00000000000000000000000000000000")).await;
    sees_error("This sign-in did not start in this tab", "You are not signed in.").await;

    signs_in(&eve, "eve", "Enter").await;
    sees_error("Sign-in failed", "eve has no role in this office.").await;

    for (fault, words) in [
        (Fault::ExpiredCodes, "The sign-in code has expired or was already used."),
        (Fault::Unavailable, "The sign-in service (OIDC issuer) isn't responding."),
        (Fault::WrongNonce, "The issuer's response belongs to another sign-in. You are not signed in."),
    ] {
        fixture.issuer.set(fault);
        signs_in(&eve, "otto", "Enter").await;
        sees_error("Sign-in failed", words).await;
    }
    eve.shows("sign-in-failed").await;
    fixture.issuer.set(Fault::None);
    signs_in(&eve, "otto", "Enter").await;
    eve.find("heading", "Groups").await;
    eve.leaves(&["401", "403", "503", "favicon.ico"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_expires_soon_is_renewed_in_the_background() {
    let fixture = Fixture::open().await;
    // The page renews it after half of this time.
    fixture.issuer.set_token_lifetime(Span::from_secs(4));
    let otto = Person::new(&fixture.driver, "otto").await;
    otto.open(&fixture.page("/groups")).await;
    signs_in(&otto, "otto", "Enter").await;
    otto.find("heading", "Groups").await;
    let (token, first) = (stored(&otto, "dlo.token").await, stored(&otto, "dlo.refresh").await);
    let second = renewed(&otto, &first.expect("a refresh token")).await;
    assert_ne!(stored(&otto, "dlo.token").await, token);
    renewed(&otto, &second).await;
    otto.find("summary", "otto operator").await;
    otto.leaves(&["favicon.ico"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_without_input_is_warned_and_signed_out_and_their_text_is_kept() {
    let fixture = Fixture::with(SignInPolicy { idle_ms: Some(Span::from_secs(30)), ..SignInPolicy::default() }).await;
    let group = format!("/groups/{}", fixture.world.only_group().await);
    let otto = Person::new(&fixture.driver, "otto").await;
    otto.open(&fixture.page(&group)).await;
    signs_in(&otto, "otto", "Enter").await;
    otto.clicks("button", "Declare a fix…").await;
    let version = "Version, exactly as the deployment reports it";
    otto.writes(version, "v2-draft").await;

    otto.find("dialog", "Stay signed in?").await;
    otto.shows("idle-warning").await;
    otto.clicks("button", "Stay signed in").await;
    otto.find("dialog", "Declare a fix").await;
    otto.finds_within("heading", "You were signed out", Duration::from_secs(60)).await;
    otto.sees("There was no input for 30 s. Text in open forms is kept in this tab.").await;
    assert!(!otto.has("button", "Declare a fix…").await, "nothing of the office is shown");
    otto.shows("idle-signed-out").await;

    signs_in(&otto, "otto", "Enter").await;
    otto.clicks("button", "Declare a fix…").await;
    assert_eq!(location(&otto).await, group);
    let field = otto.find("textbox", version).await;
    let text = async || (field.prop("value").await.ok()? == Some("v2-draft".into())).then_some(());
    within(Duration::from_secs(20), text).await.expect("the text is back");
    otto.leaves(&["401", "favicon.ico"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_out_and_input_count_in_every_tab() {
    let fixture = Fixture::with(SignInPolicy { idle_ms: Some(Span::from_secs(40)), ..SignInPolicy::default() }).await;
    let otto = Person::new(&fixture.driver, "otto").await;
    otto.open(&fixture.page("/groups")).await;
    signs_in(&otto, "otto", "Enter").await;
    otto.find("summary", "otto operator").await;
    let first = otto.driver.window().await.expect("a tab");
    let second = otto.driver.new_tab().await.expect("a new tab");
    otto.driver.switch_to_window(second.clone()).await.expect("the new tab");
    otto.open(&fixture.page("/groups")).await;
    otto.find("summary", "otto operator").await;

    // Twice the warning, and twice an input in this tab: by then the other tab would have ended the session.
    for _ in 0..2 {
        otto.finds_within("dialog", "Stay signed in?", Duration::from_secs(60)).await;
        otto.clicks("button", "Stay signed in").await;
        otto.find("summary", "otto operator").await;
    }
    otto.driver.switch_to_window(first).await.expect("the first tab");
    otto.find("summary", "otto operator").await;
    assert!(stored(&otto, "dlo.token").await.is_some());

    // The office cannot end an issuer's token. Every tab forgets it.
    otto.clicks("summary", "otto operator").await;
    otto.clicks("button", "Sign out").await;
    otto.find("heading", "Sign in").await;
    otto.driver.switch_to_window(second).await.expect("the second tab");
    otto.find("heading", "Sign in").await;
    let forgotten = async || stored(&otto, "dlo.token").await.is_none().then_some(());
    within(Duration::from_secs(20), forgotten).await.expect("the token is deleted");
    otto.driver.refresh().await.expect("a reload");
    otto.find("heading", "Sign in").await;
    otto.leaves(&["401", "favicon.ico"]).await;
}
