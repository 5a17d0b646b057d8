//! What a block keeps, and how many bytes it takes.

use super::*;
use crate::id::{GroupId, LetterId, MessageId};
use crate::replay::entry::{Confirmation, Outcome, OutcomeKind, ReturnCause, SkipReason};
use crate::time::{Span, Timestamp};
use crate::transform::{ChangedBy, body_hash};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;

const AT: Timestamp = Timestamp::from_ms(1_795_000_000_000);

/// The bytes of a record in DynamoDB beside the block: the names and values of its keys and of its version.
const KEY_BYTES: usize = 56;
/// What DynamoDB charges as one write unit.
const UNIT_BYTES: usize = 1024;

fn entry(seq: u64) -> Entry {
    Entry {
        replay: "5".repeat(32).as_str().into(),
        seq,
        letter: LetterId::new(format!("{:032x}", u128::from(seq) * 0x1234_5678_9abc_def1_2345)),
        wave: 0,
        outcome: Outcome::Pending,
        sends: 0,
        answers: 0,
        sent_as: None,
        message_group: None,
        changed_by: None,
    }
}

fn message(seq: u64) -> MessageId {
    MessageId::new(format!("3f2a1b4c-0000-4000-8000-{seq:012x}"))
}

fn block(entries: Vec<Entry>) -> Block {
    Block::planned(&entries[0].replay.clone(), entries).remove(0)
}

fn read(block: &Block) -> Result<Block, BlockError> {
    Block::from_bytes(block.replay.clone(), block.number, block.version, &block.to_bytes())
}

/// Every outcome, with everything that it may have.
fn outcomes() -> Vec<Outcome> {
    let after = |s| AT.plus(Span::from_secs(s));
    let confirmed =
        Confirmation { consumer: "orders".into(), version: "v3 \u{1F4EE}".into(), processed_at: after(-7_200) };
    let skipped = |reason, detail: Option<&str>| Outcome::Skipped { reason, detail: detail.map(String::from) };
    let returned = |cause| Outcome::Returned { at: after(1), cause, group: "g".into(), title: "\0 \u{1F4EE}".into() };
    let mut all = vec![
        Outcome::Pending,
        Outcome::Sending { since: after(0) },
        Outcome::InFlight { sent_at: after(2), message_id: message(1) },
        Outcome::InFlight { sent_at: Timestamp::from_ms(i64::MAX / 4), message_id: "not a uuid".into() },
        Outcome::Delivered { at: after(300_000_000), confirmed: None },
        Outcome::Delivered { at: after(3), confirmed: Some(confirmed) },
        Outcome::Expired { at: Timestamp::from_ms(-1) },
    ];
    all.extend([ReturnCause::SameCause, ReturnCause::NewCause, ReturnCause::Transient].map(returned));
    all.extend(
        [
            (SkipReason::NotWaiting, None),
            (SkipReason::Discarded, None),
            (SkipReason::Refused, Some("too large")),
            (SkipReason::Aborted, None),
            (SkipReason::LetterGone, None),
            (SkipReason::Behind, Some("")),
            (SkipReason::InDoubt, None),
            (SkipReason::TransformFailed, None),
            (SkipReason::PayloadGone, None),
        ]
        .map(|(reason, detail)| skipped(reason, detail)),
    );
    all
}

#[test]
fn every_entry_is_read_as_it_was_written() {
    for (at, outcome) in outcomes().into_iter().enumerate() {
        let is_in_flight = outcome.kind() == OutcomeKind::InFlight;
        for (sends, answers) in [(0, 0), (1, 1), (2, 1), (3, 0), (u32::MAX, 0), (0, 2)] {
            for sent_as in [None, Some(message(at as u64)), Some("id".into())] {
                for letter in ["l", &"a".repeat(32), &"A".repeat(32), ""] {
                    let written = Entry {
                        outcome: outcome.clone(),
                        letter: letter.into(),
                        sends,
                        answers,
                        sent_as: sent_as.clone().filter(|_| !is_in_flight),
                        wave: at as u32 * 7,
                        message_group: (answers == 1).then(|| "tenant \u{1F4EE}".to_string()),
                        changed_by: (sends > 0).then(|| ChangedBy {
                            version: sends,
                            body_hash: if answers == 0 { body_hash("b") } else { "short".into() },
                        }),
                        ..entry(40)
                    };
                    let block = block(vec![written, entry(41)]);
                    assert_eq!(read(&block), Ok(block));
                }
            }
        }
    }
}

#[test]
fn a_full_block_of_ordinary_letters_is_one_kilobyte_with_its_key() {
    let mut largest = 0;
    for outcome in outcomes() {
        let full = (0..20).map(|seq| {
            let later = |at: &Timestamp| at.plus(Span::from_ms(seq * 997));
            let mut outcome = outcome.clone();
            match &mut outcome {
                Outcome::InFlight { message_id, .. } if message_id.as_str().len() < 36 => return entry(seq as u64),
                Outcome::InFlight { message_id, sent_at } => {
                    (*message_id, *sent_at) = (message(seq as u64), later(sent_at));
                }
                Outcome::Delivered { at, confirmed } => {
                    *at = later(at);
                    confirmed.iter_mut().for_each(|it| it.processed_at = later(&it.processed_at));
                }
                _ => {}
            }
            let is_in_flight = outcome.kind() == OutcomeKind::InFlight;
            let sent_as = Some(message(seq as u64)).filter(|_| !is_in_flight);
            Entry { outcome, sends: 2, answers: 1, sent_as, wave: 200 + seq as u32 / 7, ..entry(seq as u64) }
        });
        largest = largest.max(block(full.collect()).to_bytes().len());
    }
    assert!(largest + KEY_BYTES <= UNIT_BYTES, "{largest} bytes");
}

#[test]
fn sequence_numbers_lead_to_their_block() {
    let blocks = Block::planned(&"r".into(), (0..45).map(entry).collect());
    assert_eq!(blocks.iter().map(|block| block.entries.len()).collect::<Vec<_>>(), [20, 20, 5]);
    for seq in 0..45 {
        let block = &blocks[Block::number_of(seq) as usize];
        assert_eq!(block.entry(seq).map(|entry| entry.seq), Some(seq));
    }
    assert_eq!((blocks[2].entry(45), blocks[2].entry(39), blocks[0].entry(20)), (None, None, None));
}

#[test]
fn a_change_is_made_only_where_the_entry_is_still_the_same() {
    let mut stored = block((0..3).map(entry).collect());
    let intent = |sends, since| Entry { outcome: Outcome::Sending { since }, sends, ..entry(1) };
    let first = intent(1, AT);
    assert!(stored.change(&entry(1), &first));
    assert!(!stored.change(&entry(1), &first), "not pending any more");
    let again = intent(2, AT);
    assert!(stored.change(&first, &again));
    let answered = Outcome::InFlight { sent_at: AT, message_id: message(1) };
    let answer = Entry { outcome: answered, answers: 1, ..first.clone() };
    assert!(!stored.change(&first, &answer), "the answer to the first intent, after a second one");
    assert_eq!(stored.entry(1), Some(&again));
    assert!(!stored.change(&entry(7), &entry(7)), "another block");
}

#[test]
fn damaged_bytes_are_refused() {
    let block =
        block(outcomes().into_iter().enumerate().map(|(at, outcome)| Entry { outcome, ..entry(at as u64) }).collect());
    let bytes = block.to_bytes();
    let read = |bytes: &[u8]| Block::from_bytes(block.replay.clone(), 0, 1, bytes);
    assert_eq!(read(&bytes), Ok(block.clone()));
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "cut at {end}");
    }
    assert_eq!(read(&[&bytes[..], &[0]].concat()), Err(BlockError::Long));
    assert_eq!(read(&[2]), Err(BlockError::Format(2)));
    // Any other byte may make another block, but never a panic.
    for at in 0..bytes.len() {
        for byte in [0, 0x7f, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = byte;
            let _ = read(&damaged);
        }
    }
}

/// The stored form never changes: later versions must read these bytes.
#[test]
fn the_stored_form_stays() {
    let stored: &[u8] = &[
        1,
        4,
        1,
        b'l',
        1,
        b'm',
        1,
        b'g',
        1,
        b't',
        2,
        1,
        2,
        2,
        2, // texts, time, one run: two entries of wave 1
        0b0000_0000,
        0,
        1, // letter `l`, not sent
        0b0101_0100,
        0,
        2,
        1,
        1,
        2,
        2,
        0,
        2,
        3, // sent once without an answer, message, group, returned
    ];
    let replay = ReplayId::from("r");
    let first = Entry { replay: replay.clone(), letter: "l".into(), wave: 1, ..entry(0) };
    let returned = Outcome::Returned {
        at: Timestamp::from_ms(2),
        cause: ReturnCause::SameCause,
        group: GroupId::from("g"),
        title: "t".into(),
    };
    let second = Entry {
        seq: 1,
        outcome: returned,
        sends: 1,
        answers: 1,
        sent_as: Some("m".into()),
        message_group: Some("g".into()),
        ..first.clone()
    };
    let read = Block::from_bytes(replay.clone(), 0, 5, stored);
    assert_eq!(read, Ok(Block { replay, number: 0, version: 5, entries: vec![first, second] }));
}
