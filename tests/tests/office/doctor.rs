//! The doctor of an office, through the API.

use crate::api::{router, send};
use crate::discarded::discard_all;
use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use domain::deployment::{Attached, AttachedConsumer};
use domain::doctor::Check;
use domain::impact::Severity;
use domain::policy::{Policy, QueuePolicy};
use domain::report::{Report, ReportKind};
use domain::reported::{KeptReports, ReportKey};
use domain::time::Span;
use harness::faults::Outage;
use harness::world::World;
use local::queue::QueueSettings;
use office::doctor;
use office::port::{Expect, Write};
use std::sync::Arc;
use wire::DoctorAnswer;

/// Returns what is wrong, and what was not checked.
async fn checks(router: &Router) -> (Vec<(Check, Severity)>, Vec<Check>) {
    let request = Request::builder().method(Method::GET).uri("/api/v1/doctor");
    let request = request.header("authorization", "Bearer viewer").body(Body::empty()).unwrap();
    let answer: DoctorAnswer = serde_json::from_slice(&send(router, request).await.body).unwrap();
    let [checkup] = answer.queues.as_slice() else { panic!("one main queue: {:?}", answer.queues) };
    let found = checkup.findings.iter().map(|finding| (finding.check, finding.level)).collect();
    (found, checkup.unchecked.iter().map(|unchecked| unchecked.check).collect())
}

/// What the office cannot know of a queue without a platform.
const OF_PLATFORM: [Check; 5] = [Check::Visibility, Check::Alarm, Check::Consumer, Check::Failures, Check::Filter];

fn consumer() -> AttachedConsumer {
    AttachedConsumer {
        service: "orders".into(),
        function: Some("orders-fn".into()),
        log_group: None,
        enabled: true,
        state: "Enabled".into(),
        timeout: Some(Span::from_secs(1)),
        batch_size: Some(10),
        reports_failures: Some(false),
        filters: Some(false),
    }
}

#[tokio::test]
async fn the_doctor_judges_settings_consumers_reports_and_letters() {
    let (world, router) = router().await;
    let retention = [(Check::RetentionOrder, Severity::Critical), (Check::Retention, Severity::Warning)];
    assert_eq!(checks(&router).await, (retention.to_vec(), OF_PLATFORM.to_vec()));

    let fortnight = QueueSettings { retention: Span::from_days(14), ..QueueSettings::default() };
    world.queue.configure(&world.dlq, fortnight).await.unwrap();
    assert_eq!(checks(&router).await, (vec![], OF_PLATFORM.to_vec()));

    let now = world.office.now();
    let attached = Attached { queue: world.main.clone(), seen_at: now, consumers: vec![consumer()] };
    world.store.commit(vec![Write::Attached(attached)]).await.unwrap();
    let visibility = (Check::Visibility, Severity::Warning);
    let found = vec![visibility, (Check::Failures, Severity::Warning)];
    assert_eq!(checks(&router).await, (found, vec![Check::Alarm]));

    // The function returns lists of failures, which its mapping ignores.
    let key = ReportKey { queue: world.main.clone(), message: None };
    let report =
        Report { queue: Some(world.main.clone()), ..Report::new(ReportKind::Partial, "orders-fn", "request-1", now) };
    let kept = KeptReports::new(key, Span::from_days(14), now).with(&report, Span::from_days(14), now).unwrap();
    world.store.commit(vec![Write::Reports { kept: Box::new(kept), expect: Expect::Absent }]).await.unwrap();
    let found = vec![(Check::Failures, Severity::Critical), visibility];
    assert_eq!(checks(&router).await, (found, vec![Check::Alarm]));
}

#[tokio::test]
async fn a_queue_that_is_gone_is_a_finding_and_one_that_may_not_be_read_is_unchecked() {
    let (world, router) = router().await;
    for (outage, found, is_unchecked) in
        [(Outage::Missing, vec![(Check::MainQueue, Severity::Critical)], false), (Outage::Denied, vec![], true)]
    {
        world.faults.set_outage(Some((world.main.clone(), outage)));
        let (problems, unchecked) = checks(&router).await;
        assert_eq!((problems, unchecked.contains(&Check::MainQueue)), (found, is_unchecked));
    }
}

#[tokio::test]
async fn a_queue_that_only_letters_name_is_examined_and_counts_as_watched() {
    let world = World::new().await;
    let mut office = world.office.clone();
    office.policy = Arc::new(Policy { queues: QueuePolicy::default(), ..Policy::clone(&office.policy) });
    assert_eq!(doctor::run(&office, &[]).await.unwrap(), []);
    let group = world.one_group(1).await;
    // It stays known after its last letter is closed.
    for open in [1, 0] {
        let [checkup] = &doctor::run(&office, &[]).await.unwrap()[..] else { panic!("one queue") };
        assert_eq!((&checkup.queue, checkup.dlq.as_ref()), (&world.main, Some(&world.dlq)), "{open} open");
        assert!(checkup.findings.iter().all(|finding| finding.check != Check::Watched), "{:?}", checkup.findings);
        if open > 0 {
            discard_all(&world, &group).await;
        }
    }
}
