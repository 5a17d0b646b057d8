//! The conformance suite of the queue port: the behaviour of SQS as cases that every implementation must pass.
//!
//! A [`QueueWorld`] creates queues and lets time pass: the embedded one moves its clock, a real endpoint waits.
//! [`queue_conformance!`](crate::queue_conformance) makes a test of each case. Cases that an endpoint cannot run, or that
//! wait longer than a world can, are reported as skipped.

pub mod batch;
pub mod carrying;
pub mod embedded;
pub mod endpoint;
pub mod fifo;
pub mod handles;
pub mod model;
pub mod redrive;
pub mod waiting;

use async_trait::async_trait;
use domain::id::{MessageId, QueueArn};
use domain::message::Content;
use domain::time::Span;
use local::queue::QueueSettings;
use queue::{EntryFailure, Outgoing, Queue, QueueError, Received};

/// The type of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A standard queue.
    Standard,
    /// A FIFO queue.
    Fifo,
}

/// Both types, for cases that hold for both.
pub const KINDS: [Kind; 2] = [Kind::Standard, Kind::Fifo];

/// An implementation under test, and how time passes there.
#[async_trait]
pub trait QueueWorld: Send + Sync {
    /// Returns the implementation under test.
    fn port(&self) -> &dyn Queue;

    /// Creates an empty queue with a unique name.
    async fn make(&self, kind: Kind, settings: QueueSettings) -> QueueArn;

    /// Lets time pass.
    async fn advance(&self, span: Span);

    /// Returns the longest span that this world can let pass.
    fn patience(&self) -> Span;

    /// Returns how long a receive waits for messages that were certainly sent; zero if they are visible at once.
    fn wait(&self) -> Span;
}

/// Makes a test of every case.
///
/// - `queue_conformance!(make_world)` runs every case; `make_world` is an async function.
/// - `queue_conformance!(make_world, skip: LIST)` reports the cases in `LIST` as skipped; `LIST` is a [`Skips`].
#[macro_export]
macro_rules! queue_conformance {
    ($make:path) => {
        $crate::queue_conformance!($make, skip: &[]);
    };
    ($make:path, skip: $skips:expr) => {
        $crate::queue_conformance! { @tests $make, $skips;
            batch::a_bad_message_fails_alone,
            batch::a_batch_over_one_mebibyte_is_refused_as_a_whole,
            batch::a_message_over_the_queues_own_maximum_fails_alone,
            batch::calls_out_of_range_are_refused,
            batch::one_mebibyte_is_carried,
            batch::results_come_in_the_order_of_the_entries,
            carrying::attributes_tell_what_was_set,
            carrying::body_and_attributes_come_back_byte_for_byte,
            carrying::counts_tell_visible_in_flight_and_delayed,
            carrying::group_id_on_a_standard_queue_is_kept,
            carrying::message_keeps_its_id_and_changes_its_handle,
            carrying::missing_queue_is_missing_for_every_call,
            carrying::the_oddest_messages_come_back_byte_for_byte,
            fifo::bodies_stand_in_for_deduplication_ids_where_asked,
            fifo::deduplication_ends_after_five_minutes,
            fifo::duplicates_are_dropped_and_answer_the_first_id,
            fifo::group_waits_while_its_first_message_is_held,
            fifo::groups_come_in_order_and_side_by_side,
            fifo::message_delay_is_refused_and_queue_delay_holds,
            fifo::messages_without_group_or_deduplication_are_refused,
            fifo::returned_first_message_comes_again_before_the_others,
            fifo::sequence_numbers_rise,
            handles::change_of_visibility_counts_from_now,
            handles::change_of_visibility_needs_a_message_in_flight,
            handles::change_of_visibility_stays_under_twelve_hours,
            handles::deleted_message_is_gone_and_may_be_deleted_again,
            handles::expired_handle_deletes_on_a_standard_queue_only,
            handles::garbled_handle_fails_alone,
            handles::stale_handle_deletes_nothing,
            redrive::deleted_in_time_is_never_moved,
            redrive::each_queue_of_a_chain_counts_its_own_receives,
            redrive::fifo_move_frees_the_group_and_restarts_the_time,
            redrive::letters_with_one_deduplication_id_both_survive,
            redrive::message_sent_to_a_dead_letter_queue_by_hand_has_no_source,
            redrive::moved_message_wakes_a_waiting_receive,
            redrive::retention_counts_from_the_first_send_on_standard_queues,
            redrive::too_many_receives_move_the_message,
            waiting::delayed_message_appears_after_its_delay,
            waiting::long_poll_ends_empty_handed,
            waiting::long_poll_gets_what_arrives_meanwhile,
            waiting::long_poll_gets_what_comes_back_meanwhile,
            waiting::messages_expire_with_the_retention,
            waiting::received_message_is_invisible_until_its_timeout,
            waiting::receive_may_set_its_own_timeout,
        }
    };
    (@tests $make:path, $skips:expr; $($module:ident::$case:ident,)*) => {
        $(
            #[tokio::test]
            async fn $case() {
                use $crate::conformance::queue;
                let name = concat!(stringify!($module), "::", stringify!($case));
                if let Some(reason) = queue::skip_reason(name, $skips) {
                    return $crate::skipped::report(module_path!(), name, reason);
                }
                let world = $make().await;
                if let Some(reason) = queue::lacks_patience(name, &world) {
                    return $crate::skipped::report(module_path!(), name, &reason);
                }
                queue::$module::$case(&world).await;
            }
        )*

        #[test]
        fn every_skipped_case_exists() {
            let cases = [$(concat!(stringify!($module), "::", stringify!($case))),*];
            let skips: &$crate::conformance::queue::Skips = $skips;
            for case in skips.iter().flat_map(|(_, skipped)| skipped.iter()) {
                assert!(cases.contains(case), "no case {case}");
            }
        }
    };
}

/// The cases that an endpoint cannot run: a reason, and the cases it applies to as `module::case`.
pub type Skips = [(&'static str, &'static [&'static str])];

/// Returns why a case is skipped; `None` if it runs.
pub fn skip_reason(case: &str, skips: &Skips) -> Option<&'static str> {
    skips.iter().find(|(_, cases)| cases.contains(&case)).map(|(reason, _)| *reason)
}

/// The time that a case must let pass. Cases that are not listed need a few seconds.
const SLOW: [(&str, Span); 4] = [
    ("fifo::deduplication_ends_after_five_minutes", Span::from_mins(6)),
    ("redrive::letters_with_one_deduplication_id_both_survive", Span::from_mins(10)),
    ("redrive::retention_counts_from_the_first_send_on_standard_queues", Span::from_mins(5)),
    ("waiting::messages_expire_with_the_retention", Span::from_mins(3)),
];

/// Returns a reason to skip a case that takes longer than the world can wait.
pub fn lacks_patience(case: &str, world: &dyn QueueWorld) -> Option<String> {
    let (_, needed) = SLOW.iter().find(|(slow, _)| *slow == case)?;
    (*needed > world.patience()).then(|| format!("waits for {} s in real time", needed.as_secs_up()))
}

/// Returns a message; on a FIFO queue it is in group `a`, and its body is its deduplication id.
pub fn message(kind: Kind, body: &str) -> Outgoing {
    match kind {
        Kind::Standard => {
            Outgoing { content: Content { body: body.into(), ..Content::default() }, ..Outgoing::default() }
        }
        Kind::Fifo => grouped("a", body),
    }
}

/// Returns a message of a group whose body is also its deduplication id.
pub fn grouped(group: &str, body: &str) -> Outgoing {
    let content = Content { body: body.into(), message_group_id: Some(group.into()), ..Content::default() };
    Outgoing { content, deduplication_id: Some(body.replace(' ', "-")), delay: Span::ZERO }
}

/// Tries to send one message.
pub async fn try_send(
    world: &dyn QueueWorld,
    queue: &QueueArn,
    message: Outgoing,
) -> Result<Result<MessageId, EntryFailure>, QueueError> {
    let mut sent = world.port().send_batch(queue, &[message]).await?;
    assert_eq!(sent.len(), 1, "one message, one result");
    Ok(sent.remove(0))
}

/// Sends one message, which the queue must accept.
pub async fn send(world: &dyn QueueWorld, queue: &QueueArn, message: Outgoing) -> MessageId {
    try_send(world, queue, message).await.expect("the call is answered").expect("the message is accepted")
}

/// Receives up to `max` messages once, waiting as long as the world needs.
pub async fn receive(world: &dyn QueueWorld, queue: &QueueArn, max: usize) -> Vec<Received> {
    world.port().receive(queue, max, world.wait(), None).await.expect("the receive is answered")
}

/// Receives one message, which must exist.
pub async fn receive_one(world: &dyn QueueWorld, queue: &QueueArn) -> Received {
    let mut received = collect(world, queue, 1).await;
    received.remove(0)
}

/// Receives until `count` messages have come: SQS may return fewer at a time than there are.
pub async fn collect(world: &dyn QueueWorld, queue: &QueueArn, count: usize) -> Vec<Received> {
    let mut received = Vec::new();
    let mut quiet = 0;
    while received.len() < count && quiet < 3 {
        let more = receive(world, queue, (count - received.len()).min(10)).await;
        quiet = if more.is_empty() { quiet + 1 } else { 0 };
        received.extend(more);
    }
    assert_eq!(received.len(), count, "messages in the queue {queue}");
    received
}

/// Checks that no message can be received now.
pub async fn nothing(world: &dyn QueueWorld, queue: &QueueArn) {
    assert_eq!(receive(world, queue, 10).await, [], "the queue {queue} is empty");
}

/// Returns the bodies, in order.
pub fn bodies(received: &[Received]) -> Vec<&str> {
    received.iter().map(|message| message.content.body.as_str()).collect()
}

/// Deletes a message by its handle, which must work.
pub async fn delete(world: &dyn QueueWorld, queue: &QueueArn, received: &Received) {
    try_delete(world, queue, received).await.expect("the handle deletes");
}

/// Tries to delete a message by its handle.
pub async fn try_delete(world: &dyn QueueWorld, queue: &QueueArn, received: &Received) -> Result<(), EntryFailure> {
    let handles = [received.receipt_handle.clone()];
    let mut deleted = world.port().delete_batch(queue, &handles).await.expect("the delete is answered");
    assert_eq!(deleted.len(), 1, "one handle, one result");
    deleted.remove(0)
}

/// Makes a received message visible again after `span`.
pub async fn hide_for(
    world: &dyn QueueWorld,
    queue: &QueueArn,
    received: &Received,
    span: Span,
) -> Result<(), QueueError> {
    world.port().change_visibility(queue, &received.receipt_handle, span).await
}

/// Returns whether the call was refused as invalid.
pub fn is_invalid<T: std::fmt::Debug>(result: &Result<T, QueueError>) -> bool {
    matches!(result, Err(QueueError::Invalid { .. }))
}

/// Returns settings with a visibility timeout.
pub fn hidden_s(seconds: i64) -> QueueSettings {
    QueueSettings { visibility_timeout: Span::from_secs(seconds), ..QueueSettings::default() }
}
