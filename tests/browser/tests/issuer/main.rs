//! FEATURE: signing in at an OIDC issuer, in a real browser: the API with its issuer adapter, the dashboard, and a local
//! issuer.

mod issuer;

use browser::driver::Driver;
use browser::person::Person;
use domain::time::Span;
use harness::world::World;
use issuer::{CLIENT, Fault, Issuer};
use lambda::sign_in::{self, Tokens};
use office::api::Api;
use std::sync::Arc;
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
        let world = World::new().await;
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
        tokio::spawn(async move { axum::serve(listener, sign_in::serve(api, tokens, dashboard_files::FILES)).await });
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
    let kept = otto.script("return sessionStorage.getItem('dlo.pending')", Vec::new()).await;
    assert!(kept.is_null(), "the stored sign-in is deleted: {kept}");

    // The token expires after an hour. The URL stays.
    fixture.world.advance(Span::from_mins(62));
    otto.find("heading", "Your session has ended").await;
    otto.shows("session-ended").await;
    signs_in(&otto, "otto", "Enter").await;
    otto.find("heading", "Groups").await;
    assert_eq!(location(&otto).await, "/groups?q=Broken");

    otto.clicks("summary", "otto operator").await;
    otto.clicks("button", "Sign out").await;
    otto.find("heading", "Sign in").await;
    // A link with a token still works.
    otto.open(&fixture.page(&format!("/signin#{}", fixture.issuer.token("vera", "")))).await;
    otto.find("summary", "vera viewer").await;
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
