//! Who sees every call that takes effect, in order, and checks each against the promises.

mod replays;

use super::fixture::{QUIET, SKEW, Summary};
use super::orders::number_of;
use super::programs::{made, may_be_a_changed_sending};
use domain::gate::ConditionKind;
use domain::group::Variant;
use domain::id::{GroupId, LetterId, MessageId, QueueArn, ReplayId};
use domain::letter::Letter;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::{MARKER_ATTRIBUTE, Marker};
use domain::message::Content;
use domain::replay::{Entry, Outcome, OutcomeKind, Replay, ReplayState};
use domain::time::Timestamp;
use domain::transform::{DryRun, body_hash, program_hash};
use harness::faults::Watch;
use office::port::{Expect, Write};
use queue::{EntryFailure, Outgoing};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines of the log that are told with a broken promise.
const LOG_MAX: usize = 60;

type Key = (ReplayId, LetterId);

/// The checker.
pub(super) struct Checker {
    main: QueueArn,
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    seen: Mutex<Seen>,
}

/// A sending that is meant, and what became of it.
struct Intent {
    /// The number of the commit that wrote it.
    at: u64,
    /// Sends that reached the queue.
    sends: u32,
    /// When the last of them was.
    sent_at: Option<Timestamp>,
}

#[derive(Default)]
struct Seen {
    commits: u64,
    merged: BTreeSet<GroupId>,
    merges: u64,
    /// Sendings whose message the consumer has processed.
    processed: BTreeSet<Key>,
    confirmed: u64,
    orders: BTreeMap<u64, Content>,
    letters: BTreeMap<LetterId, Letter>,
    entries: BTreeMap<Key, Entry>,
    intents: BTreeMap<Key, Intent>,
    replays: BTreeMap<ReplayId, Replay>,
    /// Messages without a marker that reached the main queue, and whose id there no entry has taken down yet; with the
    /// numbers of their orders.
    in_the_dark: BTreeMap<MessageId, Option<u64>>,
    /// The commit that wrote each of them last.
    written_at: BTreeMap<ReplayId, u64>,
    /// The commits in which letters came back.
    returned_at: BTreeMap<Key, u64>,
    /// Programs by group and version.
    programs: BTreeMap<(GroupId, u32), String>,
    /// The dry run of each, as it is.
    dry_runs: BTreeMap<(GroupId, u32), DryRun>,
    /// Letters that left changed.
    changed: u64,
    /// Replays that may send nothing more, since which commit, and how much they did send after it.
    halted: BTreeMap<ReplayId, (u64, usize)>,
    died_at: BTreeMap<GroupId, Timestamp>,
    broken: Option<String>,
    log: VecDeque<String>,
    /// Of every line that was ever in the log.
    print: DefaultHasher,
}

impl Checker {
    pub fn new(main: QueueArn, now: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        Self { main, now, seen: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An order was placed.
    pub fn placed(&self, n: u64, content: &Content) {
        self.seen().orders.insert(n, content.clone());
    }

    /// The consumer has processed a message of a replay's.
    pub fn processed(&self, marker: &Marker) {
        self.seen().processed.insert((marker.replay.clone(), marker.letter.clone()));
    }

    /// Whether a letter is on its way as the one message whose id its entry has.
    pub fn is_one_message(&self, marker: &Marker) -> bool {
        let seen = self.seen();
        let entry = seen.entries.get(&(marker.replay.clone(), marker.letter.clone()));
        entry.is_some_and(|entry| entry.sends == 1 && matches!(entry.outcome, Outcome::InFlight { .. }))
    }

    /// Something is wrong that others have seen.
    pub fn accuse(&self, broken: String) {
        self.seen().accuse(broken);
    }

    /// The first promise that was broken.
    pub fn verdict(&self) -> Result<(), String> {
        self.seen().broken.clone().map_or(Ok(()), Err)
    }

    /// What happened last.
    pub fn last_words(&self) -> String {
        self.seen().log.iter().cloned().collect::<Vec<_>>().join("\n")
    }

    /// What was done, in numbers.
    pub fn counted(&self) -> Summary {
        let seen = self.seen();
        let sends = seen.intents.values().map(|intent| u64::from(intent.sends)).sum();
        let (replays, merges, confirmed) = (seen.replays.len() as u64, seen.merges, seen.confirmed);
        let (changed, print) = (seen.changed, seen.print.finish());
        Summary { sends, changed, replays, merges, confirmed, print, ..Summary::default() }
    }

    /// How often a letter was handed to the main queue by a replay.
    pub fn sends_of(&self, replay: &ReplayId, letter: &LetterId) -> u32 {
        self.seen().intents.get(&(replay.clone(), letter.clone())).map_or(0, |intent| intent.sends)
    }

    /// Whether an answer about a letter was lost while nothing on the message could tell whose it was.
    pub fn was_sent_in_the_dark(&self, n: u64) -> bool {
        self.seen().in_the_dark.values().any(|of| *of == Some(n))
    }
}

impl Seen {
    fn joins(&mut self, group: &Variant) {
        if group.merge.into.is_none() {
            self.merged.remove(&group.id);
        } else if self.merged.insert(group.id.clone()) {
            self.merges += 1;
        }
    }

    fn accuse(&mut self, broken: String) {
        self.log.push_back(format!("BROKEN: {broken}"));
        self.broken.get_or_insert(broken);
    }

    fn note(&mut self, now: Timestamp, line: String) {
        (now.as_ms(), &line).hash(&mut self.print);
        self.log.push_back(format!("{:>9} {:>5} {line}", now.as_ms() % 100_000_000, self.commits));
        if self.log.len() > LOG_MAX {
            self.log.pop_front();
        }
    }

    fn letter(&mut self, letter: &Letter) {
        let died_at = self.died_at.entry(letter.group.clone()).or_insert(letter.died_at);
        *died_at = (*died_at).max(letter.died_at);
        let original = number_of(&letter.content.body).and_then(|n| self.orders.get(&n));
        if original != Some(&letter.content)
            && !original.is_some_and(|original| may_be_a_changed_sending(original, letter, self.programs.values()))
        {
            self.accuse(format!("letter {} is not what was sent: {:?}", letter.id, letter.content));
        }
        self.letters.insert(letter.id.clone(), letter.clone());
    }

    /// What a letter must be when a replay sends it; none when its program fails on it.
    fn as_sent(&self, (replay, letter): &Key) -> Option<Content> {
        let content = self.letters.get(letter)?.content.clone();
        let replay = self.replays.get(replay)?;
        let Some(named) = &replay.transform() else { return Some(content) };
        let program = self.programs.get(&(replay.group().clone(), named.version))?;
        if program_hash(program) != named.program_hash {
            return None;
        }
        Some(Content { body: made(program, &content.body)?, ..content })
    }

    fn entry(&mut self, entry: &Entry, now: Timestamp) {
        let key = (entry.replay.clone(), entry.letter.clone());
        self.note(now, format!("entry {} {:?} sends {}", entry.seq, entry.outcome.kind(), entry.sends));
        match &entry.outcome {
            Outcome::Sending { .. } => self.intent(entry, &key),
            // Sent once more, a FIFO queue answers with the id of the first, which may have come back in between.
            Outcome::InFlight { message_id, .. } if entry.sends == 1 => drop(self.in_the_dark.remove(message_id)),
            Outcome::Returned { .. } => drop(self.returned_at.entry(key.clone()).or_insert(self.commits)),
            Outcome::Delivered { confirmed: Some(_), .. } => self.confirmation(&key),
            Outcome::Delivered { confirmed: None, .. } => self.delivery(&key, now),
            _ => {}
        }
        self.entries.insert(key, entry.clone());
    }

    fn intent(&mut self, entry: &Entry, key: &Key) {
        let Some(replay) = self.replays.get(&entry.replay) else {
            return self.accuse(format!("letter {} was to be sent without an approval", entry.letter));
        };
        match replay.state() {
            ReplayState::Running { wave, .. } if *wave == entry.wave => {}
            _ => {
                let words = format!("letter {} of wave {} meant to go while {:?}", key.1, entry.wave, replay.state());
                self.accuse(words);
            }
        }
        let at = self.commits;
        let intent = self.intents.entry(key.clone()).or_insert(Intent { at, sends: 0, sent_at: None });
        intent.at = at;
    }

    /// Confirmed only when the consumer has processed just that.
    fn confirmation(&mut self, key: &Key) {
        self.confirmed += 1;
        if !self.processed.contains(key) {
            self.accuse(format!("letter {} counts as confirmed, and nobody has processed it", key.1));
        }
    }

    /// Without a receipt delivered only when it was sent, and its window has passed.
    fn delivery(&mut self, key: &Key, now: Timestamp) {
        let window = self.replays.get(&key.0).map(Replay::window).unwrap_or_default();
        let sent_at = self.intents.get(key).and_then(|intent| intent.sent_at);
        if sent_at.is_none_or(|at| now.plus(SKEW).plus(SKEW) < at.plus(window)) {
            self.accuse(format!("letter {} counts as delivered, sent at {sent_at:?}, now {now:?}", key.1));
        }
    }

    /// Which sending of ours a message on its way is. Without a marker it may be that of either of two letters of one
    /// content: such twins come of a message of which nobody can tell that it came back.
    fn sending(&self, message: &Outgoing) -> Vec<Key> {
        if let Some(marker) = message.content.attributes.get(MARKER_ATTRIBUTE) {
            let marker = marker.as_text().and_then(Marker::parse);
            return marker.map(|marker| (marker.replay, marker.letter)).into_iter().collect();
        }
        let is_it = |(key, entry): &(&Key, &Entry)| {
            entry.outcome.kind() == OutcomeKind::Sending && self.as_sent(key).as_ref() == Some(&message.content)
        };
        self.entries.iter().filter(is_it).map(|(key, _)| key.clone()).collect()
    }

    /// FIFO: of a message group one letter is on its way, none overtakes another, none follows one that came back.
    fn in_order(&mut self, key: &Key) {
        let Some(entry) = self.entries.get(key).cloned() else { return };
        let of_lane = self.entries.values().filter(|other| {
            other.replay == entry.replay
                && other.message_group == entry.message_group
                && other.message_group.is_some()
                && other.seq != entry.seq
        });
        let wrong: Vec<String> = of_lane
            .filter(|other| match other.outcome.kind() {
                OutcomeKind::Sending | OutcomeKind::InFlight => true,
                OutcomeKind::Delivered => other.seq > entry.seq,
                OutcomeKind::Returned => other.seq < entry.seq || other.sends > 0,
                _ => false,
            })
            .map(|other| format!("{} {:?}", other.seq, other.outcome.kind()))
            .collect();
        if !wrong.is_empty() {
            self.accuse(format!("letter {} of {:?} went beside or after {wrong:?}", entry.seq, entry.message_group));
        }
        if entry.message_group.is_none() {
            self.accuse(format!("letter {} goes to a FIFO queue without its message group", key.1));
        }
    }

    fn send(&mut self, main: &QueueArn, message: &Outgoing, now: Timestamp) {
        let keys = self.sending(message);
        let [key] = &keys[..] else {
            if keys.is_empty() {
                self.accuse(format!("nobody knows what was sent: {:?}", message.content));
            }
            for key in &keys {
                if let Some(intent) = self.intents.get_mut(key) {
                    intent.sent_at = Some(now);
                }
            }
            return;
        };
        self.note(now, format!("sends {}", key.1));
        let Some(letter) = self.letters.get(&key.1) else {
            return self.accuse(format!("letter {} was never stored", key.1));
        };
        let mut content = message.content.clone();
        content.attributes.remove(MARKER_ATTRIBUTE);
        let is_changed = content.body != letter.content.body;
        let (same, home) = (self.as_sent(key).as_ref() == Some(&content), letter.main_queue.as_ref() == Some(main));
        if !same || !home {
            self.accuse(format!("letter {} left otherwise than approved, or for another queue: {content:?}", key.1));
        }
        let told = self.entries.get(key).and_then(|entry| entry.changed_by.clone()).map(|by| by.body_hash);
        if told != is_changed.then(|| body_hash(&content.body)) {
            self.accuse(format!("letter {} left as {content:?}, told is {told:?}", key.1));
        }
        self.changed += u64::from(is_changed);
        if main.is_fifo() {
            self.in_order(key);
        }
        let intent_at = match self.intents.get_mut(key) {
            Some(intent) => {
                intent.sends += 1;
                intent.sent_at = Some(now);
                intent.at
            }
            None => return self.accuse(format!("letter {} was sent without an intent", key.1)),
        };
        if let Some((halted_at, after)) = self.halted.get_mut(&key.0) {
            *after += 1;
            let (late, many) = (intent_at > *halted_at, *after > BATCH_ENTRIES_MAX);
            if late || many {
                self.accuse(format!("letter {} was sent after its replay was stopped", key.1));
            }
        }
    }
}

impl Watch for Checker {
    fn committed(&self, writes: &[Write]) {
        let now = (self.now)();
        let mut seen = self.seen();
        seen.commits += 1;
        // The head first: what else is in the commit holds with it.
        for write in writes {
            if let Write::Replay { replay, expect } = write {
                seen.program(replay, writes);
                seen.replay(replay, *expect == Expect::Absent, now);
            }
        }
        for write in writes {
            match write {
                Write::Letter { letter, .. } => seen.letter(letter),
                Write::Entry { entry, .. } => seen.entry(entry, now),
                Write::Plan(plan) => seen.plan(plan),
                Write::DryRun { run, .. } => {
                    seen.dry_runs.insert((run.group.clone(), run.transform.version), DryRun::clone(run));
                }
                Write::Transform(saved) => {
                    let old = seen.programs.insert((saved.group.clone(), saved.version), saved.program.clone());
                    if old.is_some() {
                        seen.accuse(format!("version {} of {} was written again", saved.version, saved.group));
                    }
                }
                // One that joins tells of its head.
                Write::Variant { variant, .. } => seen.joins(variant),
                _ => {}
            }
        }
    }

    fn sends(&self, queue: &QueueArn, messages: &[Outgoing]) {
        if *queue == self.main {
            let now = (self.now)();
            let mut seen = self.seen();
            messages.iter().for_each(|message| seen.send(queue, message, now));
        } else if !queue.as_str().ends_with("dlo-steps") {
            self.accuse(format!("letters were sent to {queue}"));
        }
    }

    fn sent(&self, queue: &QueueArn, messages: &[Outgoing], answers: &[Result<MessageId, EntryFailure>]) {
        let unmarked = |message: &Outgoing| !message.content.attributes.contains_key(MARKER_ATTRIBUTE);
        let sent = messages.iter().zip(answers).filter(|(message, _)| *queue == self.main && unmarked(message));
        let dark = sent.filter_map(|(message, answer)| Some((answer.clone().ok()?, number_of(&message.content.body))));
        self.seen().in_the_dark.extend(dark);
    }
}
