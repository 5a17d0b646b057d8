//! What reports cost on AWS, as a golden table: `tests/golden/report-costs.txt`. `UPDATE=1` writes the table.

use super::{BATCH, FIRST, LETTERS, Metered, SIZES, body, of_size, outgoing};
use dlo_tests::costs::{Cost, Row};
use dlo_tests::endpoint::Endpoint;
use domain::id::MessageId;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::Content;
use domain::report::{Report, ReportKind, ReportedError, ReportedMessage};
use domain::time::Span;
use harness::carried::redrive_all;
use harness::samples::Chance;
use office::event;
use queue::{Queue, Received};
use std::fmt::Write as _;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/report-costs.txt");
const HEAD: &str = "\
# Units and requests per thousand failing batches, and dollars per million: us-east-1, on demand, prices of 2026-11-20,
# without storage, logs and the functions' time. The witness sends one report for each failing batch; Lambda hands them
# to intake, ten at a time. MiniStack counts the units as AWS documents them, but for batches of reads, which are
# corrected.
# `UPDATE=1 cargo ci --only aws` writes this file.
";
const HEAD_OF_LETTERS: &str = "\
# The same per thousand letters that SQS moved without a word, 100 per event: what the look-up of reports adds.
";
/// Failing batches of a row.
const FAILED: u64 = 40;
/// How often each batch fails: SQS delivers it again, and the office keeps the last three reports of a message.
const ATTEMPTS: u64 = 3;
/// Reports in one event of intake.
const REPORTS: usize = 10;
const STACK_FRAMES: usize = 5;
const LOG_LINES: usize = 20;

/// A report as the witness writes it: an error with a stack, of a function with all that Lambda says of it.
fn report(metered: &Metered, request: &str, ids: &[MessageId], has_logs: bool) -> Report {
    // Hardly anything repeats, as in real ones: records are packed.
    let mut chance = Chance(request.bytes().map(u64::from).sum::<u64>() * 7 + ids.len() as u64);
    let mut n = || chance.below(1_000_000);
    let mut stack = String::new();
    for _ in 0..STACK_FRAMES {
        let (file, line, name, item) = (n(), n() % 900, n(), n());
        writeln!(stack, "  File \"/var/task/src/m{file}.py\", line {line}, in f{name}").expect("text");
        writeln!(stack, "    total += self.v{item}[key] * rate").expect("text");
    }
    let mut line = |_| {
        let (micros, payment, customer, ms) = (n(), n(), n(), n());
        format!("[INFO]\t2026-11-23T08:00:00.{micros:06}Z\tpayment {payment} of customer {customer} took {ms} ms")
    };
    let logs: Vec<String> = (0..if has_logs { LOG_LINES } else { 0 }).map(&mut line).collect();
    let function = "arn:aws:lambda:eu-west-1:111122223333:function:orders-fn";
    Report {
        queue: Some(metered.world.main.clone()),
        version: Some("7".into()),
        instance: Some(format!("2026/11/23/[7]{request:0>32}")),
        log_group: Some("/aws/lambda/orders-fn".into()),
        cold: Some(false),
        duration_ms: Some(120),
        memory_mb: Some(512),
        reporter: Some("witness/0.1.0".into()),
        error: Some(ReportedError {
            error_type: Some("KeyError".into()),
            message: Some("'price'".into()),
            stack: Some(stack),
        }),
        logs,
        messages: ids.iter().cloned().map(ReportedMessage::new).collect(),
        ..Report::new(ReportKind::Error, function, request, metered.world.office.now())
    }
}

/// Hands reports to intake, as the witness and Lambda do.
async fn hand_over(metered: &Metered, reports: &[Report]) {
    let bodies: Vec<String> = reports.iter().flat_map(Report::parts).collect();
    metered.meter.sent(bodies.iter().map(String::len));
    metered.meter.handed_over(bodies.len() as u64, REPORTS as u64);
    for (n, bodies) in bodies.chunks(REPORTS).enumerate() {
        let message = |(at, body): (usize, &String)| Received {
            message_id: MessageId::new(format!("report-{n}-{at}")),
            receipt_handle: String::new(),
            content: Content { body: body.clone(), ..Content::default() },
            system: Default::default(),
        };
        let left = event::receipts(&metered.world.office, bodies.iter().enumerate().map(message).collect()).await;
        assert!(left.is_empty(), "{left:?}");
    }
}

/// The cost of each attempt at the same batches.
async fn reported(endpoint: &Endpoint, batch: u64, has_logs: bool) -> Vec<Row> {
    let mut metered = Metered::new(endpoint, of_size(SIZES[0])).await;
    // The queue has a record of its own, which is new only once.
    hand_over(&metered, &[report(&metered, "first", &["first".into()], has_logs)]).await;
    metered.meter.read();
    let mut rows = Vec::new();
    for attempt in 0..ATTEMPTS {
        metered.world.advance(Span::from_secs(30));
        let failing = |n: u64| {
            let ids: Vec<_> = (0..batch).map(|at| MessageId::new(format!("{n:018}{at:018}"))).collect();
            report(&metered, &format!("{attempt}-{n}"), &ids, has_logs)
        };
        let reports: Vec<_> = (0..FAILED).map(failing).collect();
        hand_over(&metered, &reports).await;
        rows.push(with_each_record(metered.meter.read(), FAILED, batch + 1).row_for(FAILED));
    }
    rows
}

/// The cost of keeping letters that say nothing, with a report for each or without any.
async fn joined(endpoint: &Endpoint, is_reported: bool) -> Row {
    let mut metered = Metered::new(endpoint, of_size(SIZES[0])).await;
    // The first ones make the group.
    dies(&mut metered, FIRST, is_reported).await;
    metered.intake(BATCH).await;
    dies(&mut metered, LETTERS, is_reported).await;
    metered.meter.read();
    assert_eq!(metered.intake(BATCH).await, LETTERS);
    with_each_record(metered.meter.read(), LETTERS / BATCH, BATCH + 1).row_for(LETTERS)
}

/// MiniStack counts a batch of reads as one. AWS counts each record of it, also one that is not there: half a unit.
fn with_each_record(mut cost: Cost, batches: u64, records: u64) -> Cost {
    cost.table.read_units += 0.5 * (batches * (records - 1)) as f64;
    cost
}

/// Places orders that SQS moves to the dead-letter queue, and reports each of them.
async fn dies(metered: &mut Metered, letters: u64, is_reported: bool) {
    let numbers: Vec<u64> = (metered.placed..metered.placed + letters).collect();
    metered.placed += letters;
    for chunk in numbers.chunks(BATCH_ENTRIES_MAX) {
        let messages: Vec<_> = chunk.iter().map(|n| outgoing(body(*n, SIZES[0]))).collect();
        let sent = metered.world.queue.send_batch(&metered.world.main, &messages).await.expect("the main queue");
        let ids = sent.into_iter().map(|sent| sent.expect("an order is sent"));
        if is_reported {
            let reports: Vec<_> =
                ids.map(|id| report(metered, &format!("of {id}"), std::slice::from_ref(&id), false)).collect();
            hand_over(metered, &reports).await;
        }
    }
    redrive_all(&metered.world).await;
}

async fn table() -> String {
    let endpoint = Endpoint::ministack();
    let mut table = format!("{HEAD}\n{:44}{}\n", "", Row::HEAD);
    for batch in [1, 10] {
        for has_logs in [false, true] {
            let logs = if has_logs { format!(", {LOG_LINES} log lines") } else { String::new() };
            for (attempt, row) in (1..).zip(reported(&endpoint, batch, has_logs).await) {
                let what = format!("batch of {batch}{logs}, attempt {attempt}");
                writeln!(table, "{what:44}{row}").expect("text");
            }
        }
    }
    write!(table, "\n{HEAD_OF_LETTERS}\n").expect("text");
    for (what, is_reported) in [("kept, no reports", false), ("kept, each with a report", true)] {
        let row = joined(&endpoint, is_reported).await;
        writeln!(table, "{what:44}{row}").expect("text");
    }
    table
}

#[tokio::test]
async fn a_report_costs_what_the_golden_table_says() {
    super::matches_golden(&table().await, GOLDEN);
}
