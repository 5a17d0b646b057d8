//! From writes to the actions of a transaction. Most are a record with its condition.

use super::bucket::Bucket;
use super::commit::{Action, Learned, Soft};
use super::counts::{self, Adding, moving};
use super::fault::Fault;
use super::forget;
use super::item::{Item, bytes, number, text};
use super::key::{self, ENTRY_SHARDS, Key};
use super::large::Large;
use super::pack::pack;
use super::table::Table;
use domain::group::{CountsDelta, Variant};
use domain::id::{GroupId, LetterId, ReplayId};
use domain::letter::{Death, Letter};
use domain::message::Content;
use domain::replay::{Entry, LedgerMove, OutcomeKind, Plan, Replay};
use domain::time::{Span, Timestamp};
use office::port::{BUCKETS_TOGETHER, Expect, WAVES_TOGETHER, Write};
use serde::Serialize;
use std::collections::BTreeMap;

/// A letter up to here goes whole into its record: with the keys it is one write unit.
const LETTER_BYTES_MAX: usize = 700;
/// The part of a letter that changes stays in its record up to here, so that 100 records fit the 4 MB of a transaction.
const RECORD_BYTES_MAX: usize = 32 * 1024;

/// A condition: an expression, and the values of `:v…` in it.
type Condition<'a> = (&'a str, Vec<(&'a str, aws_sdk_dynamodb::types::AttributeValue)>);

const ABSENT: &str = "attribute_not_exists(pk)";

fn expected(expect: Expect) -> Condition<'static> {
    match expect {
        Expect::Absent => (ABSENT, Vec::new()),
        Expect::Version(version) => ("v = :v", vec![(":v", number(version))]),
    }
}

/// A letter's content in words that no other letter's content has, so that what lies beside one letter is its alone and
/// can go with it.
#[derive(Serialize)]
struct OwnContent<'a> {
    #[serde(flatten)]
    content: &'a Content,
    of: &'a LetterId,
    kept_at: Timestamp,
}

impl<'a> OwnContent<'a> {
    fn of(letter: &'a Letter) -> Self {
        Self { content: &letter.content, of: &letter.id, kept_at: letter.kept_at }
    }
}

/// Gathers the actions of one try of a commit.
pub(super) struct Gathering<'a> {
    pub learned: &'a Learned,
    pub bucket: Option<&'a Bucket>,
    pub stamp: u64,
    pub actions: Vec<Action>,
    /// What has to be written before.
    pub large: Vec<Large>,
    /// Notes that have to be written before.
    pub notes: Vec<Item>,
    /// How long delivered letters are kept; none for ever.
    pub delivered_kept: Option<Span>,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(table: &'a Table, learned: &'a Learned, stamp: u64) -> Self {
        let (bucket, delivered_kept) = (table.bucket.as_ref(), table.delivered_kept);
        let (actions, large, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { learned, bucket, stamp, actions, large, notes, delivered_kept }
    }

    /// Adds the actions of the write at this place of the commit.
    pub(super) fn take(&mut self, at: usize, write: &Write) -> Result<(), Fault> {
        match write {
            Write::Letter { letter, expect } => self.letter(at, letter, *expect),
            Write::Death(death) => self.death(at, death),
            Write::Variant { variant, expect } => self.group(at, variant, *expect),
            Write::Counts { group, delta } => {
                self.counts(at, group, delta);
                Ok(())
            }
            Write::Plan(plan) => self.plan(at, plan),
            Write::PlanTaken { group, plan } => {
                self.push(at, Action::delete(key::plan(group), ("id = :v", vec![(":v", text(plan.as_str()))])));
                Ok(())
            }
            Write::Replay { replay, expect } => self.replay(at, replay, *expect),
            Write::ReplayIs { replay, version } => {
                self.push(at, Action::check(key::replay(replay), expected(Expect::Version(*version))));
                Ok(())
            }
            Write::Entry { entry, was } => self.entry(at, entry, *was),
            Write::Ledger { replay, moves } => {
                self.ledger(at, replay, moves);
                Ok(())
            }
            Write::Sent { message, replay, letter } => {
                let mut item = key::sent(message).item();
                item.insert("r".into(), text(replay.as_str()));
                item.insert("l".into(), text(letter.as_str()));
                self.push(at, Action::put(item, None));
                Ok(())
            }
            Write::Deployment(deployment) => {
                if !self.learned.is_old(at) {
                    let mut item = self.record(key::deployment(&deployment.service), "deployment", deployment)?;
                    item.insert("t".into(), number(deployment.at.as_ms()));
                    // A report that arrives late does not undo a newer one.
                    let newer = ("attribute_not_exists(pk) OR t <= :v", vec![(":v", number(deployment.at.as_ms()))]);
                    self.push(at, Action::put(item, Some(newer)).softly(Soft::OldReport));
                }
                Ok(())
            }
            Write::Transform(transform) => {
                let key = key::transform(&transform.group, transform.version);
                let item = self.record(key, "transform", transform)?;
                self.push(at, Action::put(item, Some((ABSENT, Vec::new()))));
                Ok(())
            }
            Write::DryRun { run, expect } => {
                let mut item = self.record(key::dry_run(&run.group, run.transform.version), "dry run", run)?;
                item.insert("v".into(), number(run.revision));
                self.push(at, Action::put(item, Some(expected(*expect))));
                Ok(())
            }
            Write::Attached(attached) => {
                let item = self.record(key::attached(&attached.queue), "attached", attached)?;
                self.push(at, Action::put(item, None));
                Ok(())
            }
            Write::Audit(record) => {
                let place = key::audit_place(record.at.as_ms(), self.stamp, at);
                let key = Key { pk: key::audit_pk(&record.group), sk: place };
                let item = self.record(key, "audit record", record)?;
                self.push(at, Action::put(item, None));
                Ok(())
            }
        }
    }

    fn push(&mut self, at: usize, action: Action) {
        self.actions.push(action.of(at));
    }

    fn record(&self, key: Key, kind: &'static str, record: &impl serde::Serialize) -> Result<Item, Fault> {
        let mut item = key.item();
        item.insert("r".into(), bytes(pack(kind, record)?));
        Ok(item)
    }

    fn letter(&mut self, at: usize, letter: &Letter, expect: Expect) -> Result<(), Fault> {
        let mut item = key::letter(&letter.id).item();
        item.insert("v".into(), number(letter.version));
        item.insert("lo".into(), number(letter.loss_at.as_ms()));
        let (shard, _) = self.learned.shard(&letter.group);
        item.insert("lp".into(), text(key::letters_of(&letter.group, shard, letter.state.kind())));
        item.insert("ls".into(), text(key::letter_place(letter.sent_at.as_ms(), letter.id.as_str())));
        let mut condition = expected(expect);
        let mut soft = None;
        let whole = pack("letter", letter)?;
        let delivered_at = letter.state.delivered_at();
        if whole.len() <= LETTER_BYTES_MAX {
            item.insert("w".into(), bytes(whole));
            if let (Some(at), Some(kept)) = (delivered_at, self.delivered_kept) {
                item.insert(key::EXPIRES.into(), number(key::expiry(at.plus(kept))));
            }
        } else {
            // Content never changes, so it is written once, however often the letter moves.
            let content = Large::new(pack("content", &OwnContent::of(letter))?, 0, self.bucket);
            let mut rest = letter.clone();
            rest.content = domain::message::Content::default();
            let rest = Large::new(pack("letter", &rest)?, RECORD_BYTES_MAX, self.bucket);
            content.place.note(&mut item, "c", "ch");
            rest.place.note(&mut item, "r", "rh");
            if let (Some(at), Some(_)) = (delivered_at, self.delivered_kept) {
                item.insert(forget::DELIVERED_AT.into(), number(at.as_ms()));
                self.notes.push(forget::note(letter, at, &content.place, &rest.place));
            }
            match content.place.unmoved() {
                Some((unmoved, hash)) if matches!(expect, Expect::Version(_)) && !self.learned.is_beside(hash) => {
                    condition.0 = unmoved;
                    condition.1.push((":h", text(hash)));
                    soft = Some(Soft::Content { hash: hash.into(), version: expect });
                }
                _ => self.large.push(content),
            }
            self.large.push(rest);
        }
        let action = Action::put(item, Some(condition));
        self.push(at, if let Some(soft) = soft { action.softly(soft) } else { action });
        Ok(())
    }

    fn death(&mut self, at: usize, death: &Death) -> Result<(), Fault> {
        let mut item = self.record(key::death(&death.id), "death", death)?;
        item.insert("lp".into(), text(key::deaths_of(&death.letter)));
        item.insert("ls".into(), text(format!("{:08x}#{}", death.number, death.id)));
        self.push(at, Action::put(item, Some((ABSENT, Vec::new()))));
        Ok(())
    }

    fn group(&mut self, at: usize, group: &Variant, expect: Expect) -> Result<(), Fault> {
        let mut item = self.record(key::group(&group.id), "group", group)?;
        item.insert("v".into(), number(group.version));
        self.push(at, Action::put(item, Some(expected(expect))));
        if expect == Expect::Absent {
            self.place(at, key::group_place(&group.id), group.id.as_str());
        }
        Ok(())
    }

    /// A place in a list that names a record elsewhere.
    fn place(&mut self, at: usize, key: Key, id: &str) {
        let mut item = key.item();
        item.insert("id".into(), text(id));
        self.push(at, Action::put(item, None));
    }

    fn counts(&mut self, at: usize, group: &GroupId, delta: &CountsDelta) {
        let (shard, known) = self.learned.shard(group);
        let new: Vec<Key> = delta.customers.iter().map(|customer| key::customer(group, customer)).collect();
        let mut new: Vec<Key> = new.into_iter().filter(|key| !self.learned.is_customer(key)).collect();
        new.sort_by(|a, b| a.pk.cmp(&b.pk));
        new.dedup();
        let mut adding = counts::adding(delta, new.len());
        if !adding.add.is_empty() {
            adding.extremes.shortest_ms = self.learned.shortest_ms(group);
            adding.extremes = moving(adding.extremes, known);
            let update = counts::update(key::counts(group, shard), &adding);
            let soft = Soft::Extremes { group: group.clone(), shard, written: adding.extremes };
            self.push(at, Action::update(update).softly(soft));
        }
        for key in new {
            let item = key.item();
            self.push(at, Action::put(item, Some((ABSENT, Vec::new()))).softly(Soft::Customer(key)));
        }
        let mut hours: BTreeMap<i64, Vec<(String, String)>> = BTreeMap::new();
        for (bucket, deaths) in &delta.arrivals {
            let (hour, within) = (bucket.div_euclid(BUCKETS_TOGETHER), bucket.rem_euclid(BUCKETS_TOGETHER));
            hours.entry(hour).or_default().push((format!("b{within:x}"), deaths.to_string()));
        }
        for (hour, add) in hours {
            let update = counts::update(key::arrivals(group, hour, shard), &Adding { add, ..Adding::default() });
            let soft = Soft::Extremes { group: group.clone(), shard, written: counts::Extremes::default() };
            self.push(at, Action::update(update).softly(soft));
        }
    }

    fn plan(&mut self, at: usize, plan: &Plan) -> Result<(), Fault> {
        let mut item = self.record(key::plan(&plan.group), "plan", plan)?;
        item.insert("id".into(), text(plan.id.as_str()));
        self.push(at, Action::put(item, None));
        Ok(())
    }

    fn replay(&mut self, at: usize, replay: &Replay, expect: Expect) -> Result<(), Fault> {
        let id = replay.id();
        let mut item = self.record(key::replay(id), "replay", replay)?;
        item.insert("v".into(), number(replay.version()));
        self.push(at, Action::put(item, Some(expected(expect))));
        let unfinished = Key { pk: key::UNFINISHED.into(), sk: key::replay_pk(id) };
        if expect == Expect::Absent {
            let place = key::replay_place(replay.approval().at.as_ms(), id.as_str());
            self.place(at, Key { pk: key::REPLAYS.into(), sk: place.clone() }, id.as_str());
            self.place(at, Key { pk: key::replays_of(replay.group()), sk: place }, id.as_str());
            if !replay.is_finished() {
                self.place(at, unfinished, id.as_str());
            }
        } else if replay.is_finished() {
            self.push(at, Action::delete(unfinished, ("", Vec::new())));
        }
        Ok(())
    }

    fn entry(&mut self, at: usize, entry: &Entry, was: Option<(OutcomeKind, u32)>) -> Result<(), Fault> {
        let mut item = self.record(key::entry(&entry.replay, &entry.letter), "entry", entry)?;
        let outcome = entry.outcome.kind();
        item.insert("o".into(), text(outcome.as_str()));
        item.insert("n".into(), number(entry.sends));
        item.insert("lp".into(), text(key::entries_of(&entry.replay, outcome, entry.seq % ENTRY_SHARDS)));
        item.insert("ls".into(), text(key::entry_place(entry.wave, entry.seq)));
        let condition: Condition<'_> = match was {
            None => (ABSENT, Vec::new()),
            Some((was, sends)) => ("o = :o AND n = :n", vec![(":o", text(was.as_str())), (":n", number(sends))]),
        };
        self.push(at, Action::put(item, Some(condition)));
        Ok(())
    }

    fn ledger(&mut self, at: usize, replay: &ReplayId, moves: &[LedgerMove]) {
        let mut eights: BTreeMap<u32, BTreeMap<String, i64>> = BTreeMap::new();
        for step in moves {
            let columns = eights.entry(step.wave / WAVES_TOGETHER).or_default();
            let mut add = |column: &str, by: i64| {
                *columns.entry(format!("{}{column}", step.wave % WAVES_TOGETHER)).or_default() += by;
            };
            add(step.to.as_str(), step.letters.cast_signed());
            if let Some(from) = step.from {
                add(from.as_str(), -step.letters.cast_signed());
            }
            add("sent_twice", step.sent_twice);
            add("confirmed", step.confirmed);
        }
        for (eight, columns) in eights {
            let add = columns.into_iter().filter(|(_, by)| *by != 0).map(|(name, by)| (name, by.to_string()));
            let adding = Adding { add: add.collect(), ..Adding::default() };
            if !adding.add.is_empty() {
                let update = counts::update(key::ledger(replay, eight), &adding);
                self.push(at, Action::update(update));
            }
        }
    }
}
