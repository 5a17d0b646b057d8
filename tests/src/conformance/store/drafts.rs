//! Plans that are made in steps.

use super::{commit, refused};
use domain::id::GroupId;
use domain::letter::{Letter, LetterStateKind};
use domain::policy::ReplayPolicy;
use domain::replay::{Draft, DraftEnding, Plan, PlanOptions, Selected};
use harness::samples::{entries, group_id, letters, new_blocks, plan, replay_id};
use office::port::{Expect, Store, Write};

/// Returns a draft of such a plan that has read its letters and written nothing.
fn draft(name: &str, group: &GroupId, letters: &[Letter]) -> Draft {
    let Plan { id, main_queue, made_by, made_at, fix, filter, window_ms, .. } = plan(name, group, letters);
    let mut selected = Selected::default();
    letters.iter().for_each(|letter| selected.take(letter));
    Draft {
        id,
        version: 1,
        group: group.clone(),
        fingerprints: [group.clone()].into(),
        main_queue,
        made_by,
        made_at,
        fix,
        filter,
        options: PlanOptions { pace_per_s: Some(7), ..PlanOptions::default() },
        policy: ReplayPolicy::default(),
        window_ms,
        list: Some(LetterStateKind::Waiting),
        after: letters.last().map(|letter| (letter.sent_at, letter.id.clone())),
        read: letters.len() as u64,
        written: 0,
        checked: 0,
        selected,
        canary: None,
        digest: String::new(),
        run: 1,
        ending: None,
    }
}

fn new(draft: &Draft) -> Write {
    Write::Draft { draft: Box::new(draft.clone()), expect: Expect::Absent }
}

fn put(draft: &Draft) -> Write {
    Write::Draft { draft: Box::new(draft.clone()), expect: Expect::Version(draft.version - 1) }
}

pub async fn draft_is_written_and_removed_only_at_the_version_it_has(store: &dyn Store) {
    let id = group_id("drafts");
    let first = draft("d1", &id, &letters(&id, 3));
    let second = Draft {
        version: 2,
        read: 9,
        ending: Some(DraftEnding { failed: Some("why".into()), removed: 1 }),
        ..first.clone()
    };
    let gone = |version| Write::DraftGone { draft: first.id.clone(), version };
    assert_eq!(store.draft(&first.id).await.unwrap(), None);
    assert_eq!(refused(store, vec![put(&second)]).await, [0], "there is none");
    assert_eq!(refused(store, vec![gone(1)]).await, [0], "there is none");
    commit(store, vec![new(&first)]).await;
    assert_eq!(refused(store, vec![new(&first)]).await, [0], "it exists");
    assert_eq!(store.draft(&first.id).await.unwrap(), Some(first.clone()));
    commit(store, vec![put(&second)]).await;
    assert_eq!(refused(store, vec![put(&second)]).await, [0], "another version");
    assert_eq!(refused(store, vec![gone(1)]).await, [0], "another version");
    assert_eq!(store.draft(&first.id).await.unwrap(), Some(second));
    assert_eq!(store.draft(&replay_id("other")).await.unwrap(), None);
    commit(store, vec![gone(2)]).await;
    assert_eq!(store.draft(&first.id).await.unwrap(), None);
    assert_eq!(store.replay(&first.id).await.unwrap(), None);
}

pub async fn blocks_of_a_draft_are_removed_and_others_stay(store: &dyn Store) {
    let id = group_id("removed");
    let letters = letters(&id, 45);
    let (mine, other) = (plan("mine", &id, &letters), plan("other", &id, &letters));
    for plan in [&mine, &other] {
        commit(store, new_blocks(entries(plan, &letters))).await;
    }
    let gone = |number| Write::BlockGone { replay: mine.id.clone(), number };
    let numbers = async |plan: &Plan| {
        let blocks = store.blocks(&plan.id, 0, 10).await.unwrap();
        blocks.into_iter().map(|block| block.number).collect::<Vec<_>>()
    };
    commit(store, vec![gone(0), gone(2)]).await;
    assert_eq!(numbers(&mine).await, [1]);
    // Removed twice, as after a lost answer.
    commit(store, vec![gone(0), gone(1), gone(7)]).await;
    assert_eq!(numbers(&mine).await, [] as [u64; 0]);
    assert_eq!(numbers(&other).await, [0, 1, 2]);
    commit(store, new_blocks(entries(&mine, &letters))).await;
    assert_eq!(numbers(&mine).await, [0, 1, 2], "they may be written again");
}
