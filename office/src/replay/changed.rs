//! Running a payload transform over letters. Previews, dry runs and sends all use this, so that they cannot differ.

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
use transform::{Applied, Failure, Runner};

/// The changed body of a letter.
pub(crate) struct Changed {
    /// The body.
    pub body: String,
    /// The changed fields, if requested.
    pub changes: Vec<FieldChange>,
}

/// The result for one letter: changed, unchanged (`None`), or why the program failed.
pub(crate) type Tried = Result<Option<Changed>, WhyNot>;

/// Why a program failed on a letter.
#[derive(Clone, Debug)]
pub(crate) enum WhyNot {
    /// In the office's words, which hold nothing of the letter.
    Known(String),
    /// In the program's words. `error(…)` may put anything of the letter into them.
    Said(String),
}

impl WhyNot {
    /// Returns the whole reason, for those whose view of it is recorded.
    pub(crate) fn whole(self) -> String {
        match self {
            Self::Known(words) | Self::Said(words) => words,
        }
    }

    /// Returns the reason for a record that stays for ever, and that everybody sees: without the program's words.
    fn for_all(self) -> String {
        match self {
            Self::Known(words) => words,
            Self::Said(_) => "The program failed on this letter. Its preview shows what it says.".into(),
        }
    }
}

/// Runs a program over letters, in their order. Returns the faults of a program that does not compile. `tell` requests
/// the changed fields.
pub(crate) async fn tried(
    runner: &Runner<'_>,
    program: &str,
    letters: &[Letter],
    tell: bool,
) -> Result<Result<Vec<Tried>, Vec<ProgramFault>>, OfficeError> {
    let bodies: Vec<&str> = letters.iter().map(|letter| letter.content.body.as_str()).collect();
    let outcomes = match runner.run(program, &bodies, tell).await? {
        Ok(outcomes) => outcomes,
        Err(faults) => return Ok(Err(faults)),
    };
    let judged = letters.iter().zip(outcomes).map(|(letter, outcome)| match outcome {
        // The payload is in S3, which the program cannot change.
        _ if matches!(letter.diagnosis.replayability, Replayability::Pointer { .. }) => {
            Err(WhyNot::Known("The message points to a payload in S3, which a transform cannot change.".into()))
        }
        Err(failure @ Failure::Program(_)) => Err(WhyNot::Said(failure.to_string())),
        Err(failure) => Err(WhyNot::Known(failure.to_string())),
        Ok(Applied::Unchanged) => Ok(None),
        Ok(Applied::Changed { body, changes }) => {
            let size_bytes = letter.content.size_bytes() - letter.content.body.len() + body.len();
            if size_bytes > MESSAGE_BYTES_MAX {
                let most = MESSAGE_BYTES_MAX;
                let words = format!("The changed message exceeds {most} bytes with its attributes, SQS's limit.");
                return Err(WhyNot::Known(words));
            }
            Ok(Some(Changed { body, changes }))
        }
    });
    Ok(Ok(judged.collect()))
}

/// Counts results.
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

/// Reads the program of an approved replay, if it has one. The inner error says why it cannot be used.
pub(super) async fn program_of(
    office: &Office,
    replay: &Replay,
) -> Result<Result<Option<Transform>, String>, OfficeError> {
    let Some(named) = replay.transform() else { return Ok(Ok(None)) };
    let stored = office.store.transform(replay.group(), named.version).await?.map(|facts| facts.transform);
    Ok(match stored.filter(|transform| transform.named() == *named) {
        Some(transform) => Ok(Some(transform)),
        None => Err(format!("The program of {} is not the one that was approved", named.label())),
    })
}

/// Changed bodies by letter.
pub(super) type Bodies = BTreeMap<LetterId, String>;

/// Runs a replay's program over letters that are about to be sent. Skips those that it fails on.
pub(super) async fn over(
    office: &Office,
    transform: &Transform,
    changes: Vec<Change>,
    letters: &[Letter],
) -> Result<(Vec<Change>, Bodies), OfficeError> {
    let is_sent = |change: &&Change| change.letter.is_some();
    let of = |change: &Change| letters.iter().find(|letter| letter.id == change.entry.letter);
    let to_be_sent: Vec<Letter> = changes.iter().filter(is_sent).filter_map(of).cloned().collect();
    let tried = match tried(&office.transforms.sending(), &transform.program, &to_be_sent, false).await? {
        Ok(tried) => tried,
        // It compiled when it was saved; a fault now concerns every letter.
        Err(faults) => {
            let words = faults.first().map(|fault| fault.message.clone()).unwrap_or_default();
            to_be_sent.iter().map(|_| Err(WhyNot::Known(words.clone()))).collect()
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
            Some(Err(why)) => change = change.skipped(SkipReason::TransformFailed, Some(why.for_all())),
        }
        change
    });
    let judged = judged.collect();
    Ok((judged, bodies))
}
