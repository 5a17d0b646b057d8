//! Fills a store with more than a screen shows.

use crate::samples::{self, keep, letter};
use domain::group::Variant;
use domain::id::{GroupId, QueueArn};
use domain::letter::Letter;
use domain::limits::{COMMIT_RECORDS_MAX, KEEP_LETTERS_MAX};
use office::port::{Store, Write};

/// Stores so many groups of a letter each, as intake would: `Error 0: the price list is out of date` and so on.
pub async fn groups(store: &dyn Store, count: usize) {
    let mut commit: Vec<Write> = Vec::new();
    for number in 0..count {
        let id = GroupId::new(format!("{number:032x}"));
        let title = format!("Error {number}: the price list is out of date");
        let mut writes = vec![samples::open(&Variant { title, ..samples::group(&id) })];
        writes.extend(keep(&[letter(&id, number as u64)]));
        let records = |writes: &[Write]| writes.iter().map(Write::records).sum::<usize>();
        if records(&commit) + records(&writes) > COMMIT_RECORDS_MAX {
            store.commit(std::mem::take(&mut commit)).await.expect("a commit");
        }
        commit.extend(writes);
    }
    store.commit(commit).await.expect("a commit");
}

/// Stores a group of so many letters, which came from the demo's main queue: `A large group`.
pub async fn letters(store: &dyn Store, count: u64) -> GroupId {
    let id = GroupId::new("f".repeat(32));
    let main_queue = Some(QueueArn::new("arn:aws:sqs:local:000000000000:orders"));
    let title = "A large group".into();
    let variant = Variant { title, main_queue: main_queue.clone(), ..samples::group(&id) };
    store.commit(vec![samples::open(&variant)]).await.expect("a commit");
    let of_the_demo = |letter| Letter { main_queue: main_queue.clone(), ..letter };
    let all: Vec<_> = samples::letters(&id, count).into_iter().map(of_the_demo).collect();
    for some in all.chunks(KEEP_LETTERS_MAX) {
        store.commit(keep(some)).await.expect("a commit");
    }
    id
}
