//! 1,000 consumers, and a dependency that goes away for a minute and comes back. Seeded, with a clock of its own.

use consumer::backoff::{Backoff, Jitter};
use consumer::breaker::{Breaker, BreakerPolicy};
use consumer::budget::{Budget, BudgetPolicy};
use consumer::{Span, Timestamp};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Consumers, each with a circuit and a budget of its own, as processes have.
const CONSUMERS: usize = 1_000;
/// The simulated time, seconds.
pub const SECONDS: usize = 300;
/// The outage: from its first second to the first second after it.
pub const OUTAGE: (i64, i64) = (60, 120);
/// What the dependency can take in a tenth of a second, calls: twice the usual load. More calls fail.
const TENTH_CAPACITY: u32 = 200;
/// A second with at most this share of the usual calls, and without failures, counts as recovered, percent.
const RECOVERED_PCT: u32 = 110;
/// Receives before a message is dead-lettered.
const ATTEMPTS_MAX: u32 = 8;

/// How the consumers retry.
#[derive(Clone, Copy)]
pub struct Setup {
    pub name: &'static str,
    pub jitter: Jitter,
    pub budget: bool,
    pub breaker: bool,
}

pub const SETUPS: [Setup; 8] = [
    Setup { name: "no jitter", jitter: Jitter::None, budget: false, breaker: false },
    Setup { name: "equal jitter", jitter: Jitter::Equal, budget: false, breaker: false },
    Setup { name: "full jitter", jitter: Jitter::Full, budget: false, breaker: false },
    Setup { name: "decorrelated jitter", jitter: Jitter::Decorrelated, budget: false, breaker: false },
    Setup { name: "full jitter, budget", jitter: Jitter::Full, budget: true, breaker: false },
    Setup { name: "full jitter, breaker", jitter: Jitter::Full, budget: false, breaker: true },
    Setup { name: "full jitter, both", jitter: Jitter::Full, budget: true, breaker: true },
    Setup { name: "no jitter, both", jitter: Jitter::None, budget: true, breaker: true },
];

/// What a setup led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Calls to the dependency in each second.
    pub calls: Vec<u32>,
    /// Calls during the outage.
    pub wasted: u32,
    /// The most calls in any tenth of a second after the outage.
    pub peak: u32,
    /// Seconds from the end of the outage until calls are few and none fails, for good.
    pub recovery_s: usize,
    pub dead: u32,
    pub handled: u32,
    /// Messages that wait for a retry when the simulation ends.
    pub waiting: u32,
}

/// A message at work, ordered by its next attempt, then by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Attempt {
    at_ms: i64,
    message: u64,
    consumer: usize,
    attempt: u32,
    previous_ms: i64,
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

struct World {
    setup: Setup,
    random: Seeded,
    backoff: Backoff,
    guards: Vec<(Breaker, Budget)>,
    due: BinaryHeap<Reverse<Attempt>>,
    calls: Vec<u32>,
    failures: Vec<u32>,
    tenths: Vec<u32>,
    dead: u32,
    handled: u32,
    waiting: u32,
}

/// Runs one setup.
pub fn simulate(setup: Setup, seed: u64) -> Outcome {
    let mut world = World::new(setup, seed);
    while let Some(Reverse(attempt)) = world.due.pop() {
        match attempt.at_ms < SECONDS as i64 * 1_000 {
            true => world.step(attempt),
            false => world.waiting += 1,
        }
    }
    world.outcome()
}

impl World {
    fn new(setup: Setup, seed: u64) -> Self {
        let mut random = Seeded(seed);
        let breaker = BreakerPolicy { failures_max: 5, open_for: Span::from_secs(10), ..BreakerPolicy::default() };
        // One request a second and consumer: ten in a window, so a tenth of them is one retry.
        let budget = BudgetPolicy { retries_min: 0, ..BudgetPolicy::default() };
        let mut due = BinaryHeap::new();
        for consumer in 0..CONSUMERS {
            let phase = (random.next() % 1_000) as i64;
            for second in 0..SECONDS as i64 {
                let message = (consumer * SECONDS) as u64 + second as u64;
                let at_ms = second * 1_000 + phase;
                due.push(Reverse(Attempt { at_ms, message, consumer, attempt: 1, previous_ms: 0 }));
            }
        }
        Self {
            setup,
            random,
            backoff: Backoff::new(Span::from_secs(1), Span::from_secs(30)).with_jitter(setup.jitter),
            guards: (0..CONSUMERS).map(|_| (Breaker::new(breaker), Budget::new(budget))).collect(),
            due,
            calls: vec![0; SECONDS],
            failures: vec![0; SECONDS],
            tenths: vec![0; SECONDS * 10],
            dead: 0,
            handled: 0,
            waiting: 0,
        }
    }

    fn step(&mut self, attempt: Attempt) {
        let now = Timestamp::from_ms(attempt.at_ms);
        let (breaker, budget) = &mut self.guards[attempt.consumer];
        if attempt.attempt == 1 {
            budget.deposit(now);
        }
        if !self.setup.breaker {
            return match self.call(attempt.at_ms) {
                true => self.handled += 1,
                false => self.retry(attempt, Span::ZERO),
            };
        }
        let permit = match breaker.permit(now) {
            Ok(permit) => permit,
            Err(refused) => return self.retry(attempt, refused.retry_after),
        };
        let healthy = self.call(attempt.at_ms);
        self.guards[attempt.consumer].0.record(permit, healthy, now);
        if healthy { self.handled += 1 } else { self.retry(attempt, Span::ZERO) }
    }

    /// Calls the dependency; returns whether it answered.
    fn call(&mut self, at_ms: i64) -> bool {
        let (second, tenth) = ((at_ms / 1_000) as usize, (at_ms / 100) as usize);
        self.calls[second] += 1;
        self.tenths[tenth] += 1;
        let down = (OUTAGE.0..OUTAGE.1).contains(&(at_ms / 1_000));
        let answered = !down && self.tenths[tenth] <= TENTH_CAPACITY;
        self.failures[second] += u32::from(!answered);
        answered
    }

    /// `at_least`: the wait that an open circuit asks for. It takes a token too, as between receives.
    fn retry(&mut self, attempt: Attempt, at_least: Span) {
        let now = Timestamp::from_ms(attempt.at_ms);
        let budget = &mut self.guards[attempt.consumer].1;
        let allowed = !self.setup.budget || budget.withdraw(now);
        if attempt.attempt >= ATTEMPTS_MAX || !allowed {
            self.dead += 1;
            return;
        }
        let previous = Span::from_ms(attempt.previous_ms);
        let wait = self.backoff.wait(attempt.attempt, previous, self.random.next());
        let at_ms = attempt.at_ms + at_least.plus(wait).as_ms().max(1);
        let next = Attempt { at_ms, attempt: attempt.attempt + 1, previous_ms: wait.as_ms(), ..attempt };
        self.due.push(Reverse(next));
    }

    fn outcome(self) -> Outcome {
        let (from, until) = (OUTAGE.0 as usize, OUTAGE.1 as usize);
        let usual = CONSUMERS as u32 * RECOVERED_PCT / 100;
        let bad = (until..SECONDS).rev().find(|second| self.calls[*second] > usual || self.failures[*second] > 0);
        Outcome {
            wasted: self.calls[from..until].iter().sum(),
            peak: self.tenths[until * 10..].iter().copied().max().unwrap_or_default(),
            recovery_s: bad.map_or(0, |second| second + 1 - until),
            calls: self.calls,
            dead: self.dead,
            handled: self.handled,
            waiting: self.waiting,
        }
    }
}
