//! What a payload transform makes of letters: for previews, dry runs and sends alike, so that they cannot differ.

use super::batch::Change;
use crate::error::OfficeError;
use crate::office::Office;
use domain::id::LetterId;
use domain::letter::Letter;
use domain::limits::MESSAGE_BYTES_MAX;
use domain::reading::Replayability;
use domain::replay::{Replay, SkipReason};
use domain::transform::{ChangedBy, DryCounts, FieldChange, ProgramFault, Transform, body_hash};
use std::collections::BTreeMap;
use transform::Applied;

/// The body that a letter would be sent with.
pub(crate) struct Changed {
    /// The body.
    pub body: String,
    /// The fields that differ, if they were asked for.
    pub changes: Vec<FieldChange>,
}

/// What becomes of a letter: changed, left as it is, or failed on, for a reason in words.
pub(crate) type Tried = Result<Option<Changed>, String>;

/// Runs a program over letters, in their order; or says what is wrong with the program.
pub(crate) async fn tried(
    office: &Office,
    program: &str,
    letters: &[Letter],
    tell: bool,
) -> Result<Result<Vec<Tried>, Vec<ProgramFault>>, OfficeError> {
    let bodies: Vec<&str> = letters.iter().map(|letter| letter.content.body.as_str()).collect();
    let outcomes = match office.transforms.run(program, &bodies, tell).await? {
        Ok(outcomes) => outcomes,
        Err(faults) => return Ok(Err(faults)),
    };
    let judged = letters.iter().zip(outcomes).map(|(letter, outcome)| match outcome {
        // What the consumer works on lies elsewhere, where the program does not reach.
        _ if matches!(letter.diagnosis.replayability, Replayability::Pointer { .. }) => {
            Err("The message is a pointer; a transform does not reach the payload that it points to.".into())
        }
        Err(failure) => Err(failure.to_string()),
        Ok(Applied::Unchanged) => Ok(None),
        Ok(Applied::Changed { body, changes }) => {
            let size_bytes = letter.content.size_bytes() - letter.content.body.len() + body.len();
            if size_bytes > MESSAGE_BYTES_MAX {
                let most = MESSAGE_BYTES_MAX;
                return Err(format!(
                    "With its attributes it would be larger than {most} bytes: SQS takes no larger message."
                ));
            }
            Ok(Some(Changed { body, changes }))
        }
    });
    Ok(Ok(judged.collect()))
}

/// Counting what became of letters.
pub(crate) trait Count {
    fn count(&mut self, tried: &Tried);
}

impl Count for DryCounts {
    fn count(&mut self, tried: &Tried) {
        match tried {
            Ok(Some(_)) => self.changed += 1,
            Ok(None) => self.unchanged += 1,
            Err(_) => self.failed += 1,
        }
    }
}

/// The program that an approved replay changes its letters by; or why it cannot be used, in words.
pub(super) async fn program_of(
    office: &Office,
    replay: &Replay,
) -> Result<Result<Option<Transform>, String>, OfficeError> {
    let Some(named) = replay.transform() else { return Ok(Ok(None)) };
    let stored = office.store.transform(replay.group(), named.version).await?.map(|facts| facts.transform);
    Ok(match stored.filter(|transform| transform.named() == *named) {
        Some(transform) => Ok(Some(transform)),
        None => Err(format!("The program of {} is not the one that was approved.", named.label())),
    })
}

/// Bodies by letter, where they are not the original's.
pub(super) type Bodies = BTreeMap<LetterId, String>;

/// Runs a replay's program over the letters that are about to be sent. Those that it fails on are not.
pub(super) async fn over(
    office: &Office,
    transform: &Transform,
    changes: Vec<Change>,
    letters: &[Letter],
) -> Result<(Vec<Change>, Bodies), OfficeError> {
    let is_sent = |change: &&Change| change.letter.is_some();
    let of = |change: &Change| letters.iter().find(|letter| letter.id == change.entry.letter);
    let to_be_sent: Vec<Letter> = changes.iter().filter(is_sent).filter_map(of).cloned().collect();
    let tried = match tried(office, &transform.program, &to_be_sent, false).await? {
        Ok(tried) => tried,
        // It was compiled when it was saved: what is wrong with it now is wrong for every letter.
        Err(faults) => {
            let words = faults.first().map(|fault| fault.message.clone()).unwrap_or_default();
            to_be_sent.iter().map(|_| Err(words.clone())).collect()
        }
    };
    let mut tried: BTreeMap<LetterId, Tried> = to_be_sent.into_iter().map(|letter| letter.id).zip(tried).collect();
    let mut bodies = Bodies::new();
    let judged = changes.into_iter().map(|mut change| {
        match tried.remove(&change.entry.letter) {
            None => {}
            Some(Ok(None)) => change.after.changed_by = None,
            Some(Ok(Some(changed))) => {
                change.after.changed_by =
                    Some(ChangedBy { version: transform.version, body_hash: body_hash(&changed.body) });
                bodies.insert(change.entry.letter.clone(), changed.body);
            }
            Some(Err(why)) => change = change.not_sent(SkipReason::TransformFailed, Some(why)),
        }
        change
    });
    let judged = judged.collect();
    Ok((judged, bodies))
}
