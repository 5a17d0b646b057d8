//! What the lines of a log say about letters, and how sure that is.

use super::{Finding, Link, LogLine};
use crate::id::MessageId;
use crate::policy::Policy;
use crate::read::classify_failure;
use crate::reading::{Class, Classification, Confidence, Failure};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The share from which one error dominates, percent. At four in five, the letters of one group, which all look alike,
/// hardly died of the others.
const DOMINATES_PCT: usize = 80;
/// The fewest errors among which one can dominate where no line names a letter: two may agree by accident.
const ERRORS_MIN: usize = 3;
/// The highest confidence of a class that follows from lines which name letters, percent: below that of an error that
/// a letter carries itself, because a log repeats whatever it is told.
const NAMED_PCT_MAX: u8 = 70;
/// The same where only the invocation connects letter and error: another message of its batch may have caused it.
const INVOCATION_PCT_MAX: u8 = 50;
/// The same where only the time connects them.
const TIME_PCT_MAX: u8 = 40;

/// An error in the log.
struct Logged {
    failure: Failure,
    kind: String,
}

/// Returns what log lines say about the messages with these ids.
pub fn judge(letters: &[MessageId], lines: &[LogLine], policy: &Policy) -> Finding {
    let kind =
        |failure: &Failure| failure.error_type.clone().unwrap_or_else(|| classify_failure(failure, None, policy).title);
    // A consumer logs an error that it throws, and its runtime logs it again: once for each invocation.
    let mut counted = BTreeSet::new();
    let mut errors: Vec<Logged> = Vec::new();
    let mut by_request: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_line: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(failure) = &line.reading.failure else { continue };
        let kind = kind(failure);
        by_line.insert(at, errors.len());
        if let Some(request) = &line.reading.request {
            by_request.insert(request, errors.len());
            if !counted.insert((request, kind.clone())) {
                by_line.insert(at, errors.len().saturating_sub(1));
                by_request.insert(request, errors.len().saturating_sub(1));
                continue;
            }
        }
        errors.push(Logged { failure: failure.clone(), kind });
    }
    if errors.is_empty() {
        return Finding::NoErrors { lines: count(lines.len()) };
    }
    let (direct, through) = named(letters, lines, &by_line, &by_request);
    let (link, found) = if direct.is_empty() { (Link::Invocation, through) } else { (Link::Line, direct) };
    if found.is_empty() {
        let all: Vec<usize> = (0..errors.len()).collect();
        let (error, most) = most_frequent(&errors, &all);
        return Finding::Frequent { error, count: count(most), errors: count(errors.len()) };
    }
    let (error, most) = most_frequent(&errors, &found);
    Finding::Named { error, link, letters: count(most), named: count(found.len()), of: count(letters.len()) }
}

/// Returns the error of each letter that a line about an error names, and of each that a line of the same invocation names.
fn named(
    letters: &[MessageId],
    lines: &[LogLine],
    by_line: &BTreeMap<usize, usize>,
    by_request: &BTreeMap<&str, usize>,
) -> (Vec<usize>, Vec<usize>) {
    let (mut direct, mut through) = (Vec::new(), Vec::new());
    for id in letters.iter().filter(|id| !id.as_str().is_empty()) {
        let naming = || lines.iter().enumerate().filter(|(_, line)| line.ids.contains(id));
        // The newest: an older one may be about an attempt that failed of something else.
        if let Some(error) = naming().filter_map(|(at, _)| by_line.get(&at)).next_back() {
            direct.push(*error);
        }
        let requests = naming().filter_map(|(_, line)| line.reading.request.as_deref());
        if let Some(error) = requests.filter_map(|request| by_request.get(request)).next_back() {
            through.push(*error);
        }
    }
    (direct, through)
}

/// Returns the most frequent kind of error, with the stack that tells most, and how often it occurs.
fn most_frequent(errors: &[Logged], chosen: &[usize]) -> (Failure, usize) {
    let mut kinds: BTreeMap<&str, Vec<&Failure>> = BTreeMap::new();
    for error in chosen.iter().filter_map(|at| errors.get(*at)) {
        kinds.entry(&error.kind).or_default().push(&error.failure);
    }
    // Of several, the first by name, so that the same log always gives the same answer.
    let most = kinds.into_values().rev().max_by_key(Vec::len).unwrap_or_default();
    let example = most.iter().find(|failure| failure.stack.is_some()).or(most.first());
    (example.map(|failure| (*failure).clone()).unwrap_or_default(), most.len())
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the class that follows from a finding: only where one error dominates, and never surer than the link between
/// log and letters is.
pub fn classification(finding: &Finding, policy: &Policy) -> Option<Classification> {
    let (error, count, of, pct_max, how) = match finding {
        Finding::Named { error, link, letters, named, .. } => {
            let (pct_max, how) = match link {
                Link::Line => (NAMED_PCT_MAX, "the log names the letters"),
                Link::Invocation => (INVOCATION_PCT_MAX, "the log names invocations of the letters"),
            };
            (error, *letters as usize, *named as usize, pct_max, how)
        }
        Finding::Frequent { error, count, errors } if *errors as usize >= ERRORS_MIN => {
            (error, *count as usize, *errors as usize, TIME_PCT_MAX, "only the time connects log and letters")
        }
        _ => return None,
    };
    if count * 100 < of * DOMINATES_PCT {
        return None;
    }
    let found = classify_failure(error, None, policy).classification;
    (found.firm_class() != Class::Unknown).then(|| Classification {
        confidence: found.confidence.min(Confidence::from_pct(pct_max)),
        reason: format!("from the consumer's logs ({how}): {}", found.reason),
        ..found
    })
}
