//! Keys of all records, and their order in lists.
//!
//! | record | `pk` | `sk` | list in the index (`lp`) | ordered by (`ls`) |
//! |---|---|---|---|---|
//! | letter | `L#letter` | `L` | `L#group#shard#state` | first send, id |
//! | part of a blob | `B#hash` | number | | |
//! | reminder to delete a closed letter with blobs | `F#letter` | `F` | `F#shard` or `FX#shard` | closing, id |
//! | death | `D#death` | `D` | `D#letter` | number |
//! | variant | `G#group` | `H` | | |
//! | counters of a group | `G#group` | `N#shard` | | |
//! | an hour of arrivals | `G#group` | `A#hour#shard` | | |
//! | waiting plan | `G#group` | `P` | | |
//! | entry in the list of groups | `GROUPS` | group | | |
//! | note that a group changed in a minute | `X#hour` | minute, group | | |
//! | snapshot of all groups, and a part of it | `Y`, `Y#stamp#number` | `Y` | | |
//! | customer of a group | `C#group#shard` | hash | | |
//! | plan that is being made in steps | `R#replay` | `D` | | |
//! | replay | `R#replay` | `R` | | |
//! | ledger of eight waves of a replay | `R#replay` | `W#eight` | | |
//! | block of a replay's entries | `E#replay` | number | | |
//! | entry in a list of replays | `REPLAYS`, `RG#group`, `UNFINISHED` | approval, id | | |
//! | sent message | `S#message` | `S` | | |
//! | deployment | `V#service` | `V` | | |
//! | version of a transform, and its dry run | `T#group` | `version`, `version#Y` | | |
//! | consumers of a queue | `Q#queue` | `Q` | | |
//! | newest version of the policy, and all versions | `POLICY` | `NEWEST`, number | | |
//! | audit record | `A#group` | time, stamp | | |

use domain::discard::Closed;
use domain::id::{DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId, hash_hex};
use domain::letter::LetterStateKind;
use domain::reported::ReportKey;
use domain::time::Timestamp;

/// Shards for the counters and lists of a busy group. Each partition accepts 1,000 write units per second.
pub(super) const SHARDS: u8 = 16;

/// Shards for the list of reminders. `sweep` queries all of them every minute, so they are few.
pub(super) const REMINDER_SHARDS: u8 = 4;

/// Shards for the customers of a group, of which [`customers`] is the list. At ten million letters an hour with a customer
/// each, a shard takes 175 write units per second. With 16, partitions that hold several busy shards are full at 60% of
/// the letters that 32 let through; 64 let through no more (`throughput_tests.rs`).
pub(super) const CUSTOMER_SHARDS: u8 = 32;

/// The attribute with a record's expiry in seconds since 1970. The table's TTL setting names this attribute.
pub(super) const EXPIRES: &str = "ttl";

/// Converts a time for DynamoDB's TTL, to seconds since 1970. It rounds up, so that no record expires early.
pub(super) fn expiry(at: Timestamp) -> i64 {
    at.since(Timestamp::from_ms(0)).as_secs_up()
}

/// Primary key of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub pk: String,
    pub sk: String,
}

fn key(pk: String, sk: impl Into<String>) -> Key {
    Key { pk, sk: sk.into() }
}

/// Formats a number as text that sorts like the number.
pub(super) fn ordered(number: i64) -> String {
    format!("{:016x}", number.cast_unsigned() ^ (1 << 63))
}

/// Parses a number that [`ordered`] formatted.
pub(super) fn number(text: &str) -> Option<i64> {
    u64::from_str_radix(text, 16).ok().map(|bits| (bits ^ (1 << 63)).cast_signed())
}

/// Returns an id as a segment of a key. Ids from outside may have any length and any characters; those that do not fit
/// are replaced by their hash.
fn segment(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if (1..=64).contains(&id.len()) && id.bytes().all(plain) { id.into() } else { hash_hex(&["key", id]) }
}

pub(super) fn letter(id: &LetterId) -> Key {
    key(format!("L#{}", segment(id.as_str())), "L")
}

pub(super) fn blob(hash: &str, number: usize) -> Key {
    key(format!("B#{hash}"), format!("{number:04}"))
}

/// The reminder to delete a letter.
pub(super) fn reminder(id: &LetterId) -> Key {
    key(format!("F#{}", segment(id.as_str())), "F")
}

/// The list of reminders of letters that were closed in this way, in one shard.
pub(super) fn reminders(closed: Closed, shard: u8) -> String {
    match closed {
        Closed::Delivered => format!("F#{shard:02x}"),
        Closed::Discarded => format!("FX#{shard:02x}"),
    }
}

/// Returns the shard of a letter's reminder.
pub(super) fn reminder_shard(id: &LetterId) -> u8 {
    id.as_str().bytes().fold(0_u8, u8::wrapping_add) % REMINDER_SHARDS
}

pub(super) fn death(id: &DeathId) -> Key {
    key(format!("D#{}", segment(id.as_str())), "D")
}

pub(super) fn deaths_of(letter: &LetterId) -> String {
    format!("D#{}", segment(letter.as_str()))
}

pub(super) fn group_pk(id: &GroupId) -> String {
    format!("G#{}", segment(id.as_str()))
}

pub(super) fn variant(id: &GroupId) -> Key {
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

/// Returns the hour in the sort key of a record of arrivals.
pub(super) fn hour_of(sk: &str) -> Option<i64> {
    number(sk.strip_prefix("A#")?.get(..16)?)
}

pub(super) fn plan(group: &GroupId) -> Key {
    key(group_pk(group), "P")
}

pub(super) fn transforms_pk(group: &GroupId) -> String {
    format!("T#{}", segment(group.as_str()))
}

pub(super) fn transform(group: &GroupId, version: u32) -> Key {
    key(transforms_pk(group), format!("{version:08x}"))
}

/// Follows its version in the order of keys, so that one query finds both.
pub(super) fn dry_run(group: &GroupId, version: u32) -> Key {
    key(transforms_pk(group), format!("{version:08x}#Y"))
}

pub(super) const GROUPS: &str = "GROUPS";

pub(super) fn group_listing(id: &GroupId) -> Key {
    key(GROUPS.into(), segment(id.as_str()))
}

/// Returns the hour of a minute. Notes of an hour share a partition.
pub(super) fn hour_of_minute(minute: i64) -> i64 {
    minute.div_euclid(60)
}

pub(super) fn changes(hour: i64) -> String {
    format!("X#{}", ordered(hour))
}

/// The note that a group changed in a minute.
pub(super) fn change(minute: i64, group: &GroupId) -> Key {
    key(changes(hour_of_minute(minute)), format!("{}#{}", ordered(minute), segment(group.as_str())))
}

/// The record of the last snapshot of all groups.
pub(super) fn snapshot() -> Key {
    key("Y".into(), "Y")
}

/// A part of a snapshot. Each is a partition of its own: together they may be more than a partition accepts in a second.
pub(super) fn snapshot_part(stamp: u64, at: usize) -> Key {
    key(format!("Y#{stamp:016x}#{at:04x}"), "Y")
}

/// The customers of a group in one shard.
pub(super) fn customers(group: &GroupId, shard: u8) -> String {
    format!("C#{}#{shard:02x}", segment(group.as_str()))
}

/// A customer has the same hash in every group, so that groups can be compared.
pub(super) fn customer(group: &GroupId, customer: &str) -> Key {
    // Hashed, so that customers' ids are stored only in their letters.
    let hash = hash_hex(&["customer", customer]);
    let first = hash.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or_default();
    key(customers(group, first % CUSTOMER_SHARDS), hash)
}

/// The list of a group's letters in one state and shard.
pub(super) fn letters_of(group: &GroupId, shard: u8, state: LetterStateKind) -> String {
    format!("L#{}#{shard:02x}#{}", segment(group.as_str()), state.as_str())
}

/// The position of a letter in such a list.
pub(super) fn letter_position(sent_at_ms: i64, id: &str) -> String {
    format!("{}#{}", ordered(sent_at_ms), segment(id))
}

pub(super) fn replay_pk(id: &ReplayId) -> String {
    format!("R#{}", segment(id.as_str()))
}

pub(super) fn replay(id: &ReplayId) -> Key {
    key(replay_pk(id), "R")
}

pub(super) fn draft(id: &ReplayId) -> Key {
    key(replay_pk(id), "D")
}

pub(super) const LEDGER: &str = "W#";

pub(super) fn ledger(id: &ReplayId, eight: u32) -> Key {
    key(replay_pk(id), format!("{LEDGER}{eight:08x}"))
}

pub(super) fn blocks_pk(replay: &ReplayId) -> String {
    format!("E#{}", segment(replay.as_str()))
}

/// The position of a block among those of its replay.
pub(super) fn block_position(number: u64) -> String {
    format!("{number:08x}")
}

pub(super) fn block(replay: &ReplayId, number: u64) -> Key {
    key(blocks_pk(replay), block_position(number))
}

pub(super) const REPLAYS: &str = "REPLAYS";
pub(super) const UNFINISHED: &str = "UNFINISHED";

pub(super) fn replays_of(group: &GroupId) -> String {
    format!("RG#{}", segment(group.as_str()))
}

pub(super) fn replay_position(approved_at_ms: i64, id: &str) -> String {
    format!("{}#{}", ordered(approved_at_ms), segment(id))
}

pub(super) fn sent(message: &MessageId) -> Key {
    key(format!("S#{}", segment(message.as_str())), "S")
}

pub(super) fn deployment(service: &str) -> Key {
    key(format!("V#{}", hash_hex(&["service", service])), "V")
}

pub(super) fn attached(queue: &QueueArn) -> Key {
    key(format!("Q#{}", hash_hex(&["queue", queue.as_str()])), "Q")
}

pub(super) fn reports(of: &ReportKey) -> Key {
    let message = of.message.as_ref().map_or("", MessageId::as_str);
    key(format!("P#{}", hash_hex(&["reports", of.queue.as_str(), message])), "P")
}

pub(super) fn notices(queue: &QueueArn) -> Key {
    key(format!("N#{}", hash_hex(&["notices", queue.as_str()])), "N")
}

pub(super) fn clock() -> Key {
    key("CLOCK".into(), "CLOCK")
}

pub(super) const POLICY: &str = "POLICY";

/// The newest version once more, so that one read of one record finds it. It sorts after all numbers.
pub(super) fn newest_policy() -> Key {
    key(POLICY.into(), "NEWEST")
}

pub(super) fn policy_version(version: u64) -> Key {
    key(POLICY.into(), format!("{version:016x}"))
}

pub(super) fn audit_pk(group: &GroupId) -> String {
    format!("A#{}", segment(group.as_str()))
}

/// The position of an audit record: its time, then the order of commits, then the order of writes within a commit.
pub(super) fn audit_position(at_ms: i64, stamp: u64, index: usize) -> String {
    format!("{}#{stamp:016x}{index:02x}", ordered(at_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_text_sorts_like_its_numbers() {
        let numbers = [i64::MIN, -1_763_600_000_000, -5, -1, 0, 1, 999, 1_000, 1_763_600_000_000, i64::MAX];
        assert!(numbers.map(ordered).is_sorted());
        for n in numbers {
            assert_eq!(number(&ordered(n)), Some(n));
            assert_eq!(hour_of(&arrivals(&GroupId::from("g"), n, 7).sk), Some(n));
        }
    }

    #[test]
    fn the_template_names_the_expiry_attribute() {
        let template = include_str!("../../../infra/template.yaml");
        let setting = format!("TimeToLiveSpecification: {{ AttributeName: {EXPIRES}, Enabled: true }}");
        assert!(template.contains(&setting), "{setting}");
        assert_eq!(expiry(Timestamp::from_ms(1_000_000_000_001)), 1_000_000_001);
    }

    #[test]
    fn ids_from_outside_make_valid_and_distinct_keys() {
        for id in ["", "a#b", &"9".repeat(3_000), "\0", "\u{1F4EE}", "a b"] {
            let pk = sent(&MessageId::from(id)).pk;
            assert_eq!(pk.len(), 34, "{id:?}: {pk}");
            assert_ne!(pk, sent(&MessageId::new(format!("{id}."))).pk);
        }
        assert_eq!(sent(&MessageId::from("b3f1-A_0")).pk, "S#b3f1-A_0");
    }
}
