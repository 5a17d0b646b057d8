//! The queue on SQS does what every queue must do, as far as MiniStack and LocalStack play SQS; what neither plays runs
//! on the embedded queue only.
//!
//! MiniStack is laxer: it takes delays, waits, visibility timeouts, batches and messages over SQS's limits, and group ids
//! with spaces; forgets handles with the message; deletes by expired handles; keeps the deduplication id when it moves a
//! FIFO message; drops the trace header of a batch; holds a returned first message of a group back.
//!
//! LocalStack shows messages again up to a second late; takes receives of no message, negative visibility timeouts, and
//! changes of the visibility of messages that nobody holds; deletes by old handles; names the faults of a batch's messages
//! otherwise and does not always say whose they are; keeps the deduplication id, too, and begins the time of the first
//! receive anew when it moves a message; gives the rest of a group before its returned first message.

mod ministack {
    use dlo_tests::conformance::queue::endpoint::EndpointWorld;
    use dlo_tests::endpoint::Endpoint;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);

    async fn world() -> EndpointWorld {
        EndpointWorld::at(&ENDPOINT.url).await
    }

    dlo_tests::queue_conformance! { @tests world;
        batch::one_mebibyte_is_carried,
        batch::results_come_in_the_order_of_the_entries,
        carrying::attributes_tell_what_was_set,
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
        fifo::sequence_numbers_rise,
        handles::change_of_visibility_counts_from_now,
        handles::garbled_handle_fails_alone,
        redrive::deleted_in_time_is_never_moved,
        redrive::letters_with_one_deduplication_id_both_survive,
        redrive::message_sent_to_a_dead_letter_queue_by_hand_has_no_source,
        redrive::moved_message_wakes_who_waits_for_dead_letters,
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
}

mod localstack {
    use dlo_tests::conformance::queue::endpoint::EndpointWorld;
    use dlo_tests::endpoint::Endpoint;
    use domain::time::Span;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::localstack);

    async fn world() -> EndpointWorld {
        EndpointWorld::at(&ENDPOINT.url).await.with_wait(Span::from_secs(1))
    }

    dlo_tests::queue_conformance! { @tests world;
        batch::a_batch_over_one_mebibyte_is_refused_as_a_whole,
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
        fifo::messages_without_group_or_deduplication_are_refused,
        fifo::sequence_numbers_rise,
        handles::change_of_visibility_counts_from_now,
        handles::deleted_message_is_gone_and_may_be_deleted_again,
        redrive::deleted_in_time_is_never_moved,
        redrive::each_queue_of_a_chain_counts_its_own_receives,
        redrive::letters_with_one_deduplication_id_both_survive,
        redrive::message_sent_to_a_dead_letter_queue_by_hand_has_no_source,
        redrive::moved_message_wakes_who_waits_for_dead_letters,
        redrive::retention_counts_from_the_first_send_on_standard_queues,
        waiting::delayed_message_appears_after_its_delay,
        waiting::long_poll_ends_empty_handed,
        waiting::long_poll_gets_what_arrives_meanwhile,
        waiting::long_poll_gets_what_comes_back_meanwhile,
        waiting::messages_expire_with_the_retention,
        waiting::received_message_is_invisible_until_its_timeout,
        waiting::receive_may_set_its_own_timeout,
    }
}
