//! The list of groups from the list before and what has changed since.

use crate::sorted::sorted;
use wire::{GroupRow, GroupsAnswer, ListChanges, part_of};

/// Returns the whole answer. Returns `None` if the changes do not fit the list before: then the list must be asked for as a
/// whole.
pub fn folded(before: Option<&GroupsAnswer>, answer: GroupsAnswer) -> Option<GroupsAnswer> {
    let Some(changes) = answer.changes else { return Some(answer) };
    let groups = rows(&before?.groups, &changes, answer.groups)?;
    Some(GroupsAnswer { groups, changes: None, ..answer })
}

fn rows(before: &[GroupRow], changes: &ListChanges, new: Vec<GroupRow>) -> Option<Vec<GroupRow>> {
    let is_changed = |row: &GroupRow| changes.changed.binary_search(&part_of(&row.id, changes.parts)).is_ok();
    let Some(order) = &changes.order else {
        // The rows of changed parts come in the order of the list.
        let mut new = new.into_iter();
        let next = |row: &GroupRow| match is_changed(row) {
            true => new.next().filter(|new| new.id == row.id),
            false => Some(row.clone()),
        };
        let rows: Option<Vec<_>> = before.iter().map(next).collect();
        return rows.filter(|rows| new.next().is_none() && rows.len() == changes.rows as usize);
    };
    let kept = before.iter().filter(|row| !is_changed(row)).cloned();
    let rows = sorted(kept.chain(new).collect(), |a, b| a.id.cmp(&b.id));
    let mut rows: Vec<Option<GroupRow>> = rows.into_iter().map(Some).collect();
    if order.len() != rows.len() {
        return None;
    }
    // A position twice finds its row taken.
    order.iter().map(|at| rows.get_mut(*at as usize)?.take()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::group_row;
    use proptest::prelude::*;
    use wire::Summary;
    use wire::list::delta::Digests;

    /// The office's answer: these groups, by number, in this order, each with a number that changes.
    fn whole(rows: &[(u16, i64)]) -> GroupsAnswer {
        let mut groups: Vec<GroupRow> = Vec::new();
        for (number, letters) in rows {
            let row = group_row(&format!("{number:032x}"), *letters);
            if groups.iter().all(|other| other.id != row.id) {
                groups.push(row);
            }
        }
        GroupsAnswer {
            version: Digests::from_rows(&groups).version(),
            summary: Summary::new(&groups, crate::sample::NOW),
            total: groups.len() as u64,
            groups,
            changes: None,
            cut: false,
            matching: 0,
            in_views: Vec::new(),
            unrated: Vec::new(),
            rates_of: None,
            watching: Vec::new(),
        }
    }

    fn answer(known: &str, office: &GroupsAnswer) -> GroupsAnswer {
        Digests::from_rows(&office.groups).since(known, office.clone())
    }

    /// Lists as an office has them one after the other: much stays, some rows change, come, leave and move.
    fn lists() -> impl Strategy<Value = Vec<Vec<(u16, i64)>>> {
        let step = (prop::collection::vec((any::<prop::sample::Index>(), 0_u16..300, 0_i64..5), 0..6), any::<bool>());
        let first = prop::collection::vec((0_u16..300, 0_i64..5), 0..120);
        (first, prop::collection::vec(step, 1..12)).prop_map(|(first, steps)| {
            let mut lists = vec![first];
            for (changes, ranks) in steps {
                let mut next = lists[lists.len() - 1].clone();
                for (at, number, letters) in changes {
                    match number % 3 {
                        0 => next.push((number, letters)),
                        1 if !next.is_empty() => drop(next.remove(at.index(next.len()))),
                        _ if !next.is_empty() => {
                            let at = at.index(next.len());
                            next[at].1 = letters;
                        }
                        _ => {}
                    }
                }
                if ranks {
                    next.sort_by_key(|(number, letters)| (-letters, *number));
                }
                lists.push(next);
            }
            lists
        })
    }

    proptest! {
        #[test]
        fn folded_changes_are_the_offices_list(lists in lists(), skips in prop::collection::vec(any::<bool>(), 12)) {
            let mut page = whole(&lists[0]);
            for (list, skip) in lists[1..].iter().zip(skips) {
                // A reader that was away misses versions.
                if skip {
                    continue;
                }
                let office = whole(list);
                page = folded(Some(&page), answer(&page.version, &office)).expect("changes of this very list");
                prop_assert_eq!(&page, &office);
            }
        }

        #[test]
        fn changes_of_another_list_are_refused_or_right(lists in lists()) {
            let (before, office) = (whole(&lists[0]), whole(&lists[lists.len() - 1]));
            let mut wrong = before.clone();
            wrong.groups.truncate(before.groups.len() / 2);
            if let Some(page) = folded(Some(&wrong), answer(&before.version, &office)) {
                prop_assert_eq!(page.groups.len(), office.groups.len());
            }
        }
    }

    #[test]
    fn a_whole_answer_needs_no_list_before() {
        let office = whole(&[(1, 1), (2, 2)]);
        assert_eq!(folded(None, office.clone()), Some(office.clone()));
        assert_eq!(folded(None, answer(&office.version, &office)), None, "changes do");
    }

    #[test]
    fn a_quiet_list_sends_little() {
        let rows: Vec<(u16, i64)> = (0..2_000).map(|number| (number, 1)).collect();
        let before = whole(&rows);
        let mut after = rows.clone();
        for number in [3, 700, 1_999] {
            after[number].1 = 2;
        }
        let sent = answer(&before.version, &whole(&after));
        assert!((3..60).contains(&sent.groups.len()), "{} rows", sent.groups.len());
        assert!(folded(Some(&before), sent).is_some());
    }
}
