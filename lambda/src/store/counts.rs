//! Counters of groups. Commits only add to them, so concurrent commits need no coordination.
//!
//! A quiet group has its counters in one record. If two commits collide there, the refused one moves to another shard
//! and stays on it. Readers sum all shards.
//!
//! Each shard also holds three extremes, which cannot be added: the latest death, the latest reading of a letter that died
//! at an unknown time, and the shortest time between a letter's send and its loss. An extreme moves in one direction only.
//! The store remembers the values that it saw last, and writes an extreme only when it moves.

use super::fault::Fault;
use super::item::{Item, get_number, get_text, number};
use super::key::{self, Key, SHARDS};
use crate::retry::random_below;
use domain::group::{CountsDelta, GroupCounts, Tally};
use domain::id::GroupId;
use domain::letter::LetterStateKind;
use domain::money::{Currency, Decimal, Money, Purse};
use domain::time::Timestamp;
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Mutex;

/// Groups that a process remembers. At this number, it drops all of them and reads them again.
const REMEMBERED_MAX: usize = 10_000;

/// The extremes of a shard. The stored ones may have moved further since they were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extremes {
    pub last_died_ms: Option<i64>,
    pub last_undated_ms: Option<i64>,
    pub shortest_ms: Option<i64>,
}

impl Extremes {
    pub(super) fn from_item(item: &Item) -> Self {
        Self {
            last_died_ms: get_number(item, "t"),
            last_undated_ms: get_number(item, "u"),
            shortest_ms: get_number(item, "s"),
        }
    }

    fn merged(self, other: Self) -> Self {
        Self {
            last_died_ms: self.last_died_ms.max(other.last_died_ms),
            last_undated_ms: self.last_undated_ms.max(other.last_undated_ms),
            shortest_ms: [self.shortest_ms, other.shortest_ms].into_iter().flatten().min(),
        }
    }
}

/// The shard that this process uses for each group, and the extremes that it last saw there.
#[derive(Default)]
pub(super) struct Shards {
    known: Mutex<HashMap<GroupId, (u8, Option<Extremes>)>>,
}

impl Shards {
    /// Returns the shard of a group, and its extremes if this process has read or written them.
    pub(super) fn get(&self, group: &GroupId) -> (u8, Option<Extremes>) {
        self.known.lock().ok().and_then(|known| known.get(group).copied()).unwrap_or_default()
    }

    /// Remembers extremes that were read from or written to a shard.
    pub(super) fn remember(&self, group: &GroupId, shard: u8, extremes: Extremes) {
        let Ok(mut groups) = self.known.lock() else { return };
        if groups.len() >= REMEMBERED_MAX {
            groups.clear();
        }
        let known = groups.entry(group.clone()).or_insert((shard, None));
        if known.0 == shard {
            known.1 = Some(known.1.unwrap_or_default().merged(extremes));
        }
    }

    /// Moves the group to another shard, because another process is writing to this one.
    pub(super) fn leave(&self, group: &GroupId, shard: u8) {
        let Ok(mut groups) = self.known.lock() else { return };
        let known = groups.entry(group.clone()).or_insert((shard, None));
        if known.0 == shard {
            *known = (random_below(u64::from(SHARDS)) as u8, None);
        }
    }
}

/// An update of counters: numbers to add, and extremes to set if they move.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Adding {
    pub add: Vec<(String, String)>,
    pub extremes: Extremes,
}

fn letter_of(kind: LetterStateKind) -> char {
    match kind {
        LetterStateKind::Waiting => 'w',
        LetterStateKind::InReplay => 'i',
        LetterStateKind::Quarantined => 'q',
        LetterStateKind::Delivered => 'd',
        LetterStateKind::Discarded => 'x',
    }
}

/// Returns what a delta adds to a group's shard. `customers` is the number of new customers in the delta.
pub(super) fn adding(delta: &CountsDelta, customers: usize) -> Adding {
    let mut add = Vec::new();
    let mut add_unless_zero = |name: String, by: i64| {
        if by != 0 {
            add.push((name, by.to_string()));
        }
    };
    add_unless_zero("n".into(), delta.deaths.cast_signed());
    add_unless_zero("e".into(), delta.undated.cast_signed());
    add_unless_zero("c".into(), customers as i64);
    for (kind, tally) in &delta.by_state {
        add_unless_zero(format!("{}l", letter_of(*kind)), tally.letters);
        add_unless_zero(format!("{}p", letter_of(*kind)), tally.priced);
    }
    for (kind, tally) in &delta.by_state {
        let sums = tally.money.sums().iter();
        add.extend(sums.map(|sum| (format!("{}m{}", letter_of(*kind), sum.currency), sum.amount.to_string())));
    }
    let last_died_ms = delta.last_died_at.map(Timestamp::as_ms);
    let last_undated_ms = delta.last_undated_at.map(Timestamp::as_ms);
    Adding { add, extremes: Extremes { last_died_ms, last_undated_ms, shortest_ms: None } }
}

/// Returns the extremes that go beyond the known ones.
pub(super) fn moving(wanted: Extremes, known: Extremes) -> Extremes {
    Extremes {
        last_died_ms: wanted.last_died_ms.filter(|at| known.last_died_ms.is_none_or(|known| *at > known)),
        last_undated_ms: wanted.last_undated_ms.filter(|at| known.last_undated_ms.is_none_or(|known| *at > known)),
        shortest_ms: wanted.shortest_ms.filter(|ms| known.shortest_ms.is_none_or(|known| *ms < known)),
    }
}

/// An update in DynamoDB's expression language.
#[derive(Debug)]
pub(super) struct Update {
    pub key: Key,
    pub expression: String,
    pub condition: Option<String>,
    pub names: HashMap<String, String>,
    pub values: Item,
}

/// Builds the update that adds numbers to a record, and sets extremes on the condition that they move.
pub(super) fn update(key: Key, adding: &Adding) -> Update {
    let (mut names, mut values) = (HashMap::new(), Item::new());
    let mut adds = Vec::new();
    for (index, (name, by)) in adding.add.iter().enumerate() {
        adds.push(format!("#a{index} :a{index}"));
        names.insert(format!("#a{index}"), name.clone());
        values.insert(format!(":a{index}"), number(by));
    }
    let (mut sets, mut conditions) = (Vec::new(), Vec::new());
    let Extremes { last_died_ms, last_undated_ms, shortest_ms } = adding.extremes;
    for (name, value, beyond) in [("t", last_died_ms, "<"), ("u", last_undated_ms, "<"), ("s", shortest_ms, ">")] {
        let Some(value) = value else { continue };
        names.insert(format!("#{name}"), name.into());
        values.insert(format!(":{name}"), number(value));
        sets.push(format!("#{name} = :{name}"));
        conditions.push(format!("(attribute_not_exists(#{name}) OR #{name} {beyond} :{name})"));
    }
    let clause = |keyword: &str, terms: &[String]| match terms {
        [] => String::new(),
        _ => format!("{keyword} {} ", terms.join(", ")),
    };
    let expression = clause("ADD", &adds) + &clause("SET", &sets);
    let condition = (!conditions.is_empty()).then(|| conditions.join(" AND "));
    Update { key, expression, condition, names, values }
}

/// Sums the shards of a group.
pub(super) fn sum(shards: &[&Item]) -> Result<(GroupCounts, Extremes), Fault> {
    let (mut counts, mut extremes) = (GroupCounts::default(), Extremes::default());
    for item in shards {
        let count = |name: &str| get_number::<i64>(item, name).unwrap_or_default();
        extremes = extremes.merged(Extremes::from_item(item));
        let mut delta = CountsDelta {
            deaths: count("n").cast_unsigned(),
            last_died_at: get_number(item, "t").map(Timestamp::from_ms),
            undated: count("e").cast_unsigned(),
            last_undated_at: get_number(item, "u").map(Timestamp::from_ms),
            ..CountsDelta::default()
        };
        counts.customers += count("c").cast_unsigned();
        for kind in LetterStateKind::ALL {
            let letter = letter_of(kind);
            let money = purse(item, letter);
            let (letters, priced) = (count(&format!("{letter}l")), count(&format!("{letter}p")));
            delta.by_state.insert(kind, Tally { letters, priced, money });
        }
        counts.apply(&delta);
    }
    counts.by_state.retain(|_, tally| *tally != Tally::default());
    Ok((counts, extremes))
}

fn purse(item: &Item, letter: char) -> Purse {
    let mut purse = Purse::empty();
    for (name, value) in item {
        let currency = name.strip_prefix(letter).and_then(|name| name.strip_prefix('m')).and_then(Currency::parse);
        if let (Some(currency), Ok(text)) = (currency, value.as_n()) {
            // A sum that exceeds the decimal's range becomes its limit, as in a purse. An error here would hide all
            // groups.
            let limit = if text.starts_with('-') { Decimal::MIN } else { Decimal::MAX };
            let amount = Decimal::from_str(text).or_else(|_| Decimal::from_scientific(text)).unwrap_or(limit);
            purse.add(Money { amount, currency });
        }
    }
    purse
}

/// Returns the shard of a record of counters.
pub(super) fn shard_of(item: &Item) -> Result<u8, Fault> {
    let text = get_text(item, "sk")?.strip_prefix(key::COUNTS);
    text.and_then(|text| u8::from_str_radix(text, 16).ok()).ok_or(Fault::MissingAttribute("sk"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_written_only_when_they_move() {
        let some = |t, s| Extremes { last_died_ms: t, last_undated_ms: t, shortest_ms: s };
        for (wanted, known, moves) in [
            (some(Some(5), Some(5)), some(None, None), some(Some(5), Some(5))),
            (some(Some(5), Some(5)), some(Some(5), Some(5)), some(None, None)),
            (some(Some(6), Some(4)), some(Some(5), Some(5)), some(Some(6), Some(4))),
            (some(Some(4), Some(6)), some(Some(5), Some(5)), some(None, None)),
            (some(None, None), some(Some(5), Some(5)), some(None, None)),
        ] {
            assert_eq!(moving(wanted, known), moves, "wanted {wanted:?}, known {known:?}");
        }
    }

    #[test]
    fn shard_is_used_until_it_is_left() {
        let (shards, group) = (Shards::default(), GroupId::from("g"));
        assert_eq!(shards.get(&group), (0, None));
        let seen = Extremes { last_died_ms: Some(3), ..Extremes::default() };
        shards.remember(&group, 0, seen);
        shards.remember(&group, 0, Extremes { last_died_ms: Some(2), shortest_ms: Some(9), ..Extremes::default() });
        assert_eq!(shards.get(&group), (0, Some(Extremes { shortest_ms: Some(9), ..seen })));
        shards.leave(&group, 7);
        assert_eq!(shards.get(&group).0, 0, "leaving another shard changes nothing");
        shards.leave(&group, 0);
        assert_eq!(shards.get(&group).1, None, "the new shard is not read yet");
    }
}
