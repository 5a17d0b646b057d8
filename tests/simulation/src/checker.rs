//! Observes every call that takes effect, in order, and checks each against the office's promises.

mod customers;
mod deliveries;
mod discards;
mod drafts;
mod letters;
mod messages;
mod replays;
mod summary;

use super::fixture::{QUIET, SKEW};
use super::orders::number_of;
use super::programs::{may_be_transformed, transformed};
use domain::gate::ConditionKind;
use domain::group::Variant;
use domain::id::{GroupId, LetterId, MessageId, QueueArn, ReplayId};
use domain::letter::Letter;
use domain::limits::HAND_LETTERS_MAX;
use domain::marker::{MARKER_ATTRIBUTE, Marker};
use domain::message::Content;
use domain::replay::{Entry, Outcome, OutcomeKind, Replay, ReplayState};
use domain::time::Timestamp;
use domain::transform::{DryRun, body_hash, program_hash};
use harness::faults::Watch;
use office::office::StepMessage;
use office::port::{Expect, Write};
use queue::{EntryFailure, Outgoing};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines of the log that a report of a violation includes.
const LOG_MAX: usize = 60;

type Key = (ReplayId, LetterId);

/// The checker.
pub(super) struct Checker {
    main: QueueArn,
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    observed: Mutex<Observed>,
}

/// An intent to send, and the sends that followed.
struct Intent {
    /// The number of the commit that wrote it.
    at: u64,
    /// Sends that reached the queue.
    sends: u32,
    /// The time of the latest send.
    sent_at: Option<Timestamp>,
}

#[derive(Default)]
struct Observed {
    commits: u64,
    merged: BTreeSet<GroupId>,
    merges: u64,
    /// Entries whose message the consumer has processed.
    processed: BTreeSet<Key>,
    /// Entries of which the consumer has dead-lettered a message itself.
    failed: BTreeSet<Key>,
    /// How many messages of an entry the consumer has processed and deleted.
    gone: BTreeMap<Key, u32>,
    /// The ids of messages that a replay sent, with their entries.
    ids: BTreeMap<MessageId, Key>,
    confirmed: u64,
    /// Discards of a letter, and how many of them were undone or ended by a new death.
    discarded: u64,
    taken_back: u64,
    orders: BTreeMap<u64, Content>,
    letters: BTreeMap<LetterId, Letter>,
    /// When each letter was last written.
    stored_at: BTreeMap<LetterId, Timestamp>,
    /// Plans that are being made in steps, and the number of those that were completed.
    drafts: BTreeMap<ReplayId, drafts::Drafted>,
    drafted: u64,
    reports: letters::Reports,
    entries: BTreeMap<Key, Entry>,
    intents: BTreeMap<Key, Intent>,
    replays: BTreeMap<ReplayId, Replay>,
    /// Messages without a marker that reached the main queue and whose id no entry has recorded yet, with the numbers of
    /// their orders.
    unattributed: BTreeMap<MessageId, Option<u64>>,
    /// The latest commit that wrote each replay.
    written_at: BTreeMap<ReplayId, u64>,
    /// The commits in which letters returned.
    returned_at: BTreeMap<Key, u64>,
    /// Programs by group and version.
    programs: BTreeMap<(GroupId, u32), String>,
    /// The current dry run of each program.
    dry_runs: BTreeMap<(GroupId, u32), DryRun>,
    /// Letters that were sent changed by a transform.
    changed: u64,
    /// Replays that must not send: since which commit, and the number of letters sent after it.
    halted: BTreeMap<ReplayId, (u64, usize)>,
    died_at: BTreeMap<GroupId, Timestamp>,
    customers: BTreeMap<GroupId, BTreeSet<String>>,
    /// Messages whose letters were delivered without a receipt.
    unconfirmed: BTreeSet<MessageId>,
    /// Whether a clock of a process has jumped.
    clock_jumped: bool,
    violation: Option<String>,
    log: VecDeque<String>,
    /// The hash of every line that was ever in the log.
    print: DefaultHasher,
}

impl Checker {
    pub fn new(main: QueueArn, now: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        Self { main, now, observed: Mutex::default() }
    }

    fn observed(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a placed order.
    pub fn placed(&self, n: u64, content: &Content) {
        self.observed().orders.insert(n, content.clone());
    }

    /// Returns whether a letter was sent once and its entry knows the message id.
    pub fn is_one_message(&self, marker: &Marker) -> bool {
        let observed = self.observed();
        let entry = observed.entries.get(&(marker.replay.clone(), marker.letter.clone()));
        entry.is_some_and(|entry| entry.sends == 1 && matches!(entry.outcome, Outcome::InFlight { .. }))
    }

    /// Returns whether the entry that a marker names is past its sends: its message id is known, or it has its outcome.
    pub fn is_answered(&self, marker: &Marker) -> bool {
        let observed = self.observed();
        let entry = observed.entries.get(&(marker.replay.clone(), marker.letter.clone()));
        entry.is_none_or(|entry| !matches!(entry.outcome, Outcome::Pending | Outcome::Sending { .. }))
    }

    /// Records a violation.
    pub fn report(&self, violation: String) {
        self.observed().report(violation);
    }

    /// Fails with the first violation.
    pub fn result(&self) -> Result<(), String> {
        self.observed().violation.clone().map_or(Ok(()), Err)
    }

    /// Returns the latest events.
    pub fn log(&self) -> String {
        self.observed().log.iter().cloned().collect::<Vec<_>>().join("\n")
    }

    /// Returns how often a replay sent a letter to the main queue.
    pub fn sends_of(&self, replay: &ReplayId, letter: &LetterId) -> u32 {
        self.observed().intents.get(&(replay.clone(), letter.clone())).map_or(0, |intent| intent.sends)
    }

    /// Returns whether an order was sent without a marker in a call whose answer was lost.
    pub fn was_sent_unattributed(&self, n: u64) -> bool {
        self.observed().unattributed.values().any(|order| *order == Some(n))
    }
}

impl Observed {
    fn variant(&mut self, group: &Variant) {
        if group.merge.into.is_none() {
            self.merged.remove(&group.id);
        } else if self.merged.insert(group.id.clone()) {
            self.merges += 1;
        }
    }

    fn report(&mut self, violation: String) {
        self.log.push_back(format!("VIOLATION: {violation}"));
        self.violation.get_or_insert(violation);
    }

    fn note(&mut self, now: Timestamp, line: String) {
        (now.as_ms(), &line).hash(&mut self.print);
        self.log.push_back(format!("{:>9} {:>5} {line}", now.as_ms() % 100_000_000, self.commits));
        if self.log.len() > LOG_MAX {
            self.log.pop_front();
        }
    }

    /// Returns the content with which a replay must send a letter; `None` if its program fails on it.
    fn expected_content(&self, (replay, letter): &Key) -> Option<Content> {
        let content = self.letters.get(letter)?.content.clone();
        let replay = self.replays.get(replay)?;
        let Some(named) = &replay.transform() else { return Some(content) };
        let program = self.programs.get(&(replay.group().clone(), named.version))?;
        if program_hash(program) != named.program_hash {
            return None;
        }
        Some(Content { body: transformed(program, &content.body)?, ..content })
    }

    fn entry(&mut self, entry: &Entry, now: Timestamp) {
        let key = (entry.replay.clone(), entry.letter.clone());
        self.note(now, format!("entry {} {:?} sends {}", entry.seq, entry.outcome.kind(), entry.sends));
        match &entry.outcome {
            Outcome::Sending { .. } => self.intent(entry, &key),
            // On a second send, a FIFO queue answers with the id of the first, which may have returned in between.
            Outcome::InFlight { message_id, .. } if entry.sends == 1 => drop(self.unattributed.remove(message_id)),
            Outcome::Returned { .. } => self.returned(&key),
            Outcome::Delivered { confirmed: Some(_), .. } => self.confirmation(&key),
            Outcome::Delivered { confirmed: None, .. } => self.delivery(&key, now),
            _ => {}
        }
        self.entries.insert(key, entry.clone());
    }

    fn intent(&mut self, entry: &Entry, key: &Key) {
        let Some(replay) = self.replays.get(&entry.replay) else {
            return self.report(format!("letter {} has an intent without an approval", entry.letter));
        };
        match replay.state() {
            ReplayState::Running { wave, .. } if *wave == entry.wave => {}
            _ => {
                let words = format!("letter {} of wave {} has an intent while {:?}", key.1, entry.wave, replay.state());
                self.report(words);
            }
        }
        let at = self.commits;
        let intent = self.intents.entry(key.clone()).or_insert(Intent { at, sends: 0, sent_at: None });
        intent.at = at;
    }

    /// A letter is confirmed only if the consumer has processed exactly that entry.
    fn confirmation(&mut self, key: &Key) {
        self.confirmed += 1;
        if !self.processed.contains(key) {
            self.report(format!("letter {} counts as confirmed but was not processed", key.1));
        }
    }

    /// Returns the entries that a sent message may belong to. Without a marker it may be either of two letters with equal
    /// content, which exist if a returned message was not recognised.
    fn candidates(&self, message: &Outgoing) -> Vec<Key> {
        if let Some(marker) = message.content.attributes.get(MARKER_ATTRIBUTE) {
            let marker = marker.as_text().and_then(Marker::parse);
            return marker.map(|marker| (marker.replay, marker.letter)).into_iter().collect();
        }
        let matches = |(key, entry): &(&Key, &Entry)| {
            entry.outcome.kind() == OutcomeKind::Sending
                && self.expected_content(key).as_ref() == Some(&message.content)
        };
        self.entries.iter().filter(matches).map(|(key, _)| key.clone()).collect()
    }

    /// FIFO: per message group only one letter is on its way, no letter overtakes another, and none follows a returned one.
    fn in_order(&mut self, key: &Key) {
        let Some(entry) = self.entries.get(key).cloned() else { return };
        let same_group = self.entries.values().filter(|other| {
            other.replay == entry.replay
                && other.message_group == entry.message_group
                && other.message_group.is_some()
                && other.seq != entry.seq
        });
        let wrong: Vec<String> = same_group
            .filter(|other| match other.outcome.kind() {
                OutcomeKind::Sending | OutcomeKind::InFlight => true,
                OutcomeKind::Delivered => other.seq > entry.seq,
                OutcomeKind::Returned => other.seq < entry.seq || other.sends > 0,
                _ => false,
            })
            .map(|other| format!("{} {:?}", other.seq, other.outcome.kind()))
            .collect();
        if !wrong.is_empty() {
            self.report(format!(
                "letter {} of {:?} was sent beside or after {wrong:?}",
                entry.seq, entry.message_group
            ));
        }
        if entry.message_group.is_none() {
            self.report(format!("letter {} was sent to a FIFO queue without its message group", key.1));
        }
    }

    fn send(&mut self, main: &QueueArn, message: &Outgoing, now: Timestamp) {
        let keys = self.candidates(message);
        let [key] = &keys[..] else {
            if keys.is_empty() {
                self.report(format!("a sent message belongs to no entry: {:?}", message.content));
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
            return self.report(format!("letter {} was never stored", key.1));
        };
        if letter.state.discard().is_some() {
            return self.report(format!("letter {} was sent after it was discarded", key.1));
        }
        let mut content = message.content.clone();
        content.attributes.remove(MARKER_ATTRIBUTE);
        let is_changed = content.body != letter.content.body;
        let (is_expected, is_home) =
            (self.expected_content(key).as_ref() == Some(&content), letter.main_queue.as_ref() == Some(main));
        if !is_expected || !is_home {
            self.report(format!(
                "letter {} was sent with another content than approved, or to another queue: {content:?}",
                key.1
            ));
        }
        let recorded = self.entries.get(key).and_then(|entry| entry.changed_by.clone()).map(|by| by.body_hash);
        if recorded != is_changed.then(|| body_hash(&content.body)) {
            self.report(format!("letter {} was sent as {content:?}, but its entry records {recorded:?}", key.1));
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
            None => return self.report(format!("letter {} was sent without an intent", key.1)),
        };
        if let Some((halted_at, after)) = self.halted.get_mut(&key.0) {
            *after += 1;
            let pace = self.replays.get(&key.0).map_or(0, |replay| replay.plan().pace_per_s as usize);
            let (is_late, are_many) = (intent_at > *halted_at, *after > HAND_LETTERS_MAX.min(pace));
            if is_late || are_many {
                self.report(format!("letter {} was sent after its replay was paused or ended", key.1));
            }
        }
    }
}

impl Watch for Checker {
    fn committed(&self, writes: &[Write]) {
        let now = (self.now)();
        let mut observed = self.observed();
        observed.commits += 1;
        // The replay first: the other writes of the commit are checked against it.
        for write in writes {
            if let Write::Replay { replay, expect } = write {
                observed.program(replay, writes);
                observed.replay(replay, *expect == Expect::Absent, now);
            }
        }
        observed.drafts(writes, now);
        for write in writes {
            match write {
                Write::Letter { letter, .. } => {
                    observed.letter(letter);
                    observed.stored_at.insert(letter.id.clone(), now);
                }
                Write::Counts { group, delta } => {
                    observed.customers.entry(group.clone()).or_default().extend(delta.customers.iter().cloned());
                }
                Write::Block { block, .. } => observed.block(block, now),
                Write::Plan(plan) => observed.plan(plan),
                Write::DryRun { run, .. } => {
                    observed.dry_runs.insert((run.group.clone(), run.transform.version), DryRun::clone(run));
                }
                Write::Transform(saved) => {
                    let old = observed.programs.insert((saved.group.clone(), saved.version), saved.program.clone());
                    if old.is_some() {
                        observed.report(format!("version {} of {} was overwritten", saved.version, saved.group));
                    }
                }
                Write::Variant { variant, .. } => observed.variant(variant),
                Write::Reports { kept, .. } => observed.kept_reports(kept, &self.main, now),
                Write::Attached(attached) => observed.attached(attached),
                _ => {}
            }
        }
    }

    fn sends(&self, queue: &QueueArn, messages: &[Outgoing]) {
        if *queue == self.main {
            let now = (self.now)();
            let mut observed = self.observed();
            messages.iter().for_each(|message| observed.send(queue, message, now));
        } else {
            let is_step = |sent: &Outgoing| serde_json::from_str::<StepMessage>(&sent.content.body).is_ok();
            if !queue.as_str().ends_with("dlo-steps") || !messages.iter().all(is_step) {
                self.report(format!("letters were sent to {queue}"));
            }
        }
    }

    fn sent(&self, queue: &QueueArn, messages: &[Outgoing], answers: &[Result<MessageId, EntryFailure>]) {
        self.observed().attribute((queue, &self.main), messages, answers);
        let unmarked = |message: &Outgoing| !message.content.attributes.contains_key(MARKER_ATTRIBUTE);
        let sent = messages.iter().zip(answers).filter(|(message, _)| *queue == self.main && unmarked(message));
        let unattributed =
            sent.filter_map(|(message, answer)| Some((answer.clone().ok()?, number_of(&message.content.body))));
        self.observed().unattributed.extend(unattributed);
    }
}
