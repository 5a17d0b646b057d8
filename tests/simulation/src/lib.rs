//! Simulates the office under faults: the real handlers on the embedded store and queues, under a clock that a seed
//! moves. Calls fail, processes die, answers are lost, queues disappear, clocks differ and jump, the consumer takes
//! messages and dies, two executors run at once, and people press every button. The same seed always gives the same run.
//!
//! A [`checker`] observes every call that takes effect and checks each send against the office's promises; [`checks`]
//! reads the store. After the faults comes a calm phase in which every replay must finish: nothing lost, nothing stuck.

pub mod arguments;
pub mod blocks;
mod calm;
mod checker;
mod checks;
mod explore;
mod fixture;
mod forger;
mod graph;
pub mod keep;
pub mod model;
mod orders;
mod people;
mod programs;
mod receipts;
mod reports;

pub use fixture::Summary;

use domain::limits::BATCH_ENTRIES_MAX;
use domain::time::Span;
use fixture::Fixture;
use harness::faults::Outage;
use office::office::StepMessage;
use office::{intake, replay, sweep};
use queue::Queue as _;

/// Events before the calm phase.
const TICKS: usize = 200;
/// When the forger acts in every story; in most, it acts at other moments, too.
const FORGED_AT: usize = TICKS / 2;
/// Ticks between two checks of the whole store; the checker checks every call.
const CHECKED_EVERY: usize = 10;

/// Runs the simulation of a seed. The error names the broken promise, with the latest events.
pub fn run(seed: u64) -> Result<Summary, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    runtime.block_on(async {
        let mut fixture = Fixture::new(seed).await;
        let result = simulate(&mut fixture).await;
        result.map_err(|violation| format!("{violation}\n{}", fixture.checker.log()))?;
        Ok(fixture.summary())
    })
}

async fn simulate(fixture: &mut Fixture) -> Result<(), String> {
    let orders = 4 + fixture.chance.below(40) as u64;
    fixture.place(orders).await;
    for tick in 0..TICKS {
        next_event(fixture).await;
        if tick == FORGED_AT {
            forger::act(fixture).await;
        }
        checks::delivered_is_gone(fixture).await?;
        let jump = if fixture.chance.below(50) == 0 { 40_000 } else { 900 };
        let ms = fixture.chance.below(jump) as i64;
        fixture.advance(Span::from_ms(ms));
        fixture.checker.result()?;
        if tick % CHECKED_EVERY == 0 {
            checks::store_is_consistent(fixture).await?;
        }
    }
    calm::finishes(fixture).await
}

async fn next_event(fixture: &mut Fixture) {
    match fixture.chance.below(100) {
        0..24 => fixture.consume().await,
        24..38 => {
            run_intake(fixture).await;
        }
        38..42 => {
            receipts::handle(fixture).await;
        }
        42..66 => {
            step(fixture).await;
        }
        66..88 => people::act(fixture).await,
        88..91 => {
            let process = fixture.process();
            // The next sweep makes up for a failed one.
            let _ = sweep::run(&process.office).await;
        }
        91..94 => fixture.deploy().await,
        94..96 => {
            let outage = match fixture.chance.below(4) {
                0 => Some((fixture.main.clone(), Outage::Missing)),
                1 => Some((fixture.main.clone(), Outage::Denied)),
                _ => None,
            };
            fixture.set_outage(outage);
        }
        // New letters keep the gate closed, so they are rare.
        96..98 => {
            let count = 1 + fixture.chance.below(8) as u64;
            fixture.place(count).await;
        }
        98 => {
            forger::act(fixture).await;
            reports::look(fixture).await;
        }
        99 if fixture.clocks_jump => fixture.jump(),
        _ => {}
    }
}

/// Runs intake on messages of the dead-letter queue, as an event source mapping does; sometimes in two functions at once.
/// Returns how many messages there were.
async fn run_intake(fixture: &mut Fixture) -> usize {
    let max = 1 + fixture.chance.below(BATCH_ENTRIES_MAX);
    let received = fixture.queue.receive(&fixture.dlq, max, Span::ZERO, None).await.unwrap_or_default();
    if received.is_empty() {
        return 0;
    }
    let handles: Vec<_> = received.iter().map(|r| (r.message_id.clone(), r.receipt_handle.clone())).collect();
    let count = handles.len();
    let mut messages: Vec<_> = received.into_iter().map(|r| fixture.dead(r)).collect();
    if fixture.chance.below(10) == 0 {
        messages.extend(messages.first().cloned());
    }
    let first = fixture.process();
    fixture.checker.intake(&messages, &first.office.policy, fixture.calm);
    let mut reports = Vec::new();
    if fixture.chance.below(6) == 0 {
        let second = fixture.other(&first);
        let (one, two) =
            tokio::join!(intake::keep(&first.office, messages.clone()), intake::keep(&second.office, messages));
        reports.extend((!second.faults.is_dead()).then_some(two));
        reports.extend((!first.faults.is_dead()).then_some(one));
    } else {
        let report = intake::keep(&first.office, messages).await;
        reports.extend((!first.faults.is_dead()).then_some(report));
    }
    fixture.checker.left(reports.iter().flat_map(|report| report.awaited.iter().cloned()).collect());
    for report in reports {
        // A function that died has not answered: its messages become visible again.
        let stays = |id| report.failed.contains(id) || report.awaited.contains(id);
        let kept = handles.iter().filter(|(id, _)| !stays(id)).map(|(_, handle)| handle.clone());
        let kept: Vec<_> = kept.collect();
        if !kept.is_empty() {
            let _ = fixture.queue.delete_batch(&fixture.dlq, &kept).await;
        }
    }
    count
}

/// Runs the replay handler on due step messages: sometimes two executors at once, sometimes the same message again,
/// sometimes while a person pauses or aborts the replay, or cancels the draft. Returns how many messages were due.
async fn step(fixture: &mut Fixture) -> usize {
    let due = fixture.queue.receive(&fixture.steps, 3, Span::ZERO, None).await.unwrap_or_default();
    let count = due.len();
    for message in due {
        let Ok(step) = serde_json::from_str::<StepMessage>(&message.content.body) else {
            fixture.checker.report(format!("a step message is unreadable: {}", message.content.body));
            continue;
        };
        let first = fixture.process();
        let handle = replay::handle(&first.office, &step, first.name);
        let done = match fixture.chance.below(10) {
            0 | 1 => {
                let second = fixture.other(&first);
                tokio::join!(handle, replay::handle(&second.office, &step, second.name)).0
            }
            2 if !fixture.calm => {
                let aborts = fixture.chance.below(3) == 0;
                let second = fixture.other(&first);
                let draft = fixture.store.draft(&step.replay).await.ok().flatten();
                match draft {
                    Some(draft) => tokio::join!(handle, people::cancel(&second.office, &draft.group)).0,
                    None => tokio::join!(handle, people::pause_or_abort(&second.office, &step.replay, aborts)).0,
                }
            }
            _ => handle.await,
        };
        if done.is_ok() && !first.faults.is_dead() && fixture.chance.below(10) > 0 {
            let _ = fixture.queue.delete_batch(&fixture.steps, &[message.receipt_handle]).await;
        }
    }
    count
}
