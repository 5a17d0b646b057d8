//! The conformance suite of the store port: what every implementation must do. `store_conformance!` makes one test of
//! each case, each over a fresh store.
//!
//! A case relies only on what the port promises: a page may be shorter than its limit, and a conflict names at least
//! one of the writes whose conditions failed.

pub mod audit;
pub mod changed;
pub mod commits;
pub mod drafts;
pub mod entries;
pub mod groups;
pub mod letters;
pub mod lists;
pub mod policy;
pub mod replays;
pub mod transforms;

use domain::letter::Letter;
use office::port::{CommitError, Cursor, Page, Store, StoreError, Write};

/// Makes a test of every case. `$fresh` is an async function that returns an empty store, and what must live as long.
///
/// `store_conformance!(fresh, skip_large: "reason")` reports the cases with commits of more than ten records as skipped.
#[macro_export]
macro_rules! store_conformance {
    ($fresh:ident) => {
        $crate::store_cases_in_small_commits!($fresh);
        $crate::store_cases_in_large_commits!(store_cases, $fresh);
    };
    ($fresh:ident, skip_large: $reason:literal) => {
        $crate::store_cases_in_small_commits!($fresh);
        $crate::store_cases_in_large_commits!(skipped_store_cases, $reason);
    };
}

/// The cases with commits of more than ten records.
#[macro_export]
macro_rules! store_cases_in_large_commits {
    ($make:ident, $how:tt) => {
        $crate::$make!($how, commits:
            failed_condition_undoes_the_whole_commit_and_is_named,
            commit_of_a_hundred_writes_succeeds,
        );
        $crate::$make!($how, letters:
            letters_come_in_the_requested_order_without_missing_ones,
            letters_are_listed_by_first_send_then_id,
            list_of_a_state_follows_the_letters,
            deaths_of_a_letter_come_oldest_first,
        );
        $crate::$make!($how, lists:
            pages_are_complete_while_letters_come_and_go,
            cursor_of_letters_is_valid_in_any_group,
            pages_of_entries_are_complete_while_outcomes_change,
            pages_of_audit_are_complete_while_records_come,
            cursors_are_those_that_the_api_accepts,
            garbage_cursor_starts_from_the_beginning,
            limit_of_a_page_is_respected,
        );
        $crate::$make!($how, groups:
            counters_equal_the_letters,
            sums_above_the_largest_decimal_are_capped,
            groups_do_not_mix,
        );
        $crate::$make!($how, replays:
            finished_replay_leaves_the_list_of_unfinished_ones,
        );
        $crate::$make!($how, entries:
            entries_come_in_their_order_by_wave_and_outcome,
            ledger_equals_the_lists_of_entries,
        );
    };
}

/// The cases whose commits write ten records at most, the limit of the first release of TransactWriteItems.
#[macro_export]
macro_rules! store_cases_in_small_commits {
    ($fresh:ident) => {
        $crate::store_cases!($fresh, commits:
            absent_condition_refuses_what_exists,
            version_condition_refuses_any_other_version,
            one_of_two_commits_on_one_version_wins,
            conflict_of_one_commit_does_not_undo_another,
            commit_of_too_many_writes_is_refused,
            commit_of_nothing_does_nothing,
            death_is_stored_once,
            sent_message_is_found_by_its_id,
        );
        $crate::store_cases!($fresh, letters:
            content_survives_byte_for_byte,
            letter_of_a_mebibyte_survives_many_changes,
            letter_that_died_again_has_its_latest_failure,
            letter_that_changes_its_group_changes_lists,
            letters_delivered_before_a_time_are_deleted,
            letters_discarded_before_a_time_are_deleted_and_others_stay,
            no_more_letters_are_deleted_than_the_limit,
        );
        $crate::store_cases!($fresh, lists:
            pages_of_groups_are_complete,
            pages_of_replays_are_complete,
        );
        $crate::store_cases!($fresh, groups:
            concurrent_counts_add_up,
            customers_are_counted_once_each,
            a_customer_of_several_groups_is_counted_once,
            arrivals_are_summed_by_bucket_from_a_given_one,
            undated_deaths_are_counted_and_in_no_bucket,
            oldest_and_expiry_are_those_of_open_letters,
            variant_keeps_its_skeleton_and_its_members,
            group_without_letters_has_empty_facts,
            group_that_does_not_exist_has_no_facts,
        );
        $crate::store_cases!($fresh, changed:
            groups_that_commits_touched_are_listed,
            no_change_is_missed_from_point_to_point,
            a_point_is_valid_for_every_reader,
            snapshot_is_replaced_whatever_its_size,
        );
        $crate::store_cases!($fresh, replays:
            plan_is_replaced_by_a_later_one,
            plan_is_taken_only_by_its_own_id,
            taken_plan_keeps_its_entries_and_ledger,
            replays_come_newest_approval_first,
            fence_refuses_an_old_version,
            deployment_that_is_older_changes_nothing,
            attached_consumers_of_a_queue_are_replaced,
            clock_record_is_replaced,
            reports_are_written_on_a_condition_and_read_by_key,
            notices_are_written_on_a_condition_and_read_by_queue,
        );
        $crate::store_cases!($fresh, entries:
            block_is_written_only_over_the_version_it_had,
            blocks_come_in_their_order_and_by_number,
            entries_of_two_replays_do_not_mix,
            sent_twice_and_confirmed_are_counted,
        );
        $crate::store_cases!($fresh, drafts:
            draft_is_written_and_removed_only_at_the_version_it_has,
            blocks_of_a_draft_are_removed_and_others_stay,
        );
        $crate::store_cases!($fresh, transforms:
            version_of_a_transform_is_written_once,
            dry_run_is_written_only_over_the_revision_it_had,
        );
        $crate::store_cases!($fresh, policy:
            version_of_the_policy_follows_the_newest_and_never_changes,
            one_of_two_policies_of_the_same_number_wins,
        );
        $crate::store_cases!($fresh, audit:
            audit_comes_newest_first,
            records_of_one_moment_keep_their_order,
            audit_of_two_groups_does_not_mix,
        );
    };
}

/// Makes a test of each named case of a module.
#[macro_export]
macro_rules! store_cases {
    ($fresh:ident, $module:ident: $($case:ident),+ $(,)?) => {
        $(
            #[tokio::test]
            async fn $case() {
                let (store, _kept_alive) = $fresh().await;
                $crate::conformance::store::$module::$case(&store).await;
            }
        )+
    };
}

/// Makes a test of each named case of a module that only reports the case as skipped.
#[macro_export]
macro_rules! skipped_store_cases {
    ($reason:literal, $module:ident: $($case:ident),+ $(,)?) => {
        $(
            #[test]
            fn $case() {
                $crate::skipped::report(module_path!(), concat!(stringify!($module), "::", stringify!($case)), $reason);
            }
        )+
    };
}

/// Commits writes whose conditions must hold.
pub async fn commit(store: &dyn Store, writes: Vec<Write>) {
    store.commit(writes).await.expect("the commit's conditions hold");
}

/// Commits writes that must conflict, and returns the indexes that the store names.
pub async fn refused(store: &dyn Store, writes: Vec<Write>) -> Vec<usize> {
    match store.commit(writes).await {
        Err(CommitError::Conflict(indexes)) => indexes,
        other => panic!("expected a conflict, got {other:?}"),
    }
}

/// Returns every item of a list, read page by page.
pub async fn all<T>(mut page: impl AsyncFnMut(Option<Cursor>) -> Result<Page<T>, StoreError>) -> Vec<T> {
    let (mut items, mut cursor) = (Vec::new(), None);
    for _ in 0..10_000 {
        let found = page(cursor).await.expect("the page can be read");
        items.extend(found.items);
        cursor = found.next;
        if cursor.is_none() {
            return items;
        }
    }
    panic!("the list has no end");
}

/// Returns the letter as it is stored.
pub async fn stored(store: &dyn Store, letter: &Letter) -> Letter {
    store.letter(&letter.id).await.expect("the store answers").expect("the letter is stored")
}
