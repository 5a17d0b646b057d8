//! `dlo evacuate`: open letters go back to their dead-letter queue, each with its reason, and close in the office.

use crate::api::router_of;
use async_trait::async_trait;
use axum::Router;
use axum::middleware::from_fn;
use dlo_tests::cloudfront;
use domain::group::GroupState;
use domain::id::QueueArn;
use domain::marker::FAILURE_ATTRIBUTE;
use domain::read::Stamp;
use domain::time::Span;
use harness::world::World;
use local::evacuate::{EvacuateError, Evacuated, Takers, run};
use local::policy::PolicyCommand;
use local::remote::Remote;
use queue::{Queue, Received};
use wire::GroupsAnswer;

/// Functions that take letters from every queue.
struct Taken(Vec<String>);

#[async_trait]
impl Takers for Taken {
    async fn receiving_from(&self, _: &QueueArn) -> Result<Vec<String>, String> {
        Ok(self.0.clone())
    }
}

/// Returns the office of a world, as a person reaches it.
async fn office(world: &World) -> Remote {
    Remote::at(&serve(router_of(world)).await, Some("admin")).expect("an office")
}

/// Serves an API, and returns its address.
async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

/// A world with letters of two causes.
async fn with_letters() -> World {
    let world = World::new().await;
    for order in 0..23 {
        let message = if order % 2 == 0 { "the stock service does not answer" } else { "the price is negative" };
        world.die(order, message, world.office.now()).await;
    }
    world.intake().await;
    world
}

async fn lying_in(world: &World, queue: &QueueArn) -> Vec<Received> {
    let mut all = Vec::new();
    loop {
        let some = world.queue.receive(queue, 10, Span::ZERO, None).await.expect("messages");
        if some.is_empty() {
            return all;
        }
        all.extend(some);
    }
}

async fn groups(office: &Remote) -> GroupsAnswer {
    office.call(reqwest::Method::GET, "groups", None).await.expect("groups")
}

#[tokio::test]
async fn open_letters_go_back_with_their_reasons_and_are_closed_in_the_office() {
    let world = with_letters().await;
    let office = office(&world).await;
    let before = groups(&office).await;
    let evacuated = run(&office, &*world.queue, &Taken(Vec::new())).await.expect("an evacuation");
    assert_eq!(evacuated, Evacuated { sent: [(world.dlq.clone(), 23)].into(), refused: Vec::new() });
    assert_eq!(
        evacuated.report(),
        format!("23 letters are in {} again.\nThe office has no open letters any more.\n", world.dlq)
    );
    let after = groups(&office).await;
    assert!(after.groups.iter().all(|group| group.open.letters == 0 && group.discarded > 0));
    assert!(after.groups.iter().all(|group| matches!(group.state, GroupState::Discarded { .. })), "{after:?}");

    // Another office on the same queue finds the same causes, with the same destination.
    let messages = lying_in(&world, &world.dlq).await;
    assert_eq!(messages.len(), 23);
    for message in &messages {
        let stamp = message.content.attributes.get(FAILURE_ATTRIBUTE).expect("a stamp");
        let stamp = Stamp::parse(stamp.as_text().expect("text")).expect("a stamp");
        assert_eq!(stamp.main_queue.as_ref(), Some(&world.main));
    }
    let other = World::new().await;
    let messages: Vec<_> = messages.into_iter().map(|message| other.dead(message)).collect();
    let kept = office::intake::keep(&other.office, messages).await;
    assert_eq!((kept.kept, kept.failed.len()), (23, 0));
    let titles = |answer: &GroupsAnswer| {
        let mut titles: Vec<_> =
            answer.groups.iter().map(|group| (group.title.clone(), group.open.letters, group.id.clone())).collect();
        titles.sort();
        titles
    };
    assert_eq!(titles(&groups(&self::office(&other).await).await), titles(&before));

    let again = run(&office, &*world.queue, &Taken(Vec::new())).await.expect("nothing to do");
    assert_eq!(again.report(), "The office has no open letters.\n");
}

#[tokio::test]
async fn an_office_behind_cloudfront_is_evacuated_and_its_policy_replaced() {
    let world = with_letters().await;
    let address = serve(router_of(&world).layer(from_fn(cloudfront::behind))).await;
    let office = Remote::at(&address, Some("admin")).expect("an office");
    let evacuated = run(&office, &*world.queue, &Taken(Vec::new())).await.expect("an evacuation");
    assert_eq!(evacuated.sent, [(world.dlq.clone(), 23)].into());

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("policy.json");
    std::fs::write(&file, r#"{ "version": 0, "policy": { "gate": { "quiet_ms": 60000 } } }"#).expect("a file");
    let put = PolicyCommand::Put { file, reason: "agreed on Monday".into(), version: None };
    for (command, text) in [(put, "Version 1 of the policy applies.\n"), (PolicyCommand::Show, "\"quiet_ms\": 60000")] {
        let said = local::policy::run(&command, &address, Some("admin")).await.expect("an answer");
        assert!(said.text.contains(text), "{}", said.text);
    }
}

#[tokio::test]
async fn nothing_is_sent_where_somebody_would_take_it() {
    let world = with_letters().await;
    let office = office(&world).await;
    let refused = run(&office, &*world.queue, &Taken(vec!["dlo-Intake".into()])).await;
    let Err(error @ EvacuateError::Taken { .. }) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().starts_with("dlo-Intake reads "), "{error}");
    assert_eq!(lying_in(&world, &world.dlq).await.len(), 0);
    assert_eq!(groups(&office).await.groups.iter().map(|group| group.open.letters).sum::<i64>(), 23);
}

#[tokio::test]
async fn a_replay_comes_to_its_end_first() {
    let world = World::new().await;
    for order in 0..3 {
        world.die(order, "the price is negative", world.office.now()).await;
    }
    world.intake().await;
    let group = world.only_group().await;
    world.declare_fix(&group, "v2").await;
    world.advance(Span::from_secs(11));
    let plan = world.plan(&group, &domain::replay::PlanOptions::default()).await;
    world.approve(&group, &plan).await;
    let office = office(&world).await;
    let refused = run(&office, &*world.queue, &Taken(Vec::new())).await;
    assert!(matches!(refused, Err(EvacuateError::Replaying(1))), "{refused:?}");
    assert_eq!(lying_in(&world, &world.dlq).await.len(), 0);
}
