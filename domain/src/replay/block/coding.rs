//! The stored form of a block's entries.
//!
//! ```text
//! format (1) | texts | time | runs of waves | number of entries | entries
//! entry: flags | letter | sends | [message] | [message group] | [change] | what the outcome has
//! ```
//!
//! Times count from that of the block, and sequence numbers follow from its number. An entry of an ordinary letter takes about 45
//! bytes.

use super::bytes::{BlockError, FORMAT, Reader, Writer, of_hex, of_uuid, with_hyphens};
use super::{BLOCK_ENTRIES, Block};
use crate::id::{GroupId, LetterId, MessageId, ReplayId};
use crate::replay::entry::{Confirmation, Entry, Outcome, OutcomeKind, ReturnCause, SkipReason};
use crate::time::{Span, Timestamp};
use crate::transform::ChangedBy;
use alloc::string::String;
use alloc::vec::Vec;

/// The bits of an entry's flags that hold its outcome: its position in [`OutcomeKind::ALL`], or [`CONFIRMED`].
const OUTCOME: u8 = 0b111;
/// Delivered, with a receipt.
const CONFIRMED: u8 = 7;
const LETTER_IS_HEX: u8 = 1 << 3;
const HAS_MESSAGE: u8 = 1 << 4;
const MESSAGE_IS_UUID: u8 = 1 << 5;
const HAS_GROUP: u8 = 1 << 6;
const IS_CHANGED: u8 = 1 << 7;

/// The order gives the stored number of a cause. It never changes; new ones come last.
const CAUSES: [ReturnCause; 3] = [ReturnCause::SameCause, ReturnCause::NewCause, ReturnCause::Transient];
/// The order gives the stored number of a reason. It never changes; new ones come last.
const REASONS: [SkipReason; 9] = [
    SkipReason::NotWaiting,
    SkipReason::Discarded,
    SkipReason::Refused,
    SkipReason::Aborted,
    SkipReason::LetterGone,
    SkipReason::Behind,
    SkipReason::InDoubt,
    SkipReason::TransformFailed,
    SkipReason::PayloadGone,
];

impl Block {
    /// Returns the stored form of the entries. The replay, the number and the version are not part of it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let base = self.entries.iter().find_map(|entry| time_of(&entry.outcome)).unwrap_or(Timestamp::from_ms(0));
        let mut body = Writer::default();
        body.signed(base.as_ms());
        write_waves(&mut body, &self.entries);
        body.number(self.entries.len() as u64);
        for entry in &self.entries {
            write_entry(&mut body, entry, base);
        }
        let mut bytes = Vec::with_capacity(body.bytes.len() + 64);
        bytes.push(FORMAT);
        bytes.extend(body.texts());
        bytes.extend(body.bytes);
        bytes
    }

    /// Reads the block from the stored form of its entries.
    pub fn from_bytes(replay: ReplayId, number: u64, version: u64, bytes: &[u8]) -> Result<Self, BlockError> {
        let mut reader = Reader::new(bytes);
        match reader.byte()? {
            FORMAT => {}
            other => return Err(BlockError::Format(other)),
        }
        reader.read_texts()?;
        let base = Timestamp::from_ms(reader.signed()?);
        let waves = read_waves(&mut reader)?;
        let count = usize::try_from(reader.number()?).map_err(|_| BlockError::Number)?;
        if count > BLOCK_ENTRIES || count != waves.len() {
            return Err(BlockError::Number);
        }
        let mut entries = Vec::with_capacity(count);
        for (seq, wave) in (Self::first_seq(number)..).zip(waves) {
            entries.push(read_entry(&mut reader, (&replay, seq, wave), base)?);
        }
        if !reader.is_at_end() {
            return Err(BlockError::Long);
        }
        Ok(Self { replay, number, version, entries })
    }
}

/// The time in an outcome.
fn time_of(outcome: &Outcome) -> Option<Timestamp> {
    match outcome {
        Outcome::Sending { since } => Some(*since),
        Outcome::InFlight { sent_at, .. } => Some(*sent_at),
        Outcome::Delivered { at, .. } | Outcome::Returned { at, .. } | Outcome::Expired { at } => Some(*at),
        Outcome::Pending | Outcome::Skipped { .. } => None,
    }
}

/// Writes the waves as runs: how many entries, and by how much their wave is above that of the run before.
fn write_waves(out: &mut Writer, entries: &[Entry]) {
    let runs: Vec<&[Entry]> = entries.chunk_by(|a, b| a.wave == b.wave).collect();
    out.number(runs.len() as u64);
    let mut before = 0;
    for run in runs {
        let wave = run.first().map_or(0, |entry| i64::from(entry.wave));
        out.number(run.len() as u64);
        out.signed(wave - before);
        before = wave;
    }
}

fn read_waves(reader: &mut Reader<'_>) -> Result<Vec<u32>, BlockError> {
    let (mut waves, mut wave) = (Vec::with_capacity(BLOCK_ENTRIES), 0_i64);
    for _ in 0..reader.number()? {
        let length = usize::try_from(reader.number()?).map_err(|_| BlockError::Number)?;
        wave = wave.saturating_add(reader.signed()?);
        let stored = u32::try_from(wave).map_err(|_| BlockError::Number)?;
        if length > BLOCK_ENTRIES - waves.len() {
            return Err(BlockError::Number);
        }
        waves.extend(core::iter::repeat_n(stored, length));
    }
    Ok(waves)
}

fn position<T: PartialEq>(all: &[T], item: &T) -> u8 {
    all.iter().position(|one| one == item).unwrap_or_default() as u8
}

fn flag(is_set: bool, flag: u8) -> u8 {
    if is_set { flag } else { 0 }
}

fn write_entry(out: &mut Writer, entry: &Entry, base: Timestamp) {
    let (letter, message) = (entry.letter.as_str(), entry.message_id().map(MessageId::as_str));
    let (letter_id, message_id) = (of_hex(letter), message.and_then(of_uuid));
    let outcome = match entry.outcome.confirmation() {
        Some(_) => CONFIRMED,
        None => position(&OutcomeKind::ALL, &entry.outcome.kind()),
    };
    out.byte(
        outcome
            | flag(letter_id.is_some(), LETTER_IS_HEX)
            | flag(message.is_some(), HAS_MESSAGE)
            | flag(message_id.is_some(), MESSAGE_IS_UUID)
            | flag(entry.message_group.is_some(), HAS_GROUP)
            | flag(entry.changed_by.is_some(), IS_CHANGED),
    );
    match letter_id {
        Some(bytes) => out.id(bytes),
        None => out.text(letter),
    }
    // Usually every send was answered, or none was made: then the answers are left out.
    let is_answered = entry.sends == entry.answers;
    out.number(u64::from(entry.sends) << 1 | u64::from(is_answered));
    if !is_answered {
        out.number(entry.answers.into());
    }
    match (message_id, message) {
        (Some(bytes), _) => out.id(bytes),
        (None, Some(message)) => out.text(message),
        (None, None) => {}
    }
    if let Some(group) = &entry.message_group {
        out.text(group);
    }
    if let Some(ChangedBy { version, body_hash }) = &entry.changed_by {
        let hash = of_hex(body_hash);
        out.number(u64::from(*version) << 1 | u64::from(hash.is_some()));
        match hash {
            Some(bytes) => out.id(bytes),
            None => out.text(body_hash),
        }
    }
    write_outcome(out, &entry.outcome, base);
}

fn write_outcome(out: &mut Writer, outcome: &Outcome, base: Timestamp) {
    if let Some(at) = time_of(outcome) {
        out.signed(at.since(base).as_ms());
    }
    match outcome {
        Outcome::Delivered { confirmed: Some(Confirmation { consumer, version, processed_at }), .. } => {
            out.text(consumer);
            out.text(version);
            out.signed(processed_at.since(base).as_ms());
        }
        Outcome::Returned { cause, group, title, .. } => {
            out.byte(position(&CAUSES, cause));
            out.text(group.as_str());
            out.text(title);
        }
        Outcome::Skipped { reason, detail } => {
            out.byte(position(&REASONS, reason) << 1 | u8::from(detail.is_some()));
            detail.iter().for_each(|detail| out.text(detail));
        }
        _ => {}
    }
}

fn read_entry(
    reader: &mut Reader<'_>,
    (replay, seq, wave): (&ReplayId, u64, u32),
    base: Timestamp,
) -> Result<Entry, BlockError> {
    let flags = reader.byte()?;
    let has = |flag: u8| flags & flag != 0;
    let letter = LetterId::new(if has(LETTER_IS_HEX) { reader.hex()? } else { reader.text()? });
    let counts = reader.number()?;
    let sends = u32::try_from(counts >> 1).map_err(|_| BlockError::Number)?;
    let answers = if counts & 1 == 1 { sends } else { reader.small()? };
    let message = match (has(HAS_MESSAGE), has(MESSAGE_IS_UUID)) {
        (false, _) => None,
        (true, true) => Some(with_hyphens(&reader.hex()?)),
        (true, false) => Some(reader.text()?),
    };
    let message_group = has(HAS_GROUP).then(|| reader.text()).transpose()?;
    let changed_by = has(IS_CHANGED).then(|| read_change(reader)).transpose()?;
    let (outcome, sent_as) = read_outcome(reader, flags & OUTCOME, message, base)?;
    let replay = replay.clone();
    Ok(Entry { replay, seq, letter, wave, outcome, sends, answers, sent_as, message_group, changed_by })
}

fn read_change(reader: &mut Reader<'_>) -> Result<ChangedBy, BlockError> {
    let packed = reader.number()?;
    let version = u32::try_from(packed >> 1).map_err(|_| BlockError::Number)?;
    Ok(ChangedBy { version, body_hash: if packed & 1 == 1 { reader.hex()? } else { reader.text()? } })
}

/// Reads an outcome. The message id is part of it while the letter is in flight, and of the entry after that.
fn read_outcome(
    reader: &mut Reader<'_>,
    stored: u8,
    message: Option<String>,
    base: Timestamp,
) -> Result<(Outcome, Option<MessageId>), BlockError> {
    let at = |reader: &mut Reader<'_>| Ok::<_, BlockError>(base.plus(Span::from_ms(reader.signed()?)));
    let kind = if stored == CONFIRMED { OutcomeKind::Delivered } else { OutcomeKind::ALL[usize::from(stored)] };
    let outcome = match kind {
        OutcomeKind::Pending => Outcome::Pending,
        OutcomeKind::Sending => Outcome::Sending { since: at(reader)? },
        OutcomeKind::InFlight => {
            let message_id = MessageId::new(message.ok_or(BlockError::Text)?);
            return Ok((Outcome::InFlight { sent_at: at(reader)?, message_id }, None));
        }
        OutcomeKind::Delivered if stored == CONFIRMED => {
            let at_ = at(reader)?;
            let (consumer, version) = (reader.text()?, reader.text()?);
            let processed_at = at(reader)?;
            Outcome::Delivered { at: at_, confirmed: Some(Confirmation { consumer, version, processed_at }) }
        }
        OutcomeKind::Delivered => Outcome::Delivered { at: at(reader)?, confirmed: None },
        OutcomeKind::Returned => {
            let at = at(reader)?;
            let cause = CAUSES.get(usize::from(reader.byte()?)).copied().ok_or(BlockError::Number)?;
            Outcome::Returned { at, cause, group: GroupId::new(reader.text()?), title: reader.text()? }
        }
        OutcomeKind::Expired => Outcome::Expired { at: at(reader)? },
        OutcomeKind::Skipped => {
            let packed = reader.byte()?;
            let reason = REASONS.get(usize::from(packed >> 1)).copied().ok_or(BlockError::Number)?;
            Outcome::Skipped { reason, detail: (packed & 1 == 1).then(|| reader.text()).transpose()? }
        }
    };
    Ok((outcome, message.map(MessageId::new)))
}
