//! FIFO order: at most one letter of each message group is in flight, in the order in which the letters died. If one
//! returns, the letters behind it stay, because they must not overtake a failed message.

use super::entry::{Entry, OutcomeKind};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;

/// Whether an unsent entry may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clearance {
    /// It may be sent.
    Send,
    /// Another letter of its message group is in flight.
    Wait,
    /// An earlier letter of its message group has returned.
    Behind,
}

/// The state of the message groups of one replay.
#[derive(Clone, Debug, Default)]
pub struct MessageGroups {
    busy: BTreeSet<String>,
    broken: BTreeSet<String>,
}

impl MessageGroups {
    /// Records an entry that was sent.
    pub fn note(&mut self, entry: &Entry) {
        let Some(message_group) = &entry.message_group else { return };
        match entry.outcome.kind() {
            OutcomeKind::Sending | OutcomeKind::InFlight => drop(self.busy.insert(message_group.clone())),
            OutcomeKind::Returned => drop(self.broken.insert(message_group.clone())),
            _ => {}
        }
    }

    /// Whether a letter in doubt may be sent again. Not if a letter of its message group has returned since then,
    /// because the first send may not have reached the queue.
    pub fn may_send_again(&self, entry: &Entry) -> bool {
        entry.message_group.as_ref().is_none_or(|message_group| !self.broken.contains(message_group))
    }

    /// Whether an unsent entry may be sent now. Call it in the order of the plan: an entry that may be sent occupies
    /// its message group.
    pub fn clearance(&mut self, entry: &Entry) -> Clearance {
        let Some(message_group) = &entry.message_group else { return Clearance::Send };
        if self.broken.contains(message_group) {
            return Clearance::Behind;
        }
        if self.busy.insert(message_group.clone()) { Clearance::Send } else { Clearance::Wait }
    }
}

/// Returns the number of consecutive observation windows: one per wave, or the length of the longest message group in
/// the wave. `message_groups` are those of the plan's letters, in plan order.
pub fn rounds<'a>(waves: &[u64], mut message_groups: impl Iterator<Item = Option<&'a str>>) -> u64 {
    let longest = |size: &u64| {
        let mut lengths: BTreeMap<&str, u64> = BTreeMap::new();
        for message_group in message_groups.by_ref().take(*size as usize).flatten() {
            *lengths.entry(message_group).or_default() += 1;
        }
        lengths.into_values().max().unwrap_or(1)
    };
    waves.iter().map(longest).sum()
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Outcome, ReturnCause};
    use super::*;
    use crate::id::MessageId;
    use crate::time::Timestamp;
    use alloc::vec::Vec;

    const AT: Timestamp = Timestamp::from_ms(0);

    fn entry(message_group: Option<&str>, outcome: Outcome) -> Entry {
        let (replay, letter, message_group) = ("r".into(), "l".into(), message_group.map(String::from));
        Entry {
            replay,
            seq: 0,
            letter,
            wave: 0,
            outcome,
            sends: 0,
            message_group,
            answers: 0,
            sent_as: None,
            changed_by: None,
        }
    }

    fn returned() -> Outcome {
        let (group, title) = ("g".into(), "t".into());
        Outcome::Returned { at: AT, cause: ReturnCause::SameCause, group, title }
    }

    fn check(sent: &[(&str, Outcome)], pending: &[Option<&str>], expected: &[Clearance]) {
        let mut message_groups = MessageGroups::default();
        sent.iter()
            .for_each(|(message_group, outcome)| message_groups.note(&entry(Some(message_group), outcome.clone())));
        let got: Vec<Clearance> = pending
            .iter()
            .map(|message_group| message_groups.clearance(&entry(*message_group, Outcome::Pending)))
            .collect();
        assert_eq!(got, expected, "{sent:?} {pending:?}");
    }

    #[test]
    fn one_letter_of_a_message_group_goes_at_a_time() {
        use Clearance::*;
        let in_flight = || Outcome::InFlight { sent_at: AT, message_id: MessageId::from("m") };
        check(&[], &[None, None], &[Send, Send]);
        check(&[], &[Some("a"), Some("a"), Some("b"), Some("a")], &[Send, Wait, Send, Wait]);
        check(&[("a", in_flight())], &[Some("a"), Some("b")], &[Wait, Send]);
        check(&[("a", Outcome::Sending { since: AT })], &[Some("a")], &[Wait]);
        check(&[("a", Outcome::Delivered { at: AT, confirmed: None })], &[Some("a"), Some("a")], &[Send, Wait]);
        check(&[("a", returned())], &[Some("a"), Some("b"), None], &[Behind, Send, Send]);
        check(&[("a", Outcome::Delivered { at: AT, confirmed: None }), ("a", returned())], &[Some("a")], &[Behind]);
    }

    #[test]
    fn a_letter_in_doubt_is_not_sent_again_behind_a_returned_one() {
        let mut message_groups = MessageGroups::default();
        let doubtful = |message_group| entry(message_group, Outcome::Sending { since: AT });
        message_groups.note(&doubtful(Some("a")));
        assert!(message_groups.may_send_again(&doubtful(Some("a"))));
        message_groups.note(&entry(Some("a"), returned()));
        let again =
            [Some("a"), Some("b"), None].map(|message_group| message_groups.may_send_again(&doubtful(message_group)));
        assert_eq!(again, [false, true, true]);
    }

    #[test]
    fn windows_follow_each_other_by_the_longest_message_group_of_each_wave() {
        let rounds_of = |waves: &[u64], message_groups: &[Option<&str>]| rounds(waves, message_groups.iter().copied());
        assert_eq!(rounds_of(&[1, 4], &[None; 5]), 2);
        assert_eq!(rounds_of(&[2, 3], &[Some("a"), Some("b"), Some("a"), Some("a"), Some("b")]), 1 + 2);
        assert_eq!(rounds_of(&[3], &[Some("a"); 3]), 3);
    }
}
