//! Looking in the consumers' logs for why letters died that say nothing themselves. [`domain::logs`] says when, and what a
//! log shows.
//!
//! Only the sweep searches: one right, one budget, and no request of a person waits for a log. A person who asks gets the
//! result with the next sweep.

use crate::audit::Auditor;
use crate::commit::{Tries, commit};
use crate::error::{OfficeError, chain};
use crate::known::KnownVariant;
use crate::merged;
use crate::office::Office;
use crate::port::{Expect, ListPosition, LogQuery, Store, Write};
use domain::audit::Act;
use domain::deployment::AttachedConsumer;
use domain::group::Variant;
use domain::id::{GroupId, QueueArn};
use domain::letter::Letter;
use domain::limits::PAGE_MAX;
use domain::logs::{
    Finding, LogEvidence, LogSearch, SEARCHES_FOR_PEOPLE, SEARCHES_PER_HOUR_MAX, SEARCHES_PER_SWEEP_MAX,
    classification, judge, ranges,
};
use domain::time::{Span, Timestamp};

/// How long before the latest death its letter may have been sent, tried in this order.
const NEWEST_WITHIN: [Span; 4] = [Span::from_mins(2), Span::from_mins(60), Span::from_days(1), Span::from_days(14)];

/// Groups for which the office is to search, and the searches of the last hour. A sweep collects it from the groups that
/// it reads anyway.
#[derive(Default)]
pub(crate) struct Due {
    recent: usize,
    /// When a person asked.
    wanted: Vec<(Timestamp, GroupId)>,
    /// How often the office has searched, and when the group's first letter died: no group waits for repetitions of others.
    new: Vec<(u32, Timestamp, GroupId)>,
}

impl Due {
    /// Looks at one group.
    pub fn see(&mut self, variant: &KnownVariant, now: Timestamp) {
        let KnownVariant { facts, is_mute } = variant;
        let group = &facts.variant;
        let search = group.logs.as_deref();
        self.recent += search.map_or(0, |search| search.recent(now));
        if group.merge.into.is_some() {
            return;
        }
        if let Some(wanted_at) = search.and_then(|search| search.wanted_at) {
            self.wanted.push((wanted_at, group.id.clone()));
        } else if *is_mute && facts.counts.open().letters > 0 && LogSearch::is_due(search, group.first_died_at, now) {
            self.new.push((search.map_or(0, |search| search.tries), group.first_died_at, group.id.clone()));
        }
    }

    /// Returns the groups to search for now: those that people asked for first, then those that it never searched for, the
    /// oldest first.
    fn chosen(mut self) -> Vec<GroupId> {
        self.wanted.sort();
        self.new.sort();
        let left = SEARCHES_PER_HOUR_MAX.saturating_sub(self.recent);
        let wanted = self.wanted.into_iter().map(|(_, id)| id);
        let new = self.new.into_iter().map(|(_, _, id)| id).take(left.saturating_sub(SEARCHES_FOR_PEOPLE));
        wanted.chain(new).take(left.min(SEARCHES_PER_SWEEP_MAX)).collect()
    }
}

/// Searches for the groups that are due. A failure is logged; the next sweep goes on.
pub(crate) async fn search(office: &Office, due: Due) {
    if !office.logs.can_read() {
        return;
    }
    for id in due.chosen() {
        if let Err(error) = search_for(office, &id).await {
            tracing::warn!(group = %id, error = chain(&error), "the consumer's log was not searched; a later sweep tries again");
        }
    }
}

async fn search_for(office: &Office, id: &GroupId) -> Result<(), OfficeError> {
    let Some(group) = office.store.group(id).await? else { return Ok(()) };
    let begun = group.logs.as_deref().cloned().unwrap_or_default().begun(office.now());
    // Before the log is read, so that a search that ends the process is not repeated at once.
    let write = Write::Variant { variant: Box::new(with(&group, begun)), expect: Expect::Version(group.version) };
    if !commit(office, vec![write]).await?.is_made() {
        // Other work on the group: the next sweep finds it due again.
        return Ok(());
    }
    let evidence = look(office, &group).await?;
    let mut tries = Tries::new(format!("group {id}"));
    loop {
        tries.begin()?;
        let Some(before) = office.store.group(id).await? else { return Ok(()) };
        let search = before.logs.as_deref().cloned().unwrap_or_default();
        let after = with(&before, LogSearch { evidence: Some(evidence.clone()), ..search });
        let write = Write::Variant { variant: Box::new(after), expect: Expect::Version(before.version) };
        if commit(office, vec![write]).await?.is_made() {
            return Ok(());
        }
    }
}

fn with(group: &Variant, search: LogSearch) -> Variant {
    Variant { logs: Some(Box::new(search)), ..group.moved(group.state.clone()) }
}

/// Searches the logs of the group's consumers. What cannot be read is a finding, for people to mend.
async fn look(office: &Office, group: &Variant) -> Result<LogEvidence, OfficeError> {
    let at = office.now();
    let unread = |why: String| LogEvidence {
        at,
        source: None,
        ranges: Vec::new(),
        cut: false,
        finding: Finding::Unread { why },
        classification: None,
    };
    let Some(queue) = &group.main_queue else {
        return Ok(unread("The letters' main queue is unknown, and so is their consumer.".into()));
    };
    let consumers = office.store.attached(queue).await?.map(|attached| attached.consumers).unwrap_or_default();
    let logged = |consumer: &&AttachedConsumer| consumer.log_group.is_some();
    let Some(consumer) = consumers.iter().find(logged) else {
        return Ok(unread(format!(
            "No log to search: the office knows of no Lambda function that consumes {}. Its consumer may run elsewhere.",
            queue.name()
        )));
    };
    let Some(visibility) = visibility(office, queue).await else {
        return Ok(unread(format!(
            "{} did not answer, so the office cannot tell when its consumer received the letters.",
            queue.name()
        )));
    };
    let letters = examples(&*office.store, group).await?;
    let (ranges, ids) = ranges(&letters, visibility, consumer.timeout);
    let source = consumer.log_group.clone().unwrap_or_default();
    if ranges.is_empty() {
        return Ok(unread(
            "The group has no letters any more, so the office cannot tell when its consumer received them.".into(),
        ));
    }
    let query = LogQuery { source: &source, ranges: &ranges, ids: &ids };
    let (finding, cut) = match office.logs.find(query).await {
        Ok(found) => (judge(&ids, &found.lines, &office.policy), found.cut),
        Err(error) => {
            tracing::warn!(group = %group.id, source, error = chain(&error), "a consumer's log could not be read");
            (Finding::Unread { why: error.0 }, false)
        }
    };
    let classification = classification(&finding, &office.policy);
    Ok(LogEvidence { at, source: Some(source), ranges, cut, finding, classification })
}

/// Returns letters whose attempts can be looked for: the oldest, and some of the newest, because logs are not kept for
/// ever. Letters are listed by their first send, so the newest are those that were sent shortly before the latest death.
async fn examples(store: &dyn Store, group: &Variant) -> Result<Vec<Letter>, OfficeError> {
    let oldest = merged::letters(store, group, None, None, PAGE_MAX).await?;
    let mut letters = oldest.items;
    if oldest.next.is_none() {
        return Ok(letters);
    }
    let facts = merged::read(store, &group.id, i64::MAX).await?;
    let Some(latest) = facts.and_then(|group| group.facts.counts.last_died_at) else { return Ok(letters) };
    for before in NEWEST_WITHIN {
        let from = ListPosition { number: latest.minus(before).as_ms(), id: String::new() }.print(merged::LETTERS);
        let newest = merged::letters(store, group, None, Some(&from), PAGE_MAX).await?.items;
        if !newest.is_empty() {
            letters.extend(newest);
            break;
        }
    }
    Ok(letters)
}

async fn visibility(office: &Office, queue: &QueueArn) -> Option<Span> {
    match office.queue.attributes(queue).await {
        Ok(attributes) => Some(attributes.visibility_timeout),
        Err(error) => {
            tracing::warn!(%queue, error = chain(&error), "a main queue did not answer");
            None
        }
    }
}

/// Records that a person wants a search, which the next sweep makes. Asking twice is asking once.
pub(crate) fn wanted(group: &Variant, auditor: &Auditor) -> Vec<Write> {
    let search = group.logs.as_deref().cloned().unwrap_or_default().wanted(auditor.at);
    let write = Write::Variant { variant: Box::new(with(group, search)), expect: Expect::Version(group.version) };
    vec![write, auditor.record(Act::LogsRequested, "", None)]
}
