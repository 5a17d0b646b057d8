//! Patterns: templates that are equal except for one stretch of tokens, the hole. Enough different fillings prove that
//! it holds data.
//!
//! A proven pattern joins its templates and is itself a template in the next round, so that several positions of one
//! message are proven one after the other. Prefixes and suffixes are numbered exactly rather than hashed: a collision
//! would be a wrong merge.

use super::hole::{self, Filling, Room};
use super::tokens::HOLE_TOKENS_MAX;
use super::weighed::Place;
use super::{HOSTS_WINDOW_MS, tokens};
use crate::time::Timestamp;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The maximum number of rounds, and so of positions in one message that can be proven.
const ROUNDS_MAX: usize = 6;

/// The maximum number of patterns that become templates. Real families have a few; hostile ones could have any number.
const PATTERNS_MAX: usize = 2_000;

/// One template with a hole.
struct Entry {
    /// The numbers of the text before and after the hole: equal numbers mean equal texts.
    around: (u32, u32),
    /// The width of the hole. Fillings of several widths would join sentences, unless they look like data.
    width: u8,
    filling: Filling,
    template: usize,
    from: u8,
    length: u8,
}

/// Returns the number of the set that each template belongs to.
pub fn sets(texts: &[&str], times: &[Option<Timestamp>]) -> Vec<usize> {
    let mut templates: Vec<Vec<&str>> = texts.iter().map(|text| tokens::split(text)).collect();
    let mut known: BTreeMap<Vec<&str>, usize> = templates.iter().cloned().zip(0..).collect();
    let mut sets = Sets::default();
    sets.grow(templates.len());
    for _ in 0..ROUNDS_MAX {
        let entries = entries(&templates);
        let mut found = Vec::new();
        for same in entries.chunk_by(|a, b| a.around == b.around).filter(|same| same.len() > 1) {
            let first = &same[0];
            let (left, _, right) = parts(first, &templates);
            let room = hole::room(left, right);
            let place = Place::new(left, right);
            let of_width = same.chunk_by(|a, b| a.width == b.width);
            let mut joined: Vec<Vec<&Entry>> =
                of_width.map(|same| proven(same, room, &place, &templates, times)).collect();
            if joined.iter().map(Vec::len).sum::<usize>() < same.len() {
                joined.push(likely(same, room, &place, &templates));
            }
            for (one, joined) in joined.iter().filter_map(|joined| joined.first().zip(Some(joined))) {
                joined.iter().for_each(|entry| sets.join(one.template, entry.template));
                let pattern: Vec<&str> = left.iter().chain(&["*"]).chain(right).copied().collect();
                found.push((pattern, one.template));
            }
        }
        let before = templates.len();
        for (pattern, member) in found {
            if templates.len() >= texts.len() + PATTERNS_MAX && !known.contains_key(&pattern) {
                continue;
            }
            let at = *known.entry(pattern).or_insert_with_key(|pattern| {
                templates.push(pattern.clone());
                templates.len() - 1
            });
            sets.grow(templates.len());
            sets.join(member, at);
        }
        if templates.len() == before {
            break;
        }
    }
    (0..texts.len()).map(|template| sets.root(template)).collect()
}

/// Returns every template with each of its possible holes, sorted by pattern.
fn entries(templates: &[Vec<&str>]) -> Vec<Entry> {
    let mut numbers = BTreeMap::new();
    let mut entries = Vec::new();
    for (template, tokens) in templates.iter().enumerate() {
        let before = numbered(&mut numbers, tokens.iter(), 0);
        let mut after = numbered(&mut numbers, tokens.iter().rev(), 1);
        after.reverse();
        for from in 0..tokens.len() {
            for length in 1..=HOLE_TOKENS_MAX.min(tokens.len() - from) {
                let (left, right) = (&tokens[..from], &tokens[from + length..]);
                let Some(filling) = hole::judge(left, &tokens[from..from + length], right) else { continue };
                // A name with data in brackets counts as one word.
                let width = if filling == Filling::Call { 1 } else { length as u8 };
                let around = (before[from], after[from + length]);
                // Both fit because a template has a bounded number of tokens.
                let (from, length) = (from as u8, length as u8);
                entries.push(Entry { around, width, filling, template, from, length });
            }
        }
    }
    entries.sort_by_key(|entry| (entry.around, entry.width, entry.template));
    entries
}

/// Returns the numbers of the text before each token and, last, of all tokens.
fn numbered<'a, 'b: 'a>(
    numbers: &mut BTreeMap<(u32, &'b str), u32>,
    tokens: impl Iterator<Item = &'a &'b str>,
    start: u32,
) -> Vec<u32> {
    let mut all = Vec::from([start]);
    let mut last = start;
    for token in tokens {
        let next = numbers.len() as u32 + 2;
        last = *numbers.entry((last, *token)).or_insert(next);
        all.push(last);
    }
    all
}

/// Returns the text before a hole, its filling, and the text after it.
fn parts<'a, 'b>(entry: &Entry, templates: &'a [Vec<&'b str>]) -> (&'a [&'b str], &'a [&'b str], &'a [&'b str]) {
    let (left, rest) = templates[entry.template].split_at(usize::from(entry.from));
    let (filling, right) = rest.split_at(usize::from(entry.length));
    (left, filling, right)
}

/// Returns the fillings of one width that are proven to be data. More entries never prove fewer.
fn proven<'a>(
    same: &'a [Entry],
    room: Room,
    place: &Place,
    templates: &[Vec<&str>],
    times: &[Option<Timestamp>],
) -> Vec<&'a Entry> {
    let count = |kind: Filling| same.iter().filter(|entry| entry.filling == kind).count();
    let (masked, calls) = (count(Filling::Mask) > 0, count(Filling::Call));
    let reached = |min: Option<usize>, count: usize| min.is_some_and(|min| count >= min);
    let others = same.len() - count(Filling::Host);
    let is_one_word = same.iter().all(|entry| entry.width == 1);
    let any = is_one_word && reached(room.any_min, others);
    let is_no_cause = |entry: &Entry| match entry.filling {
        Filling::Host => false,
        Filling::Words => any || !place.holds_cause(parts(entry, templates).1),
        Filling::Mask | Filling::Call | Filling::Shaped => true,
    };
    let may_count = any || is_one_word && reached(room.words_min, others);
    let counted: Vec<bool> = same.iter().map(|entry| may_count && is_no_cause(entry)).collect();
    let words = any || reached(room.words_min, counted.iter().filter(|counts| **counts).count());
    let shapes = reached(room.shapes_min, count(Filling::Shaped) + calls);
    let near = room.hosts_min.map_or_else(Vec::new, |min| within_window(same, times, min));
    let hosts = !near.is_empty();
    let called = room.shapes_min.is_some() && masked && calls > 0;
    let joins = |filling: Filling| match filling {
        Filling::Mask => shapes || hosts || called,
        Filling::Call => called || shapes,
        Filling::Shaped => shapes,
        Filling::Host | Filling::Words => false,
    };
    let joined = |(entry, counts): &(&Entry, bool)| match entry.filling {
        Filling::Host => near.contains(&entry.template),
        filling => words && *counts || joins(filling),
    };
    same.iter().zip(counted).filter(joined).map(|(entry, _)| entry).collect()
}

/// Returns the fillings of any width that look like data in their place, if there are enough of them. A mask is data. More
/// entries never prove fewer.
fn likely<'a>(same: &'a [Entry], room: Room, place: &Place, templates: &[Vec<&str>]) -> Vec<&'a Entry> {
    let Some(min) = room.likely_min.filter(|min| same.len() >= *min) else { return Vec::new() };
    let is_data = |entry: &&Entry| match entry.filling {
        Filling::Mask => true,
        Filling::Words | Filling::Shaped => place.holds_data(parts(entry, templates).1),
        Filling::Call | Filling::Host => false,
    };
    let found: Vec<&Entry> = same.iter().filter(is_data).collect();
    if found.len() >= min { found } else { Vec::new() }
}

/// Returns the templates whose hosts failed close in time: those in some window with enough of them. More entries never
/// prove fewer.
fn within_window(same: &[Entry], times: &[Option<Timestamp>], hosts_min: usize) -> Vec<usize> {
    let time = |entry: &Entry| times.get(entry.template).copied().flatten().map(|at| (at, entry.template));
    let mut seen: Vec<_> = same.iter().filter(|entry| entry.filling == Filling::Host).filter_map(time).collect();
    seen.sort();
    let mut near = Vec::new();
    let mut from = 0;
    for to in 0..seen.len() {
        while seen[to].0.as_ms() - seen[from].0.as_ms() > HOSTS_WINDOW_MS {
            from += 1;
        }
        if to + 1 - from >= hosts_min {
            near.extend(seen[from..=to].iter().map(|(_, template)| *template));
        }
    }
    near
}

/// Disjoint sets; a set's number is that of its smallest member.
#[derive(Default)]
struct Sets(Vec<usize>);

impl Sets {
    fn grow(&mut self, count: usize) {
        self.0.extend(self.0.len()..count);
    }

    fn root(&self, mut at: usize) -> usize {
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
