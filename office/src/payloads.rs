//! Checks of the payloads in S3 that letters point to: when a plan is made, and again before each letter is sent.

use crate::port::{Payloads, Presence};
use domain::id::LetterId;
use domain::letter::Letter;
use domain::read::PayloadLocation;
use domain::reading::Replayability;
use futures_util::future::join_all;
use std::collections::BTreeMap;

/// Payloads checked for one plan. So many take about ten seconds, and a person waits for them.
const CHECKS_MAX: usize = 2_000;
/// Payloads checked at once.
const AT_ONCE: usize = 16;

const TOO_MANY: &str = "beyond the 2,000 payloads in S3 that one plan checks";
const NESTED: &str = "with S3 pointers nested deeper in the message";

/// The checks of one plan, or of one batch of a replay: how many were made.
#[derive(Default)]
pub(crate) struct PayloadChecks(usize);

impl PayloadChecks {
    /// Goes on after so many checks of the same plan.
    pub(crate) fn after(count: u64) -> Self {
        Self(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Returns how many checks were made.
    pub(crate) fn count(&self) -> u64 {
        self.0 as u64
    }

    /// Checks the payloads of those letters that point to one.
    pub(crate) async fn check(
        &mut self,
        payloads: &dyn Payloads,
        letters: Vec<&Letter>,
    ) -> BTreeMap<LetterId, Presence> {
        let (mut known, mut locations) = (BTreeMap::new(), Vec::new());
        for letter in letters {
            let location = match letter.diagnosis.replayability {
                Replayability::Pointer { .. } => PayloadLocation::from_body(&letter.content.body).ok_or(NESTED),
                _ => continue,
            };
            match location {
                Ok(location) if self.0 < CHECKS_MAX => {
                    self.0 += 1;
                    locations.push((letter.id.clone(), location));
                }
                Ok(_) => drop(known.insert(letter.id.clone(), Presence::Unknown(TOO_MANY))),
                Err(why) => drop(known.insert(letter.id.clone(), Presence::Unknown(why))),
            }
        }
        for chunk in locations.chunks(AT_ONCE) {
            let found = join_all(chunk.iter().map(|(_, location)| payloads.check(location))).await;
            known.extend(chunk.iter().map(|(id, _)| id.clone()).zip(found));
        }
        known
    }
}
