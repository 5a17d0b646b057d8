//! Variants and their counters.

use super::{all, commit};
use domain::group::merging::MergeState;
use domain::group::{CountedCustomers, CountsDelta, CountsDeltas, GroupCounts, Tally, Variant, arrival_bucket};
use domain::id::GroupId;
use domain::letter::{Letter, LetterState};
use domain::limits::ARRIVAL_BUCKET_MS;
use domain::merge::Skeleton;
use domain::money::{Decimal, Money};
use domain::time::Timestamp;
use harness::samples::{self, Chance, group, group_id, keep, letter, letters, money, move_letters, replay_id};
use office::port::{Expect, GroupFacts, Store, Write};
use std::collections::{BTreeMap, BTreeSet};

async fn facts(store: &dyn Store, id: &GroupId) -> GroupFacts {
    store.group_facts(id, i64::MIN).await.expect("the store answers").expect("the group exists")
}

/// Returns the counters of a group, computed from its letters.
fn tally<'a>(group: &GroupId, letters: impl Iterator<Item = &'a Letter>) -> BTreeMap<&'static str, Tally> {
    let mut by_state: BTreeMap<_, Tally> = BTreeMap::new();
    for letter in letters.filter(|letter| letter.group == *group) {
        let tally = by_state.entry(letter.state.kind().as_str()).or_default();
        tally.letters += 1;
        if let Some(money) = letter.diagnosis.impact.money {
            tally.priced += 1;
            tally.money.add(money);
        }
    }
    by_state
}

/// Returns a letter in a random state, and sometimes in another group.
fn moved_at_random(letter: &Letter, groups: &[GroupId], chance: &mut Chance) -> Letter {
    let replay = replay_id("anywhere");
    let state = match chance.below(5) {
        0 => LetterState::Waiting,
        1 => LetterState::InReplay { replay },
        2 => LetterState::Quarantined { at: letter.died_at },
        3 => LetterState::Discarded { discard: Box::new(samples::discard(letter.died_at)) },
        _ => LetterState::Delivered { replay, at: letter.died_at },
    };
    let group = if chance.below(4) == 0 { groups[chance.below(groups.len())].clone() } else { letter.group.clone() };
    Letter { group, ..letter.moved(state) }
}

pub async fn counters_equal_the_letters(store: &dyn Store) {
    for seed in [1, 2, 3] {
        let mut chance = Chance(seed);
        let groups: Vec<_> = (0..3).map(|n| group_id(&format!("tally {seed} {n}"))).collect();
        for id in &groups {
            commit(store, vec![samples::open(&group(id))]).await;
        }
        let mut letters: Vec<_> = (0..24)
            .map(|n| {
                let mut letter = letter(&groups[chance.below(3)], n);
                let currency = ["EUR", "USD", "JPY"][chance.below(3)];
                letter.diagnosis.impact.money =
                    (chance.below(5) > 0).then(|| money(1 + chance.below(100_000) as i64, currency));
                letter
            })
            .collect();
        commit(store, keep(&letters)).await;
        for step in 0..40 {
            let picked: BTreeSet<_> = (0..1 + chance.below(6)).map(|_| chance.below(letters.len())).collect();
            let moves: Vec<_> = picked
                .iter()
                .map(|n| (letters[*n].clone(), moved_at_random(&letters[*n], &groups, &mut chance)))
                .collect();
            commit(store, move_letters(&moves)).await;
            for (n, (_, after)) in picked.iter().zip(moves) {
                letters[*n] = after;
            }
            if step % 10 == 9 {
                for id in &groups {
                    let counts = facts(store, id).await.counts;
                    let counted: BTreeMap<_, _> =
                        counts.by_state.into_iter().map(|(kind, tally)| (kind.as_str(), tally)).collect();
                    assert_eq!(counted, tally(id, letters.iter()), "seed {seed}, step {step}");
                }
            }
        }
    }
}

pub async fn sums_above_the_largest_decimal_are_capped(store: &dyn Store) {
    let id = group_id("beyond");
    commit(store, vec![samples::open(&group(&id))]).await;
    let mut letters = letters(&id, 2);
    letters
        .iter_mut()
        .for_each(|letter| letter.diagnosis.impact.money = Some(Money { amount: Decimal::MAX, ..money(1, "EUR") }));
    commit(store, keep(&letters)).await;
    let counts = facts(store, &id).await.counts;
    let sums: Vec<_> = counts.open().money.sums().iter().map(|sum| sum.amount).collect();
    assert_eq!((counts.open().letters, sums), (2, vec![Decimal::MAX]), "the group is readable");
}

pub async fn concurrent_counts_add_up(store: &dyn Store) {
    let id = group_id("busy");
    commit(store, vec![samples::open(&group(&id))]).await;
    let letters = letters(&id, 40);
    for chunk in letters.chunks(4) {
        let kept = |n: usize| async move {
            // A store may report a conflict between concurrent commits; intake retries then.
            for _ in 0..50 {
                match store.commit(keep(std::slice::from_ref(&chunk[n]))).await {
                    Ok(()) => return,
                    Err(office::port::CommitError::Conflict(_)) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
            panic!("no success in 50 attempts");
        };
        tokio::join!(kept(0), kept(1), kept(2), kept(3));
    }
    let facts = facts(store, &id).await;
    assert_eq!((facts.counts.deaths, facts.counts.open().letters, facts.counts.customers), (40, 40, 7));
    assert_eq!(facts.counts.last_died_at, letters.last().map(|letter| letter.died_at));
    assert_eq!(facts.arrivals.iter().map(|(_, deaths)| deaths).sum::<u64>(), 40);
}

pub async fn customers_are_counted_once_each(store: &dyn Store) {
    let (id, other) = (group_id("customers"), group_id("other customers"));
    commit(store, vec![samples::open(&group(&id)), samples::open(&group(&other))]).await;
    for (customers, total) in [
        (vec!["a", "b"], 2),
        (vec!["b"], 2),
        (vec![], 2),
        (vec!["A", "a ", "", "\0", "\u{1F4EE}"], 7),
        (vec!["a", "c", "\0"], 8),
    ] {
        let customers: Vec<_> = customers.into_iter().map(String::from).collect();
        let delta = CountsDelta { customers: customers.clone(), ..CountsDelta::default() };
        commit(store, vec![Write::Counts { group: id.clone(), delta: Box::new(delta) }]).await;
        assert_eq!(facts(store, &id).await.counts.customers, total, "after {customers:?}");
    }
    assert_eq!(facts(store, &other).await.counts.customers, 0);
}

pub async fn a_customer_of_several_groups_is_counted_once(store: &dyn Store) {
    let ids: Vec<_> = (0..4).map(|n| group_id(&format!("customers of {n}"))).collect();
    // The first has so many that they are in every shard; each commit writes ten records at most.
    let many: Vec<String> = (0..60).map(|n| format!("customer {n}")).collect();
    let few = |customers: &[&str]| customers.iter().copied().map(String::from).collect::<Vec<_>>();
    let each = [many, few(&["customer 0", "customer 59", "a"]), few(&["a", "A", "", "\0", "\u{1F4EE}"]), few(&[])];
    for (id, customers) in ids.iter().zip(&each) {
        commit(store, vec![samples::open(&group(id))]).await;
        // Some are named twice.
        for some in customers.chunks(6).chain(customers.chunks(5).take(2)) {
            let delta = CountsDelta { customers: some.to_vec(), ..CountsDelta::default() };
            commit(store, vec![Write::Counts { group: id.clone(), delta: Box::new(delta) }]).await;
        }
    }
    for (groups, sum, different) in [
        (vec![], 0, 0),
        (vec![0], 60, 60),
        (vec![3], 0, 0),
        (vec![0, 1], 63, 61),
        (vec![1, 2], 8, 7),
        (vec![0, 1, 2, 3], 68, 65),
    ] {
        let groups: Vec<_> = groups.into_iter().map(|n: usize| ids[n].clone()).collect();
        let counted = store.customers_of(&groups).await.unwrap();
        assert_eq!(counted, CountedCustomers { sum, different }, "{groups:?}");
        let mut counts = 0;
        for id in &groups {
            counts += facts(store, id).await.counts.customers;
        }
        assert_eq!(counts, sum, "each is counted when it is stored");
    }
}

pub async fn arrivals_are_summed_by_bucket_from_a_given_one(store: &dyn Store) {
    let id = group_id("arrivals");
    commit(store, vec![samples::open(&group(&id))]).await;
    let mut expected = BTreeMap::new();
    for (n, bucket) in [-3, -1, 0, 7, 7, 7, 100, 0, 1_000_000].into_iter().enumerate() {
        let died_at = Timestamp::from_ms(bucket * ARRIVAL_BUCKET_MS + n as i64);
        let mut deltas = CountsDeltas::default();
        deltas.died(&Letter { died_at, ..letter(&id, n as u64) });
        assert_eq!(arrival_bucket(died_at), bucket);
        commit(store, samples::count(deltas).collect()).await;
        *expected.entry(bucket).or_insert(0_u64) += 1;
    }
    for from in [i64::MIN, -3, -2, 0, 7, 8, 1_000_000, 1_000_001] {
        let found = store.group_facts(&id, from).await.unwrap().unwrap().arrivals;
        let expected: Vec<_> = expected.range(from..).map(|(bucket, deaths)| (*bucket, *deaths)).collect();
        assert_eq!(found, expected, "from bucket {from}");
        let listed = store.groups(from, None, 10).await.unwrap().items;
        assert_eq!(listed[0].arrivals, expected, "from bucket {from}, in the list");
    }
}

pub async fn undated_deaths_are_counted_and_in_no_bucket(store: &dyn Store) {
    let id = group_id("undated");
    commit(store, vec![samples::open(&group(&id))]).await;
    let at = |minute: i64| samples::at_s(60 * minute);
    // Each row: when a letter died or was read, and the time after which it died if that is all that is known.
    for (n, (died_at, died_after)) in [(90, Some(10)), (50, None), (80, Some(70)), (60, None)].into_iter().enumerate() {
        let mut deltas = CountsDeltas::default();
        let (died_at, died_after) = (at(died_at), died_after.map(at));
        deltas.died(&Letter { died_at, died_after, ..letter(&id, n as u64) });
        commit(store, samples::count(deltas).collect()).await;
    }
    let facts = facts(store, &id).await;
    assert_eq!((facts.counts.deaths, facts.counts.undated), (4, 2));
    assert_eq!((facts.counts.last_died_at, facts.counts.last_undated_at), (Some(at(70)), Some(at(90))));
    assert_eq!(facts.arrivals.iter().map(|(_, deaths)| deaths).sum::<u64>(), 2);
}

pub async fn oldest_and_expiry_are_those_of_open_letters(store: &dyn Store) {
    let id = group_id("oldest");
    commit(store, vec![samples::open(&group(&id))]).await;
    let mut letters = letters(&id, 4);
    // The oldest letter is not the first to expire.
    for (letter, (sent_at, loss_at)) in
        letters.iter_mut().zip([(10, Some(900)), (20, Some(500)), (30, Some(700)), (40, None)])
    {
        letter.sent_at = Timestamp::from_ms(sent_at);
        letter.loss_at = loss_at.map(Timestamp::from_ms);
    }
    commit(store, keep(&letters)).await;
    let replay = replay_id("oldest");
    let in_replay = LetterState::InReplay { replay: replay.clone() };
    let delivered = LetterState::Delivered { replay, at: Timestamp::from_ms(1) };
    let rows = [
        (0, &in_replay, (Some(10), Some(500))),
        (1, &delivered, (Some(10), Some(700))),
        (0, &delivered, (Some(30), Some(700))),
        (3, &in_replay, (Some(30), Some(700))),
        // The last one never expires.
        (2, &delivered, (Some(40), None)),
        (3, &delivered, (None, None)),
        (1, &LetterState::Waiting, (Some(20), Some(500))),
    ];
    for (row, (n, state, expected)) in rows.into_iter().enumerate() {
        let moved = letters[n].moved(state.clone());
        commit(store, move_letters(&[(letters[n].clone(), moved.clone())])).await;
        letters[n] = moved;
        let facts = facts(store, &id).await;
        let found = (facts.oldest_sent_at.map(Timestamp::as_ms), facts.loss_at.map(Timestamp::as_ms));
        assert_eq!(found, expected, "row {row}");
    }
}

pub async fn variant_keeps_its_skeleton_and_its_members(store: &dyn Store) {
    let ids: Vec<_> =
        (0..=domain::group::merging::MERGED_VARIANTS_MAX).map(|n| group_id(&format!("member {n}"))).collect();
    let mut variant = group(&ids[0]);
    let template = "volume * lost its index\u{1F4EE}\0".to_string();
    variant.skeleton = Some(Skeleton { family: "f".into(), template });
    commit(store, vec![samples::open(&variant)]).await;
    let (members, counted) = (ids[1..].iter().cloned().collect(), Some(CountedCustomers { sum: 7, different: 5 }));
    let merge = MergeState { members, unmerged: true, counted, ..MergeState::default() };
    let after = Variant { merge, ..variant.moved(variant.state.clone()) };
    commit(store, vec![Write::Variant { variant: Box::new(after.clone()), expect: Expect::Version(1) }]).await;
    assert_eq!(store.group(&ids[0]).await.unwrap(), Some(after.clone()));
    assert_eq!(facts(store, &ids[0]).await.variant, after);
}

pub async fn group_without_letters_has_empty_facts(store: &dyn Store) {
    let variant = group(&group_id("empty"));
    commit(store, vec![samples::open(&variant)]).await;
    let empty = GroupFacts {
        variant: variant.clone(),
        counts: GroupCounts::default(),
        oldest_sent_at: None,
        loss_at: None,
        arrivals: Vec::new(),
    };
    assert_eq!(facts(store, &variant.id).await, empty);
    assert_eq!(store.group(&variant.id).await.unwrap(), Some(variant));
}

pub async fn group_that_does_not_exist_has_no_facts(store: &dyn Store) {
    let id = group_id("unknown");
    assert_eq!(store.group(&id).await.unwrap(), None);
    assert_eq!(store.group_facts(&id, 0).await.unwrap(), None);
    assert_eq!(store.plan(&id).await.unwrap(), None);
    assert_eq!(store.audit(&id, None, 5).await.unwrap().items, []);
}

pub async fn groups_do_not_mix(store: &dyn Store) {
    let ids: Vec<_> = (0..4).map(|n| group_id(&format!("separate {n}"))).collect();
    let mut expected = BTreeMap::new();
    for (n, id) in ids.iter().enumerate() {
        let letters = letters(id, n as u64 + 1);
        let mut writes = vec![samples::open(&group(id))];
        writes.extend(keep(&letters));
        commit(store, writes).await;
        expected.insert(id.clone(), letters);
    }
    let listed = all(async |after| store.groups(i64::MIN, after.as_ref(), 3).await).await;
    assert_eq!(listed.len(), 4);
    for from_list in listed {
        let id = &from_list.variant.id;
        let letters = &expected[id];
        assert_eq!(from_list.counts.open().letters, letters.len() as i64);
        assert_eq!(from_list.oldest_sent_at, letters.iter().map(|letter| letter.sent_at).min());
        assert_eq!(from_list.loss_at, letters.iter().filter_map(|letter| letter.loss_at).min());
        assert_eq!(facts(store, id).await, from_list, "alone and in the list");
        let found = all(async |after| store.letters_of(id, None, after.as_ref(), 10).await).await;
        assert_eq!(&found, letters);
    }
}
