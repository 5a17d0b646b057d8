//! The office in bad weather: the real handlers on the embedded store and queues, under a clock that a seed moves, with
//! calls that fail, processes that die, answers that are lost, queues that go away, clocks that differ, two executors
//! at once, and people who press every button. The same seed gives the same story.
//!
//! A [`witness`] sees every call that takes effect and checks each send against the promises; [`checks`] reads the
//! store. After the weather comes a calm in which everything must come to rest: nothing lost, nothing stuck.

mod calm;
mod checks;
pub mod model;
mod orders;
mod people;
mod programs;
mod receipts;
mod scene;
mod witness;

pub use scene::Summary;

use domain::limits::BATCH_ENTRIES_MAX;
use domain::time::Span;
use harness::faults::Outage;
use office::office::StepMessage;
use office::{intake, replay, sweep};
use queue::Queue as _;
use scene::Scene;

/// Things that happen before the calm.
const TICKS: usize = 200;
/// Groups and replays are read and checked once in so many ticks; the witness checks always.
const CHECKED_EVERY: usize = 10;

/// Tells the story of a seed; an error says which promise was broken.
pub fn run(seed: u64) -> Result<Summary, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    runtime.block_on(async {
        let mut scene = Scene::new(seed).await;
        let told = tell(&mut scene).await;
        told.map_err(|broken| format!("{broken}\n{}", scene.witness.last_words()))?;
        Ok(scene.summary())
    })
}

async fn tell(scene: &mut Scene) -> Result<(), String> {
    let orders = 4 + scene.chance.below(40) as u64;
    scene.place(orders).await;
    for tick in 0..TICKS {
        happens(scene).await?;
        let jump = if scene.chance.below(50) == 0 { 40_000 } else { 900 };
        let ms = scene.chance.below(jump) as i64;
        scene.advance(Span::from_ms(ms));
        scene.witness.verdict()?;
        if tick % CHECKED_EVERY == 0 {
            checks::books_are_right(scene).await?;
        }
    }
    calm::comes_to_rest(scene).await
}

async fn happens(scene: &mut Scene) -> Result<(), String> {
    match scene.chance.below(100) {
        0..24 => scene.consume().await,
        24..38 => {
            take_in(scene).await;
        }
        38..42 => {
            receipts::take(scene).await;
        }
        42..66 => {
            step(scene).await;
        }
        66..88 => people::act(scene).await,
        88..91 => {
            let process = scene.process();
            // What it did not get done it does the next time.
            let _ = sweep::run(&process.office).await;
        }
        91..94 => scene.deploy().await,
        94..96 => {
            let outage = match scene.chance.below(4) {
                0 => Some((scene.main.clone(), Outage::Missing)),
                1 => Some((scene.main.clone(), Outage::Denied)),
                _ => None,
            };
            scene.set_outage(outage);
        }
        // Fresh letters hold the gate shut: they come seldom.
        96..98 => {
            let count = 1 + scene.chance.below(8) as u64;
            scene.place(count).await;
        }
        _ => {}
    }
    Ok(())
}

/// Intake of what the dead-letter queue has, as an event source mapping would hand it over: now and then to two
/// functions at once. Gives how many messages there were.
async fn take_in(scene: &mut Scene) -> usize {
    let max = 1 + scene.chance.below(BATCH_ENTRIES_MAX);
    let received = scene.queue.receive(&scene.dlq, max, Span::ZERO, None).await.unwrap_or_default();
    if received.is_empty() {
        return 0;
    }
    let handles: Vec<_> = received.iter().map(|r| (r.message_id.clone(), r.receipt_handle.clone())).collect();
    let count = handles.len();
    let mut messages: Vec<_> = received.into_iter().map(|r| scene.dead(r)).collect();
    if scene.chance.below(10) == 0 {
        messages.extend(messages.first().cloned());
    }
    let first = scene.process();
    let mut reports = Vec::new();
    if scene.chance.below(6) == 0 {
        let second = scene.other(&first);
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
            let _ = scene.queue.delete_batch(&scene.dlq, &kept).await;
        }
    }
    count
}

/// The replay handler with a step message that is due: now and then two executors at once, or the same message again,
/// or somebody who stops the replay while its executor is at it.
async fn step(scene: &mut Scene) -> usize {
    let due = scene.queue.receive(&scene.steps, 3, Span::ZERO, None).await.unwrap_or_default();
    let count = due.len();
    for message in due {
        let Ok(step) = serde_json::from_str::<StepMessage>(&message.content.body) else {
            scene.witness.accuse(format!("a step message cannot be read: {}", message.content.body));
            continue;
        };
        let first = scene.process();
        let handle = replay::handle(&first.office, &step, first.name);
        let done = match scene.chance.below(10) {
            0 | 1 => {
                let second = scene.other(&first);
                tokio::join!(handle, replay::handle(&second.office, &step, second.name)).0
            }
            2 if !scene.calm => {
                let aborts = scene.chance.below(3) == 0;
                let second = scene.other(&first);
                tokio::join!(handle, people::stop(&second.office, &step.replay, aborts)).0
            }
            _ => handle.await,
        };
        if done.is_ok() && !first.faults.is_dead() && scene.chance.below(10) > 0 {
            let _ = scene.queue.delete_batch(&scene.steps, &[message.receipt_handle]).await;
        }
    }
    count
}
