//! The queue conformance suite on SQS, as MiniStack and LocalStack emulate it. Cases in which an endpoint differs from SQS
//! are skipped there, each with the difference; cases that both skip run on the embedded queue only.

mod ministack {
    use dlo_tests::conformance::queue::Skips;
    use dlo_tests::conformance::queue::endpoint::EndpointWorld;
    use dlo_tests::endpoint::Endpoint;
    use queue::Queue;
    use queue::sqs::SqsQueue;
    use std::sync::LazyLock;
    use std::time::Duration;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);

    const SKIPPED: &Skips = &[
        (
            "MiniStack accepts delays, waits, visibility timeouts, batches and messages above the limits of SQS",
            &[
                "batch::a_bad_message_fails_alone",
                "batch::a_batch_over_one_mebibyte_is_refused_as_a_whole",
                "batch::a_message_over_the_queues_own_maximum_fails_alone",
                "batch::calls_out_of_range_are_refused",
                "handles::change_of_visibility_stays_under_twelve_hours",
            ],
        ),
        (
            "MiniStack drops the trace header of messages in a batch",
            &["carrying::body_and_attributes_come_back_byte_for_byte"],
        ),
        (
            "MiniStack accepts message group ids with spaces",
            &["fifo::messages_without_group_or_deduplication_are_refused"],
        ),
        (
            "MiniStack holds back a returned first message of a group",
            &["fifo::returned_first_message_comes_again_before_the_others"],
        ),
        (
            "MiniStack changes the visibility of messages that are not in flight",
            &["handles::change_of_visibility_needs_a_message_in_flight"],
        ),
        ("MiniStack forgets a handle with its message", &["handles::deleted_message_is_gone_and_may_be_deleted_again"]),
        (
            "MiniStack deletes by expired handles",
            &["handles::expired_handle_deletes_on_a_standard_queue_only", "handles::stale_handle_deletes_nothing"],
        ),
        (
            "MiniStack compares the receives of all queues of a chain with the maximum of each queue",
            &["redrive::each_queue_of_a_chain_counts_its_own_receives"],
        ),
        (
            "MiniStack keeps the deduplication id when it moves a FIFO message",
            &["redrive::fifo_move_frees_the_group_and_restarts_the_time"],
        ),
    ];

    async fn world() -> EndpointWorld {
        EndpointWorld::at(&ENDPOINT.url).await
    }

    dlo_tests::queue_conformance!(world, skip: SKIPPED);

    /// Or a handler that blocks the thread of its runtime would also stop the heartbeat of its message.
    #[test]
    fn a_separate_queue_answers_while_the_runtime_of_the_other_one_stands_still() {
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let still = runtime();
        let (queue, arn) = still.block_on(async {
            lambda::connect::provide_tls();
            let queue = SqsQueue::with_config(&lambda::connect::to_endpoint(&ENDPOINT.url).await);
            let arn = queue.create(&dlo_tests::endpoint::new_name("separate"), &[]).await.expect("a queue");
            // Leaves a connection that only this runtime drives.
            queue.attributes(&arn).await.expect("an answer");
            (queue, arn)
        });
        let separate = queue.separate().expect("SQS is called over connections");
        let answered = std::thread::spawn(move || {
            let answer = async { tokio::time::timeout(Duration::from_secs(20), separate.attributes(&arn)).await };
            runtime().block_on(answer).is_ok_and(|answer| answer.is_ok())
        });
        assert!(answered.join().expect("no panic"));
        drop(still);
    }
}

mod localstack {
    use dlo_tests::conformance::queue::Skips;
    use dlo_tests::conformance::queue::endpoint::EndpointWorld;
    use dlo_tests::endpoint::Endpoint;
    use domain::time::Span;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::localstack);

    const SKIPPED: &Skips = &[
        (
            "LocalStack reports other error codes for entries of a batch, sometimes without the sender's fault",
            &[
                "batch::a_bad_message_fails_alone",
                "batch::a_message_over_the_queues_own_maximum_fails_alone",
                "fifo::message_delay_is_refused_and_queue_delay_holds",
                "handles::garbled_handle_fails_alone",
            ],
        ),
        (
            "LocalStack accepts receives of no message and negative visibility timeouts",
            &["batch::calls_out_of_range_are_refused", "handles::change_of_visibility_stays_under_twelve_hours"],
        ),
        (
            "LocalStack returns the other messages of a group before its returned first message",
            &["fifo::returned_first_message_comes_again_before_the_others"],
        ),
        (
            "LocalStack changes the visibility of messages that are not in flight",
            &["handles::change_of_visibility_needs_a_message_in_flight"],
        ),
        (
            "LocalStack deletes by old handles",
            &["handles::expired_handle_deletes_on_a_standard_queue_only", "handles::stale_handle_deletes_nothing"],
        ),
        (
            "LocalStack keeps the deduplication id when it moves a FIFO message",
            &["redrive::fifo_move_frees_the_group_and_restarts_the_time"],
        ),
        (
            "LocalStack resets the time of the first receive when it moves a message",
            &["redrive::too_many_receives_move_the_message"],
        ),
    ];

    async fn world() -> EndpointWorld {
        // LocalStack returns messages up to a second late.
        EndpointWorld::at(&ENDPOINT.url).await.with_wait(Span::from_secs(1))
    }

    dlo_tests::queue_conformance!(world, skip: SKIPPED);
}
