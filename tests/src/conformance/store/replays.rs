//! Plans, replays and deployments.

use super::{all, commit, refused};
use domain::clock::ClockRecord;
use domain::deployment::{Attached, AttachedConsumer, Deployment};
use domain::group::Variant;
use domain::id::{Actor, QueueArn};
use domain::notice::{Circuit, CircuitState, KeptNotices, Statement};
use domain::replay::{Ending, Entry, LedgerMove, OutcomeKind, PauseReason, Replay};
use domain::report::{Report, ReportKind};
use domain::reported::{KeptReports, ReportKey};
use domain::time::{Span, Timestamp};
use harness::samples::{at_s, entries, group_id, letters, new_blocks, plan, replay, replay_id};
use office::port::{CommitError, Expect, Store, Write};

fn new(replay: &Replay) -> Write {
    Write::Replay { replay: Box::new(replay.clone()), expect: Expect::Absent }
}

fn put(replay: &Replay) -> Write {
    Write::Replay { replay: Box::new(replay.clone()), expect: Expect::Version(replay.version() - 1) }
}

pub async fn plan_is_replaced_by_a_later_one(store: &dyn Store) {
    let (id, other) = (group_id("plans"), group_id("other plans"));
    let letters = letters(&id, 3);
    let (first, second, elsewhere) = (plan("p1", &id, &letters), plan("p2", &id, &letters), plan("p3", &other, &[]));
    assert_eq!(store.plan(&id).await.unwrap(), None);
    commit(store, vec![Write::Plan(Box::new(first.clone())), Write::Plan(Box::new(elsewhere.clone()))]).await;
    assert_eq!(store.plan(&id).await.unwrap(), Some(first));
    // Written twice, as after a lost answer: the second write changes nothing.
    for _ in 0..2 {
        commit(store, vec![Write::Plan(Box::new(second.clone()))]).await;
        assert_eq!(store.plan(&id).await.unwrap().as_ref(), Some(&second));
    }
    assert_eq!(store.plan(&other).await.unwrap(), Some(elsewhere));
}

pub async fn plan_is_taken_only_by_its_own_id(store: &dyn Store) {
    let id = group_id("taken");
    let (waiting, other) = (plan("waiting", &id, &[]), replay_id("other"));
    let taken = |plan: &domain::id::ReplayId| Write::PlanTaken { group: id.clone(), plan: plan.clone() };
    assert_eq!(refused(store, vec![taken(&waiting.id)]).await, [0], "no plan yet");
    commit(store, vec![Write::Plan(Box::new(waiting.clone()))]).await;
    assert_eq!(refused(store, vec![taken(&other)]).await, [0], "another plan");
    assert_eq!(store.plan(&id).await.unwrap().as_ref(), Some(&waiting));
    commit(store, vec![taken(&waiting.id)]).await;
    assert_eq!(store.plan(&id).await.unwrap(), None);
    assert_eq!(refused(store, vec![taken(&waiting.id)]).await, [0], "already taken");
}

pub async fn taken_plan_keeps_its_entries_and_ledger(store: &dyn Store) {
    let id = group_id("approved");
    let letters = letters(&id, 5);
    let plan = plan("approved", &id, &letters);
    let expected: Vec<Entry> = entries(&plan, &letters);
    let mut writes = new_blocks(expected.clone());
    let planned = |(wave, letters): (usize, &u64)| LedgerMove::plain(wave as u32, None, OutcomeKind::Pending, *letters);
    let moves = plan.waves.iter().enumerate().map(planned);
    writes.push(Write::Ledger { replay: plan.id.clone(), moves: moves.collect() });
    commit(store, writes).await;
    commit(store, vec![Write::Plan(Box::new(plan.clone()))]).await;
    let approved = replay(&plan, at_s(8_000));
    commit(store, vec![Write::PlanTaken { group: id.clone(), plan: plan.id.clone() }, new(&approved)]).await;

    assert_eq!(store.replay(&plan.id).await.unwrap(), Some(approved));
    let found = all(async |after| store.entries(&plan.id, None, None, after.as_ref(), 2).await).await;
    assert_eq!(found, expected);
    let ledger = store.ledger(&plan.id).await.unwrap();
    assert_eq!(ledger.0.iter().map(|wave| wave.pending).collect::<Vec<_>>(), plan.waves);
    assert_eq!(ledger.total().selected(), 5);
}

pub async fn replays_come_newest_approval_first(store: &dyn Store) {
    let (id, other) = (group_id("newest"), group_id("other newest"));
    let mut mine: Vec<_> =
        (0..6).map(|n| replay(&plan(&format!("n{n}"), &id, &[]), at_s([3, 1, 5, 0, 4, 2][n]))).collect();
    for replay in &mine {
        commit(store, vec![new(replay)]).await;
    }
    commit(store, vec![new(&replay(&plan("elsewhere", &other, &[]), at_s(9)))]).await;
    mine.sort_by_key(|replay| std::cmp::Reverse(replay.approval().at));
    let found = all(async |after| store.replays(Some(&id), after.as_ref(), 4).await).await;
    assert_eq!(found, mine);
    let everything = all(async |after| store.replays(None, after.as_ref(), 4).await).await;
    assert_eq!(everything.len(), 7);
    assert_eq!(everything[1..], mine);
    assert_eq!(store.replays(Some(&group_id("none")), None, 5).await.unwrap().items, []);
}

pub async fn finished_replay_leaves_the_list_of_unfinished_ones(store: &dyn Store) {
    let id = group_id("unfinished");
    let replays: Vec<_> = (0..4).map(|n| replay(&plan(&format!("u{n}"), &id, &[]), at_s(n))).collect();
    commit(store, replays.iter().map(new).collect()).await;
    let unfinished = async || {
        let mut ids = store.unfinished_replays().await.unwrap();
        ids.sort();
        ids
    };
    let ids = |replays: &[&Replay]| {
        let mut ids: Vec<_> = replays.iter().map(|replay| replay.id().clone()).collect();
        ids.sort();
        ids
    };
    assert_eq!(unfinished().await, ids(&replays.iter().collect::<Vec<_>>()));
    let paused = replays[0].pause(PauseReason::ByPerson { reason: "lunch".into() }, Actor::from("olga"), at_s(9));
    commit(store, vec![put(&paused.unwrap())]).await;
    for n in [1, 3] {
        let finished = replays[n].finished(Ending::Completed, at_s(10));
        commit(store, vec![put(&finished)]).await;
    }
    assert_eq!(unfinished().await, ids(&[&replays[0], &replays[2]]));
}

pub async fn fence_refuses_an_old_version(store: &dyn Store) {
    let id = group_id("fence");
    let (running, variant) = (replay(&plan("fence", &id, &[]), at_s(0)), harness::samples::group(&id));
    let fence = |version| Write::ReplayIs { replay: running.id().clone(), version };
    assert_eq!(refused(store, vec![fence(1)]).await, [0], "no such replay");
    commit(store, vec![new(&running), harness::samples::open(&variant)]).await;
    let send = |version: u64, group_version: u64| {
        let next = Variant { version: group_version, note: Some(format!("sent under {version}")), ..variant.clone() };
        let write = Write::Variant { variant: Box::new(next), expect: Expect::Version(group_version - 1) };
        vec![write, fence(version)]
    };
    commit(store, send(1, 2)).await;
    let paused = running.pause(PauseReason::ByPerson { reason: "lunch".into() }, Actor::from("olga"), at_s(1)).unwrap();
    commit(store, vec![put(&paused)]).await;
    assert_eq!(refused(store, send(1, 3)).await, [1], "nothing is sent after the pause");
    assert_eq!(store.group(&id).await.unwrap().unwrap().note.as_deref(), Some("sent under 1"));
    commit(store, send(2, 3)).await;
    assert_eq!(store.replay(running.id()).await.unwrap(), Some(paused), "a fence changes nothing");
}

pub async fn deployment_that_is_older_changes_nothing(store: &dyn Store) {
    let deployment = |service: &str, version: &str, at| Deployment {
        service: service.into(),
        version: version.into(),
        commit: Some("3fa9c1d".into()),
        at: at_s(at),
    };
    assert_eq!(store.deployment("orders").await.unwrap(), None);
    for (version, at, latest) in
        [("1.4.0", 10, "1.4.0"), ("1.4.2", 30, "1.4.2"), ("1.4.1", 20, "1.4.2"), ("1.5.0", 31, "1.5.0")]
    {
        let believed_until = at_s(1_000);
        let deployment = deployment("orders", version, at);
        commit(store, vec![Write::Deployment { deployment, believed_until }]).await;
        assert_eq!(store.deployment("orders").await.unwrap().unwrap().version, latest, "after {version} at {at}");
    }
    let believed_until = at_s(30);
    commit(store, vec![Write::Deployment { deployment: deployment("billing", "7", 1), believed_until }]).await;
    assert_eq!(store.deployment("orders").await.unwrap(), Some(deployment("orders", "1.5.0", 31)));
    assert_eq!(store.deployment("billing").await.unwrap(), Some(deployment("billing", "7", 1)));
    // The clock has gone back: the stored report is from the future.
    commit(store, vec![Write::Deployment { deployment: deployment("orders", "1.6.0", 5), believed_until }]).await;
    assert_eq!(store.deployment("orders").await.unwrap(), Some(deployment("orders", "1.6.0", 5)));
}

pub async fn attached_consumers_of_a_queue_are_replaced(store: &dyn Store) {
    let attached = |name: &str, consumers: u64| Attached {
        queue: QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{name}")),
        seen_at: at_s(consumers as i64),
        consumers: (0..consumers)
            .map(|n| AttachedConsumer {
                service: format!("\u{1F4EE} {n}"),
                function: (n == 1).then(|| "f".into()),
                log_group: (n == 1).then(|| "/aws/lambda/f".into()),
                enabled: n == 0,
                state: "Enabled".into(),
                timeout: (n == 1).then_some(Span::from_secs(30)),
                batch_size: (n == 1).then_some(10),
                reports_failures: (n == 1).then_some(false),
                filters: (n == 1).then_some(true),
            })
            .collect(),
    };
    let (one, other) = (attached("one", 2), attached("other", 1));
    assert_eq!(store.attached(&one.queue).await.unwrap(), None);
    commit(store, vec![Write::Attached(one.clone()), Write::Attached(other.clone())]).await;
    assert_eq!(store.attached(&one.queue).await.unwrap(), Some(one.clone()));
    let none = attached("one", 0);
    commit(store, vec![Write::Attached(none.clone())]).await;
    assert_eq!(store.attached(&one.queue).await.unwrap(), Some(none));
    assert_eq!(store.attached(&other.queue).await.unwrap(), Some(other));
}

pub async fn clock_record_is_replaced(store: &dyn Store) {
    assert_eq!(store.clock().await.unwrap(), None);
    for ms in [1, 3, 2] {
        let reads_since = Some([(QueueArn::from("orders-dlq"), Timestamp::from_ms(-2 * ms))].into());
        let (swept_at, steady_since) = (Timestamp::from_ms(ms), Timestamp::from_ms(-ms));
        let record = ClockRecord { swept_at, steady_since, reads_since };
        commit(store, vec![Write::Clock(record.clone())]).await;
        assert_eq!(store.clock().await.unwrap(), Some(record));
    }
}

pub async fn reports_are_written_on_a_condition_and_read_by_key(store: &dyn Store) {
    let key = |message: Option<&str>| ReportKey { queue: QueueArn::from("orders"), message: message.map(Into::into) };
    let record = |message: Option<&str>, version: u64| KeptReports {
        version,
        reports: vec![Report::new(ReportKind::Timeout, "\u{1F4EE}", format!("request {version}"), at_s(5))],
        ..KeptReports::new(key(message), Span::from_days(4), at_s(10))
    };
    let write = |record: &KeptReports, expect| Write::Reports { kept: Box::new(record.clone()), expect };
    let read = async |messages: &[Option<&str>]| {
        let keys: Vec<_> = messages.iter().map(|message| key(*message)).collect();
        let mut found = store.reports(&keys).await.unwrap();
        found.sort_by(|a, b| a.key.cmp(&b.key));
        found
    };
    let (of_queue, one, two) = (record(None, 1), record(Some("m-1"), 1), record(Some("m-2"), 1));
    assert_eq!(read(&[None, Some("m-1")]).await, []);
    commit(store, [&of_queue, &one, &two].map(|record| write(record, Expect::Absent)).to_vec()).await;
    assert_eq!(read(&[Some("m-2"), Some("m-3"), Some("m-1"), Some("m-1"), None]).await, [of_queue, one.clone(), two]);
    let next = record(Some("m-1"), 2);
    assert!(matches!(store.commit(vec![write(&next, Expect::Absent)]).await, Err(CommitError::Conflict(_))));
    assert!(matches!(store.commit(vec![write(&next, Expect::Version(2))]).await, Err(CommitError::Conflict(_))));
    assert_eq!(read(&[Some("m-1")]).await, [one]);
    commit(store, vec![write(&next, Expect::Version(1))]).await;
    assert_eq!(read(&[Some("m-1")]).await, [next]);
}

pub async fn notices_are_written_on_a_condition_and_read_by_queue(store: &dyn Store) {
    let queue = |name: &str| QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{name}"));
    let said = |state, said_at| {
        let (dependency, consumer) = ("payments".into(), "\u{1F4EE}".into());
        Statement::Circuit(Circuit { dependency, state, consumer, said_at })
    };
    let write = |record: &KeptNotices, expect| Write::Notices { kept: Box::new(record.clone()), expect };
    let first = |name| KeptNotices::new(queue(name), at_s(1)).with(&[said(CircuitState::Open, at_s(1))], at_s(2));
    let (one, other) = (first("one").unwrap(), first("other").unwrap());
    assert_eq!(store.notices(&one.queue).await.unwrap(), None);
    commit(store, vec![write(&one, Expect::Absent), write(&other, Expect::Absent)]).await;
    assert_eq!(store.notices(&one.queue).await.unwrap(), Some(one.clone()));
    let next = one.with(&[said(CircuitState::Closed, at_s(3))], at_s(4)).unwrap();
    for wrong in [Expect::Absent, Expect::Version(2)] {
        assert!(matches!(store.commit(vec![write(&next, wrong)]).await, Err(CommitError::Conflict(_))));
    }
    commit(store, vec![write(&next, Expect::Version(1))]).await;
    assert_eq!(store.notices(&one.queue).await.unwrap(), Some(next));
    assert_eq!(store.notices(&other.queue).await.unwrap(), Some(other));
}
