//! Letters that say nothing about why they died, and a log that does.

use crate::api::{Answer, router_of, send};
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use domain::audit::Act;
use domain::deployment::{Attached, AttachedConsumer};
use domain::group::Variant;
use domain::id::GroupId;
use domain::limits::PAGE_MAX;
use domain::logs::{Finding, SEARCHES_FOR_PEOPLE, SEARCHES_PER_HOUR_MAX, SEARCHES_PER_SWEEP_MAX, shown};
use domain::message::Content;
use domain::reading::{Category, Class};
use domain::time::Span;
use harness::carried::redrive_all;
use harness::world::World;
use local::logs::FileLogs;
use office::port::Write;
use office::sweep;
use queue::{Outgoing, Queue as _};
use std::fmt::Write as _;
use std::sync::Arc;
use tempfile::TempDir;
use wire::GroupAnswer;

const LOG: &str = "orders.log";

/// A world with a consumer that logs to a file.
struct Logging {
    world: World,
    folder: TempDir,
}

impl Logging {
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut world = World::new().await;
        world.office.logs = Arc::new(FileLogs::new([(LOG.to_owned(), folder.path().join(LOG))]));
        let consumer = AttachedConsumer {
            service: "orders".into(),
            log_group: Some(LOG.into()),
            enabled: true,
            state: "Enabled".into(),
            ..AttachedConsumer::default()
        };
        let (queue, seen_at) = (world.main.clone(), world.office.now());
        world
            .store
            .commit(vec![Write::Attached(Attached { queue, seen_at, consumers: vec![consumer] })])
            .await
            .unwrap();
        Self { world, folder }
    }

    /// Logs lines, all at this moment.
    fn log(&self, lines: impl IntoIterator<Item = String>) {
        let mut text = String::new();
        for line in lines {
            writeln!(text, r#"{{"time":{},"level":"ERROR",{line}}}"#, self.world.office.now().as_ms()).unwrap();
        }
        std::fs::write(self.folder.path().join(LOG), text).unwrap();
    }

    /// Lets a message of this type die without a word.
    async fn die(&self, message_type: &str) {
        let body = format!(r#"{{"type":"{message_type}"}}"#);
        let message = Outgoing { content: Content { body, ..Content::default() }, ..Outgoing::default() };
        for sent in self.world.queue.send_batch(&self.world.main, &[message]).await.unwrap() {
            sent.unwrap();
        }
        redrive_all(&self.world).await;
        self.world.intake().await;
    }

    async fn sweep_after(&self, span: Span) {
        self.world.advance(span);
        sweep::run(&self.world.office).await.unwrap();
    }

    async fn group(&self, id: &GroupId) -> Variant {
        self.world.store.group(id).await.unwrap().unwrap()
    }

    async fn finding(&self, id: &GroupId) -> Option<Finding> {
        Some(self.group(id).await.logs?.evidence?.finding)
    }

    async fn ask(&self, id: &GroupId, role: &str) -> Answer {
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("/api/v1/groups/{id}/logs"))
            .header("authorization", format!("Bearer {role}"))
            .header("content-type", "application/json");
        send(&router_of(&self.world), request.body(Body::from("{}")).unwrap()).await
    }
}

#[tokio::test]
async fn a_silent_group_gets_its_reason_from_the_log_and_nothing_else_changes() {
    let office = Logging::new().await;
    office.world.place(1, 3).await;
    redrive_all(&office.world).await;
    office.log((0..25).map(|n| {
        let (name, text) = if n == 0 { ("TimeoutError", "late") } else { ("KeyError", "'price'") };
        format!(r#""requestId":"r{n}","errorType":"{name}","errorMessage":"{text}""#)
    }));
    office.world.advance(harness::world::VISIBILITY);
    office.world.intake().await;
    let id = office.world.only_group().await;
    let before = office.group(&id).await;
    office.sweep_after(Span::from_secs(1)).await;
    assert_eq!(office.finding(&id).await, None, "lines may still be on their way");

    office.sweep_after(Span::from_secs(40)).await;
    let after = office.group(&id).await;
    let evidence = after.logs.clone().unwrap().evidence.unwrap();
    assert_eq!(evidence.source.as_deref(), Some(LOG));
    let said = evidence.finding.said();
    assert!(said.contains("96% of 25 errors") && said.contains("`KeyError: 'price'`"), "{said}");
    let shown = shown(after.logs.as_deref(), &after.classification);
    assert_eq!((shown.class, shown.category), (Class::Permanent, Category::ConsumerBug));
    assert!(shown.reason.starts_with("from the consumer's logs") && shown.confidence.as_pct() <= 40, "{shown:?}");
    // What the log says decides nothing.
    let same = Variant { logs: None, version: before.version, notified: before.notified.clone(), ..after };
    assert_eq!(same, before);
    office.world.counters_are_exact(&id).await;
}

#[tokio::test]
async fn the_log_is_read_where_the_newest_letters_were_tried() {
    let office = Logging::new().await;
    // More letters than a page, and one more a week later: logs of the first are gone.
    office.world.place(1, PAGE_MAX as u64 + 1).await;
    redrive_all(&office.world).await;
    office.world.advance(harness::world::VISIBILITY);
    office.world.intake().await;
    let id = office.world.only_group().await;
    office.world.advance(Span::from_days(7));
    office.world.place(1, 1).await;
    redrive_all(&office.world).await;
    office.log([r#""errorType":"KeyError","errorMessage":"'price'""#.to_owned()]);
    office.world.advance(harness::world::VISIBILITY);
    office.world.intake().await;
    assert_eq!(office.world.only_group().await, id);
    office.sweep_after(Span::from_secs(40)).await;
    let evidence = office.group(&id).await.logs.unwrap().evidence.unwrap();
    assert!(matches!(evidence.finding, Finding::Frequent { .. }), "{evidence:?}");
}

#[tokio::test]
async fn an_entry_that_names_a_letter_counts_more_than_a_hundred_that_do_not() {
    let office = Logging::new().await;
    office.world.place(1, 1).await;
    redrive_all(&office.world).await;
    let now = office.world.office.now();
    let received = office.world.queue.receive(&office.world.dlq, 1, Span::ZERO, Some(Span::ZERO)).await.unwrap();
    let named = format!(r#""errorType":"DeclinedError","errorMessage":"card of {}""#, received[0].message_id);
    let others = (0..100).map(|n| format!(r#""requestId":"r{n}","errorType":"KeyError""#));
    office.log(others.chain([named]));
    assert_eq!(now, office.world.office.now());
    office.world.advance(harness::world::VISIBILITY);
    office.world.intake().await;
    office.sweep_after(Span::from_secs(40)).await;
    match office.finding(&office.world.only_group().await).await {
        Some(Finding::Named { error, letters: 1, named: 1, of: 1, .. }) => {
            assert_eq!(error.error_type.as_deref(), Some("DeclinedError"));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_person_who_asks_gets_the_result_with_the_next_sweep() {
    let office = Logging::new().await;
    // Its letters say why they died, so the office does not look by itself.
    office.world.die(1, "out of stock", office.world.office.now()).await;
    office.world.intake().await;
    let id = office.world.only_group().await;
    office.log([r#""errorType":"StockError","errorMessage":"out of stock""#.to_owned()]);
    office.sweep_after(Span::from_mins(60)).await;
    assert_eq!(office.group(&id).await.logs, None);

    assert_eq!(office.ask(&id, "viewer").await.status, StatusCode::FORBIDDEN);
    let asked = office.ask(&id, "operator").await;
    assert_eq!(asked.status, StatusCode::OK, "{}", String::from_utf8_lossy(&asked.body));
    let detail: GroupAnswer = serde_json::from_slice(&asked.body).unwrap();
    assert!(detail.logs.can_read && detail.logs.search.wanted_at.is_some() && detail.logs.said.is_none());
    assert_eq!(office.ask(&id, "operator").await.status, StatusCode::OK, "asking twice is asking once");
    let audit = office.world.store.audit(&id, None, 200).await.unwrap().items;
    assert_eq!(audit.iter().filter(|record| record.act == Act::LogsRequested).count(), 1);

    office.sweep_after(Span::ZERO).await;
    let search = office.group(&id).await.logs.unwrap();
    assert_eq!((search.wanted_at, search.tries), (None, 1));
    assert!(search.evidence.is_some());
    // The class that the letters themselves show stays.
    let group = office.group(&id).await;
    assert_eq!(shown(group.logs.as_deref(), &group.classification), &group.classification);
    for _ in 1..6 {
        assert_eq!(office.ask(&id, "operator").await.status, StatusCode::OK);
        office.sweep_after(Span::from_secs(1)).await;
    }
    assert_eq!(office.ask(&id, "operator").await.status, StatusCode::CONFLICT, "six times an hour");
}

#[tokio::test]
async fn an_hour_has_a_budget_and_people_come_first() {
    let office = Logging::new().await;
    for n in 0..SEARCHES_PER_HOUR_MAX + 5 {
        office.die(&format!("kind.{}", char::from(b'a' + n as u8 % 26).to_string().repeat(n / 26 + 1))).await;
    }
    let groups = office.world.store.groups(i64::MAX, None, 200).await.unwrap().items;
    assert_eq!(groups.len(), SEARCHES_PER_HOUR_MAX + 5);
    let youngest =
        groups.iter().map(|facts| &facts.variant).max_by_key(|group| (group.first_died_at, group.id.clone()));
    let youngest = youngest.unwrap().id.clone();
    assert_eq!(office.ask(&youngest, "operator").await.status, StatusCode::OK);
    let searched = async || {
        let groups = office.world.store.groups(i64::MAX, None, 200).await.unwrap().items;
        groups.iter().filter(|facts| facts.variant.logs.as_ref().is_some_and(|search| search.tries > 0)).count()
    };
    office.sweep_after(Span::from_secs(40)).await;
    assert_eq!(searched().await, SEARCHES_PER_SWEEP_MAX);
    assert!(office.finding(&youngest).await.is_some());
    for _ in 0..20 {
        office.sweep_after(Span::from_secs(10)).await;
    }
    assert_eq!(searched().await, SEARCHES_PER_HOUR_MAX - SEARCHES_FOR_PEOPLE);
    // The rest of the hour's budget is for people, whatever new groups there are.
    let groups = office.world.store.groups(i64::MAX, None, 200).await.unwrap().items;
    let unsearched = groups.iter().find(|facts| facts.variant.logs.is_none()).unwrap().variant.id.clone();
    assert_eq!(office.ask(&unsearched, "operator").await.status, StatusCode::OK);
    office.sweep_after(Span::from_secs(10)).await;
    assert!(office.finding(&unsearched).await.is_some());
    assert_eq!(searched().await, SEARCHES_PER_HOUR_MAX - SEARCHES_FOR_PEOPLE + 1);
    // Those that found nothing are due again, and wait for the groups that were never searched for.
    office.sweep_after(Span::from_mins(60)).await;
    for _ in 0..4 {
        office.sweep_after(Span::from_secs(60)).await;
    }
    assert_eq!(searched().await, SEARCHES_PER_HOUR_MAX + 5);
}

#[tokio::test]
async fn a_log_that_cannot_be_read_is_said_and_tried_again() {
    let office = Logging::new().await;
    let mut consumer = office.world.store.attached(&office.world.main).await.unwrap().unwrap();
    consumer.consumers[0].log_group = Some("elsewhere".into());
    office.world.store.commit(vec![Write::Attached(consumer)]).await.unwrap();
    office.die("order.placed").await;
    let id = office.world.only_group().await;
    for (minutes, tries) in [(1, 1), (1, 1), (10, 2), (10, 3), (60, 3)] {
        office.sweep_after(Span::from_mins(minutes)).await;
        let search = office.group(&id).await.logs.unwrap();
        assert_eq!(search.tries, tries, "after {minutes} more minutes");
        let why = search.evidence.unwrap().finding.said();
        assert_eq!(why, "This office has no log file named elsewhere.");
    }
}

#[tokio::test]
async fn an_office_without_logs_searches_none_and_says_so() {
    let mut office = Logging::new().await;
    office.world.office.logs = Arc::new(office::port::NoLogs);
    office.die("order.placed").await;
    let id = office.world.only_group().await;
    office.sweep_after(Span::from_mins(10)).await;
    assert_eq!(office.group(&id).await.logs, None);
    let refused = office.ask(&id, "operator").await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert_eq!(refused.error().message, "This office cannot read logs.");
}
