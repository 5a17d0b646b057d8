//! Letters: their content byte for byte, and their lists.

use super::{all, commit, refused, stored};
use domain::discard::{Closed, Discard, DiscardReason};
use domain::id::{Actor, GroupId, LetterId};
use domain::letter::{Letter, LetterState, LetterStateKind};
use domain::message::{Attribute, AttributeValue, Content};
use domain::time::Timestamp;
use harness::samples::{death, group, group_id, keep, letter, letters, move_letters, open, put, replay_id};
use office::port::{Store, Write};

/// Texts that a careless encoding would change.
const HARD: [&str; 9] = [
    "",
    " ",
    "\0",
    "a\0b\0",
    "\u{1F4EE} astral \u{10FFFF}",
    "\r\n\t\u{1}\u{7F}\u{85}\u{2028}\u{FEFF}\u{FFFD}\u{FFFF}",
    "e\u{301} is not \u{e9}",
    r#"{"a":1.0,"a":1e400,"b":"\ud800"} \\ ' " ; --"#,
    "007",
];

pub async fn content_survives_byte_for_byte(store: &dyn Store) {
    let id = group_id("bytes");
    for (n, text) in HARD.into_iter().enumerate() {
        let custom = Attribute { data_type: "Number.int".into(), value: AttributeValue::Text("1e0".into()) };
        let binary = Attribute { data_type: "Binary.png".into(), value: AttributeValue::Binary("AP8QgA==".into()) };
        let attributes = [
            ("text".into(), Attribute::text(text)),
            ("number".into(), Attribute::number("00.10")),
            ("custom".into(), custom),
            ("binary".into(), binary),
        ];
        let content = Content {
            body: text.into(),
            attributes: attributes.into(),
            message_group_id: Some(text.into()),
            trace_header: Some("Root=1-5759e988-bd862e3fe1be46a994272793".into()),
        };
        let mut new = Letter { content, ..letter(&id, n as u64) };
        new.diagnosis.failure.message = Some(text.into());
        new.diagnosis.impact.customer = Some(text.into());
        new.diagnosis.remarks = vec![text.into()];
        commit(store, keep(std::slice::from_ref(&new))).await;
        assert_eq!(stored(store, &new).await, new, "{text:?}");
        // Again, after a change of the state.
        let moved = new.moved(LetterState::InReplay { replay: replay_id("bytes") });
        commit(store, vec![put(&moved)]).await;
        assert_eq!(stored(store, &new).await, moved, "{text:?}");
    }
    let listed = all(async |after| store.letters_of(&id, None, after.as_ref(), 2).await).await;
    assert_eq!(listed.iter().map(|letter| letter.content.body.as_str()).collect::<Vec<_>>(), HARD);
}

/// Returns a mebibyte of digits that compress to no less than half.
fn noise() -> String {
    let mut seed = 7_u64;
    let mut next = || {
        // Marsaglia's xorshift.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        format!("{seed:016x}")
    };
    (0..(1 << 20) / 16).map(|_| next()).collect()
}

pub async fn letter_of_a_mebibyte_survives_many_changes(store: &dyn Store) {
    let id = group_id("big");
    let big = |n: u64, part: &str| {
        let body = part.repeat((1 << 20) / part.len());
        Letter { content: Content { body, ..Content::default() }, ..letter(&id, n) }
    };
    // Text that grows in JSON, text that compresses badly, and text that is longer in UTF-16 than in UTF-8.
    let mut bodies = vec![big(0, "\"\\"), big(1, "0123456789abcdef\u{1F4EE}"), big(2, "\0"), big(3, &noise())];
    commit(store, keep(&bodies)).await;
    for letter in &mut bodies {
        for n in 0..3 {
            let moved = letter.moved(LetterState::Delivered { replay: replay_id("big"), at: Timestamp::from_ms(n) });
            commit(store, vec![put(&moved)]).await;
            *letter = moved;
        }
        assert!(stored(store, letter).await == *letter, "letter {}", letter.id);
    }
    let listed = all(async |after| store.letters_of(&id, None, after.as_ref(), 200).await).await;
    assert!(listed == bodies);
}

pub async fn letter_that_died_again_has_its_latest_failure(store: &dyn Store) {
    let first = letter(&group_id("again"), 1);
    commit(store, keep(std::slice::from_ref(&first))).await;
    let mut again = first.moved(LetterState::Waiting);
    again.diagnosis.failure.message = Some("another failure".into());
    again.diagnosis.failure.stack = None;
    again.diagnosis.consumer_version = Some("1.4.1".into());
    again.deaths = 2;
    commit(store, vec![put(&again), Write::Death(Box::new(death(&again, 2)))]).await;
    assert_eq!(stored(store, &first).await, again);
}

pub async fn letters_come_in_the_requested_order_without_missing_ones(store: &dyn Store) {
    let id = group_id("order asked");
    let letters = letters(&id, 6);
    commit(store, keep(&letters)).await;
    let missing = LetterId::from("0123456789abcdef0123456789abcdef");
    let requested = [&letters[4].id, &missing, &letters[0].id, &letters[5].id].map(Clone::clone);
    let found = store.letters(&requested).await.unwrap();
    assert_eq!(found, [letters[4].clone(), letters[0].clone(), letters[5].clone()]);
    assert_eq!(store.letters(&[]).await.unwrap(), []);
}

async fn listed(store: &dyn Store, group: &GroupId, state: Option<LetterStateKind>) -> Vec<Letter> {
    all(async |after| store.letters_of(group, state, after.as_ref(), 3).await).await
}

pub async fn letters_are_listed_by_first_send_then_id(store: &dyn Store) {
    let id = group_id("order");
    let mut letters = letters(&id, 12);
    for (n, letter) in letters.iter_mut().enumerate() {
        // Three times, one before 1970: as text or as unsigned numbers they would sort differently.
        letter.sent_at = Timestamp::from_ms([-5, 999, 1_000][n % 3]);
    }
    commit(store, keep(&letters)).await;
    letters.sort_by(|a, b| (a.sent_at, &a.id).cmp(&(b.sent_at, &b.id)));
    assert_eq!(listed(store, &id, None).await, letters);
    assert_eq!(listed(store, &id, Some(LetterStateKind::Waiting)).await, letters);
}

pub async fn list_of_a_state_follows_the_letters(store: &dyn Store) {
    let id = group_id("states");
    let waiting = letters(&id, 9);
    commit(store, keep(&waiting)).await;
    let replay = replay_id("states");
    let in_replay = |letter: &Letter| letter.moved(LetterState::InReplay { replay: replay.clone() });
    let delivered =
        |letter: &Letter| letter.moved(LetterState::Delivered { replay: replay.clone(), at: letter.died_at });
    let taken: Vec<_> = waiting[2..8].iter().map(|letter| (letter.clone(), in_replay(letter))).collect();
    commit(store, move_letters(&taken)).await;
    let arrived: Vec<_> = taken[3..].iter().map(|(_, letter)| (letter.clone(), delivered(letter))).collect();
    commit(store, move_letters(&arrived)).await;

    let after = |moves: &[(Letter, Letter)]| moves.iter().map(|(_, after)| after.clone()).collect::<Vec<_>>();
    let waiting = [&waiting[..2], &waiting[8..]].concat();
    assert_eq!(listed(store, &id, Some(LetterStateKind::Waiting)).await, waiting);
    assert_eq!(listed(store, &id, Some(LetterStateKind::InReplay)).await, after(&taken[..3]));
    assert_eq!(listed(store, &id, Some(LetterStateKind::Delivered)).await, after(&arrived));
    assert_eq!(listed(store, &id, None).await.len(), 9);
    assert_eq!(listed(store, &group_id("no such"), None).await, []);
}

pub async fn letter_that_changes_its_group_changes_lists(store: &dyn Store) {
    let (from, to) = (group_id("from"), group_id("to"));
    let letters = letters(&from, 3);
    commit(store, keep(&letters)).await;
    let moved = Letter { group: to.clone(), ..letters[1].moved(LetterState::Waiting) };
    commit(store, move_letters(&[(letters[1].clone(), moved.clone())])).await;
    assert_eq!(listed(store, &from, None).await, [letters[0].clone(), letters[2].clone()]);
    assert_eq!(listed(store, &to, None).await, [moved]);
}

pub async fn deaths_of_a_letter_come_oldest_first(store: &dyn Store) {
    let id = group_id("deaths");
    let (mine, other) = (letter(&id, 1), letter(&id, 2));
    let deaths: Vec<_> = (1..=12).map(|number| death(&mine, number)).collect();
    commit(store, deaths.iter().rev().map(|death| Write::Death(Box::new(death.clone()))).collect()).await;
    commit(store, vec![Write::Death(Box::new(death(&other, 2)))]).await;
    assert_eq!(store.deaths(&mine.id).await.unwrap(), deaths);
    assert_eq!(store.deaths(&letter(&id, 3).id).await.unwrap(), []);
}

/// Returns a letter whose content is too large for its record in a store that has another place for it.
fn long(id: &GroupId, n: u64) -> Letter {
    let body = (0..400).map(|word| format!("word{} ", word * (n + 3))).collect();
    Letter { content: Content { body, ..Content::default() }, ..letter(id, n) }
}

pub async fn letters_delivered_before_a_time_are_deleted(store: &dyn Store) {
    let id = group_id("forgotten");
    commit(store, vec![open(&group(&id))]).await;
    let kept: Vec<_> = (0..5).map(|n| long(&id, n)).collect();
    for letter in &kept {
        commit(store, keep(std::slice::from_ref(letter))).await;
    }
    let [waiting, early, next, late, back] = &kept[..] else { unreachable!("five letters") };
    let delivered_at = |letter: &Letter, at_s: i64| {
        letter.moved(LetterState::Delivered { replay: replay_id("forgotten"), at: Timestamp::from_ms(at_s * 1_000) })
    };
    let mut moves = vec![];
    for (letter, at_s) in [(early, 1_000), (next, 2_000), (late, 3_000), (back, 1_000)] {
        moves.push((letter.clone(), delivered_at(letter, at_s)));
    }
    for (before, after) in &moves {
        commit(store, move_letters(&[(before.clone(), after.clone())])).await;
    }
    // This one returned, was delivered again, and returned again: it is open, so it stays.
    let mut returned = moves[3].1.clone();
    for state in [LetterState::Waiting, delivered_at(back, 1_500).state, LetterState::Waiting] {
        let after = returned.moved(state);
        commit(store, move_letters(&[(returned.clone(), after.clone())])).await;
        returned = after;
    }
    let counts = async || store.group_facts(&id, i64::MAX).await.unwrap().expect("the group").counts;
    // Delivering a letter that another commit has moved is refused and changes nothing.
    let moved = waiting.moved(LetterState::InReplay { replay: replay_id("forgotten") });
    commit(store, move_letters(&[(waiting.clone(), moved.clone())])).await;
    refused(store, move_letters(&[(waiting.clone(), delivered_at(waiting, 500))])).await;
    let waiting = &moved;
    let before = counts().await;
    let forget = async |before_s: i64, limit| {
        store.forget(Closed::Delivered, Timestamp::from_ms(before_s * 1_000), limit).await.unwrap()
    };
    assert_eq!(forget(1_000, 10).await, 0, "before the first delivery");
    assert_eq!(forget(1_001, 10).await, 1, "the first one");
    assert_eq!(forget(3_000, 10).await, 1, "the second one; the third was delivered exactly then, not before");
    assert_eq!(forget(3_000, 10).await, 0, "no letter is deleted twice");
    for gone in [early, next] {
        assert_eq!(store.letter(&gone.id).await.unwrap(), None);
    }
    let remaining = all(async |after| store.letters_of(&id, None, after.as_ref(), 10).await).await;
    assert_eq!(remaining, [waiting.clone(), moves[2].1.clone(), returned], "with their content");
    assert_eq!(counts().await, before, "counters stay");
    // If the same message fails again later, it becomes a new letter.
    let again = Letter { kept_at: Timestamp::from_ms(9_000_000), ..early.clone() };
    commit(store, keep(std::slice::from_ref(&again))).await;
    assert_eq!(stored(store, early).await, again);
}

/// Returns a letter that was discarded at this time.
fn discarded(letter: &Letter, at_s: i64) -> Letter {
    let (at, by) = (Timestamp::from_ms(at_s * 1_000), Actor::from("anna"));
    let (note, quarantined_at) = (Some("of a load test".into()), Some(Timestamp::from_ms(7)));
    let discard = Box::new(Discard { at, by, reason: DiscardReason::TestData, note, quarantined_at });
    letter.moved(LetterState::Discarded { discard })
}

pub async fn letters_discarded_before_a_time_are_deleted_and_others_stay(store: &dyn Store) {
    let id = group_id("discarded");
    commit(store, vec![open(&group(&id))]).await;
    let kept: Vec<_> = (0..4).map(|n| long(&id, n)).collect();
    for letter in &kept {
        commit(store, keep(std::slice::from_ref(letter))).await;
    }
    let [gone, later, back, delivered] = &kept[..] else { unreachable!("four letters") };
    let at = Timestamp::from_ms(1_000_000);
    let arrived = delivered.moved(LetterState::Delivered { replay: replay_id("discarded"), at });
    let closed = [discarded(gone, 1_000), discarded(later, 2_000), discarded(back, 1_000), arrived.clone()];
    for (before, after) in kept.iter().zip(&closed) {
        commit(store, move_letters(&[(before.clone(), after.clone())])).await;
        assert_eq!(stored(store, before).await, *after);
    }
    let of = async |kind| listed(store, &id, Some(kind)).await;
    assert_eq!(of(LetterStateKind::Discarded).await.len(), 3);
    let facts = async || store.group_facts(&id, i64::MAX).await.unwrap().expect("the group");
    let ages = facts().await;
    assert_eq!((ages.oldest_sent_at, ages.loss_at), (None, None), "no letter is open");
    let waits = closed[2].moved(LetterState::Waiting);
    commit(store, move_letters(&[(closed[2].clone(), waits.clone())])).await;
    let ages = facts().await;
    assert_eq!((ages.oldest_sent_at, ages.loss_at), (Some(waits.sent_at), waits.loss_at), "it was taken back");

    let counts = ages.counts;
    let forget = async |closed, s: i64| store.forget(closed, Timestamp::from_ms(s * 1_000), 10).await.unwrap();
    assert_eq!(forget(Closed::Discarded, 1_000).await, 0, "before the first discard");
    assert_eq!(forget(Closed::Delivered, 1_000).await, 0, "before the delivery");
    assert_eq!(forget(Closed::Discarded, 1_001).await, 1, "not the delivered one, and not the one that was taken back");
    assert_eq!(store.letter(&gone.id).await.unwrap(), None);
    assert_eq!(listed(store, &id, None).await, [closed[1].clone(), waits, arrived], "with their content");
    assert_eq!(forget(Closed::Delivered, 1_001).await, 1);
    assert_eq!(forget(Closed::Discarded, 2_001).await, 1);
    assert_eq!(facts().await.counts, counts, "counters stay");
}

pub async fn no_more_letters_are_deleted_than_the_limit(store: &dyn Store) {
    let id = group_id("some");
    for n in 0..5 {
        let letter = long(&id, n);
        commit(store, keep(std::slice::from_ref(&letter))).await;
        let at = Timestamp::from_ms(n as i64 * 1_000);
        let delivered = letter.moved(LetterState::Delivered { replay: replay_id("some"), at });
        commit(store, move_letters(&[(letter, delivered)])).await;
    }
    let mut gone = Vec::new();
    loop {
        gone.push(store.forget(Closed::Delivered, Timestamp::from_ms(60_000), 2).await.unwrap());
        if gone.last() == Some(&0) {
            break;
        }
        let remaining = all(async |after| store.letters_of(&id, None, after.as_ref(), 10).await).await;
        assert!(remaining.iter().is_sorted_by_key(|letter| letter.state.closed()), "the oldest are deleted first");
        assert_eq!(remaining.len(), 5 - gone.iter().sum::<usize>());
    }
    assert_eq!(gone, [2, 2, 1, 0]);
}
