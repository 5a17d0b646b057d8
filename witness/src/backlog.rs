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
    /// Keeps messages.
    pub fn keep(&mut self, bodies: impl IntoIterator<Item = String>) {
        for body in bodies {
            self.bytes += body.len();
            self.bodies.push_back(body);
        }
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
        backlog.keep((0..6).map(body));
        assert_eq!(backlog.take(), (2..6).map(body).collect::<Vec<_>>());
        assert_eq!((backlog.take_dropped(), backlog.take_dropped()), (2, 0));
        assert!(backlog.is_empty());
        backlog.keep((0..4).map(body));
        assert_eq!((backlog.take().len(), backlog.take_dropped()), (4, 0));
        backlog.keep(["x".repeat(BACKLOG_BYTES_MAX + 1)]);
        assert_eq!((backlog.is_empty(), backlog.take_dropped()), (true, 1));
    }
}
