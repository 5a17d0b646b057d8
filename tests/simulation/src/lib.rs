//! The office in bad weather: the real handlers on the embedded store and queues, under a clock that a seed moves, with
//! calls that fail, processes that die, answers that are lost, queues that go away, clocks that differ, two executors
//! at once, and people who press every button. The same seed gives the same story.
//!
//! A [`checker`] sees every call that takes effect and checks each send against the promises; [`checks`] reads the
//! store. After the weather comes a calm in which everything must come to rest: nothing lost, nothing stuck.

mod calm;
mod checker;
mod checks;
mod fixture;
pub mod model;
mod orders;
mod people;
mod programs;
mod receipts;

pub use fixture::Summary;

use domain::limits::BATCH_ENTRIES_MAX;
use domain::time::Span;
use fixture::Fixture;
use harness::faults::Outage;
use office::office::StepMessage;
use office::{intake, replay, sweep};
use queue::Queue as _;

/// Things that happen before the calm.
const TICKS: usize = 200;
/// Groups and replays are read and checked once in so many ticks; the checker checks always.
const CHECKED_EVERY: usize = 10;

/// Tells the story of a seed; an error says which promise was broken.
pub fn run(seed: u64) -> Result<Summary, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    runtime.block_on(async {
        let mut fixture = Fixture::new(seed).await;
        let told = tell(&mut fixture).await;
        told.map_err(|broken| format!("{broken}\n{}", fixture.checker.last_words()))?;
        Ok(fixture.summary())
    })
}

async fn tell(fixture: &mut Fixture) -> Result<(), String> {
    let orders = 4 + fixture.chance.below(40) as u64;
    fixture.place(orders).await;
    for tick in 0..TICKS {
        happens(fixture).await?;
        let jump = if fixture.chance.below(50) == 0 { 40_000 } else { 900 };
        let ms = fixture.chance.below(jump) as i64;
        fixture.advance(Span::from_ms(ms));
        fixture.checker.verdict()?;
        if tick % CHECKED_EVERY == 0 {
            checks::books_are_right(fixture).await?;
        }
    }
    calm::comes_to_rest(fixture).await
}

async fn happens(fixture: &mut Fixture) -> Result<(), String> {
    match fixture.chance.below(100) {
        0..24 => fixture.consume().await,
        24..38 => {
            take_in(fixture).await;
        }
        38..42 => {
            receipts::take(fixture).await;
        }
        42..66 => {
            step(fixture).await;
        }
        66..88 => people::act(fixture).await,
        88..91 => {
            let process = fixture.process();
            // What it did not get done it does the next time.
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
        // Fresh letters hold the gate shut: they come seldom.
        96..98 => {
            let count = 1 + fixture.chance.below(8) as u64;
            fixture.place(count).await;
        }
        _ => {}
    }
    Ok(())
}

/// Intake of what the dead-letter queue has, as an event source mapping would hand it over: now and then to two
/// functions at once. Gives how many messages there were.
async fn take_in(fixture: &mut Fixture) -> usize {
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
    for report in reports {
        // A function that died has answered nothing: its messages come again.
        let kept = handles.iter().filter(|(id, _)| !report.failed.contains(id)).map(|(_, handle)| handle.clone());
        let kept: Vec<_> = kept.collect();
        if !kept.is_empty() {
            let _ = fixture.queue.delete_batch(&fixture.dlq, &kept).await;
        }
    }
    count
}

/// The replay handler with a step message that is due: now and then two executors at once, or the same message again,
/// or somebody who stops the replay while its executor is at it.
async fn step(fixture: &mut Fixture) -> usize {
    let due = fixture.queue.receive(&fixture.steps, 3, Span::ZERO, None).await.unwrap_or_default();
    let count = due.len();
    for message in due {
        let Ok(step) = serde_json::from_str::<StepMessage>(&message.content.body) else {
            fixture.checker.accuse(format!("a step message cannot be read: {}", message.content.body));
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
                tokio::join!(handle, people::stop(&second.office, &step.replay, aborts)).0
            }
            _ => handle.await,
        };
        if done.is_ok() && !first.faults.is_dead() && fixture.chance.below(10) > 0 {
            let _ = fixture.queue.delete_batch(&fixture.steps, &[message.receipt_handle]).await;
        }
    }
    count
}
