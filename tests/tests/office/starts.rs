//! Deployments that cannot start: people are alerted, the doctor says so, and letters that die meanwhile get the cause.

use crate::reports::{letters, redriven, report, sent};
use domain::alert::AlertKind;
use domain::deployment::{AttachedConsumer, Deployment};
use domain::doctor::{Check, Finding};
use domain::id::QueueArn;
use domain::impact::Severity;
use domain::policy::QueuePolicy;
use domain::reading::{Category, Class};
use domain::report::judge::{Verdict, Why};
use domain::report::{Report, ReportKind, ReportedError};
use domain::time::Span;
use harness::world::World;
use office::act::{Author, change_policy};
use office::consumers::main_queues;
use office::doctor;
use office::office::Office;
use office::policy::Policies;
use office::port::Write;
use serde_json::json;
use std::sync::Arc;
use wire::PolicyRequest;

const SENDER: Option<&str> = Some("AROAGOOD:orders-fn");

/// An office that knows which function consumes its main queue.
async fn world() -> World {
    let world = World::new().await;
    world.attach(AttachedConsumer::default()).await;
    world
}

/// A start that failed, as the witness reports it: by the function's name, without a queue.
fn failed_start(world: &World, n: u32) -> Report {
    let error = ReportedError {
        error_type: Some("Runtime.ImportModuleError".into()),
        message: Some("Unable to import module 'app': No module named 'prices'".into()),
        stack: None,
    };
    Report {
        version: Some("8".into()),
        error: Some(error),
        ..Report::new(ReportKind::Init, "orders-fn", format!("init {n}"), world.office.now())
    }
}

fn alerts(world: &World) -> Vec<(Severity, String, String)> {
    let all = world.alerts.recent(100).into_iter().filter(|alert| alert.kind == AlertKind::CannotStart);
    all.map(|alert| (alert.level, alert.title, alert.advice)).collect()
}

async fn finding(world: &World) -> Option<Finding> {
    let checkup = doctor::run(&world.office, &[]).await.unwrap().swap_remove(0);
    checkup.findings.into_iter().find(|finding| finding.check == Check::Start)
}

#[tokio::test]
async fn a_deployment_that_cannot_start_is_alerted_once_and_found_by_the_doctor() {
    let world = world().await;
    assert_eq!(sent(&world, &[failed_start(&world, 1)], SENDER).await, 0);
    assert_eq!((alerts(&world), finding(&world).await), (vec![], None), "Lambda tries again at once");
    for n in 2..5 {
        world.advance(Span::from_secs(10));
        assert_eq!(sent(&world, &[failed_start(&world, n)], SENDER).await, 0);
    }
    let [(level, title, advice)] = &alerts(&world)[..] else { panic!("one alert: {:?}", alerts(&world)) };
    let cause = "ImportModuleError: Unable to import module 'app': No module named 'prices'";
    assert_eq!((*level, title), (Severity::Critical, &format!("orders-fn 8 cannot start: {cause}")));
    assert!(advice.contains("Roll back the last deployment of orders-fn"), "{advice}");
    let found = finding(&world).await.expect("a finding");
    assert_eq!((found.level, found.problem), (Severity::Critical, format!("{title}.")));

    let deployment = Deployment {
        service: "orders".into(),
        version: "9".into(),
        commit: None,
        at: world.office.now().plus(Span::from_secs(1)),
    };
    let believed_until = deployment.at;
    world.store.commit(vec![Write::Deployment { deployment, believed_until }]).await.unwrap();
    assert_eq!(finding(&world).await, None, "the next deployment has yet to be tried");
}

#[tokio::test]
async fn letters_that_die_while_the_function_cannot_start_have_its_error_and_are_one_group() {
    let world = world().await;
    let starts = [failed_start(&world, 1), Report { request_id: "init 2".into(), ..failed_start(&world, 2) }];
    assert_eq!(sent(&world, &starts, SENDER).await, 0);
    let ids = redriven(&world, 3).await;
    // One of them was reported by itself: another error, in another version.
    assert_eq!(sent(&world, &[report(&world, "request", &[&ids[0]])], SENDER).await, 0);
    // The others are left once, because a report may be late.
    let first = world.intake().await;
    assert_eq!((first.kept, first.awaited.len()), (1, 2));
    world.advance(Span::from_secs(31));
    world.queue.clock_moved();
    assert_eq!(world.intake().await.kept, 2);

    let found = letters(&world).await;
    assert!(found[0].diagnosis.title.starts_with("KeyError"), "{}", found[0].diagnosis.title);
    assert_eq!(found[1].group, found[2].group);
    assert_ne!(found[0].group, found[1].group);
    let diagnosis = &found[1].diagnosis;
    assert_eq!(diagnosis.failure.error_type.as_deref(), Some("Runtime.ImportModuleError"));
    assert_eq!(
        (diagnosis.classification.class, diagnosis.classification.category),
        (Class::Permanent, Category::Configuration)
    );
    let said = diagnosis.reported.as_ref().expect("a report");
    assert_eq!((said.kind, said.verdict, said.why), (ReportKind::Init, Verdict::Strong, Why::NotStarted));
    assert_eq!((&found[1].original_message_id, &found[1].main_queue), (&ids[1], &Some(world.main.clone())));
    let group = world.store.group(&found[1].group).await.unwrap().unwrap();
    assert!(group.title.contains("ImportModuleError"), "{}", group.title);
}

#[tokio::test]
async fn letters_that_were_first_tried_at_another_time_stay_without_a_reason() {
    let world = world().await;
    assert_eq!(sent(&world, &[failed_start(&world, 1), failed_start(&world, 2)], SENDER).await, 0);
    // The function starts again.
    world.advance(Span::from_mins(10));
    redriven(&world, 1).await;
    world.intake().await;
    world.advance(Span::from_secs(31));
    world.queue.clock_moved();
    assert_eq!(world.intake().await.kept, 1);
    let letter = letters(&world).await.swap_remove(0);
    assert_eq!((letter.diagnosis.reported, letter.diagnosis.failure.error_type), (None, None));
}

#[tokio::test]
async fn a_failed_start_counts_only_from_a_function_that_consumes_a_queue() {
    let world = World::new().await;
    let start = [failed_start(&world, 1)];
    assert_eq!(sent(&world, &start, SENDER).await, 1, "the platform has not said which queue it consumes");
    world.attach(AttachedConsumer::default()).await;
    assert_eq!(sent(&world, &start, Some("AROAEVIL:attacker-fn")).await, 1);
    assert_eq!(sent(&world, &start, None).await, 1);
    let of_another = [Report { function: "billing-fn".into(), ..failed_start(&world, 1) }];
    assert_eq!(sent(&world, &of_another, SENDER).await, 1);
    assert_eq!(sent(&world, &start, SENDER).await, 0);
    // A consumer elsewhere names its queue itself.
    let elsewhere = World::new().await;
    let named = [Report { queue: Some(elsewhere.main.clone()), ..failed_start(&elsewhere, 1) }];
    assert_eq!(sent(&elsewhere, &named, None).await, 0);
}

#[tokio::test]
async fn a_failed_start_of_a_function_that_consumes_nothing_here_is_dropped_in_the_end() {
    let world = World::new().await;
    let start = [failed_start(&world, 1)];
    assert_eq!(sent(&world, &start, SENDER).await, 1, "sweep may learn in a minute which queue it consumes");
    world.advance(Span::from_mins(16));
    assert_eq!(sent(&world, &start, SENDER).await, 0, "it never becomes a failed message");
    // Nothing is kept of it.
    world.attach(AttachedConsumer::default()).await;
    assert_eq!(finding(&world).await, None);
}

#[tokio::test]
async fn the_sweep_is_given_the_main_queues_of_the_stack_of_the_policy_and_of_letters() {
    let world = World::new().await;
    let office = Office {
        policy: Arc::default(),
        policies: Arc::new(Policies::new(QueuePolicy::default())),
        ..world.office.clone()
    };
    assert_eq!(main_queues(&office, &[]).await, []);
    redriven(&world, 1).await;
    world.intake().await;
    let main = std::slice::from_ref(&world.main);
    assert_eq!(main_queues(&office, &[]).await, main);
    assert_eq!(main_queues(&office, main).await, main);

    // A version of the policy that is stored names one that has no letters yet.
    let admin = Author { person: "admin".into(), signed_in_at: office.now() };
    let (policy, reason) = (json!({ "queues": { "main": ["of-policy"] } }), "a new queue");
    change_policy(&office, &admin, &PolicyRequest { policy, version: 0, reason: reason.into() }).await.unwrap();
    let mut all = [QueueArn::from("of-stack"), "of-policy".into(), world.main.clone()];
    all.sort();
    assert_eq!(main_queues(&office, &["of-stack".into()]).await, all);
}

#[tokio::test]
async fn an_invocation_that_begins_ends_the_trouble() {
    let world = world().await;
    for n in 1..3 {
        world.advance(Span::from_secs(1));
        assert_eq!(sent(&world, &[failed_start(&world, n)], SENDER).await, 0);
    }
    assert!(finding(&world).await.is_some());
    world.advance(Span::from_secs(1));
    let begun = Report { version: Some("8".into()), ..report(&world, "request", &[&"m".into()]) };
    assert_eq!(sent(&world, &[begun], SENDER).await, 0);
    assert_eq!(finding(&world).await, None);
}
