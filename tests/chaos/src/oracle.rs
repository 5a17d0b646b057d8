//! The oracle: what must hold after a round, whatever happened in it. It reads the databases by itself and asks the API;
//! it uses no code of the office.

use crate::observer::{self, Event, Number, Placed, Record};
use crate::office::Client;
use anyhow::{Context, Result};
use domain::id::ReplayId;
use domain::replay::Block;
use rusqlite::Connection;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the oracle found wrong.
pub type Violation = String;

/// The outcomes of an entry, which are also the columns of a ledger.
const OUTCOMES: [&str; 7] = ["pending", "sending", "in_flight", "delivered", "returned", "expired", "skipped"];

/// One letter as the store has it.
struct Letter {
    id: String,
    group: String,
    state: String,
    body: String,
    customer: Option<String>,
}

/// One entry of a replay as the store has it.
struct Entry {
    wave: usize,
    outcome: String,
    sends: u64,
}

/// The office's store, as far as the oracle needs it.
pub struct Store {
    letters: Vec<Letter>,
    /// By replay and letter.
    entries: BTreeMap<(String, String), Entry>,
    /// The ledger of each replay: a column per wave.
    ledgers: BTreeMap<String, Vec<Value>>,
    counts: BTreeMap<String, Value>,
}

/// Checks the folder of an office that is closed.
pub fn check(folder: &Path, placed: &Placed) -> Result<Vec<Violation>> {
    let mut found = Vec::new();
    for name in ["office.db", "queues.db"] {
        let db = Connection::open(folder.join(name))?;
        let said: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        if said != "ok" {
            found.push(format!("{name} is damaged: {said}"));
        }
    }
    let (record, store) = (observer::read(folder)?, Store::read(folder)?);
    found.extend(custody(&record, &store, placed));
    found.extend(sends(&record, &store));
    found.extend(store.ledgers_that_do_not_close());
    found.extend(store.counts_that_are_wrong());
    Ok(found)
}

/// Every acknowledged order was handled, waits, or is exactly one letter, with its body unchanged.
fn custody(record: &Record, store: &Store, placed: &Placed) -> Vec<Violation> {
    let mut letters: BTreeMap<Number, Vec<&Letter>> = BTreeMap::new();
    for letter in &store.letters {
        if let Some(order) = observer::number(&letter.body) {
            letters.entry(order).or_default().push(letter);
        }
    }
    let mut found = Vec::new();
    for order in placed.all() {
        if !record.events.contains_key(&order) {
            found.push(format!("order {order} was acknowledged, and was never on a queue"));
        }
    }
    for order in placed.failing() {
        let died = record.events.get(&order).is_some_and(|events| events.contains(&Event::Died));
        if !died && !record.on_main.contains(&order) {
            found.push(format!("order {order} fails under version 1, and neither waits nor died"));
        }
    }
    for (order, events) in &record.events {
        let kept = letters.get(order).map_or(0, Vec::len);
        let placed = events.iter().filter(|event| **event == Event::Placed).count();
        if events.contains(&Event::Died) && kept == 0 && !record.on_dlq.contains(order) {
            found.push(format!("order {order} died, and is neither a letter nor on the dead-letter queue"));
        }
        if kept > placed {
            found.push(format!("order {order} was placed {placed} times, and is {kept} letters"));
        }
        let bodies = record.bodies.get(order).map_or(0, BTreeSet::len);
        if bodies > 1 {
            found.push(format!("order {order} was sent with {bodies} different bodies"));
        }
    }
    for (order, letters) in &letters {
        for letter in letters {
            if record.bodies.get(order).is_none_or(|bodies| !bodies.contains(&letter.body)) {
                found.push(format!("the letter {} of order {order} has a body that was on no queue", letter.id));
            }
            let last = record.events.get(order).and_then(|events| events.last());
            if letter.state == "delivered" && last == Some(&Event::Died) {
                found.push(format!("the letter {} counts as delivered, and died after its last send", letter.id));
            }
        }
    }
    found
}

/// Every replayed message has an entry that knows of it, and every double send is counted.
fn sends(record: &Record, store: &Store) -> Vec<Violation> {
    let mut real: BTreeMap<(String, String), u64> = BTreeMap::new();
    for event in record.events.values().flatten() {
        if let Event::Replayed { letter, replay } = event {
            *real.entry((replay.clone(), letter.clone())).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for ((replay, letter), count) in &real {
        match store.entries.get(&(replay.clone(), letter.clone())) {
            None => found.push(format!("replay {replay} sent the letter {letter}, and has no entry for it")),
            Some(entry) if entry.sends < *count => found.push(format!(
                "replay {replay} sent the letter {letter} {count} times, and its entry ({}) says {}",
                entry.outcome, entry.sends
            )),
            Some(_) => {}
        }
    }
    for ((replay, letter), entry) in &store.entries {
        if entry.outcome == "delivered" && !real.contains_key(&(replay.clone(), letter.clone())) {
            found.push(format!("replay {replay} counts the letter {letter} as delivered, and never sent it"));
        }
    }
    for (replay, ledger) in &store.ledgers {
        let twice = real.iter().filter(|((of, _), count)| of == replay && **count > 1).count() as u64;
        let said = sum(ledger, "sent_twice");
        if twice > said {
            found.push(format!("replay {replay} sent {twice} letters more than once, and its ledger says {said}"));
        }
    }
    found
}

fn sum(ledger: &[Value], column: &str) -> u64 {
    ledger.iter().map(|wave| wave[column].as_u64().unwrap_or(0)).sum()
}

/// Reads the entries of all approved replays.
fn entries(db: &Connection) -> Result<BTreeMap<(String, String), Entry>> {
    let mut rows = db.prepare(
        "SELECT b.replay, k.number, k.version, k.entries FROM block k JOIN book b ON b.key = k.book \
         WHERE b.replay IN (SELECT id FROM replay)",
    )?;
    let mut rows = rows.query([])?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (replay, bytes) = (row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(3)?);
        let (number, version) = (row.get::<_, i64>(1)?.cast_unsigned(), row.get::<_, i64>(2)?.cast_unsigned());
        let block = Block::from_bytes(ReplayId::from(replay.as_str()), number, version, &bytes)?;
        for entry in block.entries {
            let outcome = entry.outcome.kind().as_str().to_owned();
            let read = Entry { wave: entry.wave as usize, outcome, sends: entry.sends.into() };
            found.insert((replay.clone(), entry.letter.as_str().to_owned()), read);
        }
    }
    Ok(found)
}

impl Store {
    /// Reads the store of an office that is closed.
    pub fn read(folder: &Path) -> Result<Self> {
        let db = Connection::open(folder.join("office.db"))?;
        let mut rows = db.prepare(
            "SELECT l.id, l.group_id, l.state, c.record ->> '$.body', l.record ->> '$.impact.customer' \
             FROM letter l JOIN content c ON c.letter = l.key",
        )?;
        let letters = rows.query_map([], |row| {
            Ok(Letter {
                id: row.get(0)?,
                group: row.get(1)?,
                state: row.get(2)?,
                body: row.get(3)?,
                customer: row.get(4)?,
            })
        })?;
        let letters = letters.collect::<Result<Vec<_>, _>>().context("letters")?;
        let entries = entries(&db).context("entries")?;
        let pairs = |sql: &str| -> Result<Vec<(String, Value)>> {
            let mut rows = db.prepare(sql)?;
            let rows = rows.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
            rows.map(|row| {
                row.map_err(anyhow::Error::from).and_then(|(id, text)| Ok((id, serde_json::from_str(&text)?)))
            })
            .collect()
        };
        let ledgers = pairs("SELECT replay, ledger FROM book WHERE replay IN (SELECT id FROM replay)")?;
        let ledgers = ledgers.into_iter().map(|(id, ledger)| (id, ledger.as_array().cloned().unwrap_or_default()));
        let counts = pairs("SELECT group_id, record FROM group_count")?;
        Ok(Self { letters, entries, ledgers: ledgers.collect(), counts: counts.into_iter().collect() })
    }

    /// How many letters it has.
    pub fn letter_count(&self) -> usize {
        self.letters.len()
    }

    /// Each number of a ledger is the number of its entries.
    fn ledgers_that_do_not_close(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for (replay, ledger) in &self.ledgers {
            for (number, wave) in ledger.iter().enumerate() {
                for outcome in OUTCOMES {
                    let listed = self
                        .entries
                        .iter()
                        .filter(|((of, _), entry)| of == replay && entry.wave == number && entry.outcome == outcome);
                    let (listed, said) = (listed.count() as u64, wave[outcome].as_u64().unwrap_or(0));
                    if listed != said {
                        found.push(format!(
                            "wave {number} of replay {replay} says {said} {outcome}, and lists {listed}"
                        ));
                    }
                }
            }
        }
        found
    }

    /// Each counter of a group is the number of its letters.
    fn counts_that_are_wrong(&self) -> Vec<Violation> {
        let mut real: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        let mut customers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for letter in &self.letters {
            *real.entry((letter.group.as_str(), letter.state.as_str())).or_default() += 1;
            customers.entry(&letter.group).or_default().extend(letter.customer.as_deref());
        }
        let mut found = Vec::new();
        for (group, counts) in &self.counts {
            for state in ["waiting", "in_replay", "quarantined", "delivered"] {
                let listed = real.remove(&(group.as_str(), state)).unwrap_or(0);
                let said = counts["by_state"][state]["letters"].as_u64().unwrap_or(0);
                if listed != said {
                    found.push(format!("group {group} counts {said} {state}, and has {listed}"));
                }
            }
            let listed = customers.get(group.as_str()).map_or(0, BTreeSet::len) as u64;
            let said = counts["customers"].as_u64().unwrap_or(0);
            // A letter may carry its customer elsewhere; then the oracle knows none and does not judge.
            if listed > said {
                found.push(format!("group {group} counts {said} customers, and has {listed}"));
            }
        }
        found.extend(
            real.iter()
                .map(|((group, state), n)| format!("{n} letters are {state} in group {group}, which counts none")),
        );
        found
    }
}

/// Checks that the numbers of the API are lists that the API shows, and that it shows every letter of the store.
pub async fn ask(client: &Client, letters_max: usize) -> Result<Vec<Violation>> {
    let mut found = Vec::new();
    let groups = client.get("/groups").await?["groups"].as_array().cloned().unwrap_or_default();
    let mut shown = 0;
    for group in groups {
        let id = group["id"].as_str().context("a group's id")?;
        let counts = client.get(&format!("/groups/{id}")).await?["counts"].clone();
        let letters = client.all(&format!("/groups/{id}/letters?"), "letters").await?;
        shown += letters.len();
        let states = counts["by_state"].as_object().cloned().unwrap_or_default();
        let counted: i64 = states.values().filter_map(|tally| tally["letters"].as_i64()).sum();
        if counted != letters.len() as i64 {
            found.push(format!("the API counts {counted} letters in group {id}, and lists {}", letters.len()));
        }
    }
    if shown != letters_max {
        found.push(format!("the store has {letters_max} letters, and the API shows {shown}"));
    }
    for replay in client.all("/replays?", "replays").await? {
        let id = replay["replay"]["plan"]["id"].as_str().context("a replay's id")?;
        for outcome in OUTCOMES {
            let entries = client.all(&format!("/replays/{id}/entries?outcome={outcome}"), "entries").await?;
            let said = replay["total"][outcome].as_u64().unwrap_or(0);
            if entries.len() as u64 != said {
                found.push(format!("the API says {said} {outcome} in replay {id}, and lists {}", entries.len()));
            }
        }
    }
    Ok(found)
}
