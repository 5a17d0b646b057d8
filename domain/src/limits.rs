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
/// The maximum number of letters that the executor of a replay has in hand: their intent is one commit, and their sends are
/// eight calls of SQS at once. So many may still go out after a pause. With their blocks, the ledger, the counters and the
/// fence they stay below [`COMMIT_RECORDS_MAX`] where they lie together, and below the 4 MB of a transaction.
pub const HAND_LETTERS_MAX: usize = 8 * BATCH_ENTRIES_MAX;
/// Blocks of entries that a plan writes in one commit, beside a ledger of up to 32 records.
pub const PLAN_BLOCKS_MAX: usize = 64;
/// The maximum number of letters on one page of any list.
pub const PAGE_MAX: usize = 200;
/// The maximum number of letters of one plan. A plan's list is written in pages; for more letters, make a second plan.
pub const PLAN_LETTERS_MAX: u64 = 1_000_000;
/// The maximum number of waiting letters for which a plan is made within one request; more are read in steps. So many
/// take some seconds on DynamoDB, and API Gateway waits 29 s for a response.
pub const PLAN_REQUEST_LETTERS_MAX: u64 = 10_000;
/// The maximum number of waiting letters of a group on a FIFO queue for a plan. Their order is known only once all of them
/// are read, so such a plan is always made within one request.
pub const PLAN_FIFO_LETTERS_MAX: u64 = 50_000;
/// Letters that one step of a plan reads at least before it ends; the next one continues.
pub const DRAFT_STEP_LETTERS: u64 = 20_000;
/// The maximum number of letters that one commit of a plan in steps writes: with a block that is written again and the
/// draft they stay below [`COMMIT_RECORDS_MAX`].
pub const DRAFT_TOGETHER_MAX: usize = 1_800;
/// The maximum number of drafts of one group: one that is made, and others whose blocks are being removed.
pub const DRAFTS_MAX: usize = 4;
/// The maximum number of waves of one plan: enough for [`PLAN_LETTERS_MAX`] in the default policy's largest waves.
pub const WAVES_MAX: usize = 250;
/// The minimum time for which a delivered letter is kept: as long as it may still return, 14 days on the main queue
/// and 14 on its dead-letter queue (SQS's longest retention).
pub const DELIVERED_KEPT_MIN: Span = Span::from_days(28);
/// The minimum time for which a discarded letter is kept: a weekend, in which somebody may notice the mistake.
pub const DISCARDED_KEPT_MIN: Span = Span::from_days(3);
/// The maximum number of letters that one commit discards or takes back. With the counters of their fingerprint, the
/// group's record and the audit it stays below [`COMMIT_RECORDS_MAX`], and small letters below the 4 MB of a transaction.
pub const DISCARD_TOGETHER_MAX: usize = 50;
/// The maximum number of letters that one run of a discard changes; the next request or sweep continues. A run ends
/// within the 29 s that API Gateway waits for a response.
pub const DISCARD_RUN_MAX: usize = 5_000;
/// How old the preview may be on which a discard is decided: a person who comes back after lunch looks again.
pub const DISCARD_PREVIEW_AGE_MAX: Span = Span::from_mins(60);
/// The maximum number of expired letters that one sweep deletes; the next sweep continues.
pub const FORGET_MAX: usize = 1_000;
/// The maximum sum of the customers of a group's variants for which each customer is counted once. Reading so many takes
/// DynamoDB 90 read units, and 16 for each variant.
pub const CUSTOMERS_COUNTED_MAX: u64 = 10_000;
/// The maximum number of customers that one sweep reads to count them; the next sweep continues. Ten of the largest groups
/// take some seconds.
pub const CUSTOMERS_READ_MAX: u64 = 10 * CUSTOMERS_COUNTED_MAX;
/// For how many customers a variant counts in [`CUSTOMERS_READ_MAX`], beside its own: DynamoDB is asked for each of its 32
/// shards.
pub const CUSTOMERS_PER_VARIANT: u64 = 100;
/// The longest observation window that a person may choose, seconds: one day.
pub const WINDOW_S_MAX: u64 = 86_400;
/// The maximum number of letters in a canary. A canary is a sample: a fix that fails on one letter in a hundred fails
/// on some of a thousand, and more letters are a wave.
pub const CANARY_LETTERS_MAX: u64 = 1_000;
/// The maximum growth factor from each wave to the next.
pub const GROWTH_FACTOR_MAX: u64 = 100;
/// The maximum pace, letters per second: far above what one executor sends.
pub const PACE_PER_S_MAX: u32 = 10_000;
/// The highest share of returned letters above which a replay may pause, percent. With 100 it would never pause.
pub const PAUSE_SHARE_PCT_MAX: u8 = 90;
/// The maximum number of letters in one wave of a policy: a quarter of [`PLAN_LETTERS_MAX`], so that a plan of a million
/// has about ten waves and their windows take less time than sending.
pub const WAVE_LETTERS_MAX: u64 = 250_000;
/// The maximum number of replays after which a policy quarantines a letter.
pub const REPLAYS_MAX_MAX: u32 = 100;
/// The longest wait in a policy: for quiet, between waves, or for a backlog. As long as SQS keeps a message.
pub const POLICY_WAIT_MAX: Span = Span::from_days(14);
/// The shortest time without input after which a policy may sign people out: a shorter one would end every session.
pub const IDLE_MIN: Span = Span::from_mins(1);
/// The shortest wait between alerts that a policy may choose: sweeps run once a minute.
pub const ALERT_WAIT_MIN: Span = Span::from_mins(1);
/// The most receives that a redrive policy may allow (SQS developer guide, `maxReceiveCount`).
pub const RECEIVES_MAX: u32 = 1_000;
/// The maximum number of waits of a strategy. With one wait for each receive, more receives than that keep the last.
pub const STAGES_MAX: i128 = 20;
/// The shortest retention of an SQS queue (botocore, MessageRetentionPeriod).
pub const RETENTION_MIN: Span = Span::from_mins(1);
/// The longest retention of an SQS queue (botocore, MessageRetentionPeriod).
pub const RETENTION_MAX: Span = Span::from_days(14);
/// The longest time for which a policy may keep closed letters, other than for ever: 100 years.
pub const DELIVERED_KEPT_MAX: Span = Span::from_days(36_525);
/// The maximum number of groups in one answer of the group list; the answer says if there are more.
pub const GROUPS_SHOWN_MAX: usize = 2_000;
/// How long a process continues what it knows of all groups by reading only what has changed. Then it reads everything
/// again, in case that a change was not listed.
pub const KNOWN_GROUPS_AGE_MAX: Span = Span::from_mins(60);
/// The longest reason, note or reference that a person may write, characters.
pub const REASON_CHARS_MAX: usize = 2_000;
/// The longest message type or tenant that a filter may name, characters. Real ones are below a hundred. In an address, each
/// may become twelve bytes, and a request's head has 16 KiB.
pub const FILTER_CHARS_MAX: usize = 500;
/// The last moment that a request may name: the end of the year 9999, in milliseconds.
pub const TIME_MS_MAX: i64 = 253_402_300_799_999;
/// The longest id in a request, characters. Ids of the office have 32.
pub const ID_CHARS_MAX: usize = 64;
/// The maximum number of letters that a request may name: as many as fit into its body.
pub const NAMED_LETTERS_MAX: usize = 1_000;
/// The longest part of a program's own message that an error answer repeats, bytes.
pub const ERROR_BYTES_MAX: usize = 400;
/// The longest name of a person, characters: Cognito allows 128 for a user name.
pub const NAME_CHARS_MAX: usize = 128;
/// The longest identifier of a person at an issuer (`sub`), bytes: OpenID Connect Core, section 2.
pub const SUBJECT_BYTES_MAX: usize = 255;
/// How long an executor may hold a replay without renewing its lease, milliseconds: longer than sending one batch with
/// all retries, shorter than a person's patience.
pub const LEASE_MS: i64 = 30_000;
/// How far the clocks of two processes may differ, and how far a clock may go back before anybody reacts: ten times
/// what NTP leaves on a healthy machine. A stored time further in the future is taken as the present.
pub const CLOCK_SKEW_MAX: Span = Span::from_secs(60);
/// The longest pace of one run of sends: a run sends at most the letters of one second.
pub const PACE_MAX: Span = Span::from_secs(1);
/// The maximum age of a check of the main queue that settles letters: the time after which SQS promises that its counts
/// are consistent.
pub const EVIDENCE_AGE_MAX: Span = Span::from_secs(60);
/// The longest gap between two sweeps after which the clock is still trusted. Sweeps run each minute; after a longer gap
/// the office was off, or its clock jumped forward.
pub const SWEEP_GAP_MAX: Span = Span::from_days(1);
/// Within what time of its reading a letter died at the latest that counts as one that died when it was read: as long as the
/// window in which a group grows ([`GROWING_BUCKETS`]). Also the longest gap between two sweeps after which the office is
/// still taken to have read its queues all the time.
pub const DATED_WITHIN: Span = Span::from_mins(15);
/// How old what a process knows of the sweeps may be, as long as sweeps are apart.
pub const CLOCK_RECORD_AGE_MAX: Span = Span::from_secs(60);
/// How long sweeps must run without such a gap before anything is forgotten: long enough for a person to notice a wrong
/// clock.
pub const CLOCK_TRIAL: Span = Span::from_days(1);
/// How old the policy may be by which a process acts. A process reads it again after this time; approvals, resumptions
/// and sweeps always do.
pub const POLICY_AGE_MAX: Span = Span::from_secs(10);
/// The longest stack trace that is stored with a variant, bytes.
pub const STACK_BYTES_MAX: usize = 64 * 1024;
/// The longest pattern of a link in the policy, characters: four times the longest address of a console that is known.
pub const LINK_CHARS_MAX: usize = 500;
/// The most versions of a consumer that a variant remembers its letters died on: more than anybody deploys to mend one fault.
pub const DIED_ON_VERSIONS_MAX: usize = 8;
/// The longest value that a title shows, bytes: a name in a program. Tokens and hashes are longer.
pub const TITLE_VALUE_BYTES_MAX: usize = 24;
/// The fewest letters, and the fewest customers if letters name theirs, that agree on a value before a title shows it: the
/// value of a few may be the data of one.
pub const TITLE_VALUE_LETTERS_MIN: u64 = 5;
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
/// The width of a bar in the chart of a young group, milliseconds: 15 minutes. A group is young while its first death lies
/// within the chart's bars of that width.
pub const YOUNG_BAR_MS: i64 = 15 * 60 * 1000;
/// The window in which a group grows, in stored buckets: 15 minutes. A group grows while failures keep arriving, and stops
/// growing a quarter of an hour after the last of them.
pub const GROWING_BUCKETS: i64 = 3;
/// The width of one stored arrivals bucket, milliseconds: 5 minutes.
pub const ARRIVAL_BUCKET_MS: i64 = 5 * 60 * 1000;

const _: () = assert!(KEEP_LETTERS_MAX < COMMIT_RECORDS_MAX);
// Waves may have one letter each. A ledger record holds eight waves, wherever the first one begins.
const _: () = assert!(PLAN_BLOCKS_MAX + WAVES_MAX.div_ceil(8) <= COMMIT_RECORDS_MAX);
// A hand is one commit where its letters lie together: five blocks of twenty, the fence, the ledger, some counters.
const _: () = assert!(HAND_LETTERS_MAX + 5 + 2 < COMMIT_RECORDS_MAX);
// A clock that is wrong by a trial and a gap must not reach letters that may still return.
const _: () = assert!(CLOCK_TRIAL.as_ms() + SWEEP_GAP_MAX.as_ms() < DELIVERED_KEPT_MIN.as_ms());
// The same clock must not delete letters on the day on which they were discarded.
const _: () = assert!(CLOCK_TRIAL.as_ms() + SWEEP_GAP_MAX.as_ms() < DISCARDED_KEPT_MIN.as_ms());
// A letter that counts as one that died when it was read did die in the window in which a group grows, or nearly so.
const _: () = assert!(DATED_WITHIN.as_ms() == GROWING_BUCKETS * ARRIVAL_BUCKET_MS);
const _: () = assert!(DISCARD_TOGETHER_MAX + 4 <= COMMIT_RECORDS_MAX);
const _: () = assert!(STAMP_BYTES_MAX < MESSAGE_BYTES_MAX / 4);
// A draft's commit: whole blocks, a block that was not full, and the draft.
const _: () = assert!(DRAFT_TOGETHER_MAX.div_ceil(20) + 2 < COMMIT_RECORDS_MAX);
// The commit that ends a draft: the ledger, the plan, the audit, the draft and the group.
const _: () = assert!(WAVES_MAX.div_ceil(8) + 4 < COMMIT_RECORDS_MAX);
