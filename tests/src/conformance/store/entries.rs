//! Entries of replays, and their ledger.

use super::{all, commit, refused};
use domain::id::{MessageId, ReplayId};
use domain::replay::{Block, Confirmation, Entry, LedgerMove, Outcome, OutcomeKind, Plan, ReturnCause, SkipReason};
use harness::samples::{Chance, at_s, entries, group_id, letters, new_blocks, plan};
use office::port::{Expect, Store, Write};

/// Returns the entry as it is stored.
pub(super) async fn stored(store: &dyn Store, entry: &Entry) -> Option<Entry> {
    let block = store.blocks_at(&entry.replay, &[Block::number_of(entry.seq)]).await.unwrap().pop();
    block.and_then(|block| block.entry(entry.seq).cloned()).filter(|found| found.letter == entry.letter)
}

/// Returns the write of a block in which this entry has changed.
pub(super) async fn put(store: &dyn Store, after: &Entry, before: &Entry) -> Write {
    let block = store.blocks_at(&before.replay, &[Block::number_of(before.seq)]).await.unwrap().pop();
    let mut block = block.expect("a block");
    assert!(block.change(before, after), "{before:?} is not stored");
    let expect = Expect::Version(block.version);
    block.version += 1;
    Write::Block { block: Box::new(block), expect }
}

fn outcome(kind: OutcomeKind, entry: &Entry) -> Outcome {
    match kind {
        OutcomeKind::Pending => Outcome::Pending,
        OutcomeKind::Sending => Outcome::Sending { since: at_s(1) },
        OutcomeKind::InFlight => {
            let message_id = MessageId::new(format!("{}-{}", entry.letter, entry.sends));
            Outcome::InFlight { sent_at: at_s(2), message_id }
        }
        OutcomeKind::Delivered => {
            let confirmed = entry.seq.is_multiple_of(2).then(|| Confirmation {
                consumer: "orders".into(),
                version: "v3 \u{1F4EE}".into(),
                processed_at: at_s(2),
            });
            Outcome::Delivered { at: at_s(3), confirmed }
        }
        OutcomeKind::Returned => Outcome::Returned {
            at: at_s(4),
            cause: ReturnCause::NewCause,
            group: group_id("elsewhere"),
            title: "\0 another \u{1F4EE}".into(),
        },
        OutcomeKind::Expired => Outcome::Expired { at: at_s(5) },
        OutcomeKind::Skipped => Outcome::skipped(SkipReason::Refused),
    }
}

/// Stores the entries of a plan and counts them in its ledger.
async fn planned(store: &dyn Store, name: &str, count: u64) -> (Plan, Vec<Entry>) {
    let group = group_id(name);
    let letters = letters(&group, count);
    let plan = plan(name, &group, &letters);
    let entries = entries(&plan, &letters);
    for chunk in entries.chunks(40) {
        let mut writes = new_blocks(chunk.to_vec());
        let moves = chunk.iter().map(|entry| step(entry.wave, None, OutcomeKind::Pending, 0)).collect();
        writes.push(Write::Ledger { replay: plan.id.clone(), moves });
        commit(store, writes).await;
    }
    (plan, entries)
}

fn step(wave: u32, from: Option<OutcomeKind>, to: OutcomeKind, sent_twice: i64) -> LedgerMove {
    LedgerMove { sent_twice, ..LedgerMove::plain(wave, from, to, 1) }
}

async fn listed(store: &dyn Store, id: &ReplayId, wave: Option<u32>, outcome: Option<OutcomeKind>) -> Vec<Entry> {
    all(async |after| store.entries(id, wave, outcome, after.as_ref(), 3).await).await
}

pub async fn entries_come_in_their_order_by_wave_and_outcome(store: &dyn Store) {
    let (plan, mut entries) = planned(store, "filters", 26).await;
    for (n, entry) in entries.iter_mut().enumerate() {
        let kind = OutcomeKind::ALL[n % 7];
        let after = Entry { outcome: outcome(kind, entry), sends: 1, ..entry.clone() };
        let moves = vec![step(entry.wave, Some(OutcomeKind::Pending), kind, 0)];
        let ledger = Write::Ledger { replay: plan.id.clone(), moves };
        commit(store, vec![put(store, &after, entry).await, ledger]).await;
        *entry = after;
    }
    let waves = (0..plan.waves.len() as u32).map(Some).chain([None]);
    for wave in waves {
        for outcome in OutcomeKind::ALL.into_iter().map(Some).chain([None]) {
            let matches = |entry: &&Entry| {
                wave.is_none_or(|wave| entry.wave == wave) && outcome.is_none_or(|kind| entry.outcome.kind() == kind)
            };
            let expected: Vec<_> = entries.iter().filter(matches).cloned().collect();
            assert_eq!(listed(store, &plan.id, wave, outcome).await, expected, "wave {wave:?}, outcome {outcome:?}");
        }
    }
    for entry in &entries {
        assert_eq!(stored(store, entry).await.as_ref(), Some(entry));
    }
}

pub async fn block_is_written_only_over_the_version_it_had(store: &dyn Store) {
    let (plan, entries) = planned(store, "conditions", 3).await;
    let block = |version: u64, sends: u32| {
        let first = Entry { outcome: outcome(OutcomeKind::Sending, &entries[0]), sends, ..entries[0].clone() };
        let entries = [&[first], &entries[1..]].concat();
        Block { replay: plan.id.clone(), number: 0, version, entries }
    };
    let planned = Block { replay: plan.id.clone(), number: 0, version: 1, entries: entries.clone() };
    // Each row: the written block, its condition, and whether the condition holds.
    let rows = [
        (block(1, 1), Expect::Absent, false),
        (block(1, 1), Expect::Version(0), false),
        (block(3, 1), Expect::Version(2), false),
        (block(2, 2), Expect::Version(1), true),
        (block(2, 3), Expect::Version(1), false),
        (block(3, 4), Expect::Version(2), true),
        (planned.clone(), Expect::Absent, false),
    ];
    let mut current = planned;
    for (row, (block, expect, holds)) in rows.into_iter().enumerate() {
        let write = Write::Block { block: Box::new(block.clone()), expect };
        if holds {
            commit(store, vec![write]).await;
            current = block;
        } else {
            assert_eq!(refused(store, vec![write]).await, [0], "row {row}");
        }
        let found = store.blocks_at(&plan.id, &[0]).await.unwrap();
        assert_eq!(found.as_slice(), std::slice::from_ref(&current), "row {row}");
    }
    let unknown = Block { number: 1, ..current };
    let write = Write::Block { block: Box::new(unknown), expect: Expect::Version(3) };
    assert_eq!(refused(store, vec![write]).await, [0], "no such block");
}

pub async fn blocks_come_in_their_order_and_by_number(store: &dyn Store) {
    let (plan, entries) = planned(store, "blocks", 95).await;
    let expected = Block::planned(&plan.id, entries);
    assert_eq!(expected.len(), 5);
    for (from, limit) in [(0, 1), (0, 5), (0, 100), (2, 2), (4, 1), (5, 3), (u64::from(u32::MAX), 1)] {
        let rest = expected.get(from as usize..).unwrap_or_default();
        let found = store.blocks(&plan.id, from, limit).await.unwrap();
        assert_eq!(found, rest[..limit.min(rest.len())], "from {from}, at most {limit}");
    }
    let mut found = store.blocks_at(&plan.id, &[3, 0, 9, 3]).await.unwrap();
    found.sort_by_key(|block| block.number);
    assert_eq!(found, [expected[0].clone(), expected[3].clone()]);
    assert_eq!(store.blocks_at(&plan.id, &[]).await.unwrap(), []);
    assert_eq!(store.blocks_at(&harness::samples::replay_id("unknown"), &[0]).await.unwrap(), []);
    let all: Vec<u64> = (0..101).collect();
    assert!(store.blocks_at(&plan.id, &all).await.is_err(), "too many at once");
}

pub async fn entries_of_two_replays_do_not_mix(store: &dyn Store) {
    let (first, first_entries) = planned(store, "first", 4).await;
    // The same letters in a second replay.
    let second = Plan { id: harness::samples::replay_id("second"), ..first.clone() };
    let second_entries: Vec<_> =
        first_entries.iter().map(|entry| Entry { replay: second.id.clone(), ..entry.clone() }).collect();
    commit(store, new_blocks(second_entries.clone())).await;
    let sent =
        Entry { outcome: outcome(OutcomeKind::Sending, &first_entries[1]), sends: 1, ..first_entries[1].clone() };
    let moves = vec![step(sent.wave, Some(OutcomeKind::Pending), OutcomeKind::Sending, 0)];
    let ledger = Write::Ledger { replay: first.id.clone(), moves };
    commit(store, vec![put(store, &sent, &first_entries[1]).await, ledger]).await;
    assert_eq!(listed(store, &second.id, None, None).await, second_entries);
    assert_eq!(stored(store, &sent).await, Some(sent.clone()));
    assert_eq!(listed(store, &first.id, None, Some(OutcomeKind::Sending)).await, [sent]);
    let unknown = harness::samples::replay_id("unknown");
    assert_eq!(listed(store, &unknown, None, None).await, []);
    assert_eq!(store.ledger(&unknown).await.unwrap(), domain::replay::Ledger::default());
}

pub async fn ledger_equals_the_lists_of_entries(store: &dyn Store) {
    let (plan, mut entries) = planned(store, "ledger", 30).await;
    let mut chance = Chance(11);
    for round in 0..60 {
        let n = chance.below(entries.len());
        let kind = OutcomeKind::ALL[chance.below(7)];
        let before = entries[n].clone();
        let after = Entry { outcome: outcome(kind, &before), sends: before.sends + 1, ..before.clone() };
        let moves = vec![step(before.wave, Some(before.outcome.kind()), kind, 0)];
        let writes = vec![put(store, &after, &before).await, Write::Ledger { replay: plan.id.clone(), moves }];
        commit(store, writes.clone()).await;
        // A retry after a lost answer: its condition fails, and the ledger does not change again.
        assert_eq!(refused(store, writes).await, [0]);
        entries[n] = after;
        if round % 12 == 11 {
            let ledger = store.ledger(&plan.id).await.unwrap();
            assert_eq!(ledger.total().selected(), 30, "every letter is counted");
            for wave in 0..plan.waves.len() as u32 {
                for kind in OutcomeKind::ALL {
                    let letters = listed(store, &plan.id, Some(wave), Some(kind)).await.len() as u64;
                    assert_eq!(ledger.wave(wave).get(kind), letters, "wave {wave}, {kind:?}");
                }
            }
        }
    }
}

pub async fn sent_twice_and_confirmed_are_counted(store: &dyn Store) {
    let (plan, entries) = planned(store, "twice", 4).await;
    let moves = vec![
        step(1, Some(OutcomeKind::Pending), OutcomeKind::Sending, 0),
        step(1, Some(OutcomeKind::Sending), OutcomeKind::InFlight, 1),
        step(0, Some(OutcomeKind::Pending), OutcomeKind::Expired, 0),
    ];
    commit(store, vec![Write::Ledger { replay: plan.id.clone(), moves }]).await;
    let ledger = store.ledger(&plan.id).await.unwrap();
    assert_eq!((ledger.wave(1).in_flight, ledger.wave(1).pending, ledger.wave(1).sent_twice), (1, 2, 1));
    assert_eq!((ledger.wave(0).expired, ledger.wave(0).pending), (1, 0));
    assert_eq!(ledger.total().selected(), entries.len() as u64);
    let delivered = step(1, Some(OutcomeKind::InFlight), OutcomeKind::Delivered, 0);
    let moves = vec![LedgerMove { confirmed: 1, ..delivered }];
    commit(store, vec![Write::Ledger { replay: plan.id.clone(), moves }]).await;
    let wave = store.ledger(&plan.id).await.unwrap().wave(1);
    assert_eq!((wave.delivered, wave.confirmed, wave.sent_twice), (1, 1, 1));
    let returned = step(1, Some(OutcomeKind::Delivered), OutcomeKind::Returned, 0);
    commit(
        store,
        vec![Write::Ledger { replay: plan.id.clone(), moves: vec![LedgerMove { confirmed: -1, ..returned }] }],
    )
    .await;
    let wave = store.ledger(&plan.id).await.unwrap().wave(1);
    assert_eq!((wave.delivered, wave.confirmed, wave.returned), (0, 0, 1));
}
