//! Checks every order of events of a small replay: approval, pause, resume, abort, two executors that may die between any
//! two calls, a consumer that may take letters and die, and returning letters. The rules of the replay are those of `domain`; the calls of the
//! executors are those of `office/src/replay`, one state each.

mod executor;
mod hashed;

use crate::explore;
use domain::filter::LetterFilter;
use domain::fix::{Fix, FixKind};
use domain::gate::OpenGate;
use domain::group::Tally;
use domain::id::{Actor, GroupId, QueueArn, ReplayId};
use domain::replay::{
    Approval, Ending, Ledger, LedgerMove, OutcomeKind, PauseReason, Plan, Replay, ReplayState, Wrapped, letters_digest,
};
use domain::time::{Span, Timestamp};
use executor::Executor;
use hashed::{Chosen, Counted, Stored};
use stateright::{Model, Property};

/// The waves: a canary, and the remaining letter.
const WAVES: [u64; 2] = [1, 1];
const LETTERS: usize = 2;
/// A step of time, as long as a lease and an observation window.
const TICK: Span = Span::from_ms(domain::limits::LEASE_MS);
/// The number of steps of time.
const TICKS: u8 = 3;

/// How often each event may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct World {
    crashes: u8,
    pauses: u8,
    resumes: u8,
    aborts: u8,
    failures: u8,
    receipts: u8,
    /// Letters that the consumer takes and holds when it dies.
    takes: u8,
    /// Steps of time for which it is off.
    off: u8,
}

/// The checked worlds; together they take minutes.
pub const WORLDS: [World; 6] = [
    World { crashes: 1, failures: 1, ..NOTHING },
    World { pauses: 1, resumes: 1, failures: 1, ..NOTHING },
    World { pauses: 1, aborts: 1, failures: 1, ..NOTHING },
    World { crashes: 1, aborts: 1, ..NOTHING },
    World { crashes: 1, pauses: 1, receipts: 1, ..NOTHING },
    World { takes: 1, off: 2, failures: 1, ..NOTHING },
];

const NOTHING: World =
    World { crashes: 0, pauses: 0, resumes: 0, aborts: 0, failures: 0, receipts: 0, takes: 0, off: 0 };

/// Checks every state of a world. Panics with the path to the first state that breaks a promise. Returns the number of
/// states.
pub fn check(world: World, threads: usize) -> usize {
    explore::check(Office { world }, threads)
}

/// The model.
#[derive(Clone)]
struct Office {
    world: World,
}

/// A letter's entry, and its real messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Row {
    wave: u32,
    outcome: OutcomeKind,
    /// The time of the outcome.
    since: Timestamp,
    sends: u32,
    /// Its messages that reached the main queue.
    sent: u32,
    on_main: u8,
    /// Taken by a consumer that died: on the main queue again after its visibility timeout.
    held: u8,
    on_dlq: u8,
}

/// A state of the model.
#[derive(Clone, Debug, PartialEq)]
struct State {
    ticks: u8,
    replay: Option<Stored>,
    rows: [Row; LETTERS],
    ledger: Counted,
    executors: [Executor; 2],
    /// The events that may still happen.
    remaining: World,
    wrong: Option<&'static str>,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Approve,
    /// Time passes, and the consumer processes whatever waits.
    Tick,
    /// Time passes, and the consumer is off.
    TickOff,
    Pause,
    Resume,
    Abort,
    Executor(usize),
    Crash(usize),
    Fail(usize),
    Return(usize),
    Receipt(usize),
    /// The consumer takes a letter and dies.
    Take(usize),
}

impl State {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(1_000_000).plus(TICK.times(i64::from(self.ticks)))
    }

    fn replay(&self) -> Option<&Replay> {
        self.replay.as_ref().map(|stored| &*stored.replay)
    }

    /// Whether the replay is paused, is being aborted or has ended.
    fn is_halted(&self) -> bool {
        self.replay().is_some_and(|replay| !matches!(replay.state(), ReplayState::Running { .. }))
    }

    /// Stores the replay if it is still at this version.
    fn put(&mut self, after: Replay, version: u64) -> bool {
        if self.replay().is_none_or(|replay| replay.version() != version) {
            return false;
        }
        self.replay = Some(Stored::new(after));
        true
    }

    /// Changes the outcome of an entry together with its columns of the ledger.
    fn enter(&mut self, at: usize, to: OutcomeKind) {
        let (now, row) = (self.now(), &mut self.rows[at]);
        let from = std::mem::replace(&mut row.outcome, to);
        row.since = now;
        let moved = LedgerMove::plain(row.wave, Some(from), to, 1);
        self.ledger.apply(&moved);
    }

    /// Lets time pass. What a dead consumer held is visible again.
    fn tick(&mut self, consumer_is_on: bool) {
        self.ticks += 1;
        for row in &mut self.rows {
            row.on_main = if consumer_is_on { 0 } else { row.on_main };
            row.on_main += std::mem::take(&mut row.held);
        }
    }

    fn has_ended(&self, how: Ending) -> bool {
        self.replay().is_some_and(|r| matches!(r.state(), ReplayState::Finished { ending, .. } if *ending == how))
    }

    fn report(&mut self, wrong: &'static str) {
        self.wrong.get_or_insert(wrong);
    }
}

impl Model for Office {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let wave = |at: usize| u32::from(at >= WAVES[0] as usize);
        let (outcome, since) = (OutcomeKind::Pending, Timestamp::from_ms(0));
        let rows = std::array::from_fn(|at| Row {
            wave: wave(at),
            outcome,
            since,
            sends: 0,
            sent: 0,
            on_main: 0,
            held: 0,
            on_dlq: 0,
        });
        let mut ledger = Ledger::default();
        for (wave, letters) in WAVES.into_iter().enumerate() {
            ledger.apply(&LedgerMove::plain(wave as u32, None, outcome, letters));
        }
        vec![State {
            ticks: 0,
            replay: None,
            rows,
            ledger: Counted::new(ledger),
            executors: [Executor::default(), Executor::default()],
            remaining: self.world,
            wrong: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let Some(replay) = state.replay() else { return actions.push(Action::Approve) };
        actions.extend((state.ticks < TICKS).then_some(Action::Tick));
        actions.extend((state.ticks < TICKS && state.remaining.off > 0).then_some(Action::TickOff));
        actions.extend((state.remaining.pauses > 0).then_some(Action::Pause));
        actions.extend((state.remaining.resumes > 0 && replay.is_paused()).then_some(Action::Resume));
        actions.extend((state.remaining.aborts > 0).then_some(Action::Abort));
        for (at, executor) in state.executors.iter().enumerate() {
            actions.push(Action::Executor(at));
            actions.extend((state.remaining.crashes > 0 && !executor.is_idle()).then_some(Action::Crash(at)));
        }
        for (at, row) in state.rows.iter().enumerate() {
            // The office sees nothing of a processed message except its receipt.
            actions.extend((row.on_main > 0 && state.remaining.failures > 0).then_some(Action::Fail(at)));
            actions.extend((row.on_main > 0 && state.remaining.receipts > 0).then_some(Action::Receipt(at)));
            actions.extend((row.on_main > 0 && state.remaining.takes > 0).then_some(Action::Take(at)));
            actions.extend((row.on_dlq > 0).then_some(Action::Return(at)));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let (now, anna) = (state.now(), || Actor::from("anna"));
        match action {
            Action::Approve => state.replay = Some(Stored::new(approved(now))),
            Action::Tick => state.tick(true),
            Action::TickOff => {
                state.remaining.off -= 1;
                state.tick(false);
            }
            Action::Pause => {
                state.remaining.pauses -= 1;
                let replay = state.replay()?;
                let (version, why) = (replay.version(), PauseReason::ByPerson { reason: String::new() });
                let after = replay.pause(why, anna(), now)?;
                state.put(after, version);
            }
            Action::Resume => {
                state.remaining.resumes -= 1;
                let replay = state.replay()?;
                let (version, after) = (replay.version(), replay.resume(&open_gate(), state.ledger.get(), &[], None)?);
                state.put(after, version);
            }
            Action::Abort => {
                state.remaining.aborts -= 1;
                let replay = state.replay()?;
                let (version, after) = (replay.version(), replay.abort(anna(), String::new(), now)?);
                state.put(after, version);
            }
            Action::Executor(at) => {
                let executor = state.executors[at].clone();
                state.executors[at] = executor.next_call(&mut state, at);
            }
            Action::Crash(at) => {
                state.remaining.crashes -= 1;
                state.executors[at] = Executor::default();
            }
            Action::Fail(at) => {
                state.remaining.failures -= 1;
                state.rows[at].on_main -= 1;
                state.rows[at].on_dlq += 1;
            }
            Action::Receipt(at) => {
                state.remaining.receipts -= 1;
                state.rows[at].on_main -= 1;
                if matches!(state.rows[at].outcome, OutcomeKind::Sending | OutcomeKind::InFlight) {
                    state.enter(at, OutcomeKind::Delivered);
                }
            }
            Action::Take(at) => {
                state.remaining.takes -= 1;
                state.rows[at].on_main -= 1;
                state.rows[at].held += 1;
            }
            Action::Return(at) => {
                state.rows[at].on_dlq -= 1;
                if state.rows[at].outcome != OutcomeKind::Returned {
                    state.enter(at, OutcomeKind::Returned);
                }
            }
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::<Self>::always("every send has an approval and an intent", |_, state| {
                state.rows.iter().all(|row| row.sent == 0 || (state.replay.is_some() && row.sends > 0))
            }),
            Property::<Self>::always("every send is counted", |_, state| {
                state.rows.iter().all(|row| row.sent <= row.sends)
            }),
            Property::<Self>::always("no executor breaks a rule", |_, state| state.wrong.is_none()),
            Property::<Self>::always("the ledger equals the entries", |_, state| {
                let counted = |wave: usize, kind| {
                    state.rows.iter().filter(|row| row.wave as usize == wave && row.outcome == kind).count() as u64
                };
                WAVES.iter().enumerate().all(|(wave, size)| {
                    let columns = state.ledger.get().wave(wave as u32);
                    columns.selected() == *size
                        && OutcomeKind::ALL.iter().all(|kind| columns.get(*kind) == counted(wave, *kind))
                })
            }),
            Property::<Self>::always("a finished replay has no open entry", |_, state| {
                let total = state.ledger.get().total();
                !state.replay().is_some_and(Replay::is_finished) || total.pending + total.sending + total.in_flight == 0
            }),
            Property::<Self>::always("every delivered letter reached the queue", |_, state| {
                state.rows.iter().all(|row| row.outcome != OutcomeKind::Delivered || row.sent > 0)
            }),
        ];
        if self.world.failures > 0 {
            properties.push(Property::<Self>::sometimes("a letter returns", |_, state| {
                state.rows.iter().any(|row| row.outcome == OutcomeKind::Returned)
            }));
        }
        if self.world.aborts == 0 {
            let completed = |_: &Self, state: &State| state.has_ended(Ending::Completed);
            properties.push(Property::sometimes("the replay completes", completed));
        } else {
            let aborted = |_: &Self, state: &State| state.has_ended(Ending::Aborted);
            properties.push(Property::sometimes("the replay is aborted", aborted));
        }
        properties
    }
}

fn open_gate() -> OpenGate {
    harness::samples::open_gate(&GroupId::from("g"))
}

fn approved(now: Timestamp) -> Replay {
    let fix = Fix {
        kind: FixKind::Deploy,
        reference: "v2".into(),
        note: None,
        declared_by: Actor::from("otto"),
        declared_by_id: None,
        declared_at: now,
        effective_at: now,
        transform: None,
    };
    let plan = Plan {
        id: ReplayId::from("r"),
        group: GroupId::from("g"),
        main_queue: QueueArn::from("arn:aws:sqs:local:0:orders"),
        made_by: Actor::from("otto"),
        made_at: now,
        fix,
        filter: LetterFilter::default(),
        named: false,
        letters: Tally::default(),
        message_types: Vec::new(),
        letters_digest: letters_digest(std::iter::empty()),
        oldest_sent_at: None,
        left_out: Vec::new(),
        unchecked: Vec::new(),
        wrapped: Wrapped::default(),
        rounds: WAVES.len() as u64,
        waves: WAVES.to_vec(),
        pace_per_s: 10_000,
        pause_share_pct: 50,
        canary_pause_share_pct: None,
        sample_letters_min: 1,
        window_ms: TICK,
        slack_ms: Span::ZERO,
        backlog_ms_max: TICK,
        wave_delay_ms: Span::ZERO,
        wave_delay_ms_max: Span::ZERO,
    };
    let hash = plan.hash();
    let by = Actor::from("anna");
    let reason = String::new();
    let approval =
        Approval { by, by_id: None, at: now, reason, plan_hash: hash, waivers: Vec::new(), policy_version: 0 };
    plan.approve(open_gate(), approval).expect("the plan's own hash")
}
