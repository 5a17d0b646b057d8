//! Receipt handles, and the calls that use them: delete and change of visibility.
//!
//! A handle names one receive of one message. Handles that are no longer current behave as SQS documents:
//! - **stale** (the message was received again): delete succeeds on a standard queue without deleting anything (API
//!   reference, DeleteMessage), and fails on a FIFO queue;
//! - **expired** (the visibility timeout ended, and the message was not received again): delete deletes the message on a
//!   standard queue, and fails on a FIFO queue;
//! - **spent** (the message was deleted, or moved to the dead-letter queue): delete succeeds and does nothing;
//! - the visibility changes only while the message is in flight under this handle.

use super::check::sender_fault;
use super::request::{Fault, QueueRow, Request};
use super::{check, settings};
use domain::id::QueueArn;
use domain::limits::VISIBILITY_S_MAX;
use domain::time::{Span, Timestamp};
use queue::EntryFailure;
use rusqlite::{OptionalExtension, Row};
use std::fmt;
use std::str::FromStr;

/// One receive of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    pub(super) queue: i64,
    pub(super) message: i64,
    /// The message's receive count after this receive.
    pub(super) receive_count: u32,
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}-{:x}", self.queue, self.message, self.receive_count)
    }
}

impl FromStr for Handle {
    type Err = NotAHandle;

    fn from_str(text: &str) -> Result<Self, NotAHandle> {
        let mut parts = text.split('-').map(|part| i64::from_str_radix(part, 16));
        let mut next = || parts.next().and_then(Result::ok).ok_or(NotAHandle);
        let (queue, message, count) = (next()?, next()?, next()?);
        let receive_count = u32::try_from(count).map_err(|_| NotAHandle)?;
        let handle = Self { queue, message, receive_count };
        // Accepts one spelling only: `+1` and `01` parse as numbers too.
        if handle.to_string() == text { Ok(handle) } else { Err(NotAHandle) }
    }
}

#[derive(Debug)]
pub(super) struct NotAHandle;

/// The current state of the message that a handle names.
struct Current {
    receive_count: u32,
    visible_at: Timestamp,
    received_at: Timestamp,
    message_group: Option<String>,
}

impl Current {
    fn find(request: &Request<'_>, handle: Handle) -> Result<Option<Self>, Fault> {
        let mut find = request.db.prepare_cached(
            "SELECT receive_count, visible_at, coalesce(received_at, 0), message_group FROM message
                WHERE key = ?1 AND queue = ?2",
        )?;
        let read = |row: &Row<'_>| {
            Ok(Self {
                receive_count: row.get(0)?,
                visible_at: Timestamp::from_ms(row.get(1)?),
                received_at: Timestamp::from_ms(row.get(2)?),
                message_group: row.get(3)?,
            })
        };
        Ok(find.query_row([handle.message, handle.queue], read).optional()?)
    }
}

fn parse(queue: &QueueRow, receipt_handle: &str) -> Option<Handle> {
    receipt_handle.parse().ok().filter(|handle: &Handle| handle.queue == queue.key)
}

/// Deletes messages by their handles. Returns one result per handle.
pub(super) fn delete(
    request: &mut Request<'_>,
    arn: &QueueArn,
    receipt_handles: &[String],
) -> Result<Vec<Result<(), EntryFailure>>, Fault> {
    let queue = request.queue(arn)?;
    check::count(&queue, receipt_handles.len())?;
    receipt_handles.iter().map(|receipt_handle| delete_one(request, &queue, receipt_handle)).collect()
}

fn delete_one(
    request: &mut Request<'_>,
    queue: &QueueRow,
    receipt_handle: &str,
) -> Result<Result<(), EntryFailure>, Fault> {
    let Some(handle) = parse(queue, receipt_handle) else {
        let reason = "The input receipt handle is not a valid receipt handle.";
        return Ok(Err(sender_fault("ReceiptHandleIsInvalid", reason)));
    };
    let Some(message) = Current::find(request, handle)? else { return Ok(Ok(())) };
    let is_current = message.receive_count == handle.receive_count;
    if queue.arn.is_fifo() && (!is_current || message.visible_at <= request.now) {
        let reason = format!(
            "Value {receipt_handle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."
        );
        return Ok(Err(sender_fault("InvalidParameterValue", reason)));
    }
    if is_current {
        request.remove(queue, handle.message, message.message_group.as_deref())?;
    }
    Ok(Ok(()))
}

/// Sets how long a message in flight stays invisible, counted from now.
pub(super) fn change_visibility(
    request: &mut Request<'_>,
    arn: &QueueArn,
    receipt_handle: &str,
    visibility: Span,
) -> Result<(), Fault> {
    let queue = request.queue(arn)?;
    if !settings::within(visibility, 0, VISIBILITY_S_MAX) {
        return Err(queue.refuse(format!("VisibilityTimeout must be 0 to {VISIBILITY_S_MAX} seconds")));
    }
    let Some(handle) = parse(&queue, receipt_handle) else {
        return Err(queue.refuse("ReceiptHandleIsInvalid: the input receipt handle is not a valid receipt handle"));
    };
    let message = Current::find(request, handle)?
        .filter(|message| message.receive_count == handle.receive_count && message.visible_at > request.now);
    let Some(message) = message else {
        return Err(queue.refuse("MessageNotInflight: the message is not in flight under this receipt handle"));
    };
    let until = request.now.plus(Span::from_secs(visibility.as_secs_up()));
    if until > message.received_at.plus(Span::from_secs(VISIBILITY_S_MAX)) {
        return Err(queue.refuse(format!(
            "total VisibilityTimeout for the message is beyond the limit [{VISIBILITY_S_MAX} seconds]"
        )));
    }
    request
        .db
        .prepare_cached("UPDATE message SET visible_at = ?2 WHERE key = ?1")?
        .execute([handle.message, until.as_ms()])?;
    request.wake.push(queue.arn);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_printed_handles_parse() {
        let handle = Handle { queue: 3, message: 0x1f00, receive_count: 12 };
        assert_eq!(handle.to_string().parse::<Handle>().ok(), Some(handle));
        for text in ["", "3-1f00", "3-1f00-c-1", "03-1f00-c", "3-+1f-c", "3-1F00-c", "x-y-z", "3-1f00-fffffffff"] {
            assert!(text.parse::<Handle>().is_err(), "{text}");
        }
    }
}
