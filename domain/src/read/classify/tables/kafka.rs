//! Kafka's errors: by class name, by number, and by the sentence in the broker's answer.

use super::{P, Row, T, U};
use crate::reading::Category::*;

/// Source: org.apache.kafka.common.errors. Transient if and only if the class is a RetriableException; kafkajs 2.2.4
/// agrees.
#[rustfmt::skip]
pub static KAFKA: &[Row] = &[
    ("AuthenticationException", P, Auth), ("BrokerIdNotRegisteredException", P, MissingReference),
    ("BrokerNotAvailableException", P, DependencyUnavailable), ("BufferExhaustedException", T, ResourceLimit),
    ("ClusterAuthorizationException", P, Auth), ("CommitFailedException", P, Conflict), ("ConcurrentTransactionsException", T, Conflict),
    ("ControllerMovedException", P, Conflict), ("CoordinatorLoadInProgressException", T, DependencyUnavailable),
    ("CoordinatorNotAvailableException", T, DependencyUnavailable), ("CorruptRecordException", T, MalformedPayload),
    ("DelegationTokenAuthorizationException", P, Auth), ("DelegationTokenDisabledException", P, Auth), ("DelegationTokenExpiredException", P, Auth),
    ("DelegationTokenNotFoundException", P, Auth), ("DelegationTokenOwnerMismatchException", P, Auth),
    ("DuplicateBrokerRegistrationException", P, Duplicate), ("DuplicateSequenceException", P, Duplicate),
    ("DuplicateSequenceNumberException", P, Duplicate), ("ElectionNotNeededException", T, DependencyUnavailable),
    ("EligibleLeadersNotAvailableException", T, DependencyUnavailable), ("FencedInstanceIdException", P, Conflict),
    ("FencedLeaderEpochException", T, Conflict), ("FencedMemberEpochException", P, Conflict), ("FencedStateEpochException", P, Conflict),
    ("FetchSessionIdNotFoundException", T, Conflict), ("FetchSessionTopicIdException", T, Conflict), ("GroupAuthorizationException", P, Auth),
    ("GroupIdNotFoundException", P, MissingReference), ("GroupMaxSizeReachedException", P, ResourceLimit), ("GroupNotEmptyException", P, Conflict),
    ("GroupSubscribedToTopicException", P, Conflict), ("IllegalGenerationException", P, Conflict), ("IllegalSaslStateException", P, Auth),
    ("InconsistentClusterIdException", P, Configuration), ("InconsistentGroupProtocolException", P, Configuration),
    ("InconsistentTopicIdException", T, Conflict), ("IneligibleReplicaException", P, Conflict),
    ("InvalidCommitOffsetSizeException", P, ResourceLimit), ("InvalidConfigurationException", P, Configuration),
    ("InvalidFetchSessionEpochException", T, Conflict), ("InvalidFetchSizeException", P, SchemaViolation),
    ("InvalidGroupIdException", P, Configuration), ("InvalidOffsetException", P, SchemaViolation), ("InvalidPartitionsException", P, SchemaViolation),
    ("InvalidPidMappingException", P, Conflict), ("InvalidPrincipalTypeException", P, Auth), ("InvalidProducerEpochException", P, Conflict),
    ("InvalidRecordException", P, SchemaViolation), ("InvalidRecordStateException", P, Conflict),
    ("InvalidReplicaAssignmentException", P, Configuration), ("InvalidReplicationFactorException", P, Configuration),
    ("InvalidRequiredAcksException", P, Configuration), ("InvalidSessionTimeoutException", P, Configuration),
    ("InvalidShareSessionEpochException", T, Conflict), ("InvalidTimestampException", P, SchemaViolation),
    ("InvalidTopicException", P, SchemaViolation), ("InvalidTxnStateException", P, Conflict), ("InvalidTxnTimeoutException", P, Configuration),
    ("KafkaStorageException", T, DependencyUnavailable), ("LeaderNotAvailableException", T, DependencyUnavailable),
    ("ListenerNotFoundException", T, DependencyUnavailable), ("LogDirNotFoundException", P, MissingReference),
    ("MemberIdRequiredException", P, Conflict), ("MismatchedEndpointTypeException", P, Configuration), ("NetworkException", T, DependencyUnavailable),
    ("NewLeaderElectedException", P, Conflict), ("NoOffsetForPartitionException", P, Configuration),
    ("NoReassignmentInProgressException", P, Conflict), ("NotControllerException", T, DependencyUnavailable),
    ("NotCoordinatorException", T, DependencyUnavailable), ("NotEnoughReplicasAfterAppendException", T, DependencyUnavailable),
    ("NotEnoughReplicasException", T, DependencyUnavailable), ("NotLeaderForPartitionException", T, DependencyUnavailable),
    ("NotLeaderOrFollowerException", T, DependencyUnavailable), ("OffsetMetadataTooLargeException", P, ResourceLimit),
    ("OffsetMovedToTieredStorageException", P, Conflict), ("OffsetNotAvailableException", T, DependencyUnavailable),
    ("OffsetOutOfRangeException", P, SchemaViolation), ("OperationNotAttemptedException", P, Unknown), ("OutOfOrderSequenceException", P, Conflict),
    ("PolicyViolationException", P, BusinessRule), ("PositionOutOfRangeException", P, SchemaViolation),
    ("PreferredLeaderNotAvailableException", T, DependencyUnavailable), ("ProducerFencedException", P, Conflict),
    ("ReassignmentInProgressException", P, Conflict), ("RebalanceInProgressException", P, Conflict),
    ("RecordBatchTooLargeException", P, ResourceLimit), ("RecordTooLargeException", P, ResourceLimit),
    ("ReplicaNotAvailableException", T, DependencyUnavailable), ("RetriableCommitFailedException", T, Conflict),
    ("SaslAuthenticationException", P, Auth), ("SecurityDisabledException", P, Auth), ("SerializationException", P, MalformedPayload),
    ("ShareSessionNotFoundException", T, MissingReference), ("SnapshotNotFoundException", P, MissingReference),
    ("SslAuthenticationException", P, Auth), ("StaleBrokerEpochException", P, Conflict), ("StaleMemberEpochException", P, Conflict),
    ("StreamsNotStartedException", T, DependencyUnavailable), ("TaskMigratedException", P, Conflict),
    ("TelemetryTooLargeException", P, ResourceLimit), ("ThrottlingQuotaExceededException", T, Throttled), ("TopicAuthorizationException", P, Auth),
    ("TopicDeletionDisabledException", P, Configuration), ("TopicExistsException", P, Duplicate), ("TransactionAbortableException", P, Conflict),
    ("TransactionCoordinatorFencedException", P, Conflict), ("TransactionalIdAuthorizationException", P, Auth),
    ("TransactionalIdNotFoundException", P, MissingReference), ("UnknownLeaderEpochException", T, Conflict),
    ("UnknownMemberIdException", P, Conflict), ("UnknownProducerIdException", P, Conflict), ("UnknownServerException", P, Unknown),
    ("UnknownSubscriptionIdException", P, MissingReference), ("UnknownTopicIdException", T, MissingReference),
    ("UnknownTopicOrPartitionException", T, MissingReference), ("UnreleasedInstanceIdException", P, Conflict),
    ("UnstableOffsetCommitException", T, DependencyUnavailable), ("UnsupportedAssignorException", P, Configuration),
    ("UnsupportedByAuthenticationException", P, Auth), ("UnsupportedCompressionTypeException", P, Configuration),
    ("UnsupportedForMessageFormatException", P, Configuration), ("UnsupportedSaslMechanismException", P, Auth),
    ("UnsupportedVersionException", P, Configuration), ("WakeUpException", U, Unknown),
];

/// The retriable numbers of the protocol's error table; every other number from 1 to `NUMBER_MAX` is permanent.
pub static RETRIABLE_NUMBERS: &[u16] = &[
    2, 3, 5, 6, 7, 9, 13, 14, 15, 16, 19, 20, 41, 51, 56, 70, 71, 72, 74, 75, 78, 80, 83, 84, 88, 89, 100, 103, 106,
    122, 123,
];

/// The last number of the error table that these lists are based on.
pub const NUMBER_MAX: u16 = 123;

/// Parts of the retriable errors' sentences, in lower case. The clients for Node and Python print no code.
#[rustfmt::skip]
pub static RETRIABLE_SENTENCES: &[&str] = &[
    "failed its crc", "does not host this topic-partition", "no leader for this topic-partition", "not the leader for", "intended only for the leader",
    "request timed out", "replica is not available", "server disconnected", "coordinator is loading", "coordinator is not available", "not the correct coordinator",
    "fewer in-sync replicas", "not the correct controller", "concurrent operation on the same transaction", "disk error when trying to access log",
    "fetch session id", "fetch session epoch", "no listener on the leader broker", "leader epoch in the request", "high watermark has not caught up",
    "preferred leader was not available", "eligible topic partition leaders", "leader election not needed", "unstable offsets", "throttling quota has been exceeded",
    "does not host this topic id", "leadership election", "inconsistent topic id", "connection closed", "connection timeout", "connection error", "_transport", "_msg_timed_out", "_timed_out", "_all_brokers_down", "_queue_full", "_wait_coord", "_in_progress", "_retry", "local: timed out", "broker transport failure", "all broker connections are down",
];
