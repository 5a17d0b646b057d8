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
    use dlo_tests::conformance::queue::Skips;
    use dlo_tests::conformance::queue::endpoint::EndpointWorld;
    use dlo_tests::endpoint::Endpoint;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::ministack);

    const SKIPPED: &Skips = &[];

    async fn world() -> EndpointWorld {
        EndpointWorld::at(&ENDPOINT.url).await
    }

    dlo_tests::queue_conformance!(world, skip: SKIPPED);
}

mod localstack {
    use dlo_tests::conformance::queue::Skips;
    use dlo_tests::conformance::queue::endpoint::EndpointWorld;
    use dlo_tests::endpoint::Endpoint;
    use domain::time::Span;
    use std::sync::LazyLock;

    static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::localstack);

    const SKIPPED: &Skips = &[];

    async fn world() -> EndpointWorld {
        EndpointWorld::at(&ENDPOINT.url).await.with_wait(Span::from_secs(1))
    }

    dlo_tests::queue_conformance!(world, skip: SKIPPED);
}
