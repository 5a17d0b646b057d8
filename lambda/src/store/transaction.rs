//! Translates the caller's writes into the actions of one transaction. Most actions put a record under a condition.

use super::action::{ABSENT, Action, Condition, StoreCondition, expected};
use super::bucket::Bucket;
use super::counts::{self, Adding, moving};
use super::fault::Fault;
use super::forget;
use super::item::{Item, bytes, number, text};
use super::key::{self, Key};
use super::large::Blob;
use super::learned::Learned;
use super::pack::pack;
use super::snapshot;
use super::table::{Kept, Table};
use domain::group::{CountsDelta, Variant};
use domain::id::{GroupId, LetterId, MessageId, ReplayId};
use domain::impact::NEVER;
use domain::letter::{Death, Letter};
use domain::message::Content;
use domain::notice::KeptNotices;
use domain::policy::PolicyVersion;
use domain::replay::{Block, Draft, LedgerMove, Plan, Replay};
use domain::reported::KeptReports;
use domain::time::Timestamp;
use domain::transform::DryRun;
use office::port::{BUCKETS_TOGETHER, EntryKey, Expect, WAVES_TOGETHER, Write};
use serde::Serialize;
use std::collections::BTreeMap;

/// Largest letter, packed, that is stored whole in its record. With the keys it costs one write unit.
const LETTER_BYTES_MAX: usize = 700;
/// Largest metadata of a letter (all but its content), packed, that is stored in its record. 100 such records fit the
/// 4 MB of a transaction.
const RECORD_BYTES_MAX: usize = 32 * 1024;

/// A letter's content together with the letter's ID. This makes the packed bytes unique, so that each blob belongs to
/// one letter and can be deleted with it.
#[derive(Serialize)]
struct OwnContent<'a> {
    #[serde(flatten)]
    content: &'a Content,
    of: &'a LetterId,
    kept_at: Timestamp,
}

impl<'a> OwnContent<'a> {
    fn new(letter: &'a Letter) -> Self {
        Self { content: &letter.content, of: &letter.id, kept_at: letter.kept_at }
    }
}

/// Builds the transaction for one attempt of a commit.
pub(super) struct TransactionBuilder<'a> {
    pub learned: &'a Learned,
    pub bucket: Option<&'a Bucket>,
    pub stamp: u64,
    pub actions: Vec<Action>,
    /// Blobs that must be written before the transaction.
    pub blobs: Vec<Blob>,
    /// Records that must be written before the transaction: reminders (see [`forget`]), and parts of a snapshot.
    pub before: Vec<Item>,
    pub now: Timestamp,
    pub kept: Kept,
}

impl<'a> TransactionBuilder<'a> {
    pub(super) fn new(table: &'a Table, learned: &'a Learned, stamp: u64) -> Self {
        let (bucket, kept) = (table.bucket.as_ref(), table.kept());
        let (actions, blobs, before) = (Vec::new(), Vec::new(), Vec::new());
        Self { learned, bucket, stamp, actions, blobs, before, now: table.now(), kept }
    }

    /// Adds the actions for the write with this index.
    pub(super) fn add(&mut self, index: usize, write: &Write) -> Result<(), Fault> {
        match write {
            Write::Letter { letter, expect } => self.letter(index, letter, *expect),
            Write::Death(death) => self.death(index, death),
            Write::Variant { variant, expect } => self.variant(index, variant, *expect),
            Write::Counts { group, delta } => {
                self.counts(index, group, delta);
                Ok(())
            }
            Write::Plan(plan) => self.plan(index, plan),
            Write::PlanTaken { group, plan } => {
                self.delete(index, key::plan(group), ("id = :v", vec![(":v", text(plan.as_str()))]))
            }
            Write::Draft { draft, expect } => self.draft(index, draft, *expect),
            Write::DraftGone { draft, version } => {
                self.delete(index, key::draft(draft), expected(Expect::Version(*version)))
            }
            Write::BlockGone { replay, number } => self.delete(index, key::block(replay, *number), ("", Vec::new())),
            Write::Replay { replay, expect } => self.replay(index, replay, *expect),
            Write::ReplayIs { replay, version } => {
                self.push(index, Action::check(key::replay(replay), expected(Expect::Version(*version))));
                Ok(())
            }
            Write::Block { block, expect } => {
                self.block(index, block, *expect);
                Ok(())
            }
            Write::Ledger { replay, moves } => {
                self.ledger(index, replay, moves);
                Ok(())
            }
            Write::Sent { message, entry } => {
                self.sent(index, message, entry);
                Ok(())
            }
            Write::Deployment { deployment, believed_until } => {
                if !self.learned.is_old_report(index) {
                    let mut item = self.record(key::deployment(&deployment.service), "deployment", deployment)?;
                    item.insert("t".into(), number(deployment.at.as_ms()));
                    // A late report must not replace a newer one.
                    let values = vec![(":v", number(deployment.at.as_ms())), (":b", number(believed_until.as_ms()))];
                    let newer = ("attribute_not_exists(pk) OR t <= :v OR t > :b", values);
                    self.push(index, Action::put(item, Some(newer)).with_store_condition(StoreCondition::NewestReport));
                }
                Ok(())
            }
            Write::Transform(transform) => {
                let key = key::transform(&transform.group, transform.version);
                let item = self.record(key, "transform", transform)?;
                self.push(index, Action::put(item, Some((ABSENT, Vec::new()))));
                Ok(())
            }
            Write::DryRun { run, expect } => self.dry_run(index, run, *expect),
            Write::Attached(attached) => self.put(index, key::attached(&attached.queue), "list of consumers", attached),
            Write::Reports { kept, expect } => self.reports(index, kept, *expect),
            Write::Notices { kept, expect } => self.notices(index, kept, *expect),
            Write::Clock(record) => self.put(index, key::clock(), "clock", record),
            Write::Snapshot(packed) => {
                self.snapshot(index, packed);
                Ok(())
            }
            Write::Policy(version) => self.policy(index, version),
            Write::Audit(record) => {
                let position = key::audit_position(record.at.as_ms(), self.stamp, index);
                self.put(index, Key { pk: key::audit_pk(&record.group), sk: position }, "audit record", record)
            }
        }
    }

    fn reports(&mut self, index: usize, kept: &KeptReports, expect: Expect) -> Result<(), Fault> {
        let item = self.record(key::reports(&kept.key), "reports", kept)?;
        self.expiring(index, item, (kept.version, kept.expires_at), expect);
        Ok(())
    }

    fn notices(&mut self, index: usize, kept: &KeptNotices, expect: Expect) -> Result<(), Fault> {
        let item = self.record(key::notices(&kept.queue), "notices", kept)?;
        self.expiring(index, item, (kept.version, kept.expires_at), expect);
        Ok(())
    }

    /// Adds a record that DynamoDB deletes some time after its end.
    fn expiring(&mut self, index: usize, mut item: Item, (version, expires_at): (u64, Timestamp), expect: Expect) {
        item.insert("v".into(), number(version));
        item.insert(key::EXPIRES.into(), number(key::expiry(expires_at)));
        self.push(index, Action::put(item, Some(expected(expect))));
    }

    fn sent(&mut self, index: usize, message: &MessageId, EntryKey { replay, seq, letter }: &EntryKey) {
        let mut item = key::sent(message).item();
        item.insert("r".into(), text(replay.as_str()));
        item.insert("n".into(), number(seq));
        item.insert("l".into(), text(letter.as_str()));
        self.push(index, Action::put(item, None));
    }

    fn snapshot(&mut self, index: usize, packed: &[u8]) {
        let (item, parts) = snapshot::items(packed, self.stamp, self.now);
        self.before.extend(parts);
        self.push(index, Action::put(item, None));
    }

    fn draft(&mut self, index: usize, draft: &Draft, expect: Expect) -> Result<(), Fault> {
        let mut item = self.record(key::draft(&draft.id), "draft", draft)?;
        item.insert("v".into(), number(draft.version));
        self.push(index, Action::put(item, Some(expected(expect))));
        Ok(())
    }

    fn dry_run(&mut self, index: usize, run: &DryRun, expect: Expect) -> Result<(), Fault> {
        let mut item = self.record(key::dry_run(&run.group, run.transform.version), "dry run", run)?;
        item.insert("v".into(), number(run.revision));
        self.push(index, Action::put(item, Some(expected(expect))));
        Ok(())
    }

    /// Adds a version of the policy, and the newest version once more, over the version before.
    fn policy(&mut self, index: usize, version: &PolicyVersion) -> Result<(), Fault> {
        let follows = match version.version.saturating_sub(1) {
            0 => Expect::Absent,
            before => Expect::Version(before),
        };
        let mut newest = self.record(key::newest_policy(), "policy", version)?;
        newest.insert("v".into(), number(version.version));
        self.push(index, Action::put(newest, Some(expected(follows))));
        self.put(index, key::policy_version(version.version), "policy", version)
    }

    /// Adds a record that replaces whatever is stored under its key.
    fn put(&mut self, index: usize, key: Key, kind: &'static str, record: &impl serde::Serialize) -> Result<(), Fault> {
        let item = self.record(key, kind, record)?;
        self.push(index, Action::put(item, None));
        Ok(())
    }

    fn delete(&mut self, index: usize, key: Key, condition: Condition<'_>) -> Result<(), Fault> {
        self.push(index, Action::delete(key, condition));
        Ok(())
    }

    fn push(&mut self, index: usize, action: Action) {
        self.actions.push(action.for_write(index));
    }

    fn record(&self, key: Key, kind: &'static str, record: &impl serde::Serialize) -> Result<Item, Fault> {
        let mut item = key.item();
        item.insert("r".into(), bytes(pack(kind, record)?));
        Ok(item)
    }

    fn letter(&mut self, index: usize, letter: &Letter, expect: Expect) -> Result<(), Fault> {
        let mut item = key::letter(&letter.id).item();
        item.insert("v".into(), number(letter.version));
        item.insert("lo".into(), number(letter.loss_at.unwrap_or(NEVER).as_ms()));
        let (shard, _) = self.learned.shard(&letter.group);
        item.insert("lp".into(), text(key::letters_of(&letter.group, shard, letter.state.kind())));
        item.insert("ls".into(), text(key::letter_position(letter.sent_at.as_ms(), letter.id.as_str())));
        let mut condition = expected(expect);
        let mut store_condition = None;
        let whole = pack("letter", letter)?;
        // Only a letter that will be deleted needs an expiry or a reminder.
        let closed = letter.state.closed().and_then(|(closed, at)| Some((closed, at, self.kept.span_for(closed)?)));
        if whole.len() <= LETTER_BYTES_MAX {
            item.insert("w".into(), bytes(whole));
            if let Some((_, at, kept)) = closed {
                item.insert(key::EXPIRES.into(), number(key::expiry(at.plus(kept))));
            }
        } else {
            // A letter's content never changes, so it is written only once.
            let content = Blob::new(pack("content", &OwnContent::new(letter))?, 0, self.bucket);
            let mut metadata = letter.clone();
            metadata.content = Content::default();
            let metadata = Blob::new(pack("letter", &metadata)?, RECORD_BYTES_MAX, self.bucket);
            content.location.write_to(&mut item, "c", "ch");
            metadata.location.write_to(&mut item, "r", "rh");
            if let Some((closed, at, _)) = closed {
                item.insert(forget::CLOSED_AT.into(), number(at.as_ms()));
                self.before.push(forget::reminder(letter, (closed, at), &content.location, &metadata.location));
            }
            match content.location.already_stored() {
                Some((already_stored, hash))
                    if matches!(expect, Expect::Version(_)) && !self.learned.lacks_content(hash) =>
                {
                    condition.0 = already_stored;
                    condition.1.push((":h", text(hash)));
                    store_condition = Some(StoreCondition::SameContent { hash: hash.into(), version: expect });
                }
                _ => self.blobs.push(content),
            }
            self.blobs.push(metadata);
        }
        let action = Action::put(item, Some(condition));
        self.push(index, if let Some(own) = store_condition { action.with_store_condition(own) } else { action });
        Ok(())
    }

    fn death(&mut self, index: usize, death: &Death) -> Result<(), Fault> {
        let mut item = self.record(key::death(&death.id), "death", death)?;
        item.insert("lp".into(), text(key::deaths_of(&death.letter)));
        item.insert("ls".into(), text(format!("{:08x}#{}", death.number, death.id)));
        self.push(index, Action::put(item, Some((ABSENT, Vec::new()))));
        Ok(())
    }

    fn variant(&mut self, index: usize, variant: &Variant, expect: Expect) -> Result<(), Fault> {
        let mut item = self.record(key::variant(&variant.id), "variant", variant)?;
        item.insert("v".into(), number(variant.version));
        self.push(index, Action::put(item, Some(expected(expect))));
        if expect == Expect::Absent {
            self.list(index, key::group_listing(&variant.id), variant.id.as_str());
        }
        Ok(())
    }

    /// Puts an entry of a list. The entry names a record with another key.
    fn list(&mut self, index: usize, key: Key, id: &str) {
        let mut item = key.item();
        item.insert("id".into(), text(id));
        self.push(index, Action::put(item, None));
    }

    fn counts(&mut self, index: usize, group: &GroupId, delta: &CountsDelta) {
        let (shard, known) = self.learned.shard(group);
        let new: Vec<Key> = delta.customers.iter().map(|customer| key::customer(group, customer)).collect();
        let mut new: Vec<Key> = new.into_iter().filter(|key| !self.learned.is_counted(key)).collect();
        new.sort_by(|a, b| (&a.pk, &a.sk).cmp(&(&b.pk, &b.sk)));
        new.dedup();
        let mut adding = counts::adding(delta, new.len());
        if !adding.add.is_empty() {
            adding.extremes.shortest_ms = self.learned.shortest_ms(group);
            adding.extremes = moving(adding.extremes, known);
            let update = counts::update(key::counts(group, shard), &adding);
            let moves = StoreCondition::ExtremesMove { group: group.clone(), shard, written: adding.extremes };
            self.push(index, Action::update(update).with_store_condition(moves));
        }
        for key in new {
            let item = key.item();
            let put = Action::put(item, Some((ABSENT, Vec::new())));
            self.push(index, put.with_store_condition(StoreCondition::NewCustomer(key)));
        }
        let mut hours: BTreeMap<i64, Vec<(String, String)>> = BTreeMap::new();
        for (bucket, deaths) in &delta.arrivals {
            let (hour, within) = (bucket.div_euclid(BUCKETS_TOGETHER), bucket.rem_euclid(BUCKETS_TOGETHER));
            hours.entry(hour).or_default().push((format!("b{within:x}"), deaths.to_string()));
        }
        for (hour, add) in hours {
            let update = counts::update(key::arrivals(group, hour, shard), &Adding { add, ..Adding::default() });
            let written = counts::Extremes::default();
            let moves = StoreCondition::ExtremesMove { group: group.clone(), shard, written };
            self.push(index, Action::update(update).with_store_condition(moves));
        }
    }

    fn plan(&mut self, index: usize, plan: &Plan) -> Result<(), Fault> {
        let mut item = self.record(key::plan(&plan.group), "plan", plan)?;
        item.insert("id".into(), text(plan.id.as_str()));
        self.push(index, Action::put(item, None));
        Ok(())
    }

    fn replay(&mut self, index: usize, replay: &Replay, expect: Expect) -> Result<(), Fault> {
        let id = replay.id();
        let mut item = self.record(key::replay(id), "replay", replay)?;
        item.insert("v".into(), number(replay.version()));
        self.push(index, Action::put(item, Some(expected(expect))));
        let unfinished = Key { pk: key::UNFINISHED.into(), sk: key::replay_pk(id) };
        if expect == Expect::Absent {
            let position = key::replay_position(replay.approval().at.as_ms(), id.as_str());
            self.list(index, Key { pk: key::REPLAYS.into(), sk: position.clone() }, id.as_str());
            self.list(index, Key { pk: key::replays_of(replay.group()), sk: position }, id.as_str());
            if !replay.is_finished() {
                self.list(index, unfinished, id.as_str());
            }
        } else if replay.is_finished() {
            self.push(index, Action::delete(unfinished, ("", Vec::new())));
        }
        Ok(())
    }

    fn block(&mut self, index: usize, block: &Block, expect: Expect) {
        let mut item = key::block(&block.replay, block.number).item();
        item.insert("v".into(), number(block.version));
        item.insert("r".into(), bytes(block.to_bytes()));
        self.push(index, Action::put(item, Some(expected(expect))));
    }

    fn ledger(&mut self, index: usize, replay: &ReplayId, moves: &[LedgerMove]) {
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
                self.push(index, Action::update(update));
            }
        }
    }
}
