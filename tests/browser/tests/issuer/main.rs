//! FEATURE: signing in at an OIDC issuer, in a real browser: the api with its adapter for issuers, the dashboard, and an
//! issuer on this machine.

mod issuer;

use browser::driver::Driver;
use browser::person::Person;
use domain::time::Span;
use harness::world::World;
use issuer::{CLIENT, Issuer, Mood};
use lambda::sign_in::{self, Tokens};
use office::api::Api;
use std::sync::Arc;
use tokio::net::TcpListener;

/// The group of the letters that [`Stage::open`] brings.
const BROKEN: &str = "orders::Broken";

/// An office with one group whose people come from an issuer.
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

/// Goes to the issuer and says who they are, or that they would rather not.
async fn signs_in(person: &Person, name: &str, button: &str) {
    person.clicks("button", "Sign in").await;
    person.writes("Name", name).await;
    person.clicks("button", button).await;
}

/// Path and query, as the person sees them.
async fn place(person: &Person) -> String {
    let place = person.script("return location.pathname + location.search + location.hash", Vec::new()).await;
    place.as_str().unwrap_or_default().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_signs_in_at_the_issuer_and_comes_back_to_the_page_they_wanted() {
    let fixture = Fixture::open().await;
    let otto = Person::new(&fixture.driver, "otto").await;
    otto.open(&fixture.page("/groups?q=Broken")).await;
    otto.find("heading", "Sign in").await;
    otto.find("button", "Sign in").await;
    otto.sees(&format!("You are sent to {} and come back to this page.", fixture.issuer.url())).await;
    otto.shows("sign-in").await;

    signs_in(&otto, "otto", "Enter").await;
    otto.find("heading", "Groups").await;
    otto.sees(BROKEN).await;
    otto.find("summary", "otto operator").await;
    assert_eq!(place(&otto).await, "/groups?q=Broken", "neither code nor state stays in the address");
    let kept = otto.script("return sessionStorage.getItem('dlo.pending')", Vec::new()).await;
    assert!(kept.is_null(), "what belonged to the sign-in is forgotten: {kept}");

    // The token ends after an hour; the page stays what it was.
    fixture.world.advance(Span::from_mins(62));
    otto.find("heading", "Your session has ended").await;
    otto.shows("session-ended").await;
    signs_in(&otto, "otto", "Enter").await;
    otto.find("heading", "Groups").await;
    assert_eq!(place(&otto).await, "/groups?q=Broken");

    otto.clicks("summary", "otto operator").await;
    otto.clicks("button", "Sign out").await;
    otto.find("heading", "Sign in").await;
    // A link with a token goes on to work.
    otto.open(&fixture.page(&format!("/signin#{}", fixture.issuer.token("vera", "")))).await;
    otto.find("summary", "vera viewer").await;
    otto.leaves(&["401", "favicon.ico"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_does_not_get_in_reads_why_and_can_try_again() {
    let fixture = Fixture::open().await;
    let eve = Person::new(&fixture.driver, "eve").await;
    let is_told = async |title: &str, words: &str| {
        eve.find("heading", title).await;
        eve.sees(words).await;
        eve.find("button", "Sign in").await;
        assert_eq!(place(&eve).await, "/signin", "{title}");
    };
    eve.open(&fixture.page("/")).await;
    signs_in(&eve, "otto", "Refuse").await;
    is_told("You were not let in", "The issuer says: The person said no.").await;
    eve.shows("sign-in-denied").await;

    eve.open(&fixture.page("/signin?code=c0ffee&state=00000000000000000000000000000000")).await;
    is_told("This sign-in was not begun here", "Nobody was signed in.").await;

    signs_in(&eve, "eve", "Enter").await;
    is_told("You were not let in", "eve has no role in this office.").await;

    for (mood, words) in [
        (Mood::CodesAreOld, "The sign-in code has expired or was already used."),
        (Mood::GoesAway, "The sign-in service (OIDC issuer) isn't responding."),
        (Mood::MixesUpSignIns, "The issuer's response belongs to another sign-in. You are not signed in."),
    ] {
        fixture.issuer.is(mood);
        signs_in(&eve, "otto", "Enter").await;
        is_told("You were not let in", words).await;
    }
    eve.shows("sign-in-failed").await;
    fixture.issuer.is(Mood::Good);
    signs_in(&eve, "otto", "Enter").await;
    eve.find("heading", "Groups").await;
    eve.leaves(&["401", "403", "503", "favicon.ico"]).await;
}
