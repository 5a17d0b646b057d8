//! Keys: what each record is called, and in which order a list finds it.
//!
//! | record | `pk` | `sk` | in the index under (`lp`) | ordered by (`ls`) |
//! |---|---|---|---|---|
//! | letter | `L#letter` | `L` | `L#group#shard#state` | first send, id |
//! | part of a large blob | `B#hash` | number | | |
//! | delivered letter with something beside it | `F#letter` | `F` | `F#shard` | delivery, id |
//! | death | `D#death` | `D` | `D#letter` | number |
//! | group's head | `G#group` | `H` | | |
//! | group's counters | `G#group` | `N#shard` | | |
//! | an hour of arrivals | `G#group` | `A#hour#shard` | | |
//! | waiting plan | `G#group` | `P` | | |
//! | place of a group in the list | `GROUPS` | group | | |
//! | a customer of a group | `C#group#customer` | `C` | | |
//! | replay | `R#replay` | `R` | | |
//! | ledger of eight waves | `R#replay` | `W#eight` | | |
//! | entry | `E#replay#letter` | `E` | `E#replay#outcome#shard` | wave, place |
//! | place of a replay in a list | `REPLAYS`, `RG#group`, `UNFINISHED` | approval, id | | |
//! | sent message | `S#message` | `S` | | |
//! | deployment | `V#service` | `V` | | |
//! | version of a transform, its dry run | `T#group` | `version`, `version#Y` | | |
//! | what is attached to a queue | `Q#queue` | `Q` | | |
//! | audit record | `A#group` | moment, stamp | | |

use domain::id::{DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId, hash_hex};
use domain::letter::LetterStateKind;
use domain::replay::OutcomeKind;
use domain::time::Timestamp;

/// Shards over which counters and lists of a busy group are spread: each takes 1,000 write units a second.
pub(super) const SHARDS: u8 = 16;
/// Lanes over which the entries of a replay are spread in the index.
pub(super) const ENTRY_SHARDS: u64 = 4;

/// Shards of the list of what can be forgotten. Sweep asks all of them each minute, so they are few.
pub(super) const FORGETTABLE_SHARDS: u8 = 4;

/// The attribute that says when DynamoDB may remove a record by itself, in seconds; the table's TTL names it.
pub(super) const EXPIRES: &str = "ttl";

/// A moment as DynamoDB's TTL reads it: seconds since 1970. Rounded up, so that nothing goes before its time.
pub(super) fn expiry(at: Timestamp) -> i64 {
    at.since(Timestamp::from_ms(0)).as_secs_up()
}

/// The primary key of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub pk: String,
    pub sk: String,
}

fn key(pk: String, sk: impl Into<String>) -> Key {
    Key { pk, sk: sk.into() }
}

/// A number as text that is ordered as the numbers are.
pub(super) fn ordered(number: i64) -> String {
    format!("{:016x}", number.cast_unsigned() ^ (1 << 63))
}

/// The number that [`ordered`] wrote.
pub(super) fn number(text: &str) -> Option<i64> {
    u64::from_str_radix(text, 16).ok().map(|bits| (bits ^ (1 << 63)).cast_signed())
}

/// An id as a part of a key. Ids that come from outside may be of any length and hold any character.
fn part(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if (1..=64).contains(&id.len()) && id.bytes().all(plain) { id.into() } else { hash_hex(&["key", id]) }
}

pub(super) fn letter(id: &LetterId) -> Key {
    key(format!("L#{}", part(id.as_str())), "L")
}

pub(super) fn blob(hash: &str, number: usize) -> Key {
    key(format!("B#{hash}"), format!("{number:04}"))
}

/// Where it is noted that a letter can be forgotten.
pub(super) fn forgettable(id: &LetterId) -> Key {
    key(format!("F#{}", part(id.as_str())), "F")
}

/// The list of such notes in one shard.
pub(super) fn forgettables(shard: u8) -> String {
    format!("F#{shard:02x}")
}

/// The shard of a letter's note.
pub(super) fn forgettable_shard(id: &LetterId) -> u8 {
    id.as_str().bytes().fold(0_u8, u8::wrapping_add) % FORGETTABLE_SHARDS
}

pub(super) fn death(id: &DeathId) -> Key {
    key(format!("D#{}", part(id.as_str())), "D")
}

pub(super) fn deaths_of(letter: &LetterId) -> String {
    format!("D#{}", part(letter.as_str()))
}

pub(super) fn group_pk(id: &GroupId) -> String {
    format!("G#{}", part(id.as_str()))
}

pub(super) fn group(id: &GroupId) -> Key {
    key(group_pk(id), "H")
}

pub(super) const COUNTS: &str = "N#";

pub(super) fn counts(id: &GroupId, shard: u8) -> Key {
    key(group_pk(id), format!("{COUNTS}{shard:02x}"))
}

pub(super) fn arrivals_from(hour: i64) -> String {
    format!("A#{}", ordered(hour))
}

pub(super) fn arrivals(id: &GroupId, hour: i64, shard: u8) -> Key {
    key(group_pk(id), format!("{}#{shard:02x}", arrivals_from(hour)))
}

/// The hour of a record of arrivals.
pub(super) fn hour_of(sk: &str) -> Option<i64> {
    number(sk.strip_prefix("A#")?.get(..16)?)
}

pub(super) fn plan(group: &GroupId) -> Key {
    key(group_pk(group), "P")
}

pub(super) fn transforms_pk(group: &GroupId) -> String {
    format!("T#{}", part(group.as_str()))
}

pub(super) fn transform(group: &GroupId, version: u32) -> Key {
    key(transforms_pk(group), format!("{version:08x}"))
}

/// Right after its version, so that a list of all finds both.
pub(super) fn dry_run(group: &GroupId, version: u32) -> Key {
    key(transforms_pk(group), format!("{version:08x}#Y"))
}

pub(super) const GROUPS: &str = "GROUPS";

pub(super) fn group_place(id: &GroupId) -> Key {
    key(GROUPS.into(), part(id.as_str()))
}

pub(super) fn customer(group: &GroupId, customer: &str) -> Key {
    // A hash, so that no customer's id lies in another place than its letters.
    key(format!("C#{}#{}", part(group.as_str()), hash_hex(&["customer", customer])), "C")
}

/// The list of a group's letters in one state.
pub(super) fn letters_of(group: &GroupId, shard: u8, state: LetterStateKind) -> String {
    format!("L#{}#{shard:02x}#{}", part(group.as_str()), state.as_str())
}

/// The place of a letter in such a list.
pub(super) fn letter_place(sent_at_ms: i64, id: &str) -> String {
    format!("{}#{}", ordered(sent_at_ms), part(id))
}

pub(super) fn replay_pk(id: &ReplayId) -> String {
    format!("R#{}", part(id.as_str()))
}

pub(super) fn replay(id: &ReplayId) -> Key {
    key(replay_pk(id), "R")
}

pub(super) const LEDGER: &str = "W#";

pub(super) fn ledger(id: &ReplayId, eight: u32) -> Key {
    key(replay_pk(id), format!("{LEDGER}{eight:08x}"))
}

pub(super) fn entry(replay: &ReplayId, letter: &LetterId) -> Key {
    key(format!("E#{}#{}", part(replay.as_str()), part(letter.as_str())), "E")
}

/// The list of a replay's entries with one outcome.
pub(super) fn entries_of(replay: &ReplayId, outcome: OutcomeKind, shard: u64) -> String {
    format!("E#{}#{}#{shard}", part(replay.as_str()), outcome.as_str())
}

/// The place of an entry in such a list. Waves follow the order of the entries.
pub(super) fn entry_place(wave: u32, seq: u64) -> String {
    format!("{wave:08x}#{seq:016x}")
}

pub(super) const REPLAYS: &str = "REPLAYS";
pub(super) const UNFINISHED: &str = "UNFINISHED";

pub(super) fn replays_of(group: &GroupId) -> String {
    format!("RG#{}", part(group.as_str()))
}

pub(super) fn replay_place(approved_at_ms: i64, id: &str) -> String {
    format!("{}#{}", ordered(approved_at_ms), part(id))
}

pub(super) fn sent(message: &MessageId) -> Key {
    key(format!("S#{}", part(message.as_str())), "S")
}

pub(super) fn deployment(service: &str) -> Key {
    key(format!("V#{}", hash_hex(&["service", service])), "V")
}

pub(super) fn attached(queue: &QueueArn) -> Key {
    key(format!("Q#{}", hash_hex(&["queue", queue.as_str()])), "Q")
}

pub(super) fn audit_pk(group: &GroupId) -> String {
    format!("A#{}", part(group.as_str()))
}

/// The place of an audit record: its moment, then the order of the commits and of the writes in each.
pub(super) fn audit_place(at_ms: i64, stamp: u64, index: usize) -> String {
    format!("{}#{stamp:016x}{index:02x}", ordered(at_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_text_keep_their_order() {
        let numbers = [i64::MIN, -1_763_600_000_000, -5, -1, 0, 1, 999, 1_000, 1_763_600_000_000, i64::MAX];
        assert!(numbers.map(ordered).is_sorted());
        for n in numbers {
            assert_eq!(number(&ordered(n)), Some(n));
            assert_eq!(hour_of(&arrivals(&GroupId::from("g"), n, 7).sk), Some(n));
        }
    }

    #[test]
    fn the_template_names_the_attribute_of_expiry() {
        let template = include_str!("../../../infra/template.yaml");
        let named = format!("TimeToLiveSpecification: {{ AttributeName: {EXPIRES}, Enabled: true }}");
        assert!(template.contains(&named), "{named}");
        assert_eq!(expiry(Timestamp::from_ms(1_000_000_000_001)), 1_000_000_001);
    }

    #[test]
    fn id_from_outside_can_neither_break_a_key_nor_meet_another() {
        for id in ["", "a#b", &"9".repeat(3_000), "\0", "\u{1F4EE}", "a b"] {
            let made = sent(&MessageId::from(id)).pk;
            assert_eq!(made.len(), 34, "{id:?}: {made}");
            assert_ne!(made, sent(&MessageId::new(format!("{id}."))).pk);
        }
        assert_eq!(sent(&MessageId::from("b3f1-A_0")).pk, "S#b3f1-A_0");
    }
}
