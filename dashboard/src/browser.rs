//! What the tabs of one browser tell each other (`localStorage`): when somebody made input last, and who has signed out.
//! Neither a token nor a name is stored, because it stays after the last tab.

use crate::reactive::prelude::*;
use domain::time::Timestamp;

/// The key of the time of the last input in any tab, by this machine's clock, milliseconds.
const USED: &str = "dlo.used";
/// The prefix of a mark: this person has signed out in a tab, and not signed in since.
const LEFT: &str = "dlo.left-";

/// Notes input, in this tab, for all tabs.
pub fn used(now: Timestamp) {
    store(USED, Some(&now.as_ms().to_string()));
}

/// Returns the time of the last input in any tab. A clock that was ahead must not keep a session alive: a time that is
/// still to come counts, and is stored, as now.
pub fn last_used(now: Timestamp) -> Option<Timestamp> {
    let at = Timestamp::from_ms(stored(USED)?.parse().ok()?);
    if at > now {
        used(now);
    }
    Some(at.min(now))
}

/// Notes that a person signs out: every tab in which they are signed in follows.
pub fn leaves(name: &str) {
    store(&mark_of(name), Some("yes"));
}

/// Notes that a person has signed in.
pub fn enters(name: &str) {
    store(&mark_of(name), None);
}

/// Returns whether a person has signed out in any tab, and not signed in since.
pub fn has_left(name: &str) -> bool {
    stored(&mark_of(name)).is_some()
}

/// The next person at this machine must not read the name there: FNV-1a. Two people with one hash would sign each other
/// out, no more.
fn mark_of(name: &str) -> String {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{LEFT}{hash:x}")
}

// Storage may be blocked (private windows, policies). Each tab is then on its own.
fn stored(key: &str) -> Option<String> {
    window().local_storage().ok().flatten()?.get_item(key).ok().flatten()
}

fn store(key: &str, value: Option<&str>) {
    if let Ok(Some(storage)) = window().local_storage() {
        let _ = match value {
            Some(value) => storage.set_item(key, value),
            None => storage.remove_item(key),
        };
    }
}
