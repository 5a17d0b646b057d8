//! What a letter costs on AWS, as a golden table: `tests/golden/letter-costs.txt`. Nothing in it depends on the machine
//! or on chance, so a change of the code that costs more shows as a difference. `UPDATE=1` writes the table.

mod reports;

use dlo_tests::costs::{Meter, Row};
use dlo_tests::endpoint::Endpoint;
use domain::discard::Closed;
use domain::filter::LetterFilter;
use domain::fix::FixKind;
use domain::id::GroupId;
use domain::letter::LetterStateKind;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::Content;
use domain::replay::{PlanOptions, Replay};
use domain::time::Span;
use harness::carried::redrive_all;
use harness::samples::Chance;
use harness::world::{World, approve_request, number_of, order};
use office::act;
use office::office::PlanLimits;
use queue::{Outgoing, Queue, Received};
use std::fmt::Write as _;
use wire::{DeclareFixRequest, DryRunRequest, PlanRequest, SaveTransformRequest};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/letter-costs.txt");
const HEAD: &str = "\
# Units and requests per thousand letters, and dollars per million: us-east-1, on demand, prices of 2026-11-20, without
# storage, logs and the functions' time. MiniStack counts the units as AWS documents them.
# `UPDATE=1 cargo ci --only aws` writes this file.
";
/// Measured letters of a row: enough for two events of the largest batch, few enough for a minute in all.
const LETTERS: u64 = 200;
/// Events of a row: events of single letters take the longest and cost the same each.
const EVENTS_MAX: u64 = 50;
/// Letters that are kept before, so that the groups exist.
const FIRST: u64 = 10;
/// The sizes of bodies in bytes. The smallest have seven customers, as orders have; the others one each.
const SIZES: [usize; 3] = [110, 2_000, 8_000];
const BATCHES: [u64; 3] = [1, 10, 100];
const GROUPS: [u64; 2] = [1, 5];
/// The batch in which letters are kept and come back where the batch is not what the row is about.
const BATCH: u64 = 100;
const ERRORS: [&str; 5] = [
    "orders::pricing::Overflow",
    "orders::address::Unknown",
    "orders::stock::Missing",
    "orders::payment::Declined",
    "orders::customer::Blocked",
];
const PROGRAM: &str = ".total.cents = 1";

/// Returns a body of about so many bytes: an order with items, whose names and numbers hardly repeat.
fn body(n: u64, bytes: usize) -> String {
    const WORDS: [&str; 16] = [
        "lamp", "oak", "desk", "blue", "steel", "small", "chair", "wool", "large", "glass", "green", "shelf", "round",
        "cotton", "white", "box",
    ];
    let small = order(n);
    if small.len() + 50 > bytes {
        return small;
    }
    let mut chance = Chance(n);
    let mut body = small.replace(&format!("cus_{:03}", n % 7), &format!("cus_{n:06}"));
    body.truncate(body.len() - 1);
    body.push_str(r#","items":["#);
    while body.len() < bytes {
        let mut word = || WORDS[chance.below(WORDS.len())];
        let name = format!("{} {} {}", word(), word(), word());
        let (sku, price) = (chance.below(1_000_000), chance.below(100_000));
        write!(body, r#"{{"sku":"{sku:06}","name":"{name}","quantity":{},"price":{price}}},"#, sku % 9).expect("text");
    }
    body.truncate(body.len() - 1);
    body + "]}"
}

/// How letters get into the dead-letter queue.
#[derive(Clone, Copy, PartialEq)]
enum Dies {
    /// The consumer sends them there with a reason. It may leave the marker out, so what was sent is stored by its id, too.
    ByHand,
    /// SQS moves them after three receives.
    Redriven,
}

/// What kind of letters are measured.
#[derive(Clone, Copy)]
struct Letters {
    bytes: usize,
    groups: u64,
    dies: Dies,
}

/// Letters of one group that their consumer dead-letters.
fn of_size(bytes: usize) -> Letters {
    Letters { bytes, groups: 1, dies: Dies::ByHand }
}

/// An office at an endpoint, and what it costs.
struct Metered {
    world: World,
    meter: Meter,
    letters: Letters,
    placed: u64,
}

impl Metered {
    async fn new(endpoint: &Endpoint, letters: Letters) -> Self {
        let (world, meter) = Meter::office(endpoint).await;
        let mut metered = Self { world, meter, letters, placed: 0 };
        metered.keep(FIRST, BATCH).await;
        metered.meter.read();
        metered
    }

    /// An office that has kept [`LETTERS`].
    async fn filled(endpoint: &Endpoint, letters: Letters) -> Self {
        let mut metered = Self::new(endpoint, letters).await;
        metered.keep(LETTERS - FIRST, BATCH).await;
        metered.world.advance(Span::from_secs(1));
        metered.meter.read();
        metered
    }

    /// Places letters that version 1 fails on, and runs intake.
    async fn keep(&mut self, letters: u64, batch: u64) {
        let numbers: Vec<u64> = (self.placed..self.placed + letters).collect();
        self.placed += letters;
        for chunk in numbers.chunks(BATCH_ENTRIES_MAX) {
            let messages: Vec<_> = chunk.iter().map(|n| outgoing(body(*n, self.letters.bytes))).collect();
            for sent in self.world.queue.send_batch(&self.world.main, &messages).await.expect("the main queue") {
                sent.expect("an order is sent");
            }
        }
        self.fail("v1").await;
        assert_eq!(self.intake(batch).await, letters);
    }

    /// The consumer fails on whatever waits.
    async fn fail(&self, version: &str) {
        if self.letters.dies == Dies::Redriven {
            return redrive_all(&self.world).await;
        }
        let groups = self.letters.groups;
        let error = |message: &Received| Some(ERRORS[(number_of(&message.content.body) % groups) as usize]);
        self.world.consume(&error, version).await;
    }

    /// Runs intake in batches, as an event source mapping does. Returns how many letters were kept or came back.
    async fn intake(&self, batch_size: u64) -> u64 {
        let (world, mut done) = (&self.world, 0);
        loop {
            let mut batch = Vec::new();
            while (batch.len() as u64) < batch_size {
                let max = BATCH_ENTRIES_MAX.min(batch_size as usize - batch.len());
                let more = world.queue.receive(&world.dlq, max, Span::ZERO, None).await.expect("receive");
                if more.is_empty() {
                    break;
                }
                batch.extend(more);
            }
            if batch.is_empty() {
                return done;
            }
            let handles: Vec<String> = batch.iter().map(|message| message.receipt_handle.clone()).collect();
            let count = batch.len() as u64;
            let messages = batch.into_iter().map(|message| world.dead(message)).collect();
            let report = office::intake::keep(&world.office, messages).await;
            assert!(report.failed.is_empty() && report.awaited.is_empty(), "{report:?}");
            for handles in handles.chunks(BATCH_ENTRIES_MAX) {
                world.queue.delete_batch(&world.dlq, handles).await.expect("delete");
            }
            self.meter.handed_over(count, batch_size);
            done += (report.kept + report.returned) as u64;
        }
    }

    async fn all_groups(&self) -> Vec<GroupId> {
        let found = self.world.store.groups(0, None, 10).await.expect("groups").items;
        assert_eq!(found.len() as u64, self.letters.groups);
        found.into_iter().map(|facts| facts.variant.id).collect()
    }

    async fn declare(&self, kind: FixKind, reference: &str) -> Vec<GroupId> {
        let groups = self.all_groups().await;
        let declare = DeclareFixRequest { kind, reference: reference.into(), note: None, transform: None };
        for group in &groups {
            act::declare_fix(&self.world.office, &self.world.otto(), group, &declare).await.expect("a fix");
        }
        self.world.advance(Span::from_secs(11));
        groups
    }

    async fn plan_and_approve(&mut self, groups: &[GroupId], canary: u64) -> (Row, Vec<Replay>) {
        self.meter.read();
        let pace = PlanOptions { canary_letters: Some(canary), pace_per_s: Some(1_000), ..PlanOptions::default() };
        let mut plans = Vec::new();
        for group in groups {
            plans.push(self.world.plan(group, &pace).await);
        }
        let planned = self.meter.read().row_for(self.placed);
        let mut replays = Vec::new();
        for (group, plan) in groups.iter().zip(&plans) {
            let (office, anna) = (&self.world.office, self.world.anna());
            replays.push(act::approve(office, &anna, group, &approve_request(plan)).await.expect("an open gate"));
        }
        (planned, replays)
    }

    /// Replays to the end. The consumer processes every letter.
    async fn replay(&mut self, replays: &[Replay]) -> Row {
        for replay in replays {
            while !self.world.replay(replay.id()).await.is_finished() {
                assert_eq!(self.world.steps().await, 0);
                self.world.consume(&|_| None, "v2").await;
                self.world.advance(Span::from_secs(1));
            }
        }
        self.meter.read().row_for(self.placed)
    }

    /// Checks that every letter is in a state.
    async fn all_are(&self, state: LetterStateKind) {
        let mut letters = 0;
        for group in self.all_groups().await {
            letters += self.world.counters_are_exact(&group).await.tally(state).letters.cast_unsigned();
        }
        assert_eq!(letters, self.placed);
    }
}

fn outgoing(body: String) -> Outgoing {
    Outgoing { content: Content { body, ..Content::default() }, ..Outgoing::default() }
}

async fn kept(endpoint: &Endpoint, letters: Letters, batch: u64) -> Row {
    let mut metered = Metered::new(endpoint, letters).await;
    let count = LETTERS.min(batch * EVENTS_MAX);
    metered.keep(count, batch).await;
    metered.meter.read().row_for(count)
}

async fn planned_and_replayed(endpoint: &Endpoint, letters: Letters) -> [Row; 3] {
    let mut metered = Metered::filled(endpoint, letters).await;
    let found = metered.declare(FixKind::Deploy, "v2").await;
    let (planned, replays) = metered.plan_and_approve(&found, FIRST).await;
    let replayed = metered.replay(&replays).await;
    metered.all_are(LetterStateKind::Delivered).await;
    metered.meter.read();
    let now = metered.world.office.now().plus(Span::from_days(1));
    while metered.world.office.store.forget(Closed::Delivered, now, LETTERS as usize).await.expect("forget") > 0 {}
    [planned, replayed, metered.meter.read().row_for(LETTERS)]
}

/// A plan in steps, of letters that would fit into one request.
async fn planned_in_steps(endpoint: &Endpoint, bytes: usize) -> Row {
    let mut metered = Metered::filled(endpoint, of_size(bytes)).await;
    metered.world.office.planning = PlanLimits { in_request: 0, ..PlanLimits::default() };
    let found = metered.declare(FixKind::Deploy, "v2").await;
    metered.meter.read();
    let (office, otto) = (&metered.world.office, metered.world.otto());
    act::plan(office, &otto, &found[0], &PlanRequest::default()).await.expect("a draft");
    assert_eq!(metered.world.steps().await, 0);
    assert!(metered.world.store.plan(&found[0]).await.expect("a read").is_some());
    metered.meter.read().row_for(LETTERS)
}

async fn returned(endpoint: &Endpoint, bytes: usize) -> Row {
    let mut metered = Metered::filled(endpoint, of_size(bytes)).await;
    let found = metered.declare(FixKind::Deploy, "v2").await;
    // All of them in the first wave.
    let (_, replays) = metered.plan_and_approve(&found, LETTERS).await;
    while metered.world.ledger(replays[0].id()).await.total().in_flight < LETTERS {
        assert_eq!(metered.world.steps().await, 0);
        metered.world.advance(Span::from_secs(1));
    }
    metered.fail("v2").await;
    metered.meter.read();
    assert_eq!(metered.intake(BATCH).await, LETTERS);
    let row = metered.meter.read().row_for(LETTERS);
    metered.all_are(LetterStateKind::Waiting).await;
    row
}

async fn transformed(endpoint: &Endpoint, bytes: usize) -> [Row; 2] {
    let mut metered = Metered::filled(endpoint, of_size(bytes)).await;
    let (group, otto) = (metered.world.only_group().await, metered.world.otto());
    let request = SaveTransformRequest { program: PROGRAM.into(), note: None };
    act::save_transform(&metered.world.office, &otto, &group, &request).await.expect("a program");
    metered.meter.read();
    let mut go_on = None;
    loop {
        let request = DryRunRequest { version: 1, go_on, filter: LetterFilter::default() };
        let run = act::dry_run(&metered.world.office, &otto, &group, &request).await.expect("a dry run");
        if run.is_whole() {
            break;
        }
        go_on = Some(run.revision);
    }
    let dry = metered.meter.read().row_for(LETTERS);
    let found = metered.declare(FixKind::PayloadTransform, "v1").await;
    let (_, replays) = metered.plan_and_approve(&found, FIRST).await;
    [dry, metered.replay(&replays).await]
}

async fn table() -> String {
    let endpoint = Endpoint::ministack();
    let mut table = format!("{HEAD}\n{:44}{}\n", "", Row::HEAD);
    let mut add = |what: &str, bytes: usize, rest: String, row: Row| {
        let what = format!("{what}, {bytes} B{rest}");
        writeln!(table, "{what:44}{row}").expect("text");
    };
    let of_groups = |groups: u64| if groups == 1 { ", 1 group".to_owned() } else { format!(", {groups} groups") };
    for bytes in SIZES {
        for groups in GROUPS {
            let letters = Letters { groups, ..of_size(bytes) };
            for batch in BATCHES {
                let row = kept(&endpoint, letters, batch).await;
                add("kept", bytes, format!("{}, batch {batch}", of_groups(groups)), row);
            }
            if groups > 1 && bytes != SIZES[1] {
                // What a replay costs per group does not depend on the size, and takes long to measure.
                continue;
            }
            let rows = planned_and_replayed(&endpoint, letters).await;
            for (what, row) in ["planned", "replayed", "forgotten"].into_iter().zip(rows) {
                add(what, bytes, of_groups(groups), row);
            }
        }
        add("planned in steps", bytes, of_groups(1), planned_in_steps(&endpoint, bytes).await);
        add("returned", bytes, format!(", 1 group, batch {BATCH}"), returned(&endpoint, bytes).await);
        let moved = Letters { dies: Dies::Redriven, ..of_size(bytes) };
        let [_, replayed, _] = planned_and_replayed(&endpoint, moved).await;
        add("replayed, moved by SQS", bytes, of_groups(1), replayed);
        for (what, row) in ["dry run", "replayed, transformed"].into_iter().zip(transformed(&endpoint, bytes).await) {
            add(what, bytes, of_groups(1), row);
        }
    }
    table
}

#[tokio::test]
async fn a_letter_costs_what_the_golden_table_says() {
    matches_golden(&table().await, GOLDEN);
}

/// Compares a table with a golden file, or writes the file.
fn matches_golden(table: &str, file: &str) {
    if std::env::var_os("UPDATE").is_some() {
        return std::fs::write(file, table).expect("the golden file is written");
    }
    let golden = std::fs::read_to_string(file).expect("the golden file");
    for (new, old) in table.lines().zip(golden.lines()).filter(|(new, old)| new != old) {
        println!("- {old}\n+ {new}");
    }
    assert!(table == golden, "something else is asked of AWS than {file} says; `UPDATE=1` accepts it");
}
