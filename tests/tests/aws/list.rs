//! What the list of groups reads on AWS, as a golden table: `tests/golden/list-costs.txt`. `UPDATE=1` writes it.

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use dlo_tests::endpoint::Endpoint;
use domain::group::Variant;
use domain::id::GroupId;
use domain::role::Role;
use domain::time::{Span, Timestamp};
use futures_util::future::join_all;
use harness::samples;
use harness::world::World;
use lambda::store::DynamoStore;
use office::api::{self, Api, Caller, Identify};
use office::office::Office;
use office::port::{Expect, Store, Write};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tower::ServiceExt;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/list-costs.txt");
const HEAD: &str = "\
# Read units of the list of groups, of groups with a letter each, and dollars: us-east-1, on demand, prices of 2026-11-20.
# MiniStack counts the units as AWS documents them. A tab asks every 10 s, every 2 s while a replay runs, and a group that has
# changed is read again for two to three minutes. `UPDATE=1 cargo ci --only aws` writes this file.
";
const SIZES: [usize; 2] = [21, 2_000];
/// Groups that change each minute, and so those that are read with each answer.
const CHANGING: usize = 10;
const READ_DOLLARS: f64 = 0.125e-6;
/// Polls of a day.
const CALM: f64 = 8_640.0;
const BUSY: f64 = 43_200.0;
/// Sweeps of a month.
const SWEEPS: f64 = 43_200.0;
/// Groups that are stored at once.
const AT_ONCE: usize = 20;

struct Anybody;

#[async_trait]
impl Identify for Anybody {
    async fn who(&self, _: &str, _: Timestamp) -> Option<Caller> {
        Some(Caller::new("viewer", Role::Viewer))
    }
}

struct Measured {
    world: World,
    store: Arc<DynamoStore>,
    clock: Arc<AtomicI64>,
    ids: Vec<GroupId>,
}

impl Measured {
    async fn new(endpoint: &Endpoint, groups: usize) -> Self {
        let clock = Arc::new(AtomicI64::new(0));
        let now = clock.clone();
        let now = Arc::new(move || Timestamp::from_ms(now.load(Ordering::SeqCst)));
        let store = Arc::new(endpoint.store().await.with_clock(now));
        let world = World::on(store.clone()).await;
        let ids: Vec<_> = (0..groups).map(|n| samples::group_id(&format!("group {n}"))).collect();
        for (at, some) in ids.chunks(AT_ONCE).enumerate() {
            let commits = some.iter().enumerate().map(|(n, id)| {
                let mut writes = samples::keep(&[samples::letter(id, (at * AT_ONCE + n) as u64)]);
                writes.push(samples::open(&samples::group(id)));
                store.commit(writes)
            });
            assert!(join_all(commits).await.into_iter().all(|done| done.is_ok()));
        }
        Self { world, store, clock, ids }
    }

    /// Lets time pass, after which no group is read again.
    fn wait(&self) {
        self.clock.fetch_add(Span::from_mins(10).as_ms(), Ordering::SeqCst);
    }

    async fn change(&self, id: &GroupId) {
        let before = self.store.group(id).await.expect("the store").expect("the group");
        let after = Variant { owner: Some("ana".into()), ..before.moved(before.state.clone()) };
        let write = Write::Variant { variant: Box::new(after), expect: Expect::Version(before.version) };
        self.store.commit(vec![write]).await.expect("a commit");
    }

    /// Returns the read units of a call.
    async fn units<T>(&self, call: impl Future<Output = T>) -> f64 {
        let before = self.store.usage().read_units;
        call.await;
        self.store.usage().read_units - before
    }

    fn process(&self) -> (Office, Router) {
        let office = Office { known_groups: Arc::default(), ..self.world.office.clone() };
        let watching = [self.world.dlq.clone()].into();
        let api = Api { office: office.clone(), identify: Arc::new(Anybody), name: "test".into(), watching };
        (office, api::router(api, &api::endpoints()))
    }
}

async fn list(router: &Router) {
    let request = Request::builder().uri("/api/v1/groups").header("authorization", "Bearer viewer");
    let answer = router.clone().oneshot(request.body(Body::empty()).expect("a request")).await.expect("an answer");
    assert!(answer.status().is_success(), "{}", answer.status());
}

async fn rows(endpoint: &Endpoint, groups: usize, table: &mut String) {
    let measured = Measured::new(endpoint, groups).await;
    // The first sweep writes what it has alerted people to.
    office::sweep::run(&measured.world.office).await.expect("a sweep");
    measured.wait();
    let ((_, router), (sweeper, _)) = (measured.process(), measured.process());
    let whole = measured.units(list(&router)).await;
    let first_sweep = measured.units(office::sweep::run(&sweeper)).await;
    measured.wait();
    // What the sweep wrote, if anything, has been read.
    list(&router).await;
    measured.wait();
    let (same, same_sweep) = (measured.units(list(&router)).await, measured.units(office::sweep::run(&sweeper)).await);
    for id in &measured.ids[..CHANGING] {
        measured.change(id).await;
    }
    let (changed, sweep) = (measured.units(list(&router)).await, measured.units(office::sweep::run(&sweeper)).await);
    let mut add = |what: &str, units: f64| writeln!(table, "{groups:6} groups  {what:56}{units:10.1}").expect("text");
    add("answer that reads everything, as each one did before", whole);
    add("answer after nothing has changed", same);
    add("answer while ten groups change", changed);
    add("sweep that reads everything, as each one did before", first_sweep);
    add("sweep after nothing has changed", same_sweep);
    add("sweep while ten groups change", sweep);
    // Once an hour everything is read.
    let day = |polls: f64, units: f64| (polls * units + 24.0 * whole) * READ_DOLLARS;
    for (what, polls) in [("calm", CALM), ("busy", BUSY)] {
        let before = polls * whole * READ_DOLLARS;
        let (same, changed) = (day(polls, same), day(polls, changed));
        writeln!(
            table,
            "{groups:6} groups  {what} tab, dollars per day: {before:.2} before; {same:.2} unchanged, {changed:.2} changing"
        )
        .expect("text");
    }
    let month = |units: f64| (SWEEPS * units + 720.0 * first_sweep) * READ_DOLLARS;
    let (before, after) = (SWEEPS * first_sweep * READ_DOLLARS, month(sweep));
    writeln!(table, "{groups:6} groups  sweep, dollars per month: {before:.2} before; {after:.2} changing")
        .expect("text");
}

#[tokio::test]
async fn a_list_costs_what_the_golden_table_says() {
    let endpoint = Endpoint::ministack();
    let mut table = HEAD.to_string();
    for groups in SIZES {
        rows(&endpoint, groups, &mut table).await;
    }
    if std::env::var_os("UPDATE").is_some() {
        return std::fs::write(GOLDEN, table).expect("the golden file is written");
    }
    let golden = std::fs::read_to_string(GOLDEN).expect("the golden file");
    for (new, old) in table.lines().zip(golden.lines()).filter(|(new, old)| new != old) {
        println!("- {old}\n+ {new}");
    }
    assert!(table == golden, "lists cost something else than {GOLDEN} says; `UPDATE=1` accepts it");
}

/// Clocks of processes may differ by a minute.
#[tokio::test]
async fn a_change_is_seen_whatever_the_clocks_say() {
    let endpoint = Endpoint::ministack();
    let clock = |start_s: i64| Arc::new(AtomicI64::new(start_s * 1_000));
    let reading = |clock: &Arc<AtomicI64>| {
        let clock = clock.clone();
        Arc::new(move || Timestamp::from_ms(clock.load(Ordering::SeqCst)))
    };
    for ahead_s in [-60, 0, 60] {
        let (of_reader, of_writer) = (clock(3_590), clock(3_590 + ahead_s));
        let reader = endpoint.store().await;
        let config = lambda::connect::to_endpoint(&endpoint.url).await;
        let writer = DynamoStore::new(&config, reader.table_name()).with_clock(reading(&of_writer));
        let reader = reader.with_clock(reading(&of_reader));
        let mut point = reader.changed(None).await.expect("the store").expect("a point").next;
        for step in 0..20_u64 {
            let id = samples::group_id(&format!("{ahead_s} {step}"));
            writer.commit(samples::keep(&[samples::letter(&id, step)])).await.expect("a commit");
            let changed = reader.changed(Some(point)).await.expect("the store").expect("recent");
            assert!(changed.groups.contains(&id), "step {step}, writer {ahead_s} s ahead: {changed:?}");
            assert!(changed.groups.len() <= 15, "old notes are not read again");
            point = changed.next;
            for clock in [&of_reader, &of_writer] {
                clock.fetch_add(17_000, Ordering::SeqCst);
            }
        }
        of_reader.fetch_add(Span::from_mins(300).as_ms(), Ordering::SeqCst);
        assert_eq!(reader.changed(Some(point)).await.expect("the store"), None, "too long ago");
        of_reader.fetch_sub(Span::from_mins(400).as_ms(), Ordering::SeqCst);
        assert_eq!(reader.changed(Some(point)).await.expect("the store"), None, "the clock has gone back");
    }
}
