//! Whether what letters only point to is still there: looked at when a plan is made of them, and again before each goes.

use crate::port::{Payloads, Presence};
use domain::id::LetterId;
use domain::letter::Letter;
use domain::read::PayloadLocation;
use domain::reading::Replayability;
use futures_util::future::join_all;
use std::collections::BTreeMap;

/// Payloads that one plan looks at: as many take about ten seconds, and a person waits for them.
const LOOKS_MAX: usize = 2_000;
/// Of these, so many at once.
const AT_ONCE: usize = 16;

const TOO_MANY: &str = "whose payloads in S3 were too many to look at";
const DEEPER: &str = "whose pointers into S3 lie deeper in their messages";

/// The looks of one plan, or of one batch of a replay.
#[derive(Default)]
pub(crate) struct Looks(usize);

impl Looks {
    /// Looks at the payloads of those letters that point to one.
    pub(crate) async fn look(
        &mut self,
        payloads: &dyn Payloads,
        letters: Vec<&Letter>,
    ) -> BTreeMap<LetterId, Presence> {
        let (mut known, mut places) = (BTreeMap::new(), Vec::new());
        for letter in letters {
            let place = match letter.diagnosis.replayability {
                Replayability::Pointer { .. } => PayloadLocation::from_body(&letter.content.body).ok_or(DEEPER),
                _ => continue,
            };
            match place {
                Ok(place) if self.0 < LOOKS_MAX => {
                    self.0 += 1;
                    places.push((letter.id.clone(), place));
                }
                Ok(_) => drop(known.insert(letter.id.clone(), Presence::Unknown(TOO_MANY))),
                Err(why) => drop(known.insert(letter.id.clone(), Presence::Unknown(why))),
            }
        }
        for chunk in places.chunks(AT_ONCE) {
            let found = join_all(chunk.iter().map(|(_, place)| payloads.look(place))).await;
            known.extend(chunk.iter().map(|(id, _)| id.clone()).zip(found));
        }
        known
    }
}
