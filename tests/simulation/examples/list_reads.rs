//! Prints how many read units a page of 200 letters needs in order of the first send, if lists are blocks of 40 ids by
//! seal and shard instead of an index: `cargo run -p dlo-simulation --example list_reads`. Nothing in it is measured in time.
//!
//! A reader knows for each shard the longest span of its blocks, from their first to their last send. For the letters
//! after a moment it begins that span earlier, reads the shard's blocks in order of their first send, and stops when
//! the next block of each shard begins after the page's last letter.

use harness::samples::Chance;
use std::collections::BinaryHeap;

/// Ids in a block: 25 bytes each, so that a block is one unit of writing.
const BLOCK: usize = 40;
/// Letters of an event of intake.
const BATCH: usize = 100;
const SHARDS: usize = 16;
const PAGE: usize = 200;
/// Letters that die in a second.
const RATE: usize = 50;
/// A block of 1 KB in a consistent query. An eventually consistent one costs half.
const UNITS_PER_BLOCK: f64 = 0.25;

#[derive(Clone, Copy)]
enum Order {
    /// Each dies after three to ten receives with 30 to 300 s of visibility.
    Live,
    /// A standard queue hands its backlog out at random.
    Backlog,
    Fifo,
}

struct Block {
    first: u64,
    last: u64,
    sends: Vec<u64>,
    /// Letters that still wait.
    waiting: usize,
}

/// First sends in the order of arrival, in milliseconds.
fn arrivals(order: Order, letters: usize, chance: &mut Chance) -> Vec<u64> {
    let mut sends: Vec<u64> = (0..letters).map(|n| (n * 1_000 / RATE) as u64).collect();
    match order {
        Order::Fifo => {}
        Order::Live => {
            let mut deaths: Vec<(u64, u64)> = sends
                .iter()
                .map(|sent| (sent + (3 + chance.below(8)) as u64 * (30 + chance.below(271)) as u64 * 1_000, *sent))
                .collect();
            deaths.sort_unstable();
            sends = deaths.into_iter().map(|(_, sent)| sent).collect();
        }
        Order::Backlog => (1..letters).rev().for_each(|at| sends.swap(at, chance.below(at + 1))),
    }
    sends
}

/// The blocks of each shard in order of their first send.
fn blocks(sends: &[u64], share_left: usize, chance: &mut Chance) -> Vec<Vec<Block>> {
    let mut shards: Vec<Vec<Block>> = (0..SHARDS).map(|_| Vec::new()).collect();
    for batch in sends.chunks(BATCH) {
        let shard = chance.below(SHARDS);
        let mut batch = batch.to_vec();
        batch.sort_unstable();
        for ids in batch.chunks(BLOCK) {
            let sends: Vec<u64> = ids.iter().copied().filter(|_| chance.below(100) >= share_left).collect();
            shards[shard].push(Block { first: ids[0], last: ids[ids.len() - 1], waiting: sends.len(), sends });
        }
    }
    shards.iter_mut().for_each(|blocks| blocks.sort_by_key(|block| block.first));
    shards
}

/// Blocks that are read for a page from a moment on. Blocks that everybody has left are deleted, or they are read, too.
fn read(shards: &[Vec<Block>], from: u64, deletes_empty: bool) -> usize {
    // The earliest letters so far, as many as a page has.
    let (mut next, mut read, mut found) = (Vec::new(), 0, BinaryHeap::new());
    for blocks in shards {
        let span = blocks.iter().map(|block| block.last - block.first).max().unwrap_or(0);
        next.push(blocks.partition_point(|block| block.first + span < from));
    }
    loop {
        let heads = (0..shards.len()).filter_map(|at| Some((shards[at].get(next[at])?.first, at)));
        let Some((first, at)) = heads.min() else { return read };
        if found.len() == PAGE && found.peek().is_some_and(|last| *last < first) {
            return read;
        }
        let block = &shards[at][next[at]];
        next[at] += 1;
        if deletes_empty && block.waiting == 0 {
            continue;
        }
        read += 1;
        for sent in block.sends.iter().filter(|sent| **sent >= from) {
            found.push(*sent);
            if found.len() > PAGE {
                found.pop();
            }
        }
    }
}

fn main() {
    println!("blocks (consistent units) for a page of {PAGE}; reading the letters is {PAGE} units more in both\n");
    println!(
        "{:8} {:>9} {:>16} {:>16} {:>16} {:>16}",
        "order", "letters", "first", "middle", "90 % left", "of them, kept"
    );
    for (name, order) in [("live", Order::Live), ("backlog", Order::Backlog), ("fifo", Order::Fifo)] {
        for letters in [10_000, 100_000, 1_000_000] {
            let mut chance = Chance(7);
            let sends = arrivals(order, letters, &mut chance);
            let all = blocks(&sends, 0, &mut chance);
            let left = blocks(&sends, 90, &mut chance);
            let middle = (letters / 2 * 1_000 / RATE) as u64;
            let cell = |blocks: usize| format!("{blocks} ({:.1})", blocks as f64 * UNITS_PER_BLOCK);
            println!(
                "{name:8} {letters:>9} {:>16} {:>16} {:>16} {:>16}",
                cell(read(&all, 0, true)),
                cell(read(&all, middle, true)),
                cell(read(&left, 0, false)),
                cell(read(&left, 0, true)),
            );
        }
    }
    println!("\ntoday's index: {SHARDS} queries, {:.1} units for {PAGE} entries", SHARDS as f64 * 0.5);
}
