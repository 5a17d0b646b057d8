//! What the queue could not take when it was said, in bounded memory.

use std::collections::VecDeque;

/// The largest sum of what is kept, bytes: some hundred receipts, or four of the largest reports. It is part of what the
/// function's memory pays for.
pub const BACKLOG_BYTES_MAX: usize = 256 * 1024;

/// Messages for a later try. When there is no room, the oldest go: a newer report explains letters that are still to come.
#[derive(Debug, Default)]
pub struct Backlog {
    bodies: VecDeque<String>,
    bytes: usize,
    dropped: u64,
}

impl Backlog {
    /// Keeps new messages.
    pub fn keep(&mut self, bodies: Vec<String>) {
        self.bytes += bodies.iter().map(String::len).sum::<usize>();
        self.bodies.extend(bodies);
        self.bound();
    }

    /// Keeps messages that were taken, before those that came since.
    pub fn keep_again(&mut self, bodies: Vec<String>) {
        self.bytes += bodies.iter().map(String::len).sum::<usize>();
        bodies.into_iter().rev().for_each(|body| self.bodies.push_front(body));
        self.bound();
    }

    fn bound(&mut self) {
        while self.bytes > BACKLOG_BYTES_MAX {
            let Some(oldest) = self.bodies.pop_front() else { break };
            self.bytes -= oldest.len();
            self.dropped += 1;
        }
    }

    /// Takes all messages, oldest first.
    pub fn take(&mut self) -> Vec<String> {
        self.bytes = 0;
        std::mem::take(&mut self.bodies).into()
    }

    /// Takes the number of messages that had to go.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_when_there_is_no_room() {
        let mut backlog = Backlog::default();
        assert!(backlog.is_empty());
        let body = |n: usize| n.to_string().repeat(BACKLOG_BYTES_MAX / 4);
        backlog.keep((0..6).map(body).collect());
        assert_eq!(backlog.take(), (2..6).map(body).collect::<Vec<_>>());
        assert_eq!((backlog.take_dropped(), backlog.take_dropped()), (2, 0));
        assert!(backlog.is_empty());
        backlog.keep((0..4).map(body).collect());
        assert_eq!((backlog.take().len(), backlog.take_dropped()), (4, 0));
        backlog.keep_again((0..2).map(body).collect());
        backlog.keep((2..4).map(body).collect());
        let taken = backlog.take();
        backlog.keep((4..6).map(body).collect());
        backlog.keep_again(taken);
        assert_eq!(backlog.take(), (2..6).map(body).collect::<Vec<_>>(), "the oldest are those that were taken");
        assert_eq!(backlog.take_dropped(), 2);
        backlog.keep(vec!["x".repeat(BACKLOG_BYTES_MAX + 1)]);
        assert_eq!((backlog.is_empty(), backlog.take_dropped()), (true, 1));
    }
}
