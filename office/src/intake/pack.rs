//! Packing a batch into commits: as many letters as fit beside their groups, customers and arrivals.

use super::ReadMessage;
use crate::port::BUCKETS_TOGETHER;
use domain::group::arrival_bucket;
use domain::id::GroupId;
use domain::limits::{COMMIT_RECORDS_MAX, KEEP_LETTERS_MAX};
use domain::time::Timestamp;
use std::collections::BTreeSet;

/// The most records of a new group: the variant, its entry in the list of groups, an audit record, counters.
const GROUP_RECORDS: usize = 4;

/// The cost of a commit so far, as if every group were new: one more commit costs less than a refused one.
#[derive(Default)]
struct Load {
    letters: usize,
    groups: BTreeSet<GroupId>,
    customers: BTreeSet<(GroupId, String)>,
    hours: BTreeSet<(GroupId, i64)>,
}

impl Load {
    fn take(&mut self, source: &ReadMessage, now: Timestamp) {
        let reading = &source.reading;
        self.letters += 1;
        self.groups.insert(reading.group.clone());
        if let Some(customer) = &reading.diagnosis.impact.customer {
            self.customers.insert((reading.group.clone(), customer.clone()));
        }
        let died_at = reading.failed_at.unwrap_or(now).min(now);
        self.hours.insert((reading.group.clone(), arrival_bucket(died_at).div_euclid(BUCKETS_TOGETHER)));
    }

    fn is_full(&self) -> bool {
        let records = self.letters + self.customers.len() + self.hours.len() + self.groups.len() * GROUP_RECORDS;
        // The next letter may add one of each.
        self.letters == KEEP_LETTERS_MAX || records + 3 + GROUP_RECORDS > COMMIT_RECORDS_MAX
    }
}

/// Splits messages into chunks of one commit each, in their order.
pub(super) fn in_chunks(messages: Vec<ReadMessage>, now: Timestamp) -> Vec<Vec<ReadMessage>> {
    let mut chunks = Vec::new();
    let (mut chunk, mut load) = (Vec::new(), Load::default());
    for message in messages {
        load.take(&message, now);
        chunk.push(message);
        if load.is_full() {
            chunks.push(std::mem::take(&mut chunk));
            load = Load::default();
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Write;
    use domain::group::CountsDeltas;
    use domain::id::{MessageId, QueueArn};
    use domain::letter::Letter;
    use domain::message::{Content, DeadMessage, SystemAttributes};
    use domain::policy::Policy;
    use domain::read::read;
    use domain::time::Span;

    const NOW: Timestamp = Timestamp::from_ms(1_763_600_000_000);

    /// A message of a group, with a customer, that failed at a minute.
    fn message(n: usize, group: usize, customer: usize, minute: i64) -> ReadMessage {
        let message = DeadMessage {
            dlq: QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:orders-dlq"),
            message_id: MessageId::new(format!("m{n}")),
            content: Content { body: "{}".into(), ..Content::default() },
            system: SystemAttributes::default(),
        };
        let mut reading = read(&message, &Policy::default());
        reading.group = GroupId::new(format!("group {group}"));
        reading.diagnosis.impact.customer = Some(format!("customer {customer}"));
        reading.failed_at = Some(NOW.minus(Span::from_mins(minute)));
        ReadMessage { message, reading }
    }

    /// The records of a commit of these messages if every group is new.
    fn records(chunk: &[ReadMessage]) -> usize {
        let mut counts = CountsDeltas::default();
        for source in chunk {
            let letter = Letter::first(&source.message, source.reading.clone(), None, NOW);
            counts.moved(None, &letter);
            counts.died(&letter);
        }
        let variants = counts.0.len() * 3;
        chunk.len() + variants + crate::groups::count_writes(counts).map(|write: Write| write.records()).sum::<usize>()
    }

    #[test]
    fn every_chunk_fits_a_commit_and_none_is_lost() {
        // Each row: the groups, customers and minutes of 300 letters, and the most chunks for them.
        for (groups, customers, minutes, chunks) in [
            (1, 1, 1, 5),
            (1, 300, 1, 7),
            (3, 40, 10, 8),
            (300, 300, 1, 22),
            (300, 300, 3_000, 22),
            (1, 300, 30_000, 10),
        ] {
            let messages: Vec<_> =
                (0..300).map(|n| message(n, n % groups, n % customers, (n as i64 * 101) % minutes)).collect();
            let packed = in_chunks(messages, NOW);
            assert!(
                packed.len() <= chunks,
                "{} chunks: {groups} groups, {customers} customers, {minutes} minutes",
                packed.len()
            );
            for chunk in &packed {
                assert!(records(chunk) <= COMMIT_RECORDS_MAX, "{} records", records(chunk));
            }
            let order: Vec<_> = packed.iter().flatten().map(|source| source.message.message_id.as_str()).collect();
            assert_eq!(order, (0..300).map(|n| format!("m{n}")).collect::<Vec<_>>());
        }
    }
}
