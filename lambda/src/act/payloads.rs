//! Whether what letters only point to is still there: looked at when a plan is made of them.

use crate::port::{Payloads, Presence};
use domain::id::LetterId;
use domain::letter::Letter;
use domain::read::PayloadPlace;
use domain::reading::Replayability;
use futures_util::{StreamExt, stream};
use std::collections::BTreeMap;

/// Payloads that one plan looks at: as many take about ten seconds, and a person waits for them.
const LOOKS_MAX: usize = 2_000;
/// Of these, so many at once.
const AT_ONCE: usize = 16;

const TOO_MANY: &str = "whose payloads in S3 were too many to look at";
const DEEPER: &str = "whose pointers into S3 lie deeper in their messages";

/// The looks of one plan.
#[derive(Default)]
pub(super) struct Looks(usize);

impl Looks {
    /// Looks at the payloads of those letters that point to one.
    pub(super) async fn look<'a>(
        &mut self,
        payloads: &dyn Payloads,
        letters: impl Iterator<Item = &'a Letter>,
    ) -> BTreeMap<&'a LetterId, Presence> {
        let pointers = letters.filter(|letter| matches!(letter.replayability, Replayability::Pointer { .. }));
        let mut known = BTreeMap::new();
        let mut places = Vec::new();
        for letter in pointers {
            match PayloadPlace::of(&letter.content.body) {
                None => drop(known.insert(&letter.id, Presence::Unknown(DEEPER))),
                Some(_) if self.0 >= LOOKS_MAX => drop(known.insert(&letter.id, Presence::Unknown(TOO_MANY))),
                Some(place) => {
                    self.0 += 1;
                    places.push((&letter.id, place));
                }
            }
        }
        let looks = places.into_iter().map(|(id, place)| async move { (id, payloads.look(&place).await) });
        let found: Vec<_> = stream::iter(looks).buffer_unordered(AT_ONCE).collect().await;
        known.extend(found);
        known
    }
}
