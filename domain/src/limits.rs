//! Every limit, with its source. Compile-time assertions relate limits that depend on each other.

use crate::time::Span;

/// The maximum number of entries of one SQS batch call (botocore, SendMessageBatch).
pub const BATCH_ENTRIES_MAX: usize = 10;
/// The maximum size of one SQS message, body and attributes, bytes; also of one batch (botocore).
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// The maximum number of message attributes of one message (SQS quotas).
pub const ATTRIBUTES_MAX: usize = 10;
/// The longest delay of a message, seconds (botocore).
pub const DELAY_S_MAX: i64 = 900;
/// The longest visibility timeout, seconds: 12 h (botocore).
pub const VISIBILITY_S_MAX: i64 = 43_200;
/// The maximum number of records in one atomic commit: DynamoDB's TransactWriteItems accepts 100 actions.
pub const COMMIT_RECORDS_MAX: usize = 100;
/// The maximum number of letters of one intake commit; fewer if they bring many customers or new groups. A larger
/// number writes counters less often; a smaller one retries less when a letter is stored already.
pub const KEEP_LETTERS_MAX: usize = 64;
/// Entries of a plan that one commit writes, in addition to the ledger of their waves.
pub const PLAN_ENTRIES_MAX: usize = 85;
/// The maximum number of letters on one page of any list.
pub const PAGE_MAX: usize = 200;
/// The maximum number of letters of one plan. A plan's list is written in pages; for more letters, make a second plan.
pub const PLAN_LETTERS_MAX: u64 = 1_000_000;
/// The maximum number of waves of one plan: enough for [`PLAN_LETTERS_MAX`] in the default policy's largest waves.
pub const WAVES_MAX: usize = 250;
/// The minimum time for which a delivered letter is kept: as long as it may still return, 14 days on the main queue
/// and 14 on its dead-letter queue (SQS's longest retention).
pub const DELIVERED_KEPT_MIN: Span = Span::from_days(28);
/// The maximum number of expired letters that one sweep deletes; the next sweep continues.
pub const FORGET_MAX: usize = 1_000;
/// The longest observation window that a person may choose, seconds: one day.
pub const WINDOW_S_MAX: u64 = 86_400;
/// The maximum number of groups in one answer of the group list; the answer says if there are more.
pub const GROUPS_SHOWN_MAX: usize = 2_000;
/// The longest reason, note or reference that a person may write, characters.
pub const REASON_CHARS_MAX: usize = 2_000;
/// The longest name of a person, characters: Cognito allows 128 for a user name.
pub const NAME_CHARS_MAX: usize = 128;
/// The longest identifier of a person at an issuer (`sub`), bytes: OpenID Connect Core, section 2.
pub const SUBJECT_BYTES_MAX: usize = 255;
/// How long an executor may hold a replay without renewing its lease, milliseconds: longer than sending one batch with
/// all retries, shorter than a person's patience.
pub const LEASE_MS: i64 = 30_000;
/// The longest stack trace that is stored with a variant, bytes.
pub const STACK_BYTES_MAX: usize = 64 * 1024;
/// The maximum size of the consumer crate's stamp, bytes: leaves room in the 1 MiB for nearly any body.
pub const STAMP_BYTES_MAX: usize = 16 * 1024;
/// The longest program of a payload transform, bytes: one page of text. All versions of a group fit into one answer.
pub const PROGRAM_BYTES_MAX: usize = 4 * 1024;
/// The maximum number of versions of a group's transform. A group that needs more has several causes.
pub const TRANSFORM_VERSIONS_MAX: u32 = 50;
/// The maximum number of letters in one preview of a transform.
pub const PREVIEW_LETTERS_MAX: usize = 50;
/// The number of failures that a dry run lists; further ones are only counted.
pub const DRY_RUN_FAILURES_MAX: usize = 20;
/// The maximum number of changed fields shown per letter.
pub const FIELD_CHANGES_MAX: usize = 50;
/// The longest shown value of a changed field, and the longest reason of a failure, characters.
pub const SHOWN_CHARS_MAX: usize = 200;
/// Amounts at or above this are rejected as implausible, in any currency's major unit: about ten times the world's
/// yearly product in dollars. So sums over very many letters fit their counters: 38 digits in DynamoDB.
pub const AMOUNT_END: i64 = 1_000_000_000_000_000;
/// The maximum number of decimal places of an amount; the finest currency of ISO 4217 has four. More places come from
/// floating-point arithmetic and are rounded.
pub const AMOUNT_SCALE_MAX: u32 = 12;
/// The number of bars of the arrivals sparkline.
pub const ARRIVAL_BARS: usize = 24;
/// The width of one stored arrivals bucket, milliseconds: 5 minutes.
pub const ARRIVAL_BUCKET_MS: i64 = 5 * 60 * 1000;

const _: () = assert!(KEEP_LETTERS_MAX < COMMIT_RECORDS_MAX);
// Waves may have one letter each. A ledger record holds eight waves, wherever the first one begins.
const _: () = assert!(PLAN_ENTRIES_MAX + PLAN_ENTRIES_MAX / 8 + 2 <= COMMIT_RECORDS_MAX);
// A send's intent writes a letter and an entry each, plus replay, ledger, counters and audit.
const _: () = assert!(BATCH_ENTRIES_MAX * 4 + 5 <= COMMIT_RECORDS_MAX);
const _: () = assert!(STAMP_BYTES_MAX < MESSAGE_BYTES_MAX / 4);
