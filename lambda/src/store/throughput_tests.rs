//! How many letters a second the table's partitions let through: a simulation with the keys and units of real commits.
//!
//! Nothing here depends on a clock. A step is 50 ms, about as long as a transaction takes. Twelve processes (the
//! mapping's concurrency) take full batches from a queue that is never empty. What is assumed of DynamoDB:
//!
//! - Keys are hashed onto partitions of 1,000 write units a second each, of the table and of its index. A partition
//!   saves at most one second of what it does not use. The five minutes of burst that AWS documents are left out: they
//!   do not lift a partition above 1,000.
//! - A partition that has no room refuses its item, and the transaction with it. The other items have then cost their
//!   first unit of two. An index without room refuses the table's item.
//! - Two transactions of one step with the same record collide; the later one is refused.
//! - Partitions are never split by heat, and no key is spread over two.
//!
//! `UPDATE=1 cargo test -p dlo-lambda throughput` rewrites the golden table; review the difference.

mod world;

use self::world::{Outcome, run};
use super::action::Action;
use super::counts::Extremes;
use super::item::Item;
use super::key;
use super::learned::Learned;
use super::table::Kept;
use super::transaction::TransactionBuilder;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::group::{CountsDelta, CountsDeltas};
use domain::id::{GroupId, MessageId, QueueArn};
use domain::letter::Letter;
use domain::limits::{COMMIT_RECORDS_MAX, KEEP_LETTERS_MAX};
use domain::message::{Content, DeadMessage, SystemAttributes};
use domain::policy::Policy;
use domain::read::read;
use domain::time::{Span, Timestamp};
use office::port::{Expect, Write};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/throughput.txt");
const NOW: Timestamp = Timestamp::from_ms(1_763_600_000_000);
/// Steps in a second.
const STEPS: u64 = 20;
/// Simulated seconds. The first ten are not counted.
const SECONDS: u64 = 30;
const UNCOUNTED: u64 = 10;
const PARTITION_UNITS: f64 = 1_000.0;
const PROCESSES: usize = 12;
/// Letters that come in an hour, and in a second.
const HOUR: u64 = 10_080_000;
const WANTED: u64 = 2_800;
const SEEDS: u64 = 2;
/// Groups that a process reads in a step, beside its transaction: sixteen at once, five calls of 5 ms for each.
const GROUPS_A_STEP: u64 = 32;

/// A small generator with a seed (xorshift).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Space {
    Table,
    Index,
}

/// What one item of a commit costs in one partition.
#[derive(Clone, Debug)]
struct Piece {
    space: Space,
    /// The places of its partition key, for keys that commits share: each letter's item goes to one of them. Other keys are
    /// of one letter.
    shared: Vec<u64>,
    /// The key, with `group` for the group's name.
    label: String,
    /// Its record, for those that commits collide on.
    record: Option<u64>,
    units: f64,
    /// Whether the store leaves the group's shard if this item is refused.
    leaves: bool,
}

/// What a commit writes for each letter of a group on a shard, and once for the group.
struct Shape {
    letter: Vec<Piece>,
    group: Vec<Piece>,
}

fn place(text: &str) -> u64 {
    Sha256::digest(text.as_bytes()).iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

fn group_id(group: usize) -> GroupId {
    GroupId::new(format!("{:016x}", place(&format!("group {group}"))))
}

/// A body of a size, whose words hardly repeat.
fn body(number: u64, size: usize) -> String {
    let mut chance = Chance(number + 88_172_645_463_325_252);
    let mut body = format!("{{\"order\":{number},\"items\":\"");
    while body.len() + 2 < size {
        body.push(char::from(b'a' + chance.below(26) as u8));
    }
    body + "\"}"
}

fn text<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    item.get(name).and_then(|value| value.as_s().ok()).map(String::as_str)
}

fn size(item: &Item) -> usize {
    let bytes = |value: &AttributeValue| match value {
        AttributeValue::S(text) | AttributeValue::N(text) => text.len(),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        _ => panic!("the model does not know this attribute: {value:?}"),
    };
    item.iter().map(|(name, value)| name.len() + bytes(value)).sum()
}

/// The items of one letter's commit: partition key, whole key or none in the index, bytes, and whether it is left.
type Cost = (Space, String, String, f64, bool);

/// Builds the transaction for one letter of a group that exists.
fn items(number: u64, bytes: usize, group: usize, shard: u8) -> Vec<Cost> {
    let message = DeadMessage {
        dlq: QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:orders-dlq"),
        message_id: MessageId::new(format!("{:08x}-0000-4000-8000-000000000000", number)),
        content: Content { body: body(number, bytes), ..Content::default() },
        system: SystemAttributes::default(),
    };
    let mut reading = read(&message, &Policy::default());
    reading.group = group_id(group);
    // Small letters are of seven customers, who are known; the others of one each.
    reading.diagnosis.impact.customer = (bytes > 1_000).then(|| format!("customer {number}"));
    let letter = Letter::first(&message, reading, Some(Span::from_days(14)), NOW);
    let mut counts = CountsDeltas::default();
    counts.moved(None, &letter);
    counts.died(&letter);
    let mut learned = Learned::default();
    learned.shards.insert(letter.group.clone(), (shard, Extremes::default()));
    let (actions, blobs, before) = (Vec::new(), Vec::new(), Vec::new());
    let kept = Kept::default();
    let mut builder =
        TransactionBuilder { learned: &learned, bucket: None, stamp: 1, actions, blobs, before, now: NOW, kept };
    builder.add(0, &Write::Letter { letter: Box::new(letter), expect: Expect::Absent }).expect("a letter");
    for (group, delta) in counts.0 {
        let delta: CountsDelta = delta;
        builder.add(1, &Write::Counts { group, delta: Box::new(delta) }).expect("counts");
    }
    let mut costs = Vec::new();
    for part in builder.blobs.iter().flat_map(|blob| blob.parts()) {
        let pk = text(part, "pk").expect("a key").to_owned();
        costs.push((Space::Table, pk.clone(), pk, units(size(part)), false));
    }
    builder.actions.iter().for_each(|action| add_costs(action, &mut costs));
    costs
}

fn units(bytes: usize) -> f64 {
    bytes.div_ceil(1_024) as f64
}

fn add_costs(action: &Action, costs: &mut Vec<Cost>) {
    let built = action.build("table").expect("an action");
    let put = built.put().map(|put| put.item());
    let item = put.or(built.update().map(|update| update.key())).expect("a put or an update");
    let pk = text(item, "pk").expect("a partition key").to_owned();
    let whole = format!("{pk} {}", text(item, "sk").expect("a sort key"));
    // Only the actions on counters tell the store that another shard is quieter.
    let leaves = built.update().is_some();
    costs.push((Space::Table, pk, whole, 2.0 * units(size(item)), leaves));
    if let Some(list) = text(item, "lp") {
        costs.push((Space::Index, list.to_owned(), String::new(), 1.0, false));
    }
}

/// Tells what is each letter's own from what letters of the group share, by building two.
fn shape(bytes: usize, group: usize, shard: u8) -> Shape {
    let (one, other) = (items(1, bytes, group, shard), items(2, bytes, group, shard));
    let mut shape = Shape { letter: Vec::new(), group: Vec::new() };
    for ((space, pk, whole, units, leaves), (_, pk_2, whole_2, ..)) in one.into_iter().zip(other) {
        let is_record_shared = space == Space::Table && whole == whole_2;
        let name = group_id(group);
        let is_customer = pk.starts_with("C#");
        let is_own = pk != pk_2 && !is_customer;
        let label = if is_own { pk.split('#').next().unwrap_or("").into() } else { pk.replace(name.as_str(), "group") };
        let shared = match (is_own, is_customer) {
            (true, _) => Vec::new(),
            (false, true) => (0..key::CUSTOMER_SHARDS).map(|shard| place(&key::customers(&name, shard))).collect(),
            (false, false) => vec![place(&pk)],
        };
        let record = is_record_shared.then(|| place(&whole));
        let piece = Piece { space, shared, label, record, units, leaves };
        if is_record_shared { shape.group.push(piece) } else { shape.letter.push(piece) }
    }
    shape
}

/// The letters of a batch in commits of as many as fit, as the office packs them: each commit by group.
fn in_commits(letters: &[usize], bytes: usize, chance: &mut Chance) -> Vec<BTreeMap<usize, u64>> {
    let (mut commits, mut commit, mut customers) = (Vec::new(), BTreeMap::<usize, u64>::new(), BTreeSet::new());
    for (number, group) in letters.iter().enumerate() {
        *commit.entry(*group).or_default() += 1;
        customers.insert((*group, if bytes > 1_000 { number } else { chance.below(7) }));
        let count = commit.values().sum::<u64>() as usize;
        // A group counts as if it were new: four records, one of arrivals. The next letter may add one of each.
        let records = count + customers.len() + commit.len() * 5;
        if count == KEEP_LETTERS_MAX || records + 3 + 4 > COMMIT_RECORDS_MAX {
            commits.push(std::mem::take(&mut commit));
            customers.clear();
        }
    }
    if !commit.is_empty() {
        commits.push(commit);
    }
    commits.reverse();
    commits
}

/// Minutes until ten million letters are kept that come within an hour. A cold table doubles every half hour, as AWS
/// documents; `rates` are its letters a second, and the last one stays.
fn minutes(rates: &[u64]) -> u64 {
    let (mut kept, mut minute) = (0, 0);
    while kept < HOUR && minute < 100_000 {
        let rate = rates[((minute / 30) as usize).min(rates.len() - 1)];
        minute += 1;
        kept = (kept + rate * 60).min(WANTED * 60 * minute);
    }
    minute
}

const HEAD: &str = "\
# Letters a second that the table's partitions let through, simulated: see `throughput_tests.rs`. Twelve processes, a
# queue that is never empty, the slower of two seeds. `fullest` and `hottest`: write units a second. `minutes`: until ten
# million letters are kept that come within an hour (2,800 a second); the table of 4,000 doubles every half hour.

";

#[test]
fn the_partitions_let_through_what_the_table_says() {
    let mut table = HEAD.to_owned();
    let names = ["units", "kept/s", "throttled/s", "collided/s", "given up/s", "fullest", "minutes"];
    let [a, b, c, d, e, f, g] = names;
    writeln!(table, "{:34}{a:>7}{b:>8}{c:>13}{d:>12}{e:>12}{f:>13}{g:>9}  hottest shared key", "").expect("text");
    for (bytes, groups) in [110, 2_000].into_iter().flat_map(|bytes| [1, 5, 100].map(|groups| (bytes, groups))) {
        let shapes: Vec<Vec<Shape>> =
            (0..groups).map(|group| (0..key::SHARDS).map(|shard| shape(bytes, group, shard)).collect()).collect();
        for batch in [10, 100] {
            let mut rates = BTreeMap::new();
            let mut rows = Vec::new();
            for partitions in [4, 8, 16, 12, 20, 40] {
                let runs = (1..=SEEDS).map(|seed| run(&shapes, bytes, batch, partitions, seed));
                let slowest = runs.min_by_key(|outcome| outcome.kept).expect("a run");
                rates.insert(partitions, slowest.kept);
                rows.push((partitions, slowest));
            }
            for (partitions, outcome) in rows {
                let time = match partitions {
                    4 => minutes(&[rates[&4], rates[&8], rates[&16]]),
                    _ => minutes(&[outcome.kept]),
                };
                let name = format!("{bytes} B, {groups} groups, batch {batch}");
                let Outcome { kept, throttled, collided, given_up, fullest, hottest } = outcome;
                let full = format!("{} {}", fullest.0, fullest.1);
                writeln!(
                    table,
                    "{name:34}{:>7}{kept:>8}{throttled:>13}{collided:>12}{given_up:>12}{full:>13}{time:>9}  {} {}",
                    partitions * 1_000,
                    hottest.0,
                    hottest.1
                )
                .expect("text");
            }
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(GOLDEN, &table).expect("the golden table is written");
    }
    let golden = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    assert_eq!(table, golden, "UPDATE=1 rewrites {GOLDEN}");
}
