//! Discarded letters whose message comes again through its queue: a new death, and the letter is open again.

use super::first::FirstDeath;
use super::{IntakeSummary, Measures, ReadMessage, fail};
use crate::audit::Auditor;
use crate::commit::{Tries, commit};
use crate::error::OfficeError;
use crate::groups;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::audit::Act;
use domain::group::CountsDeltas;
use domain::id::{LetterId, MessageId};
use domain::letter::Letter;
use domain::time::Timestamp;

/// Whether a message is a new death of a stored letter that was discarded, and not the same dead message once more.
pub(super) fn is_new_death(source: &ReadMessage, letter: &Letter, stored: &[Letter], now: Timestamp) -> bool {
    let stored = stored.iter().find(|stored| stored.id == letter.id && stored.is_same_death(letter));
    stored.is_some_and(|stored| stored.died_since_discarded(source.reading.failed_at, now))
}

/// Stores the new death of a discarded letter.
pub(super) async fn keep(
    office: &Office,
    id: &LetterId,
    source: &ReadMessage,
    report: &mut IntakeSummary,
    measures: &mut Measures,
) {
    match open_again(office, id, source, report).await {
        Ok(true) => {
            report.kept += 1;
            measures.count(&source.reading);
        }
        Ok(false) => report.duplicates += 1,
        Err(error) => fail(report, &source.message, &error),
    }
}

/// Opens the letter. Returns `false` if another process has done that, or a person.
async fn open_again(
    office: &Office,
    id: &LetterId,
    source: &ReadMessage,
    report: &mut IntakeSummary,
) -> Result<bool, OfficeError> {
    let mut tries = Tries::new(format!("letter {id}"));
    let mut first = FirstDeath::default();
    loop {
        tries.begin()?;
        let now = office.now();
        let stored = office.store.letter(id).await?;
        let is_new = |letter: &Letter| letter.died_since_discarded(source.reading.failed_at, now);
        let Some(before) = stored.filter(is_new) else { return Ok(false) };
        let cap = office.policy.gate.replays_max;
        let after = before.died_again_after_discard(source.reading.clone(), cap, now);
        let (opened, of_group) = groups::of_death(office, &after, &source.reading, now).await?;
        let committed = commit(office, writes((&before, first.write(&before)), &after, of_group, now)).await?;
        if !committed.is_made() {
            first.learn(&committed);
            continue;
        }
        if let Some(group) = opened {
            report.new_groups += 1;
            office.alert(groups::new_group(office, &group, now)).await;
        }
        let on = groups::version_of(&after);
        report.regressions +=
            usize::from(groups::after_death(office, &after.group, after.died_not_before(), &on, now).await);
        return Ok(true);
    }
}

fn writes(
    (before, first): (&Letter, Option<Write>),
    after: &Letter,
    of_group: Vec<Write>,
    now: Timestamp,
) -> Vec<Write> {
    let mut counts = CountsDeltas::default();
    counts.moved(Some(before), after);
    counts.died(after);
    // The message has the id of the first death, so the number tells the deaths apart.
    let death_id = MessageId::new(format!("{}#{}", before.original_message_id, after.deaths));
    let mut writes = vec![
        Write::Letter { letter: Box::new(after.clone()), expect: Expect::Version(before.version) },
        Write::Death(Box::new(after.latest_death(&death_id, None))),
    ];
    writes.extend(first);
    writes.extend(of_group);
    let detail = format!("Discarded letter {} failed again and is open again", before.id);
    writes.push(Auditor::office(&after.group, now).record(Act::DiscardedDiedAgain, detail, None));
    writes.extend(groups::count_writes(counts));
    writes
}
