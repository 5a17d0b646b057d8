//! Measures how many letters per second the embedded store commits, at several numbers of stored letters. A commit is
//! like one of intake: 10 letters, their counters and a variant. Then measures a replay's commits and the dashboard's
//! reads. Run it with `cargo run --release -p dlo-local --example store_rate`.

use domain::group::merging::MergeState;
use domain::group::{CountsDeltas, GroupState, TitleValues, Variant};
use domain::id::{GroupId, LetterId, MessageId, QueueArn, ReplayId, hash_hex};
use domain::impact::{Impact, Severity};
use domain::letter::{Letter, LetterState};
use domain::limits::PLAN_BLOCKS_MAX;
use domain::message::{Attribute, Content};
use domain::money::{Currency, Decimal, Money};
use domain::reading::{Category, Class, Classification, Confidence, Diagnosis, EnvelopeKind, Failure, Replayability};
use domain::replay::{BLOCK_ENTRIES, Block, Entry, LedgerMove, Outcome, OutcomeKind};
use domain::time::{Span, Timestamp};
use domain::watch::Notified;
use local::store::SqliteStore;
use office::port::{CommitError, Expect, Store, Write};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

const BATCH: u64 = 10;
const GROUPS: u64 = 50;
const MEASURED: u64 = 5_000;
const START_MS: i64 = 1_763_600_000_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("office.db");
    let store = Arc::new(SqliteStore::open(&path)?);
    println!("{:>9} {:>10} {:>14} {:>14}", "stored", "callers", "commits/s", "letters/s");
    let mut stored = 0;
    for target in [0, 1_000, 10_000, 100_000] {
        while stored < target {
            store.commit(intake(stored)).await?;
            stored += BATCH;
        }
        for callers in [1, 8] {
            let before = stored;
            let began = Instant::now();
            stored = commit_letters(&store, stored, callers).await?;
            let per_s = (stored - before) as f64 / began.elapsed().as_secs_f64();
            println!("{before:>9} {callers:>10} {:>14.0} {per_s:>14.0}", per_s / BATCH as f64);
        }
    }
    replay(&store).await?;
    reads(&store).await?;
    let bytes = std::fs::metadata(&path)?.len();
    println!("{stored} letters, {} bytes of file per letter", bytes / stored);
    Ok(())
}

async fn commit_letters(store: &Arc<SqliteStore>, from: u64, callers: u64) -> Result<u64, Box<dyn Error>> {
    let mut tasks = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let store = store.clone();
        tasks.spawn(async move {
            for n in (0..MEASURED / BATCH / callers).map(|n| from + (n * callers + caller) * BATCH) {
                // A conflict means that another caller has not committed the previous version of the variant yet.
                while let Err(CommitError::Conflict(_)) = store.commit(intake(n)).await {}
            }
        });
    }
    while let Some(outcome) = tasks.join_next().await {
        outcome?;
    }
    Ok(from + MEASURED / BATCH / callers * callers * BATCH)
}

/// Measures two commits per ten letters: the intent to send, and the queue's response.
async fn replay(store: &SqliteStore) -> Result<(), Box<dyn Error>> {
    let (id, steps) = (ReplayId::new(hash_hex(&["replay"])), [OutcomeKind::Sending, OutcomeKind::InFlight]);
    let entry = |n: u64, kind: Option<OutcomeKind>| Entry {
        replay: id.clone(),
        seq: n,
        letter: letter(n).id,
        wave: (n / 1_000) as u32,
        outcome: match kind {
            None => Outcome::Pending,
            Some(OutcomeKind::Sending) => Outcome::Sending { since: Timestamp::from_ms(START_MS) },
            _ => Outcome::InFlight { sent_at: Timestamp::from_ms(START_MS), message_id: message(n) },
        },
        sends: u32::from(kind.is_some()),
        message_group: None,
        answers: 0,
        sent_as: None,
        changed_by: None,
    };
    let began = Instant::now();
    let mut blocks = Block::planned(&id, (0..MEASURED).map(|n| entry(n, None)).collect());
    for chunk in blocks.chunks(PLAN_BLOCKS_MAX) {
        let write = |block: &Block| Write::Block { block: Box::new(block.clone()), expect: Expect::Absent };
        let pending = |entry: &Entry| LedgerMove::plain(entry.wave, None, OutcomeKind::Pending, 1);
        let moves = chunk.iter().flat_map(|block| &block.entries).map(pending).collect();
        let ledger = Write::Ledger { replay: id.clone(), moves };
        store.commit(chunk.iter().map(write).chain([ledger]).collect()).await?;
    }
    println!("a plan's entries: {:.0} per second", MEASURED as f64 / began.elapsed().as_secs_f64());
    let began = Instant::now();
    for first in (0..MEASURED).step_by(BATCH as usize) {
        let mut from = OutcomeKind::Pending;
        for (version, kind) in (2..).zip(steps) {
            let block = &mut blocks[Block::number_of(first) as usize];
            let expect = Expect::Version(block.version);
            block.version += 1;
            for n in first..first + BATCH {
                block.entries[(n % BLOCK_ENTRIES as u64) as usize] = entry(n, Some(kind));
            }
            let mut writes = vec![Write::Block { block: Box::new(block.clone()), expect }];
            let mut deltas = CountsDeltas::default();
            for n in first..first + BATCH {
                let before = Letter { version: version - 1, ..letter(n) };
                let after = before.moved(LetterState::InReplay { replay: id.clone() });
                deltas.moved(Some(&before), &after);
                writes.push(Write::Letter { letter: Box::new(after), expect: Expect::Version(version - 1) });
            }
            let wave = (first / 1_000) as u32;
            let step = LedgerMove::plain(wave, Some(from), kind, BATCH);
            writes.push(Write::Ledger { replay: id.clone(), moves: vec![step] });
            writes.extend(deltas.0.into_iter().map(|(group, delta)| Write::Counts { group, delta: Box::new(delta) }));
            store.commit(writes).await?;
            from = kind;
        }
    }
    println!("a replay's two commits: {:.0} letters per second", MEASURED as f64 / began.elapsed().as_secs_f64());
    Ok(())
}

async fn reads(store: &SqliteStore) -> Result<(), Box<dyn Error>> {
    let group = GroupId::new(hash_hex(&["group", "7"]));
    macro_rules! timed {
        ($what:literal, $read:expr) => {
            let began = Instant::now();
            for _ in 0..20 {
                $read.await?;
            }
            println!("{}: {} us", $what, began.elapsed().as_micros() / 20);
        };
    }
    timed!("50 groups with their facts", store.groups(0, None, 200));
    timed!("facts of one group", store.group_facts(&group, 0));
    timed!("first 50 letters of a group", store.letters_of(&group, None, None, 50));
    timed!("one letter", store.letter(&letter(7).id));
    Ok(())
}

fn message(n: u64) -> MessageId {
    MessageId::new(hash_hex(&["message", &n.to_string()]))
}

fn letter(n: u64) -> Letter {
    let queue = QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:orders");
    let sent_at = Timestamp::from_ms(START_MS + n as i64 * 7);
    Letter {
        id: LetterId::from_message(&queue, &message(n)),
        version: 1,
        group: GroupId::new(hash_hex(&["group", &(n / BATCH % GROUPS).to_string()])),
        main_queue: Some(queue.clone()),
        dlq: QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:orders-dlq"),
        dead_message_id: None,
        original_message_id: message(n),
        sequence_number: None,
        content: Content {
            body: format!("{{\"order\":{n},\"lines\":\"{}\"}}", "product 4711, ".repeat(70)),
            attributes: [("tenant".into(), Attribute::text("acme"))].into(),
            message_group_id: None,
            trace_header: None,
        },
        original_at: None,
        sent_at,
        loss_at: None,
        died_at: sent_at.plus(Span::from_secs(30)),
        died_after: None,
        kept_at: sent_at.plus(Span::from_secs(31)),
        deaths: 1,
        replays: 0,
        replays_forgiven: 0,
        state: LetterState::Waiting,
        diagnosis: Diagnosis {
            envelope: EnvelopeKind::Consumer,
            title: "UnknownProduct: product <n> is not in the catalogue".into(),
            failure: Failure {
                error_type: Some("orders::catalogue::UnknownProduct".into()),
                message: Some("product 4711 is not in the catalogue".into()),
                stack: Some("   0: orders::catalogue::price at ./src/catalogue.rs:41:9\n".repeat(10)),
                stated_class: Some(Class::Permanent),
            },
            classification: Classification {
                class: Class::Permanent,
                category: Category::MissingReference,
                confidence: Confidence::from_pct(90),
                reason: "matched: UnknownProduct".into(),
            },
            impact: Impact {
                money: Currency::parse("EUR").map(|currency| Money { amount: Decimal::new(1250, 2), currency }),
                customer: Some(format!("customer {}", n % 5_000)),
                ..Impact::default()
            },
            message_type: Some("order.placed".into()),
            consumer: Some("orders".into()),
            consumer_version: Some("1.4.0".into()),
            producer: Some("shop".into()),
            producer_version: None,
            tenant: None,
            attempts: Some(3),
            first_tried_at: None,
            replayability: Replayability::Replayable,
            remarks: Vec::new(),
            reported: None,
        },
    }
}

/// Returns the writes for ten letters of one variant, which changes with them.
fn intake(first: u64) -> Vec<Write> {
    let mut writes = Vec::new();
    let mut deltas = CountsDeltas::default();
    for letter in (first..first + BATCH).map(letter) {
        deltas.moved(None, &letter);
        deltas.died(&letter);
        writes.push(Write::Letter { letter: Box::new(letter), expect: Expect::Absent });
    }
    writes.extend(deltas.0.into_iter().map(|(group, delta)| Write::Counts { group, delta: Box::new(delta) }));
    let version = first / BATCH / GROUPS;
    let expect = if version == 0 { Expect::Absent } else { Expect::Version(version) };
    let variant = Variant { version: version + 1, ..variant(&letter(first)) };
    writes.push(Write::Variant { variant: Box::new(variant), expect });
    writes
}

fn variant(letter: &Letter) -> Variant {
    Variant {
        id: letter.group.clone(),
        version: 1,
        main_queue: letter.main_queue.clone(),
        dlq: letter.dlq.clone(),
        title: letter.diagnosis.title.clone(),
        title_values: TitleValues::default(),
        culprit: None,
        classification: letter.diagnosis.classification.clone(),
        failure: letter.diagnosis.failure.clone(),
        reported: None,
        consumer: letter.diagnosis.consumer.clone(),
        died_on: letter.diagnosis.consumer_version.iter().cloned().collect(),
        message_type: letter.diagnosis.message_type.clone(),
        severity: Severity::Warning,
        first_died_at: letter.died_at,
        note: None,
        owner: None,
        skeleton: None,
        notified: Notified::default(),
        merge: MergeState::default(),
        discarding: None,
        drafts: Vec::new(),
        logs: None,
        state: GroupState::Open,
    }
}
