//! Commits: conditions, and atomicity.

use super::{commit, refused, stored};
use domain::id::{LetterId, MessageId};
use domain::letter::{Letter, LetterState};
use harness::samples::{self, Chance, at_s, audit, death, group, group_id, keep, letter, letters, plan, put, replay};
use office::port::{CommitError, EntryKey, Expect, Store, Write};

fn absent(letter: &Letter) -> Write {
    Write::Letter { letter: Box::new(letter.clone()), expect: Expect::Absent }
}

/// Returns a write of each versioned record: the first version, or an update from a version.
fn of_each_kind(from: Option<u64>) -> Vec<Write> {
    let id = group_id("versions");
    let expect = from.map_or(Expect::Absent, Expect::Version);
    let version = from.map_or(1, |from| from + 1);
    // A replay of any version exists only as a stored record.
    let mut record = serde_json::to_value(replay(&plan("versions", &id, &[]), at_s(0))).expect("a record");
    record["version"] = version.into();
    let replay = serde_json::from_value(record).expect("a replay");
    vec![
        Write::Letter { letter: Box::new(Letter { version, ..letter(&id, 1) }), expect },
        Write::Variant { variant: Box::new(domain::group::Variant { version, ..group(&id) }), expect },
        Write::Replay { replay: Box::new(replay), expect },
    ]
}

pub async fn absent_condition_refuses_what_exists(store: &dyn Store) {
    for write in of_each_kind(None) {
        commit(store, vec![write.clone()]).await;
        assert_eq!(refused(store, vec![write.clone()]).await, [0], "{write:?}");
    }
}

pub async fn version_condition_refuses_any_other_version(store: &dyn Store) {
    for write in of_each_kind(Some(1)) {
        assert_eq!(refused(store, vec![write.clone()]).await, [0], "no record yet: {write:?}");
    }
    commit(store, of_each_kind(None)).await;
    commit(store, of_each_kind(Some(1))).await;
    for old in [0, 1, 3, u64::MAX - 1] {
        for write in of_each_kind(Some(old)) {
            assert_eq!(refused(store, vec![write.clone()]).await, [0], "version {old}: {write:?}");
        }
    }
    commit(store, of_each_kind(Some(2))).await;
    let id = group_id("versions");
    assert_eq!(stored(store, &letter(&id, 1)).await.version, 3);
    assert_eq!(store.group(&id).await.unwrap().unwrap().version, 3);
}

pub async fn failed_condition_undoes_the_whole_commit_and_is_named(store: &dyn Store) {
    let id = group_id("all or nothing");
    let known = letters(&id, 3);
    commit(store, keep(&known)).await;
    let fresh = letter(&id, 7);
    // A write of every kind. Two conditions fail: those letters exist already.
    let moved = known[0].moved(LetterState::InReplay { replay: samples::replay_id("r") });
    let plan = plan("r", &id, &known);
    let mut writes = vec![absent(&fresh), absent(&known[1]), put(&moved), absent(&known[2])];
    writes.push(samples::open(&group(&id)));
    writes.push(Write::Death(Box::new(death(&fresh, 2))));
    writes.extend(samples::count(deltas(&fresh)));
    writes.extend(samples::new_blocks(samples::entries(&plan, &known)));
    let entry = EntryKey { replay: plan.id.clone(), seq: 0, letter: fresh.id.clone() };
    writes.push(Write::Sent { message: MessageId::from("m"), entry });
    writes.push(Write::Audit(Box::new(audit(&id, at_s(1), "must not be stored"))));
    writes.push(Write::Plan(Box::new(plan.clone())));

    let named = refused(store, writes).await;
    assert!(!named.is_empty() && named.iter().all(|index| [1, 3].contains(index)), "{named:?}");
    assert_eq!(store.letter(&fresh.id).await.unwrap(), None);
    assert_eq!(stored(store, &known[0]).await, known[0]);
    assert_eq!(store.group(&id).await.unwrap(), None);
    assert!(!store.has_death(&death(&fresh, 2).id).await.unwrap());
    assert_eq!(store.entries(&plan.id, None, None, None, 10).await.unwrap().items, []);
    assert_eq!(store.blocks(&plan.id, 0, 10).await.unwrap(), []);
    assert!(store.sent(&[MessageId::from("m")]).await.unwrap().is_empty());
    assert_eq!(store.audit(&id, None, 10).await.unwrap().items, []);
    assert_eq!(store.plan(&id).await.unwrap(), None);
    commit(store, vec![samples::open(&group(&id))]).await;
    let facts = store.group_facts(&id, i64::MIN).await.unwrap().unwrap();
    assert_eq!((facts.counts.deaths, facts.counts.open().letters), (3, 3));
}

fn deltas(letter: &Letter) -> domain::group::CountsDeltas {
    let mut deltas = domain::group::CountsDeltas::default();
    deltas.moved(None, letter);
    deltas.died(letter);
    deltas
}

pub async fn one_of_two_commits_on_one_version_wins(store: &dyn Store) {
    let id = group_id("race");
    let mut letter = letter(&id, 1);
    commit(store, keep(std::slice::from_ref(&letter))).await;
    for round in 0..20 {
        let attempt = |name: &str| {
            let replay = samples::replay_id(&format!("{name} {round}"));
            letter.moved(LetterState::InReplay { replay })
        };
        let (ours, theirs) = (attempt("ours"), attempt("theirs"));
        let (first, second) = tokio::join!(store.commit(vec![put(&ours)]), store.commit(vec![put(&theirs)]));
        let winner = match (first, second) {
            (Ok(()), Err(CommitError::Conflict(_))) => ours,
            (Err(CommitError::Conflict(_)), Ok(())) => theirs,
            other => panic!("expected one winner, got {other:?}"),
        };
        assert_eq!(stored(store, &winner).await, winner);
        letter = winner;
    }
}

pub async fn conflict_of_one_commit_does_not_undo_another(store: &dyn Store) {
    let id = group_id("neighbours");
    let taken = letter(&id, 0);
    commit(store, vec![absent(&taken)]).await;
    let mut chance = Chance(7);
    for round in 0..10 {
        let new: Vec<_> = (1..=4).map(|n| letter(&id, round * 10 + n)).collect();
        // One commit of each round contains an existing letter; only that one is refused.
        let bad = chance.below(4);
        let write = |n: usize| {
            let mut writes = vec![absent(&new[n])];
            writes.extend((n == bad).then(|| absent(&taken)));
            store.commit(writes)
        };
        let done = tokio::join!(write(0), write(1), write(2), write(3));
        let done = [done.0.is_ok(), done.1.is_ok(), done.2.is_ok(), done.3.is_ok()];
        for (n, letter) in new.iter().enumerate() {
            assert_eq!(done[n], n != bad, "round {round}, commit {n}");
            assert_eq!(store.letter(&letter.id).await.unwrap().is_some(), n != bad, "round {round}, commit {n}");
        }
    }
}

pub async fn commit_of_a_hundred_writes_succeeds(store: &dyn Store) {
    let id = group_id("hundred");
    let letters = letters(&id, 100);
    commit(store, letters.iter().map(absent).collect()).await;
    let ids: Vec<LetterId> = letters.iter().map(|letter| letter.id.clone()).collect();
    assert_eq!(store.letters(&ids).await.unwrap(), letters);
}

pub async fn commit_of_too_many_writes_is_refused(store: &dyn Store) {
    let id = group_id("too many");
    let letters = letters(&id, 101);
    let outcome = store.commit(letters.iter().map(absent).collect()).await;
    assert!(matches!(outcome, Err(CommitError::Store(_))), "{outcome:?}");
    assert_eq!(store.letter(&letters[0].id).await.unwrap(), None);
}

pub async fn commit_of_nothing_does_nothing(store: &dyn Store) {
    commit(store, Vec::new()).await;
    assert_eq!(store.groups(0, None, 10).await.unwrap().items, []);
}

pub async fn death_is_stored_once(store: &dyn Store) {
    let letter = letter(&group_id("death"), 1);
    let death = death(&letter, 1);
    assert!(!store.has_death(&death.id).await.unwrap());
    commit(store, vec![Write::Death(Box::new(death.clone()))]).await;
    assert!(store.has_death(&death.id).await.unwrap());
    assert_eq!(refused(store, vec![absent(&letter), Write::Death(Box::new(death))]).await, [1]);
    assert_eq!(store.letter(&letter.id).await.unwrap(), None);
}

pub async fn sent_message_is_found_by_its_id(store: &dyn Store) {
    let (message, other) = (MessageId::from("b3f1"), MessageId::from("b3f2"));
    let letter = letter(&group_id("sent"), 1).id;
    let entry = EntryKey { replay: samples::replay_id("sent"), seq: 999_999, letter };
    commit(store, vec![Write::Sent { message: message.clone(), entry: entry.clone() }]).await;
    // Ids come from outside: an empty or very long one finds nothing and does no harm.
    let asked = [other.clone(), message.clone(), MessageId::from(""), MessageId::new("9#".repeat(2_000))];
    assert_eq!(store.sent(&asked).await.unwrap(), [(message, entry)].into());
    assert!(store.sent(&[other]).await.unwrap().is_empty());
    assert!(store.sent(&[]).await.unwrap().is_empty());
}
