//! Entries of replays, and their ledger.

use super::{all, commit, refused};
use domain::id::{MessageId, ReplayId};
use domain::replay::{Confirmation, Entry, LedgerMove, Outcome, OutcomeKind, Plan, ReturnCause, SkipReason};
use harness::samples::{Chance, at_s, entries, group_id, letters, plan};
use office::port::{Store, Write};

fn new(entry: &Entry) -> Write {
    Write::Entry { entry: Box::new(entry.clone()), was: None }
}

fn put(entry: &Entry, was: &Entry) -> Write {
    Write::Entry { entry: Box::new(entry.clone()), was: Some((was.outcome.kind(), was.sends)) }
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
    for chunk in entries.chunks(50) {
        let mut writes: Vec<_> = chunk.iter().map(new).collect();
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
        commit(store, vec![put(&after, entry)]).await;
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
        assert_eq!(store.entry(&plan.id, &entry.letter).await.unwrap().as_ref(), Some(entry));
    }
}

pub async fn entry_is_written_only_from_the_outcome_it_had(store: &dyn Store) {
    let (_, entries) = planned(store, "conditions", 1).await;
    let pending = &entries[0];
    let sending = Entry { outcome: outcome(OutcomeKind::Sending, pending), sends: 1, ..pending.clone() };
    let again = Entry { sends: 2, ..sending.clone() };
    let in_flight = Entry { outcome: outcome(OutcomeKind::InFlight, &again), ..again.clone() };
    // Each row: the written entry, its condition, and whether the condition holds.
    let was = |kind, sends| Some((kind, sends));
    let rows = [
        (pending, None, false),
        (&in_flight, was(OutcomeKind::Sending, 0), false),
        (&sending, was(OutcomeKind::Pending, 1), false),
        (&sending, was(OutcomeKind::Pending, 0), true),
        (&sending, was(OutcomeKind::Pending, 0), false),
        (&again, was(OutcomeKind::Sending, 2), false),
        (&again, was(OutcomeKind::Sending, 1), true),
        (&in_flight, was(OutcomeKind::Sending, 1), false),
        (&in_flight, was(OutcomeKind::Sending, 2), true),
        (pending, None, false),
    ];
    let mut current = pending;
    for (row, (entry, was, holds)) in rows.into_iter().enumerate() {
        let write = Write::Entry { entry: Box::new(entry.clone()), was };
        if holds {
            commit(store, vec![write]).await;
            current = entry;
        } else {
            assert_eq!(refused(store, vec![write]).await, [0], "row {row}");
        }
        let found = store.entry(&entry.replay, &entry.letter).await.unwrap();
        assert_eq!(found.as_ref(), Some(current), "row {row}");
    }
    let unknown = Entry { letter: "no such letter".into(), seq: 99, ..sending.clone() };
    assert_eq!(refused(store, vec![put(&unknown, &sending)]).await, [0], "no such entry");
}

pub async fn entries_of_two_replays_do_not_mix(store: &dyn Store) {
    let (first, first_entries) = planned(store, "first", 4).await;
    // The same letters in a second replay.
    let second = Plan { id: harness::samples::replay_id("second"), ..first.clone() };
    let second_entries: Vec<_> =
        first_entries.iter().map(|entry| Entry { replay: second.id.clone(), ..entry.clone() }).collect();
    commit(store, second_entries.iter().map(new).collect()).await;
    let sent =
        Entry { outcome: outcome(OutcomeKind::Sending, &first_entries[1]), sends: 1, ..first_entries[1].clone() };
    commit(store, vec![put(&sent, &first_entries[1])]).await;
    assert_eq!(listed(store, &second.id, None, None).await, second_entries);
    assert_eq!(store.entry(&first.id, &sent.letter).await.unwrap(), Some(sent.clone()));
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
        let writes = vec![put(&after, &before), Write::Ledger { replay: plan.id.clone(), moves }];
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
