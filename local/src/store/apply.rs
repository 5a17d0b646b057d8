//! The writes of a commit, one function each. They return `false` if the write's condition is not met.

use super::fault::Fault;
use super::read::{self, decode};
use super::sql;
use domain::audit::AuditRecord;
use domain::deployment::Deployment;
use domain::discard::Closed;
use domain::group::{CountsDelta, Variant};
use domain::id::{GroupId, MessageId, ReplayId, hash_hex};
use domain::impact::NEVER;
use domain::letter::{Death, Letter, LetterStateKind};
use domain::notice::KeptNotices;
use domain::replay::{Block, Draft, Ledger, LedgerMove, Plan, Replay};
use domain::reported::KeptReports;
use domain::time::Timestamp;
use domain::transform::{DryRun, Transform};
use office::port::{EntryKey, Expect, Write};
use rusqlite::{Connection, OptionalExtension, Params, params};
use serde::Serialize;

/// Expired records of reports that one write deletes: more than it adds.
const REPORTS_DELETED_MAX: i64 = 4;

/// Applies a write if its condition is met.
pub(super) fn apply(db: &Connection, write: Write) -> Result<bool, Fault> {
    match write {
        Write::Letter { letter, expect } => self::letter(db, *letter, expect),
        Write::Death(death) => self::death(db, &death),
        Write::Variant { variant: record, expect } => variant(db, &record, expect),
        Write::Counts { group, delta } => counts(db, &group, &delta).map(|()| true),
        Write::Plan(plan) => self::plan(db, &plan).map(|()| true),
        Write::PlanTaken { group, plan } => plan_taken(db, &group, &plan),
        Write::Draft { draft, expect } => self::draft(db, &draft, expect),
        Write::DraftGone { draft, version } => {
            write_one(db, "DELETE FROM draft WHERE id = ?1 AND version = ?2", params![draft.as_str(), int(version)])
        }
        Write::BlockGone { replay, number } => block_gone(db, &replay, number).map(|()| true),
        Write::Replay { replay, expect } => self::replay(db, &replay, expect),
        Write::ReplayIs { replay, version } => replay_is(db, &replay, version),
        Write::Block { block, expect } => self::block(db, &block, expect),
        Write::Ledger { replay, moves } => ledger(db, &replay, &moves).map(|()| true),
        Write::Sent { message, entry: EntryKey { replay, seq, letter } } => {
            let text = "INSERT INTO sent VALUES (?1, ?2, ?3, ?4) ON CONFLICT (message) DO UPDATE
                SET replay = excluded.replay, place = excluded.place, letter = excluded.letter";
            write_one(db, text, params![message.as_str(), replay.as_str(), int(seq), letter.as_str()])
        }
        Write::Deployment { deployment, believed_until } => {
            self::deployment(db, &deployment, believed_until).map(|()| true)
        }
        Write::Transform(transform) => self::transform(db, &transform),
        Write::DryRun { run, expect } => dry_run(db, &run, expect),
        Write::Attached(attached) => {
            let text = "INSERT INTO attached VALUES (?1, ?2)
                ON CONFLICT (queue) DO UPDATE SET record = excluded.record";
            write_one(db, text, params![attached.queue.as_str(), encode("attached", &attached)?])
        }
        Write::Reports { kept, expect } => reports(db, &kept, expect),
        Write::Notices { kept, expect } => notices(db, &kept, expect),
        Write::Clock(record) => {
            let text = "INSERT INTO clock VALUES (1, ?1) ON CONFLICT (key) DO UPDATE SET record = excluded.record";
            write_one(db, text, [encode("clock", &record)?])
        }
        Write::Snapshot(packed) => {
            let text = "INSERT INTO snapshot VALUES (1, ?1) ON CONFLICT (key) DO UPDATE SET packed = excluded.packed";
            write_one(db, text, [packed])
        }
        Write::Policy(version) => {
            let text = "INSERT INTO policy SELECT ?1, ?2 WHERE ?1 = 1 + (SELECT coalesce(max(version), 0) FROM policy)";
            write_one(db, text, params![int(version.version), encode("policy", &version)?])
        }
        Write::Audit(record) => audit(db, &record),
    }
}

/// Runs a statement that writes one row at most. Returns whether it wrote a row.
fn write_one(db: &Connection, text: &str, values: impl Params) -> Result<bool, Fault> {
    Ok(db.prepare_cached(text)?.execute(values)? == 1)
}

fn encode(kind: &'static str, record: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(record).map_err(|source| Fault::Encode { kind, source })
}

/// Converts to SQLite's signed integers. Versions and list positions stay far below 2^63, and distinct values stay distinct.
fn int(n: u64) -> i64 {
    n.cast_signed()
}

fn letter(db: &Connection, mut letter: Letter, expect: Expect) -> Result<bool, Fault> {
    let content = std::mem::take(&mut letter.content);
    let (kind, record) = (letter.state.kind(), encode("letter", &letter)?);
    let closed_at = letter.state.closed().map(|(_, at)| at.as_ms());
    let checksum = read::checksum(&record);
    let (id, version, group, state) = (letter.id.as_str(), int(letter.version), letter.group.as_str(), kind.as_str());
    let (sent_at, loss_at) = (letter.sent_at.as_ms(), letter.loss_at.unwrap_or(NEVER).as_ms());
    let open = kind.is_open();
    let Expect::Version(before) = expect else {
        let text = "
            INSERT INTO letter (id, version, group_id, state, open, sent_at, loss_at, record, closed_at, checksum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (id) DO NOTHING RETURNING key";
        let values = params![id, version, group, state, open, sent_at, loss_at, record, closed_at, checksum];
        let key: Option<i64> = db.prepare_cached(text)?.query_row(values, |row| row.get(0)).optional()?;
        let Some(key) = key else { return Ok(false) };
        let content = encode("content", &content)?;
        let text = "INSERT INTO content (letter, record, checksum) VALUES (?1, ?2, ?3)";
        return write_one(db, text, params![key, content, read::checksum(&content)]);
    };
    // The content never changes, so it stays as it is.
    let text = "
        UPDATE letter SET version = ?2, group_id = ?3, state = ?4, open = ?5, sent_at = ?6, loss_at = ?7,
        record = ?8, closed_at = ?9, checksum = ?10 WHERE id = ?1 AND version = ?11";
    let values = params![id, version, group, state, open, sent_at, loss_at, record, closed_at, checksum, int(before)];
    write_one(db, text, values)
}

/// Deletes letters closed in this way before a moment, oldest first, with their content.
pub(super) fn forget(db: &Connection, closed: Closed, before: Timestamp, limit: usize) -> Result<usize, Fault> {
    let kind = match closed {
        Closed::Delivered => LetterStateKind::Delivered,
        Closed::Discarded => LetterStateKind::Discarded,
    };
    let chosen = "SELECT key FROM letter WHERE state = ?3 AND closed_at < ?1 ORDER BY closed_at, key LIMIT ?2";
    let values = params![before.as_ms(), int(limit as u64), kind.as_str()];
    db.prepare_cached(&format!("DELETE FROM content WHERE letter IN ({chosen})"))?.execute(values)?;
    Ok(db.prepare_cached(&format!("DELETE FROM letter WHERE key IN ({chosen})"))?.execute(values)?)
}

fn reports(db: &Connection, kept: &KeptReports, expect: Expect) -> Result<bool, Fault> {
    let queue = kept.key.queue.as_str();
    let message = kept.key.message.as_ref().map_or("", MessageId::as_str);
    let (version, expires_at, record) = (int(kept.version), kept.expires_at.as_ms(), encode("reports", kept)?);
    let written = match expect {
        Expect::Absent => {
            let text = "INSERT INTO reports VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (queue, message) DO NOTHING";
            write_one(db, text, params![queue, message, version, expires_at, record])
        }
        Expect::Version(expected) => {
            let text = "UPDATE reports SET version = ?3, expires_at = ?4, record = ?5
                WHERE queue = ?1 AND message = ?2 AND version = ?6";
            write_one(db, text, params![queue, message, version, expires_at, record, int(expected)])
        }
    }?;
    // Each write deletes a few expired records, so that their number never grows.
    let expired = "DELETE FROM reports WHERE (queue, message) IN
        (SELECT queue, message FROM reports WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2)";
    db.prepare_cached(expired)?.execute(params![kept.written_at.as_ms(), REPORTS_DELETED_MAX])?;
    Ok(written)
}

/// There is one record for each main queue, so none is deleted.
fn notices(db: &Connection, kept: &KeptNotices, expect: Expect) -> Result<bool, Fault> {
    let (queue, version, record) = (kept.queue.as_str(), int(kept.version), encode("notices", kept)?);
    match expect {
        Expect::Absent => {
            let text = "INSERT INTO notices VALUES (?1, ?2, ?3) ON CONFLICT (queue) DO NOTHING";
            write_one(db, text, params![queue, version, record])
        }
        Expect::Version(expected) => {
            let text = "UPDATE notices SET version = ?2, record = ?3 WHERE queue = ?1 AND version = ?4";
            write_one(db, text, params![queue, version, record, int(expected)])
        }
    }
}

fn death(db: &Connection, death: &Death) -> Result<bool, Fault> {
    let text = "INSERT INTO death (id, letter, number, record) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO NOTHING";
    let record = encode("death", death)?;
    write_one(db, text, params![death.id.as_str(), death.letter.as_str(), death.number, record])
}

fn variant(db: &Connection, variant: &Variant, expect: Expect) -> Result<bool, Fault> {
    changed(db, &variant.id)?;
    let (id, version, record) = (variant.id.as_str(), int(variant.version), encode("group", variant)?);
    match expect {
        Expect::Absent => {
            let text = "INSERT INTO error_group VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING";
            write_one(db, text, params![id, version, record])
        }
        Expect::Version(was) => {
            let text = "UPDATE error_group SET version = ?2, record = ?3 WHERE id = ?1 AND version = ?4";
            write_one(db, text, params![id, version, record, int(was)])
        }
    }
}

/// Notes that a group was changed, after all changes before.
fn changed(db: &Connection, group: &GroupId) -> Result<(), Fault> {
    let text = "INSERT INTO change VALUES (?1, 1 + coalesce((SELECT max(number) FROM change), 0))
        ON CONFLICT (group_id) DO UPDATE SET number = excluded.number";
    db.prepare_cached(text)?.execute([group.as_str()])?;
    Ok(())
}

fn counts(db: &Connection, group: &GroupId, delta: &CountsDelta) -> Result<(), Fault> {
    changed(db, group)?;
    // Nothing is added to a number that has changed since it was written.
    let mut counts = read::counts(db, group)?.unwrap_or_default();
    counts.apply(delta);
    for customer in &delta.customers {
        // A hash keeps the set small, and keeps customer ids out of all tables but the letters'.
        let hash = hash_hex(&["customer", customer]);
        let text = "INSERT INTO group_customer VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        counts.customers += u64::from(write_one(db, text, params![group.as_str(), hash])?);
    }
    for (bucket, deaths) in &delta.arrivals {
        let text = "INSERT INTO arrival VALUES (?1, ?2, ?3)
            ON CONFLICT (group_id, bucket) DO UPDATE SET deaths = deaths + excluded.deaths";
        db.prepare_cached(text)?.execute(params![group.as_str(), bucket, int(*deaths)])?;
    }
    let text = "INSERT INTO group_count (group_id, record, checksum) VALUES (?1, ?2, ?3)
        ON CONFLICT (group_id) DO UPDATE SET record = excluded.record, checksum = excluded.checksum";
    let record = encode("counter", &counts)?;
    db.prepare_cached(text)?.execute(params![group.as_str(), record, read::checksum(&record)])?;
    Ok(())
}

/// Replaces the plan of a group. The entries of the old plan stay: they are never sent, and deleting them could hit a plan
/// that is written again because its first response was lost.
fn plan(db: &Connection, plan: &Plan) -> Result<(), Fault> {
    let text = "INSERT INTO plan VALUES (?1, ?2, ?3)
        ON CONFLICT (group_id) DO UPDATE SET id = excluded.id, record = excluded.record";
    let record = encode("plan", plan)?;
    db.prepare_cached(text)?.execute(params![plan.group.as_str(), plan.id.as_str(), record])?;
    Ok(())
}

fn plan_taken(db: &Connection, group: &GroupId, plan: &ReplayId) -> Result<bool, Fault> {
    write_one(db, "DELETE FROM plan WHERE group_id = ?1 AND id = ?2", [group.as_str(), plan.as_str()])
}

fn draft(db: &Connection, draft: &Draft, expect: Expect) -> Result<bool, Fault> {
    let (id, version, record) = (draft.id.as_str(), int(draft.version), encode("draft", draft)?);
    match expect {
        Expect::Absent => {
            let text = "INSERT INTO draft VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING";
            write_one(db, text, params![id, version, record])
        }
        Expect::Version(was) => {
            let text = "UPDATE draft SET version = ?2, record = ?3 WHERE id = ?1 AND version = ?4";
            write_one(db, text, params![id, version, record, int(was)])
        }
    }
}

/// Deletes a block of a draft, and with the last of them what names them.
fn block_gone(db: &Connection, replay: &ReplayId, number: u64) -> Result<(), Fault> {
    let text = "DELETE FROM block WHERE book = (SELECT key FROM book WHERE replay = ?1) AND number = ?2";
    db.prepare_cached(text)?.execute(params![replay.as_str(), int(number)])?;
    let text = "DELETE FROM book WHERE replay = ?1 AND ledger = '[]'
        AND NOT EXISTS (SELECT 1 FROM block WHERE book = book.key)";
    db.prepare_cached(text)?.execute([replay.as_str()])?;
    Ok(())
}

fn replay(db: &Connection, replay: &Replay, expect: Expect) -> Result<bool, Fault> {
    let (id, version, record) = (replay.id().as_str(), int(replay.version()), encode("replay", replay)?);
    let (group, approved_at) = (replay.group().as_str(), replay.approval().at.as_ms());
    match expect {
        Expect::Absent => {
            let text = "INSERT INTO replay VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING";
            write_one(db, text, params![id, version, group, approved_at, replay.is_finished(), record])
        }
        Expect::Version(was) => {
            let text = "UPDATE replay SET version = ?2, group_id = ?3, approved_at = ?4, finished = ?5, record = ?6
                WHERE id = ?1 AND version = ?7";
            let finished = replay.is_finished();
            write_one(db, text, params![id, version, group, approved_at, finished, record, int(was)])
        }
    }
}

fn replay_is(db: &Connection, replay: &ReplayId, version: u64) -> Result<bool, Fault> {
    let text = "SELECT 1 FROM replay WHERE id = ?1 AND version = ?2";
    Ok(db.prepare_cached(text)?.exists(params![replay.as_str(), int(version)])?)
}

/// Returns the key of a replay's entries, and its ledger. The key is a number because every index would repeat the
/// replay's id.
fn book(db: &Connection, replay: &ReplayId) -> Result<(i64, Ledger), Fault> {
    let stored: Option<(i64, String)> =
        db.prepare_cached(sql::BOOK)?.query_row([replay.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    if let Some((key, ledger)) = stored {
        return Ok((key, decode("ledger", &ledger)?));
    }
    let text = "INSERT INTO book (replay, ledger) VALUES (?1, '[]') RETURNING key";
    let key = db.prepare_cached(text)?.query_row([replay.as_str()], |row| row.get(0))?;
    Ok((key, Ledger::default()))
}

fn block(db: &Connection, block: &Block, expect: Expect) -> Result<bool, Fault> {
    let (book, _) = book(db, &block.replay)?;
    let (number, version, entries) = (int(block.number), int(block.version), block.to_bytes());
    match expect {
        Expect::Absent => {
            let text = "INSERT INTO block VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
            write_one(db, text, params![book, number, version, entries])
        }
        Expect::Version(was) => {
            let text = "UPDATE block SET version = ?3, entries = ?4 WHERE book = ?1 AND number = ?2 AND version = ?5";
            write_one(db, text, params![book, number, version, entries, int(was)])
        }
    }
}

fn ledger(db: &Connection, replay: &ReplayId, moves: &[LedgerMove]) -> Result<(), Fault> {
    let (book, mut ledger) = book(db, replay)?;
    for change in moves {
        ledger.apply(change);
    }
    let text = "UPDATE book SET ledger = ?2 WHERE key = ?1";
    db.prepare_cached(text)?.execute(params![book, encode("ledger", &ledger)?])?;
    Ok(())
}

/// Stores a deployment, unless a newer one of the service is stored already.
fn deployment(db: &Connection, deployment: &Deployment, believed_until: Timestamp) -> Result<(), Fault> {
    let text = "INSERT INTO deployment VALUES (?1, ?2, ?3)
        ON CONFLICT (service) DO UPDATE SET at = excluded.at, record = excluded.record
        WHERE excluded.at >= at OR at > ?4";
    let record = encode("deployment", deployment)?;
    db.prepare_cached(text)?.execute(params![
        deployment.service,
        deployment.at.as_ms(),
        record,
        believed_until.as_ms()
    ])?;
    Ok(())
}

fn transform(db: &Connection, transform: &Transform) -> Result<bool, Fault> {
    let text = "INSERT INTO transform VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    write_one(db, text, params![transform.group.as_str(), transform.version, encode("transform", transform)?])
}

fn dry_run(db: &Connection, run: &DryRun, expect: Expect) -> Result<bool, Fault> {
    let (group, version, record) = (run.group.as_str(), run.transform.version, encode("dry run", run)?);
    match expect {
        Expect::Absent => {
            let text = "INSERT INTO dry_run VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
            write_one(db, text, params![group, version, int(run.revision), record])
        }
        Expect::Version(was) => {
            let text = "UPDATE dry_run SET revision = ?3, record = ?4
                WHERE group_id = ?1 AND version = ?2 AND revision = ?5";
            write_one(db, text, params![group, version, int(run.revision), record, int(was)])
        }
    }
}

fn audit(db: &Connection, record: &AuditRecord) -> Result<bool, Fault> {
    let text = "INSERT INTO audit (group_id, at, record) VALUES (?1, ?2, ?3)";
    write_one(db, text, params![record.group.as_str(), record.at.as_ms(), encode("audit record", record)?])
}
