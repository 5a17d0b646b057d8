//! Every limit, with its source. Limits that depend on each other are tied by assertions at compile time.

use crate::time::Span;

/// The most entries of one SQS batch call (botocore, SendMessageBatch).
pub const BATCH_ENTRIES_MAX: usize = 10;
/// The most bytes of one SQS message, body and attributes; also of one batch (botocore).
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// The most message attributes of one message (SQS quotas).
pub const ATTRIBUTES_MAX: usize = 10;
/// The longest delay of a message, seconds (botocore).
pub const DELAY_S_MAX: i64 = 900;
/// The longest visibility timeout, seconds: 12 h (botocore).
pub const VISIBILITY_S_MAX: i64 = 43_200;
/// The most records that one atomic commit touches: DynamoDB's TransactWriteItems takes 100 actions.
pub const COMMIT_RECORDS_MAX: usize = 100;
/// The most letters of one intake commit; fewer where they bring many customers and groups of their own. The more,
/// the fewer times counters are written; the fewer, the less is tried again when one of them is stored already.
pub const KEEP_LETTERS_MAX: usize = 64;
/// Entries of a plan that one commit writes, beside the ledger of their waves.
pub const PLAN_ENTRIES_MAX: usize = 85;
/// The most letters of one page of any list.
pub const PAGE_MAX: usize = 200;
/// The most letters of one plan. A plan's list is written in pages; beyond this, make a second plan.
pub const PLAN_LETTERS_MAX: u64 = 1_000_000;
/// The most waves of one plan: enough for [`PLAN_LETTERS_MAX`] in the default policy's largest waves.
pub const WAVES_MAX: usize = 250;
/// The shortest time for which a delivered letter is kept: as long as what was sent may still come back, 14 days on the
/// main queue and 14 on its dead-letter queue (SQS's longest retention).
pub const DELIVERED_KEPT_MIN: Span = Span::from_days(28);
/// Letters that one sweep forgets at most; the next one goes on.
pub const FORGET_MAX: usize = 1_000;
/// The longest observation window that a person may choose, seconds: a day.
pub const WINDOW_S_MAX: u64 = 86_400;
/// The most groups that the list of groups gives at once; the answer says when there are more.
pub const GROUPS_SHOWN_MAX: usize = 2_000;
/// The longest text that a person may write in a reason, note or reference, characters.
pub const REASON_CHARS_MAX: usize = 2_000;
/// How long one executor may hold a replay without renewing, milliseconds: longer than a send of one batch takes
/// with all its retries, shorter than a person's patience.
pub const LEASE_MS: i64 = 30_000;
/// The longest part of a stack trace that is kept with a group, bytes.
pub const STACK_BYTES_MAX: usize = 64 * 1024;
/// Bytes of failure that the consumer crate stamps on a dead letter: leaves room in the 1 MiB for nearly any body.
pub const STAMP_BYTES_MAX: usize = 16 * 1024;
/// The longest program of a payload transform, bytes: a page of text. All versions of a group fit one answer.
pub const PROGRAM_BYTES_MAX: usize = 4 * 1024;
/// The most versions of a group's transform. Who needs more has several causes in one group.
pub const TRANSFORM_VERSIONS_MAX: u32 = 50;
/// The most letters of one preview of a transform.
pub const PREVIEW_LETTERS_MAX: usize = 50;
/// Failures that a dry run names; the others are counted.
pub const DRY_RUN_FAILURES_MAX: usize = 20;
/// The most changed fields that are shown of one letter.
pub const FIELD_CHANGES_MAX: usize = 50;
/// The longest value that is shown of a changed field, and the longest reason of a failure, characters.
pub const SHOWN_CHARS_MAX: usize = 200;
/// Amounts from here on are no money, in any currency's major unit: a hundred times the world's yearly product in
/// dollars. So that sums of very many letters fit what counts them: 38 digits in DynamoDB.
pub const AMOUNT_END: i64 = 1_000_000_000_000_000;
/// The most digits after an amount's point; the finest currency of ISO 4217 has four. What is finer was computed in
/// floats and is rounded.
pub const AMOUNT_SCALE_MAX: u32 = 12;
/// Bars of the arrivals sparkline.
pub const ARRIVAL_BARS: usize = 24;
/// The width of one stored arrivals bucket, milliseconds: 5 minutes.
pub const ARRIVAL_BUCKET_MS: i64 = 5 * 60 * 1000;

const _: () = assert!(KEEP_LETTERS_MAX < COMMIT_RECORDS_MAX);
// Waves may be of one letter each; a record of the ledger holds eight of them, wherever the first begins.
const _: () = assert!(PLAN_ENTRIES_MAX + PLAN_ENTRIES_MAX / 8 + 2 <= COMMIT_RECORDS_MAX);
// A send's intent writes a letter and an entry each, and replay, ledger, counters and audit beside them.
const _: () = assert!(BATCH_ENTRIES_MAX * 4 + 5 <= COMMIT_RECORDS_MAX);
const _: () = assert!(STAMP_BYTES_MAX < MESSAGE_BYTES_MAX / 4);
