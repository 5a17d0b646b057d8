//! What several attempts say about a class: replays that came back, reports, and instances.

use super::{CLAIM_PCT, finding, word_of};
use crate::reading::{Category, Class, Classification, Reported};
use crate::report::judge::Verdict;
use alloc::format;

/// After this many replays, each following a fix, a returned letter is poison for any consumer. Equals the default cap
/// on replays.
const POISON_REPLAYS: u32 = 3;

/// Overrides the class of a letter that keeps coming back: another replay is not worthwhile, whatever its error says.
/// `replays` is the office's own count, never the message's marker.
pub fn after_replays(found: Classification, replays: u32) -> Classification {
    // A permanent class stays permanent, and a rule of the team's policy (100 percent) is final.
    if replays < POISON_REPLAYS || found.class == Class::Permanent || found.confidence.as_pct() == 100 {
        return found;
    }
    let reason = format!(
        "poison: it failed again after {replays} replays; its error alone is {} ({})",
        word_of(&found),
        found.reason
    );
    finding(Class::Permanent, found.category, 80, reason)
}

/// On this many instances with the same error, a message is poison for any consumer: a broken instance is ruled out. As
/// many attempts as reports are kept of.
const POISON_INSTANCES: u32 = 3;

/// Limits a class to what the reports can show. A message that died with its batch needs no fix of its own, whatever
/// the error of the other message was. Where the error is that of one of several messages, so is the class. An unknown
/// error, or one whose class is a guess, that the message met on several instances is permanent; a known one keeps its class, because an outage meets
/// every instance too.
pub fn as_reported(found: Classification, reported: &Reported) -> Classification {
    match reported.verdict {
        Verdict::Certain | Verdict::Strong => match reported.instances {
            Some(instances) if instances >= POISON_INSTANCES && found.firm_class() == Class::Unknown => {
                let reason = format!(
                    "poison: it failed with the same error on {instances} instances; the error alone is unknown ({})",
                    found.reason
                );
                finding(Class::Permanent, found.category, CLAIM_PCT, reason)
            }
            _ => found,
        },
        Verdict::Bystander => {
            let reason = "its batch failed because of another message";
            finding(Class::Transient, Category::Bystander, 80, reason)
        }
        Verdict::Share { suspects } => {
            let pct = u32::from(found.confidence.as_pct()) / suspects.max(1);
            let reason = format!("{}; one of {suspects} messages of the batch caused it", found.reason);
            finding(found.class, found.category, u8::try_from(pct).unwrap_or(u8::MAX), reason)
        }
    }
}
