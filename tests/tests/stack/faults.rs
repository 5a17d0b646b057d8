//! Faults under the deployed office: AWS refuses calls, answers are lost, functions are killed at a known call. No letter
//! is lost or counted twice, and every possible double send is counted.
//!
//! Each case has queues of its own, so several run at once. `cargo aws up`, then `cargo aws test`.

mod calls;
mod fixture;
mod intake;
mod proxy;
mod replay;
mod rights;

use fixture::{Fixture, Stack};
use libtest_mimic::{Arguments, Conclusion, Trial};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

/// How many cases run at once: most of a case is waiting, but more would keep two cores busy.
const AT_ONCE: usize = 6;

/// Set up by the first case that runs.
static STACK: OnceCell<Arc<Stack>> = OnceCell::const_new();

/// Runs the cases and removes the proxy after the last one.
pub fn run(arguments: &Arguments, runtime: &'static Runtime) -> Conclusion {
    let mut arguments = arguments.clone();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let conclusion = libtest_mimic::run(&arguments, cases(runtime));
    if let Some(stack) = STACK.get() {
        runtime.block_on(stack.end(!conclusion.has_failed()));
    }
    conclusion
}

/// Makes a test of each case: the name of its queues, and its function.
macro_rules! cases {
    ($($queues:literal $module:ident::$case:ident),* $(,)?) => {
        /// The names of the cases' queues.
        const QUEUES: &[&str] = &[$($queues),*];

        fn cases(runtime: &'static Runtime) -> Vec<Trial> {
            vec![$(crate::trial(runtime, concat!("faults::", stringify!($module), "::", stringify!($case)), async || {
                let stack = STACK.get_or_init(async || Arc::new(Stack::begin().await)).await;
                $module::$case(Fixture::new(stack.clone(), $queues).await).await;
            })),*]
        }
    };
}

cases! {
    // Cases that wait for a lease to expire come first.
    "replay-killed-before-a-send" replay::killed_before_a_send,
    "replay-killed-after-a-send" replay::killed_after_a_send,
    "replay-killed-with-a-hand" replay::killed_with_a_hand,
    "replay-of-two-executors" replay::two_executors,
    "fifo-replay" replay::keeps_the_order_of_message_groups,
    "replay-paused" replay::paused_in_a_wave,
    "replay-paused-with-a-hand" replay::paused_with_a_hand,
    "replay-of-which-60-pct-return" replay::pauses_when_60_pct_return,
    "replay-whose-answer-is-lost" replay::answer_of_a_send_is_lost,
    "replay-cut-off" replay::send_is_cut_off,
    "replay-refused" replay::send_is_refused,
    "replay-held-up" replay::store_throttles,
    "replay-contended" replay::store_conflicts,
    "replay-unrecorded" replay::answers_of_commits_are_lost,
    "intake-killed" intake::killed_after_storing,
    "intake-throttled" intake::store_throttles,
    "intake-contended" intake::store_conflicts,
    "intake-unrecorded" intake::answers_of_commits_are_lost,
    "intake-unmeasured" intake::metrics_fail,
    "intake-refused" intake::store_refuses_one_letter,
    "rights-used" rights::rare_calls_are_made,
}
