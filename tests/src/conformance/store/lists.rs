//! Pages: complete and without duplicates, even while the list changes; and invalid cursors.

use super::{all, commit};
use domain::audit::AuditRecord;
use domain::id::{GroupId, LetterId};
use domain::letter::{Letter, LetterState, LetterStateKind};
use domain::message::Content;
use domain::replay::{Outcome, OutcomeKind, Plan, Replay};
use harness::samples::{
    self, at_s, audit, entries, group, group_id, keep, letters, move_letters, plan, replay, replay_id,
};
use office::port::{Cursor, ListPosition, Listed, Page, Store, StoreError, Write};
use std::collections::BTreeSet;

pub async fn pages_are_complete_while_letters_come_and_go(store: &dyn Store) {
    let id = group_id("moving");
    let all_letters = letters(&id, 60);
    // Letters 0, 3, 6, … exist from the start and stay; 1, 4, … leave; 2, 5, … arrive.
    let kept: Vec<_> = all_letters.iter().enumerate().filter(|(n, _)| n % 3 != 2).map(|(_, l)| l.clone()).collect();
    for chunk in kept.chunks(40) {
        commit(store, keep(chunk)).await;
    }
    let (mut seen, mut cursor, mut round) = (Vec::new(), None, 0);
    loop {
        let page = store.letters_of(&id, Some(LetterStateKind::Waiting), cursor.as_ref(), 4).await.unwrap();
        seen.extend(page.items.into_iter().map(|letter| letter.id));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
        // Alternately before and after the position of the cursor.
        let at = [round, 19 - round.min(19)][round % 2];
        if let (Some(leaves), Some(comes)) = (all_letters.get(at * 3 + 1), all_letters.get(at * 3 + 2)) {
            let gone = leaves.moved(LetterState::InReplay { replay: replay_id("moving") });
            // Towards the end a position is visited twice; its letters have already moved then.
            let _ = store.commit(move_letters(&[(leaves.clone(), gone)])).await;
            let _ = store.commit(keep(std::slice::from_ref(comes))).await;
        }
        round += 1;
    }
    let different: BTreeSet<_> = seen.iter().collect();
    assert_eq!(different.len(), seen.len(), "a letter was shown twice");
    for (n, letter) in all_letters.iter().enumerate().filter(|(n, _)| n % 3 == 0) {
        assert!(different.contains(&letter.id), "letter {n} was always listed but never shown");
    }
}

pub async fn pages_of_groups_are_complete(store: &dyn Store) {
    let mut ids: Vec<_> = (0..25).map(|n| group_id(&format!("group {n}"))).collect();
    for id in &ids {
        commit(store, vec![samples::open(&group(id))]).await;
    }
    let list = async |limit| -> Vec<GroupId> {
        let facts = all(async |after| store.groups(0, after.as_ref(), limit).await).await;
        facts.into_iter().map(|facts| facts.variant.id).collect()
    };
    let (by_four, by_hundred) = (list(4).await, list(100).await);
    assert_eq!(by_four, by_hundred, "the order is stable");
    ids.sort();
    let mut found = by_four;
    found.sort();
    assert_eq!(found, ids);
}

pub async fn pages_of_entries_are_complete_while_outcomes_change(store: &dyn Store) {
    let id = group_id("entries change");
    let letters = letters(&id, 40);
    let plan = plan("entries change", &id, &letters);
    let entries = entries(&plan, &letters);
    commit(store, samples::new_blocks(entries)).await;
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.entries(&plan.id, None, Some(OutcomeKind::Pending), cursor.as_ref(), 5).await.unwrap();
        // Sends the page that was just read, as an executor does: its entries leave the list.
        for entry in &page.items {
            let sending = Outcome::Sending { since: at_s(1) };
            let after = domain::replay::Entry { outcome: sending, sends: 1, ..entry.clone() };
            commit(store, vec![super::entries::put(store, &after, entry).await]).await;
        }
        seen.extend(page.items.into_iter().map(|entry| entry.seq));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..40).collect::<Vec<_>>());
}

pub async fn pages_of_audit_are_complete_while_records_come(store: &dyn Store) {
    let id = group_id("audit pages");
    let record = |n: usize| audit(&id, at_s(n as i64 / 4), &format!("record {n}"));
    commit(store, (0..30).map(|n| Write::Audit(Box::new(record(n)))).collect()).await;
    let mut seen: Vec<AuditRecord> = Vec::new();
    let (mut cursor, mut n) = (None, 30);
    loop {
        let page = store.audit(&id, cursor.as_ref(), 7).await.unwrap();
        seen.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
        commit(store, vec![Write::Audit(Box::new(record(n)))]).await;
        n += 1;
    }
    let expected: Vec<_> = (0..30).rev().map(record).collect();
    assert_eq!(seen, expected, "records that arrive meanwhile are newer than the cursor");
}

async fn every_replay(store: &dyn Store, group: Option<&GroupId>, limit: usize) -> Vec<Replay> {
    all(async |after| store.replays(group, after.as_ref(), limit).await).await
}

pub async fn pages_of_replays_are_complete(store: &dyn Store) {
    let ids = [group_id("left"), group_id("right")];
    let mut replays: Vec<_> =
        (0..20).map(|n| replay(&plan(&format!("replay {n}"), &ids[n % 2], &[]), at_s(n as i64 / 3))).collect();
    for replay in &replays {
        commit(store, vec![Write::Replay { replay: Box::new(replay.clone()), expect: office::port::Expect::Absent }])
            .await;
    }
    let by_id = |replays: &mut Vec<Replay>| replays.sort_by_key(|replay| replay.id().clone());
    for limit in [1, 3, 200] {
        let mut found = every_replay(store, None, limit).await;
        assert!(found.is_sorted_by(|a, b| a.approval().at >= b.approval().at), "newest approval first");
        by_id(&mut found);
        by_id(&mut replays);
        assert_eq!(found, replays, "limit {limit}");
        let mut of_group = every_replay(store, Some(&ids[0]), limit).await;
        by_id(&mut of_group);
        assert_eq!(of_group, replays.iter().filter(|r| r.group() == &ids[0]).cloned().collect::<Vec<_>>());
    }
}

/// Reads a page from a cursor. Returns its number of items and the text of the first.
async fn first_page<T: std::fmt::Debug>(
    mut list: impl AsyncFnMut(Option<&Cursor>) -> Result<Page<T>, StoreError>,
    cursor: Option<&Cursor>,
) -> (usize, String) {
    let page = list(cursor).await.expect("an invalid cursor is not an error");
    (page.items.len(), format!("{:?}", page.items.first()))
}

/// Stores several items in every list that has cursors. Returns the group and its plan.
async fn listed(store: &dyn Store, name: &str) -> (GroupId, Plan) {
    let id = group_id(name);
    let letters = letters(&id, 4);
    let plan = plan(name, &id, &letters);
    commit(store, keep(&letters)).await;
    let mut writes = vec![samples::open(&group(&id))];
    writes.extend(samples::new_blocks(entries(&plan, &letters)));
    writes.extend((0..3).map(|n| Write::Audit(Box::new(audit(&id, at_s(n), "record")))));
    let first = Box::new(replay(&plan, at_s(0)));
    writes.push(Write::Replay { replay: first, expect: office::port::Expect::Absent });
    commit(store, writes).await;
    (id, plan)
}

pub async fn cursors_are_those_that_the_api_accepts(store: &dyn Store) {
    let (id, plan) = listed(store, "accepted").await;
    let second = Box::new(replay(&self::plan("accepted again", &id, &[]), at_s(1)));
    commit(store, vec![Write::Replay { replay: second, expect: office::port::Expect::Absent }]).await;
    for (list, next) in [
        (Listed::Letters, store.letters_of(&id, None, None, 1).await.unwrap().next),
        (Listed::Replays, store.replays(Some(&id), None, 1).await.unwrap().next),
        (Listed::Entries, store.entries(&plan.id, None, None, None, 1).await.unwrap().next),
        (Listed::Audit, store.audit(&id, None, 1).await.unwrap().next),
    ] {
        let next = next.expect("another page");
        assert!(list.accepts(&next.0), "{list:?}: {}", next.0);
    }
}

pub async fn garbage_cursor_starts_from_the_beginning(store: &dyn Store) {
    let (id, plan) = listed(store, "garbage").await;
    for garbage in
        ["", "nonsense", "\0", "null", "{}", "letters", "letters.1", "W10=", "\u{1F4EE}", "9".repeat(5000).as_str()]
    {
        let cursor = Cursor(garbage.into());
        macro_rules! same {
            ($list:expr) => {
                assert_eq!(first_page($list, Some(&cursor)).await, first_page($list, None).await, "{garbage:?}");
            };
        }
        same!(async |after: Option<&Cursor>| store.letters_of(&id, None, after, 3).await);
        same!(async |after: Option<&Cursor>| store.letters_of(&id, Some(LetterStateKind::Waiting), after, 3).await);
        same!(async |after: Option<&Cursor>| store.groups(0, after, 3).await);
        same!(async |after: Option<&Cursor>| store.replays(None, after, 3).await);
        same!(async |after: Option<&Cursor>| store.replays(Some(&id), after, 3).await);
        same!(async |after: Option<&Cursor>| store.entries(&plan.id, None, None, after, 3).await);
        same!(async |after: Option<&Cursor>| store.entries(&plan.id, Some(1), None, after, 3).await);
        same!(async |after: Option<&Cursor>| store.audit(&id, after, 3).await);
    }
}

pub async fn limit_of_a_page_is_respected(store: &dyn Store) {
    let id = group_id("limit");
    // Some large letters among small ones: a page may be shorter than the limit, never longer.
    let mut letters = letters(&id, 30);
    for letter in letters.iter_mut().take(4) {
        letter.content = Content { body: "x".repeat(300_000), ..Content::default() };
    }
    commit(store, keep(&letters)).await;
    for limit in [1, 2, 7, 29, 30, 31] {
        let mut found: Vec<LetterId> = Vec::new();
        let pages = all(async |after| {
            let page = store.letters_of(&id, None, after.as_ref(), limit).await?;
            assert!(page.items.len() <= limit, "{} items, the limit is {limit}", page.items.len());
            Ok(page)
        });
        found.extend(pages.await.into_iter().map(|letter| letter.id));
        assert_eq!(found, letters.iter().map(|letter| letter.id.clone()).collect::<Vec<_>>(), "limit {limit}");
    }
    let past_the_end = store.letters_of(&group_id("none"), None, None, 5).await.unwrap();
    assert_eq!(past_the_end, Page { items: Vec::new(), next: None });
}

pub async fn cursor_of_letters_is_valid_in_any_group(store: &dyn Store) {
    let (id, other) = (group_id("cursor"), group_id("another's cursor"));
    let (here, there) = (letters(&id, 8), letters(&other, 8));
    commit(store, keep(&here)).await;
    commit(store, keep(&there)).await;
    let next = store.letters_of(&id, None, None, 4).await.unwrap().next.expect("a next page");
    let position = ListPosition::parse("letters", Some(&next)).expect("a position");
    assert_eq!((position.number, position.id.as_str()), (here[3].sent_at.as_ms(), here[3].id.as_str()));
    let after = |letter: &Letter| (letter.sent_at, letter.id.as_str()) > (here[3].sent_at, here[3].id.as_str());
    let expected: Vec<_> = there.iter().filter(|letter| after(letter)).cloned().collect();
    let found = all(async |after| store.letters_of(&other, None, after.as_ref().or(Some(&next)), 3).await).await;
    assert_eq!(found, expected);
}
