//! Counters: numbers that are only ever added to, so that two commits at once need not know of each other.
//!
//! A group's counters lie in one record as long as it is quiet. When two commits meet there, the one that was refused
//! takes another shard, and stays on it; readers add all shards up. Two facts of a shard are extremes, which cannot be
//! added: the latest death, and the shortest time between a letter's send and its loss. They only ever move one way,
//! so the store remembers what it saw last and writes them only when they move.

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

/// Groups that are remembered; beyond, all are forgotten and read again.
const REMEMBERED_MAX: usize = 10_000;

/// What a shard's extremes are at least known to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extremes {
    pub last_died_ms: Option<i64>,
    pub shortest_ms: Option<i64>,
}

impl Extremes {
    pub(super) fn of(item: &Item) -> Self {
        Self { last_died_ms: get_number(item, "t"), shortest_ms: get_number(item, "s") }
    }

    fn joined(self, other: Self) -> Self {
        Self {
            last_died_ms: self.last_died_ms.max(other.last_died_ms),
            shortest_ms: [self.shortest_ms, other.shortest_ms].into_iter().flatten().min(),
        }
    }
}

/// Which shard this process uses for a group, and what it saw there.
#[derive(Default)]
pub(super) struct Shards {
    seen: Mutex<HashMap<GroupId, (u8, Option<Extremes>)>>,
}

impl Shards {
    pub(super) fn of(&self, group: &GroupId) -> (u8, Option<Extremes>) {
        self.seen.lock().ok().and_then(|seen| seen.get(group).copied()).unwrap_or_default()
    }

    /// Notes what was seen or written on a shard.
    pub(super) fn saw(&self, group: &GroupId, shard: u8, extremes: Extremes) {
        let Ok(mut seen) = self.seen.lock() else { return };
        if seen.len() >= REMEMBERED_MAX {
            seen.clear();
        }
        let known = seen.entry(group.clone()).or_insert((shard, None));
        if known.0 == shard {
            known.1 = Some(known.1.unwrap_or_default().joined(extremes));
        }
    }

    /// Takes another shard, because somebody else is busy on this one.
    pub(super) fn leave(&self, group: &GroupId, shard: u8) {
        let Ok(mut seen) = self.seen.lock() else { return };
        let known = seen.entry(group.clone()).or_insert((shard, None));
        if known.0 == shard {
            *known = (random_below(u64::from(SHARDS)) as u8, None);
        }
    }
}

/// An update of counters: what to add, and what to set where it moves.
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
    }
}

/// What a delta adds to a group's shard. `customers` of the delta's are new.
pub(super) fn adding(delta: &CountsDelta, customers: usize) -> Adding {
    let mut add = Vec::new();
    let mut some = |name: String, by: i64| {
        if by != 0 {
            add.push((name, by.to_string()));
        }
    };
    some("n".into(), delta.deaths.cast_signed());
    some("c".into(), customers as i64);
    for (kind, tally) in &delta.by_state {
        some(format!("{}l", letter_of(*kind)), tally.letters);
        some(format!("{}p", letter_of(*kind)), tally.priced);
    }
    for (kind, tally) in &delta.by_state {
        let sums = tally.money.sums().iter();
        add.extend(sums.map(|sum| (format!("{}m{}", letter_of(*kind), sum.currency), sum.amount.to_string())));
    }
    let last_died_ms = delta.last_died_at.map(Timestamp::as_ms);
    Adding { add, extremes: Extremes { last_died_ms, shortest_ms: None } }
}

/// The extremes that move beyond what is known of a shard.
pub(super) fn moving(wanted: Extremes, known: Extremes) -> Extremes {
    Extremes {
        last_died_ms: wanted.last_died_ms.filter(|at| known.last_died_ms.is_none_or(|known| *at > known)),
        shortest_ms: wanted.shortest_ms.filter(|ms| known.shortest_ms.is_none_or(|known| *ms < known)),
    }
}

/// An update in DynamoDB's language.
#[derive(Debug)]
pub(super) struct Update {
    pub key: Key,
    pub expression: String,
    pub condition: Option<String>,
    pub names: HashMap<String, String>,
    pub values: Item,
}

/// The update that adds numbers to a record, and sets extremes under the condition that they move.
pub(super) fn update(key: Key, adding: &Adding) -> Update {
    let (mut names, mut values) = (HashMap::new(), Item::new());
    let mut adds = Vec::new();
    for (at, (name, by)) in adding.add.iter().enumerate() {
        adds.push(format!("#a{at} :a{at}"));
        names.insert(format!("#a{at}"), name.clone());
        values.insert(format!(":a{at}"), number(by));
    }
    let (mut sets, mut conditions) = (Vec::new(), Vec::new());
    for (name, value, beyond) in [("t", adding.extremes.last_died_ms, "<"), ("s", adding.extremes.shortest_ms, ">")] {
        let Some(value) = value else { continue };
        names.insert(format!("#{name}"), name.into());
        values.insert(format!(":{name}"), number(value));
        sets.push(format!("#{name} = :{name}"));
        conditions.push(format!("(attribute_not_exists(#{name}) OR #{name} {beyond} :{name})"));
    }
    let clause = |word: &str, parts: &[String]| match parts {
        [] => String::new(),
        _ => format!("{word} {} ", parts.join(", ")),
    };
    let expression = clause("ADD", &adds) + &clause("SET", &sets);
    let condition = (!conditions.is_empty()).then(|| conditions.join(" AND "));
    Update { key, expression, condition, names, values }
}

/// The sum of a group's shards.
pub(super) fn sum(shards: &[&Item]) -> Result<(GroupCounts, Extremes), Fault> {
    let (mut counts, mut extremes) = (GroupCounts::default(), Extremes::default());
    for item in shards {
        let whole = |name: &str| get_number::<i64>(item, name).unwrap_or_default();
        extremes = extremes.joined(Extremes::of(item));
        let mut delta = CountsDelta {
            deaths: whole("n").cast_unsigned(),
            last_died_at: get_number(item, "t").map(Timestamp::from_ms),
            ..CountsDelta::default()
        };
        counts.customers += whole("c").cast_unsigned();
        for kind in LetterStateKind::ALL {
            let letter = letter_of(kind);
            let money = purse(item, letter);
            let (letters, priced) = (whole(&format!("{letter}l")), whole(&format!("{letter}p")));
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
        let currency = name.strip_prefix(letter).and_then(|rest| rest.strip_prefix('m')).and_then(Currency::parse);
        if let (Some(currency), Ok(text)) = (currency, value.as_n()) {
            // What a decimal cannot hold stops at the largest one, as in a purse: one sum must not hide all groups.
            let end = if text.starts_with('-') { Decimal::MIN } else { Decimal::MAX };
            let amount = Decimal::from_str(text).or_else(|_| Decimal::from_scientific(text)).unwrap_or(end);
            purse.add(Money { amount, currency });
        }
    }
    purse
}

/// The shards that records of a group's counters belong to.
pub(super) fn shard_of(item: &Item) -> Result<u8, Fault> {
    let text = get_text(item, "sk")?.strip_prefix(key::COUNTS);
    text.and_then(|text| u8::from_str_radix(text, 16).ok()).ok_or(Fault::Lacks("a shard's number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_written_only_when_they_move() {
        let some = |t, s| Extremes { last_died_ms: t, shortest_ms: s };
        for (wanted, known, moves) in [
            (some(Some(5), Some(5)), some(None, None), some(Some(5), Some(5))),
            (some(Some(5), Some(5)), some(Some(5), Some(5)), some(None, None)),
            (some(Some(6), Some(4)), some(Some(5), Some(5)), some(Some(6), Some(4))),
            (some(Some(4), Some(6)), some(Some(5), Some(5)), some(None, None)),
            (some(None, None), some(Some(5), Some(5)), some(None, None)),
        ] {
            assert_eq!(moving(wanted, known), moves, "{wanted:?} where {known:?} is known");
        }
    }

    #[test]
    fn shard_is_kept_until_it_is_left() {
        let (shards, group) = (Shards::default(), GroupId::from("g"));
        assert_eq!(shards.of(&group), (0, None));
        let seen = Extremes { last_died_ms: Some(3), shortest_ms: None };
        shards.saw(&group, 0, seen);
        shards.saw(&group, 0, Extremes { last_died_ms: Some(2), shortest_ms: Some(9) });
        assert_eq!(shards.of(&group), (0, Some(Extremes { shortest_ms: Some(9), ..seen })));
        shards.leave(&group, 7);
        assert_eq!(shards.of(&group).0, 0, "another shard is left");
        shards.leave(&group, 0);
        assert_eq!(shards.of(&group).1, None, "nothing is known of the new one");
    }
}
