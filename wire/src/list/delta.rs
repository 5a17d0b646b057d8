//! The list of groups as a difference: a reader names the version that it has, and gets the rows that differ.
//!
//! The office remembers nothing of its readers. Groups are spread over parts by a hash of their id, and a version is a
//! digest of the order and one of each part. The office compares the reader's digests with those of its own answer, and
//! sends the parts that differ. Whatever list a version was made of, folding the difference into that list gives the
//! office's answer: `dashboard_model::delta`.

use crate::changes::{ListChanges, part_of};
use crate::{GroupRow, GroupsAnswer};
use alloc::string::String;
use alloc::vec::Vec;
use domain::id::{GroupId, hash_hex};

/// Rows per part, while there are few parts: a change of one row sends about so many.
const PART_ROWS: usize = 8;
/// The maximum number of parts. More would make the version longer than the rows that they save.
const PARTS_MAX: usize = 128;
/// The digits of a digest: 48 bits. A changed part is missed once in 10^14 times.
const DIGITS: usize = 12;
/// The longest version, characters.
pub const VERSION_CHARS_MAX: usize = (1 + PARTS_MAX) * DIGITS;

/// Digests of the rows of an answer, in its order.
pub struct Digests(Vec<(GroupId, String)>);

impl Digests {
    /// Computes the digests.
    pub fn from_rows(rows: &[GroupRow]) -> Self {
        // A row always has a JSON form.
        let digest = |row: &GroupRow| hash_hex(&[&serde_json::to_string(row).unwrap_or_default()]);
        Self(rows.iter().map(|row| (row.id.clone(), digest(row))).collect())
    }

    /// Returns a tag of a whole answer. `rest` is everything of it but its rows.
    pub fn tag(&self, rest: &str) -> String {
        let parts: Vec<&str> = self.0.iter().map(|(_, digest)| digest.as_str()).chain([rest]).collect();
        hash_hex(&parts)
    }

    /// Returns the version of the rows.
    pub fn version(&self) -> String {
        let parts = self.0.len().div_ceil(PART_ROWS).clamp(1, PARTS_MAX);
        self.in_parts(parts).concat()
    }

    /// Returns the digest of the order, then that of each part.
    fn in_parts(&self, parts: usize) -> Vec<String> {
        let mut rows: Vec<Vec<&(GroupId, String)>> = (0..parts).map(|_| Vec::new()).collect();
        for row in &self.0 {
            rows[part_of(&row.0, parts as u32) as usize].push(row);
        }
        let order: Vec<&str> = self.0.iter().map(|(id, _)| id.as_str()).collect();
        let digest_of = |mut rows: Vec<&(GroupId, String)>| {
            rows.sort();
            short(&rows.iter().map(|(_, digest)| digest.as_str()).collect::<Vec<_>>())
        };
        core::iter::once(short(&order)).chain(rows.into_iter().map(digest_of)).collect()
    }

    /// Returns the positions of the rows among all ids in ascending order.
    fn order(&self) -> Vec<u32> {
        let mut ids: Vec<&GroupId> = self.0.iter().map(|(id, _)| id).collect();
        ids.sort();
        self.0.iter().map(|(id, _)| ids.binary_search(&id).unwrap_or_default() as u32).collect()
    }

    /// Reduces a whole answer to what differs from a version. The answer stays whole if the version is not one, or if most
    /// rows differ.
    pub fn since(&self, version: &str, whole: GroupsAnswer) -> GroupsAnswer {
        let Some(known) = digests(version) else { return whole };
        let parts = known.len() - 1;
        let now = self.in_parts(parts);
        let changed: Vec<u32> =
            (0..parts).filter(|part| known[1 + part] != now[1 + part]).map(|part| part as u32).collect();
        let is_changed = |row: &&GroupRow| changed.binary_search(&part_of(&row.id, parts as u32)).is_ok();
        if whole.groups.iter().filter(is_changed).count() * 2 > whole.groups.len() {
            return whole;
        }
        let groups = whole.groups.iter().filter(is_changed).cloned().collect();
        let order = (known[0] != now[0]).then(|| self.order());
        let rows = whole.groups.len() as u32;
        GroupsAnswer { groups, changes: Some(ListChanges { parts: parts as u32, changed, rows, order }), ..whole }
    }
}

fn short(parts: &[&str]) -> String {
    let mut digest = hash_hex(parts);
    digest.truncate(DIGITS);
    digest
}

/// Splits a version into its digests. Returns `None` if it is not a version.
fn digests(version: &str) -> Option<Vec<&str>> {
    let is_hex = version.bytes().all(|byte| byte.is_ascii_hexdigit());
    let count = version.len() / DIGITS;
    if !is_hex || !version.len().is_multiple_of(DIGITS) || !(2..=1 + PARTS_MAX).contains(&count) {
        return None;
    }
    Some((0..count).map(|at| &version[at * DIGITS..(at + 1) * DIGITS]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;
    use crate::list::sample::row;
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec;
    use domain::group::Customers;

    fn answer(groups: Vec<GroupRow>) -> GroupsAnswer {
        GroupsAnswer {
            version: Digests::from_rows(&groups).version(),
            groups,
            changes: None,
            summary: Summary::default(),
            cut: false,
            matching: 0,
            total: 0,
            in_views: Vec::new(),
            unrated: Vec::new(),
            rates_of: None,
            watching: Vec::new(),
        }
    }

    fn rows(count: usize) -> Vec<GroupRow> {
        (0..count).map(|n| row(&format!("{n}"), n as i64, None, 1, None, None, 0)).collect()
    }

    #[test]
    fn only_the_parts_that_changed_are_sent() {
        let before = answer(rows(400));
        let mut after = rows(400);
        after[7].customers = Customers::Exact(99);
        let sent = Digests::from_rows(&after).since(&before.version, answer(after.clone()));
        let changes = sent.changes.unwrap();
        assert_eq!((changes.parts, changes.changed.len(), changes.order), (50, 1, None));
        assert!(sent.groups.contains(&after[7]) && sent.groups.len() < 30, "{}", sent.groups.len());
        after.swap(0, 399);
        let sent = Digests::from_rows(&after).since(&before.version, answer(after.clone()));
        assert_eq!(sent.changes.unwrap().order.unwrap().len(), 400);
    }

    #[test]
    fn what_is_no_version_gives_the_whole_list() {
        let whole = answer(rows(20));
        let digests = Digests::from_rows(&whole.groups);
        let long = "0".repeat(VERSION_CHARS_MAX + DIGITS);
        for version in ["", "x", "0123456789ab", "0123456789abcdef", "0123456789xy0123456789ab", "ä", &long] {
            assert_eq!(digests.since(version, whole.clone()), whole, "{version}");
        }
        let unchanged = digests.since(&whole.version, whole.clone());
        assert_eq!((unchanged.groups, unchanged.changes.unwrap().changed), (vec![], vec![]));
        assert!(digests.version().len() <= VERSION_CHARS_MAX);
        let other = answer(rows(3).into_iter().map(|row| GroupRow { owner: Some("ana".to_string()), ..row }).collect());
        assert_eq!(Digests::from_rows(&other.groups).since(&whole.version, other.clone()), other, "most rows differ");
    }
}
