//! Letters: they are what was sent, and a report says why they failed and changes nothing else.

use super::*;
use domain::deployment::Attached;
use domain::impact::Impact;
use domain::message::DeadMessage;
use domain::policy::Policy;
use domain::read::read;
use domain::report::judge::{Verdict, Why};
use domain::report::{Report, ReportKind};
use domain::reported::{BYSTANDER, KeptReports};
use domain::time::Span;

/// While the platform's answer is younger, only its functions count. The office forgets it after 30 minutes.
const BELIEVED_FOR: Span = Span::from_mins(29);

/// What is known about reports.
#[derive(Default)]
pub(super) struct Reports {
    /// By request id: the messages that it names, its error, and whether a stranger sent it.
    sent: BTreeMap<String, Sent>,
    /// What each message of the dead-letter queue is without reports.
    plain: BTreeMap<MessageId, Plain>,
    /// Messages whose stored reports say why they failed; and those of which anything is stored.
    known: BTreeMap<MessageId, bool>,
    /// Whether anything is stored about the main queue, so that its consumer is known to report.
    queue_reports: bool,
    /// The same three before the current intake began, if there are no faults any more.
    before: Option<(BTreeMap<MessageId, bool>, bool)>,
    /// Requests of strangers that counted, because the platform had not said who the consumers are.
    believed: BTreeSet<String>,
    attached: Option<Attached>,
    /// Messages that were left in the dead-letter queue.
    pub awaited: BTreeSet<MessageId>,
    /// Letters with a reason from a report.
    pub explained: u64,
}

struct Sent {
    kind: ReportKind,
    error_type: Option<String>,
    messages: BTreeSet<MessageId>,
    is_strange: bool,
}

struct Plain {
    original_message_id: MessageId,
    main_queue: Option<QueueArn>,
    impact: Impact,
    has_marker: bool,
    has_failure: bool,
}

impl Checker {
    /// Records a report that was sent.
    pub fn reported(&self, report: &Report, is_strange: bool) {
        let sent = Sent {
            kind: report.kind,
            error_type: report.error.as_ref().and_then(|error| error.error_type.clone()),
            messages: report.messages.iter().map(|named| named.id.clone()).collect(),
            is_strange,
        };
        self.observed().reports.sent.entry(report.request_id.clone()).or_insert(sent);
    }

    /// Reads the messages that intake is about to keep, without any report.
    pub fn intake(&self, messages: &[DeadMessage], policy: &Policy, is_calm: bool) {
        let mut observed = self.observed();
        for message in messages {
            let reading = read(message, policy);
            let plain = Plain {
                original_message_id: reading.original_message_id,
                main_queue: reading.main_queue,
                impact: reading.diagnosis.impact,
                has_marker: reading.marker.is_some(),
                has_failure: !reading.diagnosis.failure.is_empty(),
            };
            observed.reports.plain.insert(message.message_id.clone(), plain);
        }
        let known = (observed.reports.known.clone(), observed.reports.queue_reports);
        observed.reports.before = is_calm.then_some(known);
    }

    /// Records that intake left messages in the dead-letter queue for a late report.
    pub fn left(&self, messages: BTreeSet<MessageId>) {
        let mut observed = self.observed();
        for message in messages {
            let has_marker = observed.reports.plain.get(&message).is_some_and(|plain| plain.has_marker);
            let is_again = !observed.reports.awaited.insert(message.clone());
            if has_marker || (is_again && !observed.clock_jumped) {
                observed
                    .report(format!("message {message} was left for a report (marker {has_marker}, again {is_again})"));
            }
        }
    }
}

impl Observed {
    pub(super) fn letter(&mut self, letter: &Letter) {
        let died_at = self.died_at.entry(letter.group.clone()).or_insert(letter.died_at);
        *died_at = (*died_at).max(letter.died_at);
        let original = number_of(&letter.content.body).and_then(|n| self.orders.get(&n));
        if original != Some(&letter.content)
            && !original.is_some_and(|original| may_be_transformed(original, letter, self.programs.values()))
        {
            self.report(format!("letter {} differs from its order: {:?}", letter.id, letter.content));
        }
        match self.letters.get(&letter.id).cloned() {
            Some(before) => self.stays(&before, letter),
            None => self.is_new(letter),
        }
        self.discard(letter);
        self.letters.insert(letter.id.clone(), letter.clone());
    }

    /// What is stored of a message or of the main queue. A stranger's report counts only as long as the platform has not
    /// said who the consumers are.
    pub(super) fn kept_reports(&mut self, kept: &KeptReports, main: &QueueArn, now: Timestamp) {
        if kept.key.queue != *main {
            return;
        }
        let is_known = self.reports.attached.as_ref().is_some_and(|it| now.since(it.seen_at) < BELIEVED_FOR);
        for report in &kept.reports {
            let id = &report.request_id;
            let is_strange = self.reports.sent.get(id).is_none_or(|sent| sent.is_strange);
            if is_strange && self.reports.believed.insert(id.clone()) && is_known && !self.clock_jumped {
                self.report(format!("the report {id} of a stranger counts"));
            }
        }
        match &kept.key.message {
            Some(message) => drop(self.reports.known.insert(message.clone(), kept.reason().is_some())),
            // A start that failed and was withdrawn leaves a record without a report.
            None => self.reports.queue_reports = kept.is_recent(now),
        }
    }

    pub(super) fn attached(&mut self, attached: &Attached) {
        self.reports.attached = Some(attached.clone());
    }

    /// Between two deaths, nothing that was read of a letter changes; and what a letter is, costs, and where it goes never
    /// does.
    fn stays(&mut self, before: &Letter, after: &Letter) {
        let (old, new) = (&before.diagnosis, &after.diagnosis);
        let is_same = before.main_queue == after.main_queue
            && before.original_message_id == after.original_message_id
            && old.impact == new.impact;
        let is_same_death = before.group == after.group && old == new;
        if !is_same || (before.deaths == after.deaths && !is_same_death) {
            self.report(format!("letter {} changed from {before:?} to {after:?}", after.id));
        }
        if new.reported.is_some() && before.deaths != after.deaths {
            self.is_sent(after);
        }
    }

    fn is_new(&mut self, letter: &Letter) {
        let id = letter.dead_message_id.as_ref().unwrap_or(&letter.original_message_id).clone();
        if letter.diagnosis.reported.is_some() {
            self.reports.explained += 1;
            self.is_only_explained(letter, &id);
            if let Some(sent) = self.is_sent(letter)
                && !sent
            {
                self.report(format!("letter {} has the reason of another message", letter.id));
            }
        } else if letter.diagnosis.failure.is_empty() && !self.clock_jumped {
            self.is_mute(letter, &id);
        }
    }

    /// A report gives a reason to a letter that has none, and changes neither identity nor money nor destination.
    fn is_only_explained(&mut self, letter: &Letter, dead: &MessageId) {
        let Some(plain) = self.reports.plain.get(dead) else {
            return self.report(format!("letter {} comes from no message", letter.id));
        };
        let is_same = plain.original_message_id == letter.original_message_id
            && plain.main_queue == letter.main_queue
            && plain.impact == letter.diagnosis.impact;
        if plain.has_failure || !is_same {
            self.report(format!("a report changed letter {}: {:?}", letter.id, letter.diagnosis));
        }
    }

    /// Checks that a letter's reason was reported, with this error, and counts. Returns whether the report names the
    /// message, or is about starts; `None` if it was never sent.
    fn is_sent(&mut self, letter: &Letter) -> Option<bool> {
        let reported = letter.diagnosis.reported.as_ref()?;
        let Some(sent) = self.reports.sent.get(&reported.request_id) else {
            self.report(format!("letter {} names a report that was never sent: {reported:?}", letter.id));
            return None;
        };
        let error_type = letter.diagnosis.failure.error_type.as_deref();
        let is_bystander = reported.verdict == Verdict::Bystander && error_type == Some(BYSTANDER);
        let says_so = is_bystander || error_type == sent.error_type.as_deref();
        let counts = !sent.is_strange || self.reports.believed.contains(&reported.request_id);
        let is_start = reported.why == Why::NotStarted;
        let names = sent.messages.contains(&letter.original_message_id) || is_start;
        if !says_so || !counts || is_start != (sent.kind == ReportKind::Init) {
            self.report(format!("letter {} has a reason that no report gives: {:?}", letter.id, letter.diagnosis));
        }
        Some(names)
    }

    /// Without faults, a letter is mute only if no report says why its message failed, and if it was left for one where
    /// the consumer is known to report.
    fn is_mute(&mut self, letter: &Letter, dead: &MessageId) {
        let Some((known, queue_reports)) = &self.reports.before else { return };
        let has_marker = self.reports.plain.get(dead).is_some_and(|plain| plain.has_marker);
        let stored = known.get(&letter.original_message_id);
        // Of two functions that get a message at once, one may leave it and the other keep it.
        let is_awaited = self.reports.known.contains_key(&letter.original_message_id);
        // A message that names no main queue belongs to no consumer.
        let is_left = is_awaited || has_marker || !queue_reports || letter.main_queue.is_none();
        if stored == Some(&true) || !is_left {
            self.report(format!("letter {} says nothing, but its reports are {stored:?}", letter.id));
        }
    }
}
