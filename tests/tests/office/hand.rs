//! What an executor has in hand: one commit where it fits, and several where it does not.

use domain::letter::LetterStateKind;
use domain::limits::{COMMIT_RECORDS_MAX, HAND_LETTERS_MAX};
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::samples::at_s;
use harness::world::World;
use office::sweep;
use queue::{Queue as _, Received};

/// Each is a fingerprint with counters of its own.
const VARIANTS: usize = 20;

fn works(_: &Received) -> Option<&'static str> {
    None
}

#[tokio::test]
async fn a_hand_whose_letters_have_many_fingerprints_is_sent_once_in_several_commits() {
    // Its letters and their counters fill a commit, even without blocks, ledger and fence.
    const { assert!(HAND_LETTERS_MAX + VARIANTS >= COMMIT_RECORDS_MAX) };
    let world = World::new().await;
    for n in 0..HAND_LETTERS_MAX {
        let volume = char::from(b'a' + (n % VARIANTS) as u8);
        world.die(n as u64, &format!("volume /srv/{volume} lost its index"), at_s(n as i64)).await;
    }
    world.advance(Span::from_secs(100));
    while world.queue.attributes(&world.dlq).await.unwrap().visible_count > 0 {
        world.intake().await;
    }
    sweep::run(&world.office).await.unwrap();
    let groups = world.store.groups(i64::MAX, None, 200).await.unwrap().items;
    assert_eq!(groups.len(), VARIANTS);
    let merged: Vec<_> = groups.iter().filter(|facts| facts.variant.merge.into.is_none()).collect();
    let [whole] = merged.as_slice() else { panic!("{} groups", merged.len()) };
    let group = whole.variant.id.clone();

    let all = HAND_LETTERS_MAX as u64;
    let options = PlanOptions { canary_letters: Some(all), pace_per_s: Some(1_000), ..PlanOptions::default() };
    let plan = world.plan_with_fix(&group, "v2", &options).await;
    assert_eq!((plan.letters.letters as u64, plan.in_hand_max()), (all, all));
    world.approve(&group, &plan).await;
    world.steps().await;
    let total = world.ledger(&plan.id).await.total();
    assert_eq!((total.in_flight, total.sending, total.sent_twice), (all, 0, 0), "{total:?}");
    assert_eq!(world.queue.attributes(&world.main).await.unwrap().visible_count, all);
    assert!(world.run(&plan.id, &works, "v2").await.is_finished());
    world.ledger_matches_entries(&plan.id).await;
    for facts in groups {
        let counts = world.counters_are_exact(&facts.variant.id).await;
        assert_eq!(counts.tally(LetterStateKind::Delivered).letters as usize, HAND_LETTERS_MAX / VARIANTS);
    }
}
