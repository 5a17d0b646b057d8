//! Asking the store of a [`World`], and whether its books are right.

use super::World;
use domain::group::GroupCounts;
use domain::id::{GroupId, ReplayId};
use domain::letter::{Letter, LetterStateKind};
use domain::replay::{Entry, Ledger, OutcomeKind, Replay};

impl World {
    /// A replay.
    pub async fn replay(&self, id: &ReplayId) -> Replay {
        self.store.replay(id).await.expect("the store").expect("a replay")
    }

    /// A replay's ledger.
    pub async fn ledger(&self, id: &ReplayId) -> Ledger {
        self.store.ledger(id).await.expect("the store")
    }

    /// The entries of a replay.
    pub async fn entries(&self, id: &ReplayId) -> Vec<Entry> {
        let mut all = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.store.entries(id, None, None, cursor.as_ref(), 200).await.expect("entries");
            all.extend(page.items);
            let Some(next) = page.next else { return all };
            cursor = Some(next);
        }
    }

    /// All letters of a group.
    pub async fn letters(&self, group: &GroupId, state: Option<LetterStateKind>) -> Vec<Letter> {
        let mut all = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.store.letters_of(group, state, cursor.as_ref(), 200).await.expect("letters");
            all.extend(page.items);
            let Some(next) = page.next else { return all };
            cursor = Some(next);
        }
    }

    /// The only group there is.
    pub async fn only_group(&self) -> GroupId {
        let page = self.store.groups(i64::MAX, None, 10).await.expect("groups");
        assert_eq!(
            page.items.len(),
            1,
            "one group: {:?}",
            page.items.iter().map(|f| &f.group.title).collect::<Vec<_>>()
        );
        page.items[0].group.id.clone()
    }

    /// The ledger says what the entries say (promise 5).
    pub async fn ledger_closes(&self, id: &ReplayId) {
        let entries = self.entries(id).await;
        let total = self.ledger(id).await.total();
        for kind in OutcomeKind::ALL {
            let counted = entries.iter().filter(|entry| entry.outcome.kind() == kind).count() as u64;
            assert_eq!(total.get(kind), counted, "the ledger's {} of {total:?}", kind.as_str());
        }
    }

    /// The counters of a group say what its letters say (promise 2).
    pub async fn counters_are_exact(&self, group: &GroupId) -> GroupCounts {
        let facts = self.store.group_facts(group, i64::MAX).await.expect("the store").expect("a group");
        for kind in LetterStateKind::ALL {
            let letters = self.letters(group, Some(kind)).await;
            let tally = facts.counts.of(kind);
            assert_eq!(tally.letters, letters.len() as i64, "{} letters", kind.as_str());
            let mut money = domain::money::Purse::empty();
            letters.iter().filter_map(|letter| letter.impact.money).for_each(|m| money.add(m));
            assert_eq!(tally.money, money, "money of {} letters", kind.as_str());
        }
        facts.counts
    }
}
